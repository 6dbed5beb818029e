/// A request to an external server, with all of its limits.
package struct FetchRequest: Sendable {
    /// A method. POST and PUT have a body with its media type.
    package enum Method: Sendable, Equatable {
        case get, head, delete
        case post(body: [UInt8], contentType: String)
        case put(body: [UInt8], contentType: String)
    }

    /// An absolute `http` or `https` URL without a user name or password.
    package var url: String
    package var method: Method
    /// Additional headers, in order. They are not sent to another origin (see `Fetcher.fetch`).
    package var headers: [(name: String, value: String)]
    /// The time limit from the call to the last byte, including redirects.
    package var deadline: Duration
    /// The time limit for name resolution, TCP, and TLS of each hop.
    package var connectTimeout: Duration
    /// The maximum size of the response's body. Received bytes are counted, whatever size was announced.
    package var bodyBytesMax: Int
    /// Whether a longer body is cut off. Otherwise the request fails with `.tooLarge`.
    package var truncatesBody: Bool
    /// The maximum number of redirects to follow; with 0, a 3xx response is returned as it is.
    package var redirectsMax: Int
    /// Whether a redirect to another origin (scheme, host, or port) fails with `.movedAway`.
    package var staysAtOrigin: Bool
    /// Signs the request, which must not follow redirects; nil for an unsigned request.
    package var signature: AWSSignature?

    package init(
        url: String, method: Method = .get, headers: [(name: String, value: String)] = [],
        deadline: Duration = .seconds(10), connectTimeout: Duration = .seconds(3),
        bodyBytesMax: Int = 1 << 20, truncatesBody: Bool = false, redirectsMax: Int = 5,
        staysAtOrigin: Bool = false
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.deadline = deadline
        self.connectTimeout = connectTimeout
        self.bodyBytesMax = bodyBytesMax
        self.truncatesBody = truncatesBody
        self.redirectsMax = redirectsMax
        self.staysAtOrigin = staysAtOrigin
    }
}

extension FetchRequest.Method {
    /// A POST of `application/x-www-form-urlencoded` fields, in order.
    package static func form(_ fields: [(name: String, value: String)]) -> Self {
        var body: [UInt8] = []
        for field in fields {
            if !body.isEmpty { body.append(UInt8(ascii: "&")) }
            appendFormEncoded(field.name, to: &body)
            body.append(UInt8(ascii: "="))
            appendFormEncoded(field.value, to: &body)
        }
        return .post(body: body, contentType: "application/x-www-form-urlencoded")
    }

    /// A POST of a JSON document.
    package static func json(_ body: [UInt8]) -> Self {
        .post(body: body, contentType: "application/json")
    }
}

/// Appends the text in the encoding of the URL standard: letters, digits, and `*-._` are kept, a space
/// becomes `+`, and all other bytes become `%XX`.
private func appendFormEncoded(_ text: String, to bytes: inout [UInt8]) {
    let hex = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            bytes.append(byte)
        case UInt8(ascii: " "):
            bytes.append(UInt8(ascii: "+"))
        default:
            bytes.append(UInt8(ascii: "%"))
            bytes.append(hex[Int(byte >> 4)])
            bytes.append(hex[Int(byte & 15)])
        }
    }
}
