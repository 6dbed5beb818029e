import FoundationEssentials
import GraphQL
import SocketClient
import TestBasics
import TestSupport
import Testing

/// The files of an installation: the units for systemd in `deploy/debian`, and the configuration of nginx in `docs/install.md`.
///
/// `DocsTests` checks the commands of the page, and `scripts/package test` the package.
@Suite struct InstallationPageTests {
    private static func file(_ name: String) throws -> String {
        try #require(
            DocumentationBlock.blocks(of: "docs/install.md").first { $0.words.last == name }
        ).text
    }

    private static func unit(_ name: String) throws -> String {
        let package = name == "bookplate.service" ? "" : "bookplate."
        return try String(
            contentsOfFile: TestCluster.project + "/deploy/debian/\(package)\(name)",
            encoding: .utf8)
    }

    private static let analyzer = "/usr/bin/systemd-analyze"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: analyzer)))
    func systemdAcceptsTheUnits() async throws {
        let folder = try Program.makeFolder()
        var paths: [String] = []
        for name in ["bookplate.service", "bookplate-backup.service", "bookplate-backup.timer"] {
            // The user and the programs do not exist on this machine.
            let unit = try Self.unit(name).replacing("User=bookplate\n", with: "")
                .replacing("/usr/bin/bookplate\n", with: "/bin/true\n")
            let path = "\(folder)/\(name)"
            try unit.write(toFile: path, atomically: false, encoding: .utf8)
            paths.append(path)
        }
        let outcome = try await blocking { [paths] in
            try Program(
                name: "systemd-analyze", environment: ["PATH": "/usr/bin:/bin"], folder: folder,
                path: Self.analyzer
            ).start(["verify", "--man=no"] + paths).wait()
        }
        #expect(outcome.code == 0, "\(outcome.errors)")
        // Unknown settings are warnings, which begin with the path of the unit.
        for line in outcome.errors.split(separator: "\n") {
            #expect(!line.contains("/bookplate"), "\(line)")
        }
    }

    /// The threshold is in tenths of the exposure level, from 0 to 10.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: analyzer)),
        arguments: ["bookplate.service", "bookplate-backup.service"])
    func unitsLimitWhatTheProgramsMayDo(name: String) async throws {
        let folder = try Program.makeFolder()
        try Self.unit(name).write(
            toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        let outcome = try await Program(
            name: "systemd-analyze", environment: ["PATH": "/usr/bin:/bin"], folder: folder,
            path: Self.analyzer
        ).run("security", "--no-pager", "--offline=true", "--threshold=20", "\(folder)/\(name)")
        #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    }

    /// Requests, uploads larger than nginx's default, event streams, and WebSockets pass through nginx.
    @Test func nginxPassesEverythingOn() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            "BOOKPLATE_TRUSTED_PROXIES": "127.0.0.1"
        ])
        let front = HTTPClient(port: try freePort())
        let nginx = try await startNginx(front.port, server.client.port, in: installation)
        try await waitUntil("nginx forwards requests") {
            await (try? front.send("GET", "/"))?.status == 404
        }
        let token = try await server.signIn("ada")["accessToken"]?.string
        let me = try await front.execute("{ me { id } }", token: token)
        #expect(me["data", "me", "id"] != nil, "\(nginx.errors)")
        for path in ["/metrics", "/health/ready"] {
            #expect(try await front.send("GET", path).status == 404)
            #expect(try await server.client.send("GET", path).status == 200)
        }

        let book = try await front.execute(
            #"mutation { createBook(input: {title: "Dune"}) { id } }"#, token: token)
        let upload = try await front.upload(
            [UInt8](repeating: 0, count: 2 << 20),
            operations: HTTPClient.operations(
                "mutation($id: ID!, $image: Upload!) { setCover(id: $id, input: {image: $image}) { id } }",
                ["id": book["data", "createBook", "id"] ?? .null, "image": .null]),
            map: #"{"0":["variables.image"]}"#, token: token)
        // The server has read the file and found that it is not a picture.
        #expect(
            upload.json["errors", 0, "extensions", "code"] == "UNSUPPORTED_IMAGE", "\(upload.body)")

        let query = "subscription { changes { kind } }"
        try await blocking {
            let socket = try SocketClient(port: front.port)
            try socket.initialize(token: token)
            try socket.send(
                #"{"id":"1","type":"subscribe","payload":{"query":"{ __typename }"}}"#)
            #expect(try socket.message().contains(#""__typename":"Query""#))
            let stream = try StreamClient(port: front.port)
            try stream.send(
                "POST", "/graphql",
                headers: [
                    "content-type": "application/json", "accept": "text/event-stream",
                    "authorization": "Bearer \(token ?? "")",
                ], body: HTTPClient.operations(query, .null))
            try stream.receive(until: "text/event-stream")
        }
    }

    /// Starts nginx with the file of the page, for other ports.
    private func startNginx(
        _ port: Int, _ serverPort: Int, in installation: Installation
    ) async throws -> RunningProgram {
        let site = try Self.file("bookplate")
            .replacing("listen 80;", with: "listen 127.0.0.1:\(port);")
            .replacing("    listen [::]:80;\n", with: "")
            .replacing("server 127.0.0.1:8080;", with: "server 127.0.0.1:\(serverPort);")
        let file = try installation.write(
            LoadBalancer.nginxConfiguration(site: site), to: "site.conf")
        return try await Program(
            name: "nginx", environment: ["PATH": "/usr/sbin:/usr/bin:/bin"],
            folder: installation.folder, path: "/usr/sbin/nginx"
        ).startServing(["-p", installation.folder, "-c", file, "-e", "stderr"])
    }
}
