/// Collects the fields that selection sets select on an object type.
///
/// Fields are grouped by response key in the order of first appearance. Fragments are expanded, and
/// `@skip` and `@include` are applied. Each field keeps the innermost `@defer` around it.
///
/// Spec: https://spec.graphql.org/September2025/#CollectFields()
struct FieldCollector {
    let schema: Schema
    let fragments: FragmentTable
    /// The values of the variables in `@skip` and `@include`. A variable whose value is null is
    /// absent. Nil if the directives are ignored.
    let conditions: [String: Bool]?
    /// The maximum number of `DeferUsage`s of a plan; nil if `@defer` and `@stream` are ignored.
    let deferredFragmentsMax: Int?
    /// The number of `DeferUsage`s created so far.
    private var deferUsageCount = 0
    private let source: Source
    private let tree: SyntaxTree
    private var keys = NameSet()
    /// The fragments that were expanded outside of `@defer`.
    private var visitedFragments = NameSet()
    /// The fragments that were expanded inside of `@defer`.
    private var visitedDeferred: Set<DeferredSpread> = []

    init(
        _ document: Document, schema: Schema, conditions: [String: Bool]?,
        deferredFragmentsMax: Int? = nil
    ) {
        source = document.source
        tree = document.tree
        fragments = FragmentTable(document)
        self.schema = schema
        self.conditions = conditions
        self.deferredFragmentsMax = deferredFragmentsMax
    }

    /// A field in the document, with the innermost `@defer` around it.
    struct Occurrence {
        let field: Field
        let deferUsage: DeferUsage?
    }

    /// The fields with one response key.
    struct Group {
        let first: Occurrence
        var others: [Occurrence] = []

        func forEach(_ body: (Occurrence) -> Void) {
            body(first)
            others.forEach(body)
        }
    }

    /// A selection set with the innermost `@defer` around it.
    struct CollectedSet {
        let selectionSet: SelectionSet
        let deferUsage: DeferUsage?
    }

    private struct DeferredSpread: Hashable {
        let fragment: NameID
        /// The offset of the directive in the document.
        let start: Int32
    }

    /// Returns the groups of fields that the selection sets select on `type`, and the usages of
    /// `@defer` in these sets.
    ///
    /// - Throws: an error of the kind `invalidInput` if the variable of an evaluated `@skip`,
    ///   `@include`, or `@defer` is null, or `limitExceeded` if the plan exceeds
    ///   `deferredFragmentsMax`.
    mutating func collect(
        _ selectionSets: [CollectedSet], for type: TypeDefinition
    ) throws(GraphQLError) -> (groups: [Group], deferUsages: [DeferUsage]) {
        var groups: [Group] = []
        var deferUsages: [DeferUsage] = []
        keys.removeAll(namesCount: tree.names.count)
        visitedFragments.removeAll(namesCount: tree.names.count)
        visitedDeferred.removeAll()
        // The remaining selections of each open selection set, innermost last. An explicit stack,
        // because a document can nest as many fragments as it defines.
        var sets = selectionSets.reversed().map {
            (rest: $0.selectionSet.selections.makeIterator(), deferUsage: $0.deferUsage)
        }
        while let innermost = sets.indices.last {
            guard let selection = sets[innermost].rest.next() else {
                sets.removeLast()
                continue
            }
            let outer = sets[innermost].deferUsage
            switch selection {
            case .field(let field):
                if !field.isPlain {
                    guard try isIncluded(field.directives) else { continue }
                }
                let occurrence = Occurrence(field: field, deferUsage: outer)
                if let position = keys.position(of: field.responseKeyID) {
                    groups[position].others.append(occurrence)
                } else {
                    keys.insert(field.responseKeyID)
                    groups.append(Group(first: occurrence))
                }
            case .fragmentSpread(let spread):
                guard try isIncluded(spread.directives), let fragment = fragments[spread.nameID],
                    applies(fragment.typeCondition.value, to: type)
                else { continue }
                let directive = try activeDefer(spread.directives)
                guard isFirstSpread(of: spread.nameID, directive?.range.start ?? outer?.start)
                else { continue }
                let deferUsage = try innermostUsage(directive, in: outer, &deferUsages)
                sets.append((fragment.selectionSet.selections.makeIterator(), deferUsage))
            case .inlineFragment(let fragment):
                guard try isIncluded(fragment.directives) else { continue }
                if let condition = fragment.typeCondition?.value, !applies(condition, to: type) {
                    continue
                }
                let directive = try activeDefer(fragment.directives)
                let deferUsage = try innermostUsage(directive, in: outer, &deferUsages)
                sets.append((fragment.selectionSet.selections.makeIterator(), deferUsage))
            }
        }
        return (groups, deferUsages)
    }

    /// Returns whether a spread adds fields, and records it. It does not if the fragment was expanded outside of `@defer`,
    /// or inside of the same directive.
    ///
    /// - Parameter start: The offset in the document of the innermost `@defer` around the fields of the fragment; nil if
    ///   there is none.
    private mutating func isFirstSpread(of fragment: NameID, _ start: Int32?) -> Bool {
        if visitedFragments.contains(fragment) { return false }
        guard let start else { return visitedFragments.insert(fragment) }
        return visitedDeferred.insert(DeferredSpread(fragment: fragment, start: start)).inserted
    }

    /// Spec: https://spec.graphql.org/September2025/#DoesFragmentTypeApply()
    private func applies(_ condition: String, to type: TypeDefinition) -> Bool {
        if condition == type.name { return true }
        guard let conditionType = schema.type(named: condition), conditionType.isAbstract else {
            return false
        }
        return schema.possibleTypes(of: conditionType).contains { $0 === type }
    }

    /// Evaluates `@skip` and `@include`. As in graphql-js, `@skip` takes precedence regardless of
    /// the order.
    private func isIncluded(
        _ directives: NodeList<Directive>
    ) throws(GraphQLError) -> Bool {
        guard let conditions, !directives.isEmpty else { return true }
        if let skip = directives.first(where: { $0.name.value == "skip" }),
            try condition(of: skip, conditions) == true
        {
            return false
        }
        guard let include = directives.first(where: { $0.name.value == "include" }) else {
            return true
        }
        return try condition(of: include, conditions) != false
    }

    /// Returns the `@defer` of a fragment if its condition is not false.
    private func activeDefer(_ directives: NodeList<Directive>) throws(GraphQLError) -> Directive? {
        guard deferredFragmentsMax != nil, let conditions, !directives.isEmpty,
            let directive = directives.first(where: { $0.name.value == "defer" }),
            try condition(of: directive, conditions) != false
        else { return nil }
        return directive
    }

    /// Returns the innermost `@defer` around the fields of a fragment: a new usage of its own directive, which is appended to
    /// `deferUsages`, or `outer` if it has none.
    private mutating func innermostUsage(
        _ directive: Directive?, in outer: DeferUsage?, _ deferUsages: inout [DeferUsage]
    ) throws(GraphQLError) -> DeferUsage? {
        guard let directive, let countMax = deferredFragmentsMax else { return outer }
        deferUsageCount += 1
        guard deferUsageCount <= countMax else {
            throw GraphQLError(
                "The operation defers more than \(countMax) fragments. Use `@defer` less often.",
                kind: .limitExceeded,
                extensions: ExceededLimit(name: "deferredFragmentsMax", max: countMax).extensions)
        }
        let usage = DeferUsage(
            id: deferUsageCount, label: directive.label, start: directive.range.start,
            parent: outer)
        deferUsages.append(usage)
        return usage
    }

    /// Returns the active `@stream` of a field.
    func streamUsage(of field: Field) throws(GraphQLError) -> StreamUsage? {
        guard deferredFragmentsMax != nil, let conditions,
            let directive = field.stream,
            try condition(of: directive, conditions) != false
        else { return nil }
        let count = directive.arguments.first { $0.name.value == "initialCount" }?.value.kind
        let initialCount: StreamUsage.InitialCount =
            switch count {
            case .int(let digits): .constant(Int(digits) ?? 0)
            case .variable(let name): .variable(name)
            default: .constant(0)
            }
        return StreamUsage(label: directive.label, initialCount: initialCount)
    }

    private func condition(
        of directive: Directive, _ conditions: [String: Bool]
    ) throws(GraphQLError) -> Bool? {
        guard let value = directive.arguments.first(where: { $0.name.value == "if" })?.value else {
            return nil
        }
        switch value.kind {
        case .boolean(let value): return value
        case .variable(let name):
            // A nullable variable with a default value is allowed here, but the request can still
            // set it to null.
            guard let value = conditions[name] else {
                throw badInput(
                    "Argument \"if\" of non-null type \"Boolean!\" must not be null.",
                    locations: [source.location(at: value.range.start)])
            }
            return value
        default: return nil
        }
    }
}

extension Document {
    /// Returns the operation with the given name, or the only operation if `name` is nil.
    ///
    /// Spec: https://spec.graphql.org/September2025/#GetOperation()
    package func operation(named name: String?) throws(GraphQLError) -> OperationDefinition {
        var found: OperationDefinition?
        for case .operation(let operation) in definitions {
            if let name {
                if operation.name?.value == name { return operation }
            } else if found == nil {
                found = operation
            } else {
                throw GraphQLError(
                    "Must provide operation name if query contains multiple operations.",
                    kind: .invalidInput)
            }
        }
        guard let found else {
            throw GraphQLError(
                name.map { "Unknown operation named \"\($0)\"." } ?? "Must provide an operation.",
                kind: .invalidInput)
        }
        return found
    }

    /// Returns the names of the variables that are the condition of `@skip`, `@include`, `@defer`,
    /// or `@stream`, without duplicates, in the order of appearance.
    ///
    /// A plan is valid for one combination of their values.
    func conditionVariables() -> [String] {
        var names: [String] = []
        forEachSelectionDirective { directive in
            if ["skip", "include", "defer", "stream"].contains(directive.name.value) {
                for argument in directive.arguments where argument.name.value == "if" {
                    if case .variable(let name) = argument.value.kind, !names.contains(name) {
                        names.append(name)
                    }
                }
            }
        }
        return names
    }

    /// Returns whether a selection has a directive whose name satisfies a predicate.
    func usesDirective(where isIncluded: (String) -> Bool) -> Bool {
        var isUsed = false
        forEachSelectionDirective { if isIncluded($0.name.value) { isUsed = true } }
        return isUsed
    }

    /// Calls `body` with the directives of all selections.
    private func forEachSelectionDirective(_ body: (Directive) -> Void) {
        // An explicit stack, because the client decides how deep the document is nested.
        var rest: [SelectionSet] = []
        for definition in definitions {
            switch definition {
            case .operation(let operation): rest.append(operation.selectionSet)
            case .fragment(let fragment): rest.append(fragment.selectionSet)
            case .typeSystem: continue
            }
        }
        while let selectionSet = rest.popLast() {
            for selection in selectionSet.selections {
                switch selection {
                case .field(let field):
                    field.directives.forEach(body)
                    if let selectionSet = field.selectionSet { rest.append(selectionSet) }
                case .fragmentSpread(let spread):
                    spread.directives.forEach(body)
                case .inlineFragment(let fragment):
                    fragment.directives.forEach(body)
                    rest.append(fragment.selectionSet)
                }
            }
        }
    }
}
