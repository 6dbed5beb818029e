import GraphQL
import Requests

/// A request of an e-reader: the parts of the HTTP request that the endpoints use.
package struct EReaderRequest: Sendable {
    /// The parts of the path between slashes.
    let path: [Substring]
    let credential: TokenCredential?
    let body: [UInt8]
    let address: RateKey?
    let requestID: String

    package init(
        path: Substring, credential: TokenCredential?, body: [UInt8] = [], address: RateKey?,
        requestID: String
    ) {
        // KOReader adds its path to a base that may end with a slash.
        self.path = path.split(separator: "/")
        self.credential = credential
        self.body = body
        self.address = address
        self.requestID = requestID
    }
}

/// The response to an e-reader.
package struct EReaderResponse: Sendable {
    package let status: Int
    package let contentType: String
    package let body: [UInt8]
    /// Additional headers.
    package let headers: [(String, String)]

    /// - Parameter retryAfterSeconds: The number of seconds after which the request can be repeated.
    init(
        _ status: Int, contentType: String, _ body: Value? = nil, retryAfterSeconds: Int? = nil,
        headers: [(String, String)] = []
    ) {
        self.status = status
        self.contentType = contentType
        let retryAfter = retryAfterSeconds.map { [("Retry-After", "\($0)")] } ?? []
        self.headers = [("Cache-Control", "private, no-store")] + retryAfter + headers
        guard let body else {
            self.body = []
            return
        }
        var writer = ResponseWriter()
        writer.write(body)
        self.body = writer.bytes
    }
}

/// Values of the JSON documents that e-readers send.
extension Value {
    /// The number of a fraction from 0 to 1; nil for any other value.
    var fraction: Double? {
        let number: Double? =
            switch self {
            case .int(let number): Double(number)
            case .float(let number): number
            default: nil
            }
        return number.flatMap { (0...1).contains($0) ? $0 : nil }
    }

    /// Returns a text that PostgreSQL can store; nil for any other value.
    func storableText(charactersMax: Int) -> String? {
        guard let text = string, text.unicodeScalars.count <= charactersMax,
            !text.utf8.contains(0)
        else { return nil }
        return text
    }
}
