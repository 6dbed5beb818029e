import GraphQLServing
import Postgres

/// The key of a bucket: the ID of a user or a tenant, or the address of a client.
package struct RateKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    init(_ id: UUID) { (high, low) = (id.high, id.low) }

    /// The key of all uploads with personal access tokens that the process has not looked up. The key of an address never has
    /// this value.
    static let unknownTokens = RateKey(high: 0, low: 1)

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The bits of the key as a UUID, the type of its database column. For an address, the result is not a valid UUID.
    var id: UUID { UUID(high: high, low: low) }

    /// Creates the key of an IPv6 address or an IPv4-mapped one. An IPv6 network of 64 bits counts as one client, because
    /// clients usually control all addresses of such a network.
    package init(_ client: ClientAddress) {
        high = client.high
        low = high == 0 && client.low >> 32 == 0xFFFF ? client.low : 0
    }
}
