import Basics
import BookSources
import Identity
import ImageProcessing
import JobQueue
import ObjectStorage
import Postgres

/// Covers of the catalog's editions, which the feed shows.
///
/// Jobs download them from the URLs that external sources return and store them under the edition's id. A feed request
/// never waits for a download.
struct EditionCovers: Sendable {
    /// The maximum number of images to download for one edition. A source can have several images of a book.
    private static let linksMax = 4
    /// The maximum time of a lookup. It is long because no request waits for the result.
    private static let budget = Duration.seconds(30)
    /// The number of days before the next search for an edition of which no source has an image.
    private static let missedDays: Int32 = 90
    /// The number of days before the next search for an edition whose images are at disabled sources, which may have
    /// been enabled by then.
    private static let disabledDays: Int32 = 7

    let covers: Covers
    let sources: SourceChain
    let coverSources: CoverSources

    init(_ services: Services) {
        covers = services.covers
        sources = services.bookSources
        coverSources = services.coverSources
    }

    /// Whether a source that looks up books by ISBN is configured. Without one, no image is downloaded either, because
    /// the installation must not send requests to external services.
    var isEnabled: Bool { !sources.names.isEmpty }

    /// The result of fetching covers.
    struct Progress {
        var found = 0
        /// The number of editions without a cover for which a source could not answer. The statement that selected them
        /// has already scheduled the next search, so a crash loses nothing.
        var unavailable = 0
    }

    /// Fetches covers for editions.
    func fetch(
        _ editions: [EditionWithoutCover], in job: JobContext
    ) async throws(JobError) -> Progress {
        var progress = Progress()
        for edition in editions {
            if Task.isCancelled { throw .retry("The server stopped.") }
            var links = enabledLinks(edition.links)
            var failures = Failures()
            if links.isEmpty, let isbn = edition.isbn {
                links = try await lookUp(isbn, in: job, &failures)
            }
            switch await best(of: links, &failures) {
            case let images?:
                try await store(images, of: edition.id, in: job)
                progress.found += 1
            case nil where failures.any:
                progress.unavailable += 1
                if let end = failures.pauses.end {
                    try await postpone(edition.id, until: end, job)
                }
            case nil:
                let isDisabled = !edition.links.isEmpty && links.isEmpty
                try await recordMiss(
                    edition.id, forDays: isDisabled ? Self.disabledDays : Self.missedDays, job)
            }
        }
        return progress
    }

    /// Records that no source has a cover. Writes it at once, so that it is not lost if the job fails later.
    private func recordMiss(
        _ id: UUID, forDays days: Int32, _ job: JobContext
    ) async throws(JobError) {
        try await job.write { pipeline in
            var parameters = Parameters.of(id)
            parameters.append(int32: days)
            pipeline.append(Self.recordMiss, parameters)
        }
    }

    /// The sources that could not answer for an edition.
    private struct Failures {
        var any = false
        var pauses = FailurePauses()

        mutating func add(_ pausedUntil: ContinuousClock.Instant?) {
            any = true
            pauses.add(pausedUntil)
        }
    }

    /// Schedules the next search for when the paused sources are available.
    private func postpone(
        _ id: UUID, until end: ContinuousClock.Instant, _ job: JobContext
    ) async throws(JobError) {
        try await job.write { pipeline in
            var parameters = Parameters.of(id)
            parameters.append(
                int64: max(0, ContinuousClock.now.duration(to: end).milliseconds))
            pipeline.append(Self.postpone, parameters)
        }
    }

    /// Returns the links to enabled sources.
    private func enabledLinks(_ links: [String]) -> [CoverLink] {
        coverSources.links(links.compactMap { CoverCandidate(link: $0) })
    }

    /// Looks up an edition for the URLs of its images. Saves its other data in the catalog, too, unless another transaction has locked
    /// the edition: the data is only a by-product.
    private func lookUp(
        _ isbn: ISBN, in job: JobContext, _ failures: inout Failures
    ) async throws(JobError) -> [CoverLink] {
        let lookup = await sources.edition(
            BookNumber(isbn), within: Self.budget, waitsForAll: true, priority: .background)
        if !lookup.failures.isEmpty { failures.add(lookup.pausedUntil) }
        guard let record = lookup.record, let facts = EditionFacts(record, isbn: isbn) else {
            return []
        }
        try await job.write { EditionFacts.append([facts], to: &$0) }
        return enabledLinks(facts.coverLinks)
    }

    /// Downloads the images until one is good enough. Returns the best one.
    private func best(
        of links: [CoverLink], _ failures: inout Failures
    ) async -> CoverImages? {
        var best: (images: CoverImages, quality: Int)?
        for link in links.prefix(Self.linksMax) {
            switch await covers.download(link, from: coverSources) {
            case .usable(let images, let quality):
                if quality > best?.quality ?? -1 { best = (images, quality) }
                if quality >= CoverJudgement.goodEnough { return images }
            case .refused, .missing: continue
            case .failed(let pausedUntil): failures.add(pausedUntil)
            }
        }
        return best?.images
    }

    private func store(
        _ images: CoverImages, of id: UUID, in job: JobContext
    ) async throws(JobError) {
        guard let key = ObjectKey(.editionCovers, folder: "\(id)".prefix(2), name: "\(id)") else {
            // Impossible: a UUID's description is a valid name.
            throw .giveUp("The edition's id cannot be used as a file name.")
        }
        let variants: [ObjectVariant: [UInt8]] = [
            .thumbnail: images.thumbnail.bytes, .full: images.full.bytes,
            .large: images.large.bytes,
        ]
        let version = Covers.newVersion(
            of: [images.thumbnail, images.full, images.large].map { sha256($0.bytes) })
        let write = try await mappingError({ JobError.retry($0.description) }) {
            () async throws(ObjectError) in
            try await covers.store.write(key, version: version, variants)
        }
        do throws(JobError) {
            let currentVersion = try await job.write { pipeline in
                var parameters = Parameters.of(id)
                parameters.append(text: version)
                parameters.append(int32: Int32(images.full.width))
                parameters.append(int32: Int32(images.full.height))
                parameters.append(text: images.dominantColor)
                parameters.append(text: images.blurHash)
                return pipeline.append(Self.setCover, parameters)
            }
            if currentVersion.first == version {
                await covers.store.settle(write)
            } else {
                await covers.store.abandon(write)
            }
        } catch {
            // The transaction may have been committed even if its result was lost, so the files stay. `StorageSweep`
            // removes them if no row refers to them.
            await covers.store.settle(write)
            throw error
        }
    }

    private static let setCover = TypedStatement<String>(
        "SELECT set_edition_cover($1, $2, $3, $4, $5, $6)")
    private static let postpone = Statement("SELECT postpone_edition_cover($1, $2)")
    private static let recordMiss = Statement("SELECT record_missing_edition_cover($1, $2)")
}

/// An edition whose cover is due to be fetched.
struct EditionWithoutCover: RowDecodable {
    let id: UUID
    let isbn: ISBN?
    /// The URLs of images that external sources have returned; see `CoverCandidate.init(link:)`.
    let links: [String]

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        isbn = row.text().flatMap { ISBN($0) }
        links = row.texts() ?? []
    }
}

/// Fetches the cover of an edition that was just added to the catalog.
struct FetchEditionCover: JobHandler {
    struct Payload: Codable, Sendable { let isbn13: String }

    static let kind = "edition.cover"
    static let settings = JobSettings(concurrency: 1, attemptsMax: 3, timeout: .seconds(120))

    let editions: EditionCovers

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        guard editions.isEnabled else { return }
        let taken = try await job.write { pipeline in
            var parameters = Parameters()
            parameters.append(text: payload.isbn13)
            return pipeline.append(Self.take, parameters)
        }
        // If a source cannot answer, FetchEditionCovers tries again after 15 minutes.
        _ = try await editions.fetch(taken, in: job)
    }

    private static let take = TypedStatement<EditionWithoutCover>(
        "SELECT id, isbn13, cover_links FROM claim_edition_without_cover($1)")
}

/// Fetches missing covers of the catalog's editions, the most popular first.
///
/// Up to half of each batch are editions for which a source could not answer before. The rate is low because the
/// sources are public services.
struct FetchEditionCovers: JobHandler {
    static let kind = "edition.covers"
    static let settings = JobSettings(concurrency: 1, timeout: .seconds(600), every: .seconds(60))
    /// The maximum number of editions per minute, for all servers together.
    private static let countMax: Int32 = 5

    let editions: EditionCovers

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        guard editions.isEnabled else { return }
        if let end = editions.sources.pausedUntil(.background) {
            throw .postpone("All book sources are paused.", until: end)
        }
        let taken = try await job.write { pipeline in
            var parameters = Parameters()
            parameters.append(int32: Self.countMax)
            return pipeline.append(Self.take, parameters)
        }
        let progress = try await editions.fetch(taken, in: job)
        if !taken.isEmpty {
            job.logger.info(
                "fetched covers of catalog editions",
                metadata: [
                    "editions": .stringConvertible(taken.count),
                    "found": .stringConvertible(progress.found),
                    "unavailable": .stringConvertible(progress.unavailable),
                ])
        }
    }

    private static let take = TypedStatement<EditionWithoutCover>(
        "SELECT id, isbn13, cover_links FROM claim_editions_without_cover($1)")
}
