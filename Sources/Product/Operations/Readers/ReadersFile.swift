import Glibc
import GraphQL

/// A file of readers of another installation or application: one JSON object in each line, with the account and the library.
package struct ReadersFile: ~Copyable {
    /// A line with its number, from 1.
    package typealias Line = (number: Int, bytes: [UInt8])

    /// The maximum size of a line. The lines are read one at a time.
    static let lineBytesMax = 64 << 20
    private static let chunkBytes = 1 << 20

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var lineNumber = 0
    private var isAtEnd = false

    /// - Throws: If the file cannot be opened.
    package init(path: String) throws(Unreadable) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unreadable(message: "cannot be opened: errno \(errno)") }
    }

    deinit { close(descriptor) }

    package struct Unreadable: Error {
        package let message: String
    }

    /// Returns the next line without its end; nil after the last one.
    mutating func next() throws(Unreadable) -> Line? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return line(upTo: end)
            }
            if isAtEnd {
                defer { start = buffer.count }
                return start < buffer.count ? line(upTo: buffer.count) : nil
            }
            buffer.removeFirst(start)
            start = 0
            searched = buffer.count
            guard buffer.count <= Self.lineBytesMax else {
                throw Unreadable(
                    message: "line \(lineNumber + 1) is longer than \(Self.lineBytesMax >> 20) MB")
            }
            try fill()
        }
    }

    private mutating func line(upTo end: Int) -> Line {
        lineNumber += 1
        return (lineNumber, Array(buffer[start..<end]))
    }

    private mutating func fill() throws(Unreadable) {
        let (descriptor, count) = (descriptor, buffer.count)
        buffer.append(contentsOf: repeatElement(0, count: Self.chunkBytes))
        let received = buffer.withUnsafeMutableBytes { bytes in
            read(descriptor, bytes.baseAddress?.advanced(by: count), Self.chunkBytes)
        }
        guard received >= 0 else {
            throw Unreadable(message: "the file cannot be read: errno \(errno)")
        }
        buffer.removeLast(Self.chunkBytes - received)
        isAtEnd = received == 0
    }
}
