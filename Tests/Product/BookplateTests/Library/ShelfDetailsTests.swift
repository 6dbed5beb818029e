import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The descriptions and colors of shelves.
@Suite struct ShelfDetailsTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let create = """
        mutation($input: CreateShelfInput!) { createShelf(input: $input) {
          id name description color
        } }
        """
    private static let update = """
        mutation($id: ID!, $input: UpdateShelfInput!) { updateShelf(id: $id, input: $input) {
          name description color
        } }
        """
    private static let shelves = "{ me { shelves { name description color } } }"

    private func shelves(_ reader: TestReader) async throws -> Value {
        try await reader.requireValue(Self.shelves, .null, "me", "shelves")
    }

    @Test func shelfIsDescribedAndColored() async throws {
        let reader = try await Self.app().makeReader()
        let made = try await reader.requireValue(
            Self.create,
            ["input": ["name": "A", "description": "  For trains. ", "color": "BLUE"]],
            "createShelf")
        #expect(made["description"] == "For trains." && made["color"] == "BLUE")
        let id = try #require(made["id"])
        for (input, description, color) in [
            (["name": "B"], "For trains.", "BLUE"), (["color": "RED"], "For trains.", "RED"),
            (["description": "x"], "x", "RED"), (["color": .null], "x", .null),
            (["description": " \u{200B}"], .null, .null),
            (["name": "A", "description": "y", "color": "GRAY"], "y", "GRAY"),
            (["description": .null, "position": 0], .null, "GRAY"),
        ] as [(Value, Value, Value)] {
            let shelf = try await reader.requireValue(
                Self.update, ["id": id, "input": input], "updateShelf")
            #expect(shelf["description"] == description && shelf["color"] == color, "\(input)")
        }
        #expect(
            try await shelves(reader) == [["name": "A", "description": .null, "color": "GRAY"]])
    }

    @Test func changesAreLoggedOnce() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeShelf("A")
        let changes = "{ changes { changes { nodeId kind } } }"
        let before = try await reader.requireValue(changes, .null, "changes", "changes").list?.count
        for _ in 0..<2 {
            _ = try await reader.requireValue(
                Self.update, ["id": id, "input": ["description": "x", "color": "RED"]],
                "updateShelf")
        }
        let after = try await reader.requireValue(changes, .null, "changes", "changes").list ?? []
        #expect(after.count == (before ?? 0) + 1)
        #expect(after.last == ["nodeId": id, "kind": "UPDATED"])
    }

    @Test func longDescriptionsAreRefused() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeShelf("A")
        let long = Value.string(String(repeating: "é", count: 1_001))
        for response in [
            try await reader.execute(Self.update, ["id": id, "input": ["description": long]]),
            try await reader.execute(
                Self.create, ["input": ["name": "B", "description": long]]),
        ] {
            #expect(response.code == "BAD_USER_INPUT" && response.reason == "TOO_LONG")
            #expect(response.field == "description")
            #expect(response.errors.first?["extensions", "max"] == 1_000)
        }
        #expect(try await shelves(reader) == [["name": "A", "description": .null, "color": .null]])
    }

    @Test func shelvesOfOthersAreNotChanged() async throws {
        let (reader, other) = (
            try await Self.app().makeReader(), try await Self.app().makeReader()
        )
        let id = try await reader.makeShelf("A")
        let response = try await other.execute(
            Self.update, ["id": id, "input": ["description": "x", "color": "RED"]])
        #expect(response.code == "NOT_FOUND" && response.reason == "NO_SUCH_SHELF")
        #expect(try await shelves(reader) == [["name": "A", "description": .null, "color": .null]])
    }

    /// An imported shelf adds only what the shelf of the library lacks.
    @Test func exportsAndImportsKeepThem() async throws {
        let reader = try await Self.app().makeReader()
        for (name, color) in [("A", "BLUE"), ("B", "RED")] as [(Value, Value)] {
            _ = try await reader.requireValue(
                Self.create,
                ["input": ["name": name, "description": "Text", "color": color]], "createShelf")
        }
        let exported = try await shelves(reader)
        let other = try await Self.app().makeReader()
        _ = try await other.requireValue(
            Self.create, ["input": ["name": "b", "color": "GREEN"]], "createShelf")
        for part in try await ImportRoundTripTests().exported(reader) {
            _ = try await ImportRoundTripTests().imported(other, part)
        }
        #expect(
            try await shelves(other) == [
                ["name": "b", "description": "Text", "color": "GREEN"],
                exported.list?.first ?? .null,
            ])
        #expect(try await shelves(reader) == exported)
    }

    @Test func mergeKeepsTheDetailsOfTheAccount() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        let account = try await app.makeReader()
        for input in [
            ["name": "Both", "description": "Account"], ["name": "Account", "color": "GRAY"],
        ] as [Value] {
            _ = try await account.requireValue(Self.create, ["input": input], "createShelf")
        }
        let guest = try await app.makeGuest()
        for input in [
            ["name": "both", "description": "Guest", "color": "RED"],
            ["name": "Guest", "description": "Guest", "color": "PINK"],
        ] as [Value] {
            _ = try await guest.requireValue(Self.create, ["input": input], "createShelf")
        }
        let token = app.identityToken(subject: account.subject)
        _ = try await app.signIn(token: token, as: guest)
        #expect(
            try await shelves(account) == [
                ["name": "Both", "description": "Account", "color": "RED"],
                ["name": "Account", "description": .null, "color": "GRAY"],
                ["name": "Guest", "description": "Guest", "color": "PINK"],
            ])
    }
}
