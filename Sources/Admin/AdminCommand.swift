import ArgumentParser
import Config
import GraphQL
import Glibc
import Postgres

/// The operator's command: migrations, tenants, the catalogue.
///
/// Results go to standard output, words for people to standard error. Exit codes: 0 done, 1 failed,
/// 2 a check found something, 64 usage, 69 the database is not available, 78 configuration.
@main
struct AdminCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookplate-admin",
        abstract: "Runs a Bookplate installation.",
        discussion: """
            The database is BOOKPLATE_ADMIN_DATABASE_URL, the owner's role, or else DATABASE_URL.

            Examples:
              bookplate-admin migrate up
              bookplate-admin tenant add --slug reader --name Reader --audience com.example.reader
              bookplate-admin catalog import scripts/catalog/starter.jsonl
            """,
        subcommands: [
            Migrate.self, Tenant.self, Catalog.self, Jobs.self, Keys.self, Token.self,
            SchemaCommand.self,
        ])

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let error as Failure {
            tell("bookplate-admin: \(error.message)")
            Glibc.exit(error.code)
        } catch let error as ConfigError {
            tell("bookplate-admin: \(error)")
            Glibc.exit(78)
        } catch {
            exit(withError: error)
        }
    }
}

/// Why a command failed, as a sentence for the operator, and how it exits.
struct Failure: Error {
    let message: String
    let code: Int32

    init(_ message: String, code: Int32 = 1) {
        self.message = message
        self.code = code
    }

    init(_ error: PostgresError) {
        switch error {
        case .connectFailed(let reason), .connectionLost(let reason):
            self.init("the database cannot be reached: \(reason)", code: 69)
        case .server(let server):
            self.init("the database refused: \(server.message)")
        case .timeout, .cancelled, .poolExhausted, .closed, .tooLarge, .unexpectedResult:
            self.init("the database failed: \(error)")
        }
    }
}

/// Options that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON document on standard output.")
    var json = false

    /// Prints a result: as JSON, or as lines for people.
    func print(_ value: Value, lines: @autoclosure () -> [String]) {
        if json {
            var writer = ResponseWriter()
            writer.write(value)
            writer.append(UInt8(ascii: "\n"))
            writer.withBytes { put($0, STDOUT_FILENO) }
        } else {
            for line in lines() {
                var text = line + "\n"
                text.withUTF8 { put($0, STDOUT_FILENO) }
            }
        }
    }
}

/// Words for people: to standard error.
func tell(_ message: String) {
    var text = message + "\n"
    text.withUTF8 { put($0, STDERR_FILENO) }
}

/// Writes all bytes, or as many as the reader still wants.
private func put(_ bytes: UnsafeBufferPointer<UInt8>, _ descriptor: Int32) {
    var rest = bytes[...]
    while let start = UnsafeBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
        let count = Glibc.write(descriptor, start, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// The owner's database, as it is configured.
func connect(_ configuration: Configuration) throws -> AdminConnection {
    let url = try configuration.database.adminRequired()
    do throws(PostgresError) {
        return try AdminConnection(url)
    } catch {
        throw Failure(error)
    }
}
