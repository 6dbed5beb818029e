import Basics
import Bookplate
import Identity
import ObjectStorage
import Postgres

/// A row of the view `stored_covers`, which describes the files that the store should have: the cover of a book, or of a deleted
/// book that can be restored.
package struct CoverRecord: Sendable {
    package let user: UUID
    package let book: UUID
    let version: String
    /// The size of the full variant in pixels.
    let width: Int32
    let height: Int32
    /// The sizes of the files, in the order of `Covers.variants`.
    let byteCounts: [Int32]
    /// The SHA-256 hashes of the files, in the order of `Covers.variants`.
    let hashes: [[UInt8]]

    /// The state of a variant's file.
    package enum State: Sendable, Equatable {
        case intact([UInt8])
        case missing
        /// The content does not match the checksum.
        case damaged
        /// The file cannot be read now.
        case unreadable

        var bytes: [UInt8]? { if case .intact(let bytes) = self { bytes } else { nil } }
    }

    /// Reads the files. Returns their states in the order of `Covers.variants`.
    func states(in store: any ObjectStore) async throws(StorageError) -> [State] {
        guard let key else { return Covers.variants.map { _ in .missing } }
        return try await mappingError(StorageError.store) { () async throws(ObjectError) in
            var states: [State] = []
            for (index, variant) in Covers.variants.enumerated() {
                guard let path = ObjectPath(key, version: version, variant) else {
                    states.append(.missing)
                    continue
                }
                do throws(ObjectError) {
                    guard let bytes = try await store.read(path) else {
                        states.append(.missing)
                        continue
                    }
                    states.append(sha256(bytes) == hashes[index] ? .intact(bytes) : .damaged)
                } catch {
                    guard error.isOfOneFile else { throw error }
                    states.append(.unreadable)
                }
            }
            return states
        }
    }

    var key: ObjectKey? { ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)") }

    /// The path of a variant's file below the store's folder.
    package func fileName(_ variant: ObjectVariant) -> String {
        let name = key.flatMap { ObjectPath($0, version: version, variant) }?.fileName ?? "\(book)"
        return "\(Bucket.bookCovers.rawValue)/\(user)/\(name)"
    }

    // MARK: - Rows

    package static func count(_ connection: AdminConnection) throws(PostgresError) -> Int {
        let counts = try connection.query("SELECT count(*) FROM stored_covers").decode(Int64.self)
        return Int(counts.first ?? 0)
    }

    /// Returns the next records in the order of their keys.
    ///
    /// - Parameter position: The position of the last record of the previous page; nil for the first page.
    static func page(
        after position: Position?, _ countMax: Int, _ connection: AdminConnection
    ) throws(PostgresError) -> [CoverRecord] {
        var parameters = Parameters()
        parameters.append(uuid: position?.user)
        parameters.append(uuid: position?.book)
        // Versions are hexadecimal, so g is after all of them.
        parameters.append(text: position?.version ?? "g")
        parameters.append(int32: Int32(clamping: countMax))
        return try connection.query(
            """
            SELECT
                user_id, book_id, version, width, height,
                byte_counts[1], byte_counts[2], byte_counts[3],
                hashes[1], hashes[2], hashes[3]
            FROM stored_covers
            WHERE $1::uuid IS NULL OR (user_id, book_id, version) > ($1, $2, $3)
            ORDER BY user_id, book_id, version
            LIMIT $4
            """, parameters
        ).decode()
    }

    /// A position in the order of the records, for a checkpoint.
    package struct Position: Sendable, Equatable {
        let user: UUID
        let book: UUID
        /// Nil if all versions of the book come before the position. A book can have two: its own, and that of a deleted book
        /// with the same id.
        let version: String?

        var text: String { "\(user)/\(book)" }

        init(user: UUID, book: UUID, version: String? = nil) {
            self.user = user
            self.book = book
            self.version = version
        }

        init(_ record: CoverRecord) {
            self.init(user: record.user, book: record.book, version: record.version)
        }

        init?(_ text: String) {
            let parts = text.split(separator: "/")
            guard parts.count == 2, let user = UUID(String(parts[0])),
                let book = UUID(String(parts[1]))
            else { return nil }
            self.init(user: user, book: book)
        }
    }

    /// Removes a cover that a search has found, and enqueues another search, in the caller's transaction.
    ///
    /// - Returns: False if no search has found the cover, or if it was replaced in the meantime. Nothing changes then.
    func searchAgain(_ connection: AdminConnection) throws(PostgresError) -> Bool {
        try connection.query(
            "SELECT lock_user($1), set_config('app.user_id', $1::text, true)", .of(user))
        var parameters = Parameters.of(user, book)
        parameters.append(text: version)
        let deletion = try connection.query(
            """
            DELETE FROM covers
            WHERE user_id = $1 AND book_id = $2 AND version = $3 AND source NOT IN ('MANUAL_UPLOAD', 'URL')
            """, parameters)
        guard deletion.affectedCount > 0 else { return false }
        try connection.query(Cover.requestOne.text, .of(user, book))
        try connection.query(
            FetchCover.enqueue.statement.text, FetchCover.enqueueParameters(.background))
        return true
    }

    /// Whether a row still has this version. A cover can be replaced while its files are read.
    func isCurrent(_ connection: AdminConnection) throws(PostgresError) -> Bool {
        var parameters = Parameters.of(user, book)
        parameters.append(text: version)
        return try connection.query("SELECT is_stored_version($1, $2, $3)", parameters)
            .decode(Bool.self).first == true
    }
}

extension CoverRecord: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let user = row.uuid(), let book = row.uuid(), let version = row.text(),
            let width = row.int32(), let height = row.int32()
        else { return nil }
        self.init(
            user: user, book: book, version: version, width: width, height: height,
            byteCounts: Covers.variants.map { _ in row.int32() ?? 0 },
            hashes: Covers.variants.map { _ in row.bytes() ?? [] })
    }
}
