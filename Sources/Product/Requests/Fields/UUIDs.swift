import Postgres

extension UUID {
    /// Creates a version 8 UUID from at least 16 random bytes.
    ///
    /// Spec: https://www.rfc-editor.org/rfc/rfc9562#section-5.8
    package init(random bytes: [UInt8]) {
        precondition(bytes.count >= 16, "A UUID needs 16 bytes.")
        let (high, low) = bytes.withUnsafeBytes {
            (
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        self.init(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// The 16 bytes, most significant first.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for word in [high, low] {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}
