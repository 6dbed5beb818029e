import JobQueue
import Postgres

/// Copies new and changed editions of the home database's catalog to another database of the same servers, once per minute.
///
/// The position and the editions before it are saved in one transaction, so an interrupted run continues.
struct CopyCatalog: JobHandler {
    static let kind = "catalog.copy"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(60))

    private static let editionsMax: Int32 = 200
    /// The maximum number of attempts to save the same editions.
    private static let attemptsMax = 10

    /// The database that has the catalog.
    let home: ConnectionPool

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let stored = try await job.read { $0.append(Self.storedPosition) }
        var position = stored.first.flatMap { Position($0) }
        while true {
            let (timeline, editions) = try await editions(after: position)
            guard let last = editions.last else { return }
            let next = Position(timeline: timeline, changedIn: last.changedIn, edition: last.id)
            try await save(editions, next, job)
            position = next
        }
    }

    private func save(
        _ editions: [ChangedEdition], _ position: Position, _ job: JobContext
    ) async throws(JobError) {
        var attempt = 1
        while true {
            do throws(JobError) {
                try await job.write { pipeline in
                    // Waits for the lock of the catalog, which an import holds.
                    pipeline.allowLongStatements()
                    var parameters = Parameters()
                    parameters.append(texts: editions.map(\.record))
                    parameters.append(text: position.text)
                    pipeline.append(Self.save, parameters)
                }
                return
            } catch {
                // A request has locked the same editions or words. Try again, because requests are short.
                guard case .database(let cause) = error,
                    cause.sqlState == .lockNotAvailable || cause.sqlState == .deadlockDetected,
                    attempt < Self.attemptsMax
                else { throw error }
                attempt += 1
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Returns the next editions after a position, or the first ones if the home database has lost the transactions before it.
    private func editions(
        after position: Position?
    ) async throws(JobError) -> (timeline: UUID, editions: [ChangedEdition]) {
        let timelines = try await rows(Self.timeline, Parameters())
        guard let timeline = timelines.first else {
            throw .retry("The home database has no timeline.")
        }
        let known = position.flatMap { $0.timeline == timeline ? $0 : nil }
        var parameters = Parameters()
        parameters.append(text: known?.changedIn ?? "0")
        parameters.append(uuid: known?.edition)
        parameters.append(int32: Self.editionsMax)
        let editions = try await rows(Self.changed, parameters)
        return (timeline, editions)
    }

    private func rows<Row>(
        _ statement: TypedStatement<Row>, _ parameters: Parameters
    ) async throws(JobError) -> [Row] {
        do throws(PostgresError) {
            return try await home.run(.one(statement.statement, parameters))[0].decode(Row.self)
        } catch {
            throw .database(error)
        }
    }

    /// A position in `catalog_changes` of the home database.
    struct Position: Equatable {
        /// Identifies the timeline of the home database's WAL. Positions of another timeline are invalid: its last transactions may be
        /// lost.
        let timeline: UUID
        /// The number of the transaction.
        let changedIn: String
        let edition: UUID

        var text: String { "\(timeline) \(changedIn) \(edition)" }
    }

    private static let storedPosition = TypedStatement<String>(
        "SELECT position FROM catalog_copy_position() AS p (position) WHERE position IS NOT NULL")
    private static let timeline = TypedStatement<UUID>("SELECT mark FROM written_position()")
    private static let changed = TypedStatement<ChangedEdition>(
        """
        SELECT changed_in::text, edition_id, record::text
        FROM changed_editions($1::text::xid8, coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'), $3)
        """)
    private static let save = Statement("SELECT copy_editions($1::text[]::jsonb[], $2)")
}

extension CopyCatalog.Position {
    /// Reads the form of `text`.
    init?(_ text: String) {
        let parts = text.split(separator: " ").map(String.init)
        guard parts.count == 3, let timeline = UUID(parts[0]), UInt64(parts[1]) != nil,
            let edition = UUID(parts[2])
        else { return nil }
        self.init(timeline: timeline, changedIn: parts[1], edition: edition)
    }
}

/// An edition of the home database, with its sources and keys as JSON.
private struct ChangedEdition: RowDecodable {
    let changedIn: String
    let id: UUID
    let record: String

    init?(_ row: inout RowReader) {
        guard let changedIn = row.text(), let id = row.uuid(), let record = row.text() else {
            return nil
        }
        self.changedIn = changedIn
        self.id = id
        self.record = record
    }
}
