import GraphQL

/// The reason why a value cannot be serialized as its leaf type.
struct SerializationError: Error {
    let message: String
}

/// Coerces a result to a scalar or enum like graphql-js. Values of custom scalars are not changed.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Scalars.Result-Coercion-and-Serialization
func serialize(_ value: Value, as type: TypeDefinition) -> Result<Value, SerializationError> {
    func failure(_ message: String) -> Result<Value, SerializationError> {
        .failure(SerializationError(message: "\(message): \(value.json)"))
    }
    if case .enumeration(let values) = type.kind {
        guard let name = value.string, values.contains(where: { $0.name == name }) else {
            return failure("Enum \"\(type.name)\" cannot represent value")
        }
        return .success(value)
    }
    switch type.name {
    case "Int":
        guard let number = value.number, number.rounded() == number else {
            return failure("Int cannot represent non-integer value")
        }
        guard let int = Int32(exactly: number) else {
            return failure("Int cannot represent non 32-bit signed integer value")
        }
        return .success(.int(Int(int)))
    case "Float":
        guard let number = value.number, number.isFinite else {
            return failure("Float cannot represent non numeric value")
        }
        if case .int = value { return .success(value) }
        return .success(.float(number))
    case "String":
        switch value {
        case .string: return .success(value)
        case .boolean, .int, .bigInt, .float: return .success(.string(value.json))
        case .null, .list, .object: return failure("String cannot represent value")
        }
    case "Boolean":
        switch value {
        case .boolean: return .success(value)
        case .int(let number): return .success(.boolean(number != 0))
        case .bigInt: return .success(.boolean(true))
        case .float(let number) where number.isFinite: return .success(.boolean(number != 0))
        case .null, .float, .string, .list, .object:
            return failure("Boolean cannot represent a non boolean value")
        }
    case "ID":
        switch value {
        case .string: return .success(value)
        case .int, .bigInt: return .success(.string(value.json))
        case .float(let number) where number.rounded() == number:
            return .success(.string(value.json))
        case .null, .boolean, .float, .list, .object: return failure("ID cannot represent value")
        }
    default:
        return .success(value)
    }
}

extension Value {
    /// The numeric value of numbers, of booleans (1 and 0), and of strings that contain a number.
    fileprivate var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .bigInt(let digits): Double(digits)
        case .float(let number): number
        case .boolean(let flag): flag ? 1 : 0
        case .string(let text): Double(text)
        case .null, .list, .object: nil
        }
    }
}
