import GraphQL

/// Collects the error codes of a response with several parts, and reports when it ends.
final class ResponseParts {
    private var errorCodes: [String]
    private var onEnd: ((_ errorCodes: [String], _ isAbandoned: Bool) -> Void)?

    /// - Parameter onEnd: Called once: after the last part, or when the client no longer reads the parts.
    init(
        _ first: ExecutionResult,
        onEnd: @escaping (_ errorCodes: [String], _ isAbandoned: Bool) -> Void
    ) {
        errorCodes = first.errors.compactMap(\.code)
        self.onEnd = onEnd
    }

    deinit { end(isAbandoned: true) }

    /// Returns the same parts, and counts their errors. The response is abandoned when the returned stream is released before
    /// its end.
    func counting(_ rest: ResponseStream) -> ResponseStream {
        ResponseStream { () throws(RequestErrors) in
            guard let part = try await rest.next() else {
                self.end(isAbandoned: false)
                return nil
            }
            self.errorCodes += part.errors.compactMap(\.code)
            return part
        }
    }

    func end(isAbandoned: Bool) {
        onEnd?(errorCodes, isAbandoned)
        onEnd = nil
    }
}
