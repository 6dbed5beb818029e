import Glibc
import GraphQL
import Identity
import Postgres
import Synchronization

/// A personal access token, or the access token of an app, as it was found in the database. Its values never change.
package struct KnownToken: Sendable {
    package let viewer: Viewer
    package let scopes: ScopeSet
    /// The hashes of the trusted documents to which the token is bound; nil if it is not bound.
    package let documents: Set<String>?
    /// In microseconds since the Unix epoch; nil if the token does not expire.
    let expiresAt: Int64?
    /// Whether this is the token of an app of another developer.
    var isOfApp = false

    var isExpired: Bool { lifetime.map { $0 <= .zero } ?? false }

    /// The time until the token expires; nil if it does not expire.
    var lifetime: Duration? {
        guard let expiresAt else { return nil }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return .microseconds(expiresAt) - .seconds(now.tv_sec) - .nanoseconds(now.tv_nsec)
    }

    /// Checks whether the token may run an operation.
    ///
    /// - Throws: `.forbidden`, with the missing scopes.
    func check(_ needed: ScopeSet) throws(BookplateError) {
        let missing = needed.subtracting(scopes)
        guard !missing.isEmpty else { return }
        let names = AccessScope.names(in: missing)
        if isOfApp { throw .appForbidden(missing: names, missing.contains(.sessionOnly)) }
        if missing.contains(.sessionOnly) {
            throw .forbidden(
                "Personal access tokens cannot run this operation. Sign in, and send the access token of the session.",
                missingScopes: names)
        }
        throw .forbidden(
            "The personal access token lacks the \(names.count == 1 ? "scope" : "scopes") "
                + "\(names.joined(separator: ", ")). Create a token with \(names.count == 1 ? "it" : "them").",
            missingScopes: names)
    }
}

extension BookplateError {
    /// The error of an app of another developer without a scope.
    fileprivate static func appForbidden(missing names: [String], _ isSessionOnly: Bool) -> Self {
        guard !isSessionOnly else {
            return .forbidden(
                "Apps of other developers cannot run this operation.", missingScopes: names)
        }
        let scopes = names.compactMap { AccessScope(rawValue: $0)?.oauthName }
        return .forbidden(
            "The access token lacks the \(names.count == 1 ? "scope" : "scopes") "
                + "\(scopes.joined(separator: ", ")). Ask the reader for access with \(names.count == 1 ? "it" : "them").",
            missingScopes: names)
    }
}

/// A cache of the tokens that this process has looked up, by their hashes: personal access tokens, and those of apps.
///
/// Each token is looked up once. The first pipeline of each request checks that the token still exists, as it does for
/// sessions, so a revoked token in the cache gives no access.
package final class KnownTokens: Sendable {
    /// A full cache is cleared, which costs one more lookup for each token in use.
    private static let tokensMax = 10_000

    private let tokens = Mutex<[[UInt8]: KnownToken]>([:])

    func token(_ hash: [UInt8]) -> KnownToken? { tokens.withLock { $0[hash] } }

    func insert(_ token: KnownToken, _ hash: [UInt8]) {
        tokens.withLock { tokens in
            if tokens.count >= Self.tokensMax { tokens.removeAll() }
            tokens[hash] = token
        }
    }
}

/// Records when tokens were used: personal access tokens, and those of apps. Each request stores the time only in memory.
/// A background task writes the times to the database, so tokens also work while the database is read-only.
package final class TokenUses: Sendable {
    /// Uses of further tokens are not recorded until the next write.
    private static let tokensMax = 100_000

    private struct Use {
        let userID: UUID
        var at: UnixSeconds
    }

    private let uses = Mutex<[UUID: Use]>([:])

    func add(_ viewer: Viewer) {
        let now = unixSecondsNow()
        uses.withLock { uses in
            guard uses.count < Self.tokensMax || uses[viewer.sessionID] != nil else { return }
            uses[viewer.sessionID] = Use(userID: viewer.userID, at: now)
        }
    }

    private static let record = Statement("SELECT record_token_uses($1, $2, $3)")

    /// Writes the uses since the last call. If that fails, they are kept for the next one.
    package func store(in database: ConnectionPool) async throws(PostgresError) {
        let taken = uses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
        if taken.isEmpty { return }
        var parameters = Parameters()
        parameters.append(uuids: taken.values.map(\.userID))
        parameters.append(uuids: Array(taken.keys))
        parameters.append(int64s: taken.values.map(\.at))
        do throws(PostgresError) {
            var pipeline = Pipeline(timeout: .seconds(10))
            pipeline.append(Self.record, parameters)
            _ = try await database.run(pipeline)
        } catch {
            uses.withLock { $0.merge(taken) { newer, _ in newer } }
            throw error
        }
    }
}
