import NIOCore

extension ByteBuffer {
    /// The size of a piece of a large response.
    static let pieceBytesMax = 64 << 10

    /// Calls `write` with the bytes in order: as they are if they are few, or else copied to pieces.
    ///
    /// A channel keeps each buffer until its last byte is sent. In one buffer, a large response would stay in memory as a
    /// whole until its client has read all of it; pieces are freed one after the other, so what a client has not read is
    /// also what it occupies.
    func forEachPiece(_ write: (ByteBuffer) -> Void) {
        if readableBytes <= Self.pieceBytesMax { return write(self) }
        var rest = readableBytesView
        while !rest.isEmpty {
            let bytes = rest.prefix(Self.pieceBytesMax)
            rest = rest.dropFirst(bytes.count)
            write(ByteBuffer(bytes: bytes))
        }
    }
}
