import Identity
import Logging
import Postgres

/// What Apple tells the server about people who use its apps.
///
/// Spec: https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts
package enum AppleNotifications {
    package enum Outcome: Sendable {
        /// Acted on now or before, or of a kind or about somebody not known here.
        case accepted
        /// No notification, or none of Apple's.
        case refused
        /// Apple should send it again.
        case unavailable
    }

    /// Apple stops trying after a day.
    private static let ageSecondsMax: Int64 = 24 * 3600

    /// Verifies a notification and acts on it, once.
    package static func receive(
        _ body: [UInt8], database: ConnectionPool, services: Services, requestID: String
    ) async -> Outcome {
        guard let payload = AppleNotification.payload(ofBody: body) else { return .refused }
        let request = RequestContext(
            viewer: nil, database: database, services: services, requestID: requestID)
        guard let tenants = try? await services.tenants.all(for: request) else {
            return .unavailable
        }
        guard
            case (let tenant, var verifier, true)? = services.identities.verifier(
                for: payload, among: tenants)
        else {
            services.logger.notice(
                "refused a notification",
                metadata: [
                    "request_id": "\(requestID)",
                    "reason": "\(TokenError.reasonWithoutVerifier(payload))",
                ])
            return .refused
        }
        verifier.ageSecondsMax = ageSecondsMax
        do throws(TokenError) {
            let notification = try await verifier.verifyNotification(
                payload, now: unixSecondsNow())
            return await act(on: notification, tenant, request, database)
        } catch {
            services.logger.notice(
                "refused a notification",
                metadata: ["request_id": "\(requestID)", "reason": "\(error.reason)"])
            return error.meaning == .unavailable ? .unavailable : .refused
        }
    }

    /// All in one transaction: either it is known and acted on, or neither.
    private static func act(
        on notification: AppleNotification, _ tenant: Tenant, _ request: RequestContext,
        _ database: ConnectionPool
    ) async -> Outcome {
        var segment = Pipeline()
        var taken = Parameters()
        taken.append(bytea: sha256((notification.issuer + "\0" + notification.id).utf8))
        taken.append(int64: notification.expiresAt)
        segment.append(take, taken)
        var identity = Parameters.of(tenant.id)
        identity.append(text: notification.subject)
        segment.append(presentIdentity, identity)
        segment.append(becomeUser)
        let effects = segment.count
        switch notification.event {
        case .consentRevoked:
            segment.append(endSessions)
            segment.append(forgetGrants)
        case .accountDeleted:
            AccountDeletion.append(to: &segment)
        case .emailEnabled(let email):
            segment.append(setEmail, email: email, isDisabled: false)
        case .emailDisabled(let email):
            segment.append(setEmail, email: email, isDisabled: true)
        case .unknown:
            break
        }
        let services = request.services
        do throws(PostgresError) {
            let rows = try await database.run(segment)
            services.logger.notice(
                "Apple told of an account",
                metadata: [
                    "request_id": "\(request.requestID)", "tenant": "\(tenant.slug)",
                    "event": "\(notification.event.name)",
                    "is_known": "\(rows[2].count > 0)",
                ])
            if case .accountDeleted = notification.event,
                let deletion = AccountDeletion(rows[effects...])
            {
                await finish(deletion, request)
            }
            return .accepted
        } catch {
            // Told before.
            if error.sqlState?.rawValue == "BP412" { return .accepted }
            _ = services.describe(error, request.requestID)
            return .unavailable
        }
    }

    private static func finish(_ deletion: AccountDeletion, _ request: RequestContext) async {
        let outcome = await deletion.finish(request.services)
        guard !outcome.doneJobs.isEmpty else { return }
        // Where it fails, the jobs are done once more, which changes nothing.
        _ = try? await request.anonymous {
            AccountDeletion.appendWithdrawal(of: outcome.doneJobs, to: &$0)
        }
    }

    // MARK: - Statements

    private static let take = Statement("SELECT take_apple_notification($1, to_timestamp($2))")

    /// Shows the identity's own row to the policies.
    private static let presentIdentity = Statement(
        """
        SELECT set_config('app.user_id', '', true), set_config('app.tenant_id', $1::text, true), \
        set_config('app.subject', $2, true)
        """)

    private static let becomeUser = Statement(
        """
        SELECT set_config('app.user_id', id::text, true) FROM users \
        WHERE tenant_id = (SELECT app_tenant_id()) AND apple_sub = (SELECT app_subject())
        """)

    private static let endSessions = Statement(
        "UPDATE sessions SET revoked_at = now() WHERE user_id = app_user_id() AND revoked_at IS NULL"
    )

    /// Apple has revoked them already.
    private static let forgetGrants = Statement(
        "DELETE FROM apple_grants WHERE user_id = app_user_id()")

    private static let setEmail = Statement(
        """
        UPDATE users SET email = coalesce($1, email), email_disabled = $2, updated_at = now() \
        WHERE id = app_user_id()
        """)
}

extension Pipeline {
    fileprivate mutating func append(_ statement: Statement, email: String?, isDisabled: Bool) {
        var parameters = Parameters()
        parameters.append(text: email)
        parameters.append(bool: isDisabled)
        append(statement, parameters)
    }
}

extension AppleNotification.Event {
    /// For the log.
    fileprivate var name: String {
        switch self {
        case .consentRevoked: "consent-revoked"
        case .accountDeleted: "account-deleted"
        case .emailEnabled: "email-enabled"
        case .emailDisabled: "email-disabled"
        case .unknown(let type): type
        }
    }
}
