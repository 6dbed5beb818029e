import Glibc

/// The standard streams with their file descriptors.
enum Stream: Int32 {
    case standardInput = 0
    case standardOutput = 1
    case standardError = 2
}

/// Writes a text. Exits if the reader has closed the stream.
func write(_ text: String, to stream: Stream) { write(Array(text.utf8), to: stream) }

/// Writes all bytes. Exits if the reader has closed the stream.
func write(_ bytes: [UInt8], to stream: Stream) {
    bytes.withUnsafeBytes { bytes in
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Glibc.write(stream.rawValue, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                if errno != EPIPE, stream != .standardError {
                    write(
                        "graphql-tool: cannot write: \(String(cString: strerror(errno)))\n",
                        to: .standardError)
                }
                exit(1)
            }
            written += count
        }
    }
}

/// The lines of standard input, each as soon as it is available. Blank lines are skipped.
struct InputLines {
    private var buffer: [UInt8] = []
    /// The index in `buffer` at which the next line starts, and the index from which to search for
    /// its line break.
    private var start = 0
    private var searchStart = 0
    private var isAtEnd = false

    /// Returns the next line without its line break, or nil at the end of the input.
    mutating func next() -> [UInt8]? {
        while true {
            let line: ArraySlice<UInt8>
            if let end = buffer[searchStart...].firstIndex(of: UInt8(ascii: "\n")) {
                line = buffer[start..<end]
                start = end + 1
            } else if isAtEnd {
                guard start < buffer.count else { return nil }
                line = buffer[start...]
                start = buffer.count
            } else {
                fill()
                continue
            }
            searchStart = start
            if line.contains(where: { !Self.isWhiteSpace($0) }) { return Array(line) }
        }
    }

    private mutating func fill() {
        buffer.removeSubrange(..<start)
        start = 0
        searchStart = buffer.count
        let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { chunk, count in
            repeat {
                count = read(Stream.standardInput.rawValue, chunk.baseAddress, chunk.count)
            } while count < 0 && errno == EINTR
            if count < 0 { Self.failReading() }
        }
        buffer += chunk
        isAtEnd = chunk.isEmpty
    }

    /// Exits after a read error. The input is incomplete, so the caller must not mistake the
    /// responses so far for all of them.
    private static func failReading() -> Never {
        let reason = String(cString: strerror(errno))
        write("graphql-tool: standard input cannot be read: \(reason)\n", to: .standardError)
        exit(GraphQLTool.Status.failed.rawValue)
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
