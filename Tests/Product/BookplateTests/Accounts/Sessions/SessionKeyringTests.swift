import Glibc
import GraphQL
import Identity
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Changes of the session keys while the server runs.
@Suite struct SessionKeyringTests {
    private let file = "/tmp/bookplate-keyring-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"

    private func start() async throws -> TestApp {
        try await TestApp.start(
            catalog: [], keyring: try SessionKeyring(file: file, makesMissing: true))
    }

    @Test func tokensOfARemovedKeyAreRejected() async throws {
        defer { unlink(file) }
        let app = try await start()
        let reader = try await app.makeReader()
        #expect(try await reader.execute("{ me { id } }").errors.isEmpty)
        // With the old key kept, the token stays valid.
        try app.keys.rotated(keeping: 1).replace(file: file)
        #expect(try app.services.accounts.keyring.refresh())
        #expect(try app.services.accounts.keyring.refresh() == false)
        #expect(try await reader.execute("{ me { id } }").errors.isEmpty)
        // With the old key removed, the token is rejected, although it was verified before.
        try app.keys.rotated(keeping: 0).replace(file: file)
        #expect(try app.services.accounts.keyring.refresh())
        #expect(try await reader.execute("{ me { id } }").code == "UNAUTHENTICATED")
        // The session itself is still valid: a refresh returns an access token of the new key.
        let next = try await app.execute(
            RefreshTests.refresh, ["token": .string(reader.refreshToken)])
        let token = next["refreshSession", "accessToken"]?.string
        #expect(try await app.execute("{ me { id } }", token: token).errors.isEmpty)
    }

    /// Another server signs with a new key before this one has read the file again.
    @Test func unknownKeyIsReadImmediately() async throws {
        defer { unlink(file) }
        let app = try await start()
        let reader = try await app.makeReader()
        let rotated = app.keys.rotated(keeping: 1)
        try rotated.replace(file: file)
        let now = unixSecondsNow()
        let claims = try AccessToken.verify(reader.token, keys: app.keys, now: now)
        let token = AccessToken.issue(claims, keys: rotated)
        #expect(try await app.execute("{ me { id } }", token: token).errors.isEmpty)
    }

    @Test func fileIsReadWhenItsPermissionsAreCorrected() throws {
        defer { unlink(file) }
        let keyring = try SessionKeyring(file: file, makesMissing: true)
        let next = keyring.keys.rotated(keeping: 1)
        try next.replace(file: file)
        chmod(file, 0o604)
        #expect(throws: SessionKeysError.readableByOthers) { try keyring.refresh() }
        chmod(file, 0o600)
        #expect(try keyring.refresh())
        #expect(keyring.keys == next)
    }

    @Test(arguments: ["", "nonsense", nil])
    func unusableFileKeepsTheKeys(text: String?) async throws {
        defer { unlink(file) }
        let app = try await start()
        let reader = try await app.makeReader()
        unlink(file)
        if let text {
            let descriptor = open(file, O_WRONLY | O_CREAT, 0o600)
            _ = Array(text.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            close(descriptor)
        }
        #expect(throws: SessionKeysError.self) { try app.services.accounts.keyring.refresh() }
        #expect(try await reader.execute("{ me { id } }").errors.isEmpty)
    }
}
