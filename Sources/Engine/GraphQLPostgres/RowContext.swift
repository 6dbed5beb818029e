import GraphQL
import Postgres

/// The request whose fields are loaded from rows.
///
/// The product implements this once. It decides who the caller is, which transaction the statements of a level run in,
/// and how errors are reported.
package protocol RowContext: ExecutionContext {
    /// The id of the caller: `$1` in every statement of this module.
    ///
    /// - Throws: The product's own error if the request is not authenticated.
    func callerID() throws -> UUID

    /// Adds a read-only statement to the current level's round trip. The rows are available after the flush.
    func pending(_ statement: Statement, _ parameters: Parameters) -> any PendingResult

    /// Converts an error of a load to a field error. It is a `RowError`, or an error that `callerID` or
    /// `PendingResult.rows` has thrown.
    func fieldError(_ error: any Error) -> FieldError
}

/// The result of a statement that runs with the next flush.
package protocol PendingResult {
    /// Returns the rows. Call this only after the flush.
    ///
    /// - Throws: The error of the round trip.
    func rows() throws -> Rows
}

/// An error of a load in this module.
package enum RowError: Error, Equatable {
    /// A loader was started with parents that it does not know: a bug in the resolver table.
    case unexpectedParents
    /// The argument, `after` or `before`, is not a cursor of this list.
    case invalidCursor(argument: String)
    /// The cursor belongs to the list in another order.
    case cursorOfOtherOrder(argument: String)
    /// The cursor belongs to the list with other filters.
    case cursorOfOtherFilters(argument: String)
    /// The argument `first` or `last` is not between 1 and `max`.
    case invalidPageSize(argument: String, max: Int)
    /// `after` was sent with `last` or `before`.
    case mixedDirections
}

extension RowContext {
    /// Returns the children that `make` makes, or its error for every parent.
    package func children(
        of parents: any ObjectBatch, _ make: () throws -> Children
    ) -> Children {
        do {
            return try make()
        } catch {
            return .failed(parents.count, fieldError(error))
        }
    }
}

/// A prepared load that runs in a `RowContext`.
protocol RowLoad: PreparedLoad {
    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in request: any RowContext
    ) throws -> Load
}

extension RowLoad {
    package func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        guard let request = context as? any RowContext else {
            // A schema whose fields are loaded from rows is executed only in a context that can load rows.
            preconditionFailure("A RowLoader needs a RowContext, but got \(type(of: context)).")
        }
        do {
            return try start(for: parents, arguments: arguments, in: request)
        } catch {
            return .ready(.failed(parents.count, request.fieldError(error)))
        }
    }
}
