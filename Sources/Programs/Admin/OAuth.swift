import ArgumentParser
import GraphQL
import Operations
import Postgres

/// `bookplate-admin oauth`: manages the apps of other developers.
struct OAuth: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oauth", abstract: "Manage the apps of other developers.",
        subcommands: [Client.self])

    struct Client: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Manage the apps that can ask readers for access by OAuth.",
            discussion:
                "`tenant update TENANT --oauth on` switches OAuth on. Running servers apply changes within a second.",
            subcommands: [Add.self, List.self, Show.self, Remove.self])

        struct Add: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Add an app, and print its client ID.",
                discussion: """
                    A redirect URI must be sent exactly as it is registered. It starts with https, or with http and the host \
                    127.0.0.1 or [::1] and then may have any port, or has a private scheme with a period, such as \
                    com.example.app:/callback.

                    With --confidential, the command also prints the client's secret. It is not stored and cannot be shown \
                    again. Apps on devices of readers cannot keep a secret.

                    Examples:
                      bookplate-admin oauth client add reader --name 'Reading Stats' \\
                        --redirect-uri https://stats.example/callback --scope library:read \\
                        --confidential
                      bookplate-admin oauth client add reader --name 'E-paper display' \\
                        --device --scope library:read --scope progress --dry-run
                    """)

            @OptionGroup var output: OutputOptions
            @ArgumentParser.Argument(help: "The slug of the tenant.")
            var slug: String
            @Option(help: "The name that readers see.")
            var name: String
            @Option(help: "A URI to which the browser returns. Repeatable.")
            var redirectUri: [String] = []
            @Option(help: "A scope that the app may request, such as library:read. Repeatable.")
            var scope: [String] = []
            @Flag(help: "Allow the device grant, for devices without a browser.")
            var device = false
            @Flag(help: "Give the app a secret. Only for apps that run on a server.")
            var confidential = false
            @OptionGroup var dryRunOptions: DryRunOptions

            func validate() throws {
                guard !scope.isEmpty else {
                    throw ValidationError("At least one --scope is required.")
                }
            }

            func run() throws {
                let new = OAuthClientRecord.New(
                    name: name, redirectURIs: redirectUri, scopes: scope, allowsDevice: device,
                    isConfidential: confidential)
                let connection = try connect(try loadConfiguration())
                let attempt = try dryRunOptions.attempt(connection) {
                    try OAuthClientRecord.add(new, to: slug, connection)
                }
                let (client, secret) = attempt.result
                // The app of a dry run was rolled back, so its secret is not printed.
                let shown = attempt.isDryRun ? nil : secret
                if try !TenantRecord.find(slug, connection).oauth {
                    printError(
                        "OAuth is off for \(slug): run bookplate-admin tenant update \(slug) --oauth on"
                    )
                }
                output.print(
                    .object(
                        members(client)
                            + [.init("secret", shown.map { .string($0) } ?? .null)]
                            + attempt.members),
                    lines: ["client ID: \(client.id)"]
                        + (shown.map { ["secret: \($0)"] } ?? []) + attempt.lines)
            }
        }

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "List the apps of a tenant, with the number of readers of each.",
                discussion: "Examples:\n  bookplate-admin oauth client list reader")

            @OptionGroup var output: OutputOptions
            @ArgumentParser.Argument(help: "The slug of the tenant.")
            var slug: String

            func run() throws {
                let connection = try connect(try loadConfiguration())
                let clients = try OAuthClientRecord.list(of: slug, connection)
                output.print(
                    .list(clients.map { .object(members($0)) }),
                    Table(
                        ["client id", "name", "scopes", "readers"],
                        clients.map {
                            [
                                "\($0.id)", $0.name, $0.scopes.joined(separator: ","),
                                "\($0.readers)",
                            ]
                        }))
            }
        }

        struct Show: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Print an app.",
                discussion: """
                    Examples:
                      bookplate-admin oauth client show reader \\
                        0198c0de-0000-7000-8000-000000000001
                    """)

            @OptionGroup var output: OutputOptions
            @OptionGroup var selected: SelectedClient

            func run() throws {
                let connection = try connect(try loadConfiguration())
                let client = try OAuthClientRecord.find(
                    selected.clientID, of: selected.slug, connection)
                output.print(
                    .object(members(client)),
                    lines: [
                        client.name, "  client ID: \(client.id)",
                        "  redirect URIs: \(client.redirectURIs.joined(separator: ", "))",
                        "  scopes: \(client.scopes.joined(separator: ", "))",
                        "  device grant: \(client.allowsDevice ? "on" : "off")",
                        "  secret: \(client.isConfidential ? "yes" : "no")",
                        "  registered by: \(client.isSelfRegistered ? "itself" : "an operator")",
                        "  added: \(client.createdAt)", "  readers: \(client.readers)",
                    ])
            }
        }

        struct Remove: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Remove an app, and end its access to all accounts.",
                discussion: """
                    Examples:
                      bookplate-admin oauth client remove reader \\
                        0198c0de-0000-7000-8000-000000000001 --dry-run
                    """)

            @OptionGroup var output: OutputOptions
            @OptionGroup var selected: SelectedClient
            @OptionGroup var dryRunOptions: DryRunOptions
            @OptionGroup var confirmation: ConfirmationOptions

            func run() throws {
                let connection = try connect(try loadConfiguration())
                if !dryRunOptions.dryRun {
                    let client = try OAuthClientRecord.find(
                        selected.clientID, of: selected.slug, connection)
                    try confirmation.confirm(
                        "This removes \(client.name), which \(client.readers) readers use.",
                        byTyping: selected.slug)
                }
                let attempt = try dryRunOptions.attempt(connection) {
                    try OAuthClientRecord.remove(
                        selected.clientID, from: selected.slug, connection)
                }
                output.print(
                    .object(members(attempt.result) + attempt.members),
                    lines: [
                        "\(attempt.verb("removed", "remove")) \(attempt.result.name), which \(attempt.result.readers) readers used"
                    ] + attempt.lines)
            }
        }

        /// The arguments that name an app.
        struct SelectedClient: ParsableArguments {
            @ArgumentParser.Argument(help: "The slug of the tenant.")
            var slug: String
            @ArgumentParser.Argument(help: "The client ID.")
            var client: String

            func validate() throws {
                guard UUID(client) != nil else {
                    throw ValidationError(
                        "The client ID must be a UUID. See bookplate-admin oauth client list.")
                }
            }

            /// `validate` has checked the text.
            var clientID: UUID { UUID(client) ?? UUID(high: 0, low: 0) }
        }

        static func members(_ client: OAuthClientRecord) -> [Value.Member] {
            [
                .init("clientId", .string(client.id.description)),
                .init("name", .string(client.name)),
                .init("redirectUris", .list(client.redirectURIs.map { .string($0) })),
                .init("scopes", .list(client.scopes.map { .string($0) })),
                .init("device", .boolean(client.allowsDevice)),
                .init("confidential", .boolean(client.isConfidential)),
                .init("selfRegistered", .boolean(client.isSelfRegistered)),
                .init("createdAt", .string(client.createdAt)),
                .init("readers", .int(client.readers)),
            ]
        }
    }
}
