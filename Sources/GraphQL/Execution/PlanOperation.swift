/// Makes the plan of an operation of a valid document.
///
/// - Parameters:
///   - conditions: the values of `document.conditionVariables()`.
///   - fieldsMax: how many planned fields, all types of abstract places counted.
/// - Throws: `OPERATION_TOO_COMPLEX` above `fieldsMax`, `BAD_USER_INPUT` where a condition that is asked for is null.
func planOperation(
    _ operation: OperationDefinition, of document: Document, schema: Schema,
    resolvers: any ResolverSource, conditions: [String: Bool], fieldsMax: Int
) throws(GraphQLError) -> OperationPlan {
    guard let rootType = schema.rootType(of: operation.kind) else {
        throw GraphQLError("Schema is not configured to execute \(operation.kind) operation.")
    }
    var planner = Planner(
        collector: FieldCollector(document, schema: schema, conditions: conditions),
        source: document.source, resolvers: resolvers, fieldsMax: fieldsMax)
    try planner.plan([operation.selectionSet], for: rootType)
    return OperationPlan(
        operation: operation, selections: planner.finished.reversed(), schema: schema,
        source: document.source)
}

private struct Planner {
    private var collector: FieldCollector
    let source: Source
    let resolvers: any ResolverSource
    let fieldsMax: Int
    private var fieldCount = 0
    /// Equal selections of one type are planned once, so that abstract types within abstract types
    /// stay linear in the document.
    private var memo: [SelectionKey: PlannedSelection] = [:]
    /// In the order in which they were finished: what is selected below a field before its own selection.
    private(set) var finished: [PlannedSelection] = []

    struct SelectionKey: Hashable {
        let type: ObjectIdentifier
        let selectionSets: [SourceRange]
    }

    /// A selection that is being planned.
    private struct OpenSelection {
        let key: SelectionKey
        let type: TypeDefinition
        /// The fields to be planned after `field`.
        var rest: ArraySlice<FieldCollector.Group>
        var fields: [PlannedField] = []
        var field: OpenField?
    }

    /// A field whose selections are being planned, one for each possible type.
    private struct OpenField {
        let group: FieldCollector.Group
        let definition: FieldDefinition
        let selectionSets: [SelectionSet]
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
    }

    var schema: Schema { collector.schema }

    /// Plans what is below the deepest fields first, with a stack of its own: fragments may nest as deep as they are many.
    mutating func plan(
        _ selectionSets: [SelectionSet], for type: TypeDefinition
    ) throws(GraphQLError) {
        var around = [try open(selectionSets, for: type)]
        while let innermost = around.indices.last {
            if var field = around[innermost].field {
                guard let possible = field.possibleTypes.first else {
                    around[innermost].fields.append(
                        try plannedField(field, of: around[innermost].type))
                    around[innermost].field = nil
                    continue
                }
                let next = try open(field.selectionSets, for: possible)
                guard let planned = memo[next.key] else {
                    around.append(next)
                    continue
                }
                field.possibleTypes.removeFirst()
                field.selections.append(planned)
                around[innermost].field = field
            } else if let group = around[innermost].rest.popFirst() {
                let type = around[innermost].type
                guard let field = try open(group, of: type) else { continue }
                if field.possibleTypes.isEmpty {
                    around[innermost].fields.append(try plannedField(field, of: type))
                } else {
                    around[innermost].field = field
                }
            } else {
                let done = around.removeLast()
                let planned = PlannedSelection(type: done.type, fields: done.fields)
                memo[done.key] = planned
                finished.append(planned)
            }
        }
    }

    private mutating func open(
        _ selectionSets: [SelectionSet], for type: TypeDefinition
    ) throws(GraphQLError) -> OpenSelection {
        let key = SelectionKey(
            type: ObjectIdentifier(type), selectionSets: selectionSets.map(\.range))
        let groups = memo[key] == nil ? try collector.collect(selectionSets, for: type) : []
        return OpenSelection(key: key, type: type, rest: groups[...])
    }

    /// nil for a field that the type does not have, which validation has refused before.
    private mutating func open(
        _ group: FieldCollector.Group, of type: TypeDefinition
    ) throws(GraphQLError) -> OpenField? {
        guard let definition = schema.field(named: group.first.nameText, of: type) else {
            return nil
        }
        fieldCount += 1
        guard fieldCount <= fieldsMax else {
            throw GraphQLError(
                "The operation selects more than \(fieldsMax) fields. Ask for less at once.",
                extensions: [
                    .init("code", .string("OPERATION_TOO_COMPLEX")),
                    .init("limit", .string("plannedFieldsMax")), .init("max", .int(fieldsMax)),
                ])
        }
        var possibleTypes: [TypeDefinition] = []
        if let named = schema.type(named: definition.namedType), named.isComposite {
            possibleTypes = schema.possibleTypes(of: named)
        }
        return OpenField(
            group: group, definition: definition,
            selectionSets: possibleTypes.isEmpty ? [] : group.fields.compactMap(\.selectionSet),
            possibleTypes: possibleTypes[...])
    }

    private func plannedField(
        _ field: OpenField, of type: TypeDefinition
    ) throws(GraphQLError) -> PlannedField {
        let definition = field.definition
        return PlannedField(
            SelectedField(
                definition: definition, parentType: type,
                responseKey: field.group.first.responseKey,
                selections: field.selections, locations: field.group.fields.map(\.range),
                arguments: arguments(of: field.group.first, definition),
                resolver: try resolver(for: field, of: type)))
    }

    /// - Throws: where there is none, or none that can give what the field is: the program's mistake, not the request's.
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
            problem = "has objects as its values, which a loader must get"
        case let resolver?:
            return resolver
        }
        throw GraphQLError(
            "The field \(type.name).\(definition.name) \(problem).",
            extensions: [.init("code", .string("INTERNAL_SERVER_ERROR"))])
    }

    private func arguments(of field: Field, _ definition: FieldDefinition) -> PlannedArguments {
        if field.isPlain, definition.arguments.isEmpty { return .constant(ArgumentValues()) }
        if field.arguments.contains(where: { $0.value.mentionsVariables }) {
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
