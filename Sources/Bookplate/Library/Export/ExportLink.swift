import Basics
import GraphQL
import Identity
import Postgres

/// A link to a library's archive: whose it is and how long it is good, signed with the installation's keys.
///
/// It is good as long as the session that asked for it, too: the download begins like any request of it.
package struct ExportLink: Equatable {
    package static let path = "/exports/"
    static let secondsMax: Int64 = 600
    private static let purpose = "library export link"
    private static let payloadBytes = 56

    /// The address of an archive of the caller's library as it will be then.
    static let exportLibrary = LeafMutation { arguments, request throws(BookplateError) in
        let viewer = try request.caller()
        // Whether the session is alive.
        _ = try await request.read { _, _ in }
        let link = ExportLink(viewer: viewer, expiresAt: unixSecondsNow() + secondsMax)
        let token = link.token(request.services.sessionKeys)
        return .string("\(request.services.covers.addresses.publicURL)\(path)\(token).zip")
    }

    let viewer: Viewer
    /// Seconds of Unix time.
    let expiresAt: Int64

    /// The last part of the address.
    func token(_ keys: SessionKeys) -> String {
        var bytes = viewer.userID.bytes + viewer.tenantID.bytes + viewer.sessionID.bytes
        withUnsafeBytes(of: expiresAt.bigEndian) { bytes.append(contentsOf: $0) }
        return Base64URL.encode(bytes + keys.derive(bytes, for: Self.purpose))
    }

    init(viewer: Viewer, expiresAt: Int64) {
        self.viewer = viewer
        self.expiresAt = expiresAt
    }

    /// nil for what this installation has not signed, or not for now.
    init?(token: some StringProtocol, keys: SessionKeys, now: Int64) {
        guard token.utf8.count <= 256, let bytes = Base64URL.decode(token.utf8),
            bytes.count == Self.payloadBytes + 32
        else { return nil }
        let payload = Array(bytes.prefix(Self.payloadBytes))
        guard
            constantTimeEqual(
                keys.derive(payload, for: Self.purpose), Array(bytes.dropFirst(Self.payloadBytes)))
        else { return nil }
        func id(_ start: Int) -> UUID? {
            payload[start..<start + 16].withUnsafeBytes { UUID(bytes: $0) }
        }
        guard let user = id(0), let tenant = id(16), let session = id(32) else { return nil }
        viewer = Viewer(userID: user, tenantID: tenant, sessionID: session)
        expiresAt = payload.dropFirst(48).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard expiresAt > now else { return nil }
    }
}
