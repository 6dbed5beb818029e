import FoundationEssentials
import Postgres

extension FoundationEssentials.UUID {
    /// Converts the type of UUIDs in the database to that in tokens.
    init(_ id: Postgres.UUID) {
        let b = id.bytes
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                b[13], b[14], b[15]
            ))
    }
}

extension Postgres.UUID {
    /// Converts the type of UUIDs in tokens to that in the database.
    init(_ id: FoundationEssentials.UUID) {
        let (high, low) = withUnsafeBytes(of: id.uuid) {
            (
                $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
        self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    }

    /// Creates a UUID from at least 16 unpredictable bytes.
    ///
    /// Spec: https://www.rfc-editor.org/rfc/rfc9562#section-5.8 (version 8)
    init(random bytes: [UInt8]) {
        precondition(bytes.count >= 16, "a UUID has 16 bytes")
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
}
