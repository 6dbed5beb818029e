/// Finds the pairs of fields that conflict, in the order and with the words of graphql-js.
///
/// Every field is compared with every other of its response key, fragments are compared in pairs, each pair once. That
/// is quadratic: the work is bounded by a budget, the depth by `depthMax`. What is still to be compared is on a stack.
struct FieldConflicts {
    /// Levels of nested fields through fragments: far above any limit on the depth of an operation.
    private static let depthMax = 128

    private var comparisonsLeft: Int
    private var isTooDeep = false
    private var tasks: [Task] = []
    /// Conflicts found so far: at the top, and below each pair of fields whose selections are compared.
    private var found: [[FieldConflict]] = []
    private var conflictsLeft = 0
    private var collections: [CollectionKey: Collection] = [:]
    /// Whether a pair of fragments was compared as mutually exclusive only.
    private var comparedFragments: [FragmentPair: Bool] = [:]
    /// The same for a selection set and a fragment.
    private var comparedWithFragment: [CollectionAndFragment: Bool] = [:]

    init(comparisonsMax: Int) { comparisonsLeft = comparisonsMax }

    var isOverBudget: Bool { comparisonsLeft < 0 || isTooDeep }

    /// Conflicts among the fields of a selection set and of the fragments spread in it.
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

    /// What a selection set selects itself: fields by response key, and the names of the fragments it spreads.
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

    /// A selection set and the type it is selected from, which may be known in one place and not in another.
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
        // What is left of the inline fragments around the place.
        var around = [(rest: selectionSet.selections[...], type: parentType)]
        while var (rest, type) = around.popLast() {
            guard let selection = rest.popFirst() else { continue }
            comparisonsLeft -= 1
            around.append((rest, type))
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
                around.append((fragment.selectionSet.selections[...], type))
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

    /// A comparison; the flag says whether both sides are on types that exclude one another.
    private enum Task {
        case fields(Entry, Entry, Bool)
        /// Every field of one collection with every field of the other that has its response key.
        case collections(Collection, Collection, Bool, next: Position)
        /// A collection with a fragment and the fragments that one spreads.
        case withFragment(Collection, NameID, Bool)
        /// Two fragments and the fragments they spread.
        case fragments(NameID, NameID, Bool)
        /// The selections of two fields are compared.
        case finish(Entry, Entry)
    }

    private struct Position {
        var group = 0
        var left = 0
        var right = 0
    }

    private mutating func run(_ task: Task, in context: ValidationContext) {
        tasks.append(task)
        while let task = tasks.popLast() {
            switch task {
            case .fields(let left, let right, let areExclusive):
                compare(left, right, areExclusive, in: context)
            case .collections(let left, let right, let areExclusive, let next):
                compare(left, right, areExclusive, from: next)
            case .withFragment(let collection, let name, let areExclusive):
                compare(collection, with: name, areExclusive, in: context)
            case .fragments(let left, let right, let areExclusive):
                compareFragments(left, right, areExclusive, in: context)
            case .finish(let left, let right):
                finish(left, right)
            }
        }
    }

    private mutating func report(_ conflict: FieldConflict) {
        found[found.count - 1].append(conflict)
    }

    private mutating func compare(
        _ left: Collection, _ right: Collection, _ areExclusive: Bool, from start: Position
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
            tasks.append(.collections(left, right, areExclusive, next: next))
            tasks.append(.fields(pair.0, pair.1, areExclusive))
            return
        }
    }

    private mutating func compare(
        _ collection: Collection, with name: NameID, _ areExclusive: Bool,
        in context: ValidationContext
    ) {
        comparisonsLeft -= 1
        let pair = CollectionAndFragment(collection: collection.id, fragment: name)
        guard !isDone, !isKnown(&comparedWithFragment[pair], areExclusive),
            let other = collect(fragment: name, in: context), other !== collection
        else { return }
        for spread in other.fragments.reversed() {
            tasks.append(.withFragment(collection, spread, areExclusive))
        }
        tasks.append(.collections(collection, other, areExclusive, next: Position()))
    }

    private mutating func compareFragments(
        _ left: NameID, _ right: NameID, _ areExclusive: Bool, in context: ValidationContext
    ) {
        comparisonsLeft -= 1
        guard !isDone, left != right,
            !isKnown(&comparedFragments[FragmentPair(left, right)], areExclusive),
            let leftFields = collect(fragment: left, in: context),
            let rightFields = collect(fragment: right, in: context)
        else { return }
        for spread in leftFields.fragments.reversed() {
            tasks.append(.fragments(spread, right, areExclusive))
        }
        for spread in rightFields.fragments.reversed() {
            tasks.append(.fragments(left, spread, areExclusive))
        }
        tasks.append(.collections(leftFields, rightFields, areExclusive, next: Position()))
    }

    /// Whether a pair was compared before, at least as strictly; from now on it was.
    private func isKnown(_ wasExclusive: inout Bool?, _ areExclusive: Bool) -> Bool {
        if let wasExclusive, areExclusive || !wasExclusive { return true }
        wasExclusive = areExclusive
        return false
    }

    private mutating func compare(
        _ left: Entry, _ right: Entry, _ parentsAreExclusive: Bool, in context: ValidationContext
    ) {
        guard !isDone else { return }
        comparisonsLeft -= 1
        let areExclusive = parentsAreExclusive || areDifferentObjects(left, right)
        if let reason = plainReason(left, right, areExclusive, in: context.schema) {
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
        // Every pair of them waits on the stack, which must not outgrow the budget that they are compared with.
        let pairCount = leftFields.fragments.count * rightFields.fragments.count
        guard tasks.count + pairCount <= comparisonsLeft else {
            comparisonsLeft = -1
            return
        }
        found.append([])
        tasks.append(.finish(left, right))
        let first = tasks.count
        tasks.append(.collections(leftFields, rightFields, areExclusive, next: Position()))
        tasks += rightFields.fragments.map { .withFragment(leftFields, $0, areExclusive) }
        tasks += leftFields.fragments.map { .withFragment(rightFields, $0, areExclusive) }
        for leftName in leftFields.fragments {
            tasks += rightFields.fragments.map { .fragments(leftName, $0, areExclusive) }
        }
        // The next one is the last.
        tasks[first...].reverse()
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
