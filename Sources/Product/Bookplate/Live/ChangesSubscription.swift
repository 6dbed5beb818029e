import GraphQL
import Postgres
import Requests

/// Loads `Subscription.changes`: all changes after a cursor, and then each change as it happens.
///
/// Changes are read from the log; notifications only say when to read. A slow client is further behind in the log, and
/// the server stores at most one page for it.
struct ChangesSubscription: SubscriptionLoader {
    /// The maximum number of changes that one subscription holds in memory.
    private static let pageMax = 100

    func prepare(_ field: SelectedField) -> any PreparedSubscription {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestSubscription {
        let selection: PlannedSelection

        func source(
            _ arguments: ArgumentValues, in request: RequestContext
        ) async throws(BookplateError) -> any EventSource {
            let watch = request.services.hub.watchLibrary(of: try request.caller().userID)
            guard let text = arguments["after"]?.string else {
                // Without a cursor, the subscription begins at the end of the log.
                let end = try await read(request, after: ChangeCursor(seq: .max, at: 0), first: 1)
                    .cursor
                return Source(request, watch, from: end)
            }
            let cursor = try ChangeCursor(text)
            let page = try await read(request, after: cursor, first: 1)
            // If the log no longer has all missed changes, fail before the subscription begins.
            if page.resetRequired { throw .resetRequired(cursor: page.cursor.text) }
            return Source(request, watch, from: cursor)
        }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let event = parents as? Event<Change> else { throw .internalError }
            return .ready(.each(of: ChangeBatch([event.value], selection)))
        }
    }

    private static func read(
        _ request: RequestContext, after cursor: ChangeCursor, first: Int
    ) async throws(BookplateError) -> ChangePage {
        let rows = try await request.readWithRetry { pipeline, viewer in
            pipeline.append(
                ChangePage.select,
                ChangePage.parameters(viewer.userID, after: cursor, first: first))
        }
        return ChangePage(rows, after: cursor, first: first)
    }

    private final class Source: EventSource {
        private let request: RequestContext
        private let watch: Hub.Watch
        private var cursor: ChangeCursor
        private var page: ArraySlice<Change> = []

        init(_ request: RequestContext, _ watch: Hub.Watch, from cursor: ChangeCursor) {
            self.request = request
            self.watch = watch
            self.cursor = cursor
        }

        func next() async throws(BookplateError) -> (any ObjectBatch)? {
            while !Task.isCancelled {
                if let change = page.popFirst() { return Event(change) }
                let next = try await read(request, after: cursor, first: pageMax)
                if next.resetRequired { throw .resetRequired(cursor: next.cursor.text) }
                cursor = next.cursor
                page = next.changes[...]
                if page.isEmpty { await watch.signal.wait() }
            }
            return nil
        }
    }
}
