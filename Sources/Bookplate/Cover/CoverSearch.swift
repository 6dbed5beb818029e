import BookSources
import HTTPFetch
import Images
import Telemetry

/// Looks for the best cover of a book: by ISBN, then by title and author, then on the web.
struct CoverSearch: Sendable {
    /// What a search came to.
    enum Outcome {
        case found(CoverImages, CoverSource)
        case nothing
        /// Nothing, and somebody who may have it could not say.
        case unavailable
    }

    /// Of the places of one stage, and then of its pictures.
    private static let stageBudget = Duration.seconds(9)
    private static let webBudget = Duration.seconds(20)
    private static let pictureBudget = Duration.seconds(6)
    /// A reader is told after a minute; this is over before.
    static let budget = Duration.seconds(42)
    /// Pictures looked at in one stage.
    private static let offersMax = 8
    /// A picture larger than this is no cover but somebody's scan for print.
    private static let pictureBytesMax = 15 << 20

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
    func best(for book: SoughtBook, asksWebEarly: Bool) async -> Outcome {
        let end = ContinuousClock.now.advanced(by: Self.budget)
        var best: Candidate?
        var hasFailures = false
        var looked: Set<String> = []
        // Whose likeliest picture is known: its others are of other editions.
        var served: Set<SourceName> = []
        for stage in CoverStage.allCases {
            if stage == .web, hasFailures, !asksWebEarly { break }
            guard Self.isWorthwhile(stage, after: best), ContinuousClock.now < end,
                !Task.isCancelled
            else { break }
            let budget = stage == .web ? Self.webBudget : Self.stageBudget
            let found = await sources.offers(
                of: book, at: stage, by: min(end, .now.advanced(by: budget)))
            hasFailures = hasFailures || found.hasFailures
            if stage == .title { served = [] }
            var count = 0
            for offer in found.offers where looked.insert(offer.url).inserted {
                if offer.source.map(served.contains) ?? false { continue }
                count += 1
                if count > Self.offersMax || ContinuousClock.now >= end { break }
                switch await look(at: offer, by: end) {
                case .usable(let candidate):
                    if let source = offer.source { served.insert(source) }
                    if candidate.quality > best?.quality ?? 0 { best = candidate }
                case .missing, .refused: break
                case .failed: hasFailures = true
                }
                if best.map({ $0.quality >= CoverJudgement.goodEnough }) ?? false { break }
            }
        }
        if ContinuousClock.now >= end || Task.isCancelled { hasFailures = true }
        let outcome: Outcome =
            if let best { .found(best.images, best.source) } else if hasFailures {
                .unavailable
            } else { .nothing }
        counts.count(outcome)
        return outcome
    }

    /// A wrong cover is worse than a small one: words are asked only where the ISBN brings little, and the web
    /// only where they bring nothing.
    private static func isWorthwhile(_ stage: CoverStage, after best: Candidate?) -> Bool {
        guard let best else { return true }
        return switch stage {
        case .links, .number: best.quality < CoverJudgement.goodEnough
        case .title: best.quality < CoverJudgement.poor
        case .web: false
        }
    }

    // MARK: - One picture

    private enum Look {
        case usable(Candidate)
        case refused, missing, failed

        var name: String {
            switch self {
            case .usable: "usable"
            case .refused: "refused"
            case .missing: "missing"
            case .failed: "failed"
            }
        }
    }

    private func look(at offer: CoverOffer, by end: ContinuousClock.Instant) async -> Look {
        let look = await judged(offer, by: end)
        counts.count(look.name, of: offer.source)
        return look
    }

    private func judged(_ offer: CoverOffer, by end: ContinuousClock.Instant) async -> Look {
        let response: FetchResponse
        do throws(FetchError) {
            // Only where the operator's own setting leads may be private; all else is a stranger's word.
            let fetcher =
                offer.source == .openLibrary && sources.isOperators(offer.url)
                ? sources.fetcher ?? covers.fetcher : covers.fetcher
            response = try await fetcher.fetch(
                FetchRequest(
                    url: offer.url, headers: [("Accept", "image/*")],
                    deadline: min(Self.pictureBudget, ContinuousClock.now.duration(to: end)),
                    bodyBytesMax: Self.pictureBytesMax))
        } catch {
            switch error {
            case .invalidURL, .invalidRequest, .addressRefused, .redirectRefused, .tooLarge,
                .tooManyRedirects, .notHTTP:
                return .refused
            case .hostNotFound, .connectionFailed, .tlsFailed, .timedOut, .interrupted,
                .cancelled, .overloaded, .failed:
                // Addresses on the web are often dead; of a source that cannot be it is no answer.
                return offer.source == nil ? .missing : .failed
            }
        }
        switch response.status {
        case 200: break
        case 429, 500...: return offer.source == nil ? .missing : .failed
        default: return .missing
        }
        let images: CoverImages
        do throws(ImageError) {
            images = try await covers.images.cover(from: response.body)
        } catch .unsupported {
            return .refused
        } catch {
            return .failed
        }
        guard case .usable(let quality) = CoverJudgement(images, bytes: response.body) else {
            return .refused
        }
        return .usable(
            Candidate(images: images, source: CoverSource(offer.source), quality: quality))
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
