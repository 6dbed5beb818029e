import Bookplate
import Config
import HTTPFetch
import LoopbackHTTP
import ObjectStorage
import Operations
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import S3Storage

/// A store in a bucket: leases, errors of the service, and its documents.
@Suite struct S3StoreTests {
    private static let app = Shared { try await TestApp.start(catalog: []) }

    private static let name = "0198c0de-0000-7000-8000-000000000001"
    private static let variants: [ObjectVariant: [UInt8]] = [.thumbnail: [1], .full: [2]]

    private func key() throws -> ObjectKey {
        try #require(ObjectKey(.bookCovers, folder: Self.name, name: Self.name))
    }

    private func path() throws -> ObjectPath {
        try #require(ObjectPath(try key(), version: String(repeating: "a", count: 32), .full))
    }

    private func leases() async throws -> DatabaseLeases {
        DatabaseLeases(try await Self.app().pool)
    }

    /// Opens a store whose endpoint is a server of the test.
    private func store(
        _ server: LoopbackServer, options: String = "", timeout: Duration = .seconds(120)
    ) async throws -> any ObjectStore {
        let variables = [
            "BOOKPLATE_STORAGE":
                "s3://covers?region=eu-central-1&endpoint=http://127.0.0.1:\(server.port)\(options)",
            "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_SESSION_TOKEN": "token",
        ]
        return try Configuration(variables).storage.open(
            leases: try await leases(), timeout: timeout)
    }

    private static func error(_ code: String) -> String {
        "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>a &amp; b</Message></Error>"
    }

    // MARK: - Leases

    /// The lease of a server that was killed expires. From then on its objects are orphans.
    @Test func expiredLeasesAreDeadWrites() async throws {
        let app = try await TestApp.start(catalog: [])
        let store = try await S3Server.shared().store(
            prefix: "expired-\(UInt64.random(in: 0...UInt64.max))", leases: DatabaseLeases(app.pool)
        )
        let key = try key()
        _ = try await store.write(
            key, version: String(repeating: "b", count: 32), Self.variants)
        let connection = try AdminConnection(try app.database.url(as: TestCluster.owner))
        let sweep = StorageSweep(store, graceSeconds: 0, isDryRun: false, connection)
        #expect(try await sweep.run() == .init())
        let verification = StorageVerification(store, graceSeconds: 0, connection)
        #expect(try await verification.run().isSound)

        try await app.database.execute("UPDATE object_writes SET expires_at = now()")
        #expect(try await verification.run().deadWrites == 1)
        let summary = try await sweep.run()
        #expect(summary.deadWrites == 1 && summary.orphans == 1 && summary.orphanBytes == 2)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.isEmpty)
        #expect(try await sweep.run() == .init())
        #expect(try await verification.run().isSound)
    }

    // MARK: - Errors

    @Test func wrongSecretIsRefused() async throws {
        let store = try await S3Server.shared().store(
            prefix: "wrong", secret: "wrong", leases: try await leases())
        let error = await #expect(throws: ObjectError.self) { try await store.read(path()) }
        #expect(error?.description.contains("SignatureDoesNotMatch") == true, "\(error as Any)")
    }

    @Test func missingBucketIsNotAMissingObject() async throws {
        let server = try LoopbackServer { _ in [.response(404, Self.error("NoSuchBucket"))] }
        let store = try await store(server)
        let error = await #expect(throws: ObjectError.self) { try await store.read(path()) }
        #expect(error?.description.contains("the bucket does not exist") == true)
    }

    /// Overload and lost connections are repeated, and the signed request has all that the service verifies.
    @Test func passingErrorsAreRepeated() async throws {
        let count = Mutex(0)
        let server = try LoopbackServer { request in
            switch count.withLock({
                $0 += 1
                return $0
            }) {
            case 1: [.response(503, Self.error("SlowDown"))]
            case 2: []
            default: [.response(200, "image")]
            }
        }
        let store = try await store(server)
        #expect(try await store.read(path()) == Array("image".utf8))
        #expect(server.requests.count == 3)
        let request = try #require(server.requests.last)
        #expect(request.target == "/covers/book-covers/\(Self.name)/\(try path().fileName)")
        #expect(request.headers["x-amz-security-token"] == "token")
        let authorization = request.headers["authorization"] ?? ""
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=id/"))
        for header in ["host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"] {
            #expect(authorization.contains(header), "\(authorization)")
        }
    }

    /// All attempts together have the time limit of the operation. A write does not remove its objects then, because that would take
    /// as long again: a sweep does when the lease has expired.
    @Test func hangingServiceIsGivenUp() async throws {
        let server = try LoopbackServer { _ in [.pause(milliseconds: 20_000)] }
        let store = try await store(server, timeout: .milliseconds(300))
        let path = try path()
        let error = await #expect(throws: ObjectError.self) { try await store.read(path) }
        #expect(error?.description == "reading an object: no response in time")
        let version = String(repeating: "f", count: 32)
        await #expect(throws: ObjectError.self) {
            try await store.write(key(), version: version, Self.variants)
        }
        #expect(Set(server.requests.map(\.method)) == ["GET", "PUT"])
        #expect(
            try await Self.app().database.count(
                "SELECT count(*) FROM object_writes WHERE version LIKE '%\(version)'") == 1)
    }

    @Test(arguments: [403, 400])
    func lastingErrorsAreNotRepeated(status: Int) async throws {
        let server = try LoopbackServer { _ in [.response(status, Self.error("AccessDenied"))] }
        let store = try await store(server)
        let error = await #expect(throws: ObjectError.self) { try await store.read(path()) }
        #expect(error?.description.contains("status \(status) (AccessDenied: a & b)") == true)
        #expect(server.requests.count == 1)
    }

    @Test func fullServiceIsAFullStore() async throws {
        let server = try LoopbackServer { request in
            [.response(request.method == "PUT" ? 507 : 200, "<DeleteResult></DeleteResult>")]
        }
        let store = try await store(server)
        let error = await #expect(throws: ObjectError.self) {
            try await store.write(
                key(), version: String(repeating: "c", count: 32), Self.variants)
        }
        #expect(error == .full)
    }

    /// A failed upload leaves neither objects nor a lease.
    @Test func failedWriteIsUndone() async throws {
        let server = try LoopbackServer { request in
            request.method == "PUT" && request.target.contains("thumbnail")
                ? [.response(403, Self.error("AccessDenied"))]
                : [.response(200, "<DeleteResult></DeleteResult>")]
        }
        let app = try await Self.app()
        let store = try await store(server)
        let version = String(repeating: "d", count: 32)
        await #expect(throws: ObjectError.self) {
            try await store.write(key(), version: version, Self.variants)
        }
        let last = try #require(server.requests.last)
        #expect(last.method == "POST" && last.target == "/covers/?delete=")
        #expect(last.headers["content-md5"] != nil)
        #expect(last.body.contains("\(Self.name).\(version).jpg"))
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM object_writes WHERE version LIKE '%\(version)'") == 0)
    }

    /// The service reports objects that were not deleted in a response with status 200.
    @Test func objectsThatAreNotDeletedAreAnError() async throws {
        let server = try LoopbackServer { _ in
            [
                .response(
                    200,
                    "<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code></Error></DeleteResult>"
                )
            ]
        }
        let store = try await store(server)
        let error = await #expect(throws: ObjectError.self) {
            try await store.remove(key(), version: String(repeating: "e", count: 32))
        }
        #expect(error?.description.contains("AccessDenied") == true)
    }

    /// A proxy can respond with a page of its own.
    @Test(arguments: ["", "done", "<html><body>Sign in</body></html>"])
    func unknownResultOfADeletionIsAnError(body: String) async throws {
        let server = try LoopbackServer { _ in [.response(200, body)] }
        let store = try await store(server)
        let error = await #expect(throws: ObjectError.self) {
            try await store.remove(key(), version: String(repeating: "e", count: 32))
        }
        #expect(error?.description.contains("not a result") == true, "\(error as Any)")
    }

    private static func listing(_ name: String, size: String = "1") -> String {
        """
        <ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>\(name)</Key><Size>\(size)</Size>\
        <LastModified>2026-11-23T20:45:00.000Z</LastModified></Contents></ListBucketResult>
        """
    }

    @Test func folderThatIsNotRemovedIsAnError() async throws {
        let server = try LoopbackServer { request in
            [
                .response(
                    200,
                    request.method == "POST"
                        ? "<DeleteResult/>" : Self.listing("book-covers/\(Self.name)/a"))
            ]
        }
        let store = try await store(server)
        let error = await #expect(throws: ObjectError.self) {
            try await store.removeFolder(Self.name, of: .bookCovers)
        }
        #expect(error?.description.contains("did not remove") == true, "\(error as Any)")
    }

    @Test(arguments: ["-1", "9223372036854775807"])
    func impossibleSizesAreAnError(size: String) async throws {
        let server = try LoopbackServer { _ in
            [.response(200, Self.listing("book-covers/a", size: size))]
        }
        let pages = try await store(server).pages(
            of: .bookCovers, after: nil, includesWrites: false)
        await #expect(throws: ObjectError.self) { try await pages.next() }
    }

    /// The last version of a page is left to the next one, whatever the prefix of the store is.
    @Test(arguments: ["", "a.b.c/"])
    func lastVersionOfAPageIsOnOnePage(prefix: String) {
        let names = ["x/1.aa.jpg", "x/1.bb.jpg", "x/1.bb.large.jpg"].map { prefix + $0 }
        var page = S3ListPage(
            entries: names.map { .init(name: $0, byteCount: 1, modifiedAt: 0) }, hasMore: true)
        page.removeIncompleteVersion()
        #expect(page.entries.map(\.name) == [names[0]])
    }

    /// Some servers ignore `start-after`. A sweep must not read their first page for ever.
    @Test func listingThatDoesNotAdvanceIsAnError() async throws {
        let server = try LoopbackServer { _ in
            [
                .response(
                    200,
                    """
                    <ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>book-covers/a</Key>\
                    <Size>1</Size><LastModified>2026-11-23T20:45:00.000Z</LastModified></Contents></ListBucketResult>
                    """)
            ]
        }
        let pages = try await store(server).pages(
            of: .bookCovers, after: nil, includesWrites: false)
        let first = try await pages.next()
        #expect(first?.listing.unknownFiles == ["a"])
        await #expect(throws: ObjectError.self) { try await pages.next() }
    }

    @Test func publicObjectsHaveAPublicURL() async throws {
        let server = try LoopbackServer { _ in [.response(500)] }
        let store = try await store(server, options: "&public=https://cdn.example/covers/")
        guard case .url(let url)? = try await store.open(path()) else {
            Issue.record("no URL")
            return
        }
        #expect(url == "https://cdn.example/covers/book-covers/\(Self.name)/\(try path().fileName)")
        #expect(server.requests.isEmpty)
    }

    // MARK: - Documents

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "<a><b></a></b>", "<a>&nbsp;</a><", "<a><b>&#xD800;</b></a>",
        "<a><b>&lt</b></a>",
        String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
    ])
    func malformedDocumentsAreRefused(text: String) {
        #expect(S3Document(Array(text.utf8)) == nil)
    }

    @Test func documentsAreRead() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <s3:List xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/"><!-- none -->
            <s3:Entry id="1"><Key>a&amp;b&#x41;&#66;</Key><Size>1</Size></s3:Entry>
            <Entry><Key>c</Key><Owner/></Entry></s3:List>
            """
        let document = try #require(S3Document(Array(text.utf8)))
        #expect(
            document.elements("Entry") == [
                ["Key": "a&bAB", "Size": "1"], ["Key": "c", "Owner": ""],
            ])
        #expect(document.text("Size") == "1" && document.text("Name") == nil)
    }

    @Test func timesAreParsed() {
        #expect(unixSeconds(ofISO: "2026-11-23T20:45:00.000Z") == 1_795_466_700)
        #expect(unixSeconds(ofISO: "2026-11-23T20:45:00Z") == 1_795_466_700)
        #expect(unixSeconds(ofHTTPDate: "Mon, 23 Nov 2026 20:45:00 GMT") == 1_795_466_700)
        for text in ["", "2026-11-23", "2026-13-23T20:45:00Z", "2026-11-23T20:45:00+01:00"] {
            #expect(unixSeconds(ofISO: text) == nil)
        }
        #expect(unixSeconds(ofHTTPDate: "Monday, 23-Nov-26 20:45:00 GMT") == nil)
    }
}
