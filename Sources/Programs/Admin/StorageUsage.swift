import ArgumentParser
import GraphQL
import Operations
import Postgres

extension Storage {
    struct Usage: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the storage used by the covers of each tenant and user.",
            discussion: """
                Users with the most bytes come first. Title cards are not counted, because they can be recreated.

                Examples:
                  bookplate-admin storage usage
                  bookplate-admin storage usage --tenant reader --limit 100 --json
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Print only the tenant with this slug.")
        var tenant: String?
        @Option(help: "Print only the user with this ID.")
        var user: String?
        @Option(help: "Maximum number of users.")
        var limit = 20

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
            guard user.map({ UUID($0) != nil }) ?? true else {
                throw ValidationError(
                    "--user must be a UUID. Find it with bookplate-admin account find.")
            }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let usage = try Operations.StorageUsage(
                tenant: tenant, user: user.flatMap { UUID($0) }, usersMax: limit, connection)
            if let tenant, usage.tenants.isEmpty {
                throw Failure("there is no tenant \(tenant): see bookplate-admin tenant list")
            }
            output.print(
                .object([
                    .init("tenants", .list(usage.tenants.map(\.json))),
                    .init("users", .list(usage.users.map(\.json))),
                ]), lines: usage.tenants.map(\.line) + usage.users.map(\.line))
        }
    }
}

extension Operations.StorageUsage.Tenant {
    fileprivate var json: Value {
        .object([
            .init("slug", .string(slug)), .init("users", .int(users)),
            .init("covers", .int(covers)),
            .init("bytes", .int(bytes)), .init("bytesMax", bytesMax.map { .int($0) } ?? .null),
        ])
    }

    fileprivate var line: String {
        "\(slug)  \(users) users, \(covers) covers, \(ByteCount.text(bytes))"
            + (bytesMax.map { " of \(ByteCount.text($0))" } ?? "")
    }
}

extension Operations.StorageUsage.User {
    fileprivate var json: Value {
        .object([
            .init("id", .string(id.description)), .init("tenant", .string(tenant)),
            .init("covers", .int(covers)), .init("bytes", .int(bytes)),
            .init("bytesMax", bytesMax.map { .int($0) } ?? .null),
        ])
    }

    fileprivate var line: String {
        "  \(id)  \(tenant)  \(covers) covers, \(ByteCount.text(bytes))"
            + (bytesMax.map { " of \(ByteCount.text($0))" } ?? "")
    }
}
