import Glibc
import Synchronization

/// Decides which requests are recorded as traces, and keeps the finished spans until they are exported.
///
/// The number of spans is limited. If the collector is too slow or not available, new spans are dropped, and requests do not wait.
package final class Tracer: Sendable {
    /// The maximum number of spans that wait for the export: about 4 MB.
    package static let spansMax = 4096

    private let share: Double
    private let spans = Mutex<[TraceSpan]>([])
    private let recorded: Counter
    private let dropped: Counter

    /// - Parameter share: The share of the traces to record, from 0 to 1. If a trusted proxy sends a `traceparent`, its flag
    ///   decides.
    package init(share: Double, metrics: Metrics) {
        self.share = share
        recorded = metrics.counter(
            "bookplate_trace_spans_total", "Finished spans of recorded traces.")
        dropped = metrics.counter(
            "bookplate_trace_spans_dropped_total",
            "Spans that were not exported, because too many waited or the collector refused them.")
    }

    /// Returns the trace of a request: the one of its `traceparent` header or a new one; nil if a new one would not be recorded.
    ///
    /// - Parameter isTrusted: Whether a trusted proxy has sent the header. Other clients cannot decide that a trace is recorded.
    package func trace(of header: String?, isTrusted: Bool) -> TraceParent? {
        let trace = header.flatMap(TraceParent.init)
        if let trace, isTrusted || !trace.isRecorded { return trace }
        let isChosen = share > 0 && (share >= 1 || Double.random(in: 0..<1) < share)
        if let trace { return isChosen ? trace : trace.withoutRecording() }
        return isChosen ? TraceParent() : nil
    }

    package func record(_ span: TraceSpan) {
        recorded.increment()
        let isDropped = spans.withLock { spans in
            guard spans.count < Self.spansMax else { return true }
            spans.append(span)
            return false
        }
        if isDropped { dropped.increment() }
    }

    /// Removes and returns the oldest spans.
    package func take(_ count: Int) -> [TraceSpan] {
        spans.withLock { spans in
            let taken = Array(spans.prefix(count))
            spans.removeFirst(taken.count)
            return taken
        }
    }

    /// Returns spans that could not be exported yet. Those for which there is no longer room are dropped.
    package func putBack(_ unsent: [TraceSpan]) {
        let excess = spans.withLock { spans in
            let kept = unsent.prefix(max(0, Self.spansMax - spans.count))
            spans.insert(contentsOf: kept, at: 0)
            return unsent.count - kept.count
        }
        drop(excess)
    }

    /// Counts spans that the collector refused.
    package func drop(_ count: Int) { dropped.increment(by: count) }
}

func unixNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}
