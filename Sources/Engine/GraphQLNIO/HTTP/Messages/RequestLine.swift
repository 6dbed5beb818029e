import NIOHTTP1

/// The first line of a request: `METHOD SP TARGET SP HTTP-VERSION`.
///
/// Spec: RFC 9112, section 3
struct RequestLine: Sendable {
    var method: HTTPMethod
    /// The target as it was sent: a path with its query, or an absolute URL.
    var target: String
    var version: HTTPVersion

    private static let versionByteCount = 8
    /// The maximum length of a method. No known method is longer.
    private static let methodBytesMax = 32

    init(_ line: Span<UInt8>) throws(HTTPProblem) {
        var methodEnd = 0
        while methodEnd < line.count, line[methodEnd].isTokenByte { methodEnd += 1 }
        let targetEnd = line.count - Self.versionByteCount - 1
        guard (1...Self.methodBytesMax).contains(methodEnd), targetEnd > methodEnd + 1,
            line[methodEnd] == UInt8(ascii: " "), line[targetEnd] == UInt8(ascii: " ")
        else {
            throw .badRequest("A request must begin with a method, a URL, and HTTP/1.1.")
        }
        for index in methodEnd + 1..<targetEnd where !(0x21...0x7E).contains(line[index]) {
            throw .badRequest("The URL contains a character that must be percent-encoded.")
        }
        let version = line.extracting((targetEnd + 1)...)
        if version.equals("HTTP/1.1") {
            self.version = .http1_1
        } else if version.equals("HTTP/1.0") {
            self.version = .http1_0
        } else if Self.isVersion(version) {
            throw .unsupportedVersion
        } else {
            throw .badRequest("A request line must end with HTTP/1.1.")
        }
        method = Self.method(line.extracting(..<methodEnd))
        target = line.extracting(methodEnd + 1..<targetEnd).text
    }

    /// Returns whether this is `HTTP/` DIGIT `.` DIGIT.
    private static func isVersion(_ word: Span<UInt8>) -> Bool {
        word.extracting(..<5).equals("HTTP/") && word[5].isDigit && word[6] == UInt8(ascii: ".")
            && word[7].isDigit
    }

    private static func method(_ name: Span<UInt8>) -> HTTPMethod {
        if name.equals("GET") { return .GET }
        if name.equals("POST") { return .POST }
        return HTTPMethod(rawValue: name.text)
    }
}
