import Glibc
import Logging
import Testing

@testable import Server

@Suite struct LogTests {
    @Test func writesALineForPeople() {
        let line = LogLine(
            time: 951_782_399_007, level: .warning, label: "server", message: "slow\nquery",
            fields: [("request_id", "abc"), ("what", "a \"b\"")])
        #expect(
            String(decoding: line.bytes(.text), as: UTF8.self)
                == "2000-02-28T23:59:59.007Z WARNING  slow\\u{a}query request_id=abc what=\"a \\\"b\\\"\"\n"
        )
    }

    @Test func writesALineForMachines() {
        let line = LogLine(
            time: 0, level: .info, label: "server", message: "a\"\n\u{1}é", fields: [("n", "1")])
        #expect(
            String(decoding: line.bytes(.json), as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:00.000Z","level":"info","logger":"server","message":"a\"\n\u0001é","n":"1"}"#
                + "\n")
    }

    @Test func saysOneLineForEachRequestAndNoToken() async throws {
        let log = LogSpy(level: .debug)
        try await TestServer.run(log: log) { server in
            _ = try await server.post(
                #"{"query":"{a}"}"#,
                headers:
                    "content-type: application/json\r\nauthorization: Bearer secret\r\nx-request-id: one\r\n"
            )
        }
        let lines = log.lines.filter { $0.contains("request_id=one") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("POST /graphql 200") == true)
        #expect(!log.lines.contains { $0.contains("secret") })
    }

    @Test func namesNoMethodWhereNoneWasRead() async throws {
        let log = LogSpy(level: .debug)
        try await TestServer.run(log: log) { server in
            let response = try await server.send("nonsense\r\n\r\n")
            #expect(response.status == 400)
        }
        #expect(log.lines.filter { $0.contains("unreadable 400") }.count == 1)
        #expect(!log.lines.contains { $0.contains("GET") })
    }

    @Test func measuresFromTheHead() async throws {
        let log = LogSpy(level: .debug)
        try await TestServer.run(log: log) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "content-length: 15\r\nx-request-id: late\r\nexpect: 100-continue\r\n\r\n"
                )
                #expect(try client.response().status == 100)
                usleep(100_000)
                try client.send(#"{"query":"{a}"}"#)
                #expect(try client.response().status == 200)
            }
        }
        let line = log.lines.first { $0.contains("request_id=late") }
        let time = line?.split(separator: "microseconds=").last?.prefix { $0.isNumber }
        #expect(try #require(time.flatMap { Int($0) }) >= 100_000)
    }

    @Test func warnsOfFaults() async throws {
        let log = LogSpy(level: .warning)
        try await TestServer.run(log: log, readiness: { .notReady("no database") }) { server in
            _ = try await server.get("/health/ready")
            _ = try await server.get("/health/live")
        }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("GET /health/ready 503") == true)
    }
}
