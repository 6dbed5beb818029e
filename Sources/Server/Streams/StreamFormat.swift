import GraphQL
import NIOCore

/// The format in which a sequence of GraphQL responses is written into one HTTP response body.
enum StreamFormat: Sendable, Equatable {
    /// `text/event-stream`, as specified by the distinct connections mode of `graphql-sse`.
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

    /// The start of the body. It is sent with the head, so that the client sees at once that its request was accepted.
    var preamble: ByteBuffer {
        switch self {
        case .eventStream: ByteBuffer(string: ":\n\n")
        // Each part is followed by its closing boundary at once, because some clients wait for it.
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

    /// Returns the bytes of one response.
    func next(_ response: some Collection<UInt8>) -> ByteBuffer {
        switch self {
        case .eventStream:
            // The JSON that this server writes contains no line breaks. A line break would end the field.
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

    /// Returns the bytes of an error that ends the stream.
    func failed(_ errors: [GraphQLError]) -> ByteBuffer {
        var writer = ResponseWriter()
        if self == .multipart { writer.append(#"{"payload":null,"errors":"#) }
        if self == .eventStream { writer.append(#"{"errors":"#) }
        writer.write(errors)
        writer.append(UInt8(ascii: "}"))
        return self == .multipart ? part(writer.bytes) : next(writer.bytes)
    }

    /// The bytes after the last response of a stream that ends normally.
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
