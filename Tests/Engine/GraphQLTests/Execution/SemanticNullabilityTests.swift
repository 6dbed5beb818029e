import GraphQL
import Testing

/// The directive `@semanticNonNull` of a schema: null without an error is an error, which does not propagate.
@Suite struct SemanticNullabilityTests {
    private static let directive =
        "directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION "

    private static let sdl =
        directive + """
            type Query {
              book: Book @semanticNonNull
              books: [Book] @semanticNonNull(levels: [0, 1])
              ids: [[Int]] @semanticNonNull(levels: 2)
            }
            type Book { title: String @semanticNonNull summary: String id: Int! @semanticNonNull }
            """

    @Test(
        arguments: [
            (
                #"{"book": {"title": "T", "id": 1}}"#,
                #"{"book":{"title":"T","summary":null,"id":1}}"#,
                []
            ),
            (
                #"{"book": {"id": 1}}"#, #"{"book":{"title":null,"summary":null,"id":1}}"#,
                ["Cannot return null for semantically non-nullable field Book.title."]
            ),
            (
                "{}", #"{"book":null}"#,
                ["Cannot return null for semantically non-nullable field Query.book."]
            ),
            (#"{"book": {"$error": "failed"}}"#, #"{"book":null}"#, ["failed"]),
            (
                #"{"book": {"title": "T"}}"#, #"{"book":null}"#,
                ["Cannot return null for non-nullable field Book.id."]
            ),
        ] as [(String, String, [String])])
    func nullWithoutErrorIsAnError(root: String, data: String, errors: [String]) async throws {
        try await check("{ book { title summary id } }", root, data, errors)
    }

    @Test(
        arguments: [
            (
                #"{"books": [{"title": "1"}, null], "ids": [[1, null], null]}"#,
                #"{"books":[{"title":"1"},null],"ids":[[1,null],null]}"#,
                [
                    "Cannot return null for semantically non-nullable field Query.books.",
                    "Cannot return null for semantically non-nullable field Query.ids.",
                ]
            ),
            (
                "{}", #"{"books":null,"ids":null}"#,
                ["Cannot return null for semantically non-nullable field Query.books."]
            ),
        ] as [(String, String, [String])])
    func levelsAreListDepths(root: String, data: String, errors: [String]) async throws {
        try await check("{ books { title } ids }", root, data, errors)
    }

    private func check(
        _ source: String, _ root: String, _ data: String, _ errors: [String]
    ) async throws {
        let schema = try buildSchema(Source(Self.sdl))
        for loading in JSONDataSource.Loading.allCases {
            let response = try json(
                try await respond(to: source, root: root, schema: schema, loading: loading))
            #expect(response["data"].map(jsonText) == data, "loading: \(loading)")
            let messages = (response["errors"]?.list ?? []).compactMap { $0["message"]?.string }
            #expect(messages == errors, "loading: \(loading)")
        }
    }

    @Test(arguments: [
        ("a: Int @semanticNonNull(levels: [1])", "1, but its type Int has only levels from 0 to 0"),
        (
            "a: [Int] @semanticNonNull(levels: 2)",
            "2, but its type [Int] has only levels from 0 to 1"
        ),
        (
            "a: [Int] @semanticNonNull(levels: [0, -1])",
            "-1, but its type [Int] has only levels from 0 to 1"
        ),
    ])
    func levelsOutsideOfTheTypeAreErrors(field: String, expected: String) {
        #expect {
            try buildSchema(Source(Self.directive + "type Query { \(field) }"))
        } throws: { error in
            (error as? RequestErrors)?.errors.map(\.message)
                == ["@semanticNonNull of Query.a has the level \(expected)."]
        }
    }

    @Test func directiveIsUnknownUnlessTheSchemaDefinesIt() {
        #expect(throws: RequestErrors.self) {
            try buildSchema(Source("type Query { a: Int @semanticNonNull }"))
        }
    }
}
