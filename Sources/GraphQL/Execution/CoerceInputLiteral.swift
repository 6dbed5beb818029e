/// Coerces a literal to an input type; nil where it is no value of that type.
///
/// An absent variable makes a list's item null and an input object's field absent. The values of variables
/// are taken as they are: they were coerced by their own types.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Values
public func coerceLiteral(
    _ literal: ValueNode, as type: TypeReference, variables: VariableValues = VariableValues(),
    schema: Schema
) -> Value? {
    if case .variable(let name) = literal.kind {
        guard let value = variables[name] else { return nil }
        if case .nonNull = type, value.isNull { return nil }
        return value
    }
    switch (type, literal.kind) {
    case (.nonNull, .null): return nil
    case (.nonNull(let inner, _), _):
        return coerceLiteral(literal, as: inner, variables: variables, schema: schema)
    case (_, .null): return .null
    case (.list(let itemType, _), .list(let items)):
        return coerceItems(items, as: itemType, variables: variables, schema: schema)
    case (.list(let itemType, _), _):
        return coerceLiteral(literal, as: itemType, variables: variables, schema: schema)
            .map { .list([$0]) }
    case (.named(let name), _):
        if let scalar = BuiltInScalar(named: name.value) { return try? scalar.coerce(literal) }
        return coerceNamed(literal, as: name.value, variables: variables, schema: schema)
    }
}

private func coerceItems(
    _ items: NodeList<ValueNode>, as itemType: TypeReference, variables: VariableValues,
    schema: Schema
) -> Value? {
    var coerced: [Value] = []
    coerced.reserveCapacity(items.count)
    for item in items {
        if item.isAbsentVariable(in: variables) {
            if case .nonNull = itemType { return nil }
            coerced.append(.null)
        } else if let value = coerceLiteral(
            item, as: itemType, variables: variables, schema: schema)
        {
            coerced.append(value)
        } else {
            return nil
        }
    }
    return .list(coerced)
}

private func coerceNamed(
    _ literal: ValueNode, as name: String, variables: VariableValues, schema: Schema
) -> Value? {
    guard let definition = schema.type(named: name) else { return nil }
    switch (definition.kind, literal.kind) {
    case (.scalar, _):
        let value = literal.untyped(variables)
        guard let scalar = schema.scalars[name] else { return value }
        return try? scalar(value)
    case (.enumeration(let values), .enumeration(let text)):
        return values.contains { $0.name == text } ? .string(text) : nil
    case (.inputObject(let type), .object(let fields)):
        return coerceFields(fields, as: type, variables: variables, schema: schema)
    default:
        return nil
    }
}

private func coerceFields(
    _ given: NodeList<ObjectField>, as type: InputObjectType, variables: VariableValues,
    schema: Schema
) -> Value? {
    guard given.allSatisfy({ type.field(named: $0.name.value) != nil }) else { return nil }
    var coerced: [Value.Member] = []
    coerced.reserveCapacity(type.fields.count)
    for field in type.fields {
        if let literal = given.first(where: { $0.name.value == field.name })?.value,
            !literal.isAbsentVariable(in: variables)
        {
            guard
                let value = coerceLiteral(
                    literal, as: field.type, variables: variables, schema: schema)
            else { return nil }
            coerced.append(.init(field.name, value))
        } else if let value = schema.defaultValue(of: field) {
            coerced.append(.init(field.name, value))
        } else if case .nonNull = field.type {
            return nil
        }
    }
    if type.isOneOf {
        guard given.count == 1, coerced.count == 1, !coerced[0].value.isNull else { return nil }
    }
    return .object(coerced)
}

extension ValueNode {
    /// Whether a variable stands in it: without one it need be coerced only once.
    public var mentionsVariables: Bool {
        switch kind {
        case .variable: true
        case .list(let items): items.contains(where: \.mentionsVariables)
        case .object(let fields): fields.contains(where: \.value.mentionsVariables)
        case .int, .float, .string, .boolean, .null, .enumeration: false
        }
    }

    fileprivate func isAbsentVariable(in variables: VariableValues) -> Bool {
        if case .variable(let name) = kind { variables[name] == nil } else { false }
    }

    /// The JSON that the literal looks like: for custom scalars, which have no shape of their own.
    ///
    /// Absent variables are null in lists and left out of objects; integers beyond 64 bits become floats.
    func untyped(_ variables: VariableValues = VariableValues()) -> Value {
        switch kind {
        case .variable(let name): variables[name] ?? .null
        case .int(let digits): Int(digits).map(Value.int) ?? .float(Double(digits) ?? .infinity)
        case .float(let digits): .float(Double(digits) ?? .infinity)
        case .string(let text): .string(text.value)
        case .boolean(let value): .boolean(value)
        case .null: .null
        case .enumeration(let name): .string(name)
        case .list(let items): .list(items.map { $0.untyped(variables) })
        case .object(let fields):
            .object(
                fields.compactMap { field in
                    field.value.isAbsentVariable(in: variables)
                        ? nil : .init(field.name.value, field.value.untyped(variables))
                })
        }
    }
}
