extension Configuration {
    /// What one request, or one user, may ask for.
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
        /// Of one user; 0 is no limit.
        package var requestsPerMinuteMax = 600

        /// Requests in one body; 0 takes single requests only.
        package var batchRequestsMax = 0

        /// `name=number` between commas: depth, fields, aliases, cost, tokens, body, rate, batch.
        static func read(_ text: String) throws(Malformed) -> Limits {
            var limits = Limits()
            for entry in try Read.list(text) {
                let pair = entry.split(separator: "=", omittingEmptySubsequences: false)
                let lowest = pair.first == "rate" || pair.first == "batch" ? 0 : 1
                guard pair.count == 2, let number = Int(pair[1]),
                    (lowest...1_000_000_000).contains(number)
                else { throw Malformed("must be like depth=15,body=1048576") }
                switch pair[0] {
                case "depth": limits.selectionDepthMax = number
                case "fields": limits.fieldsMax = number
                case "aliases": limits.aliasesMax = number
                case "cost": limits.costMax = number
                case "tokens": limits.documentTokensMax = number
                case "body": limits.bodyBytesMax = number
                case "rate": limits.requestsPerMinuteMax = number
                case "batch": limits.batchRequestsMax = number
                default:
                    throw Malformed(
                        "has '\(pair[0])', which is not one of "
                            + "depth, fields, aliases, cost, tokens, body, rate, batch")
                }
            }
            return limits
        }
    }
}
