import EchoServer
import SocketClient
import Testing

@testable import GraphQLNIO

@Suite struct GraphQLOverHTTPTests {
    @Test(arguments: [
        (#"{"query":"{a}"}"#, "query={a}"),
        (#"{"query":"{a}","variables":null,"operationName":null,"extensions":null}"#, "query={a}"),
        (#"{"query":"{a}","operationName":""}"#, "query={a}"),
        (#"{"query":"{a}","operationName":"B","more":[1]}"#, "query={a} operationName=B"),
        (#"{"documentId":"x"}"#, "documentId=x"), (#" {"query":""} "#, "query="),
        (#"{"query":"{a}","onError":null}"#, "query={a} onError=null"),
        // The service decides whether it supports the parameter.
        (#"{"query":"{a}","onError":"NULL"}"#, #"query={a} onError=string("NULL")"#),
        (#"{"query":"{a}","onError":1}"#, "query={a} onError=int(1)"),
    ])
    func parametersAreReadFromTheBody(body: String, expected: String) async throws {
        try await TestServer.run { server in
            let response = try await server.post(body)
            #expect(response.status == 200)
            #expect(response.body == expected)
        }
    }

    @Test func variablesAndExtensionsArePassedOn() async throws {
        try await TestServer.run { server in
            let response = try await server.post(
                #"{"variables":{"a":[1,{"b":null}]},"extensions":{"persistedQuery":{"version":1}}}"#
            )
            #expect(response.status == 200)
            #expect(response.body.contains("variables=") && response.body.contains("int(1)"))
            #expect(response.body.contains("persistedQuery"))
        }
    }

    @Test(arguments: [
        "", "{", "nonsense", "1", "null", "\"{a}\"", "[]", #"[{"query":"{a}"}]"#, "{}",
        #"{"qeury":"{a}"}"#, #"{"query":null}"#, #"{"query":1}"#, #"{"query":{}}"#,
        #"{"query":"{a}","variables":[7]}"#, #"{"query":"{a}","variables":"{}"}"#,
        #"{"query":"{a}","operationName":1}"#, #"{"query":"{a}","extensions":[]}"#,
        #"{"query":"{a}","query":"{b}"}"#, #"{"query":"{a}"} x"#, #"{"query":"\ud800"}"#,
        #"{"query":"{a}","variables":"# + String(repeating: "[", count: 1000),
    ])
    func invalidBodiesAreRefused(body: String) async throws {
        try await TestServer.run { server in
            for accept in ["application/json", "application/graphql-response+json"] {
                let response = try await server.post(
                    body, headers: "content-type: application/json\r\naccept: \(accept)\r\n")
                #expect(response.status == 400)
                #expect(response.body.hasPrefix(#"{"errors":[{"message":""#))
                #expect(response.body.contains(#""code":"BAD_REQUEST""#))
                #expect(response.headers["content-type"] == "\(accept); charset=utf-8")
            }
        }
    }

    @Test func arraysOfRequestsAreAnsweredIfTheyAreEnabled() async throws {
        try await TestServer.run(batchRequestsMax: 2) { server in
            let response = try await server.post(#"[{"query":"{a}"},{"query":"{wrong}"}]"#)
            #expect(response.status == 200)
            #expect(response.body == #"[query={a},{"errors":[{"message":"wrong"}]}]"#)
            #expect(try await server.post(#"{"query":"{a}"}"#).body == "query={a}")
            for body in [
                "[]", "[1]", #"[{"query":"{a}"},{}]"#,
                "[" + Array(repeating: #"{"query":"{a}"}"#, count: 3).joined(separator: ",") + "]",
            ] {
                #expect(try await server.post(body).status == 400)
            }
        }
    }

    @Test func arraysOfRequestsAreNeverStreamed() async throws {
        try await TestServer.run(batchRequestsMax: 2) { server in
            for (accept, status) in [
                ("text/event-stream", 406), ("multipart/mixed;subscriptionSpec=1.0", 406),
                ("text/event-stream, application/json;q=0.1", 200),
            ] {
                let response = try await server.post(
                    #"[{"query":"{a}"}]"#,
                    headers: "content-type: application/json\r\naccept: \(accept)\r\n")
                #expect(response.status == status)
                #expect(response.body.contains("NOT_ACCEPTABLE") == (status == 406))
            }
        }
    }

    @Test(arguments: [
        ("br", 415), ("gzip, gzip", 415), ("br, gzip", 415), ("gzip, br", 415), ("gzip;q=1", 415),
        ("identity", 200), ("Identity", 200), ("", 200), ("identity;q=1", 415),
    ])
    func unknownContentCodingsAreRefused(encoding: String, status: Int) async throws {
        try await TestServer.run { server in
            let headers = "content-type: application/json\r\ncontent-encoding: \(encoding)\r\n"
            let response = try await server.post(#"{"query":"{a}"}"#, headers: headers)
            #expect(response.status == status)
            #expect(response.headers["accept-encoding"] == (status == 415 ? "gzip, identity" : nil))
            let chunked = try await server.send(
                "POST /graphql HTTP/1.1\r\nhost: test\r\n\(headers)transfer-encoding: chunked\r\n\r\n"
                    + "f\r\n{\"query\":\"{a}\"}\r\n0\r\n\r\n")
            #expect(chunked.status == status)
            // Without a body the header has no effect.
            let get = try await server.get(
                "/graphql?query=%7Ba%7D", headers: "content-encoding: \(encoding)\r\n")
            #expect(get.status == 200)
        }
    }

    @Test func unknownContentCodingsAreRefusedBefore100Continue() async throws {
        try await TestServer.run { server in
            let response = try await server.send(
                "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                    + "content-encoding: br\r\ncontent-length: 10\r\nexpect: 100-continue\r\n\r\n"
            )
            #expect(response.status == 415)
            #expect(response.headers["accept-encoding"] == "gzip, identity")
        }
    }

    @Test func invalidUTF8IsRefused() async throws {
        try await TestServer.run { server in
            let status = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "content-length: 13\r\n\r\n")
                try client.send(Array(#"{"query":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
                return try client.response().status
            }
            #expect(status == 400)
        }
    }

    @Test(arguments: [
        ("application/json", 200), ("application/json;charset=utf-8", 200),
        ("Application/JSON; Charset=\"UTF-8\"", 200), ("application/json; charset=utf-16", 415),
        ("application/jsonp", 415), ("text/plain", 415), ("application/graphql", 415),
        ("application/x-www-form-urlencoded", 415), ("multipart/form-data; boundary=a", 400),
    ])
    func onlyJSONBodiesAreAccepted(contentType: String, status: Int) async throws {
        try await TestServer.run { server in
            let response = try await server.post(
                #"{"query":"{a}"}"#, headers: "content-type: \(contentType)\r\n")
            #expect(response.status == status)
        }
    }

    @Test func aBodyWithoutAContentTypeIsRefused() async throws {
        try await TestServer.run { server in
            let response = try await server.post(#"{"query":"{a}"}"#, headers: "")
            #expect(response.status == 415)
            #expect(response.body.contains("UNSUPPORTED_MEDIA_TYPE"))
            // RFC 9110, section 15.5.16: only a response to an unsupported content coding has this header.
            #expect(response.headers["accept-encoding"] == nil)
        }
    }

    @Test(arguments: [
        ("{wrong}", "application/graphql-response+json", 400), ("{wrong}", "application/json", 200),
        ("{wrong}", "*/*", 200), ("{a}", "application/graphql-response+json", 200),
        ("{a}", "text/plain", 406), ("{busy}", "application/json", 429),
    ])
    func theStatusOfInvalidDocumentsDependsOnTheMediaType(
        query: String, accept: String, status: Int
    ) async throws {
        try await TestServer.run { server in
            let response = try await server.post(
                #"{"query":"\#(query)"}"#,
                headers: "content-type: application/json\r\naccept: \(accept)\r\n")
            #expect(response.status == status)
            #expect(response.headers["retry-after"] == (status == 429 ? "7" : nil))
        }
    }

    @Test(arguments: [
        ("?query=%7Ba%7D", 200, "query={a}"),
        ("?query=%7Ba%7D&operationName=&variables=&extensions=", 200, "query={a}"),
        ("?query=%7Ba%7D&documentId=&onError=", 200, "query={a}"), ("?documentId=", 400, nil),
        ("?query=%7Ba%7D&operationName=null", 200, "query={a} operationName=null"),
        ("?documentId=x&variables=%7B%7D", 200, "documentId=x variables=object([])"),
        ("?query=%7Ba%7D&onError=HALT", 200, #"query={a} onError=string("HALT")"#),
        ("?query=mutation%7Ba%7D", 405, nil), ("", 400, nil), ("?", 400, nil),
        ("?query=%7", 400, nil), ("?query=a&variables=1", 400, nil),
        ("?query=a&variables=%7B", 400, nil), ("?query=a&query=b", 400, nil),
    ])
    func queriesRunByGET(query: String, status: Int, body: String?) async throws {
        try await TestServer.run { server in
            let response = try await server.get("/graphql\(query)")
            #expect(response.status == status)
            #expect(response.headers["allow"] == (status == 405 ? "POST" : nil))
            #expect(response.headers["cache-control"] == "no-store")
            if let body { #expect(response.body == body) }
        }
    }

    @Test func aGETWithAnotherContentTypeIsRefused() async throws {
        try await TestServer.run { server in
            let response = try await server.get(
                "/graphql?query=%7Ba%7D", headers: "content-type: text/plain\r\n")
            #expect(response.status == 415)
        }
    }

    @Test(arguments: [
        ("Bearer abc", "query={a} token=abc"), ("bearer  abc", "query={a} token=abc"),
        ("Basic abc", "query={a}"), ("Bearer", "query={a}"), ("Bearer ", "query={a}"),
    ])
    func theTokenIsPassedOn(authorization: String, body: String) async throws {
        try await TestServer.run { server in
            let response = try await server.post(
                #"{"query":"{a}"}"#,
                headers: "content-type: application/json\r\nauthorization: \(authorization)\r\n")
            #expect(response.body == body)
        }
    }

    @Test func otherRoutesAllowNoOtherOrigins() async throws {
        try await TestServer.run(routes: { _ in
            [Route(.POST, "/private") { _ in .text(.ok, "secret") }]
        }) { server in
            for method in ["OPTIONS", "POST"] {
                let response = try await server.send(
                    "\(method) /private HTTP/1.1\r\nhost: test\r\norigin: https://a.example\r\n\r\n"
                )
                #expect(response.status == (method == "POST" ? 200 : 204))
                #expect(!response.headers.keys.contains { $0.hasPrefix("access-control-") })
            }
        }
    }

    @Test func aPreflightReturnsTheMethodsOfItsPath() async throws {
        try await TestServer.run(routes: { _ in
            [Route(.PUT, "/things/*", allowsOtherOrigins: true) { _ in HTTPResponse(.ok) }]
        }) { server in
            let preflight = try await server.send(
                "OPTIONS /things/1 HTTP/1.1\r\nhost: test\r\norigin: https://a.example\r\n\r\n")
            #expect(preflight.headers["access-control-allow-methods"] == "PUT, OPTIONS")
            #expect(preflight.headers["allow"] == "PUT, OPTIONS")
        }
    }

    @Test(arguments: ["graphql", "apollographql"])
    func appsNameThemselves(prefix: String) async throws {
        try await TestServer.run { server in
            let response = try await server.get(
                "/graphql?query=%7Ba%7D",
                headers: "\(prefix)-client-name: ios\r\n\(prefix)-client-version: 1.2\r\n")
            #expect(response.body == "query={a} app=ios/1.2")
        }
    }

    @Test func pagesOfOtherOriginsMaySendRequests() async throws {
        try await TestServer.run { server in
            let preflight = try await server.send(
                "OPTIONS /graphql HTTP/1.1\r\nhost: test\r\norigin: https://a.example\r\n"
                    + "access-control-request-method: POST\r\n\r\n")
            #expect(preflight.status == 204)
            #expect(preflight.headers["access-control-allow-origin"] == "*")
            #expect(
                preflight.headers["access-control-allow-methods"] == "POST, GET, HEAD, OPTIONS")
            #expect(
                preflight.headers["access-control-allow-headers"]
                    == "accept, apollo-require-preflight, apollographql-client-name, apollographql-client-version, "
                    + "authorization, content-type, graphql-client-name, graphql-client-version, "
                    + "graphql-preflight, if-none-match, if-range, range, traceparent, "
                    + "x-apollo-operation-id, x-apollo-operation-name, x-request-id"
            )
            #expect(preflight.headers["access-control-max-age"] == "7200")
            let response = try await server.get(
                "/graphql?query=%7Ba%7D", headers: "origin: https://a.example\r\n")
            #expect(response.headers["access-control-allow-origin"] == "*")
            #expect(response.headers["access-control-allow-credentials"] == nil)
            let refused = try await server.post(
                "", headers: "content-type: text/plain\r\norigin: https://a.example\r\n")
            #expect(refused.status == 415)
            #expect(refused.headers["access-control-allow-origin"] == "*")
            let same = try await server.get("/graphql?query=%7Ba%7D")
            #expect(same.headers["access-control-allow-origin"] == nil)
        }
    }
}
