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
        guard entry.utf8.count <= 45 else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, String(entry), &v4) == 1 {
            self.init(v4: v4)
        } else if inet_pton(AF_INET6, String(entry), &v6) == 1 {
            self.init(v6: v6)
        } else {
            return nil
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
package struct TrustedProxies: Sendable {
    private struct Block {
        let base: ClientAddress
        let highMask: UInt64
        let lowMask: UInt64

        func contains(_ address: ClientAddress) -> Bool {
            (address.high ^ base.high) & highMask == 0 && (address.low ^ base.low) & lowMask == 0
        }
    }

    /// The maximum number of entries that are followed. Real chains are shorter.
    private static let hopsMax = 16

    private let blocks: [Block]

    /// - Parameter networks: Addresses and CIDR blocks, validated by the configuration. If empty, no header is trusted.
    package init(_ networks: [String] = []) {
        blocks = networks.compactMap { network in
            let parts = network.split(separator: "/")
            guard let text = parts.first, let base = ClientAddress(text) else { return nil }
            let isV4 = !text.contains(":")
            let bits = (parts.count > 1 ? Int(parts[1]) : nil).map { isV4 ? $0 + 96 : $0 } ?? 128
            // Shifts by 64 or more result in 0.
            return Block(
                base: base, highMask: UInt64.max << UInt64(max(0, 64 - bits)),
                lowMask: bits <= 64 ? 0 : UInt64.max << UInt64(128 - bits))
        }
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
