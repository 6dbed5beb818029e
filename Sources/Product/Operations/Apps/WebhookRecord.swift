import Basics
import Postgres
import Requests

/// A webhook as the admin CLI shows it.
package struct WebhookRecord: Sendable {
    package enum State: String, Sendable {
        case enabled
        /// The server waits, because attempts have failed or the receiver has requested a pause.
        case paused
        /// The receiver has responded with status 410.
        case disabled
    }

    package let id: UUID
    /// The slug of the tenant.
    package let tenant: String
    package let url: String
    /// Types of events, and patterns of them.
    package let eventTypes: [String]
    package let state: State
    /// RFC 3339.
    package let createdAt: String
    /// The time until which messages are also signed with the previous secret, in RFC 3339; nil without a rotation.
    package let previousSecretUntil: String?
    /// The number of events that wait.
    package let waiting: Int
    /// The number of dead letters.
    package let dead: Int

    /// Returns the webhooks of a tenant, or of all tenants.
    package static func list(
        tenant slug: String?, _ connection: AdminConnection
    ) throws(AdministrationError) -> [WebhookRecord] {
        if let slug { _ = try TenantRecord.find(slug, connection) }
        return try read(slug, nil, connection)
    }

    /// Returns one webhook.
    ///
    /// - Throws: `.refused` if it does not exist.
    package static func find(
        _ id: UUID, _ connection: AdminConnection
    ) throws(AdministrationError) -> WebhookRecord {
        guard let webhook = try read(nil, id, connection).first else {
            throw .refused("there is no webhook \(id): see bookplate-admin webhook list")
        }
        return webhook
    }

    /// Returns the numbers of disabled webhooks and of dead letters, for all tenants together.
    package static func problems(
        _ connection: AdminConnection
    ) throws(PostgresError) -> (disabled: Int, dead: Int) {
        let rows = try connection.query("SELECT disabled, dead FROM count_webhooks()")
        return (Int(rows.int64(0, 0) ?? 0), Int(rows.int64(0, 1) ?? 0))
    }

    private static func read(
        _ slug: String?, _ id: UUID?, _ connection: AdminConnection
    ) throws(AdministrationError) -> [WebhookRecord] {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters()
            parameters.append(text: slug)
            parameters.append(uuid: id)
            return try connection.query(
                """
                SELECT
                    w.id, t.slug, w.url, w.event_types,
                    CASE
                        WHEN w.disabled_at IS NOT NULL THEN 'disabled'
                        WHEN w.paused_until IS NOT NULL THEN 'paused'
                        ELSE 'enabled'
                    END,
                    w.created_at,
                    CASE WHEN w.previous_secret_until > now() THEN w.previous_secret_until END,
                    (
                        SELECT count(*)
                        FROM webhook_deliveries d
                        WHERE d.webhook_id = w.id AND d.state = 'WAITING'
                    ),
                    (
                        SELECT count(*)
                        FROM webhook_deliveries d
                        WHERE d.webhook_id = w.id AND d.state = 'DEAD'
                    )
                FROM webhooks w
                JOIN tenants t ON t.id = w.tenant_id
                WHERE ($1::text IS NULL OR t.slug = $1) AND ($2::uuid IS NULL OR w.id = $2)
                ORDER BY t.slug, w.created_at
                """, parameters
            ).decode()
        }
    }
}

extension WebhookRecord: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let tenant = row.text(), let url = row.text(),
            let eventTypes = row.texts(), let state = row.text().flatMap(State.init),
            let createdAt = row.timestamptz()
        else { return nil }
        self.id = id
        self.tenant = tenant
        self.url = url
        self.eventTypes = eventTypes
        self.state = state
        self.createdAt = Instant(microseconds: createdAt).text
        previousSecretUntil = row.timestamptz().map { Instant(microseconds: $0).text }
        waiting = Int(row.int64() ?? 0)
        dead = Int(row.int64() ?? 0)
    }
}
