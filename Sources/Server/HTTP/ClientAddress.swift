import Glibc
import NIOCore

/// Where a request comes from: an IPv6 address, or an IPv4 address mapped into one.
package struct ClientAddress: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Of a TCP connection; nil for any other.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let v4): self.init(v4: v4.address.sin_addr)
        case .v6(let v6): self.init(v6: v6.address.sin6_addr)
        case .unixDomainSocket, nil: return nil
        }
    }

    /// Reads what stands in `X-Forwarded-For`: `192.0.2.1`, `2001:db8::1`, with brackets or a port where a proxy
    /// writes them.
    init?(_ text: some StringProtocol) {
        var word = text.drop { $0 == " " || $0 == "\t" }
        while word.last == " " || word.last == "\t" { word = word.dropLast() }
        if word.first == "[" {
            guard let end = word.firstIndex(of: "]") else { return nil }
            word = word[..<end].dropFirst()
        } else if word.contains("."), let colon = word.firstIndex(of: ":"),
            word[colon...].dropFirst().allSatisfy(\.isNumber)
        {
            word = word[..<colon]
        }
        guard word.utf8.count <= 45 else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, String(word), &v4) == 1 {
            self.init(v4: v4)
        } else if inet_pton(AF_INET6, String(word), &v6) == 1 {
            self.init(v6: v6)
        } else {
            return nil
        }
    }

    private init(v4: in_addr) {
        high = 0
        low = 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: v4.s_addr))
    }

    private init(v6: in6_addr) {
        (high, low) = withUnsafeBytes(of: v6) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}

/// The proxies in front of this server, which say whom they speak for.
package struct TrustedProxies: Sendable {
    private struct Block {
        let base: ClientAddress
        let highMask: UInt64
        let lowMask: UInt64

        func contains(_ address: ClientAddress) -> Bool {
            (address.high ^ base.high) & highMask == 0 && (address.low ^ base.low) & lowMask == 0
        }
    }

    /// Longer chains are not followed: nobody has them.
    private static let hopsMax = 16

    private let blocks: [Block]

    /// - Parameter networks: addresses and CIDR blocks, checked by the configuration; with none, nobody is believed.
    package init(_ networks: [String] = []) {
        blocks = networks.compactMap { network in
            let parts = network.split(separator: "/")
            guard let text = parts.first, let base = ClientAddress(text) else { return nil }
            let isV4 = !text.contains(":")
            let bits = (parts.count > 1 ? Int(parts[1]) : nil).map { isV4 ? $0 + 96 : $0 } ?? 128
            // Shifts by 64 and more give 0.
            return Block(
                base: base, highMask: UInt64.max << UInt64(max(0, 64 - bits)),
                lowMask: bits <= 64 ? 0 : UInt64.max << UInt64(128 - bits))
        }
    }

    /// Whom a request is from: the peer, or where that is a trusted proxy, the last address in `X-Forwarded-For` that
    /// is none. What stands before that anybody may have written.
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

    private func isTrusted(_ address: ClientAddress) -> Bool {
        blocks.contains { $0.contains(address) }
    }
}
