import Basics
import ObjectStorage
import Postgres

/// Covers whose pictures are gone for good: neither the full nor the large size is there to make the others from.
package struct DanglingCovers {
    private static let batchMax = 200

    /// How many covers there are.
    package private(set) var total = 0
    package private(set) var records: [CoverRecord] = []

    /// - Parameter onProgress: how many covers more were looked at.
    package init(
        in store: FileStore, _ connection: AdminConnection,
        onProgress: (Int) throws(StorageError) -> Void
    ) throws(StorageError) {
        var position: CoverRecord.Position?
        do {
            while true {
                let page = try CoverRecord.page(after: position, Self.batchMax, connection)
                guard let last = page.last else { return }
                position = .init(last)
                total += page.count
                for record in page where try !Self.isThere(record, in: store) {
                    if try record.isCurrent(connection) { records.append(record) }
                }
                try onProgress(page.count)
            }
        } catch let error as PostgresError {
            throw .database(error)
        } catch let error as ObjectError {
            throw .store(error)
        } catch let error as StorageError {
            throw error
        } catch {
            // All that is called here throws one of the three.
            throw .cancelled
        }
    }

    private static func isThere(_ record: CoverRecord, in store: FileStore) throws(ObjectError)
        -> Bool
    {
        guard let key = record.key else { return false }
        for variant in [ObjectVariant.full, .large] {
            if let path = ObjectPath(key, version: record.version, variant),
                try store.openNow(path) != nil
            {
                return true
            }
        }
        return false
    }

    /// So many that the store rather than the covers must be at fault: a disk that is not mounted.
    package var isSuspicious: Bool { records.count * 2 > total }

    /// Forgets a cover, in the caller's transaction.
    ///
    /// - Returns: whether it was still the same.
    package static func forget(
        _ record: CoverRecord, _ connection: AdminConnection
    ) throws(AdministrationError) -> Bool {
        try mappingError(AdministrationError.database) { () throws(PostgresError) in
            try connection.query("SELECT take_turns($1)", .of(record.user))
            var parameters = Parameters.of(record.user, record.book)
            parameters.append(text: record.version)
            let gone = try connection.query(
                "DELETE FROM covers WHERE user_id = $1 AND book_id = $2 AND version = $3",
                parameters)
            guard gone.affectedCount > 0 else { return false }
            try connection.query(
                """
                UPDATE books SET cover_status = 'NONE', cover_wanted_at = NULL \
                WHERE user_id = $1 AND id = $2
                """, .of(record.user, record.book))
            return true
        }
    }
}

/// How much room covers take: `bookplate-admin storage usage`.
package struct StorageUsage: Sendable {
    package struct Tenant: Sendable {
        package let slug: String
        package let users: Int
        package let covers: Int
        package let bytes: Int
        /// nil for no limit.
        package let bytesMax: Int?
    }

    package struct User: Sendable {
        package let id: UUID
        package let tenant: String
        package let covers: Int
        package let bytes: Int
        package let bytesMax: Int?
    }

    package let tenants: [Tenant]
    /// Those with the most bytes first.
    package let users: [User]

    /// - Parameters:
    ///   - tenant: of this tenant only; its slug.
    ///   - user: of this user only.
    package init(
        tenant: String?, user: UUID?, usersMax: Int, _ connection: AdminConnection
    ) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: tenant)
        let tenants = try connection.query(
            """
            SELECT t.slug, count(DISTINCT c.user_id), count(c.version), \
            coalesce(sum(cover_bytes(c.byte_counts)), 0)::bigint, t.storage_bytes_max \
            FROM tenants t LEFT JOIN covers c ON c.tenant_id = t.id \
            WHERE $1::text IS NULL OR t.slug = $1 GROUP BY t.id ORDER BY 4 DESC, t.slug
            """, parameters)
        func count(_ rows: Rows, _ row: Int, _ column: Int) -> Int {
            Int(rows.int64(row, column) ?? 0)
        }
        self.tenants = (0..<tenants.count).map { row in
            Tenant(
                slug: tenants.text(row, 0) ?? "", users: count(tenants, row, 1),
                covers: count(tenants, row, 2), bytes: count(tenants, row, 3),
                bytesMax: tenants.int64(row, 4).map { Int($0) })
        }
        parameters.append(uuid: user)
        parameters.append(int32: Int32(clamping: usersMax))
        let users = try connection.query(
            """
            SELECT c.user_id, t.slug, count(*), sum(cover_bytes(c.byte_counts))::bigint, \
            t.user_storage_bytes_max FROM covers c JOIN tenants t ON t.id = c.tenant_id \
            WHERE ($1::text IS NULL OR t.slug = $1) AND ($2::uuid IS NULL OR c.user_id = $2) \
            GROUP BY c.user_id, t.id ORDER BY 4 DESC, c.user_id LIMIT $3
            """, parameters)
        self.users = (0..<users.count).compactMap { row in
            users.uuid(row, 0).map { id in
                User(
                    id: id, tenant: users.text(row, 1) ?? "", covers: count(users, row, 2),
                    bytes: count(users, row, 3), bytesMax: users.int64(row, 4).map { Int($0) })
            }
        }
    }
}
