import Basics
import Postgres
import Requests

/// The delivery of an event to a webhook, as the admin CLI shows it.
package struct WebhookDeliveryRecord: RowDecodable, Sendable {
    package enum State: String, Sendable, CaseIterable {
        case waiting, delivered, dead
    }

    package let id: UUID
    package let userID: UUID
    package let type: String
    /// RFC 3339, as all times here.
    package let eventAt: String
    package let state: State
    package let attempts: Int
    /// When the next attempt is due; nil if an earlier event of the user must be delivered first, or if the state is not
    /// `waiting`.
    package let dueAt: String?
    package let attemptedAt: String?
    /// The status and the error of the last attempt.
    package let lastStatus: Int?
    package let lastError: String?

    package init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let userID = row.uuid(), let type = row.text(),
            let eventAt = row.timestamptz(), let state = row.text().flatMap(State.init),
            let attempts = row.int32()
        else { return nil }
        self.id = id
        self.userID = userID
        self.type = type
        self.eventAt = Instant(microseconds: eventAt).text
        self.state = state
        self.attempts = Int(attempts)
        dueAt = row.timestamptz().map { Instant(microseconds: $0).text }
        attemptedAt = row.timestamptz().map { Instant(microseconds: $0).text }
        lastStatus = row.int32().map { Int($0) }
        lastError = row.text()
    }

    /// Returns deliveries of a webhook, the newest events first.
    ///
    /// - Parameter state: nil for all states.
    package static func list(
        of webhook: UUID, state: State?, limit: Int32, _ connection: AdminConnection
    ) throws(AdministrationError) -> [WebhookDeliveryRecord] {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters.of(webhook)
            parameters.append(text: state?.rawValue.uppercased(), as: .inferred)
            parameters.append(int32: limit)
            return try connection.query(
                """
                SELECT
                    id, user_id, type, event_at, lower(state::text), attempts, due_at, attempted_at,
                    last_status, last_error
                FROM webhook_deliveries
                WHERE webhook_id = $1 AND ($2::webhook_delivery_state IS NULL OR state = $2)
                ORDER BY number DESC
                LIMIT $3
                """, parameters
            ).decode()
        }
    }

    /// Makes dead letters of a webhook wait again, in the caller's transaction. The servers then send them.
    ///
    /// - Parameter ids: nil for all dead letters of the webhook.
    /// - Returns: The number of dead letters that wait now.
    package static func retry(
        _ ids: [UUID]?, of webhook: UUID, _ connection: AdminConnection
    ) throws(AdministrationError) -> Int {
        let counts = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters.of(webhook)
            if let ids { parameters.append(uuids: ids) } else { parameters.appendNull(.uuid.array) }
            return try connection.query("SELECT retry_webhook_deliveries($1, $2)", parameters)
                .decode(Int64.self)
        }
        return Int(counts.first ?? 0)
    }
}
