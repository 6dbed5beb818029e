import Basics
import Config
import HTTPFetch
import Identity
import ObjectStorage
import Telemetry

/// Sends signed requests to a bucket. Requests that fail for a temporary reason are sent again, so all of them must be
/// idempotent.
struct S3Client: Sendable {
    struct Request: Sendable {
        var method: FetchRequest.Method
        /// The name of the object in the bucket; empty for requests to the bucket itself.
        var name = ""
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
    }

    /// The maximum number of attempts of a request, including the first one.
    static let attemptsMax = 4
    /// The time limit of one attempt.
    static let attemptTimeout = Duration.seconds(30)
    /// The maximum time to list objects or to remove many, with all attempts.
    static let bulkTimeout = Duration.seconds(120)
    /// The maximum size of a response. Images and pages of a listing are smaller.
    private static let bodyBytesMax = 64 << 20
    /// The SHA-256 of an empty body.
    private static let emptyHash = lowercaseHex(sha256([]))

    let settings: Configuration.S3
    /// The maximum time of an operation with one version, with all attempts.
    let timeout: Duration
    private let fetcher: Fetcher
    private let base: String
    private let metrics: S3Metrics?

    /// - Throws: `.unavailable` if the endpoint is not a URL.
    init(
        _ settings: Configuration.S3, metrics: Metrics? = nil, timeout: Duration = bulkTimeout
    ) throws(ObjectError) {
        self.settings = settings
        self.timeout = timeout
        self.metrics = metrics.map { S3Metrics($0) }
        base = settings.baseURL
        do {
            let host = try WebURL(base).host
            // The operator has configured the host, so its address may be private.
            fetcher = Fetcher(
                policy: FetchPolicy(
                    userAgent: "bookplate", allowed: try FetchAllowList(parsing: host)))
        } catch {
            throw .unavailable("\(base) is not the URL of a bucket")
        }
    }

    /// The end of an operation with one version that begins now.
    var end: ContinuousClock.Instant { .now + timeout }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - what: The operation, for the error.
    ///   - end: When the last attempt must have ended; nil for `end` of this client.
    ///   - accepted: Statuses that are not errors, besides 200 to 299.
    /// - Throws: `.full` or `.unavailable`.
    func send(
        _ request: Request, _ what: String, by end: ContinuousClock.Instant? = nil,
        accepting accepted: Set<Int> = []
    ) async throws(ObjectError) -> FetchResponse {
        let end = end ?? self.end
        var delay = Duration.milliseconds(100)
        var attemptCount = 1
        while true {
            let failure: ObjectError
            let mayPass: Bool
            do throws(FetchError) {
                let response = try await attempt(request, within: end - .now)
                if (200...299).contains(response.status) || accepted.contains(response.status) {
                    return response
                }
                failure = Self.error(response, what)
                mayPass = Self.mayPass(response)
            } catch {
                failure = .unavailable("\(what): \(error)")
                mayPass = Self.mayPass(error)
            }
            // The request of a client that has disconnected is cancelled, which is not an error of the bucket.
            if !Task.isCancelled { metrics?.countError() }
            let pause = delay * Double.random(in: 0.5...1)
            guard mayPass, attemptCount < Self.attemptsMax, .now + pause < end,
                (try? await Task.sleep(for: pause)) != nil
            else { throw failure }
            attemptCount += 1
            delay *= 4
        }
    }

    /// Sends a request once.
    private func attempt(
        _ request: Request, within timeLeft: Duration
    ) async throws(FetchError) -> FetchResponse {
        guard timeLeft > .zero else { throw .timedOut }
        let start = ContinuousClock.now
        defer { metrics?.observe(request.method, ContinuousClock.now - start) }
        return try await fetcher.fetch(
            fetchRequest(request, deadline: min(timeLeft, Self.attemptTimeout)))
    }

    private func fetchRequest(_ request: Request, deadline: Duration) -> FetchRequest {
        var headers = request.headers
        switch request.method {
        case .put(let body, _), .post(let body, _):
            headers.append(("x-amz-content-sha256", lowercaseHex(sha256(body))))
        case .get, .head, .delete:
            headers.append(("x-amz-content-sha256", Self.emptyHash))
        }
        if let token = settings.sessionToken {
            headers.append(("x-amz-security-token", token))
        }
        // libcurl signs the parameters in the order of the URL.
        let query = request.query.sorted { $0.name < $1.name }.map {
            "\($0.name.percentEncoded())=\($0.value.percentEncoded())"
        }.joined(separator: "&")
        var fetch = FetchRequest(
            url: "\(base)/\(request.name.percentEncoded(keeping: [UInt8(ascii: "/")]))"
                + (query.isEmpty ? "" : "?\(query)"),
            method: request.method, headers: headers,
            deadline: deadline, bodyBytesMax: Self.bodyBytesMax,
            redirectsMax: 0)
        fetch.signature = AWSSignature(
            region: settings.region, service: "s3", accessKeyID: settings.accessKeyID,
            secretAccessKey: settings.secretAccessKey)
        return fetch
    }

    // MARK: - Errors

    private static func mayPass(_ response: FetchResponse) -> Bool {
        if [408, 429, 500, 502, 503, 504].contains(response.status) { return true }
        // Concurrent requests for the same object, and a body that the server did not receive in time.
        return ["OperationAborted", "ConditionalRequestConflict", "RequestTimeout"].contains(
            S3Document(response.body)?.text("Code") ?? "")
    }

    private static func mayPass(_ error: FetchError) -> Bool {
        switch error {
        case .hostNotFound, .connectionFailed, .timedOut, .notHTTP, .interrupted, .overloaded: true
        case .invalidURL, .invalidRequest, .addressRefused, .tlsFailed, .tooLarge,
            .tooManyRedirects, .redirectRefused, .movedAway, .cancelled, .failed:
            false
        }
    }

    private static func error(_ response: FetchResponse, _ what: String) -> ObjectError {
        let document = S3Document(response.body)
        let code = document?.text("Code")
        if response.status == 507
            || ["QuotaExceeded", "XMinioStorageFull", "EntityTooLarge"].contains(code ?? "")
        {
            return .full
        }
        // The text of a server is shortened, because it goes to the log.
        let details = [code, document?.text("Message").map { String($0.prefix(200)) }]
            .compactMap { $0 }
        return .unavailable(
            "\(what): the object store responded with status \(response.status)"
                + (details.isEmpty ? "" : " (\(details.joined(separator: ": ")))"))
    }
}
