/// Collects the fields that selection sets select on an object type.
///
/// Fields are grouped by response key in the order of first appearance. Fragments are expanded, and
/// `@skip` and `@include` are applied.
///
/// Spec: https://spec.graphql.org/September2025/#CollectFields()
struct FieldCollector {
    let schema: Schema
    let fragments: FragmentTable
    /// The values of the variables in `@skip` and `@include`. A variable whose value is null is
    /// absent. Nil if the directives are ignored.
    let conditions: [String: Bool]?
    private let source: Source
    private let tree: SyntaxTree
    private var keys = NameSet()
    private var visitedFragments = NameSet()

    init(_ document: Document, schema: Schema, conditions: [String: Bool]?) {
        source = document.source
        tree = document.tree
        fragments = FragmentTable(document)
        self.schema = schema
        self.conditions = conditions
    }

    /// The fields with one response key.
    struct Group {
        let first: Field
        var others: [Field] = []

        var fields: [Field] { [first] + others }
    }

    /// Returns the groups of fields that the selection sets select on `type`.
    ///
    /// - Throws: an error with the code `BAD_USER_INPUT` if the variable of an evaluated `@skip` or
    ///   `@include` is null.
    mutating func collect(
        _ selectionSets: [SelectionSet], for type: TypeDefinition
    ) throws(GraphQLError) -> [Group] {
        var groups: [Group] = []
        keys.removeAll(namesCount: tree.names.count)
        visitedFragments.removeAll(namesCount: tree.names.count)
        // The remaining selections of each open selection set, innermost last. An explicit stack,
        // because a document can nest as many fragments as it defines.
        var sets = selectionSets.reversed().map { $0.selections.makeIterator() }
        while let innermost = sets.indices.last {
            guard let selection = sets[innermost].next() else {
                sets.removeLast()
                continue
            }
            switch selection {
            case .field(let field):
                if !field.isPlain {
                    guard try isIncluded(field.directives) else { continue }
                }
                if let position = keys.position(of: field.responseKeyID) {
                    groups[position].others.append(field)
                } else {
                    keys.insert(field.responseKeyID)
                    groups.append(Group(first: field))
                }
            case .fragmentSpread(let spread):
                guard try isIncluded(spread.directives), visitedFragments.insert(spread.nameID),
                    let fragment = fragments[spread.nameID],
                    applies(fragment.typeCondition.value, to: type)
                else { continue }
                sets.append(fragment.selectionSet.selections.makeIterator())
            case .inlineFragment(let fragment):
                guard try isIncluded(fragment.directives) else { continue }
                if let condition = fragment.typeCondition?.value, !applies(condition, to: type) {
                    continue
                }
                sets.append(fragment.selectionSet.selections.makeIterator())
            }
        }
        return groups
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
    public func operation(named name: String?) throws(GraphQLError) -> OperationDefinition {
        var found: OperationDefinition?
        for case .operation(let operation) in definitions {
            if let name {
                if operation.name?.value == name { return operation }
            } else if found == nil {
                found = operation
            } else {
                throw GraphQLError(
                    "Must provide operation name if query contains multiple operations.")
            }
        }
        guard let found else {
            throw GraphQLError(
                name.map { "Unknown operation named \"\($0)\"." } ?? "Must provide an operation.")
        }
        return found
    }

    /// Returns the names of the variables that occur in `@skip` and `@include`, without duplicates,
    /// in the order of appearance.
    ///
    /// A plan is valid for one combination of their values.
    func conditionVariables() -> [String] {
        var names: [String] = []
        func visit(_ directives: NodeList<Directive>) {
            for directive in directives
            where directive.name.value == "skip" || directive.name.value == "include" {
                for argument in directive.arguments {
                    if case .variable(let name) = argument.value.kind, !names.contains(name) {
                        names.append(name)
                    }
                }
            }
        }
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
                    visit(field.directives)
                    if let selectionSet = field.selectionSet { rest.append(selectionSet) }
                case .fragmentSpread(let spread):
                    visit(spread.directives)
                case .inlineFragment(let fragment):
                    visit(fragment.directives)
                    rest.append(fragment.selectionSet)
                }
            }
        }
        return names
    }
}
