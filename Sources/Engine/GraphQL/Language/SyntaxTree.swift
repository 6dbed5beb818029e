/// A parsed text as an array of nodes in the order of the text.
///
/// The descendants of a node directly follow it, and `Node.next` is the index after the last of
/// them, which is where the next sibling starts. A document therefore needs only a few allocations
/// regardless of its size, and walking it reads memory sequentially. Names are interned: equal
/// names of one tree have equal IDs.
///
/// Example: the nodes of `{ a { b } c }` are
///
///     index  node            next
///     0      operation       6
///     1        selectionSet  6
///     2          field a     5
///     3            selectionSet  5
///     4              field b     5
///     5          field c     6
///
/// The array is internal. Public access goes through the views in `Document.swift` and the files
/// next to it.
final class SyntaxTree: Sendable {
    let source: Source
    let nodes: Nodes
    let names: InternedNames
    /// The values of strings with escapes and of block strings. The value of any other string is
    /// the text between its quotes.
    let strings: [String]

    init(
        source: consuming Source, nodes: consuming Nodes, names: consuming InternedNames,
        strings: consuming [String]
    ) {
        self.source = source
        self.nodes = nodes
        self.names = names
        self.strings = strings
    }

    /// Returns the index of the first child with the given kind.
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

    /// Returns the text of a range, which must be a whole token or the inside of one.
    func text(_ range: SourceRange) -> String {
        source.text(Int(range.start)..<Int(range.end))
    }
}

/// A node of a syntax tree. Views such as `Field` are made from it.
package struct NodeReference: Sendable {
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

    /// The name of the node with its range. The node must have a name.
    var name: Name {
        let node = node
        let length = tree.names.length(of: node.name)
        let range = SourceRange(start: node.nameStart, end: node.nameStart + length)
        return Name(tree.text(range), range: range)
    }

    /// The text of the node's name. Use `nameID` where comparing is enough.
    var nameText: String { tree.names.text(of: node.name, in: tree.source) }
    @inline(__always)
    var nameID: NameID { NameID(rawValue: node.name) }

    /// Returns the first child with the given kind.
    @inline(__always)
    func first(_ kind: NodeKind) -> NodeReference? {
        tree.firstChild(kind, of: index).map { NodeReference(tree: tree, index: $0) }
    }

    /// Returns the children that `Child` represents. They are adjacent.
    @inline(__always)
    func children<Child: SyntaxNode>(_: Child.Type = Child.self) -> NodeList<Child> {
        let end = node.next
        var child = index + 1
        while child < end, !Child.represents(tree.nodes[child].kind) {
            child = tree.nodes[child].next
        }
        return NodeList(tree: tree, start: child, end: end)
    }

    /// Returns the first child that `Child` represents.
    func child<Child: SyntaxNode>(_: Child.Type = Child.self) -> Child? {
        children(Child.self).first
    }
}

/// A typed view of a node, with properties for what the node stores as numbers.
package protocol SyntaxNode: Sendable {
    init(_ reference: NodeReference)
    /// Returns whether this type represents nodes of the given kind.
    static func represents(_ kind: NodeKind) -> Bool
}

/// The children of a node that have one type, in the order of the text.
package struct NodeList<Element: SyntaxNode>: Collection, Sendable {
    let tree: SyntaxTree
    /// The index of the first element, or of the node where it would be if the list is empty.
    let start: Int32
    /// The index after the last descendant of the parent.
    let end: Int32

    /// The index of a node in the tree.
    package struct Index: Comparable, Sendable {
        let node: Int32

        package static func < (left: Index, right: Index) -> Bool { left.node < right.node }
    }

    @inline(__always)
    package var startIndex: Index { index(at: start) }
    package var endIndex: Index { Index(node: .max) }
    @inline(__always)
    package func index(after index: Index) -> Index {
        self.index(at: tree.nodes[index.node].next)
    }

    @inline(__always)
    package subscript(index: Index) -> Element {
        Element(NodeReference(tree: tree, index: index.node))
    }

    @inline(__always)
    private func index(at node: Int32) -> Index {
        node < end && Element.represents(tree.nodes[node].kind) ? Index(node: node) : endIndex
    }
}

extension NodeList {
    package func makeIterator() -> Iterator { Iterator(tree: tree, index: start, end: end) }

    package struct Iterator: IteratorProtocol {
        let tree: SyntaxTree
        var index: Int32
        let end: Int32

        @inline(__always)
        package mutating func next() -> Element? {
            guard index < end, Element.represents(tree.nodes[index].kind) else { return nil }
            let reference = NodeReference(tree: tree, index: index)
            index = tree.nodes[index].next
            return Element(reference)
        }
    }

    /// The element of a list with exactly one element; nil for any other list.
    var only: Element? {
        guard let first, dropFirst().isEmpty else { return nil }
        return first
    }
}
