import Basics
import ObjectStorage
import Postgres

extension AccountMove {
    /// A version of the cover of a book.
    struct CoverVersion: Hashable, RowDecodable {
        let book: UUID
        let version: String

        init?(_ row: inout RowReader) {
            guard let book = row.uuid(), let version = row.text() else { return nil }
            self.book = book
            self.version = version
        }
    }

    /// The covers whose files belong to the account in the source, in use or packed.
    func covers() throws(AccountMoveError) -> [CoverVersion] {
        try database { () throws(PostgresError) in
            try source.query(Self.coversOfSource, .of(user)).decode()
        }
    }

    /// The covers of the account in the target.
    func arrivedCovers() throws(AccountMoveError) -> [CoverVersion] {
        try database { () throws(PostgresError) in
            try target.query(Self.storedCovers, .of(user)).decode()
        }
    }

    /// Copies those files of covers that the target's store does not have.
    ///
    /// A file that the source's store lacks, or cannot read, is left out: the cover was damaged before.
    ///
    /// - Returns: The covers of which the target's store then lacks a file.
    func copy(_ covers: [CoverVersion]) async throws(AccountMoveError) -> Set<CoverVersion> {
        var damaged: Set<CoverVersion> = []
        for cover in covers {
            guard
                let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(cover.book)")
            else { continue }
            try await mapping { () async throws(ObjectError) in
                var missing: [ObjectVariant: [UInt8]] = [:]
                for variant in ObjectVariant.allCases {
                    guard let path = ObjectPath(key, version: cover.version, variant),
                        try await targetStore.byteCount(path) == nil
                    else { continue }
                    if let bytes = try await sourceStore.readUnlessDamaged(path) {
                        missing[variant] = bytes
                    } else {
                        damaged.insert(cover)
                    }
                }
                if missing.isEmpty { return }
                try await targetStore.restore(key, version: cover.version, missing)
            }
        }
        return damaged
    }

    private static let storedCovers = """
        SELECT book_id, version
        FROM stored_covers
        WHERE user_id = $1
        ORDER BY book_id, version
        """
    private static let coversOfSource = """
        SELECT book_id, version
        FROM stored_covers
        WHERE user_id = $1
        UNION ALL
        SELECT coalesce(p.row ->> 'book_id', p.row ->> 'id')::uuid, coalesce(p.row ->> 'version', p.row #>> '{cover,version}')
        FROM account_moves m
        JOIN account_parcels p ON p.move_id = m.move_id
        WHERE m.user_id = $1
            AND m.state = 'LEAVING'
            AND (p.table_name = 'covers' OR (p.table_name = 'deleted_books' AND p.row #>> '{cover,version}' IS NOT NULL))
        """
}
