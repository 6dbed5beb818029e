import GraphQL
import GraphQLPostgres
import Postgres
import Requests

extension Book {
    /// The maximum number of entries of one `updateBooks`, `moveBooks`, or `deleteBooks`.
    static let batchMax = 100

    static let update = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchBook)
        let update = try BookUpdate(InputObject(arguments["input"]))
        if update.isOneStatement {
            let (results, updated) = try await request.write { pipeline, viewer in
                // The result of the last statement is read below.
                if update.changesFeed { pipeline.replaceDeckSoon(of: viewer.userID) }
                let updated = update.appendAlone(
                    to: &pipeline, for: viewer, book: id, returning: book.returning ?? "id")
                if book.returning == nil { book.append([id], to: &pipeline, for: viewer) }
                return updated
            }
            if results[updated].count > 0 {
                return try book.only(results.last, orElse: noSuchBook)
            }
        }
        let updates = BookUpdates([.init(id: id, update: update)])
        let hasBookSources = !request.services.bookSources.names.isEmpty
        let (results, keys) = try await request.write { pipeline, viewer in
            let keys = updates.append(to: &pipeline, for: viewer, hasBookSources: hasBookSources)
            book.append([id], to: &pipeline, for: viewer)
            return keys
        }
        if let error = updates.errors(results, keys).compactMap({ $0 }).first { throw error }
        return try book.only(results.last, orElse: noSuchBook)
    }

    static let updateMany = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let inputs = try batch("inputs", of: arguments, in: request)
        let entries = inputs.map { input in
            Result { () throws(BookplateError) in
                BookUpdates.Entry(
                    id: try input.id("id", else: noSuchBook),
                    update: try BookUpdate(InputObject(input["input"])))
            }
        }
        let updates = BookUpdates(entries.compactMap { try? $0.get() })
        let hasBookSources = !request.services.bookSources.names.isEmpty
        let (results, keys) = try await request.write { pipeline, viewer in
            updates.append(to: &pipeline, for: viewer, hasBookSources: hasBookSources)
        }
        return BatchResult.objects(entries, updates.errors(results, keys)) { entry in
            PlainObject(ids: ["book": [entry.id]])
        }
    }

    /// Returns the entries of a batch, and charges for them.
    ///
    /// - Throws: `.badUserInput` if there are too many.
    static func batch(
        _ name: String, of arguments: ArgumentValues, in request: RequestContext
    ) throws(BookplateError) -> [InputObject] {
        let inputs = arguments[name]?.list ?? []
        guard inputs.count <= batchMax else {
            throw .badUserInput(field: name, "At most \(batchMax) books at once.")
        }
        try request.charges.charge(RateLimits.units(forBatchOf: inputs.count))
        return inputs.map { InputObject($0) }
    }
}

/// The results of a batch, one for each of its entries.
enum BatchResult {
    /// Returns the object of each entry, in order.
    ///
    /// - Parameters:
    ///   - entries: The entries, or why they are invalid.
    ///   - errors: The errors of the valid entries, in order; nil for those that succeeded.
    ///   - object: Returns the object of an entry that succeeded.
    static func objects<Entry>(
        _ entries: [Result<Entry, BookplateError>], _ errors: [BookplateError?],
        _ object: (Entry) -> PlainObject
    ) -> [PlainObject] {
        var errors = errors[...]
        return entries.map { entry in
            switch entry {
            case .failure(let error): failed(error)
            case .success(let entry):
                // There is one error for each valid entry, which may be nil.
                (errors.popFirst() ?? .internalError).map(failed) ?? object(entry)
            }
        }
    }

    static func failed(_ error: BookplateError) -> PlainObject {
        PlainObject(objects: ["error": [error.inputError]])
    }
}
