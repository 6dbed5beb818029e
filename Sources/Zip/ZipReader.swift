import CArchive

/// Reads a zip archive that is in memory, and no other kind.
package enum ZipReader {
    /// What a stranger's archive may make the reader do.
    package struct Limits: Sendable {
        package var filesMax = 100_000
        /// Of all files that are taken, unpacked.
        package var bytesMax = 256 << 20

        package init() {}
    }

    /// Whether the bytes begin as a zip archive does.
    package static func isZip(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: [0x50, 0x4B, 0x03, 0x04])
    }

    /// Gives the content of each file that is wanted, in the archive's order.
    ///
    /// - Parameters:
    ///   - bytesMax: told the name of a file, the most bytes it may have; nil to pass over it.
    ///   - take: the name and the content.
    package static func read(
        _ bytes: [UInt8], limits: Limits = Limits(), bytesMax: (String) -> Int?,
        _ take: (String, [UInt8]) -> Void
    ) throws(ZipError) {
        guard let archive = archive_read_new() else { throw .failed("out of memory") }
        defer { archive_read_free(archive) }
        // The archive is read where it lies, so the bytes stay for as long.
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(ZipError) in
                guard archive_read_support_format_zip(archive) == ARCHIVE_OK,
                    archive_read_open_memory(archive, buffer.baseAddress, buffer.count)
                        == ARCHIVE_OK
                else { throw ZipError(archive) }
                try readFiles(archive, limits, bytesMax, take)
            }
        }
        try result.get()
    }

    private static func readFiles(
        _ archive: OpaquePointer, _ limits: Limits, _ bytesMax: (String) -> Int?,
        _ take: (String, [UInt8]) -> Void
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
            guard let most = bytesMax(name) else { continue }
            let content = try content(archive, bytesMax: min(most, limits.bytesMax - total))
            total += content.count
            take(name, content)
        }
    }

    /// The current file's content; its announced size is not believed.
    private static func content(
        _ archive: OpaquePointer, bytesMax: Int
    ) throws(ZipError) -> [UInt8] {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = archive_read_data(archive, &chunk, chunk.count)
            if count == 0 { return content }
            guard count > 0 else { throw ZipError(archive) }
            guard content.count + count <= bytesMax else { throw .tooLarge }
            content += chunk[..<count]
        }
    }
}
