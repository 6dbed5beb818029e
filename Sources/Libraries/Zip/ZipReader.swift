import CArchive

/// Reads zip archives, and no other formats, from memory.
package enum ZipReader {
    /// The limits for untrusted archives.
    package struct Limits: Sendable {
        package var filesMax = 100_000
        /// The maximum total size of the extracted files, in bytes.
        package var bytesMax = 256 << 20

        package init() {}
    }

    /// Returns whether the bytes start with the signature of a zip archive.
    package static func isZip(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: [0x50, 0x4B, 0x03, 0x04])
    }

    /// Extracts the selected files in the order of the archive.
    ///
    /// - Parameters:
    ///   - bytesMax: Returns the maximum size of the file with this name, or nil to skip it.
    ///   - accepts: Called with the name and each part of a selected file while it is extracted. Returns false to end the
    ///     extraction.
    ///   - take: Called with the name and the contents of each selected file.
    /// - Throws: `.tooLarge` if a limit is exceeded or a part is not accepted; `.failed` if the archive is malformed.
    package static func read(
        _ bytes: [UInt8], limits: Limits = Limits(), bytesMax: (String) -> Int?,
        accepts: (String, ArraySlice<UInt8>) -> Bool = { _, _ in true },
        _ take: (String, [UInt8]) -> Void
    ) throws(ZipError) {
        guard let archive = archive_read_new() else { throw .failed("out of memory") }
        defer { archive_read_free(archive) }
        // libarchive reads directly from the buffer, which must therefore stay valid.
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(ZipError) in
                guard archive_read_support_format_zip(archive) == ARCHIVE_OK,
                    archive_read_open_memory(archive, buffer.baseAddress, buffer.count)
                        == ARCHIVE_OK
                else { throw ZipError(archive) }
                try readFiles(archive, limits, bytesMax, accepts, take)
            }
        }
        try result.get()
    }

    private static func readFiles(
        _ archive: OpaquePointer, _ limits: Limits, _ bytesMax: (String) -> Int?,
        _ accepts: (String, ArraySlice<UInt8>) -> Bool, _ take: (String, [UInt8]) -> Void
    ) throws(ZipError) {
        var fileCount = 0
        var total = 0
        var entry: OpaquePointer?
        while true {
            let result = archive_read_next_header(archive, &entry)
            if result == ARCHIVE_EOF { return }
            guard result == ARCHIVE_OK || result == ARCHIVE_WARN else { throw ZipError(archive) }
            fileCount += 1
            guard fileCount <= limits.filesMax else { throw .tooLarge }
            guard let path = archive_entry_pathname(entry) else { continue }
            let name = String(cString: path)
            guard let fileBytesMax = bytesMax(name) else { continue }
            let fileMax = min(fileBytesMax, limits.bytesMax - total)
            var content: [UInt8] = []
            // Growing in steps needs twice the memory.
            content.reserveCapacity(min(max(0, Int(archive_entry_size(entry))), fileMax))
            try extract(archive, bytesMax: fileMax, to: &content) { accepts(name, $0) }
            // The announced size was wrong.
            if content.capacity > 2 * content.count + (1 << 16) {
                content = content.withUnsafeBufferPointer { Array($0) }
            }
            total += content.count
            take(name, content)
        }
    }

    /// Appends the contents of the current file. The announced size is not trusted.
    private static func extract(
        _ archive: OpaquePointer, bytesMax: Int, to content: inout [UInt8],
        accepts: (ArraySlice<UInt8>) -> Bool
    ) throws(ZipError) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = archive_read_data(archive, &chunk, chunk.count)
            if count == 0 { return }
            guard count > 0 else { throw ZipError(archive) }
            guard content.count + count <= bytesMax, accepts(chunk[..<count]) else {
                throw .tooLarge
            }
            content += chunk[..<count]
        }
    }
}
