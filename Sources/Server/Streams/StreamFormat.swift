import GraphQL
import NIOCore

/// How a sequence of responses is written into the body of one HTTP answer.
enum StreamFormat: Sendable, Equatable {
    /// `text/event-stream`, as `graphql-sse` has it in its distinct connections mode.
    ///
    /// Spec: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
    case eventStream
    /// `multipart/mixed;subscriptionSpec="1.0"`.
    ///
    /// Spec: https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
    case multipart

    var contentType: String {
        switch self {
        case .eventStream: "text/event-stream; charset=utf-8"
        case .multipart: #"multipart/mixed;boundary="graphql";subscriptionSpec="1.0""#
        }
    }

    /// What goes out with the head, so that the client knows at once that it is heard.
    var opening: ByteBuffer {
        switch self {
        case .eventStream: ByteBuffer(string: ":\n\n")
        // A boundary ends each part as soon as it is there: some clients wait for it.
        case .multipart:
            ByteBuffer(
                string: "\r\n--graphql\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql")
        }
    }

    var heartbeat: ByteBuffer {
        switch self {
        case .eventStream: ByteBuffer(string: ":\n\n")
        case .multipart: part("{}".utf8)
        }
    }

    /// One response.
    func next(_ response: some Collection<UInt8>) -> ByteBuffer {
        switch self {
        case .eventStream:
            // Our JSON has no line breaks, which would end the field.
            var event = ByteBuffer()
            event.reserveCapacity(response.count + 20)
            event.writeStaticString("event: next\ndata: ")
            event.writeBytes(response)
            event.writeStaticString("\n\n")
            return event
        case .multipart:
            return part(Array(#"{"payload":"#.utf8) + Array(response) + [UInt8(ascii: "}")])
        }
    }

    /// The stream cannot go on.
    func failed(_ errors: [GraphQLError]) -> ByteBuffer {
        var writer = ResponseWriter()
        if self == .multipart { writer.append(#"{"payload":null,"errors":"#) }
        if self == .eventStream { writer.append(#"{"errors":"#) }
        writer.write(errors)
        writer.append(UInt8(ascii: "}"))
        return self == .multipart ? part(writer.bytes) : next(writer.bytes)
    }

    /// The natural end.
    var complete: ByteBuffer {
        switch self {
        case .eventStream: ByteBuffer(string: "event: complete\ndata:\n\n")
        case .multipart: ByteBuffer(string: "--\r\n")
        }
    }

    private func part(_ json: some Collection<UInt8>) -> ByteBuffer {
        var part = ByteBuffer()
        part.reserveCapacity(json.count + 64)
        part.writeStaticString("\r\ncontent-type: application/json\r\n\r\n")
        part.writeBytes(json)
        part.writeStaticString("\r\n--graphql")
        return part
    }
}
