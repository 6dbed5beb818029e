/// The fragments of a document by name.
struct FragmentTable {
    /// All fragments, in the order of the document.
    private(set) var all: [FragmentDefinition] = []
    /// The index of each fragment of `all` among the definitions of the document.
    private(set) var definitionIndices: [Int] = []
    /// The index in `all` by name ID; -1 if no fragment has the name.
    private var indices: [Int32] = []

    init(_ document: Document) {
        for (index, definition) in document.definitions.enumerated() {
            guard case .fragment(let fragment) = definition else { continue }
            if indices.isEmpty {
                indices = Array(repeating: -1, count: document.tree.names.count)
            }
            indices[Int(fragment.nameID.rawValue)] = Int32(truncatingIfNeeded: all.count)
            all.append(fragment)
            definitionIndices.append(index)
        }
    }

    var isEmpty: Bool { all.isEmpty }

    /// Returns the index of a fragment in `all`. If several fragments have the name, returns the
    /// last one.
    func index(of name: NameID) -> Int? {
        guard !isEmpty else { return nil }
        let index = indices[Int(name.rawValue)]
        return index < 0 ? nil : Int(index)
    }

    subscript(name: NameID) -> FragmentDefinition? { index(of: name).map { all[$0] } }
}

/// The spreads of all fragments. Each selection set is read only once.
struct FragmentReferences {
    let fragments: FragmentTable
    /// The spreads in each fragment of the table.
    let spreads: [[FragmentSpread]]
    private var reached = NameSet()

    init(_ fragments: FragmentTable) {
        self.fragments = fragments
        spreads = fragments.all.map { $0.selectionSet.spreads() }
    }

    /// Returns the indices of the fragments that a selection set spreads, directly or through other
    /// fragments, without duplicates.
    mutating func reached(from selectionSet: SelectionSet) -> [Int] {
        guard !fragments.isEmpty else { return [] }
        reached.removeAll(namesCount: selectionSet.reference.tree.names.count)
        var indices: [Int] = []
        var stack = [selectionSet.spreads()]
        while let spreads = stack.popLast() {
            for spread in spreads {
                guard reached.insert(spread.nameID), let index = fragments.index(of: spread.nameID)
                else { continue }
                indices.append(index)
                stack.append(self.spreads[index])
            }
        }
        return indices
    }
}

extension FragmentReferences {
    /// Returns the indices of all fragments, each after the fragments that it spreads, or nil if
    /// there is a cycle.
    func topologicalOrder() -> [Int]? {
        // An explicit stack, because a chain of fragments can be as long as the document.
        var isDone = Array(repeating: false, count: fragments.all.count)
        var isOnPath = isDone
        var order: [Int] = []
        for root in fragments.all.indices where !isDone[root] {
            isOnPath[root] = true
            var steps = [(fragment: root, spreads: spreads[root][...])]
            while var step = steps.popLast() {
                guard let spread = step.spreads.popFirst() else {
                    isOnPath[step.fragment] = false
                    isDone[step.fragment] = true
                    order.append(step.fragment)
                    continue
                }
                steps.append(step)
                guard let next = fragments.index(of: spread.nameID), !isDone[next] else {
                    continue
                }
                if isOnPath[next] { return nil }
                isOnPath[next] = true
                steps.append((next, spreads[next][...]))
            }
        }
        return order
    }
}

extension SelectionSet {
    /// Returns the spreads in the selection set and its nested sets. The spread fragments are not
    /// followed.
    ///
    /// The spreads of a set come first, then those of its nested sets from the last to the first.
    /// That is the order of graphql-js, which determines which of several fragment cycles is
    /// reported.
    fileprivate func spreads() -> [FragmentSpread] {
        let tree = reference.tree
        var spreads: [FragmentSpread] = []
        var stack = [reference.index]
        while let selectionSet = stack.popLast() {
            var index = selectionSet + 1
            while index < tree.nodes[selectionSet].next {
                let selection = tree.nodes[index]
                if selection.kind == .fragmentSpread {
                    spreads.append(FragmentSpread(NodeReference(tree: tree, index: index)))
                } else if let inner = tree.firstChild(.selectionSet, of: index) {
                    stack.append(inner)
                }
                index = selection.next
            }
        }
        return spreads
    }
}
