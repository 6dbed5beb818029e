import GraphQL
import GraphQLServing
import Testing

/// Tests the plan of an operation, which all requests with the same conditions share.
@Suite struct PlanOperationTests {
    private static let sdl = """
        type Query { node: Node a: Int b: Int c: Int }
        interface Node { next: Node x: Int }
        type A implements Node { next: Node x: Int }
        type B implements Node { next: Node x: Int }
        type C implements Node { next: Node x: Int }
        """

    private func document(
        _ source: String, _ change: (inout RequestLimits) -> Void = { _ in }
    ) async throws -> CachedDocument {
        let schema = try buildSchema(Source(Self.sdl))
        var limits = RequestLimits.trusted
        change(&limits)
        let cache = DocumentCache(
            schema: schema, resolvers: JSONDataSource(schema: schema, loading: .immediate),
            limits: limits, errorCodes: .apollo)
        return try await cache.document(Array(source.utf8))
    }

    private func plan(
        _ document: CachedDocument, variables: String = "{}"
    ) async throws -> OperationPlan {
        try await document.plan(operationName: nil, variables: try json(variables)).plan
    }

    @Test func fieldsOfAbstractTypesAreCountedForEachPossibleType() async throws {
        let source = "{ a node { x } }"
        _ = try await plan(try await document(source) { $0.plannedFieldsMax = 5 })
        let error = await #expect(throws: RequestErrors.self) {
            try await plan(try await document(source) { $0.plannedFieldsMax = 4 })
        }
        #expect(
            error.map { String(decoding: $0.body, as: UTF8.self) }
                == #"{"errors":[{"message":"The operation selects more than 4 fields. "#
                + #"Select fewer fields or split the operation.","extensions":"#
                + #"{"code":"OPERATION_TOO_COMPLEX","limit":"plannedFieldsMax","max":4}}]}"#)
    }

    /// Equal selections are planned once. Otherwise, each level would have three times as many
    /// fields as the one above it.
    @Test func planOfNestedAbstractTypesIsLinear() async throws {
        let source = "{ node { " + nested("next { ", "x", " }", 29) + " } }"
        // The field `node`, and one field of each type for each of the 30 levels below it.
        _ = try await plan(try await document(source) { $0.plannedFieldsMax = 1 + 30 * 3 })
        await #expect(throws: RequestErrors.self) {
            try await plan(try await document(source) { $0.plannedFieldsMax = 30 * 3 })
        }
    }

    @Test func skippedFieldsAreNotPlanned() async throws {
        let source = "{ a node @skip(if: true) { x } }"
        _ = try await plan(try await document(source) { $0.plannedFieldsMax = 1 })
    }

    @Test func requestsWithTheSameConditionsShareAPlan() async throws {
        let document = try await document("query ($s: Boolean!) { a @skip(if: $s) b c }")
        let first = try await plan(document, variables: #"{"s": true}"#)
        #expect(try await plan(document, variables: #"{"s": true}"#) === first)
        #expect(try await plan(document, variables: #"{"s": false}"#) !== first)
        #expect(try await plan(document, variables: #"{"s": true}"#) === first)
    }

    /// A client that tries all combinations of conditions does not use more memory.
    @Test func numberOfCachedPlansIsLimited() async throws {
        let document = try await document(
            "query ($s: Boolean!, $t: Boolean!) { a @skip(if: $s) b @skip(if: $t) }"
        ) { $0.plansPerDocumentMax = 2 }
        func plan(_ s: Bool, _ t: Bool) async throws -> OperationPlan {
            try await self.plan(document, variables: #"{"s": \#(s), "t": \#(t)}"#)
        }
        let first = try await plan(false, false)
        _ = try await plan(false, true)
        #expect(try await plan(false, false) === first)
        // The third plan removes the first two.
        _ = try await plan(true, false)
        let again = try await plan(false, false)
        #expect(again !== first)
        #expect(again.root.fields.map(\.selected.name) == ["a", "b"])
    }
}
