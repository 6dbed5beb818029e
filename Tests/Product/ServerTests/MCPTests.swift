import EchoServer
import GraphQL
import GraphQLServing
import TestBasics
import TestSupport
import Testing
import Version

@testable import GraphQLNIO
@testable import Server

/// The endpoint of the Model Context Protocol, over HTTP.
@Suite struct MCPTests {
    private struct Reply {
        let status: Int
        let headers: [String: String]
        let json: Value
    }

    private static func run<Result: Sendable>(
        bodyBytesMax: Int = 4096, _ test: (TestServer) async throws -> Result
    ) async throws -> Result {
        try await ProductServer.run(
            routes: { _ in
                MCPEndpoint(
                    service: TestTools(), bodyBytesMax: bodyBytesMax,
                    origins: AllowedOrigins(["https://app.example.com"]),
                    publicURL: "https://books.example.com/base", offersTokens: { $0 != "closed" }
                ).routes
            }, test)
    }

    private static func send(
        _ body: String, path: String = "/mcp", headers: String = "",
        token: String? = TestTools.token,
        contentType: String = "application/json", to server: TestServer
    ) async throws -> Reply {
        let authorization = token.map { "authorization: Bearer \($0)\r\n" } ?? ""
        let response = try await server.send(
            "POST \(path) HTTP/1.1\r\nhost: test\r\ncontent-type: \(contentType)\r\n"
                + "content-length: \(body.utf8.count)\r\n\(authorization)\(headers)\r\n\(body)")
        return Reply(
            status: response.status, headers: response.headers,
            json: (try? parseJSON(Array(response.body.utf8))) ?? .null)
    }

    private static func request(_ method: String, _ params: String = "{}", id: String = "1")
        -> String
    {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
    }

    @Test(arguments: [
        ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"), ("2026-07-28", "2025-11-25"), ("x", "2025-11-25"),
    ])
    func initializationNegotiatesTheVersion(requested: String, agreed: String) async throws {
        let params =
            #"{"protocolVersion":"\#(requested)","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#
        let reply = try await Self.run {
            try await Self.send(
                Self.request("initialize", params, id: #""a""#),
                headers: "mcp-protocol-version: 1900-01-01\r\n", to: $0)
        }
        #expect(reply.status == 200)
        #expect(reply.headers["mcp-session-id"] == nil)
        #expect(reply.headers["cache-control"] == "no-store")
        #expect(reply.json["id"] == "a")
        let result = reply.json["result"]
        #expect(result?["protocolVersion"]?.string == agreed)
        #expect(result?["capabilities"] == ["tools": [:]])
        #expect(result?["serverInfo"]?["version"]?.string == bookplateVersion)
    }

    /// Large messages are parsed on another thread, and charged by their size.
    @Test(arguments: [10, 100_000]) func sizeOfAMessageIsCharged(characterCount: Int) async throws {
        let text = String(repeating: "x", count: characterCount)
        let message = Self.request("tools/call", #"{"name":"bytes","arguments":{"a":"\#(text)"}}"#)
        let reply = try await Self.run(bodyBytesMax: 1 << 20) {
            try await Self.send(message, to: $0)
        }
        #expect(
            reply.json["result", "structuredContent"] == ["bytes": .int(message.utf8.count)])
    }

    @Test func toolsAreListedInPagesAndCalled() async throws {
        try await Self.run { server in
            let first = try await Self.send(Self.request("tools/list"), to: server)
            #expect(first.json["result"] == ["tools": [["name": "echo"]], "nextCursor": "2"])
            let second = try await Self.send(
                Self.request("tools/list", #"{"cursor":"2"}"#), to: server)
            #expect(second.json["result"] == ["tools": [["name": "fail"]]])
            let third = try await Self.send(
                Self.request("tools/list", #"{"cursor":"3"}"#), to: server)
            #expect(third.json["error"]?["code"] == -32602)

            let echo = try await Self.send(
                Self.request("tools/call", #"{"name":"echo","arguments":{"a":"\"é\n"}}"#),
                to: server)
            #expect(
                echo.json["result"] == [
                    "content": [["type": "text", "text": #"{"a":"\"é\n"}"#]],
                    "structuredContent": ["a": "\"é\n"], "isError": false,
                ])
            let fail = try await Self.send(
                Self.request("tools/call", #"{"name":"fail"}"#), to: server)
            #expect(fail.status == 200)
            #expect(fail.json["result"]?["isError"] == true)
            #expect(
                fail.json["result"]?["structuredContent"]
                    == ["errors": [["message": "It \"failed\"."]], "data": .null])
            let unknown = try await Self.send(
                Self.request("tools/call", #"{"name":"nothing"}"#), to: server)
            #expect(unknown.status == 200)
            #expect(unknown.json["error"]?["code"] == -32602)
            #expect(unknown.json["error"]?["message"] == "There is no tool 'nothing'.")
            #expect(
                try await Self.send(Self.request("ping"), to: server).json["result"] == .object([]))
        }
    }

    /// Each body with the status, the code of the error, and the id of the response.
    @Test(
        arguments: [
            ("", 400, -32700, .null), ("{", 400, -32700, .null), ("{}x", 400, -32700, .null),
            (#"{"a":1,"a":2}"#, 400, -32700, .null),
            (String(repeating: "[", count: 1000), 400, -32700, .null),
            (String(repeating: #"{"a":"#, count: 500), 400, -32700, .null),
            ("[]", 400, -32600, .null),
            (#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32600, .null),
            ("7", 400, -32600, .null), ("null", 400, -32600, .null),
            (#""ping""#, 400, -32600, .null),
            ("{}", 400, -32600, .null), (#"{"id":5}"#, 400, -32600, 5),
            (#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, 400, -32600, 5),
            (#"{"jsonrpc":2.0,"id":5,"method":"ping"}"#, 400, -32600, 5),
            (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600, .null),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, -32600, .null),
            (#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, 400, -32600, .null),
            (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, 400, -32600, .null),
            (#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, 400, -32600, .null),
            (#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, 400, -32600, .null),
            (
                #"{"jsonrpc":"2.0","id":"\#(String(repeating: "i", count: 257))","method":"ping"}"#,
                400, -32600, .null
            ),
            (#"{"jsonrpc":"2.0","id":1}"#, 400, -32600, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":7}"#, 400, -32600, 1),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"\#(String(repeating: "m", count: 257))"}"#, 400,
                -32600, 1
            ),
            (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 400, -32600, 1),
            (#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, 400, -32600, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, 200, -32602, 1),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, 200, -32602, 1),
            (request("initialize"), 200, -32602, 1),
            (request("initialize", #"{"protocolVersion":7}"#), 200, -32602, 1),
            (request("tools/list", #"{"cursor":7}"#), 200, -32602, 1),
            (request("tools/list", #"{"cursor":null}"#), 200, -32602, 1),
            (request("tools/call"), 200, -32602, 1),
            (request("tools/call", #"{"name":7}"#), 200, -32602, 1),
            (request("tools/call", #"{"name":"echo","arguments":[]}"#), 200, -32602, 1),
            (request("tools/call", #"{"name":"echo","arguments":null}"#), 200, -32602, 1),
            (request("server/discover"), 200, -32601, 1),
            (request("resources/list", id: "-9223372036854775808"), 200, -32601, .int(.min)),
            (request("notifications/initialized"), 200, -32601, 1),
        ] as [(String, Int, Int, Value)])
    func hostileMessagesGetErrors(body: String, status: Int, code: Int, id: Value) async throws {
        let reply = try await Self.run { try await Self.send(body, to: $0) }
        #expect(reply.status == status)
        #expect(reply.headers["content-type"] == "application/json")
        #expect(reply.json["jsonrpc"] == "2.0")
        #expect(reply.json["id"] == id)
        #expect(reply.json["error"]?["code"]?.int == code)
        #expect(reply.json["error"]?["message"]?.string?.isEmpty == false)
        #expect(reply.json["result"] == nil)
    }

    /// Also for methods that are requests: without an id they get no response, and are not executed.
    @Test(arguments: ["notifications/initialized", "notifications/cancelled", "x", "tools/call"])
    func notificationsAreAccepted(method: String) async throws {
        let reply = try await Self.run {
            try await Self.send(#"{"jsonrpc":"2.0","method":"\#(method)"}"#, to: $0)
        }
        #expect(reply.status == 202)
        #expect(reply.json == .null)
        #expect(reply.headers["content-length"] == "0")
    }

    @Test(arguments: ["GET", "DELETE", "PUT"])
    func otherMethodsAreNotAllowed(method: String) async throws {
        let response = try await Self.run {
            try await $0.send(
                "\(method) /mcp HTTP/1.1\r\nhost: test\r\naccept: text/event-stream\r\n\r\n")
        }
        #expect(response.status == 405)
        #expect(response.headers["allow"] == "POST, OPTIONS")
    }

    @Test(
        arguments: [
            ("accept: application/json, text/event-stream\r\n", 200), ("accept: */*\r\n", 200),
            ("accept: text/event-stream\r\n", 406), ("accept: text/html\r\n", 406),
            ("mcp-protocol-version: 2025-06-18\r\n", 200), ("mcp-protocol-version: \r\n", 400),
            ("mcp-protocol-version: 2026-07-28\r\n", 400),
            ("mcp-protocol-version: 2025-06-18\r\nmcp-protocol-version: 2025-06-18\r\n", 400),
            ("origin: https://app.example.com\r\n", 200),
            ("origin: https://APP.example.com\r\n", 200),
            ("origin: https://evil.example\r\n", 403), ("origin: null\r\n", 403),
            // After DNS rebinding, the host is that of the page.
            ("origin: http://test\r\n", 403),
        ])
    func headersAreChecked(headers: String, status: Int) async throws {
        let reply = try await Self.run {
            try await Self.send(Self.request("ping"), headers: headers, to: $0)
        }
        #expect(reply.status == status)
    }

    /// Newer clients choose an older revision by this list.
    @Test func unsupportedVersionsAreNamed() async throws {
        let reply = try await Self.run {
            try await Self.send(
                Self.request("server/discover"), headers: "mcp-protocol-version: 2026-07-28\r\n",
                to: $0)
        }
        #expect(reply.status == 400)
        #expect(reply.json["id"] == 1)
        #expect(reply.json["error"]?["code"] == -32022)
        #expect(
            reply.json["error"]?["data"] == [
                "supported": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"],
                "requested": "2026-07-28",
            ])
    }

    @Test(arguments: [
        "text/plain", "application/json; charset=latin1", "multipart/form-data; boundary=x",
    ])
    func otherContentTypesAreRefused(contentType: String) async throws {
        let reply = try await Self.run {
            try await Self.send(Self.request("ping"), contentType: contentType, to: $0)
        }
        #expect(reply.status == 415)
    }

    @Test(
        arguments: [
            (nil, 401, nil), ("unknown", 401, "UNAUTHENTICATED"), ("forbidden", 403, "FORBIDDEN"),
            ("busy", 429, "RATE_LIMITED"), ("down", 503, "SERVICE_UNAVAILABLE"),
            ("broken", 200, nil),
        ] as [(String?, Int, String?)],
        ["initialize", "ping", "tools/list", "tools/call", "unknown"])
    func refusedCallersGetAStatus(
        expected: (token: String?, status: Int, code: String?), method: String
    ) async throws {
        let params = #"{"protocolVersion":"2025-06-18","name":"echo"}"#
        let reply = try await Self.run {
            try await Self.send(Self.request(method, params), token: expected.token, to: $0)
        }
        #expect(reply.status == expected.status)
        #expect(reply.json["result"] == nil)
        #expect(reply.json["error"]?["data"]?["code"]?.string == expected.code)
        #expect(
            (reply.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
                == (reply.status == 401))
        let waits = [429: "7", 503: "2"]
        #expect(reply.headers["retry-after"] == waits[reply.status])
    }

    /// The header names the metadata from which clients learn where to get a token.
    @Test(
        arguments: [
            ("/mcp", "/mcp"), ("/mcp/reader", "/mcp/reader"), ("/mcp/my-app-2", "/mcp/my-app-2"),
            ("/mcp/", "/mcp"), ("/mcp/a/b", "/mcp"), ("/mcp/a%22b", "/mcp"), ("/mcp/A", "/mcp"),
            ("/mcp/" + String(repeating: "a", count: 65), "/mcp"),
        ], [nil, "unknown"] as [String?])
    func refusedCallersLearnWhereToGetAToken(
        expected: (path: String, metadata: String), token: String?
    ) async throws {
        let reply = try await Self.run {
            try await Self.send(Self.request("ping"), path: expected.path, token: token, to: $0)
        }
        #expect(reply.status == 401)
        let error = token == nil ? "" : #"error="invalid_token", "#
        #expect(
            reply.headers["www-authenticate"]
                == "Bearer \(error)resource_metadata=\"https://books.example.com/.well-known/oauth-protected-resource/base\(expected.metadata)\""
        )
    }

    /// Without OAuth, there is no metadata.
    @Test(arguments: [(nil, "Bearer"), ("unknown", #"Bearer error="invalid_token""#)])
    func metadataIsNotNamedWithoutOAuth(token: String?, header: String) async throws {
        let reply = try await Self.run {
            try await Self.send(Self.request("ping"), path: "/mcp/closed", token: token, to: $0)
        }
        #expect(reply.status == 401 && reply.headers["www-authenticate"] == header)
    }

    @Test func largeBodiesAreRefused() async throws {
        let body = Self.request("ping", #"{"a":"\#(String(repeating: "a", count: 5000))"}"#)
        let reply = try await Self.run { try await Self.send(body, to: $0) }
        #expect(reply.status == 413)
    }

    /// Changes valid messages at random. Each gets a response of JSON-RPC or no content, and the server goes on.
    @Test(arguments: 1...8)
    func damagedMessagesGetResponses(seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let messages = [
            Self.request("initialize", #"{"protocolVersion":"2025-06-18","capabilities":{}}"#),
            Self.request("tools/list", #"{"cursor":"2"}"#),
            Self.request(
                "tools/call", #"{"name":"echo","arguments":{"a":[1,{"b":null}],"c":1e9}}"#),
            #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ]
        var bodies: [String] = []
        for _ in 1...60 {
            var bytes = Array((messages.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...4, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0x20...0x7E, using: &random)
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(contentsOf: bytes[position...].prefix(40), at: position)
                case 3:
                    let tokens = ["null", "{}", "[]", "\"\"", "-1", "1e999", "\\u0000", "true"]
                    bytes.insert(
                        contentsOf: (tokens.randomElement(using: &random) ?? "").utf8, at: position)
                default: bytes.removeSubrange(position...)
                }
            }
            bodies.append(String(decoding: bytes, as: UTF8.self))
        }
        try await Self.run { [bodies] server in
            for body in bodies {
                let reply = try await Self.send(body, to: server)
                switch reply.status {
                case 202: #expect(reply.json == .null, "\(body)")
                case 200, 400:
                    #expect(reply.json["jsonrpc"] == "2.0", "\(body)")
                    #expect(
                        (reply.json["result"] == nil) != (reply.json["error"] == nil), "\(body)")
                default: Issue.record("\(reply.status): \(body)")
                }
            }
        }
    }
}
