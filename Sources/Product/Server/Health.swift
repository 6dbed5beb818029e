import GraphQLNIO
import NIOCore
import Version

/// `/health/live` reports that the process runs. `/health/ready` reports whether it can serve requests. It returns status 503
/// and the reason if it cannot, and after a stop signal. Both bodies of `/health/ready` contain the version.
func healthRoutes(
    _ shutdown: ShutdownState, _ readiness: @escaping () async -> ReadinessStatus
) -> [Route] {
    [
        Route(.GET, "/health/live") { _ in
            .text(.ok, #"{"status":"live"}"#, contentType: json)
        },
        Route(.GET, "/health/ready") { _ in
            switch shutdown.isStopping ? .notReady("the server is stopping") : await readiness() {
            case .ready:
                return .text(
                    .ok, #"{"status":"ready","version":"\#(bookplateVersion)"}"#, contentType: json)
            case .notReady(let reason):
                var body = ByteBuffer(string: #"{"status":"unavailable","reason":"#)
                body.writeJSONString(reason)
                body.writeString(#","version":"\#(bookplateVersion)"}"#)
                return HTTPResponse(
                    .serviceUnavailable, contentType: json, body: body,
                    headers: [("Retry-After", "1"), ("Cache-Control", "no-store")])
            }
        },
    ]
}

private let json = ResponseMediaType.json.contentType
