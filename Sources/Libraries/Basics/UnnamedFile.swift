import Glibc

/// A temporary file without a name. The system deletes it when it is closed, even if the process crashes.
package final class UnnamedFile: Sendable {
    /// A system call on the file failed.
    package struct Failure: Error, CustomStringConvertible {
        package let errno: Int32

        package init(errno: Int32) { self.errno = errno }

        package var description: String {
            "a temporary file in /var/tmp cannot be used: \(String(cString: strerror(errno)))"
        }
    }

    package let descriptor: Int32

    package init() throws(Failure) {
        let path = "/var/tmp/bookplate-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        // Helper processes must not inherit the descriptor.
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(errno: Glibc.errno) }
        unlink(path)
    }

    deinit { close(descriptor) }

    /// Writes all bytes at a position.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        var start = 0
        while start < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress?.advanced(by: start), bytes.count - start,
                off_t(offset + start))
            if count < 0, Glibc.errno == EINTR { continue }
            guard count > 0 else { throw Failure(errno: count < 0 ? Glibc.errno : ENOSPC) }
            start += count
        }
    }

    /// Returns the bytes of a part of the file.
    package func bytes(_ range: Range<Int>) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(Failure) in try read(into: buffer, at: range.lowerBound) }
        }
        try result.get()
        return bytes
    }

    /// Fills the buffer with the bytes at a position.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(Failure) {
        var start = 0
        while start < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start,
                off_t(offset + start))
            if count < 0, Glibc.errno == EINTR { continue }
            guard count > 0 else { throw Failure(errno: count < 0 ? Glibc.errno : EIO) }
            start += count
        }
    }
}

/// Bytes in memory, or in a part of a temporary file.
package enum StoredBytes: Sendable {
    case memory([UInt8])
    case file(UnnamedFile, Range<Int>)

    package var count: Int {
        switch self {
        case .memory(let bytes): bytes.count
        case .file(_, let range): range.count
        }
    }

    package func part(_ part: Range<Int>) -> StoredBytes {
        switch self {
        case .memory(let bytes): .memory(Array(bytes[part]))
        case .file(let file, let range):
            .file(file, range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
        }
    }

    /// Returns the bytes in memory. Blocks while a file is read.
    package func bytes() throws(UnnamedFile.Failure) -> [UInt8] {
        switch self {
        case .memory(let bytes): bytes
        case .file(let file, let range): try file.bytes(range)
        }
    }
}
