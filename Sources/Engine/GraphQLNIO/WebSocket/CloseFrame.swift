/// The close codes that the server sends. Codes below 4000 are those of RFC 6455, the others those of
/// `graphql-transport-ws`.
enum CloseCode: UInt16 {
    case normal = 1000
    /// The server is shutting down. The client should reconnect.
    case goingAway = 1001
    case protocolError = 1002
    case notUTF8 = 1007
    case messageTooBig = 1009
    /// The client did not read its responses, or the server is overloaded. The client may reconnect and resume.
    case tryAgainLater = 1013
    case badRequest = 4400
    /// The client sent an operation before the acknowledgement.
    case unauthorized = 4401
    /// The token is invalid or has expired, the session has ended, or the page's origin is not allowed.
    case forbidden = 4403
    case subprotocolNotAcceptable = 4406
    case initialisationTimeout = 4408
    case subscriberAlreadyExists = 4409
    case tooManyInitialisationRequests = 4429

    /// Returns whether a close frame may contain this code. The other codes are reserved, unassigned, or only for
    /// closings without a close frame (1005, 1006, and 1015).
    ///
    /// Codes: https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number
    static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// The content of a close frame: a code, and a reason of at most 123 bytes.
struct CloseFrame: Equatable, Error {
    let code: CloseCode
    let reason: String

    init(_ code: CloseCode, _ reason: String) {
        self.code = code
        // The protocol limits the reason to 123 bytes. Whole characters are removed, so that it stays valid UTF-8.
        var reason = reason
        while reason.utf8.count > 123 { reason.removeLast() }
        self.reason = reason
    }
}
