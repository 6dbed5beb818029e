/// Generates ids of requests, for the log and for bug reports.
struct RequestID {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private var state = UInt64.random(in: .min ... .max)

    /// Returns an id chosen by a client if it is valid: 1 to 64 letters, digits, `-`, `_`, or `.`. Returns nil
    /// otherwise.
    static func wellFormed(_ text: String) -> String? {
        guard (1...64).contains(text.utf8.count) else { return nil }
        let isValid = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isValid ? text : nil
    }

    /// Generates an id of 60 bits in 12 characters from a splitmix64 sequence with a random start. A string this short
    /// needs no heap allocation.
    mutating func next() -> String {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        bits ^= bits >> 31
        return String(unsafeUninitializedCapacity: 12) { bytes in
            for index in 0..<12 {
                bytes[index] = Self.digits[Int(bits & 31)]
                bits >>= 5
            }
            return 12
        }
    }
}
