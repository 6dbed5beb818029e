import Foundation

/// Sends what `SyncEngine` asks for, and waits when there is nothing to do.
actor SyncLoop {
    private let engine: SyncEngine
    private let userID: String
    private let client: GraphQLClient
    private let authenticator: Authenticator
    private let environment: ClientEnvironment
    private let wakeUp: WakeUp
    private let uploads: UploadFolder

    init(
        engine: sending SyncEngine, userID: String, client: GraphQLClient,
        authenticator: Authenticator, environment: ClientEnvironment, wakeUp: WakeUp,
        uploads: UploadFolder
    ) {
        self.uploads = uploads
        self.engine = engine
        self.userID = userID
        self.client = client
        self.authenticator = authenticator
        self.environment = environment
        self.wakeUp = wakeUp
    }

    /// Runs until the task is cancelled.
    func run() async throws {
        var timer: Task<Void, any Error>?
        defer { timer?.cancel() }
        for await _ in wakeUp.signals() {
            timer?.cancel()
            if wakeUp.takeRetry() { engine.retryNow() }
            try await work()
            try uploads.clean { try engine.neededUploads() }
            guard let date = engine.wakesAt else { continue }
            let seconds = date.timeIntervalSince(environment.now())
            timer = Task { [environment, wakeUp] in
                try await environment.sleep(.seconds(seconds))
                wakeUp.signal()
            }
        }
        try Task.checkCancellation()
    }

    /// Another device has changed something.
    func pullSoon() {
        engine.pullSoon()
        wakeUp.signal()
    }

    /// Sends everything that can be sent now.
    private func work() async throws {
        var rejected: String?
        while !Task.isCancelled {
            let token: String
            do {
                token = try await authenticator.accessToken(of: userID, rejected: rejected)
            } catch BookplateError.signInNeeded {
                throw BookplateError.signInNeeded
            } catch let error as ServerError {
                engine.networkFailed(retryAfter: error.retryAfter)
                return
            } catch is BookplateError {
                // The network is down, a proxy has responded, or the keychain is locked.
                engine.networkFailed()
                return
            }
            engine.resume()
            try await send(token)
            guard engine.needsToken else { return }
            // A new token that is refused, too, is tried again later.
            guard rejected == nil else {
                engine.networkFailed()
                return
            }
            rejected = token
        }
    }

    private struct Result: Sendable {
        let request: SyncRequest
        let outcome: SyncOutcome
    }

    /// Sends requests, a few at the same time, until there are none or the token is refused.
    private func send(_ token: String) async throws {
        try await withThrowingTaskGroup(of: Result.self) { group in
            let (client, uploads) = (client, uploads)
            func start() throws {
                for request in try engine.next() {
                    group.addTask {
                        let outcome = await client.outcome(of: request, uploads, token: token)
                        return Result(request: request, outcome: outcome)
                    }
                }
            }
            try start()
            while let result = try await group.next() {
                // Whether a cancelled request was done is not known. It is sent again by the next run.
                guard !Task.isCancelled else { continue }
                try engine.received(result.outcome, for: result.request)
                try start()
            }
        }
    }
}

extension GraphQLClient {
    fileprivate func outcome(
        of sync: SyncRequest, _ uploads: UploadFolder, token: String
    ) async -> SyncOutcome {
        do {
            guard let upload = sync.upload else {
                return .response(
                    try await send(try request(sync.document, sync.variables, token: token)))
            }
            guard let file = uploads.data(of: upload) else {
                return .impossible(
                    ServerError(
                        "The file of the cover is no longer on this device.", code: .localDamage))
            }
            return .response(
                try await send(
                    try uploadRequest(
                        sync.document, sync.variables, file: file, path: "input.image",
                        token: token)))
        } catch {
            return .unreachable
        }
    }
}

/// Wakes the sync loop up.
///
/// `@unchecked`: the lock protects the properties. A mutex of the standard library needs a newer system than the app.
final class WakeUp: @unchecked Sendable {
    private let lock = NSLock()
    private var continuation: AsyncStream<Void>.Continuation?
    private var retries = false

    /// Starts with a signal. Signals that arrive while the loop works are combined.
    func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        lock.withLock { self.continuation = continuation }
        continuation.yield()
        return stream
    }

    /// - Parameter retries: whether delays after failures end.
    func signal(retries: Bool = false) {
        let continuation = lock.withLock {
            self.retries = self.retries || retries
            return self.continuation
        }
        continuation?.yield()
    }

    /// Returns whether delays end now.
    func takeRetry() -> Bool {
        lock.withLock {
            defer { retries = false }
            return retries
        }
    }
}
