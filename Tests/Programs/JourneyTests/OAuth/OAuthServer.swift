import Basics
import Glibc
import GraphQL
import Identity
import TestSupport

/// A server with OAuth, and what apps and browsers send to it.
struct OAuthServer: Sendable {
    let installation: Installation
    let server: RunningServer
    let url: String

    static let shared = Shared { try await start() }
    static let callback = "https://stats.example/callback"

    var client: HTTPClient { server.client }
    var issuer: String { "\(url)/oauth/reader" }

    /// - Parameter allowsTools: Whether assistants may call tools. It is set before the start, because servers may use settings of
    ///   tenants for a second.
    static func start(
        _ settings: [String: String] = [:], allowsTools: Bool = false
    ) async throws -> OAuthServer {
        let installation = try await Installation.ready(catalog: [])
        for arguments in [
            [
                "tenant", "add", "--slug", "other", "--name", "Other", "--audience",
                "com.example.other", "--oauth", "on",
            ],
            [
                "tenant", "update", "reader", "--oauth", "on", "--oauth-registration", "on",
                "--mcp", allowsTools ? "on" : "off",
            ],
        ] {
            try await installation.run(arguments)
        }
        let port = try freePort()
        let url = "http://localhost:\(port)"
        let server = try await installation.startServer(
            ["BOOKPLATE_PORT": "\(port)", "BOOKPLATE_PUBLIC_URL": url].merging(settings) { $1 })
        return OAuthServer(installation: installation, server: server, url: url)
    }

    // MARK: - Apps

    /// A registered app.
    struct App: Sendable {
        let id: String
        let secret: String?
        let tenant: String
        let redirectURI: String?

        /// The fields by which the app identifies itself.
        var credentials: [(String, String)] {
            [("client_id", id)] + (secret.map { [("client_secret", $0)] } ?? [])
        }
    }

    func addApp(
        _ name: String = "Reading Stats", redirectURI: String? = callback,
        scopes: [String] = ["library:read", "progress"], isConfidential: Bool = false,
        tenant: String = "reader"
    ) async throws -> App {
        var arguments = ["oauth", "client", "add", tenant, "--name", name, "--json"]
        for scope in scopes { arguments += ["--scope", scope] }
        arguments += redirectURI.map { ["--redirect-uri", $0] } ?? ["--device"]
        if isConfidential { arguments.append("--confidential") }
        let added = try parseJSON(Array(try await installation.run(arguments).utf8))
        return App(
            id: added["clientId"]?.string ?? "", secret: added["secret"]?.string, tenant: tenant,
            redirectURI: redirectURI)
    }

    func post(
        _ endpoint: String, _ fields: [(String, String)], tenant: String = "reader",
        headers: [String: String?] = [:]
    ) async throws -> HTTPClient.Response {
        try await client.send(
            "POST", "/oauth/\(endpoint)/\(tenant)", body: Self.form(fields),
            headers: ["content-type": "application/x-www-form-urlencoded"].merging(headers) { $1 })
    }

    static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\($0)=\($1.percentEncoded())" }.joined(separator: "&")
    }

    /// Changes one field. Without a value, removes it.
    static func changed(_ fields: [(String, String)], _ name: String, _ value: String?) -> [(
        String, String
    )] {
        fields.filter { $0.0 != name } + (value.map { [(name, $0)] } ?? [])
    }

    // MARK: - The authorization code grant

    static let verifier = String(repeating: "v", count: 43)
    static var challenge: String { Base64URL.encode(sha256(verifier.utf8)) }

    static func authorizeFields(
        _ app: App, state: String = "xyz", scope: String? = "library:read"
    ) -> [(String, String)] {
        [
            ("response_type", "code"), ("client_id", app.id),
            ("redirect_uri", app.redirectURI ?? ""), ("state", state),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ] + (scope.map { [("scope", $0)] } ?? [])
    }

    /// A browser on the page of a request.
    struct Page: Sendable {
        let path: String
        let cookie: String
        let html: String

        /// The code that the page shows.
        var code: String { between(#"<p class="code">"#, "</p>") }
        /// The secret of the form.
        var formToken: String { between(#"name="token" value=""#, "\"") }

        private func between(_ start: String, _ end: String) -> String {
            guard let start = html.firstRange(of: start) else { return "" }
            let rest = html[start.upperBound...]
            return String(rest[..<(rest.firstRange(of: end)?.lowerBound ?? rest.endIndex)])
        }
    }

    func authorize(
        _ fields: [(String, String)], tenant: String = "reader"
    ) async throws -> HTTPClient.Response {
        try await client.send("GET", "/oauth/authorize/\(tenant)?\(Self.form(fields))")
    }

    /// Opens the authorization URL of an app and follows the redirect to the page.
    func openPage(
        _ app: App, scope: String? = "library:read", language: String? = nil
    ) async throws -> Page {
        let redirect = try await authorize(
            Self.authorizeFields(app, scope: scope), tenant: app.tenant)
        let path = redirect.headers["location"] ?? ""
        let cookie = String(redirect.headers["set-cookie"]?.prefix { $0 != ";" } ?? "")
        let page = try await client.send(
            "GET", path, headers: ["cookie": cookie, "accept-language": language])
        guard page.status == 200 else { throw Program.Failure(description: page.body) }
        return Page(path: path, cookie: cookie, html: page.body)
    }

    func reload(_ page: Page) async throws -> HTTPClient.Response {
        try await client.send("GET", page.path, headers: ["cookie": page.cookie])
    }

    /// Returns the parameters with which the browser returns to the app.
    func result(of page: Page) async throws -> FormFields {
        let response = try await reload(page)
        let location = response.headers["location"] ?? ""
        return try FormFields(location.drop { $0 != "?" }.dropFirst().utf8)
    }

    // MARK: - The reader

    static let approve = """
        mutation($code: String!, $scopes: [AccessScope!]) {
          approveAuthorization(input: {code: $code, scopes: $scopes}) { status scopes }
        }
        """

    /// Signs in a new reader and returns the access token.
    func reader() async throws -> String {
        try await server.signIn("\(UUID.version7())")["accessToken"]?.string ?? ""
    }

    @discardableResult
    func approve(
        _ code: String, as token: String, scopes: [String]? = nil
    ) async throws -> Value {
        try await client.execute(
            Self.approve,
            [
                "code": .string(code),
                "scopes": scopes.map { .list($0.map { .string($0) }) } ?? .null,
            ], token: token)
    }

    // MARK: - Tokens

    /// The fields with which an app exchanges a code.
    static func exchangeFields(_ app: App, _ code: String) -> [(String, String)] {
        app.credentials + [
            ("grant_type", "authorization_code"), ("code", code),
            ("redirect_uri", app.redirectURI ?? ""), ("code_verifier", verifier),
        ]
    }

    static func refreshFields(_ app: App, _ token: String) -> [(String, String)] {
        app.credentials + [("grant_type", "refresh_token"), ("refresh_token", token)]
    }

    /// The tokens of an app.
    struct Tokens: Sendable {
        let access: String
        let refresh: String
        let scope: String

        init(_ response: HTTPClient.Response) throws {
            guard response.status == 200, let access = response.json["access_token"]?.string,
                let refresh = response.json["refresh_token"]?.string
            else { throw Program.Failure(description: response.body) }
            self.access = access
            self.refresh = refresh
            scope = response.json["scope"]?.string ?? ""
        }
    }

    /// Gives an app access to the account of a reader.
    func connect(
        _ app: App, to reader: String, scope: String? = "library:read"
    ) async throws -> (code: String, tokens: Tokens) {
        let page = try await openPage(app, scope: scope)
        try await approve(page.code, as: reader)
        let code = try await result(of: page)["code"] ?? ""
        let tokens = try Tokens(
            try await post("token", Self.exchangeFields(app, code), tenant: app.tenant))
        return (code, tokens)
    }

    /// The code of the error of a request with an access token; nil if it works.
    func error(of token: String, _ query: String = "{ me { id } }") async throws -> String? {
        try await client.execute(query, token: token)["errors", 0, "extensions", "code"]?.string
    }
}

extension Installation {
    /// Runs an admin command that must succeed, and returns its output.
    @discardableResult
    func run(_ arguments: [String]) async throws -> String {
        let outcome = try await admin(arguments)
        guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
        return outcome.output
    }
}
