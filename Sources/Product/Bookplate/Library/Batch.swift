import GraphQL
import Requests

/// The entries of a mutation for many objects, which succeed or fail on their own.
enum Batch {
    /// An entry, or why it is invalid.
    typealias Entry<Value> = Result<Value, BookplateError>

    /// The number of entries after which other requests have their turn. An entry can have many texts, dates, and ids.
    private static let entriesPerTurn = 8

    /// Charges for the argument `inputs`, and reads its entries.
    ///
    /// - Parameter max: The maximum number of entries.
    /// - Throws: `.badUserInput` if there are too many entries, or `.rateLimited`.
    static func entries<Value>(
        of arguments: ArgumentValues, max: Int, in request: RequestContext,
        _ read: (InputObject) throws(BookplateError) -> Value
    ) async throws(BookplateError) -> [Entry<Value>] {
        let inputs = arguments["inputs"]?.list ?? []
        guard inputs.count <= max else {
            throw .badUserInput(field: "inputs", .init(.tooMany, max: max))
        }
        try request.charges.charge(RateLimits.units(forBatchOf: inputs.count))
        var entries: [Entry<Value>] = []
        for input in inputs {
            entries.append(Result { () throws(BookplateError) in try read(InputObject(input)) })
            if entries.count.isMultiple(of: entriesPerTurn) { await Task.yield() }
        }
        return entries
    }

    /// Returns the object of each entry, in order.
    ///
    /// - Parameters:
    ///   - errors: The errors of the valid entries, in order; nil for those that succeeded.
    ///   - object: Returns the object of an entry that succeeded.
    static func results<Value>(
        _ entries: [Entry<Value>], _ errors: [BookplateError?], in request: RequestContext,
        _ object: (Value) -> PlainObject
    ) -> [PlainObject] {
        var errors = errors[...]
        return entries.map { entry in
            switch entry {
            case .failure(let error): failed(error, in: request)
            case .success(let entry):
                // There is one error for each valid entry, which may be nil.
                (errors.popFirst() ?? .internalError).map { failed($0, in: request) }
                    ?? object(entry)
            }
        }
    }

    /// Returns the result of an entry that failed.
    static func failed(_ error: BookplateError, in request: RequestContext) -> PlainObject {
        PlainObject(objects: ["error": [request.inputError(error)]])
    }
}

extension RequestContext {
    /// Returns an error as an object of the schema's type `InputError`.
    func inputError(_ error: BookplateError) -> PlainObject {
        let error = fieldError(error)
        var leaves: [String: Value] = ["message": .string(error.message)]
        for member in error.extensions {
            leaves[member.name == "id" ? "conflictingId" : member.name] = member.value
        }
        return PlainObject(leaves: leaves)
    }
}
