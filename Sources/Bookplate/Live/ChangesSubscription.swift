import GraphQL
import Postgres

/// `Subscription.changes`: what was missed since a cursor, and then each change as it happens.
///
/// The log is read, never the notification: a slow reader stands further back in the log, and nothing
/// is kept for it but a page.
struct ChangesSubscription: FieldLoader {
    /// How many changes one subscription holds at most.
    private static let pageMax = 100

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestSubscription {
        let selection: PlannedSelection

        func source(
            _ arguments: ArgumentValues, in request: RequestContext
        ) async throws(BookplateError) -> any EventSource {
            let watch = request.services.hub.watchLibrary(of: try request.caller().userID)
            guard let text = arguments["after"]?.string else {
                // Nothing was missed: it begins where the log ends.
                let end = try await read(request, after: ChangeCursor(seq: .max), first: 1).cursor
                return Source(request, watch, from: end)
            }
            let cursor = try ChangeCursor(text)
            let page = try await read(request, after: cursor, first: 1)
            // A client that missed more than the log has is told so before anything else.
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
        let rows = try await request.readPatiently { segment, viewer in
            segment.append(
                Change.select, Change.parameters(viewer.userID, after: cursor, first: first))
        }
        return ChangePage(rows[0], after: cursor, first: first)
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
