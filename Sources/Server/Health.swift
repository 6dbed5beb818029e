import NIOCore

/// `/health/live`: the process runs. `/health/ready`: it can serve; 503 says why not.
func healthRoutes(_ readiness: @escaping () async -> Readiness) -> [Route] {
    [
        Route(.GET, "/health/live") { _ in
            .text(.ok, #"{"status":"live"}"#, contentType: json)
        },
        Route(.GET, "/health/ready") { _ in
            switch await readiness() {
            case .ready: return .text(.ok, #"{"status":"ready"}"#, contentType: json)
            case .notReady(let reason):
                var body = ByteBuffer(string: #"{"status":"unavailable","reason":"#)
                body.writeJSONString(reason)
                body.writeStaticString("}")
                return HTTPResponse(
                    .serviceUnavailable, contentType: json, body: body,
                    headers: [("retry-after", "1"), ("cache-control", "no-store")])
            }
        },
    ]
}

private let json = ResponseMediaType.json.contentType
