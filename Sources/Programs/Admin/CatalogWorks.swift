import ArgumentParser
import GraphQL
import Operations
import Postgres

/// The commands of `bookplate-admin catalog` that correct which editions are one work.
extension Catalog {
    struct MergeWorks: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Merge two works.",
            discussion: """
                The works are named by their ids, or by the ids of their cards. Imports do not change the decision, and \
                `bookplate-admin catalog undo-works` undoes it. Readers keep all their books, swipes, and reviews. The ids of both \
                works stay valid.

                Examples:
                  bookplate-admin catalog merge-works 3f0f6b0e-6f5c-8b53-9d0a-0f1f3c8a2b11 \\
                    9a4c7d52-1f0b-8c3e-b7aa-51d2e6f4c010
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The id of a work or of a card.")
        var work: String
        @ArgumentParser.Argument(help: "The id of the other work, or of a card.")
        var other: String
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let (one, two) = (try id(work, "work or card"), try id(other, "work or card"))
            let connection = try connect(try loadConfiguration())
            let attempt = try dryRunOptions.attempt(connection) {
                try WorkDecisions(connection).merge(one, two)
            }
            guard let merge = attempt.result else {
                // Merging a work with itself changes nothing, and has no result if the work does not exist.
                let missing = try (one == two ? [one] : [one, two]).filter {
                    try WorkDecisions(connection).merge($0, $0) == nil
                }
                let ids = missing.map(\.description).joined(separator: " or ")
                throw Failure(
                    "no work or card has the ID \(ids): use IDs of works or cards that the API has returned"
                )
            }
            output.print(
                .object(
                    [
                        .init("decision", merge.decision.map { .int($0) } ?? .null),
                        .init("work", .string(merge.work.description)),
                        .init(
                            "editions", .list(merge.editions.map { .string($0.description) })),
                    ] + attempt.members),
                lines: [
                    merge.decision.map {
                        "\(attempt.verb("merged", "merge")) (decision \($0)): "
                            + "the work \(merge.work) with \(merge.editions.count) editions"
                    } ?? "nothing to do: both are the work \(merge.work)"
                ] + attempt.lines)
        }
    }

    struct SplitWorks: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Split editions of a work off into a work of their own.",
            discussion: """
                The editions are named by the ids of their cards. From then on they belong together, whatever their titles and their \
                ids at sources are. Imports do not change the decision, and `bookplate-admin catalog undo-works` undoes it. Readers keep \
                all their books, swipes, and reviews.

                Examples:
                  bookplate-admin catalog split-works 5e2c0f4a-3b1d-4c6e-8f7a-9b0c1d2e3f40
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The ids of cards of one work.")
        var cards: [String]
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let ids = try cards.map { try id($0, "card") }
            let connection = try connect(try loadConfiguration())
            let attempt = try dryRunOptions.attempt(connection) {
                try WorkDecisions(connection).split(ids)
            }
            guard let split = attempt.result else {
                throw Failure(
                    "the IDs must be those of cards of one work, and the work must have other cards: query the cards of the work with the API"
                )
            }
            output.print(
                .object(
                    [
                        .init("decision", .int(split.decision)),
                        .init("work", .string(split.work.description)),
                        .init("rest", .string(split.rest.description)),
                    ] + attempt.members),
                lines: [
                    "\(attempt.verb("split", "split")) (decision \(split.decision)): the work \(split.work), "
                        + "and the work \(split.rest) with the other editions"
                ] + attempt.lines)
        }
    }

    struct UndoWorks: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Undo a decision of merge-works or split-works.",
            discussion: """
                The works are computed again as if the decision had never been made. Later decisions stay. The decision stays in the list \
                of `bookplate-admin catalog works`.

                Examples:
                  bookplate-admin catalog undo-works 3
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The number of the decision.")
        var decision: Int
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let attempt = try dryRunOptions.attempt(connection) {
                try WorkDecisions(connection).undo(decision)
            }
            guard let count = attempt.result else {
                throw Failure(
                    """
                    there is no decision \(decision), or it was undone already: see bookplate-admin catalog works
                    """)
            }
            output.print(
                .object(
                    [.init("decision", .int(decision)), .init("editions", .int(count))]
                        + attempt.members),
                lines: [
                    "\(attempt.verb("undone", "undo")): decision \(decision) about \(count) editions"
                ] + attempt.lines)
        }
    }

    struct Works: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the decisions of merge-works and split-works, the newest first.",
            discussion: """
                Examples:
                  bookplate-admin catalog works --json
                """)

        @OptionGroup var output: OutputOptions

        func run() throws {
            let decisions = try WorkDecisions(try connect(try loadConfiguration())).all()
            output.print(
                .list(
                    decisions.map { decision in
                        .object([
                            .init("decision", .int(decision.id)),
                            .init("kind", .string(decision.kind)),
                            .init(
                                "editions",
                                .list(decision.editions.map { .string($0.description) })),
                            .init("titles", .list(decision.titles.map { .string($0) })),
                            .init("decidedAt", .string(decision.decidedAtText)),
                            .init(
                                "undoneAt", decision.undoneAtText.map { .string($0) } ?? .null),
                        ])
                    }),
                Table(
                    ["decision", "kind", "decided", "undone", "titles"],
                    decisions.map { decision in
                        [
                            "\(decision.id)", decision.kind, decision.decidedAtText,
                            decision.undoneAtText.map { "undone \($0)" } ?? "",
                            decision.titles.joined(separator: " / "),
                        ]
                    }))
        }
    }
}

/// Returns an argument as an id.
///
/// - Parameter kind: The kind of object, for the message of the error.
private func id(_ text: String, _ kind: String) throws(Failure) -> UUID {
    guard let id = UUID(text) else {
        throw Failure("'\(text)' is not a \(kind) ID: it must be a UUID", .usage)
    }
    return id
}
