import NIOCore

/// Reads the frames of one client, and joins the fragments of messages.
///
/// Errors are detected as early as possible: those of a frame's header before its payload arrives, and invalid UTF-8 in
/// the fragment that contains it. After an error the reader must not be used again, because the position of the next
/// frame is unknown.
///
/// Spec: RFC 6455, section 5
struct MessageReader {
    enum Message: Equatable {
        case text([UInt8])
        case ping([UInt8])
        case pong
        /// A close frame with its code; nil if the frame has no body.
        case close(code: UInt16?)
    }

    private struct Frame {
        let opcode: FrameOpcode
        let isFinal: Bool
        let mask: UInt32
        /// The number of bytes of the payload that have not been read yet.
        var missing: Int
        /// The number of bytes of the payload that have been read. The mask repeats every four bytes.
        var offset = 0
    }

    /// The limit on the payload of a control frame.
    private static let controlBytesMax = 125

    private let messageBytesMax: Int
    private var input = ByteBuffer()
    /// The frame whose header has been read, and whose payload is arriving.
    private var frame: Frame?
    private var isInMessage = false
    /// The payload of the current message's fragments.
    private var text: [UInt8] = []
    private var validator = UTF8Validator()

    /// - Parameter messageBytesMax: The maximum size of a message with all of its fragments.
    init(messageBytesMax: Int) { self.messageBytesMax = messageBytesMax }

    /// The memory used for incomplete frames and messages.
    var bufferedBytes: Int { input.storageCapacity + text.capacity }

    /// Adds bytes that have arrived. Call `next` to read messages from them.
    mutating func append(_ bytes: ByteBuffer) {
        if input.readableBytes == 0 {
            input = bytes
        } else {
            input.discardReadBytes()
            input.writeImmutableBuffer(bytes)
        }
    }

    /// Returns the next message; nil if it is incomplete.
    mutating func next() throws(CloseFrame) -> Message? {
        while let frame = try currentFrame() {
            if frame.opcode.isControl {
                guard let payload = readControlPayload(frame) else { break }
                self.frame = nil
                switch frame.opcode {
                case .close: return .close(code: try Self.closeCode(payload))
                case .ping: return .ping(payload)
                default: return .pong
                }
            }
            guard try readText() else { break }
            self.frame = nil
            if frame.isFinal {
                guard validator.isComplete else { throw .textNotUTF8 }
                isInMessage = false
                defer { text = [] }
                return .text(text)
            }
        }
        // Releases an empty buffer, so that the channel can reuse its memory for reading.
        if input.readableBytes == 0 { input = ByteBuffer() }
        return nil
    }

    // MARK: Headers

    private mutating func currentFrame() throws(CloseFrame) -> Frame? {
        if frame == nil { frame = try readHeader() }
        return frame
    }

    private mutating func readHeader() throws(CloseFrame) -> Frame? {
        let start = input.readerIndex
        guard let bits: UInt16 = input.getInteger(at: start) else { return nil }
        let isFinal = bits & 0x8000 != 0
        guard bits & 0x7000 == 0 else {
            throw CloseFrame(.protocolError, "A reserved bit is set without an extension.")
        }
        guard let opcode = FrameOpcode(rawValue: UInt8(bits >> 8 & 0xF)) else {
            throw CloseFrame(.protocolError, "Opcode \(bits >> 8 & 0xF) is reserved.")
        }
        guard bits & 0x80 != 0 else {
            throw CloseFrame(.protocolError, "Frames from clients must be masked.")
        }
        try checkOrder(opcode, isFinal: isFinal)
        let shortLength = Int(bits & 0x7F)
        guard !opcode.isControl || shortLength <= Self.controlBytesMax else {
            throw CloseFrame(
                .protocolError, "The payload of a control frame must have at most 125 bytes.")
        }
        guard opcode != .binary else {
            throw CloseFrame(.badRequest, "Binary messages are not supported. Send text.")
        }
        guard let (length, headerBytes) = try payloadLength(shortLength, at: start + 2) else {
            return nil
        }
        guard opcode.isControl || length <= messageBytesMax - text.count else {
            throw CloseFrame(
                .messageTooBig, "A message must have at most \(messageBytesMax) bytes.")
        }
        guard let mask: UInt32 = input.getInteger(at: start + headerBytes) else { return nil }
        input.moveReaderIndex(forwardBy: headerBytes + 4)
        if opcode == .text {
            isInMessage = true
            validator = UTF8Validator()
        }
        return Frame(opcode: opcode, isFinal: isFinal, mask: mask, missing: length)
    }

    /// Checks that a frame of this kind is allowed now. Fragments of one message follow each other, and only control
    /// frames may come between them.
    private func checkOrder(_ opcode: FrameOpcode, isFinal: Bool) throws(CloseFrame) {
        switch opcode {
        case .continuation:
            guard isInMessage else {
                throw CloseFrame(.protocolError, "There is no message to continue.")
            }
        case .text, .binary:
            guard !isInMessage else {
                throw CloseFrame(.protocolError, "The previous message is not finished.")
            }
        case .close, .ping, .pong:
            guard isFinal else {
                throw CloseFrame(.protocolError, "Control frames must not be fragmented.")
            }
        }
    }

    /// - Parameters:
    ///   - shortLength: The length in the second byte. 126 and 127 announce a longer field.
    ///   - position: The index of that field.
    /// - Returns: The length of the payload, and that of the header without the mask; nil if the field is incomplete.
    private func payloadLength(
        _ shortLength: Int, at position: Int
    ) throws(CloseFrame) -> (length: Int, headerBytes: Int)? {
        let length: UInt64
        let headerBytes: Int
        let smallest: UInt64
        switch shortLength {
        case 126:
            guard let field: UInt16 = input.getInteger(at: position) else { return nil }
            (length, headerBytes, smallest) = (UInt64(field), 4, 126)
        case 127:
            guard let field: UInt64 = input.getInteger(at: position) else { return nil }
            (length, headerBytes, smallest) = (field, 10, 1 << 16)
        default:
            return (shortLength, 2)
        }
        guard length >= smallest, let length = Int(exactly: length) else {
            throw CloseFrame(
                .protocolError, "The payload's length is not encoded in the shortest form.")
        }
        return (length, headerBytes)
    }

    // MARK: Payloads

    /// Reads the bytes of a text frame that have arrived.
    ///
    /// - Returns: Whether the frame is complete.
    private mutating func readText() throws(CloseFrame) -> Bool {
        guard var frame else { return false }
        let start = text.count
        let count = min(frame.missing, input.readableBytes)
        text.append(contentsOf: input.readableBytesView.prefix(count))
        input.moveReaderIndex(forwardBy: count)
        var validator = validator
        let isUTF8 = text.withUnsafeMutableBufferPointer { text in
            let arrived = UnsafeMutableBufferPointer(rebasing: text[start...])
            arrived.unmask(frame.mask, offset: frame.offset)
            return validator.validate(UnsafeBufferPointer(arrived))
        }
        guard isUTF8 else { throw .textNotUTF8 }
        self.validator = validator
        frame.missing -= count
        frame.offset += count
        self.frame = frame
        return frame.missing == 0
    }

    /// Reads the payload of a control frame; nil if it is incomplete.
    private mutating func readControlPayload(_ frame: Frame) -> [UInt8]? {
        guard var payload = input.readBytes(length: frame.missing) else { return nil }
        payload.withUnsafeMutableBufferPointer { $0.unmask(frame.mask, offset: 0) }
        return payload
    }

    /// Returns the code of a close frame.
    ///
    /// Spec: RFC 6455, sections 5.5.1 and 7.4
    private static func closeCode(_ payload: [UInt8]) throws(CloseFrame) -> UInt16? {
        if payload.isEmpty { return nil }
        guard payload.count >= 2 else {
            throw CloseFrame(
                .protocolError, "The body of a close frame must begin with a code of two bytes.")
        }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard CloseCode.mayBeSent(code) else {
            throw CloseFrame(.protocolError, "Close code \(code) must not be sent.")
        }
        var validator = UTF8Validator()
        let isUTF8 = payload.withUnsafeBufferPointer {
            validator.validate(UnsafeBufferPointer(rebasing: $0[2...]))
        }
        guard isUTF8, validator.isComplete else {
            throw CloseFrame(.notUTF8, "The reason of the close frame is not UTF-8.")
        }
        return code
    }
}

extension CloseFrame {
    fileprivate static let textNotUTF8 = CloseFrame(.notUTF8, "The message is not UTF-8.")
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Applies a frame's mask in place.
    ///
    /// - Parameter offset: The number of bytes of the payload before these.
    fileprivate func unmask(_ mask: UInt32, offset: Int) {
        for index in indices {
            let shift = UInt32(24 - 8 * ((offset + index) & 3))
            self[index] ^= UInt8(truncatingIfNeeded: mask >> shift)
        }
    }
}
