/// Finds all conflicting pairs of fields, in the order and with the messages of graphql-js.
///
/// **Conflicts.** Two fields with the same response key conflict if one of these conditions is
/// true:
///
/// - Their parent types are not mutually exclusive, and the fields have different names.
/// - Their parent types are not mutually exclusive, and the fields have different arguments.
/// - At least one of them has `@stream`, because a list is streamed for a single selection.
/// - Their types have conflicting shapes, such as `Int` and `[Int]`.
/// - Any of their subfields conflict.
///
/// Two different object types are mutually exclusive: no object has both types, so at most one of
/// the two fields applies to it. If the parents of two fields are mutually exclusive, so are the
/// parents of all fields below them.
///
/// **Comparisons.** For a selection set, `find` compares three things:
///
/// - Each pair of its fields that have the same response key.
/// - Its fields with the fields of each fragment that it spreads, directly or through other
///   fragments.
/// - The fields of each pair of these fragments.
///
/// If two compared fields have selection sets, `compare` adds the comparisons between the two sets:
///
/// - The fields of one set with the fields of the other.
/// - The fields of each set with the fragments of the other.
/// - Each fragment of one set with each fragment of the other.
///
/// Conflicts inside one of the two sets or inside a fragment are not searched here. The rule finds
/// them when it checks that selection set.
///
/// **State.** There is no recursion.
///
/// - `pending` is the stack of comparisons to be done.
/// - `found` is a stack of lists of conflicts. The first list is the result. There is one more list
///   for each pair of fields whose selection sets are being compared. `Comparison.finish` removes
///   the list of its pair, and if the list is not empty, it adds a single conflict for the pair to
///   the list below.
/// - `collections` caches the fields and fragment names of each selection set and parent type.
/// - `comparedFragments` and `comparedWithFragment` record which comparisons with fragments were
///   done. Comparing fields with mutually exclusive parents checks less. A comparison that was done
///   only in that mode must therefore be repeated in the other one, but not vice versa. This also
///   makes the search end if fragments form cycles.
///
/// **Invariant.** `pending` contains one `finish` for each list in `found` except the first. The
/// comparisons above the topmost `finish` belong to its pair.
///
/// **Limits.** The number of comparisons is quadratic in the worst case. `comparisonsLeft` bounds
/// it, and `depthMax` bounds the nesting. If either is exceeded, `isOverBudget` is true and the
/// result is incomplete.
///
/// **Example.**
///
///     {
///       dog { ...A name: nickname }
///       dog { name }
///     }
///     fragment A on Dog { name: barkVolume }
///
/// 1. `find` compares the two `dog` fields. Both select the same field and have selection sets, so
///    `found` becomes `[[], []]`. `pending` receives `finish`, and above it the comparisons of the
///    fields of both sets and of the second set with A.
/// 2. The fields of the sets: `nickname` and `name` are different fields with the response key
///    `name`. This is the first conflict in the second list.
/// 3. The second set with A: `name` and `barkVolume` are different fields. This is the second
///    conflict in that list.
/// 4. `finish` replaces the two conflicts by one in the first list: `"dog" conflict because
///    subfields "name" conflict because "nickname" and "name" are different fields and subfields
///    "name" conflict because "name" and "barkVolume" are different fields`.
///
/// The conflict between A and `name: nickname` inside the first set is reported when the rule
/// checks that set.
struct FieldConflicts {
    /// The maximum nesting depth of fields, including those in fragments. It is far above the limit
    /// on the depth of an operation.
    private static let depthMax = 128

    private(set) var comparisonsLeft: Int
    private var isTooDeep = false
    private var pending: [Comparison] = []
    /// See the description of the state above.
    private var found: [[FieldConflict]] = []
    private var conflictsLeft = 0
    private var collections: [CollectionKey: Collection] = [:]
    /// The compared pairs of fragments. The value is true if the pair was compared only with
    /// mutually exclusive parents.
    private var comparedFragments: [FragmentPair: Bool] = [:]
    /// The compared pairs of a collection and a fragment. The value has the same meaning as in
    /// `comparedFragments`.
    private var comparedWithFragment: [CollectionAndFragment: Bool] = [:]

    init(comparisonsMax: Int) { comparisonsLeft = comparisonsMax }

    var isOverBudget: Bool { comparisonsLeft < 0 || isTooDeep }

    /// Returns the conflicts among the fields of a selection set and of the fragments that it
    /// spreads.
    mutating func find(
        within selectionSet: SelectionSet, of parentType: TypeDefinition?,
        in context: ValidationContext
    ) -> [FieldConflict] {
        conflictsLeft = context.options.errorsMax + 1
        let collection = collect(selectionSet, of: parentType, in: context)
        found = [[]]
        for (_, fields) in collection.groups where fields.count > 1 {
            for first in fields.indices {
                for second in fields.indices[(first + 1)...] {
                    run(.fields(fields[first], fields[second], false), in: context)
                    if isDone { return found[0] }
                }
            }
        }
        for (index, name) in collection.fragments.enumerated() {
            run(.withFragment(collection, name, false), in: context)
            if isDone { return found[0] }
            for other in collection.fragments[(index + 1)...] {
                run(.fragments(name, other, false), in: context)
                if isDone { return found[0] }
            }
        }
        return found[0]
    }

    private var isDone: Bool { isOverBudget || conflictsLeft <= 0 }

    // MARK: - Collections

    /// The fields of a selection set by response key, including those of inline fragments, and the
    /// names of the fragments that it spreads.
    private final class Collection {
        let id: Int
        var groups: [(key: NameID, fields: [Entry])] = []
        var indices: [NameID: Int] = [:]
        private(set) var fragments: [NameID] = []
        private var knownFragments: Set<NameID> = []

        init(id: Int) { self.id = id }

        func insert(fragment: NameID) {
            if knownFragments.insert(fragment).inserted { fragments.append(fragment) }
        }

        func fields(_ key: NameID) -> [Entry] { indices[key].map { groups[$0].fields } ?? [] }
    }

    /// The key of `collections`. The parent type is part of it because it can be known for one use
    /// of a selection set and unknown for another.
    private struct CollectionKey: Hashable {
        let start: Int32
        let parentType: ObjectIdentifier?
    }

    private struct Entry {
        let parentType: TypeDefinition?
        let field: Field
        let type: TypeReference?
    }

    private struct FragmentPair: Hashable {
        let first: NameID
        let second: NameID

        init(_ one: NameID, _ other: NameID) {
            (first, second) = one.rawValue < other.rawValue ? (one, other) : (other, one)
        }
    }

    private struct CollectionAndFragment: Hashable {
        let collection: Int
        let fragment: NameID
    }

    private mutating func collect(
        _ selectionSet: SelectionSet, of parentType: TypeDefinition?, in context: ValidationContext
    ) -> Collection {
        let key = CollectionKey(
            start: selectionSet.range.start, parentType: parentType.map(ObjectIdentifier.init))
        if let known = collections[key] { return known }
        let collection = Collection(id: collections.count)
        fill(collection, from: selectionSet, of: parentType, in: context)
        collections[key] = collection
        return collection
    }

    private mutating func fill(
        _ collection: Collection, from selectionSet: SelectionSet, of parentType: TypeDefinition?,
        in context: ValidationContext
    ) {
        // The remaining selections of each enclosing inline fragment, innermost last.
        var stack = [(rest: selectionSet.selections[...], type: parentType)]
        while var (rest, type) = stack.popLast() {
            guard let selection = rest.popFirst() else { continue }
            comparisonsLeft -= 1
            stack.append((rest, type))
            switch selection {
            case .field(let field):
                let definition = type.flatMap {
                    context.schema.field(named: field.nameText, of: $0)
                }
                let entry = Entry(parentType: type, field: field, type: definition?.type)
                if let index = collection.indices[field.responseKeyID] {
                    collection.groups[index].fields.append(entry)
                } else {
                    collection.indices[field.responseKeyID] = collection.groups.count
                    collection.groups.append((field.responseKeyID, [entry]))
                }
            case .inlineFragment(let fragment):
                if let condition = fragment.typeCondition {
                    type = context.schema.type(named: condition.value)
                }
                stack.append((fragment.selectionSet.selections[...], type))
            case .fragmentSpread(let spread):
                collection.insert(fragment: spread.nameID)
            }
        }
    }

    private mutating func collect(
        fragment name: NameID, in context: ValidationContext
    ) -> Collection? {
        guard let fragment = context.fragments[name] else { return nil }
        return collect(
            fragment.selectionSet, of: context.schema.type(named: fragment.typeCondition.value),
            in: context)
    }

    // MARK: - Comparisons

    /// A comparison to be done. The flag is true if the parent types are mutually exclusive.
    private enum Comparison {
        case fields(Entry, Entry, Bool)
        /// Every field of one collection with every field of the other that has the same response
        /// key. `next` is the next pair.
        case collections(Collection, Collection, Bool, next: Position)
        /// A collection with a fragment and the fragments that it spreads.
        case withFragment(Collection, NameID, Bool)
        /// Two fragments, and each of them with the fragments that the other one spreads.
        case fragments(NameID, NameID, Bool)
        /// All comparisons of the selection sets of two fields are done.
        case finish(Entry, Entry)
    }

    private struct Position {
        var group = 0
        var left = 0
        var right = 0
    }

    private mutating func run(_ comparison: Comparison, in context: ValidationContext) {
        pending.append(comparison)
        while let comparison = pending.popLast() {
            switch comparison {
            case .fields(let left, let right, let areMutuallyExclusive):
                compare(left, right, areMutuallyExclusive, in: context)
            case .collections(let left, let right, let areMutuallyExclusive, let next):
                compare(left, right, areMutuallyExclusive, from: next)
            case .withFragment(let collection, let name, let areMutuallyExclusive):
                compare(collection, with: name, areMutuallyExclusive, in: context)
            case .fragments(let left, let right, let areMutuallyExclusive):
                compareFragments(left, right, areMutuallyExclusive, in: context)
            case .finish(let left, let right):
                finish(left, right)
            }
        }
    }

    private mutating func report(_ conflict: FieldConflict) {
        found[found.count - 1].append(conflict)
    }

    private mutating func compare(
        _ left: Collection, _ right: Collection, _ areMutuallyExclusive: Bool, from start: Position
    ) {
        var next = start
        while next.group < left.groups.count, !isDone {
            if next.left == 0, next.right == 0 { comparisonsLeft -= 1 }
            let (key, leftFields) = left.groups[next.group]
            let rightFields = right.fields(key)
            guard next.left < leftFields.count, !rightFields.isEmpty else {
                next = Position(group: next.group + 1)
                continue
            }
            let pair = (leftFields[next.left], rightFields[next.right])
            next.right += 1
            if next.right == rightFields.count { (next.left, next.right) = (next.left + 1, 0) }
            pending.append(.collections(left, right, areMutuallyExclusive, next: next))
            pending.append(.fields(pair.0, pair.1, areMutuallyExclusive))
            return
        }
    }

    private mutating func compare(
        _ collection: Collection, with name: NameID, _ areMutuallyExclusive: Bool,
        in context: ValidationContext
    ) {
        comparisonsLeft -= 1
        let pair = CollectionAndFragment(collection: collection.id, fragment: name)
        guard !isDone, !Self.wasCompared(&comparedWithFragment[pair], areMutuallyExclusive),
            let other = collect(fragment: name, in: context), other !== collection
        else { return }
        for spread in other.fragments.reversed() {
            pending.append(.withFragment(collection, spread, areMutuallyExclusive))
        }
        pending.append(.collections(collection, other, areMutuallyExclusive, next: Position()))
    }

    private mutating func compareFragments(
        _ left: NameID, _ right: NameID, _ areMutuallyExclusive: Bool, in context: ValidationContext
    ) {
        comparisonsLeft -= 1
        guard !isDone, left != right,
            !Self.wasCompared(&comparedFragments[FragmentPair(left, right)], areMutuallyExclusive),
            let leftFields = collect(fragment: left, in: context),
            let rightFields = collect(fragment: right, in: context)
        else { return }
        for spread in leftFields.fragments.reversed() {
            pending.append(.fragments(spread, right, areMutuallyExclusive))
        }
        for spread in rightFields.fragments.reversed() {
            pending.append(.fragments(left, spread, areMutuallyExclusive))
        }
        pending.append(
            .collections(leftFields, rightFields, areMutuallyExclusive, next: Position()))
    }

    /// Returns whether a pair was already compared at least as strictly, and otherwise records that
    /// it is now.
    private static func wasCompared(
        _ wasMutuallyExclusive: inout Bool?, _ areMutuallyExclusive: Bool
    )
        -> Bool
    {
        if let wasMutuallyExclusive, areMutuallyExclusive || !wasMutuallyExclusive { return true }
        wasMutuallyExclusive = areMutuallyExclusive
        return false
    }

    private mutating func compare(
        _ left: Entry, _ right: Entry, _ parentsAreMutuallyExclusive: Bool,
        in context: ValidationContext
    ) {
        guard !isDone else { return }
        comparisonsLeft -= 1
        let areMutuallyExclusive = parentsAreMutuallyExclusive || areDifferentObjects(left, right)
        if let reason = ownConflictReason(left, right, areMutuallyExclusive, in: context.schema) {
            conflictsLeft -= 1
            report(
                FieldConflict(
                    responseKey: left.field.responseKey, reason: reason, left: [left.field.range],
                    right: [right.field.range]))
            return
        }
        guard let leftSet = left.field.selectionSet, let rightSet = right.field.selectionSet else {
            return
        }
        guard found.count <= Self.depthMax else {
            isTooDeep = true
            return
        }
        let schema = context.schema
        let leftFields = collect(
            leftSet, of: left.type.flatMap { schema.type(named: $0.namedType) }, in: context)
        let rightFields = collect(
            rightSet, of: right.type.flatMap { schema.type(named: $0.namedType) }, in: context)
        // Each pair of fragments is pushed on the stack, whose size must not exceed the budget for
        // comparisons.
        let pairCount = leftFields.fragments.count * rightFields.fragments.count
        guard pending.count + pairCount <= comparisonsLeft else {
            comparisonsLeft = -1
            return
        }
        found.append([])
        pending.append(.finish(left, right))
        let first = pending.count
        pending.append(
            .collections(leftFields, rightFields, areMutuallyExclusive, next: Position()))
        pending += rightFields.fragments.map { .withFragment(leftFields, $0, areMutuallyExclusive) }
        pending += leftFields.fragments.map { .withFragment(rightFields, $0, areMutuallyExclusive) }
        for leftName in leftFields.fragments {
            pending += rightFields.fragments.map { .fragments(leftName, $0, areMutuallyExclusive) }
        }
        // The stack is popped from its end, so the first comparison must be last.
        pending[first...].reverse()
    }

    private mutating func finish(_ left: Entry, _ right: Entry) {
        let inner = found.removeLast()
        guard !inner.isEmpty else { return }
        let reasons = inner.map {
            "subfields \"\($0.responseKey)\" conflict because \($0.reason)"
        }
        report(
            FieldConflict(
                responseKey: left.field.responseKey, reason: reasons.joined(separator: " and "),
                left: [left.field.range] + inner.flatMap(\.left),
                right: [right.field.range] + inner.flatMap(\.right)))
    }

    /// Returns why two fields conflict regardless of their selection sets, or nil if they do not.
    private func ownConflictReason(
        _ left: Entry, _ right: Entry, _ areMutuallyExclusive: Bool, in schema: Schema
    ) -> String? {
        if !areMutuallyExclusive {
            let (leftName, rightName) = (left.field.name.value, right.field.name.value)
            if leftName != rightName {
                return "\"\(leftName)\" and \"\(rightName)\" are different fields"
            }
            if !haveSameArguments(left.field.arguments, right.field.arguments) {
                return "they have differing arguments"
            }
        }
        if schema.hasIncrementalDelivery, left.field.stream != nil || right.field.stream != nil {
            let reason = "they have overlapping stream directives"
            guard let left = left.field.stream, let right = right.field.stream,
                haveSameArguments(left.arguments, right.arguments)
            else { return reason }
            // Clients of earlier drafts send such operations. graphql-js explains it in the same way.
            return reason + ". See https://github.com/graphql/defer-stream-wg/discussions/100"
        }
        if let left = left.type, let right = right.type, schema.haveConflictingShapes(left, right) {
            return "they return conflicting types \"\(print(left))\" and \"\(print(right))\""
        }
        return nil
    }

    /// Whether the parents are two different object types, so that no object has both.
    private func areDifferentObjects(_ left: Entry, _ right: Entry) -> Bool {
        guard let leftType = left.parentType, let rightType = right.parentType,
            leftType !== rightType, case .object = leftType.kind, case .object = rightType.kind
        else { return false }
        return true
    }
}
