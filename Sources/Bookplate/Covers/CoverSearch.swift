import BookSources
import ImageProcessing
import Telemetry

/// Looks for the best cover of a book: by ISBN, then by title and author, then on the web.
struct CoverSearch: Sendable {
    /// What a search came to.
    enum Outcome {
        case found(CoverImages, CoverSource)
        case nothing
        /// Nothing was found, and these sources could not answer. The web search is nil. The set is empty if the time was over.
        /// `pausedUntil` is when it is worth searching again, if all of them are paused.
        case unavailable(Set<SourceName?>, pausedUntil: ContinuousClock.Instant?)
    }

    /// Of the places of one stage.
    private static let stageBudget = Duration.seconds(9)
    private static let webBudget = Duration.seconds(20)
    /// A reader is told after a minute; this is over before.
    static let budget = Duration.seconds(42)
    /// Pictures looked at in one stage.
    private static let offersMax = 8

    let sources: CoverSources
    let covers: Covers
    private let counts: CoverCounts

    init(_ sources: CoverSources, covers: Covers, metrics: Metrics) {
        self.sources = sources
        self.covers = covers
        counts = CoverCounts(metrics)
    }

    private struct Candidate {
        let images: CoverImages
        let source: CoverSource
        let quality: Int
    }

    /// - Parameter asksWebEarly: whether the search of the web is made, too, where a source could not answer that may
    ///   have a cover when it is asked again.
    func best(
        for book: CoverQuery, asksWebEarly: Bool, priority: RequestPriority = .background
    ) async -> Outcome {
        let end = ContinuousClock.now.advanced(by: Self.budget)
        var best: Candidate?
        var failures: Set<SourceName?> = []
        var pauses = FailurePauses()
        var looked: Set<String> = []
        // Whose likeliest picture is known: its others are of other editions.
        var served: Set<SourceName> = []
        for stage in CoverStage.allCases {
            if stage == .web, !failures.isEmpty, !asksWebEarly { break }
            guard Self.isWorthwhile(stage, after: best), ContinuousClock.now < end,
                !Task.isCancelled
            else { break }
            let budget = stage == .web ? Self.webBudget : Self.stageBudget
            let found = await sources.links(
                for: book, at: stage, by: min(end, .now.advanced(by: budget)), priority: priority)
            failures.formUnion(found.failures)
            if !found.failures.isEmpty { pauses.add(found.pausedUntil) }
            if stage == .title { served = [] }
            var count = 0
            for offer in found.links where looked.insert(offer.url).inserted {
                if offer.source.map(served.contains) ?? false { continue }
                count += 1
                if count > Self.offersMax || ContinuousClock.now >= end { break }
                switch await look(at: offer, by: end, priority) {
                case .usable(let images, let quality):
                    if let source = offer.source { served.insert(source) }
                    if quality > best?.quality ?? 0 {
                        best = Candidate(
                            images: images, source: CoverSource(offer.source), quality: quality)
                    }
                case .missing, .refused: break
                case .failed(let pausedUntil):
                    failures.insert(offer.source)
                    pauses.add(pausedUntil)
                }
                if best.map({ $0.quality >= CoverJudgement.goodEnough }) ?? false { break }
            }
        }
        let isCutShort = ContinuousClock.now >= end || Task.isCancelled
        let outcome: Outcome =
            if let best { .found(best.images, best.source) } else if isCutShort || !failures.isEmpty
            {
                .unavailable(failures, pausedUntil: isCutShort ? nil : pauses.end)
            } else { .nothing }
        counts.count(outcome)
        return outcome
    }

    /// A wrong cover is worse than a small one: words are asked only where the ISBN brings little, and the web
    /// only where they bring nothing.
    private static func isWorthwhile(_ stage: CoverStage, after best: Candidate?) -> Bool {
        guard let best else { return true }
        return switch stage {
        case .catalog, .number: best.quality < CoverJudgement.goodEnough
        case .title: best.quality < CoverJudgement.poor
        case .web: false
        }
    }

    private func look(
        at offer: CoverLink, by end: ContinuousClock.Instant, _ priority: RequestPriority
    ) async -> CoverLook {
        let look = await covers.look(
            at: offer, of: sources, within: ContinuousClock.now.duration(to: end),
            priority: priority)
        counts.count(look.name, of: offer.source)
        return look
    }
}

extension CoverSource {
    /// - Parameter source: nil for a search of the web.
    init(_ source: SourceName?) {
        self =
            switch source {
            case .openLibrary: .openLibrary
            case .googleBooks: .googleBooks
            case .isbnDB, nil: .webSearch
            }
    }
}
