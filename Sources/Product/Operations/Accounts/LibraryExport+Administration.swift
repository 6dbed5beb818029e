import Basics
import Bookplate
import Glibc
import Identity
import ObjectStorage
import Postgres
import Zip

/// The reason why an export for an operator failed.
package enum LibraryExportError: Error, Sendable {
    case database(PostgresError)
    case archive(ZipError)
    /// The covers cannot be read.
    case store(ObjectError)
    /// The file cannot be created, synced, or renamed.
    case file
}

extension LibraryExport {
    /// Writes a user's archive to a file that only this user of the machine can read.
    ///
    /// The file has a temporary name until it is complete. After an error, it is deleted.
    ///
    /// - Parameters:
    ///   - connection: A connection with the owner's role.
    ///   - store: The store with the covers.
    /// - Returns: The size of the file in bytes.
    package static func write(
        of userID: UUID, toFile path: String, _ connection: AdminConnection, store: any ObjectStore
    ) async throws(LibraryExportError) -> Int {
        let temporaryPath = path + ".part"
        let descriptor = open(temporaryPath, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file }
        defer { close(descriptor) }
        do throws(LibraryExportError) {
            try await write(of: userID, to: descriptor, connection, store: store)
            var status = stat()
            guard fsync(descriptor) == 0, fstat(descriptor, &status) == 0,
                rename(temporaryPath, path) == 0
            else { throw .file }
            return Int(status.st_size)
        } catch {
            unlink(temporaryPath)
            throw error
        }
    }

    /// Writes a user's archive for an operator. It has the same content as the archive that the user gets with
    /// `exportLibrary`.
    ///
    /// - Parameters:
    ///   - descriptor: The file to write the archive to.
    ///   - connection: A connection with the owner's role.
    ///   - store: The store with the covers.
    package static func write(
        of userID: UUID, to descriptor: Int32, _ connection: AdminConnection, store: any ObjectStore
    ) async throws(LibraryExportError) {
        let export = try mappingError(LibraryExportError.archive) { () throws(ZipError) in
            try LibraryExport(of: userID, to: descriptor, time: unixSecondsNow())
        }
        while let step = export.next() {
            switch step {
            case .rows(let statement, let parameters):
                let rows = try mappingError(LibraryExportError.database) {
                    () throws(PostgresError) in
                    try connection.query(statement.text, parameters)
                }
                try mappingError(LibraryExportError.archive) { () throws(ZipError) in
                    try export.append(rows: rows)
                }
            case .cover(let book, let version):
                let bytes = try await mappingError(LibraryExportError.store) {
                    () async throws(ObjectError) in
                    try await coverBytes(of: book, version: version, user: userID, in: store)
                }
                try mappingError(LibraryExportError.archive) { () throws(ZipError) in
                    try export.append(cover: bytes)
                }
            }
        }
    }
}
