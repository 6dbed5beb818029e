import Basics
import Bookplate
import GraphQL
import Postgres
import Requests

/// Loads existing readers into a tenant: `bookplate-admin readers import`.
///
/// Readers are identified by the subject of their identity tokens. Each batch is one transaction, and a batch that is repeated
/// changes nothing, so an import that was interrupted can be started again.
package struct ReadersImport {
    package struct Summary: Sendable, Equatable {
        /// The number of lines that contain a reader.
        package var readers = 0
        package var readersCreated = 0
        package var booksCreated = 0
        package var reviewsCreated = 0
        package var readsCreated = 0
        package var shelvesCreated = 0
        /// The number of lines that do not contain a reader.
        package var failed = 0
        /// The number of fields and books that were left out, although their readers were imported.
        package var leftOut = 0
    }

    /// The reason why an import cannot continue.
    package enum Failure: Error {
        case database(PostgresError)
        case file(ReadersFile.Unreadable)
        /// There is no such tenant.
        case noTenant
    }

    /// The number of books after which the readers so far are stored.
    private static let batchBooks = 2_000
    private static let batchReaders = 1_000

    /// The greatest number of connections that make an import faster.
    package static let connectionsMax = 16

    private let connections: [AdminConnection]

    /// - Parameter connections: At least one. The server stores a batch on each at the same time.
    package init(_ connections: [AdminConnection]) { self.connections = connections }

    /// Imports the readers of a file.
    ///
    /// - Parameters:
    ///   - tenant: The slug of the tenant.
    ///   - isDryRun: Whether to roll everything back at the end.
    ///   - onProgress: Called with the number of readers that were stored since the last call.
    ///   - onProblem: Called with the number of the line and a sentence for everything that is left out.
    package func run(
        _ file: consuming ReadersFile, tenant slug: String, isDryRun: Bool,
        onProgress: (_ readers: Int) -> Void = { _ in },
        onProblem: (_ line: Int, _ message: String) -> Void
    ) throws(Failure) -> Summary {
        let tenant = try tenantID(slug)
        if isDryRun { try execute("BEGIN") }
        defer { if isDryRun { try? connections[0].execute("ROLLBACK") } }
        var summary = Summary()
        // A dry run is one transaction.
        var lanes = (isDryRun ? [connections[0]] : connections).map { Lane(connection: $0) }
        // The index of the lane for the next batch. The lanes take turns.
        var turn = 0
        var batch = Batch()
        while let line = try next(&file) {
            if line.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
            let reader: ReaderRecord
            do throws(ImportProblem) {
                reader = try ReaderRecord(line.bytes)
            } catch {
                summary.failed += 1
                onProblem(line.number, error.message)
                continue
            }
            summary.readers += 1
            summary.leftOut += reader.problems.count
            for problem in reader.problems { onProblem(line.number, problem) }
            // The lines of one reader are stored one after the other.
            if batch.isFull || batch.subjects.contains(reader.subject) {
                try lanes[turn].finish(&summary)
                try lanes[turn].start(batch, in: tenant)
                turn = (turn + 1) % lanes.count
                onProgress(batch.readers.count)
                batch = Batch()
            }
            for lane in lanes.indices where lanes[lane].subjects.contains(reader.subject) {
                try lanes[lane].finish(&summary)
            }
            batch.append(reader)
        }
        try lanes[turn].finish(&summary)
        try lanes[turn].start(batch, in: tenant)
        for lane in lanes.indices { try lanes[lane].finish(&summary) }
        return summary
    }

    /// A connection and the batch that it is storing.
    private struct Lane {
        let connection: AdminConnection
        /// The readers of the batch; empty if there is none.
        private(set) var subjects: Set<String> = []

        init(connection: AdminConnection) { self.connection = connection }

        /// Sends a batch. The lane must be idle.
        mutating func start(_ batch: Batch, in tenant: UUID) throws(Failure) {
            guard !batch.readers.isEmpty else { return }
            var parameters = Parameters.of(tenant)
            parameters.append(jsonb: .list(batch.readers))
            try mappingError(Failure.database) { () throws(PostgresError) in
                try connection.send(ReadersImport.importReaders, parameters)
            }
            subjects = batch.subjects
        }

        /// Waits until the batch, if there is one, is stored.
        mutating func finish(_ summary: inout Summary) throws(Failure) {
            guard !subjects.isEmpty else { return }
            subjects = []
            let counts = try mappingError(Failure.database) { () throws(PostgresError) in
                try connection.receive().decode(Counts.self)
            }
            guard let counts = counts.first else { return }
            summary.readersCreated += counts.readers
            summary.booksCreated += counts.books
            summary.reviewsCreated += counts.reviews
            summary.readsCreated += counts.reads
            summary.shelvesCreated += counts.shelves
        }
    }

    /// The readers of one transaction.
    private struct Batch {
        private(set) var readers: [Value] = []
        private(set) var subjects: Set<String> = []
        private var bookCount = 0

        var isFull: Bool {
            bookCount >= ReadersImport.batchBooks || readers.count >= ReadersImport.batchReaders
        }

        mutating func append(_ reader: ReaderRecord) {
            readers.append(reader.json)
            subjects.insert(reader.subject)
            bookCount += reader.bookCount
        }
    }

    private func next(_ file: inout ReadersFile) throws(Failure) -> ReadersFile.Line? {
        do throws(ReadersFile.Unreadable) {
            return try file.next()
        } catch {
            throw .file(error)
        }
    }

    private func execute(_ text: String) throws(Failure) {
        try mappingError(Failure.database) { () throws(PostgresError) in
            try connections[0].execute(text)
        }
    }

    private func tenantID(_ slug: String) throws(Failure) -> UUID {
        var parameters = Parameters()
        parameters.append(text: slug)
        let found = try mappingError(Failure.database) { () throws(PostgresError) in
            try connections[0].query("SELECT id FROM tenants WHERE slug = $1", parameters)
                .decode(UUID.self)
        }
        guard let id = found.first else { throw .noTenant }
        return id
    }

    private struct Counts: RowDecodable {
        let readers: Int
        let books: Int
        let reviews: Int
        let reads: Int
        let shelves: Int

        init?(_ row: inout RowReader) {
            readers = Int(row.int32() ?? 0)
            books = Int(row.int32() ?? 0)
            reviews = Int(row.int32() ?? 0)
            reads = Int(row.int32() ?? 0)
            shelves = Int(row.int32() ?? 0)
        }
    }

    private static let importReaders = """
        SELECT readers_created, books_created, reviews_created, reads_created, shelves_created
        FROM import_readers($1, $2)
        """
}
