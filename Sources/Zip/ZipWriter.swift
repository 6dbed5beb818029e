import CArchive

/// Writes a zip archive to a descriptor, file after file, without ever going back: it may be a pipe.
///
/// Belongs to one task at a time.
package final class ZipWriter {
    private let archive: OpaquePointer?
    private var isOpen = true
    /// The files' time, seconds of Unix time.
    private let time: Int

    /// - Parameters:
    ///   - descriptor: stays open.
    ///   - time: the files' time, seconds of Unix time.
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

    /// Begins a file; what is written next is its content.
    ///
    /// - Parameters:
    ///   - name: ASCII, with `/` between folders.
    ///   - byteCount: nil where it is not known before.
    ///   - isCompressed: pictures are so already.
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

    /// Ends the archive; without it there is none.
    package func finish() throws(ZipError) {
        try check(archive_write_close(archive))
    }

    private func check(_ result: Int32) throws(ZipError) {
        guard result == ARCHIVE_OK else { throw ZipError(archive) }
    }
}

private let S_IFREG = 0o100000
