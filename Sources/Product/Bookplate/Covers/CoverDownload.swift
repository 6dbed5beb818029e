import Basics
import BookSources
import HTTPFetch
import ImageProcessing

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
    /// The maximum size of an image in bytes. Larger files are scans for print, not covers.
    private static let linkedBytesMax = 15 << 20
    /// The maximum time for one image.
    private static let linkBudget = Duration.seconds(6)

    /// Downloads an image to which a source has linked, decodes it, and decides whether it is a cover.
    func download(
        _ link: CoverLink, from sources: CoverSources, within budget: Duration = linkBudget,
        priority: RequestPriority = .background
    ) async -> CoverDownload {
        let response: FetchResponse
        do throws(CoverDownloadFailure) {
            response = try await fetchResponse(
                link, from: sources, within: min(Self.linkBudget, budget), priority)
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

    /// Returns the response to the request for an image if its status is 200.
    private func fetchResponse(
        _ link: CoverLink, from sources: CoverSources, within budget: Duration,
        _ priority: RequestPriority
    ) async throws(CoverDownloadFailure) -> FetchResponse {
        let gate = sources.gate(of: link)
        // Many addresses that the web search returns are dead, so an error means that the image does not exist. If a
        // book source cannot be reached, the answer is unknown.
        func unavailable() -> CoverDownloadFailure {
            link.source == nil
                ? CoverDownloadFailure(.missing)
                : CoverDownloadFailure(.failed(pausedUntil: gate?.pausedUntil(priority)))
        }
        let response: FetchResponse
        do throws(SourceError) {
            if let gate {
                let options = CallOptions(
                    deadline: .now.advanced(by: budget), priority: priority)
                response = try await gate.perform(options) { () async throws(FetchError) in
                    try await self.fetch(link, from: sources, within: budget)
                }
            } else {
                response = try await mappingError(SourceError.unreachable) {
                    () async throws(FetchError) in
                    try await self.fetch(link, from: sources, within: budget)
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

    /// Fetches an image to which a source has linked.
    ///
    /// Only hosts from the operator's configuration may have private addresses. The target of a redirect from such a
    /// host is untrusted, so it is fetched with the strict policy.
    private func fetch(
        _ link: CoverLink, from sources: CoverSources, within budget: Duration
    ) async throws(FetchError) -> FetchResponse {
        var request = FetchRequest(
            url: link.url, headers: [("Accept", "image/*")], deadline: budget,
            bodyBytesMax: Self.linkedBytesMax)
        guard link.source != nil, sources.isConfigured(link.url), let trusting = sources.fetcher
        else { return try await fetcher.fetch(request) }
        let end = ContinuousClock.now.advanced(by: budget)
        request.staysAtOrigin = true
        do throws(FetchError) {
            return try await trusting.fetch(request)
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
