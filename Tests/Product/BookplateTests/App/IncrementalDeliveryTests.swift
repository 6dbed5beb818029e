import BookSources
import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// `@defer` and `@stream` over the product's fields: what is in which part, and the round trips of each.
@Suite struct IncrementalDeliveryTests {
    private static let query = """
        query Home($deferred: Boolean = true) {
          me {
            displayName
            ... @defer(if: $deferred, label: "books") { books(first: 3) { nodes { title } } }
          }
          ... @defer(if: $deferred, label: "lookup") { lookupISBN(isbn: "9780141439587") { title } }
        }
        """

    private static func reader() async throws -> TestReader {
        let reader = try await TestApp.start(catalog: []).makeReader()
        let id = try #require(reader.id.string)
        try await reader.app.database.execute(
            """
            INSERT INTO books (user_id, id, title, status)
            SELECT '\(id)', md5('book-' || n)::uuid, 'Book ' || n, 'READ' FROM generate_series(1, 4) n
            """)
        return reader
    }

    @Test func slowFieldsFollowTheFirstPart() async throws {
        let reader = try await Self.reader()
        let parts = try await reader.subscribe(Self.query)
        let first = await parts.next()
        #expect(first["data"]?["me"]?["displayName"] != nil)
        #expect(first["data"]?["me"]?["books"] == nil)
        #expect(first["data"]?["lookupISBN"] == nil)
        #expect(first["pending"]?.list?.count == 2)
        #expect(first["hasNext"] == .boolean(true))
        var labels: [String: Value] = [:]
        for pending in first["pending"]?.list ?? [] {
            labels[pending["id"]?.string ?? ""] = pending["label"]
        }
        var delivered: [String] = []
        var hasNext = true
        while hasNext {
            let part = await parts.next()
            delivered += (part["completed"]?.list ?? []).compactMap {
                labels[$0["id"]?.string ?? ""]?.string
            }
            hasNext = part["hasNext"]?.boolean ?? false
        }
        #expect(delivered.sorted() == ["books", "lookup"])
        #expect(await parts.next(within: .milliseconds(200)).isNull)
    }

    /// An external source that does not respond delays only the field that needs it.
    @Test func heldSourceDelaysOnlyItsField() async throws {
        let source = TestSource(["9780140328721": LookupISBNTests.fox])
        let (gate, release) = AsyncStream.makeStream(of: Never.self)
        source.hold(by: gate)
        let app = try await TestApp.start(
            catalog: [], sources: SourceChain([source.source(.openLibrary)]))
        let reader = try await app.makeReader()
        let parts = try await reader.subscribe(
            """
            {
              me { displayName }
              ... @defer(label: "lookup") { lookupISBN(isbn: "9780140328721") { title } }
              ... @defer(label: "feed") { feed(first: 1) { edges { node { id } } } }
              ... @defer(label: "books") { me { books(first: 3) { nodes { title } } } }
            }
            """)
        let first = await parts.next()
        var labels: [String: String] = [:]
        for pending in first["pending"]?.list ?? [] {
            labels[pending["id"]?.string ?? ""] = pending["label"]?.string
        }
        func completed(_ part: Value) -> [String] {
            (part["completed"]?.list ?? []).compactMap { labels[$0["id"]?.string ?? ""] }
        }
        var early: [String] = []
        while early.count < 2 { early += completed(await parts.next()) }
        #expect(early.sorted() == ["books", "feed"])
        release.finish()
        let last = await parts.next()
        #expect(completed(last) == ["lookup"])
        #expect(
            last["incremental"]?.list?.first?["data"]?["lookupISBN"]?["title"]
                == "Fantastic Mr. Fox")
        #expect(last["hasNext"] == .boolean(false))
    }

    @Test func clientOfSingleResponseGetsEverything() async throws {
        let reader = try await Self.reader()
        let response = try await reader.execute(Self.query)
        #expect(response.json["hasNext"] == nil)
        #expect(response.json["data"]?["me"]?["books"]?["nodes"]?.list?.count == 3)
        #expect(response.json["data"]?["lookupISBN"] != nil)
    }

    @Test func conditionThatIsFalseMakesSingleResponse() async throws {
        let reader = try await Self.reader()
        let parts = try await reader.subscribe(Self.query, ["deferred": false])
        let response = await parts.next()
        #expect(response["hasNext"] == nil)
        #expect(response["data"]?["me"]?["books"]?["nodes"]?.list?.count == 3)
    }

    @Test func nodesOfConnectionAreStreamed() async throws {
        let reader = try await Self.reader()
        let parts = try await reader.subscribe(
            "{ me { books(first: 4) { nodes @stream(initialCount: 1) { title authors { name } } totalCount } } }"
        )
        let first = await parts.next()
        let books = first["data"]?["me"]?["books"]
        #expect(books?["nodes"]?.list?.count == 1)
        #expect(books?["totalCount"] == .int(4))
        let second = await parts.next()
        #expect(second["incremental"]?.list?.first?["items"]?.list?.count == 3)
        #expect(second["hasNext"] == .boolean(false))
    }

    @Test func deferredFieldsOfOthersStayHidden() async throws {
        let reader = try await Self.reader()
        let other = try await reader.app.makeReader()
        let parts = try await other.subscribe(Self.query)
        _ = await parts.next()
        var titles: [Value] = []
        var hasNext = true
        while hasNext {
            let part = await parts.next()
            for entry in part["incremental"]?.list ?? [] {
                titles += entry["data"]?["books"]?["nodes"]?.list ?? []
            }
            hasNext = part["hasNext"]?.boolean ?? false
        }
        #expect(titles.isEmpty)
    }

    @Test func directivesAreUnknownIfTheyAreDisabled() throws {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        let errors = validate(try parse(Source(Self.query)), against: schema)
        #expect(errors.allSatisfy { $0.message == #"Unknown directive "@defer"."# })
        #expect(errors.count == 2)
    }
}
