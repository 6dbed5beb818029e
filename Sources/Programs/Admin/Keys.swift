import ArgumentParser
import Config
import Glibc
import GraphQL
import Identity
import Operations
import Requests

/// `bookplate-admin keys`: manages the keys that sign access tokens.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the keys that sign access tokens.", subcommands: [List.self, Rotate.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the signing keys, without their secrets.",
            discussion: """
                The first key signs new tokens. The others only verify tokens that they have signed before.

                Examples:
                  bookplate-admin keys list
                  bookplate-admin keys list --json
                """)

        @OptionGroup var output: OutputOptions

        func run() throws {
            let file = try loadConfiguration().sessionKeysFile()
            let keys: SessionKeys
            do throws(SessionKeysError) {
                keys = try SessionKeys(file: file)
            } catch {
                throw Failure(
                    "the session keys in \(file) cannot be used: \(error). Run bookplate-admin doctor, which says what to do",
                    .configuration)
            }
            let rows = keys.signingKeys.enumerated().map { index, key in
                (
                    id: key.id, createdAt: Instant(microseconds: key.createdAt * 1_000_000).text,
                    use: index == 0 ? "signs" : "verifies"
                )
            }
            output.print(
                .list(
                    rows.map {
                        .object([
                            .init("id", .string($0.id)), .init("createdAt", .string($0.createdAt)),
                            .init("use", .string($0.use)),
                        ])
                    }),
                Table(["id", "created", "use"], rows.map { [$0.id, $0.createdAt, $0.use] }))
        }
    }

    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a new signing key, and the key file if it does not exist.",
            discussion: """
                The path of the key file is BOOKPLATE_SESSION_KEYS. Tokens that were signed with the kept keys remain valid \
                until they expire, at most 15 minutes later. Running servers reload the file within a second. If each server \
                has its own copy of the file, copy the new file to all of them. Without the variable, which is possible only in \
                development, the command changes the file of the server that runs in the current folder.

                Examples:
                  bookplate-admin keys rotate
                  bookplate-admin keys rotate --keep 1 --dry-run
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
            let configuration = try loadConfiguration()
            let file = try configuration.sessionKeysFile()
            guard configuration.identity.sessionKeysFile != nil || access(file, F_OK) == 0 else {
                throw Failure(
                    """
                    BOOKPLATE_SESSION_KEYS is not set, and there is no \(file) in this folder: set the variable, or run the \
                    command in the folder of the development server
                    """, .configuration)
            }
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
                    "the session keys in \(file) cannot be used: \(error). Run bookplate-admin doctor, which says what to do",
                    .configuration)
            }
        }
    }
}
