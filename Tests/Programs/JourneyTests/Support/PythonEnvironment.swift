import FoundationEssentials
import TestSupport

/// A virtual environment of Python with packages from PyPI. It is kept for later test runs.
struct PythonEnvironment: Sendable {
    let folder: String

    /// GraphQL clients.
    static let clients = Shared {
        try await make(
            "clients",
            ["gql[aiohttp,websockets]==4.0.0", "ariadne-codegen==0.19.0", "sgqlc==18"])
    }

    /// The official client of the Model Context Protocol, and a validator of JSON Schema.
    static let assistants = Shared {
        try await make("assistants", ["mcp==2.3.0", "jsonschema==4.26.0"])
    }

    /// The reference library of Standard Webhooks.
    static let webhooks = Shared { try await make("webhooks", ["standardwebhooks==1.1.0"]) }

    /// A client of OAuth.
    static let oauth = Shared {
        try await make("oauth", ["authlib==1.9.9", "requests==2.32.5"])
    }

    /// The text of axe-core, a script that checks the accessibility of a page. A package of PyPI contains it.
    static let axe = Shared {
        let environment = try await make("axe", ["--no-deps", "axe-playwright-python==0.1.8"])
        let outcome = try await environment.run(
            "python",
            [
                "-c",
                "import pathlib, sysconfig; print(pathlib.Path(sysconfig.get_path('purelib'), 'axe_playwright_python/axe.min.js').read_text())",
            ])
        guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
        return outcome.output
    }

    private static func make(_ name: String, _ packages: [String]) async throws -> Self {
        let folder = "\(TestCluster.project)/.bookplate/tests/\(name)"
        let environment = PythonEnvironment(folder: folder)
        // This file is written last, so an interrupted installation is not used.
        let completed = "\(folder)/packages"
        let list = packages.joined(separator: "\n")
        if (try? String(contentsOfFile: completed, encoding: .utf8)) == list { return environment }
        let venv = Program(
            name: "python3", environment: ProcessInfo.processInfo.environment,
            folder: try Program.makeFolder(), path: "/usr/bin/python3")
        let created = try await venv.run("-m", "venv", "--clear", folder)
        guard created.code == 0 else {
            throw Program.Failure(description: created.output + created.errors)
        }
        let installed = try await environment.run(
            "python",
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"] + packages)
        guard installed.code == 0 else { throw Program.Failure(description: installed.errors) }
        try list.write(toFile: completed, atomically: true, encoding: .utf8)
        return environment
    }

    /// Runs a program of the environment.
    ///
    /// - Parameter directory: the working directory; nil for that of the environment.
    func run(
        _ program: String, _ arguments: [String], in directory: String? = nil
    ) async throws -> Program.Outcome {
        let running = try Program(
            name: program,
            environment: ProcessInfo.processInfo.environment,
            folder: directory ?? folder, path: "\(folder)/bin/\(program)"
        ).start(arguments)
        return try await blocking { try running.wait() }
    }
}
