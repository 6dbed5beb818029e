/// The coerced variables of a request.
///
/// A variable that was not given and has no default is absent, which differs from null.
public struct VariableValues: Sendable, Equatable {
    private var values: [String: Value] = [:]

    public init() {}

    /// Nil where the variable is absent.
    public subscript(name: String) -> Value? { values[name] }

    fileprivate mutating func set(_ name: String, _ value: Value) { values[name] = value }
}

/// Coerces the variables of a request to the types that its operation declares.
///
/// - Parameters:
///   - given: the request's `variables`: an object, or null where there are none. Others are ignored.
///   - errorsMax: errors after which the rest is not looked at; one more says so.
///   - hasSuggestions: whether messages end in "Did you mean …?", which tells names of the schema.
/// - Throws: every error found, each at its variable's definition, with `BAD_USER_INPUT` as code.
///
/// Spec: https://spec.graphql.org/September2025/#CoerceVariableValues()
public func coerceVariableValues(
    _ definitions: NodeList<VariableDefinition>, given: Value, schema: Schema, source: Source,
    errorsMax: Int = 50, hasSuggestions: Bool = true
) throws(RequestErrors) -> VariableValues {
    if definitions.isEmpty { return VariableValues() }
    guard given.isNull || given.isObject else {
        throw RequestErrors([badInput("Variables must be given as an object.", locations: [])])
    }
    var coercion = VariablesCoercion(
        given: given.memberValues, schema: schema, source: source, errorsMax: errorsMax,
        hasSuggestions: hasSuggestions)
    do throws(InputValueCoercion.TooManyErrors) {
        for definition in definitions { try coercion.coerce(definition) }
    } catch {
        coercion.errors.append(
            badInput(
                "Too many errors processing variables, error limit reached. Execution aborted.",
                locations: []))
    }
    guard coercion.errors.isEmpty else { throw RequestErrors(coercion.errors) }
    return coercion.values
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
        _ definition: VariableDefinition
    ) throws(InputValueCoercion.TooManyErrors) {
        let name = definition.name.value
        guard schema.isInputType(definition.type) else {
            return try report(
                "Variable \"$\(name)\" expected value of type \"\(print(definition.type))\" "
                    + "which cannot be used as an input type.", at: typeStart(definition.type))
        }
        guard let value = given[name] else {
            if let literal = definition.defaultValue {
                // A default that does not fit its type was refused by validation.
                if let value = coerceLiteral(literal, as: definition.type, schema: schema) {
                    values.set(name, value)
                }
            } else if case .nonNull = definition.type {
                try report(
                    "Variable \"$\(name)\" of required type \"\(print(definition.type))\" "
                        + "was not provided.", at: definition.range)
            }
            return
        }
        if case .nonNull = definition.type, value.isNull {
            return try report(
                "Variable \"$\(name)\" of non-null type \"\(print(definition.type))\" "
                    + "must not be null.", at: definition.range)
        }
        var coercion = InputValueCoercion(schema: schema, hasSuggestions: hasSuggestions)
        values.set(
            name,
            try coercion.coerce(value, as: definition.type) {
                path, found, message throws(InputValueCoercion.TooManyErrors) in
                let place = path.isEmpty ? "" : " at \"\(name)\(describe(path))\""
                try report(
                    "Variable \"$\(name)\" got invalid value \(inspect(found))\(place); \(message)",
                    at: definition.range)
            })
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
        message, locations: locations, extensions: [.init("code", .string("BAD_USER_INPUT"))])
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

    /// The members by name, the last of those with one name.
    fileprivate var memberValues: [String: Value] {
        guard case .object(let members) = self else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }
}
