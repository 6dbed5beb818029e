/// Which addresses a fetcher may connect to, and its other global settings.
package struct FetchPolicy: Sendable {
    /// The value of the `User-Agent` header.
    package var userAgent: String
    /// Hosts and networks that may be reached on any port, although they are private.
    package var allowed: FetchAllowList
    /// The maximum number of transfers in flight; further ones fail with `.overloaded`.
    package var transfersMax: Int
    /// A file with the certificate authorities to trust; nil for those of the system.
    package var authoritiesFile: String?
    /// Whether responses say when the certificate of the server expires.
    package var readsCertificates = false

    package init(
        userAgent: String, allowed: FetchAllowList = FetchAllowList(), transfersMax: Int = 256
    ) {
        self.userAgent = userAgent
        self.allowed = allowed
        self.transfersMax = transfersMax
    }

    /// Returns whether a socket to this address may be opened.
    ///
    /// Public addresses are permitted on ports 80 and 443, and private ones only by the allow-list. The check
    /// runs after the name was resolved and before the connection is opened, so an attacker cannot bypass it
    /// with a name that resolves to different addresses (DNS rebinding).
    ///
    /// - Parameter host: The host name that was resolved to the address.
    package func permits(_ address: IPAddress, port: UInt16, host: String) -> Bool {
        if allowed.contains(host: host) || allowed.contains(address) { return true }
        return address.isPublic && (port == 80 || port == 443)
    }
}

/// Exceptions from the rule that only public addresses may be reached.
package struct FetchAllowList: Sendable, Equatable {
    private var hosts: [String] = []
    private var networks: [IPNetwork] = []

    /// Creates an empty list.
    package init() {}

    /// Parses a comma-separated list of host names, addresses, and CIDR blocks, such as
    /// `localhost, 10.1.0.0/16, [::1]`.
    ///
    /// - Throws: The first invalid entry.
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

    /// An entry that is not a host name, an address, or a CIDR block.
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

/// Returns whether the text consists of letters, digits, hyphens, and dots. At least one letter is required,
/// so that a mistyped address is not taken for a name.
private func isHostName(_ text: String) -> Bool {
    let bytes = text.utf8
    return bytes.count <= 253
        && bytes.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        } && bytes.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
}
