import Glibc
import GraphQL
import MosquittoBroker
import TestBasics
import TestSupport
import Testing

/// Cover events that real servers publish to a real MQTT broker.
@Suite struct BrokerJourneyTests {
    static let installation = Shared { try await Installation.ready(catalog: []) }

    /// Stores a cover row, as the server does after it has stored the image.
    private static func store(
        _ installation: Installation, _ user: String, _ book: String, version: Int
    ) async throws {
        try await installation.database.execute(
            """
            INSERT INTO covers (user_id, book_id, tenant_id, version, source, width, height,
              dominant_color, blur_hash, byte_counts, hashes)
            SELECT id, '\(book)', tenant_id, lpad('\(version)', 32, '0'), 'MANUAL_UPLOAD', 10, 10, '#FFFFFF',
              'x', '{1,1,1}', '{a,b,c}' FROM users WHERE id = '\(user)'
            ON CONFLICT (user_id, book_id) DO UPDATE SET version = excluded.version
            """)
    }

    @Test func eventsArriveInOrderAfterTheBrokerWasDown() async throws {
        let broker = try Mosquitto()
        try broker.start()
        let subscriber = try broker.subscribe()
        let installation = try await Self.installation()
        let variables = ["BOOKPLATE_MQTT_URL": "mqtt://127.0.0.1:\(broker.port)"]
        // Only one of the two servers publishes.
        let servers = [
            try await installation.startServer(variables),
            try await installation.startServer(variables),
        ]
        let session = try await servers[0].signIn("mqtt")
        let user = try #require(session["user", "id"]?.string)
        let made = try await servers[0].client.execute(
            #"mutation { createBook(input: {title: "A"}) { id } }"#,
            token: session["accessToken"]?.string)
        let book = try #require(made["data", "createBook", "id"]?.string)
        for version in 1...5 { try await Self.store(installation, user, book, version: version) }
        _ = try await blocking { try subscriber.wait(5) }

        broker.stop(SIGTERM)
        for version in 6...10 { try await Self.store(installation, user, book, version: version) }
        try await waitUntil("a server has failed to publish") {
            servers.contains { $0.program.errors.contains("the broker cannot be reached") }
        }
        try await blocking { try broker.start() }
        // The broker keeps the subscriber's session, and the subscriber reconnects.
        let lines = try await blocking { try subscriber.wait(10) }
        #expect(lines.allSatisfy { $0.hasPrefix("users/\(user)/cover_uploaded {") })
        let messages = try lines.map { line in
            try parseJSON(Array(line.utf8.drop { $0 != UInt8(ascii: "{") }))
        }
        // A message is delivered twice if its acknowledgement was lost.
        let versions = messages.compactMap { $0["cover_url"]?.string?.suffix(2) }
            .compactMap { Int($0) }
            .reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }
        #expect(versions == Array(1...10))
        #expect(messages.allSatisfy { $0["book_id"] == .string(book) })
        #expect(messages.allSatisfy { $0["source"] == "manual_upload" })
        for server in servers {
            #expect(!server.program.errors.contains("password"))
            server.program.send(SIGTERM)
        }
        for server in servers {
            #expect(try await blocking { try server.program.wait() }.code == 0)
        }
    }
}
