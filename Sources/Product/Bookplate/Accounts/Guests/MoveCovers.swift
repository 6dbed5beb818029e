import Basics
import Identity
import JobQueue
import ObjectStorage
import Postgres

/// Copies the covers of a merged guest to the folder of the account, gives them to the account's books, and removes the guest's
/// files.
///
/// The merge has recorded the covers in `moving_covers`. A sweep of the store keeps the guest's files until they are copied.
struct MoveCovers: JobHandler {
    struct Payload: Codable, Sendable {
        let userID: String
    }

    static let kind = "account.move_covers"
    /// The attempts take several days, so that a full disk or a missing folder can be fixed.
    static let settings = JobSettings(
        attemptsMax: 100, timeout: .seconds(1800), retryDelay: .seconds(10))
    private static let batchSize: Int32 = 50

    let covers: Covers

    private struct Moving: RowDecodable {
        let account: UUID
        let book: UUID
        let guestBook: UUID
        let version: String

        init?(_ row: inout RowReader) {
            guard let account = row.uuid(), let book = row.uuid(), let guestBook = row.uuid(),
                let version = row.text()
            else { return nil }
            self.account = account
            self.book = book
            self.guestBook = guestBook
            self.version = version
        }
    }

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        guard let guest = UUID(payload.userID) else {
            throw .giveUp("The payload's user ID is not a UUID.")
        }
        while true {
            let batch = try await job.read { pipeline in
                var parameters = Parameters.of(guest)
                parameters.append(int32: Self.batchSize)
                return pipeline.append(Self.movingCovers, parameters)
            }
            if batch.isEmpty { break }
            for cover in batch { try await move(cover, of: guest, job) }
            await job.notifyChanges(of: Array(Set(batch.map(\.account))))
        }
        try await mappingError({ JobError.retry($0.description) }) {
            () async throws(ObjectError) in
            try await covers.removeAll(of: guest)
        }
    }

    private func move(_ cover: Moving, of guest: UUID, _ job: JobContext) async throws(JobError) {
        let copy = try await mappingError({ JobError.retry($0.description) }) {
            () async throws(ObjectError) in
            try await copyFiles(of: cover, guest: guest)
        }
        do throws(JobError) {
            let used = try await job.write { pipeline in
                var parameters = Parameters.of(cover.account, cover.book, guest)
                parameters.append(text: copy?.version)
                return pipeline.append(Self.finish, parameters)
            }
            guard let copy else { return }
            if used.first == true {
                await covers.store.settle(copy)
            } else {
                await covers.store.abandon(copy)
            }
        } catch {
            // After a lost connection the transaction may have been committed. A sweep then decides about the files.
            if let copy { await covers.store.settle(copy) }
            throw error
        }
    }

    /// Copies the files of a version. Returns nil if one is missing.
    private func copyFiles(
        of cover: Moving, guest: UUID
    ) async throws(ObjectError) -> PendingWrite? {
        guard
            let source = ObjectKey(.bookCovers, folder: "\(guest)", name: "\(cover.guestBook)"),
            let target = ObjectKey(.bookCovers, folder: "\(cover.account)", name: "\(cover.book)")
        else { return nil }
        var variants: [ObjectVariant: [UInt8]] = [:]
        for variant in Covers.variants {
            guard let path = ObjectPath(source, version: cover.version, variant),
                let bytes = try await covers.store.read(path)
            else { return nil }
            variants[variant] = bytes
        }
        let hashes = Covers.variants.compactMap { variants[$0].map { sha256($0) } }
        return try await covers.store.write(
            target, version: Covers.newVersion(of: hashes), variants)
    }

    private static let movingCovers = TypedStatement<Moving>(
        "SELECT user_id, book_id, guest_book_id, version FROM moving_covers_of($1, $2)")
    private static let finish = TypedStatement<Bool>("SELECT finish_moving_cover($1, $2, $3, $4)")
}
