import JobQueue
import Postgres

import Requests
import struct FoundationEssentials.Data

/// The deletion of an account. Its owner, a notification from Apple, and the operator all use it.
///
/// One transaction deletes everything in the database: sessions, rows, jobs, and events. It adds a tombstone, and
/// the jobs that delete the data elsewhere. If the process is killed, either nothing has happened or the jobs
/// finish the deletion. `finish` then does the work of these jobs immediately, and the jobs that succeeded are withdrawn.
package struct AccountDeletion {
    package let books: Int
    package let reviews: Int
    let covers: Int
    private let revocations: [Revocation]
    private let removal: Removal

    /// The jobs that complete the deletion if `finish` is not called.
    package var jobs: [UUID] { revocations.map(\.job) + [removal.job] }

    /// Identifies the results of the statements that `append` has added.
    struct Keys {
        fileprivate let counts: ResultKey<Counts>
        fileprivate let revocations: ResultKey<Revocation>
        fileprivate let removals: ResultKey<Removal>
    }

    /// Adds the statements that delete the account whose ID is in `app.user_id`. The jobs start after ten seconds, which
    /// is longer than `finish` may take.
    ///
    /// - Parameter session: The session that requests the deletion; it can read the result again.
    static func append(to pipeline: inout Pipeline, session: UUID? = nil) -> Keys {
        let delay = Duration.seconds(10)
        let keys = Keys(
            counts: pipeline.append(insertTombstone, tombstoneParameters(session: session)),
            revocations: pipeline.append(
                enqueueRevocations, jobParameters(RevokeAppleGrant.self, delay)),
            removals: pipeline.append(
                enqueueRemoval, jobParameters(RemoveAccountObjects.self, delay)))
        pipeline.append(deleteUser)
        return keys
    }

    /// Reads the results of the statements that `append` has added.
    ///
    /// - Returns: nil if there was no such account.
    init?(_ results: PipelineResults, _ keys: Keys) {
        self.init(results[keys.counts], results[keys.revocations], results[keys.removals])
    }

    /// Deletes the account whose ID is in `app.user_id`, in the connection's transaction. The jobs can start immediately
    /// after the commit.
    ///
    /// - Returns: nil if there was no such account.
    package init?(on connection: AdminConnection) throws(PostgresError) {
        let counts: [Counts] = try connection.query(
            Self.insertTombstone.statement.text, Self.tombstoneParameters(session: nil)
        ).decode()
        let revocations: [Revocation] = try connection.query(
            Self.enqueueRevocations.statement.text,
            Self.jobParameters(RevokeAppleGrant.self, .zero)
        ).decode()
        let removals: [Removal] = try connection.query(
            Self.enqueueRemoval.statement.text,
            Self.jobParameters(RemoveAccountObjects.self, .zero)
        ).decode()
        try connection.query(Self.deleteUser.text)
        self.init(counts, revocations, removals)
    }

    private init?(_ counts: [Counts], _ revocations: [Revocation], _ removals: [Removal]) {
        guard let counts = counts.first, let removal = removals.first else { return nil }
        books = Int(counts.books)
        reviews = Int(counts.reviews)
        covers = Int(counts.covers)
        self.revocations = revocations
        self.removal = removal
    }

    private static func tombstoneParameters(session: UUID?) -> Parameters {
        var parameters = Parameters()
        parameters.append(uuid: session)
        return parameters
    }

    private static func jobParameters<Handler: JobHandler>(
        _ handler: Handler.Type, _ delay: Duration
    ) -> Parameters {
        var parameters = Parameters()
        parameters.append(text: Handler.kind)
        parameters.append(int64: delay.milliseconds)
        parameters.append(int32: Int32(clamping: Handler.settings.attemptsMax))
        return parameters
    }

    // MARK: - Work outside the database

    /// The result of `finish`.
    struct Outcome {
        /// Whether Apple has revoked its tokens; false if there was nothing to revoke.
        let isAppleTokenRevoked: Bool
        /// The jobs whose work is done.
        let doneJobs: [UUID]
    }

    /// Revokes Apple's tokens and removes the account's files, as far as that is possible now.
    func finish(_ services: Services) async -> Outcome {
        var done: [UUID] = []
        for revocation in revocations {
            do throws(JobError) {
                try await RevokeAppleGrant(services: services).run(revocation.payload)
                done.append(revocation.job)
            } catch {
                services.logger.warning(
                    "could not revoke Apple's token of a deleted account: a job tries again",
                    metadata: ["job_id": "\(revocation.job)", "reason": "\(error.message)"])
            }
        }
        let isAppleTokenRevoked = !revocations.isEmpty && done.count == revocations.count
        do throws(JobError) {
            try await RemoveAccountObjects(covers: services.covers).run(removal.payload)
            done.append(removal.job)
        } catch {
            services.logger.warning(
                "could not remove all files of a deleted account: a job removes them",
                metadata: ["job_id": "\(removal.job)", "reason": "\(error.message)"])
        }
        return Outcome(isAppleTokenRevoked: isAppleTokenRevoked, doneJobs: done)
    }

    /// Adds a statement that deletes jobs whose work is done, unless they have started.
    static func appendWithdrawal(of jobs: [UUID], to pipeline: inout Pipeline) {
        var parameters = Parameters()
        parameters.append(uuids: jobs)
        pipeline.append(withdraw, parameters)
    }

    /// Adds a statement that records for the session whether Apple's token is revoked, unless that is already recorded.
    ///
    /// - Returns: The key of the recorded value, which is the one to send to the client.
    static func appendSettlement(
        isAppleTokenRevoked: Bool, for viewer: Viewer, to pipeline: inout Pipeline
    ) -> ResultKey<Bool> {
        var parameters = Parameters.of(viewer.userID, viewer.sessionID)
        parameters.append(bool: isAppleTokenRevoked)
        return pipeline.append(settle, parameters)
    }
}

// MARK: - Statements

extension AccountDeletion {
    fileprivate struct Counts: RowDecodable {
        let books: Int32
        let reviews: Int32
        let covers: Int32

        init?(_ row: inout RowReader) {
            books = row.int32() ?? 0
            reviews = row.int32() ?? 0
            covers = row.int32() ?? 0
        }
    }

    /// A job that revokes one of Apple's tokens.
    fileprivate struct Revocation: RowDecodable {
        let job: UUID
        let payload: RevokeAppleGrant.Payload

        package init?(_ row: inout RowReader) {
            guard let job = row.uuid(), let clientID = row.text(), let token = row.bytes()
            else { return nil }
            self.job = job
            payload = .init(clientID: clientID, sealedToken: Data(token))
        }
    }

    /// The job that removes the account's files.
    fileprivate struct Removal: RowDecodable {
        let job: UUID
        let payload: RemoveAccountObjects.Payload

        package init?(_ row: inout RowReader) {
            guard let job = row.uuid(), let user = row.uuid() else { return nil }
            self.job = job
            payload = .init(user)
        }
    }

    /// Records whether Apple's grant was revoked. The first recorded value stays, so all responses to a deletion agree.
    private static let settle = TypedStatement<Bool>(
        """
        UPDATE account_tombstones
        SET apple_token_revoked = coalesce(apple_token_revoked, $3)
        WHERE user_hash = sha256(uuid_send($1)) AND session_hash = sha256(uuid_send($2))
        RETURNING apple_token_revoked
        """)

    /// The row lock waits for transactions that write for the user, and blocks new ones.
    private static let insertTombstone = TypedStatement<Counts>(
        """
        WITH locked_user AS (
            SELECT id
            FROM users
            WHERE id = app_user_id()
            FOR UPDATE
        ),
        counts AS (
            SELECT
                id,
                (SELECT count(*) FROM books WHERE user_id = locked_user.id)::int AS books,
                (SELECT count(*) FROM reviews WHERE user_id = locked_user.id)::int AS reviews,
                (SELECT count(*) FROM covers WHERE user_id = locked_user.id)::int AS covers
            FROM locked_user
        ),
        tombstone AS (
            INSERT INTO account_tombstones
                (user_hash, session_hash, books, reviews, covers, apple_token_revoked)
            SELECT
                sha256(uuid_send(id)), sha256(uuid_send($1)), books, reviews, covers,
                CASE
                    WHEN NOT EXISTS (SELECT FROM apple_grants WHERE user_id = counts.id) THEN false
                END
            FROM counts
        )
        SELECT books, reviews, covers
        FROM counts
        """)

    private static let enqueueRevocations = TypedStatement<Revocation>(
        """
        SELECT
            enqueue_job(
                NULL, $1,
                jsonb_build_object(
                    'clientID', client_id,
                    'sealedToken', replace(encode(sealed_token, 'base64'), E'\\n', '')
                ),
                NULL, $2, 0, $3
            ),
            client_id, sealed_token
        FROM apple_grants
        WHERE user_id = app_user_id()
        """)

    /// The job has no owner, because it must outlive the user.
    private static let enqueueRemoval = TypedStatement<Removal>(
        """
        SELECT
            enqueue_job(
                NULL, $1, jsonb_build_object('userID', app_user_id()), NULL, $2, 0, $3
            ),
            app_user_id()
        WHERE app_user_id() IS NOT NULL
        """)

    /// Foreign keys delete all rows of the user, including the sessions, in the same transaction.
    private static let deleteUser = Statement("DELETE FROM users WHERE id = app_user_id()")

    private static let withdraw = Statement("SELECT withdraw_jobs($1)")
}
