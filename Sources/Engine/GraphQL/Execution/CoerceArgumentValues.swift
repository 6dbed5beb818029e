/// The coerced arguments of a field or directive, in the order of their definitions.
///
/// An argument that was not provided and has no default value is absent, which is different from
/// null.
public struct ArgumentValues: Sendable, Equatable {
    /// The arguments with their names.
    public private(set) var members: [Value.Member] = []

    /// Creates the arguments of a field without arguments.
    public init() {}

    /// Returns the value of an argument, or nil if it is absent.
    public subscript(name: String) -> Value? { members.first { $0.name == name }?.value }

    fileprivate mutating func append(_ name: String, _ value: Value) {
        members.append(.init(name, value))
    }

    fileprivate mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }
}

/// Coerces the arguments of a field or directive to the types in their definitions.
///
/// If no argument contains a variable (`ValueNode.containsVariables`), the result is the same for
/// every request and can be cached.
///
/// - Parameters:
///   - given: the arguments in the document.
///   - variables: the coerced variables of the request.
/// - Throws: the first error, of the kind `invalidInput` and with the location of the argument's
///   value. The error for a missing argument has no location.
///
/// Spec: https://spec.graphql.org/September2025/#CoerceArgumentValues()
package func coerceArgumentValues(
    _ definitions: [InputValueDefinition], given: NodeList<Argument>, variables: VariableValues,
    schema: Schema, source: Source
) throws(GraphQLError) -> ArgumentValues {
    var coerced = ArgumentValues()
    coerced.reserveCapacity(definitions.count)
    for definition in definitions {
        let name = definition.name
        guard let literal = given.first(where: { $0.name.value == name })?.value else {
            if let value = schema.defaultValue(of: definition) {
                coerced.append(name, value)
            } else if case .nonNull = definition.type {
                throw badInput(
                    "Argument \"\(name)\" of required type \"\(print(definition.type))\" "
                        + "was not provided.", locations: [])
            }
            continue
        }
        func error(_ message: String) -> GraphQLError {
            badInput(
                "Argument \"\(name)\" \(message)",
                locations: [source.location(at: literal.range.start)])
        }
        var isNull = if case .null = literal.kind { true } else { false }
        if case .variable(let variable) = literal.kind {
            guard let value = variables[variable] else {
                if let value = schema.defaultValue(of: definition) {
                    coerced.append(name, value)
                } else if case .nonNull = definition.type {
                    throw error(
                        "of required type \"\(print(definition.type))\" was provided the variable "
                            + "\"$\(variable)\" which was not provided a runtime value.")
                }
                continue
            }
            isNull = value.isNull
        }
        if isNull, case .nonNull = definition.type {
            throw error("of non-null type \"\(print(definition.type))\" must not be null.")
        }
        guard
            let value = coerceLiteral(
                literal, as: definition.type, variables: variables, schema: schema)
        else { throw error("has invalid value \(print(literal)).") }
        coerced.append(name, value)
    }
    return coerced
}
