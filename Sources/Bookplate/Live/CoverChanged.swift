import GraphQL
import Postgres

/// `Subscription.coverChanged`: what happens to the pictures of the caller's books, from now on.
struct CoverChanged: FieldLoader {
    static let eventFields: [String: FieldResolver] = [
        "book": .load(RowsOfPlainObject(.one, Book.type)), "coverUrl": .property,
        "status": .property, "source": .property, "timestamp": .property,
    ]

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestSubscription {
        let selection: PlannedSelection

        func source(
            _ arguments: ArgumentValues, in request: RequestContext
        ) async throws(BookplateError) -> any EventSource {
            let watch = request.services.hub.watchLibrary(of: try request.caller().userID)
            var book: UUID?
            if arguments["bookId"]?.string != nil {
                let id = try arguments.id("bookId", else: Book.noSuchBook)
                try await request.requireBook(id)
                book = id
            }
            let rows = try await request.read { segment, viewer in
                segment.append(lastEvent, .of(viewer.userID))
            }
            return Source(request, watch, book: book, after: rows[0].int64(0, 0) ?? 0)
        }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let event = parents as? Event<PlainObject> else { throw .internalError }
            return .ready(.each(of: PlainBatch([event.value], selection)))
        }
    }

    private final class Source: EventSource {
        private let request: RequestContext
        private let watch: Hub.Watch
        private let book: UUID?
        private var last: Int64
        private var page: ArraySlice<PlainObject> = []

        init(_ request: RequestContext, _ watch: Hub.Watch, book: UUID?, after last: Int64) {
            self.request = request
            self.watch = watch
            self.book = book
            self.last = last
        }

        func next() async throws(BookplateError) -> (any ObjectBatch)? {
            while !Task.isCancelled {
                if let event = page.popFirst() { return Event(event) }
                try await read()
                if page.isEmpty { await watch.signal.wait() }
            }
            return nil
        }

        private func read() async throws(BookplateError) {
            let rows = try await request.readPatiently { segment, viewer in
                var parameters = Parameters.of(viewer.userID)
                parameters.append(int64: last)
                parameters.append(uuid: book)
                segment.append(nextEvents, parameters)
            }[0]
            let user = try request.caller().userID
            page = (0..<rows.count).compactMap { row in event(rows, row, of: user) }[...]
            last = rows.count > 0 ? rows.int64(rows.count - 1, 0) ?? last : last
        }

        private func event(_ rows: Rows, _ row: Int, of user: UUID) -> PlainObject? {
            guard let book = rows.uuid(row, 1), let status = rows.text(row, 2),
                let at = rows.timestamptz(row, 5)
            else { return nil }
            var leaves: [String: Value] = [
                "status": .string(status),
                "timestamp": .string(Instant(microseconds: at).text),
            ]
            if let source = rows.text(row, 3) { leaves["source"] = .string(source) }
            if let version = rows.text(row, 4) {
                let url = request.services.covers.urls.cover(user, book, version)
                leaves["coverUrl"] = .string(url)
            }
            return PlainObject(leaves: leaves, ids: ["book": [book]])
        }
    }
}

/// How many events one subscription holds at most.
private let pageMax = 100

private let lastEvent = Statement("SELECT coalesce(max(id), 0) FROM events WHERE user_id = $1")

/// Of books that are still there.
private let nextEvents = Statement(
    """
    SELECT e.id, b.id, e.payload->>'status', e.payload->>'source', e.payload->>'version', e.created_at \
    FROM events e JOIN books b ON b.user_id = e.user_id AND b.id = (e.payload->>'book_id')::uuid \
    WHERE e.user_id = $1 AND e.id > $2 AND e.kind = 'cover_changed' \
    AND ($3 IS NULL OR b.id = $3) ORDER BY e.id LIMIT \(pageMax)
    """)
