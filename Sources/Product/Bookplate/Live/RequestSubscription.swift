import Basics
import GraphQL
import Postgres
import Requests

/// A subscription field that runs in a `RequestContext` and throws `BookplateError`.
protocol RequestSubscription: RequestLoad, PreparedSubscription {
    /// Returns the source of the events. It has already begun to watch for them.
    func source(
        _ arguments: ArgumentValues, in request: RequestContext
    ) async throws(BookplateError) -> any EventSource
}

/// The events of one subscription. They are read from the tables on demand.
protocol EventSource: AnyObject {
    /// Waits for the next event. Returns nil at the end of the subscription and when the task is cancelled.
    func next() async throws(BookplateError) -> (any ObjectBatch)?
}

/// An event as the root object of an execution.
final class Event<Value>: ObjectBatch {
    let value: Value

    init(_ value: Value) { self.value = value }

    let count = 1

    /// The only field, the subscription's, is loaded. It has no leaf to write.
    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult { .null }
}

extension RequestContext {
    private static let readAttemptsMax = 6

    /// Reads for a subscription in a request of its own.
    ///
    /// If the database is unavailable or overloaded, the read is tried again, with pauses of 6.2 seconds in all, so
    /// that the subscription does not end.
    ///
    /// - Parameter fill: Appends the statement and returns its key.
    func readWithRetry<Row>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> ResultKey<Row>
    ) async throws(BookplateError) -> [Row] {
        var attempts = 1
        while true {
            do throws(BookplateError) {
                return try await makeEventContext().read(fill)
            } catch {
                guard case .serviceUnavailable = error, attempts < Self.readAttemptsMax,
                    !Task.isCancelled
                else { throw error }
                // 0.2 s, doubled after each attempt.
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
        return try await mappingError(request.fieldError) { () async throws(BookplateError) in
            RequestSource(try await source(arguments, in: request), request)
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
        try await mappingError(request.fieldError) { () async throws(BookplateError) in
            try await source.next()
        }
    }
}
