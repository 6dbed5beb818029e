import CZlib

/// Why compressed bytes cannot be read.
package enum GzipError: Error, Equatable, Sendable {
    /// Not gzip, damaged, or cut off.
    case damaged
    /// Larger than the caller wants.
    case tooLarge
}

/// Whether bytes begin as a gzip file does.
package func isGzip(_ bytes: some Collection<UInt8>) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

/// The contents of a gzip file, with all its members.
///
/// - Parameter bytesMax: of the contents: a small file can hold a very large one.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc1952
package func gunzip(_ bytes: [UInt8], bytesMax: Int) throws(GzipError) -> [UInt8] {
    var stream = z_stream()
    // 15 bits of window, the largest, and 16 for a gzip header.
    guard
        inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { throw .damaged }
    defer { inflateEnd(&stream) }
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 18)
    var read = 0
    while read < bytes.count {
        let (code, taken, made) = bytes[read...].withUnsafeBufferPointer { input in
            chunk.withUnsafeMutableBufferPointer { output in
                // zlib reads from here, though its header does not say const.
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(clamping: input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                let given = stream.avail_in
                let code = inflate(&stream, Z_NO_FLUSH)
                return (
                    code, Int(given - stream.avail_in), output.count - Int(stream.avail_out)
                )
            }
        }
        read += taken
        guard contents.count + made <= bytesMax else { throw .tooLarge }
        contents += chunk[..<made]
        switch code {
        case Z_STREAM_END:
            if read == bytes.count { return contents }
            // Zeros may fill the last block of a tape; anything else is another member.
            if bytes[read...].allSatisfy({ $0 == 0 }) { return contents }
            guard inflateReset(&stream) == Z_OK else { throw .damaged }
        case Z_OK: if taken == 0, made == 0 { throw .damaged }
        default: throw .damaged
        }
    }
    throw .damaged
}
