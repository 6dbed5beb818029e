import Glibc

/// The standard streams, by their descriptors.
enum Stream: Int32 {
    case standardInput = 0
    case standardOutput = 1
    case standardError = 2
}

/// Writes all of a text; ends the program where nobody reads any more.
func write(_ text: String, to stream: Stream) { write(Array(text.utf8), to: stream) }

/// Writes all bytes; ends the program where nobody reads any more.
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

/// The bytes of a file, `-` for standard input; nil where it cannot be read, with `errno` set.
func readFile(_ path: String) -> [UInt8]? {
    let descriptor = path == "-" ? Stream.standardInput.rawValue : open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { if path != "-" { close(descriptor) } }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count == 0 { return bytes }
        if count < 0 {
            if errno == EINTR { continue }
            return nil
        }
        bytes += buffer[..<count]
    }
}

/// The lines of standard input, each as soon as it is there. Lines of nothing but white space are left out.
struct InputLines {
    private var buffer: [UInt8] = []
    /// Where the next line starts in the buffer, and up to where there is no line break.
    private var start = 0
    private var searched = 0
    private var isAtEnd = false

    /// Without its line break; nil at the end of the input.
    mutating func next() -> [UInt8]? {
        while true {
            let line: ArraySlice<UInt8>
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
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
            searched = start
            if line.contains(where: { !Self.isWhiteSpace($0) }) { return Array(line) }
        }
    }

    private mutating func fill() {
        buffer.removeSubrange(..<start)
        start = 0
        searched = buffer.count
        let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { chunk, count in
            repeat {
                count = read(Stream.standardInput.rawValue, chunk.baseAddress, chunk.count)
            } while count < 0 && errno == EINTR
            if count < 0 { Self.cannotRead() }
        }
        buffer += chunk
        isAtEnd = chunk.isEmpty
    }

    /// What was read is no whole input: who sent it is not to take the answers for all of them.
    private static func cannotRead() -> Never {
        let reason = String(cString: strerror(errno))
        write("graphql-tool: cannot read standard input: \(reason)\n", to: .standardError)
        exit(GraphQLTool.Status.failed.rawValue)
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
