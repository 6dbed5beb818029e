import BookSources
import HTTPFetch
import ImageProcessing

/// The result of fetching a picture that may be a book's cover.
enum CoverLook {
    case usable(CoverImages, quality: Int)
    /// No cover, or none that may be fetched.
    case refused
    /// It is not there.
    case missing
    /// The picture could not be fetched or read now.
    ///
    /// - pausedUntil: when it is worth trying again, if its host is paused.
    case failed(pausedUntil: ContinuousClock.Instant?)

    var name: String {
        switch self {
        case .usable: "usable"
        case .refused: "refused"
        case .missing: "missing"
        case .failed: "failed"
        }
    }
}

extension Covers {
    /// A picture larger than this is no cover but somebody's scan for print.
    private static let offeredBytesMax = 15 << 20
    private static let offerBudget = Duration.seconds(6)

    /// Fetches a picture that the sources offer, and judges it.
    func look(
        at offer: CoverLink, of sources: CoverSources, within budget: Duration = offerBudget,
        priority: RequestPriority = .background
    ) async -> CoverLook {
        let budget = min(Self.offerBudget, budget)
        let gate = sources.gate(of: offer)
        func failed() -> CoverLook { .failed(pausedUntil: gate?.pausedUntil(priority)) }
        let response: FetchResponse
        do throws(SourceError) {
            if let gate {
                let options = CallOptions(
                    deadline: .now.advanced(by: budget), priority: priority)
                response = try await gate.perform(options) { () async throws(FetchError) in
                    try await self.fetch(offer, of: sources, within: budget)
                }
            } else {
                do throws(FetchError) {
                    response = try await fetch(offer, of: sources, within: budget)
                } catch {
                    throw .unreachable(error)
                }
            }
        } catch .unreachable(let error) {
            switch error {
            case .invalidURL, .invalidRequest, .addressRefused, .redirectRefused, .movedAway,
                .tooLarge, .tooManyRedirects, .notHTTP:
                return .refused
            case .hostNotFound, .connectionFailed, .tlsFailed, .timedOut, .interrupted,
                .cancelled, .overloaded, .failed:
                // Addresses on the web are often dead; of a source that cannot be it is no answer.
                return offer.source == nil ? .missing : failed()
            }
        } catch {
            return failed()
        }
        switch response.status {
        case 200: break
        case 429, 500...: return offer.source == nil ? .missing : failed()
        default: return .missing
        }
        let images: CoverImages
        do throws(ImageError) {
            images = try await self.images.cover(from: response.body)
        } catch .unsupported {
            return .refused
        } catch {
            return .failed(pausedUntil: nil)
        }
        guard case .usable(let quality) = CoverJudgement(images, bytes: response.body) else {
            return .refused
        }
        return .usable(images, quality: quality)
    }

    /// Only where the operator's own settings lead may be private; all else is a stranger's word, and so is where a redirect leads
    /// from there.
    private func fetch(
        _ offer: CoverLink, of sources: CoverSources, within budget: Duration
    ) async throws(FetchError) -> FetchResponse {
        var request = FetchRequest(
            url: offer.url, headers: [("Accept", "image/*")], deadline: budget,
            bodyBytesMax: Self.offeredBytesMax)
        guard offer.source != nil, sources.isConfigured(offer.url), let operators = sources.fetcher
        else { return try await fetcher.fetch(request) }
        let end = ContinuousClock.now.advanced(by: budget)
        request.staysAtOrigin = true
        do throws(FetchError) {
            return try await operators.fetch(request)
        } catch .movedAway(let url) {
            request.url = url
            request.deadline = ContinuousClock.now.duration(to: end)
            request.staysAtOrigin = false
            return try await fetcher.fetch(request)
        }
    }
}
