import Foundation

/// Everything that the client takes from outside: the network, the time, and random numbers. Tests replace it.
public struct ClientEnvironment: Sendable {
    /// The network.
    public var transport: any Transport
    /// The current time.
    public var now: @Sendable () -> Date
    /// Suspends the task for a duration. Throws `CancellationError` when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// 64 random bits, for ids and for the jitter of repetitions.
    public var random: @Sendable () -> UInt64
    /// The time zone that decides which day it is.
    public var timeZone: @Sendable () -> TimeZone

    /// Creates an environment. Each part that is left out is that of the system.
    public init(
        transport: any Transport = URLSessionTransport(),
        now: @escaping @Sendable () -> Date = { Date() },
        sleep: @escaping @Sendable (Duration) async throws -> Void = {
            try await Task.sleep(for: $0)
        },
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
        timeZone: @escaping @Sendable () -> TimeZone = { .current }
    ) {
        self.transport = transport
        self.now = now
        self.sleep = sleep
        self.random = random
        self.timeZone = timeZone
    }

    /// Repeats a request that has no response, up to three times. The server must treat the repetition as the same request.
    func repeatedly<Result: Sendable>(
        _ request: @Sendable () async throws -> Result
    ) async throws -> Result {
        for delay in [1, 2, 4] {
            do { return try await request() } catch let error as BookplateError
                where error.lacksResponse
            {
                try await sleep(.seconds(delay))
            }
        }
        return try await request()
    }

    var timestamp: Timestamp { Timestamp(now()) }

    var today: PartialDate { PartialDate(now(), in: timeZone()) }

    /// Returns a new UUID of version 4, in lower case.
    func makeID() -> String {
        let high = random() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = random() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = Array(Self.hexadecimal(high) + Self.hexadecimal(low))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            .joined(separator: "-")
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Sends HTTP requests.
public protocol Transport: Sendable {
    /// Sends a request and returns the complete response. Throws if there is none.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse

    /// Sends a request and returns the parts of the response's body as they arrive. The stream throws if the connection fails or the
    /// status is not 200.
    func stream(_ request: HTTPRequest) -> AsyncThrowingStream<Data, any Error>
}

extension Transport {
    /// Sends a request, and reports failures of the network as `BookplateError.unreachable`.
    func response(to request: HTTPRequest) async throws -> HTTPResponse {
        do {
            return try await send(request)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw BookplateError.unreachable(error.localizedDescription)
        }
    }
}

/// An HTTP request.
public struct HTTPRequest: Sendable {
    /// The method, such as `POST`.
    public var method: String
    /// The address.
    public var url: URL
    /// The headers.
    public var headers: [String: String]
    /// The body.
    public var body: Data?
    /// The number of seconds without data after which the request fails. Nil for that of the transport.
    public var timeout: Double?

    /// Creates a request.
    public init(
        method: String, url: URL, headers: [String: String], body: Data?, timeout: Double? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// An HTTP response.
public struct HTTPResponse: Sendable {
    /// The status, such as 200.
    public var status: Int
    /// The body.
    public var body: Data
    /// The number of seconds in the header `Retry-After`.
    public var retryAfter: Double?

    /// Creates a response.
    public init(status: Int, body: Data, retryAfter: Double? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}
