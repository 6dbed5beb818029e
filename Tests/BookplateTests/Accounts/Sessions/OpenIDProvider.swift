import FoundationEssentials
import GraphQL
import Glibc
import HTTPFetch
import TestSupport

/// A real OpenID Connect provider on its own port, which is stopped when the object is released. See scripts/oidc/run.
final class OpenIDProvider: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let issuer: String
    private let pid: pid_t
    private static let fetcher = (try? FetchAllowList(parsing: "127.0.0.1")).map {
        Fetcher(policy: FetchPolicy(userAgent: "test", allowed: $0))
    }

    /// Starts a provider, and waits until it accepts connections. The first start installs it.
    static func start() async throws -> OpenIDProvider {
        var template = Array("/tmp/bookplate-oidc-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(description: "mkdtemp: errno \(errno)")
        }
        let folder = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let log = folder + "/log"
        let pid = try spawn([TestCluster.project + "/scripts/oidc/run", folder + "/port"], log)
        // Installing the packages takes longer than starting.
        for _ in 0..<12_000 {
            if let port = text(of: folder + "/port") {
                return OpenIDProvider(issuer: "http://127.0.0.1:\(port)", pid: pid)
            }
            guard kill(pid, 0) == 0, waitpid(pid, nil, WNOHANG) == 0 else { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        kill(pid, SIGKILL)
        throw Failure(description: "the provider did not start: \(text(of: log) ?? "")")
    }

    private init(issuer: String, pid: pid_t) {
        self.issuer = issuer
        self.pid = pid
    }

    deinit {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    /// Signs in like an app: requests an authorization code, and exchanges it for an identity token.
    func identityToken(subject: String, clientID: String, nonce: String? = nil) async throws
        -> String
    {
        let redirect = "http://127.0.0.1/callback"
        let query =
            "client_id=\(clientID)&redirect_uri=\(redirect)&response_type=code&scope=openid"
            + (nonce.map { "&nonce=\($0)" } ?? "")
        let authorized = try await post("/oauth2/authorize?" + query, "sub=\(subject)")
        guard let location = authorized.header("location"),
            let code = location.split(separator: "code=").dropFirst().first?.prefix(while: {
                $0 != "&"
            })
        else { throw Failure(description: "no code: \(authorized.status)") }
        let exchanged = try await post(
            "/oauth2/token", "grant_type=authorization_code&code=\(code)&redirect_uri=\(redirect)",
            [("Authorization", "Basic " + Data("\(clientID):secret".utf8).base64EncodedString())])
        guard let token = try parseJSON(exchanged.body)["id_token"]?.string else {
            throw Failure(description: String(decoding: exchanged.body, as: UTF8.self))
        }
        return token
    }

    /// Replaces the key of the provider.
    func rotateKey() async throws { _ = try await post("/rotate", "") }

    private func post(
        _ path: String, _ form: String, _ headers: [(name: String, value: String)] = []
    ) async throws -> FetchResponse {
        guard let fetcher = Self.fetcher else { throw Failure(description: "no fetcher") }
        return try await fetcher.fetch(
            FetchRequest(
                url: issuer + path,
                method: .post(
                    body: Array(form.utf8), contentType: "application/x-www-form-urlencoded"),
                headers: headers, redirectsMax: 0))
    }

    private static func text(of file: String) -> String? {
        guard let bytes = FileManager.default.contents(atPath: file) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func spawn(_ arguments: [String], _ output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The threads of tests block signals, and the child process would inherit the signal mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let pointers = arguments.map { strdup($0) } + [nil]
        let environment =
            ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in pointers + environment { free(pointer) } }
        var pid: pid_t = 0
        let result = posix_spawnp(&pid, arguments[0], &actions, &attributes, pointers, environment)
        guard result == 0 else { throw Failure(description: "\(arguments[0]): errno \(result)") }
        return pid
    }
}
