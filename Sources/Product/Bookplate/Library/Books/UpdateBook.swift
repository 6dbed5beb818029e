import GraphQL
import GraphQLPostgres
import Postgres
import Requests

extension Book {
    /// The maximum number of entries of one `updateBooks`, `moveBooks`, or `deleteBooks`.
    static let batchMax = 100

    static let update = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchBook)
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
                return try book.only(results.last, orElse: .noSuchBook)
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
        return try book.only(results.last, orElse: .noSuchBook)
    }

    static let updateMany = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let entries = try await Batch.entries(
            of: arguments, max: batchMax, in: request
        ) { input throws(BookplateError) in
            BookUpdates.Entry(
                id: try input.id("id", else: .noSuchBook),
                update: try BookUpdate(InputObject(input["input"])))
        }
        let updates = BookUpdates(entries.compactMap { try? $0.get() })
        let hasBookSources = !request.services.bookSources.names.isEmpty
        let (results, keys) = try await request.write { pipeline, viewer in
            updates.append(to: &pipeline, for: viewer, hasBookSources: hasBookSources)
        }
        return Batch.results(entries, updates.errors(results, keys), in: request) { entry in
            PlainObject(ids: ["book": [entry.id]])
        }
    }
}
