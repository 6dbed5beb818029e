import HTTPFetch
import ImageProcessing
import Requests

extension Covers {
    /// Downloads and decodes an image from a URL that a user provided.
    func fetch(_ url: String) async throws(BookplateError) -> CoverImages {
        try await decode(.memory(try await download(url)))
    }

    /// Downloads the bytes at a URL.
    ///
    /// Private addresses are refused at every redirect, after name resolution.
    func download(_ url: String) async throws(BookplateError) -> [UInt8] {
        let response: FetchResponse
        do throws(FetchError) {
            response = try await fetcher.fetch(
                FetchRequest(
                    url: url, headers: [("Accept", "image/*")], deadline: .seconds(10),
                    bodyBytesMax: ImageLimits.inputBytesMax))
        } catch {
            switch error {
            // A host without an address gives the same error as one with a private address: the difference would reveal which
            // names exist in the operator's network.
            case .invalidURL, .invalidRequest, .addressRefused, .hostNotFound, .redirectRefused,
                .movedAway:
                throw .badUserInput(
                    field: "source.url",
                    .init(.invalidImageURL))
            case .tooLarge:
                throw .payloadTooLarge(.init(.fileTooLarge, max: ImageLimits.inputBytesMax >> 20))
            case .cancelled:
                throw .cancelled
            case .overloaded:
                throw .rateLimited(retryAfterSeconds: 5)
            case .connectionFailed, .tlsFailed, .timedOut, .tooManyRedirects,
                .notHTTP, .interrupted, .failed:
                throw .upstreamUnavailable(.init(.noImageAtURL))
            }
        }
        guard response.status == 200 else {
            throw .upstreamUnavailable(
                .init(
                    .noImageAtURL,
                    detail: "The URL did not return an image: HTTP status \(response.status)."))
        }
        return response.body
    }
}
