import Basics
import Identity
import ObjectStorage
import Postgres

/// Removes objects to which no row refers: those that a crash has left, and title cards with outdated titles.
///
/// Any number of sweeps can run concurrently with each other and with uploads:
///
/// - A listed file does not belong to a write in progress (`ObjectStore.list`).
/// - If no row refers to a cover's version, the sweep first marks the version as removed, in a transaction that waits
///   for the user's other transactions. From then on, the database refuses a row with this version. After that, the
///   sweep removes the files. Therefore a row never loses its files, even if its transaction is committed late.
package struct StorageSweep {
    package struct Summary: Sendable, Equatable {
        /// The number of unfinished writes of processes that have died.
        package var deadWrites = 0
        /// The number of cover versions to which no row refers, and the bytes of their files.
        package var orphans = 0
        package var orphanBytes = 0
        /// The number of files that the store did not create. They are not removed.
        package var unknownFiles = 0
        /// The number of title cards whose title has changed or whose book was deleted.
        package var titleCards = 0
        /// The number of replaced or removed cover versions whose removal this sweep has completed.
        package var removedCovers = 0
        /// The number of pages of the store, such as folders, that the interrupted sweep before this one had completed.
        package var foldersBefore = 0

        package init() {}

        /// Whether nothing was removed.
        package var isEmpty: Bool { deadWrites + orphans + titleCards + removedCovers == 0 }
    }

    /// Runs one statement in a transaction of its own, as a job or as the operator.
    package typealias RunStatement =
        (Statement, Parameters) async throws(StorageError) -> Rows

    /// The default minimum age of a file that is removed, so that a recent file is never at risk.
    package static let graceSeconds = 3600

    private static let batchMax = 500
    /// The number of pages after which the progress is saved.
    private static let pagesPerCheckpoint = 100

    let store: any ObjectStore
    let runStatement: RunStatement
    let graceSeconds: Int
    /// Whether the sweep only counts. It does not change the store, and `runStatement` rolls back.
    let isDryRun: Bool
    /// Where the progress is saved; nil if the sweep always starts with the first folder.
    let progress: SweepProgress?

    package init(
        _ store: any ObjectStore, graceSeconds: Int = graceSeconds, isDryRun: Bool = false,
        progress: SweepProgress? = nil, _ runStatement: @escaping RunStatement
    ) {
        self.store = store
        self.runStatement = runStatement
        self.graceSeconds = graceSeconds
        self.isDryRun = isDryRun
        self.progress = isDryRun ? nil : progress
    }

    /// Sweeps the store, or the rest of it if the last sweep was interrupted.
    ///
    /// - Parameters:
    ///   - onFound: Called for each orphan and each unknown file with its path below the store's folder.
    ///   - onFolder: Called before each page of the store, such as a folder. An error that it throws ends the sweep.
    /// - Throws: `.foreign` if the store belongs to another database. In this case, nothing was changed.
    package func run(
        onFound: (Found, String) -> Void = { _, _ in },
        onFolder: () throws(StorageError) -> Void = {}
    ) async throws(StorageError) -> Summary {
        try await checkOwner()
        var summary = Summary()
        summary.deadWrites = try await mappingError(StorageError.store) {
            () async throws(ObjectError) in
            try await store.sweepStaleWrites(isDryRun: isDryRun)
        }
        summary.removedCovers = try await finishRemovals()
        var completed = try await progress?.load(runStatement)
        summary.foldersBefore = completed?.count ?? 0
        for bucket in Bucket.allCases {
            if let completed, completed.position.isAfter(bucket) { continue }
            let start = completed?.position.bucket == bucket ? completed?.position.page : nil
            let pages = try await mappingError(StorageError.store) {
                () async throws(ObjectError) in
                try await store.pages(of: bucket, after: start, includesWrites: false)
            }
            while true {
                try onFolder()
                guard let page = try await next(of: pages) else { break }
                try await sweep(page.listing, of: bucket, &summary, onFound)
                let newlyCompleted = SweepProgress.Completed(
                    position: .init(bucket: bucket, page: page.position),
                    count: (completed?.count ?? 0) + 1)
                completed = newlyCompleted
                if let progress, newlyCompleted.count.isMultiple(of: Self.pagesPerCheckpoint) {
                    try await progress.save(newlyCompleted, runStatement)
                }
            }
        }
        try await progress?.forget(runStatement)
        return summary
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

    /// Deletes the saved progress, so that the next run starts with the first folder.
    package func startOver() async throws(StorageError) {
        try await progress?.forget(runStatement)
    }

    package enum Found: String, Sendable { case orphan, unknown }

    /// Claims the store for the database, unless it is claimed already.
    ///
    /// - Throws: `.foreign` if the store belongs to another database.
    package func checkOwner() async throws(StorageError) {
        let ids = try await runStatement(Self.installationID.statement, Parameters())
            .decode(UUID.self)
        guard let id = ids.first else { throw .foreign }
        let isOwner = try await mappingError(StorageError.store) { () async throws(ObjectError) in
            isDryRun
                ? try await store.isClaimed(by: "\(id)") ?? true
                : try await store.claim(for: "\(id)")
        }
        guard isOwner else { throw .foreign }
    }

    // MARK: - Interrupted removals

    /// Finishes removals that requests have started.
    ///
    /// A request that replaces or removes a version removes its files after its transaction. If the server dies in
    /// between, the row in `removed_covers` stays.
    private func finishRemovals() async throws(StorageError) -> Int {
        var count = 0
        while true {
            var limit = Parameters()
            limit.append(int32: Int32(Self.batchMax))
            let batch = try await runStatement(UnfinishedRemoval.query.statement, limit)
                .decode(UnfinishedRemoval.self)
            count += batch.count
            guard !batch.isEmpty, !isDryRun else { return count }
            for removal in batch { try await remove(removal.key, removal.version) }
            var parameters = Parameters()
            parameters.append(uuids: batch.map(\.user))
            parameters.append(uuids: batch.map(\.book))
            parameters.append(texts: batch.map(\.version))
            _ = try await runStatement(Self.forgetRemovals, parameters)
        }
    }

    // MARK: - Objects without a row

    private func sweep(
        _ listing: ObjectListing, of bucket: Bucket, _ summary: inout Summary,
        _ onFound: (Found, String) -> Void
    ) async throws(StorageError) {
        let newestCreatedAt = unixSecondsNow() - Int64(graceSeconds)
        summary.unknownFiles += listing.unknownFiles.count
        for name in listing.unknownFiles {
            onFound(.unknown, "\(bucket.rawValue)/\(name)")
        }
        let files = Dictionary(
            grouping: listing.objects.filter { $0.createdAt <= newestCreatedAt },
            by: \.path.key.folder)
        for (folder, files) in files {
            try await sweep(files, in: folder, of: bucket, &summary, onFound)
        }
    }

    private func sweep(
        _ files: [ObjectListing.File], in folder: String, of bucket: Bucket,
        _ summary: inout Summary, _ onFound: (Found, String) -> Void
    ) async throws(StorageError) {
        var batches = ObjectVersionBatches(files)
        while let batch = batches.next(Self.batchMax) {
            switch (bucket, UUID(folder)) {
            case (.bookCovers, let user?):
                let orphans = try await markOrphansRemoved(batch, of: user)
                try await remove(orphans)
                for orphan in orphans {
                    onFound(
                        .orphan,
                        "\(bucket.rawValue)/\(folder)/\(orphan.name.id).\(orphan.name.version)")
                }
                summary.orphans += orphans.count
                summary.orphanBytes += orphans.reduce(0) { $0 + $1.byteCount }
            case (.bookCovers, nil): continue
            case (.editionCovers, _):
                let orphans = try await orphanedEditionCovers(batch)
                try await remove(orphans)
                summary.orphans += orphans.count
                summary.orphanBytes += orphans.reduce(0) { $0 + $1.byteCount }
            case (.titleCards, let user):
                let outdated = try await outdatedTitleCards(batch, of: user)
                try await remove(outdated)
                summary.titleCards += outdated.count
            }
        }
    }

    /// Marks those versions of a user's covers as removed to which no row refers, and returns them.
    private func markOrphansRemoved(
        _ batch: [ObjectVersion], of user: UUID
    ) async throws(StorageError) -> [ObjectVersion] {
        // Most folders have no orphans, so one query is enough for them.
        let parameters = parameters(batch, user)
        guard try await runStatement(Self.bookCoverOrphans, parameters).count > 0 else {
            return []
        }
        // Pass the whole batch: a transaction that this one waits for may change which versions are orphans.
        let removed = try await names(Self.markRemoved, parameters)
        return batch.filter { removed.contains($0.name) }
    }

    private func parameters(_ batch: [ObjectVersion], _ user: UUID) -> Parameters {
        var parameters = Parameters.of(user)
        parameters.append(uuids: batch.map(\.id))
        parameters.append(texts: batch.map(\.name.version))
        return parameters
    }

    /// Returns the covers of editions to which no row refers.
    ///
    /// It does not wait for open transactions because the grace period is longer than a transaction. If a cover were
    /// removed wrongly, it would be downloaded again.
    private func orphanedEditionCovers(
        _ batch: [ObjectVersion]
    ) async throws(StorageError) -> [ObjectVersion] {
        var parameters = Parameters()
        parameters.append(uuids: Set(batch.map(\.id)))
        let current = try await names(Self.editionCovers, parameters)
        return batch.filter { !current.contains($0.name) }
    }

    /// Returns the title cards whose text or style is outdated. Their URLs are not found from then on.
    private func outdatedTitleCards(
        _ batch: [ObjectVersion], of user: UUID?
    ) async throws(StorageError) -> [ObjectVersion] {
        var parameters = user.map { Parameters.of($0) } ?? Parameters()
        parameters.append(uuids: Set(batch.map(\.id)))
        let current = try await names(user == nil ? Self.editions : Self.books, parameters)
        return batch.filter { !current.contains($0.name) }
    }

    private func names(
        _ query: TypedStatement<ImageVersion>, _ parameters: Parameters
    ) async throws(StorageError) -> Set<ObjectVersion.Name> {
        let rows = try await runStatement(query.statement, parameters).decode(ImageVersion.self)
        return Set(rows.map(\.name))
    }

    private func remove(_ versions: [ObjectVersion]) async throws(StorageError) {
        for version in versions { try await remove(version.key, version.name.version) }
    }

    private func remove(_ key: ObjectKey, _ version: String) async throws(StorageError) {
        guard !isDryRun else { return }
        try await mappingError(StorageError.store) { () async throws(ObjectError) in
            try await store.remove(key, version: version)
        }
    }

    // MARK: - Statements

    private static let installationID = TypedStatement<UUID>("SELECT id FROM installation")
    private static let forgetRemovals = Statement("SELECT delete_removed_covers($1, $2, $3)")
    private static let bookCoverOrphans = Statement(
        """
        SELECT g.book_id, g.version
        FROM unnest($2::uuid[], $3::text[]) AS g (book_id, version)
        WHERE NOT is_stored_version($1, g.book_id, g.version)
        """)
    private static let markRemoved = TypedStatement<ImageVersion>(
        "SELECT book_id, version FROM mark_versions_removed($1, $2, $3)")
    private static let editionCovers = TypedStatement<ImageVersion>(
        """
        SELECT id, cover_version
        FROM editions
        WHERE id = ANY($1) AND cover_version IS NOT NULL
        """)
    private static let books = TypedStatement<ImageVersion>(
        """
        SELECT g.id, title_card_version(t.title, t.author, t.genre)
        FROM unnest($2::uuid[]) AS g (id), public_book_title($1, g.id) AS t
        """)
    private static let editions = TypedStatement<ImageVersion>(
        "SELECT id, title_card_version FROM editions WHERE id = ANY($1)")
}

/// The id and the version of an image.
private struct ImageVersion: RowDecodable {
    let name: ObjectVersion.Name

    init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let version = row.text() else { return nil }
        name = .init(id: "\(id)", version: version)
    }
}

/// A replaced or removed cover whose files may still exist.
private struct UnfinishedRemoval: RowDecodable {
    let user: UUID
    let book: UUID
    let version: String
    let key: ObjectKey

    init?(_ row: inout RowReader) {
        guard let user = row.uuid(), let book = row.uuid(), let version = row.text(),
            let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)")
        else { return nil }
        self.user = user
        self.book = book
        self.version = version
        self.key = key
    }

    static let query = TypedStatement<Self>(
        "SELECT user_id, book_id, version FROM expired_removed_covers($1)")
}
