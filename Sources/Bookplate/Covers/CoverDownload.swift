import Basics
import BookSources
import HTTPFetch
import Images

/// The result of downloading an image that may be a book's cover.
enum CoverDownload {
    case usable(CoverImages, quality: Int)
    /// The image is not a cover, or its address must not be requested.
    case refused
    /// The host answered that the image does not exist.
    case missing
    /// The image could not be downloaded or decoded this time.
    ///
    /// - pausedUntil: When it is worth trying again, if the image's host is paused.
    case failed(pausedUntil: ContinuousClock.Instant?)

    /// The value of the metric's label `result`.
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
    /// The maximum size of an offered image in bytes. Larger files are scans for print, not covers.
    private static let offeredBytesMax = 15 << 20
    /// The maximum time for one offered image.
    private static let offerBudget = Duration.seconds(6)

    /// Downloads an image that a source offers, decodes it, and decides whether it is a cover.
    func download(
        _ offer: CoverOffer, from sources: CoverSources, within budget: Duration = offerBudget,
        priority: RequestPriority = .background
    ) async -> CoverDownload {
        let response: FetchResponse
        do throws(CoverDownloadFailure) {
            response = try await fetchResponse(
                offer, from: sources, within: min(Self.offerBudget, budget), priority)
        } catch {
            return error.download
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

    /// Returns the response with status 200 to the request for an offered image.
    private func fetchResponse(
        _ offer: CoverOffer, from sources: CoverSources, within budget: Duration,
        _ priority: RequestPriority
    ) async throws(CoverDownloadFailure) -> FetchResponse {
        let gate = sources.gate(of: offer)
        // Many addresses that the web search returns are dead, so an error means that the image does not exist. If a
        // book source cannot be reached, the answer is unknown.
        func unavailable() -> CoverDownloadFailure {
            offer.source == nil
                ? CoverDownloadFailure(.missing)
                : CoverDownloadFailure(.failed(pausedUntil: gate?.pausedUntil(priority)))
        }
        let response: FetchResponse
        do throws(SourceError) {
            if let gate {
                let options = CallOptions(
                    deadline: .now.advanced(by: budget), priority: priority)
                response = try await gate.perform(options) { () async throws(FetchError) in
                    try await self.fetch(offer, from: sources, within: budget)
                }
            } else {
                response = try await mappingError(SourceError.unreachable) {
                    () async throws(FetchError) in
                    try await self.fetch(offer, from: sources, within: budget)
                }
            }
        } catch .unreachable(let error) {
            switch error {
            case .invalidURL, .invalidRequest, .addressRefused, .redirectRefused, .movedAway,
                .tooLarge, .tooManyRedirects, .notHTTP:
                throw CoverDownloadFailure(.refused)
            case .hostNotFound, .connectionFailed, .tlsFailed, .timedOut, .interrupted,
                .cancelled, .overloaded, .failed:
                throw unavailable()
            }
        } catch {
            throw CoverDownloadFailure(.failed(pausedUntil: gate?.pausedUntil(priority)))
        }
        switch response.status {
        case 200: return response
        case 429, 500...: throw unavailable()
        default: throw CoverDownloadFailure(.missing)
        }
    }

    /// Fetches an offered image.
    ///
    /// Only hosts from the operator's configuration may have private addresses. The target of a redirect from such a
    /// host is untrusted, so it is fetched with the strict policy.
    private func fetch(
        _ offer: CoverOffer, from sources: CoverSources, within budget: Duration
    ) async throws(FetchError) -> FetchResponse {
        var request = FetchRequest(
            url: offer.url, headers: [("Accept", "image/*")], deadline: budget,
            bodyBytesMax: Self.offeredBytesMax)
        guard offer.source != nil, sources.isOperators(offer.url), let operators = sources.fetcher
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

/// A download that ended before there was an image to decode.
private struct CoverDownloadFailure: Error {
    let download: CoverDownload

    init(_ download: CoverDownload) { self.download = download }
}
