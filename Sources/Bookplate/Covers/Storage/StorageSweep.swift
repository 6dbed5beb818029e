import Identity
import ImageProcessing
import JobQueue
import ObjectStorage
import Postgres

/// Takes away what the object store keeps and no row names: what a crash has left, and title cards of titles that
/// have changed. Any number may run at once, beside uploads.
///
/// A file that is listed belongs to no write under way (`ObjectStore.list`). Where no row names it, its version is
/// condemned first, in a transaction that waits for its user's others: from then on no row can name it, so a row
/// never loses its files, whenever its transaction comes.
package struct StorageSweep {
    package struct Summary: Sendable, Equatable {
        /// Writes of processes that have died.
        package var deadWrites = 0
        /// Versions of covers that no row names, and their bytes.
        package var orphans = 0
        package var orphanBytes = 0
        /// Files that this store did not make. They stay.
        package var strangers = 0
        /// Cards whose title has changed, or whose book is gone.
        package var titleCards = 0
        /// Versions of covers that had been replaced or removed, and whose end is now written down.
        package var forgotten = 0
        /// Folders that an earlier sweep had done with, which was stopped.
        package var foldersBefore = 0

        package init() {}

        /// Whether there was nothing to be taken away.
        package var isEmpty: Bool { deadWrites + orphans + titleCards + forgotten == 0 }
    }

    /// How the database is asked: as a job or as the operator. One statement, one transaction.
    package typealias Ask = (Statement, Parameters) async throws(StorageError) -> Rows

    /// A file may be so young that its row is not seen yet, whatever else is wrong: it stays for now.
    package static let graceSeconds = 3600

    private static let batchMax = 500
    /// Folders after which it is written down how far it has come.
    private static let foldersPerCheckpoint = 100

    let store: any ObjectStore
    let ask: Ask
    let graceSeconds: Int
    /// Everything is looked for, and nothing of the store is touched; `ask` undoes its own.
    let isDryRun: Bool
    /// Where it is written down how far it has come; nil where it always begins with the first folder.
    let progress: SweepProgress?

    package init(
        _ store: any ObjectStore, graceSeconds: Int = graceSeconds, isDryRun: Bool = false,
        progress: SweepProgress? = nil, _ ask: @escaping Ask
    ) {
        self.store = store
        self.ask = ask
        self.graceSeconds = graceSeconds
        self.isDryRun = isDryRun
        self.progress = isDryRun ? nil : progress
    }

    /// Sweeps all of the store, or what a sweep has left to do that was stopped.
    ///
    /// - Parameters:
    ///   - onFound: called for each file that is at fault, with its name below the store's folder.
    ///   - onFolder: called before each folder; what it throws ends the sweep.
    /// - Throws: `.foreign` where the store belongs to another database; nothing has happened then.
    package func run(
        onFound: (Found, String) -> Void = { _, _ in },
        onFolder: () throws(StorageError) -> Void = {}
    ) async throws(StorageError) -> Summary {
        try await checkOwner()
        var summary = Summary()
        summary.deadWrites = try await storing { () async throws(ObjectError) in
            try await store.sweepStaleWrites(isDryRun: isDryRun)
        }
        summary.forgotten = try await forgetLeft()
        var done = try await progress?.last(ask)
        summary.foldersBefore = done?.count ?? 0
        for bucket in Bucket.allCases {
            let folders = try await storing { () async throws(ObjectError) in
                try await store.folders(of: bucket)
            }.sorted()
            for folder in folders {
                let place = SweepProgress.Place(bucket: bucket, folder: folder)
                if let done, done.place >= place { continue }
                try onFolder()
                try await sweep(folder, of: bucket, &summary, onFound)
                let count = (done?.count ?? 0) + 1
                done = .init(place: place, count: count)
                if let progress, let done, count.isMultiple(of: Self.foldersPerCheckpoint) {
                    try await progress.keep(done, ask)
                }
            }
        }
        try await progress?.forget(ask)
        return summary
    }

    /// The next run begins with the first folder.
    package func startOver() async throws(StorageError) { try await progress?.forget(ask) }

    package enum Found: String, Sendable { case orphan, stranger }

    package func checkOwner() async throws(StorageError) {
        guard let id = try await ask(Self.installation, Parameters()).uuid(0, 0) else {
            throw .foreign
        }
        let isOurs = try await storing { () async throws(ObjectError) in
            isDryRun
                ? try await store.isClaimed(by: "\(id)") ?? true
                : try await store.claim(for: "\(id)")
        }
        guard isOurs else { throw .foreign }
    }

    // MARK: - What has been removed

    /// Ends what requests have begun: they remove a version's files after the transaction that replaced it.
    private func forgetLeft() async throws(StorageError) -> Int {
        var count = 0
        while true {
            var limit = Parameters()
            limit.append(int32: Int32(Self.batchMax))
            let left = try await ask(Self.left, limit)
            count += left.count
            guard left.count > 0, !isDryRun else { return count }
            var versions = Parameters()
            var (users, books, names): ([UUID], [UUID], [String]) = ([], [], [])
            for row in 0..<left.count {
                guard let user = left.uuid(row, 0), let book = left.uuid(row, 1),
                    let version = left.text(row, 2),
                    let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)")
                else { continue }
                try await remove(key, version)
                users.append(user)
                books.append(book)
                names.append(version)
            }
            versions.append(uuids: users)
            versions.append(uuids: books)
            versions.append(texts: names)
            _ = try await ask(Self.forget, versions)
        }
    }

    // MARK: - What nobody names

    private func sweep(
        _ folder: String, of bucket: Bucket, _ summary: inout Summary,
        _ onFound: (Found, String) -> Void
    ) async throws(StorageError) {
        let oldest = unixSecondsNow() - Int64(graceSeconds)
        let listing = try await storing { () async throws(ObjectError) in
            try await store.list(folder, of: bucket)
        }
        summary.strangers += listing.unknownFiles.count
        for name in listing.unknownFiles {
            onFound(.stranger, "\(bucket.rawValue)/\(folder)/\(name)")
        }
        var versions = StoredVersions(listing.objects.filter { $0.createdAt <= oldest })
        while let batch = versions.next(Self.batchMax) {
            switch (bucket, UUID(folder)) {
            case (.bookCovers, let user?):
                let orphans = try await condemned(batch, of: user)
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
                let unnamed = try await unnamed(batch)
                try await remove(unnamed)
                summary.orphans += unnamed.count
                summary.orphanBytes += unnamed.reduce(0) { $0 + $1.byteCount }
            case (.titleCards, let user):
                let outdated = try await outdated(batch, of: user)
                try await remove(outdated)
                summary.titleCards += outdated.count
            }
        }
    }

    private func condemned(
        _ batch: [StoredVersion], of user: UUID
    ) async throws(StorageError) -> [StoredVersion] {
        // Most folders have nothing that is unnamed, and cost one look.
        let parameters = parameters(batch, user)
        guard try await ask(Self.unnamed, parameters).count > 0 else { return [] }
        // All of them: a transaction that this waits for may name one, and another no more.
        let condemned = Set(try await ask(Self.condemn, parameters).versions)
        return batch.filter { condemned.contains($0.name) }
    }

    private func parameters(_ batch: [StoredVersion], _ user: UUID) -> Parameters {
        var parameters = Parameters.of(user)
        parameters.append(uuids: batch.map(\.id))
        parameters.append(texts: batch.map(\.name.version))
        return parameters
    }

    /// Pictures of the catalogue are fetched again: no transaction under way is waited for, as files are given time.
    private func unnamed(_ batch: [StoredVersion]) async throws(StorageError) -> [StoredVersion] {
        var parameters = Parameters()
        parameters.append(uuids: Set(batch.map(\.id)))
        let named = Set(try await ask(Self.editionCovers, parameters).versions)
        return batch.filter { !named.contains($0.name) }
    }

    /// Cards that are not what would be drawn today. Whoever has an older address is shown the new one.
    private func outdated(
        _ batch: [StoredVersion], of user: UUID?
    ) async throws(StorageError) -> [StoredVersion] {
        var parameters = user.map { Parameters.of($0) } ?? Parameters()
        parameters.append(uuids: Set(batch.map(\.id)))
        let rows = try await ask(user == nil ? Self.editions : Self.books, parameters)
        var current: Set<StoredVersion.Name> = []
        for row in 0..<rows.count {
            guard let id = rows.uuid(row, 0), let title = rows.text(row, 1) else { continue }
            let card = TitleCard(
                title: title, author: rows.text(row, 2), genre: rows.text(row, 3))
            current.insert(.init(id: "\(id)", version: card.version))
        }
        return batch.filter { !current.contains($0.name) }
    }

    private func remove(_ versions: [StoredVersion]) async throws(StorageError) {
        for version in versions { try await remove(version.key, version.name.version) }
    }

    private func remove(_ key: ObjectKey, _ version: String) async throws(StorageError) {
        guard !isDryRun else { return }
        try await storing { () async throws(ObjectError) in
            try await store.remove(key, version: version)
        }
    }

    // MARK: - Statements

    private static let installation = Statement("SELECT id FROM installation")
    private static let left = Statement("SELECT user_id, book_id, version FROM left_covers($1)")
    private static let forget = Statement("SELECT forget_left_covers($1, $2, $3)")
    private static let unnamed = Statement(
        """
        SELECT g.book_id, g.version FROM unnest($2::uuid[], $3::text[]) AS g (book_id, version) \
        WHERE public_cover_version($1, g.book_id) IS DISTINCT FROM g.version
        """)
    private static let condemn = Statement(
        "SELECT book_id, version FROM condemn_versions($1, $2, $3)")
    private static let books = Statement(
        """
        SELECT g.id, t.title, t.author, t.genre FROM unnest($2::uuid[]) AS g (id), \
        public_book_title($1, g.id) AS t
        """)
    private static let editionCovers = Statement(
        "SELECT id, cover_version FROM editions WHERE id = ANY($1) AND cover_version IS NOT NULL")
    private static let editions = Statement(
        "SELECT id, title, authors[1], genres[1] FROM editions WHERE id = ANY($1)")
}

extension Rows {
    fileprivate var versions: [StoredVersion.Name] {
        (0..<count).compactMap { row in
            guard let id = uuid(row, 0), let version = text(row, 1) else { return nil }
            return .init(id: "\(id)", version: version)
        }
    }
}

/// Why work on the store did not come to its end.
package enum StorageError: Error, Sendable {
    case store(ObjectError)
    case database(PostgresError)
    /// The store belongs to another database: one of the two is not the one that was meant.
    case foreign
    /// No image can be made: a sentence.
    case images(String)
    /// Somebody wants it to end.
    case cancelled

    /// A sentence for the operator.
    package var message: String {
        switch self {
        case .store(let error): error.description
        case .database(let error): JobError.database(error).message
        case .foreign:
            "the store belongs to another database: is BOOKPLATE_STORAGE, or the database's URL, another installation's?"
        case .images(let reason): reason
        case .cancelled: "it was told to stop"
        }
    }
}

func storing<Value>(
    _ work: () async throws(ObjectError) -> Value
) async throws(StorageError) -> Value {
    do throws(ObjectError) {
        return try await work()
    } catch {
        throw .store(error)
    }
}
