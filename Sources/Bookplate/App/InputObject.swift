import GraphQL
import Postgres

/// A coerced input object, read field by field: absent, null or a value.
struct InputObject {
    private let value: Value

    init(_ value: Value?) { self.value = value ?? .object([]) }

    subscript(name: String) -> Value? { value[name] }

    /// Whether the field is there, be it null.
    func isGiven(_ name: String) -> Bool { value[name] != nil }

    /// nil for absent and for null.
    func text(_ name: String) -> String? { value[name]?.string }

    /// An id chosen by the client, or a new one.
    ///
    /// - Throws: `.badUserInput` for what is no UUID.
    func newID() throws(BookplateError) -> UUID {
        guard let text = text("id") else { return .version7() }
        guard let id = UUID(text) else {
            throw .badUserInput(field: "id", "An id is a UUID. Leave it out to get one.")
        }
        return id
    }

    /// A list of ids, each once; nil for absent and for null.
    ///
    /// - Throws: `.notFound(message)` for what is no UUID, as for an id that nobody has.
    func ids(
        _ name: String, max: Int, else message: String
    ) throws(BookplateError) -> [UUID]? {
        guard let list = value[name]?.list else { return nil }
        guard list.count <= max else {
            throw .badUserInput(field: name, "At most \(max) at once.")
        }
        var ids: [UUID] = []
        for item in list {
            guard let id = item.string.flatMap({ UUID($0) }) else { throw .notFound(message) }
            if !ids.contains(id) { ids.append(id) }
        }
        return ids
    }

    /// A number from 0.
    func index(_ name: String) throws(BookplateError) -> Int32 {
        guard let value = value[name]?.int.flatMap({ Int32(exactly: $0) }), value >= 0 else {
            throw .badUserInput(field: name, "This is a whole number from 0.")
        }
        return value
    }
}

extension ArgumentValues {
    /// - Throws: `.notFound(message)` for what is no UUID, as for an id that nobody has.
    func id(_ name: String, else message: String) throws(BookplateError) -> UUID {
        guard let id = self[name]?.string.flatMap({ UUID($0) }) else { throw .notFound(message) }
        return id
    }
}
