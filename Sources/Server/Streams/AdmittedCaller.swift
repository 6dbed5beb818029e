import GraphQL
import NIOCore

/// A caller whose token was good when it came, and who is watched while this is kept.
package struct AdmittedCaller {
    /// When the token runs out.
    package let expiresAt: NIODeadline
    /// What a later token of the same connection must have in common with this one.
    package let session: String
    private let watch: AnyObject

    /// - Parameter watch: kept while the session is to be watched.
    package init(expiresAt: NIODeadline, session: String, watch: AnyObject) {
        self.expiresAt = expiresAt
        self.session = session
        self.watch = watch
    }
}

/// What a caller is let in to.
package enum Opening {
    /// A socket, with a token that came by itself, from there; it counts as a request.
    case socket(from: ClientAddress?)
    /// A stream, whose request has been counted.
    case stream
}

/// Why a caller is not let in.
package enum AdmissionError: Error, Equatable {
    /// The token is not good, or its session has ended.
    case refused
    case rateLimited(retryAfterSeconds: Int)
    /// It cannot be said now.
    case unavailable
}

extension GraphQLError {
    /// The last word of a stream whose caller is not admitted any more.
    static let sessionEnded = GraphQLError(
        "The session has ended, or the access token has run out. Get a new token and resume from your cursor.",
        extensions: [.init("code", .string("UNAUTHENTICATED"))])

    static let unavailable = GraphQLError(
        "The service is not available right now. Try again in a moment.",
        extensions: [.init("code", .string("UPSTREAM_UNAVAILABLE"))])

    /// The last word of a stream that is not read.
    static let tooSlow = GraphQLError(
        "The answers were not read fast enough. Resume from your cursor.",
        extensions: [.init("code", .string("TOO_SLOW"))])
}
