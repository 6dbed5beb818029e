import Glibc
import GraphQLServing
import NIOCore

extension ClientAddress {
    /// Creates the address of a TCP connection's peer; nil for any other socket.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let v4): self.init(v4: v4.address.sin_addr)
        case .v6(let v6): self.init(v6: v6.address.sin6_addr)
        case .unixDomainSocket, nil: return nil
        }
    }

    /// Parses an entry of `X-Forwarded-For`: `192.0.2.1` or `2001:db8::1`, with brackets or a port if the proxy writes
    /// them.
    init?(_ text: some StringProtocol) {
        var entry = text.drop { $0 == " " || $0 == "\t" }
        while entry.last == " " || entry.last == "\t" { entry = entry.dropLast() }
        if entry.first == "[" {
            guard let end = entry.firstIndex(of: "]") else { return nil }
            entry = entry[..<end].dropFirst()
        } else if entry.contains("."), let colon = entry.firstIndex(of: ":"),
            entry[colon...].dropFirst().allSatisfy(\.isNumber)
        {
            entry = entry[..<colon]
        }
        self.init(addressOnly: String(entry))
    }

    /// Parses an address without brackets, a port, or spaces.
    fileprivate init?(addressOnly text: some StringProtocol) {
        let entry = String(text)
        guard entry.utf8.count <= 45 else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, entry, &v4) == 1 {
            self.init(v4: v4)
        } else if inet_pton(AF_INET6, entry, &v6) == 1 {
            self.init(v6: v6)
        } else {
            return nil
        }
    }

    /// The address as text, such as `192.0.2.1` or `2001:db8::1`.
    var text: String {
        var bytes = [UInt8](repeating: 0, count: 16)
        for index in 0..<8 {
            bytes[index] = UInt8(truncatingIfNeeded: high >> (56 - 8 * index))
            bytes[8 + index] = UInt8(truncatingIfNeeded: low >> (56 - 8 * index))
        }
        if high == 0, low >> 32 == 0xFFFF {
            return bytes[12...].map { "\($0)" }.joined(separator: ".")
        }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) {
            guard
                let text = inet_ntop(AF_INET6, bytes, $0.baseAddress, socklen_t(INET6_ADDRSTRLEN))
            else { return "" }
            return String(cString: text)
        }
    }

    private init(v4: in_addr) {
        self.init(
            high: 0, low: 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: v4.s_addr)))
    }

    private init(v6: in6_addr) {
        self = withUnsafeBytes(of: v6) {
            ClientAddress(
                high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}

/// The proxies in front of this server whose `X-Forwarded-For` headers are trusted.
///
/// ```swift
/// options.trustedProxies = try TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])
/// ```
public struct TrustedProxies: Sendable {
    /// The text is not an address or a CIDR block.
    public struct InvalidNetwork: Error, CustomStringConvertible {
        /// The invalid text.
        public let text: String

        /// The message of the error.
        public var description: String {
            "'\(text)' is not an address such as 10.0.0.1 or 10.0.0.0/8"
        }
    }

    private struct Block {
        let base: ClientAddress
        let highMask: UInt64
        let lowMask: UInt64

        init?(_ network: String) {
            let parts = network.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let base = ClientAddress(addressOnly: parts[0]) else {
                return nil
            }
            let isV4 = !parts[0].contains(":")
            let bitsMax = isV4 ? 32 : 128
            let length = parts.count == 2 ? Int(parts[1]) ?? -1 : bitsMax
            guard (0...bitsMax).contains(length) else { return nil }
            let bits = 128 - bitsMax + length
            self.base = base
            // Shifts by 64 or more result in 0.
            highMask = UInt64.max << UInt64(max(0, 64 - bits))
            lowMask = bits <= 64 ? 0 : UInt64.max << UInt64(128 - bits)
        }

        func contains(_ address: ClientAddress) -> Bool {
            (address.high ^ base.high) & highMask == 0 && (address.low ^ base.low) & lowMask == 0
        }
    }

    /// The maximum number of entries that are followed. Real chains are shorter.
    private static let hopsMax = 16

    private let blocks: [Block]

    /// Trusts no proxy: the client of a request is the peer of its connection.
    public init() { blocks = [] }

    /// Creates the set of proxies with these addresses.
    ///
    /// - Parameter networks: Addresses and CIDR blocks of IPv4 and IPv6.
    public init(_ networks: [String]) throws(InvalidNetwork) {
        var blocks: [Block] = []
        for network in networks {
            guard let block = Block(network) else { throw InvalidNetwork(text: network) }
            blocks.append(block)
        }
        self.blocks = blocks
    }

    /// Returns the client of a request.
    ///
    /// This is the peer, unless the peer is a trusted proxy. In that case the client is the last address in
    /// `X-Forwarded-For` that is not a trusted proxy. The client may have forged the entries before that one, so they
    /// are ignored.
    func client(of peer: ClientAddress?, forwardedFor: String?) -> ClientAddress? {
        guard !blocks.isEmpty, let peer, isTrusted(peer), let forwardedFor else { return peer }
        var client = peer
        for entry in forwardedFor.split(separator: ",").reversed().prefix(Self.hopsMax) {
            guard let address = ClientAddress(entry) else { return client }
            client = address
            if !isTrusted(address) { return client }
        }
        return client
    }

    func isTrusted(_ address: ClientAddress) -> Bool {
        blocks.contains { $0.contains(address) }
    }
}
