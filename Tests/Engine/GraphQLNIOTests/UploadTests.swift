import Basics
import EchoServer
import GraphQLServing
import NIOCore
import SocketClient
import Synchronization
import TestBasics
import Testing

@testable import GraphQLNIO

/// Limits of requests with files, and of large bodies in general.
@Suite struct UploadTests {
    private static func parse(
        operations: String, map: String, jsonBytesMax: Int = 4096
    ) async throws(HTTPProblem) -> GraphQLRequest {
        let parts = [("operations", operations), ("map", map), ("0", "file")].map { name, content in
            "--b\r\ncontent-disposition: form-data; name=\"\(name)\"\r\n\r\n\(content)\r\n"
        }
        return try await parse(
            .memory(Array((parts.joined() + "--b--\r\n").utf8)), jsonBytesMax: jsonBytesMax)
    }

    private static func parse(
        _ body: StoredBytes, jsonBytesMax: Int
    ) async throws(HTTPProblem) -> GraphQLRequest {
        var request = HTTPRequest(
            method: .POST, target: RequestTarget("/graphql"),
            headers: StoredHeaders(RequestHeaders()),
            body: ByteBuffer(), id: "test")
        request.storedBody = body
        return try await GraphQLRequest(
            multipart: request, boundary: "b", jsonBytesMax: jsonBytesMax)
    }

    private static func operations(nulls: Int) -> String {
        let nulls = Array(repeating: "null", count: nulls).joined(separator: ",")
        return #"{"query":"{a}","variables":{"a":[\#(nulls)]}}"#
    }

    private static func map(paths: Int) -> String {
        let paths = (0..<paths).map { #""variables.a.\#($0)""# }.joined(separator: ",")
        return #"{"0":[\#(paths)]}"#
    }

    @Test(arguments: [
        (operations(nulls: 100), map(paths: 100), nil),
        (operations(nulls: 101), map(paths: 101), "`map` may contain at most 100 paths."),
        (operations(nulls: 1000), map(paths: 1), "The request's body is larger than 4096 bytes."),
        (operations(nulls: 1), #"{"0":["variables.b"]}"#, notNull),
        (operations(nulls: 1), #"{"0":["variables.a.1"]}"#, notNull),
        (operations(nulls: 1), #"{"0":["variables.a.0","variables.a.0"]}"#, notNull),
        (operations(nulls: 1), #"{"0":["variables.a.-1"]}"#, notNull),
        (operations(nulls: 1), #"{"0":["variables.a"]}"#, notNull),
    ])
    func pathsOfUploadsAreLimited(operations: String, map: String, message: String?) async {
        do throws(HTTPProblem) {
            _ = try await Self.parse(operations: operations, map: map)
            #expect(message == nil)
        } catch {
            #expect(error.message == message)
        }
    }

    private static let notNull = "Each path in `map` must lead to a null value in `variables`."

    /// The limits are those of other JSON, and `map` is small in any case.
    @Test(arguments: [
        (operations(nulls: 10_000), map(paths: 1), "JSON has more than 10000 values"),
        (operations(nulls: 1), map(paths: 2_000), "larger than 32768 bytes"),
    ])
    func jsonOfUploadsIsLimited(operations: String, map: String, message: String) async {
        let error = await #expect(throws: HTTPProblem.self) {
            try await Self.parse(operations: operations, map: map, jsonBytesMax: 1 << 20)
        }
        #expect(error?.message.contains(message) == true)
    }

    @Test func jsonOfUploadsIsCharged() async throws {
        let (operations, map) = (Self.operations(nulls: 100), Self.map(paths: 100))
        let request = try await Self.parse(operations: operations, map: map)
        #expect(request.bodyByteCount == operations.utf8.count + map.utf8.count)
    }

    /// The end of the body is missing in the temporary file, as after an error of the disk.
    @Test func uploadThatCannotBeReadCanBeRepeated() async throws {
        let file = try UnnamedFile()
        let error = await #expect(throws: HTTPProblem.self) {
            try await Self.parse(.file(file, 0..<100), jsonBytesMax: 4096)
        }
        let response = error?.response()
        #expect(response?.status == .serviceUnavailable)
        #expect(response?.headers.contains { $0.0 == "Retry-After" } == true)
    }

    /// Clients that do not complete their bodies hold memory, so there is a limit for all bodies of an address.
    @Test(arguments: [true, false])
    func bodiesThatAreHeldAreLimited(isLimitOfAddress: Bool) async throws {
        var limits = HTTPLimits.quick
        limits.bodyTimeout = .seconds(30)
        if isLimitOfAddress {
            limits.bodyBytesPerAddressMax = 1 << 20
        } else {
            limits.bodyBytesOfProcessMax = 1 << 20
        }
        try await TestServer.run(limits: limits, bodyBytesMax: 4 << 20) { server in
            @Sendable func head(_ count: Int) -> String {
                "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: \(count)\r\n\r\n"
            }
            @Sendable func hold() async throws -> RawClient {
                try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(head(900_001) + String(repeating: " ", count: 900_000))
                    return client
                }
            }
            var holder = try await hold()
            try await waitUntil("another body is refused") {
                let response = try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(
                        head(800_000) + #"{"query":"{a}"}"#
                            + String(repeating: " ", count: 800_000 - 15))
                    return try client.response()
                }
                guard response.status != 200 else {
                    // The server may have received this body first, and refused that of the holder.
                    holder = try await hold()
                    return false
                }
                #expect(response.status == (isLimitOfAddress ? 429 : 503))
                #expect(response.headers["retry-after"] == "5")
                return true
            }
            // Small requests are served, and the held body is complete after its last byte.
            #expect(try await server.send(.post(#"{"query":"{a}"}"#)).status == 200)
            let client = holder
            let last = try await onThread {
                try client.send("x")
                return try client.response()
            }
            #expect(last.status == 400)
            // The memory is free again.
            let large = try await server.send(
                head(900_000) + #"{"query":"{a}"}"# + String(repeating: " ", count: 900_000 - 15))
            #expect(large.status == 200)
        }
    }

    /// A compressed body counts with its contents, which are in memory.
    @Test func bodiesCountWithTheirContents() async throws {
        var limits = HTTPLimits.quick
        limits.bodyBytesPerAddressMax = 1 << 20
        try await TestServer.run(limits: limits, bodyBytesMax: 4 << 20) { server in
            func request(contents: Int) throws -> [UInt8] {
                let query = Array(#"{"query":"{a}"}"#.utf8)
                let body = try gzip(query + Array(repeating: 0x20, count: contents - query.count))
                return Array(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: \(body.count)\r\n\r\n"
                        .utf8) + body
            }
            for (contents, status) in [(900_000, 200), (1_200_000, 429), (900_000, 200)] {
                let request = try request(contents: contents)
                let response = try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(request)
                    return try client.response()
                }
                #expect(response.status == status)
            }
        }
    }

    /// A task that does not end when its client has disconnected keeps the body, so it counts until then.
    @Test func bodyCountsUntilItsTaskEnds() async throws {
        var limits = HTTPLimits.quick
        limits.bodyBytesPerAddressMax = 1 << 20
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        let isHeld = Atomic(false)
        let isCancelled = Atomic(false)
        let hasEnded = Atomic(false)
        try await TestServer.run(
            limits: limits, bodyBytesMax: 4 << 20,
            routes: { _ in
                [
                    Route(.POST, "/held", bodyBytesMax: 4 << 20) { request in
                        isHeld.store(true, ordering: .releasing)
                        await withTaskCancellationHandler {
                            // Not cancelled with the request's task.
                            await Task { for await _ in releases { break } }.value
                        } onCancel: {
                            isCancelled.store(true, ordering: .releasing)
                        }
                        hasEnded.store(true, ordering: .releasing)
                        return HTTPResponse(.ok, body: request.body)
                    }
                ]
            }
        ) { server in
            func head(_ path: String) -> String {
                "POST \(path) HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n"
            }
            let body = #"{"query":"{a}"}"# + String(repeating: " ", count: 900_000 - 15)
            let held = head("/held") + body
            do {
                let client = try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(held)
                    return client
                }
                try await waitUntil("the task runs") { isHeld.load(ordering: .acquiring) }
                withExtendedLifetime(client) {}
            }
            try await waitUntil("the server knows that the connection is closed") {
                isCancelled.load(ordering: .acquiring)
            }
            #expect(try await server.send(head("/graphql") + body).status == 429)
            let endsEarly = hasEnded.load(ordering: .acquiring)
            #expect(!endsEarly)
            release.yield()
            try await waitUntil("the body does not count") {
                try await server.send(head("/graphql") + body).status == 200
            }
            let ends = hasEnded.load(ordering: .acquiring)
            #expect(ends)
        }
    }

    // MARK: - Bodies in files

    /// A route that returns the body that it gets in a file.
    private static func storing(bytesMax: Int = 4 << 20) -> Route {
        Route(
            .PUT, "/stored", bodyBytesMax: 64,
            checkHead: { _ in .accepted(bodyBytesMax: bytesMax, isStored: true) }
        ) { request in
            guard request.body.readableBytes == 0, case .file = request.storedBody else {
                return HTTPResponse(.internalServerError)
            }
            return HTTPResponse(
                .ok, body: ByteBuffer(bytes: (try? request.storedBody.bytes()) ?? []))
        }
    }

    @Test(arguments: [1, 65_536, 3_000_000], [false, true])
    func bodyIsStoredInAFile(byteCount: Int, isChunked: Bool) async throws {
        let content = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try await TestServer.run(routes: { _ in [Self.storing()] }) { server in
            let response = try await onThread {
                let client = try RawClient(port: server.port)
                let framing =
                    isChunked ? "transfer-encoding: chunked" : "content-length: \(byteCount)"
                try client.send("PUT /stored HTTP/1.1\r\nhost: test\r\n\(framing)\r\n\r\n")
                for start in stride(from: 0, to: byteCount, by: 100_000) {
                    let part = Array(content[start..<min(start + 100_000, byteCount)])
                    if isChunked { try client.send("\(String(part.count, radix: 16))\r\n") }
                    try client.send(part)
                    if isChunked { try client.send("\r\n") }
                }
                if isChunked { try client.send("0\r\n\r\n") }
                // Another request on the same connection waits for the first one.
                try client.send("GET /text HTTP/1.1\r\nhost: test\r\n\r\n")
                let response = try client.response()
                #expect(try client.response().status == 200)
                return response
            }
            #expect(response.status == 200)
            #expect(response.bytes == content)
        }
    }

    /// The files count for the limit of an address like bodies in memory, until their request ends.
    @Test func storedBodiesAreLimited() async throws {
        var limits = HTTPLimits.quick
        limits.bodyTimeout = .seconds(30)
        limits.bodyBytesPerAddressMax = 1 << 20
        try await TestServer.run(limits: limits, routes: { _ in [Self.storing()] }) { server in
            @Sendable func put(_ count: Int, missing: Int = 0) -> String {
                "PUT /stored HTTP/1.1\r\nhost: test\r\ncontent-length: \(count)\r\n\r\n"
                    + String(repeating: "x", count: count - missing)
            }
            // Whichever body arrives last is refused, so the order is repeated until it is the expected one.
            try await waitUntil("a second body is refused while the first is held") {
                let holder = try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(put(900_001, missing: 1))
                    return client
                }
                let second = try await server.send(put(300_000)).status
                let first = try await onThread {
                    try? holder.send("x")
                    return try? holder.response().status
                }
                return first == 200 && second == 429
            }
            #expect(try await server.send(put(5 << 20)).status == 413)
            #expect(try await server.send(put(900_000)).status == 200)
        }
    }
}
