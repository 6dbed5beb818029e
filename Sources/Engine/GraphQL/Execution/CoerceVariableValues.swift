/// The coerced variables of a request.
///
/// A variable that was not provided and has no default value is absent, which is different from
/// null.
public struct VariableValues: Sendable, Equatable {
    private var values: [String: Value] = [:]

    /// Creates the variables of a request without variables.
    public init() {}

    /// Returns the value of a variable, or nil if it is absent.
    public subscript(name: String) -> Value? { values[name] }

    fileprivate mutating func set(_ name: String, _ value: Value) { values[name] = value }
}

/// Coerces the variables of a request to the types that its operation declares.
///
/// To coerce the variables of many requests for one operation, create an `OperationVariables` once.
///
/// Spec: https://spec.graphql.org/September2025/#CoerceVariableValues()
package func coerceVariableValues(
    _ definitions: NodeList<VariableDefinition>, given: Value, schema: Schema, source: Source,
    errorsMax: Int = 50, hasSuggestions: Bool = true
) async throws(RequestErrors) -> VariableValues {
    try await OperationVariables(definitions, schema: schema, source: source)
        .coerce(given, errorsMax: errorsMax, hasSuggestions: hasSuggestions)
}

/// The declared variables of an operation with their types and coerced default values, which are
/// the same for every request.
package struct OperationVariables: Sendable {
    private let variables: [Variable]
    private let schema: Schema
    private let source: Source

    fileprivate struct Variable: Sendable {
        let name: String
        let type: TypeReference
        let isInput: Bool
        let hasDefault: Bool
        /// The coerced default value. Also nil if the default value does not match the type, which
        /// validation rejects.
        let defaultValue: Value?
        let range: SourceRange

        init(_ definition: VariableDefinition, _ schema: Schema) {
            name = definition.name.value
            type = definition.type
            isInput = schema.isInputType(type)
            hasDefault = definition.defaultValue != nil
            defaultValue = definition.defaultValue.flatMap { [type] in
                coerceLiteral($0, as: type, schema: schema)
            }
            range = definition.range
        }
    }

    package init(_ definitions: NodeList<VariableDefinition>, schema: Schema, source: Source) {
        variables = definitions.map { Variable($0, schema) }
        self.schema = schema
        self.source = source
    }

    /// Coerces the variables of a request. If they are large, other tasks have their turn in between.
    ///
    /// - Parameters:
    ///   - given: the request's `variables`: an object, or null if there are none. Members that are
    ///     not declared are ignored.
    ///   - errorsMax: the number of errors after which coercion stops. One more error then reports
    ///     that the limit was reached.
    ///   - hasSuggestions: whether messages end in "Did you mean …?", which reveals names of the
    ///     schema.
    /// - Throws: every error found, each with the location of its variable's definition and of
    ///   the kind `invalidInput`.
    ///
    /// Spec: https://spec.graphql.org/September2025/#CoerceVariableValues()
    package func coerce(
        _ given: Value, errorsMax: Int = 50, hasSuggestions: Bool = true
    ) async throws(RequestErrors) -> VariableValues {
        if variables.isEmpty { return VariableValues() }
        guard given.isNull || given.isObject else {
            throw RequestErrors([badInput("Variables must be given as an object.", locations: [])])
        }
        var coercion = VariablesCoercion(
            given: given.memberValues, schema: schema, source: source, errorsMax: errorsMax,
            hasSuggestions: hasSuggestions)
        do throws(InputValueCoercion.TooManyErrors) {
            for variable in variables { try await coercion.coerce(variable) }
        } catch {
            coercion.errors.append(
                badInput(
                    "Too many errors processing variables, error limit reached. Execution aborted.",
                    locations: []))
        }
        guard coercion.errors.isEmpty else { throw RequestErrors(coercion.errors) }
        return coercion.values
    }
}

private struct VariablesCoercion {
    let given: [String: Value]
    let schema: Schema
    let source: Source
    let errorsMax: Int
    let hasSuggestions: Bool
    var values = VariableValues()
    var errors: [GraphQLError] = []

    mutating func coerce(
        _ variable: OperationVariables.Variable
    ) async throws(InputValueCoercion.TooManyErrors) {
        let name = variable.name
        guard variable.isInput else {
            return try report(
                "Variable \"$\(name)\" expected value of type \"\(print(variable.type))\" "
                    + "which cannot be used as an input type.", at: typeStart(variable.type))
        }
        guard let value = given[name] else {
            if let value = variable.defaultValue {
                values.set(name, value)
            } else if !variable.hasDefault, variable.type.isNonNull {
                try report(
                    "Variable \"$\(name)\" of required type \"\(print(variable.type))\" "
                        + "was not provided.", at: variable.range)
            }
            return
        }
        if variable.type.isNonNull, value.isNull {
            return try report(
                "Variable \"$\(name)\" of non-null type \"\(print(variable.type))\" "
                    + "must not be null.", at: variable.range)
        }
        var coercion = InputValueCoercion(schema: schema, hasSuggestions: hasSuggestions)
        let coerced = try await coercion.coerce(value, as: variable.type) {
            path, found, message throws(InputValueCoercion.TooManyErrors) in
            let position = path.isEmpty ? "" : " at \"\(name)\(describe(path))\""
            try report(
                "Variable \"$\(name)\" got invalid value \(inspect(found))\(position); \(message)",
                at: variable.range)
        }
        values.set(name, coerced)
    }

    private mutating func report(
        _ message: String, at range: SourceRange
    ) throws(InputValueCoercion.TooManyErrors) {
        guard errors.count < errorsMax else { throw InputValueCoercion.TooManyErrors() }
        errors.append(badInput(message, locations: [source.location(at: range.start)]))
    }
}

private func typeStart(_ type: TypeReference) -> SourceRange {
    switch type {
    case .named(let name): name.range
    case .list(_, let range), .nonNull(_, let range): range
    }
}

func badInput(_ message: String, locations: [SourceLocation]) -> GraphQLError {
    GraphQLError(
        message, locations: locations, kind: .invalidInput)
}

extension Schema {
    /// Spec: https://spec.graphql.org/September2025/#IsInputType()
    fileprivate func isInputType(_ type: TypeReference) -> Bool {
        switch type {
        case .named(let name): self.type(named: name.value)?.isInput ?? false
        case .list(let inner, _), .nonNull(let inner, _): isInputType(inner)
        }
    }
}

extension Value {
    fileprivate var isObject: Bool { if case .object = self { true } else { false } }

    /// The members of an object by name. If a name occurs more than once, its last member is used.
    fileprivate var memberValues: [String: Value] {
        guard case .object(let members) = self else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }
}
