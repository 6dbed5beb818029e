import NIOCore
import NIOHTTP1

/// A request that has arrived whole.
package struct HTTPRequest: Sendable {
    package var method: HTTPMethod
    /// As it was sent, nothing decoded.
    package var path: Substring
    /// What stands after `?`, nothing decoded; nil where there is no `?`.
    package var query: Substring?
    package var headers: RequestHeaders
    package var body: ByteBuffer
    /// The client's `x-request-id` where it is well-formed, or one of ours.
    package var id: String
}

/// The headers that this server reads, found in one pass.
package struct RequestHeaders: Sendable, Equatable {
    /// Several of them are joined, as HTTP has it.
    package var accept: String?
    package var authorization: String?
    package var contentType: String?
    package var contentLength: String?
    package var expect: String?
    /// The name that the client knows this server by, with the port where it is not the usual one.
    package var host: String?
    package var ifNoneMatch: String?
    var ifRange: String?
    var range: String?
    /// A header that no browser sends to another origin without asking first.
    var hasPreflight = false
    package var origin: String?
    package var requestID: String?
    package var traceParent: String?
    package var hostCount = 0
    package var hasUpgrade = false
    /// A header that must stand alone was there twice.
    package var isAmbiguous = false

    package init() {}

    init(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            // The length tells most names apart before their bytes are compared.
            switch name.utf8.count {
            case 4 where name.isHeader("host"):
                host = value
                hostCount += 1
            case 5 where name.isHeader("range"): range = value
            case 8 where name.isHeader("if-range"): ifRange = value
            case 17 where name.isHeader("graphql-preflight"): hasPreflight = true
            case 24 where name.isHeader("apollo-require-preflight"): hasPreflight = true
            case 6 where name.isHeader("accept"):
                accept = accept.map { "\($0), \(value)" } ?? value
            case 6 where name.isHeader("expect"): keep(value, as: \.expect)
            case 6 where name.isHeader("origin"): keep(value, as: \.origin)
            case 7 where name.isHeader("upgrade"): hasUpgrade = true
            case 11 where name.isHeader("traceparent"):
                // Two of them are as none: a trace is no reason to refuse a request.
                traceParent = traceParent == nil ? value : ""
            case 12 where name.isHeader("content-type"): keep(value, as: \.contentType)
            case 12 where name.isHeader("x-request-id"): keep(value, as: \.requestID)
            case 13 where name.isHeader("authorization"): keep(value, as: \.authorization)
            case 13 where name.isHeader("if-none-match"): ifNoneMatch = value
            case 14 where name.isHeader("content-length"): contentLength = value
            default: break
            }
        }
    }

    private mutating func keep(_ value: String, as field: WritableKeyPath<Self, String?>) {
        if self[keyPath: field] != nil { isAmbiguous = true }
        self[keyPath: field] = value
    }

    /// The token of `Authorization: Bearer TOKEN`; nil for any other scheme.
    package var bearerToken: String? {
        guard let authorization, authorization.utf8.count > 7,
            authorization.utf8.prefix(7).elementsEqual("bearer ".utf8, by: { $0 | 0x20 == $1 })
        else { return nil }
        let token = authorization.utf8.dropFirst(7).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : String(token)
    }
}

extension String {
    /// Whether this is a header's name, given in lower case and of the same length.
    fileprivate func isHeader(_ name: StaticString) -> Bool {
        name.withUTF8Buffer { expected in
            // Of the bytes of names, only capital letters differ from lower case in this bit; '-' and digits have it set.
            utf8.elementsEqual(expected) { $0 | 0x20 == $1 }
        }
    }
}
