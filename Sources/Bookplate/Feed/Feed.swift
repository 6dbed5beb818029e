import GraphQL
import GraphQLPostgres
import Postgres

/// The field `Query.feed`: books that the reader has not seen, first those that match the reader's signals, then popular
/// ones, with alternating genres.
///
/// The first cards come from a deck that a job has prepared: the reader's own deck (`feed_decks`), or the cold-start deck
/// (`feed_openings`) for readers without signals. After the end of the deck, or if the request filters by genre, the
/// books come from one queue per genre (`feed_order`), and each card from the genre that has not been used for longest.
/// A page starts in each queue at its cursor and the reader's frontier, so its cost depends neither on the size of the
/// catalog nor on the number of seen books.
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
                        "This cursor does not belong to the feed. Start again without a cursor.")
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
                let requested = try await genres.ids(named: names, for: request)
                all = all.filter(try await genres.queues(of: requested, for: request).contains)
                filter = requested
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
                ) { index in
                    var position = reading.start
                    for card in reading.cards.prefix(index + 1) { position.take(card) }
                    if let newest = reading.newestDeck { position.enterDeck(newest) }
                    return position.cursor
                })
        }
    }
}
