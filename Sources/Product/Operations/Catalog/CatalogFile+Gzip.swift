import Gzip

extension CatalogFile {
    /// The maximum size of the data in a gzip file.
    private static let uncompressedBytesMax = 4 << 30

    /// Reads a file whose contents may be gzip-compressed.
    package init(contents: [UInt8]) throws(Unreadable) {
        var bytes = contents
        if isGzip(contents) {
            do throws(GzipError) {
                bytes = try gunzip(contents, bytesMax: Self.uncompressedBytesMax)
            } catch {
                throw Unreadable(
                    message: error == .tooLarge
                        ? "The file contains more than 4 GiB of data."
                        : "The file is damaged or truncated.")
            }
        }
        try self.init(bytes)
    }
}
