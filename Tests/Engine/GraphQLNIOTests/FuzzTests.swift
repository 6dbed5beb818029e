import EchoServer
import NIOCore
import SocketClient
import TestBasics
import Testing

@testable import GraphQLNIO

@Suite struct FuzzTests {
    /// Sends damaged requests. The server responds or closes the connection, and still serves other clients.
    @Test(arguments: 1...4)
    func theServerSurvivesDamagedRequests(seed: UInt64) async throws {
        var limits = HTTPLimits.quick
        limits.bodyTimeout = .milliseconds(200)
        limits.firstHeadTimeout = .milliseconds(200)
        limits.keepAliveTimeout = .milliseconds(200)
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                var random = SeededGenerator(seed)
                let whole: [String] = [
                    .post(#"{"query":"{a}","variables":{"b":[1,2]}}"#),
                    "GET /graphql?query=%7Ba%7D HTTP/1.1\r\nhost: test\r\naccept: */*;q=0.5\r\n\r\n",
                    "POST /graphql HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n"
                        + "transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                    "OPTIONS /graphql HTTP/1.1\r\nhost: t\r\norigin: http://a\r\n\r\n",
                ]
                for _ in 1...60 {
                    var bytes = Array((whole.randomElement(using: &random) ?? "").utf8)
                    for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
                        let position = Int.random(in: 0..<bytes.count, using: &random)
                        switch Int.random(in: 0...3, using: &random) {
                        case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                        case 1: bytes.remove(at: position)
                        case 2: bytes.insert(contentsOf: bytes[position...], at: position)
                        default: bytes.removeSubrange(position...)
                        }
                    }
                    let client = try RawClient(port: server.port)
                    try? client.send(bytes)
                    client.finishSending()
                    while let more = try? client.receive(), !more.isEmpty {}
                }
            }
            #expect(try await server.get("/text").status == 200)
        }
    }
}
