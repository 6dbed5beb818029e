/// Finds the pairs of fields that conflict, in the order and with the words of graphql-js.
///
/// Every field is compared with every other of its response key, fragments are compared in pairs, each pair once. That
/// is quadratic: the work is bounded by a budget, the depth by `depthMax`.
struct FieldConflicts {
    /// Levels of nested fields through fragments: far above any limit on the depth of an operation.
    private static let depthMax = 128

    private var comparisonsLeft: Int
    private var depth = 0
    private var isTooDeep = false
    private var conflictsLeft = 0
    /// By the offset of the selection set.
    private var collections: [Int32: Collection] = [:]
    /// Whether a pair of fragments was compared as mutually exclusive only.
    private var comparedFragments: [FragmentPair: Bool] = [:]
    /// The same for a selection set and a fragment.
    private var comparedWithFragment: [SelectionAndFragment: Bool] = [:]

    init(comparisonsMax: Int) { comparisonsLeft = comparisonsMax }

    var isOverBudget: Bool { comparisonsLeft < 0 || isTooDeep }

    /// Conflicts among the fields of a selection set and of the fragments spread in it.
    mutating func find(
        within selectionSet: SelectionSet, of parentType: TypeDefinition?,
        in context: ValidationContext
    ) -> [FieldConflict] {
        conflictsLeft = context.options.errorsMax + 1
        let collection = collect(selectionSet, of: parentType, in: context)
        var found: [FieldConflict] = []
        for (key, fields) in collection.groups where fields.count > 1 {
            for first in fields.indices {
                for second in fields.indices[(first + 1)...] {
                    compare(key, fields[first], fields[second], false, &found, in: context)
                    if isDone { return found }
                }
            }
        }
        for (index, name) in collection.fragments.enumerated() {
            compare(collection, with: name, false, &found, in: context)
            for other in collection.fragments[(index + 1)...] {
                compareFragments(name, other, false, &found, in: context)
            }
        }
        return found
    }

    private var isDone: Bool { isOverBudget || conflictsLeft <= 0 }

    // MARK: - Collections

    /// What a selection set selects itself: fields by response key, and the names of the fragments it spreads.
    private final class Collection {
        /// The offset of the selection set.
        let id: Int32
        var groups: [(key: String, fields: [Entry])] = []
        var indices: [String: Int] = [:]
        var fragments: [String] = []

        init(id: Int32) { self.id = id }

        func fields(_ key: String) -> [Entry] { indices[key].map { groups[$0].fields } ?? [] }
    }

    private struct Entry {
        let parentType: TypeDefinition?
        let field: Field
        let type: TypeReference?
    }

    private struct FragmentPair: Hashable {
        let first: String
        let second: String

        init(_ one: String, _ other: String) {
            (first, second) = one < other ? (one, other) : (other, one)
        }
    }

    private struct SelectionAndFragment: Hashable {
        let selectionSet: Int32
        let fragment: String
    }

    private mutating func collect(
        _ selectionSet: SelectionSet, of parentType: TypeDefinition?, in context: ValidationContext
    ) -> Collection {
        if let known = collections[selectionSet.range.start] { return known }
        let collection = Collection(id: selectionSet.range.start)
        fill(collection, from: selectionSet, of: parentType, in: context)
        collections[selectionSet.range.start] = collection
        return collection
    }

    private mutating func fill(
        _ collection: Collection, from selectionSet: SelectionSet, of parentType: TypeDefinition?,
        in context: ValidationContext
    ) {
        comparisonsLeft -= selectionSet.selections.count
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field):
                let definition = parentType.flatMap {
                    context.schema.field(named: field.name.value, of: $0)
                }
                let entry = Entry(parentType: parentType, field: field, type: definition?.type)
                if let index = collection.indices[field.responseKey] {
                    collection.groups[index].fields.append(entry)
                } else {
                    collection.indices[field.responseKey] = collection.groups.count
                    collection.groups.append((field.responseKey, [entry]))
                }
            case .inlineFragment(let fragment):
                let type =
                    fragment.typeCondition.map { context.schema.type(named: $0.value) }
                    ?? parentType
                fill(collection, from: fragment.selectionSet, of: type, in: context)
            case .fragmentSpread(let spread):
                if !collection.fragments.contains(spread.name.value) {
                    collection.fragments.append(spread.name.value)
                }
            }
        }
    }

    private mutating func collect(
        fragment name: String, in context: ValidationContext
    ) -> Collection? {
        guard let fragment = context.fragments[name] else { return nil }
        return collect(
            fragment.selectionSet, of: context.schema.type(named: fragment.typeCondition.value),
            in: context)
    }

    // MARK: - Comparisons

    /// Every field of one collection with every field of the other.
    private mutating func compare(
        _ left: Collection, _ right: Collection, _ areExclusive: Bool,
        _ found: inout [FieldConflict], in context: ValidationContext
    ) {
        comparisonsLeft -= left.groups.count
        for (key, leftFields) in left.groups {
            let rightFields = right.fields(key)
            for leftField in leftFields {
                for rightField in rightFields {
                    if isDone { return }
                    compare(key, leftField, rightField, areExclusive, &found, in: context)
                }
            }
        }
    }

    /// A collection with a fragment and the fragments that one spreads.
    private mutating func compare(
        _ collection: Collection, with name: String, _ areExclusive: Bool,
        _ found: inout [FieldConflict], in context: ValidationContext
    ) {
        // A stack instead of recursion: a chain of fragments may be as long as the document.
        var stack = [name]
        while let name = stack.popLast() {
            comparisonsLeft -= 1
            let pair = SelectionAndFragment(selectionSet: collection.id, fragment: name)
            guard !isDone, !isKnown(&comparedWithFragment[pair], areExclusive),
                let other = collect(fragment: name, in: context), other !== collection
            else { continue }
            compare(collection, other, areExclusive, &found, in: context)
            stack += other.fragments.reversed()
        }
    }

    /// Two fragments and the fragments they spread.
    private mutating func compareFragments(
        _ left: String, _ right: String, _ areExclusive: Bool, _ found: inout [FieldConflict],
        in context: ValidationContext
    ) {
        var stack = [(left, right)]
        while let (left, right) = stack.popLast() {
            comparisonsLeft -= 1
            guard !isDone, left != right,
                !isKnown(&comparedFragments[FragmentPair(left, right)], areExclusive),
                let leftFields = collect(fragment: left, in: context),
                let rightFields = collect(fragment: right, in: context)
            else { continue }
            compare(leftFields, rightFields, areExclusive, &found, in: context)
            for spread in leftFields.fragments.reversed() { stack.append((spread, right)) }
            for spread in rightFields.fragments.reversed() { stack.append((left, spread)) }
        }
    }

    /// Whether a pair was compared before, at least as strictly; from now on it was.
    private func isKnown(_ wasExclusive: inout Bool?, _ areExclusive: Bool) -> Bool {
        if let wasExclusive, areExclusive || !wasExclusive { return true }
        wasExclusive = areExclusive
        return false
    }

    private mutating func compare(
        _ key: String, _ left: Entry, _ right: Entry, _ parentsAreExclusive: Bool,
        _ found: inout [FieldConflict], in context: ValidationContext
    ) {
        comparisonsLeft -= 1
        let areExclusive = parentsAreExclusive || areDifferentObjects(left, right)
        if let reason = plainReason(left, right, areExclusive, in: context.schema) {
            conflictsLeft -= 1
            found.append(
                FieldConflict(
                    responseKey: key, reason: .plain(reason), left: [left.field.range],
                    right: [right.field.range]))
            return
        }
        guard let leftSet = left.field.selectionSet, let rightSet = right.field.selectionSet else {
            return
        }
        let schema = context.schema
        let leftFields = collect(
            leftSet, of: left.type.flatMap { schema.type(named: $0.namedType) }, in: context)
        let rightFields = collect(
            rightSet, of: right.type.flatMap { schema.type(named: $0.namedType) }, in: context)
        let inner = subfieldConflicts(leftFields, rightFields, areExclusive, in: context)
        guard !inner.isEmpty else { return }
        found.append(
            FieldConflict(
                responseKey: key, reason: .subfields(inner.map { ($0.responseKey, $0.reason) }),
                left: [left.field.range] + inner.flatMap(\.left),
                right: [right.field.range] + inner.flatMap(\.right)))
    }

    private mutating func subfieldConflicts(
        _ left: Collection, _ right: Collection, _ areExclusive: Bool, in context: ValidationContext
    ) -> [FieldConflict] {
        guard depth < Self.depthMax else {
            isTooDeep = true
            return []
        }
        depth += 1
        defer { depth -= 1 }
        var found: [FieldConflict] = []
        compare(left, right, areExclusive, &found, in: context)
        for name in right.fragments {
            compare(left, with: name, areExclusive, &found, in: context)
        }
        for name in left.fragments {
            compare(right, with: name, areExclusive, &found, in: context)
        }
        for leftName in left.fragments {
            for rightName in right.fragments {
                compareFragments(leftName, rightName, areExclusive, &found, in: context)
            }
        }
        return found
    }

    /// Why two fields conflict by themselves, their selections aside.
    private func plainReason(
        _ left: Entry, _ right: Entry, _ areExclusive: Bool, in schema: Schema
    ) -> String? {
        if !areExclusive {
            let (leftName, rightName) = (left.field.name.value, right.field.name.value)
            if leftName != rightName {
                return "\"\(leftName)\" and \"\(rightName)\" are different fields"
            }
            if !haveSameArguments(left.field.arguments, right.field.arguments) {
                return "they have differing arguments"
            }
        }
        if let left = left.type, let right = right.type, schema.haveConflictingShapes(left, right) {
            return "they return conflicting types \"\(print(left))\" and \"\(print(right))\""
        }
        return nil
    }

    /// Two different object types: no value is of both.
    private func areDifferentObjects(_ left: Entry, _ right: Entry) -> Bool {
        guard let leftType = left.parentType, let rightType = right.parentType,
            leftType !== rightType, case .object = leftType.kind, case .object = rightType.kind
        else { return false }
        return true
    }
}
