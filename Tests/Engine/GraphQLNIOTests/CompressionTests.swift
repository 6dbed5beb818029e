import EchoServer
import Gzip
import SocketClient
import Testing

@testable import GraphQLNIO

/// Compressed responses, and compressed bodies of requests.
@Suite struct CompressionTests {
    /// The response contains the query, which is longer than `ResponseCompressor.bytesMin`.
    private static let body = #"{"query":"{\#(String(repeating: "title ", count: 400))}"}"#
    private static let json = "content-type: application/json\r\n"

    private static func post(_ body: [UInt8], _ headers: String) -> [UInt8] {
        Array("POST /graphql HTTP/1.1\r\nhost: test\r\n\(headers)".utf8)
            + Array("content-length: \(body.count)\r\n\r\n".utf8) + body
    }

    // MARK: Responses

    @Test(arguments: [
        ("gzip", true), ("GZIP", true), ("x-gzip", true), ("br, gzip;q=0.001", true), ("*", true),
        ("gzip ; q=1", true), ("gzip;Q=0.5, br", true), ("gzip; q=1.000 , identity", true),
        ("gzip;q=0.5, identity;q=0.5", true), ("gzip;q=0.5, identity;q=0", true),
        ("*;q=0.5, identity;q=0.1", true), ("br;q=1.0, gzip;q=0.8, *;q=0.1", true),
        ("gzip;q=0.5, identity;q=1", false), ("identity, gzip;q=0.999", false),
        ("*;q=0.5, identity", false), ("gzip;q=2", false), ("gzip;q=1.001", false),
        ("gzip;q=", false), ("gzip;q", false), ("gzip;", false), ("gzip;q=0.5000", false),
        ("gzip;q=x", false), ("gzip;p=1", false), ("deflate, br", false), ("gzip;q=0", false),
        ("gzip;q=0.000, *", false),
        ("*;q=0", false), ("identity", false), ("", false),
    ])
    func responsesAreCompressedIfTheClientAcceptsIt(
        acceptEncoding: String, isCompressed: Bool
    ) async throws {
        try await TestServer.run { server in
            let plain = try await server.post(Self.body)
            let headers = Self.json + "accept-encoding: \(acceptEncoding)\r\n"
            // Twice, because the compressor is used again.
            for _ in 0..<2 {
                let response = try await server.post(Self.body, headers: headers)
                #expect(response.headers["content-encoding"] == (isCompressed ? "gzip" : nil))
                guard isCompressed else {
                    #expect(response.bytes == plain.bytes)
                    continue
                }
                #expect(response.bytes.count < plain.bytes.count / 4)
                #expect(try gunzip(response.bytes, bytesMax: 1 << 20) == plain.bytes)
            }
        }
    }

    @Test func smallResponsesAreNotCompressed() async throws {
        try await TestServer.run { server in
            let response = try await server.post(
                #"{"query":"{a}"}"#, headers: Self.json + "accept-encoding: gzip\r\n")
            #expect(response.headers["content-encoding"] == nil)
        }
    }

    /// A large response is compressed in slices, between which other requests run.
    @Test func largeResponsesAreCompressed() async throws {
        try await TestServer.run { server in
            let response = try await server.post(
                #"{"query":"{huge}"}"#, headers: Self.json + "accept-encoding: gzip\r\n")
            #expect(response.headers["content-encoding"] == "gzip")
            let contents = try gunzip(response.bytes, bytesMax: 4 << 20)
            #expect(contents == Array(repeating: 0x20, count: 4 << 20))
        }
    }

    /// Caches must not give a compressed response to a client that does not accept it.
    @Test func responsesToGETVaryByCoding() async throws {
        try await TestServer.run { server in
            let response = try await server.get("/graphql?query=%7Ba%7D")
            #expect(response.headers["vary"]?.contains("accept-encoding") == true)
        }
    }

    // MARK: Requests

    @Test(arguments: ["gzip", "x-gzip", "GZIP", "identity, gzip"])
    func compressedRequestsAreAccepted(coding: String) async throws {
        try await TestServer.run { server in
            let plain = try await server.post(Self.body)
            let headers = Self.json + "content-encoding: \(coding)\r\n"
            let request = Self.post(try gzip(Array(Self.body.utf8)), headers)
            let response = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(request)
                return try client.response()
            }
            #expect(response.status == 200)
            #expect(response.bytes == plain.bytes)
        }
    }

    /// Compressed contents have the same limit as other bodies, however small the body itself is.
    @Test(arguments: [(4096, 200), (4097, 413), (1 << 18, 413)])
    func compressedContentsAreLimited(byteCount: Int, status: Int) async throws {
        try await TestServer.run(bodyBytesMax: 4096) { server in
            let start = #"{"query":"{a}","#
            let end = #""b":1}"#
            let spaces = String(
                repeating: " ", count: byteCount - start.utf8.count - end.utf8.count)
            let contents = Array((start + spaces + end).utf8)
            let body = try gzip(contents)
            #expect(body.count < 4096)
            let request = Self.post(body, Self.json + "content-encoding: gzip\r\n")
            let response = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(request)
                return try client.response()
            }
            #expect(response.status == status)
        }
    }

    /// Decompression takes time even for bytes without contents.
    @Test func compressedBodiesHaveAQuarterOfTheLimit() async throws {
        try await TestServer.run(bodyBytesMax: 4096) { server in
            var random = SystemRandomNumberGenerator()
            let noise = (0..<200).map { _ in String(random.next(), radix: 36) }.joined()
            let body = try gzip(Array(#"{"query":"{a}","b":"\#(noise)"}"#.utf8))
            #expect(body.count > 1024)
            let request = Self.post(body, Self.json + "content-encoding: gzip\r\n")
            let response = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(request)
                return try client.response()
            }
            #expect(response.status == 413)
        }
    }

    @Test func damagedBodiesAreRefused() async throws {
        try await TestServer.run { server in
            let whole = try gzip(Array(Self.body.utf8))
            var damaged = whole
            damaged[whole.count / 2] ^= 0xFF
            for body in [Array("{a}".utf8), Array(whole.dropLast()), damaged] {
                let request = Self.post(body, Self.json + "content-encoding: gzip\r\n")
                let response = try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(request)
                    return try client.response()
                }
                #expect(response.status == 400)
            }
        }
    }
}
