/// What a fetcher may reach and how it introduces itself.
package struct FetchPolicy: Sendable {
    /// Sent as `User-Agent`.
    package var userAgent: String
    /// Hosts and networks that may be reached although they are private, on any port.
    package var allowed: FetchAllowList
    /// Transfers under way at once; further ones fail with `.overloaded`.
    package var transfersMax: Int

    package init(
        userAgent: String, allowed: FetchAllowList = FetchAllowList(), transfersMax: Int = 256
    ) {
        self.userAgent = userAgent
        self.allowed = allowed
        self.transfersMax = transfersMax
    }

    /// Whether a socket may be opened to `address`, which was looked up for `host`.
    ///
    /// This is asked after name look-up and before connecting, so a name that changes its address between two
    /// look-ups gains nothing. Private targets only by the allow-list; public ones only on the web's own ports.
    package func permits(_ address: IPAddress, port: UInt16, host: String) -> Bool {
        if allowed.contains(host: host) || allowed.contains(address) { return true }
        return address.isPublic && (port == 80 || port == 443)
    }
}

/// Exceptions to the rule that only public addresses are reached.
package struct FetchAllowList: Sendable, Equatable {
    private var hosts: [String] = []
    private var networks: [IPNetwork] = []

    /// Nothing private is reached.
    package init() {}

    /// Reads a comma-separated list of host names, addresses and CIDR blocks: `localhost, 10.1.0.0/16, [::1]`.
    ///
    /// - Throws: the first entry that is none of these.
    package init(parsing text: String) throws(InvalidEntry) {
        for part in text.split(separator: ",") {
            let entry = part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            let word = String(entry)
            if word.isEmpty { continue }
            if let network = IPNetwork(word) {
                networks.append(network)
            } else if isHostName(word) {
                hosts.append(word)
            } else {
                throw InvalidEntry(text: word)
            }
        }
    }

    /// An entry that is neither a host name nor an address nor a CIDR block.
    package struct InvalidEntry: Error, Equatable, Sendable {
        package var text: String
    }

    func contains(host: String) -> Bool {
        hosts.contains { equalIgnoringCase($0, host) }
    }

    func contains(_ address: IPAddress) -> Bool {
        networks.contains { $0.contains(address) }
    }
}

/// Letters, digits, hyphens and dots: what a DNS name is made of, with a letter so that a mistyped address is none.
private func isHostName(_ text: String) -> Bool {
    let bytes = text.utf8
    return bytes.count <= 253
        && bytes.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        } && bytes.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
}
