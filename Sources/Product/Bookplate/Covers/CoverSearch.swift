import Basics
import BookSources
import ImageProcessing
import Telemetry

/// Searches for the best cover of a book: by ISBN, then by title and author, then on the web.
package struct CoverSearch: Sendable {
    /// The result of a search.
    package enum Outcome {
        case found(CoverImages, CoverSource)
        /// All sources answered, and none has a cover.
        case nothing
        /// Nothing was found, and the sources in the set could not answer; nil means the web search. The set is
        /// empty if the time was up. `pausedUntil` is when it is worth searching again, if all of them are paused.
        case unavailable(Set<SourceName?>, pausedUntil: ContinuousClock.Instant?)
    }

    /// The maximum time for the requests of one stage.
    private static let stageBudget = Duration.seconds(9)
    private static let webBudget = Duration.seconds(20)
    /// The maximum time of a search. A waiting reader is notified after a minute, so the search ends before that.
    static let budget = Duration.seconds(42)
    /// The maximum number of images downloaded in one stage.
    private static let linksMax = 8

    let sources: CoverSources
    package let covers: Covers
    private let metrics: CoverMetrics

    package init(_ sources: CoverSources, covers: Covers, metrics: Metrics) {
        self.sources = sources
        self.covers = covers
        self.metrics = CoverMetrics(metrics)
    }

    private struct Candidate {
        let images: CoverImages
        let source: CoverSource
        let quality: Int
    }

    /// The state of a search.
    private struct State {
        let end: ContinuousClock.Instant
        var best: Candidate?
        /// The sources that could not answer; nil means the web search.
        var failures: Set<SourceName?> = []
        var pauses = FailurePauses()
        var seenURLs: Set<String> = []
        /// The sources that have provided a usable image. Their first image is the most likely one; the others show
        /// other editions.
        var servedSources: Set<SourceName> = []

        var isGoodEnough: Bool { best.map { $0.quality >= CoverJudgement.goodEnough } ?? false }

        var isCutShort: Bool { ContinuousClock.now >= end || Task.isCancelled }

        var outcome: Outcome {
            if let best { return .found(best.images, best.source) }
            if isCutShort { return .unavailable(failures, pausedUntil: nil) }
            if !failures.isEmpty { return .unavailable(failures, pausedUntil: pauses.end) }
            return .nothing
        }
    }

    /// Searches stage by stage until a stage cannot improve the result.
    ///
    /// - Parameter searchesWebAfterFailures: Whether to search the web even if a source could not answer that may
    ///   have a cover when it is queried again.
    package func best(
        for book: CoverQuery, searchesWebAfterFailures: Bool,
        priority: RequestPriority = .background, reader: UUID? = nil
    ) async -> Outcome {
        var state = State(end: .now.advanced(by: Self.budget))
        for stage in CoverStage.allCases {
            if stage == .web, !state.failures.isEmpty, !searchesWebAfterFailures { break }
            guard Self.isWorthwhile(stage, after: state.best), !state.isCutShort else { break }
            await run(stage, for: book, priority, reader, &state)
        }
        let outcome = state.outcome
        metrics.count(outcome)
        return outcome
    }

    /// Queries the sources of a stage, and downloads the images until one is good enough.
    private func run(
        _ stage: CoverStage, for book: CoverQuery, _ priority: RequestPriority, _ reader: UUID?,
        _ state: inout State
    ) async {
        let budget = stage == .web ? Self.webBudget : Self.stageBudget
        let found = await sources.links(
            for: book, at: stage, by: min(state.end, .now.advanced(by: budget)),
            priority: priority, reader: reader)
        state.failures.formUnion(found.failures)
        if !found.failures.isEmpty { state.pauses.add(found.pausedUntil) }
        if stage == .title { state.servedSources = [] }
        var count = 0
        for link in found.links where state.seenURLs.insert(link.url).inserted {
            if link.source.map(state.servedSources.contains) ?? false { continue }
            count += 1
            if count > Self.linksMax || ContinuousClock.now >= state.end { break }
            switch await download(link, by: state.end, priority) {
            case .usable(let images, let quality):
                if let source = link.source { state.servedSources.insert(source) }
                if quality > state.best?.quality ?? 0 {
                    state.best = Candidate(
                        images: images, source: CoverSource(link.source), quality: quality)
                }
            case .missing, .refused: break
            case .failed(let pausedUntil):
                state.failures.insert(link.source)
                state.pauses.add(pausedUntil)
            }
            if state.isGoodEnough { break }
        }
    }

    /// Whether a stage can improve the result.
    ///
    /// A wrong cover is worse than a small one. Therefore a search by title runs only if the ISBN led to a poor image or
    /// none, and the web search only if nothing was found.
    private static func isWorthwhile(_ stage: CoverStage, after best: Candidate?) -> Bool {
        guard let best else { return true }
        return switch stage {
        case .catalog, .number: best.quality < CoverJudgement.goodEnough
        case .title: best.quality < CoverJudgement.poor
        case .web: false
        }
    }

    private func download(
        _ link: CoverLink, by end: ContinuousClock.Instant, _ priority: RequestPriority
    ) async -> CoverDownload {
        let download = await covers.download(
            link, from: sources, within: ContinuousClock.now.duration(to: end),
            priority: priority)
        metrics.count(download, from: link.source)
        return download
    }
}

extension CoverSource {
    /// - Parameter source: Nil for the web search.
    init(_ source: SourceName?) {
        self =
            switch source {
            case .openLibrary: .openLibrary
            case .googleBooks: .googleBooks
            case .isbnDB, nil: .webSearch
            }
    }
}
