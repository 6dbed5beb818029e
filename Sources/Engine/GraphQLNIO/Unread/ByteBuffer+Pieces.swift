import NIOCore

extension ByteBuffer {
    /// The maximum size of one piece of a large response.
    static let pieceBytesMax = 64 << 10

    /// Calls `write` with the bytes in order: with the buffer itself if it is small, otherwise with copies of its
    /// pieces.
    ///
    /// A channel keeps each buffer until its last byte is sent. A large response in one buffer would stay in memory
    /// until the client has read all of it. Pieces are released one by one, so the memory in use is the number of
    /// unread bytes.
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
