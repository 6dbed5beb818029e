import NIOCore

/// The opcodes that are not reserved.
///
/// Spec: RFC 6455, section 5.2
enum FrameOpcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue >= 0x8 }
}

extension ByteBuffer {
    /// Writes the header of a server's frame, which is neither fragmented nor masked.
    ///
    /// Spec: RFC 6455, section 5.2
    mutating func writeFrameHeader(_ opcode: FrameOpcode, payloadBytes: Int) {
        writeInteger(0x80 | opcode.rawValue)
        switch payloadBytes {
        case ...125: writeInteger(UInt8(payloadBytes))
        case ...0xFFFF:
            writeInteger(126 as UInt8)
            writeInteger(UInt16(payloadBytes))
        default:
            writeInteger(127 as UInt8)
            writeInteger(UInt64(payloadBytes))
        }
    }
}
