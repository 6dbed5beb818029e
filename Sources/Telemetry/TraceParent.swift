/// Where this request stands in a trace that began elsewhere: the header `traceparent`.
///
/// Only well-formed ones are taken: what is not is as if it were absent. Its trace id goes into each line of the log,
/// and the header goes on to outside servers, with a new parent id that stands for this process's part.
///
/// Spec: https://www.w3.org/TR/trace-context/#traceparent-header
package struct TraceParent: Sendable, Equatable {
    /// 32 lower-case hexadecimal digits, not all zero.
    package let traceID: String
    /// 16 digits, ours.
    package let parentID: String
    /// Two digits: whether the caller records.
    package let flags: String

    /// That of the request that the current task answers.
    @TaskLocal package static var current: TraceParent?

    /// - Parameter header: as it was received.
    package init?(_ header: String) {
        let parts = header.split(separator: "-", omittingEmptySubsequences: false)
        func isHex(_ part: Substring, _ count: Int) -> Bool {
            part.utf8.count == count
                && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
        func isZero(_ part: Substring) -> Bool { part.utf8.allSatisfy { $0 == 0x30 } }
        // A later version may have more parts; ours has four.
        guard parts.count >= 4, isHex(parts[0], 2), parts[0] != "ff",
            parts[0] != "00" || parts.count == 4,
            isHex(parts[1], 32), !isZero(parts[1]), isHex(parts[2], 16), !isZero(parts[2]),
            isHex(parts[3], 2)
        else { return nil }
        traceID = String(parts[1])
        flags = String(parts[3])
        let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        parentID = String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// The header's value for what this request asks of others.
    package var header: String { "00-\(traceID)-\(parentID)-\(flags)" }
}
