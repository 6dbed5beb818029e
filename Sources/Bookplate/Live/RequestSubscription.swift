import GraphQL
import Postgres

/// A subscription of this product: the context is its own, and its errors are the catalogue's.
protocol RequestSubscription: RequestLoad, PreparedSubscription {
    /// Begins to watch for events.
    func source(
        _ arguments: ArgumentValues, in request: RequestContext
    ) async throws(BookplateError) -> any EventSource
}

/// The events of one subscription, read from the tables when they are asked for.
protocol EventSource: AnyObject {
    /// Waits for the next event; nil at the end, or when the task is cancelled.
    func next() async throws(BookplateError) -> (any ObjectBatch)?
}

/// One event, in place of the root.
final class Event<Value>: ObjectBatch {
    let value: Value

    init(_ value: Value) { self.value = value }

    let count = 1

    /// The subscription's field is loaded; nothing is written of the event itself.
    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult { .null }
}

extension RequestContext {
    private static let attemptsMax = 6

    /// Reads for a subscription, in a request of its own: a database that is away or too busy for some
    /// seconds ends no subscription.
    func readPatiently(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Void
    ) async throws(BookplateError) -> [Rows] {
        var attempts = 1
        while true {
            do throws(BookplateError) {
                return try await another().read(fill)
            } catch {
                guard error == .internalError, attempts < Self.attemptsMax, !Task.isCancelled else {
                    throw error
                }
                // 0.2 s, and twice as long each time.
                try? await Task.sleep(for: .milliseconds(100 << attempts))
                attempts += 1
            }
        }
    }
}

extension RequestSubscription {
    func open(
        arguments: ArgumentValues, in context: any ExecutionContext
    ) async throws(FieldError) -> any SourceStream {
        guard let request = context as? RequestContext else {
            // The server executes its schema with no other context.
            preconditionFailure("Bookplate's schema is executed in a RequestContext")
        }
        do throws(BookplateError) {
            return RequestSource(try await source(arguments, in: request), request)
        } catch {
            throw request.fieldError(error)
        }
    }
}

private final class RequestSource: SourceStream {
    private let source: any EventSource
    private let request: RequestContext

    init(_ source: any EventSource, _ request: RequestContext) {
        self.source = source
        self.request = request
    }

    func next() async throws(FieldError) -> (any ObjectBatch)? {
        do throws(BookplateError) {
            return try await source.next()
        } catch {
            throw request.fieldError(error)
        }
    }
}
