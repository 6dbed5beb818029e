/// The position of a request in a distributed trace: the `traceparent` header.
///
/// A malformed header is ignored. The trace ID is added to each log line of the request. Requests to external
/// servers carry the header with a new parent ID, which identifies this process's span.
///
/// Spec: https://www.w3.org/TR/trace-context/#traceparent-header
package struct TraceParent: Sendable, Equatable {
    /// The trace ID: 32 lower-case hexadecimal digits, not all zero.
    package let traceID: String
    /// The ID of the caller's span; nil if the trace begins here.
    package let callerID: String?
    /// The ID of this process's span: 16 lower-case hexadecimal digits.
    package let parentID: String
    /// Two hexadecimal digits; the lowest bit means that the caller records the trace.
    package let flags: String

    /// The trace of the request that the current task handles.
    @TaskLocal package static var current: TraceParent?

    /// Parses a received header and generates a new parent ID; nil if it is malformed.
    package init?(_ header: String) {
        let parts = header.split(separator: "-", omittingEmptySubsequences: false)
        func isHex(_ part: Substring, _ count: Int) -> Bool {
            part.utf8.count == count
                && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
        func isZero(_ part: Substring) -> Bool { part.utf8.allSatisfy { $0 == 0x30 } }
        // Version 00 has exactly four parts; later versions may have more.
        guard parts.count >= 4, isHex(parts[0], 2), parts[0] != "ff",
            parts[0] != "00" || parts.count == 4,
            isHex(parts[1], 32), !isZero(parts[1]), isHex(parts[2], 16), !isZero(parts[2]),
            isHex(parts[3], 2)
        else { return nil }
        self.init(
            traceID: String(parts[1]), callerID: String(parts[2]), flags: String(parts[3]))
    }

    /// Begins a trace that is recorded.
    package init() {
        self.init(traceID: randomHexDigits() + randomHexDigits(), callerID: nil, flags: "01")
    }

    private init(traceID: String, callerID: String?, flags: String) {
        self.traceID = traceID
        self.callerID = callerID
        self.flags = flags
        parentID = randomHexDigits()
    }

    /// Returns a new span of this process that is a part of its current one.
    package func makePart() -> TraceParent {
        TraceParent(traceID: traceID, callerID: parentID, flags: flags)
    }

    /// Returns the same position in a trace whose spans are not recorded.
    func withoutRecording() -> TraceParent {
        TraceParent(traceID: traceID, callerID: callerID, flags: "00")
    }

    /// Whether the spans of the trace are recorded.
    package var isRecorded: Bool { (UInt8(flags, radix: 16) ?? 0) & 1 == 1 }

    /// The header's value for requests to other servers.
    package var header: String { "00-\(traceID)-\(parentID)-\(flags)" }
}

/// Returns 16 random lower-case hexadecimal digits, not all zero.
private func randomHexDigits() -> String {
    let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
}
