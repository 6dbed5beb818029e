/// Why the server closes a socket. Codes below 4000 are those of RFC 6455, the others those of `graphql-transport-ws`.
enum CloseCode: UInt16 {
    case normal = 1000
    /// The server stops; another one, or this one in a moment, goes on.
    case goingAway = 1001
    case protocolError = 1002
    case notUTF8 = 1007
    case messageTooBig = 1009
    /// The client did not read what it asked for; it may come back and resume.
    case tryAgainLater = 1013
    case badRequest = 4400
    /// An operation before the acknowledgement.
    case unauthorized = 4401
    /// A token that is not good, or is not any more.
    case forbidden = 4403
    case subprotocolNotAcceptable = 4406
    case initialisationTimeout = 4408
    case subscriberAlreadyExists = 4409
    case tooManyInitialisationRequests = 4429

    /// Whether a close frame may have this code. Other codes are reserved, not assigned, or for closings without a close
    /// frame (1005, 1006, and 1015).
    ///
    /// Codes: https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number
    static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// A close frame's code and its reason, a sentence of at most 123 bytes.
struct Closing: Equatable, Error {
    let code: CloseCode
    let reason: String

    init(_ code: CloseCode, _ reason: String) {
        self.code = code
        // The protocol's limit, kept without cutting a character in two.
        var reason = reason
        while reason.utf8.count > 123 { reason.removeLast() }
        self.reason = reason
    }
}
