/// The resolvers that were given for a schema, before they are checked.
final class ResolverTable {
    /// The resolver of a field.
    struct Entry: Sendable {
        /// Returns the resolver, when an operation is planned.
        let resolver: @Sendable (ObjectTypes) -> FieldResolver
        /// Returns why the results are not values of the field; nil if they are.
        let problem: @Sendable (FieldDefinition, ObjectTypes) -> String?

        init(_ resolver: FieldResolver) {
            self.resolver = { _ in resolver }
            problem = { _, _ in nil }
        }

        /// - Parameter result: The Swift type of the results.
        init<Result>(
            _ result: Result.Type, resolver: @escaping @Sendable (ObjectTypes) -> FieldResolver
        ) {
            self.resolver = resolver
            problem = { field, objects in
                ResultShape(Result.self).problem(with: field.type, in: objects).map {
                    "returns \(Result.self), but \($0)"
                }
            }
        }
    }

    /// The entries by the names of the type and the field.
    private(set) var entries: [String: [String: Entry]] = [:]
    var objects: [String: any ObjectType] = [:]
    /// The problems that do not depend on the schema.
    var problems: [String] = []

    func add(_ entry: Entry, _ field: String, of type: String) {
        if entries[type]?[field] != nil {
            problems.append("The field \(type).\(field) has two resolvers.")
        }
        entries[type, default: [:]][field] = entry
    }
}

/// A schema with a resolver for each of its fields.
///
/// ```swift
/// let schema = try ExecutableSchema(
///     "type Query { books: [Book!]! } type Book { title: String! }"
/// ) { resolvers in
///     resolvers.query.field("books") { _ in [Book(title: "Emma")] }
///     resolvers.type("Book", Book.self).field("title", \.title)
/// }
/// ```
///
/// The closures become the loaders and properties that the executor runs for every ``ResolverSource``. Create the value once,
/// when the program starts.
public struct ExecutableSchema<Context: ExecutionContext & Sendable>: ResolverSource {
    /// The schema that the SDL describes.
    public let schema: Schema
    private let entries: [String: [String: ResolverTable.Entry]]
    private let objects: ObjectTypes

    /// Builds a schema from SDL, and checks that every field of an object type has a resolver whose Swift type matches the
    /// type of the field: a value that is not optional for a non-null type, an array for a list, a ``LeafValue`` for a scalar
    /// or enum, and the Swift type of the object type for objects.
    ///
    /// - Parameters:
    ///   - sdl: The schema in the schema definition language.
    ///   - context: The type of the contexts of requests.
    ///   - scalars: The input coercion of custom scalars by name. Inputs of other custom scalars are not checked.
    ///   - hasIncrementalDelivery: Whether operations may use `@defer` and `@stream`.
    ///   - configure: Gives the resolvers.
    /// - Throws: The errors of the schema. If it has none, a list of all fields without a resolver, resolvers that do not match,
    ///   and resolvers without a field.
    public init(
        _ sdl: String, context: Context.Type,
        scalars: [String: ScalarInput] = [:], hasIncrementalDelivery: Bool = false,
        _ configure: (ResolverBuilder<Context>) -> Void
    ) throws(RequestErrors) {
        schema = try buildSchema(
            Source(sdl), scalars: scalars, hasIncrementalDelivery: hasIncrementalDelivery)
        let builder = ResolverBuilder<Context>(schema)
        configure(builder)
        entries = builder.table.entries
        objects = ObjectTypes(schema, builder.table.objects)
        let problems =
            builder.table.problems + schema.problems(with: self) + mismatches()
        guard problems.isEmpty else { throw RequestErrors(problems.map { GraphQLError($0) }) }
    }

    /// Builds a schema whose requests share no state, as ``init(_:context:scalars:hasIncrementalDelivery:_:)`` does.
    public init(
        _ sdl: String, scalars: [String: ScalarInput] = [:], hasIncrementalDelivery: Bool = false,
        _ configure: (ResolverBuilder<NoContext>) -> Void
    ) throws(RequestErrors) where Context == NoContext {
        try self.init(
            sdl, context: NoContext.self, scalars: scalars,
            hasIncrementalDelivery: hasIncrementalDelivery, configure)
    }

    /// Returns the resolver that was given for a field.
    public func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        entries[type.name]?[field.name]?.resolver(objects)
    }

    /// Resolvers whose results are not values of their field, resolvers without a field, and possible types that cannot be told
    /// apart.
    private func mismatches() -> [String] {
        var problems: [String] = []
        for type in schema.types where type.isAbstract {
            var names: [ObjectIdentifier: String] = [:]
            for name in schema.possibleTypes(of: type).map(\.name) {
                guard let swiftType = objects.types[name]?.swiftType else { continue }
                if let other = names.updateValue(name, forKey: swiftType) {
                    problems.append(
                        "The types \(other) and \(name) of \(type.name) have the same Swift type.")
                }
            }
        }
        for (type, fields) in entries.sorted(by: { $0.key < $1.key }) {
            for (name, entry) in fields.sorted(by: { $0.key < $1.key }) {
                guard let definition = schema.type(named: type), case .object = definition.kind,
                    let field = definition.field(named: name)
                else {
                    problems.append("The schema has no field \(type).\(name) of an object type.")
                    continue
                }
                if let problem = entry.problem(field, objects) {
                    problems.append("The resolver of \(type).\(name) \(problem).")
                }
            }
        }
        return problems
    }
}

extension Schema {
    /// Returns the fields of object types that `resolvers` cannot resolve: those without a resolver, those that are not
    /// loaded although they return objects or belong to a root type, and those of the subscription root type whose loader is
    /// not a ``SubscriptionLoader``. Each is a sentence for people. Check it when a server starts: planning an operation with a
    /// field without a resolver fails, a field of a root type that is not loaded is always null, and a field without an event
    /// stream cannot be subscribed to.
    public func problems(with resolvers: some ResolverSource) -> [String] {
        var problems: [String] = []
        for type in types where !type.name.hasPrefix("__") {
            guard case .object(let object) = type.kind else { continue }
            let isRoot = OperationKind.allCases.contains { rootType(of: $0) === type }
            for field in object.fields {
                switch resolvers.resolver(for: field, of: type) {
                case nil:
                    problems.append("The field \(type.name).\(field.name) has no resolver.")
                case .property? where self.type(named: field.namedType)?.isComposite == true:
                    problems.append(
                        "The field \(type.name).\(field.name) returns objects, so its resolver must be a loader."
                    )
                case .property? where isRoot:
                    problems.append(
                        "The field \(type.name).\(field.name) belongs to a root type, so its resolver must be a loader."
                    )
                case .load(let loader)?
                where type === subscriptionType && !(loader is any SubscriptionLoader):
                    problems.append(
                        "The field \(type.name).\(field.name) belongs to the subscription root type, so its loader must be a SubscriptionLoader."
                    )
                case .property?, .load?: break
                }
            }
        }
        return problems
    }
}

/// The context of requests that share no state.
public final class NoContext: ExecutionContext, Sendable {
    private let report: @Sendable (LoaderDefect) -> Void

    /// - Parameter report: Called for each defect of a resolver, for example to log it.
    public init(report: @escaping @Sendable (LoaderDefect) -> Void = { _ in }) {
        self.report = report
    }

    /// Reports the defect, and returns an internal error.
    public func error(for defect: LoaderDefect) -> FieldError {
        report(defect)
        return .internalError
    }
}
