import ArgumentParser
import Bookplate
import GraphQL
import Operations
import Postgres

/// `bookplate-admin tenant`: manages tenants.
struct Tenant: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage tenants: the apps that share this server.",
        discussion: "Running servers apply changes within a second.",
        subcommands: [
            Add.self, List.self, Show.self, Update.self, Remove.self, Provider.self,
        ])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a tenant.",
            discussion: """
                Examples:
                  bookplate-admin tenant add --slug reader --name Reader \\
                    --audience com.example.reader
                  bookplate-admin tenant add --slug shop --name Shop \\
                    --audience com.example.shop --audience com.example.shop.web \\
                    --amazon-tag shop-20 --bookshop-id 12345
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "A short identifier of lower-case letters, digits, and hyphens.")
        var slug: String
        @Option(help: "The name of the app.")
        var name: String
        @OptionGroup var settings: TenantSettings
        @OptionGroup var dryRunOptions: DryRunOptions

        func validate() throws {
            guard !settings.audience.isEmpty else {
                throw ValidationError("At least one --audience is required.")
            }
        }

        func run() throws {
            let providers = try settings.providers
            let connection = try connect(try loadConfiguration())
            let attempt = try dryRunOptions.attempt(connection) {
                try TenantRecord.add(
                    slug: slug, name: name, issuers: settings.issuer, audiences: settings.audience,
                    amazonTag: settings.amazonTag, bookshopID: settings.bookshopId,
                    requestsPerMinuteMax: settings.rate, storageBytesMax: settings.storage?.bytes,
                    userStorageBytesMax: settings.userStorage?.bytes
                        ?? TenantRecord.userStorageBytesDefault,
                    ratingStep: settings.ratingStep ?? .whole,
                    guests: settings.guests?.isOn ?? false,
                    guestBooksMax: settings.guestBooks ?? TenantRecord.guestBooksDefault,
                    mcp: settings.mcp?.isOn ?? false,
                    oauth: settings.oauth?.isOn ?? false,
                    oauthRegistration: settings.oauthRegistration?.isOn ?? false,
                    sharing: settings.sharing?.isOn ?? true,
                    providers: providers, connection)
            }
            output.print(
                json(attempt.result, attempt.members),
                lines: ["\(attempt.verb("added", "add")) \(slug) (\(attempt.result.id))"]
                    + attempt.lines)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the tenants.",
            discussion: "Examples:\n  bookplate-admin tenant list --json")

        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let tenants = try TenantRecord.all(connection)
            output.print(
                .list(tenants.map { json($0) }),
                Table(
                    ["slug", "name", "audiences", "storage"],
                    tenants.map {
                        [
                            $0.slug, $0.name, $0.audiences.joined(separator: ","),
                            "storage \(size($0.storageBytesMax)), per user \(size($0.userStorageBytesMax))",
                        ]
                    }))
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the settings of a tenant, and the storage that it uses.",
            discussion: "Examples:\n  bookplate-admin tenant show reader")

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The slug of the tenant.")
        var slug: String

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let tenant = try TenantRecord.find(slug, connection)
            let usage = try StorageUsage(tenant: slug, user: nil, usersMax: 0, connection)
            let usedBytes = usage.tenants.first?.bytes ?? 0
            let guestCount = try tenant.guestCount(connection)
            let texts = [
                ("name", tenant.name), ("audiences", tenant.audiences.joined(separator: ", ")),
                ("issuers", tenant.issuers.joined(separator: ", ")),
                (
                    "providers",
                    tenant.providers.map(\.name).joined(separator: ", ")
                ),
                ("amazon-tag", tenant.amazonTag ?? ""), ("bookshop-id", tenant.bookshopID ?? ""),
                ("rate", tenant.requestsPerMinuteMax.map { "\($0)" } ?? ""),
                (
                    "storage",
                    "\(ByteCount.text(usedBytes)) of \(size(tenant.storageBytesMax))"
                ),
                ("user-storage", size(tenant.userStorageBytesMax)),
                ("rating-step", tenant.ratingStep.text),
                ("guests", tenant.guests ? "on, \(guestCount) of them" : "off, \(guestCount) left"),
                ("guest-books", "\(tenant.guestBooksMax)"),
                ("mcp", tenant.mcp ? "on" : "off"),
                ("oauth", tenant.oauth ? "on" : "off"),
                ("oauth-registration", tenant.oauthRegistration ? "on" : "off"),
                ("sharing", tenant.sharing ? "on" : "off"),
            ]
            output.print(
                json(
                    tenant,
                    [
                        .init("storageBytes", .int(usedBytes)),
                        .init("guestCount", .int(guestCount)),
                    ]),
                lines: [tenant.slug] + texts.map { "  \($0.0): \($0.1.isEmpty ? "none" : $0.1)" })
        }
    }

    struct Update: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change settings of a tenant.",
            discussion: """
                Settings that are not specified are not changed. The values of a repeatable option replace all earlier values.

                Examples:
                  bookplate-admin tenant update reader --name 'The Reader' --rate 10000
                  bookplate-admin tenant update reader --audience com.example.reader \\
                    --audience com.example.reader.web
                  bookplate-admin tenant update reader --provider \\
                    https://idp.example.com=https://idp.example.com/certs
                  bookplate-admin tenant update reader --storage 500GB --user-storage 1GB
                  bookplate-admin tenant update reader --rating-step 0.5
                  bookplate-admin tenant update reader --guests on --guest-books 200
                  bookplate-admin tenant update reader --mcp on
                  bookplate-admin tenant update reader --oauth on
                  bookplate-admin tenant update reader --sharing off
                  bookplate-admin tenant update reader --clear rate --dry-run
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The slug of the tenant.")
        var slug: String
        @Option(help: "The name of the app.")
        var name: String?
        @OptionGroup var settings: TenantSettings
        @Option(help: "Remove a setting. Repeatable.")
        var clear: [TenantRecord.OptionalSetting] = []
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let providers = try settings.providers
            let changes = TenantRecord.Changes(
                name: name, audiences: settings.audience, issuers: settings.issuer,
                providers: providers, amazonTag: settings.amazonTag,
                bookshopID: settings.bookshopId, requestsPerMinuteMax: settings.rate,
                storageBytesMax: settings.storage?.bytes,
                userStorageBytesMax: settings.userStorage?.bytes,
                ratingStep: settings.ratingStep, guests: settings.guests?.isOn,
                guestBooksMax: settings.guestBooks, mcp: settings.mcp?.isOn,
                oauth: settings.oauth?.isOn, oauthRegistration: settings.oauthRegistration?.isOn,
                sharing: settings.sharing?.isOn,
                removed: clear)
            let connection = try connect(try loadConfiguration())
            let attempt = try dryRunOptions.attempt(connection) {
                try TenantRecord.update(slug, changes, connection)
            }
            output.print(
                json(attempt.result, attempt.members),
                lines: ["\(attempt.verb("updated", "update")) \(slug)"] + attempt.lines)
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a tenant and delete all of its accounts.",
            discussion: """
                Disables sign-in, deletes each account as its owner could do, and removes the tenant. After an interruption, \
                the same command continues.

                Examples:
                  bookplate-admin tenant remove reader --dry-run
                  bookplate-admin tenant remove reader --yes
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The slug of the tenant.")
        var slug: String
        @Flag(help: "Print what would be removed without changing anything.")
        var dryRun = false
        @OptionGroup var confirmation: ConfirmationOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let tenant = try TenantRecord.find(slug, connection)
            let accounts = try tenant.accounts(connection)
            if !dryRun {
                try confirmation.confirm(
                    "This removes \(slug) and permanently deletes its \(accounts.count) accounts.",
                    byTyping: slug)
                Interruption.watch()
                let progress = Progress("accounts", total: accounts.count)
                try tenant.removeWithAccounts(
                    connection, beforeAccount: Interruption.check,
                    onAccount: { progress.advance() })
                progress.finish()
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
    }

    /// Returns a limit for people; nil means that there is none.
    private static func size(_ bytes: Int64?) -> String {
        bytes.map { ByteCount.text($0) } ?? "unlimited"
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
                .init("storageBytesMax", tenant.storageBytesMax.map { .int(Int($0)) } ?? .null),
                .init(
                    "userStorageBytesMax",
                    tenant.userStorageBytesMax.map { .int(Int($0)) } ?? .null),
                .init("ratingStep", .float(tenant.ratingStep.stars)),
                .init("guests", .boolean(tenant.guests)),
                .init("guestBooksMax", .int(Int(tenant.guestBooksMax))),
                .init("mcp", .boolean(tenant.mcp)),
                .init("oauth", .boolean(tenant.oauth)),
                .init("oauthRegistration", .boolean(tenant.oauthRegistration)),
                .init("sharing", .boolean(tenant.sharing)),
                .init(
                    "providers",
                    .list(
                        tenant.providers.map { .object(Provider.members($0)) })),
            ] + more)
    }
}

extension TenantRecord.OptionalSetting: ExpressibleByArgument {}
