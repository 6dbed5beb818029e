import Identity
import ImageProcessing
import ObjectStorage
import Postgres

/// Makes variants of covers again that are missing or damaged, from the largest that is whole: after a disk has lost
/// files, or a backup was incomplete.
///
/// What is made is a new version, as with every cover: whole before its row names it. Where a run has come to is written
/// down with each batch.
package struct ThumbnailBackfill {
    package struct Summary: Sendable, Equatable {
        /// Covers that were looked at.
        package var looked = 0
        /// Of these, those that lacked something and have it again.
        package var mended = 0
        /// Those of which nothing is left to make it from.
        package var lost = 0

        package init() {}
    }

    private static let task = "thumbnails"
    /// Covers that are looked at, and images that wait for the imager, at once.
    package static let batchMax = 16

    private let store: FileStore
    private let images: ImagerPool
    private let connection: AdminConnection
    private let isDryRun: Bool
    private var position: CoverRecord.Position?
    /// How many covers earlier runs have looked at.
    package private(set) var doneBefore = 0

    /// - Parameter startsOver: from the first cover, wherever the last run has stopped.
    package init(
        _ store: FileStore, _ images: ImagerPool, startsOver: Bool, isDryRun: Bool,
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

    /// Looks at the next covers and mends them.
    ///
    /// - Returns: nil when there are none left; the next run begins with the first.
    package mutating func next(_ countMax: Int) async throws(StorageError) -> Summary? {
        let records = try page(countMax)
        guard let last = records.last else {
            if !isDryRun {
                try asking { () throws(PostgresError) in
                    try Checkpoint.forget(Self.task, connection)
                }
            }
            return nil
        }
        let (store, images, isDryRun) = (store, images, isDryRun)
        let outcomes = try await concurrently(records) { record throws(StorageError) in
            try await Self.mend(record, store, images, isDryRun: isDryRun)
        }
        var summary = Summary()
        for (record, outcome) in zip(records, outcomes) {
            summary.looked += 1
            switch outcome {
            case .whole: continue
            case .lost: summary.lost += try isCurrent(record) ? 1 : 0
            case .wouldMend: summary.mended += 1
            case .mended(let cover): summary.mended += try await keep(cover, of: record) ? 1 : 0
            }
        }
        let position = CoverRecord.Position(last)
        self.position = position
        doneBefore += records.count
        if !isDryRun {
            let checkpoint = Checkpoint(position: position.text, done: doneBefore)
            try asking { () throws(PostgresError) in
                try checkpoint.keep(as: Self.task, connection)
            }
        }
        return summary
    }

    // MARK: - Images

    private enum Outcome: Sendable {
        case whole, lost, wouldMend
        case mended(MendedCover)
    }

    /// A new version whose files are in the store.
    private struct MendedCover: Sendable {
        let width: Int32
        let height: Int32
        let variants: [[UInt8]]
        let hashes: [[UInt8]]
        let pending: PendingWrite
    }

    private static func mend(
        _ record: CoverRecord, _ store: FileStore, _ images: ImagerPool, isDryRun: Bool
    ) async throws(StorageError) -> Outcome {
        let bytes = try await record.states(in: store).map(\.bytes)
        guard bytes.contains(where: { $0 == nil }) else { return .whole }
        // A thumbnail is too small to make a cover from.
        guard let source = bytes[2] ?? bytes[1], let key = record.key else { return .lost }
        let made: CoverImages
        do throws(ImageError) {
            made = try await images.cover(from: source)
        } catch .unsupported {
            return .lost
        } catch {
            throw .images("\(error)")
        }
        if isDryRun { return .wouldMend }
        let variants = zip(bytes, [made.thumbnail, made.full, made.large]).map { $0 ?? $1.bytes }
        let hashes = variants.map { sha256($0) }
        let pending = try await storing { () async throws(ObjectError) in
            try await store.write(
                key, version: Covers.newVersion(of: hashes),
                Dictionary(uniqueKeysWithValues: zip(CoverRecord.variants, variants)))
        }
        return .mended(
            MendedCover(
                width: bytes[1] == nil ? Int32(made.full.width) : record.width,
                height: bytes[1] == nil ? Int32(made.full.height) : record.height,
                variants: variants, hashes: hashes, pending: pending))
    }

    // MARK: - Rows

    /// - Returns: false where the cover was replaced meanwhile.
    private func keep(
        _ cover: MendedCover, of record: CoverRecord
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
        let rows: Rows
        do throws(PostgresError) {
            rows = try connection.query(Self.replace, parameters)
        } catch {
            // It may be kept all the same where the answer was lost; a sweep finds out.
            await store.settle(cover.pending)
            throw .database(error)
        }
        guard rows.bool(0, 0) == true else {
            await store.abandon(cover.pending)
            return false
        }
        await store.settle(cover.pending)
        if let key = record.key {
            try await storing { () async throws(ObjectError) in
                try await store.remove(key, version: record.version)
            }
        }
        return true
    }

    /// Devices hear of it by the cover's event; the address before shows the new version as well.
    private static let replace = """
        WITH turn AS MATERIALIZED (SELECT take_turns($1)), replaced AS (
          UPDATE covers c SET version = $4, width = $5, height = $6, byte_counts = $7, hashes = $8
          FROM turn WHERE c.user_id = $1 AND c.book_id = $2 AND c.version = $3 RETURNING c.book_id)
        SELECT EXISTS (SELECT FROM replaced)
        """

    private func page(_ countMax: Int) throws(StorageError) -> [CoverRecord] {
        try asking { () throws(PostgresError) in
            try CoverRecord.page(after: position, countMax, connection)
        }
    }

    private func isCurrent(_ record: CoverRecord) throws(StorageError) -> Bool {
        try asking { () throws(PostgresError) in try record.isCurrent(connection) }
    }

    private func asking<Value>(
        _ work: () throws(PostgresError) -> Value
    ) throws(StorageError) -> Value {
        do throws(PostgresError) {
            return try work()
        } catch {
            throw .database(error)
        }
    }
}
