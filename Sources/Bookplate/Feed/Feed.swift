import GraphQL
import GraphQLPostgres
import Postgres

/// `Query.feed`: books the caller has not seen: those their own signals speak for, then the popular, genres in turn.
///
/// They come from a deck that was dealt before: the reader's own (`feed_decks`), or of those who have said nothing the
/// opening (`feed_openings`). When it is over, or some genres only are asked for, each genre is a queue (`feed_order`),
/// and a page takes a book from each of those that have waited longest. It starts where its cursor and the
/// reader's frontier stand in each queue, so its cost grows neither with the catalogue nor with what was seen.
struct Feed: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let layouts = ConnectionLayouts(field, of: FeedCard.type, columns: &columns)
        return Prepared(
            selection: field.selections[0], layouts: layouts, statements: FeedStatements(columns))
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection
        let layouts: ConnectionLayouts
        let statements: FeedStatements

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            _ = try request.caller()
            let first = try arguments.pageSize(default: 10)
            var position: FeedPosition?
            if let cursor = arguments["after"]?.string {
                position = FeedPosition(cursor: cursor)
                guard position != nil else {
                    throw .badUserInput(
                        field: "after",
                        "This cursor is not of the feed. Start again without it.")
                }
            }
            let names = arguments["genres"]?.list?.compactMap(\.string)
            let after = position
            return .call {
                do throws(BookplateError) {
                    return try await page(first, after, names, request)
                } catch {
                    return .failed(parents.count, request.fieldError(error))
                }
            }
        }

        private func page(
            _ first: Int, _ after: FeedPosition?, _ names: [String]?, _ request: RequestContext
        ) async throws(BookplateError) -> Children {
            let genres = request.services.genres
            var all = try await genres.ids(for: request)
            var filter: [Int16]?
            if let names {
                let asked = try await genres.ids(named: names, for: request)
                all = all.filter(try await genres.queues(of: asked, for: request).contains)
                filter = asked
            }
            var reader = FeedReader(
                statements: statements, request: request, genres: all, filter: filter,
                after: after, wanted: first + 1)
            let reading = try await reader.read()
            let page = ConnectionBatch.Page(
                positions: 0..<Int32(min(first, reading.cards.count)),
                hasNextPage: reading.cards.count > first, hasPreviousPage: after != nil)
            return .each(
                of: ConnectionBatch(
                    reading.rows, pages: [page], order: reading.cards.map(\.row),
                    layouts: layouts, selection: selection
                ) { place in
                    var position = reading.start
                    for card in reading.cards.prefix(place + 1) { position.take(card) }
                    if let newest = reading.newestDeck { position.enterDeck(newest) }
                    return position.cursor
                })
        }
    }
}
