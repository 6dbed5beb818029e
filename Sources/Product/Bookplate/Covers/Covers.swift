import Basics
import HTTPFetch
import Identity
import ImageProcessing
import JobQueue
import Logging
import ObjectStorage
import Postgres
import Requests

/// Decodes, stores, and removes covers. A process has one instance.
package final class Covers: Sendable {
    package let store: any ObjectStore
    let images: ImagerPool
    let fetcher: Fetcher
    let urls: ImageURLBuilder
    let titleCards: TitleCards
    let downloads = ImageSlots.downloads()
    let bucketReads = ImageSlots.bucketReads()
    let logger: Logger

    /// - Parameters:
    ///   - fetcher: Fetches images from untrusted URLs, so its policy must refuse private addresses.
    ///   - publicURL: The server's public URL, without a trailing slash.
    ///   - bucketURL: The public URL of the objects in the store, without a trailing slash; nil if only the server sends them.
    package init(
        store: any ObjectStore, images: ImagerPool, fetcher: Fetcher, publicURL: String,
        bucketURL: String? = nil, logger: Logger
    ) {
        self.store = store
        self.images = images
        self.fetcher = fetcher
        self.logger = logger
        urls = ImageURLBuilder(publicURL: publicURL, bucketURL: bucketURL)
        titleCards = TitleCards(store: store, images: images)
    }

    /// Decodes an untrusted image.
    ///
    /// - Throws: `.unsupportedImage`, `.payloadTooLarge`, `.rateLimited`, `.cancelled`, `.internalError`, or `.serviceUnavailable` if the file cannot
    ///   be read.
    func decode(_ bytes: StoredBytes) async throws(BookplateError) -> CoverImages {
        guard bytes.count <= ImageLimits.inputBytesMax else {
            throw .payloadTooLarge(.init(.fileTooLarge, max: ImageLimits.inputBytesMax >> 20))
        }
        return try await mappingError(describe) { () async throws(ImageError) in
            try await images.cover(from: bytes)
        }
    }

    private func describe(_ error: ImageError) -> BookplateError {
        switch error {
        case .unsupported(let sentence):
            return .unsupportedImage(.init(.invalidImage, detail: sentence))
        case .overloaded: return .rateLimited(retryAfterSeconds: 5)
        case .cancelled: return .cancelled
        case .unavailable(let reason):
            logger.error("images cannot be decoded", metadata: ["reason": "\(reason)"])
            return .internalError
        case .unreadableFile(let reason):
            logger.error("an upload cannot be read", metadata: ["reason": "\(reason)"])
            return .serviceUnavailable(retryAfterSeconds: Self.storeRetrySeconds)
        }
    }

    /// Writes an image to the store. Clients cannot see it until a row of `covers` refers to it.
    package func stage(
        _ images: CoverImages, user: UUID, book: UUID, source: CoverSource
    ) async throws(BookplateError) -> StagedCover {
        // Never fails: a UUID's description is a valid name.
        guard let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)") else {
            throw .internalError
        }
        let variants: [ObjectVariant: [UInt8]] = [
            .thumbnail: images.thumbnail.bytes, .full: images.full.bytes,
            .large: images.large.bytes,
        ]
        let hashes = [images.thumbnail, images.full, images.large].map { sha256($0.bytes) }
        let version = Self.newVersion(of: hashes)
        do throws(ObjectError) {
            let pending = try await store.write(key, version: version, variants)
            return StagedCover(
                user: user, book: book, source: source, images: images, hashes: hashes,
                pending: pending)
        } catch {
            throw bookplateError(error, "a cover cannot be stored")
        }
    }

    /// Logs an error of the store, and converts it to the error that the client gets.
    ///
    /// - Parameter what: What failed, for the log.
    func bookplateError(
        _ error: ObjectError, _ what: Logger.Message, requestID: String? = nil
    ) -> BookplateError {
        var metadata: Logger.Metadata = ["reason": "\(error.description)"]
        if let requestID { metadata["request_id"] = "\(requestID)" }
        logger.error(what, metadata: metadata)
        if error == .full { return .storageFull }
        return error.isOfOneFile
            ? .internalError : .serviceUnavailable(retryAfterSeconds: Self.storeRetrySeconds)
    }

    private static let storeRetrySeconds = 5

    /// The variants in the order in which rows store their sizes and hashes.
    package static let variants: [ObjectVariant] = [.thumbnail, .full, .large]

    /// Returns a version: eight bytes of the hash of the variants' hashes and eight random bytes, in hexadecimal.
    package static func newVersion(of hashes: [[UInt8]]) -> String {
        lowercaseHex(sha256(hashes.joined()).prefix(8)) + lowercaseHex(randomBytes(8))
    }

    /// Ends a staged write after its transaction was committed.
    ///
    /// - Parameter version: The version that the row refers to now; nil if there is no row.
    package func settle(_ cover: StagedCover, kept version: String?) async {
        if version == cover.pending.version {
            await store.settle(cover.pending)
        } else {
            await store.abandon(cover.pending)
        }
    }

    /// Ends a staged write after its transaction failed.
    ///
    /// If the transaction may have been committed because only its result was lost, the files stay. `StorageSweep`
    /// removes them if no row refers to them.
    func settle(_ cover: StagedCover, failed error: BookplateError) async {
        switch error {
        case .internalError, .cancelled, .upstreamUnavailable, .serviceUnavailable(_, .unknown):
            await store.settle(cover.pending)
        case .unauthenticated, .forbidden, .notFound, .badUserInput, .conflict, .resetRequired,
            .rateLimited, .payloadTooLarge, .quotaExceeded, .unsupportedImage,
            .operationTooComplex, .serviceUnavailable(_, .notDone), .storageFull:
            await store.abandon(cover.pending)
        }
    }

    func settle(_ cover: StagedCover, failed error: JobError) async {
        guard case .database(let error) = error else { return await store.abandon(cover.pending) }
        await settle(cover, failed: error)
    }

    package func settle(_ cover: StagedCover, failed error: PostgresError) async {
        // An error from the server means that the transaction was rolled back.
        if case .server = error {
            await store.abandon(cover.pending)
        } else {
            await store.settle(cover.pending)
        }
    }

    /// Removes the files of versions that no row refers to any more. `StorageSweep` retries after an error.
    ///
    /// - Returns: The versions whose files were removed.
    func removeFiles(_ removed: [RemovedCover], of user: UUID) async -> [RemovedCover] {
        var deleted: [RemovedCover] = []
        for cover in removed {
            guard let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(cover.book)")
            else { continue }
            do throws(ObjectError) {
                try await store.remove(key, version: cover.version)
                deleted.append(cover)
            } catch {
                logger.warning(
                    "the files of a cover cannot be removed",
                    metadata: ["reason": "\(error.description)"])
            }
        }
        return deleted
    }

    /// Removes all objects of a user whose account was deleted.
    func removeAll(of user: UUID) async throws(ObjectError) {
        _ = try await store.removeFolder("\(user)", of: .titleCards)
        _ = try await store.removeFolder("\(user)", of: .bookCovers)
    }
}

extension RequestContext {
    /// Removes the title cards of deleted books. `StorageSweep` removes cards with earlier titles.
    func removeTitleCards(of books: [BookDeletion]) async {
        guard let user = viewer?.userID else { return }
        for book in books {
            guard let key = ObjectKey(.titleCards, folder: "\(user)", name: "\(book.id)")
            else { continue }
            try? await services.covers.store.remove(key, version: book.titleCardVersion)
        }
    }
}

/// A version that no row refers to any more.
struct RemovedCover: RowDecodable {
    let book: UUID
    let version: String

    init?(_ row: inout RowReader) {
        guard let book = row.uuid(), let version = row.text() else { return nil }
        self.book = book
        self.version = version
    }
}
