import GraphQL
import Postgres

/// A coerced input object. Each field is absent, null, or a value.
package struct InputObject {
    private let value: Value

    package init(_ value: Value?) { self.value = value ?? .object([]) }

    /// The value of a field, which may be null; nil if the field is absent.
    package subscript(name: String) -> Value? { value[name] }

    /// Whether the field is present, including null.
    package func isGiven(_ name: String) -> Bool { value[name] != nil }

    /// Returns nil if the field is absent or null.
    package func text(_ name: String) -> String? { value[name]?.string }

    /// Returns the ID that the client has chosen, or a new one.
    ///
    /// - Throws: `.badUserInput` if it is not a UUID.
    package func newID() throws(BookplateError) -> UUID {
        try optionalID("id") ?? .version7()
    }

    /// Returns the ID that the client has chosen for an object that the mutation creates; nil if it has chosen none.
    package func optionalID(_ name: String) throws(BookplateError) -> UUID? {
        guard let text = text(name) else { return nil }
        guard let id = UUID(text) else { throw .badUserInput(field: name, .init(.invalidID)) }
        return id
    }

    /// Returns a required ID.
    ///
    /// - Throws: `.notFound(reason)` for a text that is not a UUID, as for an unknown ID.
    package func id(_ name: String, else reason: ErrorReason) throws(BookplateError) -> UUID {
        guard let id = text(name).flatMap({ UUID($0) }) else { throw .notFound(reason) }
        return id
    }

    /// Returns a list of IDs without duplicates; nil if the field is absent or null.
    ///
    /// - Throws: `.badUserInput` for more than `max` IDs, and `.notFound(reason)` for a text that is not a UUID, as for an unknown
    ///   ID.
    package func ids(
        _ name: String, max: Int, else reason: ErrorReason
    ) throws(BookplateError) -> [UUID]? {
        guard let list = value[name]?.list else { return nil }
        guard list.count <= max else {
            throw .badUserInput(field: name, .init(.tooMany, max: max))
        }
        var ids: [UUID] = []
        for item in list {
            guard let id = item.string.flatMap({ UUID($0) }) else { throw .notFound(reason) }
            if !ids.contains(id) { ids.append(id) }
        }
        return ids
    }

    /// Returns a required number of at least 0.
    ///
    /// - Throws: `.badUserInput` for any other value, and if the field is absent or null.
    package func index(_ name: String) throws(BookplateError) -> Int32 {
        guard let value = value[name]?.int.flatMap({ Int32(exactly: $0) }), value >= 0 else {
            throw .badUserInput(field: name, .init(.outOfRange, min: 0, max: Int(Int32.max)))
        }
        return value
    }
}

extension ArgumentValues {
    /// Returns the argument as an ID.
    ///
    /// - Throws: `.notFound(reason)` for a text that is not a UUID, as for an unknown ID.
    package func id(_ name: String, else reason: ErrorReason) throws(BookplateError) -> UUID {
        guard let id = self[name]?.string.flatMap({ UUID($0) }) else { throw .notFound(reason) }
        return id
    }
}
