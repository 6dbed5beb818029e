import ArgumentParser
import Bookplate
import GraphQL
import HTTPFetch
import Operations
import Postgres

extension Webhook {
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a signed event of the type webhook.test now, and print the response.",
            discussion: """
                The command itself sends the event, once, also if the webhook is paused or disabled. It exits with 2 if the \
                receiver does not accept the event.

                Examples:
                  bookplate-admin webhook test 0198c0de-0000-7000-8000-000000000001
                """)
        /// The number of characters of the response that are printed.
        private static let shownMax = 300

        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument

        func run() async throws {
            let id = try webhook.id
            let configuration = try loadConfiguration()
            let keys = try Webhook.loadKeys(configuration)
            let connection = try connect(configuration)
            let webhook = try WebhookRecord.find(id, connection)
            let secrets = try webhook.secrets(keys, connection)
            let sender = WebhookSender(
                fetcher: Fetcher(policy: try Webhook.fetchPolicy(configuration)),
                allowsPlainHTTP: configuration.environment == .development)
            let result = await sender.send(.test(of: id), to: webhook.url, secrets: secrets)
            let milliseconds = Int(result.duration / .milliseconds(1))
            // A receiver must not be able to control the terminal.
            let body = String(decoding: result.body, as: UTF8.self).prefix(Self.shownMax).map {
                $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? " " : $0
            }
            output.print(
                .object([
                    .init("id", .string(id.description)),
                    .init("isDelivered", .boolean(result.isDelivered)),
                    .init("status", result.status.map { .int($0) } ?? .null),
                    .init("error", result.error.map { .string($0) } ?? .null),
                    .init("milliseconds", .int(milliseconds)),
                    .init("response", .string(String(body))),
                ]),
                lines: [
                    (result.isDelivered
                        ? "delivered: status \(result.status ?? 0)"
                        : "not delivered: \(result.error ?? "")") + " in \(milliseconds) ms"
                ] + (body.isEmpty ? [] : ["response: \(String(body))"]))
            if !result.isDelivered { throw ExitStatus.found.code }
        }
    }

    struct Deliveries: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the deliveries of a webhook, the newest events first.",
            discussion: """
                An event that was not delivered within three days is a dead letter. Delivered events are kept for three days, \
                and dead letters for 30 days.

                Examples:
                  bookplate-admin webhook deliveries 0198c0de-0000-7000-8000-000000000001
                  bookplate-admin webhook deliveries --dead --json \\
                    0198c0de-0000-7000-8000-000000000001
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @Flag(help: "List only dead letters.") var dead = false
        @Option(help: "List only deliveries in this state: waiting, delivered, or dead.")
        var state: WebhookDeliveryRecord.State?
        @Option(help: "Maximum number of deliveries.") var limit: Int32 = 100

        func validate() throws {
            guard (1...100_000).contains(limit) else {
                throw ValidationError("--limit must be from 1 to 100000.")
            }
            guard !dead || state == nil else {
                throw ValidationError("Specify either --dead or --state.")
            }
        }

        func run() throws {
            let id = try webhook.id
            let connection = try connect(try loadConfiguration())
            _ = try WebhookRecord.find(id, connection)
            let deliveries = try WebhookDeliveryRecord.list(
                of: id, state: dead ? .dead : state, limit: limit, connection)
            output.print(
                .list(deliveries.map(Self.json)),
                Table(
                    ["id", "event", "user", "type", "state", "attempts", "next", "last"],
                    deliveries.map {
                        [
                            $0.id.description, $0.eventAt, $0.userID.description, $0.type,
                            $0.state.rawValue, "\($0.attempts)", $0.dueAt ?? "-",
                            $0.lastError ?? $0.lastStatus.map { "\($0)" } ?? "-",
                        ]
                    }))
        }

        private static func json(_ delivery: WebhookDeliveryRecord) -> Value {
            func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
            return .object([
                .init("id", .string(delivery.id.description)),
                .init("userId", .string(delivery.userID.description)),
                .init("type", .string(delivery.type)), .init("eventAt", .string(delivery.eventAt)),
                .init("state", .string(delivery.state.rawValue)),
                .init("attempts", .int(delivery.attempts)), .init("dueAt", text(delivery.dueAt)),
                .init("attemptedAt", text(delivery.attemptedAt)),
                .init("lastStatus", delivery.lastStatus.map { .int($0) } ?? .null),
                .init("lastError", text(delivery.lastError)),
            ])
        }
    }

    struct Retry: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send dead letters again.",
            discussion: """
                They are sent in their order, before newer events of the same user that still wait. The server tries again for \
                three days.

                Examples:
                  bookplate-admin webhook retry --dead \\
                    0198c0de-0000-7000-8000-000000000001
                  bookplate-admin webhook retry 0198c0de-0000-7000-8000-000000000001 \\
                    0198c0de-0000-7000-8000-000000000002
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @ArgumentParser.Argument(help: "The IDs of deliveries: see `webhook deliveries`.")
        var deliveries: [String] = []
        @Flag(help: "Send all dead letters of the webhook.") var dead = false
        @OptionGroup var dryRunOptions: DryRunOptions

        func validate() throws {
            guard deliveries.isEmpty == dead else {
                throw ValidationError("Specify either IDs of deliveries or --dead.")
            }
            if let id = deliveries.first(where: { UUID($0) == nil }) {
                throw ValidationError(
                    "'\(id)' is not the ID of a delivery: it must be a UUID. See bookplate-admin webhook deliveries."
                )
            }
        }

        func run() throws {
            let id = try webhook.id
            let connection = try connect(try loadConfiguration())
            let retried = try dryRunOptions.attempt(connection) {
                _ = try WebhookRecord.find(id, connection)
                return try WebhookDeliveryRecord.retry(
                    dead ? nil : deliveries.compactMap { UUID($0) }, of: id, connection)
            }
            output.print(
                .object([.init("retried", .int(retried.result))] + retried.members),
                lines: ["\(retried.verb("retried", "retry")) \(retried.result)"] + retried.lines)
        }
    }
}

extension WebhookDeliveryRecord.State: ExpressibleByArgument {}
