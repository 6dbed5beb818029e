/// Limits on the operations of one document. The contents of a fragment count each time it is
/// spread.
///
/// The standard introspection query is well below the defaults.
public struct OperationLimits: Sendable {
    /// The maximum depth of fields, without those below `__schema` and `__type`.
    public var depthMax = 12
    /// The maximum depth of fields below `__schema` and `__type`.
    public var introspectionDepthMax = 20
    /// The maximum number of nested `fields`, `interfaces`, `possibleTypes`, and `inputFields`.
    /// Each one multiplies the size of the response by the size of the schema.
    public var introspectionListsMax = 2
    /// The maximum number of fields. A fragment counts each time it is spread.
    public var fieldsMax = 2_000
    /// The maximum number of aliases.
    public var aliasesMax = 60
    /// The maximum number of root fields.
    public var rootFieldsMax = 20
    /// The maximum number of directives.
    public var directivesMax = 50
    /// The maximum number of fragment definitions in a document.
    public var fragmentsMax = 200
    /// The maximum number of variable definitions in a document.
    public var variablesMax = 500
    /// The maximum number of objects that an operation can return.
    public var costMax = 10_000
    /// The names of arguments that limit the number of objects of a page. A field with such an argument counts as many objects as
    /// the argument says.
    public var pageSizeArguments = ["first", "last"]
    /// The assumed number of objects of a list that is not a page, and of a page whose size is a
    /// variable without a value.
    public var listSizeAssumed = 10
    /// The assumed numbers of objects of lists that are usually shorter or longer, and of single objects that take as long to
    /// load as several, by type and field: `["Book.authors": 2]`.
    public var objectCounts: [String: Int] = [:]

    /// Creates the default limits.
    public init() {}

    /// Limits for trusted documents: none apart from those of the parser.
    public static let trusted: OperationLimits = {
        var limits = OperationLimits()
        limits.depthMax = .max
        limits.introspectionDepthMax = .max
        limits.introspectionListsMax = .max
        limits.fieldsMax = .max
        limits.aliasesMax = .max
        limits.rootFieldsMax = .max
        limits.directivesMax = .max
        limits.fragmentsMax = .max
        limits.variablesMax = .max
        limits.costMax = .max
        return limits
    }()
}

/// Checks the operations of a document against `limits`.
///
/// Each selection set is read once, fragments before the operations that spread them, so the time
/// is linear in the size of the document. Page sizes that are variables count with their default
/// values. `checkCost` uses the values of the request.
///
/// - Returns: one error for each exceeded limit, of the kind `limitExceeded`, the name of
///   the limit in `extensions.limit`, and its value in `extensions.max`. Empty for a document whose
///   fragments form a cycle, which validation rejects.
package func checkLimits(
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
        var measurer = OperationMeasurer(fragments, schema: schema, limits: limits)
    else { return errors.errors }
    for case .operation(let operation) in document.definitions {
        errors.check(measurer.measure(operation), of: operation, limits)
    }
    return errors.errors
}

/// Returns the cost of an operation of a valid document with the values of its variables: the
/// maximum number of objects that it can return.
///
/// - Throws: an error of the kind `limitExceeded` if the cost exceeds `costMax`.
package func checkCost(
    of operation: OperationDefinition, in document: Document, against schema: Schema,
    variables: VariableValues, limits: OperationLimits = OperationLimits()
) throws(GraphQLError) -> Int {
    let fragments = FragmentTable(document)
    guard
        var measurer = OperationMeasurer(
            fragments, schema: schema, limits: limits, variables: variables)
    else { return 0 }
    var errors = LimitErrors(source: document.source)
    let measure = measurer.measure(operation)
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
            "Introspection has", "nested lists", range)
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
        _ count: Int, _ name: String, _ max: Int, _ subject: String, _ noun: String,
        _ range: SourceRange? = nil
    ) {
        guard count > max else { return }
        errors.append(
            GraphQLError(
                "\(subject) \(count) \(noun); at most \(max) are allowed.",
                locations: range.map { [source.location(at: $0.start)] } ?? [],
                kind: .limitExceeded,
                extensions: ExceededLimit(name: name, max: max).extensions))
    }
}
