/// Collects the resolvers of a schema. See ``ExecutableSchema``.
///
/// There is one way for each case:
///
/// - ``RootResolvers/field(_:_:)`` for a field of the query or mutation root: an asynchronous closure.
/// - ``ObjectResolvers/field(_:_:)-(_,(Object)->Result)`` for a value that the object already contains.
/// - ``ObjectResolvers/batch(_:_:)`` for values that have to be loaded: an asynchronous closure that is called once for all
///   objects of a level. There is no asynchronous closure for one object, so an operation cannot cause one call for each
///   object.
/// - ``SubscriptionResolvers/stream(_:_:)`` for a subscription: an asynchronous sequence of events.
/// - ``set(_:for:of:)`` for a loader of your own, such as one that adds its statement to those of its level.
public final class ResolverBuilder<Context: ExecutionContext & Sendable> {
    let table: ResolverTable
    private let schema: Schema

    init(_ schema: Schema) {
        self.schema = schema
        table = ResolverTable()
    }

    /// The fields of the query root type.
    public var query: RootResolvers<Context> { .init(schema.queryType.name, table) }

    /// The fields of the mutation root type. They run one after the other.
    public var mutation: RootResolvers<Context> {
        .init(schema.mutationType?.name ?? "Mutation", table)
    }

    /// The fields of the subscription root type.
    public var subscription: SubscriptionResolvers<Context> {
        .init(schema.subscriptionType?.name ?? "Subscription", table)
    }

    /// The fields of an object type whose objects are values of a Swift type.
    ///
    /// - Parameters:
    ///   - name: The name of the type in the schema.
    ///   - type: The Swift type. The possible types of an interface or union need different ones.
    public func type<Object>(
        _ name: String, _ type: Object.Type
    ) -> ObjectResolvers<Object, Context> {
        if OperationKind.allCases.contains(where: { schema.rootType(of: $0)?.name == name }) {
            table.problems.append("\(name) is a root type, whose fields have no objects.")
        }
        if let known = table.objects[name] {
            if known.swiftType != ObjectIdentifier(type) {
                table.problems.append("The type \(name) has two Swift types.")
            }
        } else {
            table.objects[name] = SwiftObjectType<Object>()
        }
        return ObjectResolvers(name, table)
    }

    /// Sets the resolver of a field.
    ///
    /// ```swift
    /// resolvers.set(.load(AuthorLoader(database)), for: "author", of: "Book")
    /// ```
    public func set(_ resolver: FieldResolver, for field: String, of type: String) {
        table.add(ResolverTable.Entry(resolver), field, of: type)
    }
}

/// The resolvers of the fields of the query or mutation root type.
public struct RootResolvers<Context: ExecutionContext & Sendable> {
    private let name: String
    private let table: ResolverTable

    init(_ name: String, _ table: ResolverTable) {
        self.name = name
        self.table = table
    }

    /// Resolves a field with a closure. The closures of one query run at the same time, at most eight of them.
    ///
    /// ```swift
    /// resolvers.query.field("book") { request in
    ///     try await library.book(id: request.arguments["id"]?.string)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - resolve: Returns the value: a ``LeafValue``, a Swift value of the field's object type, or an optional or
    ///     array of these. A thrown ``FieldError`` is the error of the field. Other errors are reported to the context
    ///     (``ExecutionContext/error(for:)``), and clients see an internal error.
    public func field<Result: Sendable>(
        _ name: String,
        _ resolve: @escaping @Sendable (FieldRequest<Context>) async throws -> Result
    ) {
        table.add(
            .init(Result.self) { objects in
                .load(
                    BatchLoader<Void, Result, Context>(
                        objects: objects, parents: { _ in [()] },
                        resolve: { _, request in [try await resolve(request)] }))
            }, name, of: self.name)
    }
}

/// The resolvers of the fields of the subscription root type.
public struct SubscriptionResolvers<Context: ExecutionContext & Sendable> {
    private let name: String
    private let table: ResolverTable

    init(_ name: String, _ table: ResolverTable) {
        self.name = name
        self.table = table
    }

    /// Resolves a field with a closure that opens a stream of events. Each event is a value of the field, and causes one
    /// response.
    ///
    /// The next event is requested after the client has read the previous response, so the sequence must limit the number of
    /// events that it stores, for example with `AsyncStream(bufferingPolicy: .bufferingNewest(100))`. When the client
    /// unsubscribes, the task that waits for an event is cancelled.
    ///
    /// ```swift
    /// resolvers.subscription.stream("bookAdded") { _ in library.additions() }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - open: Returns the events. An error that it throws ends the operation before the first response.
    public func stream<Events: AsyncSequence & SendableMetatype>(
        _ name: String, _ open: @escaping @Sendable (FieldRequest<Context>) async throws -> Events
    ) {
        table.add(
            .init(Events.Element.self) { objects in
                .load(StreamLoader(objects: objects, open: open))
            }, name, of: self.name)
    }
}

/// The resolvers of the fields of an object type.
public struct ObjectResolvers<Object, Context: ExecutionContext & Sendable> {
    private let name: String
    private let table: ResolverTable

    init(_ name: String, _ table: ResolverTable) {
        self.name = name
        self.table = table
    }

    /// Resolves a field to a value that the object contains. The closure may be a key path.
    ///
    /// ```swift
    /// book.field("title", \.title)
    /// book.field("isLong") { $0.pageCount > 500 }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - resolve: Returns the value, as in ``RootResolvers/field(_:_:)``.
    public func field<Result>(_ name: String, _ resolve: @escaping @Sendable (Object) -> Result) {
        if let leaf = LeafConverter<Result>(),
            var type = table.objects[self.name] as? SwiftObjectType<Object>
        {
            type.leaves[name] = { object, type, writer in
                leaf.write(resolve(object), type, &writer)
            }
            table.objects[self.name] = type
            table.add(.init(Result.self) { _ in .property }, name, of: self.name)
        } else {
            field(name) { object, _ in resolve(object) }
        }
    }

    /// Resolves a field to a value that depends on its arguments or on the request.
    ///
    /// ```swift
    /// book.field("price") { book, request in
    ///     try book.price(in: request.arguments["currency"]?.string ?? "EUR")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - resolve: Called for each object. It returns and throws as in ``RootResolvers/field(_:_:)``, but cannot
    ///     wait: values that have to be loaded need ``batch(_:_:)``.
    public func field<Result>(
        _ name: String,
        _ resolve: @escaping @Sendable (Object, FieldRequest<Context>) throws -> Result
    ) {
        table.add(
            .init(Result.self) { objects in
                .load(
                    ClosureLoader(
                        objects: objects, parents: { ($0 as? Objects<Object>)?.objects },
                        resolve: resolve))
            }, name, of: self.name)
    }

    /// Resolves a field for all objects of a level with one call, at the same time as the other fields of the level.
    ///
    /// ```swift
    /// book.batch("author") { books, _ in
    ///     let authors = try await database.authors(ids: books.map(\.authorID))
    ///     return books.map { authors[$0.authorID] }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - resolve: Returns one value for each object, in the same order. If it throws, or returns another number of
    ///     values, the field of every object has an error.
    public func batch<Result: Sendable>(
        _ name: String,
        _ resolve: @escaping @Sendable ([Object], FieldRequest<Context>) async throws -> [Result]
    ) where Object: Sendable {
        table.add(
            .init(Result.self) { objects in
                .load(
                    BatchLoader(
                        objects: objects, parents: { ($0 as? Objects<Object>)?.objects },
                        resolve: resolve))
            }, name, of: self.name)
    }
}
