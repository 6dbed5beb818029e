/// A fast check that the fields of a selection set can be merged.
///
/// It is stricter than the specification, because it treats all type conditions as if they applied
/// at the same time. If the result is true, there is no conflict. If it is false, `FieldConflicts`
/// has to examine the fields, because fields on mutually exclusive types may differ.
///
/// **State.** A *part* is a selection set with its parent type. `pending` is a stack of merged
/// selection sets, each of which is a list of parts that are treated as one selection set.
/// `checked` contains the merged sets that were pushed, so that repeated fields and fragment cycles
/// do not cause repeated work.
///
/// **Invariant.** All parts of a merged set come from fields that can be merged with one another.
///
/// **Steps.**
///
/// 1. Pop a merged set. Group the fields of all parts by response key, expanding inline fragments
///    and each named fragment once.
/// 2. Compare each field only with the first one of its group: name, arguments, `@stream`, and shape
///    of the type. If a field differs, or one of the two has `@stream`, the result is false.
/// 3. If more than one field of a group has a selection set, push these sets as a merged set. A
///    single selection set is checked when the rule reaches it.
///
/// Each field is visited once per level of nesting, so the time is linear even if a field is
/// repeated many times. Comparing all pairs would be quadratic.
///
/// **Example.** In `{ a { x } a { y } ...F }` with `fragment F on Query { a { x } }`, the group `a`
/// has three fields. The second and the third are each compared with the first. Their selection
/// sets form the merged set `[{ x }, { y }, { x }]`, in which the group `x` has two fields and `y`
/// one. There is no difference, so the result is true.
struct FieldMerging {
    private(set) var visitsLeft: Int
    /// The merged selection sets that were pushed, as sets of their parts.
    private var checked: Set<Set<PartKey>> = []

    init(visitsMax: Int) { visitsLeft = visitsMax }

    /// A selection set and its parent type.
    private struct Part {
        let selectionSet: SelectionSet
        let parentType: TypeDefinition?
    }

    private struct PartKey: Hashable {
        let start: Int32
        let parentType: ObjectIdentifier?

        init(_ part: Part) {
            start = part.selectionSet.range.start
            parentType = part.parentType.map(ObjectIdentifier.init)
        }
    }

    /// The first field with a response key, and the selection sets of all fields with this key.
    private struct Group {
        let name: NameID
        let arguments: NodeList<Argument>
        let hasStream: Bool
        let type: TypeReference?
        var parts: [Part]
    }

    /// Returns whether the fields can be merged, or nil if the budget is exhausted.
    mutating func isMergeable(
        _ selectionSet: SelectionSet, of parentType: TypeDefinition?, in context: ValidationContext
    ) -> Bool? {
        var pending = [[Part(selectionSet: selectionSet, parentType: parentType)]]
        while let parts = pending.popLast() {
            guard let groups = groups(of: parts, in: context) else {
                checked = []
                return visitsLeft < 0 ? nil : false
            }
            for group in groups where group.parts.count > 1 {
                if checked.insert(Set(group.parts.map(PartKey.init))).inserted {
                    pending.append(group.parts)
                }
            }
        }
        return true
    }

    /// Returns the fields of all parts grouped by response key, or nil if two of them differ or the
    /// budget is exhausted.
    private mutating func groups(of parts: [Part], in context: ValidationContext) -> [Group]? {
        var groups: [Group] = []
        var indices: [NameID: Int] = [:]
        var spread: Set<NameID> = []
        var stack = parts
        while let part = stack.popLast() {
            visitsLeft -= part.selectionSet.selections.count
            guard visitsLeft >= 0 else { return nil }
            for selection in part.selectionSet.selections {
                switch selection {
                case .field(let field):
                    guard add(field, of: part.parentType, to: &groups, &indices, in: context) else {
                        return nil
                    }
                case .inlineFragment(let fragment):
                    stack.append(
                        Part(
                            selectionSet: fragment.selectionSet,
                            parentType: fragment.typeCondition.map {
                                context.schema.type(named: $0.value)
                            } ?? part.parentType))
                case .fragmentSpread(let fragmentSpread):
                    let name = fragmentSpread.nameID
                    guard spread.insert(name).inserted, let fragment = context.fragments[name]
                    else { continue }
                    stack.append(
                        Part(
                            selectionSet: fragment.selectionSet,
                            parentType: context.schema.type(named: fragment.typeCondition.value)))
                }
            }
        }
        return groups
    }

    /// Adds a field to its group.
    ///
    /// - Returns: false if the field differs from the first one of its group.
    private func add(
        _ field: Field, of parentType: TypeDefinition?, to groups: inout [Group],
        _ indices: inout [NameID: Int], in context: ValidationContext
    ) -> Bool {
        let schema = context.schema
        let type = parentType.flatMap { schema.field(named: field.nameText, of: $0)?.type }
        let part = field.selectionSet.map {
            Part(
                selectionSet: $0, parentType: type.flatMap { schema.type(named: $0.namedType) })
        }
        guard let index = indices[field.responseKeyID] else {
            indices[field.responseKeyID] = groups.count
            groups.append(
                Group(
                    name: field.nameID, arguments: field.arguments,
                    hasStream: field.stream != nil, type: type,
                    parts: part.map { [$0] } ?? []))
            return true
        }
        guard groups[index].name == field.nameID,
            haveSameArguments(groups[index].arguments, field.arguments),
            !groups[index].hasStream, field.stream == nil,
            !schema.haveConflictingShapes(groups[index].type, type)
        else { return false }
        if let part { groups[index].parts.append(part) }
        return true
    }
}

extension Schema {
    /// Returns whether two types have conflicting shapes: one is a list or non-null type and the
    /// other is not, or they are different types of which at least one is a leaf. The fields of
    /// composite types are compared separately.
    ///
    /// Spec: https://spec.graphql.org/September2025/#SameResponseShape()
    func haveConflictingShapes(_ left: TypeReference?, _ right: TypeReference?) -> Bool {
        guard let left, let right else { return false }
        switch (left, right) {
        case (.list(let left, _), .list(let right, _)),
            (.nonNull(let left, _), .nonNull(let right, _)):
            return haveConflictingShapes(left, right)
        case (.list, _), (_, .list), (.nonNull, _), (_, .nonNull):
            return true
        case (.named(let left), .named(let right)):
            if left.value == right.value { return false }
            return type(named: left.value)?.isLeaf == true
                || type(named: right.value)?.isLeaf == true
        }
    }
}

/// Returns whether two fields have the same arguments in any order.
func haveSameArguments(_ left: NodeList<Argument>, _ right: NodeList<Argument>) -> Bool {
    guard left.count == right.count else { return false }
    if left.isEmpty { return true }
    let left = left.sorted { $0.name.value < $1.name.value }
    let right = right.sorted { $0.name.value < $1.name.value }
    return zip(left, right).allSatisfy { $0.name == $1.name && isSameValue($0.value, $1.value) }
}

extension Field {
    /// The directive `@stream` of the field.
    var stream: Directive? {
        isPlain ? nil : directives.first { $0.name.value == "stream" }
    }
}

/// Returns whether two literals are equal. The order of object fields is ignored.
private func isSameValue(_ left: ValueNode, _ right: ValueNode) -> Bool {
    var pending = [(left, right)]
    while let (left, right) = pending.popLast() {
        switch (left.kind, right.kind) {
        case (.list(let left), .list(let right)):
            guard left.count == right.count else { return false }
            pending += zip(left, right)
        case (.object(let left), .object(let right)):
            guard left.count == right.count else { return false }
            let left = left.sorted { $0.name.value < $1.name.value }
            let right = right.sorted { $0.name.value < $1.name.value }
            for (one, other) in zip(left, right) {
                guard one.name == other.name else { return false }
                pending.append((one.value, other.value))
            }
        case (let left, let right):
            guard isSameLeaf(left, right) else { return false }
        }
    }
    return true
}

private func isSameLeaf(_ left: ValueNode.Kind, _ right: ValueNode.Kind) -> Bool {
    switch (left, right) {
    case (.variable(let left), .variable(let right)), (.int(let left), .int(let right)),
        (.float(let left), .float(let right)), (.enumeration(let left), .enumeration(let right)):
        left == right
    case (.string(let left), .string(let right)):
        left.value == right.value && left.isBlock == right.isBlock
    case (.boolean(let left), .boolean(let right)): left == right
    case (.null, .null): true
    default: false
    }
}
