import GraphQL
import GraphQLPostgres

/// The field `User.storage`. Covers of a merged guest count while their files are copied. The quota is the limit that the
/// tenant sets for each user; the limit of the tenant as a whole is not shown.
enum StorageUse {
    static let type: RowType = RowType(
        name: "StorageUsage", table: "", scope: "", id: Column("s.user_id", .uuid),
        fields: [
            "usedBytes": .column(Column("s.used", .float)),
            "quotaBytes": .column(Column("s.quota", .float)),
        ])

    static let ofUser = RowRelation(
        .one, type, key: User.id, matching: "s.user_id",
        from: """
            (
                SELECT
                    o.id AS user_id,
                    (
                        SELECT coalesce(sum(cover_bytes(c.byte_counts)), 0)
                        FROM covers c
                        WHERE c.user_id = $1
                    )::float8 + (
                        SELECT coalesce(sum(cover_bytes((jsonb_populate_record(NULL::covers, m.cover)).byte_counts)), 0)
                        FROM moving_covers m
                        WHERE m.user_id = $1
                    )::float8 AS used,
                    t.user_storage_bytes_max::float8 AS quota
                FROM users o
                JOIN tenants t ON t.id = o.tenant_id
                WHERE o.id = $1
            ) s
            WHERE s.user_id = $2
            """)
}
