import GraphQL

/// One element of a path into a JSON value: an object member's name or a list index.
package enum PathElement: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, Sendable {
    case name(String)
    case index(Int)

    package init(stringLiteral name: String) { self = .name(name) }
    package init(integerLiteral index: Int) { self = .index(index) }
}

extension Value {
    /// The value at a path; nil if the path does not exist.
    package subscript(_ path: PathElement...) -> Value? { value(at: path) }

    package func value(at path: [PathElement]) -> Value? {
        var value: Value? = self
        for element in path {
            switch element {
            case .name(let name): value = value?[name]
            case .index(let index):
                guard let list = value?.list, list.indices.contains(index) else { return nil }
                value = list[index]
            }
        }
        return value
    }

    /// Returns the named member of each object in a list; null for objects without that member.
    package func values(of name: String) -> [Value] {
        list?.map { $0[name] ?? .null } ?? []
    }

    package var double: Double? {
        switch self {
        case .float(let value): value
        case .int(let value): Double(value)
        default: nil
        }
    }
}
