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

    /// Measures an operation; fragments anew where it gives its variables other page sizes.
    mutating func measure(_ operation: OperationDefinition) -> SelectionMeasure {
        var defaults: [String: Int] = [:]
        for variable in operation.variables {
            if case .int(let digits)? = variable.defaultValue?.kind {
                defaults[variable.name.value] = Int(digits)
            }
        }
        if measures.contains(where: { $0 == nil }) || defaults != self.defaults {
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
        var rest: NodeList<Selection>.SubSequence
        /// What is selected from.
        let type: TypeDefinition?
        let owner: Field?
        var total = SelectionMeasure()
    }

    /// With a stack of its own for the sets around; spreads are looked up.
    private func measure(
        _ selectionSet: SelectionSet, of type: TypeDefinition?
    ) -> SelectionMeasure {
        var around: [OpenSelectionSet] = []
        var innermost = OpenSelectionSet(
            rest: selectionSet.selections[...], type: type, owner: nil)
        while true {
            switch innermost.rest.popFirst() {
            case .field(let field)?:
                guard let selectionSet = field.selectionSet else {
                    innermost.total.add(measure(field, of: innermost.type, SelectionMeasure()))
                    continue
                }
                let definition = innermost.type.flatMap {
                    schema.field(named: field.name.value, of: $0)
                }
                let type = definition.flatMap { schema.type(named: $0.namedType) }
                around.append(innermost)
                innermost = OpenSelectionSet(
                    rest: selectionSet.selections[...], type: type, owner: field)
            case .inlineFragment(let fragment)?:
                let type =
                    fragment.typeCondition.map { schema.type(named: $0.value) } ?? innermost.type
                innermost.total.directives = saturatingSum(
                    innermost.total.directives, fragment.directives.count)
                around.append(innermost)
                innermost = OpenSelectionSet(
                    rest: fragment.selectionSet.selections[...], type: type, owner: nil)
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

    /// - Parameter inner: of the field's own selections.
    private func measure(
        _ field: Field, of parentType: TypeDefinition?, _ inner: SelectionMeasure
    ) -> SelectionMeasure {
        let definition = parentType.flatMap { schema.field(named: field.name.value, of: $0) }
        let type = definition.flatMap { schema.type(named: $0.namedType) }
        let isIntrospection = field.name.value == "__schema" || field.name.value == "__type"
        let isOfIntrospection = parentType?.name.hasPrefix("__") ?? false

        var measure = inner
        measure.fields = saturatingSum(inner.fields, 1)
        measure.aliases = saturatingSum(inner.aliases, field.alias == nil ? 0 : 1)
        measure.directives = saturatingSum(inner.directives, field.directives.count)
        measure.rootFields = 1
        if isIntrospection {
            measure.introspectionDepth = max(inner.introspectionDepth, inner.depth)
            measure.depth = 1
        } else {
            measure.depth = inner.depth + 1
        }
        if isOfIntrospection, Self.multiplyingLists.contains(field.name.value) {
            measure.introspectionLists = inner.introspectionLists + 1
        }
        if isIntrospection || isOfIntrospection {
            (measure.cost, measure.pageCost) = (0, 0)
        } else {
            (measure.cost, measure.pageCost) = cost(of: field, definition, type, inner)
        }
        return measure
    }

    private static let multiplyingLists: Set<String> = [
        "fields", "interfaces", "possibleTypes", "inputFields",
    ]

    // MARK: - Cost

    /// Objects below and including a field, on a page and elsewhere.
    private func cost(
        of field: Field, _ definition: FieldDefinition?, _ type: TypeDefinition?,
        _ inner: SelectionMeasure
    ) -> (cost: Int, pageCost: Int) {
        guard let definition, let type, type.isComposite else { return (0, 0) }
        let isList = definition.type.listItem != nil
        if let size = pageSize(of: field, definition) {
            // A list of objects, or one object that holds the page.
            let cost =
                isList
                ? saturatingProduct(size, saturatingSum(1, inner.cost))
                : saturatingSum(1, saturatingProduct(size, inner.pageCost))
            return (cost, cost)
        }
        let once = saturatingSum(1, inner.cost)
        return (isList ? saturatingProduct(limits.listSizeAssumed, once) : once, once)
    }

    /// The value of `first` or `last`; nil for a field without such arguments.
    private func pageSize(of field: Field, _ definition: FieldDefinition) -> Int? {
        let arguments = definition.arguments.filter { pageSizeArguments.contains($0.name) }
        guard !arguments.isEmpty else { return nil }
        for argument in arguments {
            guard let given = field.arguments.first(where: { $0.name.value == argument.name })
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

/// Arguments that say how many objects a page has at most.
private let pageSizeArguments = ["first", "last"]

extension FragmentReferences {
    /// Indices of all fragments, each after those it spreads; nil where they form a cycle.
    func dependenciesFirst() -> [Int]? {
        // A stack of its own: a chain of fragments may be as long as the document.
        var isDone = Array(repeating: false, count: fragments.all.count)
        var isOnPath = isDone
        var order: [Int] = []
        for root in fragments.all.indices where !isDone[root] {
            isOnPath[root] = true
            var steps = [(fragment: root, spreads: spreads[root][...])]
            while var step = steps.popLast() {
                guard let spread = step.spreads.popFirst() else {
                    isOnPath[step.fragment] = false
                    isDone[step.fragment] = true
                    order.append(step.fragment)
                    continue
                }
                steps.append(step)
                guard let next = fragments.index(of: spread.nameID), !isDone[next] else {
                    continue
                }
                if isOnPath[next] { return nil }
                isOnPath[next] = true
                steps.append((next, spreads[next][...]))
            }
        }
        return order
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
