import ArgumentParser
import Bookplate
import FoundationEssentials
import GraphQL

/// `bookplate-admin schema`: prints and compares the GraphQL schema.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the GraphQL schema, or compare it with an older one.",
        subcommands: [Print.self, Check.self])

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
                there is a breaking change.

                Examples:
                  bookplate-admin schema check released.graphql
                  git show v1.0:schema.graphql | bookplate-admin schema check - --json
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The path of the older SDL, or - for standard input.")
        var file: String

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
            output.print(
                .object(
                    counts.map { .init($0.0, .int($0.1)) } + [
                        .init("changes", .list(ordered.map(Self.json)))
                    ]),
                lines: ordered.map { "\($0.severity.rawValue): \($0.coordinate): \($0.message)" }
                    + [counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")])
            if changes.contains(where: { $0.severity == .breaking }) {
                throw ExitStatus.found.code
            }
        }

        private static func json(_ change: SchemaChange) -> Value {
            .object([
                .init("severity", .string(change.severity.rawValue)),
                .init("coordinate", .string("\(change.coordinate)")),
                .init("message", .string(change.message)),
            ])
        }

        private func text() throws -> String {
            let path = file == "-" ? "/dev/stdin" : file
            guard let data = try? Data(contentsOf: URL(filePath: path)),
                let text = String(validating: data, as: UTF8.self)
            else { throw Failure("\(file) cannot be read as UTF-8 text") }
            return text
        }
    }

    private static func served() throws(Failure) -> Schema {
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
