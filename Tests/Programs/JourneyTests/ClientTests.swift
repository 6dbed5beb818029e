import FoundationEssentials
import GraphQL
import TestSupport
import Testing

/// Programs with the GraphQL clients of other projects, against a running server.
@Suite struct ClientTests {
    private static let server = Shared { try await Installation.ready().startServer() }

    /// Creates a folder with copies of the files in `Tests/Programs/JourneyTests/Clients`.
    private static func copyClients() throws -> String {
        let folder = try Program.makeFolder()
        let source = "\(TestCluster.project)/Tests/Programs/JourneyTests/Clients"
        for name in try FileManager.default.contentsOfDirectory(atPath: source) {
            try FileManager.default.copyItem(
                atPath: "\(source)/\(name)", toPath: "\(folder)/\(name)")
        }
        return folder
    }

    private static func session(_ name: String) async throws -> (url: String, token: String) {
        let server = try await server()
        let token = try await server.signIn(name)["accessToken"]?.string ?? ""
        return ("http://localhost:\(server.client.port)/graphql", token)
    }

    /// Its WebSocket transport finds `Sec-WebSocket-Protocol` only in this spelling.
    @Test func gqlReceivesEvents() async throws {
        let python = try await PythonEnvironment.clients()
        let (url, token) = try await Self.session("gql")
        let outcome = try await python.run(
            "python", ["gql_client.py", url, token], in: try Self.copyClients())
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output == "CREATED Shelf\n")
    }

    @Test func ariadneCodegenGeneratesAClient() async throws {
        let python = try await PythonEnvironment.clients()
        let (url, token) = try await Self.session("ariadne")
        let folder = try Self.copyClients()
        let schema = try await Self.server().client.send("GET", "/schema.graphql")
        try schema.body.write(
            toFile: "\(folder)/schema.graphql", atomically: true, encoding: .utf8)
        let generated = try await python.run("ariadne-codegen", [], in: folder)
        #expect(generated.code == 0, "\(generated.output)\(generated.errors)")
        let outcome = try await python.run(
            "python", ["ariadne_client.py", url, token], in: folder)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output == "ariadne-codegen 1\n")
    }

    @Test func sgqlcGeneratesTypes() async throws {
        let python = try await PythonEnvironment.clients()
        let (url, token) = try await Self.session("sgqlc")
        let folder = try Self.copyClients()
        for (program, arguments) in [
            ("python", ["-m", "sgqlc.introspection", url, "introspection.json"]),
            ("sgqlc-codegen", ["schema", "introspection.json", "bookplate_schema.py"]),
        ] {
            let outcome = try await python.run(program, arguments, in: folder)
            #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
        }
        let outcome = try await python.run("python", ["sgqlc_client.py", url, token], in: folder)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output == "sgqlc\n")
    }

    /// The program in `docs/how-to/write-a-client.md` runs in Node, with the WebSocket of Debian's package.
    @Test func theTypeScriptProgramOfTheDocsWorks() async throws {
        let (url, token) = try await Self.session("typescript")
        let folder = try Self.copyClients()
        let blocks = try DocumentationBlock.blocks(of: "docs/how-to/write-a-client.md").filter {
            $0.words == ["ts", "run"]
        }
        #expect(blocks.count == 3)
        let program = blocks.map(\.text).joined(separator: "\n")
            .replacing("http://localhost:8080/graphql", with: url)
            .replacing(#"let token = "";"#, with: "let token = process.argv[2];")
        try program.write(toFile: "\(folder)/program.ts", atomically: true, encoding: .utf8)
        let compiled = try await Self.run(
            "/usr/bin/esbuild",
            ["program.ts", "--format=esm", "--outfile=program.mjs", "--log-level=warning"],
            in: folder
        )
        #expect(compiled.code == 0, "\(compiled.errors)")
        #expect(compiled.errors == "")
        let outcome = try await Self.run(
            "/usr/bin/node", ["--require", "./node_globals.cjs", "program.mjs", token], in: folder)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("CREATED Shelf\nclosed 1000"), "\(outcome.output)")
    }

    private static func run(
        _ path: String, _ arguments: [String], in folder: String
    ) async throws -> Program.Outcome {
        let program = try Program(
            name: path, environment: ["PATH": "/usr/bin:/bin"], folder: folder, path: path
        ).start(arguments)
        return try await blocking { try program.wait() }
    }
}
