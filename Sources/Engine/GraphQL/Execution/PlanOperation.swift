/// Creates the plan of an operation. The document must be valid. Other tasks of the executor have their turn in between.
///
/// - Parameters:
///   - conditions: the values of `document.conditionVariables()`; nil to ignore `@skip` and
///     `@include`, and plan all fields.
///   - deferredFragmentsMax: the maximum number of deferred fragments; nil to ignore `@defer` and
///     `@stream`. A fragment on an abstract type is counted once for each possible type.
///   - fieldsMax: the maximum number of planned fields. A field of an abstract type is counted once
///     for each possible type.
///   - errorCodes: the codes of errors during executions of the plan. The errors that planning throws have no codes.
/// - Throws: an error of the kind `limitExceeded` if the plan exceeds a limit, or `invalidInput` if
///   the schema has no root type for the operation or the condition of an evaluated directive is null.
func planOperation(
    _ operation: OperationDefinition, of document: Document, schema: Schema,
    resolvers: any ResolverSource, conditions: [String: Bool]?, fieldsMax: Int,
    deferredFragmentsMax: Int? = nil, errorCodes: ErrorCodes
) async throws(GraphQLError) -> OperationPlan {
    guard let rootType = schema.rootType(of: operation.kind) else {
        throw GraphQLError(
            "Schema is not configured to execute \(operation.kind) operation.", kind: .invalidInput)
    }
    var planner = Planner(
        collector: FieldCollector(
            document, schema: schema, conditions: conditions,
            // A subscription already has a stream of responses.
            deferredFragmentsMax: operation.kind == .subscription ? nil : deferredFragmentsMax),
        source: document.source, resolvers: resolvers, fieldsMax: fieldsMax)
    try await planner.plan(
        [.init(selectionSet: operation.selectionSet, deferUsage: nil)], for: rootType)
    return OperationPlan(
        operation: operation, selections: planner.finished.reversed(),
        isIncremental: planner.isIncremental, scopes: planner.scopes, elements: planner.elements,
        schema: schema, source: document.source, errorCodes: errorCodes)
}

private struct Planner {
    private var collector: FieldCollector
    let source: Source
    let resolvers: any ResolverSource
    let fieldsMax: Int
    private var fieldCount = 0
    /// The finished selections by type and selection sets. Planning equal selections only once
    /// keeps the work linear in the size of the document when abstract types are nested in abstract
    /// types.
    private var memo: [SelectionKey: PlannedSelection] = [:]
    /// The finished selections, each after its descendants.
    private(set) var finished: [PlannedSelection] = []
    /// The elements of the schema that the finished and the open selections use.
    private(set) var elements: SchemaElementSet
    /// The scopes of the planned fields.
    private(set) var scopes: ScopeSet = []
    /// Whether there is an active `@defer` or `@stream`.
    private(set) var isIncremental = false

    struct SelectionKey: Hashable {
        let type: ObjectIdentifier
        let selectionSets: [SourceRange]
        /// The ids of the `DeferUsage`s of the selection sets, with 0 for none, and then those that
        /// deliver the object itself. Empty if there are none at all.
        let deferUsages: [Int]

        // Most keys have no usages, and other keys with the same hash are rare.
        func hash(into hasher: inout Hasher) {
            hasher.combine(type)
            hasher.combine(selectionSets)
        }
    }

    /// A selection that is being planned, an entry of the stack in `plan`.
    private struct OpenSelection {
        let key: SelectionKey
        let type: TypeDefinition
        /// The usages of `@defer` that deliver the object itself.
        let owners: [DeferUsage]
        let newDeferUsages: [DeferUsage]
        /// The fields that remain to be planned after `field`.
        var rest: ArraySlice<FieldCollector.Group>
        var fields: [PlannedField] = []
        /// The positions of the fields that are delivered later than the object, with the usages of `@defer` that deliver
        /// them.
        var deferred: [(position: Int, owners: [DeferUsage])] = []
        var field: OpenField?

        mutating func append(_ field: PlannedField, _ owners: [DeferUsage]) {
            if owners != self.owners { deferred.append((fields.count, owners)) }
            fields.append(field)
        }
    }

    /// A field whose selections are being planned, one for each possible type.
    private struct OpenField {
        let group: FieldCollector.Group
        let definition: FieldDefinition
        let selectionSets: [FieldCollector.CollectedSet]
        /// The usages of `@defer` that deliver the field, and those that deliver the objects below
        /// it: the same, or none below a streamed list, whose items are delivered as a whole.
        let owners: [DeferUsage]
        let itemOwners: [DeferUsage]
        let stream: StreamUsage?
        var possibleTypes: ArraySlice<TypeDefinition>
        var selections: [PlannedSelection] = []
    }

    init(
        collector: FieldCollector, source: Source, resolvers: any ResolverSource, fieldsMax: Int
    ) {
        self.collector = collector
        self.source = source
        self.resolvers = resolvers
        self.fieldsMax = fieldsMax
        elements = SchemaElementSet(collector.schema.elements)
    }

    var schema: Schema { collector.schema }

    /// The number of fields after which other tasks of the executor have their turn. Preparing the statement of a field can take
    /// some microseconds.
    private static let fieldsPerTurn = 50

    /// Plans a selection and everything below it, the deepest selections first.
    ///
    /// An explicit stack replaces recursion, because a document can nest as many fragments as it
    /// defines.
    mutating func plan(
        _ selectionSets: [FieldCollector.CollectedSet], for type: TypeDefinition
    ) async throws(GraphQLError) {
        var stack = [try open(selectionSets, for: type, owners: [])]
        var turnEnd = fieldCount + Self.fieldsPerTurn
        while let innermost = stack.indices.last {
            if fieldCount >= turnEnd {
                await Task.yield()
                turnEnd = fieldCount + Self.fieldsPerTurn
            }
            if var field = stack[innermost].field {
                guard let possible = field.possibleTypes.first else {
                    stack[innermost].append(
                        try plannedField(field, of: stack[innermost].type), field.owners)
                    stack[innermost].field = nil
                    continue
                }
                let next = try open(
                    field.selectionSets, for: possible, owners: field.itemOwners)
                guard let planned = memo[next.key] else {
                    stack.append(next)
                    continue
                }
                field.possibleTypes.removeFirst()
                field.selections.append(planned)
                stack[innermost].field = field
            } else if let group = stack[innermost].rest.popFirst() {
                let type = stack[innermost].type
                let owner = innermost > 0 ? stack[innermost - 1].field?.definition : nil
                guard let field = try open(group, of: type, in: owner) else { continue }
                if field.possibleTypes.isEmpty {
                    stack[innermost].append(try plannedField(field, of: type), field.owners)
                } else {
                    stack[innermost].field = field
                }
            } else {
                let done = stack.removeLast()
                let planned = PlannedSelection(
                    type: done.type, fields: done.fields, deferred: done.deferred,
                    newDeferUsages: done.newDeferUsages)
                memo[done.key] = planned
                finished.append(planned)
            }
        }
    }

    private mutating func open(
        _ selectionSets: [FieldCollector.CollectedSet], for type: TypeDefinition,
        owners: [DeferUsage]
    ) throws(GraphQLError) -> OpenSelection {
        let isDeferred = !owners.isEmpty || selectionSets.contains { $0.deferUsage != nil }
        let key = SelectionKey(
            type: ObjectIdentifier(type), selectionSets: selectionSets.map(\.selectionSet.range),
            deferUsages: isDeferred
                ? selectionSets.map { $0.deferUsage?.id ?? 0 } + owners.map(\.id) : [])
        let collected: (groups: [FieldCollector.Group], deferUsages: [DeferUsage]) =
            memo[key] == nil ? try collector.collect(selectionSets, for: type) : ([], [])
        if !collected.deferUsages.isEmpty { isIncremental = true }
        return OpenSelection(
            key: key, type: type, owners: owners, newDeferUsages: collected.deferUsages,
            rest: collected.groups[...])
    }

    /// Returns nil if the type does not have the field, which validation has already rejected.
    ///
    /// - Parameter owner: the field whose selection contains this field; nil at the root.
    private mutating func open(
        _ group: FieldCollector.Group, of type: TypeDefinition, in owner: FieldDefinition?
    ) throws(GraphQLError) -> OpenField? {
        guard let definition = schema.field(named: group.first.field.nameText, of: type) else {
            return nil
        }
        fieldCount += 1
        guard fieldCount <= fieldsMax else {
            throw GraphQLError(
                "The operation selects more than \(fieldsMax) fields. Select fewer fields or split the operation.",
                kind: .limitExceeded,
                extensions: ExceededLimit(name: "plannedFieldsMax", max: fieldsMax).extensions)
        }
        markUse(of: definition, group, in: owner)
        scopes.formUnion(resolvers.scopes(of: definition, of: type))
        var possibleTypes: [TypeDefinition] = []
        if let named = schema.type(named: definition.namedType), named.isComposite {
            possibleTypes = schema.possibleTypes(of: named)
        }
        let owners = DeferUsage.owners(of: group)
        // Validation ensures that a field with `@stream` is the only one of its group.
        let stream =
            definition.type.listItem != nil ? try collector.streamUsage(of: group.first.field) : nil
        if stream != nil { isIncremental = true }
        var selectionSets: [FieldCollector.CollectedSet] = []
        if !possibleTypes.isEmpty {
            group.forEach { occurrence in
                guard let selectionSet = occurrence.field.selectionSet else { return }
                selectionSets.append(
                    .init(
                        selectionSet: selectionSet,
                        deferUsage: stream == nil ? occurrence.deferUsage : nil))
            }
        }
        return OpenField(
            group: group, definition: definition,
            selectionSets: selectionSets, owners: owners,
            itemOwners: stream == nil ? owners : [], stream: stream,
            possibleTypes: possibleTypes[...])
    }

    private mutating func markUse(
        of definition: FieldDefinition, _ group: FieldCollector.Group, in owner: FieldDefinition?
    ) {
        var used = [definition]
        if let owner, let type = schema.type(named: owner.namedType), type.isAbstract,
            let field = type.field(named: definition.name)
        {
            used.append(field)
        }
        for field in used {
            schema.elements.mark(field, in: &elements)
            schema.elements.mark(group.first.field.arguments, of: field, in: &elements)
        }
    }

    private func plannedField(
        _ field: OpenField, of type: TypeDefinition
    ) throws(GraphQLError) -> PlannedField {
        let definition = field.definition
        var locations: [SourceRange] = []
        field.group.forEach { locations.append($0.field.range) }
        return PlannedField(
            SelectedField(
                definition: definition, parentType: type,
                responseKey: field.group.first.field.responseKey,
                selections: field.selections, locations: locations,
                arguments: arguments(of: field.group.first.field, definition),
                resolver: try resolver(for: field, of: type)),
            stream: field.stream)
    }

    /// Returns the resolver of a field.
    ///
    /// - Throws: an error if the field has no resolver or an unsuitable one. That is a defect of
    ///   the program, not of the request.
    private func resolver(
        for field: OpenField, of type: TypeDefinition
    ) throws(GraphQLError) -> FieldResolver {
        let definition = field.definition
        let resolver =
            schema.introspectionResolver(for: definition, of: type)
            ?? resolvers.resolver(for: definition, of: type)
        let problem: String
        switch resolver {
        case nil:
            problem = "has no resolver"
        case .property? where schema.type(named: definition.namedType)?.isLeaf == false:
            problem = "returns objects, so its resolver must be a loader"
        case let resolver?:
            return resolver
        }
        throw GraphQLError(
            "The field \(type.name).\(definition.name) \(problem).",
            kind: .internalError)
    }

    private func arguments(of field: Field, _ definition: FieldDefinition) -> PlannedArguments {
        if field.isPlain, definition.arguments.isEmpty { return .constant(ArgumentValues()) }
        if field.arguments.contains(where: { $0.value.containsVariables }) {
            return .variable(field.arguments)
        }
        do throws(GraphQLError) {
            return .constant(
                try coerceArgumentValues(
                    definition.arguments, given: field.arguments, variables: VariableValues(),
                    schema: schema, source: source))
        } catch {
            return .invalid(error)
        }
    }
}
