import NIOHTTP1

/// The content codings of a request's body.
enum ContentCoding {
    case identity, gzip
    /// Another coding, or several.
    case unsupported
}

/// The request headers that this server reads. Other headers are never converted to strings.
package struct RequestHeaders: Sendable, Equatable {
    /// Several headers are joined with commas (RFC 9110, section 5.3).
    package var accept: String?
    package var acceptLanguage: String?
    package var authorization: String?
    /// The name and the key with which KOReader signs in.
    package var authUser: String?
    package var authKey: String?
    package var contentType: String?
    /// `Int.max` if the number does not fit in an Int.
    package var contentLength: Int?
    /// Several headers are joined with semicolons (RFC 9113, section 8.2.3).
    package var cookie: String?
    package var expect: String?
    /// The host, with the port if it is not the default.
    package var host: String?
    /// Several headers are joined with commas.
    package var forwardedFor: String?
    package var ifNoneMatch: String?
    package var ifRange: String?
    package var range: String?
    /// Whether the request has a header that a browser sends to another origin only after a CORS preflight.
    var hasPreflight = false
    package var origin: String?
    package var requestID: String?
    /// The revision of the Model Context Protocol.
    package var mcpProtocolVersion: String?
    package var traceParent: String?
    /// The name and version that the client gives itself.
    var clientName: String?
    var clientVersion: String?
    package var hostCount = 0
    package var hasUpgrade = false
    /// The content coding of the body.
    private(set) var contentCoding = ContentCoding.identity
    /// The weights in thousandths of gzip, of no coding, and of codings that the client does not name; nil if it does not say.
    private var gzipWeight: Int?
    private var identityWeight: Int?
    private var otherWeight: Int?
    /// Whether the client sent `connection: close`.
    var hasConnectionClose = false
    /// Whether a header that must be unique was sent twice.
    package var isAmbiguous = false
    private var isChunked = false

    package init() {}

    /// Adds one header, whose name is a token.
    mutating func add(name: Span<UInt8>, value: Span<UInt8>) throws(HTTPProblem) {
        // The length distinguishes most names before their bytes are compared.
        switch name.count {
        case 4 where name.isToken("host"):
            host = value.text
            hostCount += 1
        case 5 where name.isToken("range"): range = value.text
        case 8 where name.isToken("if-range"): ifRange = value.text
        case 19 where name.isToken("graphql-client-name"): clientName = value.text
        case 25 where name.isToken("apollographql-client-name"): clientName = value.text
        case 20 where name.isToken("mcp-protocol-version"):
            setUnique(value, as: \.mcpProtocolVersion)
        case 22 where name.isToken("graphql-client-version"): clientVersion = value.text
        case 28 where name.isToken("apollographql-client-version"): clientVersion = value.text
        case 17 where name.isToken("graphql-preflight"): hasPreflight = true
        case 24 where name.isToken("apollo-require-preflight"): hasPreflight = true
        case 23 where name.isToken("x-apollo-operation-name"): hasPreflight = true
        case 6 where name.isToken("cookie"):
            cookie = cookie.map { "\($0); \(value.text)" } ?? value.text
        case 6 where name.isToken("accept"): accept = Self.list(accept, value)
        case 6 where name.isToken("expect"): setUnique(value, as: \.expect)
        case 6 where name.isToken("origin"): setUnique(value, as: \.origin)
        case 7 where name.isToken("upgrade"): hasUpgrade = true
        case 10 where name.isToken("connection"): addConnection(value)
        case 10 where name.isToken("x-auth-key"): setUnique(value, as: \.authKey)
        case 11 where name.isToken("x-auth-user"): setUnique(value, as: \.authUser)
        case 11 where name.isToken("traceparent"):
            // Two headers count as none: an invalid trace is not a reason to refuse a request.
            traceParent = traceParent == nil ? value.text : ""
        case 12 where name.isToken("content-type"): setUnique(value, as: \.contentType)
        case 12 where name.isToken("x-request-id"): setUnique(value, as: \.requestID)
        case 13 where name.isToken("authorization"): setUnique(value, as: \.authorization)
        case 13 where name.isToken("if-none-match"): ifNoneMatch = value.text
        case 14 where name.isToken("content-length"): try addContentLength(value)
        case 16 where name.isToken("content-encoding"): addContentEncoding(value)
        case 15 where name.isToken("accept-language"):
            acceptLanguage = Self.list(acceptLanguage, value)
        case 15 where name.isToken("accept-encoding"): addAcceptEncoding(value)
        case 15 where name.isToken("x-forwarded-for"): forwardedFor = Self.list(forwardedFor, value)
        case 17 where name.isToken("transfer-encoding"): try addTransferEncoding(value)
        default: break
        }
    }

    private mutating func setUnique(_ value: Span<UInt8>, as field: WritableKeyPath<Self, String?>)
    {
        if self[keyPath: field] != nil { isAmbiguous = true }
        self[keyPath: field] = value.text
    }

    private static func list(_ before: String?, _ value: Span<UInt8>) -> String {
        before.map { "\($0), \(value.text)" } ?? value.text
    }

    private mutating func addConnection(_ value: Span<UInt8>) {
        Self.forEachEntry(of: value) { if $0.isToken("close") { hasConnectionClose = true } }
    }

    private mutating func addContentEncoding(_ value: Span<UInt8>) {
        Self.forEachEntry(of: value) {
            if $0.isEmpty || $0.isToken("identity") { return }
            let isGzip = $0.isToken("gzip") || $0.isToken("x-gzip")
            contentCoding = isGzip && contentCoding == .identity ? .gzip : .unsupported
        }
    }

    private mutating func addAcceptEncoding(_ value: Span<UInt8>) {
        Self.forEachEntry(of: value) { entry in
            var end = 0
            while end < entry.count, entry[end] != UInt8(ascii: ";") { end += 1 }
            let coding = entry.extracting(entry.trimmed(0..<end))
            let weight = Self.weight(entry.extracting(end..<entry.count))
            if coding.isToken("gzip") || coding.isToken("x-gzip") {
                gzipWeight = weight
            } else if coding.isToken("identity") {
                identityWeight = weight
            } else if coding.count == 1, coding[0] == UInt8(ascii: "*") {
                otherWeight = weight
            }
        }
    }

    /// Parses the weight after a content coding, such as `;q=0.5`, in thousandths; 1000 if it is empty. A malformed weight
    /// counts as zero, which refuses the coding.
    ///
    /// Spec: RFC 9110, section 12.4.2
    private static func weight(_ parameter: Span<UInt8>) -> Int {
        if parameter.isEmpty { return 1000 }
        let value = parameter.extracting(parameter.trimmed(1..<parameter.count))
        guard value.count >= 3, value.extracting(0..<2).isToken("q="), value.count <= 7,
            value[2] == UInt8(ascii: "0") || value[2] == UInt8(ascii: "1"),
            value.count == 3 || value[3] == UInt8(ascii: ".")
        else { return 0 }
        var (weight, unit) = (value[2] == UInt8(ascii: "1") ? 1000 : 0, 100)
        for index in min(4, value.count)..<value.count {
            guard value[index].isDigit else { return 0 }
            weight += Int(value[index] - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return weight <= 1000 ? weight : 0
    }

    /// Whether the client accepts responses with the content coding gzip, and does not prefer responses without a coding.
    var acceptsGzip: Bool {
        let gzip = gzipWeight ?? otherWeight ?? 0
        return gzip > 0 && gzip >= identityWeight ?? 0
    }

    /// Calls `body` with each entry of a comma-separated list, without surrounding whitespace.
    private static func forEachEntry(of value: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start < value.count {
            var end = start
            while end < value.count, value[end] != UInt8(ascii: ",") { end += 1 }
            body(value.extracting(value.trimmed(start..<end)))
            start = end + 1
        }
    }

    /// Parses a content length. Two headers are refused even if they are equal, because a proxy may have used either.
    private mutating func addContentLength(_ value: Span<UInt8>) throws(HTTPProblem) {
        guard contentLength == nil, !value.isEmpty else { throw .ambiguousLength }
        var length = 0
        for index in value.indices {
            guard value[index].isDigit else { throw .ambiguousLength }
            let (tens, isTooLarge) = length.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(Int(value[index]) - 0x30)
            // The result stays `.max`, because further digits overflow as well.
            length = isTooLarge || isLarger ? .max : sum
        }
        contentLength = length
    }

    private mutating func addTransferEncoding(_ value: Span<UInt8>) throws(HTTPProblem) {
        guard !isChunked, value.isToken("chunked") else {
            throw .badRequest("Unsupported Transfer-Encoding: only a single `chunked` is accepted.")
        }
        isChunked = true
    }

    /// Returns how the end of the body is determined.
    ///
    /// Spec: RFC 9112, section 6.3
    func framing(version: HTTPVersion) throws(HTTPProblem) -> BodyReader.Framing {
        guard isChunked else { return .length(contentLength ?? 0) }
        guard contentLength == nil, version == .http1_1 else { throw .ambiguousLength }
        return .chunked
    }

    /// The token of `Authorization: Bearer TOKEN`; nil for other schemes.
    package var bearerToken: String? {
        guard var authorization else { return nil }
        return authorization.withUTF8 { bytes in
            guard bytes.count > 7, bytes.span.extracting(..<7).isToken("bearer ") else {
                return nil
            }
            let token = bytes.dropFirst(7).drop { $0 == UInt8(ascii: " ") }
            return token.isEmpty
                ? nil : String(decoding: UnsafeBufferPointer(rebasing: token), as: UTF8.self)
        }
    }
}

extension HTTPProblem {
    fileprivate static var ambiguousLength: Self {
        .badRequest(
            "The length of the body is ambiguous. Send one content-length of digits, or a chunked body."
        )
    }
}
