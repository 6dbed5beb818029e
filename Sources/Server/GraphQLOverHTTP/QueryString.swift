/// The parameters of a URL's query, in `application/x-www-form-urlencoded` format.
///
/// The parser is stricter than browsers: an invalid escape, invalid UTF-8, or a duplicate name is an error.
///
/// Spec: https://url.spec.whatwg.org/#urlencoded-parsing
struct QueryString: Equatable {
    private let values: [String: String]

    subscript(name: String) -> String? { values[name] }

    /// - Throws: `.badRequest` with a message for the client's developer.
    init(_ text: Substring) throws(HTTPProblem) {
        var values: [String: String] = [:]
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = try Self.decode(pair[..<(equals ?? pair.endIndex)])
            let value = try equals.map { equals throws(HTTPProblem) in
                try Self.decode(pair[pair.index(after: equals)...])
            }
            guard values.updateValue(value ?? "", forKey: name) == nil else {
                throw .badRequest("The URL contains a parameter twice.")
            }
        }
        self.values = values
    }

    private static func decode(_ text: Substring.UTF8View) throws(HTTPProblem) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexDigit),
                    let low = rest.next().flatMap(hexDigit)
                else {
                    throw .badRequest(
                        "The URL contains a % that is not followed by two hexadecimal digits.")
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw .badRequest("A parameter of the URL is not UTF-8.")
        }
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
