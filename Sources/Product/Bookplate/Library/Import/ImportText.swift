/// The encodings of files to import.
///
/// Spreadsheets and older exports write UTF-16 with a byte order mark, or Windows-1252, of which Latin-1 is a part.
enum ImportText {
    /// Returns the bytes as UTF-8 without a byte order mark if the file is UTF-16, and otherwise the bytes without their mark.
    /// Text in Windows-1252 has no mark; its fields are decoded one by one by `text`.
    static func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            // Calibre up to version 4 wrote the mark as three characters of Latin-1.
            let rest = Array(bytes.dropFirst(3))
            return rest.starts(with: Array("ï»¿".utf8)) ? Array(rest.dropFirst(6)) : rest
        }
        if bytes.starts(with: Array("ï»¿".utf8)) { return Array(bytes.dropFirst(6)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return utf8(ofUTF16: bytes, high: 1) }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf8(ofUTF16: bytes, high: 0) }
        return bytes
    }

    /// Returns the UTF-8 bytes of UTF-16 text after its byte order mark. Surrogates without a partner, and a byte after the last
    /// pair, become U+FFFD.
    ///
    /// - Parameter high: The position of the higher byte in each pair.
    private static func utf8(ofUTF16 bytes: [UInt8], high: Int) -> [UInt8] {
        let units = stride(from: 2, to: bytes.count, by: 2).lazy.map { start -> UInt16 in
            guard start + 1 < bytes.count else { return 0xFFFD }
            return UInt16(bytes[start + high]) << 8 | UInt16(bytes[start + 1 - high])
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        _ = transcode(
            units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: false
        ) { text.append($0) }
        return text
    }

    /// Returns the text of bytes that are UTF-8 or otherwise Windows-1252.
    ///
    /// A field of Windows-1252 that contains letters beyond ASCII is hardly ever valid UTF-8 by chance.
    static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map(windows1252)))
    }

    /// Returns the bytes as they are if they are UTF-8, and otherwise converted from Windows-1252.
    static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        (try? UTF8Span(validating: bytes.span)) == nil ? Array(text(bytes).utf8) : bytes
    }

    /// https://encoding.spec.whatwg.org/index-windows-1252.txt
    private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
        guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(beyondLatin1[Int(byte) - 0x80]) ?? "\u{FFFD}"
    }

    /// The characters from 0x80 to 0x9F. The five bytes without a character are control characters.
    private static let beyondLatin1: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013,
        0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
    ]
}
