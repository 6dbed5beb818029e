import CArchive

/// An error of reading or writing an archive.
package enum ZipError: Error, Equatable, Sendable {
    /// An error of libarchive, with its message.
    case failed(String)
    /// A file is larger than the reader allows, or there are too many files.
    case tooLarge

    init(_ archive: OpaquePointer?) {
        self = .failed(archive_error_string(archive).map { String(cString: $0) } ?? "out of memory")
    }
}

extension ZipError: CustomStringConvertible {
    /// A message for operators.
    package var description: String {
        switch self {
        case .failed(let message): message
        case .tooLarge: "the archive is too large"
        }
    }
}
