import FoundationEssentials
import GraphQL
import GraphQLServing
import Hummingbird
import ServiceLifecycle
import Synchronization

/// One worker for each core. A service is not thread-safe, so each worker has its own.
final class WorkerPool: Sendable {
    private let workers: [Worker]
    private let count = Atomic(0)

    init(_ makeService: @Sendable () -> any GraphQLService) {
        workers = (0..<max(1, ProcessInfo.processInfo.activeProcessorCount)).map { _ in
            Worker(makeService)
        }
    }

    /// Returns one worker after the other.
    func next() -> Worker {
        let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
        return workers[Int(UInt(bitPattern: number) % UInt(workers.count))]
    }
}

/// Runs the requests of a service, one step at a time. While a request waits, others run.
actor Worker {
    /// A stream of responses, which only the worker can read. The worker closes it when this object is released, also if the
    /// client has disconnected before the body of the response was requested.
    final class OpenStream: Sendable {
        fileprivate let number: Int
        private let worker: Worker

        fileprivate init(_ number: Int, of worker: Worker) {
            self.number = number
            self.worker = worker
        }

        deinit { Task { [worker, number] in await worker.close(number) } }
    }

    enum Result: Sendable {
        case response(GraphQLResponse)
        case stream(OpenStream)
    }

    private let service: any GraphQLService
    private var streams: [Int: ResponseStream] = [:]
    private var streamCount = 0

    init(_ makeService: @Sendable () -> any GraphQLService) { service = makeService() }

    func execute(_ request: GraphQLRequest) async -> Result {
        switch await service.execute(request) {
        case .response(let response): return .response(response)
        // The request accepts no response in several parts.
        case .responses(let stream), .incremental(_, let stream):
            streamCount += 1
            streams[streamCount] = stream
            return .stream(OpenStream(streamCount, of: self))
        }
    }

    /// Sends the responses of a subscription as events, until it ends, the client disconnects, or the server stops.
    nonisolated func send(
        _ stream: OpenStream, to writer: inout any ResponseBodyWriter,
        untilCloseOf body: RequestBody
    ) async throws {
        // The client gets the head at once.
        try await writer.write(ByteBuffer(string: ":\n\n"))
        try await body.consumeWithCancellationOnInboundClose { _ in
            while let response = await next(of: stream) {
                try await writer.write(.event(response))
            }
            try await writer.write(.complete)
        }
    }

    /// Waits for the next response. Returns nil at the end of the stream, or when the server stops.
    private nonisolated func next(of stream: OpenStream) async -> [UInt8]? {
        await cancelWhenGracefulShutdown { await self.response(of: stream.number) }
    }

    private func response(of number: Int) async -> [UInt8]? {
        guard let stream = streams[number] else { return nil }
        do throws(RequestErrors) {
            return try await stream.next()?.body
        } catch {
            // The last event.
            streams[number] = nil
            return error.body
        }
    }

    private func close(_ number: Int) { streams[number] = nil }
}

/// Spec: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md#distinct-connections-mode
extension ByteBuffer {
    /// The event of a response. The JSON contains no line breaks.
    static func event(_ response: [UInt8]) -> ByteBuffer {
        var event = ByteBuffer(string: "event: next\ndata: ")
        event.writeBytes(response)
        event.writeString("\n\n")
        return event
    }

    /// The event after the last response.
    static var complete: ByteBuffer { ByteBuffer(string: "event: complete\ndata:\n\n") }
}
