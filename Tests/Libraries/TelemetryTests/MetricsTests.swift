import Testing

@testable import Telemetry

@Suite struct MetricsTests {
    @Test func textHasThePrometheusFormat() async {
        let metrics = Metrics()
        metrics.counter("b_total", "How many.", ["route": "/a", "status": "200"]).increment(by: 2)
        metrics.counter("b_total", "How many.", ["route": "/a", "status": "404"]).increment()
        metrics.gauge("a", "How much.").set(-3)
        #expect(
            await metrics.text() == """
                # HELP a How much.
                # TYPE a gauge
                a -3
                # HELP b_total How many.
                # TYPE b_total counter
                b_total{route="/a",status="200"} 2
                b_total{route="/a",status="404"} 1

                """)
    }

    @Test func sameNameAndLabelsReturnTheSameInstrument() async {
        let metrics = Metrics()
        for _ in 0..<3 { metrics.counter("a_total", "A.", ["x": "1"]).increment() }
        #expect(metrics.counter("a_total", "A.", ["x": "1"]).count == 3)
        #expect(metrics.counter("a_total", "A.", ["x": "2"]).count == 0)
    }

    @Test func labelsAreEscaped() async {
        let metrics = Metrics()
        metrics.gauge("a", "A.", ["x": "\"\\\n"]).set(1)
        #expect(await metrics.text().contains(#"a{x="\"\\\n"} 1"#))
    }

    @Test func bucketsAreCumulative() async {
        let metrics = Metrics()
        let histogram = metrics.histogram("a_duration_seconds", "A.", ["kind": "query"])
        for milliseconds in [0, 1, 3, 20_000] { histogram.observe(.milliseconds(milliseconds)) }
        histogram.observe(.microseconds(500))
        let lines = await metrics.text().split(separator: "\n")
        for line in [
            #"a_duration_seconds_bucket{kind="query",le="0.0005"} 2"#,
            #"a_duration_seconds_bucket{kind="query",le="0.001"} 3"#,
            #"a_duration_seconds_bucket{kind="query",le="0.005"} 4"#,
            #"a_duration_seconds_bucket{kind="query",le="10"} 4"#,
            #"a_duration_seconds_bucket{kind="query",le="+Inf"} 5"#,
            #"a_duration_seconds_sum{kind="query"} 20.0045"#,
            #"a_duration_seconds_count{kind="query"} 5"#,
        ] {
            #expect(lines.contains(line[...]), "\(line)")
        }
    }

    @Test func updatesRunBeforeEachReading() async {
        let metrics = Metrics()
        let gauge = metrics.gauge("a", "A.")
        metrics.beforeReading { gauge.add(1) }
        #expect(await metrics.text().contains("\na 1\n"))
        #expect(await metrics.text().contains("\na 2\n"))
    }
}

@Suite struct TraceParentTests {
    @Test func keepsTheTraceIDAndGeneratesAParentID() throws {
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let one = try #require(TraceParent(header))
        let other = try #require(TraceParent(header))
        #expect(one.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(one.header.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-"))
        #expect(one.header.hasSuffix("-01"))
        #expect(one.header.utf8.count == header.utf8.count)
        #expect(one.parentID != other.parentID && one.parentID != "b7ad6b7169203331")
        #expect(TraceParent(one.header)?.traceID == one.traceID)
    }

    @Test(arguments: [
        "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-extra",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
    ])
    func rejectsMalformedHeaders(header: String) {
        #expect(TraceParent(header) == nil)
    }

    @Test func laterVersionsMayHaveMoreParts() {
        #expect(
            TraceParent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more") != nil)
    }
}
