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
    /// `multipart/mixed` for the parts of one response with `@defer` or `@stream`. The parameter of the content type is that
    /// of the request, such as `deferSpec=20220824`.
    ///
    /// Spec: https://github.com/graphql/graphql-over-http/blob/main/rfcs/IncrementalDelivery.md
    case incrementalMultipart(IncrementalFormat, parameter: String?)

    var contentType: String {
        switch self {
        case .eventStream: "text/event-stream; charset=utf-8"
        case .multipart: #"multipart/mixed;boundary="graphql";subscriptionSpec="1.0""#
        case .incrementalMultipart(_, let parameter):
            #"multipart/mixed;boundary="-""# + (parameter.map { ";\($0)" } ?? "")
        }
    }

    /// Whether the format is for the events of a subscription.
    var isForEvents: Bool {
        if case .incrementalMultipart = self { false } else { true }
    }

    /// The format of the JSON of a response with `@defer` or `@stream`; nil if only subscriptions have this format.
    var incrementalFormat: IncrementalFormat? {
        switch self {
        case .eventStream: .draft
        case .multipart: nil
        case .incrementalMultipart(let format, _): format
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
        case .incrementalMultipart: ByteBuffer(string: "\r\n---")
        }
    }

    /// Empty if the format has nothing that clients ignore.
    var heartbeat: ByteBuffer {
        switch self {
        case .eventStream: ByteBuffer(string: ":\n\n")
        case .multipart: part("{}".utf8)
        case .incrementalMultipart: ByteBuffer()
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
        case .incrementalMultipart:
            return part(response)
        }
    }

    /// Returns the bytes of an error that ends the stream.
    func failed(_ errors: [GraphQLError]) -> ByteBuffer {
        var writer = ResponseWriter()
        let isMultipart = self == .multipart
        writer.append(isMultipart ? #"{"payload":null,"errors":"# : #"{"errors":"#)
        writer.write(errors)
        // A client of `@defer` waits for more unless it learns that there is none.
        writer.append(isForEvents ? "}" : #","hasNext":false}"#)
        return isMultipart ? part(writer.bytes) : next(writer.bytes)
    }

    /// The bytes after the last response of a stream that ends normally.
    var complete: ByteBuffer {
        switch self {
        case .eventStream: ByteBuffer(string: "event: complete\ndata:\n\n")
        case .multipart, .incrementalMultipart: ByteBuffer(string: "--\r\n")
        }
    }

    private func part(_ json: some Collection<UInt8>) -> ByteBuffer {
        var part = ByteBuffer()
        part.reserveCapacity(json.count + 64)
        part.writeStaticString("\r\ncontent-type: application/json")
        part.writeStaticString(isForEvents ? "\r\n\r\n" : "; charset=utf-8\r\n\r\n")
        part.writeBytes(json)
        part.writeStaticString(isForEvents ? "\r\n--graphql" : "\r\n---")
        return part
    }
}
