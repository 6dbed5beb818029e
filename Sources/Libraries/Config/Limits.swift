extension Configuration {
    /// The limits of a single request and of a single client.
    package struct Limits: Sendable, Equatable {
        /// The maximum nesting of selection sets, counting those in fragments.
        package var selectionDepthMax = 15
        /// The maximum number of fields after fragments are expanded.
        package var fieldsMax = 2_000
        package var aliasesMax = 60
        /// The maximum number of nodes that a response could contain.
        package var costMax = 10_000
        package var documentTokensMax = 5_000
        package var bodyBytesMax = 1 << 20
        /// The maximum size of a single response in bytes.
        package var responseBytesMax = 8 << 20
        /// The maximum number of response bytes that the clients of one address have not yet read.
        package var unreadBytesPerAddressMax = 64 << 20
        /// The maximum number of response bytes that all clients of the process have not yet read.
        package var unreadBytesMax = 256 << 20
        /// The limit per user. 0 means no limit. A request that can return many objects counts as several.
        package var requestsPerMinuteMax = 600
        /// The limit per client address. 0 means no limit.
        package var addressRequestsPerMinuteMax = 6_000
        /// The time of the database that one unit of a request pays for. 0 means that time costs nothing.
        package var millisecondsPerUnit = 10
        /// The limit per client address. 0 means no limit.
        package var signInsPerMinuteMax = 30
        /// The limit per client address. 0 means no limit.
        package var refreshesPerMinuteMax = 150
        /// The limit for new guests per client address. 0 means no limit.
        package var guestsPerMinuteMax = 10
        /// The limit for new guests per tenant. 0 means no limit.
        package var tenantGuestsPerMinuteMax = 300

        /// The share of the memory that the process may use, in percent, above which new requests are refused.
        package var memoryPercentMax = 80

        /// The maximum number of requests in a batch. 0 allows only single requests.
        package var batchRequestsMax = 0

        /// Creates the default limits of production.
        package init() {}

        /// Parses a list such as `depth=15,body=1048576`.
        static func read(_ text: String) throws(Malformed) -> Limits {
            var limits = Limits()
            var given: Set<String> = []
            for entry in try Read.list(text) {
                let pair = entry.split(separator: "=", omittingEmptySubsequences: false)
                let name = String(pair[0])  // `split` returns at least one part
                guard let field = fields[name] else {
                    throw Malformed(
                        "has '\(name)', which is not one of "
                            + "depth, fields, aliases, cost, tokens, body, batch, response, unread, unread-total, "
                            + "memory, rate, time, address, signin, refresh, guest, tenant-guest"
                    )
                }
                guard pair.count == 2 else {
                    throw Malformed("has '\(entry)'; each entry must be NAME=NUMBER, like depth=15")
                }
                let numberMin = rates.contains(name) || ["batch", "time"].contains(name) ? 0 : 1
                guard let number = Int(pair[1]), (numberMin...numberMax).contains(number) else {
                    throw Malformed(
                        "has '\(entry)'; \(name) must be a whole number from \(numberMin) to \(numberMax)"
                    )
                }
                limits[keyPath: field] = number
                given.insert(name)
            }
            try limits.fitUnreadLimits(given)
            if given.isDisjoint(with: rates) { return limits }
            // The other rates follow the rate per user: the address rate is ten times as high, and if the rate per user is off,
            // all of them are off.
            if given.contains("rate"), !given.contains("address") {
                limits.addressRequestsPerMinuteMax = limits.requestsPerMinuteMax * 10
            }
            if limits.requestsPerMinuteMax == 0 {
                if !given.contains("signin") { limits.signInsPerMinuteMax = 0 }
                if !given.contains("refresh") { limits.refreshesPerMinuteMax = 0 }
                if !given.contains("guest") { limits.guestsPerMinuteMax = 0 }
                if !given.contains("tenant-guest") { limits.tenantGuestsPerMinuteMax = 0 }
            }
            limits.areRatesGiven = true
            return limits
        }

        /// Checks that `response` is at most `unread`, and `unread` at most `unread-total`.
        ///
        /// A limit that is not in `given` is raised to twice the smaller limit if its default is lower.
        private mutating func fitUnreadLimits(_ given: Set<String>) throws(Malformed) {
            if !given.contains("unread") {
                unreadBytesPerAddressMax = max(unreadBytesPerAddressMax, 2 * responseBytesMax)
            }
            if !given.contains("unread-total") {
                unreadBytesMax = max(unreadBytesMax, 2 * unreadBytesPerAddressMax)
            }
            guard unreadBytesPerAddressMax >= responseBytesMax else {
                throw Malformed(
                    "has unread=\(unreadBytesPerAddressMax), which must be at least response (\(responseBytesMax))"
                )
            }
            guard unreadBytesMax >= unreadBytesPerAddressMax else {
                throw Malformed(
                    "has unread-total=\(unreadBytesMax), which must be at least unread (\(unreadBytesPerAddressMax))"
                )
            }
        }

        /// Whether a rate was configured. If not, rates are unlimited in development, where the only clients are the developer
        /// and tests.
        var areRatesGiven = false

        /// These limits without rate limits.
        var withoutRates: Limits {
            var limits = self
            for name in Self.rates {
                if let field = Self.fields[name] { limits[keyPath: field] = 0 }
            }
            return limits
        }

        private static let numberMax = 1_000_000_000
        private static let rates: Set = [
            "rate", "address", "signin", "refresh", "guest", "tenant-guest",
        ]
        private static let fields: [String: WritableKeyPath<Limits, Int> & Sendable] = [
            "depth": \.selectionDepthMax, "fields": \.fieldsMax, "aliases": \.aliasesMax,
            "cost": \.costMax, "tokens": \.documentTokensMax, "body": \.bodyBytesMax,
            "batch": \.batchRequestsMax, "response": \.responseBytesMax,
            "unread": \.unreadBytesPerAddressMax, "unread-total": \.unreadBytesMax,
            "memory": \.memoryPercentMax, "rate": \.requestsPerMinuteMax,
            "time": \.millisecondsPerUnit,
            "address": \.addressRequestsPerMinuteMax,
            "signin": \.signInsPerMinuteMax, "refresh": \.refreshesPerMinuteMax,
            "guest": \.guestsPerMinuteMax, "tenant-guest": \.tenantGuestsPerMinuteMax,
        ]
    }
}
