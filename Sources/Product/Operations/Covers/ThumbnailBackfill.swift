import Basics
import Bookplate
import Identity
import ImageProcessing
import ObjectStorage
import Postgres

/// Recreates missing or damaged size variants of covers from the largest intact one: `bookplate-admin backfill
/// thumbnails`. Use it after a disk has lost files or a backup was incomplete.
///
/// A repaired cover gets a new version, whose files are complete before its row refers to them. The position is stored
/// after each batch, so an interrupted run continues there.
package struct ThumbnailBackfill {
    package struct Summary: Sendable, Equatable {
        /// The number of covers that were checked.
        package var checked = 0
        /// The number of covers that were repaired.
        package var repaired = 0
        /// The number of covers that cannot be repaired because no full or large variant is intact.
        package var lost = 0
        /// Whether no cover is left, so that the next run starts with the first one.
        package var isComplete = false

        package init() {}
    }

    private static let task = "thumbnails"
    /// The number of covers that are checked concurrently, which is also the number of images that wait for the imager.
    private static let batchMax = 16

    private let store: any ObjectStore
    private let images: ImagerPool
    private let connection: AdminConnection
    private let isDryRun: Bool
    private var position: CoverRecord.Position?
    /// The number of covers that interrupted runs have checked.
    package private(set) var doneBefore = 0

    /// - Parameter startsOver: Whether to start with the first cover even if the last run was interrupted.
    package init(
        _ store: any ObjectStore, _ images: ImagerPool, startsOver: Bool, isDryRun: Bool,
        _ connection: AdminConnection
    ) throws(PostgresError) {
        self.store = store
        self.images = images
        self.connection = connection
        self.isDryRun = isDryRun
        guard !startsOver else { return }
        let checkpoint = try Checkpoint.of(Self.task, connection)
        position = checkpoint.flatMap { .init($0.position) }
        doneBefore = position == nil ? 0 : checkpoint?.done ?? 0
    }

    /// Checks the covers after the position and repairs them.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of covers.
    ///   - beforeBatch: Called before each batch. An error that it throws ends the run.
    ///   - onProgress: Called after each batch with the number of covers in it.
    package mutating func run(
        limit: Int = .max, beforeBatch: () throws(StorageError) -> Void,
        onProgress: (Int) -> Void
    ) async throws(StorageError) -> Summary {
        var summary = Summary()
        while true {
            try beforeBatch()
            let count = min(Self.batchMax, limit - summary.checked)
            if count <= 0 { return summary }
            guard let batch = try await next(count) else {
                summary.isComplete = true
                return summary
            }
            summary.checked += batch.checked
            summary.repaired += batch.repaired
            summary.lost += batch.lost
            onProgress(batch.checked)
        }
    }

    /// Checks the next covers and repairs them.
    ///
    /// - Returns: Nil if no cover is left; then the next run starts with the first one.
    private mutating func next(_ countMax: Int) async throws(StorageError) -> Summary? {
        let records = try page(countMax)
        guard let last = records.last else {
            if !isDryRun { try forgetPosition() }
            return nil
        }
        let (store, images, isDryRun) = (store, images, isDryRun)
        let outcomes = try await mapConcurrently(records) { record throws(StorageError) in
            try await Self.repair(record, store, images, isDryRun: isDryRun)
        }
        var summary = Summary()
        for (record, outcome) in zip(records, outcomes) {
            summary.checked += 1
            switch outcome {
            case .intact: continue
            case .lost: summary.lost += try isCurrent(record) ? 1 : 0
            case .repairable: summary.repaired += 1
            case .repaired(let cover):
                summary.repaired += try await replace(record, with: cover) ? 1 : 0
            }
        }
        let position = CoverRecord.Position(last)
        self.position = position
        doneBefore += records.count
        if !isDryRun { try savePosition(position) }
        return summary
    }

    // MARK: - Images

    private enum Outcome: Sendable {
        case intact, lost
        /// A dry run created the variants but did not store them.
        case repairable
        case repaired(RepairedCover)
    }

    /// A new version, whose files are in the store.
    private struct RepairedCover: Sendable {
        let width: Int32
        let height: Int32
        let variants: [[UInt8]]
        let hashes: [[UInt8]]
        let pending: PendingWrite
    }

    private static func repair(
        _ record: CoverRecord, _ store: any ObjectStore, _ images: ImagerPool, isDryRun: Bool
    ) async throws(StorageError) -> Outcome {
        let bytes = try await record.states(in: store).map(\.bytes)
        guard bytes.contains(where: { $0 == nil }) else { return .intact }
        // A thumbnail is too small to recreate the larger variants.
        guard let source = bytes[2] ?? bytes[1], let key = record.key else { return .lost }
        let recreated: CoverImages
        do throws(ImageError) {
            recreated = try await images.cover(from: source)
        } catch .unsupported {
            return .lost
        } catch {
            throw .images("\(error)")
        }
        if isDryRun { return .repairable }
        let variants = zip(bytes, [recreated.thumbnail, recreated.full, recreated.large]).map {
            $0 ?? $1.bytes
        }
        let hashes = variants.map { sha256($0) }
        let pending = try await mappingError(StorageError.store) { () async throws(ObjectError) in
            try await store.write(
                key, version: Covers.newVersion(of: hashes),
                Dictionary(uniqueKeysWithValues: zip(Covers.variants, variants)))
        }
        return .repaired(
            RepairedCover(
                width: bytes[1] == nil ? Int32(recreated.full.width) : record.width,
                height: bytes[1] == nil ? Int32(recreated.full.height) : record.height,
                variants: variants, hashes: hashes, pending: pending))
    }

    // MARK: - Rows

    /// Makes a repaired cover that of the book, or of the deleted book.
    ///
    /// - Returns: False if the cover was replaced or removed in the meantime.
    private func replace(
        _ record: CoverRecord, with cover: RepairedCover
    ) async throws(StorageError) -> Bool {
        var parameters = Parameters.of(record.user, record.book)
        parameters.append(text: record.version)
        parameters.append(text: cover.pending.version)
        parameters.append(int32: cover.width)
        parameters.append(int32: cover.height)
        parameters.append(int32s: cover.variants.map { Int32($0.count) })
        parameters.appendArray(of: .bytea) { elements in
            for hash in cover.hashes { hash.withUnsafeBytes { elements.append(cell: $0) } }
        }
        let isReplaced: Bool
        do throws(PostgresError) {
            isReplaced =
                try connection.query(Self.replaceCover, parameters).decode(Bool.self).first == true
        } catch {
            // The transaction may have been committed even if its result was lost, so the files stay. `StorageSweep`
            // removes them if no row refers to them.
            await store.settle(cover.pending)
            throw .database(error)
        }
        guard isReplaced else {
            await store.abandon(cover.pending)
            return false
        }
        await store.settle(cover.pending)
        if let key = record.key {
            try await mappingError(StorageError.store) { () async throws(ObjectError) in
                try await store.remove(key, version: record.version)
            }
        }
        return true
    }

    /// Replaces a version if it is still current. A trigger notifies clients of the new URL; requests for the old URL
    /// receive the new version.
    private static let replaceCover = """
        WITH locked_user AS MATERIALIZED (
            SELECT lock_user($1)
        ), replaced AS (
            UPDATE covers c
            SET version = $4, width = $5, height = $6, byte_counts = $7, hashes = $8
            -- The join takes the lock before the update.
            FROM locked_user
            WHERE c.user_id = $1 AND c.book_id = $2 AND c.version = $3
            RETURNING c.book_id
        ), replaced_deleted AS (
            UPDATE deleted_books d
            SET cover = d.cover || jsonb_build_object(
                'version', $4, 'width', $5, 'height', $6, 'byte_counts', $7, 'hashes', $8)
            FROM locked_user
            WHERE d.user_id = $1 AND d.id = $2 AND d.cover ->> 'version' = $3
            RETURNING d.id
        )
        SELECT EXISTS (SELECT FROM replaced) OR EXISTS (SELECT FROM replaced_deleted)
        """

    private func page(_ countMax: Int) throws(StorageError) -> [CoverRecord] {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try CoverRecord.page(after: position, countMax, connection)
        }
    }

    private func isCurrent(_ record: CoverRecord) throws(StorageError) -> Bool {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try record.isCurrent(connection)
        }
    }

    private func savePosition(_ position: CoverRecord.Position) throws(StorageError) {
        let checkpoint = Checkpoint(position: position.text, done: doneBefore)
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try checkpoint.keep(as: Self.task, connection)
        }
    }

    private func forgetPosition() throws(StorageError) {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try Checkpoint.forget(Self.task, connection)
        }
    }
}
