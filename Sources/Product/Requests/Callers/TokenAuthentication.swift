import GraphQL
import Identity
import Logging
import Postgres

extension RequestContext {
    /// Makes the owner of a token the caller of this request, which is one of an e-reader's protocol and not GraphQL.
    ///
    /// - Throws: `.unauthenticated` for every token that does not exist, has expired, does not have the scope, or is bound
    ///   to documents. `.rateLimited` after too many of them, or too many requests.
    package func authenticate(
        _ credential: TokenCredential?, for scope: AccessScope
    ) async throws(BookplateError) {
        guard let credential else {
            if let address, let seconds = environment.secondsToWait(from: address) {
                throw .rateLimited(retryAfterSeconds: seconds)
            }
            throw .unauthenticated
        }
        let token = try await token(credential)
        guard token.scopes.isSuperset(of: scope.set), token.documents == nil else {
            throw refusedToken("it does not open this protocol")
        }
        viewer = token.viewer
        try charges.charge(1)
    }

    /// Finds a personal access token, or the access token of an app.
    ///
    /// A token that this process has not seen yet is looked up in the database. These attempts are limited by address, like
    /// sign-ins. Each takes a unit, so that concurrent attempts are counted, and a successful one returns it.
    ///
    /// - Throws: `.unauthenticated` for every token that does not exist or has expired, and `.rateLimited`.
    package func token(_ credential: TokenCredential) async throws(BookplateError) -> KnownToken {
        let known = environment.knownTokens
        if let hash = credential.hash, let token = known.token(hash) {
            return try used(token)
        }
        try environment.rates.takeSignIn(from: address)
        guard let hash = credential.hash else {
            throw refusedToken("it does not have the form of a token")
        }
        var found: KnownToken?
        do throws(BookplateError) {
            found = try await find(hash)
        } catch {
            environment.rates.putBackSignIn(from: address)
            throw error
        }
        found?.isOfApp = credential.isOfApp
        guard let found else { throw refusedToken("there is no such token") }
        environment.rates.putBackSignIn(from: address)
        known.insert(found, hash)
        return try used(found)
    }

    private func used(_ token: KnownToken) throws(BookplateError) -> KnownToken {
        guard !token.isExpired else { throw refusedToken("it has expired") }
        environment.tokenUses.add(token.viewer)
        return token
    }

    /// Looks a token up in the replica if it is available, and then in the primary, because a new token may not have been
    /// replicated. A token that was revoked in between fails in the request's first pipeline.
    private func find(_ hash: [UInt8]) async throws(BookplateError) -> KnownToken? {
        var pipeline = Pipeline(isReadOnly: true, owner: owner, statistics: statistics)
        var parameters = Parameters()
        parameters.append(bytea: hash)
        let key = pipeline.append(KnownToken.find, parameters)
        if let replica = environment.replica?.pool(for: nil, beside: database) {
            var pipeline = pipeline
            pipeline.timeout = Replica.timeout
            if let rows = try? await replica.run(pipeline),
                let found = PipelineResults(rows)[key].first
            {
                return found
            }
        }
        do throws(PostgresError) {
            return PipelineResults(try await database.run(pipeline))[key].first
        } catch {
            throw environment.bookplateError(error, requestID, isReadOnly: true)
        }
    }

    private func refusedToken(_ reason: String) -> BookplateError {
        environment.logger.info(
            "refused a personal access token",
            metadata: ["request_id": "\(requestID)", "reason": "\(reason)"])
        environment.auditEvents.add(.tokenRefused, reason: reason)
        return .unauthenticated
    }
}

extension KnownToken: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let user = row.uuid(), let tenant = row.uuid(), let token = row.uuid() else {
            return nil
        }
        viewer = Viewer(userID: user, tenantID: tenant, accessTokenID: token)
        // A newer server may have created a token with a scope that this one does not know.
        scopes = AccessScope.granted(
            by: (row.texts() ?? []).compactMap { AccessScope(rawValue: $0) })
        documents = row.texts().map { Set($0) }
        expiresAt = row.timestamptz()
    }

    static let find = TypedStatement<Self>(
        """
        SELECT user_id, tenant_id, id, scopes::text[], documents, expires_at
        FROM find_access_token($1)
        """)
}

extension RequestEnvironment {
    /// Whether the body of an upload is read before its token is looked up.
    ///
    /// Everyone can invent a token with a correct checksum. Uploads with tokens that this process has not seen yet are
    /// therefore limited together, like the sign-ins from one address.
    func mayUpload(_ credential: TokenCredential) -> Bool {
        guard let hash = credential.hash else { return false }
        if let known = knownTokens.token(hash) { return !known.isExpired }
        do throws(BookplateError) {
            try rates.takeSignIn(from: .unknownTokens)
            return true
        } catch {
            return false
        }
    }
}
