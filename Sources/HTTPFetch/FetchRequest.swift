/// One request to an outside server, with everything that bounds it.
package struct FetchRequest: Sendable {
    /// What is sent: nothing (GET), or a body with its media type (POST).
    package enum Method: Sendable, Equatable {
        case get
        case post(body: [UInt8], contentType: String)
    }

    /// An absolute `http` or `https` URL without user name or password.
    package var url: String
    package var method: Method
    /// Extra headers in order. Those of another origin's hop are left out (see `Fetcher.fetch`).
    package var headers: [(name: String, value: String)]
    /// Total time for all hops together, from the call to the last byte.
    package var deadline: Duration
    /// Time for name look-up, TCP and TLS of each hop.
    package var connectTimeout: Duration
    /// The largest body taken, counted as it arrives whatever the server announced.
    package var bodyBytesMax: Int
    /// Hops that may follow the first; 0 hands a 3xx answer back as it is.
    package var redirectsMax: Int
    /// Whether a redirect to another origin (scheme, host or port) is not followed but `.movedAway`.
    package var staysAtOrigin: Bool

    package init(
        url: String, method: Method = .get, headers: [(name: String, value: String)] = [],
        deadline: Duration = .seconds(10), connectTimeout: Duration = .seconds(3),
        bodyBytesMax: Int = 1 << 20, redirectsMax: Int = 5, staysAtOrigin: Bool = false
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.deadline = deadline
        self.connectTimeout = connectTimeout
        self.bodyBytesMax = bodyBytesMax
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

    /// A POST of a JSON text.
    package static func json(_ body: [UInt8]) -> Self {
        .post(body: body, contentType: "application/json")
    }
}

/// The URL standard's serializer: letters, digits and `*-._` stay, a space is `+`, all else `%XX`.
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
