import ArgumentParser
import Bookplate
import Config
import GraphQL
import Postgres

/// `bookplate-admin tenant`: the apps that share the server.
struct Tenant: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The apps that share this server.", subcommands: [Add.self, List.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds an app.",
            discussion: """
                Examples:
                  bookplate-admin tenant add --slug reader --name Reader --audience com.example.reader
                  bookplate-admin tenant add --slug shop --name Shop --audience com.example.shop \\
                    --audience com.example.shop.web --amazon-tag shop-20 --bookshop-id 12345
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "A short name: lower-case letters, digits, hyphens.")
        var slug: String
        @Option(help: "The app's name.")
        var name: String
        @Option(help: "A bundle or service id that its identity tokens are made for; repeatable.")
        var audience: [String]
        @Option(
            help: "An issuer of its identity tokens, in place of the configured ones; repeatable.")
        var issuer: [String] = []
        @Option(help: "The Amazon affiliate tag of its purchase links.")
        var amazonTag: String?
        @Option(help: "The Bookshop.org affiliate id of its purchase links.")
        var bookshopId: String?
        @OptionGroup var trial: DryRunOptions

        func run() throws {
            let connection = try connect(try Configuration.load())
            let attempt = try trial.attempt(connection) { () throws(AdministrationError) in
                try TenantRecord.add(
                    slug: slug, name: name, issuers: issuer, audiences: audience,
                    amazonTag: amazonTag, bookshopID: bookshopId, connection)
            }
            output.print(
                json(attempt.result, attempt.members),
                lines: ["added \(slug) (\(attempt.result.id))"] + attempt.lines)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the apps.",
            discussion: "Examples:\n  bookplate-admin tenant list --json")

        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try connect(try Configuration.load())
            let tenants: [TenantRecord]
            do throws(PostgresError) {
                tenants = try TenantRecord.all(connection)
            } catch {
                throw Failure(error)
            }
            output.print(
                .list(tenants.map { json($0) }),
                lines: tenants.map {
                    "\($0.slug)\t\($0.name)\t\($0.audiences.joined(separator: ","))"
                })
        }
    }

    private static func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }

    private static func json(_ tenant: TenantRecord, _ more: [Value.Member] = []) -> Value {
        .object(
            [
                .init("id", .string(tenant.id.description)),
                .init("slug", .string(tenant.slug)),
                .init("name", .string(tenant.name)),
                .init("issuers", .list(tenant.issuers.map { .string($0) })),
                .init("audiences", .list(tenant.audiences.map { .string($0) })),
                .init("amazonTag", text(tenant.amazonTag)),
                .init("bookshopId", text(tenant.bookshopID)),
            ] + more)
    }
}
