import ArgumentParser
import Bookplate
import GraphQL
import Postgres

/// `bookplate-admin tenant`: the apps that share the server.
struct Tenant: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The apps that share this server.",
        discussion: "Running servers take changes over within a second.",
        subcommands: [Add.self, List.self, Update.self, Remove.self])

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
        @OptionGroup var settings: TenantSettings
        @OptionGroup var trial: DryRunOptions

        func validate() throws {
            guard !settings.audience.isEmpty else {
                throw ValidationError("Give at least one --audience.")
            }
        }

        func run() throws {
            let providers = try settings.providers
            let connection = try connect(try loadConfiguration())
            let attempt = try trial.attempt(connection) { () throws(AdministrationError) in
                try TenantRecord.add(
                    slug: slug, name: name, issuers: settings.issuer, audiences: settings.audience,
                    amazonTag: settings.amazonTag, bookshopID: settings.bookshopId,
                    requestsPerMinuteMax: settings.rate, providers: providers, connection)
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
            let connection = try connect(try loadConfiguration())
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

    struct Update: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Changes an app. What is not given stays; a list is given whole.",
            discussion: """
                Examples:
                  bookplate-admin tenant update reader --name 'The Reader' --rate 10000
                  bookplate-admin tenant update reader --audience com.example.reader --audience com.example.reader.web
                  bookplate-admin tenant update reader --provider https://accounts.google.com=https://www.googleapis.com/oauth2/v3/certs
                  bookplate-admin tenant update reader --clear rate --clear amazon-tag --dry-run
                """)

        enum Clearable: String, ExpressibleByArgument, CaseIterable {
            case issuer, provider, rate
            case amazonTag = "amazon-tag"
            case bookshopID = "bookshop-id"
        }

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The app's slug.")
        var slug: String
        @Option(help: "The app's name.")
        var name: String?
        @OptionGroup var settings: TenantSettings
        @Option(help: "Takes a setting away; repeatable.")
        var clear: [Clearable] = []
        @OptionGroup var trial: DryRunOptions

        func run() throws {
            let providers = try settings.providers
            let connection = try connect(try loadConfiguration())
            let attempt = try trial.attempt(connection) { () throws(AdministrationError) in
                var tenant = try TenantRecord.find(slug, connection)
                tenant.name = name ?? tenant.name
                if !settings.audience.isEmpty { tenant.audiences = settings.audience }
                if !settings.issuer.isEmpty { tenant.issuers = settings.issuer }
                if !providers.isEmpty { tenant.providers = providers }
                tenant.amazonTag = settings.amazonTag ?? tenant.amazonTag
                tenant.bookshopID = settings.bookshopId ?? tenant.bookshopID
                tenant.requestsPerMinuteMax = settings.rate ?? tenant.requestsPerMinuteMax
                for field in clear {
                    switch field {
                    case .issuer: tenant.issuers = []
                    case .provider: tenant.providers = []
                    case .rate: tenant.requestsPerMinuteMax = nil
                    case .amazonTag: tenant.amazonTag = nil
                    case .bookshopID: tenant.bookshopID = nil
                    }
                }
                try tenant.update(connection)
                return tenant
            }
            output.print(
                json(attempt.result, attempt.members), lines: ["updated \(slug)"] + attempt.lines)
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an app, with all accounts in it.",
            discussion: """
                First nobody can sign in any more; then each account is deleted, as its owner would do it; then the
                app is gone. Interrupted anywhere, the same command goes on.

                Examples:
                  bookplate-admin tenant remove reader --dry-run
                  bookplate-admin tenant remove reader --yes
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The app's slug.")
        var slug: String
        @Flag(help: "Say what would go, and do nothing.")
        var dryRun = false
        @OptionGroup var confirmation: ConfirmationOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let tenant = try administer { () throws(AdministrationError) in
                try TenantRecord.find(slug, connection)
            }
            let accounts = try administer { () throws(AdministrationError) in
                try tenant.accounts(connection)
            }
            if !dryRun {
                try confirmation.confirm(
                    "This removes \(slug) and deletes its \(accounts.count) accounts for ever.",
                    byTyping: slug)
                try remove(tenant, connection)
            }
            output.print(
                .object([
                    .init("slug", .string(slug)), .init("accounts", .int(accounts.count)),
                    .init("dryRun", .boolean(dryRun)),
                ]),
                lines: [
                    "\(dryRun ? "would remove" : "removed") \(slug) and "
                        + "\(accounts.count) accounts"
                ])
        }

        private func remove(_ tenant: TenantRecord, _ connection: AdminConnection) throws(Failure) {
            Interruption.watch()
            try administer { () throws(AdministrationError) in try tenant.close(connection) }
            // Read again: somebody may have signed in before it was closed.
            let accounts = try administer { () throws(AdministrationError) in
                try tenant.accounts(connection)
            }
            let progress = Progress("accounts", total: accounts.count)
            for id in accounts {
                try Interruption.check()
                _ = try administer { () throws(AdministrationError) in
                    try inTransaction(connection, keeps: true) { () throws(AdministrationError) in
                        try AccountRecord.delete(id, connection)
                    }
                }
                progress.advance()
            }
            progress.finish()
            try administer { () throws(AdministrationError) in try tenant.remove(connection) }
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
                .init(
                    "requestsPerMinute",
                    tenant.requestsPerMinuteMax.map { .int(Int($0)) } ?? .null),
                .init(
                    "providers",
                    .list(
                        tenant.providers.map {
                            .object([
                                .init("issuer", .string($0.issuer)),
                                .init("jwksUrl", .string($0.jwksURL)),
                            ])
                        })),
            ] + more)
    }
}

/// What can be set of an app.
struct TenantSettings: ParsableArguments {
    @Option(help: "A bundle or service id that its identity tokens are made for; repeatable.")
    var audience: [String] = []
    @Option(
        help: "An issuer of its identity tokens, in place of the configured ones; repeatable.")
    var issuer: [String] = []
    @Option(
        help:
            "An OpenID provider beside the configured issuer, as ISSUER=URL of its keys; repeatable."
    )
    var provider: [String] = []
    @Option(help: "The Amazon affiliate tag of its purchase links.")
    var amazonTag: String?
    @Option(help: "The Bookshop.org affiliate id of its purchase links.")
    var bookshopId: String?
    @Option(help: "Requests a minute of all its users together, in each server.")
    var rate: Int32?

    /// - Throws: `.usage` for what is no pair.
    var providers: [TenantRecord.Provider] {
        get throws(Failure) {
            var providers: [TenantRecord.Provider] = []
            for text in provider {
                let parts = text.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else {
                    throw Failure("--provider is ISSUER=URL, not \(text)", .usage)
                }
                providers.append(.init(issuer: String(parts[0]), jwksURL: String(parts[1])))
            }
            return providers
        }
    }
}
