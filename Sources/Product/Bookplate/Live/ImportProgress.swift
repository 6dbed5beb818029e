import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// Loads `Subscription.importProgress`: the state of an import, at once and after each change, until the import has ended.
///
/// Each event has the newest state. A slow client receives fewer events, not outdated ones.
struct ImportProgress: SubscriptionLoader {
    func prepare(_ field: SelectedField) -> any PreparedSubscription {
        Prepared(row: RowLookup.byID(Import.type).prepare(field))
    }

    private struct Prepared: RequestSubscription {
        let row: any PreparedLoad

        func source(
            _ arguments: ArgumentValues, in request: RequestContext
        ) async throws(BookplateError) -> any EventSource {
            let id = try arguments.id("id", else: .noSuchImport)
            let watch = request.services.hub.watchLibrary(of: try request.caller().userID)
            let states = try await request.readWithRetry { pipeline, viewer in
                pipeline.append(State.query, .of(viewer.userID, id))
            }
            guard !states.isEmpty else { throw .notFound(.noSuchImport) }
            return Source(request, watch, id)
        }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            // Reads the row again, so the response has the newest state.
            row.start(for: RootBatch(), arguments: arguments, in: request as any ExecutionContext)
        }
    }

    private final class Source: EventSource {
        private let request: RequestContext
        private let watch: Hub.Watch
        private let id: UUID
        /// The state that was last sent.
        private var sent: State?

        init(_ request: RequestContext, _ watch: Hub.Watch, _ id: UUID) {
            self.request = request
            self.watch = watch
            self.id = id
        }

        func next() async throws(BookplateError) -> (any ObjectBatch)? {
            while !Task.isCancelled, sent?.hasEnded != true {
                let states = try await request.readWithRetry { pipeline, viewer in
                    pipeline.append(State.query, .of(viewer.userID, id))
                }
                // There is no state after the import was deleted together with its account.
                guard let state = states.first else { return nil }
                if sent?.updatedAt != state.updatedAt || state.hasEnded {
                    sent = state
                    return Event(id)
                }
                await watch.signal.wait()
            }
            return nil
        }
    }
}

private struct State: RowDecodable {
    let updatedAt: Int64
    let hasEnded: Bool

    init?(_ row: inout RowReader) {
        guard let updatedAt = row.timestamptz(), let hasEnded = row.bool() else { return nil }
        self.updatedAt = updatedAt
        self.hasEnded = hasEnded
    }

    static let query = TypedStatement<State>(
        """
        SELECT updated_at, state IN ('DONE', 'FAILED')
        FROM imports
        WHERE user_id = $1 AND id = $2
        """)
}
