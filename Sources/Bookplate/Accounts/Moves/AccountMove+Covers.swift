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

    func covers(_ query: String) throws(AccountMoveError) -> [CoverVersion] {
        try database { () throws(PostgresError) in try source.query(query, .of(user)).decode() }
    }

    /// Copies the files of covers from the source's store to the target's, and adds the covers to `copied`.
    ///
    /// A file that the source's store lacks, or cannot read, is left out: the cover was damaged before.
    func copy(
        _ covers: [CoverVersion], _ copied: inout Set<CoverVersion>, _ summary: inout Summary
    ) async throws(AccountMoveError) {
        for cover in covers where copied.insert(cover).inserted {
            guard
                let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(cover.book)")
            else { continue }
            summary.covers += 1
            try await mapping { () async throws(ObjectError) in
                var variants: [ObjectVariant: [UInt8]] = [:]
                for variant in ObjectVariant.allCases {
                    guard let path = ObjectPath(key, version: cover.version, variant) else {
                        continue
                    }
                    variants[variant] = try await sourceStore.readUnlessDamaged(path)
                }
                if variants.count < ObjectVariant.allCases.count { summary.damagedCovers += 1 }
                if variants.isEmpty { return }
                try await targetStore.restore(key, version: cover.version, variants)
            }
        }
    }

    /// The covers of an account in use.
    static let storedCovers = """
        SELECT book_id, version
        FROM stored_covers
        WHERE user_id = $1
        ORDER BY book_id, version
        """
    /// The covers of a packed account.
    static let packedCovers = """
        SELECT (row ->> 'book_id')::uuid, row ->> 'version'
        FROM account_parcels
        WHERE user_id = $1 AND table_name = 'covers'
        UNION ALL
        SELECT (row ->> 'id')::uuid, row #>> '{cover,version}'
        FROM account_parcels
        WHERE user_id = $1 AND table_name = 'deleted_books' AND row #>> '{cover,version}' IS NOT NULL
        """
}
