import Glibc
import Identity
import ObjectStorage
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// Copies between stores, and stores with errors.
@Suite struct StorageCopyTests {
    private static let setCover = """
        mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { image { url } } }
        """

    func connection(_ app: TestApp) throws -> AdminConnection {
        try AdminConnection(try app.database.url(as: TestCluster.owner))
    }

    func makeCover(_ app: TestApp) async throws -> ObjectKey {
        let reader = try await app.makeReader()
        let book = try await reader.makeBook("Dune")
        let response = try await reader.setCover(Self.setCover, book, TestImage.png())
        #expect(response.errors.isEmpty, "\(response.json)")
        return try #require(
            ObjectKey(.bookCovers, folder: reader.id.string ?? "", name: book.string ?? ""))
    }

    private func copy(
        _ source: any ObjectStore, _ target: any ObjectStore, _ connection: AdminConnection
    ) -> StorageCopy {
        StorageCopy(
            from: source, to: target, names: ("one", "another"), isDryRun: false, connection)
    }

    /// The version of a deleted cover is not published again. A failed copy keeps the files that the target has.
    @Test func copiesOnlyWhatIsMissingAndReferredTo() async throws {
        let app = try await TestApp.start(catalog: [])
        let key = try await makeCover(app)
        let source = app.covers.store
        let version = try #require(
            try await source.list(key.folder, of: .bookCovers).objects.first?.path.version)
        let deleted = String(repeating: "a", count: 32)
        await source.settle(try await source.write(key, version: deleted, [.full: [1]]))
        let target = try await TestStore.files.make(app.pool)
        let connection = try connection(app)
        let copy = copy(source, target, connection)
        let summary = try await copy.run(startsOver: false) { _ in }
        #expect(summary.versions == 1 && summary.copied == 1 && summary.continuedAfter == nil)
        let copied = try await target.list(key.folder, of: .bookCovers).objects
        #expect(Set(copied.map(\.path.version)) == [version] && copied.count == 3)

        // A variant is lost, and its copy fails.
        let path = try #require(ObjectPath(key, version: version, .full))
        var files: [ObjectVariant: [UInt8]] = [:]
        for file in copied where file.path.variant != .full {
            files[file.path.variant] = try await target.read(file.path)
        }
        try await target.remove(key, version: version)
        try await target.restore(key, version: version, files)
        let faulty = FaultyStore(base: target, error: .unavailable("down"))
        await #expect(throws: StorageError.self) {
            try await self.copy(source, faulty, connection).run(startsOver: true) { _ in }
        }
        #expect(try await target.list(key.folder, of: .bookCovers).objects.count == 2)
        #expect(try await copy.run(startsOver: true) { _ in }.copied == 1)
        #expect(try await target.read(path) == source.read(path))
        #expect(try await target.sweepStaleWrites(isDryRun: true) == 0)
    }

    /// A server that dies after it has committed the row of a cover leaves the lease of its write.
    @Test func coverOfAServerThatDiedIsCopied() async throws {
        let app = try await TestApp.start(catalog: [])
        let key = try await makeCover(app)
        let source = try await TestStore.bucket.make(app.pool)
        let version = try #require(
            try await app.covers.store.list(key.folder, of: .bookCovers).objects.first?.path.version
        )
        _ = try await source.write(key, version: version, [.full: [1]])
        // A write without a row is not copied.
        _ = try await source.write(key, version: String(repeating: "a", count: 32), [.full: [2]])
        #expect(try await source.list(key.folder, of: .bookCovers).objects.isEmpty)
        let target = try await TestStore.files.make(app.pool)
        let summary = try await copy(source, target, try connection(app))
            .run(startsOver: false) { _ in }
        #expect(summary.versions == 1 && summary.copied == 1)
        let path = try #require(ObjectPath(key, version: version, .full))
        #expect(try await target.read(path) == [1])
    }

    @Test func unreadableFilesDoNotEndTheCopy() async throws {
        let app = try await TestApp.start(catalog: [])
        _ = try await makeCover(app)
        let unreadable = FaultyStore(base: app.covers.store, error: .failed("reading", errno: EIO))
        let target = try await TestStore.files.make(app.pool)
        let summary = try await copy(unreadable, target, try connection(app))
            .run(startsOver: false) { _ in }
        #expect(summary.versions == 1 && summary.unreadable == 1 && summary.copied == 0)
    }

    @Test func copyContinuesWithinADay() async throws {
        let app = try await TestApp.start(catalog: [])
        _ = try await makeCover(app)
        let target = try await TestStore.files.make(app.pool)
        let connection = try connection(app)
        let copy = copy(app.covers.store, target, connection)
        func interrupt() async {
            await #expect(throws: StorageError.self) {
                try await copy.run(startsOver: true) { _ throws(StorageError) in throw .cancelled }
            }
        }
        await interrupt()
        #expect(try await copy.run(startsOver: false) { _ in }.continuedAfter != nil)
        await interrupt()
        try connection.execute("UPDATE checkpoints SET updated_at = now() - interval '25 hours'")
        #expect(try await copy.run(startsOver: false) { _ in }.continuedAfter == nil)
    }

    @Test func onlyOneCopyRuns() async throws {
        let app = try await TestApp.start(catalog: [])
        let target = try await TestStore.files.make(app.pool)
        let other = try connection(app)
        try other.execute("SELECT pg_advisory_lock(hashtext('storage copy'))")
        let error = await #expect(throws: StorageError.self) {
            try await copy(app.covers.store, target, connection(app))
                .run(startsOver: true) { _ in }
        }
        #expect(error?.message.contains("another storage copy") == true)
    }
}

extension StorageCopyTests {
    /// One unreadable file is damaged. If the whole store cannot be read, verification and exports fail.
    @Test func unreadableFilesAndUnavailableStoresDiffer() async throws {
        let app = try await TestApp.start(catalog: [])
        let key = try await makeCover(app)
        let user = try #require(UUID(key.folder))
        let connection = try connection(app)
        let unreadable = FaultyStore(base: app.covers.store, error: .failed("reading", errno: EIO))
        let summary = try await StorageVerification(unreadable, graceSeconds: 0, connection).run()
        #expect(summary.counts == [.damaged: 3])
        let path = "/var/tmp/bookplate-copy-test-\(UInt64.random(in: 0...UInt64.max))"
        defer { unlink(path) }
        #expect(
            try await LibraryExport.write(of: user, toFile: path, connection, store: unreadable)
                > 0)

        let unavailable = FaultyStore(base: app.covers.store, error: .unavailable("down"))
        await #expect(throws: StorageError.self) {
            try await StorageVerification(unavailable, graceSeconds: 0, connection).run()
        }
        await #expect(throws: LibraryExportError.self) {
            try await LibraryExport.write(of: user, toFile: path, connection, store: unavailable)
        }
    }
}
