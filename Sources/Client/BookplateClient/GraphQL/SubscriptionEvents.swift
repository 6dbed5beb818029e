import Foundation

/// Runs subscriptions as event streams (`text/event-stream`, the protocol graphql-sse in distinct connections mode).
struct SubscriptionEvents: Sendable {
    let client: GraphQLClient
    let authenticator: Authenticator
    let userID: String

    /// Returns the events of one connection. It ends when the server completes the subscription, and throws if the connection fails.
    func stream<Event: Decodable & Sendable>(
        _ document: String, _ variables: JSON, as: Event.Type = Event.self
    ) -> AsyncThrowingStream<Event, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Event.self)
        let task = Task {
            do {
                let token = try await authenticator.accessToken(of: userID)
                let request = try client.request(
                    document, variables, token: token, accept: "text/event-stream")
                var parser = EventStreamParser()
                var isComplete = false
                for try await data in client.transport.stream(request) {
                    for event in parser.read(data) {
                        if event.name == "complete" { isComplete = true }
                        guard event.name == "next" else { continue }
                        continuation.yield(
                            try GraphQLClient.data(
                                of: HTTPResponse(status: 200, body: Data(event.data.utf8))))
                    }
                }
                continuation.finish(
                    throwing: isComplete ? nil : BookplateError.unreachable("the connection ended"))
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

/// Reads the events of a `text/event-stream` (WHATWG HTML, section 9.2.6) from parts that may end anywhere.
struct EventStreamParser {
    struct Event: Equatable {
        var name = "message"
        var data = ""
    }

    private var line: [UInt8] = []
    private var event = Event()
    private var endsWithCarriageReturn = false

    /// Returns the events that are complete after another part. Comments, such as heartbeats, are skipped.
    mutating func read(_ data: Data) -> [Event] {
        var events: [Event] = []
        for byte in data {
            let isSecondOfPair = endsWithCarriageReturn && byte == UInt8(ascii: "\n")
            endsWithCarriageReturn = byte == UInt8(ascii: "\r")
            if isSecondOfPair { continue }
            guard byte == UInt8(ascii: "\n") || endsWithCarriageReturn else {
                line.append(byte)
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        guard !text.isEmpty else {
            defer { event = Event() }
            return event == Event() ? nil : event
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : ""
        if value.first == " " { value.removeFirst() }
        switch parts[0] {
        case "event": event.name = String(value)
        case "data": event.data += event.data.isEmpty ? String(value) : "\n" + value
        default: break
        }
        return nil
    }
}
