import GraphQL

/// A message of the client, as `graphql-transport-ws` has them.
///
/// Spec: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
enum ClientMessage: Equatable {
    case connectionInit(payload: Value?)
    case ping(payload: Value?)
    case pong
    case subscribe(id: String, Operation)
    case complete(id: String)

    /// What a `subscribe` asks for.
    struct Operation: Equatable {
        var query: String?
        var documentID: String?
        var operationName: String?
        var variables: Value?
        var extensions: Value?
    }

    /// Reads a text message; members that have no meaning are left alone.
    ///
    /// - Throws: 4400 with what is wrong, or 1007 for bytes that are no text.
    init(_ text: [UInt8]) throws(Closing) {
        let message: Value
        do throws(JSONError) {
            message = try parseJSON(text, limits: JSONLimits(bytesMax: text.count))
        } catch .notUTF8 {
            throw Closing(.notUTF8, "The message is not UTF-8.")
        } catch {
            throw .invalid(error.message)
        }
        guard case .object = message else { throw .invalid("The message is no JSON object.") }
        switch message["type"] {
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
            self = .subscribe(id: try message.id(), try Operation(payload))
        case .string("complete"):
            self = .complete(id: try message.id())
        case .string(let type):
            throw .invalid("Clients do not send messages of type '\(type.prefix(40))'.")
        default:
            throw .invalid("The message's type is missing or no string.")
        }
    }
}

extension ClientMessage.Operation {
    fileprivate init(_ payload: Value) throws(Closing) {
        query = try payload.string("query")
        documentID = try payload.string("documentId")
        operationName = try payload.string("operationName")
        if operationName == "" { operationName = nil }
        variables = try payload.object("variables")
        extensions = try payload.object("extensions")
        guard query != nil || documentID != nil || extensions?["persistedQuery"] != nil else {
            throw .invalid("The payload's query is missing.")
        }
    }
}

extension Closing {
    fileprivate static func invalid(_ reason: String) -> Closing { Closing(.badRequest, reason) }
}

extension Value {
    /// nil where it is null or absent.
    fileprivate func payload() throws(Closing) -> Value? { try object("payload") }

    fileprivate func id() throws(Closing) -> String {
        guard let id = self["id"]?.string, !id.isEmpty else {
            throw .invalid("The message's id must be a string that is not empty.")
        }
        return id
    }

    fileprivate func string(_ name: String) throws(Closing) -> String? {
        switch self[name] {
        case .string(let text): return text
        case nil, .null: return nil
        default: throw .invalid("The payload's \(name) must be a string.")
        }
    }

    fileprivate func object(_ name: String) throws(Closing) -> Value? {
        switch self[name] {
        case .object(let members): return .object(members)
        case nil, .null: return nil
        default: throw .invalid("The \(name) must be an object.")
        }
    }

    /// The token of a `connection_init` or `ping`: its member `Authorization`, in any case, or the same in
    /// its member `headers`; `Bearer` before it may be left out.
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
