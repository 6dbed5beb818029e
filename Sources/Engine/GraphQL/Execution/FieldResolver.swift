/// A batch of objects of one type for one planned selection, such as the rows of a query result.
///
/// The executor does not inspect the objects. It counts them, passes them to the loaders of their
/// fields, and lets them write their leaves.
public protocol ObjectBatch: AnyObject {
    /// The number of objects.
    var count: Int { get }

    /// The only selection whose fields the batch can write; nil if it can write any, or does not check it. If a loader returns
    /// the batch for a field with another selection, the field has an error.
    var boundSelection: PlannedSelection? { get }

    /// Writes one leaf value as JSON.
    ///
    /// The batch is responsible for result coercion: what it writes must be a valid value of the
    /// field's type, and a value that cannot be coerced must be returned as an error. A list of
    /// leaves is written as a whole.
    ///
    /// - Parameters:
    ///   - field: the position of the field in the batch's selection.
    ///   - object: the index of the object in the batch.
    ///   - writer: the buffer of the response.
    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult
}

extension ObjectBatch {
    /// Returns nil.
    public var boundSelection: PlannedSelection? { nil }
}

/// The result of writing a leaf.
public enum LeafResult {
    /// A value other than null was written.
    case value
    /// The value is null. Nothing was written.
    case null
    /// The value could not be produced. Anything written is discarded.
    case error(FieldError)
}

/// The reason why a field has no value. The executor adds the location and the path.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Errors.Execution-Errors
public final class FieldError: Error, Sendable {
    /// A complete sentence for people.
    public let message: String
    /// The kind of an error of the engine, from which ``ErrorCodes`` choose its code. Nil for an error that a resolver reports, or
    /// that is about a value that a resolver returned.
    public let kind: GraphQLError.Kind?
    /// The members of `extensions` in the response. By convention, `code` is first.
    public let extensions: [Value.Member]
    /// The locations of the invalid argument. Empty if the error belongs to the field itself.
    let locations: [SourceLocation]

    /// Creates an error with a message for clients.
    public init(
        _ message: String, kind: GraphQLError.Kind? = nil, extensions: [Value.Member] = []
    ) {
        self.message = message
        self.kind = kind
        self.extensions = extensions
        locations = []
    }

    /// Creates an error for an argument that could not be coerced.
    init(_ error: GraphQLError) {
        message = error.message
        kind = error.kind
        extensions = error.extensions
        locations = error.locations
    }
}

/// The source of a field's value.
public enum FieldResolver: Sendable {
    /// A leaf that the object already contains. The object's batch writes it when the response is
    /// written.
    case property
    /// A field that is loaded, once for all objects of a level.
    case load(any FieldLoader)
}

/// Provides the resolver of each field of a schema.
public protocol ResolverSource: Sendable {
    /// Returns the resolver of a field, or nil if there is none. Planning an operation that selects
    /// a field without a resolver fails.
    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver?

    /// Returns the scopes that a caller needs in order to select a field. `field` may be
    /// `__typename`, which every type has. Called once for each field of a plan. By default, no
    /// field needs a scope.
    func scopes(of field: FieldDefinition, of type: TypeDefinition) -> ScopeSet
}

extension ResolverSource {
    /// Returns no scopes.
    public func scopes(of field: FieldDefinition, of type: TypeDefinition) -> ScopeSet { [] }
}

/// Scopes of access. Each bit is a scope; the product decides which.
public struct ScopeSet: OptionSet, Sendable, Hashable {
    /// The bits of the scopes.
    public let rawValue: UInt64

    /// Creates a set from bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The resolver of a field whose value has to be loaded or computed.
public protocol FieldLoader: Sendable {
    /// Prepares a selected field. Called once when an operation is planned, so work that does not
    /// depend on the request belongs here.
    func prepare(_ field: SelectedField) -> any PreparedLoad
}

/// A load that has been prepared for one selected field of a plan. Shared by all requests that use
/// the plan.
public protocol PreparedLoad: Sendable {
    /// Starts the load for all `parents`. Returns the children immediately, or registers requests
    /// with `context` and returns the children after the flush.
    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load
}

/// The state of a started load.
public enum Load {
    /// The children are available already.
    case ready(Children)
    /// The children are available after the context has been flushed. The closure is then called
    /// with the parents.
    case afterFlush((_ parents: any ObjectBatch) -> Children)
    /// Like `afterFlush`, for a load that may need another step, such as a request to another service for what the database
    /// does not have. The closure returns that step, or `.ready`.
    case afterFlushThen((_ parents: any ObjectBatch) -> Load)
    /// Like `afterFlush`, for a field that returns at most one object whose key is already known.
    /// The fields below it are started in the same level with `placeholder` as their parent, which
    /// saves a round trip. See `Execution.startSpeculatively` for the algorithm.
    case speculative(placeholder: any ObjectBatch, (_ parents: any ObjectBatch) -> Children)
    /// The placeholder of a speculative load does not contain enough information. The load is
    /// started again when the object has been loaded.
    case needsParents
    /// An asynchronous call that runs alone and immediately, such as a mutation. It may use the context.
    case call(() async -> Children)
    /// A request to another service, which runs at the same time as those of other fields.
    case concurrent(ConcurrentCall)
}

/// The state that the loads of one request share, such as a database connection.
public protocol ExecutionContext: AnyObject, SendableMetatype {
    /// Whether a load has registered a request since the last flush.
    var needsFlush: Bool { get }

    /// Executes all registered requests in one round trip.
    ///
    /// Failures are stored, so that each load can report its own.
    func flush() async

    /// Records a defect of a loader, for example in a log, and returns the error of its field. By default, an internal error.
    func error(for defect: LoaderDefect) -> FieldError

    /// Whether the loads returned more data than the operation may use. The error of a response that is too large then
    /// replaces the response.
    var hasLoadedTooMuch: Bool { get }

    /// The error of the parts of a response that were not delivered when the task of the operation was cancelled. By default,
    /// an internal error.
    var cancellationError: FieldError { get }
}

extension ExecutionContext {
    /// Returns false: no load registers requests.
    public var needsFlush: Bool { false }
    /// Does nothing.
    public func flush() async {}
    /// Returns false.
    public var hasLoadedTooMuch: Bool { false }
    /// An internal error.
    public var cancellationError: FieldError { .internalError }
}

/// The values of one field for all its parents.
///
/// Example: for two books, a list field `authors` with two authors for the first book and one for
/// the second has the slots `[list(2, 2), list(4, 1), object 0, object 1, object 2]`. The first two
/// slots belong to the books. The others are the list items, which refer to the three objects of
/// one group.
public struct Children {
    /// One slot for each parent, in order, followed by the slots of list items.
    public var slots: [Slot]
    /// The batches that the slots refer to.
    public var groups: [Group]
    /// The errors that the slots refer to.
    public var errors: [FieldError]

    /// Objects of one concrete type.
    public struct Group {
        /// The objects.
        public var batch: any ObjectBatch
        /// The index in the field's `selections`. 0 for leaves and object types.
        public var selection: Int

        /// Creates a group of objects of the given selection.
        public init(_ batch: any ObjectBatch, selection: Int = 0) {
            self.batch = batch
            self.selection = selection
        }
    }

    /// Creates children. The slots of the parents come first.
    public init(slots: [Slot], groups: [Group], errors: [FieldError] = []) {
        self.slots = slots
        self.groups = groups
        self.errors = errors
    }

    /// Returns one object of `batch` for each parent, in order.
    public static func each(of batch: any ObjectBatch) -> Children {
        Children(
            slots: (0..<Int32(batch.count)).map { .object(group: 0, index: $0) },
            groups: [Group(batch)])
    }

    /// Returns null for every parent.
    public static func null(_ parents: Int) -> Children {
        Children(slots: Array(repeating: .null, count: parents), groups: [])
    }

    /// Returns the same error for every parent.
    public static func failed(_ parents: Int, _ error: FieldError) -> Children {
        Children(slots: Array(repeating: .error(0), count: parents), groups: [], errors: [error])
    }
}

/// One value: null, an object or leaf, a list, or an error.
public enum Slot: Sendable, Equatable {
    /// No value.
    case null
    /// The object or leaf with this index in a group of `Children.groups`.
    case object(group: Int32, index: Int32)
    /// A list whose items are the slots `start ..< start + count` of `Children.slots`.
    case list(start: Int32, count: Int32)
    /// An index into `Children.errors`.
    case error(Int32)
}
