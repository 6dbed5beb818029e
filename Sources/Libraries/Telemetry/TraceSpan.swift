/// A unit of work in a distributed trace.
///
/// Spec: https://opentelemetry.io/docs/specs/otel/trace/api/#span
package struct TraceSpan: Sendable {
    package enum AttributeValue: Sendable, Equatable {
        case text(String)
        case number(Int)
    }

    /// 32 lower-case hexadecimal digits.
    package let traceID: String
    /// 16 lower-case hexadecimal digits.
    package let id: String
    /// nil for the first span of a trace.
    package let parentID: String?
    /// A name from a small set. Clients must not be able to influence it.
    package let name: String
    /// Nanoseconds of Unix time.
    package let start: Int64
    package let end: Int64
    package var attributes: [(name: String, value: AttributeValue)]
    /// Whether the server failed. Errors of clients do not count.
    package let hasFailed: Bool

    /// Creates the span of this process's part of a trace, which ends now.
    package init(
        _ trace: TraceParent, name: String, duration: Duration,
        attributes: [(name: String, value: AttributeValue)], hasFailed: Bool
    ) {
        traceID = trace.traceID
        id = trace.parentID
        parentID = trace.callerID
        self.name = name
        end = unixNanoseconds()
        start = end - duration.nanoseconds
        self.attributes = attributes
        self.hasFailed = hasFailed
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
