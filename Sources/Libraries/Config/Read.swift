import Glibc

/// Parsers for the values of variables.
enum Read {
    static func text(_ text: String) throws(Malformed) -> String { text }

    static func boolean(_ text: String) throws(Malformed) -> Bool {
        switch text.lowercased() {
        case "1", "true", "yes", "on": true
        case "0", "false", "no", "off": false
        default: throw Malformed("must be on or off")
        }
    }

    static func integer(
        _ range: ClosedRange<Int>
    ) -> (String) throws(Malformed) -> Int {
        { text throws(Malformed) in
            guard let number = Int(text), range.contains(number), text.first != "+" else {
                throw Malformed(
                    "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    static func oneOf<Choice: RawRepresentable<String> & CaseIterable>(
        _ type: Choice.Type
    ) -> (String) throws(Malformed) -> Choice {
        { text throws(Malformed) in
            guard let choice = Choice(rawValue: text.lowercased()) else {
                let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw Malformed("must be one of \(names)")
            }
            return choice
        }
    }

    /// A host name or an IP address to listen on.
    static func host(_ text: String) throws(Malformed) -> String {
        guard text.utf8.count <= 255, text.utf8.allSatisfy(isHostByte) else {
            throw Malformed("must be a host name or an IP address, without a port")
        }
        return text
    }

    /// A URL with one of `schemes` and a host. Credentials, blanks, and fragments are not allowed.
    static func url(_ schemes: String...) -> (String) throws(Malformed) -> String {
        { text throws(Malformed) in
            let malformed = Malformed(
                "must be a URL that starts with "
                    + schemes.map { $0 + "://" }.joined(separator: " or "))
            guard let scheme = schemes.first(where: { text.hasPrefix($0 + "://") }) else {
                throw malformed
            }
            let rest = text.utf8.dropFirst(scheme.utf8.count + 3)
            let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            guard !authority.isEmpty, authority.allSatisfy(isHostByte),
                rest.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
            else { throw malformed }
            return text
        }
    }

    /// The URL of this server as clients see it. Trailing slashes are removed.
    static func publicURL(_ text: String) throws(Malformed) -> String {
        var url = try url("http", "https")(text)
        guard !url.contains("?") else { throw Malformed("must not have a query") }
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }

    /// An e-mail address or a web address that can be part of an HTTP header.
    static func contact(_ text: String) throws(Malformed) -> String {
        guard text.contains("@") || text.hasPrefix("https://") || text.hasPrefix("http://"),
            text.utf8.count <= 200, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Malformed("must be an e-mail address or a URL that starts with https://") }
        return text
    }

    /// A PostgreSQL connection string: a URL, or key/value pairs such as `host=… dbname=…`.
    static func database(_ text: String) throws(Malformed) -> String {
        guard
            text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") || text.contains("=")
        else {
            throw Malformed(
                "must be a connection string: postgresql://… or pairs such as host=… dbname=…")
        }
        return text
    }

    /// A comma-separated list. Blanks around entries are removed, and empty entries are rejected.
    static func list(_ text: String) throws(Malformed) -> [String] {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
        guard words.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
            throw Malformed("must be a comma-separated list without empty entries or blanks")
        }
        return words
    }

    /// A comma-separated list of IP addresses and CIDR blocks.
    static func networks(_ text: String) throws(Malformed) -> [String] {
        let networks = try list(text)
        for network in networks {
            let parts = network.split(separator: "/", omittingEmptySubsequences: false)
            var bytes = in6_addr()
            let bitsMax =
                inet_pton(AF_INET, String(parts[0]), &bytes) == 1
                ? 32 : inet_pton(AF_INET6, String(parts[0]), &bytes) == 1 ? 128 : -1
            let bits = parts.count == 1 ? bitsMax : parts.count == 2 ? Int(parts[1]) ?? -1 : -1
            guard bitsMax > 0, (0...bitsMax).contains(bits) else {
                throw Malformed(
                    "has '\(network)', which is not an address such as 10.0.0.1 or 10.0.0.0/8")
            }
        }
        return networks
    }

    static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}
