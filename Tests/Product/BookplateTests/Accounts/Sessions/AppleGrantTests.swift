import Dispatch
import Foundation
import GraphQL
import Identity
import Logging
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import JobQueue
@testable import Requests

/// Apple's authorizations: obtained at sign-in, stored encrypted, and revoked when the account is deleted.
@Suite struct AppleGrantTests {
    private static let setUser = Statement(
        """
        SELECT set_config('app.user_id', $1, true), set_config('app.tenant_id', id::text, true)
        FROM tenants WHERE slug = 'alpha'
        """)

    private struct Setting {
        let apple: StubAppleServer
        let app: TestApp

        init() async throws {
            apple = try StubAppleServer()
            app = try await TestApp.start(catalog: [], apple: try apple.client())
        }

        func delete(_ reader: TestReader) async throws -> TestResponse {
            try await reader.execute(
                "mutation($id: String!) { deleteAccount(confirm: $id) { id appleTokenRevoked } }",
                ["id": reader.id])
        }

        var jobs: [String] {
            get async throws {
                try await app.database.withConnection {
                    try $0.texts(
                        "SELECT kind || ' ' || payload::text FROM jobs WHERE every IS NULL")
                }
            }
        }

        /// Runs the waiting jobs like a server.
        func work(until condition: () async throws -> Bool) async throws {
            try await app.database.execute("UPDATE jobs SET run_at = now()")
            let worker = JobWorker(
                JobHandlers.all(app.services), database: app.pool, name: "test",
                userChangeChannel: Hub.changeChannel,
                logger: app.services.logger)
            let running = Task { await worker.run() }
            try await waitUntil("the jobs are done", condition)
            worker.stop()
            await running.value
        }
    }

    @Test func tokenIsStoredEncryptedAndRevoked() async throws {
        let setting = try await Setting()
        setting.apple.addGrant("code1", .init(refreshToken: "appleSecret1"))
        let reader = try await setting.app.makeReader(authorizationCode: "code1")
        let id = reader.id.string ?? ""
        let stored = try await setting.app.database.withConnection { connection in
            let rows = try connection.query(
                "SELECT client_id, sealed_token FROM apple_grants WHERE user_id = '\(id)'")
            return (rows.count, rows.text(0, 0), rows.bytes(0, 1).map { Array($0) } ?? [])
        }
        #expect(stored.0 == 1)
        #expect(stored.1 == TestApp.Tenant.alpha.audience)
        #expect(!String(decoding: stored.2, as: UTF8.self).contains("appleSecret1"))
        #expect(stored.2.count > 20)

        let response = try await setting.delete(reader)
        #expect(response["deleteAccount"] == ["id": reader.id, "appleTokenRevoked": true])
        // Repeating the request does not send another request to Apple.
        #expect(try await setting.delete(reader).json == response.json)
        #expect(setting.apple.revokedTokens == ["appleSecret1"])
        #expect(try await setting.jobs == [])
    }

    /// If the request is repeated while the first one waits for Apple, both return Apple's result.
    @Test(arguments: [true, false])
    func concurrentDeletionsReturnTheSameResult(isRevoked: Bool) async throws {
        let setting = try await Setting()
        setting.apple.addGrant("code6", .init(refreshToken: "appleSecret6"))
        let reader = try await setting.app.makeReader(authorizationCode: "code6")
        setting.apple.isDown = !isRevoked
        let hasReceivedRequest = DispatchSemaphore(value: 0)
        let mayRespond = DispatchSemaphore(value: 0)
        setting.apple.onRevoke {
            hasReceivedRequest.signal()
            mayRespond.wait()
        }
        async let first = setting.delete(reader)
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                hasReceivedRequest.wait()
                continuation.resume()
            }
        }
        async let second = setting.delete(reader)
        let unsettled = "SELECT count(*) FROM account_tombstones WHERE apple_token_revoked IS NULL"
        #expect(try await setting.app.database.count(unsettled) == 1)
        mayRespond.signal()
        let (one, other) = (try await first, try await second)
        #expect(one["deleteAccount", "appleTokenRevoked"] == .boolean(isRevoked))
        #expect(one.json == other.json)
        #expect(try await setting.delete(reader).json == one.json)
        #expect(setting.apple.revokedTokens == ["appleSecret6"])
    }

    /// If the server is killed before Apple responds, repeated requests return that the token is not revoked. After one hour
    /// the session's access tokens have expired, and its hash is deleted from the tombstone.
    @Test func deletionCanBeRepeatedAfterACrash() async throws {
        let setting = try await Setting()
        setting.apple.addGrant("code7", .init(refreshToken: "appleSecret7"))
        let reader = try await setting.app.makeReader(authorizationCode: "code7")
        setting.apple.isDown = true
        #expect(try await setting.delete(reader)["deleteAccount", "appleTokenRevoked"] == false)
        func age(_ interval: String) async throws {
            try await setting.app.database.execute(
                "UPDATE account_tombstones SET deleted_at = now() - interval '\(interval)'")
        }
        try await setting.app.database.execute(
            "UPDATE account_tombstones SET apple_token_revoked = NULL")
        try await age("11 seconds")
        for _ in 1...2 {
            #expect(try await setting.delete(reader)["deleteAccount", "appleTokenRevoked"] == false)
        }
        try await age("61 minutes")
        #expect(try await setting.delete(reader).code == "UNAUTHENTICATED")
        let kept = "SELECT count(*) FROM account_tombstones WHERE session_hash IS NOT NULL"
        #expect(try await setting.app.database.count(kept) == 1)
        try await setting.work { try await setting.app.database.count(kept) == 0 }
    }

    @Test func nothingIsRevokedWithoutAGrant() async throws {
        let setting = try await Setting()
        let response = try await setting.delete(try await setting.app.makeReader())
        #expect(response["deleteAccount", "appleTokenRevoked"] == false)
        #expect(setting.apple.server.requests.isEmpty)
    }

    /// If Apple is unavailable, the account is deleted anyway, and a job revokes the token later.
    @Test func tokenIsRevokedInTheBackgroundIfAppleIsUnavailable() async throws {
        let setting = try await Setting()
        setting.apple.addGrant("code2", .init(refreshToken: "appleSecret2"))
        let reader = try await setting.app.makeReader(authorizationCode: "code2")
        setting.apple.isDown = true
        let response = try await setting.delete(reader)
        #expect(response["deleteAccount", "appleTokenRevoked"] == false)
        #expect(try await reader.execute("{ me { id } }").code == "UNAUTHENTICATED")

        // The job does not contain the user's identity.
        let jobs = try await setting.jobs
        #expect(jobs.count == 1)
        for secret in [reader.id.string ?? "-", reader.subject, "appleSecret2"] {
            #expect(!jobs[0].contains(secret))
        }
        setting.apple.isDown = false
        try await setting.work { try await setting.jobs.isEmpty }
        #expect(setting.apple.revokedTokens.last == "appleSecret2")
    }

    /// If the server is killed between the deletion and Apple's response, the job alone revokes the token.
    @Test func jobCompletesADeletion() async throws {
        let setting = try await Setting()
        setting.apple.addGrant("code3", .init(refreshToken: "appleSecret3"))
        let reader = try await setting.app.makeReader(authorizationCode: "code3")
        let id = reader.id.string ?? ""
        var pipeline = Pipeline()
        var parameters = Parameters()
        parameters.append(text: id)
        pipeline.append(Self.setUser, parameters)
        _ = AccountDeletion.append(to: &pipeline)
        _ = try await setting.app.pool.run(pipeline)
        #expect(setting.apple.revokedTokens == [])
        #expect(
            try await setting.app.database.count(
                "SELECT count(*) FROM users WHERE id = '\(id)'") == 0)
        try await setting.work { try await setting.jobs.isEmpty }
        #expect(setting.apple.revokedTokens == ["appleSecret3"])
    }

    @Test func codeIsExchangedInTheBackgroundIfAppleIsUnavailable() async throws {
        let setting = try await Setting()
        setting.apple.isDown = true
        let reader = try await setting.app.makeReader(authorizationCode: "code4")
        #expect(try await setting.jobs.count == 1)
        #expect(try await setting.jobs.allSatisfy { !$0.contains("code4") })
        setting.apple.isDown = false
        setting.apple.addGrant("code4", .init(refreshToken: "appleSecret4"))
        try await setting.work { try await setting.jobs.isEmpty }
        let response = try await setting.delete(reader)
        #expect(response["deleteAccount", "appleTokenRevoked"] == true)
        #expect(setting.apple.revokedTokens == ["appleSecret4"])
    }

    /// An invalid authorization code does not fail the sign-in, because the identity token is valid.
    @Test func invalidCodeDoesNotFailTheSignIn() async throws {
        let setting = try await Setting()
        let reader = try await setting.app.makeReader(authorizationCode: "unknown")
        #expect(try await reader.execute("{ me { id } }").errors.isEmpty)
        #expect(try await setting.jobs == [])
        let tooLong = try await setting.app.signIn(
            subject: "x", authorizationCode: String(repeating: "c", count: 3000))
        #expect(tooLong.code == "BAD_USER_INPUT")
        #expect(tooLong.field == "authorizationCode")
    }

    @Test func repeatedSignInExchangesTheCodeOnce() async throws {
        let setting = try await Setting()
        setting.apple.addGrant("code5", .init(refreshToken: "appleSecret5"))
        let token = setting.app.identityToken(subject: "repeater")
        for _ in 0..<2 {
            #expect(
                try await setting.app.signIn(token: token, authorizationCode: "code5").errors
                    .isEmpty)
        }
        #expect(setting.apple.exchangedCodes == ["code5"])
    }

    /// Otherwise the victim's authorization would be revoked when the thief's account is deleted.
    @Test func grantOfAnotherUserIsNotStored() async throws {
        let setting = try await Setting()
        setting.apple.addGrant(
            "stolen",
            .init(
                refreshToken: "other",
                identityToken: setting.app.identityToken(subject: "another.subject")))
        let reader = try await setting.app.makeReader(authorizationCode: "stolen")
        #expect(try await setting.app.database.count("SELECT count(*) FROM apple_grants") == 0)
        #expect(try await setting.delete(reader)["deleteAccount", "appleTokenRevoked"] == false)
        #expect(setting.apple.revokedTokens == [])
    }
}
