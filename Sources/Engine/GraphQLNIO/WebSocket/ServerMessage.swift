import GraphQL
import NIOCore

/// The messages of the server in the `graphql-transport-ws` protocol.
enum ServerMessage {
    static func acknowledgement() -> ByteBuffer {
        ByteBuffer(string: #"{"type":"connection_ack"}"#)
    }

    static func pong(payload: Value?) -> ByteBuffer {
        guard let payload else { return ByteBuffer(string: #"{"type":"pong"}"#) }
        var writer = ResponseWriter()
        writer.append(#"{"type":"pong","payload":"#)
        writer.write(payload)
        writer.append(UInt8(ascii: "}"))
        return writer.withBytes { ByteBuffer(bytes: $0) }
    }

    /// - Parameter response: A complete GraphQL response as JSON.
    static func next(_ id: String, _ response: some Collection<UInt8>) -> ByteBuffer {
        var message = ByteBuffer()
        message.reserveCapacity(response.count + id.utf8.count + 40)
        message.writeStaticString(#"{"id":"#)
        message.writeJSONString(id)
        message.writeStaticString(#","type":"next","payload":"#)
        message.writeBytes(response)
        message.writeStaticString("}")
        return message
    }

    static func error(_ id: String, _ errors: [GraphQLError]) -> ByteBuffer {
        var writer = ResponseWriter()
        writer.append(#"{"id":"#)
        writer.write(id)
        writer.append(#","type":"error","payload":"#)
        writer.write(errors)
        writer.append(UInt8(ascii: "}"))
        return writer.withBytes { ByteBuffer(bytes: $0) }
    }

    /// - Parameter errors: A list of errors as JSON.
    static func error(_ id: String, _ errors: Value) -> ByteBuffer {
        var writer = ResponseWriter()
        writer.append(#"{"id":"#)
        writer.write(id)
        writer.append(#","type":"error","payload":"#)
        writer.write(errors)
        writer.append(UInt8(ascii: "}"))
        return writer.withBytes { ByteBuffer(bytes: $0) }
    }

    static func complete(_ id: String) -> ByteBuffer {
        var message = ByteBuffer()
        message.writeStaticString(#"{"id":"#)
        message.writeJSONString(id)
        message.writeStaticString(#","type":"complete"}"#)
        return message
    }
}
