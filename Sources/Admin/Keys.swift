import ArgumentParser
import Bookplate
import Config
import GraphQL
import Identity

/// `bookplate-admin keys`: what signs the access tokens.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The keys that sign access tokens.", subcommands: [Rotate.self])

    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a new signing key, and the file where there is none.",
            discussion: """
                The file is BOOKPLATE_SESSION_KEYS. Tokens of the kept keys stay good until they run out, which
                takes a quarter of an hour. Running servers read the file again within a second; where each has
                a file of its own, bring the new one to all of them.

                Examples:
                  BOOKPLATE_SESSION_KEYS=/etc/bookplate/session-keys bookplate-admin keys rotate
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "How many of the older keys stay.")
        var keep = 2
        @Flag(help: "Say what would be done, and do nothing.")
        var dryRun = false

        func validate() throws {
            guard (1...30).contains(keep) else { throw ValidationError("--keep is 1 to 30.") }
        }

        func run() throws {
            let file = try loadConfiguration().sessionKeysFile()
            do throws(SessionKeysError) {
                let keys = try rotated(file)
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

        private func rotated(_ file: String) throws(SessionKeysError) -> SessionKeys {
            let old: SessionKeys
            do throws(SessionKeysError) {
                old = try SessionKeys(file: file)
            } catch {
                guard case .system(errno: 2) = error else { throw error }
                return dryRun
                    ? SessionKeys.generate() : try SessionKeys(file: file, makesMissing: true)
            }
            let keys = old.rotated(keeping: keep)
            if !dryRun { try keys.replace(file: file) }
            return keys
        }
    }
}
