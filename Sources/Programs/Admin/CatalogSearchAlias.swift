import ArgumentParser
import GraphQL
import Operations
import Postgres

extension Catalog {
    /// `bookplate-admin catalog search-alias`: manages the aliases of the search.
    struct SearchAlias: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search-alias",
            abstract:
                "Manage the short names of books and series that searches also understand, such as “lotr”.",
            discussion: "Running servers apply changes at once.",
            subcommands: [Add.self, List.self, Remove.self])

        struct Add: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Add an alias, or give it another meaning.",
                discussion: """
                    A search for the alias also finds the books that a search for its meaning finds. Case, accents, and \
                    punctuation do not matter. An alias has at most three words.

                    Examples:
                      bookplate-admin catalog search-alias add lotr "The Lord of the Rings"
                    """)

            @OptionGroup var output: OutputOptions
            @ArgumentParser.Argument(help: "The alias, of one to three words.")
            var alias: String
            @ArgumentParser.Argument(help: "The title or the series, of at most 100 characters.")
            var meaning: String
            @OptionGroup var dryRunOptions: DryRunOptions

            func run() throws {
                let connection = try connect(try loadConfiguration())
                let attempt = try dryRunOptions.attempt(connection) {
                    try SearchAliases(connection).add(alias, meaning: meaning)
                }
                guard let added = attempt.result else {
                    throw Failure(
                        """
                        “\(alias)” does not have one to three words of at most 60 letters, or “\(meaning)” has no letters and \
                        digits, or more than 100 characters
                        """)
                }
                output.print(
                    .object(members(added) + attempt.members),
                    lines: [
                        "\(attempt.verb("added", "add")) the alias “\(added.alias)” for “\(added.meaning)”"
                    ] + attempt.lines)
            }
        }

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "List the aliases.",
                discussion: "Examples:\n  bookplate-admin catalog search-alias list --json")

            @OptionGroup var output: OutputOptions

            func run() throws {
                let aliases = try SearchAliases(try connect(try loadConfiguration())).all()
                output.print(
                    .list(aliases.map { .object(members($0)) }),
                    Table(["alias", "meaning"], aliases.map { [$0.alias, $0.meaning] }))
            }
        }

        struct Remove: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Remove an alias.",
                discussion: "Examples:\n  bookplate-admin catalog search-alias remove lotr")

            @OptionGroup var output: OutputOptions
            @ArgumentParser.Argument(help: "The alias.")
            var alias: String
            @OptionGroup var dryRunOptions: DryRunOptions

            func run() throws {
                let connection = try connect(try loadConfiguration())
                let attempt = try dryRunOptions.attempt(connection) {
                    try SearchAliases(connection).remove(alias)
                }
                guard let removed = attempt.result else {
                    throw Failure(
                        "there is no alias “\(alias)”: see bookplate-admin catalog search-alias list"
                    )
                }
                output.print(
                    .object(members(removed) + attempt.members),
                    lines: ["\(attempt.verb("removed", "remove")) the alias “\(removed.alias)”"]
                        + attempt.lines)
            }
        }

        static func members(_ alias: SearchAliases.Alias) -> [Value.Member] {
            [.init("alias", .string(alias.alias)), .init("meaning", .string(alias.meaning))]
        }
    }
}
