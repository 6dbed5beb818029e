import Basics
import Identity
import ObjectStorage
import Postgres

/// The move of an account from one database to another: `bookplate-admin account move`.
///
/// `migrations/functions/moves.sql` contains the steps in the databases, and docs/decisions/account-moves.md explains them. Each
/// step is one transaction, and the tables say which steps are done. A move can therefore be interrupted at any moment. The next
/// run continues it or, if the account has not arrived yet, undoes it.
///
/// A run holds an advisory lock of the account on both of its connections. The transaction in which the account arrives runs
/// on a locked connection, so a run that was believed dead cannot deliver the account after another run has undone the move.
package struct AccountMove {
    /// A step of a move that is not in progress any more.
    package enum Step: String, CaseIterable, Sendable {
        case copiedCovers = "copied covers"
        case closed = "closed the account"
        case drained = "waited for running requests"
        case packed = "packed the rows"
        case copiedRows = "copied the rows"
        case arrived = "the account has arrived"
        case removedCovers = "removed the covers that were copied"
        case finished = "deleted the copied rows"
    }

    package struct Summary: Sendable, Equatable {
        package var move: UUID
        /// The number of rows of the account; 0 if an earlier run has delivered it.
        package var rows = 0
        /// The number of versions of covers, and of those of which the store lacks a file.
        package var covers = 0
        package var damagedCovers = 0
    }

    let user: UUID
    let source: AdminConnection
    let target: AdminConnection
    let sourceStore: any ObjectStore
    let targetStore: any ObjectStore
    /// The time that requests have to end which began before the account was closed.
    let drainSeconds: Int

    /// - Parameters:
    ///   - source: A connection to the database that the account leaves, as the owner of the tables.
    ///   - target: A connection to the other database, as the owner of the tables.
    package init(
        of user: UUID, from source: AdminConnection, to target: AdminConnection,
        sourceStore: any ObjectStore, targetStore: any ObjectStore, drainSeconds: Int
    ) {
        self.user = user
        self.source = source
        self.target = target
        self.sourceStore = sourceStore
        self.targetStore = targetStore
        self.drainSeconds = drainSeconds
    }

    // MARK: - Runs

    /// Moves the account, or continues a move that was interrupted.
    ///
    /// If the target refuses the rows, for example because it has another account with the same identity, the move is undone.
    ///
    /// - Parameter onStep: Called after each step. An error that it throws ends the run, as an interruption does.
    /// - Throws: `.refused` if the account cannot be moved.
    package func run(
        onStep: (Step) throws(AccountMoveError) -> Void = { _ throws(AccountMoveError) in }
    ) async throws(AccountMoveError) -> Summary {
        let (here, there) = try await prepare(changesStores: true)
        var summary = Summary(move: here.move?.id ?? UUID(random: randomBytes(16)))
        let isDelivered =
            here.move.map { there.move?.id == $0.id && there.move?.state == .arrived } ?? false
        if here.move?.state == .left, isDelivered { return summary }
        guard here.hasAccount || here.move?.isUnfinished == true else {
            throw .refused("there is no account \(user)")
        }
        if !isDelivered {
            try await deliver(from: here, to: there, &summary, onStep)
        }
        for bucket in [Bucket.titleCards, .bookCovers] {
            try await mapping { () async throws(ObjectError) in
                _ = try await sourceStore.removeFolder("\(user)", of: bucket)
            }
        }
        try onStep(.removedCovers)
        try transaction(on: source) { () throws(PostgresError) in
            try source.query("SELECT finish_leaving($1, $2)", .of(user, summary.move))
        }
        try onStep(.finished)
        return summary
    }

    /// Returns the account to the source, if a move was interrupted before the account arrived.
    ///
    /// - Throws: `.refused` if no move is in progress, or if the account has arrived.
    package func undo() async throws(AccountMoveError) {
        let (here, _) = try await prepare(changesStores: false)
        guard let move = here.move, move.isUnfinished else {
            throw .refused("the account \(user) is not being moved")
        }
        try undo(move.id)
    }

    /// Packs the account and inserts it into the target, in two transactions that are rolled back.
    ///
    /// - Returns: The numbers of rows and covers that `run` would move.
    package func rehearse() async throws(AccountMoveError) -> Summary {
        let (here, there) = try await prepare(changesStores: false)
        guard here.hasAccount, here.move?.isUnfinished != true else {
            throw .refused(
                here.move?.isUnfinished == true
                    ? "a move of the account is in progress: continue or undo it"
                    : "there is no account \(user)")
        }
        var summary = Summary(move: UUID(random: randomBytes(16)))
        summary.covers = try covers(Self.storedCovers).count
        let move = summary.move
        summary.rows = try database { () throws(PostgresError) in
            try source.inTransaction(commits: false, mapping: { $0 }) { () throws(PostgresError) in
                try close(move, there)
                try source.query("SELECT pack_account($1, $2)", .of(user, move))
                return try target.inTransaction(commits: false, mapping: { $0 }) {
                    () throws(PostgresError) in
                    try copyRows()
                    return try receive(move, from: here)
                }
            }
        }
        return summary
    }

    // MARK: - Steps

    private func deliver(
        from here: Side, to there: Side, _ summary: inout Summary,
        _ onStep: (Step) throws(AccountMoveError) -> Void
    ) async throws(AccountMoveError) {
        let move = summary.move
        // Most files are copied while the account is in use. A run does not rely on the files of an earlier one: the target's sweep
        // may have removed them, because they are old and have no row.
        var copied: Set<CoverVersion> = []
        if here.move?.isUnfinished != true {
            try await copy(try covers(Self.storedCovers), &copied, &summary)
            try onStep(.copiedCovers)
            try transaction(on: source) { () throws(PostgresError) in try close(move, there) }
            try onStep(.closed)
        }
        if here.move?.state != .leaving {
            try await sleep(seconds: drainSeconds)
            try onStep(.drained)
            try undoing(move, ifRefusedBy: "this database cannot pack the account") {
                () throws(PostgresError) in
                try source.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                    try source.query("SELECT pack_account($1, $2)", .of(user, move))
                }
            }
            try onStep(.packed)
        }
        try await copy(try covers(Self.packedCovers), &copied, &summary)
        try transaction(on: target) { () throws(PostgresError) in try copyRows() }
        try onStep(.copiedRows)
        summary.rows = try undoing(
            move, ifRefusedBy: "the other database cannot store the account"
        ) { () throws(PostgresError) in
            try target.query("SELECT advance_sequences($1)", .of(user))
            return try target.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                try receive(move, from: here)
            }
        }
        try onStep(.arrived)
    }

    /// Runs a step, and undoes the move if the database refuses it.
    @discardableResult
    private func undoing<Value>(
        _ move: UUID, ifRefusedBy refusal: String, _ step: () throws(PostgresError) -> Value
    ) throws(AccountMoveError) -> Value {
        do throws(PostgresError) {
            return try step()
        } catch {
            // Another error, such as a lost connection, may have happened after the commit.
            guard case .server(let server) = error, !error.isTemporary else {
                throw .database(error)
            }
            try undo(move)
            throw .refused(
                "\(refusal), which is in use again: \(server.message)"
                    + (server.detail.map { " (\($0))" } ?? ""))
        }
    }

    private func close(_ move: UUID, _ there: Side) throws(PostgresError) {
        try source.query(
            "SELECT close_account($1, $2, $3)", .of(user, move, there.installation))
    }

    private func receive(_ move: UUID, from here: Side) throws(PostgresError) -> Int {
        let rows = try target.query(
            "SELECT receive_account($1, $2, $3)", .of(user, move, here.installation))
        return Int(rows.int64(0, 0) ?? 0)
    }

    private func undo(_ move: UUID) throws(AccountMoveError) {
        guard try side(target).move?.id != move else {
            throw .refused(
                "the account has arrived: continue the move, and then move the account back")
        }
        try transaction(on: target) { () throws(PostgresError) in
            try target.query(Self.deleteParcel, .of(user))
        }
        try transaction(on: source) { () throws(PostgresError) in
            try source.query("SELECT return_account($1, $2)", .of(user, move))
        }
    }

    /// The maximum number of rows, and bytes of their JSON, that are sent at once. A single row may be larger.
    private static let batchRowsMax = 1000
    private static let batchBytesMax: Int64 = 8 << 20

    /// Copies the parcel from the source to the target, where it replaces an incomplete copy.
    private func copyRows() throws(PostgresError) {
        try target.query(Self.deleteParcel, .of(user))
        var last = (table: "", number: Int64(0))
        while true {
            var parameters = Parameters.of(user)
            parameters.append(text: last.table)
            parameters.append(int64: last.number)
            parameters.append(int32: Int32(Self.batchRowsMax))
            parameters.append(int64: Self.batchBytesMax)
            let rows = try source.query(Self.nextRows, parameters)
            guard rows.count > 0 else { return }
            var tables: [String] = []
            var numbers: [Int64] = []
            var texts: [String] = []
            for row in 0..<rows.count {
                guard let table = rows.text(row, 0), let number = rows.int64(row, 1),
                    let text = rows.text(row, 2)
                else { throw .unexpectedResult("account_parcels has unexpected values") }
                tables.append(table)
                numbers.append(number)
                texts.append(text)
                last = (table, number)
            }
            var inserted = Parameters.of(user)
            inserted.append(texts: tables)
            inserted.append(int64s: numbers)
            inserted.append(texts: texts)
            try target.query(Self.insertRows, inserted)
        }
    }

    // MARK: - Errors

    func mapping<Value>(
        _ work: () async throws(ObjectError) -> Value
    ) async throws(AccountMoveError) -> Value {
        try await mappingError(AccountMoveError.store, work)
    }

    func database<Value>(
        _ work: () throws(PostgresError) -> Value
    ) throws(AccountMoveError) -> Value {
        try mappingError(AccountMoveError.init, work)
    }

    private func transaction(
        on connection: AdminConnection, _ work: () throws(PostgresError) -> Void
    ) throws(AccountMoveError) {
        try database { () throws(PostgresError) in
            try connection.inTransaction(mapping: { $0 }, work)
        }
    }

    private func sleep(seconds: Int) async throws(AccountMoveError) {
        do {
            try await Task.sleep(for: .seconds(seconds))
        } catch {
            throw .refused("the move was cancelled: run the same command again to continue")
        }
    }

    // MARK: - Statements

    private static let deleteParcel = "DELETE FROM account_parcels WHERE user_id = $1"
    /// The last condition keeps the first row of each batch, however large it is.
    private static let nextRows = """
        SELECT r.table_name, r.number, r.row
        FROM (
            SELECT
                p.table_name, p.number, p.row::text AS row,
                sum(octet_length(p.row::text)) OVER (ORDER BY p.table_name, p.number) AS total,
                row_number() OVER (ORDER BY p.table_name, p.number) AS index
            FROM (
                SELECT *
                FROM account_parcels
                WHERE user_id = $1 AND (table_name, number) > ($2, $3)
                ORDER BY table_name, number
                LIMIT $4
            ) p
        ) r
        WHERE r.total <= $5 OR r.index = 1
        ORDER BY r.table_name, r.number
        """
    private static let insertRows = """
        INSERT INTO account_parcels (user_id, table_name, number, row)
        SELECT $1, r.table_name, r.number, r.row::jsonb
        FROM unnest($2::text[], $3::int8[], $4::text[]) AS r (table_name, number, row)
        """
}

/// The reason why a move was not carried out or not completed.
package enum AccountMoveError: Error, Sendable {
    /// The message is for the operator.
    case refused(String)
    case database(PostgresError)
    case store(ObjectError)
    /// A store belongs to another database.
    case foreignStore(isTarget: Bool)
    case interrupted

    /// The refusals of the functions in `moves.sql` have messages for the operator.
    init(_ error: PostgresError) {
        if case .server(let server) = error, ["BP404", "BP409"].contains(server.sqlState.rawValue) {
            self = .refused(server.message)
        } else {
            self = .database(error)
        }
    }

    /// The error as a sentence for the operator.
    package var message: String {
        switch self {
        case .refused(let message): message
        case .database(let error): "\(error)"
        case .store(let error): error.description
        case .foreignStore(let isTarget):
            """
            the store of the \(isTarget ? "other " : "")database belongs to another database: check \
            BOOKPLATE_\(isTarget ? "TARGET_" : "")STORAGE. Two databases cannot share a store
            """
        case .interrupted: "the move was interrupted"
        }
    }
}
