/// Objects of one type at one place of the response: the rows of a result, say.
///
/// The executor never looks inside. It counts them, hands them to the loaders of their fields, and
/// asks them to write their leaves.
public protocol ObjectBatch: AnyObject {
    var count: Int { get }

    /// Writes the value of the leaf field at position `field` of the batch's selection, for one object.
    ///
    /// A list of leaves is written whole. What is written is JSON that the field's type can have: result coercion is the
    /// batch's, and where the value cannot be coerced, the result is an error.
    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult
}

/// What became of a leaf.
public enum LeafResult {
    /// A value was written.
    case value
    /// Nothing was written: the value is null.
    case null
    /// Nothing that counts was written.
    case error(FieldError)
}

/// Why a field has no value; the executor adds where.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Errors.Execution-Errors
public final class FieldError: Error, Sendable {
    /// A sentence for a person.
    public let message: String
    public let extensions: [Value.Member]
    /// Where it went wrong, when that is not the field: in one of its arguments. Empty for the field.
    let locations: [SourceLocation]

    public init(_ message: String, extensions: [Value.Member] = []) {
        self.message = message
        self.extensions = extensions
        locations = []
    }

    /// An argument that could not be coerced.
    init(_ error: GraphQLError) {
        message = error.message
        extensions =
            error.extensions.isEmpty
            ? [.init("code", .string("BAD_USER_INPUT"))] : error.extensions
        locations = error.locations
    }
}

/// Where a field's value comes from.
public enum FieldResolver: Sendable {
    /// A leaf that its object has already: the object's batch writes it when the response is written.
    case property
    /// Asked for once, for all objects of the level.
    case load(any FieldLoader)
}

/// Gives each field of a schema its resolver.
public protocol ResolverSource: Sendable {
    /// Nil where there is none: operations that ask for the field end with an error before they are executed.
    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver?
}

/// The resolver of a field that is not simply there.
public protocol FieldLoader: Sendable {
    /// Called once when an operation is planned: everything that does not depend on the request belongs here.
    func prepare(_ field: SelectedField) -> any PreparedLoad
}

/// A loader that knows its selection.
public protocol PreparedLoad: Sendable {
    /// Answers for all `parents`, or asks `context` for what is needed and answers after the flush.
    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load
}

/// How far a started load is.
public enum Load {
    case ready(Children)
    /// To be asked again, with the parents, when the context has been flushed.
    case afterFlush((_ parents: any ObjectBatch) -> Children)
    /// As `afterFlush`, for at most one object of which enough is known to start the fields below it in
    /// the same level: `standIn` is given to them in its place.
    case foreseen(standIn: any ObjectBatch, (_ parents: any ObjectBatch) -> Children)
    /// A stand-in is not enough: to be started again when the object is there.
    case needsParents
    /// Runs by itself and may wait: mutations, and what asks other services.
    case call(() async -> Children)
}

/// What the loads of one request share.
public protocol ExecutionContext: AnyObject {
    /// True when a load has asked for something since the last flush.
    var needsFlush: Bool { get }

    /// One round trip for everything that the loads of this level asked for.
    ///
    /// Failures are kept for the loads to find.
    func flush() async
}

/// The value of one field for all its parents.
public struct Children {
    /// The first slots are those of the parents, in order, one for each; items of lists follow.
    public var slots: [Slot]
    /// The objects that slots point into.
    public var groups: [Group]
    /// The errors that slots point to.
    public var errors: [FieldError]

    /// Objects of one concrete type.
    public struct Group {
        public var batch: any ObjectBatch
        /// Position in the field's `selections`; 0 for leaves and object types.
        public var selection: Int

        public init(_ batch: any ObjectBatch, selection: Int = 0) {
            self.batch = batch
            self.selection = selection
        }
    }

    public init(slots: [Slot], groups: [Group], errors: [FieldError] = []) {
        self.slots = slots
        self.groups = groups
        self.errors = errors
    }

    /// One object of `batch` for each parent, in order.
    public static func each(of batch: any ObjectBatch) -> Children {
        Children(
            slots: (0..<Int32(batch.count)).map { .object(group: 0, index: $0) },
            groups: [Group(batch)])
    }

    /// Null for every parent.
    public static func null(_ parents: Int) -> Children {
        Children(slots: Array(repeating: .null, count: parents), groups: [])
    }

    /// The same error for every parent.
    public static func failed(_ parents: Int, _ error: FieldError) -> Children {
        Children(slots: Array(repeating: .error(0), count: parents), groups: [], errors: [error])
    }
}

/// One value: nothing, an object or leaf, a list of slots, or an error.
public enum Slot: Sendable, Equatable {
    case null
    case object(group: Int32, index: Int32)
    /// Items stand at `start ..< start + count` of `Children.slots`.
    case list(start: Int32, count: Int32)
    /// Position in `Children.errors`.
    case error(Int32)
}
