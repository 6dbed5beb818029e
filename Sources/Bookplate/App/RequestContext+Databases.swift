import Postgres

/// The database of the caller, if there are several.
extension RequestContext {
    /// Goes to the database of the caller after a database has refused a pipeline because it does not have the caller's session.
    ///
    /// - Parameter arrivalCount: How often the account was found in the database that has refused the pipeline.
    /// - Returns: Whether the pipeline can be sent again, usually to another database.
    /// - Throws: `.unauthenticated` if the account was deleted after its move, and the errors of `findUser`.
    func follow(
        _ error: PostgresError, from pool: ConnectionPool, _ arrivalCount: inout Int
    ) async throws(BookplateError) -> Bool {
        guard services.databases != nil, let viewer,
            error.sqlState == .sessionEnded || error.sqlState == .accountMoved
        else { return false }
        // Another load of the request may have found the database already.
        guard database === pool else { return true }
        let place = try await findUser(viewer.userID, viewer.tenantID)
        if place == .otherDatabase || database !== pool { return true }
        if place == .thisDatabase {
            // The account may have arrived since this database has refused the pipeline. If it was here all the time, the session has
            // ended, and the pipeline is refused a second time.
            arrivalCount += 1
            if arrivalCount == 1 { return true }
            guard error.sqlState == .accountMoved else { return false }
            throw .serviceUnavailable(
                retryAfterSeconds: 1, outcome: hasWritten ? .unknown : .notDone)
        }
        guard case .accountMoved(nil, _) = BookplateError(error) else { return false }
        throw .unauthenticated
    }

    /// Where `findUser` has found a user.
    enum UserPlace {
        /// The database of the request, which has not changed.
        case thisDatabase
        /// Another database, to which the request went.
        case otherDatabase
    }

    /// Searches all databases for a user, and goes to the one that has it.
    ///
    /// - Returns: Where the user is; nil if no database has it, or if this process serves a single database.
    /// - Throws: `.serviceUnavailable` if the account is being moved, a database cannot be reached, or this request must not go to another
    ///   one; `.accountMoved` if other servers have the account, or the database to which it was moved has lost it.
    func findUser(_ user: UUID, _ tenant: UUID) async throws(BookplateError) -> UserPlace? {
        guard services.databases != nil else { return nil }
        let found = try await firstInDatabases { context throws(BookplateError) in
            let found: [Bool] = try await context.anonymous(isReadOnly: true) { pipeline in
                pipeline.append(Sessions.setUser, .of(user, tenant))
                return pipeline.append(Self.hasUser, .of(user))
            }
            return found.first == true ? true : nil
        }
        guard let found else { return nil }
        guard found.context.database !== database else { return .thisDatabase }
        guard mayLeave else {
            throw .serviceUnavailable(
                retryAfterSeconds: 1, outcome: hasWritten ? .unknown : .notDone)
        }
        services.databases?.remember(user, in: found.context.services)
        goToDatabase(of: found.context)
        return .otherDatabase
    }

    /// Throws `.accountMoved` if the database of this request records that the user has moved to other servers, and `.serviceUnavailable`
    /// while the account is being moved. Call it after `findUser`, if the user's session is missing.
    ///
    /// - Parameter wasFound: Whether `findUser` has found the user in this database. If it does not have the user any more, the account has
    ///   moved since then, and `.serviceUnavailable` is thrown.
    func refuseMoved(_ user: UUID, wasFound: Bool) async throws(BookplateError) {
        do throws(BookplateError) {
            try await anonymous { $0.append(Sessions.refuseMovedUser, .of(user)) }
        } catch .accountMoved(nil, _) where services.databases != nil {
            if wasFound { throw .serviceUnavailable(retryAfterSeconds: 1, outcome: .notDone) }
        }
    }

    /// Returns whether the database has a user. Fails if it does not, but knows of a move of the account.
    private static let hasUser = TypedStatement<Bool>(
        """
        SELECT
            CASE
                WHEN EXISTS (SELECT FROM users WHERE id = $1) THEN true
                ELSE refuse_moved_user($1)::text IS NULL
            END
        """)

    /// Runs work without a caller in the database of this request, and then in the other databases of the process, until it returns a value.
    ///
    /// If there are several databases, `.accountMoved` without a URL counts as no value: a move between two of them has no URL, and the
    /// search finds the account in the other one. If no database has a value then, the work runs once more in all of them, because the
    /// account may have moved back during the search, to a database that was asked before.
    ///
    /// - Returns: The value, and the context in which it was found; nil if no database has a value.
    /// - Throws: an error of a database, if no other one has a value, and `.accountMoved` if none knows that the account has arrived.
    func firstInDatabases<Value>(
        _ work: (RequestContext) async throws(BookplateError) -> Value?
    ) async throws(BookplateError) -> (value: Value, context: RequestContext)? {
        let contexts = contextsOfDatabases()
        var moves: Set<UUID> = []
        for _ in 1...2 {
            moves = []
            var failure: BookplateError?
            for context in contexts {
                do throws(BookplateError) {
                    if let value = try await work(context) { return (value, context) }
                } catch .accountMoved(nil, let move) where contexts.count > 1 {
                    moves.insert(move)
                } catch {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
            if moves.isEmpty { return nil }
        }
        for move in moves { try await requireArrival(of: move) }
        return nil
    }

    /// Throws `.accountMoved` if none of the databases knows that the account of a move has arrived: other servers have the account, or
    /// the database that had it was restored from a backup. Clients must keep their tokens, because the operator can undo the move.
    func requireArrival(of move: UUID) async throws(BookplateError) {
        for context in contextsOfDatabases() {
            let found: [Bool] = try await context.anonymous(isReadOnly: true) {
                $0.append(Self.hasArrived, .of(move))
            }
            if found.first == true { return }
        }
        throw .accountMoved(url: nil, move: move)
    }

    /// Returns a context without a caller for each database of the process, beginning with that of this request.
    private func contextsOfDatabases() -> [RequestContext] {
        let others: [RequestContext] = (services.databases?.all ?? []).compactMap { other in
            guard other.services !== services, let pool = other.pool(on: database.executor) else {
                return nil
            }
            return withoutCaller(in: other.services, pool)
        }
        return [withoutCaller(in: services, database)] + others
    }

    private static let hasArrived = TypedStatement<Bool>("SELECT has_arrived($1)")

    private func withoutCaller(in services: Services, _ database: ConnectionPool) -> RequestContext
    {
        RequestContext(
            viewer: nil, database: database, services: services, requestID: requestID,
            address: address, hasTimedOut: hasTimedOut)
    }

    /// Goes to the database of another request.
    func goToDatabase(of other: RequestContext) {
        go(to: other.services, other.database)
    }

    func goToKnownDatabase(of viewer: Viewer) {
        guard let known = services.databases?.database(of: viewer.userID),
            known.services !== services, let pool = known.pool(on: database.executor)
        else { return }
        go(to: known.services, pool, mayReadReplica: true)
    }

    /// Returns a context without a caller in the home database; this context if there is only one.
    func inHomeDatabase() -> RequestContext {
        guard let home = services.databases?.all.first, let pool = home.pool(on: database.executor)
        else { return self }
        return withoutCaller(in: home.services, pool)
    }

    /// Goes to the home database, where new accounts are created.
    func goHome() {
        guard let home = services.databases?.all.first, let pool = home.pool(on: database.executor)
        else { return }
        go(to: home.services, pool)
    }

    /// Goes to the database of the caller. Call it before using services that belong to one database, such as the hub, unless a
    /// statement of the caller was executed before.
    func goToCallersDatabase() async throws(BookplateError) {
        guard services.databases != nil, viewer != nil else { return }
        try await read { _, _ in }
    }
}
