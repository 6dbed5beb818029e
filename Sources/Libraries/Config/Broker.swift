extension Configuration {
    /// An MQTT broker for events: `mqtt://user:password@host:1883`, or `mqtts://…?ca=FILE`.
    package struct Broker: Sendable, Equatable {
        package var host: String
        package var port: Int
        package var isEncrypted: Bool
        package var user: String?
        package var password: String?
        /// A file with certificates to trust instead of the system's.
        package var certificatesFile: String?

        /// Parses the address of a broker. Error messages do not contain the value, because it contains a password.
        static func read(_ text: String) throws(Malformed) -> Broker {
            let isEncrypted = text.hasPrefix("mqtts://")
            guard isEncrypted || text.hasPrefix("mqtt://") else {
                throw Malformed("must be an address that starts with mqtt:// or mqtts://")
            }
            var rest = text.dropFirst(isEncrypted ? 8 : 7)
            var broker = Broker(host: "", port: isEncrypted ? 8883 : 1883, isEncrypted: isEncrypted)
            if let questionMark = rest.firstIndex(of: "?") {
                let query = rest[rest.index(after: questionMark)...]
                guard query.hasPrefix("ca="), isEncrypted,
                    let file = decode(query.dropFirst(3)), !file.isEmpty
                else {
                    throw Malformed("may only have the parameter ?ca=FILE, and only after mqtts://")
                }
                broker.certificatesFile = file
                rest = rest[..<questionMark]
            }
            if rest.last == "/" { rest.removeLast() }
            if let at = rest.lastIndex(of: "@") {
                let credentials = rest[..<at].split(
                    separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard let user = decode(credentials[0]), !user.isEmpty else {
                    throw Malformed("has an invalid user or password: they must be percent-encoded")
                }
                broker.user = user
                if credentials.count > 1 {
                    guard let password = decode(credentials[1]) else {
                        throw Malformed(
                            "has an invalid user or password: they must be percent-encoded")
                    }
                    broker.password = password
                }
                rest = rest[rest.index(after: at)...]
            }
            if let colon = rest.lastIndex(of: ":"), rest.last != "]" {
                guard let port = Int(rest[rest.index(after: colon)...]), (1...65535).contains(port)
                else { throw Malformed("must have a port from 1 to 65535") }
                broker.port = port
                rest = rest[..<colon]
            }
            guard !rest.isEmpty, let host = try? Read.host(String(rest)) else {
                throw Malformed("must have a host name or an IP address")
            }
            broker.host = host.first == "[" ? String(host.dropFirst().dropLast()) : host
            return broker
        }

        /// Decodes percent-encoding. Returns nil for an invalid escape, invalid UTF-8, or a control character.
        private static func decode(_ text: Substring) -> String? {
            var bytes: [UInt8] = []
            var rest = text.utf8.makeIterator()
            while let byte = rest.next() {
                guard byte == UInt8(ascii: "%") else {
                    bytes.append(byte)
                    continue
                }
                guard let high = rest.next(), let low = rest.next(),
                    let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
            }
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
    }
}
