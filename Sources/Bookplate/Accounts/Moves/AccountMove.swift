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
    /// A completed step of a move.
    package enum Step: String, CaseIterable, Sendable {
        case announced = "announced the account to the other database"
        case copiedCovers = "copied covers"
        case closed = "closed the account"
        case drained = "waited for running requests"
        case packed = "packed the rows"
        case copiedRows = "copied the rows"
        case arrived = "the account has arrived"
        case finished = "recorded that the account has left"
        case checkedCovers = "compared the covers"
    }

    package struct Summary: Sendable, Equatable {
        /// The number of rows of the account; 0 if an earlier run has delivered it.
        package var rows = 0
        /// The number of cover versions, and (`damagedCovers`) the number of those with a file missing in the target's store.
        package var covers = 0
        package var damagedCovers = 0
        /// Whether the account was deleted in the other database, so that this one has deleted what it still knew about it.
        package var isDeleted = false
    }

    let user: UUID
    let source: AdminConnection
    let target: AdminConnection
    let sourceStore: any ObjectStore
    let targetStore: any ObjectStore
    /// How long to wait, after the account is closed, for requests that began earlier, in seconds.
    let drainSeconds: Int
    /// The address of the server of the other database; nil if it is unknown.
    let newURL: String?
    /// Called while the move waits for requests to end.
    let isInterrupted: () -> Bool

    /// - Parameters:
    ///   - source: A connection to the database that the account leaves, as the owner of the tables.
    ///   - target: A connection to the other database, as the owner of the tables.
    package init(
        of user: UUID, from source: AdminConnection, to target: AdminConnection,
        sourceStore: any ObjectStore, targetStore: any ObjectStore, drainSeconds: Int,
        newURL: String? = nil, isInterrupted: @escaping () -> Bool = { false }
    ) {
        self.user = user
        self.source = source
        self.target = target
        self.sourceStore = sourceStore
        self.targetStore = targetStore
        self.drainSeconds = drainSeconds
        self.newURL = newURL
        self.isInterrupted = isInterrupted
    }

    // MARK: - Runs

    /// Moves the account, or continues a move that was interrupted.
    ///
    /// If the target refuses the rows, for example because it has another account with the same identity, the move is undone. If
    /// the account has already moved, files of covers that the target's store lacks are copied again.
    ///
    /// - Parameters:
    ///   - hasArrived: Whether the account has arrived in the target before, and the source has it again because it was restored from
    ///     a backup. It is then removed from the source, without the effects of a deletion.
    ///   - onStep: Called after each step. An error that it throws ends the run, as an interruption does.
    /// - Throws: `.refused` if the account cannot be moved.
    package func run(
        hasArrived: Bool = false,
        onStep: (Step) throws(AccountMoveError) -> Void = { _ throws(AccountMoveError) in }
    ) async throws(AccountMoveError) -> Summary {
        let (here, there) = try await prepare(isDryRun: false)
        var summary = Summary()
        let move: UUID
        if let leaving = here.leaving {
            move = leaving.id
            switch there.move(move)?.state {
            case .arrived:
                // If the account has come back since, and the target has deleted its rows, these are the only ones.
                if let later = there.left, later.number > leaving.number, later.isFinal,
                    later.otherInstallation == here.installation
                {
                    throw undelivered(later, here, there)
                }
                // The source was restored from a backup of a moment between these steps.
                if leaving.state == .closing { try await drainAndPack(move, onStep) }
            case .arriving:
                try await deliver(leaving, from: here, to: there, &summary, onStep)
            default:
                throw .refused(
                    "the other database does not expect this move any more: run the command with --undo, and then move the account again"
                )
            }
        } else if hasArrived, here.hasAccount {
            let arrived = try lostMove(here, there)
            move = arrived.id
            try close(move, there, number: arrived.number)
            try onStep(.closed)
            try await drainAndPack(move, onStep)
        } else if here.hasAccount {
            try refuseThirdInstallation(here, there)
            try refuseOlderCopy(here, there)
            move = try announce(from: here, to: there)
            try onStep(.announced)
            try await deliver(nil, id: move, from: here, to: there, &summary, onStep)
        } else if let left = here.left, there.move(left.id)?.state == .arrived {
            if there.wasDeleted {
                try transaction(on: source) { () throws(PostgresError) in
                    try source.query("SELECT forget_moves($1)", .of(user))
                }
                summary.isDeleted = true
                return summary
            }
            move = left.id
        } else {
            throw try missing(here)
        }
        try finish(move)
        try onStep(.finished)
        // The target's store may have lost files. The source has them for another day.
        let covers = try arrivedCovers()
        summary.covers = covers.count
        summary.damagedCovers = covers.count - (try await copy(covers).count)
        try onStep(.checkedCovers)
        return summary
    }

    /// Returns the account to the source, if a move was interrupted before the account arrived, or if the target was restored from a
    /// backup of an earlier time. Such a target may have an older copy of the account.
    ///
    /// - Throws: `.refused` if the account is not being moved, if it has arrived, or if it was deleted in the target after that.
    package func undo() async throws(AccountMoveError) {
        let (here, there) = try await prepare(isDryRun: false, isUndo: true)
        if let leaving = here.leaving ?? here.left {
            guard there.move(leaving.id)?.state != .arrived else {
                throw .refused(
                    "the account \(user) has arrived in the other database, so the move cannot be undone: run the command without --undo to finish it. Then exchange the databases and the stores in the configuration, and run the command again to move the account back"
                )
            }
            if let later = there.completed, later.number >= leaving.number {
                throw .refused(
                    "the other database knows a later move of the account, with the installation ID \(later.otherInstallation), so the rows in this database are older. Compare the databases with bookplate-admin doctor"
                )
            }
            if here.leaving == nil, there.wasDeleted {
                throw .refused(
                    "the account \(user) was deleted in the other database after it had left this one, so it cannot return. This database deletes its rows a day after the move"
                )
            }
            try undo(leaving.id, from: here)
        } else if let arriving = there.arriving {
            // The run ended before it closed the account, or the account was deleted after that.
            try cancelArrival(arriving.id, from: here)
        } else {
            throw .refused(
                "the account \(user) is not being moved: bookplate-admin doctor lists the accounts that are"
            )
        }
    }

    /// Keeps an older copy of the account in the source, after the target has moved the current rows here and has deleted its parcel:
    /// the source was restored from a backup of an earlier time, and more than a day has passed. The copy then counts as arrived by
    /// that move, so it can move again. If it was being moved at the time of the backup, that move is undone.
    ///
    /// - Throws: `.refused` if the source does not have the only copy, or if the target can still return the current rows.
    package func keepOlderCopy() async throws(AccountMoveError) {
        let (here, there) = try await prepare(isDryRun: false)
        guard here.hasAccount || here.leaving != nil,
            let lost = there.left, lost.number >= here.nextNumber,
            lost.otherInstallation == here.installation
        else {
            throw .refused(
                "--keep-older-copy is not possible: the account \(user) in this database is not an older copy of one that the other database has moved here. Check BOOKPLATE_TARGET_DATABASE_URL: it must lead to the database that the account has left"
            )
        }
        guard lost.isFinal else { throw undelivered(lost, here, there) }
        if let leaving = here.leaving { try Self.returnAccount(user, leaving.id, source) }
        try transaction(on: source) { () throws(PostgresError) in
            var parameters = Parameters.of(user, lost.id, there.installation)
            parameters.append(int32: lost.number)
            try source.query(Self.insertArrival, parameters)
        }
    }

    /// Forgets the account in both databases if neither has it any more, so that its identities can sign in again: one of the databases
    /// was restored from a backup, and more than a day has passed. Can be repeated after an interruption.
    ///
    /// - Throws: `.refused` if one of the databases has the account, expects it, or can still return it, or if a third one may have it.
    package func forget() async throws(AccountMoveError) {
        let (here, there) = try await prepare(isDryRun: false)
        try refuseThirdInstallation(here, there)
        guard here.left != nil || there.left != nil else {
            throw .refused(
                "there is no account to forget: the account \(user) has left neither of the databases"
            )
        }
        try Self.refuseFound(user, [(here, sourceName), (there, targetName)])
        for connection in [source, target] { try Self.forget(user, connection) }
    }

    /// Checks that the account can be moved. Changes nothing, and takes no locks that requests or another run wait for.
    ///
    /// - Returns: The numbers of rows and covers that `run` would move.
    package func rehearse() async throws(AccountMoveError) -> Summary {
        let (here, there) = try await prepare(isDryRun: true)
        guard here.leaving == nil else {
            throw .refused(
                "a move of the account \(user) is in progress: run the command without --dry-run to continue it, or with --undo to end it"
            )
        }
        guard here.hasAccount else { throw try missing(here) }
        try refuseThirdInstallation(here, there)
        try refuseOlderCopy(here, there)
        let move = there.arriving?.id ?? UUID(random: randomBytes(16))
        let account = try account()
        let covers = try covers().count
        let rows = try Self.database { () throws(PostgresError) in
            var arrival = Parameters.of(user, move)
            arrival.append(int32: here.nextNumber)
            account.append(to: &arrival)
            try target.query("SELECT check_arrival($1, $2, $3, $4, $5, $6)", arrival)
            return try source.query("SELECT count_account($1)", .of(user)).int64(0, 0) ?? 0
        }
        return Summary(rows: Int(rows), covers: covers)
    }

    /// Refuses an account that has moved between one of the databases and a third one. After the restore of a backup, none of three
    /// databases could decide which of them has the current account.
    private func refuseThirdInstallation(_ here: Side, _ there: Side) throws(AccountMoveError) {
        let third = (here.moves + there.moves).first {
            ($0.state == .arrived || $0.state == .left)
                && $0.otherInstallation != here.installation
                && $0.otherInstallation != there.installation
        }
        guard let third else { return }
        throw .refused(
            "the account \(user) has moved from or to a third installation (ID \(third.otherInstallation)): an account can move only between two installations, there and back"
        )
    }

    /// Refuses to move an account if one of the databases has an older copy of it, because that database was restored from a backup:
    /// the other one knows a later move.
    private func refuseOlderCopy(_ here: Side, _ there: Side) throws(AccountMoveError) {
        if there.hasAccount, let arrived = here.arrived, arrived.number >= there.nextNumber {
            throw .refused(
                "the other database has an older copy of the account \(user), for example from a backup. To remove it, exchange BOOKPLATE_ADMIN_DATABASE_URL with BOOKPLATE_TARGET_DATABASE_URL, and BOOKPLATE_STORAGE with BOOKPLATE_TARGET_STORAGE, and run the command with --already-arrived. After that, exchange them again, and repeat this move"
            )
        }
        guard let later = there.completed, later.number >= here.nextNumber else { return }
        if later.state == .arrived {
            throw .refused(
                "the account \(user) has arrived in the other database, but this one has it, too. If this one was restored from a backup, run the command with --already-arrived to remove the account from it"
            )
        }
        try refuseUndelivered(later, here, there)
    }

    /// Refuses an account that the target has moved to the source, if the source does not know that move any more: the only current
    /// copy is the parcel in the target.
    private func refuseUndelivered(
        _ left: Move, _ here: Side, _ there: Side
    ) throws(AccountMoveError) {
        guard left.state == .left, left.otherInstallation == here.installation else { return }
        throw undelivered(left, here, there)
    }

    private func undelivered(_ left: Move, _ here: Side, _ there: Side) -> AccountMoveError {
        let start =
            "this database (installation ID \(here.installation)) has an older copy of the account \(user), for example from a backup. "
        if left.isFinal {
            return .refused(
                start
                    + "The current rows were in the other database (\(there.installation)), which has moved them here more than a day ago, so they were deleted and this copy is the only one. To keep it, run the command with --keep-older-copy. The account can move again after that"
            )
        }
        return .refused(
            start
                + "The current rows are in the other database (\(there.installation)), which keeps them for a day after its move. 1. Exchange BOOKPLATE_ADMIN_DATABASE_URL with BOOKPLATE_TARGET_DATABASE_URL, and BOOKPLATE_STORAGE with BOOKPLATE_TARGET_STORAGE, and run the command with --undo. 2. Exchange them again, and run the command with --already-arrived to remove the older copy"
        )
    }

    /// Returns the newest move with which the account has arrived in the target, and which the source does not know because it was
    /// restored from a backup. The account in the source is then an older copy, which can be removed.
    private func lostMove(_ here: Side, _ there: Side) throws(AccountMoveError) -> Move {
        guard let later = there.completed,
            let lost = there.moves.first(where: {
                $0.state == .arrived && $0.otherInstallation == here.installation
                    && $0.number >= here.nextNumber && here.move($0.id) == nil
            })
        else {
            throw .refused(
                "--already-arrived is not possible: the account \(user) has not arrived in the other database by a move that this one no longer knows. Check BOOKPLATE_TARGET_DATABASE_URL: it must lead to the database that has the account"
            )
        }
        try refuseUndelivered(later, here, there)
        return lost
    }

    private func missing(_ here: Side) throws(AccountMoveError) -> AccountMoveError {
        if here.left != nil {
            return .refused(
                "the account \(user) has left this database, but the other one does not have it. If the other one was restored from a backup, run the command with --undo to return the account. More than a day after the move, its rows are deleted: run the command with --forget then, so that its identities can sign in again"
            )
        }
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
            parameters.append(int32: here.nextNumber)
            account.append(to: &parameters)
            try target.query("SELECT expect_account($1, $2, $3, $4, $5, $6, $7)", parameters)
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
        var copied: Set<CoverVersion> = []
        if leaving == nil {
            // Most files are copied while the account is in use.
            copied = try await copy(try covers())
            try onStep(.copiedCovers)
            do throws(AccountMoveError) {
                try close(move, there, number: here.nextNumber)
            } catch {
                if case .refused = error { try cancelArrival(move, from: here) }
                throw error
            }
            try onStep(.closed)
        }
        if leaving?.state != .leaving {
            try await drain(onStep)
            try undoing(move, from: here, ifRefusedBy: "this database cannot pack the account") {
                () throws(PostgresError) in
                try source.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                    try source.query("SELECT pack_account($1, $2)", .of(user, move))
                }
            }
            try onStep(.packed)
        }
        _ = try await copy(try covers().filter { !copied.contains($0) })
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
            let packed = try source.query(Self.countRows, .of(move)).int64(0, 0)
            return try target.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                var parameters = Parameters.of(user, move, here.installation)
                parameters.append(int64: packed)
                let rows = try target.query(
                    "SELECT receive_account($1, $2, $3, $4)", parameters)
                return Int(rows.int64(0, 0) ?? 0)
            }
        }
        try onStep(.arrived)
    }

    private func close(
        _ move: UUID, _ there: Side, number: Int32
    ) throws(AccountMoveError) {
        try transaction(on: source) { () throws(PostgresError) in
            var parameters = Parameters.of(user, move, there.installation)
            parameters.append(int32: number)
            try source.query("SELECT close_account($1, $2, $3, $4)", parameters)
        }
    }

    /// Waits for the end of the requests that began before the account was closed.
    private func drain(
        _ onStep: (Step) throws(AccountMoveError) -> Void
    ) async throws(AccountMoveError) {
        for _ in 0..<drainSeconds {
            try await Self.sleep(.seconds(1))
            if isInterrupted() { throw .interrupted }
        }
        try onStep(.drained)
    }

    private func drainAndPack(
        _ move: UUID, _ onStep: (Step) throws(AccountMoveError) -> Void
    ) async throws(AccountMoveError) {
        try await drain(onStep)
        try transaction(on: source) { () throws(PostgresError) in
            try source.query("SELECT pack_account($1, $2)", .of(user, move))
        }
        try onStep(.packed)
    }

    private func finish(_ move: UUID) throws(AccountMoveError) {
        try transaction(on: source) { () throws(PostgresError) in
            var parameters = Parameters.of(user, move)
            parameters.append(text: newURL)
            try source.query("SELECT finish_leaving($1, $2, $3)", parameters)
        }
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
                "\(refusal): \(server.message)" + (server.detail.map { " (\($0))" } ?? "")
                    + ". The move was undone, and the account is in use again in this database")
        }
    }

    private func undo(_ move: UUID, from here: Side) throws(AccountMoveError) {
        try cancelArrival(move, from: here)
        try Self.returnAccount(user, move, source)
    }

    static func returnAccount(
        _ user: UUID, _ move: UUID, _ source: AdminConnection
    ) throws(AccountMoveError) {
        try database { () throws(PostgresError) in
            _ = try source.query(analyzeParcels)
            _ = try source.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
                try source.query("SELECT return_account($1, $2)", .of(user, move))
            }
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

    static func database<Value>(
        _ work: () throws(PostgresError) -> Value
    ) throws(AccountMoveError) -> Value {
        try mappingError(AccountMoveError.init, work)
    }

    private func transaction(
        on connection: AdminConnection, _ work: () throws(PostgresError) -> Void
    ) throws(AccountMoveError) {
        try Self.database { () throws(PostgresError) in
            try connection.inTransaction(mapping: { $0 }, work)
        }
    }

    static func sleep(_ time: Duration) async throws(AccountMoveError) {
        do {
            try await Task.sleep(for: time)
        } catch {
            throw .refused("the move was cancelled: run the same command again to continue")
        }
    }

    // MARK: - Statements

    /// The source may know the move as cancelled, from an undo that was not completed.
    private static let insertArrival = """
        INSERT INTO account_moves AS m (move_id, user_id, tenant_id, state, number, other_installation, ended_at)
        SELECT $2, u.id, u.tenant_id, 'ARRIVED', $4, $3, now()
        FROM users u
        WHERE u.id = $1
        ON CONFLICT (move_id) DO UPDATE
        SET state = 'ARRIVED', number = excluded.number
        WHERE m.user_id = excluded.user_id AND m.state = 'CANCELLED'
        """
    static let analyzeParcels = "ANALYZE account_parcels"
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
    static let countRows = """
        SELECT count(*)
        FROM account_parcels
        WHERE move_id = $1 AND table_name <> 'changes'
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

    init(_ error: StorageError, isTarget: Bool) {
        switch error {
        case .foreign: self = .foreignStore(isTarget: isTarget)
        case .store(let error): self = .store(error)
        case .database(let error): self = .database(error)
        case .images, .cancelled, .copying: self = .refused(error.message)
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
