/// A parsed source text, which may contain operations and fragments, type-system definitions, or
/// both.
///
/// The document and everything in it are views of one syntax tree: small values that are cheap to
/// create, copy, and store.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Document
public struct Document: Sendable {
    let tree: SyntaxTree

    /// The text of the document.
    public var source: Source { tree.source }

    /// The approximate memory of the document with its text. The tree has room for as many nodes as a text of this length can have.
    var bytes: Int {
        1_000 + 4 * source.bytes.count + Int(tree.nodes.count) * MemoryLayout<Node>.stride
    }

    package var definitions: NodeList<Definition> {
        NodeList(tree: tree, start: 0, end: Int32(truncatingIfNeeded: tree.nodes.count))
    }
}

/// One definition of a document.
package enum Definition: SyntaxNode {
    case operation(OperationDefinition)
    case fragment(FragmentDefinition)
    case typeSystem(TypeSystemDefinition)

    package init(_ reference: NodeReference) {
        self =
            switch reference.kind {
            case .operation: .operation(OperationDefinition(reference))
            case .fragmentDefinition: .fragment(FragmentDefinition(reference))
            default: .typeSystem(TypeSystemDefinition(reference))
            }
    }

    package static func represents(_ kind: NodeKind) -> Bool {
        kind.rawValue <= NodeKind.inputObjectType.rawValue
    }
}

/// The byte range of a node: UTF-8 offsets into the source, `start` inclusive, `end` exclusive.
///
/// Lines and columns are computed from it only when an error needs them.
public struct SourceRange: Hashable, Sendable {
    /// The offset of the first byte.
    public var start: Int32
    /// The offset after the last byte.
    public var end: Int32

    package init(start: Int32, end: Int32) {
        self.start = start
        self.end = end
    }

    /// The range of a node that does not come from a source text.
    package static let none = SourceRange(start: 0, end: 0)
}

/// A name and its range in the source.
///
/// Names are ASCII, so two names are equal if and only if their bytes are equal.
///
/// Spec: https://spec.graphql.org/September2025/#Name
public struct Name: Sendable, Hashable {
    /// The text of the name.
    public var value: String
    /// The position of the name in the document.
    public var range: SourceRange

    package init(_ value: String, range: SourceRange = .none) {
        self.value = value
        self.range = range
    }

    /// Compares the texts. The positions are ignored.
    public static func == (left: Name, right: Name) -> Bool { left.value == right.value }
    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// `query`, `mutation` or `subscription`.
public enum OperationKind: String, Sendable, Hashable, CaseIterable {
    case query, mutation, subscription

    var detail: UInt8 {
        switch self {
        case .query: 0
        case .mutation: 1
        case .subscription: 2
        }
    }

    init(detail: UInt8) {
        self =
            switch detail {
            case 0: .query
            case 1: .mutation
            default: .subscription
            }
    }
}

/// A query, mutation, or subscription.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Operations
package struct OperationDefinition: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .operation }

    package var kind: OperationKind { OperationKind(detail: reference.detail) }
    package var name: Name? { reference.node.name < 0 ? nil : reference.name }
    package var description: StringValue? { reference.description }
    package var variables: NodeList<VariableDefinition> { reference.children() }
    package var directives: NodeList<Directive> { reference.children() }
    package var selectionSet: SelectionSet { SelectionSet(reference.required(.selectionSet)) }
    package var range: SourceRange { reference.range }
}

/// The declaration of a variable by an operation: `$first: Int = 10`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Variables
package struct VariableDefinition: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .variableDefinition }

    /// The name without the `$`.
    package var name: Name { reference.name }
    /// The range from the `$` to the end of the name.
    package var variableRange: SourceRange { reference.required(.variable).range }
    package var description: StringValue? { reference.description }
    package var type: TypeReference { reference.typeNode.typeReference }
    package var defaultValue: ValueNode? { reference.defaultValue }
    package var directives: NodeList<Directive> { reference.children() }
    package var range: SourceRange { reference.range }
}

/// The selections between two braces.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Selection-Sets
package struct SelectionSet: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .selectionSet }

    package var selections: NodeList<Selection> {
        // All children of a selection set are selections.
        NodeList(tree: reference.tree, start: reference.index + 1, end: reference.node.next)
    }
    package var range: SourceRange { reference.range }

    /// Whether all selections are fields with different response keys. Validation calls this for
    /// every selection set, so it reads the tree directly.
    func hasOnlyDistinctFields(_ keys: inout NameSet) -> Bool {
        let tree = reference.tree
        keys.removeAll(namesCount: tree.names.count)
        var index = reference.index + 1
        let end = reference.node.next
        while index < end {
            let node = tree.nodes[index]
            guard node.kind == .field else { return false }
            // The alias is the first child of a field.
            let hasAlias = node.next > index + 1 && tree.nodes[index + 1].kind == .alias
            let key = hasAlias ? tree.nodes[index + 1].name : node.name
            guard keys.insert(NameID(rawValue: key)) else { return false }
            index = node.next
        }
        return true
    }
}

package enum Selection: SyntaxNode {
    case field(Field)
    case fragmentSpread(FragmentSpread)
    case inlineFragment(InlineFragment)

    package init(_ reference: NodeReference) {
        self =
            switch reference.kind {
            case .fragmentSpread: .fragmentSpread(FragmentSpread(reference))
            case .inlineFragment: .inlineFragment(InlineFragment(reference))
            default: .field(Field(reference))
            }
    }

    package static func represents(_ kind: NodeKind) -> Bool {
        kind == .field || kind == .fragmentSpread || kind == .inlineFragment
    }
}

/// A selected field: `cover: coverURL(width: 300) @include(if: $big)`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Fields
package struct Field: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .field }

    package var alias: Name? { reference.first(.alias)?.name }
    package var name: Name { reference.name }
    package var arguments: NodeList<Argument> { reference.children() }
    package var directives: NodeList<Directive> { reference.children() }
    package var selectionSet: SelectionSet? {
        reference.first(.selectionSet).map(SelectionSet.init)
    }
    package var range: SourceRange { reference.range }

    var hasAlias: Bool { responseKeyReference.index != reference.index }

    var hasSelections: Bool {
        reference.tree.firstChild(.selectionSet, of: reference.index) != nil
    }

    /// Whether the field consists of only a name, or an alias and a name. Most fields do.
    var isPlain: Bool { reference.node.next == responseKeyReference.index + 1 }

    /// The key of this field in the response: the alias, or the name if there is no alias.
    package var responseKey: String { responseKeyReference.nameText }
    var responseKeyID: NameID { responseKeyReference.nameID }

    /// The node whose name is the response key: the alias, which is the first child of the field,
    /// or the field itself.
    @inline(__always)
    private var responseKeyReference: NodeReference {
        let child = NodeReference(tree: reference.tree, index: reference.index + 1)
        return child.index < reference.node.next && child.kind == .alias ? child : reference
    }
}

/// An argument of a field or directive: `first: 10`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Arguments
package struct Argument: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .argument }

    package var name: Name { reference.name }
    package var value: ValueNode { ValueNode(reference.firstChildNode) }
    package var range: SourceRange { reference.range }
}

/// A directive with its arguments: `@include(if: $big)`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Directives
package struct Directive: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .directive }

    /// The name without the `@`.
    package var name: Name { reference.name }
    package var arguments: NodeList<Argument> { reference.children() }
    package var range: SourceRange { reference.range }
}

/// The use of a named fragment in a selection set: `...BookParts`.
///
/// Spec: https://spec.graphql.org/September2025/#FragmentSpread
package struct FragmentSpread: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .fragmentSpread }

    package var name: Name { reference.name }
    package var directives: NodeList<Directive> { reference.children() }
    package var range: SourceRange { reference.range }
}

/// A fragment that is written where it is used: `... on Book { title }`.
///
/// Spec: https://spec.graphql.org/September2025/#InlineFragment
package struct InlineFragment: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .inlineFragment }

    package var typeCondition: Name? { reference.first(.namedType)?.name }
    package var directives: NodeList<Directive> { reference.children() }
    package var selectionSet: SelectionSet { SelectionSet(reference.required(.selectionSet)) }
    package var range: SourceRange { reference.range }
}

/// The definition of a named fragment.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Language.Fragments
package struct FragmentDefinition: SyntaxNode {
    let reference: NodeReference

    package init(_ reference: NodeReference) { self.reference = reference }
    package static func represents(_ kind: NodeKind) -> Bool { kind == .fragmentDefinition }

    package var description: StringValue? { reference.description }
    package var name: Name { reference.name }
    package var typeCondition: Name { reference.required(.namedType).name }
    package var directives: NodeList<Directive> { reference.children() }
    package var selectionSet: SelectionSet { SelectionSet(reference.required(.selectionSet)) }
    package var range: SourceRange { reference.range }
}

extension NodeReference {
    var description: StringValue? {
        let child = NodeReference(tree: tree, index: index + 1)
        return child.index < node.next && child.kind == .description ? child.stringValue : nil
    }

    /// Returns a child that the grammar requires, so the parser has always added it.
    func required(_ kind: NodeKind) -> NodeReference {
        guard let child = first(kind) else {
            preconditionFailure("the \(self.kind) node has no \(kind) child")
        }
        return child
    }

    /// The first child of a node for which the grammar requires one.
    var firstChildNode: NodeReference { NodeReference(tree: tree, index: index + 1) }
}
