import Basics
import GraphQL
import Postgres
import Requests

/// An event of the audit log as the admin CLI shows it.
package struct AuditRecord: RowDecodable, Equatable, Sendable {
    package let id: Int64
    /// The position in the chain; nil if the event is not in the chain yet.
    package let position: Int64?
    /// RFC 3339.
    package let at: String
    package let kind: String
    /// The slug of the tenant, or its id if it was removed.
    package let tenant: String?
    package let accountID: UUID?
    package let credentialID: UUID?
    package let operatorName: String?
    /// A JSON object.
    package let detail: String

    package init?(_ row: inout RowReader) {
        guard let id = row.int64() else { return nil }
        self.id = id
        position = row.int64()
        guard let at = row.timestamptz(), let kind = row.text() else { return nil }
        self.at = Instant(microseconds: at).text
        self.kind = kind
        tenant = row.text()
        accountID = row.uuid()
        credentialID = row.uuid()
        operatorName = row.text()
        detail = row.text() ?? "{}"
    }
}

/// The audit log, for operators.
package enum AuditLog {
    /// The events to list.
    package struct Filter: Sendable {
        package var account: UUID?
        /// The slug of a tenant.
        package var tenant: String?
        package var kind: String?
        /// Events of at most this number of days ago.
        package var days: Int32?
        package var limit: Int32

        package init(
            account: UUID? = nil, tenant: String? = nil, kind: String? = nil, days: Int32? = nil,
            limit: Int32
        ) {
            self.account = account
            self.tenant = tenant
            self.kind = kind
            self.days = days
            self.limit = limit
        }
    }

    /// Returns the newest events first.
    package static func list(
        _ filter: Filter, _ connection: AdminConnection
    ) throws(PostgresError) -> [AuditRecord] {
        var parameters = Parameters()
        parameters.append(uuid: filter.account)
        parameters.append(text: filter.tenant)
        parameters.append(text: filter.kind)
        parameters.append(int32: filter.days)
        parameters.append(int32: filter.limit)
        return try connection.query(
            """
            SELECT
                e.id, e.position, e.at, e.kind, coalesce(t.slug, e.tenant_id::text), e.account_id,
                e.credential_id, e.operator, e.detail::text
            FROM audit_events e
            LEFT JOIN tenants t ON t.id = e.tenant_id
            WHERE ($1::uuid IS NULL OR e.account_id = $1)
                AND ($2::text IS NULL OR t.slug = $2 OR e.tenant_id::text = $2)
                AND ($3::text IS NULL OR e.kind = $3)
                AND ($4::int IS NULL OR e.at > now() - $4 * interval '1 day')
            ORDER BY e.id DESC
            LIMIT $5
            """, parameters
        ).decode()
    }

    /// Names the operator in the events that this connection causes.
    package static func setOperator(
        _ name: String, _ connection: AdminConnection
    ) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: name)
        try connection.query("SELECT set_config('app.operator', left($1, 100), false)", parameters)
    }

    /// Records a command of bookplate-admin, without the credentials in its arguments. Does nothing if the database has no audit log
    /// yet.
    package static func recordCommand(
        _ arguments: [String], succeeded: Bool, _ connection: AdminConnection
    ) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(texts: arguments.map(redactingCredentials))
        parameters.append(bool: succeeded)
        let exists = try connection.query("SELECT to_regclass('audit_events') IS NOT NULL")
            .bool(0, 0)
        guard exists == true else { return }
        try connection.query(
            """
            SELECT record_audit_event(
                'ADMIN_COMMAND', NULL, NULL, NULL, jsonb_build_object('arguments', $1, 'succeeded', $2)
            )
            """, parameters)
    }
}
