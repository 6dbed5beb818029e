/// What a selection set asks for, everything below it included. Numbers stop at `Int.max` instead of overflowing.
struct SelectionMeasure {
    var depth = 0
    var introspectionDepth = 0
    var introspectionLists = 0
    var fields = 0
    var aliases = 0
    /// Fields of the set itself.
    var rootFields = 0
    var directives = 0
    /// Objects that can be returned.
    var cost = 0
    /// The same where the set is that of a page: its own lists hold the page's objects, which are counted already.
    var pageCost = 0

    /// Puts the selections of a fragment, or another field, beside those known so far.
    mutating func add(_ other: SelectionMeasure) {
        depth = max(depth, other.depth)
        introspectionDepth = max(introspectionDepth, other.introspectionDepth)
        introspectionLists = max(introspectionLists, other.introspectionLists)
        fields = saturatingSum(fields, other.fields)
        aliases = saturatingSum(aliases, other.aliases)
        rootFields = saturatingSum(rootFields, other.rootFields)
        directives = saturatingSum(directives, other.directives)
        cost = saturatingSum(cost, other.cost)
        pageCost = saturatingSum(pageCost, other.pageCost)
    }
}

/// Measures selection sets; each fragment is measured once.
struct Measurements {
    private let fragments: FragmentTable
    private let schema: Schema
    private let limits: OperationLimits
    /// Nil before there are values.
    private let variables: VariableValues?
    private var defaults: [String: Int] = [:]
    /// By the index of the fragment.
    private var measures: [SelectionMeasure?]
    private var hasMeasures = false

    /// Nil where fragments form cycles.
    init?(
        _ fragments: FragmentTable, schema: Schema, limits: OperationLimits,
        variables: VariableValues? = nil
    ) {
        guard let order = FragmentReferences(fragments).dependenciesFirst() else { return nil }
        self.fragments = fragments
        self.schema = schema
        self.limits = limits
        self.variables = variables
        self.order = order
        measures = Array(repeating: nil, count: fragments.all.count)
    }

    private let order: [Int]
    private var fields = NameMemory<MeasuredField>()

    /// Measures an operation; fragments anew where it gives its variables other page sizes.
    mutating func measure(_ operation: OperationDefinition) -> SelectionMeasure {
        var defaults: [String: Int] = [:]
        for variable in operation.variables {
            if case .int(let digits)? = variable.defaultValue?.kind {
                defaults[variable.name.value] = Int(digits)
            }
        }
        if !hasMeasures || defaults != self.defaults {
            hasMeasures = true
            self.defaults = defaults
            for index in order {
                let fragment = fragments.all[index]
                let type = schema.type(named: fragment.typeCondition.value)
                measures[index] = measure(fragment.selectionSet, of: type)
                measures[index]?.directives += fragment.directives.count
            }
        }
        var measure = self.measure(
            operation.selectionSet, of: schema.rootType(of: operation.kind))
        measure.directives = saturatingSum(
            measure.directives,
            operation.variables.reduce(operation.directives.count) { $0 + $1.directives.count })
        return measure
    }

    /// A selection set that is being measured, and the field that selects it.
    private struct OpenSelectionSet {
        var rest: NodeList<Selection>.Iterator
        /// What is selected from.
        let type: TypeDefinition?
        let owner: Field?
        var total = SelectionMeasure()
    }

    /// With a stack of its own for the sets around; spreads are looked up.
    private mutating func measure(
        _ selectionSet: SelectionSet, of type: TypeDefinition?
    ) -> SelectionMeasure {
        var around: [OpenSelectionSet] = []
        var innermost = OpenSelectionSet(
            rest: selectionSet.selections.makeIterator(), type: type, owner: nil)
        while true {
            switch innermost.rest.next() {
            case .field(let field)?:
                guard let selectionSet = field.selectionSet else {
                    innermost.total.add(measure(field, of: innermost.type, SelectionMeasure()))
                    continue
                }
                let type = measuredField(field, of: innermost.type).type
                around.append(innermost)
                innermost = OpenSelectionSet(
                    rest: selectionSet.selections.makeIterator(), type: type, owner: field)
            case .inlineFragment(let fragment)?:
                let type =
                    fragment.typeCondition.map { schema.type(named: $0.value) } ?? innermost.type
                innermost.total.directives = saturatingSum(
                    innermost.total.directives, fragment.directives.count)
                around.append(innermost)
                innermost = OpenSelectionSet(
                    rest: fragment.selectionSet.selections.makeIterator(), type: type, owner: nil)
            case .fragmentSpread(let spread)?:
                if let index = fragments.index(of: spread.nameID), let known = measures[index] {
                    innermost.total.add(known)
                }
                innermost.total.directives = saturatingSum(
                    innermost.total.directives, spread.directives.count)
            case nil:
                let measured = innermost
                guard let outer = around.popLast() else { return measured.total }
                innermost = outer
                innermost.total.add(
                    measured.owner.map { measure($0, of: outer.type, measured.total) }
                        ?? measured.total)
            }
        }
    }

    private mutating func measuredField(
        _ field: Field, of parentType: TypeDefinition?
    ) -> MeasuredField {
        guard let parentType else {
            return MeasuredField(named: field.nameText, of: nil, in: schema)
        }
        if let known = fields.meaning(of: field.nameID, in: parentType) { return known }
        let measured = MeasuredField(named: field.nameText, of: parentType, in: schema)
        fields.remember(measured, of: field.nameID, in: parentType)
        return measured
    }

    /// - Parameter inner: of the field's own selections.
    private mutating func measure(
        _ field: Field, of parentType: TypeDefinition?, _ inner: SelectionMeasure
    ) -> SelectionMeasure {
        let measured = measuredField(field, of: parentType)
        var measure = inner
        measure.fields = saturatingSum(inner.fields, 1)
        measure.rootFields = 1
        if field.hasAlias { measure.aliases = saturatingSum(inner.aliases, 1) }
        if !field.isPlain {
            measure.directives = saturatingSum(inner.directives, field.directives.count)
        }
        if measured.startsIntrospection {
            measure.introspectionDepth = max(inner.introspectionDepth, inner.depth)
            measure.depth = 1
        } else {
            measure.depth = inner.depth + 1
        }
        if measured.multipliesIntrospection {
            measure.introspectionLists = inner.introspectionLists + 1
        }
        if measured.startsIntrospection || measured.isOfIntrospection {
            (measure.cost, measure.pageCost) = (0, 0)
        } else {
            (measure.cost, measure.pageCost) = cost(of: field, measured, inner)
        }
        return measure
    }

    // MARK: - Cost

    /// Objects below and including a field, on a page and elsewhere.
    private func cost(
        of field: Field, _ measured: MeasuredField, _ inner: SelectionMeasure
    ) -> (cost: Int, pageCost: Int) {
        guard measured.type?.isComposite == true else { return (0, 0) }
        if let size = pageSize(of: field, measured.sizeArguments) {
            // A list of objects, or one object that holds the page.
            let cost =
                measured.isList
                ? saturatingProduct(size, saturatingSum(1, inner.cost))
                : saturatingSum(1, saturatingProduct(size, inner.pageCost))
            return (cost, cost)
        }
        let once = saturatingSum(1, inner.cost)
        return (measured.isList ? saturatingProduct(limits.listSizeAssumed, once) : once, once)
    }

    /// The value of `first` or `last`; nil for a field without such arguments.
    private func pageSize(of field: Field, _ arguments: [InputValueDefinition]) -> Int? {
        guard !arguments.isEmpty else { return nil }
        for argument in arguments {
            guard let given = field.arguments.first(where: { $0.nameText == argument.name })
            else {
                continue
            }
            switch given.value.kind {
            case .int(let digits): return max(0, Int(digits) ?? Int.max)
            case .variable(let name):
                if let value = variables?[name]?.int ?? defaults[name] { return max(0, value) }
            default: break
            }
        }
        for argument in arguments {
            if case .int(let digits)? = argument.defaultValue?.kind, let size = Int(digits) {
                return max(0, size)
            }
        }
        return limits.listSizeAssumed
    }
}

extension Document {
    /// Names of the variables that are given as the size of a page anywhere, each once: they decide what it costs.
    func pageSizeVariables() -> [String] {
        var names: [String] = []
        for index in 0..<tree.nodes.count where tree.nodes[index].kind == .argument {
            let argument = Argument(NodeReference(tree: tree, index: index))
            guard case .variable(let name) = argument.value.kind,
                pageSizeArguments.contains(argument.name.value), !names.contains(name)
            else { continue }
            names.append(name)
        }
        return names
    }
}

private func saturatingSum(_ left: Int, _ right: Int) -> Int {
    let (sum, hasOverflowed) = left.addingReportingOverflow(right)
    return hasOverflowed ? .max : sum
}

private func saturatingProduct(_ left: Int, _ right: Int) -> Int {
    let (product, hasOverflowed) = left.multipliedReportingOverflow(by: right)
    return hasOverflowed ? .max : product
}
