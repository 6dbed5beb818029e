import GraphQL
import Postgres
import Requests

/// Loads `Subscription.coverChanged`: cover changes of the caller's books, starting when the client subscribes.
struct CoverChanged: SubscriptionLoader {
    static let eventFields: [String: FieldResolver] = [
        "book": .load(RowsOfPlainObject(.one, Book.type)),
        "image": .load(RowsOfPlainObject(.one, CoverImage.typeOfBook)),
        "status": .property, "source": .property, "changedAt": .property,
    ]

    func prepare(_ field: SelectedField) -> any PreparedSubscription {
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
                let id = try arguments.id("bookId", else: .noSuchBook)
                try await request.requireBook(id)
                book = id
            }
            let lastEventIDs = try await request.readWithRetry { pipeline, viewer in
                pipeline.append(lastEventID, .of(viewer.userID))
            }
            return Source(request, watch, book: book, after: lastEventIDs.first ?? 0)
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
        /// The id of the last event that was read.
        private var lastID: Int64
        private var page: ArraySlice<PlainObject> = []

        init(_ request: RequestContext, _ watch: Hub.Watch, book: UUID?, after lastID: Int64) {
            self.request = request
            self.watch = watch
            self.book = book
            self.lastID = lastID
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
            let events = try await request.readWithRetry { pipeline, viewer in
                var parameters = Parameters.of(viewer.userID)
                parameters.append(int64: lastID)
                parameters.append(uuid: book)
                return pipeline.append(CoverEvent.query, parameters)
            }
            page = events.compactMap { object($0) }[...]
            lastID = events.last?.id ?? lastID
        }

        /// Returns the event as an object of the schema; nil if it has no status.
        private func object(_ event: CoverEvent) -> PlainObject? {
            guard let status = event.status else { return nil }
            var leaves: [String: Value] = [
                "status": .string(status),
                "changedAt": .string(Instant(microseconds: event.at).text),
            ]
            if let source = event.source { leaves["source"] = .string(source) }
            return PlainObject(leaves: leaves, ids: ["book": [event.book], "image": [event.book]])
        }
    }
}

private let lastEventID = TypedStatement<Int64>(
    "SELECT coalesce(max(id), 0) FROM events WHERE user_id = $1")

/// A change of a book's cover.
private struct CoverEvent: RowDecodable {
    let id: Int64
    let book: UUID
    let status: String?
    let source: String?
    /// The time of the event in microseconds since the Unix epoch.
    let at: Int64

    init?(_ row: inout RowReader) {
        guard let id = row.int64(), let book = row.uuid() else { return nil }
        self.id = id
        self.book = book
        status = row.text()
        source = row.text()
        guard let at = row.timestamptz() else { return nil }
        self.at = at
    }

    /// The maximum number of events that one subscription holds in memory.
    private static let pageMax = 100

    /// Returns the events after `$2`. Events of deleted books are left out.
    static let query = TypedStatement<CoverEvent>(
        """
        SELECT
          e.id, b.id, e.payload->>'status', e.payload->>'source', e.created_at
        FROM events e
        JOIN books b ON b.user_id = e.user_id AND b.id = (e.payload->>'book_id')::uuid
        WHERE e.user_id = $1 AND e.id > $2 AND e.kind = 'cover_changed'
          AND ($3 IS NULL OR b.id = $3)
        ORDER BY e.id
        LIMIT \(pageMax)
        """)
}
