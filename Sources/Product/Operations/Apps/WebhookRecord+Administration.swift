import Basics
import Bookplate
import HTTPFetch
import Identity
import Postgres

extension WebhookRecord {
    /// The maximum number of webhooks of a tenant.
    package static let webhooksMax = 10
    /// The maximum length of an address.
    static let urlBytesMax = 2000
    /// The time for which messages are also signed with the secret before a rotation.
    package static let rotationHours: Int32 = 24

    /// Checks the address of a webhook before it is added.
    ///
    /// Names are resolved for each message, and private addresses are refused then. This check finds addresses that can never
    /// be reached.
    ///
    /// - Parameter allowsPlainHTTP: Whether the address may start with `http://`, for development.
    /// - Returns: The address without a fragment.
    /// - Throws: `.refused`.
    package static func checkedAddress(
        _ text: String, allowsPlainHTTP: Bool, policy: FetchPolicy
    ) throws(AdministrationError) -> String {
        let url: WebURL
        do throws(FetchError) {
            url = try WebURL(text)
        } catch {
            throw .refused(
                "the address must be a URL without a user name and password: \(redactingCredentials(text))"
            )
        }
        guard url.scheme == "https" || allowsPlainHTTP else {
            throw .refused("the address must start with https://: \(redactingCredentials(text))")
        }
        guard url.text.utf8.count <= urlBytesMax else {
            throw .refused("the address must have at most \(urlBytesMax) characters")
        }
        let host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        if let address = IPAddress(host), let port = UInt16(url.port),
            !policy.permits(address, port: port, host: url.host)
        {
            throw .refused(
                "the address must be public, on port 80 or 443, or be in BOOKPLATE_FETCH_ALLOW: \(redactingCredentials(text))"
            )
        }
        return url.text
    }

    /// Adds a webhook, in the caller's transaction. It receives events from now on.
    ///
    /// - Parameters:
    ///   - url: A result of `checkedAddress`.
    ///   - eventTypes: Types of events, or patterns of them.
    /// - Throws: `.refused` if the tenant does not exist or has `webhooksMax` webhooks, or if a pattern selects no type.
    package static func add(
        _ url: String, eventTypes: [String], to slug: String, _ keys: SessionKeys,
        _ connection: AdminConnection
    ) throws(AdministrationError) -> (webhook: WebhookRecord, secret: WebhookSecret) {
        if let unknown = eventTypes.first(where: { !WebhookEventType.isPattern($0) }) {
            throw .refused(
                "there is no event type \(unknown): use *, or types and patterns such as book.* of \(WebhookEventType.all.joined(separator: ", "))"
            )
        }
        guard (1...WebhookEventType.patternsMax).contains(eventTypes.count) else {
            throw .refused("a webhook has 1 to \(WebhookEventType.patternsMax) event types")
        }
        let tenant = try TenantRecord.find(slug, connection)
        guard try list(tenant: slug, connection).count < webhooksMax else {
            throw .refused("\(slug) has \(webhooksMax) webhooks already: remove one first")
        }
        let id = UUID.version7()
        let secret = WebhookSecret.random()
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters.of(id, tenant.id)
            parameters.append(text: url)
            parameters.append(texts: eventTypes)
            parameters.append(bytea: secret.sealed(for: id, keys))
            try connection.query(
                """
                INSERT INTO webhooks (id, tenant_id, url, event_types, sealed_secret)
                VALUES ($1, $2, $3, $4, $5)
                """, parameters)
        }
        return (try find(id, connection), secret)
    }

    /// Removes the webhook and its deliveries, in the caller's transaction.
    package func remove(_ connection: AdminConnection) throws(AdministrationError) {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            _ = try connection.query("DELETE FROM webhooks WHERE id = $1", .of(id))
        }
    }

    /// Ends a pause, or enables a disabled webhook, in the caller's transaction. The events that wait are sent.
    package func enable(_ connection: AdminConnection) throws(AdministrationError) {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try connection.query(
                """
                UPDATE webhooks
                SET disabled_at = NULL, paused_until = NULL, failures = 0
                WHERE id = $1
                """, .of(id))
            try connection.query(
                """
                UPDATE webhook_deliveries
                SET due_at = now()
                WHERE webhook_id = $1 AND due_at > now()
                """, .of(id))
        }
    }

    /// Creates a new secret, in the caller's transaction. For `rotationHours`, messages are also signed with the current one.
    package func rotateSecret(
        _ keys: SessionKeys, _ connection: AdminConnection
    ) throws(AdministrationError) -> WebhookSecret {
        let secret = WebhookSecret.random()
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters.of(id)
            parameters.append(bytea: secret.sealed(for: id, keys))
            parameters.append(int32: Self.rotationHours)
            try connection.query(
                """
                UPDATE webhooks
                SET
                    sealed_previous_secret = sealed_secret, sealed_secret = $2,
                    previous_secret_until = now() + $3 * interval '1 hour'
                WHERE id = $1
                """, parameters)
        }
        return secret
    }

    /// Returns the secrets that sign messages now, the current one first.
    ///
    /// - Throws: `.refused` if the key file does not contain the key that has encrypted them.
    package func secrets(
        _ keys: SessionKeys, _ connection: AdminConnection
    ) throws(AdministrationError) -> [WebhookSecret] {
        let targets = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try connection.query(
                """
                SELECT
                    url, sealed_secret,
                    CASE WHEN previous_secret_until > now() THEN sealed_previous_secret END
                FROM webhooks
                WHERE id = $1
                """, .of(id)
            ).decode(WebhookTarget.self)
        }
        guard let secrets = targets.first?.secrets(of: id, keys) else {
            throw .refused(
                "the secret was encrypted with a key that the session key file does not contain: restore the key, or make a new secret with bookplate-admin webhook rotate-secret"
            )
        }
        return secrets
    }
}
