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
