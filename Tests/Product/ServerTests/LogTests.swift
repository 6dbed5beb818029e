import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import GraphQLNIO
@testable import Server

@Suite struct LogTests {
    @Test func linesAreWrittenAsText() {
        let line = LogLine(
            time: 951_782_399_007, level: .warning, label: "server", message: "slow\nquery",
            fields: [("request_id", .text("abc")), ("what", .text("a \"b\""))])
        #expect(
            String(decoding: line.bytes(.text), as: UTF8.self)
                == "2000-02-28T23:59:59.007Z WARNING  slow\\u{a}query request_id=abc what=\"a \\\"b\\\"\"\n"
        )
    }

    @Test func linesAreWrittenAsJSON() {
        let line = LogLine(
            time: 0, level: .info, label: "server", message: "a\"\n\u{1}é",
            fields: [("id", .text("1")), ("n", .init(.stringConvertible(1.5)))])
        #expect(
            String(decoding: line.bytes(.json), as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:00.000Z","level":"info","logger":"server","message":"a\"\n\u0001é","id":"1","n":1.5}"#
                + "\n")
    }

    @Test func eachRequestHasOneLineWithoutItsToken() async throws {
        let log = LogSpy(level: .debug)
        try await ProductServer.run(log: log) { server in
            _ = try await server.post(
                #"{"query":"{a}"}"#,
                headers:
                    "content-type: application/json\r\nauthorization: Bearer secret\r\nx-request-id: one\r\n"
            )
        }
        let lines = log.lines.filter { $0.contains("request_id=one") }
        #expect(lines.count == 1)
        #expect(
            lines.first?.contains("path=/graphql request_id=one status=200") == true)
        #expect(!log.lines.contains { $0.contains("secret") })
    }

    @Test func malformedRequestsAreLoggedWithoutAMethod() async throws {
        let log = LogSpy(level: .debug)
        try await ProductServer.run(log: log) { server in
            let response = try await server.send("nonsense\r\n\r\n")
            #expect(response.status == 400)
        }
        #expect(log.lines.filter { $0.contains("status=400") }.count == 1)
        #expect(!log.lines.contains { $0.contains("method=") })
    }

    /// Probes and scrapes would fill the access log.
    @Test func theAccessLogHasNoProbes() async throws {
        let log = LogSpy(level: .info)
        try await ProductServer.run(log: log, accessLogLevel: .info) { server in
            _ = try await server.get("/health/live")
            _ = try await server.get("/metrics")
            _ = try await server.get("/nothing?secret=1")
            _ = try await server.get("/exports/secret.zip")
        }
        let requests = log.lines.filter { $0.contains("request ") }
        #expect(requests.count == 2)
        #expect(requests.first?.contains("path=/nothing ") == true)
        #expect(requests.last?.contains("path=/exports/… ") == true)
        #expect(!requests.contains { $0.contains("secret") })
    }

    @Test(
        arguments: [
            (.stringConvertible(3), #""n":3"#),
            (.stringConvertible(Int64.min), #""n":-9223372036854775808"#),
            (.stringConvertible(0.25), #""n":0.25"#),
            (.stringConvertible(Double.nan), #""n":"nan""#),
            (.string("12"), #""n":"12""#),
        ] as [(Logger.MetadataValue, String)])
    func numbersAreNumbersInJSON(value: Logger.MetadataValue, member: String) {
        let line = LogLine(
            time: 0, level: .info, label: "server", message: "m", fields: [("n", .init(value))])
        #expect(String(decoding: line.bytes(.json), as: UTF8.self).contains(member))
    }

    /// The logged duration starts when the head has been read, and not when the body is complete.
    @Test func durationsStartAtTheHead() throws {
        var bytes = ByteBuffer(string: "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n")
        var headReader = HeadReader()
        let head = try #require(try headReader.read(&bytes, HTTPLimits()))
        let reader = RequestReader(head, routes: RouteTable([]), newID: { "id" })
        let headTime = reader.start
        var body = ByteBuffer(string: "{}")
        _ = reader.bodyAction(&body) { BodyFile(on: EmbeddedEventLoop()) {} }
        #expect(Exchange(reader).start == headTime)
    }

    /// A monitor, which asks every few seconds, has the response.
    @Test func unsuccessfulProbesAreNotLogged() async throws {
        let log = LogSpy(level: .info)
        try await ProductServer.run(log: log, readiness: { .notReady("no database") }) { server in
            let response = try await server.get("/health/ready")
            #expect(response.status == 503)
        }
        #expect(!log.lines.contains { $0.contains("/health/ready") })
    }
}
