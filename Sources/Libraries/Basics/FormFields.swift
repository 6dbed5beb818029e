/// Fields in the format `application/x-www-form-urlencoded`, such as the query of a URL or the body of a form.
///
/// The parser is stricter than browsers: an invalid escape, invalid UTF-8, or a duplicate name is an error.
///
/// Spec: https://url.spec.whatwg.org/#urlencoded-parsing
package struct FormFields: Equatable, Sendable {
    package enum Problem: Error {
        case duplicate, invalidEscape, notUTF8, tooMany
    }

    private let values: [String: String]

    package subscript(name: String) -> String? { values[name] }

    package init(
        _ text: some Collection<UInt8>, fieldsMax: Int = .max
    ) throws(Problem) {
        var values: [String: String] = [:]
        for pair in text.split(separator: UInt8(ascii: "&")) {
            guard values.count < fieldsMax else { throw .tooMany }
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = try Self.decode(pair[..<(equals ?? pair.endIndex)])
            let value = try equals.map { equals throws(Problem) in
                try Self.decode(pair[pair.index(after: equals)...])
            }
            guard values.updateValue(value ?? "", forKey: name) == nil else { throw .duplicate }
        }
        self.values = values
    }

    /// Whether a value contains a NUL character, which PostgreSQL cannot store.
    package var hasNUL: Bool { values.values.contains { $0.utf8.contains(0) } }

    private static func decode(_ text: some Collection<UInt8>) throws(Problem) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexDigit),
                    let low = rest.next().flatMap(hexDigit)
                else { throw .invalidEscape }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return decoded
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
