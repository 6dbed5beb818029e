import NIOHTTP1

/// The headers of a request. They are an object because they have many fields, and requests are copied often.
final class StoredHeaders: Sendable {
    /// A head that has not been converted to strings.
    struct Bytes: Sendable {
        let line: RequestLine
        let bytes: [UInt8]
    }

    let value: RequestHeaders
    /// nil unless the server keeps the heads of requests, or the request asks for another protocol.
    private let bytes: Bytes?

    init(_ value: consuming RequestHeaders, bytes: Bytes? = nil) {
        self.value = value
        self.bytes = bytes
    }

    /// The head with all headers, which is parsed for each call; nil if it was not kept.
    var wholeHead: HTTPRequestHead? { bytes.map(HeadReader.wholeHead) }

    /// Returns a function that reads all headers; nil if the head was not kept. Several values of a name are joined with commas.
    var reader: (@Sendable (String) -> String?)? {
        guard let bytes else { return nil }
        return { name in
            let values = HeadReader.wholeHead(bytes).headers[name]
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }
}
