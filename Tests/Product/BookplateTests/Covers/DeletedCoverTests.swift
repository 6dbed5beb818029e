import GraphQL
import ImageProcessing
import ObjectStorage
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// The covers of deleted books: their files stay while the books can be restored.
@Suite struct DeletedCoverTests {
    private static let set = """
        mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { image { url } } }
        """

    /// A reader with a book whose cover is in the store.
    private struct Fixture {
        let app: TestApp
        let reader: TestReader
        let book: Value
        let url: Value

        init() async throws {
            app = try await TestApp.start(catalog: [])
            reader = try await app.makeReader()
            book = try await reader.makeBook("Dune")
            url =
                try await reader.setCover(set, book, TestImage.png())["setCover", "image", "url"]
                ?? .null
        }

        func delete(_ id: Value? = nil) async throws {
            let response = try await reader.execute(
                RestoreBookTests.delete, ["id": id ?? book])
            #expect(response.errors.isEmpty, "\(response.json)")
        }

        func restore() async throws -> Value {
            try await reader.requireValue(
                "mutation($id: ID!) { restoreBook(id: $id) { coverStatus image { url source } } }",
                ["id": book], "restoreBook")
        }

        func fileCount() async throws -> Int {
            try await app.covers.store.list(reader.id.string ?? "", of: .bookCovers).objects.count
        }

        func sweep() async throws -> StorageSweep.Summary {
            try await StorageSweep(
                app.covers.store, graceSeconds: 0, isDryRun: false, try connection()
            ).run()
        }

        func connection() throws -> AdminConnection {
            try AdminConnection(try app.database.url(as: TestCluster.owner))
        }

        func usedBytes() async throws -> Int {
            try await app.database.count("SELECT sum(bytes)::bigint FROM tenant_storage")
        }

        func expire() async throws {
            try await app.database.execute(
                "UPDATE deleted_books SET deleted_at = now() - interval '31 days'")
            _ = try await app.database.count("SELECT purge_deleted_books(100)")
        }
    }

    /// Sweeps, the verification, and the storage use treat the version as that of a book.
    @Test func filesAreKeptUntilTheBookIsPurged() async throws {
        let fixture = try await Fixture()
        let bytes = try await fixture.usedBytes()
        try await fixture.delete()
        #expect(try await fixture.sweep() == .init())
        #expect(try await fixture.fileCount() == 3)
        #expect(try await fixture.usedBytes() == bytes)
        let store = try #require(fixture.app.covers.store as? FileStore)
        let summary = try await StorageVerification(
            store, graceSeconds: 0, try fixture.connection()
        ).run()
        #expect(summary.isSound && summary.covers == 1)
        let usage = try StorageUsage(
            tenant: nil, user: nil, usersMax: 10, try fixture.connection())
        #expect(usage.users.map(\.bytes) == [bytes])

        let restored = try await fixture.restore()
        #expect(restored["image", "url"] == fixture.url && restored["coverStatus"] == "READY")
        #expect(try await fixture.usedBytes() == bytes)
        #expect(try await fixture.sweep() == .init())

        try await fixture.delete()
        try await fixture.expire()
        #expect(try await fixture.usedBytes() == 0)
        #expect(try await fixture.sweep().removedCovers == 1)
        #expect(try await fixture.fileCount() == 0)
        #expect(try await fixture.sweep() == .init())
    }

    /// The files of a book that was deleted twice under the same id are removed when its second deletion replaces the first.
    @Test func secondDeletionDropsTheFirstCover() async throws {
        let fixture = try await Fixture()
        let bytes = try await fixture.usedBytes()
        try await fixture.delete()
        _ = try await fixture.reader.makeBook(["id": fixture.book, "title": "Dune"])
        _ = try await fixture.reader.setCover(Self.set, fixture.book, TestImage.png())
        #expect(try await fixture.fileCount() == 6)
        #expect(try await fixture.usedBytes() == 2 * bytes)
        let store = try #require(fixture.app.covers.store as? FileStore)
        let summary = try await StorageVerification(
            store, graceSeconds: 0, try fixture.connection()
        ).run()
        #expect(summary.isSound && summary.covers == 2)
        try await fixture.delete()
        #expect(try await fixture.sweep().removedCovers == 1)
        #expect(try await fixture.fileCount() == 3)
        #expect(try await fixture.usedBytes() == bytes)
        #expect(try await fixture.restore()["coverStatus"] == "READY")
    }

    /// The oldest deleted covers make room for a new one. Their books are restored without a cover.
    @Test func newCoverTakesTheSpaceOfDeletedOnes() async throws {
        let fixture = try await Fixture()
        try await fixture.app.database.execute(
            "UPDATE tenants SET user_storage_bytes_max = (SELECT sum(bytes) FROM tenant_storage)")
        let other = try await fixture.reader.makeBook("Other")
        let refused = try await fixture.reader.setCover(Self.set, other, TestImage.png())
        #expect(refused.code == "QUOTA_EXCEEDED")
        try await fixture.delete()
        let stored = try await fixture.reader.setCover(Self.set, other, TestImage.png())
        #expect(stored.errors.isEmpty, "\(stored.json)")
        #expect(try await fixture.fileCount() == 3)
        let restored = try await fixture.restore()
        #expect(restored["coverStatus"] == "NO_COVER" && restored["image", "source"] == .null)
        #expect(try await fixture.sweep() == .init())
    }

    @Test func searchThatWasRunningEndsWithTheDeletion() async throws {
        let fixture = try await Fixture()
        try await fixture.app.database.execute(
            "UPDATE books SET cover_status = 'FETCHING', cover_requested_at = now()")
        try await fixture.delete()
        #expect(try await fixture.restore()["coverStatus"] == "READY")
        try await fixture.app.database.execute(
            "DELETE FROM covers; UPDATE books SET cover_status = 'FETCHING', cover_requested_at = now()"
        )
        try await fixture.delete()
        #expect(try await fixture.restore()["coverStatus"] == "NO_COVER")
    }
}
