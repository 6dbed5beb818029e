import GraphQL
import Testing

/// Tests how errors of fields are handled: their paths and order, and null propagation.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Handling-Execution-Errors
@Suite struct ExecutionErrorTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                """
                type Query {
                  book: Book sureBook: Book! books: [Book] sureBooks: [Book!] allSure: [Book!]!
                }
                type Book { name: String title: String! author: Author sureAuthor: Author! tags: [String!] }
                type Author { name: String! friend: Author sureFriend: Author! }
                """))
    }

    @Test(arguments: [
        ExecutionCase(
            name: "a nullable field with an error is null", source: "{ book { name } }",
            root: #"{"book": {"name": {"$error": "No."}}}"#,
            response: """
                {"errors": [{"message": "No.", "locations": [{"line": 1, "column": 10}],
                             "path": ["book", "name"]}],
                 "data": {"book": {"name": null}}}
                """),
        ExecutionCase(
            name: "a non-nullable field that is null makes its object null",
            source: "{ book { title } }", root: #"{"book": {}}"#,
            response: """
                {"errors": [{"message": "Cannot return null for non-nullable field Book.title.",
                             "locations": [{"line": 1, "column": 10}], "path": ["book", "title"]}],
                 "data": {"book": null}}
                """),
        ExecutionCase(
            name: "null propagates to the nearest nullable field",
            source: "{ book { name sureAuthor { sureFriend { name } } } }",
            root:
                #"{"book": {"name": "N", "sureAuthor": {"sureFriend": {"name": {"$error": "No."}}}}}"#,
            response: """
                {"errors": [{"message": "No.", "locations": [{"line": 1, "column": 41}],
                             "path": ["book", "sureAuthor", "sureFriend", "name"]}],
                 "data": {"book": null}}
                """),
        ExecutionCase(
            name: "values beside the nullable field are kept",
            source: "{ book { name author { friend { name } } tags } }",
            root: #"{"book": {"name": "N", "author": {"friend": {}}, "tags": ["x"]}}"#,
            response: """
                {"errors": [{"message": "Cannot return null for non-nullable field Author.name.",
                             "locations": [{"line": 1, "column": 33}],
                             "path": ["book", "author", "friend", "name"]}],
                 "data": {"book": {"name": "N", "author": {"friend": null}, "tags": ["x"]}}}
                """),
        ExecutionCase(
            name: "null propagates to the nullable item of a list", source: "{ books { title } }",
            root: #"{"books": [{"title": "T"}, {}, {"title": "V"}]}"#,
            response: """
                {"errors": [{"message": "Cannot return null for non-nullable field Book.title.",
                             "locations": [{"line": 1, "column": 11}], "path": ["books", 1, "title"]}],
                 "data": {"books": [{"title": "T"}, null, {"title": "V"}]}}
                """),
        ExecutionCase(
            name: "null propagates out of a list with non-nullable items",
            source: "{ sureBooks { title } book { name } }",
            root: #"{"sureBooks": [{"title": "T"}, {}], "book": {"name": "N"}}"#,
            response: """
                {"errors": [{"message": "Cannot return null for non-nullable field Book.title.",
                             "locations": [{"line": 1, "column": 15}], "path": ["sureBooks", 1, "title"]}],
                 "data": {"sureBooks": null, "book": {"name": "N"}}}
                """),
        ExecutionCase(
            name: "data is null if every field up to the root is non-nullable",
            source: "{ book { name } allSure { sureAuthor { name } } }",
            root:
                #"{"book": {"name": "N"}, "allSure": [{"sureAuthor": {"name": "A"}}, {"sureAuthor": {}}]}"#,
            response: """
                {"errors": [{"message": "Cannot return null for non-nullable field Author.name.",
                             "locations": [{"line": 1, "column": 40}],
                             "path": ["allSure", 1, "sureAuthor", "name"]}],
                 "data": null}
                """),
        ExecutionCase(
            name: "null at a non-nullable root field makes data null",
            source: "{ book { name } sureBook { name } }", root: #"{"book": {"name": "N"}}"#,
            response: """
                {"errors": [{"message": "Cannot return null for non-nullable field Query.sureBook.",
                             "locations": [{"line": 1, "column": 17}], "path": ["sureBook"]}],
                 "data": null}
                """),
    ])
    func nullPropagatesToNearestNullableValue(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    @Test(arguments: [
        ExecutionCase(
            name: "errors have the order of the response",
            source: "{ book { author { name } name } a: book { name } }",
            root: #"{"book": {"author": {"name": {"$error": "1"}}, "name": {"$error": "2"}}}"#,
            response: """
                {"errors": [
                    {"message": "1", "locations": [{"line": 1, "column": 19}], "path": ["book", "author", "name"]},
                    {"message": "2", "locations": [{"line": 1, "column": 26}], "path": ["book", "name"]},
                    {"message": "2", "locations": [{"line": 1, "column": 43}], "path": ["a", "name"]}
                 ],
                 "data": {"book": {"author": null, "name": null}, "a": {"name": null}}}
                """),
        ExecutionCase(
            name: "paths consist of response keys and list indices",
            source: "{ a: books { b: author { c: friend { d: name } } } }",
            root: #"{"books": [{}, {"author": {"friend": {}}}]}"#,
            response: """
                {"errors": [{"message": "Cannot return null for non-nullable field Author.name.",
                             "locations": [{"line": 1, "column": 38}], "path": ["a", 1, "b", "c", "d"]}],
                 "data": {"a": [{"b": null}, {"b": {"c": null}}]}}
                """),
        ExecutionCase(
            name: "an error that made a non-nullable field null is not reported again",
            source: "{ book { sureAuthor { name } } }",
            root: #"{"book": {"sureAuthor": {"$error": "No."}}}"#,
            response: """
                {"errors": [{"message": "No.", "locations": [{"line": 1, "column": 10}],
                             "path": ["book", "sureAuthor"]}],
                 "data": {"book": null}}
                """),
        ExecutionCase(
            name: "errors before the one that made the object null are reported",
            source: "{ book { name title tags } }",
            root:
                #"{"book": {"name": {"$error": "1"}, "title": {"$error": "2"}, "tags": {"$error": "3"}}}"#,
            response: """
                {"errors": [
                    {"message": "1", "locations": [{"line": 1, "column": 10}], "path": ["book", "name"]},
                    {"message": "2", "locations": [{"line": 1, "column": 15}], "path": ["book", "title"]}
                 ],
                 "data": {"book": null}}
                """),
        ExecutionCase(
            name: "a list reports the errors of all its nullable items",
            source: "{ books { name } }",
            root: #"{"books": [{"$error": "1"}, {"name": {"$error": "2"}}, {"$error": "3"}]}"#,
            response: """
                {"errors": [
                    {"message": "1", "locations": [{"line": 1, "column": 3}], "path": ["books", 0]},
                    {"message": "2", "locations": [{"line": 1, "column": 11}], "path": ["books", 1, "name"]},
                    {"message": "3", "locations": [{"line": 1, "column": 3}], "path": ["books", 2]}
                 ],
                 "data": {"books": [null, {"name": null}, null]}}
                """),
        ExecutionCase(
            name: "a list with non-nullable items reports the first error",
            source: "{ sureBooks { name } }",
            root: #"{"sureBooks": [{}, {"$error": "1"}, {"$error": "2"}]}"#,
            response: """
                {"errors": [{"message": "1", "locations": [{"line": 1, "column": 3}], "path": ["sureBooks", 1]}],
                 "data": {"sureBooks": null}}
                """),
    ])
    func errorsHavePathAndOrderOfTheResponse(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    /// The last error says how many are left out.
    @Test(arguments: JSONDataSource.Loading.allCases)
    func numberOfErrorsIsLimited(loading: JSONDataSource.Loading) async throws {
        let items = Array(repeating: #"{"name": {"$error": "No."}}"#, count: 4).joined(
            separator: ",")
        let response = try await respond(
            to: "{ books { name } }", root: #"{"books": [\#(items)]}"#, schema: schema,
            loading: loading, errorsMax: 2)
        #expect(
            response
                == jsonText(
                    try json(
                        """
                        {"errors": [
                            {"message": "No.", "locations": [{"line": 1, "column": 11}], "path": ["books", 0, "name"]},
                            {"message": "No.", "locations": [{"line": 1, "column": 11}], "path": ["books", 1, "name"]},
                            {"message": "2 more errors are left out, so a null without an error may have failed.",
                             "extensions": {"code": "RESPONSE_TOO_LARGE", "limit": "errorsMax", "max": 2, "omitted": 2}}
                         ],
                         "data": {"books": [{"name": null}, {"name": null}, {"name": null}, {"name": null}]}}
                        """)))
    }

    @Test(arguments: [ErrorBehavior.propagate, .null, .halt], [1, 2, 3])
    func everyNullOfAnErrorIsExplained(onError: ErrorBehavior, errorCount: Int) async throws {
        let items = Array(repeating: #"{"name": {"$error": "No."}}"#, count: errorCount)
            .joined(separator: ",")
        let response = try json(
            try await respond(
                to: "{ books { name } }", root: #"{"books": [\#(items)]}"#, schema: schema,
                onError: onError, errorsMax: 2))
        let errors = response["errors"]?.list ?? []
        let last = errors.last?["extensions"]
        switch (onError, errorCount) {
        case (.halt, _):
            #expect(errors.count == 1 && response["data"] == .null)
        case (_, ...2):
            #expect(errors.count == errorCount && response["data"] != .null)
        case (.propagate, _):
            #expect(errors.count == 3 && last?["omitted"] == .int(1))
            #expect(response["data"]?["books"]?.list?.count == 3)
        case (.null, _):
            // A client finds the values that have failed only by the paths of the errors.
            #expect(errors.count == 1 && response["data"] == .null)
            #expect(last?["code"]?.string == "RESPONSE_TOO_LARGE")
            #expect(last?["limit"]?.string == "errorsMax")
        }
    }
}
