import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests with `URLSession`.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let configuration: URLSessionConfiguration

    /// Creates a transport. Requests fail if no data arrives for 30 seconds.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
        configuration.timeoutIntervalForRequest = 30
        self.configuration = configuration
        session = URLSession(configuration: configuration)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and returns the complete response. On Linux, a request that is cancelled continues, and its response is dropped.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        #if canImport(FoundationNetworking)
            let outcome = FirstOutcome()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    outcome.wait(continuation)
                    session.dataTask(with: URLRequest(request)) { data, response, error in
                        outcome.resume(HTTPResponse.result(data, response, error))
                    }.resume()
                }
            } onCancel: {
                outcome.resume(.failure(CancellationError()))
            }
        #else
            let (data, response) = try await session.data(for: URLRequest(request))
            return try HTTPResponse.result(data, response, nil).get()
        #endif
    }

    /// Returns the parts of the body as they arrive.
    public func stream(_ request: HTTPRequest) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            let task = CancellableTask()
            // A session of its own: on Linux, only the delegate of a session receives parts of a response.
            let session = URLSession(
                configuration: configuration, delegate: StreamReceiver(continuation, task),
                delegateQueue: nil)
            continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
            task.start(session.dataTask(with: URLRequest(request)))
            session.finishTasksAndInvalidate()
        }
    }
}

#if canImport(FoundationNetworking)
    /// The first of two outcomes of a request: its response, or the cancellation of the task that waits for it.
    ///
    /// `URLSessionTask.cancel` of Foundation on Linux ends the process if the request completes at the same time, so it is not called.
    ///
    /// `@unchecked`: the lock protects the properties.
    private final class FirstOutcome: @unchecked Sendable {
        private let lock = NSLock()
        private var outcome: Result<HTTPResponse, any Error>?
        private var continuation: CheckedContinuation<HTTPResponse, any Error>?

        func wait(_ continuation: CheckedContinuation<HTTPResponse, any Error>) {
            let outcome = lock.withLock {
                if self.outcome == nil { self.continuation = continuation }
                return self.outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }

        func resume(_ outcome: Result<HTTPResponse, any Error>) {
            let continuation = lock.withLock {
                if self.outcome == nil { self.outcome = outcome }
                defer { self.continuation = nil }
                return self.continuation
            }
            continuation?.resume(with: outcome)
        }
    }
#endif

/// The request of a stream, which may be cancelled before it starts, and until its end is reported.
///
/// On Linux, `URLSessionTask.cancel` ends the process if the task has just completed, and may wait for the queue of the session. The
/// handler of a task's cancellation holds a lock that this queue needs when it resumes the same task, so calling `cancel` there can wait
/// forever. A request is therefore cancelled by another thread, and only while its end has not been reported.
///
/// `@unchecked`: the lock protects the properties.
private final class CancellableTask: @unchecked Sendable {
    private let lock = NSLock()
    private var task: URLSessionTask?
    private var isCancelled = false
    private var hasEnded = false

    func start(_ new: URLSessionTask) {
        let isCancelled = lock.withLock {
            task = new
            return self.isCancelled
        }
        new.resume()
        if isCancelled { cancel() }
    }

    /// Call this at the beginning of the handler of the task's end.
    func end() { lock.withLock { hasEnded = true } }

    func cancel() {
        DispatchQueue.global().async { [self] in
            lock.withLock {
                isCancelled = true
                if !hasEnded { task?.cancel() }
            }
        }
    }
}

/// Passes the parts of a response on as they arrive.
private final class StreamReceiver: NSObject, URLSessionDataDelegate, Sendable {
    private let continuation: AsyncThrowingStream<Data, any Error>.Continuation
    private let task: CancellableTask

    init(
        _ continuation: AsyncThrowingStream<Data, any Error>.Continuation, _ task: CancellableTask
    ) {
        self.continuation = continuation
        self.task = task
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        if status != 200 {
            continuation.finish(throwing: BookplateError.invalidResponse(status: status))
        }
        completionHandler(status == 200 ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        continuation.yield(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        self.task.end()
        continuation.finish(throwing: error)
    }
}

extension URLRequest {
    fileprivate init(_ request: HTTPRequest) {
        self.init(url: request.url)
        httpMethod = request.method
        if let timeout = request.timeout { timeoutInterval = timeout }
        httpBody = request.body
        for (name, value) in request.headers { setValue(value, forHTTPHeaderField: name) }
    }
}

extension HTTPResponse {
    fileprivate static func result(
        _ data: Data?, _ response: URLResponse?, _ error: (any Error)?
    ) -> Result<HTTPResponse, any Error> {
        guard let response = response as? HTTPURLResponse, error == nil else {
            return .failure(error ?? BookplateError.invalidResponse(status: 0))
        }
        return .success(
            HTTPResponse(
                status: response.statusCode, body: data ?? Data(),
                retryAfter: response.value(forHTTPHeaderField: "Retry-After")
                    .flatMap(Double.init)))
    }
}
