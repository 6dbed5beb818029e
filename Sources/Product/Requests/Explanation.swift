import GraphQL
import Postgres

/// The statements and timings of one request, for requests with `extensions: {explain: true}`.
///
/// Only used in development, because it reveals the SQL statements.
package final class Explanation {
    private var roundTrips: [RoundTrip] = []
    /// The time during which at least one round trip was in progress.
    private var database = Duration.zero
    private var runningCount = 0
    private var isBusySince = ContinuousClock.now

    private struct RoundTrip {
        let statements: Value
        let start: ContinuousClock.Instant
        var duration = Duration.zero
    }

    /// Adds a round trip that begins. Round trips that run at the same time are listed in the order in which they began.
    ///
    /// - Returns: The index to pass to `end`.
    func begin(_ pipeline: Pipeline) -> Int {
        let now = ContinuousClock.now
        if runningCount == 0 { isBusySince = now }
        runningCount += 1
        roundTrips.append(
            RoundTrip(
                statements: .list(pipeline.statementTexts.map { .string($0) }), start: now))
        return roundTrips.count - 1
    }

    /// Records the duration of a round trip that has ended.
    func end(_ index: Int) {
        let now = ContinuousClock.now
        roundTrips[index].duration = now - roundTrips[index].start
        runningCount -= 1
        if runningCount == 0 { database += now - isBusySince }
    }

    /// Returns the response with `extensions.explain`.
    ///
    /// - Parameters:
    ///   - body: A response object without extensions.
    ///   - isKnown: Whether the document was in the cache.
    func added(
        to body: [UInt8], isKnown: Bool, document: CachedDocument, scopes: ScopeSet,
        planning: Duration, execution: Duration
    ) -> [UInt8] {
        guard body.last == UInt8(ascii: "}") else { return body }
        let phases = [
            ("parse", document.parsing), ("validate", document.validation), ("plan", planning),
            ("execute", execution), ("database", database),
        ]
        var writer = ResponseWriter()
        writer.write(
            .object([
                .init("documentWasKnown", .boolean(isKnown)),
                .init("scopes", .list(AccessScope.names(in: scopes).map { .string($0) })),
                .init("isSessionOnly", .boolean(scopes.contains(.sessionOnly))),
                .init(
                    "microseconds",
                    .object(phases.map { .init($0.0, Self.microseconds($0.1)) })),
                .init(
                    "roundTrips",
                    .list(
                        roundTrips.map {
                            .object([
                                .init("microseconds", Self.microseconds($0.duration)),
                                .init("statements", $0.statements),
                            ])
                        })),
            ]))
        return body.dropLast() + Array(#","extensions":{"explain":"#.utf8) + writer.bytes
            + Array("}}".utf8)
    }

    private static func microseconds(_ duration: Duration) -> Value {
        .int(Int(duration / .microseconds(1)))
    }
}
