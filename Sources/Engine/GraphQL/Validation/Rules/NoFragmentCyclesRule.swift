/// Fragments do not spread themselves, directly or through other fragments.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Fragment-Spreads-Must-Not-Form-Cycles
struct NoFragmentCyclesRule: ValidationRule {
    private var isVisited: [Bool] = []
    /// The index in the current path at which each fragment was entered; nil if it is not on the
    /// path.
    private var pathIndices: [Int?] = []
    private var enteredCount = 0

    /// A fragment whose spreads are being followed.
    private struct Step {
        let fragment: Int
        var spreads: ArraySlice<FragmentSpread>
    }

    /// A depth-first search with an explicit stack, because a chain of fragments can be as long as
    /// the document.
    mutating func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext) {
        let fragments = context.fragments
        if isVisited.isEmpty {
            isVisited = Array(repeating: false, count: fragments.all.count)
            pathIndices = Array(repeating: nil, count: fragments.all.count)
        }
        // If several fragments have the same name, this hook is called for each of them, but
        // spreads refer to the last one.
        let entered = enteredCount
        enteredCount += 1
        guard let root = fragments.index(of: fragment.nameID), !isVisited[root] else { return }
        let references = context.references
        var steps = [Step(fragment: root, spreads: references.spreads[entered][...])]
        var path: [FragmentSpread] = []
        isVisited[root] = true
        pathIndices[root] = 0
        while var step = steps.popLast() {
            guard let spread = step.spreads.popFirst() else {
                pathIndices[step.fragment] = nil
                _ = path.popLast()
                continue
            }
            steps.append(step)
            guard let next = fragments.index(of: spread.nameID) else { continue }
            if let start = pathIndices[next] {
                report(Array(path[start...]) + [spread], in: &context)
                if context.isExhausted { return }
            } else if !isVisited[next] {
                isVisited[next] = true
                path.append(spread)
                pathIndices[next] = path.count
                steps.append(Step(fragment: next, spreads: references.spreads[next][...]))
            }
        }
    }

    private func report(_ cycle: [FragmentSpread], in context: inout ValidationContext) {
        guard let last = cycle.last else { return }
        let via = cycle.dropLast().map { "\"\($0.name.value)\"" }.joined(separator: ", ")
        context.report(
            "Cannot spread fragment \"\(last.name.value)\" within itself"
                + (via.isEmpty ? "." : " via \(via)."), at: cycle.map(\.range))
    }
}
