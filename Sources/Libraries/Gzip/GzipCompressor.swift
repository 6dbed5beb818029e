import CZlib

/// Compresses contents, one after another, as gzip files. Used by one thread at a time.
///
/// Its memory of about 270 kB is reused, because allocating it takes longer than compressing a few kilobytes.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc1952
package final class GzipCompressor {
    /// zlib keeps the address of the stream.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter level: From 1, the fastest, to 9, the smallest.
    /// - Returns: nil if there is not enough memory.
    package init?(level: Int32 = Z_BEST_SPEED) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 selects the largest window, adding 16 selects the gzip format, and 8 is zlib's default for its memory.
        let code = deflateInit2_(
            stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { return nil }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses the next part of the contents. The last part completes the file.
    ///
    /// - Parameter file: Gets the compressed bytes, some of them only with a later part.
    package func compress(
        _ part: UnsafeBufferPointer<UInt8>, isLast: Bool, to file: inout [UInt8]
    ) {
        // zlib does not write to the input, although next_in is not declared const.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: part.baseAddress)
        stream.pointee.avail_in = UInt32(part.count)
        var isComplete = false
        while !isComplete {
            let capacity = Int(deflateBound(stream, UInt(stream.pointee.avail_in)))
            file.append(addingCapacity: capacity) { output in
                stream.pointee.next_out = output
                stream.pointee.avail_out = UInt32(capacity)
                let code = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                // Impossible: other codes mean that the stream was not initialized.
                precondition(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)
                isComplete =
                    isLast
                    ? code == Z_STREAM_END
                    : stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0
                return capacity - Int(stream.pointee.avail_out)
            }
        }
        if isLast { deflateReset(stream) }
    }
}

extension [UInt8] {
    /// Appends the bytes that `body` writes. It returns their number, at most `capacity`.
    fileprivate mutating func append(
        addingCapacity capacity: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int
    ) {
        self += [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            // The capacity is at least the size of gzip's header and trailer, so the address is not nil.
            count = buffer.baseAddress.map(body) ?? 0
        }
    }
}
