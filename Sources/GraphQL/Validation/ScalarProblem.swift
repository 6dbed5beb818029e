/// Why a scalar does not take a literal.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Scalars.Built-in-Scalars
extension Schema {
    /// Nil where the scalar takes it; custom scalars take every literal.
    func problem(ofLiteral value: ValueNode, asScalar name: String) -> String? {
        switch (name, value.kind) {
        case ("Int", .int(let digits)):
            Int32(digits) == nil
                ? "Int cannot represent non 32-bit signed integer value: \(digits)" : nil
        case ("Int", _): "Int cannot represent non-integer value: \(value.text)"
        case ("Float", .int), ("Float", .float): nil
        case ("Float", _): "Float cannot represent non numeric value: \(value.text)"
        case ("String", .string): nil
        case ("String", _): "String cannot represent a non string value: \(value.text)"
        case ("Boolean", .boolean): nil
        case ("Boolean", _): "Boolean cannot represent a non boolean value: \(value.text)"
        case ("ID", .string), ("ID", .int): nil
        case ("ID", _): "ID cannot represent a non-string and non-integer value: \(value.text)"
        default: nil
        }
    }
}

extension ValueNode {
    var text: String {
        switch kind {
        case .variable(let name): "$" + name
        case .int(let text), .float(let text), .enumeration(let text): text
        case .string(let string): "\"" + string.value + "\""
        case .boolean(let value): value ? "true" : "false"
        case .null: "null"
        case .list(let items): "[" + items.map(\.text).joined(separator: ", ") + "]"
        case .object(let fields):
            "{"
                + fields.map { "\($0.name.value): \($0.value.text)" }.joined(separator: ", ")
                + "}"
        }
    }
}
