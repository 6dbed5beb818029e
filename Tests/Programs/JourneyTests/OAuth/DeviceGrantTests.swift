import GraphQL
import TestSupport
import Testing

/// The device grant.
@Suite struct DeviceGrantTests {
    private static let grant = "urn:ietf:params:oauth:grant-type:device_code"

    private struct Device {
        let server: OAuthServer
        let app: OAuthServer.App
        let start: Value

        var userCode: String { start["user_code"]?.string ?? "" }

        init(_ server: OAuthServer) async throws {
            self.server = server
            app = try await server.addApp("E-paper display", redirectURI: nil)
            let started = try await server.post(
                "device_authorization", app.credentials + [("scope", "library:read")])
            #expect(started.status == 200, "\(started.body)")
            start = started.json
        }

        var fields: [(String, String)] {
            app.credentials + [
                ("grant_type", grant), ("device_code", start["device_code"]?.string ?? ""),
            ]
        }

        func poll() async throws -> HTTPClient.Response { try await server.post("token", fields) }

        /// Lets the interval pass.
        func wait(_ change: String = "polled_at = polled_at - interval '1 minute'") async throws {
            try await server.installation.database.execute(
                "UPDATE oauth_requests SET \(change) WHERE client_id = '\(app.id)'")
        }
    }

    /// Someone with a stolen session cannot keep a permission for later.
    @Test func signingOutEverywhereEndsAPermissionThatNoAppHasUsed() async throws {
        let server = try await OAuthServer.shared()
        let device = try await Device(server)
        let reader = try await server.reader()
        try await server.approve(device.userCode, as: reader)
        let signedOut = try await server.client.execute(
            "mutation { signOut(everywhere: true) { endedSessions } }", token: reader)
        #expect(signedOut["errors"] == nil, "\(signedOut)")
        #expect(try await device.poll().json["error"] == "invalid_grant")
    }

    @Test func deviceGetsTokensAfterThePermission() async throws {
        let server = try await OAuthServer.shared()
        let device = try await Device(server)
        #expect(device.start["expires_in"] == 600)
        #expect(device.start["interval"] == 5)
        #expect(device.start["verification_uri"] == .string("\(server.url)/oauth/device/reader"))
        #expect(
            device.start["verification_uri_complete"]
                == .string("\(server.url)/oauth/device/reader?user_code=\(device.userCode)"))
        #expect(try await device.poll().json["error"] == "authorization_pending")
        #expect(try await device.poll().json["error"] == "slow_down")
        let reader = try await server.reader()
        let request = try await server.client.execute(
            "query($code: String!) { authorizationRequest(code: $code) { kind redirectHost } }",
            ["code": .string(device.userCode)], token: reader)
        #expect(
            request["data", "authorizationRequest"] == ["kind": "DEVICE", "redirectHost": .null])
        try await server.approve(device.userCode, as: reader)
        try await device.wait()
        let tokens = try OAuthServer.Tokens(try await device.poll())
        #expect(try await server.error(of: tokens.access) == nil)
        // The code was used.
        #expect(try await device.poll().json["error"] == "invalid_grant")
        #expect(try await server.error(of: tokens.access) == "UNAUTHENTICATED")
    }

    @Test func deviceIsToldAboutTheDenial() async throws {
        let server = try await OAuthServer.shared()
        let device = try await Device(server)
        _ = try await server.client.execute(
            "mutation($code: String!) { denyAuthorization(code: $code) { status } }",
            ["code": .string(device.userCode)], token: try await server.reader())
        #expect(try await device.poll().json["error"] == "access_denied")
    }

    @Test func approvalCanBeDeniedUntilTheDeviceHasAccess() async throws {
        let server = try await OAuthServer.shared()
        let device = try await Device(server)
        let reader = try await server.reader()
        try await server.approve(device.userCode, as: reader)
        let denied = try await server.client.execute(
            "mutation($code: String!) { denyAuthorization(code: $code) { status } }",
            ["code": .string(device.userCode)], token: reader)
        #expect(denied["data", "denyAuthorization", "status"] == "DENIED")
        #expect(try await device.poll().json["error"] == "access_denied")
        let changed = try await server.approve(device.userCode, as: reader)
        #expect(changed["errors", 0, "extensions", "code"] == "CONFLICT")
    }

    @Test func deviceCodeExpires() async throws {
        let server = try await OAuthServer.shared()
        let device = try await Device(server)
        try await device.wait("expires_at = now()")
        #expect(try await device.poll().json["error"] == "expired_token")
        let late = try await server.approve(device.userCode, as: try await server.reader())
        #expect(late["errors", 0, "extensions", "code"] == "NOT_FOUND")
    }

    @Test func codeOfAnotherAppIsRefused() async throws {
        let server = try await OAuthServer.shared()
        let device = try await Device(server)
        let other = try await Device(server)
        let fields = other.app.credentials + device.fields.dropFirst(1)
        #expect(try await server.post("token", fields).json["error"] == "invalid_grant")
    }

    @Test(arguments: [("BCDF-GHJK", true), ("<script>", false), ("", false)])
    func pageShowsOnlyCodes(code: String, isShown: Bool) async throws {
        let server = try await OAuthServer.shared()
        let page = try await server.client.send(
            "GET", "/oauth/device/reader?\(OAuthServer.form([("user_code", code)]))")
        #expect(page.status == 200)
        #expect(page.body.contains(#"<p class="code">"#) == isShown)
        #expect(!page.body.contains("<script>"))
    }
}
