import GraphQL
import GraphQLPostgres
import JobQueue
import Postgres
import Requests

/// The field `Query.feed`: books that the reader has not seen.
///
/// - A card is an edition of the shared catalog. `WorkRecords` explains works, records, and founders.
/// - A deck is a stored list of up to 100 ranked cards of one reader (`feed_decks`). A deck never changes, so a cursor returns the
///   same page again.
/// - A chain is a sequence of decks. A scroll, which is a sequence of pages, starts with the first deck of a chain and continues
///   with the next ones. A chain contains each card at most once.
/// - A cold-start deck has popular books of all genres in one language. A scroll of a reader of this language without signals and
///   preferred genres starts with it (`cold_start_decks`).
/// - A signal is the reader's opinion of a work, from a review, a swipe, or a book in the library (`ReaderSignals`). Decks are built
///   from the signals, and new signals replace the deck with which the next scroll starts.
///
/// Usually a job has built the next deck before a scroll arrives there (`PrepareDeck`). Otherwise the request builds it.
struct Feed: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let layouts = ConnectionLayouts(field, of: FeedCard.type, columns: &columns)
        return Prepared(
            selection: field.selections[0], layouts: layouts, statements: FeedPage(columns))
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection
        let layouts: ConnectionLayouts
        let statements: FeedPage

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            _ = try request.caller()
            let first = try arguments.pageSize(default: 10)
            var cursor: FeedCursor?
            if let after = arguments["after"]?.string {
                cursor = FeedCursor(after)
                guard cursor != nil else {
                    throw .badUserInput(
                        field: "after",
                        .init(.invalidCursor))
                }
            }
            let names = arguments["genres"]?.list?.compactMap(\.string) ?? []
            let after = cursor
            return request.concurrentLoad { () throws(BookplateError) in
                try await page(first, after, names, request)
            }
        }

        private func page(
            _ first: Int, _ after: FeedCursor?, _ names: [String], _ request: RequestContext
        ) async throws(BookplateError) -> Children {
            var filter: [Int16] = []
            if !names.isEmpty {
                let genres = try await request.services.genres.genres(
                    named: names, field: "genres", for: request)
                filter = genres.map(\.number).sorted()
            }
            let rows = try await rows(first + 1, filter: filter, after, request)
            let count = min(first, rows.count)
            if count > 0, statements.needsSuccessor(rows, count - 1) {
                let deck = statements.cursor(rows, count - 1).deck
                // Without the job, a request builds the deck.
                _ = try? await request.write { pipeline, viewer in
                    pipeline.prepareSuccessor(of: deck, for: viewer.userID)
                }
            }
            let page = ConnectionBatch.Page(
                positions: 0..<Int32(count), hasNextPage: rows.count > first,
                hasPreviousPage: after != nil)
            return .each(
                of: ConnectionBatch(
                    rows, pages: [page], layouts: layouts, selection: selection
                ) { statements.cursor(rows, $0).text })
        }

        /// Reads up to `count` cards. Builds the next deck of the chain as long as there are too few cards.
        private func rows(
            _ count: Int, filter: [Int16], _ after: FeedCursor?, _ request: RequestContext
        ) async throws(BookplateError) -> Rows {
            let reader = try request.caller().userID
            if after == nil {
                var parameters = Parameters.of(reader)
                parameters.append(int32s: filter.map(Int32.init))
                parameters.append(int32: Int32(count))
                let (results, key) = try await request.read { [parameters] pipeline, _ in
                    pipeline.appendForRows(statements.firstPage, parameters)
                }
                let rows = results[key]
                if rows.count == count { return rows }
            }
            func parameters(at deck: DeckID?, index: Int32, asOf: Int64?) -> Parameters {
                var parameters = Parameters.of(reader)
                parameters.append(int64: deck?.chain)
                parameters.append(int32: deck?.number)
                parameters.append(int32: index)
                parameters.append(int32s: filter.map(Int32.init))
                parameters.append(timestamptz: asOf)
                return parameters
            }
            var start = parameters(at: after?.deck, index: after?.index ?? 0, asOf: after?.asOf)
            // Each further deck has at least one card.
            var remaining = count
            while true {
                var page = start
                page.append(int32: Int32(count))
                let (results, key) = try await request.read { [page] pipeline in
                    pipeline.appendForRows(statements.page, page)
                }
                let rows = results[key]
                guard rows.count < count, remaining > 0 else { return rows }
                remaining -= 1
                let lastDecks = try await request.read { [start] pipeline, _ in
                    pipeline.append(FeedPage.lastDeck, start)
                }
                let lastDeck = lastDecks.first
                if lastDeck?.isEnd == true { return rows }
                let builder = DeckBuilder(reader: reader, filter: filter, previous: lastDeck?.id)
                let deck = try await builder.build(in: request)
                // The new start may be outdated already, so it is named.
                if lastDeck == nil, let deck { start = parameters(at: deck, index: 0, asOf: nil) }
            }
        }
    }
}
