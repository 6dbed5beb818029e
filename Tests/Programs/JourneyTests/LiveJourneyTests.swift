import Glibc
import GraphQL
import SocketClient
import TestBasics
import TestSupport
import Testing

/// Subscriptions over WebSockets, with several servers that share a database.
@Suite struct LiveJourneyTests {
    static let installation = Shared { try await Installation.ready(catalog: []) }

    private static let changes = """
        subscription { changes { cursor kind typename nodeId node { __typename } } }
        """

    private static func subscribe(
        _ id: String, _ query: String, _ variables: Value = .null
    ) -> String {
        var writer = ResponseWriter()
        writer.write([
            "id": .string(id), "type": "subscribe",
            "payload": ["query": .string(query), "variables": variables],
        ])
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func json(_ text: String) throws -> Value { try parseJSON(Array(text.utf8)) }

    /// Opens a WebSocket and authenticates it.
    private static func connect(_ server: RunningServer, _ token: String?) throws -> SocketClient {
        let client = try SocketClient(port: server.client.port)
        try client.initialize(token: token)
        return client
    }

    /// Waits until earlier subscriptions on the socket are active: the server has then responded to later queries.
    private static func waitForSubscriptions(_ client: SocketClient) throws {
        for round in 0..<2 {
            try client.send(subscribe("wait\(round)", "{ me { id } }"))
            _ = try client.message()
            _ = try client.message()
        }
    }

    /// Requests over a WebSocket count toward the rate limits of the client's address.
    @Test func rateLimitsApplyToWebSockets() async throws {
        let server = try await Self.installation().startServer([
            "BOOKPLATE_LIMITS": "rate=5,time=0,signin=2"
        ])
        try await blocking {
            let client = try Self.connect(server, nil)
            var codes: [Value?] = []
            for number in 0..<8 {
                try client.send(Self.subscribe("\(number)", "{ __typename }"))
                let message = try Self.json(try client.message())
                codes.append(message["payload", 0, "extensions", "code"])
                if message["type"] == "next" { _ = try client.message() }
            }
            #expect(codes.prefix(5).allSatisfy { $0 == nil })
            #expect(codes.last == "RATE_LIMITED")
            // The limit also applies to the check of a token in `connection_init`.
            let another = try SocketClient(port: server.client.port)
            try another.send(
                #"{"type":"connection_init","payload":{"Authorization":"Bearer nonsense"}}"#)
            #expect(try another.closeCode() == 1013)
        }
    }

    /// Each message with a valid token counts as one request of its user, in `connection_init` and in later pings.
    @Test func tokensOverAWebSocketCountAsRequests() async throws {
        let server = try await Self.installation().startServer([
            "BOOKPLATE_LIMITS": "rate=5,time=0"
        ])
        let token = try await server.signIn("comes by socket")["accessToken"]?.string
        try await blocking {
            let authorization = #""payload":{"Authorization":"Bearer \#(token ?? "")"}"#
            let client = try Self.connect(server, token)
            for _ in 2...5 {
                try client.send(#"{"type":"ping",\#(authorization)}"#)
                #expect(try client.message() == #"{"type":"pong"}"#)
            }
            try client.send(#"{"type":"ping",\#(authorization)}"#)
            let refused = try Self.json(try client.message())
            #expect(refused["payload", "code"] == "RATE_LIMITED")
            try client.send(Self.subscribe("s", "{ __typename }"))
            #expect(try client.message().contains("RATE_LIMITED"))
        }
    }

    @Test func changesReachSubscribersOnOtherServers() async throws {
        let installation = try await Self.installation()
        let (first, second) = (
            try await installation.startServer(), try await installation.startServer()
        )
        let token = try await first.signIn("two servers")["accessToken"]?.string
        let client = try await blocking {
            let client = try Self.connect(second, token)
            try client.send(Self.subscribe("s", Self.changes))
            try Self.waitForSubscriptions(client)
            return client
        }
        for number in 1...5 {
            let created = try await first.client.execute(
                #"mutation { createShelf(input: {name: "Shelf \#(number)"}) { id } }"#, token: token
            )
            let id = try #require(created["data", "createShelf", "id"])
            let event = try await blocking { try Self.json(client.message()) }
            let change = event["payload", "data", "changes"]
            #expect(change?["nodeId"] == id)
            #expect(change?["kind"] == "CREATED")
            #expect(change?["node", "__typename"] == "Shelf")
        }
    }

    @Test func signingOutClosesWebSocketsOnAllServers() async throws {
        let installation = try await Self.installation()
        let (first, second) = (
            try await installation.startServer(), try await installation.startServer()
        )
        let token = try await first.signIn("signs out")["accessToken"]?.string
        let other = try await first.signIn("signs out")["accessToken"]?.string
        let (ending, staying) = try await blocking {
            let ending = try Self.connect(second, token)
            try ending.send(Self.subscribe("s", Self.changes))
            return (ending, try Self.connect(second, other))
        }
        // The other session of the user ends this one by its id.
        let sessions = try await first.client.execute(
            "{ me { sessions { id isCurrent } } }", token: token)
        let current = sessions["data", "me", "sessions"]?.list?.first { $0["isCurrent"] == true }
        let response = try await first.client.execute(
            "mutation($id: ID!) { signOut(id: $id) { endedSessions } }",
            ["id": current?["id"] ?? .null], token: other)
        #expect(response == ["data": ["signOut": ["endedSessions": 1]]])
        #expect(try await blocking { try ending.closeCode() } == 4403)
        try await blocking {
            try staying.send(Self.subscribe("q", "{ me { id } }"))
            let message = try staying.message()
            #expect(message.contains(#""type":"next""#))
        }
        let session = try await first.client.execute(
            #"mutation($id: String!) { deleteAccount(confirm: $id) { id } }"#,
            [
                "id": try await first.client.execute("{ me { id } }", token: other)[
                    "data", "me", "id"]
                    ?? .null
            ], token: other)
        #expect(session["errors"] == nil)
        #expect(try await blocking { try staying.closeCode() } == 4403)
        // The token of an ended session cannot open another WebSocket.
        let refused = try await blocking {
            let client = try SocketClient(port: first.client.port)
            try client.send(
                #"{"type":"connection_init","payload":{"Authorization":"Bearer \#(token ?? "")"}}"#)
            return try client.closeCode()
        }
        #expect(refused == 4403)
    }

    /// Creates a personal access token and returns its id and its secret.
    private static func makeToken(
        _ server: RunningServer, _ session: String?
    ) async throws -> (id: Value, secret: String) {
        let created = try await server.client.execute(
            """
            mutation {
              createAccessToken(input: {name: "script", scopes: [LIBRARY_READ, PROGRESS]}) {
                secret token { id }
              }
            }
            """, token: session)
        let payload = try #require(created["data", "createAccessToken"], "\(created)")
        return (payload["token", "id"] ?? .null, payload["secret"]?.string ?? "")
    }

    @Test(arguments: [
        "mutation($id: ID!) { revokeAccessToken(id: $id) { id } }",
        "mutation { signOut(everywhere: true) { endedSessions } }",
    ])
    func revokedTokenEndsItsStreamsOnAllServers(mutation: String) async throws {
        let installation = try await Self.installation()
        let (first, second) = (
            try await installation.startServer(), try await installation.startServer()
        )
        let session = try await first.signIn("revokes a token \(mutation.count)")["accessToken"]?
            .string
        let token = try await Self.makeToken(first, session)
        let socket = try await blocking {
            let socket = try Self.connect(second, token.secret)
            try socket.send(Self.subscribe("s", Self.changes))
            try Self.waitForSubscriptions(socket)
            return socket
        }
        let stream = try await blocking {
            let stream = try StreamClient(port: second.client.port)
            try stream.send(
                "POST", "/graphql",
                headers: [
                    "content-type": "application/json", "accept": "text/event-stream",
                    "authorization": "Bearer \(token.secret)",
                ], body: HTTPClient.operations("subscription { changes { nodeId } }", .null))
            try stream.receive(until: "text/event-stream")
            return stream
        }
        let variables: Value = mutation.contains("$id") ? ["id": token.id] : .null
        let response = try await first.client.execute(mutation, variables, token: session)
        #expect(response["errors"] == nil)
        #expect(try await blocking { try socket.closeCode() } == 4403)
        let text = try await blocking { try stream.receive(until: "event: complete") }
        #expect(text.contains("UNAUTHENTICATED"))
        #expect(
            try await second.client.execute("{ me { id } }", token: token.secret)[
                "errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
    }

    @Test func expiredTokenEndsItsStreams() async throws {
        let installation = try await Self.installation()
        let server = try await installation.startServer()
        let session = try await server.signIn("has a token that expires")["accessToken"]?.string
        let token = try await Self.makeToken(server, session)
        try await installation.database.execute(
            "UPDATE access_tokens SET expires_at = now() + interval '3 s' WHERE id = '\(token.id.string ?? "")'"
        )
        let socket = try await blocking {
            let socket = try Self.connect(server, token.secret)
            try socket.send(Self.subscribe("s", Self.changes))
            return socket
        }
        #expect(try await blocking { try socket.closeCode() } == 4403)
    }

    @Test func stoppingClosesWebSocketsAndExitsWith0() async throws {
        let server = try await Self.installation().startServer()
        let token = try await server.signIn("stops")["accessToken"]?.string
        let client = try await blocking {
            let client = try Self.connect(server, token)
            try client.send(Self.subscribe("s", Self.changes))
            try Self.waitForSubscriptions(client)
            return client
        }
        server.program.send(SIGTERM)
        let code = try await blocking {
            let code = try client.closeCode()
            try client.close(1001)
            return code
        }
        #expect(code == 1001)
        #expect(try await blocking { try server.program.wait() }.code == 0)
    }

    /// A client sleeps, loses its connection, and reconnects, while servers are killed and other clients write. In the
    /// end it has received every change exactly once and in order.
    @Test(arguments: [1] as [UInt64])
    func subscribersReceiveEachChangeOnceDespiteFailures(seed: UInt64) async throws {
        let installation = try await Self.installation()
        var servers = [
            try await installation.startServer(), try await installation.startServer(),
        ]
        let session = try await servers[0].signIn("property \(seed)")
        let token = session["accessToken"]?.string
        let start = try await servers[0].client.execute(
            "{ changes { pageInfo { endCursor } } }", token: token)
        let first = start["data", "changes", "pageInfo", "endCursor"] ?? .null
        var random = SeededGenerator(seed)
        var books: [Value] = []
        var cursor = first
        var received: [Value] = []
        var client: SocketClient?
        var connectedServer = 0

        for step in 0..<60 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                client?.abort()
                client = nil
            case 1 where step % 3 == 0:
                // The server fails without closing its connections properly.
                let dead = Int.random(in: 0..<2, using: &random)
                servers[dead].program.send(SIGKILL)
                servers[dead] = try await installation.startServer()
                if dead == connectedServer { client = nil }
            case 2, 3, 4:
                let server = servers[Int.random(in: 0..<2, using: &random)]
                // Several concurrent writes, as from independent devices.
                let created = try await withThrowingTaskGroup(of: Value?.self) { group in
                    for number in 0..<4 {
                        group.addTask {
                            try await server.client.execute(
                                #"mutation { createBook(input: {title: "\#(step) \#(number)"}) { id } }"#,
                                token: token)["data", "createBook", "id"]
                        }
                    }
                    return try await group.reduce(into: []) { books, id in books.append(id) }
                }
                books += created.compactMap { $0 }
            case 5, 6:
                if let book = books.randomElement(using: &random) {
                    _ = try await servers[0].client.execute(
                        "mutation($id: ID!) { updateBook(id: $id, input: {currentPage: \(step)}) { id } }",
                        ["id": book], token: token)
                }
            case 7:
                if !books.isEmpty {
                    let book = books.remove(at: Int.random(in: 0..<books.count, using: &random))
                    _ = try await servers[1].client.execute(
                        "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book],
                        token: token)
                }
            default:
                // The client receives some of the changes that are available.
                if client == nil {
                    connectedServer = Int.random(in: 0..<2, using: &random)
                    client = try await Self.resume(servers[connectedServer], token, cursor)
                }
                guard let connected = client else { continue }
                let count = Int.random(in: 0..<5, using: &random)
                let available = try await Self.pendingCount(servers[connectedServer], token, cursor)
                let changes = try await Self.receive(min(count, available), connected)
                received += changes
                cursor = changes.last?["cursor"] ?? cursor
            }
        }
        let last = try await Self.resume(servers[0], token, cursor)
        received += try await Self.receive(
            try await Self.pendingCount(servers[0], token, cursor), last)

        let log = try await servers[1].client.execute(
            "query($c: String) { changes(after: $c, first: 500) { pageInfo { hasNextPage } changes { cursor kind typename nodeId } } }",
            ["c": first], token: token)
        #expect(log["data", "changes", "pageInfo", "hasNextPage"] == false)
        #expect(received.count > 20)
        #expect(.list(received) == log["data", "changes", "changes"])
    }

    /// Connects and subscribes to the changes after a cursor.
    private static func resume(
        _ server: RunningServer, _ token: String?, _ cursor: Value
    ) async throws -> SocketClient {
        try await blocking {
            let client = try connect(server, token)
            try client.send(
                subscribe(
                    "s",
                    "subscription($c: String) { changes(after: $c) { cursor kind typename nodeId } }",
                    ["c": cursor]))
            return client
        }
    }

    /// Returns the number of changes after a cursor.
    private static func pendingCount(
        _ server: RunningServer, _ token: String?, _ cursor: Value
    ) async throws -> Int {
        let page = try await server.client.execute(
            "query($c: String) { changes(after: $c, first: 500) { changes { nodeId } } }",
            ["c": cursor],
            token: token)
        return page["data", "changes", "changes"]?.list?.count ?? 0
    }

    /// Receives a number of changes.
    private static func receive(_ count: Int, _ client: SocketClient) async throws -> [Value] {
        try await blocking {
            try (0..<count).map { _ in
                let message = try json(client.message())
                guard let change = message["payload", "data", "changes"], !change.isNull else {
                    throw SocketClient.Failure(description: "\(message)")
                }
                return change
            }
        }
    }
}
