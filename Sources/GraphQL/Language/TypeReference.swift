/// A type as it is written, by name, with its lists and non-nulls.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-References
public enum TypeReference: Sendable {
    case named(Name)
    indirect case list(TypeReference, range: SourceRange)
    indirect case nonNull(TypeReference, range: SourceRange)
}

/// A type in the syntax tree, of which a `TypeReference` is made where it is needed.
struct TypeNode: SyntaxNode {
    let reference: NodeReference

    init(_ reference: NodeReference) { self.reference = reference }

    static func views(_ kind: NodeKind) -> Bool {
        kind == .namedType || kind == .listType
    }
}

extension NodeReference {
    /// The child that is a type, where the grammar demands one.
    var typeNode: NodeReference {
        guard let type = child(TypeNode.self) else {
            preconditionFailure("the parser made a \(kind) without its type")
        }
        return type.reference
    }

    /// The type that the node is; its depth is bounded by the parser's nesting limit.
    var typeReference: TypeReference {
        let node = node
        // A non-null stands in the node of its type: see `Parser.closeNonNull`.
        let isNonNull = node.detail != 0
        let type: TypeReference =
            if node.kind == .listType {
                .list(
                    onlyChild.typeReference,
                    range: isNonNull ? SourceRange(start: node.start, end: node.nameStart) : range)
            } else {
                .named(name)
            }
        return isNonNull ? .nonNull(type, range: range) : type
    }
}
