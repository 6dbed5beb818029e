import Basics
import Glibc

/// Builds a frame's payload from 32-bit big-endian numbers and length-prefixed byte strings.
struct FrameWriter {
    private(set) var bytes: [UInt8]

    init(_ start: [UInt8]) { bytes = start }

    mutating func write(_ number: Int) { bytes.append(bigEndian: UInt32(clamping: number)) }

    mutating func write(_ value: [UInt8]) {
        write(value.count)
        bytes += value
    }

    mutating func write(text: String) { write(Array(text.utf8)) }
}

/// Parses a frame's payload. Each method returns nil if the payload ends too early.
struct FrameReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func int() -> Int? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func bytes() -> [UInt8]? {
        guard let count = int(), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }
}

/// Sends and receives frames over file descriptors, with an optional deadline.
package struct FrameChannel: Sendable {
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// The other side has closed its end.
        case closed
        case timedOut
        /// The frame's length exceeds the maximum.
        case malformed
        /// A file whose bytes are a part of the payload cannot be read.
        case unreadableFile(errno: Int32)

        package var description: String {
            switch self {
            case .closed: "the connection was closed"
            case .timedOut: "no response in time"
            case .malformed: "a frame is too long"
            case .unreadableFile(let errno): UnnamedFile.Failure(errno: errno).description
            }
        }
    }

    /// The maximum length of a payload: the largest image and some space for other fields.
    private static let payloadBytesMax = ImageLimits.inputBytesMax + 1024

    let input: Int32
    let output: Int32
    /// Whether `output` is a socket that is written with MSG_NOSIGNAL, so that no SIGPIPE is raised when the
    /// other side has closed. The imager sets this to false, because its sandbox forbids send(2). It may be
    /// terminated by SIGPIPE.
    let isSignalFree: Bool

    package init(input: Int32, output: Int32, isSignalFree: Bool = false) {
        self.input = input
        self.output = output
        self.isSignalFree = isSignalFree
    }

    /// The size of the parts in which a file is sent.
    private static let partBytes = 256 << 10

    /// Writes one frame.
    ///
    /// - Parameter rest: The end of the payload, which may be in a file.
    /// - Throws: After `.unreadableFile` the frame is incomplete, so the other side cannot be used further.
    package func send(
        _ payload: [UInt8], _ rest: StoredBytes = .memory([]),
        until deadline: ContinuousClock.Instant?
    ) throws(Failure) {
        var head: [UInt8] = []
        head.append(bigEndian: UInt32(clamping: payload.count + rest.count))
        try write(head, deadline)
        try write(payload, deadline)
        switch rest {
        case .memory(let bytes): try write(bytes, deadline)
        case .file(let file, let range):
            for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.partBytes) {
                let part = start..<min(start + Self.partBytes, range.upperBound)
                let bytes: [UInt8]
                do throws(UnnamedFile.Failure) {
                    bytes = try file.bytes(part)
                } catch {
                    throw .unreadableFile(errno: error.errno)
                }
                try write(bytes, deadline)
            }
        }
    }

    /// Reads one frame.
    ///
    /// - Returns: The payload, or nil if the other side closed between two frames.
    package func receive(until deadline: ContinuousClock.Instant?) throws(Failure) -> [UInt8]? {
        guard let head = try read(4, deadline) else { return nil }
        let count = head.reduce(0) { $0 << 8 | Int($1) }
        guard count <= Self.payloadBytesMax else { throw .malformed }
        guard let payload = try read(count, deadline) else { throw .closed }
        return payload
    }

    private func write(
        _ bytes: [UInt8], _ deadline: ContinuousClock.Instant?
    ) throws(Failure) {
        var start = 0
        while start < bytes.count {
            try wait(for: Int32(POLLOUT), on: output, deadline)
            let count = bytes.withUnsafeBytes {
                let (rest, count) = ($0.baseAddress?.advanced(by: start), $0.count - start)
                return isSignalFree
                    ? Glibc.send(output, rest, count, Int32(MSG_NOSIGNAL))
                    : Glibc.write(output, rest, count)
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw .closed }
            start += count
        }
    }

    /// - Returns: Nil if the other side closed before the first byte.
    private func read(
        _ byteCount: Int, _ deadline: ContinuousClock.Instant?
    ) throws(Failure) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var start = 0
        while start < byteCount {
            try wait(for: Int32(POLLIN), on: input, deadline)
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(input, $0.baseAddress?.advanced(by: start), byteCount - start)
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count == 0, start == 0 { return nil }
            guard count > 0 else { throw .closed }
            start += count
        }
        return bytes
    }

    private func wait(
        for event: Int32, on descriptor: Int32, _ deadline: ContinuousClock.Instant?
    ) throws(Failure) {
        guard let deadline else { return }
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { throw .timedOut }
            var poll = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            let milliseconds = Int32(clamping: Int64(left / .milliseconds(1)) + 1)
            let count = Glibc.poll(&poll, 1, milliseconds)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw .closed }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: UInt32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
