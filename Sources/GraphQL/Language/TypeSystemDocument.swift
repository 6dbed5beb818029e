/// A type-system definition or extension.
///
/// Spec: https://spec.graphql.org/September2025/#TypeSystemDefinitionOrExtension
public enum TypeSystemDefinition: Sendable {
    case schema(SchemaDefinition)
    case type(TypeDefinitionNode)
    case directive(DirectiveDefinitionNode)
}

/// `schema { … }` or `extend schema { … }`.
public struct SchemaDefinition: Sendable {
    public var description: StringValue?
    public var directives: [Directive]
    public var operationTypes: [(kind: OperationKind, type: Name, range: SourceRange)]
    public var isExtension: Bool
    public var range: SourceRange

    public init(
        description: StringValue?, directives: [Directive],
        operationTypes: [(kind: OperationKind, type: Name, range: SourceRange)], isExtension: Bool,
        range: SourceRange
    ) {
        self.description = description
        self.directives = directives
        self.operationTypes = operationTypes
        self.isExtension = isExtension
        self.range = range
    }
}

/// `type`, `interface`, `union`, `enum`, `input` or `scalar`, defined or extended.
public struct TypeDefinitionNode: Sendable {
    public enum Body: Sendable {
        case scalar
        case object(interfaces: [Name], fields: [FieldDefinitionNode])
        case interface(interfaces: [Name], fields: [FieldDefinitionNode])
        case union(members: [Name])
        case enumeration(values: [EnumValueDefinitionNode])
        case inputObject(fields: [InputValueDefinitionNode])
    }

    public var description: StringValue?
    public var name: Name
    public var directives: [Directive]
    public var body: Body
    public var isExtension: Bool
    public var range: SourceRange

    public init(
        description: StringValue?, name: Name, directives: [Directive], body: Body,
        isExtension: Bool, range: SourceRange
    ) {
        self.description = description
        self.name = name
        self.directives = directives
        self.body = body
        self.isExtension = isExtension
        self.range = range
    }
}

public struct FieldDefinitionNode: Sendable {
    public var description: StringValue?
    public var name: Name
    public var arguments: [InputValueDefinitionNode]
    public var type: TypeReference
    public var directives: [Directive]
    public var range: SourceRange

    public init(
        description: StringValue?, name: Name, arguments: [InputValueDefinitionNode],
        type: TypeReference, directives: [Directive], range: SourceRange
    ) {
        self.description = description
        self.name = name
        self.arguments = arguments
        self.type = type
        self.directives = directives
        self.range = range
    }
}

/// An argument's or an input field's definition.
public struct InputValueDefinitionNode: Sendable {
    public var description: StringValue?
    public var name: Name
    public var type: TypeReference
    public var defaultValue: ValueNode?
    public var directives: [Directive]
    public var range: SourceRange

    public init(
        description: StringValue?, name: Name, type: TypeReference, defaultValue: ValueNode?,
        directives: [Directive], range: SourceRange
    ) {
        self.description = description
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        self.directives = directives
        self.range = range
    }
}

public struct EnumValueDefinitionNode: Sendable {
    public var description: StringValue?
    public var name: Name
    public var directives: [Directive]
    public var range: SourceRange

    public init(
        description: StringValue?, name: Name, directives: [Directive], range: SourceRange
    ) {
        self.description = description
        self.name = name
        self.directives = directives
        self.range = range
    }
}

public struct DirectiveDefinitionNode: Sendable {
    public var description: StringValue?
    public var name: Name
    public var arguments: [InputValueDefinitionNode]
    public var isRepeatable: Bool
    public var locations: [Name]
    public var range: SourceRange

    public init(
        description: StringValue?, name: Name, arguments: [InputValueDefinitionNode],
        isRepeatable: Bool, locations: [Name], range: SourceRange
    ) {
        self.description = description
        self.name = name
        self.arguments = arguments
        self.isRepeatable = isRepeatable
        self.locations = locations
        self.range = range
    }
}
