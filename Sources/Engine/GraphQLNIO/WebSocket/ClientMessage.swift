import GraphQL
import GraphQLServing

/// A message from a client in the `graphql-transport-ws` protocol.
///
/// Spec: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
enum ClientMessage: Equatable {
    case connectionInit(payload: Value?)
    case ping(payload: Value?)
    case pong
    case subscribe(id: String, Operation)
    case complete(id: String)

    /// The operation of a `subscribe` message.
    struct Operation: Equatable {
        var query: String?
        var documentID: String?
        var operationName: String?
        var variables: Value?
        var extensions: Value?
        var onError: Value?
        /// The size of the message, in bytes.
        var byteCount = 0
    }

    /// Parses a text message. Unknown members are ignored. Only `subscribe` messages, which are charged by their size, may be large.
    ///
    /// - Throws: Close code 4400 with the reason for an invalid message, or 1007 for invalid UTF-8.
    init(_ text: [UInt8]) throws(CloseFrame) {
        let message: Value
        do throws(JSONError) {
            message = try RequestJSON.parse(text)
        } catch .notUTF8 {
            throw CloseFrame(.notUTF8, "The message is not UTF-8.")
        } catch {
            throw .invalid(error.message)
        }
        guard case .object = message else { throw .invalid("The message must be a JSON object.") }
        let type = message["type"]
        guard text.count <= RequestJSON.shortBytesMax || type == .string("subscribe") else {
            throw .invalid(
                "Only subscribe messages may have more than \(RequestJSON.shortBytesMax) bytes.")
        }
        switch type {
        case .string("connection_init"):
            self = .connectionInit(payload: try message.payload())
        case .string("ping"):
            self = .ping(payload: try message.payload())
        case .string("pong"):
            _ = try message.payload()
            self = .pong
        case .string("subscribe"):
            guard let payload = try message.payload() else {
                throw .invalid("A subscribe message needs a payload.")
            }
            self = .subscribe(id: try message.id(), try Operation(payload, byteCount: text.count))
        case .string("complete"):
            self = .complete(id: try message.id())
        case .string(let type):
            throw .invalid("Clients do not send messages of type '\(type.prefix(40))'.")
        default:
            throw .invalid("The message's type must be a string.")
        }
    }
}

extension ClientMessage.Operation {
    fileprivate init(_ payload: Value, byteCount: Int) throws(CloseFrame) {
        self.byteCount = byteCount
        query = try payload.string("query")
        documentID = try payload.string("documentId")
        operationName = try payload.string("operationName")
        if operationName == "" { operationName = nil }
        variables = try payload.object("variables")
        extensions = try payload.object("extensions")
        onError = payload["onError"]
        guard query != nil || documentID != nil || extensions?["persistedQuery"] != nil else {
            throw .invalid("The payload's query is missing.")
        }
    }
}

extension CloseFrame {
    fileprivate static func invalid(_ reason: String) -> CloseFrame {
        CloseFrame(.badRequest, reason)
    }
}

extension Value {
    /// Returns the member `payload`; nil if it is null or absent.
    fileprivate func payload() throws(CloseFrame) -> Value? { try object("payload") }

    fileprivate func id() throws(CloseFrame) -> String {
        guard let id = self["id"]?.string, !id.isEmpty else {
            throw .invalid("The message's id must be a non-empty string.")
        }
        return id
    }

    fileprivate func string(_ name: String) throws(CloseFrame) -> String? {
        switch self[name] {
        case .string(let text): return text
        case nil, .null: return nil
        default: throw .invalid("The payload's \(name) must be a string.")
        }
    }

    fileprivate func object(_ name: String) throws(CloseFrame) -> Value? {
        switch self[name] {
        case .object(let members): return .object(members)
        case nil, .null: return nil
        default: throw .invalid("The \(name) must be an object.")
        }
    }

    /// The app in the payload of a `connection_init`: the members that are named like the HTTP headers, of the payload or of
    /// its member `headers`; nil if there are none.
    var clientApp: ClientApp? {
        guard case .object(let members) = self else { return nil }
        func text(_ name: String) -> String? {
            members.first {
                ["graphql-\(name)", "apollographql-\(name)"].contains($0.name.lowercased())
            }?
            .value.string
        }
        let (name, version) = (text("client-name"), text("client-version"))
        if name != nil || version != nil { return ClientApp(name: name, version: version) }
        if case .object? = self["headers"] { return self["headers"]?.clientApp }
        return nil
    }

    /// The access token in the payload of a `connection_init` or `ping`: the member `Authorization`, in any case, of
    /// the payload or of its member `headers`. The prefix `Bearer` is optional.
    var bearerToken: String? {
        guard case .object(let members) = self else { return nil }
        if let text = members.first(where: { $0.name.lowercased() == "authorization" })?.value
            .string
        {
            let token = text.lowercased().hasPrefix("bearer ") ? text.dropFirst(7) : text[...]
            return String(token.drop { $0 == " " })
        }
        if case .object? = self["headers"] { return self["headers"]?.bearerToken }
        return nil
    }
}
