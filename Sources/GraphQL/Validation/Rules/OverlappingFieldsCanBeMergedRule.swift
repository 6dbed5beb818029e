/// Fields that share a response key select the same thing.
///
/// Most selection sets have no key twice and no fragments: nothing can overlap. Of the others, `FieldMerging` tells
/// in linear time that nothing conflicts even if all type conditions applied at once. Where it cannot,
/// `FieldConflicts` compares pair by pair, as graphql-js does, and finds the conflicts with its words. Both have a
/// budget of work.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Field-Selection-Merging
struct OverlappingFieldsCanBeMergedRule: ValidationRule {
    /// Fields visited and pairs compared in one document.
    static let comparisonsMax = 200_000

    private var merging = FieldMerging(visitsMax: comparisonsMax)
    private var conflicts = FieldConflicts(comparisonsMax: comparisonsMax)
    private var isOverBudget = false
    private var keys = NameSet()

    mutating func enter(_ selectionSet: SelectionSet, in context: inout ValidationContext) {
        guard !isOverBudget, mayOverlap(selectionSet) else { return }
        switch merging.isMergeable(selectionSet, of: context.parentType, in: context) {
        case true?:
            return
        case false?:
            let found = conflicts.find(within: selectionSet, of: context.parentType, in: context)
            for conflict in found {
                context.report(
                    "Fields \"\(conflict.responseKey)\" conflict because \(conflict.reason). Use "
                        + "different aliases on the fields to fetch both if this was intentional.",
                    at: conflict.left + conflict.right)
            }
            isOverBudget = conflicts.isOverBudget
        case nil:
            isOverBudget = true
        }
        if isOverBudget {
            context.report(
                "Checking whether fields can be merged takes more than \(Self.comparisonsMax) comparisons.",
                at: [selectionSet.range],
                exceeding: ExceededLimit(name: "fieldComparisonsMax", max: Self.comparisonsMax))
        }
    }

    /// Whether a response key stands twice, or a fragment may bring one in.
    private mutating func mayOverlap(_ selectionSet: SelectionSet) -> Bool {
        if selectionSet.areDistinctFields(&keys) { return false }
        var selectionSet = selectionSet
        while let only = selectionSet.selections.only {
            // What a lone spread brings in is checked where the fragment is defined.
            guard case .inlineFragment(let fragment) = only else { return false }
            selectionSet = fragment.selectionSet
            if selectionSet.areDistinctFields(&keys) { return false }
        }
        return true
    }
}
