import GraphQL
import Testing

/// Tests when a deferred fragment or a streamed list becomes pending, and when it is complete.
@Suite struct DeliveryForestTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(Source(Self.sdl), hasIncrementalDelivery: true)
    }

    private static let sdl = """
        type Query { book: Book books: [Book] }
        type Book { title: String summary: String id: Int author: Author tags: [String] }
        type Author { name: String bio: String }
        """

    private static let root = """
        {"book": {"title": "T", "summary": "S", "id": 1, "author": {"name": "A", "bio": "B"}},
         "books": [{"title": "1"}, {"title": "2"}, {"title": "3"}]}
        """

    /// The part of field `summary` is written for `c` before `b`, which also has it, becomes pending.
    @Test func fragmentIsCompleteAtOnceIfItsFieldsWereLoadedForAnother() async throws {
        let found = try await incrementalResponses(
            to: """
                { book { ... @defer(label: "a") { title author { name } ... @defer(label: "b") { summary } }
                  ... @defer(label: "c") { summary id author { bio } } } }
                """, root: Self.root, schema: schema, loading: .call)
        let merged = try MergedResponse(found)
        #expect(
            merged.data.sorted
                == (try json(
                    #"{"book": {"author": {"bio": "B", "name": "A"}, "id": 1, "summary": "S", "title": "T"}}"#
                )))
        #expect(try labelsOfCompleted(found) == ["a", "b", "c"])
    }

    /// The first items of a list are part of the fragment around the list, but fragments in items are independent of it.
    @Test(arguments: JSONDataSource.Loading.allCases)
    func fragmentsInFirstItemsFollowTheList(loading: JSONDataSource.Loading) async throws {
        let found = try await incrementalResponses(
            to: """
                { ... @defer(label: "a") { books @stream(initialCount: 1) { title ... @defer(label: "b") { tags } } } }
                """, root: Self.root, schema: schema, loading: loading)
        #expect((try json(found[0]))["pending"]?.list?.map { $0["label"] } == [.string("a")])
        let merged = try MergedResponse(found)
        #expect(merged.data["books"]?.list?.allSatisfy { $0["tags"] == .null } == true)
        #expect(try labelsOfCompleted(found) == ["a", "b", "b", "b"])
    }

    /// Returns the labels in the order in which the client learns that their fragments are complete.
    private func labelsOfCompleted(_ responses: [String]) throws -> [String] {
        var labels: [String: String] = [:]
        var completed: [String] = []
        for response in responses {
            let response = try json(response)
            for entry in response["pending"]?.list ?? [] {
                if let id = entry["id"]?.string { labels[id] = entry["label"]?.string }
            }
            completed += (response["completed"]?.list ?? []).compactMap {
                labels[$0["id"]?.string ?? ""]
            }
        }
        return completed
    }
}
