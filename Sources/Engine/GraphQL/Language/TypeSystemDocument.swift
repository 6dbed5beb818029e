/// A type-system definition or extension.
///
/// Spec: https://spec.graphql.org/September2025/#TypeSystemDefinitionOrExtension
package enum TypeSystemDefinition: SyntaxNode {
    case schema(SchemaDefinition)
    case type(TypeDefinitionNode)
    case directive(DirectiveDefinitionNode)

    package init(_ reference: NodeReference) {
        self =
            switch reference.kind {
            case .schemaDefinition: .schema(SchemaDefinition(reference))
            case .directiveDefinition: .directive(DirectiveDefinitionNode(reference))
            default: .type(TypeDefinitionNode(reference))
            }
    }

    package static func represents(_ kind: NodeKind) -> Bool {
        SchemaDefinition.represents(kind) || DirectiveDefinitionNode.represents(kind)
            || TypeDefinitionNode.represents(kind)
    }
}

/// `schema { … }` or `extend schema { … }`.
package struct SchemaDefinition: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .schemaDefinition }

    package var description: StringValue? { reference.description }
    package var directives: NodeList<Directive> { reference.children() }
    package var operationTypes: NodeList<OperationTypeDefinition> { reference.children() }
    package var isExtension: Bool { reference.isExtension }
    package var range: SourceRange { reference.range }
}

/// `query: Query` in a schema definition.
package struct OperationTypeDefinition: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .operationType }

    package var kind: OperationKind { OperationKind(detail: reference.detail) }
    package var type: Name { reference.firstChildNode.name }
    package var range: SourceRange { reference.range }
}

/// The definition or extension of a scalar, object, interface, union, enum, or input object type.
package struct TypeDefinitionNode: SyntaxNode {
    package enum Body: Sendable {
        case scalar
        case object(interfaces: [Name], fields: NodeList<FieldDefinitionNode>)
        case interface(interfaces: [Name], fields: NodeList<FieldDefinitionNode>)
        case union(members: [Name])
        case enumeration(values: NodeList<EnumValueDefinitionNode>)
        case inputObject(fields: NodeList<InputValueDefinitionNode>)
    }

    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }

    package static func represents(_ kind: NodeKind) -> Bool {
        NodeKind.scalarType.rawValue <= kind.rawValue
            && kind.rawValue <= NodeKind.inputObjectType.rawValue
    }

    package var description: StringValue? { reference.description }
    package var name: Name { reference.name }
    package var directives: NodeList<Directive> { reference.children() }
    package var isExtension: Bool { reference.isExtension }
    package var range: SourceRange { reference.range }

    package var body: Body {
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

package struct FieldDefinitionNode: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .fieldDefinition }

    package var description: StringValue? { reference.description }
    package var name: Name { reference.name }
    package var arguments: NodeList<InputValueDefinitionNode> { reference.children() }
    package var type: TypeReference { reference.typeNode.typeReference }
    package var directives: NodeList<Directive> { reference.children() }
    package var range: SourceRange { reference.range }
}

/// The definition of an argument or input field.
package struct InputValueDefinitionNode: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .inputValueDefinition }

    package var description: StringValue? { reference.description }
    package var name: Name { reference.name }
    package var type: TypeReference { reference.typeNode.typeReference }
    package var defaultValue: ValueNode? { reference.defaultValue }
    package var directives: NodeList<Directive> { reference.children() }
    package var range: SourceRange { reference.range }
}

package struct EnumValueDefinitionNode: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .enumValueDefinition }

    package var description: StringValue? { reference.description }
    package var name: Name { reference.name }
    package var directives: NodeList<Directive> { reference.children() }
    package var range: SourceRange { reference.range }
}

package struct DirectiveDefinitionNode: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .directiveDefinition }

    package var description: StringValue? { reference.description }
    package var name: Name { reference.name }
    package var arguments: NodeList<InputValueDefinitionNode> { reference.children() }
    package var isRepeatable: Bool { reference.detail != 0 }
    package var locations: [Name] {
        reference.children(DirectiveLocationNode.self).map(\.reference.name)
    }
    package var range: SourceRange { reference.range }
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
