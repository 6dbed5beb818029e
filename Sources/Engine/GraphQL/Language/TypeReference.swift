/// A type as written: a named type with its list and non-null wrappers.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-References
public enum TypeReference: Sendable {
    /// `Book`.
    case named(Name)
    /// `[Book]`, with the type of the items.
    indirect case list(TypeReference, range: SourceRange)
    /// `Book!`, with the nullable type.
    indirect case nonNull(TypeReference, range: SourceRange)
}

/// The node of a type, from which a `TypeReference` is created on demand.
struct TypeNode: SyntaxNode {
    let reference: NodeReference

    init(_ reference: NodeReference) { self.reference = reference }

    static func represents(_ kind: NodeKind) -> Bool {
        kind == .namedType || kind == .listType
    }
}

extension NodeReference {
    /// The child node that is a type, for nodes where the grammar requires one.
    var typeNode: NodeReference {
        guard let type = child(TypeNode.self) else {
            preconditionFailure("the \(kind) node has no type child")
        }
        return type.reference
    }

    /// The type that this node represents. The recursion depth is bounded by the parser's nesting
    /// limit.
    var typeReference: TypeReference {
        let node = node
        // A non-null type shares the node of its nullable type: see `Parser.parseTypeReference`.
        let isNonNull = node.detail != 0
        let type: TypeReference =
            if node.kind == .listType {
                .list(
                    firstChildNode.typeReference,
                    range: isNonNull ? SourceRange(start: node.start, end: node.nameStart) : range)
            } else {
                .named(name)
            }
        return isNonNull ? .nonNull(type, range: range) : type
    }
}
