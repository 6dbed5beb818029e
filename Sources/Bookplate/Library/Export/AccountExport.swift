import Identity
import ObjectStorage
import Postgres
import Zip

/// Why an operator's export did not come to its end.
package enum AccountExportError: Error, Sendable {
    case database(PostgresError)
    case archive(ZipError)
}

extension LibraryExport {
    /// Writes a user's archive for an operator: the same as `exportLibrary` gives the user.
    ///
    /// - Parameters:
    ///   - connection: of the owner's role.
    ///   - store: where the covers are.
    package static func write(
        of userID: UUID, to descriptor: Int32, _ connection: AdminConnection, store: FileStore
    ) throws(AccountExportError) {
        let export = try archiving { () throws(ZipError) in
            try LibraryExport(of: userID, to: descriptor, time: unixSecondsNow())
        }
        while let step = export.next() {
            switch step {
            case .rows(let statement, let parameters):
                let rows: Rows
                do throws(PostgresError) {
                    rows = try connection.query(statement.text, parameters)
                } catch {
                    throw .database(error)
                }
                try archiving { () throws(ZipError) in try export.take(rows: rows) }
            case .cover(let book, let version):
                let bytes = bytes(of: book, version: version, user: userID, in: store)
                try archiving { () throws(ZipError) in try export.take(cover: bytes) }
            }
        }
    }

    private static func archiving<Value>(
        _ work: () throws(ZipError) -> Value
    ) throws(AccountExportError) -> Value {
        do throws(ZipError) {
            return try work()
        } catch {
            throw .archive(error)
        }
    }

    private static func bytes(
        of book: UUID, version: String, user: UUID, in store: FileStore
    ) -> [UInt8]? {
        guard let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)"),
            let path = ObjectPath(key, version: version, .full)
        else { return nil }
        return (try? store.openNow(path)).flatMap { try? $0.bytes() }
    }
}
