/// Makes the plan of an operation of a valid document.
///
/// - Parameters:
///   - conditions: the values of `document.conditionVariables()`.
///   - fieldsMax: how many planned fields, all types of abstract places counted.
/// - Throws: `OPERATION_TOO_COMPLEX` above `fieldsMax`.
func planOperation(
    _ operation: OperationDefinition, of document: Document, schema: Schema,
    resolvers: any ResolverSource, conditions: [String: Bool], fieldsMax: Int
) throws(GraphQLError) -> OperationPlan {
    guard let rootType = schema.rootType(of: operation.kind) else {
        throw GraphQLError("Schema is not configured to execute \(operation.kind) operation.")
    }
    var planner = Planner(
        collector: FieldCollector(
            schema: schema, fragments: document.fragments, conditions: conditions),
        source: document.source, resolvers: resolvers, fieldsMax: fieldsMax)
    let root = try planner.plan([operation.selectionSet], for: rootType)
    return OperationPlan(
        operation: operation, root: root, schema: schema, source: document.source)
}

private struct Planner {
    let collector: FieldCollector
    let source: Source
    let resolvers: any ResolverSource
    let fieldsMax: Int
    var fieldCount = 0
    /// Equal selections of one type are planned once, so that abstract types within abstract types
    /// stay linear in the document.
    var memo: [SelectionKey: PlannedSelection] = [:]

    struct SelectionKey: Hashable {
        let type: ObjectIdentifier
        let selectionSets: [SourceRange]
    }

    var schema: Schema { collector.schema }

    mutating func plan(
        _ selectionSets: [SelectionSet], for type: TypeDefinition
    ) throws(GraphQLError) -> PlannedSelection {
        let key = SelectionKey(
            type: ObjectIdentifier(type), selectionSets: selectionSets.map(\.range))
        if let planned = memo[key] { return planned }
        var fields: [PlannedField] = []
        for group in collector.collect(selectionSets, for: type) {
            guard let selected = try select(group, of: type) else { continue }
            fields.append(PlannedField(selected))
        }
        let planned = PlannedSelection(type: type, fields: fields)
        memo[key] = planned
        return planned
    }

    /// nil for a field that the type does not have, which validation has refused before.
    private mutating func select(
        _ group: FieldCollector.Group, of type: TypeDefinition
    ) throws(GraphQLError) -> SelectedField? {
        guard let field = group.fields.first,
            let definition = schema.field(named: field.name.value, of: type)
        else { return nil }
        fieldCount += 1
        guard fieldCount <= fieldsMax else {
            throw GraphQLError(
                "The operation selects more than \(fieldsMax) fields. Ask for less at once.",
                extensions: [
                    .init("code", .string("OPERATION_TOO_COMPLEX")),
                    .init("limit", .string("plannedFieldsMax")), .init("max", .int(fieldsMax)),
                ])
        }
        var selections: [PlannedSelection] = []
        if let named = schema.type(named: definition.namedType), named.isComposite {
            let selectionSets = group.fields.compactMap(\.selectionSet)
            for possible in schema.possibleTypes(of: named) {
                selections.append(try plan(selectionSets, for: possible))
            }
        }
        return SelectedField(
            definition: definition, parentType: type, responseKey: group.responseKey,
            selections: selections, locations: group.fields.map(\.range),
            arguments: arguments(of: field, definition),
            resolver: schema.introspectionResolver(for: definition, of: type)
                ?? resolvers.resolver(for: definition, of: type))
    }

    private func arguments(of field: Field, _ definition: FieldDefinition) -> PlannedArguments {
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
