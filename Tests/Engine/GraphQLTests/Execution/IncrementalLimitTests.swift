import GraphQL
import Testing

/// Tests the limits on the size of responses with `@defer` and `@stream`.
@Suite struct IncrementalLimitTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                """
                type Query { book: Book books: [Book] sure: [Book!] }
                type Book { title: String summary: String id: Int similar: [Book] }
                """), hasIncrementalDelivery: true)
    }

    /// Returns a query result with a list of equal books.
    private func books(_ count: Int, _ book: String) -> String {
        #"{"books": [\#(Array(repeating: book, count: count).joined(separator: ","))]}"#
    }

    private func code(_ error: Value?) -> String? { error?["extensions"]?["code"]?.string }

    @Test func limitOfDeferredFragmentsIsChecked() async throws {
        var limits = RequestLimits.trusted
        limits.deferredFragmentsMax = 2
        let found = try await incrementalResponses(
            to: "{ book { ... @defer { id } ... @defer { id } ... @defer { id } } }",
            root: #"{"book": {"id": 1}}"#, schema: schema, limits: limits)
        #expect(
            (try json(found[0]))["errors"]?.list?.first?["extensions"]?["code"]
                == .string("OPERATION_TOO_COMPLEX"))
    }

    @Test(arguments: [IncrementalFormat.draft, .apollo2022])
    func partThatIsTooLargeFails(format: IncrementalFormat) async throws {
        let summary = String(repeating: "s", count: 1_000)
        let found = try await incrementalResponses(
            to: "{ book { id ... @defer { title summary } } }",
            root: #"{"book": {"id": 1, "title": "T", "summary": "\#(summary)"}}"#, schema: schema,
            format: format, responseBytesMax: 500)
        #expect(found.count == 2)
        let last = try json(found[1])
        let entry = (last["completed"] ?? last["incremental"])?.list?.first
        #expect(code(entry?["errors"]?.list?.first) == "RESPONSE_TOO_LARGE")
        #expect(last["hasNext"] == .boolean(false))
    }

    /// Otherwise, each part could be as large as what is left of the limit.
    @Test(arguments: [
        "{ books { title ... @defer { summary } } }",
        "{ books { title } ... @defer { books { summary } } }",
        "{ books @stream(initialCount: 1) { title ... @defer { summary } } }",
    ])
    func everythingPendingFailsTogether(source: String) async throws {
        let summary = String(repeating: "s", count: 1_000)
        let found = try await incrementalResponses(
            to: source, root: books(200, #"{"title": "T", "summary": "\#(summary)"}"#),
            schema: schema, responseBytesMax: 100_000)
        #expect(found.dropLast().reduce(0) { $0 + $1.utf8.count } <= 100_000)
        #expect(found.last.map { !$0.contains(summary) } == true)
        let errors = try MergedResponse(found).errors
        #expect(!errors.isEmpty)
        #expect(errors.allSatisfy { code($0) == "RESPONSE_TOO_LARGE" })
    }

    @Test func labelsAndPathsCountTowardsTheSizeOfTheFirstResponse() async throws {
        let label = String(repeating: "l", count: 1_000)
        let found = try await incrementalResponses(
            to: #"{ books { title ... @defer(label: "\#(label)") { id } } }"#,
            root: books(200, #"{"title": "T"}"#), schema: schema, responseBytesMax: 100_000)
        #expect(found.count == 1)
        #expect(found[0].utf8.count < 1_000)
        #expect(code(try json(found[0])["errors"]?.list?.first) == "RESPONSE_TOO_LARGE")
    }

    /// The items that made the response too large were not delivered, so the list ends before them.
    @Test func refusalNamesTheFirstItemThatIsMissing() async throws {
        let title = String(repeating: "t", count: 30_000)
        let found = try await incrementalResponses(
            to: "{ books @stream(initialCount: 1) { title } }",
            root: books(8, #"{"title": "\#(title)"}"#), schema: schema, format: .apollo2022,
            responseBytesMax: 140_000)
        var count = 1
        for response in found.dropFirst().dropLast() {
            count += try json(response)["incremental"]?.list?.first?["items"]?.list?.count ?? 0
        }
        let last = try json(try #require(found.last))["incremental"]?.list?.first
        #expect(code(last?["errors"]?.list?.first) == "RESPONSE_TOO_LARGE")
        #expect(last?["path"] == .list([.string("books"), .int(count)]))
    }

    /// The path of each deferred object contains the alias.
    @Test(arguments: [IncrementalFormat.draft, .apollo2022])
    func pathsCountTowardsTheSizeOfLaterResponses(format: IncrementalFormat) async throws {
        let alias = String(repeating: "a", count: 1_000)
        let found = try await incrementalResponses(
            to: "{ \(alias): books { title } ... @defer { \(alias): books { id } } }",
            root: books(200, #"{"title": "T", "id": 1}"#), schema: schema, format: format,
            responseBytesMax: 100_000)
        #expect(found.count == 2)
        #expect(found[1].contains("RESPONSE_TOO_LARGE"))
        #expect(found[1].utf8.count < 1_000)
    }

    /// Each deferred part takes memory until it is delivered, even if a fragment has no data. Beyond the limit, `@defer` and `@stream`
    /// are ignored, in the first response and in later ones.
    ///
    /// The number of books is just above the limit: a fragment counts, and so does its part of each object.
    @Test(
        arguments: [
            ("{ books { ... @defer { title } } }", 2_550),
            ("{ books { ... @defer { similar { title ... @defer { id } } } id } }", 2_550),
            ("{ books { similar @stream { title } } }", 5_050),
            (
                "{ books { similar @stream(initialCount: 1) { title ... @defer { similar { id } } } } }",
                2_550
            ),
            ("{ books { title } ... @defer { books { id } } }", 5_050),
            ("{ ... @defer { books { title ... @defer { id similar { id } } } } }", 2_550),
            (
                "{ books @stream(initialCount: 1) { id similar @stream { title ... @defer { id } } } }",
                2_550
            ),
        ], [JSONDataSource.Loading.afterFlush, .call])
    func numberOfDeferredPartsIsLimited(
        example: (source: String, bookCount: Int), loading: JSONDataSource.Loading
    ) async throws {
        let source = example.source
        let book =
            #"{"title": "T", "id": 1, "similar": [{"title": "S", "id": 2, "similar": [{"id": 3}]}]}"#
        let root = books(example.bookCount, book)
        let found = try await incrementalResponses(
            to: source, root: root, schema: schema, loading: loading)
        let pendingCount = try found.reduce(0) {
            $0 + (try json($1)["pending"]?.list?.count ?? 0)
        }
        #expect(found.count > 1 && pendingCount <= 5_000)
        let merged = try MergedResponse(found)
        #expect(merged.errors.isEmpty)
        let whole = try json(
            try await respond(to: source, root: root, schema: schema, loading: loading))
        #expect(merged.data.sorted == whole["data"]?.sorted)
    }

    @Test func listThatFailsAfterTooManyErrorsIsNotComplete() async throws {
        let failing = #"{"summary": {"$error": "no summary"}}"#
        let found = try await incrementalResponses(
            to: "{ sure @stream(initialCount: 1) { summary } }",
            root: #"{"sure": [{}, \#(failing), \#(failing), \#(failing), null]}"#, schema: schema,
            errorsMax: 2)
        let merged = try MergedResponse(found)
        #expect(merged.data["sure"]?.list?.count == 4)
        #expect(
            merged.errors.map { jsonText($0["path"] ?? $0["extensions"]?["omitted"] ?? .null) }
                == [#"["sure",1,"summary"]"#, #"["sure",2,"summary"]"#, "1", #"["sure",4]"#])
        let last = try json(try #require(found.last))
        #expect(last["completed"]?.list?.first?["errors"]?.list?.count == 1)
    }

    @Test func errorsOfAllPartsAreCountedTogether() async throws {
        let found = try await incrementalResponses(
            to: "{ books { ... @defer { summary } } }",
            root: books(10, #"{"summary": {"$error": "no summary"}}"#), schema: schema,
            errorsMax: 3)
        let errors = try MergedResponse(found).errors
        #expect(errors.count { $0["path"] != nil } == 3)
        #expect(errors.reduce(0) { $0 + ($1["extensions"]?["omitted"]?.int ?? 0) } == 7)
    }

    /// A client that requests `NULL` finds the values that have failed only by the paths of the errors.
    @Test(arguments: [
        "{ books { ... @defer { summary } } }", "{ books @stream(initialCount: 1) { summary } }",
    ])
    func everythingPendingFailsAfterTooManyErrorsOfNull(source: String) async throws {
        for (errorsMax, isComplete) in [(10, true), (9, false)] {
            let found = try await incrementalResponses(
                to: source, root: books(10, #"{"summary": {"$error": "no summary"}}"#),
                schema: schema, onError: .null, errorsMax: errorsMax)
            let errors = try MergedResponse(found).errors
            #expect(errors.contains { code($0) == "RESPONSE_TOO_LARGE" } != isComplete)
            #expect(errors.count { $0["path"] != nil } <= errorsMax)
        }
    }
}
