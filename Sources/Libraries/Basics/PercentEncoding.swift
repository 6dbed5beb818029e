extension String {
    /// The text with `%XX` for each byte that is not an unreserved character of RFC 3986 (letters, digits, `-`, `.`, `_`, `~`).
    ///
    /// - Parameter kept: Bytes that stay as they are in addition, such as the slashes of a path.
    package func percentEncoded(keeping kept: Set<UInt8> = []) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case let byte where kept.contains(byte): bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
