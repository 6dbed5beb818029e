import GraphQL
import GraphQLNIO

/// A message of JSON-RPC that a client of the Model Context Protocol has sent.
///
/// Spec: https://www.jsonrpc.org/specification and https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
enum MCPMessage {
    case request(MCPRequest)
    /// A message without an id. It gets no response.
    case notification

    /// The maximum size of an id and of a method name.
    static let nameBytesMax = 256

    /// - Throws: `MCPError` for everything that is not one request or notification.
    init(_ bytes: [UInt8]) throws(MCPError) {
        let json: Value
        do throws(JSONError) {
            json = try RequestJSON.parse(bytes)
        } catch {
            throw MCPError(.parseError, "The body cannot be parsed: \(error.message)")
        }
        if case .list = json {
            throw MCPError(
                .invalidRequest, "Batches are not supported. Send one message per request.")
        }
        guard case .object = json else {
            throw MCPError(.invalidRequest, "The body must be a JSON object.")
        }
        let id = try Self.id(json["id"])
        guard json["jsonrpc"]?.string == "2.0" else {
            throw MCPError(.invalidRequest, "The member 'jsonrpc' must be \"2.0\".", id: id)
        }
        guard let method = json["method"] else {
            let isResponse = json["result"] != nil || json["error"] != nil
            throw MCPError(
                .invalidRequest,
                isResponse
                    ? "This server sends no requests, so it accepts no responses."
                    : "The member 'method' is missing.", id: id)
        }
        guard let method = method.string, method.utf8.count <= Self.nameBytesMax else {
            throw MCPError(
                .invalidRequest,
                "The member 'method' must be a string of at most \(Self.nameBytesMax) bytes.",
                id: id)
        }
        switch json["params"] {
        case nil, .object?: break
        default: throw MCPError(.invalidParams, "'params' must be an object.", id: id)
        }
        guard let id else {
            self = .notification
            return
        }
        self = .request(MCPRequest(id: id, method: method, params: json["params"] ?? .object([])))
    }

    /// Returns the id of a message; nil for a notification.
    ///
    /// Ids are returned to the client, so their size is limited. The Model Context Protocol does not allow null.
    private static func id(_ value: Value?) throws(MCPError) -> Value? {
        switch value {
        case nil: return nil
        case .int?: return value
        case .string(let text)? where text.utf8.count <= nameBytesMax: return value
        default:
            throw MCPError(
                .invalidRequest,
                "The member 'id' must be an integer of 64 bits, or a string of at most \(nameBytesMax) bytes."
            )
        }
    }
}

/// A request of JSON-RPC.
struct MCPRequest {
    /// An integer or a string.
    let id: Value
    let method: String
    /// An object.
    let params: Value

    /// Returns a member of `params`; nil if it is absent.
    ///
    /// - Throws: `MCPError` if it is not a string.
    func optionalText(_ name: String) throws(MCPError) -> String? {
        guard let value = params[name] else { return nil }
        guard let text = value.string else {
            throw MCPError(.invalidParams, "'params.\(name)' must be a string.", id: id)
        }
        return text
    }

    func text(_ name: String) throws(MCPError) -> String {
        guard let text = try optionalText(name) else {
            throw MCPError(.invalidParams, "'params.\(name)' is missing.", id: id)
        }
        return text
    }

    /// Returns a member of `params`, or an empty object if it is absent.
    ///
    /// - Throws: `MCPError` if it is not an object.
    func object(_ name: String) throws(MCPError) -> Value {
        switch params[name] {
        case nil: return .object([])
        case .object(let members)?: return .object(members)
        default: throw MCPError(.invalidParams, "'params.\(name)' must be an object.", id: id)
        }
    }
}
