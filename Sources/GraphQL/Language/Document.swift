/// A parsed source text: operations and fragments, type-system definitions, or both.
///
/// It and everything in it are views of one syntax tree: small values that are cheap to make, to copy and to keep.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Document
public struct Document: Sendable {
    let tree: SyntaxTree

    public var source: Source { tree.source }

    public var definitions: NodeList<Definition> {
        NodeList(tree: tree, start: 0, end: Int32(truncatingIfNeeded: tree.nodes.count))
    }
}

/// One definition of a document.
public enum Definition: SyntaxNode {
    case operation(OperationDefinition)
    case fragment(FragmentDefinition)
    case typeSystem(TypeSystemDefinition)

    public init(_ reference: NodeReference) {
        self =
            switch reference.kind {
            case .operation: .operation(OperationDefinition(reference))
            case .fragmentDefinition: .fragment(FragmentDefinition(reference))
            default: .typeSystem(TypeSystemDefinition(reference))
            }
    }

    public static func views(_ kind: NodeKind) -> Bool {
        kind.rawValue <= NodeKind.inputObjectType.rawValue
    }
}

/// Where a node stands: UTF-8 offsets into the source, `start` inclusive, `end` exclusive.
///
/// Lines and columns are computed from it only when an error needs them.
public struct SourceRange: Hashable, Sendable {
    public var start: Int32
    public var end: Int32

    public init(start: Int32, end: Int32) {
        self.start = start
        self.end = end
    }

    /// For nodes that no source text made.
    public static let none = SourceRange(start: 0, end: 0)
}

/// A name and where it stands.
///
/// Names are ASCII, so `String` equality on them is equality of bytes.
///
/// Spec: https://spec.graphql.org/September2025/#Name
public struct Name: Sendable, Hashable {
    public var value: String
    public var range: SourceRange

    public init(_ value: String, range: SourceRange = .none) {
        self.value = value
        self.range = range
    }

    public static func == (left: Name, right: Name) -> Bool { left.value == right.value }
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

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Operations
public struct OperationDefinition: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .operation }

    /// `{ … }` without a keyword, in `Node.detail` beside the kind.
    static let shorthandDetail: UInt8 = 4

    public var kind: OperationKind { OperationKind(detail: reference.detail & 3) }
    public var isShorthand: Bool { reference.detail & Self.shorthandDetail != 0 }
    public var name: Name? { reference.node.name < 0 ? nil : reference.name }
    public var description: StringValue? { reference.description }
    public var variables: NodeList<VariableDefinition> { reference.children() }
    public var directives: NodeList<Directive> { reference.children() }
    public var selectionSet: SelectionSet { SelectionSet(reference.required(.selectionSet)) }
    public var range: SourceRange { reference.range }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Variables
public struct VariableDefinition: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .variableDefinition }

    /// Without the `$`.
    public var name: Name { reference.name }
    /// From the `$` to the end of the name.
    public var variableRange: SourceRange { reference.required(.variable).range }
    public var description: StringValue? { reference.description }
    public var type: TypeReference { reference.typeNode.typeReference }
    public var defaultValue: ValueNode? { reference.defaultValue }
    public var directives: NodeList<Directive> { reference.children() }
    public var range: SourceRange { reference.range }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Selection-Sets
public struct SelectionSet: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .selectionSet }

    public var selections: NodeList<Selection> {
        // It has no other children.
        NodeList(tree: reference.tree, start: reference.index + 1, end: reference.node.next)
    }
    public var range: SourceRange { reference.range }

    /// Whether all selections are fields, each with a response key of its own. It is asked of every selection set, and so
    /// read straight from the tree.
    func areDistinctFields(_ keys: inout NameSet) -> Bool {
        let tree = reference.tree
        keys.removeAll(namesCount: tree.names.count)
        var index = reference.index + 1
        let end = reference.node.next
        while index < end {
            let node = tree.nodes[index]
            guard node.kind == .field else { return false }
            // An alias is a field's first child.
            let hasAlias = node.next > index + 1 && tree.nodes[index + 1].kind == .alias
            let key = hasAlias ? tree.nodes[index + 1].name : node.name
            guard keys.insert(NameID(rawValue: key)) else { return false }
            index = node.next
        }
        return true
    }
}

public enum Selection: SyntaxNode {
    case field(Field)
    case fragmentSpread(FragmentSpread)
    case inlineFragment(InlineFragment)

    public init(_ reference: NodeReference) {
        self =
            switch reference.kind {
            case .fragmentSpread: .fragmentSpread(FragmentSpread(reference))
            case .inlineFragment: .inlineFragment(InlineFragment(reference))
            default: .field(Field(reference))
            }
    }

    public static func views(_ kind: NodeKind) -> Bool {
        kind == .field || kind == .fragmentSpread || kind == .inlineFragment
    }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Fields
public struct Field: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .field }

    public var alias: Name? { reference.first(.alias)?.name }
    public var name: Name { reference.name }
    public var arguments: NodeList<Argument> { reference.children() }
    public var directives: NodeList<Directive> { reference.children() }
    public var selectionSet: SelectionSet? { reference.first(.selectionSet).map(SelectionSet.init) }
    public var range: SourceRange { reference.range }

    var hasAlias: Bool { responseKeyReference.index != reference.index }

    var hasSelections: Bool {
        reference.tree.firstChild(.selectionSet, of: reference.index) != nil
    }

    /// Most fields are a name, or an alias and a name, and nothing more.
    var isPlain: Bool { reference.node.next == responseKeyReference.index + 1 }

    /// The key of this field in the response: the alias, or else the name.
    public var responseKey: String { responseKeyReference.nameText }
    var responseKeyID: NameID { responseKeyReference.nameID }

    /// An alias is a field's first child.
    @inline(__always)
    private var responseKeyReference: NodeReference {
        let child = NodeReference(tree: reference.tree, index: reference.index + 1)
        return child.index < reference.node.next && child.kind == .alias ? child : reference
    }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Arguments
public struct Argument: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .argument }

    public var name: Name { reference.name }
    public var value: ValueNode { ValueNode(reference.onlyChild) }
    public var range: SourceRange { reference.range }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Directives
public struct Directive: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .directive }

    /// Without the `@`.
    public var name: Name { reference.name }
    public var arguments: NodeList<Argument> { reference.children() }
    public var range: SourceRange { reference.range }
}

/// Spec: https://spec.graphql.org/September2025/#FragmentSpread
public struct FragmentSpread: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .fragmentSpread }

    public var name: Name { reference.name }
    public var directives: NodeList<Directive> { reference.children() }
    public var range: SourceRange { reference.range }
}

/// Spec: https://spec.graphql.org/September2025/#InlineFragment
public struct InlineFragment: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .inlineFragment }

    public var typeCondition: Name? { reference.first(.namedType)?.name }
    public var directives: NodeList<Directive> { reference.children() }
    public var selectionSet: SelectionSet { SelectionSet(reference.required(.selectionSet)) }
    public var range: SourceRange { reference.range }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Fragments
public struct FragmentDefinition: SyntaxNode {
    let reference: NodeReference

    public init(_ reference: NodeReference) { self.reference = reference }
    public static func views(_ kind: NodeKind) -> Bool { kind == .fragmentDefinition }

    public var description: StringValue? { reference.description }
    public var name: Name { reference.name }
    public var typeCondition: Name { reference.required(.namedType).name }
    public var directives: NodeList<Directive> { reference.children() }
    public var selectionSet: SelectionSet { SelectionSet(reference.required(.selectionSet)) }
    public var range: SourceRange { reference.range }
}

extension NodeReference {
    var description: StringValue? {
        let child = NodeReference(tree: tree, index: index + 1)
        return child.index < node.next && child.kind == .description ? child.stringValue : nil
    }

    /// A child that the grammar demands, so that the parser has put it there.
    func required(_ kind: NodeKind) -> NodeReference {
        guard let child = first(kind) else {
            preconditionFailure("the parser made a \(self.kind) without its \(kind)")
        }
        return child
    }

    /// The child of a node that has one, as the grammar demands.
    var onlyChild: NodeReference { NodeReference(tree: tree, index: index + 1) }
}
