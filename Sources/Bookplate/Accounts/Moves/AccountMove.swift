import Basics
import Identity
import ObjectStorage
import Postgres

/// The move of an account from one database to another: `bookplate-admin account move`.
///
/// `migrations/functions/moves.sql` contains the steps in the databases, and docs/decisions/account-moves.md explains them. Each
/// step is one transaction, and the tables say which steps are done. A move can therefore be interrupted at any moment. The next
/// run continues it or, if the account has not arrived yet, undoes it.
package struct AccountMove {
    /// A step of a move that is not in progress any more.
    package enum Step: String, CaseIterable, Sendable {
        case announced = "announced the account to the other database"
        case copiedCovers = "copied covers"
        case closed = "closed the account"
        case drained = "waited for running requests"
        case packed = "packed the rows"
        case copiedRows = "copied the rows"
        case arrived = "the account has arrived"
        case checkedCovers = "compared the covers"
        case finished = "deleted the copied rows"
    }

    package struct Summary: Sendable, Equatable {
        /// The number of rows of the account; 0 if an earlier run has delivered it.
        package var rows = 0
        /// The number of versions of covers, and of those of which the other store lacks a file.
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
    /// If the target refuses the rows, for example because it has another account with the same identity, the move is undone. If
    /// the account has already moved, files of covers that the target's store lacks are copied again.
    ///
    /// - Parameter onStep: Called after each step. An error that it throws ends the run, as an interruption does.
    /// - Throws: `.refused` if the account cannot be moved.
    package func run(
        onStep: (Step) throws(AccountMoveError) -> Void = { _ throws(AccountMoveError) in }
    ) async throws(AccountMoveError) -> Summary {
        let (here, there) = try await prepare(isDryRun: false)
        var summary = Summary()
        let move: UUID
        if let leaving = here.leaving {
            move = leaving.id
            switch there.move(move)?.state {
            case .arrived: break
            case .arriving:
                try await deliver(leaving, from: here, to: there, &summary, onStep)
            default:
                throw .refused(
                    "the other database does not expect this move any more: run the command with --undo, and then move the account again"
                )
            }
        } else if here.hasAccount {
            move = try announce(from: here, to: there)
            try onStep(.announced)
            try await deliver(nil, id: move, from: here, to: there, &summary, onStep)
        } else if there.hasAccount, hasLeft(here, there) {
            try await copyCovers(try arrivedCovers(), &summary)
            return summary
        } else {
            throw try missing()
        }
        try await copyCovers(try arrivedCovers(), &summary)
        try onStep(.checkedCovers)
        try transaction(on: source) { () throws(PostgresError) in
            try source.query("SELECT finish_leaving($1, $2)", .of(user, move))
        }
        try onStep(.finished)
        return summary
    }

    /// Returns the account to the source, if a move was interrupted before the account arrived.
    ///
    /// - Throws: `.refused` if no move is in progress, or if the account has arrived.
    package func undo() async throws(AccountMoveError) {
        let (here, there) = try await prepare(isDryRun: false)
        if let leaving = here.leaving {
            try undo(leaving.id, from: here)
        } else if let arriving = there.arriving {
            // The run ended before it closed the account, or the account was deleted after that.
            try cancelArrival(arriving.id, from: here)
        } else {
            throw .refused("the account \(user) is not being moved")
        }
    }

    /// Checks that the account can be moved. Changes nothing, and takes no locks that requests or another run wait for.
    ///
    /// - Returns: The numbers of rows and covers that `run` would move.
    package func rehearse() async throws(AccountMoveError) -> Summary {
        let (here, there) = try await prepare(isDryRun: true)
        guard here.leaving == nil else {
            throw .refused("a move of the account is in progress: continue or undo it")
        }
        guard here.hasAccount else { throw try missing() }
        let move = there.arriving?.id ?? UUID(random: randomBytes(16))
        let account = try account()
        let covers = try covers().count
        let rows = try database { () throws(PostgresError) in
            var arrival = Parameters.of(user, move)
            account.append(to: &arrival)
            try target.query("SELECT check_arrival($1, $2, $3, $4, $5)", arrival)
            return try source.query("SELECT count_account($1)", .of(user)).int64(0, 0) ?? 0
        }
        return Summary(rows: Int(rows), covers: covers)
    }

    /// Whether the account has left the source for the target.
    private func hasLeft(_ here: Side, _ there: Side) -> Bool {
        here.moves.contains { $0.state == .left && there.move($0.id)?.state == .arrived }
    }

    private func missing() throws(AccountMoveError) -> AccountMoveError {
        let error = try mappingError(AccountMoveError.init) { () throws(AdministrationError) in
            try AccountRecord.missing(user, source)
        }
        return AccountMoveError(error)
    }

    // MARK: - Steps

    /// Registers the move in the target, or finds the one that an interrupted run has registered.
    private func announce(from here: Side, to there: Side) throws(AccountMoveError) -> UUID {
        if let arriving = there.arriving, here.move(arriving.id) != nil {
            throw .refused("an earlier move was not undone completely: run the command with --undo")
        }
        let move = there.arriving?.id ?? UUID(random: randomBytes(16))
        let account = try account()
        try transaction(on: target) { () throws(PostgresError) in
            var parameters = Parameters.of(user, move, here.installation)
            account.append(to: &parameters)
            try target.query("SELECT expect_account($1, $2, $3, $4, $5, $6)", parameters)
        }
        return move
    }

    /// - Parameter leaving: The move if an earlier run has closed the account; nil if it is in use.
    private func deliver(
        _ leaving: Move?, id: UUID? = nil, from here: Side, to there: Side,
        _ summary: inout Summary,
        _ onStep: (Step) throws(AccountMoveError) -> Void
    ) async throws(AccountMoveError) {
        guard let move = leaving?.id ?? id else { return }
        if leaving == nil {
            // Most files are copied while the account is in use.
            _ = try await copy(try covers())
            try onStep(.copiedCovers)
            do throws(AccountMoveError) {
                try transaction(on: source) { () throws(PostgresError) in
                    try source.query(
                        "SELECT close_account($1, $2, $3)", .of(user, move, there.installation))
                }
            } catch {
                if case .refused = error { try cancelArrival(move, from: here) }
                throw error
            }
            try onStep(.closed)
        }
        if leaving?.state != .leaving {
            try await sleep(.seconds(drainSeconds))
            try onStep(.drained)
            try undoing(move, from: here, ifRefusedBy: "this database cannot pack the account") {
                () throws(PostgresError) in
                try source.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                    try source.query("SELECT pack_account($1, $2)", .of(user, move))
                }
            }
            try onStep(.packed)
        }
        _ = try await copy(try covers())
        let refusal = "the other database cannot store the account"
        try undoing(move, from: here, ifRefusedBy: refusal) { () throws(PostgresError) in
            try target.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                try copyRows(of: move, from: here)
            }
            try target.query(Self.analyzeParcels)
        }
        try onStep(.copiedRows)
        summary.rows = try undoing(move, from: here, ifRefusedBy: refusal) {
            () throws(PostgresError) in
            try target.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                let rows = try target.query(
                    "SELECT receive_account($1, $2, $3)", .of(user, move, here.installation))
                return Int(rows.int64(0, 0) ?? 0)
            }
        }
        try onStep(.arrived)
    }

    /// Copies files that the target lacks after its rows name them. The source still has all files.
    private func copyCovers(
        _ covers: [CoverVersion], _ summary: inout Summary
    ) async throws(AccountMoveError) {
        summary.covers = covers.count
        summary.damagedCovers = try await copy(covers).count
    }

    /// Runs a step, and undoes the move if the database refuses it.
    @discardableResult
    private func undoing<Value>(
        _ move: UUID, from here: Side, ifRefusedBy refusal: String,
        _ step: () throws(PostgresError) -> Value
    ) throws(AccountMoveError) -> Value {
        do throws(PostgresError) {
            return try step()
        } catch {
            // Another error, such as a lost connection, may have happened after the commit.
            guard case .server(let server) = error, !error.isTemporary else {
                throw .database(error)
            }
            try undo(move, from: here)
            throw .refused(
                "\(refusal), which is in use again: \(server.message)"
                    + (server.detail.map { " (\($0))" } ?? ""))
        }
    }

    private func undo(_ move: UUID, from here: Side) throws(AccountMoveError) {
        try cancelArrival(move, from: here)
        try database { () throws(PostgresError) in
            _ = try source.query(Self.analyzeParcels)
        }
        try transaction(on: source) { () throws(PostgresError) in
            try source.query("SELECT return_account($1, $2)", .of(user, move))
        }
    }

    /// Ends the move in the target for good. From then on, no other run can deliver the account.
    private func cancelArrival(_ move: UUID, from here: Side) throws(AccountMoveError) {
        try transaction(on: target) { () throws(PostgresError) in
            try target.query(
                "SELECT cancel_arrival($1, $2, $3)", .of(user, move, here.installation))
        }
    }

    /// The maximum number of rows, and bytes of their JSON, that are sent at once. A single row may be larger.
    private static let batchRowsMax = 1000
    private static let batchBytesMax: Int64 = 8 << 20

    /// Copies the parcel from the source to the target, where it replaces an incomplete copy.
    private func copyRows(of move: UUID, from here: Side) throws(PostgresError) {
        try target.query(
            "SELECT begin_parcel_copy($1, $2, $3)", .of(user, move, here.installation))
        var last = (table: "", number: Int64(0))
        while true {
            var parameters = Parameters.of(move)
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
            var inserted = Parameters.of(move)
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

    func sleep(_ time: Duration) async throws(AccountMoveError) {
        do {
            try await Task.sleep(for: time)
        } catch {
            throw .refused("the move was cancelled: run the same command again to continue")
        }
    }

    // MARK: - Statements

    private static let analyzeParcels = "ANALYZE account_parcels"
    /// The change log stays. The last condition keeps the first row of each batch, however large it is.
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
                WHERE move_id = $1 AND (table_name, number) > ($2, $3) AND table_name <> 'changes'
                ORDER BY table_name, number
                LIMIT $4
            ) p
        ) r
        WHERE r.total <= $5 OR r.index = 1
        ORDER BY r.table_name, r.number
        """
    private static let insertRows = """
        INSERT INTO account_parcels (move_id, table_name, number, row)
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

    init(_ error: AdministrationError) {
        switch error {
        case .refused(let message): self = .refused(message)
        case .database(let error): self = .database(error)
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
