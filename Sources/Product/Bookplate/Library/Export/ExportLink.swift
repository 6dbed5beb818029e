import Basics
import GraphQL
import Identity
import Postgres
import Requests

/// A link to the archive of a library. It contains the user and its expiry time, signed with the installation's keys.
///
/// It also becomes invalid when the session that requested it ends, because the download checks the session like any other
/// request.
package struct ExportLink: Equatable {
    package static let path = "/exports/"
    /// The validity of a link in seconds.
    static let secondsMax: Int64 = 600
    private static let purpose = "library export link"
    /// The purpose of the signature if the caller has sent a personal access token.
    private static let tokenPurpose = "library export link of a personal access token"
    /// The size of the payload without a part: three ids of 16 bytes and the expiry time of 8 bytes.
    private static let payloadBytes = 56
    /// The size of the signature, which follows the payload.
    private static let signatureBytes = 32

    /// Returns the link to an archive of the caller's library. The archive is created when it is downloaded.
    static let exportLibrary = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let viewer = try request.caller()
        // This also checks that the session has not ended.
        let (results, keys) = try await request.read { pipeline, viewer in
            (
                books: pipeline.append(ExportPart.ofBooks, .of(viewer.userID)),
                swipes: pipeline.append(ExportPart.ofSwipes, .of(viewer.userID))
            )
        }
        let parts = ExportPart.parts(
            books: results[keys.books].map { ($0.last, $0.count) },
            swipes: results[keys.swipes].map { ($0.last, $0.count) })
        let expiresAt = unixSecondsNow() + secondsMax
        func url(_ part: ExportPart?) -> Value {
            let link = ExportLink(viewer: viewer, expiresAt: expiresAt, part: part)
            let token = link.token(request.services.accounts.sessionKeys)
            return .string("\(request.services.covers.urls.publicURL)\(path)\(token).zip")
        }
        return [
            PlainObject(
                leaves: [
                    "url": url(nil),
                    "expiresAt": .string(Instant(microseconds: expiresAt * 1_000_000).text),
                ],
                objects: [
                    "parts": parts.map {
                        PlainObject(leaves: ["url": url($0), "bookCount": .int($0.bookCount)])
                    }
                ])
        ]
    }

    let viewer: Viewer
    /// In seconds since the Unix epoch.
    let expiresAt: Int64
    /// The part of the library; nil for all of it.
    let part: ExportPart?

    /// Returns the last path component of the URL, without `.zip`.
    func token(_ keys: SessionKeys) -> String {
        var bytes = viewer.userID.bytes + viewer.tenantID.bytes + viewer.sessionID.bytes
        withUnsafeBytes(of: expiresAt.bigEndian) { bytes.append(contentsOf: $0) }
        bytes += part?.bytes ?? []
        let purpose = viewer.usesPersonalToken ? Self.tokenPurpose : Self.purpose
        return Base64URL.encode(bytes + keys.derive(bytes, for: purpose))
    }

    init(viewer: Viewer, expiresAt: Int64, part: ExportPart? = nil) {
        self.viewer = viewer
        self.expiresAt = expiresAt
        self.part = part
    }

    /// Returns nil if the token is malformed, was not signed by this installation, or has expired.
    init?(token: some StringProtocol, keys: SessionKeys, now: Int64) {
        guard token.utf8.count <= 256, let bytes = Base64URL.decode(token.utf8),
            [Self.payloadBytes, Self.payloadBytes + ExportPart.byteCount].contains(
                bytes.count - Self.signatureBytes)
        else { return nil }
        let payload = Array(bytes.dropLast(Self.signatureBytes))
        let signature = Array(bytes.suffix(Self.signatureBytes))
        func isSigned(for purpose: String) -> Bool {
            constantTimeEqual(keys.derive(payload, for: purpose), signature)
        }
        let isOfToken = isSigned(for: Self.tokenPurpose)
        guard isOfToken || isSigned(for: Self.purpose) else { return nil }
        func id(_ start: Int) -> UUID? {
            payload[start..<start + 16].withUnsafeBytes { UUID(bytes: $0) }
        }
        guard let user = id(0), let tenant = id(16), let session = id(32) else { return nil }
        viewer =
            isOfToken
            ? Viewer(userID: user, tenantID: tenant, accessTokenID: session)
            : Viewer(userID: user, tenantID: tenant, sessionID: session)
        expiresAt = payload[48..<56].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        if payload.count > Self.payloadBytes {
            guard let part = ExportPart(bytes: Array(payload.dropFirst(Self.payloadBytes))) else {
                return nil
            }
            self.part = part
        } else {
            part = nil
        }
        guard expiresAt > now else { return nil }
    }
}
