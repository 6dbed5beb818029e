import CZlib

/// An error of decompressing data.
package enum GzipError: Error, Equatable, Sendable {
    /// The data is not gzip, damaged, or truncated.
    case damaged
    /// The contents are larger than the caller allows.
    case tooLarge
}

/// Returns whether the bytes start with the signature of a gzip file.
package func isGzip(_ bytes: some Collection<UInt8>) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

/// Decompresses a gzip file, including all of its members.
///
/// - Parameter bytesMax: The maximum size of the contents, because a small file can expand to a huge one.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc1952
package func gunzip(_ bytes: [UInt8], bytesMax: Int) throws(GzipError) -> [UInt8] {
    var stream = z_stream()
    // 15 selects the largest window, and adding 16 selects the gzip format.
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
                // zlib does not write to the input, although next_in is not declared const.
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
            // Trailing zeros are padding, as on tapes. Anything else starts another member.
            if bytes[read...].allSatisfy({ $0 == 0 }) { return contents }
            guard inflateReset(&stream) == Z_OK else { throw .damaged }
        case Z_OK: if taken == 0, made == 0 { throw .damaged }
        default: throw .damaged
        }
    }
    throw .damaged
}
