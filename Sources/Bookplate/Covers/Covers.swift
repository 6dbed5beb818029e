import HTTPFetch
import Identity
import ImageProcessing
import JobQueue
import Logging
import ObjectStorage
import Postgres

/// The store of covers with what fills it. One for the process.
package final class Covers: Sendable {
    package let store: any ObjectStore
    let images: ImagerPool
    let fetcher: Fetcher
    let addresses: CoverAddresses
    let titleCards: TitleCards
    let logger: Logger

    /// - Parameters:
    ///   - fetcher: gets images from addresses that strangers give: its policy has to refuse private ones.
    ///   - publicURL: what addresses begin with; no slash at its end.
    package init(
        store: any ObjectStore, images: ImagerPool, fetcher: Fetcher, publicURL: String,
        logger: Logger
    ) {
        self.store = store
        self.images = images
        self.fetcher = fetcher
        self.logger = logger
        addresses = CoverAddresses(publicURL: publicURL)
        titleCards = TitleCards(store: store, images: images)
    }

    /// Decodes an image of a stranger's.
    ///
    /// - Throws: `.unsupportedImage`, `.payloadTooLarge` or `.rateLimited`.
    func decode(_ bytes: [UInt8]) async throws(BookplateError) -> CoverImages {
        guard bytes.count <= ImageLimits.inputBytesMax else {
            throw .payloadTooLarge("An image may have 25 MB at most.")
        }
        do throws(ImageError) {
            return try await images.cover(from: bytes)
        } catch {
            throw describe(error)
        }
    }

    private func describe(_ error: ImageError) -> BookplateError {
        switch error {
        case .unsupported(let sentence): return .unsupportedImage(sentence)
        case .overloaded: return .rateLimited(retryAfterSeconds: 5)
        case .cancelled: return .cancelled
        case .unavailable(let reason):
            logger.error("no image can be read", metadata: ["reason": "\(reason)"])
            return .internalError
        }
    }

    /// Brings an image into the store, where nobody sees it before its row names it.
    func stage(
        _ images: CoverImages, user: UUID, book: UUID, source: CoverSource
    ) async throws(BookplateError) -> StagedCover {
        // An id that is written in lower case is a name.
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
            logger.error("a cover cannot be stored", metadata: ["reason": "\(error.description)"])
            throw error == .full
                ? .payloadTooLarge("There is no room for more covers at the moment.")
                : .internalError
        }
    }

    /// The beginning of the hash of its variants' hashes, and something random.
    static func newVersion(of hashes: [[UInt8]]) -> String {
        lowercaseHex(sha256(hashes.joined()).prefix(8)) + lowercaseHex(randomBytes(8))
    }

    /// Ends a staged write as its transaction has ended.
    ///
    /// - Parameter version: the one that the row names.
    func settle(_ cover: StagedCover, kept version: String?) async {
        if version == cover.pending.version {
            await store.settle(cover.pending)
        } else {
            await store.abandon(cover.pending)
        }
    }

    /// Ends a staged write whose transaction failed. Where it may have been kept all the same, as its answer was lost,
    /// the files stay: a sweep finds out.
    func settle(_ cover: StagedCover, failed error: BookplateError) async {
        switch error {
        case .internalError, .cancelled, .upstreamUnavailable: await store.settle(cover.pending)
        case .unauthenticated, .notFound, .badUserInput, .conflict, .resetRequired, .rateLimited,
            .payloadTooLarge, .unsupportedImage:
            await store.abandon(cover.pending)
        }
    }

    func settle(_ cover: StagedCover, failed error: JobError) async {
        guard case .database(let error) = error else { return await store.abandon(cover.pending) }
        await settle(cover, failed: error)
    }

    func settle(_ cover: StagedCover, failed error: PostgresError) async {
        // What the database says itself is the end of its transaction.
        if case .server = error {
            await store.abandon(cover.pending)
        } else {
            await store.settle(cover.pending)
        }
    }

    /// Removes the files of versions that no row names any more; what fails is left to the sweep.
    ///
    /// - Returns: those whose files are gone.
    func removeFiles(_ removed: [RemovedCover], of user: UUID) async -> [RemovedCover] {
        var gone: [RemovedCover] = []
        for cover in removed {
            guard let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(cover.book)")
            else { continue }
            do throws(ObjectError) {
                try await store.remove(key, version: cover.version)
                gone.append(cover)
            } catch {
                logger.warning(
                    "a cover's files are left behind", metadata: ["reason": "\(error.description)"])
            }
        }
        return gone
    }

    /// Removes every object of a user, when the account is gone.
    func removeAll(of user: UUID) async throws(ObjectError) {
        _ = try await store.removeFolder("\(user)", of: .titleCards)
        _ = try await store.removeFolder("\(user)", of: .bookCovers)
    }
}

extension RequestContext {
    /// Removes the title cards of books that were deleted: rows of id, title, author and genre. Cards of
    /// earlier titles are left to the sweep.
    func removeTitleCards(of books: Rows) async {
        guard let user = viewer?.userID else { return }
        for row in 0..<books.count {
            guard let id = books.uuid(row, 0), let title = books.text(row, 1),
                let key = ObjectKey(.titleCards, folder: "\(user)", name: "\(id)")
            else { continue }
            let card = TitleCard(
                title: title, author: books.text(row, 2), genre: books.text(row, 3))
            try? await services.covers.store.remove(key, version: card.version)
        }
    }
}

/// A version that no row names any more.
struct RemovedCover: Sendable {
    let book: UUID
    let version: String
}
