import Postgres

/// How often an app used an element of the schema: `bookplate-admin schema usage`.
package struct UsageRecord: Sendable, RowDecodable {
    /// A field, argument, input field, or enum value, such as `Book.title`.
    package let coordinate: String
    /// The slug of the tenant; nil for requests without a valid access token.
    package let tenant: String?
    /// Empty if the app has not named itself.
    package let app: String
    package let version: String
    package let uses: Int
    /// The last day (UTC) with a use, as `2026-01-31`.
    package let lastUsedOn: String

    package init?(_ row: inout RowReader) {
        guard let coordinate = row.text() else { return nil }
        self.coordinate = coordinate
        tenant = row.text()
        guard let app = row.text(), let version = row.text(), let uses = row.int64(),
            let lastUsedOn = row.text()
        else { return nil }
        self.app = app
        self.version = version
        self.uses = Int(uses)
        self.lastUsedOn = lastUsedOn
    }

    /// Returns the uses in the last days, by coordinate, the most frequent apps first.
    ///
    /// - Parameters:
    ///   - days: The number of days, including today.
    ///   - coordinate: Returns only this element; nil for all.
    package static func all(
        days: Int, coordinate: String? = nil, _ connection: AdminConnection
    ) throws(PostgresError) -> [UsageRecord] {
        var parameters = Parameters()
        parameters.append(int32: Int32(clamping: days))
        parameters.append(text: coordinate)
        return try connection.query(
            """
            SELECT s.coordinate, t.slug, c.name, c.version, sum(s.uses)::bigint, max(s.day)::text
            FROM schema_usage s
            JOIN usage_clients c ON c.id = s.client_id
            LEFT JOIN tenants t ON t.id = c.tenant_id
            WHERE s.day > (now() AT TIME ZONE 'UTC')::date - $1
                AND ($2::text IS NULL OR s.coordinate = $2)
            GROUP BY s.coordinate, t.slug, c.name, c.version
            ORDER BY s.coordinate, sum(s.uses) DESC, t.slug, c.name, c.version
            """, parameters
        ).decode()
    }

    /// Returns the first day with a count, as `2026-01-31`; nil if nothing was counted.
    package static func firstDay(
        _ connection: AdminConnection
    ) throws(PostgresError) -> String? {
        let days = try connection.query("SELECT min(day)::text FROM schema_usage")
        return days.text(0, 0)
    }

    /// Whether the counts began at least this number of days ago, including today.
    package static func covers(
        days: Int, _ connection: AdminConnection
    ) throws(PostgresError) -> Bool {
        var parameters = Parameters()
        parameters.append(int32: Int32(clamping: days))
        let rows = try connection.query(
            "SELECT min(day) <= (now() AT TIME ZONE 'UTC')::date - $1 + 1 FROM schema_usage",
            parameters)
        return rows.bool(0, 0) == true
    }
}
