import GraphQL
import Identity
import ImageProcessing
import ObjectStorage
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// What sweeps of the object store take away, and what they must not.
@Suite struct StorageSweepTests {
    static let app = Shared { try await TestApp.start() }

    private static let setCover = """
        mutation($book: ID!, $image: Upload!) { setCover(bookId: $book, source: {image: $image}) { coverUrl } }
        """

    /// A reader with a book and its cover.
    private struct Desk {
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

        /// Writes a version that no row names, as a server that dies then leaves it.
        func leave(_ digit: Character) async throws -> String {
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

        /// The statement that a request sends to make a version the cover.
        func naming(_ version: String) -> String {
            """
            SELECT set_cover('\(user)', '\(book)', '\(version)', 'URL', 2, 2, '#000000', 'x', '{1,2,2}', \
            ARRAY['a', 'b', 'c']::bytea[], NULL)
            """
        }
    }

    @Test func whatNoRowNamesGoes() async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        let kept = try await desk.versions()
        let orphan = try await desk.leave("a")
        #expect(try await desk.sweep(isDryRun: true).orphans == 1)
        #expect(try await desk.sweep(grace: 600) == .init())
        #expect(try await desk.versions() == kept.union([orphan]))
        let summary = try await desk.sweep()
        #expect(summary.orphans == 1 && summary.orphanBytes == 5)
        #expect(try await desk.versions() == kept)
        #expect(try await desk.sweep() == .init())
    }

    /// A server's last transaction may come when its files have been swept: it is refused, and its row never there.
    @Test func aRowNeverComesAfterItsFilesAreGone() async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        let version = try await desk.leave("b")
        #expect(try await desk.sweep().orphans == 1)
        let connection = try desk.connection()
        do throws(PostgresError) {
            try connection.execute(desk.naming(version))
            Issue.record("it was named")
        } catch {
            #expect(BookplateError(error)?.code == "CONFLICT", "\(error)")
        }
        // Nor does another upload of the reader forget it too soon.
        _ = try await desk.reader.setCover(
            Self.setCover, .string("\(desk.book)"), TestImage.png(seed: 2))
        #expect(throws: PostgresError.self) { try desk.connection().execute(desk.naming(version)) }
        #expect(try await desk.versions().count == 1)
    }

    /// It waits for a transaction that is under way, and then sees what that has named, and what it names no more.
    @Test func aTransactionUnderWayIsWaitedFor() async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        let version = try await desk.leave("c")
        let other = try desk.connection()
        try other.execute("BEGIN; SELECT take_turns('\(desk.user)')")
        try other.execute(desk.naming(version))
        async let swept = desk.sweep()
        try await waitUntil("the sweep waits") {
            try await desk.app.database.count(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") > 0
        }
        try other.execute("COMMIT")
        let summary = try await swept
        #expect(try await desk.versions() == [version])
        #expect(summary.orphans == 1)
    }

    @Test func cardsOfOtherTitlesGo() async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        let key = try #require(
            ObjectKey(.titleCards, folder: "\(desk.user)", name: "\(desk.book)"))
        func draw(_ title: String) async throws -> String {
            let card = TitleCard(title: title, author: nil, genre: nil)
            try await desk.app.covers.titleCards.draw(card, as: key)
            return card.version
        }
        let kept = try await draw("Dune")
        _ = try await draw("Dnue")
        #expect(try await desk.sweep().titleCards == 1)
        let cards = try await desk.store.list("\(desk.user)", of: .titleCards).objects
        #expect(Set(cards.map(\.path.version)) == [kept])
    }

    /// Otherwise a server that is led to the wrong folder would take every picture for an orphan.
    @Test func anotherDatabasesStoreIsLeftAlone() async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        #expect(try await desk.store.claim(for: "another"))
        _ = try await desk.leave("d")
        let connection = try desk.connection()
        do throws(StorageError) {
            _ = try await StorageSweep(
                desk.store, graceSeconds: 0, isDryRun: false, connection
            ).run()
            Issue.record("it was swept")
        } catch .foreign {}
        #expect(try await desk.versions().count == 2)
    }

    /// Uploads go on while sweeps run one after the other: no picture is lost, and none is left.
    @Test func uploadsGoOnDuringSweeps() async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for seed in 1...12 {
                tasks.addTask {
                    let response = try await desk.reader.setCover(
                        Self.setCover, .string("\(desk.book)"), TestImage.png(seed: UInt64(seed)))
                    #expect(response.errors.isEmpty, "\(response.json)")
                }
            }
            tasks.addTask { for _ in 0..<10 { _ = try await desk.sweep() } }
            try await tasks.waitForAll()
        }
        _ = try await desk.sweep()
        let summary = try await StorageVerification(
            try #require(desk.store as? FileStore), graceSeconds: 0, desk.connection()
        ).run()
        #expect(summary.isSound, "\(summary)")
        #expect(summary.covers == 1)
    }

    /// A sweep of a large store goes on where its server died, and the next one begins anew.
    @Test(arguments: [SweepProgress.ofServers, .ofOperator])
    func aStoppedSweepGoesOn(progress: SweepProgress) async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        let connection = try desk.connection()
        // Folders of readers who are gone, in front of the reader's and behind.
        var folders: [String] = []
        for number in 0..<250 {
            let folder = lowercaseHex([UInt8(number)]) + "000000-0000-4000-8000-000000000000"
            let key = try #require(ObjectKey(.bookCovers, folder: folder, name: folder))
            await desk.store.settle(
                try await desk.store.write(
                    key, version: String(repeating: "0", count: 32), [.full: [1]]))
            folders.append(folder)
        }
        func sweep(stoppingAfter foldersMax: Int = .max) async throws(StorageError) -> Int {
            var count = 0
            let sweep = StorageSweep(
                desk.store, graceSeconds: 0, isDryRun: false, progress: progress, connection)
            let summary = try await sweep.run(onFolder: { () throws(StorageError) in
                count += 1
                if count > foldersMax { throw .cancelled }
            })
            return summary.foldersBefore
        }
        await #expect(throws: StorageError.self) { try await sweep(stoppingAfter: 150) }
        // What crashed behind the place that was written down is looked at again.
        #expect(try await desk.app.database.count("SELECT done FROM checkpoints") == 100)
        let returned = try #require(ObjectKey(.bookCovers, folder: folders[0], name: folders[0]))
        await desk.store.settle(
            try await desk.store.write(
                returned, version: String(repeating: "1", count: 32), [.full: [1]]))
        #expect(try await sweep() == 100)
        #expect(try await Set(desk.store.folders(of: .bookCovers)) == [folders[0], "\(desk.user)"])
        #expect(try await desk.app.database.count("SELECT count(*) FROM checkpoints") == 0)
        #expect(try await sweep() == 0)
        #expect(try await desk.store.folders(of: .bookCovers) == ["\(desk.user)"])
    }

    /// What was done days ago says little of today.
    @Test func anOldCheckpointIsForgotten() async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        try await desk.app.database.execute(
            """
            INSERT INTO checkpoints (task, position, done, updated_at) \
            VALUES ('storage.sweep', 'edition-covers/ff', 9, now() - interval '25 hours')
            """)
        let version = try await desk.leave("f")
        let summary = try await StorageSweep(
            desk.store, graceSeconds: 0, isDryRun: false, progress: .ofServers, desk.connection()
        ).run()
        #expect(summary.orphans == 1 && summary.foldersBefore == 0)
        #expect(try await !desk.versions().contains(version))
    }

    @Test func itIsDoneInTheBackground() async throws {
        let desk = try await Desk(try await TestApp.start(catalog: []))
        let version = try await desk.leave("e")
        // As a server that dies after its transaction leaves a cover that was replaced.
        try await desk.app.database.execute(
            """
            INSERT INTO removed_covers (user_id, book_id, version) \
            VALUES ('\(desk.user)', '\(desk.book)', '\(version)')
            """)
        let worker = try await TestWorker.start(
            desk.app.database, [SweepStorage(desk.app.services)])
        try await waitUntil("the removed cover is forgotten") {
            try await desk.app.database.count("SELECT count(*) FROM removed_covers") == 0
        }
        try await waitUntil("it is counted") {
            await desk.app.services.metrics.text().contains(
                #"bookplate_storage_swept_total{what="removed_cover"} 1"#)
        }
        await worker.stop()
        #expect(try await desk.versions().count == 1)
    }
}
