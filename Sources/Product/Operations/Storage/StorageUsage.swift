import Postgres

/// The storage that covers use, including those of deleted books that can be restored: `bookplate-admin storage usage`.
package struct StorageUsage: Sendable {
    package struct Tenant: Sendable, RowDecodable {
        package let slug: String
        package let users: Int
        package let covers: Int
        package let bytes: Int
        /// Nil if there is no limit.
        package let bytesMax: Int?

        package init?(_ row: inout RowReader) {
            guard let slug = row.text(), let users = row.int64(), let covers = row.int64(),
                let bytes = row.int64()
            else { return nil }
            self.slug = slug
            self.users = Int(users)
            self.covers = Int(covers)
            self.bytes = Int(bytes)
            bytesMax = row.int64().map { Int($0) }
        }
    }

    package struct User: Sendable, RowDecodable {
        package let id: UUID
        package let tenant: String
        package let covers: Int
        package let bytes: Int
        /// Nil if there is no limit.
        package let bytesMax: Int?

        package init?(_ row: inout RowReader) {
            guard let id = row.uuid(), let tenant = row.text(), let covers = row.int64(),
                let bytes = row.int64()
            else { return nil }
            self.id = id
            self.tenant = tenant
            self.covers = Int(covers)
            self.bytes = Int(bytes)
            bytesMax = row.int64().map { Int($0) }
        }
    }

    package let tenants: [Tenant]
    /// The users with the most bytes, in descending order.
    package let users: [User]

    /// - Parameters:
    ///   - tenant: The slug of a tenant; nil for all tenants.
    ///   - user: The id of a user; nil for all users.
    ///   - usersMax: The maximum number of users.
    package init(
        tenant: String?, user: UUID?, usersMax: Int, _ connection: AdminConnection
    ) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: tenant)
        tenants = try connection.query(
            """
            SELECT
                t.slug,
                count(DISTINCT c.owner_id),
                count(c.version),
                coalesce(sum(cover_bytes(c.byte_counts)), 0)::bigint,
                t.storage_bytes_max
            FROM tenants t
            LEFT JOIN stored_covers c ON c.tenant_id = t.id
            WHERE $1::text IS NULL OR t.slug = $1
            GROUP BY t.id
            ORDER BY 4 DESC, t.slug
            """, parameters
        ).decode()
        parameters.append(uuid: user)
        parameters.append(int32: Int32(clamping: usersMax))
        users = try connection.query(
            """
            SELECT
                c.owner_id,
                t.slug,
                count(*),
                sum(cover_bytes(c.byte_counts))::bigint,
                t.user_storage_bytes_max
            FROM stored_covers c
            JOIN tenants t ON t.id = c.tenant_id
            WHERE ($1::text IS NULL OR t.slug = $1)
                AND ($2::uuid IS NULL OR c.owner_id = $2)
            GROUP BY c.owner_id, t.id
            ORDER BY 4 DESC, c.owner_id
            LIMIT $3
            """, parameters
        ).decode()
    }
}
