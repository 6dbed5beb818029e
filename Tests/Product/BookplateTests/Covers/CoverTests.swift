import Basics
import GraphQL
import GraphQLServing
import LoopbackHTTP
import ObjectStorage
import TestSupport
import Testing

@testable import Bookplate

/// Tests the cover mutations with real images, a real store, and a real database.
@Suite struct CoverTests {
    static let app = Shared { try await TestApp.start() }

    private static let set = """
        mutation($book: ID!, $image: Upload!) {
          setCover(id: $book, input: {image: $image}) {
            coverStatus image {
              url small: url(size: THUMBNAIL) width height dominantColor blurHash source updatedAt
            }
          }
        }
        """

    /// Returns the files of a reader's covers in the store.
    private func files(_ reader: TestReader) async throws -> [ObjectPath] {
        try await reader.app.services.covers.store.list(reader.id.string ?? "", of: .bookCovers)
            .objects
            .map(\.path)
    }

    private func version(_ url: Value?) -> Substring? {
        url?.string?.split(separator: "v=").last
    }

    @Test func uploadBecomesTheCover() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Dune")
        let response = try await reader.setCover(Self.set, book, TestImage.png())
        let changed = try #require(response["setCover"])
        #expect(changed["coverStatus"] == "READY")
        #expect(changed["image", "source"] == "MANUAL_UPLOAD")
        #expect(changed["image", "width"] == 60 && changed["image", "height"] == 90)
        let url = try #require(changed["image", "url"]?.string)
        let base =
            "http://covers.test/book-covers/\(reader.id.string ?? "")/\(book.string ?? "").jpg"
        #expect(url.hasPrefix(base + "?v="))
        #expect(changed["image", "small"]?.string?.hasPrefix(base + "?size=thumbnail&v=") == true)
        let files = try await files(reader)
        #expect(Set(files.map(\.variant)) == Set(ObjectVariant.allCases))
        #expect(files.allSatisfy { $0.version == version(changed["image", "url"]) ?? "" })
        #expect(
            try await reader.requireValue(
                "query($book: ID!) { book(id: $book) { image { url } coverStatus } }",
                ["book": book],
                "book") == ["image": ["url": .string(url)], "coverStatus": "READY"])
    }

    /// Repeating a mutation has no effect. Another image replaces the first one and its files.
    @Test func sameImageKeepsItsURL() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Dune")
        let first = try await reader.setCover(Self.set, book, TestImage.png(seed: 1))
        let again = try await reader.setCover(Self.set, book, TestImage.png(seed: 1))
        #expect(first.json == again.json)
        let second = try await reader.setCover(Self.set, book, TestImage.png(seed: 2))
        #expect(second["setCover", "image", "url"] != first["setCover", "image", "url"])
        let files = try await files(reader)
        #expect(files.count == 3)
        #expect(
            files.allSatisfy { $0.version == version(second["setCover", "image", "url"]) ?? "" })
    }

    @Test func invalidImageChangesNothing() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Dune")
        let before = try await reader.setCover(Self.set, book, TestImage.png())
        for bytes in [[], Array("<svg/>".utf8), TestImage.png(width: 15, height: 90)] {
            let response = try await reader.setCover(Self.set, book, bytes)
            #expect(response.code == "UNSUPPORTED_IMAGE", "\(response.json)")
        }
        #expect(
            try await reader.requireValue(
                "query($book: ID!) { book(id: $book) { image { url } } }", ["book": book], "book")
                == ["image": ["url": before["setCover", "image", "url"] ?? .null]])
    }

    @Test func uploadMustReferToAFile() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Dune")
        for image in ["upload:0", "upload:-1", "upload:7"] as [Value] {
            let response = try await reader.execute(Self.set, ["book": book, "image": image])
            #expect(response.code == "BAD_USER_INPUT", "\(response.json)")
            #expect(response.field == "image")
        }
        let response = try await reader.execute(Self.set, ["book": book, "image": "x"])
        #expect(response.isRequestError)
    }

    @Test func imageAtAURLBecomesTheCover() async throws {
        let png = TestImage.png(seed: 3)
        let server = try LoopbackServer { request in
            switch request.target {
            case "/cover":
                [.send("HTTP/1.1 200 OK\r\nContent-Length: \(png.count)\r\n\r\n"), .bytes(png)]
            case "/page": [.response(200, "<html>")]
            default: [.response(404)]
            }
        }
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Dune")
        func set(_ url: String) async throws -> TestResponse {
            try await reader.execute(
                """
                mutation($book: ID!, $url: URI!) {
                  setCover(id: $book, input: {url: $url}) { image { source width } }
                }
                """, ["book": book, "url": .string(url)])
        }
        #expect(
            try await set(server.url("/cover"))["setCover", "image"] == [
                "source": "URL", "width": 60,
            ])
        #expect(try await set(server.url("/page")).code == "UNSUPPORTED_IMAGE")
        #expect(try await set(server.url("/nothing")).code == "UPSTREAM_UNAVAILABLE")
        for url in [
            "file:///etc/passwd", "http://169.254.169.254/", "http://[::1]/", "x", "gopher://a/",
            "http://user:pass@127.0.0.1/",
        ] {
            let response = try await set(url)
            #expect(response.code == "BAD_USER_INPUT", "\(url): \(response.json)")
        }
        // The errors of hosts do not reveal which names exist in the operator's network.
        let ofPrivateHost = try await set("http://169.254.169.254/").errors
        #expect(try await set("http://nowhere.invalid/").errors == ofPrivateHost)
    }

    @Test func removeCoverDeletesTheFiles() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Dune")
        let url = try await reader.setCover(Self.set, book, TestImage.png())[
            "setCover", "image", "url"]
        for _ in 0..<2 {
            let removed = try await reader.requireValue(
                """
                mutation($book: ID!) {
                  removeCover(id: $book) { coverStatus image { url source } }
                }
                """, ["book": book], "removeCover")
            #expect(removed["coverStatus"] == "NO_COVER")
            #expect(removed["image", "source"] == .null)
            #expect(removed["image", "url"] != url)
            #expect(removed["image", "url"]?.string?.contains("/title-cards/") == true)
        }
        #expect(try await files(reader).isEmpty)
    }

    /// The files of deleted books stay until the books can no longer be restored (`DeletedCoverTests`).
    @Test(arguments: [("book", 3), ("shelf", 3), ("account", 0)])
    func onlyTheDeletionOfTheAccountRemovesTheFiles(what: String, fileCount: Int) async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let book = try await reader.makeBook("Dune", shelves: [shelf])
        _ = try await reader.setCover(Self.set, book, TestImage.png())
        #expect(try await files(reader).count == 3)
        let response =
            switch what {
            case "book":
                try await reader.execute(
                    "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
            case "shelf":
                try await reader.execute(
                    "mutation($id: ID!) { deleteShelf(id: $id, input: {books: DELETE}) { id } }",
                    ["id": shelf])
            default:
                try await reader.execute(
                    "mutation($id: String!) { deleteAccount(confirm: $id) { covers } }",
                    ["id": reader.id])
            }
        #expect(response.errors.isEmpty, "\(response.json)")
        if what == "account" { #expect(response["deleteAccount", "covers"] == 1) }
        #expect(try await files(reader).count == fileCount)
        #expect(
            try await Self.app().database.count(
                "SELECT count(*) FROM covers WHERE user_id = '\(reader.id.string ?? "")'") == 0)
    }

    /// After concurrent uploads for one book, the files of exactly one of them exist.
    @Test func concurrentUploadsLeaveOneCover() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Dune")
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for seed in 1...8 {
                tasks.addTask {
                    let response = try await reader.setCover(
                        Self.set, book, TestImage.png(seed: UInt64(seed % 4)))
                    #expect(response.errors.isEmpty, "\(response.json)")
                }
            }
            try await tasks.waitForAll()
        }
        let url = try await reader.requireValue(
            "query($book: ID!) { book(id: $book) { image { url } } }", ["book": book], "book",
            "image", "url")
        let files = try await files(reader)
        #expect(files.count == 3)
        #expect(files.allSatisfy { $0.version == version(url) ?? "" })
    }

    /// Deleting a book during uploads of its cover leaves no files but those of deleted books, whatever the order of the
    /// transactions.
    @Test func deletingABookDuringUploadsLeavesNoOtherFile() async throws {
        let reader = try await Self.app().makeReader()
        for round in 0..<4 {
            let book = try await reader.makeBook("Book \(round)")
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for seed in 1...3 {
                    tasks.addTask {
                        let response = try await reader.setCover(
                            Self.set, book, TestImage.png(seed: UInt64(seed)))
                        #expect(response.errors.isEmpty || response.code == "NOT_FOUND")
                    }
                }
                tasks.addTask {
                    try await Task.sleep(for: .milliseconds(8 * round))
                    _ = try await reader.execute(
                        "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
                }
                try await tasks.waitForAll()
            }
        }
        let kept = try await Self.app().database.count(
            """
            SELECT count(*) FROM deleted_books
            WHERE user_id = '\(reader.id.string ?? "")' AND cover IS NOT NULL
            """)
        #expect(try await files(reader).count == 3 * Int(kept))
    }

    @Test func storageLimitsAreEnforced() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let (first, second) = (try await reader.makeBook("One"), try await reader.makeBook("Two"))
        _ = try await reader.setCover(Self.set, first, TestImage.png())
        try await app.database.execute(
            """
            UPDATE tenants SET user_storage_bytes_max = (SELECT sum(bytes) FROM tenant_storage)
            """)
        let refused = try await reader.setCover(Self.set, second, TestImage.png())
        #expect(refused.code == "QUOTA_EXCEEDED", "\(refused.json)")
        #expect(try await files(reader).count == 3)
        // Replacing a cover by one of the same size does not need more storage.
        #expect(
            try await reader.setCover(Self.set, first, TestImage.png()).errors.isEmpty)
        try await app.database.execute(
            """
            UPDATE tenants
            SET user_storage_bytes_max = NULL,
                storage_bytes_max = (SELECT sum(bytes) FROM tenant_storage)
            """)
        #expect(
            try await reader.setCover(Self.set, first, TestImage.png()).errors.isEmpty)
        try await app.database.execute("UPDATE tenants SET storage_bytes_max = 1")
        let full = try await reader.setCover(Self.set, second, TestImage.png())
        #expect(full.code == "QUOTA_EXCEEDED")
        _ = try await reader.execute(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id])
        #expect(try await app.database.count("SELECT sum(bytes)::bigint FROM tenant_storage") == 0)
    }

    @Test func readersSeeTheirStorage() async throws {
        let app = try await TestApp.start(catalog: [])
        let (reader, other) = (try await app.makeReader(), try await app.makeReader(.beta))
        func storage(_ reader: TestReader) async throws -> Value {
            try await reader.requireValue(
                "{ me { storage { usedBytes quotaBytes } } }", .null, "me", "storage")
        }
        let limit = Value.int(2_147_483_648)
        #expect(
            "\(try await storage(reader))" == "\(["usedBytes": 0, "quotaBytes": limit] as Value)")
        _ = try await reader.setCover(
            Self.set, try await reader.makeBook("One"), TestImage.png())
        let bytes = try await app.database.count("SELECT sum(bytes)::bigint FROM tenant_storage")
        #expect(bytes > 0)
        let used = try await storage(reader)["usedBytes"]
        #expect(used == .int(bytes) || used == .float(Double(bytes)))
        #expect(try await storage(other)["usedBytes"] != used)
        try await app.database.execute("UPDATE tenants SET user_storage_bytes_max = NULL")
        #expect(try await storage(reader)["quotaBytes"] == .null)
    }

    @Test func everyFeedCardHasAnImage() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.requireValue(
            "{ feed(first: 5) { nodes { image { url kind } } } }", .null, "feed", "nodes")
        for card in cards.list ?? [] {
            #expect(
                card["image", "url"]?.string?.hasPrefix("http://covers.test/title-cards/") == true)
            #expect(card["image", "kind"] == "TITLE_CARD")
        }
        #expect(cards.list?.count == 5)
    }

    /// An error of the disk is not the fault of the picture or of the file.
    @Test(arguments: [
        "mutation($id: ID!, $file: Upload!) { setCover(id: $id, input: {image: $file}) { coverStatus } }",
        "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
    ])
    func uploadThatCannotBeReadCanBeRepeated(mutation: String) async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let book = try await reader.makeBook("Dune")
        // The end of the upload is missing in the temporary file.
        let response = try await app.execute(
            mutation, ["id": book, "file": UploadReference.value(0)], token: reader.token,
            storedUploads: [.file(try UnnamedFile(), 0..<100)])
        #expect(response.code == "SERVICE_UNAVAILABLE")
        #expect(response.errors.first?["extensions", "outcome"] == "NOT_DONE")
    }
}

extension TestReader {
    /// Runs a mutation with a `$book` and an `$image`.
    func setCover(_ mutation: String, _ book: Value, _ image: [UInt8]) async throws -> TestResponse
    {
        try await app.execute(
            mutation, ["book": book, "image": UploadReference.value(0)], token: token,
            uploads: [image])
    }
}
