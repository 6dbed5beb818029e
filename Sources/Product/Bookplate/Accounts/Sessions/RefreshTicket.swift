import Basics
import Identity
import Postgres

/// The content of a refresh token: the IDs of its session and a secret. An app of another developer has a grant in place of a
/// session.
///
/// The IDs allow the server to set the user for row-level security before it reads the session. The server stores
/// only a hash of the secret.
package struct RefreshTicket: Equatable, Unprintable {
    /// The raw value is the prefix of the text.
    package enum Kind: String {
        case session = "bpr_"
        case grant = "bpf_"
    }

    private static let secretBytes = 32

    let kind: Kind
    let tenantID: UUID
    let userID: UUID
    /// The ID of the session or the grant.
    package let sessionID: UUID
    private let secret: [UInt8]

    /// Creates the first ticket of a session or a grant.
    package init(
        _ kind: Kind = .session, tenantID: UUID, userID: UUID, sessionID: UUID, secret: [UInt8]
    ) {
        self.kind = kind
        self.tenantID = tenantID
        self.userID = userID
        self.sessionID = sessionID
        self.secret = secret
    }

    package static func newSecret() -> [UInt8] { randomBytes(secretBytes) }

    static func hash(_ secret: [UInt8]) -> [UInt8] { sha256(secret) }

    /// Parses a refresh token.
    ///
    /// - Returns: nil for any text that `text` does not produce.
    init?(_ text: String, _ kind: Kind = .session) {
        let prefix = kind.rawValue
        guard text.utf8.count <= 256, text.hasPrefix(prefix),
            let bytes = Base64URL.decode(text.utf8.dropFirst(prefix.utf8.count)),
            bytes.count == 48 + Self.secretBytes
        else { return nil }
        func id(_ offset: Int) -> UUID? {
            bytes.withUnsafeBytes { UUID(bytes: .init(rebasing: $0[offset..<offset + 16])) }
        }
        guard let tenantID = id(0), let userID = id(16), let sessionID = id(32) else { return nil }
        self.init(
            kind, tenantID: tenantID, userID: userID, sessionID: sessionID,
            secret: Array(bytes[48...]))
    }

    package var text: String {
        var bytes: [UInt8] = []
        for id in [tenantID, userID, sessionID] { bytes += id.bytes }
        return kind.rawValue + Base64URL.encode(bytes + secret)
    }

    package var hash: [UInt8] { Self.hash(secret) }

    /// Returns the ticket that replaces this one.
    ///
    /// It is derived from this ticket and the installation's key. Refreshing twice, concurrently or after a lost response,
    /// therefore returns the same successor, and a client cannot compute it without the key.
    func successor(keys: SessionKeys) -> RefreshTicket {
        RefreshTicket(
            kind, tenantID: tenantID, userID: userID, sessionID: sessionID,
            secret: keys.derive(secret, for: "refresh token"))
    }

    /// Whether the ticket with the hash was derived from this one in at most `generations` steps.
    ///
    /// This distinguishes a reused ticket from a forged one. Only a reused ticket revokes its session, so a forged ticket
    /// cannot revoke the session of another user. It takes about 25 ms for the maximum number of generations, so other tasks get
    /// their turn in between.
    func isAncestor(of hash: [UInt8], generations: Int, keys: SessionKeys) async -> Bool {
        var ticket = self
        guard generations > 0 else { return false }
        for generation in 1...min(generations, Self.generationsMax) {
            if generation.isMultiple(of: 100) { await Task.yield() }
            ticket = ticket.successor(keys: keys)
            if constantTimeEqual(ticket.hash, hash) { return true }
        }
        return false
    }

    /// One refresh every 15 minutes for 90 days makes 8,640 generations.
    private static let generationsMax = 10_000
}
