import Basics
import Bookplate
import ObjectStorage
import Postgres

/// Copies the files of covers from one store to another: `bookplate-admin storage copy`.
///
/// Servers can use either store meanwhile. Only versions to which a row refers are copied, so that covers which were deleted
/// stay deleted. Files whose sizes are the same in both stores are not copied again: the files of a version never change.
/// Title cards are not copied, because servers draw them again. The position is stored after each page, so that an
/// interrupted copy continues there within a day.
package struct StorageCopy {
    package struct Summary: Sendable, Equatable {
        /// The number of versions in the source to which a row refers.
        package var versions = 0
        /// The number of versions that were copied, and the bytes of their files.
        package var copied = 0
        package var bytes = 0
        /// The number of versions with a file that the source cannot read. They were not copied.
        package var unreadable = 0
        /// The last page of the interrupted copy that this one continued; nil if it started with the first page.
        package var continuedAfter: String?

        package init() {}
    }

    private static let task = "storage.copy"
    private static let buckets: [Bucket] = [.bookCovers, .editionCovers]
    /// The number of versions that are copied concurrently.
    private static let batchMax = 16

    /// The maximum age of the position of an interrupted copy, as for sweeps.
    private static let checkpointSecondsMax: Int32 = 24 * 3600

    private let source: any ObjectStore
    private let target: any ObjectStore
    /// Identifies the pair of stores in checkpoints.
    private let task: String
    private let isDryRun: Bool
    private let connection: AdminConnection

    /// - Parameter names: The locations of the source and the target, which identify them.
    package init(
        from source: any ObjectStore, to target: any ObjectStore, names: (String, String),
        isDryRun: Bool, _ connection: AdminConnection
    ) {
        self.source = source
        self.target = target
        task = "\(Self.task) \(names.0) \(names.1)"
        self.isDryRun = isDryRun
        self.connection = connection
    }

    /// - Parameters:
    ///   - startsOver: Whether to start with the first page even if the last copy was interrupted.
    ///   - onPage: Called after each page with the number of versions in it. An error that it throws ends the copy.
    /// - Throws: `.foreign` if one of the stores belongs to another database, and `.copying` if another copy is running.
    package func run(
        startsOver: Bool, onPage: (Int) throws(StorageError) -> Void
    ) async throws(StorageError) -> Summary {
        try lock()
        defer { try? connection.execute("SELECT pg_advisory_unlock(hashtext('storage copy'))") }
        return try await copy(startsOver: startsOver, onPage: onPage)
    }

    private func lock() throws(StorageError) {
        let locked = try mappingError(StorageError.database) { () throws(PostgresError) in
            try connection.query("SELECT pg_try_advisory_lock(hashtext('storage copy'))")
                .decode(Bool.self)
        }
        guard locked.first == true else { throw .copying }
    }

    private func copy(
        startsOver: Bool, onPage: (Int) throws(StorageError) -> Void
    ) async throws(StorageError) -> Summary {
        try await checkOwners()
        var summary = Summary()
        var start = startsOver ? nil : try position()
        summary.continuedAfter = start?.text
        for bucket in Self.buckets {
            if let start, start.isAfter(bucket) { continue }
            let pages = try await mappingError(StorageError.store) {
                () async throws(ObjectError) in
                // The rows are looked for after the listing, so a write of a server that died is copied if it has its row.
                try await source.pages(
                    of: bucket, after: start?.bucket == bucket ? start?.page : nil,
                    includesWrites: true)
            }
            start = nil
            while let page = try await next(of: pages) {
                let versions = try current(Self.versions(page.listing), of: bucket)
                summary.versions += versions.count
                for index in stride(from: 0, to: versions.count, by: Self.batchMax) {
                    let batch = versions[index..<min(index + Self.batchMax, versions.count)]
                    let (source, target, isDryRun) = (source, target, isDryRun)
                    let outcomes = try await mapConcurrently(Array(batch)) {
                        files throws(StorageError) in
                        try await Self.copy(files, from: source, to: target, isDryRun: isDryRun)
                    }
                    for outcome in outcomes {
                        switch outcome {
                        case .unchanged: break
                        case .unreadable: summary.unreadable += 1
                        case .copied(let byteCount):
                            summary.copied += 1
                            summary.bytes += byteCount
                        }
                    }
                }
                if !isDryRun { try save(.init(bucket: bucket, page: page.position)) }
                try onPage(versions.count)
            }
        }
        if !isDryRun { try forgetPosition() }
        return summary
    }

    /// The files of a page, grouped by version.
    private static func versions(_ listing: ObjectListing) -> [[ObjectListing.File]] {
        let groups = Dictionary(grouping: listing.objects) { file in
            "\(file.path.key.folder)/\(file.path.key.name).\(file.path.version)"
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns the versions to which a row refers.
    private func current(
        _ versions: [[ObjectListing.File]], of bucket: Bucket
    ) throws(StorageError) -> [[ObjectListing.File]] {
        var parameters = Parameters()
        var named: [(files: [ObjectListing.File], folder: UUID?, id: UUID, version: String)] = []
        for files in versions {
            guard let path = files.first?.path, let id = UUID(path.key.name) else { continue }
            let folder = UUID(path.key.folder)
            guard bucket == .editionCovers || folder != nil else { continue }
            named.append((files, folder, id, path.version))
        }
        if bucket == .bookCovers { parameters.append(uuids: named.compactMap(\.folder)) }
        parameters.append(uuids: named.map(\.id))
        parameters.append(texts: named.map(\.version))
        let query = bucket == .bookCovers ? Self.currentBookCovers : Self.currentEditionCovers
        let isCurrent = try mappingError(StorageError.database) { () throws(PostgresError) in
            try connection.query(query, parameters).decode(Bool.self)
        }
        return zip(named, isCurrent).filter { $0.1 }.map { $0.0.files }
    }

    private static let currentBookCovers = """
        SELECT is_stored_version(g.user_id, g.book_id, g.version)
        FROM unnest($1::uuid[], $2::uuid[], $3::text[])
            WITH ORDINALITY AS g (user_id, book_id, version, number)
        ORDER BY g.number
        """
    private static let currentEditionCovers = """
        SELECT EXISTS (SELECT FROM editions e WHERE e.id = g.id AND e.cover_version = g.version)
        FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS g (id, version, number)
        ORDER BY g.number
        """

    private enum Outcome: Sendable {
        /// The target has all files, or the version was removed meanwhile.
        case unchanged
        case unreadable
        case copied(byteCount: Int)
    }

    /// Copies the files of a version that the target does not have. A file that the source cannot read does not end the copy of
    /// others.
    private static func copy(
        _ files: [ObjectListing.File], from source: any ObjectStore, to target: any ObjectStore,
        isDryRun: Bool
    ) async throws(StorageError) -> Outcome {
        guard let path = files.first?.path else { return .unchanged }
        return try await mappingError(StorageError.store) { () async throws(ObjectError) in
            var variants: [ObjectVariant: [UInt8]] = [:]
            for variant in ObjectVariant.allCases {
                guard let file = ObjectPath(path.key, version: path.version, variant) else {
                    continue
                }
                var byteCount = files.first { $0.path.variant == variant }?.byteCount
                // Perhaps it was written after the page was read.
                if byteCount == nil { byteCount = try await source.byteCount(file) }
                guard let byteCount, try await target.byteCount(file) != byteCount else { continue }
                do throws(ObjectError) {
                    // The cover may have been replaced, and its files removed, since the page was read.
                    guard let bytes = try await source.read(file) else { return .unchanged }
                    variants[variant] = bytes
                } catch {
                    guard error.isOfOneFile else { throw error }
                    return .unreadable
                }
            }
            if variants.isEmpty { return .unchanged }
            // An error must not remove the files that the target has: servers may use them.
            if !isDryRun {
                try await target.restore(path.key, version: path.version, variants)
            }
            return .copied(byteCount: variants.values.reduce(0) { $0 + $1.count })
        }
    }

    private func next(
        of pages: any ObjectPages
    ) async throws(StorageError) -> (position: String, listing: ObjectListing)? {
        do throws(ObjectError) {
            return try await pages.next()
        } catch {
            throw .store(error)
        }
    }

    private func checkOwners() async throws(StorageError) {
        for (store, isRead) in [(source, true), (target, false)] {
            let sweep = StorageSweep(
                store, graceSeconds: 0, isDryRun: isRead || isDryRun, connection)
            try await sweep.checkOwner()
        }
    }

    // MARK: - Progress

    private func position() throws(StorageError) -> SweepProgress.Position? {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try Checkpoint.of(task, secondsMax: Self.checkpointSecondsMax, connection)
        }.flatMap { SweepProgress.Position($0.position) }
    }

    private func save(_ position: SweepProgress.Position) throws(StorageError) {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try Checkpoint(position: position.text).keep(as: task, connection)
        }
    }

    private func forgetPosition() throws(StorageError) {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try Checkpoint.forget(task, connection)
        }
    }
}
