import GraphQL
import GraphQLServing
import Testing

@Suite struct DocumentCacheTests {
    private struct Resolvers: ResolverSource {
        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            field.name == "books" ? .load(NoBooks()) : .property
        }
    }

    private struct NoBooks: FieldLoader, PreparedLoad {
        func prepare(_ field: SelectedField) -> any PreparedLoad { self }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { .ready(.null(parents.count)) }
    }

    private func cache(_ change: (inout RequestLimits) -> Void = { _ in }) throws -> DocumentCache {
        let schema = try buildSchema(
            parse(
                Source(
                    """
                    type Query { books(first: Int = 10): [Book!]! rate(stars: Stars): Int }
                    type Book { title: String }
                    enum Stars { ONE TWO }
                    """)))
        var limits = RequestLimits()
        change(&limits)
        return DocumentCache(
            schema: schema, resolvers: Resolvers(), limits: limits, errorCodes: .apollo)
    }

    private func variables(_ name: String, _ value: Value) -> Value {
        .object([.init(name, value)])
    }

    @Test func cachesDocumentsByText() throws {
        let cache = try cache()
        for text in ["{ __typename }", "{ rate }", "{ __typename }", "{ rate }"] {
            _ = try cache.document(Array(text.utf8))
        }
        #expect(cache.missCount == 2)
    }

    @Test func cachesRejectedDocuments() throws {
        let cache = try cache()
        for _ in 0..<2 {
            #expect(throws: RequestErrors.self) { try cache.document(Array("{ nothing }".utf8)) }
        }
        #expect(cache.missCount == 1)
    }

    @Test(arguments: [1, 40]) func acceptsDocumentsLargerThanTheCache(bytesMax: Int) throws {
        let cache = try cache { $0.cachedSourceBytesMax = bytesMax }
        for text in ["{ __typename }", "{ a: __typename b: __typename }", "{ rate }"] {
            _ = try cache.document(Array(text.utf8))
        }
        #expect(cache.missCount == 3)
    }

    @Test func evictsLeastRecentlyUsedDocuments() throws {
        let cache = try cache { $0.cachedDocumentsMax = 4 }
        for index in 0..<5 { _ = try cache.document(Array("{ a\(index): __typename }".utf8)) }
        _ = try cache.document(Array("{ a4: __typename }".utf8))
        #expect(cache.missCount == 5)
        _ = try cache.document(Array("{ a0: __typename }".utf8))
        #expect(cache.missCount == 6)
    }

    @Test func costDependsOnPageSizeVariable() async throws {
        let document = try cache().document(
            Array("query ($n: Int) { books(first: $n) { title } }".utf8))
        for (size, cost) in [(5, 5), (7, 7), (5, 5)] {
            let planned = try await document.plan(
                operationName: nil, variables: variables("n", .int(size)))
            #expect(planned.cost == cost)
        }
        await #expect(throws: RequestErrors.self) {
            try await document.plan(operationName: nil, variables: variables("n", .int(100_000)))
        }
    }

    @Test(arguments: [true, false]) func suggestionsCanBeDisabled(hasSuggestions: Bool) async throws
    {
        let document = try cache { $0.validation.hasSuggestions = hasSuggestions }
            .document(Array("query ($s: Stars) { rate(stars: $s) }".utf8))
        let error = await #expect(throws: RequestErrors.self) {
            try await document.plan(operationName: nil, variables: variables("s", .string("TWOO")))
        }
        #expect(error?.errors[0].message.contains("Did you mean") == hasSuggestions)
    }
}
