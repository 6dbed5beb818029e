import Basics
import ObjectStorage
import Postgres

extension AccountMove {
    /// A version of the cover of a book.
    struct CoverVersion: Hashable, Sendable, RowDecodable {
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
        try Self.database { () throws(PostgresError) in
            try source.query(Self.coversOfSource, .of(user)).decode()
        }
    }

    /// The covers of the account in the target.
    func arrivedCovers() throws(AccountMoveError) -> [CoverVersion] {
        try Self.database { () throws(PostgresError) in
            try target.query(Self.storedCovers, .of(user)).decode()
        }
    }

    /// The number of covers that are copied at the same time.
    private static let concurrencyMax = 16

    /// Copies those files of covers that the target's store does not have.
    ///
    /// A file that the source's store lacks, or cannot read, is left out: the cover was damaged before.
    ///
    /// - Returns: The covers of which the target's store then has all files.
    func copy(_ covers: [CoverVersion]) async throws(AccountMoveError) -> Set<CoverVersion> {
        var complete: Set<CoverVersion> = []
        var rest = covers[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Self.concurrencyMax))
            rest = rest.dropFirst(batch.count)
            let (user, source, target) = (user, sourceStore, targetStore)
            let results: [Bool]
            do throws(StorageError) {
                results = try await mapConcurrently(batch) { cover async throws(StorageError) in
                    try await mappingError(StorageError.store) { () async throws(ObjectError) in
                        try await Self.copy(cover, of: user, from: source, to: target)
                    }
                }
            } catch {
                throw AccountMoveError(error, isTarget: false)
            }
            for (cover, isComplete) in zip(batch, results) where isComplete {
                complete.insert(cover)
            }
        }
        return complete
    }

    /// - Returns: Whether the target's store then has all files of the cover.
    private static func copy(
        _ cover: CoverVersion, of user: UUID, from source: any ObjectStore,
        to target: any ObjectStore
    ) async throws(ObjectError) -> Bool {
        guard let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(cover.book)") else {
            return true
        }
        var missing: [ObjectVariant: [UInt8]] = [:]
        var isComplete = true
        for variant in ObjectVariant.allCases {
            guard let path = ObjectPath(key, version: cover.version, variant),
                try await target.byteCount(path) == nil
            else { continue }
            if let bytes = try await source.readUnlessDamaged(path) {
                missing[variant] = bytes
            } else {
                isComplete = false
            }
        }
        if !missing.isEmpty {
            try await target.restore(key, version: cover.version, missing)
        }
        return isComplete
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
