import GraphQL
import GraphQLServing
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations
@testable import Requests

/// The events of the audit log, and its hash chain.
@Suite struct AuditTests {
    private func events(
        _ app: TestApp, _ filter: AuditLog.Filter = .init(limit: 1000)
    ) async throws -> [AuditRecord] {
        try await app.database.withConnection { try AuditLog.list(filter, $0) }
    }

    /// Returns the kinds of the events, the oldest first.
    private func kinds(_ app: TestApp) async throws -> [String] {
        try await events(app).map(\.kind).reversed()
    }

    private func chain(_ app: TestApp) async throws {
        try await app.database.execute("SELECT chain_audit_events(1000)")
    }

    private func verify(
        _ app: TestApp, _ anchors: [AuditVerification.Anchor] = []
    ) async throws -> AuditVerification {
        try await app.database.withConnection { try AuditVerification.run(anchors, $0) }
    }

    @Test func eventsOfAReaderAreRecorded() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let token = try await ScopedReader(reader, ["LIBRARY_READ"])
        for _ in 1...2 {
            #expect(try await token.execute("{ me { id } }").errors.isEmpty)
            try await app.services.environment.tokenUses.store(in: app.pool)
        }
        try await token.revoke()
        _ = try await reader.requireValue(
            "mutation { signOut { endedSessions } }", .null, "signOut")
        let again = try TestReader(
            app, reader.subject, try await app.signIn(subject: reader.subject))
        _ = try await again.requireValue(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id],
            "deleteAccount")
        #expect(
            try await kinds(app) == [
                "SIGNED_IN", "TOKEN_CREATED", "TOKEN_USED", "TOKEN_REVOKED", "SESSION_REVOKED",
                "SIGNED_IN", "ACCOUNT_DELETED",
            ])
        let found = try await events(app)
        #expect(found.allSatisfy { $0.accountID?.description == reader.id.string })
        #expect(found.allSatisfy { $0.tenant == "alpha" && $0.operatorName == nil })
        #expect(
            found.filter { $0.kind.hasPrefix("TOKEN") }.allSatisfy {
                $0.credentialID?.description == token.id.string
            })
        #expect(found[5].detail.contains(#""scopes": ["LIBRARY_READ"]"#))
    }

    @Test(arguments: [
        ("http://ada:s3cret@hooks.example/x?n=1", "http://***@hooks.example/x?n=1"),
        ("https://s3cret@h/", "https://***@h/"),
        // Characters that a password may not contain.
        ("https://ada:s3/cr@et@h/x", "https://***@h/x"),
        ("https://ada:s3?cr#et@h/x", "https://***@h/x"),
        ("https://h:8080/@ada", "https://h:8080/@ada"),
        ("https://[::1]:8080/@ada", "https://[::1]:8080/@ada"),
        (
            "https://h/x?access_token=s3cret&n=1&API_KEY=s3cret#y",
            "https://h/x?access_token=***&n=1&API_KEY=***#y"
        ),
        ("--to=postgres://ada:s3cret@h/db", "--to=postgres://***@h/db"),
        ("host=h password=s3cret dbname=b", "host=h password=*** dbname=b"),
        ("--events", "--events"), ("a = b", "a = b"),
    ])
    func commandsAreRecordedWithoutCredentials(argument: String, recorded: String) async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.database.withConnection {
            try AuditLog.recordCommand(["webhook", "add", argument], succeeded: false, $0)
        }
        let events = try await events(app)
        #expect(events.map(\.kind) == ["ADMIN_COMMAND"])
        let detail = try #require(events.first.map { try parseJSON(Array($0.detail.utf8)) })
        #expect(detail["arguments", 2] == .string(recorded))
    }

    @Test func firstUseOfATokenOnEachDayIsRecorded() async throws {
        let app = try await TestApp.start(catalog: [])
        let token = try await ScopedReader(try await app.makeReader(), ["LIBRARY_READ"])
        for days in [1, 1, 0] {
            _ = try await token.execute("{ me { id } }")
            try await app.services.environment.tokenUses.store(in: app.pool)
            try await app.database.execute(
                "UPDATE access_tokens SET last_used_at = now() - interval '\(days) days'")
        }
        #expect(try await kinds(app).count { $0 == "TOKEN_USED" } == 3)
    }

    @Test func refusedSignInsAreCountedByTheirReason() async throws {
        let app = try await TestApp.start(catalog: [])
        for _ in 1...3 { _ = try await app.signIn(token: "x") }
        let token = app.identityToken(subject: "ada")
        _ = try await app.signIn(token: token, displayName: "Ada")
        // A token that was used before.
        #expect(
            try await app.signIn(token: token, authorizationCode: "other").code
                == "UNAUTHENTICATED")
        _ = try await app.execute("{ __typename }", token: "bp_wrong")
        try await app.services.accounts.auditEvents.store(in: app.pool)
        let refused = try await events(app).filter { $0.kind.hasSuffix("REFUSED") }
        #expect(
            Set(refused.map(\.kind)) == ["SIGN_IN_REFUSED", "TOKEN_REFUSED"] && refused.count == 3)
        #expect(refused.contains { $0.detail.contains(#""count": 3"#) })
        #expect(refused.contains { $0.detail.contains("the identity token was used before") })
    }

    /// Reasons can contain text of the attacker, so their number is limited.
    @Test func numberOfReasonsIsLimited() async throws {
        let app = try await TestApp.start(catalog: [])
        for number in 1...200 {
            app.services.accounts.auditEvents.add(.tokenRefused, reason: "reason \(number)")
        }
        try await app.services.accounts.auditEvents.store(in: app.pool)
        let found = try await events(app)
        #expect(found.count == 51)
        #expect(found.contains { $0.detail == #"{"count": 150, "reason": "other reasons"}"# })
    }

    // MARK: - The chain

    private func filled() async throws -> TestApp {
        let app = try await TestApp.start(catalog: [])
        for _ in 1...5 { _ = try await app.makeReader() }
        try await chain(app)
        return app
    }

    @Test func jobAddsEventsToTheChain() async throws {
        let app = try await TestApp.start(catalog: [])
        _ = try await app.makeReader()
        #expect(try await verify(app).unchainedCount == 1)
        let worker = try await TestWorker.start(app.database, [ChainAuditEvents()])
        try await waitUntil("the event is in the chain") {
            try await verify(app).unchainedCount == 0
        }
        await worker.stop()
        let result = try await verify(app)
        #expect(result.problems == [] && result.eventCount == 1 && result.anchor?.position == 1)
    }

    @Test(arguments: [
        ("UPDATE audit_events SET detail = '{\"x\": 1}' WHERE position = 3", "Event 3 "),
        ("UPDATE audit_events SET at = at + interval '1 s' WHERE position = 1", "Event 1 "),
        ("UPDATE audit_events SET account_id = NULL WHERE position = 5", "Event 5 "),
        ("UPDATE audit_events SET kind = 'OTHER' WHERE position = 2", "Event 2 "),
        ("UPDATE audit_events SET operator = 'root' WHERE position = 2", "Event 2 "),
        ("UPDATE audit_events SET hash = sha256('x') WHERE position = 2", "Event 2 "),
        ("DELETE FROM audit_events WHERE position = 3", "1 events before event 4 are missing."),
        ("DELETE FROM audit_events WHERE position < 3", "2 events before event 3 are missing."),
        ("DELETE FROM audit_events WHERE position = 5", "Events 5 to 5 at the end are missing."),
        ("DELETE FROM audit_events", "Events 1 to 5 at the end are missing."),
        ("DELETE FROM audit_chain", "The row of audit_chain is missing."),
        (
            // The end of the chain, and its record.
            """
            DELETE FROM audit_events WHERE position > 4;
            UPDATE audit_chain SET last_position = 3
            """, "The recorded end of the chain"
        ),
        (
            // As if older events had been pruned.
            """
            UPDATE audit_chain
            SET first_position = 3, previous_hash = (SELECT hash FROM audit_events WHERE position = 2);
            DELETE FROM audit_events WHERE position < 3
            """, "The chain begins at event 3, but no event records"
        ),
        (
            "UPDATE audit_events SET position = 6, hash = sha256('x') WHERE position = 5",
            "1 events before event 6 are missing."
        ),
    ])
    func changeIsFound(sql: String, problem: String) async throws {
        let app = try await filled()
        #expect(try await verify(app).problems == [])
        try await app.database.execute(sql)
        let problems = try await verify(app).problems
        #expect(problems.contains { $0.hasPrefix(problem) }, "\(problems)")
    }

    /// An anchor also finds a chain that was completely calculated again.
    @Test func replacedChainDoesNotContainTheAnchor() async throws {
        let app = try await filled()
        let anchor = try #require(try await verify(app).anchor)
        _ = try await app.makeReader()
        try await chain(app)
        #expect(try await verify(app, [anchor]).problems == [])
        try await app.database.execute(
            """
            DELETE FROM audit_events WHERE position = 3;
            UPDATE audit_events SET position = NULL, hash = NULL;
            UPDATE audit_chain SET last_position = 0, last_hash = previous_hash;
            SELECT chain_audit_events(1000)
            """)
        #expect(try await verify(app).problems == [])
        #expect(try await verify(app, [anchor]).problems.count == 1)
    }

    @Test func oldEventsArePruned() async throws {
        let app = try await filled()
        let before = try #require(try await verify(app).anchor)
        // The events must have been old when they were added to the chain.
        try await app.database.execute(
            """
            UPDATE audit_events
            SET position = NULL, hash = NULL,
                at = CASE WHEN id <= 3 THEN at - interval '401 days' ELSE at END;
            UPDATE audit_chain SET last_position = 0, last_hash = previous_hash;
            SELECT chain_audit_events(1000)
            """)
        let worker = try await TestWorker.start(app.database, [PruneChanges(), ChainAuditEvents()])
        try await waitUntil("the events are pruned") {
            try await verify(app).eventCount == 3
        }
        await worker.stop()
        let result = try await verify(app)
        #expect(result.problems == [] && result.anchor?.position == 6)
        #expect(try await kinds(app).last == "AUDIT_PRUNED")
        let old = AuditVerification.Anchor(position: 2, hash: before.hash)
        #expect(try await verify(app, [old]).problems.first?.contains("is older than") == true)
    }

    /// Not even the job can delete recent events.
    @Test func recentEventsCannotBePruned() async throws {
        let app = try await filled()
        try await app.database.execute("SELECT prune_audit_events(-1000, 1000)")
        #expect(try await verify(app).eventCount == 5)
    }

    @Test(arguments: ["", "1", "1:", "1:00", "0:\(String(repeating: "0", count: 64))", "x:y:z"])
    func malformedAnchorIsRefused(text: String) {
        #expect(AuditVerification.Anchor(text) == nil)
    }
}
