import GraphQL
import GraphQLPostgres
import Postgres

/// One request. The statements of a level run in one pipeline, which is one round trip.
final class LibraryContext: RowContext {
    private let caller: UUID?
    private let database: ConnectionPool
    private var pipeline = Pipeline(isReadOnly: true)
    private var level = Level()
    /// The statements of each round trip so far.
    private(set) var roundTrips: [[String]] = []

    init(caller: UUID?, database: ConnectionPool) {
        self.caller = caller
        self.database = database
    }

    private struct NotSignedIn: Error {}

    /// The results of the statements of one level, once the level has been flushed.
    private final class Level {
        var results: Result<[Rows], PostgresError>?
    }

    private struct PendingRows: PendingResult {
        let level: Level
        let index: Int

        func rows() throws -> Rows {
            guard let results = level.results else {
                preconditionFailure("The engine reads results only after the flush.")
            }
            return try results.get()[index]
        }
    }

    func callerID() throws -> UUID {
        guard let caller else { throw NotSignedIn() }
        return caller
    }

    func pending(_ statement: Statement, _ parameters: Parameters) -> any PendingResult {
        pipeline.append(statement, parameters)
        return PendingRows(level: level, index: pipeline.count - 1)
    }

    var needsFlush: Bool { pipeline.count > 0 }

    nonisolated(nonsending) func flush() async {
        let (pipeline, level) = (pipeline, level)
        self.pipeline = Pipeline(isReadOnly: true)
        self.level = Level()
        roundTrips.append(pipeline.statementTexts)
        do throws(PostgresError) {
            level.results = .success(try await database.run(pipeline))
        } catch {
            level.results = .failure(error)
        }
    }

    func fieldError(_ error: any Error) -> FieldError {
        switch error {
        case RowError.invalidCursor, RowError.cursorOfOtherOrder:
            FieldError("The cursor does not belong to this list.")
        case RowError.invalidPageSize(_, let max):
            FieldError("The page size must be between 1 and \(max).")
        case is NotSignedIn:
            FieldError("Sign in first.")
        default:
            FieldError("The server failed.")
        }
    }
}
