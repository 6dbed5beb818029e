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
    ) throws -> CachedDocument {
        let schema = try buildSchema(Source(Self.sdl))
        var limits = RequestLimits.trusted
        change(&limits)
        let cache = DocumentCache(
            schema: schema, resolvers: JSONDataSource(schema: schema, loading: .immediate),
            limits: limits, errorCodes: .apollo)
        return try cache.document(Array(source.utf8))
    }

    private func plan(
        _ document: CachedDocument, variables: String = "{}"
    ) throws -> OperationPlan {
        try document.plan(operationName: nil, variables: try json(variables)).plan
    }

    @Test func fieldsOfAbstractTypesAreCountedForEachPossibleType() throws {
        let source = "{ a node { x } }"
        _ = try plan(try document(source) { $0.plannedFieldsMax = 5 })
        let error = #expect(throws: RequestErrors.self) {
            try plan(try document(source) { $0.plannedFieldsMax = 4 })
        }
        #expect(
            error.map { String(decoding: $0.body, as: UTF8.self) }
                == #"{"errors":[{"message":"The operation selects more than 4 fields. "#
                + #"Select fewer fields or split the operation.","extensions":"#
                + #"{"code":"OPERATION_TOO_COMPLEX","limit":"plannedFieldsMax","max":4}}]}"#)
    }

    /// Equal selections are planned once. Otherwise, each level would have three times as many
    /// fields as the one above it.
    @Test func planOfNestedAbstractTypesIsLinear() throws {
        let source = "{ node { " + nested("next { ", "x", " }", 29) + " } }"
        // The field `node`, and one field of each type for each of the 30 levels below it.
        _ = try plan(try document(source) { $0.plannedFieldsMax = 1 + 30 * 3 })
        #expect(throws: RequestErrors.self) {
            try plan(try document(source) { $0.plannedFieldsMax = 30 * 3 })
        }
    }

    @Test func skippedFieldsAreNotPlanned() throws {
        let source = "{ a node @skip(if: true) { x } }"
        _ = try plan(try document(source) { $0.plannedFieldsMax = 1 })
    }

    @Test func requestsWithTheSameConditionsShareAPlan() throws {
        let document = try document("query ($s: Boolean!) { a @skip(if: $s) b c }")
        let first = try plan(document, variables: #"{"s": true}"#)
        #expect(try plan(document, variables: #"{"s": true}"#) === first)
        #expect(try plan(document, variables: #"{"s": false}"#) !== first)
        #expect(try plan(document, variables: #"{"s": true}"#) === first)
    }

    /// A client that tries all combinations of conditions does not use more memory.
    @Test func numberOfCachedPlansIsLimited() throws {
        let document = try document(
            "query ($s: Boolean!, $t: Boolean!) { a @skip(if: $s) b @skip(if: $t) }"
        ) { $0.plansPerDocumentMax = 2 }
        func plan(_ s: Bool, _ t: Bool) throws -> OperationPlan {
            try self.plan(document, variables: #"{"s": \#(s), "t": \#(t)}"#)
        }
        let first = try plan(false, false)
        _ = try plan(false, true)
        #expect(try plan(false, false) === first)
        // The third plan removes the first two.
        _ = try plan(true, false)
        let again = try plan(false, false)
        #expect(again !== first)
        #expect(again.root.fields.map(\.selected.name) == ["a", "b"])
    }
}
