import Testing

@testable import Telemetry

@Suite struct TracerTests {
    private let metrics = Metrics()

    private func span(_ name: String) -> TraceSpan {
        TraceSpan(TraceParent(), name: name, duration: .zero, attributes: [], hasFailed: false)
    }

    @Test func theQueueIsLimited() async {
        let tracer = Tracer(share: 1, metrics: metrics)
        for number in 0..<Tracer.spansMax + 10 { tracer.record(span("\(number)")) }
        let text = await metrics.text()
        #expect(text.contains("\nbookplate_trace_spans_dropped_total 10\n"))
        let first = tracer.take(100)
        #expect(first.map(\.name) == (0..<100).map(String.init))
        for _ in 0..<60 { tracer.record(span("new")) }
        // 40 of 100 fit.
        tracer.putBack(first)
        #expect(await metrics.text().contains("\nbookplate_trace_spans_dropped_total 70\n"))
        #expect(tracer.take(.max).count == Tracer.spansMax)
        #expect(tracer.take(1).isEmpty)
    }

    @Test func aShareOfNewTracesIsRecorded() {
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
        for share in [0.0, 1.0] {
            let tracer = Tracer(share: share, metrics: metrics)
            for isTrusted in [false, true] {
                func trace(_ header: String?) -> TraceParent? {
                    tracer.trace(of: header, isTrusted: isTrusted)
                }
                #expect((trace(nil) != nil) == (share == 1))
                #expect((trace("nonsense") != nil) == (share == 1))
                #expect(trace(header)?.isRecorded == false)
                // A client cannot demand that its traces are recorded.
                let demanded = trace(String(header.dropLast()) + "1")
                #expect(demanded?.isRecorded == (isTrusted || share == 1))
                #expect(demanded?.traceID == trace(header)?.traceID)
            }
        }
        let tracer = Tracer(share: 0.25, metrics: metrics)
        let count = (0..<4000).count { _ in tracer.trace(of: nil, isTrusted: true) != nil }
        #expect((800...1200).contains(count))
    }

    @Test func partsOfATraceReferToTheirSpan() throws {
        let trace = try #require(
            TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        #expect(trace.callerID == "b7ad6b7169203331")
        let part = trace.makePart()
        #expect(part.traceID == trace.traceID)
        #expect(part.callerID == trace.parentID)
        #expect(part.parentID != trace.parentID)
        #expect(part.isRecorded)
        #expect(TraceParent().callerID == nil)
        #expect(TraceParent(TraceParent().header)?.isRecorded == true)
    }
}
