import ArgumentParser
import Bookplate
import Config
import GraphQL
import HTTPFetch
import Identity
import Operations
import Postgres
import Requests

/// `bookplate-admin webhook`: manages the addresses that receive the events of a tenant.
struct Webhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage webhooks, which send changes of libraries to other systems.",
        discussion: "Running servers apply changes within seconds.",
        subcommands: [
            Add.self, List.self, Test.self, Enable.self, RotateSecret.self, Remove.self,
            Deliveries.self, Retry.self,
        ])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a webhook to a tenant, and print its secret.",
            discussion: """
                The webhook receives the events from now on. The secret verifies their signatures (Standard Webhooks). It is \
                shown only now, and stored encrypted.

                The address must start with https:// and be public, unless BOOKPLATE_FETCH_ALLOW contains it. Development \
                also allows http://. A tenant has at most \(WebhookRecord.webhooksMax) webhooks.

                Types of events: \(WebhookEventType.all.joined(separator: ", ")).

                Examples:
                  bookplate-admin webhook add reader https://hooks.example.com/bookplate
                  bookplate-admin webhook add reader https://hooks.example.com/covers \\
                    --events 'book.*,cover.ready'
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The slug of the tenant.")
        var tenant: String
        @ArgumentParser.Argument(help: "The address that receives the events.")
        var url: String
        @Option(
            help: "Types of events to send, separated by commas. book.* means all events of books.")
        var events = "*"
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let configuration = try loadConfiguration()
            let isDevelopment = configuration.environment == .development
            let url = try WebhookRecord.checkedAddress(
                url, allowsPlainHTTP: isDevelopment, policy: try Webhook.fetchPolicy(configuration))
            let keys = try Webhook.loadKeys(
                configuration, makesMissing: isDevelopment && !dryRunOptions.dryRun)
            let types = events.split(separator: ",").map { word in
                String(word.filter { !$0.isWhitespace })
            }
            let connection = try connect(configuration)
            let attempt = try dryRunOptions.attempt(connection) {
                try WebhookRecord.add(url, eventTypes: types, to: tenant, keys, connection)
            }
            let (webhook, secret) = attempt.result
            // The secret of a dry run was rolled back with its webhook.
            let isAdded = !attempt.isDryRun
            output.print(
                .object(
                    Webhook.members(webhook)
                        + (isAdded ? [.init("secret", .string(secret.text))] : [])
                        + attempt.members),
                lines: (isAdded
                    ? [
                        "added webhook \(webhook.id) to \(tenant)", "secret: \(secret.text)",
                        "try it: bookplate-admin webhook test \(webhook.id)",
                    ] : ["would add a webhook to \(tenant)"]) + attempt.lines)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List webhooks, with the numbers of events that wait and of dead letters.",
            discussion: """
                A paused webhook waits after failures, and continues by itself. A disabled one has responded with status 410, \
                and waits for `webhook enable`.

                Examples:
                  bookplate-admin webhook list
                  bookplate-admin webhook list reader --json
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The slug of a tenant. Without it, all webhooks are listed.")
        var tenant: String?

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let webhooks = try WebhookRecord.list(tenant: tenant, connection)
            output.print(
                .list(webhooks.map { .object(Webhook.members($0)) }),
                Table(
                    ["id", "tenant", "state", "waiting", "dead", "events", "url"],
                    webhooks.map {
                        [
                            $0.id.description, $0.tenant, $0.state.rawValue, "\($0.waiting)",
                            "\($0.dead)", $0.eventTypes.joined(separator: ","), $0.url,
                        ]
                    }))
        }
    }

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a pause, or enable a webhook that its receiver has disabled.",
            discussion: """
                The server then sends the events of the last three days that were not delivered. Older ones are dead letters: \
                see `webhook retry`.

                Examples:
                  bookplate-admin webhook enable 0198c0de-0000-7000-8000-000000000001
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let id = try webhook.id
            let connection = try connect(try loadConfiguration())
            let attempt = try dryRunOptions.attempt(connection) {
                try WebhookRecord.find(id, connection).enable(connection)
                return try WebhookRecord.find(id, connection)
            }
            output.print(
                .object(Webhook.members(attempt.result) + attempt.members),
                lines: [
                    "\(attempt.verb("enabled", "enable")) \(id): \(attempt.result.waiting) event\(attempt.result.waiting == 1 ? "" : "s") waiting"
                ] + attempt.lines)
        }
    }

    struct RotateSecret: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate-secret",
            abstract: "Create a new secret, and print it.",
            discussion: """
                For \(WebhookRecord.rotationHours) hours, messages are signed with the new and the previous secret, so the \
                receiver can be changed in the meantime.

                Examples:
                  bookplate-admin webhook rotate-secret \\
                    0198c0de-0000-7000-8000-000000000001
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @OptionGroup var dryRunOptions: DryRunOptions

        func run() throws {
            let id = try webhook.id
            let configuration = try loadConfiguration()
            let keys = try Webhook.loadKeys(configuration)
            let connection = try connect(configuration)
            let attempt = try dryRunOptions.attempt(connection) {
                let webhook = try WebhookRecord.find(id, connection)
                return try webhook.rotateSecret(keys, connection)
            }
            let secret = attempt.isDryRun ? nil : attempt.result.text
            output.print(
                .object(
                    [.init("id", .string(id.description))]
                        + (secret.map { [.init("secret", .string($0))] } ?? []) + attempt.members),
                lines: [secret.map { "secret: \($0)" } ?? "would create a new secret for \(id)"]
                    + attempt.lines)
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a webhook, its waiting events, and its dead letters.",
            discussion: """
                Examples:
                  bookplate-admin webhook remove 0198c0de-0000-7000-8000-000000000001
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @OptionGroup var dryRunOptions: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func run() throws {
            let id = try webhook.id
            let connection = try connect(try loadConfiguration())
            let webhook = try WebhookRecord.find(id, connection)
            let waiting = webhook.waiting
            if !dryRunOptions.dryRun {
                try confirmation.confirm(
                    "This deletes the webhook to \(webhook.url), with \(waiting) waiting events.",
                    byTyping: webhook.tenant)
            }
            let attempt = try dryRunOptions.attempt(connection) { try webhook.remove(connection) }
            output.print(
                .object(Webhook.members(webhook) + attempt.members),
                lines: [
                    "\(attempt.verb("removed", "remove")) \(id)"
                        + (waiting > 0 ? " with \(waiting) waiting events" : "")
                ] + attempt.lines)
        }
    }

    /// The ID of a webhook.
    struct WebhookArgument: ParsableArguments {
        @ArgumentParser.Argument(help: "The ID of the webhook: see `webhook list`.")
        var webhook: String

        var id: UUID {
            get throws {
                guard let id = UUID(webhook) else {
                    throw Failure(
                        "'\(webhook)' is not a webhook ID: it must be a UUID. See bookplate-admin webhook list",
                        .usage)
                }
                return id
            }
        }
    }

    fileprivate static func members(_ webhook: WebhookRecord) -> [Value.Member] {
        [
            .init("id", .string(webhook.id.description)), .init("tenant", .string(webhook.tenant)),
            .init("url", .string(webhook.url)),
            .init("events", .list(webhook.eventTypes.map { .string($0) })),
            .init("state", .string(webhook.state.rawValue)),
            .init("createdAt", .string(webhook.createdAt)),
            .init(
                "previousSecretUntil", webhook.previousSecretUntil.map { .string($0) } ?? .null),
            .init("waiting", .int(webhook.waiting)), .init("dead", .int(webhook.dead)),
        ]
    }

    /// The rules for addresses are those of the server.
    static func fetchPolicy(_ configuration: Configuration) throws -> FetchPolicy {
        FetchPolicy(
            userAgent: "bookplate",
            allowed: try FetchAllowList(
                parsing: configuration.sources.fetchAllow.joined(separator: ",")))
    }

    /// Reads the keys that encrypt the secrets.
    static func loadKeys(
        _ configuration: Configuration, makesMissing: Bool = false
    ) throws -> SessionKeys {
        let file = try configuration.sessionKeysFile()
        do throws(SessionKeysError) {
            return try SessionKeys(file: file, makesMissing: makesMissing)
        } catch {
            throw Failure(
                "the session keys in \(file) cannot be used: \(error). Run bookplate-admin doctor, which says what to do",
                .configuration)
        }
    }
}
