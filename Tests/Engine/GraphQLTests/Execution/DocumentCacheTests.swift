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

    @Test func cachesDocumentsByText() async throws {
        let cache = try cache()
        for text in ["{ __typename }", "{ rate }", "{ __typename }", "{ rate }"] {
            _ = try await cache.document(Array(text.utf8))
        }
        #expect(cache.missCount == 2)
    }

    @Test func cachesRejectedDocuments() async throws {
        let cache = try cache()
        for _ in 0..<2 {
            await #expect(throws: RequestErrors.self) {
                _ = try await cache.document(Array("{ nothing }".utf8))
            }
        }
        #expect(cache.missCount == 1)
    }

    @Test(arguments: [1, 40]) func acceptsDocumentsLargerThanTheCache(bytesMax: Int) async throws {
        let cache = try cache { $0.cachedBytesMax = bytesMax }
        for text in ["{ __typename }", "{ a: __typename b: __typename }", "{ rate }"] {
            _ = try await cache.document(Array(text.utf8))
        }
        #expect(cache.missCount == 3)
    }

    @Test(arguments: [4, 50]) func keepsDocumentsThatAreUsedAgain(documentsMax: Int) async throws {
        let cache = try cache { $0.cachedDocumentsMax = documentsMax }
        let used = Array("{ __typename }".utf8)
        for index in 0..<200 {
            _ = try await cache.document(Array("{ a\(index): __typename }".utf8))
            _ = try await cache.document(used)
        }
        #expect(cache.missCount == 201)
        _ = try await cache.document(Array("{ a199: __typename }".utf8))
        #expect(cache.missCount == 201)
        _ = try await cache.document(Array("{ a0: __typename }".utf8))
        #expect(cache.missCount == 202)
    }

    @Test func removesAsManyDocumentsAsALargeOneNeeds() async throws {
        let measure = try cache()
        _ = try await measure.document(Array("{ a10: __typename }".utf8))
        let cache = try cache { $0.cachedBytesMax = 40 * measure.bytes }
        let texts = (10..<50).map { Array("{ a\($0): __typename }".utf8) }
        for text in texts { _ = try await cache.document(text) }
        #expect(cache.bytes == 40 * measure.bytes)
        // A text counts five times: once as the key, and four times for the document.
        let comment = String(repeating: "-", count: 2 * measure.bytes)
        let large = Array("{ a10: __typename #\(comment)\n}".utf8)
        _ = try await cache.document(large)
        #expect(try cache.cached(large) != nil)
        let left = try texts.filter { try cache.cached($0) != nil }
        #expect(left == Array(texts.suffix(28)))
    }

    /// A short text can have a large plan.
    @Test func plansCountForTheMemory() async throws {
        let cache = try cache {
            $0.operation = .trusted
            $0.cachedBytesMax = 1 << 20
        }
        let fields = (0..<200).map { "f\($0): __typename" }.joined(separator: " ")
        let documents = 100
        for index in 0..<documents {
            let text = Array("query($c: Boolean!) { a\(index): rate @skip(if: $c) \(fields) }".utf8)
            let document = try await cache.document(text)
            for condition in [true, false] {
                _ = try await document.plan(
                    operationName: nil, variables: variables("c", .boolean(condition)))
            }
            #expect(cache.bytes <= 1 << 20)
        }
        #expect(cache.bytes > 1 << 19)
        // The last ones are still there.
        let last = "query($c: Boolean!) { a\(documents - 1): rate @skip(if: $c) \(fields) }"
        #expect(try cache.cached(Array(last.utf8)) != nil)
    }

    /// A plan that needs much of the cache is made for each request, and removes no other documents.
    @Test func largePlansAreNotCached() async throws {
        let cache = try cache {
            $0.operation = .trusted
            $0.cachedBytesMax = 1 << 20
        }
        _ = try await cache.document(Array("{ rate }".utf8))
        let fields = (0..<400).map { "f\($0): __typename" }.joined(separator: " ")
        let large = try await cache.document(Array("{ \(fields) }".utf8))
        let bytes = cache.bytes
        let plan = try await large.plan(operationName: nil, variables: .null).plan
        #expect(try await large.plan(operationName: nil, variables: .null).plan !== plan)
        #expect(cache.bytes == bytes)
        #expect(try cache.cached(Array("{ rate }".utf8)) != nil)
    }

    @Test func removedDocumentsDoNotCount() async throws {
        let cache = try cache { $0.cachedDocumentsMax = 1 }
        let removed = try await cache.document(Array("{ a: __typename b: __typename }".utf8))
        _ = try await cache.document(Array("{ rate }".utf8))
        let bytes = cache.bytes
        _ = try await removed.plan(operationName: nil, variables: .null)
        removed.removeAllPlans()
        #expect(cache.bytes == bytes)
    }

    @Test func requestsAtTheSameTimeShareADocument() async throws {
        actor Requests {
            let cache: DocumentCache
            init(_ cache: sending DocumentCache) { self.cache = cache }
            func document(_ text: [UInt8]) async throws -> ObjectIdentifier {
                ObjectIdentifier(try await cache.document(text))
            }
        }
        let requests = Requests(try cache())
        let text = Array("{ __typename #\(String(repeating: "-", count: 5_000))\n}".utf8)
        async let first = requests.document(text)
        async let second = requests.document(text)
        let (one, other) = try await (first, second)
        #expect(one == other)
    }

    @Test func costDependsOnPageSizeVariable() async throws {
        let document = try await cache().document(
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
        let document = try await cache { $0.validation.hasSuggestions = hasSuggestions }
            .document(Array("query ($s: Stars) { rate(stars: $s) }".utf8))
        let error = await #expect(throws: RequestErrors.self) {
            try await document.plan(operationName: nil, variables: variables("s", .string("TWOO")))
        }
        #expect(error?.errors[0].message.contains("Did you mean") == hasSuggestions)
    }
}
