import GraphQL
import GraphQLServing
import Synchronization
import Testing

/// A loader that answers wrongly is an error of its field. It never ends the process, and other fields have their values.
@Suite struct LoaderDefectTests {
    /// Returns fixed values for the field `bad` of `Query`.
    private struct Loader: FieldLoader, PreparedLoad {
        let load: @Sendable () -> Load

        func prepare(_ field: SelectedField) -> any PreparedLoad { self }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { load() }
    }

    /// Objects whose fields are the text `value`, or nothing at all.
    private final class Batch: ObjectBatch {
        let count: Int
        private let writesNothing: Bool

        init(_ count: Int, writesNothing: Bool = false) {
            self.count = count
            self.writesNothing = writesNothing
        }

        func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
            if !writesNothing { writer.write("value") }
            return .value
        }
    }

    private struct Resolvers: ResolverSource {
        let load: @Sendable () -> Load

        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            if type.name == "Query" {
                let other: @Sendable () -> Load = { .ready(.each(of: Batch(1))) }
                return .load(Loader(load: field.name == "good" ? other : load))
            }
            return .property
        }
    }

    private final class Context: ExecutionContext {
        let needsFlush = false
        var defects: [String] = []

        func flush() async {}

        func error(for defect: LoaderDefect) -> FieldError {
            defects.append(defect.description)
            return FieldError("Defect.")
        }
    }

    private func check(
        _ field: String, _ problem: String, _ load: @escaping @Sendable () -> Load,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws {
        let schema = try buildSchema(
            Source(
                """
                type Query { good: String object: Thing objects: [Thing!] leaf: String }
                type Thing { text: String }
                """))
        let cache = DocumentCache(
            schema: schema, resolvers: Resolvers(load: load), limits: RequestLimits(),
            errorCodes: .apollo)
        let selection = field.hasPrefix("object") ? " { text }" : ""
        let document = try await cache.document(Array("{ \(field)\(selection) good }".utf8))
        let (plan, variables, _) = try await document.plan(operationName: nil, variables: .null)
        let context = Context()
        let result = await execute(plan, variables: variables, context: context)
        let text = String(decoding: result.body, as: UTF8.self)
        let json = try parseJSON(result.body)
        #expect(json["errors"]?.list?.count == 1, "\(text)", sourceLocation: sourceLocation)
        let good = json["data"]?["good"]
        #expect(good == .string("value"), "\(text)", sourceLocation: sourceLocation)
        #expect(context.defects == [problem], sourceLocation: sourceLocation)
    }

    @Test func tooFewValues() async throws {
        try await check("leaf", "The loader of Query.leaf returned 0 values for 1 objects.") {
            .ready(Children(slots: [], groups: []))
        }
    }

    @Test(arguments: [
        (Slot.error(0), "returned the error 0 of 0"),
        (.error(-1), "returned the error -1 of 0"),
        (
            .object(group: 1, index: 0),
            "returned the object 0 of the group 1, which has no such object"
        ),
        (
            .object(group: 0, index: 1),
            "returned the object 1 of the group 0, which has no such object"
        ),
        (
            .object(group: 0, index: -1),
            "returned the object -1 of the group 0, which has no such object"
        ),
        (.list(start: 0, count: 1), "returned a list in place of a value"),
    ])
    func slotThatRefersToNothing(slot: Slot, problem: String) async throws {
        for field in ["object", "leaf"] {
            try await check(field, "The loader of Query.\(field) \(problem).") {
                .ready(Children(slots: [slot], groups: [.init(Batch(1))]))
            }
        }
    }

    @Test(arguments: [
        (Slot.object(group: 0, index: 0), "returned an object in place of a list"),
        (.list(start: 1, count: 1), "returned a list of 1 values from 1 on, but only 1 values"),
        (.list(start: -1, count: 1), "returned a list of 1 values from -1 on, but only 1 values"),
        (
            .list(start: 0, count: .max),
            "returned a list of 2147483647 values from 0 on, but only 1 values"
        ),
        // A list that contains itself.
        (.list(start: 0, count: 1), "returned a list in place of a value"),
    ])
    func invalidList(slot: Slot, problem: String) async throws {
        try await check("objects", "The loader of Query.objects \(problem).") {
            .ready(Children(slots: [slot], groups: [.init(Batch(1))]))
        }
    }

    @Test func objectsOfAnUnknownSelection() async throws {
        try await check(
            "object", "The loader of Query.object returned objects of the selection 1 of 1."
        ) {
            .ready(
                Children(
                    slots: [.object(group: 0, index: 0)],
                    groups: [.init(Batch(1), selection: 1)]))
        }
    }

    private struct Book {}

    /// Returns the parents as the values of the field.
    private struct ParentsLoader: FieldLoader, PreparedLoad {
        func prepare(_ field: SelectedField) -> any PreparedLoad { self }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { .ready(.each(of: parents)) }
    }

    /// A batch of closures cannot write the fields of another selection: it may have fewer fields than that.
    @Test func batchOfAnotherSelection() async throws {
        let schema = try ExecutableSchema(
            """
            type Query { book: Book }
            type Book { title: String sequel: Book sequels: [Book] summary: String }
            """
        ) { resolvers in
            resolvers.query.field("book") { _ in Book() }
            resolvers.type("Book", Book.self).field("title") { _ in "Emma" }
            for field in ["sequel", "sequels", "summary"] {
                resolvers.set(.load(ParentsLoader()), for: field, of: "Book")
            }
        }
        let cache = DocumentCache(
            schema: schema.schema, resolvers: schema, limits: RequestLimits(), errorCodes: .none)
        for (selection, name) in [
            ("sequel { a: title b: title c: title }", "sequel"),
            ("sequels { a: title b: title c: title }", "sequels"),
            ("summary", "summary"),
        ] {
            let document = try await cache.document(Array("{ book { title \(selection) } }".utf8))
            let (plan, variables, _) = try await document.plan(operationName: nil, variables: .null)
            let defects = Mutex<[String]>([])
            let result = await execute(
                plan, variables: variables,
                context: NoContext { defect in defects.withLock { $0.append("\(defect)") } })
            #expect(
                String(decoding: result.data, as: UTF8.self)
                    == #"{"book":{"title":"Emma","\#(name)":null}}"#)
            #expect(result.errors.map(\.message) == ["An internal error occurred."])
            #expect(
                defects.withLock { $0 } == [
                    "The loader of Book.\(name) returned a batch that belongs to another selection."
                ])
        }
    }

    @Test(arguments: [0, 2])
    func rootThatIsNotOneObject(count: Int) async throws {
        let schema = try buildSchema(Source("type Query { good: String }"))
        let cache = DocumentCache(
            schema: schema, resolvers: Resolvers { .ready(.null(1)) }, limits: RequestLimits(),
            errorCodes: .none)
        let (plan, variables, _) = try await cache.document(Array("{ good }".utf8))
            .plan(operationName: nil, variables: .null)
        let expected =
            #"{"errors":[{"message":"Defect.","locations":[{"line":1,"column":3}],"path":["good"]}],"#
            + #""data":null}"#
        let context = Context()
        let single = await execute(
            plan, variables: variables, root: Batch(count), context: context)
        #expect(String(decoding: single.body, as: UTF8.self) == expected)
        #expect(String(decoding: single.data, as: UTF8.self) == "null")
        let (first, rest) = await executeIncrementally(
            plan, variables: variables, root: Batch(count), context: context)
        #expect(String(decoding: first.body, as: UTF8.self) == expected)
        #expect(rest == nil)
        let defect =
            "The root object of Query.good is a batch of \(count) objects: "
            + "pass a batch of exactly one object to execute, or no root."
        #expect(context.defects == [defect, defect])
    }

    /// A subscription whose events have the given numbers of objects.
    private struct Subscription: ResolverSource, SubscriptionLoader, PreparedSubscription {
        let counts: [Int]

        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            .load(self)
        }

        func prepare(_ field: SelectedField) -> any PreparedSubscription { self }

        func open(
            arguments: ArgumentValues, in context: any ExecutionContext
        ) async throws(FieldError) -> any SourceStream { Events(counts) }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { .ready(.each(of: Batch(parents.count))) }

        private final class Events: SourceStream {
            private var counts: [Int]

            init(_ counts: [Int]) { self.counts = counts }

            func next() async throws(FieldError) -> (any ObjectBatch)? {
                if counts.isEmpty { return nil }
                return Batch(counts.removeFirst())
            }
        }
    }

    /// The events after it have their responses.
    @Test func eventThatIsNotOneObject() async throws {
        let schema = try buildSchema(
            Source("type Query { good: String } type Subscription { event: String }"))
        let cache = DocumentCache(
            schema: schema, resolvers: Subscription(counts: [1, 0, 2, 1]), limits: RequestLimits(),
            errorCodes: .none)
        let (plan, variables, _) = try await cache.document(Array("subscription { event }".utf8))
            .plan(operationName: nil, variables: .null)
        let context = Context()
        let stream = try await subscribe(
            plan, variables: variables, context: context, eventContext: { context })
        var bodies: [String] = []
        while let response = try await stream.next() {
            bodies.append(String(decoding: response.body, as: UTF8.self))
        }
        let good = #"{"data":{"event":"value"}}"#
        let bad =
            #"{"errors":[{"message":"Defect.","locations":[{"line":1,"column":16}],"path":["event"]}],"#
            + #""data":null}"#
        #expect(bodies == [good, bad, bad, good])
        #expect(
            context.defects
                == [0, 2].map { count in
                    "The event stream of Subscription.event returned a batch of \(count) objects as one event: "
                        + "return a batch of exactly one object for each event."
                })
    }

    @Test func needsParentsForLoadedParents() async throws {
        try await check(
            "leaf", "The loader of Query.leaf returned `.needsParents` for loaded parents."
        ) { .needsParents }
    }

    /// Loads `Query.object` speculatively, and the texts below it after the flush.
    private final class Speculation: ResolverSource, FieldLoader, PreparedLoad {
        /// Returns the result of the speculative load.
        let children: @Sendable () -> Children

        init(_ children: @escaping @Sendable () -> Children) { self.children = children }

        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            .load(self)
        }

        func prepare(_ field: SelectedField) -> any PreparedLoad {
            field.parentType.name == "Query" ? self : Text()
        }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { .speculative(placeholder: Batch(1)) { [children] _ in children() } }

        private struct Text: PreparedLoad {
            func start(
                for parents: any ObjectBatch, arguments: ArgumentValues,
                in context: any ExecutionContext
            ) -> Load { .afterFlush { parents in .each(of: Batch(parents.count)) } }
        }
    }

    /// The fields below were started for one object. If there are others, they are loaded for those.
    @Test(arguments: [
        (Slot.object(group: 0, index: 0), [1], #"{"text":"value"}"#),
        (.object(group: 0, index: 1), [2], #"{"text":"value"}"#),
        (.object(group: 1, index: 0), [1, 1], #"{"text":"value"}"#),
        (.null, [1], "null"),
        (.null, [], "null"),
    ])
    func speculativeLoadWithOtherObjects(
        slot: Slot, counts: [Int], object: String
    ) async throws {
        let schema = try buildSchema(
            Source("type Query { object: Thing } type Thing { text: String }"))
        let cache = DocumentCache(
            schema: schema,
            resolvers: Speculation {
                Children(slots: [slot], groups: counts.map { .init(Batch($0)) })
            }, limits: RequestLimits(), errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(Array("{ object { text } }".utf8))
            .plan(operationName: nil, variables: .null)
        let result = await execute(plan, variables: variables, context: Context())
        #expect(
            String(decoding: result.body, as: UTF8.self) == #"{"data":{"object":\#(object)}}"#)
    }

    @Test func leafWithoutOutput() async throws {
        try await check(
            "leaf", "The loader of Query.leaf returned a batch that wrote nothing for a value."
        ) { .ready(.each(of: Batch(1, writesNothing: true))) }
        try await check(
            "object", "The loader of Thing.text returned a batch that wrote nothing for a value."
        ) { .ready(.each(of: Batch(1, writesNothing: true))) }
    }
}
