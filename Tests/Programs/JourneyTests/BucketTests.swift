import Config
import Glibc
import GraphQL
import ObjectStorage
import S3Storage
import TestSupport
import Testing

/// A server whose covers are in a bucket, and the commands of its operator.
@Suite struct BucketTests {
    private struct Fixture {
        let installation: Installation
        let server: RunningServer
        let variables: [String: String]
        let token: String
        let user: String
        let book: String

        var path: String { "/book-covers/\(user)/\(book).jpg" }

        init(_ bucket: S3Server, options: String = "") async throws {
            installation = try await Installation.ready(catalog: [])
            variables = bucket.variables(
                prefix: "journey-\(UInt64.random(in: 0...UInt64.max))", options: options)
            server = try await installation.startServer(variables)
            let session = try await server.signIn("ada")
            token = try #require(session["accessToken"]?.string)
            user = try #require(session["user", "id"]?.string)
            let created = try await server.client.execute(
                #"mutation { createBook(input: {title: "Dune"}) { id } }"#, token: token)
            book = try #require(created["data", "createBook", "id"]?.string)
        }

        func put(_ seed: UInt64) async throws -> HTTPClient.Response {
            try await server.client.send(
                "PUT", path, token: token,
                bytes: TestImage.png(width: 700, height: 1000, seed: seed))
        }

        /// Runs a command and returns its JSON document.
        func admin(
            _ arguments: String..., code: Int32 = 0
        ) async throws -> Value {
            let outcome = try await installation.admin(arguments + ["--json"], variables)
            #expect(outcome.code == code, "\(arguments): \(outcome.output) \(outcome.errors)")
            return (try? parseJSON(Array(outcome.output.utf8))) ?? .null
        }
    }

    /// The path and query of a URL that the server returned.
    private func target(_ url: String?) throws -> String {
        let url = try #require(url)
        let start = try #require(url.firstRange(of: "://")?.upperBound)
        return String(url[start...].drop { $0 != "/" })
    }

    @Test func coversAreStoredServedAndRemoved() async throws {
        let fixture = try await Fixture(try await S3Server.shared())
        let client = fixture.server.client
        let first = try await fixture.put(1)
        #expect(first.status == 201, "\(first.body)")
        let firstURL = try target(first.headers["location"])
        let image = try await client.send("GET", firstURL)
        #expect(image.status == 200 && image.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(image.headers["cache-control"] == "public, max-age=31536000, immutable")
        #expect(image.headers["content-type"] == "image/jpeg")
        let etag = try #require(image.headers["etag"])
        let unchanged = try await client.send("GET", firstURL, headers: ["if-none-match": etag])
        #expect(unchanged.status == 304)
        let part = try await client.send("GET", firstURL, headers: ["range": "bytes=2-5"])
        #expect(part.status == 206 && part.bytes == Array(image.bytes[2...5]))
        let current = try await client.send("GET", fixture.path + "?size=thumbnail")
        #expect(current.status == 200 && current.bytes.count < image.bytes.count)
        #expect(current.headers["cache-control"]?.contains("max-age=300") == true)

        let second = try await fixture.put(2)
        #expect(second.status == 200)
        #expect(try await client.send("GET", firstURL).status == 404)
        #expect(try await client.send("GET", target(second.headers["location"])).status == 200)

        let metrics = try await client.send("GET", "/metrics").body
        for method in ["GET", "PUT"] {
            let name = "bookplate_bucket_request_duration_seconds_count"
            let line = metrics.split(separator: "\n").first {
                $0.hasPrefix("\(name){method=\"\(method)\"} ")
            }
            #expect(line?.hasSuffix(" 0") == false, "\(method)")
        }
        #expect(metrics.contains("\nbookplate_bucket_errors_total "))

        let card = try await client.execute(
            #"mutation { createBook(input: {title: "Emma"}) { image { url } } }"#,
            token: fixture.token)
        let cardURL = try target(card["data", "createBook", "image", "url"]?.string)
        #expect(cardURL.hasPrefix("/title-cards/"))
        #expect(try await client.send("GET", cardURL).bytes.starts(with: [0xFF, 0xD8, 0xFF]))

        let verified = try await fixture.admin("storage", "verify", "--grace", "0")
        #expect(verified["isSound"] == true && verified["covers"] == 1)
        let usage = try await fixture.admin("storage", "usage")
        #expect(usage["users", 0, "bytes"] == verified["bytes"], "\(usage)")
        let swept = try await fixture.admin("storage", "gc", "--grace", "0")
        #expect(swept["orphans"] == 0 && swept["titleCards"] == 0, "\(swept)")
        let exported = try await fixture.admin(
            "account", "export", fixture.user, "--to", "ada.zip")
        #expect((exported["bytes"]?.int ?? 0) > 10_000, "\(exported)")
        let checked = try await fixture.installation.admin(
            ["doctor", "--json"], fixture.variables)
        let findings = try parseJSON(Array(checked.output.utf8))["findings"]?.list ?? []
        let storage = try #require(findings.first { $0["check"] == "storage" })
        #expect(storage["state"] == "ok", "\(storage)")

        #expect(
            try await client.send("DELETE", fixture.path, token: fixture.token).status == 204)
        #expect(try await client.send("GET", fixture.path).status == 404)
        let empty = try await fixture.admin("storage", "verify", "--grace", "0")
        #expect(empty["isSound"] == true && empty["covers"] == 0)
        #expect(
            try await fixture.installation.database.count("SELECT count(*) FROM object_writes")
                == 0)
    }

    /// Covers come from the public URL of the bucket. The server redirects URLs without a version, and title cards, which it
    /// has to draw.
    @Test func publicBucketServesItsObjects() async throws {
        let bucket = try await S3Server(.public)
        let fixture = try await Fixture(bucket, options: "&public=\(bucket.url)")
        let files = HTTPClient(port: try #require(Int(bucket.port)))
        let url = try #require(try await fixture.put(3).headers["location"])
        #expect(url.hasPrefix("\(bucket.url)/journey-"), "\(url)")
        let image = try await files.send("GET", try target(url))
        #expect(image.status == 200 && image.headers["content-type"] == "image/jpeg")
        #expect(image.headers["cache-control"] == "public, max-age=31536000, immutable")

        let response = try await fixture.server.client.execute(
            """
            query($id: ID!) { book(id: $id) { image { \
            thumbnail: url(size: THUMBNAIL) full: url large: url(size: LARGE) } } }
            """, ["id": .string(fixture.book)], token: fixture.token)
        for size in ["thumbnail", "full", "large"] {
            let url = try target(response["data", "book", "image", .name(size)]?.string)
            #expect(try await files.send("GET", url).status == 200, "\(size): \(response)")
        }
        #expect(response["data", "book", "image", "full"]?.string == url)

        let moved = try await fixture.server.client.send("GET", fixture.path)
        #expect(moved.status == 302 && moved.headers["location"] == url)
        #expect(moved.headers["cache-control"]?.contains("max-age=300") == true)
        let card = try await fixture.server.client.execute(
            #"mutation { createBook(input: {title: "Emma"}) { image { url } } }"#,
            token: fixture.token)
        let drawn = try await fixture.server.client.send(
            "GET", try target(card["data", "createBook", "image", "url"]?.string))
        #expect(drawn.status == 302)
        let shown = try await files.send("GET", try target(drawn.headers["location"]))
        #expect(shown.status == 200 && shown.bytes.starts(with: [0xFF, 0xD8, 0xFF]))

        let checked = try await fixture.installation.admin(
            ["doctor", "--json"], fixture.variables)
        let findings = try parseJSON(Array(checked.output.utf8))["findings"]?.list ?? []
        #expect(findings.first { $0["check"] == "storage" }?["state"] == "ok", "\(findings)")
    }

    /// An operator moves the covers from a folder to a bucket and back, while servers run.
    @Test func coversAreCopiedToABucketAndBack() async throws {
        let bucket = try await S3Server.shared()
        let fixture = try await Fixture(bucket)
        let location = try #require(fixture.variables["BOOKPLATE_STORAGE"])
        #expect(try await fixture.put(4).status == 201)

        let tried = try await fixture.admin(
            "storage", "copy", "--from", location, "--to", "file:objects", "--dry-run")
        #expect(tried["copied"] == 1 && tried["dryRun"] == true, "\(tried)")
        let copied = try await fixture.admin(
            "storage", "copy", "--from", location, "--to", "file:objects")
        #expect(copied["copied"] == 1 && copied["versions"] == 1, "\(copied)")
        // The cover is replaced before the servers are restarted, so the second copy has something to do.
        #expect(try await fixture.put(5).status == 200)
        let rest = try await fixture.admin(
            "storage", "copy", "--from", location, "--to", "file:objects", "--restart")
        #expect(rest["copied"] == 1, "\(rest)")
        let again = try await fixture.admin(
            "storage", "copy", "--from", location, "--to", "file:objects")
        #expect(again["copied"] == 0 && again["versions"] == 1, "\(again)")

        let moved = try await fixture.installation.startServer([
            "BOOKPLATE_STORAGE": "file:objects"
        ])
        let image = try await moved.client.send("GET", fixture.path)
        #expect(image.status == 200)
        // The version that was replaced after the first copy is an orphan of the folder.
        let swept = try await fixture.installation.admin(
            ["storage", "gc", "--grace", "0", "--json"], ["BOOKPLATE_STORAGE": "file:objects"])
        #expect(try parseJSON(Array(swept.output.utf8))["orphans"] == 1, "\(swept)")
        let verified = try await fixture.installation.admin(
            ["storage", "verify", "--grace", "0", "--json"],
            ["BOOKPLATE_STORAGE": "file:objects"])
        #expect(verified.code == 0, "\(verified)")

        let target = bucket.variables(prefix: "back-\(UInt64.random(in: 0...UInt64.max))")
        let back = try await fixture.admin(
            "storage", "copy", "--from", "file:objects", "--to",
            target["BOOKPLATE_STORAGE"] ?? "")
        #expect(back["copied"] == 1, "\(back)")
        let returned = try await fixture.installation.startServer(target)
        #expect(try await returned.client.send("GET", fixture.path).bytes == image.bytes)
        let sound = try await fixture.installation.admin(
            ["storage", "verify", "--grace", "0"], target)
        #expect(sound.code == 0, "\(sound)")
    }

    /// Errors name the option or the variable, and what to do.
    @Test func unusableBucketsAreReported() async throws {
        let bucket = try await S3Server.shared()
        let installation = try await Installation.ready(catalog: [])
        var variables = bucket.variables(prefix: "wrong", secret: "wrong")
        let checked = try await installation.admin(["doctor", "--json"], variables)
        let findings = try parseJSON(Array(checked.output.utf8))["findings"]?.list ?? []
        let storage = try #require(findings.first { $0["check"] == "storage" })
        #expect(storage["state"] == "wrong")
        #expect(storage["message"]?.string?.contains("SignatureDoesNotMatch") == true)
        let same = try await installation.admin(
            ["storage", "copy", "--from", "file:a", "--to", "file:a"], variables)
        #expect(same.code == 64, "\(same)")
        variables["AWS_SECRET_ACCESS_KEY"] = nil
        let outcome = try await installation.serverOutcome(variables)
        #expect(outcome.code == 78)
        #expect(outcome.errors.contains("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"))
    }
}
