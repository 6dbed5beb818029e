import ArgumentParser
import Bookplate
import Config
import GraphQL
import Identity

/// `bookplate-admin keys`: manages the keys that sign access tokens.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the keys that sign access tokens.", subcommands: [Rotate.self])

    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a new signing key, and the key file if it does not exist.",
            discussion: """
                The path of the key file is BOOKPLATE_SESSION_KEYS. Tokens that were signed with the kept keys remain valid \
                until they expire, at most 15 minutes later. Running servers reload the file within a second. If each server \
                has its own copy of the file, copy the new file to all of them.

                Examples:
                  BOOKPLATE_SESSION_KEYS=/etc/bookplate/session-keys bookplate-admin keys rotate
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Number of older keys to keep.")
        var keep = 2
        @Flag(help: "Print the result without changing the file.")
        var dryRun = false

        func validate() throws {
            guard (1...30).contains(keep) else {
                throw ValidationError("--keep must be from 1 to 30.")
            }
        }

        func run() throws {
            let file = try loadConfiguration().sessionKeysFile()
            do throws(SessionKeysError) {
                let keys = try SessionKeys.rotate(
                    file: file, keeping: keep, isDryRun: dryRun)
                output.print(
                    .object([
                        .init("file", .string(file)),
                        .init("signingKeys", .list(keys.signingKeys.map { .string($0.id) })),
                        .init("dryRun", .boolean(dryRun)),
                    ]),
                    lines: [
                        "\(file): \(dryRun ? "would have" : "has") "
                            + "\(keys.signingKeys.count) signing key\(keys.signingKeys.count == 1 ? "" : "s")"
                    ])
            } catch {
                throw Failure(
                    "the session keys in \(file) cannot be used: \(error)", .configuration)
            }
        }
    }
}
