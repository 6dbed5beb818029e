/// A parsed text as one array of nodes, in the order of the text.
///
/// A node's children follow it, each with everything below it, up to the node's `next`, where its next sibling stands.
/// So a document is a few allocations whatever its size, and walking it reads memory forwards. Names are numbers: equal
/// names of one tree have one number. Nobody sees the array but the views in `Document.swift` and its neighbours.
final class SyntaxTree: Sendable {
    let source: Source
    let nodes: Nodes
    let names: Names
    /// Values of the strings that are not what stands between their quotes: with escapes, and block strings.
    let strings: [String]

    init(
        source: consuming Source, nodes: consuming Nodes, names: consuming Names,
        strings: consuming [String]
    ) {
        self.source = source
        self.nodes = nodes
        self.names = names
        self.strings = strings
    }

    /// The first child of a kind.
    @inline(__always)
    func firstChild(_ kind: NodeKind, of index: Int32) -> Int32? {
        let end = nodes[index].next
        var child = index + 1
        while child < end {
            if nodes[child].kind == kind { return child }
            child = nodes[child].next
        }
        return nil
    }

    /// The text of a part of the source, which is a whole token or the inside of one.
    func text(_ range: SourceRange) -> String {
        source.text(Int(range.start)..<Int(range.end))
    }
}

/// A place in a tree: what a view of a node is made of.
public struct NodeReference: Sendable {
    let tree: SyntaxTree
    let index: Int32

    @inline(__always)
    var node: Node { tree.nodes[index] }
    @inline(__always)
    var kind: NodeKind { tree.nodes[index].kind }
    @inline(__always)
    var detail: UInt8 { tree.nodes[index].detail }

    @inline(__always)
    var range: SourceRange {
        let node = node
        return SourceRange(start: node.start, end: node.end)
    }

    /// The name of a node that has one.
    var name: Name {
        let node = node
        let length = tree.names.length(of: node.name)
        let range = SourceRange(start: node.nameStart, end: node.nameStart + length)
        return Name(tree.text(range), range: range)
    }

    /// The text of the node's name; its number where comparing is enough.
    var nameText: String { tree.names.text(of: node.name, in: tree.source) }
    @inline(__always)
    var nameID: NameID { NameID(rawValue: node.name) }

    /// The first child of a kind.
    @inline(__always)
    func first(_ kind: NodeKind) -> NodeReference? {
        tree.firstChild(kind, of: index).map { NodeReference(tree: tree, index: $0) }
    }

    /// The children that `Child` is a view of; they stand together.
    @inline(__always)
    func children<Child: SyntaxNode>(_: Child.Type = Child.self) -> NodeList<Child> {
        let end = node.next
        var child = index + 1
        while child < end, !Child.views(tree.nodes[child].kind) {
            child = tree.nodes[child].next
        }
        return NodeList(tree: tree, start: child, end: end)
    }

    /// The first child that `Child` is a view of.
    func child<Child: SyntaxNode>(_: Child.Type = Child.self) -> Child? {
        children(Child.self).first
    }
}

/// A view of a node: a type with properties for what the array holds in numbers.
public protocol SyntaxNode: Sendable {
    init(_ reference: NodeReference)
    /// Whether nodes of that kind are its to view.
    static func views(_ kind: NodeKind) -> Bool
}

/// The children of a node that are of one sort, in the order of the text.
public struct NodeList<Element: SyntaxNode>: Collection, Sendable {
    let tree: SyntaxTree
    /// The index of the first, or of what follows where there is none.
    let start: Int32
    /// Behind everything below the parent.
    let end: Int32

    /// A node's index in the tree.
    public struct Index: Comparable, Sendable {
        let node: Int32

        public static func < (left: Index, right: Index) -> Bool { left.node < right.node }
    }

    @inline(__always)
    public var startIndex: Index { index(at: start) }
    public var endIndex: Index { Index(node: .max) }
    @inline(__always)
    public func index(after index: Index) -> Index {
        self.index(at: tree.nodes[index.node].next)
    }

    @inline(__always)
    public subscript(index: Index) -> Element {
        Element(NodeReference(tree: tree, index: index.node))
    }

    @inline(__always)
    private func index(at node: Int32) -> Index {
        node < end && Element.views(tree.nodes[node].kind) ? Index(node: node) : endIndex
    }
}

extension NodeList {
    public func makeIterator() -> Iterator { Iterator(tree: tree, index: start, end: end) }

    public struct Iterator: IteratorProtocol {
        let tree: SyntaxTree
        var index: Int32
        let end: Int32

        @inline(__always)
        public mutating func next() -> Element? {
            guard index < end, Element.views(tree.nodes[index].kind) else { return nil }
            let reference = NodeReference(tree: tree, index: index)
            index = tree.nodes[index].next
            return Element(reference)
        }
    }

    /// The element of a list that has one.
    var only: Element? {
        guard let first, dropFirst().isEmpty else { return nil }
        return first
    }
}
