import GraphQL
import GraphQLServing
import NIOCore

/// Responses that are sent as a stream: the events of a subscription, and the parts of one response.
extension GraphQLEndpoint {
    func stream(
        _ format: StreamFormat, hasEvents: Bool = false, headers: [(String, String)] = [],
        _ produce: @escaping (BodyStream) async -> Void
    ) -> HTTPResponse {
        var response = HTTPResponse(
            .ok, contentType: format.contentType,
            // The last header is for proxies that would otherwise buffer the whole body.
            headers: headers + [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")])
        response.hasEvents = hasEvents
        response.stream = { body in
            body.heartbeat = format.heartbeat
            body.writeNow(format.preamble)
            await produce(body)
            if case .refused(let refusal)? = body.endReason {
                Self.fail(body, format, refusal.error)
            }
        }
        return response
    }

    /// Sends the responses of a subscription.
    static func send(
        _ responses: ResponseStream, to body: BodyStream, as format: StreamFormat,
        bearerToken: String?, _ service: any GraphQLService, _ loop: any EventLoop
    ) async {
        var connection: AuthenticatedConnection?
        if let bearerToken {
            do throws(ConnectionAuthenticationError) {
                let authenticated = try await service.authenticateConnection(
                    bearerToken, for: .stream, on: loop
                ) { [weak body] in body?.end(.sessionEnded) }
                body.expiresAt = authenticated.expiresAt
                connection = authenticated
            } catch {
                // The end of the session also cancels this task, and so its check.
                return fail(
                    body, format,
                    body.endReason == .sessionEnded ? .sessionEnded : GraphQLError(error))
            }
        }
        // The session is watched until the stream ends.
        defer { withExtendedLifetime(connection) {} }
        do throws(RequestErrors) {
            // The next response is computed only after the client has read the previous one.
            while await body.waitUntilWritable(), let response = try await responses.next() {
                await body.write(format.next(response.body))
            }
        } catch  where body.endReason == nil {
            body.writeNow(format.failed(error.errors))
            return body.writeNow(format.complete)
        } catch {}
        switch body.endReason {
        case nil: await body.write(format.complete)
        case .sessionEnded: fail(body, format, .sessionEnded)
        case .tooSlow: fail(body, format, .tooSlow)
        // `stream` writes the error.
        case .disconnected, .serverStopping, .timedOut, .refused: break
        }
    }

    /// Sends the parts of a response. If the time for the response is over, its task has been cancelled, so the next part
    /// contains errors and is the last one. It is sent without waiting for the client.
    static func send(
        _ first: GraphQLResponse, _ rest: ResponseStream, to body: BodyStream,
        as format: StreamFormat
    ) async {
        var heldBytes = 0
        func countRetained() {
            let byteCount = first.retainedByteCount()
            body.countMemory(byteCount - heldBytes)
            heldBytes = byteCount
        }
        countRetained()
        defer { body.releaseMemory(heldBytes) }
        await body.write(format.next(first.body))
        do throws(RequestErrors) {
            while await body.waitUntilWritable() || body.endReason == .timedOut,
                let response = try await rest.next()
            {
                countRetained()
                let part = format.next(response.body)
                guard body.endReason == .timedOut else {
                    await body.write(part)
                    continue
                }
                if let refusal = body.writeLate(part) { return fail(body, format, refusal.error) }
            }
        } catch {
            body.writeNow(format.failed(error.errors))
            return body.writeNow(format.complete)
        }
        switch body.endReason {
        case nil, .timedOut: body.writeNow(format.complete)
        // `stream` writes the error of a refused part.
        case .disconnected, .serverStopping, .refused, .sessionEnded, .tooSlow: break
        }
    }

    private static func fail(_ body: BodyStream, _ format: StreamFormat, _ error: GraphQLError) {
        body.writeNow(format.failed([error]))
        body.writeNow(format.complete)
    }
}
