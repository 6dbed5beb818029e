import ArgumentParser
import Basics
import Bookplate
import Config
import GraphQL
import Postgres

extension Account {
    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move an account with its library, sessions, and covers to another database.",
            discussion: """
                The other database is at BOOKPLATE_TARGET_DATABASE_URL, with the role that owns its tables, and its covers are \
                at BOOKPLATE_TARGET_STORAGE. Both databases need the schema of this program, and their servers the same file of \
                session keys. During the move, requests with this account get SERVICE_UNAVAILABLE. Afterward the account's \
                sessions and tokens are valid in the other database, and requests to servers of this one get ACCOUNT_MOVED. Its \
                devices fetch their libraries again.

                A move that was interrupted continues when you run the same command again. With --undo it ends, and the \
                account stays in this database.

                Examples:
                  bookplate-admin account move 0198c0de-0000-7000-8000-000000000001 --dry-run
                  bookplate-admin account move 0198c0de-0000-7000-8000-000000000001 \\
                    --new-url https://books2.example.com --yes --json
                  bookplate-admin account move 0198c0de-0000-7000-8000-000000000001 --undo
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument
        @Option(
            name: .customLong("new-url"),
            help: """
                The address of the other database's server, such as https://books2.example.com. Servers of this database \
                return it with ACCOUNT_MOVED.
                """)
        var newURL: String?
        @Flag(
            help:
                "End a move before the account has arrived, or after the other database has lost it."
        )
        var undo = false
        @Option(
            help: """
                With --undo or --forget: the installation ID of the other database, if it is lost for good. It is not contacted, \
                and must never be used again.
                """)
        var targetLost: String?
        @Option(
            help: """
                In the database where the account was to arrive: the installation ID of the one that it was leaving, if that is \
                lost for good. It is not contacted, and must never be used again. The account arrives if its rows were copied. With \
                --undo, the move ends instead.
                """)
        var sourceLost: String?
        @Flag(
            help:
                "With --undo and --source-lost: delete a complete copy of the account, although it may be the last one."
        )
        var deleteCopy = false
        @Flag(
            help: """
                Remove an account that has arrived in the other database before, after this one was restored from a backup.
                """)
        var alreadyArrived = false
        @Flag(
            help: """
                Keep an older copy of an account in this database, after it was restored from a backup, if the other database has \
                moved the account here more than a day ago and so has deleted its rows.
                """)
        var keepOlderCopy = false
        @Flag(
            help: """
                Forget an account that neither database has any more, because one of them was restored from a backup more than a day \
                after a move. Its identities can then sign in again, as a new account.
                """)
        var forget = false
        @Option(
            help: """
                The seconds to wait for the end of requests that began before the move. The server ends each of them after \
                at most 30 seconds.
                """)
        var drain = 30
        @Flag(
            help:
                "Check whether the account can be moved, and print the number of its rows; change nothing."
        )
        var dryRun = false
        @OptionGroup var confirmation: ConfirmationOptions

        func validate() throws {
            guard (0...3600).contains(drain) else {
                throw ValidationError("--drain must be from 0 to 3600.")
            }
            let modes = [undo, dryRun, alreadyArrived, keepOlderCopy, forget]
            guard modes.count(where: { $0 }) <= 1 else {
                throw ValidationError(
                    "--undo, --dry-run, --already-arrived, --keep-older-copy, and --forget cannot be combined."
                )
            }
            if let newURL {
                let isURL = newURL.hasPrefix("https://") && newURL.count > 8
                guard isURL, newURL.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                    throw ValidationError(
                        "--new-url must be a URL that starts with https://, but is '\(newURL)'.")
                }
            }
            for (name, value) in [("--target-lost", targetLost), ("--source-lost", sourceLost)] {
                guard let value else { continue }
                guard UUID(value) != nil else {
                    throw ValidationError("\(name) must be an installation ID, but is '\(value)'.")
                }
            }
            guard targetLost == nil || sourceLost == nil else {
                throw ValidationError("--target-lost and --source-lost cannot be combined.")
            }
            guard targetLost == nil || undo || forget else {
                throw ValidationError("--target-lost needs --undo or --forget.")
            }
            guard sourceLost == nil || !(dryRun || alreadyArrived || keepOlderCopy || forget) else {
                throw ValidationError("--source-lost can be combined only with --undo.")
            }
            guard !deleteCopy || (undo && sourceLost != nil) else {
                throw ValidationError("--delete-copy needs --undo and --source-lost.")
            }
        }

        func run() async throws {
            let id = try account.id
            let configuration = try loadConfiguration()
            if let lost = targetLost.flatMap({ UUID($0) }) {
                return try await
                    (forget
                    ? self.forget(id, lost: lost, configuration)
                    : undo(id, lost: lost, configuration))
            }
            if let lost = sourceLost.flatMap({ UUID($0) }) {
                return try await
                    (undo
                    ? cancel(id, lost: lost, configuration)
                    : receive(id, lost: lost, configuration))
            }
            guard let targetURL = configuration.database.targetURL else {
                throw ConfigError(
                    "BOOKPLATE_TARGET_DATABASE_URL",
                    "is not set: set it to the address of the other database, with the role that owns its tables"
                )
            }
            guard let targetStorage = configuration.targetStorage else {
                throw ConfigError(
                    "BOOKPLATE_TARGET_STORAGE",
                    "is not set: set it to the BOOKPLATE_STORAGE of the other database's servers")
            }
            let target = try AdminConnection(targetURL)
            try AuditLog.setOperator(operatorName(), target)
            let move = AccountMove(
                of: id, from: try connect(configuration), to: target,
                sourceStore: try Storage.open(configuration),
                targetStore: try Storage.open(
                    targetStorage, "BOOKPLATE_TARGET_STORAGE", databaseURL: targetURL),
                drainSeconds: drain, newURL: newURL,
                isInterrupted: { (try? Interruption.check()) == nil })
            if undo {
                try await move.undo()
                return printUndone(id)
            }
            if keepOlderCopy {
                try confirmation.confirm(
                    "This keeps the older copy of the account, which is the only one.",
                    byTyping: id.description)
                try await move.keepOlderCopy()
                return output.print(
                    .object([.init("id", .string(id.description)), .init("kept", .boolean(true))]),
                    lines: ["the account \(id) is in this database"])
            }
            if forget {
                try confirmation.confirm(
                    "This forgets the account, so that its identities can sign in again, as a new account.",
                    byTyping: id.description)
                try await move.forget()
                return printForgotten(id)
            }
            let summary: AccountMove.Summary
            if dryRun {
                summary = try await move.rehearse()
            } else {
                try confirmation.confirm(
                    alreadyArrived
                        ? "This removes the account from this database."
                        : "This moves the account to another database.",
                    byTyping: id.description)
                Interruption.watch()
                summary = try await run(move)
            }
            output.print(
                .object([
                    .init("id", .string(id.description)),
                    .init("rows", .int(summary.rows)), .init("covers", .int(summary.covers)),
                    .init("damagedCovers", .int(summary.damagedCovers)),
                    .init("deleted", .boolean(summary.isDeleted)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: lines(id, summary))
        }

        private func lines(_ id: UUID, _ summary: AccountMove.Summary) -> [String] {
            if summary.isDeleted {
                return [
                    "the account \(id) was deleted in the other database: its identities can sign in here again"
                ]
            }
            var lines = [
                "\(dryRun ? "would move" : "moved") \(id): \(summary.rows) rows, \(summary.covers) covers"
            ]
            if summary.damagedCovers > 0 {
                lines.append(
                    "\(summary.damagedCovers) covers lack a file, because the store of this database lacks it or cannot read it: repair it within a day, and run the same command again to copy it"
                )
            }
            return lines
        }

        /// Runs the move, and prints each step. After an error, it prints how to continue, because the account may be unusable.
        private func run(
            _ move: AccountMove
        ) async throws(AccountMoveError) -> AccountMove.Summary {
            do throws(AccountMoveError) {
                return try await move.run(hasArrived: alreadyArrived) {
                    step throws(AccountMoveError) in
                    printError(step.rawValue)
                    do throws(Failure) {
                        try Interruption.check()
                    } catch {
                        throw .interrupted
                    }
                }
            } catch {
                switch error {
                case .database, .store, .interrupted:
                    printError(
                        "the move is not complete: run the same command again to continue it, or with --undo to end it"
                    )
                case .refused, .foreignStore: break
                }
                throw error
            }
        }

        /// Returns the account without the other database, which must not have it.
        private func undo(
            _ id: UUID, lost: UUID, _ configuration: Configuration
        ) async throws {
            try refuseReachable(lost, "without --target-lost", configuration)
            try confirmation.confirm(
                "This returns the account, although the other database may have it. Never use that database again.",
                byTyping: id.description)
            try await AccountMove.undo(id, lost: lost, try connect(configuration))
            printUndone(id)
        }

        /// Forgets the account without the other database, which must not have it.
        private func forget(
            _ id: UUID, lost: UUID, _ configuration: Configuration
        ) async throws {
            try refuseReachable(lost, "without --target-lost", configuration)
            try confirmation.confirm(
                "This forgets the account, although the other database may have it. Never use that database again.",
                byTyping: id.description)
            try await AccountMove.forget(id, lost: lost, try connect(configuration))
            printForgotten(id)
        }

        private func printForgotten(_ id: UUID) {
            output.print(
                .object([
                    .init("id", .string(id.description)), .init("forgotten", .boolean(true)),
                ]), lines: ["the account \(id) is forgotten: its identities can sign in again"])
        }

        /// Ends the move of an account to this database without the other one.
        private func cancel(
            _ id: UUID, lost: UUID, _ configuration: Configuration
        ) async throws {
            try refuseReachable(lost, "there without --source-lost", configuration)
            try confirmation.confirm(
                deleteCopy
                    ? "This deletes the copy of the account, which may be the last one. Never use the other database again."
                    : "This ends the move to this database. Never use the other database again.",
                byTyping: id.description)
            try await AccountMove.cancel(
                id, lost: lost, deletesCopy: deleteCopy, try connect(configuration))
            printUndone(id, "the account \(id) is not expected in this database any more")
        }

        /// Lets the account arrive in this database without the other one.
        private func receive(
            _ id: UUID, lost: UUID, _ configuration: Configuration
        ) async throws {
            try refuseReachable(lost, "there without --source-lost", configuration)
            try confirmation.confirm(
                "This uses the account in this database. Never use the other database again.",
                byTyping: id.description)
            let rows = try await AccountMove.receive(id, lost: lost, try connect(configuration))
            output.print(
                .object([.init("id", .string(id.description)), .init("rows", .int(rows))]),
                lines: ["the account \(id) has arrived in this database: \(rows) rows"])
        }

        private func refuseReachable(
            _ lost: UUID, _ advice: String, _ configuration: Configuration
        ) throws {
            guard let url = configuration.database.targetURL, let other = try? AdminConnection(url),
                (try? AccountMove.installation(other)) == lost
            else { return }
            throw Failure(
                "the database with the installation ID \(lost) can be reached: run the command \(advice)"
            )
        }

        private func printUndone(_ id: UUID, _ line: String? = nil) {
            output.print(
                .object([
                    .init("id", .string(id.description)), .init("undone", .boolean(true)),
                ]), lines: [line ?? "the account \(id) stays in this database"])
        }
    }
}
