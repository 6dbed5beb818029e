import Basics
import ObjectStorage
import Postgres

extension AccountMove {
    /// The account in one of the databases.
    struct Side {
        let installation: UUID
        let hasAccount: Bool
        /// All moves of the account that this database knows, the newest first.
        let moves: [Move]

        /// The move with which the account is leaving this database.
        var leaving: Move? { moves.first { $0.state == .closing || $0.state == .leaving } }

        /// The move with which the account is arriving in this database.
        var arriving: Move? { moves.first { $0.state == .arriving } }

        func move(_ id: UUID) -> Move? { moves.first { $0.id == id } }
    }

    /// A row of `account_moves`.
    struct Move: RowDecodable {
        enum State: String {
            case closing = "CLOSING"
            case leaving = "LEAVING"
            case left = "LEFT"
            case arriving = "ARRIVING"
            case arrived = "ARRIVED"
            case cancelled = "CANCELLED"
        }

        let id: UUID
        let state: State
        let otherInstallation: UUID

        init?(_ row: inout RowReader) {
            guard let id = row.uuid(), let state = row.text().flatMap({ State(rawValue: $0) }),
                let otherInstallation = row.uuid()
            else { return nil }
            self.id = id
            self.state = state
            self.otherInstallation = otherInstallation
        }
    }

    /// The values of an account that decide whether another database can store it.
    struct Account: RowDecodable {
        let tenant: UUID
        let tenantSlug: String
        let subjects: [String]

        init?(_ row: inout RowReader) {
            guard let tenant = row.uuid(), let tenantSlug = row.text(), let subjects = row.texts()
            else { return nil }
            self.tenant = tenant
            self.tenantSlug = tenantSlug
            self.subjects = subjects
        }

        /// Appends the last parameters of `check_arrival` and `expect_account`.
        func append(to parameters: inout Parameters) {
            parameters.append(uuid: tenant)
            parameters.append(text: tenantSlug)
            parameters.append(texts: subjects)
        }
    }

    /// Checks that accounts can be moved between the databases, and reads the state of this one.
    ///
    /// - Parameter isDryRun: Nothing is locked, and the stores are not claimed for the databases if they have no owner.
    func prepare(isDryRun: Bool) async throws(AccountMoveError) -> (here: Side, there: Side) {
        for connection in [source, target] {
            try checkSchema(connection)
            if !isDryRun { try await lock(connection) }
        }
        let (here, there) = (try side(source), try side(target))
        guard here.installation != there.installation else {
            throw .refused(
                "both databases have the same installation ID: they are the same one, or one is a copy of the other"
            )
        }
        try checkOtherMoves(here, there)
        for (store, connection, isTarget) in [
            (sourceStore, source, false), (targetStore, target, true),
        ] {
            let sweep = StorageSweep(store, graceSeconds: 0, isDryRun: isDryRun, connection)
            do throws(StorageError) {
                try await sweep.checkOwner()
            } catch {
                switch error {
                case .foreign: throw .foreignStore(isTarget: isTarget)
                case .store(let error): throw .store(error)
                case .database(let error): throw .database(error)
                case .images, .cancelled, .copying: throw .refused(error.message)
                }
            }
        }
        return (here, there)
    }

    /// Refuses moves between other databases, or in the other direction, that are in progress.
    private func checkOtherMoves(_ here: Side, _ there: Side) throws(AccountMoveError) {
        if let move = here.leaving, move.otherInstallation != there.installation {
            throw .refused(
                "the account is being moved to another database, with the installation ID \(move.otherInstallation)"
            )
        }
        if let move = here.arriving {
            throw .refused(
                "the account is arriving in this database from the one with the installation ID \(move.otherInstallation): finish or undo that move first"
            )
        }
        if let move = there.leaving {
            throw .refused(
                "the account is leaving the other database for the one with the installation ID \(move.otherInstallation): finish or undo that move first"
            )
        }
        if let move = there.arriving, move.otherInstallation != here.installation {
            throw .refused(
                "the account is arriving in the other database from the one with the installation ID \(move.otherInstallation): finish or undo that move first"
            )
        }
    }

    /// Both databases must have the schema of this program, because rows are copied by the names of their columns.
    private func checkSchema(_ connection: AdminConnection) throws(AccountMoveError) {
        let newest: [String] = try database { () throws(PostgresError) in
            try connection.query(Self.newestSchema).decode()
        }
        guard newest.first == "\(schemaVersion) \(functionsChecksum)" else {
            throw .refused(
                "the \(connection === source ? "database" : "other database") does not have the schema of this program: "
                    + "run bookplate-admin migrate up")
        }
    }

    /// Prevents that two operators wait for each other's steps. The states of moves do not rely on it. The lock ends with the
    /// connection.
    private func lock(_ connection: AdminConnection) async throws(AccountMoveError) {
        // The server may notice a moment later that a run has ended.
        for attempt in 0..<30 {
            if attempt > 0 { try await sleep(.milliseconds(100)) }
            let locked: [Bool] = try database { () throws(PostgresError) in
                try connection.query(
                    "SELECT pg_try_advisory_lock(hashtextextended($1::uuid::text, 2))", .of(user)
                ).decode()
            }
            if locked.first == true { return }
        }
        throw .refused("another run moves this account: wait until it has ended")
    }

    private func side(_ connection: AdminConnection) throws(AccountMoveError) -> Side {
        try database { () throws(PostgresError) in
            let installations: [UUID] = try connection.query("SELECT id FROM installation")
                .decode()
            guard let installation = installations.first else {
                throw .unexpectedResult("the table installation is empty")
            }
            let accounts: [UUID] = try connection.query(
                "SELECT id FROM users WHERE id = $1", .of(user)
            ).decode()
            return Side(
                installation: installation, hasAccount: !accounts.isEmpty,
                moves: try connection.query(Self.selectMoves, .of(user)).decode())
        }
    }

    /// Reads the account from the source.
    func account() throws(AccountMoveError) -> Account {
        let accounts: [Account] = try database { () throws(PostgresError) in
            try source.query(Self.selectAccount, .of(user)).decode()
        }
        guard let account = accounts.first else {
            throw .refused("there is no account \(user)")
        }
        return account
    }

    /// Returns the accounts whose moves from or to a database are not finished.
    package static func unfinished(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [UUID] {
        let tables: [Bool] = try connection.query(
            "SELECT to_regclass('account_moves') IS NOT NULL"
        ).decode()
        guard tables.first == true else { return [] }
        return try connection.query(selectUnfinished).decode()
    }

    private static let newestSchema = """
        SELECT version || ' ' || functions
        FROM schema_states
        ORDER BY applied_at DESC, version DESC
        LIMIT 1
        """
    private static let selectMoves = """
        SELECT move_id, state::text, other_installation
        FROM account_moves
        WHERE user_id = $1
        ORDER BY started_at DESC, move_id
        """
    private static let selectAccount = """
        SELECT
            t.id, t.slug, ARRAY(SELECT i.subject FROM identities i WHERE i.user_id = u.id)
        FROM users u
        JOIN tenants t ON t.id = u.tenant_id
        WHERE u.id = $1
        """
    private static let selectUnfinished = """
        SELECT user_id
        FROM account_moves
        WHERE state IN ('CLOSING', 'LEAVING', 'ARRIVING')
        ORDER BY started_at
        """
}
