import NIOCore
import TestBasics
import Testing

@testable import GraphQLNIO

/// Parsing of requests by RFC 9112, in particular of messages that servers and proxies are known to interpret
/// differently.
@Suite struct MessageTests {
    @Test(arguments: [
        ("GET /a?b=c HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /a?b=c "]),
        ("\r\n\r\nGET / HTTP/1.0\r\n\r\n", ["GET / "]),
        ("GET /{\"a\"}|^ HTTP/1.1\r\n\r\n", ["GET /{\"a\"}|^ "]),
        ("BREW /pot HTTP/1.1\r\nx:\r\ny:\t \r\nz: \u{e9}\t1 \r\n\r\n", ["BREW /pot "]),
        ("POST / HTTP/1.1\r\nContent-Length:  3 \r\n\r\nabc", ["POST / abc"]),
        ("POST / HTTP/1.1\r\ncontent-length: 003\r\n\r\nabc", ["POST / abc"]),
        (
            "POST /1 HTTP/1.1\r\ncontent-length: 1\r\n\r\naPOST /2 HTTP/1.1\r\ncontent-length: 0\r\n\r\nGET /3 HTTP/1.1\r\n\r\n",
            ["POST /1 a", "POST /2 ", "GET /3 "]
        ),
        (
            "POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\nGET /next HTTP/1.1\r\n\r\n",
            ["POST / abc0123456789", "GET /next "]
        ),
        (
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1;a;b=c;d=\"e;\\\"f\"\r\n\r\r\n0;last\r\nexpires: never\r\nx: y\r\n\r\n",
            ["POST / \r"]
        ),
    ])
    func validRequestsAreParsed(text: String, requests: [String]) {
        let read = ReadRequests(text)
        #expect(read.requests == requests)
        #expect(read.problem == nil)
        #expect(ReadRequests.byteByByte(Array(text.utf8)) == read)
    }

    @Test(arguments: [
        "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "GET /\tHTTP/1.1", "GET /a b HTTP/1.1", "GET / HTTP/1.x", "GET / HTTP/1,1",
        "GET / http/1.1",
        "GET / HTTP/1.10", "GET / HTTP/01.1", "GET /", "GET HTTP/1.1", "GET  HTTP/1.1",
        "G@T / HTTP/1.1",
        "G\u{e9}T / HTTP/1.1", "GET /\u{e9} HTTP/1.1", "GET /\u{7f} HTTP/1.1",
        "GET /\u{0} HTTP/1.1",
        "GET / HTTP/1.1\rx: y", "GET / HTTP/1.1\nx: y", "\u{16}\u{3}\u{1}\u{2}\u{0}",
        String(repeating: "A", count: 33) + " / HTTP/1.1",
    ])
    func malformedRequestLinesAreRefused(line: String) {
        expectRefusal("\(line)\r\nhost: a\r\n\r\n")
    }

    @Test(arguments: ["1.2", "2.0", "0.9", "9.9"])
    func unsupportedVersionsAreRefused(version: String) {
        let read = ReadRequests("GET / HTTP/\(version)\r\nhost: a\r\n\r\n")
        #expect(read.problem == .unsupportedVersion)
        #expect(read.requests.isEmpty)
    }

    @Test(arguments: [
        "x : y", " x: y", "\tx: y", "x y: z", ": y", "x", "x\u{0}: y", "x: y\u{0}z", "x: y\u{1}",
        "x: y\u{7f}", "x: y\rz: 1", "x: y\nz: 1", "x: y\r", "x: y\r\n folded", "x: y\r\n\tfolded",
        "x\u{e9}: y",
        "x(: y", "\"x\": y", "x\r: y", "x\n: y",
    ])
    func malformedHeadersAreRefused(field: String) {
        expectRefusal("GET / HTTP/1.1\r\nhost: a\r\n\(field)\r\n\r\n")
        // The same rules apply to trailers.
        expectRefusal(
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\(field)\r\n\r\n")
    }

    @Test(arguments: [
        "content-length: +3", "content-length: -3", "content-length: 0x3", "content-length: 3,3",
        "content-length: 3 3", "content-length:", "content-length: 3.0", "content-length: 1_0",
        "content-length: 3\u{b2}", "content-length: 3\r\ncontent-length: 3",
        "content-length: 3\r\ncontent-length: 4", "content-length: 3\r\nContent-Length: 3",
        "content-length: 3\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 3",
        "content-length: 0\r\ntransfer-encoding: chunked",
        "transfer-encoding: gzip", "transfer-encoding: gzip, chunked",
        "transfer-encoding: chunked, gzip",
        "transfer-encoding: chunked, chunked",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity", "transfer-encoding: identity",
        "transfer-encoding: xchunked", "transfer-encoding: chunked;q=1",
        "transfer-encoding: \"chunked\"",
        "transfer-encoding:", "transfer-encoding: chunked,", "transfer-encoding: chun\u{212A}ed",
    ])
    func ambiguousBodyLengthsAreRefused(fields: String) {
        expectRefusal("POST / HTTP/1.1\r\nhost: a\r\n\(fields)\r\n\r\nabc")
    }

    @Test func chunkedBodiesOfHTTP10AreRefused() {
        expectRefusal("POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")
    }

    @Test(arguments: [
        "\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "1\t\r\n", "1\n",
        "1\ra",
        "1,a\r\n", "1;\r\n", "1; a\r\n", "1;a=\r\n", "1;a=\"b\r\n", "1;a=\"b\\\r\n",
        "1;a=\"b\"c\r\n",
        "1;a b\r\n", "1;\u{0}\r\n", "10000000000000000\r\n", "0000000000000001\r\n",
        "3\r\nabcd\r\n", "3\r\nabc\n", "3\r\nabc\rx", "3\r\nabc0\r\n\r\n",
        "1;\(String(repeating: "a", count: 300))\r\n",
        "1;\(String(repeating: "a", count: 300))",
    ])
    func malformedChunksAreRefused(chunk: String) {
        expectRefusal("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\(chunk)")
    }

    @Test func trailersAreLimited() {
        let start = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
        for trailers in [
            String(repeating: "a: b\r\n", count: 101),
            "a: \(String(repeating: "b", count: 33 << 10))\r\n",
            "a: \(String(repeating: "b", count: 33 << 10))",
            String(repeating: "a: \(String(repeating: "b", count: 30 << 10))\r\n", count: 3),
        ] {
            #expect(ReadRequests(start + trailers).problem == .headersTooLarge)
        }
    }

    /// The length of a line is the number of bytes before its CR LF, even if the CR LF has not arrived yet.
    @Test(arguments: -2...2)
    func lineLimitsDoNotDependOnPieces(excess: Int) {
        func letters(_ count: Int) -> String { String(repeating: "a", count: count + excess) }
        let chunked = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
        let problem: HTTPProblem? = excess > 0 ? .headersTooLarge : nil
        for (text, problem) in [
            (
                "GET /\(letters(50)) HTTP/1.1\r\n\r\n",
                excess > 0 ? .uriTooLong(bytesMax: 64) : nil
            ),
            // After 80 bytes of empty lines the head is too large before the line is too long.
            (
                String(repeating: "\r\n", count: 40) + "GET /\(letters(50)) HTTP/1.1\r\n\r\n",
                .headersTooLarge
            ),
            ("GET / HTTP/1.1\r\nx: \(letters(61))\r\n\r\n", problem),
            ("GET / HTTP/1.1\r\n\(Self.line(60))x: \(letters(45))\r\n\r\n", problem),
            ("\(chunked)0\r\nx: \(letters(61))\r\n\r\n", problem),
            ("\(chunked)0\r\n\(Self.line(60))x: \(letters(61))\r\n\r\n", problem),
            (
                "\(chunked)1;\(letters(254))\r\na\r\n0\r\n\r\n",
                excess > 0 ? .malformed : nil
            ),
        ] {
            let whole = ReadRequests(text, limits: .small)
            #expect(whole.problem == problem)
            #expect(ReadRequests.byteByByte(Array(text.utf8), limits: .small) == whole)
            // The incomplete line is refused or accepted in the same way.
            let start = Array(text.utf8.prefix { $0 != 0x0D })
            #expect(
                ReadRequests.byteByByte(start + [0x0D], limits: .small)
                    == ReadRequests([start + [0x0D]], limits: .small))
        }
    }

    private static func line(_ count: Int) -> String {
        "y: \(String(repeating: "b", count: count - 3))\r\n"
    }

    /// A length that does not fit in an Int becomes `Int.max`, which exceeds every limit on bodies.
    @Test func contentLengthsSaturate() throws {
        var headers = RequestHeaders()
        let digits = Array("99999999999999999999999".utf8)
        try headers.add(name: Array("content-length".utf8).span, value: digits.span)
        #expect(headers.contentLength == .max)
    }

    /// Damaged requests are parsed or refused in the same way in whatever pieces they arrive.
    @Test(arguments: 1...8)
    func parsingDoesNotDependOnPieces(seed: UInt64) {
        var random = SeededGenerator(seed)
        let requests = [
            "GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            "POST /b HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello",
            "POST /c HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5;a=\"b\"\r\nhello\r\n0\r\nx: y\r\n\r\n",
        ]
        for _ in 1...200 {
            var bytes = (1...3).flatMap { _ in
                Array((requests.randomElement(using: &random) ?? "").utf8)
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(contentsOf: bytes[position...].prefix(9), at: position)
                default: bytes.swapAt(position, bytes.count - 1)
                }
            }
            let whole = ReadRequests([bytes])
            let cut = Int.random(in: 0...bytes.count, using: &random)
            #expect(ReadRequests([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole)
            #expect(ReadRequests.byteByByte(bytes) == whole)
        }
    }

    private func expectRefusal(
        _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let read = ReadRequests(text)
        guard case .badRequest = read.problem else {
            Issue.record("\(read)", sourceLocation: sourceLocation)
            return
        }
        #expect(read.requests.isEmpty, sourceLocation: sourceLocation)
        #expect(ReadRequests.byteByByte(Array(text.utf8)) == read, sourceLocation: sourceLocation)
    }
}
