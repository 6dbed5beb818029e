/// A type-system definition or extension.
///
/// Spec: https://spec.graphql.org/September2025/#TypeSystemDefinitionOrExtension
public enum TypeSystemDefinition: SyntaxNode {
    case schema(SchemaDefinition)
    case type(TypeDefinitionNode)
    case directive(DirectiveDefinitionNode)

    public init(_ reference: NodeReference) {
        self =
            switch reference.kind {
            case .schemaDefinition: .schema(SchemaDefinition(reference))
            case .directiveDefinition: .directive(DirectiveDefinitionNode(reference))
            default: .type(TypeDefinitionNode(reference))
            }
    }

    public static func represents(_ kind: NodeKind) -> Bool {
        SchemaDefinition.represents(kind) || DirectiveDefinitionNode.represents(kind)
            || TypeDefinitionNode.represents(kind)
    }
}

/// `schema { … }` or `extend schema { … }`.
public struct SchemaDefinition: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func represents(_ kind: NodeKind) -> Bool { kind == .schemaDefinition }

    public var description: StringValue? { reference.description }
    public var directives: NodeList<Directive> { reference.children() }
    public var operationTypes: NodeList<OperationTypeDefinition> { reference.children() }
    public var isExtension: Bool { reference.isExtension }
    public var range: SourceRange { reference.range }
}

/// `query: Query` in a schema definition.
public struct OperationTypeDefinition: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func represents(_ kind: NodeKind) -> Bool { kind == .operationType }

    public var kind: OperationKind { OperationKind(detail: reference.detail) }
    public var type: Name { reference.firstChildNode.name }
    public var range: SourceRange { reference.range }
}

/// The definition or extension of a scalar, object, interface, union, enum, or input object type.
public struct TypeDefinitionNode: SyntaxNode {
    public enum Body: Sendable {
        case scalar
        case object(interfaces: [Name], fields: NodeList<FieldDefinitionNode>)
        case interface(interfaces: [Name], fields: NodeList<FieldDefinitionNode>)
        case union(members: [Name])
        case enumeration(values: NodeList<EnumValueDefinitionNode>)
        case inputObject(fields: NodeList<InputValueDefinitionNode>)
    }

    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }

    public static func represents(_ kind: NodeKind) -> Bool {
        NodeKind.scalarType.rawValue <= kind.rawValue
            && kind.rawValue <= NodeKind.inputObjectType.rawValue
    }

    public var description: StringValue? { reference.description }
    public var name: Name { reference.name }
    public var directives: NodeList<Directive> { reference.children() }
    public var isExtension: Bool { reference.isExtension }
    public var range: SourceRange { reference.range }

    public var body: Body {
        switch reference.kind {
        case .objectType: .object(interfaces: typeNames, fields: reference.children())
        case .interfaceType: .interface(interfaces: typeNames, fields: reference.children())
        case .unionType: .union(members: typeNames)
        case .enumType: .enumeration(values: reference.children())
        case .inputObjectType: .inputObject(fields: reference.children())
        default: .scalar
        }
    }

    /// The names of the interfaces of an object or interface type, or of the members of a union.
    private var typeNames: [Name] { reference.children(TypeNode.self).map(\.reference.name) }
}

public struct FieldDefinitionNode: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func represents(_ kind: NodeKind) -> Bool { kind == .fieldDefinition }

    public var description: StringValue? { reference.description }
    public var name: Name { reference.name }
    public var arguments: NodeList<InputValueDefinitionNode> { reference.children() }
    public var type: TypeReference { reference.typeNode.typeReference }
    public var directives: NodeList<Directive> { reference.children() }
    public var range: SourceRange { reference.range }
}

/// The definition of an argument or input field.
public struct InputValueDefinitionNode: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func represents(_ kind: NodeKind) -> Bool { kind == .inputValueDefinition }

    public var description: StringValue? { reference.description }
    public var name: Name { reference.name }
    public var type: TypeReference { reference.typeNode.typeReference }
    public var defaultValue: ValueNode? { reference.defaultValue }
    public var directives: NodeList<Directive> { reference.children() }
    public var range: SourceRange { reference.range }
}

public struct EnumValueDefinitionNode: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func represents(_ kind: NodeKind) -> Bool { kind == .enumValueDefinition }

    public var description: StringValue? { reference.description }
    public var name: Name { reference.name }
    public var directives: NodeList<Directive> { reference.children() }
    public var range: SourceRange { reference.range }
}

public struct DirectiveDefinitionNode: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func represents(_ kind: NodeKind) -> Bool { kind == .directiveDefinition }

    public var description: StringValue? { reference.description }
    public var name: Name { reference.name }
    public var arguments: NodeList<InputValueDefinitionNode> { reference.children() }
    public var isRepeatable: Bool { reference.detail != 0 }
    public var locations: [Name] {
        reference.children(DirectiveLocationNode.self).map(\.reference.name)
    }
    public var range: SourceRange { reference.range }
}

/// A location in the definition of a directive.
private struct DirectiveLocationNode: SyntaxNode {
    let reference: NodeReference

    init(_ reference: NodeReference) { self.reference = reference }
    static func represents(_ kind: NodeKind) -> Bool { kind == .directiveLocation }
}

extension NodeReference {
    fileprivate var isExtension: Bool { detail != 0 }
}
