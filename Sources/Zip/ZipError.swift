import CArchive

/// Why an archive cannot be written or read.
package enum ZipError: Error, Equatable, Sendable {
    /// libarchive's word on it.
    case failed(String)
    /// A file of it is larger than the reader allows, or there are too many.
    case tooLarge

    init(_ archive: OpaquePointer?) {
        self = .failed(archive_error_string(archive).map { String(cString: $0) } ?? "out of memory")
    }
}
