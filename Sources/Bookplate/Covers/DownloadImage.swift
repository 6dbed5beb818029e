import HTTPFetch
import ImageProcessing

extension Covers {
    /// Gets the image that a stranger's address leads to, and decodes it.
    func fetch(_ url: String) async throws(BookplateError) -> CoverImages {
        try await decode(try await download(url))
    }

    /// The bytes at an address. Private addresses are refused at every hop, after the name is looked up.
    func download(_ url: String) async throws(BookplateError) -> [UInt8] {
        let response: FetchResponse
        do throws(FetchError) {
            response = try await fetcher.fetch(
                FetchRequest(
                    url: url, headers: [("Accept", "image/*")], deadline: .seconds(10),
                    bodyBytesMax: ImageLimits.inputBytesMax))
        } catch {
            switch error {
            case .invalidURL, .invalidRequest, .addressRefused, .redirectRefused, .movedAway:
                throw .badUserInput(
                    field: "source.url", "No image may be fetched from this address.")
            case .tooLarge:
                throw .payloadTooLarge("The image at this address is larger than 25 MB.")
            case .cancelled:
                throw .cancelled
            case .overloaded:
                throw .rateLimited(retryAfterSeconds: 5)
            case .hostNotFound, .connectionFailed, .tlsFailed, .timedOut, .tooManyRedirects,
                .notHTTP, .interrupted, .failed:
                throw .upstreamUnavailable("The address does not answer with an image.")
            }
        }
        guard response.status == 200 else {
            throw .upstreamUnavailable(
                "The address does not answer with an image: status \(response.status).")
        }
        return response.body
    }
}
