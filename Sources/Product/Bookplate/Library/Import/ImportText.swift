import Basics

/// The encodings of files to import.
///
/// Spreadsheets and older exports write UTF-16 with a byte order mark, or Windows-1252, of which Latin-1 is a part. Files that other
/// programs have edited have both UTF-8 and Windows-1252.
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

    /// Returns the bytes as UTF-8 without NUL characters, which PostgreSQL cannot store. Bytes that are not UTF-8 are read as
    /// Windows-1252.
    static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        let isUTF8 = (try? UTF8Span(validating: bytes.span)) != nil
        let text = isUTF8 ? bytes : repairedUTF8(bytes)
        return text.contains(0) ? text.filter { $0 != 0 } : text
    }

    static func text(_ bytes: [UInt8]) -> String { String(decoding: utf8(bytes), as: UTF8.self) }
}
