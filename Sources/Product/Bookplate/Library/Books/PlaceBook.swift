import GraphQL
import GraphQLPostgres
import Postgres
import Requests

extension Book {
    /// Puts a book at a place on a shelf, in the reader's order.
    static let place = RowMutation(Shelf.type) { arguments, request, shelf throws(BookplateError) in
        let book = try arguments.id("id", else: .noSuchBook)
        let input = InputObject(arguments["input"])
        let id = try input.id("shelfId", else: .noSuchShelf)
        let (before, after) = (input.text("before"), input.text("after"))
        guard before == nil || after == nil else {
            throw .badUserInput(
                field: "after", .init(.conflictingFields, value: "`before`, `after`"))
        }
        // An id that is not a UUID is that of no book on the shelf.
        let anchor = (before ?? after).flatMap { UUID($0) }
        let (results, problem) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id, book)
            parameters.append(uuid: anchor)
            parameters.append(bool: before != nil)
            let problem = pipeline.append(placeBook, parameters)
            shelf.append([id], to: &pipeline, for: viewer)
            return problem
        }
        switch results[problem].first?.problem {
        case "SHELF": throw .notFound(.noSuchShelf)
        case "BOOK": throw .notFound(.noSuchBook)
        default: return try shelf.only(results.last, orElse: .noSuchShelf)
        }
    }

    private struct Problem: RowDecodable {
        let problem: String?

        init?(_ row: inout RowReader) { problem = row.text() }
    }

    private static let placeBook = TypedStatement<Problem>(
        "SELECT place_book($1, $2, $3, $4, $5)")
}
