import Identity
import Logging
import Postgres
import Requests

/// Receives Apple's notifications about changes of its users' accounts.
///
/// Spec: https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts
package enum AppleNotifications {
    package enum Outcome: Sendable {
        /// The notification was processed now or earlier, or its event or user is unknown.
        case accepted
        /// The body is not a notification from Apple.
        case refused
        /// The notification could not be processed. Apple should send it again.
        case unavailable
    }

    /// Apple stops sending a notification again after one day.
    private static let ageSecondsMax: Int64 = 24 * 3600

    /// Verifies a notification and processes it if that has not happened before.
    package static func receive(
        _ body: [UInt8], database: ConnectionPool, services: Services, requestID: String
    ) async -> Outcome {
        guard let payload = AppleNotification.payload(ofBody: body) else { return .refused }
        let request = RequestContext(
            viewer: nil, database: database, services: services, requestID: requestID)
        guard let tenants = try? await services.accounts.tenants.all(for: request) else {
            return .unavailable
        }
        guard
            case (let tenant, var verifier, true)? = services.accounts.identities.verifier(
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
            return await process(notification, tenant, request)
        } catch {
            services.logger.notice(
                "refused a notification",
                metadata: ["request_id": "\(requestID)", "reason": "\(error.reason)"])
            return error.meaning == .unavailable ? .unavailable : .refused
        }
    }

    /// Records the notification and applies its event in one transaction.
    private static func process(
        _ notification: AppleNotification, _ tenant: Tenant, _ request: RequestContext
    ) async -> Outcome {
        var pipeline = Pipeline()
        var record = Parameters()
        record.append(bytea: sha256((notification.issuer + "\0" + notification.id).utf8))
        record.append(int64: notification.expiresAt)
        pipeline.append(recordNotification, record)
        var identity = Parameters.of(tenant.id)
        identity.append(text: notification.subject)
        pipeline.append(setIdentity, identity)
        let user = pipeline.append(setUser)
        var deletionKeys: AccountDeletion.Keys?
        switch notification.event {
        case .consentRevoked:
            pipeline.append(lockUser)
            pipeline.append(revokeSessions)
            pipeline.append(AuthorizedApp.deleteRequests)
            pipeline.append(deleteAppGrants)
            pipeline.append(deleteAccessTokens)
            pipeline.append(deleteGrants)
        case .accountDeleted:
            pipeline.append(releaseIdentity)
            deletionKeys = AccountDeletion.append(to: &pipeline)
        case .emailEnabled(let email):
            pipeline.append(setEmail, email: email, isDisabled: false)
        case .emailDisabled(let email):
            pipeline.append(setEmail, email: email, isDisabled: true)
        case .unknown:
            break
        }
        let services = request.services
        do throws(PostgresError) {
            let results = PipelineResults(try await request.database.run(pipeline))
            services.logger.notice(
                "received a notification from Apple",
                metadata: [
                    "request_id": "\(request.requestID)", "tenant": "\(tenant.slug)",
                    "event": "\(notification.event.name)",
                    "is_known": "\(!results[user].isEmpty)",
                ])
            if let deletionKeys, let deletion = AccountDeletion(results, deletionKeys) {
                await finish(deletion, request)
            }
            return .accepted
        } catch {
            // The notification was processed earlier, perhaps by a transaction that the synchronous standby does not have.
            if error.sqlState == .notificationProcessed {
                return (try? await request.anonymous { _ in }) == nil ? .unavailable : .accepted
            }
            _ = services.environment.bookplateError(error, request.requestID)
            return .unavailable
        }
    }

    private static func finish(_ deletion: AccountDeletion, _ request: RequestContext) async {
        let outcome = await deletion.finish(request.services)
        guard !outcome.doneJobs.isEmpty else { return }
        // If this fails, the jobs repeat the work, which has no effect.
        _ = try? await request.anonymous {
            AccountDeletion.appendWithdrawal(of: outcome.doneJobs, to: &$0)
        }
    }

    // MARK: - Statements

    /// Fails with SQLSTATE BP412 if the notification was recorded before.
    private static let recordNotification = Statement(
        "SELECT record_apple_notification($1, to_timestamp($2))")

    /// Makes the identity's own row visible to row-level security.
    private static let setIdentity = Statement(
        """
        SELECT
            set_config('app.user_id', '', true),
            set_config('app.tenant_id', $1::text, true),
            set_config('app.subject', $2, true)
        """)

    /// Sets the user for row-level security. Returns no row if the user is unknown.
    private static let setUser = TypedStatement<String>(
        """
        SELECT set_config('app.user_id', user_id::text, true)
        FROM identities
        WHERE tenant_id = (SELECT app_tenant_id()) AND subject = (SELECT app_subject())
        """)

    /// Waits for the user's transactions in progress, so that none of them adds a token that remains.
    private static let lockUser = Statement(
        "SELECT lock_user(app_user_id()) WHERE app_user_id() IS NOT NULL")

    /// An account with another identity is not deleted.
    private static let releaseIdentity = Statement("SELECT release_deleted_identity()")

    private static let revokeSessions = Statement(
        """
        UPDATE sessions
        SET revoked_at = now()
        WHERE user_id = app_user_id() AND revoked_at IS NULL
        """)

    private static let deleteAccessTokens = Statement(
        "DELETE FROM access_tokens WHERE user_id = app_user_id()")

    private static let deleteAppGrants = Statement(
        "DELETE FROM oauth_grants WHERE user_id = app_user_id()")

    /// Apple has already revoked the tokens.
    private static let deleteGrants = Statement(
        "DELETE FROM apple_grants WHERE user_id = app_user_id()")

    private static let setEmail = Statement(
        """
        UPDATE users
        SET email = coalesce($1, email), email_disabled = $2, updated_at = now()
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
    /// The event's name in the log.
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
