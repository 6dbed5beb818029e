/// The encoding Windows-1252, of which Latin-1 is a part.
///
/// https://encoding.spec.whatwg.org/index-windows-1252.txt
package enum Windows1252 {
    package static func scalar(_ byte: UInt8) -> Unicode.Scalar {
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

/// Returns the bytes as valid UTF-8. Bytes that are not a part of a UTF-8 sequence are read as Windows-1252, so text in either
/// encoding keeps its characters, and so does UTF-8 text with a few bytes of Windows-1252.
package func repairedUTF8(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var repaired: [UInt8] = []
    repaired.reserveCapacity(bytes.count + bytes.count / 8)
    var decoder = UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    // The parser reports how many bytes an invalid sequence has, but not which ones.
    var index = bytes.startIndex
    while true {
        switch decoder.parseScalar(from: &iterator) {
        case .valid(let sequence):
            repaired += sequence
            index = bytes.index(index, offsetBy: sequence.count)
        case .error(let length):
            for _ in 0..<length {
                repaired += Array(String(Windows1252.scalar(bytes[index])).utf8)
                index = bytes.index(after: index)
            }
        case .emptyInput: return repaired
        }
    }
}
