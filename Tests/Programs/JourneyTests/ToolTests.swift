import FoundationEssentials
import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Assistants call trusted documents as tools of the Model Context Protocol.
@Suite struct ToolTests {
    private func json(_ outcome: Program.Outcome) throws -> Value {
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try parseJSON(Array(outcome.output.utf8))
    }

    private static let clients = "\(TestCluster.project)/Tests/Programs/JourneyTests/Clients"

    private static let documents: [(id: String, body: String)] =
        [
            (
                "books",
                "query Books($first: Int! = 20) { me { books(first: $first) { nodes { title } } } }"
            ),
            (
                "add",
                "\"Adds a book to the library.\" mutation AddBook($title: String!) { createBook(input: {title: $title}) { title } }"
            ),
            ("mail", "query Mail { me { email } }"),
            ("out", "mutation Out { signOut { endedSessions } }"),
            ("changes", "subscription Changes { changes { kind } }"),
            ("anonymous", "{ genres { name } }"),
            (
                "import",
                "mutation Send($file: Upload!) { importLibrary(input: {file: $file}) { __typename } }"
            ),
        ]
        + (10...65).map { ("genres\($0)", "query Genres\($0) { genres { name } }") }

    private static func manifest(_ documents: [(id: String, body: String)]) -> String {
        var writer = ResponseWriter()
        writer.write(Value.object(documents.map { .init($0.id, .string($0.body)) }))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// An installation that allows tools, with a signed-in reader.
    private struct World {
        let installation: Installation
        let server: RunningServer
        let session: String

        init(
            _ documents: [(id: String, body: String)] = ToolTests.documents, limits: String? = nil
        ) async throws {
            installation = try await Installation.ready(catalog: [])
            let world = installation
            try await world.run("tenant", "update", "reader", "--mcp", "on")
            let file = try world.write(ToolTests.manifest(documents), to: "manifest.json")
            try await world.run("documents", "sync", file)
            server = try await world.startServer(
                limits.map { ["BOOKPLATE_LIMITS": $0] } ?? [:])
            session = try await server.signIn("ada")["accessToken"]?.string ?? ""
        }

        func token(_ scopes: [String], documents: [String]? = nil) async throws -> String {
            let created = try await server.client.execute(
                """
                mutation($scopes: [AccessScope!]!, $documents: [String!]) {
                  createAccessToken(input: {name: "assistant", scopes: $scopes, documents: $documents}) { secret }
                }
                """,
                [
                    "scopes": .list(scopes.map { .string($0) }),
                    "documents": documents.map { .list($0.map { .string($0) }) } ?? .null,
                ], token: session)
            return try #require(
                created["data", "createAccessToken", "secret"]?.string, "\(created)")
        }

        func call(
            _ method: String, _ params: Value = [:], token: String
        ) async throws -> HTTPClient.Response {
            var writer = ResponseWriter()
            writer.write(["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params])
            return try await server.client.send("POST", "/mcp", token: token, bytes: writer.bytes)
        }

        func toolNames(token: String) async throws -> [String] {
            let response = try await call("tools/list", token: token)
            return response.json["result", "tools"]?.list?.compactMap { $0["name"]?.string } ?? []
        }
    }

    /// Also if the tool does not exist.
    @Test func sizesOfMessagesAreCharged() async throws {
        let world = try await World(limits: "rate=80,time=0")
        // Costs 11 units.
        let token = try await world.token(["LIBRARY_READ"])
        let text = Value.string(String(repeating: "x", count: 900_000))
        let params: Value = ["name": "Missing", "arguments": ["text": text]]
        // 1 unit, and 54 for the size.
        #expect(try await world.call("tools/call", params, token: token).status == 200)
        #expect(try await world.call("ping", params, token: token).status == 429)
        #expect(try await world.call("ping", token: token).status == 200)
    }

    @Test func officialClientListsAndCallsTools() async throws {
        let world = try await World()
        let (reader, writer) = (
            try await world.token(["LIBRARY_READ"]),
            try await world.token(["LIBRARY_WRITE", "ACCOUNT"])
        )
        let python = try await PythonEnvironment.assistants()
        let outcome = try await python.run(
            "python",
            [
                "\(Self.clients)/mcp_client.py", "http://localhost:\(world.server.client.port)/mcp",
                reader, writer,
            ])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let printed = try parseJSON(Array(outcome.output.utf8))
        #expect(printed["auto"] == "2025-11-25")
        #expect(printed["legacy"] == "2025-11-25")
        // The pages are those of all documents that are tools, in the order of their names.
        let genres = (10...65).map { Value.string("Genres\($0)") }
        #expect(
            printed["readerPages"] == [
                .list(["Books"] + genres.prefix(48)), .list(Array(genres.dropFirst(48))),
            ])
        #expect(
            printed["writerPages"] == [
                .list(["AddBook", "Books"] + genres.prefix(48)),
                .list(genres.dropFirst(48) + ["Mail"]),
            ])
        #expect(
            printed["addBook"] == [
                "name": "AddBook", "title": "Add Book",
                "description": "Adds a book to the library.",
                "inputSchema": [
                    "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                    "properties": [
                        "title": ["type": "string", "description": "At most 500 characters."]
                    ], "required": ["title"], "additionalProperties": false,
                ],
                "annotations": ["readOnlyHint": false, "destructiveHint": false],
            ], "\(printed["addBook"] ?? .null)")
        #expect(
            printed["added"] == ["isError": false, "content": ["createBook": ["title": "Emma"]]])
        #expect(
            printed["books", "content"] == ["me": ["books": ["nodes": [["title": "Emma"]]]]])
        let refused = printed["refused", "content", "errors", 0]
        #expect(printed["refused", "isError"] == true)
        #expect(refused?["extensions", "code"] == "FORBIDDEN")
        #expect(refused?["extensions", "missingScopes"] == ["LIBRARY_WRITE"])
        for result in [printed["wrongType"], printed["wrongName"]] {
            #expect(result?["isError"] == true)
            #expect(
                result?["content", "errors", 0, "extensions", "code"] == "BAD_USER_INPUT")
        }
        #expect(
            printed["wrongName", "content", "errors", 0, "message"]
                == "The tool has no argument 'frist'. Its arguments: first.")
        #expect(printed["unknown"]?.string?.contains("There is no tool 'Nothing'.") == true)
    }

    @Test func tokenOfDocumentsCallsOnlyThese() async throws {
        let world = try await World()
        let bound = try await world.token(
            ["LIBRARY_WRITE", "ACCOUNT"], documents: ["books", "mail"])
        #expect(try await world.toolNames(token: bound) == ["Books", "Mail"])
        let other = try await world.call("tools/call", ["name": "AddBook"], token: bound)
        #expect(other.json["error", "message"] == "There is no tool 'AddBook'.")
        let books = try await world.call("tools/call", ["name": "Books"], token: bound)
        #expect(books.json["result", "isError"] == false)
    }

    /// Apps keep the documents of older versions. Assistants get the newest one of each name.
    @Test func toolIsTheDocumentThatWasSynchronizedLast() async throws {
        let world = try await World([("1", "query A { me { id } }")])
        let token = try await world.token(["LIBRARY_READ"])
        let old = try await world.token(["LIBRARY_READ"], documents: ["1"])
        func content(_ token: String) async throws -> Value? {
            try await world.call("tools/call", ["name": "A"], token: token).json[
                "result", "structuredContent", "me"]
        }
        guard case .object(let members)? = try await content(token) else {
            return #expect(Bool(false))
        }
        #expect(members.map(\.name) == ["id"])
        let file = try world.installation.write(
            Self.manifest([("2", "query A { me { __typename } }")]), to: "new.json")
        try await world.installation.run("documents", "sync", file)
        #expect(try await content(token) == ["__typename": "User"])
        #expect(try await world.toolNames(token: token) == ["A"])
        #expect(try await content(old) == .object(members))
    }

    @Test func toolsAreOffByDefaultAndTokensAreChecked() async throws {
        let world = try await World()
        let token = try await world.token(["LIBRARY_READ"])
        for method in ["initialize", "ping", "tools/list", "tools/call"] {
            let response = try await world.call(
                method, ["protocolVersion": "2025-06-18", "name": "Books"], token: token)
            #expect(response.status == 200)
            #expect(response.json["error"] == nil)
        }
        // A session of an app is not a personal access token.
        #expect(try await world.call("ping", token: world.session).status == 401)
        #expect(try await world.call("ping", token: "bp_unknown").status == 401)
        try await world.installation.run("tenant", "update", "reader", "--mcp", "off")
        for method in ["ping", "tools/list", "tools/call"] {
            let response = try await world.call(method, ["name": "Books"], token: token)
            #expect(response.status == 403)
            #expect(response.json["error", "data", "code"] == "FORBIDDEN")
        }
        try await world.installation.run("tenant", "update", "reader", "--mcp", "on")
        let listed = try json(
            try await world.installation.admin("token", "list", "--tenant", "reader", "--json"))
        let id = try #require(listed[0, "id"]?.string)
        let revoked = try await world.installation.admin("token", "revoke", id)
        #expect(revoked.output == "revoked 1 token\n")
        for method in ["ping", "tools/list", "tools/call"] {
            let response = try await world.call(method, ["name": "Nothing"], token: token)
            #expect(response.status == 401)
            #expect(response.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
        }
        let show = try json(
            try await world.installation.admin("tenant", "show", "reader", "--json"))
        #expect(show["mcp"] == true)
    }

    /// Generates an operation with all arguments as variables for each field of the roots. jsonschema accepts the schemas of their
    /// tools and makes arguments from them, and GraphQL accepts the arguments.
    @Test func schemasOfAllInputsDescribeWhatGraphQLAccepts() async throws {
        let schema = try BookplateSchema(sdl: BookplateSchema.text)
        let cache = DocumentCache(
            schema: schema.schema, resolvers: schema.resolvers, limits: .bookplate)
        var documents: [CachedDocument] = []
        var tools: [String] = []
        for (kind, root) in [
            ("query", schema.schema.queryType), ("mutation", schema.schema.mutationType),
        ] {
            // importLibrary requires a file, so it cannot be a tool.
            for field in root?.fieldsType?.fields ?? [] where field.name != "importLibrary" {
                let text = Array(Self.operation(kind, field, in: schema.schema).utf8)
                let document = try await cache.document(text)
                let tool = try #require(await schema.tool(ofDocument: text, limits: .bookplate))
                documents.append(document)
                tools.append(String(decoding: tool.json, as: UTF8.self))
            }
        }
        #expect(tools.count > 50)
        let folder = try Program.makeFolder()
        try "[\(tools.joined(separator: ","))]".write(
            toFile: "\(folder)/tools.json", atomically: true, encoding: .utf8)
        let outcome = try await PythonEnvironment.assistants().run(
            "python", ["\(Self.clients)/tool_samples.py", "\(folder)/tools.json"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let samples = outcome.output.split(separator: "\n")
        try #require(samples.count == 2 * documents.count)
        for (index, sample) in samples.enumerated() {
            let variables = try parseJSON(Array(sample.utf8))
            do throws(RequestErrors) {
                _ = try await documents[index / 2].plan(operationName: nil, variables: variables)
            } catch {
                Issue.record("\(sample): \(error.errors.map(\.message))")
            }
        }
    }

    private static func operation(
        _ kind: String, _ field: FieldDefinition, in schema: Schema
    ) -> String {
        func list(_ entries: [String]) -> String {
            entries.isEmpty ? "" : "(\(entries.joined(separator: ", ")))"
        }
        let arguments = field.arguments
        let variables = list(arguments.map { "$\($0.name): \(printed($0.type))" })
        let values = list(arguments.map { "\($0.name): $\($0.name)" })
        let isLeaf = schema.type(named: field.namedType)?.isLeaf == true
        return
            "\(kind) All_\(field.name)\(variables) { \(field.name)\(values)\(isLeaf ? "" : " { __typename }") }"
    }

    private static func printed(_ type: TypeReference) -> String {
        switch type {
        case .named(let name): name.value
        case .list(let item, _): "[\(printed(item))]"
        case .nonNull(let inner, _): printed(inner) + "!"
        }
    }
}

extension Installation {
    /// Runs an admin command that must succeed.
    fileprivate func run(_ arguments: String...) async throws {
        let outcome = try await admin(arguments)
        guard outcome.code == 0 else { throw Program.Failure(description: outcome.errors) }
    }
}
