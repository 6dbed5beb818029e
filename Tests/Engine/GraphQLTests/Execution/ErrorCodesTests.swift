import GraphQL
import GraphQLServing
import Testing

/// The codes that a program chooses for the errors of the engine.
@Suite struct ErrorCodesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let request: GraphQLRequest
        let kind: GraphQLError.Kind
        let apolloCode: String

        var testDescription: String { "\(kind)" }

        init(
            _ query: String?, operationName: String? = nil, variables: Value? = nil,
            _ kind: GraphQLError.Kind, _ apolloCode: String
        ) {
            var request = GraphQLRequest(query: query)
            request.operationName = operationName
            request.variables = variables
            self.request = request
            self.kind = kind
            self.apolloCode = apolloCode
        }
    }

    private static let cases = [
        Case("{", .invalidSyntax, "GRAPHQL_PARSE_FAILED"),
        Case("{ unknown }", .invalidDocument, "GRAPHQL_VALIDATION_FAILED"),
        Case(nil, .invalidInput, "BAD_USER_INPUT"),
        Case("{ defect }", operationName: "Other", .invalidInput, "BAD_USER_INPUT"),
        Case(
            "query($n: Int) { text(length: $n) }", variables: .object([.init("n", .string("2"))]),
            .invalidInput, "BAD_USER_INPUT"),
        Case(
            "{ " + String(repeating: "a ", count: 200) + "}", .limitExceeded,
            "OPERATION_TOO_COMPLEX"),
        Case("{ text(length: 5000) }", .responseTooLarge, "RESPONSE_TOO_LARGE"),
        Case("{ defect }", .internalError, "INTERNAL_SERVER_ERROR"),
    ]

    private struct Defect: Error {}

    private func codes(of request: GraphQLRequest, _ codes: ErrorCodes?) async throws -> [String?] {
        let schema = try ExecutableSchema<NoContext>(
            "type Query { text(length: Int): String, defect: Int, refused: Int }"
        ) { types in
            types.query.field("text") { request in
                String(repeating: "x", count: request.arguments["length"]?.int ?? 0)
            }
            types.query.field("defect") { _ -> Int in throw Defect() }
            types.query.field("refused") { _ -> Int in
                throw FieldError("No.", extensions: [.init("code", .string("NO"))])
            }
        }
        var limits = RequestLimits()
        limits.parsing.tokensMax = 100
        limits.responseBytesMax = 4096
        let service =
            if let codes {
                SchemaService(schema, limits: limits, errorCodes: codes) { _ in NoContext() }
            } else {
                SchemaService(schema, limits: limits) { _ in NoContext() }
            }
        let body = await service.respond(to: request).body
        let response = try parseJSON(body)
        let errors = try #require(response["errors"]?.list)
        return errors.map { $0["extensions"]?["code"]?.string }
    }

    @Test(arguments: cases)
    func engineErrorHasChosenCode(_ given: Case) async throws {
        let chosen = ErrorCodes { kind in "E-\(kind)" }
        #expect(try await codes(of: given.request, chosen) == ["E-\(given.kind)"])
        #expect(try await codes(of: given.request, ErrorCodes.none) == [nil])
        // The default.
        #expect(try await codes(of: given.request, nil) == [given.apolloCode])
    }

    @Test func everyKindIsTested() {
        #expect(Set(Self.cases.map(\.kind)) == Set(GraphQLError.Kind.allCases))
    }

    @Test func resolverErrorKeepsItsCode() async throws {
        let request = GraphQLRequest(query: "{ refused }")
        #expect(try await codes(of: request, ErrorCodes { _ in "OTHER" }) == ["NO"])
    }
}
