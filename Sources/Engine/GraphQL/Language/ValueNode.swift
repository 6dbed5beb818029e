/// A value literal or variable, as written in a document.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Values
package struct ValueNode: SyntaxNode {
    package enum Kind: Sendable {
        /// The name without the `$`.
        case variable(String)
        /// The digits as written: `-12`.
        case int(String)
        /// The digits as written: `1.5e3`.
        case float(String)
        case string(StringValue)
        case boolean(Bool)
        case null
        case enumeration(String)
        case list(NodeList<ValueNode>)
        case object(NodeList<ObjectField>)
    }

    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }

    package static func represents(_ kind: NodeKind) -> Bool {
        NodeKind.variable.rawValue <= kind.rawValue && kind.rawValue <= NodeKind.object.rawValue
    }

    /// Parses a value from the program's own source code, such as the default value of a built-in
    /// directive.
    static func literal(_ text: String) -> ValueNode {
        do throws(GraphQLError) {
            return try parseValue(Source(text))
        } catch {
            preconditionFailure("\(text) is not a value: \(error.message)")
        }
    }

    package var kind: Kind {
        switch reference.kind {
        case .variable: .variable(reference.nameText)
        case .int: .int(reference.tree.text(range))
        case .float: .float(reference.tree.text(range))
        case .string: .string(reference.stringValue)
        case .boolean: .boolean(reference.detail != 0)
        case .enumeration: .enumeration(reference.nameText)
        case .list: .list(reference.children())
        case .object: .object(reference.children())
        default: .null
        }
    }

    package var range: SourceRange { reference.range }

    var isVariable: Bool { reference.kind == .variable }
}

/// The value of a string literal, with escapes and block indentation already resolved.
package struct StringValue: Sendable {
    package var value: String
    package var isBlock: Bool
    package var range: SourceRange

    package init(_ value: String, isBlock: Bool = false, range: SourceRange = .none) {
        self.value = value
        self.isBlock = isBlock
        self.range = range
    }
}

package struct ObjectField: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .objectField }

    package var name: Name { reference.name }
    package var value: ValueNode { ValueNode(reference.firstChildNode) }
    package var range: SourceRange { reference.range }
}

extension NodeReference {
    /// The value of a string or description node.
    var stringValue: StringValue {
        let node = node
        // A string without escapes has no stored value: its value is the text between its quotes.
        let value =
            node.name >= 0
            ? tree.strings[Int(node.name)]
            : tree.text(SourceRange(start: node.start + 1, end: node.end - 1))
        return StringValue(value, isBlock: node.detail != 0, range: range)
    }

    /// The default value of a variable or input value definition, which follows its type.
    var defaultValue: ValueNode? {
        let index = typeNode.node.next
        guard index < node.next, ValueNode.represents(tree.nodes[index].kind) else { return nil }
        return ValueNode(NodeReference(tree: tree, index: index))
    }
}
