import Basics
import GraphQL
import Identity
import Postgres
import Requests

/// The token endpoint and the revocation endpoint.
extension OAuthEndpoint {
    package func token(_ request: OAuthRequest) async -> OAuthResponse {
        await respond(request) { call throws(OAuthError) in
            try await call.limitingGuesses { () throws(OAuthError) in
                let fields = try request.formFields()
                let client = try await call.client(fields)
                switch GrantType(rawValue: fields["grant_type"] ?? "") {
                case .authorizationCode:
                    return try await exchange(try .code(fields), client, call)
                case .device:
                    guard client.allowsDevice else {
                        throw .unauthorizedClient("The app may not use the device grant.")
                    }
                    return try await exchange(try .device(fields), client, call)
                case .refreshToken: return try await refresh(fields, client, call)
                case nil:
                    throw .unsupportedGrantType(
                        "The parameter grant_type must be one of: "
                            + GrantType.allCases.map(\.rawValue).joined(separator: ", "))
                }
            }
        }
    }

    // MARK: - Codes

    /// A code that an app exchanges for tokens.
    private struct GivenCode {
        let hash: [UInt8]
        var isDevice = false
        var redirectURI: String?
        var challenge: String?

        static func code(_ fields: FormFields) throws(OAuthError) -> Self {
            guard let text = fields["code"] else {
                throw .invalidRequest("The parameter code is missing.")
            }
            let verifier = fields["code_verifier"] ?? ""
            guard (43...128).contains(verifier.utf8.count), verifier.percentEncoded() == verifier
            else {
                throw .invalidRequest(
                    "The parameter code_verifier must have 43 to 128 letters, digits, and -._~")
            }
            guard let code = OAuthSecret(text, .authorizationCode) else { throw .invalidGrant }
            return Self(
                hash: code.hash, redirectURI: fields["redirect_uri"],
                challenge: Base64URL.encode(sha256(verifier.utf8)))
        }

        static func device(_ fields: FormFields) throws(OAuthError) -> Self {
            guard let text = fields["device_code"] else {
                throw .invalidRequest("The parameter device_code is missing.")
            }
            guard let code = OAuthSecret(text, .deviceCode) else { throw .invalidGrant }
            return Self(hash: code.hash, isDevice: true)
        }
    }

    private func exchange(
        _ code: GivenCode, _ client: OAuthClient, _ call: Call
    ) async throws(OAuthError) -> OAuthResponse {
        let (grant, secret) = (UUID.version7(), RefreshTicket.newSecret())
        let token = OAuthSecret(.accessToken)
        var parameters = Parameters.of(client.id)
        parameters.append(bytea: code.hash)
        parameters.append(bool: code.isDevice)
        parameters.append(text: code.redirectURI)
        parameters.append(text: code.challenge)
        parameters.append(uuid: grant)
        parameters.append(bytea: RefreshTicket.hash(secret))
        parameters.append(token)
        parameters.append(int32: Self.grantDays)
        guard let outcome = try await call.first(Exchanged.exchange, parameters) else {
            throw OAuthError(.internalError)
        }
        switch outcome.name {
        case "DONE": break
        case "PENDING": throw .pending
        case "SLOW_DOWN": throw .slowDown
        case "DENIED": throw .accessDenied
        case "EXPIRED": throw .expired
        case "REUSED":
            call.services.logger.notice(
                "a code of an app was used twice: its access is revoked",
                metadata: [
                    "request_id": "\(call.request.requestID)", "client_id": "\(client.id)",
                ])
            throw .invalidGrant
        default: throw .invalidGrant
        }
        guard let user = outcome.userID else { throw OAuthError(.internalError) }
        let ticket = RefreshTicket(
            .grant, tenantID: call.tenant.id, userID: user, sessionID: grant, secret: secret)
        return Self.tokens(token, ticket, outcome.scopes)
    }

    private struct Exchanged: RowDecodable {
        let name: String
        let userID: UUID?
        let scopes: [AccessScope]

        init?(_ row: inout RowReader) {
            guard let name = row.text() else { return nil }
            self.name = name
            userID = row.uuid()
            scopes = (row.texts() ?? []).compactMap { AccessScope(rawValue: $0) }
        }

        static let exchange = TypedStatement<Self>(
            """
            SELECT outcome, user_id, scopes
            FROM exchange_oauth_code($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            """)
    }

    private static func tokens(
        _ token: OAuthSecret, _ ticket: RefreshTicket, _ scopes: [AccessScope]
    ) -> OAuthResponse {
        .json([
            .init("access_token", .string(token.text)), .init("token_type", .string("Bearer")),
            .init("expires_in", .int(Int(accessTokenSeconds))),
            .init("refresh_token", .string(ticket.text)),
            .init("scope", .string(OAuthClient.text(of: scopes))),
        ])
    }

    // MARK: - Refresh

    private func refresh(
        _ fields: FormFields, _ client: OAuthClient, _ call: Call
    ) async throws(OAuthError) -> OAuthResponse {
        guard let text = fields["refresh_token"] else {
            throw .invalidRequest("The parameter refresh_token is missing.")
        }
        do throws(BookplateError) {
            try call.services.rates.takeRefresh(from: call.request.address)
        } catch {
            throw OAuthError(error)
        }
        let scopes = try OAuthClient.scopes(fields["scope"])
        guard let ticket = RefreshTicket(text, .grant), ticket.tenantID == call.tenant.id else {
            throw .invalidGrant
        }
        let keys = call.services.accounts.sessionKeys
        let successor = ticket.successor(keys: keys)
        let token = OAuthSecret(.accessToken)
        var parameters = Parameters.of(client.id, ticket.userID, ticket.sessionID)
        parameters.append(bytea: ticket.hash)
        parameters.append(bytea: successor.hash)
        parameters.append(int32: Int32(Sessions.graceSeconds))
        if let scopes {
            parameters.append(texts: scopes.map(\.rawValue))
        } else {
            parameters.appendNull(.text.array)
        }
        parameters.append(token)
        guard let refreshed = try await call.first(Refreshed.refresh, parameters) else {
            throw OAuthError(.internalError)
        }
        switch refreshed.outcome {
        case "DONE", "REPEATED": return Self.tokens(token, successor, refreshed.scopes)
        case "SCOPE": throw .invalidScope("The reader has not allowed one of these scopes.")
        case "OTHER":
            try await endIfReused(ticket, refreshed, client, call)
            throw .invalidGrant
        default: throw .invalidGrant
        }
    }

    /// Ends the grant if the refresh token was valid for it once. Such a token has been used before, so someone else may
    /// have a copy of it.
    private func endIfReused(
        _ ticket: RefreshTicket, _ refreshed: Refreshed, _ client: OAuthClient, _ call: Call
    ) async throws(OAuthError) {
        guard await refreshed.isStored(ticket, keys: call.services.accounts.sessionKeys) else {
            return
        }
        call.services.logger.notice(
            "a refresh token of an app was reused: its access is revoked",
            metadata: [
                "request_id": "\(call.request.requestID)", "client_id": "\(client.id)",
            ])
        try await call.run(Self.endGrant, .of(client.id, ticket.userID, ticket.sessionID))
    }

    private static let endGrant = Statement("SELECT end_oauth_grant($1, $2, $3)")

    private struct Refreshed: RowDecodable {
        let outcome: String
        private let hash: [UInt8]
        private let generation: Int
        let scopes: [AccessScope]

        init?(_ row: inout RowReader) {
            guard let outcome = row.text() else { return nil }
            self.outcome = outcome
            hash = row.bytes() ?? []
            generation = Int(row.int32() ?? 0)
            scopes = (row.texts() ?? []).compactMap { AccessScope(rawValue: $0) }
        }

        /// Whether the grant has this refresh token, or had it before.
        func isStored(_ ticket: RefreshTicket, keys: SessionKeys) async -> Bool {
            if constantTimeEqual(ticket.hash, hash) { return true }
            return await ticket.isAncestor(of: hash, generations: generation, keys: keys)
        }

        static let refresh = TypedStatement<Self>(
            """
            SELECT outcome, stored_hash, stored_generation, scopes
            FROM refresh_oauth_grant($1, $2, $3, $4, $5, $6, $7::text[]::access_scope[], $8, $9, $10, $11)
            """)

        static let state = TypedStatement<Self>(
            """
            SELECT 'STORED', refresh_hash, generation, NULL::text[]
            FROM oauth_refresh_state($1, $2, $3)
            """)
    }

    // MARK: - Revocation

    /// Revokes an access token. With a refresh token, ends the grant with all its access tokens. Succeeds even if the
    /// token does not exist.
    ///
    /// Spec: RFC 7009, section 2
    package func revoke(_ request: OAuthRequest) async -> OAuthResponse {
        await respond(request) { call throws(OAuthError) in
            try await call.limitingGuesses { () throws(OAuthError) in
                let fields = try request.formFields()
                let client = try await call.client(fields)
                guard let text = fields["token"] else {
                    throw .invalidRequest("The parameter token is missing.")
                }
                if let token = OAuthSecret(text, .accessToken) {
                    var parameters = Parameters.of(client.id)
                    parameters.append(bytea: token.hash)
                    try await call.run(Self.revokeToken, parameters)
                } else if let ticket = RefreshTicket(text, .grant) {
                    let ids = Parameters.of(client.id, ticket.userID, ticket.sessionID)
                    let stored = try await call.first(Refreshed.state, ids)
                    let keys = call.services.accounts.sessionKeys
                    if let stored, await stored.isStored(ticket, keys: keys) {
                        try await call.run(Self.endGrant, ids)
                    } else {
                        // The response does not say that the token is unknown, but it counts as a guess.
                        try? call.services.rates.takeSignIn(from: call.request.address)
                    }
                }
                return .empty()
            }
        }
    }

    private static let revokeToken = Statement("SELECT revoke_oauth_token($1, $2)")
}

extension Parameters {
    /// Appends the ID, the hash, the last characters, and the lifetime of a new access token.
    fileprivate mutating func append(_ token: OAuthSecret) {
        append(uuid: UUID.version7())
        append(bytea: token.hash)
        append(text: token.lastCharacters)
        append(int32: OAuthEndpoint.accessTokenSeconds)
    }
}
