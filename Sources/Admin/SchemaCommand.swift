import ArgumentParser
import Bookplate
import GraphQL

/// `bookplate-admin schema`: what clients can ask.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "What clients can ask.", subcommands: [Print.self])

    struct Print: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the schema that the server serves, as SDL.",
            discussion: "Examples:\n  bookplate-admin schema print > schema.graphql")

        @OptionGroup var output: OutputOptions

        func run() throws {
            let schema: BookplateSchema
            do throws(RequestErrors) {
                schema = try BookplateSchema(sdl: BookplateSchema.text)
            } catch {
                throw Failure(error.errors.map(\.message).joined(separator: "\n"))
            }
            let text = printSchema(schema.schema)
            output.print(
                .object([.init("sdl", .string(text))]),
                lines: [text.hasSuffix("\n") ? String(text.dropLast()) : text])
        }
    }
}
