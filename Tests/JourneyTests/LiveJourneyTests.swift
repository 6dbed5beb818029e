import Glibc
import GraphQL
import SocketClient
import TestSupport
import Testing

/// Subscriptions as a reader's devices have them: over sockets, with several servers on one database.
@Suite struct LiveJourneyTests {
    static let installation = Shared { try await Installation.ready(catalog: []) }

    private static let changes = """
        subscription { changes { cursor kind typename id node { __typename } } }
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

    /// A socket that is let in.
    private static func connect(_ server: RunningServer, _ token: String?) throws -> SocketClient {
        let client = try SocketClient(port: server.client.port)
        try client.initialize(token: token)
        return client
    }

    /// Waits until what was subscribed is watched: a query behind it on the same socket is answered.
    private static func settle(_ client: SocketClient) throws {
        for round in 0..<2 {
            try client.send(subscribe("settle\(round)", "{ me { id } }"))
            _ = try client.message()
            _ = try client.message()
        }
    }

    /// Who asks over a socket comes from somewhere, too.
    @Test func aSocketIsNoWayAroundTheLimits() async throws {
        let server = try await Self.installation().startServer([
            "BOOKPLATE_LIMITS": "rate=5,signin=2"
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
            // Nor are its tokens looked at for nothing.
            let another = try SocketClient(port: server.client.port)
            try another.send(
                #"{"type":"connection_init","payload":{"Authorization":"Bearer nonsense"}}"#)
            #expect(try another.closeCode() == 1013)
        }
    }

    /// A good token is its user's request, as is a later one of the same socket.
    @Test func aTokenOverASocketCostsAUnit() async throws {
        let server = try await Self.installation().startServer(["BOOKPLATE_LIMITS": "rate=5"])
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

    @Test func aChangeOnOneServerReachesASubscriberOnAnother() async throws {
        let installation = try await Self.installation()
        let (here, there) = (
            try await installation.startServer(), try await installation.startServer()
        )
        let token = try await here.signIn("two servers")["accessToken"]?.string
        let client = try await blocking {
            let client = try Self.connect(there, token)
            try client.send(Self.subscribe("s", Self.changes))
            try Self.settle(client)
            return client
        }
        for number in 1...5 {
            // Sooner than polling would find it, or the client gives up.
            let made = try await here.client.execute(
                #"mutation { createShelf(input: {name: "Shelf \#(number)"}) { id } }"#, token: token
            )
            let id = try #require(made["data", "createShelf", "id"])
            let event = try await blocking { try Self.json(client.message()) }
            let change = event["payload", "data", "changes"]
            #expect(change?["id"] == id)
            #expect(change?["kind"] == "CREATED")
            #expect(change?["node", "__typename"] == "Shelf")
        }
    }

    @Test func signingOutClosesTheSessionsSocketsOnAllServers() async throws {
        let installation = try await Self.installation()
        let (here, there) = (
            try await installation.startServer(), try await installation.startServer()
        )
        let token = try await here.signIn("signs out")["accessToken"]?.string
        let other = try await here.signIn("signs out")["accessToken"]?.string
        let (ending, staying) = try await blocking {
            let ending = try Self.connect(there, token)
            try ending.send(Self.subscribe("s", Self.changes))
            return (ending, try Self.connect(there, other))
        }
        let response = try await here.client.execute("mutation { signOut }", token: token)
        #expect(response == ["data": ["signOut": true]])
        #expect(try await blocking { try ending.closeCode() } == 4403)
        try await blocking {
            try staying.send(Self.subscribe("q", "{ me { id } }"))
            let message = try staying.message()
            #expect(message.contains(#""type":"next""#))
        }
        let session = try await here.client.execute(
            #"mutation($id: String!) { deleteAccount(confirm: $id) { id } }"#,
            [
                "id": try await here.client.execute("{ me { id } }", token: other)[
                    "data", "me", "id"]
                    ?? .null
            ], token: other)
        #expect(session["errors"] == nil)
        #expect(try await blocking { try staying.closeCode() } == 4403)
        // What has ended opens nothing new.
        let refused = try await blocking {
            let client = try SocketClient(port: here.client.port)
            try client.send(
                #"{"type":"connection_init","payload":{"Authorization":"Bearer \#(token ?? "")"}}"#)
            return try client.closeCode()
        }
        #expect(refused == 4403)
    }

    @Test func stoppingClosesSocketsAndEndsWithNothingWrong() async throws {
        let server = try await Self.installation().startServer()
        let token = try await server.signIn("stops")["accessToken"]?.string
        let client = try await blocking {
            let client = try Self.connect(server, token)
            try client.send(Self.subscribe("s", Self.changes))
            try Self.settle(client)
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

    /// A device that is asleep, cut off and connected anew, to servers that are killed, while others write:
    /// in the end it has every change, once, and in order.
    @Test(arguments: [1] as [UInt64])
    func nothingIsMissedOrRepeatedWhateverDies(seed: UInt64) async throws {
        let installation = try await Self.installation()
        var servers = [
            try await installation.startServer(), try await installation.startServer(),
        ]
        let session = try await servers[0].signIn("property \(seed)")
        let token = session["accessToken"]?.string
        let start = try await servers[0].client.execute("{ changes { cursor } }", token: token)
        let first = start["data", "changes", "cursor"] ?? .null
        var random = SeededGenerator(seed)
        var books: [Value] = []
        var cursor = first
        var received: [Value] = []
        var client: SocketClient?
        var listeningTo = 0

        for step in 0..<60 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                client?.abort()
                client = nil
            case 1 where step % 3 == 0:
                // As a machine that fails; the client finds out by itself.
                let dead = Int.random(in: 0..<2, using: &random)
                servers[dead].program.send(SIGKILL)
                servers[dead] = try await installation.startServer()
                if dead == listeningTo { client = nil }
            case 2, 3, 4:
                let server = servers[Int.random(in: 0..<2, using: &random)]
                // Several at once, from devices that know nothing of each other.
                let made = try await withThrowingTaskGroup(of: Value?.self) { group in
                    for number in 0..<4 {
                        group.addTask {
                            try await server.client.execute(
                                #"mutation { createBook(input: {title: "\#(step) \#(number)"}) { id } }"#,
                                token: token)["data", "createBook", "id"]
                        }
                    }
                    return try await group.reduce(into: []) { books, id in books.append(id) }
                }
                books += made.compactMap { $0 }
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
                        "mutation($id: ID!) { deleteBook(id: $id) }", ["id": book], token: token)
                }
            default:
                // Awake for a moment: what has come is taken, whatever of it there is.
                if client == nil {
                    listeningTo = Int.random(in: 0..<2, using: &random)
                    client = try await Self.resume(servers[listeningTo], token, cursor)
                }
                guard let awake = client else { continue }
                let count = Int.random(in: 0..<5, using: &random)
                let ahead = try await Self.pending(servers[listeningTo], token, cursor)
                let taken = try await Self.take(min(count, ahead), awake)
                received += taken
                cursor = taken.last?["cursor"] ?? cursor
            }
        }
        let last = try await Self.resume(servers[0], token, cursor)
        received += try await Self.take(
            try await Self.pending(servers[0], token, cursor), last)

        let log = try await servers[1].client.execute(
            "query($c: String) { changes(after: $c, first: 500) { hasMore changes { cursor kind typename id } } }",
            ["c": first], token: token)
        #expect(log["data", "changes", "hasMore"] == false)
        #expect(received.count > 20)
        #expect(.list(received) == log["data", "changes", "changes"])
    }

    private static func resume(
        _ server: RunningServer, _ token: String?, _ cursor: Value
    ) async throws -> SocketClient {
        try await blocking {
            let client = try connect(server, token)
            try client.send(
                subscribe(
                    "s",
                    "subscription($c: String) { changes(after: $c) { cursor kind typename id } }",
                    ["c": cursor]))
            return client
        }
    }

    private static func pending(
        _ server: RunningServer, _ token: String?, _ cursor: Value
    ) async throws -> Int {
        let page = try await server.client.execute(
            "query($c: String) { changes(after: $c, first: 500) { changes { id } } }",
            ["c": cursor],
            token: token)
        return page["data", "changes", "changes"]?.list?.count ?? 0
    }

    private static func take(_ count: Int, _ client: SocketClient) async throws -> [Value] {
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
