import BookSources
import Identity
import ImageProcessing
import JobQueue
import ObjectStorage
import Postgres

/// Pictures of the catalogue's books, which every reader's feed shows: fetched in the background from where the outside
/// sources say they are, and kept in the store under the edition's id. A card never waits for one.
struct EditionCovers: Sendable {
    /// From this width on a picture fills a card on a phone.
    static let highResolutionWidth = 400
    /// Of one edition; a source has several pictures of a book.
    private static let linksMax = 4
    /// Nobody waits: the sources' own pace decides.
    private static let budget = Duration.seconds(30)
    /// After so many days a book is asked for again that nobody has a picture of,
    private static let missedDays: Int32 = 90
    /// and one whose pictures are at sources that are switched off: they may be on then.
    private static let switchedOffDays: Int32 = 7

    let covers: Covers
    let sources: SourceChain
    let coverSources: CoverSources

    init(_ services: Services) {
        covers = services.covers
        sources = services.bookSources
        coverSources = services.coverSources
    }

    /// Whether there is a source that knows books by ISBN. An installation that asks nobody outside asks for no picture either.
    var canAsk: Bool { !sources.names.isEmpty }

    /// What fetching pictures came to.
    struct Progress {
        var found = 0
        /// Those whose picture somebody may have who could not say. They were written down as such when they were taken, so
        /// that a crash leaves them so as well.
        var late = 0
    }

    /// Fetches pictures for editions, rows of id, ISBN and links.
    func fetch(_ editions: Rows, in job: JobContext) async throws(JobError) -> Progress {
        var progress = Progress()
        for row in 0..<editions.count {
            if Task.isCancelled { throw .retry("The server stopped.") }
            guard let id = editions.uuid(row, 0) else { continue }
            let known = editions.texts(row, 2) ?? []
            var offers = offers(known)
            var failures = Failures()
            if offers.isEmpty, let isbn = editions.text(row, 1).flatMap({ ISBN($0) }) {
                offers = try await ask(for: isbn, in: job, &failures)
            }
            switch await best(of: offers, &failures) {
            case let images?:
                try await store(images, of: id, in: job)
                progress.found += 1
            case nil where failures.any:
                progress.late += 1
                if let end = failures.pauses.end { try await postpone(id, until: end, job) }
            case nil:
                let isSwitchedOff = !known.isEmpty && offers.isEmpty
                try await miss(id, for: isSwitchedOff ? Self.switchedOffDays : Self.missedDays, job)
            }
        }
        return progress
    }

    /// At once, so that it is known however the job ends.
    private func miss(
        _ id: UUID, for days: Int32, _ job: JobContext
    ) async throws(JobError) {
        _ = try await job.write { segment in
            var parameters = Parameters.of(id)
            parameters.append(int32: days)
            segment.append(Self.noteMiss, parameters)
        }
    }

    /// Sources that could not answer for an edition.
    private struct Failures {
        var any = false
        var pauses = FailurePauses()

        mutating func add(_ pausedUntil: ContinuousClock.Instant?) {
            any = true
            pauses.add(pausedUntil)
        }
    }

    /// Lets the edition wait for paused sources.
    private func postpone(
        _ id: UUID, until end: ContinuousClock.Instant, _ job: JobContext
    ) async throws(JobError) {
        _ = try await job.write { segment in
            var parameters = Parameters.of(id)
            parameters.append(
                int64: max(0, ContinuousClock.now.duration(to: end).milliseconds))
            segment.append(Self.postpone, parameters)
        }
    }

    /// Those of sources that are switched on.
    private func offers(_ links: [String]) -> [CoverLink] {
        coverSources.links(links.compactMap { CoverCandidate(link: $0) })
    }

    /// Asks the sources for the addresses of pictures. The other data of the book is saved as well.
    private func ask(
        for isbn: ISBN, in job: JobContext, _ failures: inout Failures
    ) async throws(JobError) -> [CoverLink] {
        let lookup = await sources.edition(
            BookNumber(isbn), within: Self.budget, waitsForAll: true, priority: .background)
        if !lookup.failures.isEmpty { failures.add(lookup.pausedUntil) }
        guard let record = lookup.record, let facts = EditionFacts(record, isbn: isbn) else {
            return []
        }
        _ = try await job.write { facts.append(to: &$0) }
        return offers(facts.coverLinks)
    }

    /// The first picture that is good enough, or the best one.
    private func best(
        of offers: [CoverLink], _ failures: inout Failures
    ) async -> CoverImages? {
        var best: (images: CoverImages, quality: Int)?
        for offer in offers.prefix(Self.linksMax) {
            switch await covers.look(at: offer, of: coverSources) {
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
            throw .giveUp("An edition's id is no name.")
        }
        let variants: [ObjectVariant: [UInt8]] = [
            .thumbnail: images.thumbnail.bytes, .full: images.full.bytes,
            .large: images.large.bytes,
        ]
        let version = Covers.newVersion(
            of: [images.thumbnail, images.full, images.large].map { sha256($0.bytes) })
        let write: PendingWrite
        do throws(ObjectError) {
            write = try await covers.store.write(key, version: version, variants)
        } catch {
            throw .retry(error.description)
        }
        do throws(JobError) {
            let rows = try await job.write { segment in
                var parameters = Parameters.of(id)
                parameters.append(text: version)
                parameters.append(int32: Int32(images.large.width))
                segment.append(Self.setCover, parameters)
            }
            if rows[0].text(0, 0) == version {
                await covers.store.settle(write)
            } else {
                await covers.store.abandon(write)
            }
        } catch {
            // It may be kept all the same where the answer was lost; a sweep finds out.
            await covers.store.settle(write)
            throw error
        }
    }

    private static let setCover = Statement("SELECT set_edition_cover($1, $2, $3)")
    private static let postpone = Statement("SELECT postpone_edition_cover($1, $2)")
    private static let noteMiss = Statement("SELECT miss_edition_cover($1, $2)")
}

/// Fetches the picture of a book that has just come into the catalogue.
struct FetchEditionCover: JobHandler {
    struct Payload: Codable, Sendable { let isbn13: String }

    static let kind = "edition.cover"
    static let settings = JobSettings(concurrency: 1, attemptsMax: 3, timeout: .seconds(120))

    let editions: EditionCovers

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        guard editions.canAsk else { return }
        let rows = try await job.write { segment in
            var parameters = Parameters()
            parameters.append(text: payload.isbn13)
            segment.append(Self.take, parameters)
        }
        // Where a source cannot answer, FetchEditionCovers takes it up in 15 minutes.
        _ = try await editions.fetch(rows[0], in: job)
    }

    private static let take = Statement(
        "SELECT id, isbn13, cover_links FROM take_edition_without_cover($1)")
}

/// Fetches pictures of the catalogue's books that have none, the popular first, and up to half of them those that nobody could tell
/// of: slowly, for the sources are everybody's.
struct FetchEditionCovers: JobHandler {
    static let kind = "edition.covers"
    static let settings = JobSettings(concurrency: 1, timeout: .seconds(600), every: .seconds(60))
    /// Each minute, of all servers together.
    private static let countMax: Int32 = 5

    let editions: EditionCovers

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        guard editions.canAsk else { return }
        if let end = editions.sources.pausedUntil(.background) {
            throw .postpone("All book sources are paused.", until: end)
        }
        let rows = try await job.write { segment in
            var parameters = Parameters()
            parameters.append(int32: Self.countMax)
            segment.append(Self.take, parameters)
        }
        let progress = try await editions.fetch(rows[0], in: job)
        if rows[0].count > 0 {
            job.logger.info(
                "catalogue covers were looked for",
                metadata: [
                    "editions": "\(rows[0].count)", "found": "\(progress.found)",
                    "late": "\(progress.late)",
                ])
        }
    }

    private static let take = Statement(
        "SELECT id, isbn13, cover_links FROM take_editions_without_cover($1)")
}
