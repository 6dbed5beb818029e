/// The fragments of a document by name, and who spreads whom.
struct FragmentTable {
    /// In the order of the document.
    let all: [FragmentDefinition]
    private let indices: [String: Int]

    init(_ document: Document) {
        var all: [FragmentDefinition] = []
        var indices: [String: Int] = [:]
        for (index, definition) in document.definitions.enumerated() {
            guard case .fragment(let fragment) = definition else { continue }
            indices[fragment.name.value] = all.count
            all.append(fragment)
            definitionIndices.append(index)
        }
        self.all = all
        self.indices = indices
    }

    /// Where each fragment of `all` stands in the document.
    private(set) var definitionIndices: [Int] = []

    var isEmpty: Bool { all.isEmpty }

    /// Of several with one name, the last.
    func index(of name: String) -> Int? { indices[name] }

    subscript(name: String) -> FragmentDefinition? {
        indices[name].map { all[$0] }
    }

    /// Every spread inside a selection set, itself without the fragments it names.
    ///
    /// Breadth of a level first, then its sub-selections from the last to the first, as graphql-js has it: the
    /// order decides which of several fragment cycles is told.
    static func spreads(in selectionSet: SelectionSet) -> [FragmentSpread] {
        var spreads: [FragmentSpread] = []
        var stack = [selectionSet]
        while let next = stack.popLast() {
            for selection in next.selections {
                switch selection {
                case .fragmentSpread(let spread): spreads.append(spread)
                case .field(let field): field.selectionSet.map { stack.append($0) }
                case .inlineFragment(let fragment): stack.append(fragment.selectionSet)
                }
            }
        }
        return spreads
    }
}

/// Who spreads which fragments, directly and through others; each selection set is read once.
struct FragmentReferences {
    let fragments: FragmentTable
    /// Spreads inside each fragment of the table.
    let spreads: [[FragmentSpread]]

    init(_ fragments: FragmentTable) {
        self.fragments = fragments
        spreads = fragments.all.map { FragmentTable.spreads(in: $0.selectionSet) }
    }

    /// Indices of the fragments a selection set reaches, each once.
    func reached(from selectionSet: SelectionSet) -> [Int] {
        guard !fragments.isEmpty else { return [] }
        var reached: [Int] = []
        var isReached = Array(repeating: false, count: fragments.all.count)
        var stack = [FragmentTable.spreads(in: selectionSet)]
        while let spreads = stack.popLast() {
            for spread in spreads {
                guard let index = fragments.index(of: spread.name.value), !isReached[index] else {
                    continue
                }
                isReached[index] = true
                reached.append(index)
                stack.append(self.spreads[index])
            }
        }
        return reached
    }
}
