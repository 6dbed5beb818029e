import GraphQL
import TestSupport
import Testing

/// The field `User.sessions`, names of devices, and the end of a named session.
@Suite struct UserSessionTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let sessions =
        "{ me { sessions { id deviceName createdAt lastUsedAt expiresAt isCurrent } } }"

    private func sessions(_ reader: TestReader) async throws -> [Value] {
        try await reader.requireValue(Self.sessions, .null, "me", "sessions").list ?? []
    }

    /// Signs in the same user on another device.
    private func signIn(_ reader: TestReader, device: Value) async throws -> TestReader {
        let app = try await Self.app()
        let response = try await app.execute(
            """
            mutation($token: String!, $device: String) {
              signIn(input: {apple: {identityToken: $token}}, deviceName: $device) {
                accessToken refreshToken user { id sessions { deviceName isCurrent } }
              }
            }
            """,
            ["token": .string(app.identityToken(subject: reader.subject)), "device": device])
        return try TestReader(app, reader.subject, response)
    }

    @Test func sessionsAreListedWithTheirDevices() async throws {
        let reader = try await Self.app().makeReader()
        let phone = try await signIn(reader, device: "Ada's iPhone")
        let list = try await sessions(phone)
        #expect(list.count == 2)
        #expect(list.map { $0["deviceName"] } == ["Ada's iPhone", .null])
        #expect(list.map { $0["isCurrent"] } == [true, false])
        #expect(try await sessions(reader).map { $0["isCurrent"] } == [false, true])
        for session in list {
            #expect(session["lastUsedAt"] == session["createdAt"])
            #expect(session["expiresAt"]?.string ?? "" > session["createdAt"]?.string ?? "")
        }
        let id = reader.id.string ?? ""
        try await Self.app().database.execute(
            "UPDATE sessions SET expires_at = now() WHERE user_id = '\(id)' AND device_name IS NULL"
        )
        #expect(try await sessions(phone).count == 1)
    }

    @Test func signInReturnsItsSession() async throws {
        let app = try await Self.app()
        let response = try await app.execute(
            """
            mutation($token: String!) {
              signIn(input: {apple: {identityToken: $token}}, deviceName: "Tablet") {
                user { sessions { deviceName isCurrent } }
              }
            }
            """, ["token": .string(app.identityToken(subject: "tablet"))])
        #expect(
            response["signIn", "user", "sessions"] == [["deviceName": "Tablet", "isCurrent": true]])
    }

    @Test func refreshUpdatesTheSession() async throws {
        let reader = try await Self.app().makeReader()
        let id = reader.id.string ?? ""
        try await Self.app().database.execute(
            """
            UPDATE sessions SET created_at = created_at - interval '1 hour', rotated_at = rotated_at - interval '1 hour'
            WHERE user_id = '\(id)'
            """)
        func refresh(_ token: String, _ device: Value) async throws -> String {
            let response = try await Self.app().execute(
                """
                mutation($token: String!, $device: String) {
                  refreshSession(refreshToken: $token, deviceName: $device) { refreshToken }
                }
                """, ["token": .string(token), "device": device])
            return try #require(response["refreshSession", "refreshToken"]?.string)
        }
        var token = try await refresh(reader.refreshToken, "iPad")
        var session = try await sessions(reader)[0]
        #expect(session["deviceName"] == "iPad")
        #expect(session["lastUsedAt"]?.string ?? "" > session["createdAt"]?.string ?? "")
        // Without a name, or with an empty one, the name stays.
        for name in [.null, " "] as [Value] { token = try await refresh(token, name) }
        session = try await sessions(reader)[0]
        #expect(session["deviceName"] == "iPad")
    }

    @Test(arguments: [
        ("  Ada's 📱 ", "Ada's 📱"), ("a\nb\u{0}c", "a b c"), ("a\u{202E}b", "a b"),
        ("\u{200B}", nil), (String(repeating: "x", count: 100), String(repeating: "x", count: 100)),
    ])
    func namesOfDevicesAreCleaned(given: String, stored: String?) async throws {
        let reader = try await Self.app().makeReader()
        let other = try await signIn(reader, device: .string(given))
        #expect(
            try await sessions(other)[0]["deviceName"] == (stored.map { .string($0) } ?? .null))
    }

    @Test func longNamesOfDevicesAreRefused() async throws {
        let app = try await Self.app()
        let name = Value.string(String(repeating: "x", count: 101))
        let reader = try await app.makeReader()
        for (text, token) in [
            (
                "mutation($t: String!, $n: String) { signIn(input: {apple: {identityToken: $t}}, deviceName: $n) { accessToken } }",
                app.identityToken(subject: reader.subject)
            ),
            (
                "mutation($t: String!, $n: String) { refreshSession(refreshToken: $t, deviceName: $n) { accessToken } }",
                reader.refreshToken
            ),
        ] {
            let response = try await app.execute(text, ["t": .string(token), "n": name])
            #expect(response.code == "BAD_USER_INPUT")
            #expect(response.field == "deviceName")
        }
        #expect(try await sessions(reader).count == 1)
    }

    @Test func namedSessionIsEnded() async throws {
        let here = try await Self.app().makeReader()
        let there = try await signIn(here, device: "There")
        let id = try #require(
            try await sessions(here).first { $0["isCurrent"] == false }?["id"])
        let signOut = "mutation($id: ID!) { signOut(id: $id) { endedSessions } }"
        for count in [1, 0] {
            let response = try await here.execute(signOut, ["id": id])
            #expect(response["signOut", "endedSessions"] == .int(count))
        }
        #expect(try await there.execute("{ me { id } }").code == "UNAUTHENTICATED")
        #expect(try await sessions(here).count == 1)
        for unknown in ["0198c0de-0000-7000-8000-00000000dead", "no id"] as [Value] {
            let response = try await here.execute(signOut, ["id": unknown])
            #expect(response["signOut", "endedSessions"] == 0)
        }
        #expect(try await sessions(here).count == 1)
        let both = try await here.execute(
            "mutation($id: ID!) { signOut(id: $id, everywhere: true) { endedSessions } }",
            ["id": id])
        #expect(both.code == "BAD_USER_INPUT")
        let own = try await sessions(here)[0]["id"] ?? .null
        #expect(try await here.execute(signOut, ["id": own])["signOut", "endedSessions"] == 1)
        #expect(try await here.execute("{ me { id } }").code == "UNAUTHENTICATED")
    }

    @Test func sessionsOfOthersCannotBeEnded() async throws {
        let (reader, other) = (
            try await Self.app().makeReader(), try await Self.app().makeReader()
        )
        let id = try await sessions(other)[0]["id"] ?? .null
        let response = try await reader.execute(
            "mutation($id: ID!) { signOut(id: $id) { endedSessions } }", ["id": id])
        #expect(response["signOut", "endedSessions"] == 0)
        #expect(try await sessions(other).count == 1)
    }
}
