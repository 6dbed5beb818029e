import Basics
import Glibc
import GraphQL
import Version

/// `graphql-tool`: a command-line interface of the GraphQL engine for editors, scripts, and
/// conformance checks.
@main
struct GraphQLTool {
    static let usage = """
        usage: graphql-tool COMMAND

          batch                       execute JSON requests, one per line
          parse FILE                  print the syntax tree as JSON
          print FILE                  print the document in canonical form
          validate --schema SDL FILE  print the errors of the document, one per line
          --version                   print the version

        Use - for FILE or SDL to read standard input.

        """

    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard !arguments.isEmpty else { fail(usage, status: .usage) }
        let command = arguments.removeFirst()
        switch (command, arguments.count) {
        case ("batch", 0):
            var batch = Batch()
            await batch.run()
        case ("parse", 1):
            await runSingle(of: "parse", [.init("source", .string(read(arguments[0])))])
        case ("print", 1):
            await runSingle(of: "print", [.init("source", .string(read(arguments[0])))])
        case ("validate", 3) where arguments[0] == "--schema":
            let schema = Value.Member("schema", .string(read(arguments[1])))
            let source = Value.Member("source", .string(read(arguments[2])))
            await runSingle(of: "validate", [schema, source])
        case ("--help", _), ("help", _), ("-h", _):
            write(usage, to: .standardOutput)
        case ("--version", 0):
            write("graphql-tool \(bookplateVersion)\n", to: .standardOutput)
        default:
            fail(usage, status: .usage)
        }
    }

    /// Exit statuses. `usage` and `noInput` are those of sysexits.h.
    enum Status: Int32 {
        case failed = 1
        case hasErrors = 2
        case usage = 64
        case noInput = 66
    }

    /// Executes one request. Prints a tree or text to standard output, or exits after printing the
    /// errors.
    private static func runSingle(of op: String, _ members: [Value.Member]) async {
        var batch = Batch()
        let response = await batch.respond(to: .object([.init("op", .string(op))] + members))
        guard response.errors.isEmpty else {
            fail(response.errors.map { line(for: $0) }.joined(), status: .hasErrors)
        }
        switch response {
        case .tree(let json): write(json + "\n".utf8, to: .standardOutput)
        case .text(let text):
            write(text.hasSuffix("\n") ? text : text + "\n", to: .standardOutput)
        case .result, .parts, .errors, .schemaErrors: break
        }
    }

    /// Returns an error as a line of text: `3:7: message`.
    private static func line(for error: GraphQLError) -> String {
        let location = error.locations.first.map { "\($0.line):\($0.column): " } ?? ""
        return location + error.message + "\n"
    }

    private static func read(_ path: String) -> String {
        let bytes: [UInt8]
        do throws(UnreadableFile) {
            bytes = try path == "-" ? readStandardInput() : readFile(path)
        } catch {
            fail("graphql-tool: \(error)\n", status: .noInput)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            fail("graphql-tool: \(path) is not valid UTF-8.\n", status: .noInput)
        }
        return text
    }

    private static func fail(_ message: String, status: Status) -> Never {
        write(message, to: .standardError)
        exit(status.rawValue)
    }
}
