import struct FoundationEssentials.Data
import JobQueue
import Postgres

/// The end of an account, for its owner, for Apple's notification and for the operator alike.
///
/// All that the database holds goes in one transaction: sessions, rows, jobs and events, with a tombstone and the
/// jobs for what lies elsewhere in their place. Killed at any moment, either nothing has happened or the jobs
/// finish it. What can be done at once is done at once, and its jobs are taken back.
struct AccountDeletion {
    let books: Int
    let reviews: Int
    let covers: Int
    private let revocations: [Revocation]
    private let removal: Removal

    private struct Revocation {
        let job: UUID
        let payload: RevokeAppleGrant.Payload
    }

    private struct Removal {
        let job: UUID
        let payload: RemoveAccountObjects.Payload
    }

    /// Jobs that finish it, where nobody does it at once.
    var jobs: [UUID] { revocations.map(\.job) + [removal.job] }

    /// Deletes the account whose id `app.user_id` is; `init` reads what the statements answer, in their order.
    ///
    /// - Parameters:
    ///   - session: that asks for it; it may ask again.
    ///   - delay: until the jobs begin: longer than doing it at once may take.
    static func statements(
        session: UUID? = nil, delay: Duration = .seconds(10)
    ) -> [(statement: Statement, parameters: Parameters)] {
        var tombstone = Parameters()
        tombstone.append(uuid: session)
        return [
            (leaveTombstone, tombstone),
            (enqueueRevocations, parameters(of: RevokeAppleGrant.self, delay)),
            (enqueueRemoval, parameters(of: RemoveAccountObjects.self, delay)),
            (deleteUser, Parameters()),
        ]
    }

    private static func parameters<Handler: JobHandler>(
        of handler: Handler.Type, _ delay: Duration
    ) -> Parameters {
        var parameters = Parameters()
        parameters.append(text: Handler.kind)
        parameters.append(int64: delay.milliseconds)
        parameters.append(int32: Int32(clamping: Handler.settings.attemptsMax))
        return parameters
    }

    static func append(to segment: inout Pipeline, session: UUID? = nil) {
        for (statement, parameters) in statements(session: session) {
            segment.append(statement, parameters)
        }
    }

    /// - Returns: nil where there was no such account.
    init?(_ rows: ArraySlice<Rows>) {
        guard rows.count == 4, let counts = rows.first, counts.count == 1 else { return nil }
        books = Int(counts.int32(0, 0) ?? 0)
        reviews = Int(counts.int32(0, 1) ?? 0)
        covers = Int(counts.int32(0, 2) ?? 0)
        let granted = rows[rows.startIndex + 1]
        revocations = (0..<granted.count).compactMap { row in
            guard let job = granted.uuid(row, 0), let clientID = granted.text(row, 1),
                let token = granted.bytes(row, 2)
            else { return nil }
            return Revocation(
                job: job, payload: .init(clientID: clientID, sealedToken: Data(token)))
        }
        let removed = rows[rows.startIndex + 2]
        guard let job = removed.uuid(0, 0), let user = removed.uuid(0, 1) else { return nil }
        removal = Removal(job: job, payload: .init(user))
    }

    /// What was done at once.
    struct Outcome {
        /// Whether Apple has heard of it; false where there was nothing to revoke.
        let isAppleTokenRevoked: Bool
        /// Jobs that need not be done any more.
        let doneJobs: [UUID]
    }

    /// Does what lies outside of the database, as far as it can be done now.
    func finish(_ services: Services) async -> Outcome {
        var done: [UUID] = []
        for revocation in revocations {
            do throws(JobError) {
                try await RevokeAppleGrant(services: services).run(revocation.payload)
                done.append(revocation.job)
            } catch {
                services.logger.warning(
                    "Apple's token is not revoked yet: it is tried again in the background",
                    metadata: ["job_id": "\(revocation.job)", "reason": "\(error.message)"])
            }
        }
        let isAppleTokenRevoked = !revocations.isEmpty && done.count == revocations.count
        do throws(JobError) {
            try await RemoveAccountObjects(covers: services.covers).run(removal.payload)
            done.append(removal.job)
        } catch {
            services.logger.warning(
                "objects of a deleted account are left: they are removed in the background",
                metadata: ["job_id": "\(removal.job)", "reason": "\(error.message)"])
        }
        return Outcome(isAppleTokenRevoked: isAppleTokenRevoked, doneJobs: done)
    }

    /// Takes jobs back that are done.
    static func appendWithdrawal(of jobs: [UUID], to segment: inout Pipeline) {
        var parameters = Parameters()
        parameters.append(uuids: jobs)
        segment.append(withdraw, parameters)
    }

    /// Keeps what the session is told of Apple's grant, unless it was told before; the row is what it is told.
    static func appendSettlement(
        isAppleTokenRevoked: Bool, for viewer: Viewer, to segment: inout Pipeline
    ) {
        var parameters = Parameters.of(viewer.userID, viewer.sessionID)
        parameters.append(bool: isAppleTokenRevoked)
        segment.append(settle, parameters)
    }

    // MARK: - Statements

    private static let settle = Statement("SELECT settle_apple_revocation($1, $2, $3)")

    /// The lock waits for what is being written for the user, and lets nothing more begin.
    private static let leaveTombstone = Statement(
        """
        WITH leaving AS (SELECT id FROM users WHERE id = app_user_id() FOR UPDATE), \
        counted AS (SELECT id, \
        (SELECT count(*) FROM books WHERE user_id = leaving.id)::int AS books, \
        (SELECT count(*) FROM reviews WHERE user_id = leaving.id)::int AS reviews, \
        (SELECT count(*) FROM covers WHERE user_id = leaving.id)::int AS covers FROM leaving), \
        left_behind AS (INSERT INTO account_tombstones \
        (user_hash, session_hash, books, reviews, covers, apple_token_revoked) \
        SELECT sha256(uuid_send(id)), sha256(uuid_send($1)), books, reviews, covers, \
        CASE WHEN NOT EXISTS (SELECT FROM apple_grants WHERE user_id = counted.id) THEN false END \
        FROM counted) \
        SELECT books, reviews, covers FROM counted
        """)

    private static let enqueueRevocations = Statement(
        """
        SELECT enqueue_job(NULL, $1, jsonb_build_object('clientID', client_id, \
        'sealedToken', replace(encode(sealed_token, 'base64'), E'\\n', '')), NULL, $2, 0, $3), \
        client_id, sealed_token FROM apple_grants WHERE user_id = app_user_id()
        """)

    /// Nobody's job: it has to outlive the user.
    private static let enqueueRemoval = Statement(
        """
        SELECT enqueue_job(NULL, $1, jsonb_build_object('userID', app_user_id()), NULL, $2, 0, $3), \
        app_user_id()
        """)

    /// Foreign keys take everything that is the user's, sessions too, in the same transaction.
    private static let deleteUser = Statement("DELETE FROM users WHERE id = app_user_id()")

    private static let withdraw = Statement("SELECT withdraw_jobs($1)")
}
