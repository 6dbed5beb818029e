import Postgres
import Synchronization

/// Counts refused sign-ins and personal access tokens in memory, by their reasons. A background task adds the counts to the
/// audit log once per minute, so an attacker can make it neither slow nor large.
///
/// The other events are recorded by triggers, in the transaction that causes them.
package final class AuditEvents: Sendable {
    package enum Kind: String {
        case signInRefused = "SIGN_IN_REFUSED"
        case tokenRefused = "TOKEN_REFUSED"
    }

    private struct Key: Hashable {
        let kind: Kind
        let reason: String
    }

    /// Further reasons are counted as `others`. Some reasons contain parts of tokens that anyone can write.
    private static let reasonsMax = 50
    private static let others = "other reasons"

    private let counts = Mutex<[Key: Int64]>([:])

    package init() {}

    package func add(_ kind: Kind, reason: String) {
        counts.withLock { counts in
            var key = Key(kind: kind, reason: reason)
            if counts.count >= Self.reasonsMax, counts[key] == nil {
                key = Key(kind: kind, reason: Self.others)
            }
            counts[key, default: 0] += 1
        }
    }

    private static let record = Statement("SELECT record_refusals($1, $2, $3)")

    /// Adds the counts since the last call to the audit log. If that fails, they are kept for the next one.
    package func store(in database: ConnectionPool) async throws(PostgresError) {
        let taken = counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        if taken.isEmpty { return }
        var parameters = Parameters()
        parameters.append(texts: taken.keys.map(\.kind.rawValue))
        parameters.append(texts: taken.keys.map(\.reason))
        parameters.append(int64s: taken.values)
        do throws(PostgresError) {
            var pipeline = Pipeline(timeout: .seconds(10))
            pipeline.append(Self.record, parameters)
            _ = try await database.run(pipeline)
        } catch {
            counts.withLock { $0.merge(taken, uniquingKeysWith: +) }
            throw error
        }
    }
}
