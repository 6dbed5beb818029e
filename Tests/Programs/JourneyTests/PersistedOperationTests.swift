import GraphQL
import TestSupport
import Testing

/// Persisted queries (by hash) and trusted documents (by id).
@Suite struct PersistedOperationTests {
    private static let text = "{ __typename }"
    /// The SHA-256 of `text`.
    private static let hash = "7f56e67dd21ab3f30d1ff8b7bed08893f0a0db86449836189b361dd1e56ddb4b"
    private static let manifest = """
        {"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
          {"id": "typename", "name": null, "type": "query", "body": "{ __typename }"},
          {"id": "genres", "name": "Genres", "type": "query", "body": "query Genres { genres { name } }"}]}
        """

    private static func extensions(_ hash: String, version: Int = 1) -> String {
        #""extensions":{"persistedQuery":{"version":\#(version),"sha256Hash":"\#(hash)"}}"#
    }

    private static func post(_ body: String, _ server: RunningServer) async throws
        -> HTTPClient.Response
    {
        try await server.client.send(
            "POST", "/graphql", body: body,
            headers: ["accept": "application/graphql-response+json"])
    }

    @Test func sendingTheTextRegistersItsHash() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let named = "{\(Self.extensions(Self.hash))}"
        let miss = try await Self.post(named, server)
        #expect(miss.status == 400)
        #expect(miss.json["errors", 0, "message"] == "PersistedQueryNotFound")
        #expect(miss.json["errors", 0, "extensions", "code"] == "PERSISTED_QUERY_NOT_FOUND")
        #expect(miss.json["data"] == nil)

        let both = #"{"query":"\#(Self.text)",\#(Self.extensions(Self.hash))}"#
        #expect(try await Self.post(both, server).json["data", "__typename"] == "Query")
        for hash in [Self.hash, Self.hash.uppercased()] {
            let hit = try await Self.post("{\(Self.extensions(hash))}", server)
            #expect(hit.json["data", "__typename"] == "Query", "\(hit.body)")
        }
        // Another server knows it, too.
        let other = try await installation.startServer()
        let elsewhere = try await Self.post(named, other)
        #expect(elsewhere.json["data", "__typename"] == "Query", "\(elsewhere.body)")

        let query =
            "/graphql?extensions=%7B%22persistedQuery%22:%7B%22version%22:1,%22sha256Hash%22:%22"
            + Self.hash + "%22%7D%7D"
        let cached = try await server.client.send("GET", query)
        #expect(cached.json["data", "__typename"] == "Query")
        #expect(cached.headers["cache-control"] == "public, max-age=60")
        // Responses to authenticated requests, and to requests with a document text, are not cached.
        let personal = try await server.client.send("GET", query, token: "some token")
        #expect(personal.headers["cache-control"] == "no-store")
        let unnamed = try await server.client.send(
            "GET", "/graphql?query=%7B%20__typename%20%7D")
        #expect(unnamed.headers["cache-control"] == "no-store")
    }

    @Test(arguments: [
        (#"{"query":"{ a }",\#(extensions(hash))}"#, "is not the SHA-256 hash of `query`"),
        ("{\(extensions("abc"))}", "64 hexadecimal digits"),
        ("{\(extensions(hash, version: 2))}", "Only version 1"),
        (#"{"extensions":{"persistedQuery":7}}"#, "Only version 1"),
        (#"{"documentId":"x","query":"{ __typename }"}"#, "not both"),
    ])
    func contradictoryRequestsAreRefused(body: String, message: String) async throws {
        let response = try await Self.post(body, try await Self.open())
        #expect(response.status == 400)
        #expect(response.json["errors", 0, "message"]?.string?.contains(message) == true)
        #expect(response.json["errors", 0, "extensions", "code"] == "BAD_USER_INPUT")
    }

    private static let open = Shared { try await Installation.ready(catalog: []).startServer() }

    /// A response without `data` has a 4xx status as `application/graphql-response+json`, but status 200 as
    /// `application/json`, which Apollo's clients prefer.
    @Test(
        arguments: [
            (nil, 200), ("application/json", 200), ("*/*", 200),
            ("multipart/mixed;deferSpec=20220824,application/json", 200),
            ("application/json, application/graphql-response+json", 200),
            ("application/graphql-response+json", 400),
            ("application/graphql-response+json, application/json;q=0.9", 400),
        ] as [(String?, Int)])
    func unknownHashesHaveTheStatusOfTheMediaType(accept: String?, status: Int) async throws {
        let client = try await Self.open().client
        let hash = String(repeating: "0", count: 64)
        for body in ["{\(Self.extensions(hash))}", #"{"documentId":"unknown"}"#] {
            let response = try await client.send(
                "POST", "/graphql", body: body, headers: ["accept": accept])
            #expect(response.status == status)
            #expect(
                response.headers["content-type"]?.contains("graphql-response") == (status == 400))
            #expect(response.json["errors", 0, "message"] == "PersistedQueryNotFound")
            #expect(response.json["errors"]?.list?.count == 1)
            #expect(response.json["data"] == nil)
        }
        let get = try await client.send(
            "GET", "/graphql?documentId=unknown", headers: ["accept": accept])
        #expect(get.status == status)
        #expect(get.headers["cache-control"] == "no-store")
    }

    @Test func registeredHashesAreValidDocumentIDs() async throws {
        let server = try await Self.open()
        let text = "{ registered: __typename }"
        let hash = "233d79d6701dce75c9775a420408e305215ac63a193f2c2aee07f625ecf3bf79"
        let both = #"{"query":"\#(text)",\#(Self.extensions(hash))}"#
        #expect(try await Self.post(both, server).json["data", "registered"] == "Query")
        for id in [hash, "sha256:\(hash)", "sha256:\(hash.uppercased())"] {
            let response = try await Self.post(#"{"documentId":"\#(id)"}"#, server)
            #expect(response.json["data", "registered"] == "Query", "\(response.body)")
        }
        for id in ["sha1:\(hash)", "sha256:\(hash)0", "sha256:", "SHA256:\(hash)"] {
            let response = try await Self.post(#"{"documentId":"\#(id)"}"#, server)
            #expect(response.json["errors", 0, "message"] == "PersistedQueryNotFound")
        }
    }

    @Test func invalidDocumentsAreNotRegistered() async throws {
        let server = try await Self.open()
        let extensions = Self.extensions(
            "919c0b7aa452b0b2fb42688461501bb8b0c3ef3b9d05ce7b9afd4f28bbe96ceb")
        let wrong = try await Self.post(#"{"query":"{ nothing }",\#(extensions)}"#, server)
        #expect(wrong.json["errors", 0, "extensions", "code"] == "GRAPHQL_VALIDATION_FAILED")
        let named = try await Self.post("{\(extensions)}", server)
        #expect(named.json["errors", 0, "message"] == "PersistedQueryNotFound")
    }

    @Test func trustedDocumentsAreLoadedListedAndPruned() async throws {
        let installation = try await Installation.ready(catalog: [])
        func admin(_ arguments: String...) async throws -> (code: Int32?, json: Value) {
            let outcome = try await installation.admin(["documents"] + arguments + ["--json"])
            return (outcome.code, (try? parseJSON(Array(outcome.output.utf8))) ?? .null)
        }
        let file = try installation.write(Self.manifest, to: "manifest.json")
        #expect(try await admin("sync", file, "--dry-run").json["created"] == 2)
        #expect(try await admin("list").json == [])
        let first = try await admin("sync", file)
        #expect(first.code == 0 && first.json["created"] == 2)
        #expect(try await admin("sync", file).json["unchanged"] == 2)
        let changed = try installation.write(
            #"{"genres": "query Genres { all: genres { name } }", "more": "{ me { id } }"}"#,
            to: "relay.json")
        let second = try await admin("sync", changed).json
        #expect(second["created"] == 1 && second["updated"] == 1)
        let list = try await admin("list").json
        #expect(list.list?.map { $0["id"] } == ["genres", "more", "typename"])
        #expect(list[0, "name"] == "Genres" && list[0, "type"] == "query")
        #expect(list[2, "sha256"] == .string(Self.hash))

        let bad = try installation.write(#"{"x": "{ nothing }", "y": "{ __typename }"}"#, to: "bad")
        #expect(try await admin("sync", bad).code == 2)
        #expect(try await admin("list").json.list?.count == 3)

        #expect(try await admin("prune").code == 64)
        #expect(try await admin("prune", "--yes").json["pruned"] == [])
        try await installation.database.execute(
            "UPDATE documents SET synced_at = now() - interval '200 days' WHERE id = 'more'")
        #expect(try await admin("prune", "--dry-run").json["pruned"] == ["more"])
        #expect(try await admin("prune", "--yes").json["pruned"] == ["more"])
        #expect(try await admin("list").json.list?.count == 2)
    }

    @Test func onlyKnownDocumentsRunInOnlyKnownMode() async throws {
        let installation = try await Installation.ready(catalog: [])
        let file = try installation.write(Self.manifest, to: "manifest.json")
        #expect(try await installation.admin("documents", "sync", file).code == 0)
        let server = try await installation.startServer(["BOOKPLATE_DOCUMENTS": "only-known"])
        for body in [
            #"{"documentId":"typename"}"#, #"{"query":"{ __typename }"}"#,
            #"{"documentId":"\#(Self.hash)"}"#, #"{"documentId":"sha256:\#(Self.hash)"}"#,
            "{\(Self.extensions(Self.hash))}",
            #"{"query":"{ __typename }",\#(Self.extensions(Self.hash))}"#,
        ] {
            let response = try await Self.post(body, server)
            #expect(response.json["data", "__typename"] == "Query", "\(response.body)")
        }
        let unknown = try await Self.post(#"{"documentId":"other"}"#, server)
        #expect(unknown.status == 400)
        #expect(unknown.json["errors", 0, "extensions", "code"] == "PERSISTED_QUERY_NOT_FOUND")
        let refused = try await Self.post(#"{"query":"{ t: __typename }"}"#, server)
        #expect(refused.status == 400)
        #expect(refused.json["errors", 0, "extensions", "code"] == "FORBIDDEN")
    }

    /// Some tools use `sha256:` and the hash as the id in the manifest. An exact match of the id takes precedence over
    /// the hash of a document, because the tool may have computed the hash before it formatted the text.
    @Test func manifestIDsMayHaveTheSHA256Prefix() async throws {
        let installation = try await Installation.ready(catalog: [])
        let other = String(repeating: "a", count: 64)
        let manifest = """
            {"sha256:\(Self.hash)": "{ a: __typename }", "\(other)": "{ b: __typename }",
             "typename": "{ __typename }"}
            """
        let file = try installation.write(manifest, to: "manifest.json")
        #expect(try await installation.admin("documents", "sync", file).code == 0)
        let server = try await installation.startServer()
        for (id, name) in [
            ("sha256:\(Self.hash)", "a"), (Self.hash, "__typename"), (other, "b"),
            ("sha256:\(other)", "b"),
        ] {
            let response = try await Self.post(#"{"documentId":"\#(id)"}"#, server)
            #expect(response.json["data"] == .object([.init(name, "Query")]), "\(id)")
        }
    }

    @Test func unknownDocumentsAreLoggedInLoggedMode() async throws {
        let installation = try await Installation.ready(catalog: [])
        let file = try installation.write(Self.manifest, to: "manifest.json")
        #expect(try await installation.admin("documents", "sync", file).code == 0)
        let server = try await installation.startServer(["BOOKPLATE_DOCUMENTS": "logged"])
        _ = try await Self.post(#"{"query":"{ __typename }"}"#, server)
        let other = try await Self.post(#"{"query":"query Other { t: __typename }"}"#, server)
        #expect(other.json["data", "t"] == "Query")
        let log = server.program.errors + server.program.output
        let lines = log.split(separator: "\n").filter {
            $0.contains("executed a document that is not trusted")
        }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("Other") == true)
    }

    @Test func batchesAreAcceptedOnlyIfEnabled() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer(["BOOKPLATE_LIMITS": "batch=2"])
        let response = try await server.client.send(
            "POST", "/graphql", body: #"[{"query":"{ __typename }"},{"query":"{ nothing }"}]"#)
        #expect(response.status == 200)
        #expect(response.json[0, "data", "__typename"] == "Query")
        #expect(response.json[1, "errors", 0, "extensions", "code"] == "GRAPHQL_VALIDATION_FAILED")
        let off = try await Self.open().client.send(
            "POST", "/graphql", body: #"[{"query":"{ __typename }"}]"#)
        #expect(off.status == 400)
    }
}
