/// The canonical text of a type reference: `[Book!]!`.
public func print(_ type: TypeReference) -> String {
    switch type {
    case .named(let name): name.value
    case .list(let inner, _): "[\(print(inner))]"
    case .nonNull(let inner, _): "\(print(inner))!"
    }
}

/// The canonical text of a value: `{tags: ["a", "b"], rating: 4.5}`.
public func print(_ value: ValueNode) -> String {
    switch value.kind {
    case .variable(let name): "$\(name)"
    case .int(let text), .float(let text), .enumeration(let text): text
    case .string(let string): print(string)
    case .boolean(let value): value ? "true" : "false"
    case .null: "null"
    case .list(let items): "[\(items.map { print($0) }.joined(separator: ", "))]"
    case .object(let fields):
        "{\(fields.map { "\($0.name.value): \(print($0.value))" }.joined(separator: ", "))}"
    }
}
