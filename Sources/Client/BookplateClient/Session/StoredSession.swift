import Foundation

/// The session of a reader on this device, as a `SessionStore` keeps it.
public struct StoredSession: Codable, Equatable, Sendable {
    /// The tokens of a session.
    public struct Tokens: Codable, Equatable, Sendable {
        /// Valid for a few minutes.
        public var accessToken: String
        /// The time at which `accessToken` expires.
        public var accessTokenExpiresAt: Timestamp
        /// Valid for a single use.
        public var refreshToken: String
    }

    /// The id of the reader.
    public let userID: String
    /// Whether the reader is a guest, who has this session only.
    public var isGuest: Bool
    /// Nil after the session has ended. The local library stays until the reader signs in again.
    public var tokens: Tokens?
    /// The guest whose library has moved into this reader's, until the guest's queue has moved, too.
    var mergedGuestID: String?
}

/// Stores the session. It contains secrets.
public protocol SessionStore: Sendable {
    /// Returns the stored session; nil if there is none.
    func load() throws -> StoredSession?
    /// Replaces the stored session; nil removes it. Returns after the session is stored durably.
    func save(_ session: StoredSession?) throws
}

/// Decides how to get an access token.
///
/// A refresh token is valid once, but sending it again within a minute returns the same tokens. The new tokens are therefore stored
/// before they are used. A refresh without a response is repeated with the same token. Only the server's refusal ends the session.
///
/// A new token that seems to expire soon shows that the clock of the device is wrong. It is used until the server refuses it.
struct SessionState {
    enum Step: Equatable {
        case use(accessToken: String)
        case refresh(refreshToken: String)
        case signIn
    }

    private let store: any SessionStore
    private(set) var session: StoredSession?
    /// Whether the store lacks the session, because it could not be written.
    private var isUnsaved = false
    /// A token whose time of expiry cannot be compared with the clock of the device, which is wrong.
    private var timelessToken: String?

    init(_ store: any SessionStore) throws {
        self.store = store
        session = try store.load()
    }

    /// - Parameter rejected: an access token that the server has refused.
    mutating func step(now: Date, rejected: String? = nil) throws -> Step {
        if isUnsaved { try save() }
        guard let tokens = session?.tokens else { return .signIn }
        guard tokens.accessToken != rejected,
            tokens.accessToken == timelessToken || !tokens.expireSoon(now)
        else { return .refresh(refreshToken: tokens.refreshToken) }
        return .use(accessToken: tokens.accessToken)
    }

    mutating func refreshed(_ tokens: StoredSession.Tokens, now: Date) throws {
        session?.tokens = tokens
        timelessToken = tokens.expireSoon(now) ? tokens.accessToken : nil
        try save()
    }

    /// The queue of a guest has moved into the reader's.
    mutating func moved(guest: String, into userID: String) throws {
        guard session?.userID == userID, session?.mergedGuestID == guest else { return }
        session?.mergedGuestID = nil
        try save()
    }

    /// The server has refused the refresh token.
    mutating func ended() throws {
        session?.tokens = nil
        try save()
    }

    mutating func replace(_ new: StoredSession?) throws {
        session = new
        try save()
    }

    private mutating func save() throws {
        isUnsaved = true
        try store.save(session)
        isUnsaved = false
    }
}

extension StoredSession.Tokens {
    /// Whether the access token expires within a minute.
    fileprivate func expireSoon(_ now: Date) -> Bool {
        (accessTokenExpiresAt.date ?? .distantPast) <= now.addingTimeInterval(60)
    }
}
