import Basics
import GraphQL
import Identity
import Postgres

/// A link to the archive of a library. It contains the user and its expiry time, signed with the installation's keys.
///
/// It also becomes invalid when the session that requested it ends, because the download checks the session like any other
/// request.
package struct ExportLink: Equatable {
    package static let path = "/exports/"
    /// The validity of a link in seconds.
    static let secondsMax: Int64 = 600
    private static let purpose = "library export link"
    /// The size of the payload: three ids of 16 bytes and the expiry time of 8 bytes.
    private static let payloadBytes = 56
    /// The size of the signature, which follows the payload.
    private static let signatureBytes = 32

    /// Returns the link to an archive of the caller's library. The archive is created when it is downloaded.
    static let exportLibrary = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let viewer = try request.caller()
        // Check that the session has not ended.
        try await request.read { _, _ in }
        let link = ExportLink(viewer: viewer, expiresAt: unixSecondsNow() + secondsMax)
        let token = link.token(request.services.accounts.sessionKeys)
        let url = "\(request.services.covers.urls.publicURL)\(path)\(token).zip"
        let expiresAt = Instant(microseconds: link.expiresAt * 1_000_000)
        return [
            PlainObject(leaves: [
                "url": .string(url), "expiresAt": .string(expiresAt.text),
            ])
        ]
    }

    let viewer: Viewer
    /// In seconds since the Unix epoch.
    let expiresAt: Int64

    /// Returns the last path component of the URL, without `.zip`.
    func token(_ keys: SessionKeys) -> String {
        var bytes = viewer.userID.bytes + viewer.tenantID.bytes + viewer.sessionID.bytes
        withUnsafeBytes(of: expiresAt.bigEndian) { bytes.append(contentsOf: $0) }
        return Base64URL.encode(bytes + keys.derive(bytes, for: Self.purpose))
    }

    init(viewer: Viewer, expiresAt: Int64) {
        self.viewer = viewer
        self.expiresAt = expiresAt
    }

    /// Returns nil if the token is malformed, was not signed by this installation, or has expired.
    init?(token: some StringProtocol, keys: SessionKeys, now: Int64) {
        guard token.utf8.count <= 256, let bytes = Base64URL.decode(token.utf8),
            bytes.count == Self.payloadBytes + Self.signatureBytes
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
