import ArgumentParser
import Bookplate
import Config
import GraphQL
import Postgres

extension Account {
    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move an account with all its data to another database.",
            discussion: """
                The other database is at BOOKPLATE_TARGET_DATABASE_URL, with the role that owns its tables, and its covers are \
                at BOOKPLATE_TARGET_STORAGE. Both databases need the schema of this program, and their servers the same file of \
                session keys. During the move, requests with this account get SERVICE_UNAVAILABLE. Afterward the account's \
                sessions and tokens are valid in the other database, and this one refuses its sign-ins. Its devices fetch \
                their libraries again.

                A move that was interrupted continues when you run the same command again. With --undo it ends, and the \
                account stays in this database.

                Examples:
                  bookplate-admin account move 0198c0de-0000-7000-8000-000000000001 --dry-run
                  bookplate-admin account move 0198c0de-0000-7000-8000-000000000001 \\
                    --yes --json
                  bookplate-admin account move 0198c0de-0000-7000-8000-000000000001 --undo
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument
        @Flag(help: "End a move that was interrupted before the account arrived.")
        var undo = false
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
            guard !undo || !dryRun else {
                throw ValidationError("--undo cannot be combined with --dry-run.")
            }
        }

        func run() async throws {
            let id = try account.id
            let configuration = try loadConfiguration()
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
                drainSeconds: drain)
            if undo {
                try await move.undo()
                output.print(
                    .object([
                        .init("id", .string(id.description)), .init("undone", .boolean(true)),
                    ]), lines: ["the account \(id) stays in this database"])
                return
            }
            let summary: AccountMove.Summary
            if dryRun {
                summary = try await move.rehearse()
            } else {
                try confirmation.confirm(
                    "This moves the account to another database.", byTyping: id.description)
                Interruption.watch()
                summary = try await run(move)
            }
            output.print(
                .object([
                    .init("id", .string(id.description)),
                    .init("rows", .int(summary.rows)), .init("covers", .int(summary.covers)),
                    .init("damagedCovers", .int(summary.damagedCovers)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    "\(dryRun ? "would move" : "moved") \(id): \(summary.rows) rows, \(summary.covers) covers",
                    summary.damagedCovers == 0
                        ? nil
                        : "\(summary.damagedCovers) covers lack a file, because the store of this database lacks it or cannot read it: repair it within a day, and run the same command again to copy it",
                ].compactMap { $0 })
        }

        /// Runs the move, and prints each step. After an error, it prints how to continue, because the account may be unusable.
        private func run(
            _ move: AccountMove
        ) async throws(AccountMoveError) -> AccountMove.Summary {
            do throws(AccountMoveError) {
                return try await move.run { step throws(AccountMoveError) in
                    printError(step.rawValue)
                    do throws(Failure) {
                        try Interruption.check()
                    } catch {
                        throw .interrupted
                    }
                }
            } catch {
                switch error {
                case .database, .store:
                    printError(
                        "the move is not complete: run the same command again to continue it, or with --undo to end it"
                    )
                case .refused, .foreignStore, .interrupted: break
                }
                throw error
            }
        }
    }
}
