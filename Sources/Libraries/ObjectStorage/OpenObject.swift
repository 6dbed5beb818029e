import Glibc

/// An open file, which is closed when the last reference is released.
package final class OpenObject: Sendable {
    package let descriptor: Int32
    package let byteCount: Int

    /// Takes ownership of the descriptor.
    ///
    /// - Returns: Nil, after closing the descriptor, if it is not a regular file.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        byteCount = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// Whether the file has been removed since it was opened, by any process.
    package var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// Returns the whole contents.
    package func bytes() throws(ObjectError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var start = 0
        while start < byteCount {
            let count = bytes.withUnsafeMutableBytes {
                pread(
                    descriptor, $0.baseAddress?.advanced(by: start), byteCount - start, off_t(start)
                )
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw .failed("reading an object", errno: count < 0 ? errno : 0)
            }
            start += count
        }
        return bytes
    }
}
