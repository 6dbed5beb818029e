/// What the operations of one document may ask for, fragments counted wherever they are spread.
///
/// The standard introspection query is well inside the defaults.
public struct OperationLimits: Sendable {
    /// Levels of fields, those below `__schema` and `__type` aside.
    public var depthMax = 12
    /// Levels of fields below `__schema` and `__type`.
    public var introspectionDepthMax = 20
    /// How often `fields`, `interfaces`, `possibleTypes` and `inputFields` may stand inside one another: each multiplies
    /// the answer by the size of the schema.
    public var introspectionListsMax = 2
    public var fieldsMax = 2_000
    public var aliasesMax = 60
    public var rootFieldsMax = 20
    public var directivesMax = 50
    /// Fragment definitions of the document.
    public var fragmentsMax = 200
    /// Variable definitions of the document.
    public var variablesMax = 500
    /// Objects an operation can return at most: a page counts `first` (or `last`) times.
    public var costMax = 10_000
    /// Objects of a list that is no page, and of a page whose size is a variable without a value.
    public var listSizeAssumed = 10

    public init() {}
}

/// Checks the operations of a document against `limits`.
///
/// Every selection set is read once, fragments before those who spread them: the time is linear in the document,
/// whatever it asks for. Page sizes that are variables count with their defaults; `checkCost` counts the values.
///
/// - Returns: an error for each limit an operation exceeds, with the code `OPERATION_TOO_COMPLEX`, the limit's name as
///   `extensions.limit` and its number as `extensions.max`. A document whose fragments form cycles has none: validation
///   refuses it.
public func checkLimits(
    _ document: Document, against schema: Schema, limits: OperationLimits = OperationLimits()
) -> [GraphQLError] {
    let fragments = FragmentTable(document)
    var errors = LimitErrors(source: document.source)
    let variablesCount = document.definitions.reduce(0) { count, definition in
        if case .operation(let operation) = definition {
            count + operation.variables.count
        } else {
            count
        }
    }
    errors.check(
        fragments.all.count, "fragmentsMax", limits.fragmentsMax, "Document has", "fragments")
    errors.check(
        variablesCount, "variablesMax", limits.variablesMax, "Document has", "variables")
    guard errors.errors.isEmpty,
        var measurements = Measurements(fragments, schema: schema, limits: limits)
    else { return errors.errors }
    for case .operation(let operation) in document.definitions {
        errors.check(measurements.measure(operation), of: operation, limits)
    }
    return errors.errors
}

/// What an operation of a valid document costs with the values of its variables: the objects that it can return.
///
/// - Throws: where it exceeds `costMax`.
public func checkCost(
    of operation: OperationDefinition, in document: Document, against schema: Schema,
    variables: VariableValues, limits: OperationLimits = OperationLimits()
) throws(GraphQLError) -> Int {
    let fragments = FragmentTable(document)
    guard
        var measurements = Measurements(
            fragments, schema: schema, limits: limits, variables: variables)
    else { return 0 }
    var errors = LimitErrors(source: document.source)
    let measure = measurements.measure(operation)
    errors.checkCost(measure, of: operation, limits)
    if let error = errors.errors.first { throw error }
    return measure.cost
}

private struct LimitErrors {
    let source: Source
    var errors: [GraphQLError] = []

    mutating func check(
        _ measure: SelectionMeasure, of operation: OperationDefinition, _ limits: OperationLimits
    ) {
        let range = operation.range
        check(measure.depth, "depthMax", limits.depthMax, "Operation has", "levels", range)
        check(
            measure.introspectionDepth, "introspectionDepthMax", limits.introspectionDepthMax,
            "Introspection has", "levels", range)
        check(
            measure.introspectionLists, "introspectionListsMax", limits.introspectionListsMax,
            "Introspection has", "lists inside one another", range)
        check(measure.fields, "fieldsMax", limits.fieldsMax, "Operation has", "fields", range)
        check(measure.aliases, "aliasesMax", limits.aliasesMax, "Operation has", "aliases", range)
        check(
            measure.rootFields, "rootFieldsMax", limits.rootFieldsMax, "Operation has",
            "root fields", range)
        check(
            measure.directives, "directivesMax", limits.directivesMax, "Operation has",
            "directives", range)
        checkCost(measure, of: operation, limits)
    }

    mutating func checkCost(
        _ measure: SelectionMeasure, of operation: OperationDefinition, _ limits: OperationLimits
    ) {
        check(
            measure.cost, "costMax", limits.costMax, "Operation can return", "objects",
            operation.range)
    }

    mutating func check(
        _ count: Int, _ name: String, _ max: Int, _ has: String, _ what: String,
        _ range: SourceRange? = nil
    ) {
        guard count > max else { return }
        errors.append(
            GraphQLError(
                "\(has) \(count) \(what); at most \(max) are allowed.",
                locations: range.map { [source.location(at: $0.start)] } ?? [],
                extensions: ExceededLimit(name: name, max: max).extensions))
    }
}
