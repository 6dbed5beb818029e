/// The size of a selection set, including everything below it. Numbers saturate at `Int.max`.
struct SelectionMeasure {
    var depth = 0
    var introspectionDepth = 0
    var introspectionLists = 0
    var fields = 0
    var aliases = 0
    /// The number of fields in the set itself, without nested sets.
    var rootFields = 0
    var directives = 0
    /// The maximum number of objects that can be returned.
    var cost = 0
    /// The cost if the set selects from a page, such as a connection. Lists in it contain the
    /// objects of the page, which the page size already counts, so they are not multiplied by an
    /// assumed size.
    var pageCost = 0

    /// Adds another field or the contents of a fragment.
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

/// Measures the operations of a document. Each fragment is measured once, before the fragments and
/// operations that spread it, so the time is linear in the size of the document.
///
/// The cost of a field of composite type with page size n is `n × (1 + inner cost)` for a list, and
/// `1 + n × inner page cost` for an object that holds a page. For example, `books(first: 20) {
/// edges { node { title } } }` costs 1 + 20 × (1 + 1) = 41: the connection, 20 edges, and 20 nodes.
struct OperationMeasurer {
    private let fragments: FragmentTable
    private let schema: Schema
    private let limits: OperationLimits
    /// The values of the variables; nil if they are not known yet.
    private let variables: VariableValues?
    private var defaults: [String: Int] = [:]
    /// The measures of the fragments by index.
    private var measures: [SelectionMeasure?]
    private var hasMeasures = false

    /// Fails if the fragments form a cycle.
    init?(
        _ fragments: FragmentTable, schema: Schema, limits: OperationLimits,
        variables: VariableValues? = nil
    ) {
        guard let order = FragmentReferences(fragments).topologicalOrder() else { return nil }
        self.fragments = fragments
        self.schema = schema
        self.limits = limits
        self.variables = variables
        self.order = order
        measures = Array(repeating: nil, count: fragments.all.count)
    }

    private let order: [Int]
    private var fields = NameCache<MeasuredField>()

    /// Measures an operation. The fragments are measured again if the default values of its
    /// variables differ from those of the previous operation, because these can be page sizes.
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

    /// A selection set that is being measured, with the field that it belongs to.
    private struct OpenSelectionSet {
        var rest: NodeList<Selection>.Iterator
        /// The type on which the set selects.
        let type: TypeDefinition?
        let owner: Field?
        var total = SelectionMeasure()
    }

    /// Measures a selection set with an explicit stack for the enclosing sets. A spread contributes
    /// the measure of its fragment.
    private mutating func measure(
        _ selectionSet: SelectionSet, of type: TypeDefinition?
    ) -> SelectionMeasure {
        var stack: [OpenSelectionSet] = []
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
                stack.append(innermost)
                innermost = OpenSelectionSet(
                    rest: selectionSet.selections.makeIterator(), type: type, owner: field)
            case .inlineFragment(let fragment)?:
                let type =
                    fragment.typeCondition.map { schema.type(named: $0.value) } ?? innermost.type
                innermost.total.directives = saturatingSum(
                    innermost.total.directives, fragment.directives.count)
                stack.append(innermost)
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
                guard let outer = stack.popLast() else { return measured.total }
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
            return MeasuredField(
                named: field.nameText, of: nil, in: schema, limits: limits)
        }
        if let known = fields.value(for: field.nameID, in: parentType) { return known }
        let measured = MeasuredField(
            named: field.nameText, of: parentType, in: schema, limits: limits)
        fields.insert(measured, for: field.nameID, in: parentType)
        return measured
    }

    /// Returns the measure of a field.
    ///
    /// - Parameter inner: the measure of the field's selection set.
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
        if measured.startsIntrospection || measured.isIntrospectionField {
            (measure.cost, measure.pageCost) = (0, 0)
        } else {
            (measure.cost, measure.pageCost) = cost(of: field, measured, inner)
        }
        return measure
    }

    // MARK: - Cost

    /// Returns the number of objects that a field can return, including those below it: the cost
    /// and the page cost.
    private func cost(
        of field: Field, _ measured: MeasuredField, _ inner: SelectionMeasure
    ) -> (cost: Int, pageCost: Int) {
        guard measured.type?.isComposite == true else { return (0, 0) }
        if let size = pageSize(of: field, measured.sizeArguments) {
            // The field is either a list of objects or one object that holds a page.
            let cost =
                measured.isList
                ? saturatingProduct(size, saturatingSum(1, inner.cost))
                : saturatingSum(1, saturatingProduct(size, inner.pageCost))
            return (cost, cost)
        }
        let once = saturatingSum(1, inner.cost)
        return (saturatingProduct(measured.objectCount, once), once)
    }

    /// Returns the value of the first page size argument, or nil if the field has none.
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
    /// Returns the names of the variables that are used as page sizes, without duplicates. They
    /// determine the cost of the document.
    func pageSizeVariables(_ limits: OperationLimits) -> [String] {
        var names: [String] = []
        for index in 0..<tree.nodes.count where tree.nodes[index].kind == .argument {
            let argument = Argument(NodeReference(tree: tree, index: index))
            guard case .variable(let name) = argument.value.kind,
                limits.pageSizeArguments.contains(argument.name.value), !names.contains(name)
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
