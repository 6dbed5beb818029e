import GraphQL
import GraphQLServing
import Testing

/// Tests `@defer` and `@stream`: which part of the response is delivered when.
///
/// Spec: https://github.com/graphql/graphql-spec/pull/1110
@Suite struct IncrementalDeliveryTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(Source(Self.sdl), hasIncrementalDelivery: true)
    }

    private static let sdl = """
        type Query { book: Book books: [Book] sure: [Book!] }
        type Mutation { add: Book }
        type Book { title: String summary: String id: Int! author: Author similar: [Book] tags: [String] }
        type Author { name: String bio: String! book: Book }
        """

    private static let root = """
        {"book": {"title": "T", "summary": "S", "id": 1, "tags": ["x", "y"],
                  "author": {"name": "A", "bio": "B", "book": {"title": "U", "id": 2}}},
         "books": [{"title": "1", "id": 1}, {"title": "2"}, {"title": "3", "id": 3}],
         "sure": [{"title": "1"}, {"title": "2"}, null, {"title": "4"}],
         "add": {"title": "N", "id": 4, "summary": "M"}}
        """

    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let source: String
        var variables = "{}"
        let responses: [String]
        var testDescription: String { name }
    }

    @Test(arguments: [
        Case(
            name: "a deferred inline fragment",
            source: #"{ book { title ... @defer(label: "more") { summary } } }"#,
            responses: [
                #"{"data":{"book":{"title":"T"}},"pending":[{"id":"0","path":["book"],"label":"more"}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","data":{"summary":"S"}}],"completed":[{"id":"0"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a deferred fragment spread of the root",
            source: "{ ...F @defer } fragment F on Query { book { id } }",
            responses: [
                #"{"data":{},"pending":[{"id":"0","path":[]}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","data":{"book":{"id":1}}}],"completed":[{"id":"0"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a field that is also selected outside of the fragment is not deferred",
            source: "{ book { title ... @defer { title author { name } } author { bio } } }",
            responses: [
                #"{"data":{"book":{"title":"T","author":{"bio":"B"}}},"pending":[{"id":"0","path":["book"]}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","subPath":["author"],"data":{"name":"A"}}],"completed":[{"id":"0"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a fragment without fields of its own is not announced",
            source: "{ book { title ... @defer { title } } }",
            responses: [#"{"data":{"book":{"title":"T"}}}"#]),
        Case(
            name: "a field of two fragments is delivered with the first complete one",
            source: """
                { book { ... @defer(label: "a") { title author { name } } ... @defer(label: "b") { title } } }
                """,
            responses: [
                #"{"data":{"book":{}},"pending":[{"id":"0","path":["book"],"label":"a"},{"id":"1","path":["book"],"label":"b"}],"hasNext":true}"#,
                #"{"incremental":[{"id":"1","data":{"title":"T"}},{"id":"0","data":{"author":{"name":"A"}}}],"completed":[{"id":"1"},{"id":"0"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a nested fragment follows the outer one",
            source: "{ book { ... @defer { title ... @defer { author { name } } } } }",
            responses: [
                #"{"data":{"book":{}},"pending":[{"id":"0","path":["book"]}],"hasNext":true}"#,
                #"{"pending":[{"id":"1","path":["book"]}],"incremental":[{"id":"0","data":{"title":"T"}}],"completed":[{"id":"0"}],"hasNext":true}"#,
                #"{"incremental":[{"id":"1","data":{"author":{"name":"A"}}}],"completed":[{"id":"1"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a condition that is false",
            source: "query($d: Boolean!) { book { title ... @defer(if: $d) { summary } } }",
            variables: #"{"d": false}"#,
            responses: [#"{"data":{"book":{"title":"T","summary":"S"}}}"#]),
        Case(
            name: "each object of a list has its own fragment",
            source: "{ books { title ... @defer { id } } }",
            responses: [
                #"{"data":{"books":[{"title":"1"},{"title":"2"},{"title":"3"}]},"pending":[{"id":"0","path":["books",0]},{"id":"1","path":["books",1]},{"id":"2","path":["books",2]}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","data":{"id":1}},{"id":"2","data":{"id":3}}],"completed":[{"id":"0"},{"id":"1","errors":[{"message":"Cannot return null for non-nullable field Book.id.","locations":[{"line":1,"column":30}],"path":["books",1,"id"]}]},{"id":"2"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a mutation",
            source: "mutation { add { title ... @defer { summary } } }",
            responses: [
                #"{"data":{"add":{"title":"N"}},"pending":[{"id":"0","path":["add"]}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","data":{"summary":"M"}}],"completed":[{"id":"0"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a streamed list",
            source: #"{ books @stream(initialCount: 1, label: "s") { title } }"#,
            responses: [
                #"{"data":{"books":[{"title":"1"}]},"pending":[{"id":"0","path":["books"],"label":"s"}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","items":[{"title":"2"},{"title":"3"}]}],"completed":[{"id":"0"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a streamed list that starts empty",
            source: "{ books @stream { title } }",
            responses: [
                #"{"data":{"books":[]},"pending":[{"id":"0","path":["books"]}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","items":[{"title":"1"},{"title":"2"},{"title":"3"}]}],"completed":[{"id":"0"}],"hasNext":false}"#,
            ]),
        Case(
            name: "a list that is not longer than its start",
            source: "{ books @stream(initialCount: 3) { title } }",
            responses: [
                #"{"data":{"books":[{"title":"1"},{"title":"2"},{"title":"3"}]}}"#
            ]),
        Case(
            name: "an item that must not be null ends a list",
            source: "{ sure @stream(initialCount: 1) { title } }",
            responses: [
                #"{"data":{"sure":[{"title":"1"}]},"pending":[{"id":"0","path":["sure"]}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","items":[{"title":"2"}]}],"completed":[{"id":"0","errors":[{"message":"Cannot return null for non-nullable field Query.sure.","locations":[{"line":1,"column":3}],"path":["sure",2]}]}],"hasNext":false}"#,
            ]),
        Case(
            name: "a negative start is an error of the field",
            source: "query($n: Int!) { books @stream(initialCount: $n) { title } }",
            variables: #"{"n": -1}"#,
            responses: [
                #"{"errors":[{"message":"initialCount must be a positive integer or 0.","locations":[{"line":1,"column":19}],"path":["books"],"extensions":{"code":"BAD_USER_INPUT"}}],"data":{"books":null}}"#
            ]),
        Case(
            name: "fragments of streamed items follow the items",
            source: "{ books @stream(initialCount: 2) { title ... @defer { similar { id } } } }",
            responses: [
                #"{"data":{"books":[{"title":"1"},{"title":"2"}]},"pending":[{"id":"0","path":["books"]},{"id":"1","path":["books",0]},{"id":"2","path":["books",1]}],"hasNext":true}"#
            ]),
    ])
    func delivers(_ test: Case) async throws {
        for loading in JSONDataSource.Loading.allCases {
            let found = try await incrementalResponses(
                to: test.source, root: Self.root, variables: test.variables, schema: schema,
                loading: loading)
            #expect(found.first == test.responses.first, "loading: \(loading)")
            // Calls are delivered one by one, and properties before what has to be loaded. The last case shows only the
            // first response.
            if !loading.deliversFieldsOneByOne, loading != .properties, test.responses.count > 1 {
                #expect(found == test.responses, "loading: \(loading)")
            }
            let merged = try MergedResponse(found)
            let plain = try await respond(
                to: test.source, root: Self.root, variables: test.variables, schema: schema,
                loading: loading)
            if merged.errors.isEmpty {
                #expect(merged.data.sorted == (try json(plain))["data"]?.sorted)
            }
        }
    }

    /// A value that is discarded because of an error has nothing to deliver later.
    @Test func discardedValuesAreNotAnnounced() async throws {
        let found = try await incrementalResponses(
            to: "{ book { author { book { ... @defer { title } } bio } } }",
            root: #"{"book": {"author": {"book": {"title": "T"}}}}"#, schema: schema)
        #expect(found.count == 1)
        #expect((try json(found[0]))["data"] == (try json(#"{"book": {"author": null}}"#)))
        #expect((try json(found[0]))["pending"] == nil)
    }

    @Test func loadsOfAllFragmentsShareTheirFlushes() async throws {
        let context = RecordingContext()
        _ = try await incrementalResponses(
            to: """
                { books { title ... @defer { author { name } } ... @defer { similar { title } } } }
                """, root: Self.root, schema: schema, loading: .afterFlush, context: context)
        #expect(
            context.events == [
                "Query.books × 1", "flush", "Book.title × 3", "flush",
                "Book.author × 3", "Book.similar × 3", "flush",
            ])
    }

    @Test func itemsOfListThatStartsEmptyAreLoadedLater() async throws {
        let context = RecordingContext()
        let responses = try await incrementalResponses(
            to: "{ books @stream { title } }", root: Self.root, schema: schema,
            loading: .afterFlush, context: context)
        #expect(responses.count == 2)
        #expect(context.events == ["Query.books × 1", "flush", "Book.title × 3", "flush"])
    }

    /// A call to another service does not delay what was loaded without it.
    @Test func callsAreDeliveredOneByOne() async throws {
        let context = RecordingContext()
        let responses = try await incrementalResponses(
            to: "{ book { id ... @defer { title } ... @defer { summary } } }", root: Self.root,
            schema: schema, loading: .call, context: context)
        #expect(
            responses == [
                #"{"data":{"book":{"id":1}},"pending":[{"id":"0","path":["book"]},{"id":"1","path":["book"]}],"hasNext":true}"#,
                #"{"incremental":[{"id":"0","data":{"title":"T"}}],"completed":[{"id":"0"}],"hasNext":true}"#,
                #"{"incremental":[{"id":"1","data":{"summary":"S"}}],"completed":[{"id":"1"}],"hasNext":false}"#,
            ])
    }

    /// Calls to other services run at the same time, and the result of each is delivered when it is there.
    @Test func slowCallDoesNotDelayOthers() async throws {
        let (gate, release) = AsyncStream.makeStream(of: Never.self)
        let schema = try ExecutableSchema(
            "type Query { slow: String fast: String }", hasIncrementalDelivery: true
        ) { resolvers in
            resolvers.query.field("slow") { _ in
                for await _ in gate {}
                return "slow"
            }
            resolvers.query.field("fast") { _ in "fast" }
        }
        let cache = DocumentCache(
            schema: schema.schema, resolvers: schema, limits: .trusted, errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(
            Array("{ ... @defer { slow } ... @defer { fast } }".utf8)
        ).plan(operationName: nil, variables: .null, isIncremental: true)
        let (_, rest) = await executeIncrementally(
            plan, variables: variables, context: NoContext())
        let second = try #require(try await rest?.next())
        #expect(
            String(decoding: second.body, as: UTF8.self)
                == #"{"incremental":[{"id":"1","data":{"fast":"fast"}}],"completed":[{"id":"1"}],"hasNext":true}"#
        )
        release.finish()
        let last = try #require(try await rest?.next())
        #expect(
            String(decoding: last.body, as: UTF8.self)
                == #"{"incremental":[{"id":"0","data":{"slow":"slow"}}],"completed":[{"id":"0"}],"hasNext":false}"#
        )
    }

    @Test func cancellationEndsEverythingThatIsPending() async throws {
        let schema = try ExecutableSchema(
            "type Query { never: String list: [Int!]! }", hasIncrementalDelivery: true
        ) { resolvers in
            resolvers.query.field("never") { _ in
                try await Task.sleep(for: .seconds(3600))
                return "never"
            }
            resolvers.query.field("list") { _ in [1, 2] }
        }
        let cache = DocumentCache(
            schema: schema.schema, resolvers: schema, limits: .trusted, errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(
            Array("{ list ... @defer { never } }".utf8)
        ).plan(operationName: nil, variables: .null, isIncremental: true)
        let task = Task {
            let (_, rest) = await executeIncrementally(
                plan, variables: variables, context: NoContext())
            let last = try await rest?.next()
            #expect(try await rest?.next() == nil)
            return last.map { String(decoding: $0.body, as: UTF8.self) }
        }
        task.cancel()
        #expect(
            try await task.value
                == #"{"completed":[{"id":"0","errors":[{"message":"An internal error occurred.","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}],"hasNext":false}"#
        )
    }

    @Test func nothingIsLoadedBeforeTheNextResponseIsRequested() async throws {
        let cache = DocumentCache(
            schema: schema, resolvers: JSONDataSource(schema: schema, loading: .afterFlush),
            limits: .trusted, errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(
            Array("{ book { id ... @defer { title } } }".utf8)
        ).plan(operationName: nil, variables: .null, isIncremental: true)
        let context = RecordingContext()
        let (_, rest) = await executeIncrementally(
            plan, variables: variables,
            root: JSONBatch([try json(Self.root)], selection: plan.root), context: context)
        #expect(rest != nil)
        #expect(context.events == ["Query.book × 1", "flush", "Book.id × 1", "flush"])
    }

    @Test func clientOfSingleResponseGetsEverythingAtOnce() async throws {
        let response = try await respond(
            to: "{ book { title ... @defer { id } } books @stream { title } }",
            root: Self.root, schema: schema)
        #expect(
            response
                == #"{"data":{"book":{"title":"T","id":1},"books":[{"title":"1"},{"title":"2"},{"title":"3"}]}}"#
        )
    }

    @Test func longListIsDeliveredInSeveralResponses() async throws {
        let items = (0..<20_000).map { #"{"title": "book number \#($0)"}"# }
        let found = try await incrementalResponses(
            to: "{ books @stream(initialCount: 2) { title } }",
            root: #"{"books": [\#(items.joined(separator: ","))]}"#, schema: schema)
        #expect(found.count > 5)
        #expect(found.allSatisfy { $0.utf8.count < 70_000 })
        #expect(try MergedResponse(found).data["books"]?.list?.count == 20_000)
    }

    @Test func apolloFormatHasPathsAndLabels() async throws {
        let found = try await incrementalResponses(
            to: """
                { book { title ... @defer(label: "a") { title author { name } } ... @defer(label: "b") { summary } author { bio } }
                  books @stream(initialCount: 1) { title } sure { ... @defer(label: "c") { id } } }
                """,
            root: Self.root.replacing(
                #""sure": [{"title": "1"}"#,
                with: #""sure": [{"title": "1"}], "x": [{"title": "1"}"#),
            schema: schema, format: .apollo2022)
        #expect(
            found == [
                #"{"data":{"book":{"title":"T","author":{"bio":"B"}},"books":[{"title":"1"}],"sure":[{}]},"hasNext":true}"#,
                #"{"incremental":[{"items":[{"title":"2"},{"title":"3"}],"path":["books",1]}],"hasNext":true}"#,
                #"{"incremental":[{"data":{"summary":"S"},"path":["book"],"label":"b"},{"data":{"name":"A"},"path":["book","author"]},{"data":{},"path":["book"],"label":"a"},{"data":null,"path":["sure",0],"label":"c","errors":[{"message":"Cannot return null for non-nullable field Book.id.","locations":[{"line":2,"column":76}],"path":["sure",0,"id"]}]}],"hasNext":false}"#,
            ])
    }
}
