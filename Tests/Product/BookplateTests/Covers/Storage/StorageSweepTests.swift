import GraphQL
import Identity
import ImageProcessing
import ObjectStorage
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations
@testable import Requests

/// Sweeps of the object store: what they remove, and what they must keep.
@Suite struct StorageSweepTests {
    static let app = Shared { try await TestApp.start() }

    private static let setCover = """
        mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { image { url } } }
        """

    /// A reader with a book and its cover.
    private struct Fixture {
        let app: TestApp
        let reader: TestReader
        let user: UUID
        let book: UUID
        let key: ObjectKey

        var store: any ObjectStore { app.covers.store }

        init(_ app: TestApp) async throws {
            self.app = app
            reader = try await app.makeReader()
            let id = try await reader.makeBook("Dune")
            let response = try await reader.setCover(setCover, id, TestImage.png())
            #expect(response.errors.isEmpty, "\(response.json)")
            user = try #require(UUID(reader.id.string ?? ""))
            book = try #require(UUID(id.string ?? ""))
            key = try #require(ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)"))
        }

        func versions() async throws -> Set<String> {
            Set(
                try await store.list("\(user)", of: .bookCovers).objects.map(\.path.version))
        }

        /// The folders with covers of books.
        func folders() async throws -> Set<String> {
            let pages = try await store.pages(of: .bookCovers, after: nil, includesWrites: false)
            var folders: Set<String> = []
            while let page = try await pages.next() {
                folders.formUnion(page.listing.objects.map(\.path.key.folder))
            }
            return folders
        }

        /// Writes a version without a row, as a server leaves it that dies before its transaction.
        func writeOrphan(_ digit: Character) async throws -> String {
            let version = String(repeating: digit, count: 32)
            await store.settle(
                try await store.write(
                    key, version: version, [.thumbnail: [1], .full: [2, 2], .large: [3, 3]]))
            return version
        }

        func connection() throws -> AdminConnection {
            try AdminConnection(try app.database.url(as: TestCluster.owner))
        }

        func sweep(
            grace: Int = 0, isDryRun: Bool = false
        ) async throws -> StorageSweep.Summary {
            try await StorageSweep(
                store, graceSeconds: grace, isDryRun: isDryRun, try connection()
            ).run()
        }

        /// Returns the statement with which a request makes a version the cover.
        func setCoverStatement(_ version: String) -> String {
            """
            SELECT set_cover('\(user)', '\(book)', '\(version)', 'URL', 2, 2, '#000000', 'x', '{1,2,2}', \
            ARRAY['a', 'b', 'c']::bytea[], NULL)
            """
        }
    }

    @Test(arguments: TestStore.fast)
    func removesOrphans(storage: TestStore) async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: [], storage: storage))
        let kept = try await fixture.versions()
        let orphan = try await fixture.writeOrphan("a")
        #expect(try await fixture.sweep(isDryRun: true).orphans == 1)
        #expect(try await fixture.sweep(grace: 600) == .init())
        #expect(try await fixture.versions() == kept.union([orphan]))
        let summary = try await fixture.sweep()
        #expect(summary.orphans == 1 && summary.orphanBytes == 5)
        #expect(try await fixture.versions() == kept)
        #expect(try await fixture.sweep() == .init())
    }

    /// A transaction that refers to a version after its files were swept is refused.
    @Test(arguments: TestStore.fast)
    func rowWithSweptFilesIsRefused(storage: TestStore) async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: [], storage: storage))
        let version = try await fixture.writeOrphan("b")
        #expect(try await fixture.sweep().orphans == 1)
        let connection = try fixture.connection()
        do throws(PostgresError) {
            try connection.execute(fixture.setCoverStatement(version))
            Issue.record("the row was accepted")
        } catch {
            #expect(
                BookplateError(error, constraints: [:])?.code == "CONFLICT", "\(error)")
        }
        // It is still refused after another upload of the reader.
        _ = try await fixture.reader.setCover(
            Self.setCover, .string("\(fixture.book)"), TestImage.png(seed: 2))
        #expect(throws: PostgresError.self) {
            try fixture.connection().execute(fixture.setCoverStatement(version))
        }
        #expect(try await fixture.versions().count == 1)
    }

    /// A sweep waits for open transactions of the user, and then sees their changes.
    @Test(arguments: TestStore.fast)
    func waitsForOpenTransactions(storage: TestStore) async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: [], storage: storage))
        let version = try await fixture.writeOrphan("c")
        let other = try fixture.connection()
        try other.execute("BEGIN; SELECT lock_user('\(fixture.user)')")
        try other.execute(fixture.setCoverStatement(version))
        async let swept = fixture.sweep()
        try await waitUntil("the sweep waits") {
            try await fixture.app.database.count(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") > 0
        }
        try other.execute("COMMIT")
        let summary = try await swept
        #expect(try await fixture.versions() == [version])
        #expect(summary.orphans == 1)
    }

    @Test(arguments: TestStore.fast)
    func removesOutdatedTitleCards(storage: TestStore) async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: [], storage: storage))
        let key = try #require(
            ObjectKey(.titleCards, folder: "\(fixture.user)", name: "\(fixture.book)"))
        func draw(_ title: String) async throws -> String {
            let card = TitleCard(title: title, author: nil, genre: nil)
            let version = try #require(
                try fixture.connection().query(
                    "SELECT title_card_version('\(title)', NULL, NULL)", Parameters()
                ).text(0, 0))
            try await fixture.app.covers.titleCards.draw(card, version: version, as: key)
            return version
        }
        let kept = try await draw("Dune")
        _ = try await draw("Dnue")
        #expect(try await fixture.sweep().titleCards == 1)
        let cards = try await fixture.store.list("\(fixture.user)", of: .titleCards).objects
        #expect(Set(cards.map(\.path.version)) == [kept])
    }

    /// The store of another database is not swept: all its images would look like orphans.
    @Test(arguments: TestStore.fast)
    func refusesTheStoreOfAnotherDatabase(storage: TestStore) async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: [], storage: storage))
        #expect(try await fixture.store.claim(for: "another"))
        _ = try await fixture.writeOrphan("d")
        let connection = try fixture.connection()
        do throws(StorageError) {
            _ = try await StorageSweep(
                fixture.store, graceSeconds: 0, isDryRun: false, connection
            ).run()
            Issue.record("the store was swept")
        } catch .foreign {}
        #expect(try await fixture.versions().count == 2)
    }

    /// Sweeps during uploads neither remove the files of a cover nor leave other files.
    @Test(arguments: TestStore.fast)
    func sweepsAreSafeDuringUploads(storage: TestStore) async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: [], storage: storage))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for seed in 1...12 {
                tasks.addTask {
                    let response = try await fixture.reader.setCover(
                        Self.setCover, .string("\(fixture.book)"), TestImage.png(seed: UInt64(seed))
                    )
                    #expect(response.errors.isEmpty, "\(response.json)")
                }
            }
            tasks.addTask { for _ in 0..<10 { _ = try await fixture.sweep() } }
            try await tasks.waitForAll()
        }
        _ = try await fixture.sweep()
        let summary = try await StorageVerification(
            fixture.store, graceSeconds: 0, fixture.connection()
        ).run()
        #expect(summary.isSound, "\(summary)")
        #expect(summary.covers == 1)
    }

    /// An interrupted sweep is continued. After it is complete, the next one starts with the first folder.
    @Test(arguments: [SweepProgress.ofServers, .ofOperator])
    func interruptedSweepIsContinued(progress: SweepProgress) async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: []))
        let connection = try fixture.connection()
        // Folders of deleted users, before and after the reader's folder.
        var folders: [String] = []
        for number in 0..<250 {
            let folder = lowercaseHex([UInt8(number)]) + "000000-0000-4000-8000-000000000000"
            let key = try #require(ObjectKey(.bookCovers, folder: folder, name: folder))
            await fixture.store.settle(
                try await fixture.store.write(
                    key, version: String(repeating: "0", count: 32), [.full: [1]]))
            folders.append(folder)
        }
        func sweep(stoppingAfter foldersMax: Int = .max) async throws(StorageError) -> Int {
            var count = 0
            let sweep = StorageSweep(
                fixture.store, graceSeconds: 0, isDryRun: false, progress: progress, connection)
            let summary = try await sweep.run(onFolder: { () throws(StorageError) in
                count += 1
                if count > foldersMax { throw .cancelled }
            })
            return summary.foldersBefore
        }
        await #expect(throws: StorageError.self) { try await sweep(stoppingAfter: 150) }
        // The 50 folders after the last checkpoint are swept again.
        #expect(try await fixture.app.database.count("SELECT done FROM checkpoints") == 100)
        let returned = try #require(ObjectKey(.bookCovers, folder: folders[0], name: folders[0]))
        await fixture.store.settle(
            try await fixture.store.write(
                returned, version: String(repeating: "1", count: 32), [.full: [1]]))
        #expect(try await sweep() == 100)
        #expect(
            try await fixture.folders() == [
                folders[0], "\(fixture.user)",
            ])
        #expect(try await fixture.app.database.count("SELECT count(*) FROM checkpoints") == 0)
        #expect(try await sweep() == 0)
        #expect(try await fixture.folders() == ["\(fixture.user)"])
    }

    /// A checkpoint that is older than a day is ignored.
    @Test func oldCheckpointIsIgnored() async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: []))
        try await fixture.app.database.execute(
            """
            INSERT INTO checkpoints (task, position, done, updated_at) \
            VALUES ('storage.sweep', 'edition-covers/ff', 9, now() - interval '25 hours')
            """)
        let version = try await fixture.writeOrphan("f")
        let summary = try await StorageSweep(
            fixture.store, graceSeconds: 0, isDryRun: false, progress: .ofServers,
            fixture.connection()
        ).run()
        #expect(summary.orphans == 1 && summary.foldersBefore == 0)
        #expect(try await !fixture.versions().contains(version))
    }

    @Test(arguments: TestStore.fast)
    func jobSweepsTheStore(storage: TestStore) async throws {
        let fixture = try await Fixture(try await TestApp.start(catalog: [], storage: storage))
        let version = try await fixture.writeOrphan("e")
        // A server leaves such a row if it dies after the transaction that replaced the cover.
        try await fixture.app.database.execute(
            """
            INSERT INTO removed_covers (user_id, book_id, version) \
            VALUES ('\(fixture.user)', '\(fixture.book)', '\(version)')
            """)
        let worker = try await TestWorker.start(
            fixture.app.database, [SweepStorage(fixture.app.services)])
        try await waitUntil("the removed cover is forgotten") {
            try await fixture.app.database.count("SELECT count(*) FROM removed_covers") == 0
        }
        try await waitUntil("the removal is counted") {
            await fixture.app.services.metrics.text().contains(
                #"bookplate_storage_swept_total{what="removed_cover"} 1"#)
        }
        await worker.stop()
        #expect(try await fixture.versions().count == 1)
    }
}
