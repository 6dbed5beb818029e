import Glibc

/// An IP address as its bytes in network order: 4 for IPv4, 16 for IPv6.
package struct IPAddress: Sendable, Equatable {
    package let bytes: [UInt8]

    package init(v4 bytes: (UInt8, UInt8, UInt8, UInt8)) {
        self.bytes = [bytes.0, bytes.1, bytes.2, bytes.3]
    }

    /// Parses a dotted IPv4 address or an IPv6 address (RFC 4291) with or without brackets. Zones and octal
    /// or hexadecimal forms of IPv4 are rejected.
    package init?(_ text: String) {
        var word = Substring(text)
        if word.hasPrefix("["), word.hasSuffix("]") { word = word.dropFirst().dropLast() }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, String(word), &v4) == 1 {
            bytes = withUnsafeBytes(of: &v4) { Array($0) }
        } else if inet_pton(AF_INET6, String(word), &v6) == 1 {
            bytes = withUnsafeBytes(of: &v6) { Array($0) }
        } else {
            return nil
        }
    }

    /// Reads the address and port of a socket address; nil for families other than IPv4 and IPv6.
    static func from(
        _ raw: UnsafeRawPointer, length: Int
    ) -> (address: IPAddress, port: UInt16)? {
        let family = raw.loadUnaligned(as: sa_family_t.self)
        if family == sa_family_t(AF_INET), length >= MemoryLayout<sockaddr_in>.size {
            var v4 = raw.loadUnaligned(as: sockaddr_in.self)
            let bytes = withUnsafeBytes(of: &v4.sin_addr) { Array($0) }
            return (IPAddress(bytes: bytes), UInt16(bigEndian: v4.sin_port))
        }
        if family == sa_family_t(AF_INET6), length >= MemoryLayout<sockaddr_in6>.size {
            var v6 = raw.loadUnaligned(as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: &v6.sin6_addr) { Array($0) }
            return (IPAddress(bytes: bytes), UInt16(bigEndian: v6.sin6_port))
        }
        return nil
    }

    fileprivate init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether this is a unicast address of the public internet.
    ///
    /// An IPv6 address is public only inside 2000::/3, and only if it does not embed an IPv4 address (mapped,
    /// compatible, NAT64, 6to4, Teredo), because a gateway would deliver it to the embedded address.
    ///
    /// Spec: https://www.iana.org/assignments/iana-ipv4-special-registry,
    /// https://www.iana.org/assignments/iana-ipv6-special-registry
    package var isPublic: Bool {
        if bytes.count == 4 { return !IPNetwork.notPublicV4.contains { $0.contains(self) } }
        return IPNetwork.globalUnicastV6.contains(self)
            && !IPNetwork.notPublicV6.contains { $0.contains(self) }
    }
}

/// A block of addresses of one family that share their first `prefixBits` bits.
package struct IPNetwork: Sendable, Equatable {
    package let base: IPAddress
    package let prefixBits: Int

    /// Parses `10.0.0.0/8`, `fd00::/8`, or a single address. Bits after the prefix are ignored.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let base = IPAddress(String(parts[0])) else { return nil }
        let bitsMax = base.bytes.count * 8
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
                let bits = Int(parts[1]), bits <= bitsMax
            else { return nil }
            prefixBits = bits
        } else {
            prefixBits = bitsMax
        }
        self.base = base
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        let whole = prefixBits / 8
        guard address.bytes.prefix(whole) == base.bytes.prefix(whole) else { return false }
        let rest = prefixBits % 8
        if rest == 0 { return true }
        let mask = UInt8.max << UInt8(8 - rest)
        return address.bytes[whole] & mask == base.bytes[whole] & mask
    }

    // All texts below are valid, so compactMap drops none; a test counts the results.
    static let notPublicV4 = [
        "0.0.0.0/8",  // this network
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",  // private use
        "100.64.0.0/10",  // carrier-grade NAT
        "127.0.0.0/8",  // loopback
        "169.254.0.0/16",  // link-local, cloud metadata
        "168.63.129.16/32",  // the host of a virtual machine in Azure
        "192.0.0.0/24",  // protocol assignments
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  // documentation
        "192.88.99.0/24",  // 6to4 relays
        "198.18.0.0/15",  // benchmarks
        "224.0.0.0/4",  // multicast
        "240.0.0.0/4",  // reserved and broadcast
    ].compactMap(IPNetwork.init)

    static let globalUnicastV6 = IPNetwork(
        base: IPAddress(bytes: [0x20] + [UInt8](repeating: 0, count: 15)), prefixBits: 3)

    static let notPublicV6 = [
        "2001::/23",  // protocol assignments: Teredo, ORCHID, benchmarks
        "2001:db8::/32", "3fff::/20",  // documentation
        "2002::/16",  // 6to4
        "3ffe::/16",  // the former 6bone
    ].compactMap(IPNetwork.init)

    private init(base: IPAddress, prefixBits: Int) {
        self.base = base
        self.prefixBits = prefixBits
    }
}
