import GraphQL
import GraphQLServing
import Testing

/// The elements of the schema that an operation uses.
@Suite struct SchemaElementsTests {
    private struct Resolvers: ResolverSource {
        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            ["node", "book", "add"].contains(field.name) ? .load(Nothing()) : .property
        }
    }

    private struct Nothing: FieldLoader, PreparedLoad {
        func prepare(_ field: SelectedField) -> any PreparedLoad { self }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { .ready(.null(parents.count)) }
    }

    private static let sdl = """
        type Query { node: Node book(id: ID, order: Order = UP): Book rate(in: [Input!]): Int }
        type Mutation { add(input: Input): Book }
        interface Node { id: ID }
        type Book implements Node { id: ID title: String old: String }
        type Shelf implements Node { id: ID name: String }
        enum Order { UP DOWN }
        input Input { order: Order = UP next: Input text: String }
        """

    private func elements(_ text: String, _ variables: String = "{}") async throws -> [String] {
        let variables = try parseJSON(Array(variables.utf8))
        let schema = try buildSchema(Source(Self.sdl))
        let cache = DocumentCache(
            schema: schema, resolvers: Resolvers(), limits: RequestLimits(), errorCodes: .apollo)
        let plan = try await cache.document(Array(text.utf8))
            .plan(operationName: nil, variables: variables).plan
        var counts = schema.elements.coordinates.map { _ in Int64(0) }
        plan.usedElements(variables: variables).increment(&counts)
        return zip(schema.elements.coordinates, counts).compactMap { coordinate, count in
            count == 0 ? nil : coordinate.description
        }
    }

    @Test func fieldsAndArgumentsAreUsed() async throws {
        #expect(
            try await elements(
                "{ book(id: 1) { title title __typename } __schema { types { name } } }")
                == ["Query.book", "Query.book(id:)", "Book.title"])
        // The default of an argument is not a use.
        #expect(try await elements("{ book { id } }") == ["Query.book", "Book.id"])
    }

    @Test func skippedFieldsAreNotUsed() async throws {
        let text = "query($all: Boolean!) { book { title old @include(if: $all) } }"
        #expect(try await elements(text, #"{"all": false}"#) == ["Query.book", "Book.title"])
        #expect(
            try await elements(text, #"{"all": true}"#) == ["Query.book", "Book.title", "Book.old"])
    }

    @Test func fieldsOfInterfacesAreUsedOnAllTypes() async throws {
        #expect(
            try await elements("{ node { id ... on Book { title } } }")
                == ["Query.node", "Node.id", "Book.id", "Book.title", "Shelf.id"])
    }

    @Test func literalsAreUsed() async throws {
        #expect(
            try await elements(
                "mutation { add(input: {next: {order: DOWN}, text: \"UP\"}) { id } }")
                == [
                    "Mutation.add", "Mutation.add(input:)", "Book.id", "Order.DOWN",
                    "Input.order", "Input.next", "Input.text",
                ])
        #expect(
            try await elements("{ rate(in: [{order: UP}, {order: DOWN}]) }")
                == ["Query.rate", "Query.rate(in:)", "Order.UP", "Order.DOWN", "Input.order"])
    }

    @Test func valuesOfVariablesAreUsed() async throws {
        let text =
            "query($in: [Input!], $order: Order = DOWN) { rate(in: $in) book(order: $order) { id } }"
        let always = [
            "Query.book", "Query.book(order:)", "Query.rate", "Query.rate(in:)", "Book.id",
        ]
        #expect(try await elements(text) == always + ["Order.DOWN"])
        #expect(
            try await elements(
                text, #"{"in": [{"text": "x"}, {"next": {"order": "UP"}}], "order": null}"#)
                == always + ["Order.UP", "Order.DOWN", "Input.order", "Input.next", "Input.text"])
        #expect(
            try await elements(
                "query($o: Order) { rate(in: {order: $o}) }", #"{"o": "UP", "more": "DOWN"}"#)
                == ["Query.rate", "Query.rate(in:)", "Order.UP", "Input.order"])
    }
}
