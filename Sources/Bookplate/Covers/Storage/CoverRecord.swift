import Identity
import ObjectStorage
import Postgres

/// A row of `covers`: what the store should have.
package struct CoverRecord: Sendable {
    package let user: UUID
    package let book: UUID
    let version: String
    /// Of the full size.
    let width: Int32
    let height: Int32
    /// Of the thumbnail, the full and the large size.
    let byteCounts: [Int32]
    let hashes: [[UInt8]]

    /// In the order of the row's arrays.
    static let variants: [ObjectVariant] = [.thumbnail, .full, .large]

    /// What the store has of a variant.
    package enum State: Sendable, Equatable {
        case whole([UInt8])
        case missing
        case damaged

        var bytes: [UInt8]? { if case .whole(let bytes) = self { bytes } else { nil } }
    }

    /// What the store has, variant by variant.
    func states(in store: any ObjectStore) async throws(StorageError) -> [State] {
        guard let key else { return Self.variants.map { _ in .missing } }
        return try await storing { () async throws(ObjectError) in
            var states: [State] = []
            for (index, variant) in Self.variants.enumerated() {
                guard let path = ObjectPath(key, version: version, variant),
                    let object = try await store.open(path)
                else {
                    states.append(.missing)
                    continue
                }
                // A file that changes size while it is read is damaged as well.
                let bytes = object.byteCount == byteCounts[index] ? try? object.bytes() : nil
                states.append(
                    bytes.flatMap { sha256($0) == hashes[index] ? .whole($0) : nil } ?? .damaged)
            }
            return states
        }
    }

    var key: ObjectKey? { ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)") }

    /// A variant's file, below the store's folder.
    package func fileName(_ variant: ObjectVariant) -> String {
        let name = key.flatMap { ObjectPath($0, version: version, variant) }?.fileName ?? "\(book)"
        return "\(Bucket.bookCovers.rawValue)/\(user)/\(name)"
    }

    // MARK: - Rows

    package static func count(_ connection: AdminConnection) throws(PostgresError) -> Int {
        Int(try connection.query("SELECT count(*) FROM covers").int64(0, 0) ?? 0)
    }

    /// The next records in the order of their keys.
    ///
    /// - Parameter position: of the last one before; nil at the beginning.
    static func page(
        after position: Position?, _ countMax: Int, _ connection: AdminConnection
    ) throws(PostgresError) -> [CoverRecord] {
        var parameters = Parameters()
        parameters.append(uuid: position?.user)
        parameters.append(uuid: position?.book)
        parameters.append(int32: Int32(clamping: countMax))
        let rows = try connection.query(
            """
            SELECT user_id, book_id, version, width, height, byte_counts[1], byte_counts[2], byte_counts[3], \
            hashes[1], hashes[2], hashes[3] FROM covers \
            WHERE $1::uuid IS NULL OR (user_id, book_id) > ($1, $2) ORDER BY user_id, book_id LIMIT $3
            """, parameters)
        return (0..<rows.count).compactMap { row in
            guard let user = rows.uuid(row, 0), let book = rows.uuid(row, 1),
                let version = rows.text(row, 2), let width = rows.int32(row, 3),
                let height = rows.int32(row, 4)
            else { return nil }
            return CoverRecord(
                user: user, book: book, version: version, width: width, height: height,
                byteCounts: (5..<8).map { rows.int32(row, $0) ?? 0 },
                hashes: (8..<11).map { rows.bytes(row, $0).map(Array.init) ?? [] })
        }
    }

    /// A place in the order of the records, for a checkpoint.
    package struct Position: Sendable, Equatable {
        let user: UUID
        let book: UUID

        var text: String { "\(user)/\(book)" }

        init(user: UUID, book: UUID) {
            self.user = user
            self.book = book
        }

        init(_ record: CoverRecord) { self.init(user: record.user, book: record.book) }

        init?(_ text: String) {
            let parts = text.split(separator: "/")
            guard parts.count == 2, let user = UUID(String(parts[0])),
                let book = UUID(String(parts[1]))
            else { return nil }
            self.init(user: user, book: book)
        }
    }

    /// Whether the row still says the same: a cover may be replaced while its files are looked at.
    func isCurrent(_ connection: AdminConnection) throws(PostgresError) -> Bool {
        try connection.query(
            "SELECT version FROM covers WHERE user_id = $1 AND book_id = $2", .of(user, book)
        ).text(0, 0) == version
    }
}
