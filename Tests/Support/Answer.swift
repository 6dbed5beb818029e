import Bookplate
import GraphQL

/// A response, and what it cost.
package struct Answer: Sendable {
    package let json: Value
    /// Whether it was refused before execution.
    package let isRequestError: Bool
    package let isForbiddenMutation: Bool
    package let statements: Int
    package let roundTrips: Int
    /// Where the caller stands; nil where nothing is limited.
    package let rate: RateLimits.State?
    package let retryAfterSeconds: Int?

    /// The value below `data`; nil where the path leads nowhere.
    package subscript(_ path: PathElement...) -> Value? { value(at: path) }

    package func value(at path: [PathElement]) -> Value? {
        json["data"].flatMap { $0.value(at: path) }
    }

    package var errors: [Value] { json["errors"]?.list ?? [] }

    /// Of the first error.
    package var code: String? { errors.first?["extensions"]?["code"]?.string }
    package var message: String? { errors.first?["message"]?.string }
    /// The input field that the first error names.
    package var field: String? { errors.first?["extensions"]?["field"]?.string }
}

/// A step of a path: a member's name or an item's index.
package enum PathElement: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, Sendable {
    case name(String)
    case index(Int)

    package init(stringLiteral name: String) { self = .name(name) }
    package init(integerLiteral index: Int) { self = .index(index) }
}

extension Value {
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

    /// The member of each item of a list.
    package func each(_ name: String) -> [Value] {
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

extension Value: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension Value: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int) { self = .int(value) }
}

extension Value: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self = .float(value) }
}

extension Value: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension Value: ExpressibleByArrayLiteral {
    public init(arrayLiteral items: Value...) { self = .list(items) }
}

extension Value: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral members: (String, Value)...) {
        self = .object(members.map { Member($0, $1) })
    }
}
