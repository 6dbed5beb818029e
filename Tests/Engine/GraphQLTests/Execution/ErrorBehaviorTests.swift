import GraphQL
import Testing

/// Tests what an execution error does to the rest of the response.
///
/// Spec: https://github.com/graphql/graphql-spec/pull/1236
@Suite struct ErrorBehaviorTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(Source(Self.sdl), hasIncrementalDelivery: true)
    }

    private static let sdl = """
        type Query { book: Book books: [Book!] sure: Book! matrix: [[Int!]!] }
        type Mutation { first: Book second: Book third: Book }
        type Book { title: String! summary: String id: Int! author: Author! broken: String }
        type Author { name: String! }
        """

    private static let root = """
        {"book": {"title": "T", "id": null, "summary": {"$error": "no summary"}, "author": {"name": null}},
         "books": [{"title": "1"}, null, {"title": null}], "sure": {"$error": "no book"},
         "matrix": [[1, null], null, [2]],
         "first": {"title": "1"}, "second": {"$error": "not added"}, "third": {"title": "3"}}
        """

    struct Case: CustomTestStringConvertible, Sendable {
        let source: String
        let onError: ErrorBehavior
        /// The value of `data` as JSON.
        let data: String
        /// The paths of the errors as JSON.
        let paths: [String]
        var testDescription: String { "\(onError) \(source)" }
    }

    @Test(arguments: [
        Case(
            source: "{ book { title id } }", onError: .propagate, data: #"{"book":null}"#,
            paths: [#"["book","id"]"#]),
        Case(
            source: "{ book { title id } }", onError: .null,
            data: #"{"book":{"title":"T","id":null}}"#, paths: [#"["book","id"]"#]),
        Case(
            source: "{ book { title id } }", onError: .halt, data: "null",
            paths: [#"["book","id"]"#]),
        Case(
            source: "{ book { id author { name } summary } }", onError: .null,
            data: #"{"book":{"id":null,"author":{"name":null},"summary":null}}"#,
            paths: [
                #"["book","id"]"#, #"["book","author","name"]"#, #"["book","summary"]"#,
            ]),
        Case(
            source: "{ book { title summary id } }", onError: .halt, data: "null",
            paths: [#"["book","summary"]"#]),
        Case(
            source: "{ books { title } sure { title } matrix }", onError: .null,
            data:
                #"{"books":[{"title":"1"},null,{"title":null}],"sure":null,"matrix":[[1,null],null,[2]]}"#,
            paths: [
                #"["books",1]"#, #"["books",2,"title"]"#, #"["sure"]"#, #"["matrix",0,1]"#,
                #"["matrix",1]"#,
            ]),
        Case(source: "{ matrix }", onError: .halt, data: "null", paths: [#"["matrix",0,1]"#]),
        Case(
            source: "{ book { title } }", onError: .halt, data: #"{"book":{"title":"T"}}"#,
            paths: []),
    ])
    func errorsHaveTheRequestedEffect(_ test: Case) async throws {
        for loading in JSONDataSource.Loading.allCases {
            let response = try json(
                try await respond(
                    to: test.source, root: Self.root, schema: schema, loading: loading,
                    onError: test.onError))
            #expect(response["data"].map(jsonText) == test.data, "loading: \(loading)")
            let paths = (response["errors"]?.list ?? []).map { jsonText($0["path"] ?? .null) }
            #expect(paths == test.paths, "loading: \(loading)")
        }
    }

    /// Otherwise, a client that discards the response of a failed mutation would still have later changes.
    @Test func laterFieldsOfMutationAreNotExecutedAfterHalt() async throws {
        let context = RecordingContext()
        let response = try await respond(
            to: "mutation { first { title } second { title } third { title } }", root: Self.root,
            schema: schema, loading: .afterFlush, context: context, onError: .halt)
        #expect(try json(response)["data"] == .null)
        #expect(
            context.events == [
                "Mutation.first × 1", "flush", "Book.title × 1", "flush", "Mutation.second × 1",
                "flush",
            ])
    }

    /// `first` is loaded, but its id must not be null.
    @Test func laterFieldsOfMutationAreNotExecutedIfAValueHalts() async throws {
        let context = RecordingContext()
        let response = try await respond(
            to: "mutation { first { id } second { title } }",
            root: #"{"first": {"id": null}, "second": {"title": "2"}}"#, schema: schema,
            loading: .afterFlush, context: context, onError: .halt)
        #expect(try json(response)["data"] == .null)
        #expect(!context.events.contains("Mutation.second × 1"))
    }

    @Test func nothingIsLoadedBelowTheLevelOfAnErrorThatHalts() async throws {
        let context = RecordingContext()
        let response = try await respond(
            to: "{ book { author { name } summary } }", root: Self.root, schema: schema,
            loading: .afterFlush, context: context, onError: .halt)
        #expect(try json(response)["errors"]?.list?.count == 1)
        #expect(
            context.events == [
                "Query.book × 1", "flush", "Book.author × 1", "Book.summary × 1", "flush",
            ])
    }

    @Test func deferredFragmentKeepsItsDataWithNull() async throws {
        let parts = try await incrementalResponses(
            to: "{ book { title ... @defer { id } } books @stream(initialCount: 1) { title } }",
            root: Self.root, schema: schema, onError: .null)
        let merged = try MergedResponse(parts)
        #expect(
            jsonText(merged.data)
                == #"{"book":{"title":"T","id":null},"books":[{"title":"1"},null,{"title":null}]}"#
        )
        #expect(merged.errors.count == 3)
    }

    @Test func errorInPartEndsTheWholeResponseWithHalt() async throws {
        let parts = try await incrementalResponses(
            to: """
                { book { title ... @defer { id } } books @stream(initialCount: 1) { title }
                  ... @defer { sure { title } } }
                """,
            root: Self.root, schema: schema, onError: .halt)
        #expect(parts.count == 2)
        let merged = try MergedResponse(parts)
        #expect(jsonText(merged.data) == #"{"book":{"title":"T"},"books":[{"title":"1"}]}"#)
        // One for each announced fragment and list.
        #expect(merged.errors.count == 3)
    }

    /// An error of an item that is delivered later does not keep the first items from being loaded.
    @Test(arguments: JSONDataSource.Loading.allCases)
    func errorInLaterItemEndsStreamedListWithHalt(loading: JSONDataSource.Loading) async throws {
        let items = (0..<8).map { index in
            let title = index == 5 ? #"{"$error": "no title"}"# : "\"\(index)\""
            return #"{"title": \#(title), "author": {"name": "A"}}"#
        }
        let parts = try await incrementalResponses(
            to: "{ books @stream(initialCount: 1) { author { name } title } }",
            root: #"{"books": [\#(items.joined(separator: ","))]}"#, schema: schema,
            loading: loading, onError: .halt)
        #expect(
            jsonText(try json(parts[0])["data"] ?? .null)
                == #"{"books":[{"author":{"name":"A"},"title":"0"}]}"#)
        let merged = try MergedResponse(parts)
        #expect(merged.data["books"]?.list?.count == 5)
        #expect(merged.errors.map { jsonText($0["path"] ?? .null) } == [#"["books",5,"title"]"#])
    }

    @Test func errorInFirstPartAnnouncesNothingWithHalt() async throws {
        let parts = try await incrementalResponses(
            to: "{ book { id ... @defer { title } } }", root: Self.root, schema: schema,
            onError: .halt)
        #expect(parts.count == 1)
        #expect(try json(parts[0])["data"] == .null)
        #expect(try json(parts[0])["pending"] == nil)
    }
}
