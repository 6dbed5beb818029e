import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Another user tries to access a user's objects through each ID argument and each field. The requests and the IDs are
/// generated from the schema and the tables, so new ones are included automatically.
@Suite struct GeneratedProbeTests {
    static let app = Shared { try await TestApp.start() }

    static let schema: Schema = {
        guard let schema = try? BookplateSchema(sdl: BookplateSchema.text).schema else {
            preconditionFailure("the schema is invalid")
        }
        return schema
    }()
    static let probes = GeneratedProbe.forIDs(in: schema)

    private static let absent = "0198c0de-0000-7000-8000-00000000dead"

    private struct Victim {
        let fixture: IsolationFixture
        /// The user's own ID, and one ID from each table with rows of the user.
        let ids: [String]
        /// All IDs of the user and the user's rows.
        let allIDs: Set<String>
    }

    private static let victim = Shared {
        let app = try await GeneratedProbeTests.app()
        let fixture = try await IsolationFixture.fill(try await app.makeReader())
        let owner = fixture.reader.id.string ?? ""
        let ids = try await app.database.withConnection { connection in
            try connection.texts(
                """
                SELECT c.relname::text FROM pg_class c JOIN pg_attribute u ON u.attrelid = c.oid
                JOIN pg_attribute i ON i.attrelid = c.oid WHERE c.relnamespace = 'public'::regnamespace
                AND c.relkind IN ('r', 'p') AND u.attname = 'user_id' AND i.attname = 'id'
                AND i.atttypid = 'uuid'::regtype AND NOT i.attisdropped ORDER BY 1
                """
            ).map { table in
                try connection.texts(
                    "SELECT id::text FROM \(table) WHERE user_id = '\(owner)' ORDER BY id")
            }
        }
        return Victim(
            fixture: fixture, ids: ids.compactMap(\.first) + [owner],
            allIDs: Set(ids.flatMap { $0 } + [owner]))
    }

    @Test func probesReachNestedInputs() {
        let paths = Set(Self.probes.map(\.path))
        #expect(
            paths.isSuperset(of: [
                "node.id", "nodes.ids", "moveBook.input.to", "createBook.input.shelfIds",
                "createBooks.inputs.cardId", "recordSwipes.inputs.cardId",
                "createSharedLink.input.item.shelfId",
            ]))
        #expect(Self.probes.count >= 25)
    }

    @Test(arguments: probes)
    func foreignIDsAreIndistinguishableFromMissingOnes(probe: GeneratedProbe) async throws {
        let victim = try await Self.victim()
        let before = try await victim.fixture.everything()
        let unseen = try await execute(probe, Self.absent)
        for id in victim.ids {
            let seen = try await execute(probe, id)
            #expect(seen.json.replacing(id) == unseen.json.replacing(Self.absent), "\(probe.query)")
            #expect(seen.statements == unseen.statements)
            #expect(seen.roundTrips == unseen.roundTrips)
            #expect(!"\(seen.json)".contains("Secret"))
        }
        #expect(try await victim.fixture.everything() == before)
    }

    /// Executes a request as a new user.
    private func execute(_ probe: GeneratedProbe, _ id: String) async throws -> TestResponse {
        let reader = try await Self.app().makeReader()
        var variables = [Value.Member("id", .string(id))]
        if probe.needsShelf {
            variables.append(.init("myShelf", try await reader.makeShelf("My shelf")))
        }
        if probe.needsBook {
            variables.append(.init("myBook", try await reader.makeBook("My book")))
        }
        let response = try await reader.execute(probe.query, .object(variables))
        #expect(!response.isRequestError, "\(probe.query): \(response.json)")
        return response
    }

    /// Fields without required arguments do not return anything that belongs to another user.
    @Test(
        arguments: (schema.queryType.fieldsType?.fields ?? []).filter {
            !$0.arguments.contains { $0.type.isNonNull }
        }.map(\.name))
    func noFieldReturnsObjectsOfOtherUsers(name: String) async throws {
        let victim = try await Self.victim()
        let field = try #require(Self.schema.queryType.field(named: name))
        let selection = Literals(schema: Self.schema).selection(of: field.type, depth: 3)
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute("{ \(name)\(selection) }")
        #expect(!response.isRequestError, "\(response.json)")
        let text = "\(response.json)"
        #expect(!text.contains("Secret"))
        for id in victim.allIDs { #expect(!text.contains(id)) }
    }
}

extension Value {
    /// Returns the value with the ID, and all times, other IDs, and cover URLs replaced by fixed texts.
    fileprivate func replacing(_ id: String) -> Value {
        switch self {
        case .string(let text):
            if text == id { return "the id" }
            if Instant(text) != nil { return "a time" }
            if UUIDText.matches(text) { return "another id" }
            // Cover URLs contain the IDs of the caller and the caller's book.
            if text.hasPrefix("http://covers.test/") { return "a URL" }
            return self
        case .list(let items): return .list(items.map { $0.replacing(id) })
        case .object(let members):
            // Each personal access token has another secret.
            return .object(
                members.map {
                    ["secret", "lastCharacters"].contains($0.name)
                        ? Member($0.name, "a secret") : Member($0.name, $0.value.replacing(id))
                })
        case .null, .boolean, .int, .bigInt, .float: return self
        }
    }
}

private enum UUIDText {
    static func matches(_ text: String) -> Bool {
        text.utf8.count == 36 && text.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12]
    }
}
