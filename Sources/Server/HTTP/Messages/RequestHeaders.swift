import NIOHTTP1

/// The headers that this server reads; the others never become strings.
package struct RequestHeaders: Sendable, Equatable {
    /// Several of them are joined, as HTTP has it.
    package var accept: String?
    package var authorization: String?
    package var contentType: String?
    /// `Int.max` for more than a number holds.
    package var contentLength: Int?
    package var expect: String?
    /// The name that the client knows this server by, with the port where it is not the usual one.
    package var host: String?
    /// Several of them are joined.
    package var forwardedFor: String?
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
    /// Whether the body has a content coding other than `identity`.
    var hasContentCoding = false
    /// Whether the client wants no further answer on this connection.
    var wantsClose = false
    /// A header that must stand alone was there twice.
    package var isAmbiguous = false
    private var isChunked = false

    package init() {}

    /// Adds one header, whose name is a token.
    mutating func add(name: Span<UInt8>, value: Span<UInt8>) throws(HTTPProblem) {
        // The length tells most names apart before their bytes are compared.
        switch name.count {
        case 4 where name.isToken("host"):
            host = value.text
            hostCount += 1
        case 5 where name.isToken("range"): range = value.text
        case 8 where name.isToken("if-range"): ifRange = value.text
        case 17 where name.isToken("graphql-preflight"): hasPreflight = true
        case 24 where name.isToken("apollo-require-preflight"): hasPreflight = true
        case 6 where name.isToken("accept"): accept = Self.list(accept, value)
        case 6 where name.isToken("expect"): keep(value, as: \.expect)
        case 6 where name.isToken("origin"): keep(value, as: \.origin)
        case 7 where name.isToken("upgrade"): hasUpgrade = true
        case 10 where name.isToken("connection"): addConnection(value)
        case 11 where name.isToken("traceparent"):
            // Two of them are as none: a trace is no reason to refuse a request.
            traceParent = traceParent == nil ? value.text : ""
        case 12 where name.isToken("content-type"): keep(value, as: \.contentType)
        case 12 where name.isToken("x-request-id"): keep(value, as: \.requestID)
        case 13 where name.isToken("authorization"): keep(value, as: \.authorization)
        case 13 where name.isToken("if-none-match"): ifNoneMatch = value.text
        case 14 where name.isToken("content-length"): try addContentLength(value)
        case 16 where name.isToken("content-encoding"): addContentEncoding(value)
        case 15 where name.isToken("x-forwarded-for"): forwardedFor = Self.list(forwardedFor, value)
        case 17 where name.isToken("transfer-encoding"): try addTransferEncoding(value)
        default: break
        }
    }

    private mutating func keep(_ value: Span<UInt8>, as field: WritableKeyPath<Self, String?>) {
        if self[keyPath: field] != nil { isAmbiguous = true }
        self[keyPath: field] = value.text
    }

    private static func list(_ before: String?, _ value: Span<UInt8>) -> String {
        before.map { "\($0), \(value.text)" } ?? value.text
    }

    private mutating func addConnection(_ value: Span<UInt8>) {
        Self.forEachEntry(of: value) { if $0.isToken("close") { wantsClose = true } }
    }

    private mutating func addContentEncoding(_ value: Span<UInt8>) {
        Self.forEachEntry(of: value) {
            if !$0.isEmpty, !$0.isToken("identity") { hasContentCoding = true }
        }
    }

    /// Calls `body` with each entry of a comma-separated list, without the blanks around it.
    private static func forEachEntry(of value: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start < value.count {
            var end = start
            while end < value.count, value[end] != UInt8(ascii: ",") { end += 1 }
            body(value.extracting(value.trimmed(start..<end)))
            start = end + 1
        }
    }

    /// One number of digits. Two of them are refused even where they agree: a proxy may have believed either.
    private mutating func addContentLength(_ value: Span<UInt8>) throws(HTTPProblem) {
        guard contentLength == nil, !value.isEmpty else { throw .ambiguousLength }
        var length = 0
        for index in value.indices {
            guard value[index].isDigit else { throw .ambiguousLength }
            let (tens, isTooLarge) = length.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(Int(value[index]) - 0x30)
            // It stays there, for the digits that follow overflow as well.
            length = isTooLarge || isLarger ? .max : sum
        }
        contentLength = length
    }

    private mutating func addTransferEncoding(_ value: Span<UInt8>) throws(HTTPProblem) {
        guard !isChunked, value.isToken("chunked") else {
            throw .badRequest("The only transfer-encoding that is read is chunked, once.")
        }
        isChunked = true
    }

    /// How long the body is.
    ///
    /// Spec: RFC 9112, section 6.3
    func framing(version: HTTPVersion) throws(HTTPProblem) -> BodyReader.Framing {
        guard isChunked else { return .length(contentLength ?? 0) }
        guard contentLength == nil, version == .http1_1 else { throw .ambiguousLength }
        return .chunked
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

extension HTTPProblem {
    fileprivate static var ambiguousLength: Self {
        .badRequest("A body has one content-length of digits, or is chunked.")
    }
}
