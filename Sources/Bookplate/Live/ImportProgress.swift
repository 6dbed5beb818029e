import GraphQL
import GraphQLPostgres
import Postgres

/// `Subscription.importProgress`: an import as it is, at once and whenever it has moved, until it has ended.
///
/// It tells of the newest state: a slow reader gets fewer answers, not older ones.
struct ImportProgress: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(row: RowLookup.byID(Import.type).prepare(field))
    }

    private struct Prepared: RequestSubscription {
        let row: any PreparedLoad

        func source(
            _ arguments: ArgumentValues, in request: RequestContext
        ) async throws(BookplateError) -> any EventSource {
            let missing = "There is no such import."
            let id = try arguments.id("id", else: missing)
            let watch = request.services.hub.watchLibrary(of: try request.caller().userID)
            let rows = try await request.read { segment, viewer in
                segment.append(readState, .of(viewer.userID, id))
            }
            guard rows[0].count > 0 else { throw .notFound(missing) }
            return Source(request, watch, id)
        }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            // The row as it is when the answer is made.
            row.start(for: RootBatch(), arguments: arguments, in: request as any ExecutionContext)
        }
    }

    private final class Source: EventSource {
        private let request: RequestContext
        private let watch: Hub.Watch
        private let id: UUID
        private var told: (updatedAt: Int64, isOver: Bool)?

        init(_ request: RequestContext, _ watch: Hub.Watch, _ id: UUID) {
            self.request = request
            self.watch = watch
            self.id = id
        }

        func next() async throws(BookplateError) -> (any ObjectBatch)? {
            while !Task.isCancelled, told?.isOver != true {
                let rows = try await request.readPatiently { segment, viewer in
                    segment.append(readState, .of(viewer.userID, id))
                }[0]
                // Deleted meanwhile, with its account.
                guard let updatedAt = rows.timestamptz(0, 0), let isOver = rows.bool(0, 1) else {
                    return nil
                }
                if told?.updatedAt != updatedAt || isOver {
                    told = (updatedAt, isOver)
                    return Event(id)
                }
                await watch.signal.wait()
            }
            return nil
        }
    }
}

private let readState = Statement(
    """
    SELECT updated_at, state IN ('DONE', 'FAILED') FROM imports WHERE user_id = $1 AND id = $2
    """)
