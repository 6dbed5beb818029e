/// A media type or media range with its parameters, as in the headers `content-type` and `accept`.
///
/// Spec: RFC 9110, section 8.3.1
package struct MediaType: Equatable {
    /// The type in lower case, like `subtype`.
    var type: String
    var subtype: String
    /// The parameters: names in lower case, values unchanged but without quotes.
    var parameters: [Parameter]

    package struct Parameter: Equatable {
        var name: String
        var value: String
    }

    func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    func `is`(_ type: String, _ subtype: String) -> Bool {
        self.type == type && self.subtype == subtype
    }

    /// Whether the charset is UTF-8, which is also the default.
    var isUTF8: Bool {
        let charsets = parameters.filter { $0.name == "charset" }
        switch charsets.count {
        case 0: return true
        case 1: return ["utf-8", "utf8"].contains(charsets[0].value.lowercased())
        default: return false
        }
    }
}

extension MediaType {
    /// Whether a `content-type` header says that the body is JSON in UTF-8.
    package static func isJSON(_ contentType: String) -> Bool {
        if contentType == "application/json" { return true }
        guard let media = single(contentType) else { return false }
        return media.is("application", "json") && media.isUTF8
    }

    /// Parses a header that contains exactly one media type; nil if it is malformed or contains several.
    static func single(_ text: String) -> MediaType? {
        let list = list(text)
        return list.count == 1 ? list[0] : nil
    }

    /// Parses a comma-separated list of media types; nil for each malformed entry.
    static func list(_ text: String) -> [MediaType?] {
        var reader = HeaderReader(text)
        var entries: [MediaType?] = []
        repeat {
            reader.skipBlanks()
            // Empty entries are allowed.
            if reader.isAtEnd || reader.next == UInt8(ascii: ",") { continue }
            let entry = reader.mediaType()
            entries.append(entry)
            if entry == nil { reader.skipEntry() }
        } while reader.take(UInt8(ascii: ","))
        return entries
    }
}

/// Parses the bytes of a header's value from left to right.
private struct HeaderReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }
    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func skipBlanks() {
        while next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") { position += 1 }
    }

    /// Parses `type "/" subtype *( OWS ";" OWS [ parameter ] )` up to a comma or the end; nil if it is malformed.
    mutating func mediaType() -> MediaType? {
        guard let type = token(), take(UInt8(ascii: "/")), let subtype = token() else { return nil }
        var media = MediaType(
            type: type.lowercased(), subtype: subtype.lowercased(), parameters: [])
        skipBlanks()
        while take(UInt8(ascii: ";")) {
            skipBlanks()
            if isAtEnd || next == UInt8(ascii: ";") || next == UInt8(ascii: ",") { continue }
            guard let name = token(), take(UInt8(ascii: "=")),
                let value = next == UInt8(ascii: "\"") ? quotedString() : token()
            else { return nil }
            media.parameters.append(.init(name: name.lowercased(), value: value))
            skipBlanks()
        }
        return isAtEnd || next == UInt8(ascii: ",") ? media : nil
    }

    /// Skips to the comma that ends a malformed entry. Commas between quotes are skipped.
    mutating func skipEntry() {
        while let byte = next, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\""), quotedString() != nil { continue }
            position += 1
        }
    }

    private mutating func token() -> String? {
        let start = position
        while let byte = next, Self.isTokenByte(byte) { position += 1 }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    /// Parses a quoted string. If the closing quote is missing, returns nil and keeps the position.
    private mutating func quotedString() -> String? {
        let start = position
        var value: [UInt8] = []
        position += 1
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next else { break }
                position += 1
                value.append(escaped)
            default: value.append(byte)
            }
        }
        position = start
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
