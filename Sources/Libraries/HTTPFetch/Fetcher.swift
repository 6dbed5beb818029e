import Telemetry

/// A client for HTTP and HTTPS requests to external servers, with a policy and limits.
///
/// One dedicated thread runs all transfers, so no other thread blocks in libcurl. Proxies, cookies, netrc
/// files, and credentials from the environment are not used. Keep one fetcher for the life of the program,
/// because it reuses connections.
package final class Fetcher: Sendable {
    private let loop: FetchLoop

    package init(policy: FetchPolicy) {
        loop = FetchLoop(policy: policy)
    }

    deinit {
        loop.stop()
    }

    /// Sends the request, follows redirects, and returns the response of the last hop.
    ///
    /// Each redirect is a new request whose URL is checked like the first one. After 301, 302, and 303 a POST
    /// becomes a GET. At another origin (scheme, host, or port) only the `Accept` header is kept, and a body
    /// is not sent: that fails with `.redirectRefused`. With `staysAtOrigin`, any redirect to another origin
    /// fails with `.movedAway`.
    ///
    /// Cancelling the task ends the transfer with `.cancelled`.
    package func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchResponse {
        // Keeps self alive until the last suspension has ended, because its deinit stops the loop.
        defer { withExtendedLifetime(self) {} }
        try check(request)
        let deadline = ContinuousClock.now.advanced(by: request.deadline)
        var url = try WebURL(request.url)
        var method = request.method
        var headers = request.headers
        if let trace = TraceParent.current { headers.append(("traceparent", trace.header)) }
        var followed = 0
        while true {
            let left = milliseconds(ContinuousClock.now.duration(to: deadline))
            guard left > 0 else { throw .timedOut }
            let response = try await perform(
                Hop(
                    url: url.text, host: url.host, method: method, headers: headers,
                    signature: request.signature,
                    timeoutMilliseconds: left,
                    connectTimeoutMilliseconds: max(1, milliseconds(request.connectTimeout)),
                    bodyBytesMax: request.bodyBytesMax, truncatesBody: request.truncatesBody))
            guard [301, 302, 303, 307, 308].contains(response.status), request.redirectsMax > 0,
                let location = response.header("Location")
            else { return response }
            guard followed < request.redirectsMax else { throw .tooManyRedirects }
            followed += 1

            let next: WebURL
            do throws(FetchError) {
                next = try WebURL(location, relativeTo: url)
            } catch { throw .redirectRefused }
            if response.status <= 303 { method = .get }
            if !next.hasSameOrigin(as: url) {
                guard !request.staysAtOrigin else { throw .movedAway(to: next.text) }
                guard method == .get else { throw .redirectRefused }
                headers.removeAll { !equalIgnoringCase($0.name, "Accept") }
            }
            url = next
        }
    }

    private func perform(_ hop: Hop) async throws(FetchError) -> FetchResponse {
        let id = loop.nextID()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: FetchLoop.Continuation) in
                loop.start(hop, id: id, continuation)
            }
        } onCancel: {
            loop.cancel(id)
        }
        return try result.get()
    }

    /// Rejects headers that could inject other headers or a second request.
    private func check(_ request: FetchRequest) throws(FetchError) {
        var fields = request.headers
        switch request.method {
        case .post(_, let contentType), .put(_, let contentType):
            fields.append(("Content-Type", contentType))
        case .get, .head, .delete: break
        }
        let separators = "()<>@,;:\\\"/[]?={} ".utf8
        for field in fields {
            guard !field.name.isEmpty, !field.value.isEmpty,
                field.name.utf8.allSatisfy({
                    (0x21...0x7E).contains($0) && !separators.contains($0)
                }),
                field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else { throw .invalidRequest }
        }
        guard request.bodyBytesMax >= 0, request.redirectsMax >= 0,
            request.signature == nil || request.redirectsMax == 0
        else { throw .invalidRequest }
    }
}

/// Returns the duration in whole milliseconds, rounded up, at most one day.
private func milliseconds(_ duration: Duration) -> Int {
    let day = 86_400_000
    guard duration < .milliseconds(day) else { return day }
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
