import Basics
import ObjectStorage
import Postgres

extension AccountMove {
    /// The account in one of the databases.
    struct Side: RowDecodable {
        let installation: UUID
        let hasAccount: Bool
        /// The newest move of the account that left this database or arrived in it.
        let move: Move?

        struct Move {
            enum State: String {
                case closing = "CLOSING"
                case leaving = "LEAVING"
                case left = "LEFT"
                case arrived = "ARRIVED"
            }

            let id: UUID
            let state: State
            let otherInstallation: UUID

            /// Whether the account is leaving the database.
            var isUnfinished: Bool { state == .closing || state == .leaving }
        }

        init?(_ row: inout RowReader) {
            guard let installation = row.uuid(), let hasAccount = row.bool() else { return nil }
            self.installation = installation
            self.hasAccount = hasAccount
            if let id = row.uuid(), let state = row.text().flatMap({ Move.State(rawValue: $0) }),
                let other = row.uuid()
            {
                move = Move(id: id, state: state, otherInstallation: other)
            } else {
                move = nil
            }
        }
    }

    /// Locks the account in both databases, and checks that it can be moved between them.
    ///
    /// - Parameter changesStores: Whether the stores are claimed for the databases if they have no owner.
    func prepare(
        changesStores: Bool
    ) async throws(AccountMoveError) -> (here: Side, there: Side) {
        for connection in [source, target] {
            try checkSchema(connection)
            try lock(connection)
        }
        let (here, there) = (try side(source), try side(target))
        guard here.installation != there.installation else {
            throw .refused(
                "both databases have the same installation ID: they are the same one, or one is a copy of the other"
            )
        }
        if let move = here.move, move.isUnfinished, move.otherInstallation != there.installation {
            throw .refused(
                "the account is being moved to another database, with the installation ID \(move.otherInstallation)"
            )
        }
        for (store, connection, isTarget) in [
            (sourceStore, source, false), (targetStore, target, true),
        ] {
            let sweep = StorageSweep(
                store, graceSeconds: 0, isDryRun: !changesStores, connection)
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

    /// The lock ends with the connection.
    private func lock(_ connection: AdminConnection) throws(AccountMoveError) {
        let locked: [Bool] = try database { () throws(PostgresError) in
            try connection.query(
                "SELECT pg_try_advisory_lock(hashtextextended($1::uuid::text, 2))", .of(user)
            ).decode()
        }
        guard locked.first == true else {
            throw .refused("another run moves this account: wait until it has ended")
        }
    }

    func side(_ connection: AdminConnection) throws(AccountMoveError) -> Side {
        let sides: [Side] = try database { () throws(PostgresError) in
            try connection.query(Self.selectSide, .of(user)).decode()
        }
        guard let side = sides.first else {
            throw .database(.unexpectedResult("the table installation is empty"))
        }
        return side
    }

    private static let newestSchema = """
        SELECT version || ' ' || functions
        FROM schema_states
        ORDER BY applied_at DESC, version DESC
        LIMIT 1
        """
    private static let selectSide = """
        SELECT
            i.id, EXISTS (SELECT FROM users u WHERE u.id = $1), m.move_id, m.state::text,
            m.other_installation
        FROM installation i
        LEFT JOIN account_moves m ON m.user_id = $1
        """
}
