import Glibc
import GraphQL
import TestSupport

/// An installation as an operator sets it up: a database that the admin CLI migrates and fills, and servers.
///
/// It runs the real executables.
struct Installation: Sendable {
    let database: TestDatabase
    let folder: String

    /// Creates an installation whose database is empty.
    static func bare() async throws -> Installation {
        Installation(
            database: try await TestCluster.shared.makeEmptyDatabase(),
            folder: try Program.makeFolder())
    }

    /// Creates an installation with a migrated database, a tenant, and a catalog.
    static func ready(
        catalog: [String] = TestCatalog.lines(), on cluster: TestCluster = .shared
    ) async throws -> Installation {
        let installation = Installation(
            database: try await cluster.makeDatabase(), folder: try Program.makeFolder())
        let file = try installation.write(catalog.joined(separator: "\n"), to: "catalog.jsonl")
        for arguments in [
            [
                "tenant", "add", "--slug", "reader", "--name", "Reader", "--audience",
                "com.example.reader",
            ],
            ["catalog", "import", file],
        ] {
            let outcome = try await installation.admin(arguments)
            guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
        }
        return installation
    }

    func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let path = "\(folder)/\(name)"
        guard let stream = fopen(path, "w") else {
            throw Program.Failure(description: "\(path): errno \(errno)")
        }
        defer { fclose(stream) }
        fwrite(bytes, 1, bytes.count, stream)
        return path
    }

    private func environment(_ changes: [String: String?]) throws -> [String: String] {
        let variables: [String: String?] = [
            "PATH": "/usr/bin:/bin",
            "DATABASE_URL": try database.url(as: TestCluster.app),
            "BOOKPLATE_ADMIN_DATABASE_URL": try database.url(as: TestCluster.owner),
            "BOOKPLATE_PORT": "0",
            // No test sends requests to the internet. Tests of external sources run a local server instead.
            "BOOKPLATE_OPEN_LIBRARY_URL": "", "BOOKPLATE_OPEN_LIBRARY_COVERS_URL": "",
            "BOOKPLATE_GOOGLE_BOOKS_URL": "",
        ]
        var merged = variables.merging(changes) { $1 }
        if merged["BOOKPLATE_ENV"] == "production", merged["BOOKPLATE_PUBLIC_URL"] == nil {
            merged["BOOKPLATE_PUBLIC_URL"] = "https://books.example"
        }
        return merged.compactMapValues { $0 }
    }

    /// - Parameter starter: a command that replaces itself with the program, such as `prlimit`.
    func admin(
        _ arguments: [String], _ changes: [String: String?] = [:], by starter: [String] = []
    ) async throws -> Program.Outcome {
        let program = try startAdmin(arguments, changes, by: starter)
        return try await blocking { try program.wait() }
    }

    /// Starts an admin command and returns while it runs.
    func startAdmin(
        _ arguments: [String], _ changes: [String: String?] = [:], by starter: [String] = []
    ) throws -> RunningProgram {
        try Program(
            name: "bookplate-admin", environment: try environment(changes), folder: folder
        ).start(arguments, by: starter)
    }

    /// Returns a command that replaces itself with a program for which an empty disk of this size is mounted on a folder.
    static func mounting(_ size: String, on folder: String) -> [String] {
        // Root needs no user namespace. In one, it could not connect to the socket of the database.
        let namespaces = geteuid() == 0 ? "-m" : "-rm"
        return [
            "unshare", namespaces, "sh", "-c",
            #"mount -t tmpfs -o mode=755,size="$0" none "$1" && shift && exec "$@""#, size, folder,
        ]
    }

    func admin(_ arguments: String...) async throws -> Program.Outcome {
        try await admin(arguments)
    }

    private func server(_ changes: [String: String?]) throws -> Program {
        Program(name: "bookplate", environment: try environment(changes), folder: folder)
    }

    /// Runs a server that is expected to exit during startup.
    func serverOutcome(_ changes: [String: String?]) async throws -> Program.Outcome {
        try await server(changes).run()
    }

    /// Starts a server and waits until `/health/ready` returns the expected status, for at least 30 seconds.
    ///
    /// - Parameter starter: a command that replaces itself with the server, such as `prlimit`.
    func startServer(
        _ changes: [String: String?] = [:], readiness status: Int = 200, by starter: [String] = []
    ) async throws -> RunningServer {
        let program = try await server(changes).startServing([], by: starter)
        for _ in 0..<600 where !program.hasEnded {
            if let port = listeningPort(program.errors + program.output) {
                let host = (changes["BOOKPLATE_HOST"] ?? nil) ?? "127.0.0.1"
                let server = RunningServer(
                    program: program, client: HTTPClient(address: host, port: port))
                if try await server.client.send("GET", "/health/ready").status == status {
                    return server
                }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Program.Failure(
            description: "the server did not become ready: \(program.errors.suffix(5000))")
    }

    /// Returns the port in the log line `listening on …:43210`.
    private func listeningPort(_ log: String) -> Int? {
        guard let line = log.split(separator: "\n").first(where: { $0.contains("listening on") })
        else {
            return nil
        }
        return line.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) }
    }
}

/// A running server with a client for its port.
struct RunningServer: Sendable {
    let program: RunningProgram
    let client: HTTPClient

    /// Signs in with a development identity token and returns the session.
    func signIn(_ subject: String) async throws -> Value {
        let token = try await client.send(
            "POST", "/development/identity-token",
            body: #"{"subject":"\#(subject)","audience":"com.example.reader"}"#)
        let session = try await client.execute(
            TestApp.signIn, ["input": ["identityToken": token.json["identityToken"] ?? .null]])
        guard let session = session["data", "signIn"], !session.isNull else {
            throw Program.Failure(description: "no session: \(token.body)")
        }
        return session
    }
}
