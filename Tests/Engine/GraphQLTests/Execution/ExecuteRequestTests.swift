import GraphQL
import Testing

/// Tests ExecuteRequest and GetOperation.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Executing-Requests
@Suite struct ExecuteRequestTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source("type Query { name: String } type Mutation { rename(to: String!): String }"))
    }

    @Test(arguments: [
        ExecutionCase(
            name: "the only operation needs no name", source: "query A { name }",
            root: #"{"name": "N"}"#, response: #"{"data": {"name": "N"}}"#),
        ExecutionCase(
            name: "the operation name selects one of several operations",
            source: "query A { name } query B { b: name } mutation C { rename(to: \"x\") }",
            root: #"{"name": "N"}"#, operationName: "B", response: #"{"data": {"b": "N"}}"#),
        ExecutionCase(
            name: "an operation of any kind can be selected",
            source: "query A { name } mutation C { rename(to: \"x\") }",
            root: #"{"rename": "R"}"#, operationName: "C", response: #"{"data": {"rename": "R"}}"#),
    ])
    func executesSelectedOperation(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    @Test(arguments: [
        ExecutionCase(
            name: "several operations need a name", source: "query A { name } query B { name }",
            response: """
                {"errors": [{
                    "message": "Must provide operation name if query contains multiple operations.",
                    "extensions": {"code": "BAD_USER_INPUT"}
                }]}
                """),
        ExecutionCase(
            name: "the name must be that of an operation", source: "query A { name }",
            operationName: "B",
            response: """
                {"errors": [{
                    "message": "Unknown operation named \\"B\\".",
                    "extensions": {"code": "BAD_USER_INPUT"}
                }]}
                """),
        ExecutionCase(
            name: "an empty name is not an absent name", source: "{ name }", operationName: "",
            response: """
                {"errors": [{
                    "message": "Unknown operation named \\"\\".",
                    "extensions": {"code": "BAD_USER_INPUT"}
                }]}
                """),
        ExecutionCase(
            name: "the document must be syntactically correct", source: "{ name",
            response: """
                {"errors": [{
                    "message": "Syntax Error: Expected Name, found <EOF>.",
                    "locations": [{"line": 1, "column": 7}],
                    "extensions": {"code": "GRAPHQL_PARSE_FAILED"}
                }]}
                """),
        ExecutionCase(
            name: "the document must be valid", source: "{ name nothing }",
            response: """
                {"errors": [{
                    "message": "Cannot query field \\"nothing\\" on type \\"Query\\".",
                    "locations": [{"line": 1, "column": 8}],
                    "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}
                }]}
                """),
        ExecutionCase(
            name: "invalid parts of other operations prevent the execution",
            source: "query A { name } query B { nothing }", operationName: "A",
            response: """
                {"errors": [{
                    "message": "Cannot query field \\"nothing\\" on type \\"Query\\".",
                    "locations": [{"line": 1, "column": 28}],
                    "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}
                }]}
                """),
        ExecutionCase(
            name: "the schema must have the kind of the operation", source: "subscription { name }",
            response: """
                {"errors": [{
                    "message": "The subscription operation is not supported by the schema.",
                    "locations": [{"line": 1, "column": 1}],
                    "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}
                }]}
                """),
    ])
    func requestErrorsPreventExecution(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }
}
