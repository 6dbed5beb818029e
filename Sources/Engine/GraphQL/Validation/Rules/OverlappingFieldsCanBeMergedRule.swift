/// Fields with the same response key can be merged.
///
/// Such fields become one entry of the response. They must therefore select the same field with the
/// same arguments, and their selection sets must be mergeable too. The rule has three stages, the
/// cheapest first:
///
/// 1. Most selection sets have no fragments and no duplicate response keys, so there is nothing to
///    merge (`mayOverlap`).
/// 2. `FieldMerging` checks in linear time whether the fields could be merged even if all type
///    conditions applied at the same time. If so, there is no conflict.
/// 3. Otherwise, `FieldConflicts` compares the fields pair by pair like graphql-js, and finds the
///    conflicts with its messages.
///
/// Stages 2 and 3 have a budget. A document that exceeds it is rejected.
///
/// Example: `{ dog { name: nickname } ...F }` with `fragment F on Query { dog { name } }`
/// passes stage 1, because F can contain any field. In stage 2, the two `dog` fields can be merged,
/// but `nickname` and `name` are different fields with one response key. Stage 3 reports that the
/// fields `dog` conflict because their subfields `name` conflict.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Field-Selection-Merging
struct OverlappingFieldsCanBeMergedRule: ValidationRule {
    /// The maximum number of fields visited in stage 2, and of pairs compared in stage 3, for one
    /// document.
    static let comparisonsMax = 200_000

    private var merging = FieldMerging(visitsMax: comparisonsMax)
    private var conflicts = FieldConflicts(comparisonsMax: comparisonsMax)
    private var isOverBudget = false
    private var keys = NameSet()

    /// The numbers of fields visited in stage 2, and of comparisons made in stage 3. Tests check
    /// these counts instead of measuring time.
    var visitsCount: Int { Self.comparisonsMax - merging.visitsLeft }
    var comparisonsCount: Int { Self.comparisonsMax - conflicts.comparisonsLeft }

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
                "Checking whether the fields can be merged takes more than \(Self.comparisonsMax) comparisons.",
                at: [selectionSet.range],
                exceeding: ExceededLimit(name: "fieldComparisonsMax", max: Self.comparisonsMax))
        }
    }

    /// Returns whether the set contains a duplicate response key or a fragment that can contain
    /// one.
    private mutating func mayOverlap(_ selectionSet: SelectionSet) -> Bool {
        if selectionSet.hasOnlyDistinctFields(&keys) { return false }
        var selectionSet = selectionSet
        while let only = selectionSet.selections.only {
            // A fragment that is spread alone is checked where it is defined.
            guard case .inlineFragment(let fragment) = only else { return false }
            selectionSet = fragment.selectionSet
            if selectionSet.hasOnlyDistinctFields(&keys) { return false }
        }
        return true
    }
}
