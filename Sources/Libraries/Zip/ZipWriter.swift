import CArchive

/// Writes a zip archive to a file descriptor sequentially, which may be a pipe.
///
/// Not thread-safe: use it from one task at a time.
package final class ZipWriter {
    private let archive: OpaquePointer?
    /// The modification time of all files, in seconds since the Unix epoch.
    private let time: Int

    /// Starts an archive.
    ///
    /// - Parameters:
    ///   - descriptor: The output, which is not closed.
    ///   - time: The modification time of all files, in seconds since the Unix epoch.
    package init(descriptor: Int32, time: Int64) throws(ZipError) {
        archive = archive_write_new()
        self.time = Int(time)
        guard let archive, archive_write_set_format_zip(archive) == ARCHIVE_OK,
            archive_write_open_fd(archive, descriptor) == ARCHIVE_OK
        else {
            defer { archive_write_free(archive) }
            throw ZipError(archive)
        }
    }

    deinit { archive_write_free(archive) }

    /// Starts a file. The following calls of `write` append its contents.
    ///
    /// - Parameters:
    ///   - name: The path in ASCII, with `/` between folders.
    ///   - byteCount: The size of the contents; nil if it is not known yet.
    ///   - compresses: Whether to compress the contents; false for images, which are compressed already.
    package func begin(
        _ name: String, byteCount: Int? = nil, compresses: Bool = true
    ) throws(ZipError) {
        try check(
            compresses
                ? archive_write_zip_set_compression_deflate(archive)
                : archive_write_zip_set_compression_store(archive))
        guard let entry = archive_entry_new() else { throw .failed("out of memory") }
        defer { archive_entry_free(entry) }
        archive_entry_set_pathname(entry, name)
        archive_entry_set_filetype(entry, UInt32(S_IFREG))
        archive_entry_set_perm(entry, 0o644)
        archive_entry_set_mtime(entry, time, 0)
        if let byteCount { archive_entry_set_size(entry, Int64(byteCount)) }
        try check(archive_write_header(archive, entry))
    }

    package func write(_ bytes: [UInt8]) throws(ZipError) {
        guard !bytes.isEmpty else { return }
        guard archive_write_data(archive, bytes, bytes.count) == bytes.count else {
            throw ZipError(archive)
        }
    }

    /// Writes the archive's directory. Without it the archive is incomplete.
    package func finish() throws(ZipError) {
        try check(archive_write_close(archive))
    }

    private func check(_ result: Int32) throws(ZipError) {
        guard result == ARCHIVE_OK else { throw ZipError(archive) }
    }
}

private let S_IFREG = 0o100000
