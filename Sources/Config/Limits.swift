extension Configuration {
    /// The limits of one request and of one client.
    package struct Limits: Sendable, Equatable {
        /// Selection sets inside one another, fragments followed.
        package var selectionDepthMax = 15
        /// Fields after fragments are followed.
        package var fieldsMax = 2_000
        package var aliasesMax = 60
        /// Nodes that the answer could have.
        package var costMax = 10_000
        package var documentTokensMax = 5_000
        package var bodyBytesMax = 1 << 20
        /// Bytes of one response.
        package var responseBytesMax = 8 << 20
        /// Bytes of responses that the clients of one address have not read.
        package var unreadBytesPerAddressMax = 64 << 20
        /// Bytes of responses that all clients of the process have not read.
        package var unreadBytesMax = 256 << 20
        /// Of one user; 0 is no limit. A request that can return many objects counts as several.
        package var requestsPerMinuteMax = 600
        /// Of one address; 0 is no limit.
        package var addressRequestsPerMinuteMax = 6_000
        /// Of one address; 0 is no limit.
        package var signInsPerMinuteMax = 30
        /// Of one address; 0 is no limit.
        package var refreshesPerMinuteMax = 150

        /// Requests in one body; 0 takes single requests only.
        package var batchRequestsMax = 0

        /// Reads a list such as `depth=15,body=1048576`.
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
                            + "rate, address, signin, refresh"
                    )
                }
                guard pair.count == 2 else {
                    throw Malformed("has '\(entry)'; it must be like depth=15,body=1048576")
                }
                let numberMin = rates.contains(name) || name == "batch" ? 0 : 1
                guard let number = Int(pair[1]), (numberMin...numberMax).contains(number) else {
                    throw Malformed(
                        "has '\(entry)'; \(name) must be a whole number from \(numberMin) to \(numberMax)"
                    )
                }
                limits[keyPath: field] = number
                given.insert(name)
            }
            try limits.fitUnread(given)
            if given.isDisjoint(with: rates) { return limits }
            // The others follow the rate of users, or are off with it.
            if given.contains("rate"), !given.contains("address") {
                limits.addressRequestsPerMinuteMax = limits.requestsPerMinuteMax * 10
            }
            if limits.requestsPerMinuteMax == 0 {
                if !given.contains("signin") { limits.signInsPerMinuteMax = 0 }
                if !given.contains("refresh") { limits.refreshesPerMinuteMax = 0 }
            }
            limits.areRatesGiven = true
            return limits
        }

        /// Checks that each of the limits on unread bytes has room for the one before it. Defaults grow with a larger limit.
        private mutating func fitUnread(_ given: Set<String>) throws(Malformed) {
            if !given.contains("unread") {
                unreadBytesPerAddressMax = max(unreadBytesPerAddressMax, 2 * responseBytesMax)
            }
            if !given.contains("unread-total") {
                unreadBytesMax = max(unreadBytesMax, 2 * unreadBytesPerAddressMax)
            }
            guard unreadBytesPerAddressMax >= responseBytesMax else {
                throw Malformed(
                    "has unread=\(unreadBytesPerAddressMax), which must be at least response, \(responseBytesMax)"
                )
            }
            guard unreadBytesMax >= unreadBytesPerAddressMax else {
                throw Malformed(
                    "has unread-total=\(unreadBytesMax), which must be at least unread, \(unreadBytesPerAddressMax)"
                )
            }
        }

        /// Whether a rate was set. Where none is, development has none: its one user is its developer, or a test.
        var areRatesGiven = false

        /// Without limits on how often.
        var withoutRates: Limits {
            var limits = self
            for name in Self.rates {
                if let field = Self.fields[name] { limits[keyPath: field] = 0 }
            }
            return limits
        }

        private static let numberMax = 1_000_000_000
        private static let rates: Set = ["rate", "address", "signin", "refresh"]
        private static let fields: [String: WritableKeyPath<Limits, Int> & Sendable] = [
            "depth": \.selectionDepthMax, "fields": \.fieldsMax, "aliases": \.aliasesMax,
            "cost": \.costMax, "tokens": \.documentTokensMax, "body": \.bodyBytesMax,
            "batch": \.batchRequestsMax, "response": \.responseBytesMax,
            "unread": \.unreadBytesPerAddressMax, "unread-total": \.unreadBytesMax,
            "rate": \.requestsPerMinuteMax,
            "address": \.addressRequestsPerMinuteMax,
            "signin": \.signInsPerMinuteMax, "refresh": \.refreshesPerMinuteMax,
        ]
    }
}
