import Basics
import Identity
import Postgres

/// A refresh token as clients hold it: whose session it is of, and the secret that proves it.
///
/// It names its session so that row-level security can be set before anything is read. The server
/// keeps only the secret's hash.
struct RefreshTicket: Equatable, Unprintable {
    private static let prefix = "bpr_"
    private static let secretBytes = 32

    let tenantID: UUID
    let userID: UUID
    let sessionID: UUID
    private let secret: [UInt8]

    /// The first ticket of a session.
    init(tenantID: UUID, userID: UUID, sessionID: UUID, secret: [UInt8]) {
        self.tenantID = tenantID
        self.userID = userID
        self.sessionID = sessionID
        self.secret = secret
    }

    static func newSecret() -> [UInt8] { randomBytes(secretBytes) }

    static func hash(_ secret: [UInt8]) -> [UInt8] { sha256(secret) }

    /// nil for anything but the one text of a ticket.
    init?(_ text: String) {
        guard text.utf8.count <= 256, text.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(text.utf8.dropFirst(Self.prefix.utf8.count)),
            bytes.count == 48 + Self.secretBytes
        else { return nil }
        func id(_ offset: Int) -> UUID? {
            bytes.withUnsafeBytes { UUID(bytes: .init(rebasing: $0[offset..<offset + 16])) }
        }
        guard let tenantID = id(0), let userID = id(16), let sessionID = id(32) else { return nil }
        self.init(
            tenantID: tenantID, userID: userID, sessionID: sessionID, secret: Array(bytes[48...]))
    }

    var text: String {
        var bytes: [UInt8] = []
        for id in [tenantID, userID, sessionID] { bytes += id.bytes }
        return Self.prefix + Base64URL.encode(bytes + secret)
    }

    var hash: [UInt8] { Self.hash(secret) }

    /// The ticket that takes this one's place.
    ///
    /// It follows from this one and the installation's key: refreshing twice, at once or after a lost
    /// answer, gives the same successor, and who has only this ticket cannot make it.
    func successor(keys: SessionKeys) -> RefreshTicket {
        RefreshTicket(
            tenantID: tenantID, userID: userID, sessionID: sessionID,
            secret: keys.derive(secret, for: "refresh token"))
    }

    /// Whether the ticket with that hash came from this one by at most so many successions.
    ///
    /// So a token that was used up is told from one that never was: guessing ends nobody's session.
    func isAncestor(of hash: [UInt8], generations: Int, keys: SessionKeys) -> Bool {
        var ticket = self
        for _ in 0..<min(generations, Self.generationsMax) {
            ticket = ticket.successor(keys: keys)
            if constantTimeEqual(ticket.hash, hash) { return true }
        }
        return false
    }

    /// A token a quarter of an hour for 90 days makes 8,640.
    private static let generationsMax = 10_000
}

extension UUID {
    /// The 16 bytes, most significant first.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for word in [high, low] {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}
