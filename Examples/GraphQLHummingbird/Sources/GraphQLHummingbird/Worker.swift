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
    /// Identifies a stream of responses, which only the worker can read.
    struct StreamID: Hashable, Sendable {
        fileprivate let number: Int
    }

    enum Result: Sendable {
        case response(GraphQLResponse)
        case stream(StreamID)
    }

    private let service: any GraphQLService
    private var streams: [StreamID: ResponseStream] = [:]
    private var streamCount = 0

    init(_ makeService: @Sendable () -> any GraphQLService) { service = makeService() }

    func execute(_ request: GraphQLRequest) async -> Result {
        switch await service.execute(request) {
        case .response(let response): return .response(response)
        // The request accepts no response in several parts.
        case .responses(let stream), .incremental(_, let stream):
            streamCount += 1
            let id = StreamID(number: streamCount)
            streams[id] = stream
            return .stream(id)
        }
    }

    /// Sends the responses of a subscription as events, until it ends, the client disconnects, or the server stops.
    nonisolated func send(
        _ stream: StreamID, to writer: inout any ResponseBodyWriter, untilCloseOf body: RequestBody
    ) async throws {
        do {
            // The client gets the head at once.
            try await writer.write(ByteBuffer(string: ":\n\n"))
            try await body.consumeWithCancellationOnInboundClose { _ in
                while let response = await next(of: stream) {
                    try await writer.write(.event(response))
                }
                try await writer.write(.complete)
            }
        } catch {
            await close(stream)
            throw error
        }
        await close(stream)
    }

    /// Waits for the next response. Returns nil at the end of the stream, or when the server stops.
    private nonisolated func next(of stream: StreamID) async -> [UInt8]? {
        await cancelWhenGracefulShutdown { await self.response(of: stream) }
    }

    private func response(of id: StreamID) async -> [UInt8]? {
        guard let stream = streams[id] else { return nil }
        do throws(RequestErrors) {
            return try await stream.next()?.body
        } catch {
            // The last event.
            streams[id] = nil
            return error.body
        }
    }

    private func close(_ stream: StreamID) { streams[stream] = nil }
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
