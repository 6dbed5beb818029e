import ArgumentParser
import Basics
import Bookplate
import GraphQL

/// `bookplate-admin schema`: prints and compares the GraphQL schema, and shows how it is used.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract:
            "Print the GraphQL schema, compare it with an older one, or show how apps use it.",
        subcommands: [Print.self, Check.self, Usage.self])

    struct Print: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the schema of the server as SDL.",
            discussion: "Examples:\n  bookplate-admin schema print > schema.graphql")

        @OptionGroup var output: OutputOptions

        func run() throws {
            let text = printSchema(try SchemaCommand.served())
            output.print(
                .object([.init("sdl", .string(text))]),
                lines: [text.hasSuffix("\n") ? String(text.dropLast()) : text])
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Find changes that affect clients of an older schema.",
            discussion: """
                Compares the schema of the server with an older SDL, which published apps were written for. After a breaking \
                change, some of their operations fail. After a dangerous change, they may behave differently. Exits with 2 if \
                there is a breaking change. With --usage, each breaking change shows the last use of what it affects in the \
                database's counts (bookplate-admin schema usage), and only changes of used elements count.

                Examples:
                  bookplate-admin schema check released.graphql
                  git show v1.0:schema.graphql | bookplate-admin schema check - --json
                  bookplate-admin schema check released.graphql --usage --days 180
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(
            help: "The path of the older SDL, or - for standard input.",
            completion: .file(extensions: ["graphql"]))
        var file: String
        @Flag(help: "Show whether apps used what a breaking change affects.")
        var usage = false
        @Option(help: "The number of days of usage.")
        var days = 90

        func validate() throws {
            guard days > 0 else { throw ValidationError("--days must be at least 1.") }
        }

        func run() throws {
            let text = try text()
            let old = try SchemaCommand.schema(file) { () throws(RequestErrors) in
                try buildSchema(Source(text))
            }
            let changes = compareSchemas(old, try SchemaCommand.served())
            let ordered = SchemaChange.Severity.allCases.flatMap { severity in
                changes.filter { $0.severity == severity }
            }
            let counts = SchemaChange.Severity.allCases.map { severity in
                (severity.rawValue, changes.count { $0.severity == severity })
            }
            let evidence =
                usage
                ? try UsageEvidence(
                    of: old, days: days, try connect(try loadConfiguration())) : nil
            let results = ordered.map { Result(change: $0, finding: evidence?.finding(about: $0)) }
            output.print(
                .object(
                    counts.map { .init($0.0, .int($0.1)) } + [
                        .init("changes", .list(results.map(\.json)))
                    ]),
                lines: results.map(\.line)
                    + (evidence?.coversAllDays == false
                        ? ["Usage was counted for fewer than \(days) days."] : [])
                    + [counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")])
            if results.contains(where: \.isProblem) { throw ExitStatus.found.code }
        }

        private struct Result {
            let change: SchemaChange
            /// Nil if the usage is not known.
            let finding: UsageEvidence.Finding?

            var isProblem: Bool { change.severity == .breaking && finding != .unused }

            var line: String {
                let text = "\(change.severity.rawValue): \(change.coordinate): \(change.message)"
                return switch finding {
                case .used(let on, let client): "\(text) Last used on \(on) by \(client)."
                case .unused: "\(text) Not used."
                case nil: text
                }
            }

            var json: Value {
                var members: [Value.Member] = [
                    .init("severity", .string(change.severity.rawValue)),
                    .init("coordinate", .string("\(change.coordinate)")),
                    .init("message", .string(change.message)),
                ]
                switch finding {
                case .used(let on, let client):
                    members += [
                        .init("lastUsedOn", .string(on)), .init("lastUsedBy", .string(client)),
                    ]
                case .unused: members += [.init("lastUsedOn", .null), .init("lastUsedBy", .null)]
                case nil: break
                }
                return .object(members)
            }
        }

        private func text() throws -> String {
            let bytes = try file == "-" ? readStandardInput() : readFile(file)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Failure("\(file) is not UTF-8: convert it to UTF-8")
            }
            return text
        }
    }

    static func served() throws(Failure) -> Schema {
        try schema("the server's schema") { () throws(RequestErrors) in
            try BookplateSchema(sdl: BookplateSchema.text).schema
        }
    }

    private static func schema(
        _ name: String, _ make: () throws(RequestErrors) -> Schema
    ) throws(Failure) -> Schema {
        do throws(RequestErrors) {
            return try make()
        } catch {
            throw Failure(error.errors.map { "\(name): \($0.message)" }.joined(separator: "\n"))
        }
    }
}
