import Basics
import ObjectStorage
import Postgres

extension AccountMove {
    /// The account in one of the databases.
    struct Side {
        let installation: UUID
        let hasAccount: Bool
        /// Whether the account was deleted in this database.
        let wasDeleted: Bool
        /// All moves of the account that this database knows, the newest first.
        let moves: [Move]

        /// The newest move that is complete.
        var completed: Move? { moves.first { $0.state == .left || $0.state == .arrived } }

        /// The number of the next move of the account.
        var nextNumber: Int32 { 1 + (completed?.number ?? 0) }

        /// The move with which the account is leaving this database.
        var leaving: Move? { moves.first { $0.state == .closing || $0.state == .leaving } }

        /// The move with which the account is arriving in this database.
        var arriving: Move? { moves.first { $0.state == .arriving } }

        /// The move with which the account has left this database, if it has not come back.
        var left: Move? { known?.state == .left ? known : nil }

        /// The move with which the account has arrived in this database, if it has not left again.
        var arrived: Move? { known?.state == .arrived ? known : nil }

        /// The newest move that says where the account is.
        private var known: Move? {
            moves.first { $0.state != .arriving && $0.state != .cancelled }
        }

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
        /// Its position among the completed moves of the account, in whichever databases they were.
        let number: Int32
        /// Whether it ended more than a day ago, so that `return_account` refuses to undo it.
        let isFinal: Bool

        init?(_ row: inout RowReader) {
            guard let id = row.uuid(), let state = row.text().flatMap({ State(rawValue: $0) }),
                let otherInstallation = row.uuid(), let number = row.int32(),
                let isFinal = row.bool()
            else { return nil }
            self.id = id
            self.state = state
            self.otherInstallation = otherInstallation
            self.number = number
            self.isFinal = isFinal
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
    /// A database without an unfinished move can be migrated before the other one. Steps that read and write no rows of the account
    /// need no schema, so that they can end a move which prevents the migration of the other database.
    ///
    /// - Parameters:
    ///   - isDryRun: Nothing is locked, and the stores are not claimed for the databases if they have no owner.
    ///   - isUndo: The target's only step is `cancel_arrival`.
    func prepare(
        isDryRun: Bool, isUndo: Bool = false
    ) async throws(AccountMoveError) -> (here: Side, there: Side) {
        for connection in [source, target] where !isDryRun {
            try await Self.lock(user, connection)
        }
        let (here, there) = (
            try Self.side(of: user, source, sourceName), try Self.side(of: user, target, targetName)
        )
        // The source needs `finish_leaving` only.
        let isFinishing = here.leaving.map {
            $0.state == .leaving && there.move($0.id)?.state == .arrived
        }
        if isUndo {
            if here.leaving ?? here.left != nil { try Self.checkSchema(source, sourceName) }
        } else if isFinishing != true {
            try Self.checkSchema(source, sourceName)
            try Self.checkSchema(target, targetName)
        }
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
                throw AccountMoveError(error, isTarget: isTarget)
            }
        }
        return (here, there)
    }

    var sourceName: String { "the database" }
    var targetName: String { "the other database" }

    /// Refuses moves between other databases, or in the other direction, that are in progress.
    private func checkOtherMoves(_ here: Side, _ there: Side) throws(AccountMoveError) {
        if let move = here.left, move.otherInstallation != there.installation {
            throw .refused(
                "the account was moved to another database, with the installation ID \(move.otherInstallation)"
            )
        }
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
    private static func checkSchema(
        _ connection: AdminConnection, _ name: String
    ) throws(AccountMoveError) {
        let newest: [String] = try database { () throws(PostgresError) in
            try connection.query(newestSchema).decode()
        }
        guard newest.first != "\(schemaVersion) \(functionsChecksum)" else { return }
        throw try otherSchema(connection, name)
    }

    /// `migrate up` refuses a database with unfinished moves, so it is not the advice then.
    private static func otherSchema(
        _ connection: AdminConnection, _ name: String
    ) throws(AccountMoveError) -> AccountMoveError {
        let accounts: [UUID] = try database { () throws(PostgresError) in
            try unfinished(connection)
        }
        return .refused(
            "\(name) does not have the schema of this program: "
                + (accounts.isEmpty
                    ? "run bookplate-admin migrate up"
                    : "accounts are being moved from or to it, so finish or undo their moves with the release of bookplate-admin that has migrated it, and then run bookplate-admin migrate up")
        )
    }

    /// Prevents migrations, and that two operators wait for each other's steps. The states of moves do not rely on it. The locks end
    /// with the connection, whose commits wait for the synchronous standby of the database, if there is one.
    private static func lock(
        _ user: UUID, _ connection: AdminConnection
    ) async throws(AccountMoveError) {
        if connection.pooler == .transaction || connection.pooler == .raw {
            throw .refused(
                "a connection pooler is between this program and a database: use an address that leads directly to the database"
            )
        }
        let isPrevented = try database { () throws(PostgresError) in
            try connection.execute("SET synchronous_commit = on")
            return try Migrator.preventMigrations(connection)
        }
        guard isPrevented else {
            throw .refused("a migration of a database is running: wait until it has ended")
        }
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

    private static func side(
        of user: UUID, _ connection: AdminConnection, _ name: String
    ) throws(AccountMoveError) -> Side {
        let isKnown: Bool = try database { () throws(PostgresError) in
            try hasMoves(connection)
        }
        guard isKnown else { throw try otherSchema(connection, name) }
        return try database { () throws(PostgresError) in
            let accounts: [UUID] = try connection.query(
                "SELECT id FROM users WHERE id = $1", .of(user)
            ).decode()
            let tombstones: [Bool] = try connection.query(selectTombstone, .of(user)).decode()
            return Side(
                installation: try installation(connection), hasAccount: !accounts.isEmpty,
                wasDeleted: tombstones.first == true,
                moves: try connection.query(selectMoves, .of(user)).decode())
        }
    }

    /// Returns the installation ID of a database.
    package static func installation(_ connection: AdminConnection) throws(PostgresError) -> UUID {
        let ids: [UUID] = try connection.query("SELECT id FROM installation").decode()
        guard let id = ids.first else {
            throw .unexpectedResult("the table installation is empty")
        }
        return id
    }

    /// Reads the account from the source.
    func account() throws(AccountMoveError) -> Account {
        let accounts: [Account] = try Self.database { () throws(PostgresError) in
            try source.query(Self.selectAccount, .of(user)).decode()
        }
        guard let account = accounts.first else {
            throw .refused(
                "there is no account \(user): find its ID with bookplate-admin account find")
        }
        return account
    }

    /// Whether the database has the tables of moves.
    private static func hasMoves(_ connection: AdminConnection) throws(PostgresError) -> Bool {
        let tables: [Bool] = try connection.query(
            "SELECT to_regclass('account_moves') IS NOT NULL"
        ).decode()
        return tables.first == true
    }

    /// Returns the accounts whose moves from or to a database are not finished.
    package static func unfinished(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [UUID] {
        guard try hasMoves(connection) else { return [] }
        return try connection.query(selectUnfinished).decode()
    }

    /// Returns an account to its database after the other database was lost for good. Does not contact the other one.
    ///
    /// - Parameter lost: The installation ID of the other database.
    /// - Throws: `.refused` if the account is not being moved to that database, or has left it more than a day ago.
    package static func undo(
        _ user: UUID, lost: UUID, _ connection: AdminConnection
    ) async throws(AccountMoveError) {
        try await lock(user, connection)
        try checkSchema(connection, "the database")
        let here = try side(of: user, connection, "the database")
        guard let move = here.leaving ?? here.left else {
            throw .refused(
                "the account \(user) is not being moved: bookplate-admin doctor lists the accounts that are"
            )
        }
        guard move.otherInstallation == lost else {
            throw .refused(
                "the account \(user) is moved to the database with the installation ID \(move.otherInstallation), not \(lost)"
            )
        }
        try returnAccount(user, move.id, connection)
    }

    /// Forgets an account that has left this database for one that was lost for good more than a day later, so that its identities can
    /// sign in again. Does not contact the other database.
    ///
    /// - Parameter lost: The installation ID of the other database.
    /// - Throws: `.refused` if the account has not left for that database, or can still return.
    package static func forget(
        _ user: UUID, lost: UUID, _ connection: AdminConnection
    ) async throws(AccountMoveError) {
        try await lock(user, connection)
        try checkSchema(connection, "the database")
        let here = try side(of: user, connection, "the database")
        guard let left = here.left else {
            throw .refused(
                "the account \(user) has not left this database: find its ID with bookplate-admin account find"
            )
        }
        guard left.otherInstallation == lost else {
            throw .refused(
                "the account \(user) was moved to the database with the installation ID \(left.otherInstallation), not \(lost)"
            )
        }
        try refuseFound(user, [(here, "the database")])
        try forget(user, connection)
    }

    /// Refuses to forget an account that one of the databases has, expects, or can return.
    static func refuseFound(
        _ user: UUID, _ sides: [(side: Side, name: String)]
    ) throws(AccountMoveError) {
        for (side, name) in sides where side.hasAccount {
            throw .refused("\(name) has the account \(user), so it cannot be forgotten")
        }
        for (side, name) in sides where side.leaving != nil || side.arriving != nil {
            throw .refused(
                "a move of the account \(user) is not finished in \(name): run the command without --forget to finish it, or with --undo to end it"
            )
        }
        for (side, name) in sides
        where side.moves.contains(where: { $0.state == .left && !$0.isFinal }) {
            throw .refused(
                "the account \(user) has left \(name) less than a day ago, so it may still have the rows: run the command with --undo there to return the account, or wait until a day has passed"
            )
        }
    }

    static func forget(
        _ user: UUID, _ connection: AdminConnection
    ) throws(AccountMoveError) {
        _ = try database { () throws(PostgresError) in
            try connection.query("SELECT forget_lost_account($1)", .of(user))
        }
    }

    /// Ends the move of an account to this database after the other one was lost for good. Does not contact the other one.
    ///
    /// - Parameters:
    ///   - lost: The installation ID of the other database.
    ///   - deletesCopy: Whether the copy of the account is deleted if it is complete. It may be the last one.
    /// - Throws: `.refused` if the account is not arriving from that database, or if its copy is complete.
    package static func cancel(
        _ user: UUID, lost: UUID, deletesCopy: Bool = false, _ connection: AdminConnection
    ) async throws(AccountMoveError) {
        let (move, rows) = try await arriving(user, lost: lost, connection)
        guard rows == 0 || deletesCopy else {
            throw .refused(
                "this database has a complete copy of the account \(user), with \(rows) rows, and the database with the installation ID \(lost) may have had the only other one. To keep the account in this database, run the command without --undo. To delete the copy, add --delete-copy"
            )
        }
        _ = try database { () throws(PostgresError) in
            try connection.query("SELECT cancel_arrival($1, $2, $3)", .of(user, move, lost))
        }
    }

    /// Lets an account arrive in this database from the copy of its rows, after the other database was lost for good. Does not contact
    /// the other one.
    ///
    /// The rows are copied in one transaction, after the files of all covers, so a copy is complete.
    ///
    /// - Parameter lost: The installation ID of the other database.
    /// - Returns: The number of rows of the account.
    /// - Throws: `.refused` if the account is not arriving from that database, or if its rows were not copied.
    package static func receive(
        _ user: UUID, lost: UUID, _ connection: AdminConnection
    ) async throws(AccountMoveError) -> Int {
        let (move, rows) = try await arriving(user, lost: lost, connection)
        guard rows > 0 else {
            throw .refused(
                "the rows of the account \(user) were not copied to this database before the other one was lost: restore a backup of the other one, and run the move again, or end the move with --undo"
            )
        }
        do throws(AccountMoveError) {
            return try database { () throws(PostgresError) in
                _ = try connection.query(analyzeParcels)
                return try connection.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                    var parameters = Parameters.of(user, move, lost)
                    parameters.append(int64: rows)
                    let received = try connection.query(
                        "SELECT receive_account($1, $2, $3, $4)", parameters)
                    return Int(received.int64(0, 0) ?? 0)
                }
            }
        } catch .refused(let message) {
            // The functions are written for a run in the source.
            throw .refused(message.replacing("the other database", with: "this database"))
        }
    }

    /// Returns the move with which an account is arriving from a lost database, and the number of rows that were copied.
    private static func arriving(
        _ user: UUID, lost: UUID, _ connection: AdminConnection
    ) async throws(AccountMoveError) -> (move: UUID, rows: Int64) {
        try await lock(user, connection)
        try checkSchema(connection, "the database")
        guard let move = try side(of: user, connection, "the database").arriving else {
            throw .refused(
                "the account \(user) is not arriving in this database: bookplate-admin doctor lists the accounts that are"
            )
        }
        guard move.otherInstallation == lost else {
            throw .refused(
                "the account \(user) is arriving from the database with the installation ID \(move.otherInstallation), not \(lost)"
            )
        }
        let rows = try database { () throws(PostgresError) in
            try connection.query(countRows, .of(move.id)).int64(0, 0) ?? 0
        }
        return (move.id, rows)
    }

    /// The accounts whose moves could be undone until a migration changes their tables. A move cannot be undone after a later one.
    package struct Returnable: RowDecodable, Sendable {
        package let count: Int64
        /// The account that has left last.
        package let user: UUID
        /// The time from which no move can be undone any more, in UTC.
        package let end: String

        package init?(_ row: inout RowReader) {
            guard let count = row.int64(), let user = row.uuid(), let end = row.text() else {
                return nil
            }
            self.count = count
            self.user = user
            self.end = end
        }
    }

    /// Returns the accounts that have left a database within a day; nil if there are none.
    package static func returnable(
        _ connection: AdminConnection
    ) throws(PostgresError) -> Returnable? {
        guard try hasMoves(connection) else { return nil }
        let found: [Returnable] = try connection.query(selectReturnable).decode()
        return found.first
    }

    /// The accounts about which two databases contradict each other.
    package struct Comparison: Sendable, Equatable {
        /// One database has an older copy of the account, which has arrived in the other one or has moved on from there.
        package var inBoth: [UUID] = []
        /// The account has left one database for the other, which does not know that move and has an older copy.
        package var undelivered: [UUID] = []
        /// The account has left one database for the other, which does not know that move.
        package var inNeither: [UUID] = []
    }

    /// Compares two databases. They contradict each other after one of them was restored from a backup.
    package static func compare(
        _ here: AdminConnection, _ there: AdminConnection
    ) throws(PostgresError) -> Comparison {
        var comparison = Comparison()
        for (from, to) in [(here, there), (there, here)] {
            let (origin, destination) = (try installation(from), try installation(to))
            let moves: [CompletedMove] = try to.query(selectCompleted).decode()
            let newest = Dictionary(moves.map { ($0.user, $0) }) { first, _ in first }
            var parameters = Parameters()
            parameters.append(uuids: moves.map(\.user))
            parameters.append(int32s: moves.map(\.number))
            let older: [UUID] = try from.query(selectOlder, parameters).decode()
            let isUndelivered = { (user: UUID) in
                newest[user]?.hasLeft == true && newest[user]?.otherInstallation == origin
            }
            comparison.inBoth += older.filter { !isUndelivered($0) }
            comparison.undelivered += older.filter(isUndelivered)

            let left = try from.query(selectCompleted).decode(CompletedMove.self)
                .filter { $0.hasLeft && $0.otherInstallation == destination }
            parameters = Parameters()
            parameters.append(uuids: left.map(\.move))
            let known: [UUID] = try to.query(selectKnown, parameters).decode()
            let knownMoves = Set(known)
            comparison.inNeither += left.filter { !knownMoves.contains($0.move) }.map(\.user)
        }
        let undelivered = Set(comparison.undelivered)
        comparison.inNeither.removeAll { undelivered.contains($0) }
        return comparison
    }

    /// The newest completed move of an account in one database.
    private struct CompletedMove: RowDecodable {
        let user: UUID
        let move: UUID
        let hasLeft: Bool
        let otherInstallation: UUID
        let number: Int32

        init?(_ row: inout RowReader) {
            guard let user = row.uuid(), let move = row.uuid(), let hasLeft = row.bool(),
                let otherInstallation = row.uuid(), let number = row.int32()
            else { return nil }
            self.user = user
            self.move = move
            self.hasLeft = hasLeft
            self.otherInstallation = otherInstallation
            self.number = number
        }
    }

    private static let selectCompleted = """
        SELECT DISTINCT ON (user_id) user_id, move_id, state = 'LEFT', other_installation, number
        FROM account_moves
        WHERE state IN ('LEFT', 'ARRIVED')
        ORDER BY user_id, number DESC
        """
    private static let selectOlder = """
        SELECT u.id
        FROM unnest($1::uuid[], $2::int4[]) AS g (user_id, number)
        JOIN users u ON u.id = g.user_id
        WHERE g.number > coalesce(
            (
                SELECT max(m.number)
                FROM account_moves m
                WHERE m.user_id = u.id AND m.state IN ('LEFT', 'ARRIVED')
            ),
            0
        )
        ORDER BY u.id
        """
    private static let selectKnown = """
        SELECT move_id
        FROM account_moves
        WHERE move_id = ANY ($1) AND state = 'ARRIVED'
        """
    private static let selectReturnable = """
        SELECT
            count(*),
            (array_agg(user_id ORDER BY ended_at DESC))[1],
            to_char((max(ended_at) + interval '1 day') AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
        FROM account_moves m
        WHERE state = 'LEFT'
            AND ended_at >= now() - interval '1 day'
            AND EXISTS (SELECT FROM account_parcels p WHERE p.move_id = m.move_id)
            AND NOT EXISTS (
                SELECT
                FROM account_moves l
                WHERE l.user_id = m.user_id AND l.state IN ('LEFT', 'ARRIVED') AND l.number > m.number
            )
        HAVING count(*) > 0
        """

    private static let newestSchema = """
        SELECT version || ' ' || functions
        FROM schema_states
        ORDER BY applied_at DESC, version DESC
        LIMIT 1
        """
    private static let selectMoves = """
        SELECT
            move_id, state::text, other_installation, number,
            ended_at IS NOT NULL AND ended_at < now() - interval '1 day'
        FROM account_moves
        WHERE user_id = $1
        ORDER BY number DESC, started_at DESC, move_id
        """
    private static let selectAccount = """
        SELECT
            t.id, t.slug, ARRAY(SELECT i.subject FROM identities i WHERE i.user_id = u.id)
        FROM users u
        JOIN tenants t ON t.id = u.tenant_id
        WHERE u.id = $1
        """
    private static let selectTombstone = """
        SELECT EXISTS (SELECT FROM account_tombstones WHERE user_hash = sha256(uuid_send($1)))
        """
    private static let selectUnfinished = """
        SELECT user_id
        FROM account_moves
        WHERE state IN ('CLOSING', 'LEAVING', 'ARRIVING')
        ORDER BY started_at, user_id
        """
}
