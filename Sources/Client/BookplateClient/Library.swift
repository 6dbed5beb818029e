import Foundation
import GRDB

/// The library of one reader on this device.
///
/// Reading never waits for the network. A change is applied and queued in one transaction, and `run()` sends it.
public final class Library: Sendable {
    /// The id of the reader.
    public let userID: String
    /// The local database, for an app's own queries. Change it only by the functions of this module.
    public let reader: any DatabaseReader

    let environment: ClientEnvironment
    private let writer: any DatabaseWriter
    private let folder: URL
    private let client: GraphQLClient
    private let authenticator: Authenticator
    private let wakeUp = WakeUp()
    let uploads: UploadFolder
    let coverCache: CoverCache

    init(
        userID: String, writer: any DatabaseWriter, folder: URL, environment: ClientEnvironment,
        client: GraphQLClient, authenticator: Authenticator, coverCacheLimit: Int = 200 << 20
    ) {
        uploads = UploadFolder(folder: folder.appendingPathComponent("uploads"))
        coverCache = CoverCache(
            folder: folder.appendingPathComponent("covers"), limit: coverCacheLimit,
            transport: environment.transport)
        self.userID = userID
        self.writer = writer
        self.folder = folder
        reader = writer
        self.environment = environment
        self.client = client
        self.authenticator = authenticator
    }

    /// Sends the queued changes and fetches those of other devices until the task is cancelled. Run it once at a time, for example in the
    /// `task` modifier of the app's first view.
    ///
    /// - Parameter feed: how much of the feed is kept on the device. Nil for apps without a feed.
    /// - Throws: `BookplateError.signInNeeded` when the session has ended. Queued changes stay. Run it again after the sign-in. An error of
    ///   the database, such as that the disk is full or the file is damaged. A damaged file is repaired at the next launch.
    public func run(feed: FeedPrefetch? = nil) async throws {
        let loop = SyncLoop(
            engine: SyncEngine(writer, environment, feed: feed), userID: userID, client: client,
            authenticator: authenticator, environment: environment, wakeUp: wakeUp,
            uploads: uploads)
        let changes = LiveChanges(
            userID: userID, reader: reader, client: client, authenticator: authenticator,
            environment: environment)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await loop.run() }
                group.addTask { try await changes.run { await loop.pullSoon() } }
                if let feed { group.addTask { try await self.prefetchImages(feed) } }
                try await group.next()
                group.cancelAll()
            }
        } catch let error as DatabaseError where error.isDamage {
            LibraryDatabase.markAsDamaged(in: folder)
            throw error
        }
    }

    /// Keeps the images of the first cards of the feed on the device.
    private func prefetchImages(_ prefetch: FeedPrefetch) async throws {
        for try await cards in feed.cards(limit: prefetch.images) {
            var delay = Delay()
            while await !covers.prefetch(cards.compactMap(\.image)), delay.failures < 5 {
                try await delay.wait(environment)
            }
        }
        // The task group ends with its first task.
        try Task.checkCancellation()
    }

    /// Ends a delay after failures, for example when the system reports that the network is back.
    public func retryNow() { wakeUp.signal(retries: true) }

    // MARK: Changes

    /// Applies changes to the local library and queues them, all or none.
    func perform(_ body: (Database) throws -> [Write]) throws {
        try perform { db in ((), try body(db)) }
    }

    /// Applies the changes that `body` returns beside its result, and returns the result.
    func perform<Result>(_ body: (Database) throws -> (Result, [Write])) throws -> Result {
        let result = try writer.write { db in
            let (result, writes) = try body(db)
            for write in writes { try WriteQueue(db: db).add(write) }
            return result
        }
        wakeUp.signal()
        return result
    }

    func perform(_ write: Write) throws { try perform { _ in [write] } }

    /// The writes that the server has not done.
    func queuedWrites() throws -> [Write] {
        try reader.read {
            try Write.filter(Column("answered") == false).order(Column("seq")).fetchAll($0)
        }
    }

    /// Adds the queue of a guest whose library has moved into this one. Writes that are here already are not added again.
    func adopt(_ guest: Library) throws {
        let writes = try guest.queuedWrites()
        try uploads.copy(writes.compactMap(\.upload), from: guest.uploads)
        try perform { db in
            let existing = Set(try Write.fetchAll(db).map(\.withoutPosition))
            return writes.map(\.withoutPosition).filter { !existing.contains($0) }
        }
    }

    func close() throws { try writer.close() }

    // MARK: State

    /// Whether the library is complete on this device, and what has not been sent.
    public struct Status: Equatable, Sendable {
        /// Whether the whole library has been fetched once.
        public let isComplete: Bool
        /// The number of changes that the server does not have yet.
        public let unsentChanges: Int
    }

    /// The status now and after each change of it.
    public var status: AsyncValueObservation<Status> {
        values { db in
            Status(
                isComplete: try SyncPosition.load(db).isComplete,
                unsentChanges: try Write.filter(Column("answered") == false).fetchCount(db))
        }
    }

    /// The changes that the server has refused, the latest first, now and after each change of the list.
    public var problems: AsyncValueObservation<[Problem]> {
        values { try Problem.order(Column("id").desc).fetchAll($0) }
    }

    /// Removes a problem from the list, after the reader has seen it. If its change is still waiting, the change is undone together with
    /// later ones that depend on it.
    public func dismiss(_ problem: Problem) throws {
        try writer.write { db in
            _ = try Problem.deleteOne(db, key: problem.id)
            guard let seq = problem.write else { return }
            try LibraryState(db: db).receive { _ in try WriteQueue(db: db).discard(seq) }
        }
        wakeUp.signal()
    }

    /// Observes the result of queries: now, and after each change of the tables that they read.
    public func values<Value: Sendable & Equatable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> AsyncValueObservation<Value> {
        ValueObservation.tracking(fetch).removeDuplicates().values(in: reader)
    }

    // MARK: Own requests

    /// Runs an app's own query or mutation, such as a search of the catalog, and returns its data.
    ///
    /// - Throws: `ServerError` with the code of the schema, or `BookplateError`.
    public func query<Result: Decodable>(
        _ document: String, variables: JSON = [:], as type: Result.Type = Result.self
    ) async throws -> Result {
        try await authenticator.execute(document, variables, of: userID)
    }

    /// Runs a mutation with a file.
    ///
    /// - Parameter path: the variable that the file is the value of.
    func upload<Result: Decodable>(
        _ document: String, _ variables: JSON, file: Data, path: String
    ) async throws -> Result {
        try await authenticator.execute(of: userID) {
            try client.uploadRequest(document, variables, file: file, path: path, token: $0)
        }
    }

    /// Runs an app's own subscription, and returns its events as they arrive. The sequence throws if the connection fails.
    public func subscribe<Event: Decodable & Sendable>(
        _ document: String, variables: JSON = [:], as type: Event.Type = Event.self
    ) -> AsyncThrowingStream<Event, any Error> {
        let events = SubscriptionEvents(
            client: client, authenticator: authenticator, userID: userID)
        return events.stream(document, variables)
    }
}

extension Write {
    fileprivate var withoutPosition: Write {
        var write = self
        write.seq = nil
        return write
    }
}
