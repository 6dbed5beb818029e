import Foundation

/// Keeps the session, and refreshes it by one task at a time.
actor Authenticator {
    private var state: SessionState
    private var refresh: Task<Void, any Error>?
    private let client: GraphQLClient
    private let environment: ClientEnvironment

    init(_ store: any SessionStore, _ client: GraphQLClient, _ environment: ClientEnvironment)
        throws
    {
        state = try SessionState(store)
        self.client = client
        self.environment = environment
    }

    var session: StoredSession? { state.session }

    func replace(_ session: StoredSession?) throws { try state.replace(session) }

    /// Forgets the guest whose queue has moved into the reader's, unless the session is another one meanwhile.
    func moved(guest: String, into userID: String) throws {
        try state.moved(guest: guest, into: userID)
    }

    /// Runs an operation as a reader. If the server refuses the access token, the operation is repeated with a new one.
    nonisolated func execute<Result: Decodable>(
        _ document: String, _ variables: JSON, of userID: String, as: Result.Type = Result.self
    ) async throws -> Result {
        try await execute(of: userID) { try client.request(document, variables, token: $0) }
    }

    /// Runs a request as a reader. If the server refuses the access token, the request is repeated with a new one.
    ///
    /// - Parameter request: returns the request with an access token.
    nonisolated func execute<Result: Decodable>(
        of userID: String, _ request: (String) throws -> HTTPRequest
    ) async throws -> Result {
        let token = try await accessToken(of: userID)
        do {
            return try GraphQLClient.data(of: try await client.send(try request(token)))
        } catch let error as ServerError where error.code == .unauthenticated {
            let token = try await accessToken(of: userID, rejected: token)
            return try GraphQLClient.data(of: try await client.send(try request(token)))
        }
    }

    /// Returns an access token of the reader that is valid for at least a minute.
    ///
    /// - Parameter rejected: an access token that the server has refused.
    /// - Throws: `BookplateError.signInNeeded` if there is no session of the reader, and `BookplateError.unreachable`.
    func accessToken(of userID: String, rejected: String? = nil) async throws -> String {
        while true {
            guard state.session?.userID == userID else { throw BookplateError.signInNeeded }
            switch try state.step(now: environment.now(), rejected: rejected) {
            case .use(let accessToken): return accessToken
            case .signIn: throw BookplateError.signInNeeded
            case .refresh(let refreshToken):
                // The refresh continues if the task that needed it first is cancelled: its response must not be lost.
                let task = refresh ?? Task { try await self.refresh(refreshToken) }
                refresh = task
                try await task.value
            }
        }
    }

    private struct Refreshed: Decodable { let refreshSession: StoredSession.Tokens }

    /// The server responds to the old refresh token with the same new tokens for a minute. It ends the session after that, because the
    /// token may be stolen. A refresh without a response is therefore repeated at once: the last repetition ends after 47 seconds.
    private func refresh(_ refreshToken: String) async throws {
        defer { refresh = nil }
        do {
            let response = try await environment.repeatedly { [client] in
                try await client.execute(
                    """
                    mutation ($token: String!) {
                      refreshSession(refreshToken: $token) { accessToken accessTokenExpiresAt refreshToken }
                    }
                    """, ["token": .string(refreshToken)], token: nil, timeout: 10,
                    as: Refreshed.self)
            }
            // Another sign-in may have replaced the session meanwhile.
            guard state.session?.tokens?.refreshToken == refreshToken else { return }
            try state.refreshed(response.refreshSession, now: environment.now())
        } catch let error as ServerError where error.code == .unauthenticated {
            guard state.session?.tokens?.refreshToken == refreshToken else { return }
            try state.ended()
        }
    }
}
