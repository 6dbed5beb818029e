import FoundationEssentials
import Glibc
import GraphQL
import LoopbackHTTP
import Synchronization
import TestBasics
import TestSupport
import Testing

/// Webhooks with the real server and admin CLI. The reference library for Python verifies the messages.
@Suite struct WebhookJourneyTests {
    private static let allowed = ["BOOKPLATE_FETCH_ALLOW": "127.0.0.1"] as [String: String?]
    private static let page = "docs/how-to/receive-webhooks.md"

    private func json(_ outcome: Program.Outcome, code: Int32 = 0) throws -> Value {
        #expect(outcome.code == code, "\(outcome.errors)")
        return try parseJSON(Array(outcome.output.utf8))
    }

    private func admin(
        _ installation: Installation, _ arguments: String..., code: Int32 = 0
    ) async throws -> Value {
        try json(
            try await installation.admin(["webhook"] + arguments + ["--json"], Self.allowed),
            code: code)
    }

    /// The Python program of the page receives and verifies messages. It prints a line for each.
    private func startReceiver(
        _ installation: Installation, secret: String, port: UInt16
    ) async throws -> RunningProgram {
        let blocks = try DocumentationBlock.blocks(of: Self.page).filter { $0.words == ["python"] }
        #expect(blocks.count == 1)
        let file = try installation.write(blocks.map(\.text).joined(), to: "receiver.py")
        let python = try await PythonEnvironment.webhooks()
        let program = try await Program(
            name: "python",
            environment: ["WEBHOOK_SECRET": secret, "PORT": "\(port)", "PATH": "/usr/bin:/bin"],
            folder: installation.folder, path: "\(python.folder)/bin/python"
        ).startServing([file])
        try await waitUntil("the receiver listens") {
            (try? await HTTPClient(port: Int(port)).send("POST", "/", body: "{}").status) == 400
        }
        return program
    }

    /// Kills the server at random times while a reader changes the library, and the receiver sometimes fails.
    @Test func eachChangeArrivesInOrderAlthoughServersAreKilled() async throws {
        let installation = try await Installation.ready(catalog: [])
        var server = try await installation.startServer(Self.allowed)
        let session = try await server.signIn("ada")
        let user = try #require(session["user", "id"]?.string)
        let token = session["accessToken"]?.string
        let box = Box()
        let receiver = try LoopbackServer { request in
            let count = box.append(request)
            // Long enough for a kill between the response and its record.
            return count % 7 == 3
                ? [.response(500)] : [.pause(milliseconds: 20), .response(204)]
        }
        let added = try await admin(installation, "add", "reader", receiver.url("/hook"))
        let id = try #require(added["id"]?.string)
        let secret = try #require(added["secret"]?.string)
        let before = try await server.client.execute(
            "{ changes(first: 500) { pageInfo { endCursor } } }", token: token)[
                "data", "changes", "pageInfo", "endCursor"]
        let seed = SeededGenerator.testSeed
        print("WebhookJourneyTests: BOOKPLATE_TEST_SEED=\(seed)")
        var random = SeededGenerator(seed)
        for round in 0..<5 {
            for index in 0..<6 {
                let created = try await server.client.execute(
                    #"mutation { createBook(input: {title: "Book \#(round) \#(index)"}) { id } }"#,
                    token: token)
                #expect(created["data", "createBook", "id"] != nil)
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 50...400, using: &random)))
            server.program.send(SIGKILL)
            server = try await installation.startServer(Self.allowed)
        }
        let changes = try await server.client.execute(
            "query($after: String) { changes(after: $after, first: 500) { changes { cursor nodeId } } }",
            ["after": before ?? .null], token: token)
        let expected = changes["data", "changes", "changes"]?.list ?? []
        #expect(expected.count == 30)
        try await waitUntil("all are delivered") {
            // Failed attempts are due again only after seconds.
            try await installation.database.execute(
                "UPDATE webhook_deliveries SET due_at = now() WHERE due_at > now()")
            let all = try await admin(installation, "deliveries", id).list ?? []
            return all.count == 30 && all.allSatisfy { $0["state"] == "delivered" }
        }
        var seen: Set<String> = []
        let first = box.requests.filter { seen.insert($0.headers["webhook-id"] ?? "").inserted }
        let sent = try first.map { request -> [Value?] in
            let data = try parseJSON(Array(request.body.utf8))["data"]
            return [data?["id"], data?["cursor"], data?["userId"]]
        }
        let logged = expected.map { change -> [Value?] in
            [change["nodeId"], change["cursor"], .string(user)]
        }
        #expect(sent == logged)
        #expect(try await verified(box.requests, secret, installation) == box.requests.count)
        _ = try await admin(installation, "remove", id, "--yes")
    }

    /// Returns how many of the requests the reference library accepts.
    private func verified(
        _ requests: [ReceivedRequest], _ secret: String, _ installation: Installation
    ) async throws -> Int {
        var writer = ResponseWriter()
        writer.write(
            .list(
                requests.map { request in
                    .object([
                        .init("body", .string(request.body)),
                        .init(
                            "headers",
                            .object(request.headers.map { .init($0.key, .string($0.value)) })),
                    ])
                }))
        let file = try installation.write(writer.bytes, to: "requests.json")
        let program = """
            import json, sys
            from standardwebhooks.webhooks import Webhook
            webhook = Webhook(sys.argv[2])
            requests = json.load(open(sys.argv[1]))
            for request in requests: webhook.verify(request["body"], request["headers"])
            print(len(requests))
            """
        let outcome = try await PythonEnvironment.webhooks().run(
            "python", ["-c", program, file, secret])
        #expect(outcome.code == 0, "\(outcome.errors)")
        return Int(outcome.output.prefix { $0.isNumber }) ?? -1
    }

    @Test func theReceiversOfTheDocsVerifyMessages() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer(Self.allowed)
        let port = try LoopbackServer.closedPort()
        let added = try await admin(
            installation, "add", "reader", "http://127.0.0.1:\(port)/", "--events",
            "book.*, shelf.*")
        let id = try #require(added["id"]?.string)
        let failed = try await admin(installation, "test", id, code: 2)
        #expect(failed["isDelivered"] == false && failed["status"] == .null)
        #expect(failed["error"] == "the host does not accept connections")

        let receiver = try await startReceiver(
            installation, secret: try #require(added["secret"]?.string), port: port)
        let test = try await admin(installation, "test", id)
        #expect(test["isDelivered"] == true && test["status"] == 204)
        let rotated = try await admin(installation, "rotate-secret", id)
        #expect(rotated["secret"] != added["secret"])
        let token = try await server.signIn("ada")["accessToken"]?.string
        let created = try await server.client.execute(
            #"mutation { createBook(input: {title: "Dune"}) { id } }"#, token: token)
        let book = try #require(created["data", "createBook", "id"]?.string)
        try await waitUntil("the receiver has printed the event") {
            receiver.output.contains("book.created") && receiver.output.contains(book)
        }
        #expect(receiver.output.hasPrefix("webhook.test "))
        try await checkTypeScript(installation, secret: try #require(rotated["secret"]?.string))
    }

    /// The TypeScript function of the page accepts a message, and refuses changed ones.
    private func checkTypeScript(_ installation: Installation, secret: String) async throws {
        let blocks = try DocumentationBlock.blocks(of: Self.page).filter { $0.words == ["ts"] }
        #expect(blocks.count == 1)
        let python = try await PythonEnvironment.webhooks()
        let signed = try await python.run(
            "python",
            [
                "-c",
                """
                import datetime, json, sys
                from standardwebhooks.webhooks import Webhook
                now = datetime.datetime.now(datetime.timezone.utc)
                body = json.dumps({"type": "book.created", "data": {}})
                print(json.dumps({"body": body, "headers": {
                    "webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp())),
                    "webhook-signature": "v1a,x v1,AAAA " + Webhook(sys.argv[1]).sign("msg_1", now, body)}}))
                """, secret,
            ])
        #expect(signed.code == 0, "\(signed.errors)")
        let program =
            blocks.map(\.text).joined() + """

                const { body, headers } = JSON.parse(process.argv[2]);
                const secret = process.argv[3];
                const refuses = (secret: string, changes: object, text: string) => {
                  try {
                    verify(secret, { ...headers, ...changes }, text);
                    return false;
                  } catch {
                    return true;
                  }
                };
                console.log(
                  verify(secret, headers, body).type,
                  refuses(secret, {}, body + " "), refuses("whsec_AAAA", {}, body),
                  refuses(secret, { "webhook-timestamp": "1" }, body),
                  refuses(secret, { "webhook-timestamp": undefined }, body),
                  refuses(secret, { "webhook-signature": undefined }, body),
                  refuses(secret, { "webhook-id": "msg_2" }, body));
                """
        _ = try installation.write(program, to: "verify.ts")
        let compiled = try await run(
            "/usr/bin/esbuild",
            ["verify.ts", "--format=esm", "--outfile=verify.mjs", "--log-level=warning"],
            installation)
        #expect(compiled.code == 0 && compiled.errors == "", "\(compiled.errors)")
        let outcome = try await run(
            "/usr/bin/node", ["verify.mjs", signed.output, secret], installation)
        #expect(
            outcome.output == "book.created true true true true true true\n", "\(outcome.errors)")
    }

    private func run(
        _ path: String, _ arguments: [String], _ installation: Installation
    ) async throws -> Program.Outcome {
        let program = try Program(
            name: path, environment: ["PATH": "/usr/bin:/bin"], folder: installation.folder,
            path: path
        ).start(arguments)
        return try await blocking { try program.wait() }
    }

    @Test(arguments: [
        ["http://127.0.0.1:9/"], ["https://10.0.0.1/"], ["https://a:b@example.com/"], ["x"],
        ["https://hooks.example.com/", "--events", "book.read"],
        ["https://hooks.example.com/", "--events", ""],
    ])
    func unusableWebhooksAreRefused(arguments: [String]) async throws {
        let installation = try await Installation.ready(catalog: [])
        let outcome = try await installation.admin(["webhook", "add", "reader"] + arguments)
        #expect(outcome.code == 1 && outcome.output == "", "\(outcome.output)\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("bookplate-admin: "))
    }

    @Test func productionRequiresHTTPSAndKeys() async throws {
        let installation = try await Installation.ready(catalog: [])
        let production = ["BOOKPLATE_ENV": "production", "BOOKPLATE_FETCH_ALLOW": "127.0.0.1"]
        let keyed = production.merging(["BOOKPLATE_SESSION_KEYS": "keys"]) { $1 }
        let plain = try await installation.admin(
            ["webhook", "add", "reader", "http://127.0.0.1:1/"], keyed)
        #expect(plain.code == 1 && plain.errors.contains("https://"))
        let secure = ["webhook", "add", "reader", "https://127.0.0.1:1/"]
        #expect(try await installation.admin(secure, production).code == 78)
        #expect(try await installation.admin(secure, keyed).code == 78)
        #expect(try await installation.admin(["keys", "rotate"], keyed).code == 0)
        let added = try await installation.admin(secure, keyed)
        #expect(added.code == 0 && added.output.contains("secret: whsec_"), "\(added.errors)")
    }

    @Test func commandsListRetryAndAreAudited() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer(Self.allowed)
        let receiver = try LoopbackServer { request in
            [.response(request.target == "/gone" ? 410 : 500, "\u{1B}[31mbroken\u{7}")]
        }
        let dry = try await admin(
            installation, "add", "reader", receiver.url("/hook"), "--dry-run")
        #expect(dry["secret"] == nil && dry["dryRun"] == true)
        #expect(try await admin(installation, "list") == [])
        let added = try await admin(installation, "add", "reader", receiver.url("/hook"))
        let gone = try await admin(installation, "add", "reader", receiver.url("/gone"))
        let id = try #require(added["id"]?.string)
        let goneID = try #require(gone["id"]?.string)
        let secret = try #require(added["secret"]?.string)

        let test = try await installation.admin(["webhook", "test", id], Self.allowed)
        #expect(test.code == 2 && test.output.contains("not delivered: status 500 in "))
        #expect(test.output.contains("response:  [31mbroken \n"), "\(test.output)")

        let token = try await server.signIn("ada")["accessToken"]?.string
        _ = try await server.client.execute(
            #"mutation { createBook(input: {title: "Dune"}) { id } }"#, token: token)
        try await waitUntil("both were tried") {
            let states = try await admin(installation, "list", "reader").values(of: "state")
            let attempts = try await admin(installation, "deliveries", id).values(of: "attempts")
            return states == ["enabled", "disabled"] && attempts.contains { ($0.int ?? 0) > 0 }
        }
        try await installation.database.execute(
            """
            UPDATE webhook_deliveries SET expires_at = now();
            SELECT prune_webhook_deliveries(100)
            """)
        let dead = try await admin(installation, "deliveries", id, "--dead").list ?? []
        #expect(!dead.isEmpty && dead.allSatisfy { $0["state"] == "dead" })
        let doctor = try json(
            try await installation.admin(["doctor", "--offline", "--json"], Self.allowed))
        #expect(
            doctor["findings"]?.list?.filter { $0["check"] == "webhooks" }.count == 2, "\(doctor)")
        #expect(
            try await admin(installation, "retry", id, "--dead", "--dry-run")["retried"]
                == .int(dead.count))
        #expect(
            try await admin(installation, "retry", id, dead[0]["id"]?.string ?? "")["retried"] == 1)
        #expect(try await admin(installation, "enable", goneID)["state"] == "enabled")
        #expect(try await admin(installation, "remove", id, "--yes")["id"] == .string(id))
        #expect(try await admin(installation, "list").values(of: "id") == [.string(goneID)])
        for arguments in [["test", id], ["deliveries", id], ["enable", id], ["remove", id]] {
            let outcome = try await installation.admin(["webhook"] + arguments)
            #expect(
                outcome.errors
                    == "bookplate-admin: there is no webhook \(id): see bookplate-admin webhook list\n"
            )
        }
        #expect(try await installation.admin("webhook", "remove", "x").code == 64)

        let audit = try await installation.admin(
            "audit", "list", "--kind", "ADMIN_COMMAND", "--json")
        #expect(audit.output.contains(#""webhook","add""#) && audit.output.contains("retry"))
        #expect(!audit.output.contains(secret))
        #expect(!server.program.errors.contains(secret) && !server.program.output.contains(secret))
        let metrics = try await server.client.send("GET", "/metrics").body
        #expect(metrics.contains(#"bookplate_webhooks{state="enabled"} 1"#))
        #expect(metrics.contains(#"bookplate_webhook_attempts_total{outcome="disabled"} 1"#))
    }
}

/// Requests from several threads.
private final class Box: Sendable {
    private let received = Mutex<[ReceivedRequest]>([])

    var requests: [ReceivedRequest] { received.withLock { $0 } }

    /// Returns the number of requests.
    func append(_ request: ReceivedRequest) -> Int {
        received.withLock {
            $0.append(request)
            return $0.count
        }
    }
}
