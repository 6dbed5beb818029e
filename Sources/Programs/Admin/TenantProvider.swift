import ArgumentParser
import Bookplate
import GraphQL
import Operations
import Postgres

extension Tenant {
    /// `bookplate-admin tenant provider`: manages the OpenID Connect providers of a tenant.
    struct Provider: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Manage the OpenID Connect providers with which the users of a tenant sign in.",
            discussion: "Running servers apply changes within a second.",
            subcommands: [Add.self, List.self, Remove.self])

        struct Add: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Add a provider.",
                discussion: """
                    The server reads ISSUER/.well-known/openid-configuration to find the keys of the provider. The address must \
                    be public, unless BOOKPLATE_FETCH_ALLOW contains it.

                    Examples:
                      bookplate-admin tenant provider add reader google \\
                        --issuer https://accounts.google.com \\
                        --audience 1234.apps.googleusercontent.com
                      bookplate-admin tenant provider add reader keycloak \\
                        --issuer https://id.example.com/realms/books --audience reader --dry-run
                    """)

            @OptionGroup var output: OutputOptions
            @ArgumentParser.Argument(help: "The slug of the tenant.")
            var slug: String
            @ArgumentParser.Argument(
                help:
                    "The name of the provider, which apps send: lower-case letters, digits, and hyphens."
            )
            var name: String
            @Option(help: "The issuer, exactly as in its identity tokens.")
            var issuer: String
            @Option(help: "A client ID of the app at this provider. Repeatable.")
            var audience: [String] = []
            @Option(help: "The address of the keys, for an issuer without a discovery document.")
            var keys: String?
            @OptionGroup var dryRunOptions: DryRunOptions

            func validate() throws {
                guard !audience.isEmpty,
                    audience.allSatisfy({ !$0.contains(where: \.isWhitespace) })
                else {
                    throw ValidationError("At least one --audience without spaces is required.")
                }
                guard name.count <= 63, name.first?.isLetter == true,
                    name.utf8.allSatisfy({
                        (97...122).contains($0) || (48...57).contains($0) || $0 == 45
                    })
                else {
                    throw ValidationError(
                        "The name must start with a letter, and have only lower-case letters, digits, and hyphens."
                    )
                }
            }

            func run() throws {
                let provider = IdentityProvider(
                    name: name, issuer: issuer, jwksURL: keys, audiences: audience)
                let connection = try connect(try loadConfiguration())
                let attempt = try dryRunOptions.attempt(connection) {
                    try TenantRecord.addProvider(provider, to: slug, connection)
                }
                output.print(
                    .object(members(provider) + attempt.members),
                    lines: ["\(attempt.verb("added", "add")) \(name) to \(slug)"] + attempt.lines)
            }
        }

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "List the providers of a tenant, with the number of identities of each.",
                discussion: "Examples:\n  bookplate-admin tenant provider list reader")

            @OptionGroup var output: OutputOptions
            @ArgumentParser.Argument(help: "The slug of the tenant.")
            var slug: String

            func run() throws {
                let connection = try connect(try loadConfiguration())
                let tenant = try TenantRecord.find(slug, connection)
                let counted = try tenant.providers.map {
                    ($0, try tenant.identityCount(of: $0, connection))
                }
                output.print(
                    .list(
                        counted.map { provider, count in
                            .object(members(provider) + [.init("identities", .int(count))])
                        }),
                    Table(
                        ["name", "issuer", "audiences", "identities"],
                        counted.map { provider, count in
                            [
                                provider.name, provider.issuer,
                                provider.audiences.joined(separator: ","), "\(count)",
                            ]
                        }))
            }
        }

        struct Remove: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Remove a provider. Its users stay, but cannot sign in with it any more.",
                discussion: """
                    Adding a provider with the same issuer again lets its users sign in.

                    Examples:
                      bookplate-admin tenant provider remove reader google --dry-run
                    """)

            @OptionGroup var output: OutputOptions
            @ArgumentParser.Argument(help: "The slug of the tenant.")
            var slug: String
            @ArgumentParser.Argument(help: "The name of the provider.")
            var name: String
            @OptionGroup var dryRunOptions: DryRunOptions

            func run() throws {
                let connection = try connect(try loadConfiguration())
                let attempt = try dryRunOptions.attempt(connection) {
                    try TenantRecord.removeProvider(name, from: slug, connection)
                }
                output.print(
                    .object([.init("name", .string(name))] + attempt.members),
                    lines: ["\(attempt.verb("removed", "remove")) \(name) from \(slug)"]
                        + attempt.lines)
            }
        }

        static func members(_ provider: IdentityProvider) -> [Value.Member] {
            [
                .init("name", .string(provider.name)), .init("issuer", .string(provider.issuer)),
                .init("jwksUrl", provider.jwksURL.map { .string($0) } ?? .null),
                .init("audiences", .list(provider.audiences.map { .string($0) })),
            ]
        }
    }
}
