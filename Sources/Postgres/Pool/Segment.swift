/// Statements that travel together: one flush, one round trip, one transaction of their own.
///
/// Each statement sees what those before it did. If one fails, none has happened. Statements are parsed
/// before the first of them runs, so a segment cannot use a table that it creates.
package struct Segment: Sendable {
    struct Step: Sendable {
        let statement: Statement
        let parameters: Parameters
    }

    /// The most parameters of one statement; a limit of the protocol.
    package static let parametersMax = 65_535
    /// The most bytes of all parameters together.
    package static let parameterBytesMax = 64 << 20
    /// The most statements.
    package static let statementsMax = 1000

    private(set) var steps: [Step] = []
    /// What is told to those who listen when the segment is committed.
    private(set) var notices: Set<Notice> = []

    /// Whether nothing changes by running it twice: then it is sent again when a connection breaks under it.
    package var isReadOnly: Bool
    /// How long the caller waits at most; nil for the pool's own.
    package var timeout: Duration?
    /// Where to count what it costs.
    package var statistics: Statistics?

    package init(
        isReadOnly: Bool = false, timeout: Duration? = nil, statistics: Statistics? = nil
    ) {
        self.isReadOnly = isReadOnly
        self.timeout = timeout
        self.statistics = statistics
    }

    /// How many statements there are.
    package var count: Int { steps.count }

    /// The statements' texts, for a developer who asks.
    package var statementTexts: [String] { steps.map(\.statement.text) }

    /// Adds a statement after the others; its rows have the same index in the result.
    package mutating func append(_ statement: Statement, _ parameters: Parameters = Parameters()) {
        steps.append(Step(statement: statement, parameters: parameters))
    }

    /// Has listeners told when the segment is committed; soon after it, or not at all where the process ends before.
    ///
    /// Use it in place of `NOTIFY`, which makes all transactions that have something to tell commit one after the other.
    package mutating func notify(_ channel: String, _ payload: String) {
        notices.insert(Notice(channel: channel, payload: payload))
    }

    /// A segment of one statement.
    package static func one(
        _ statement: Statement, _ parameters: Parameters = Parameters(), isReadOnly: Bool = false
    ) -> Segment {
        var segment = Segment(isReadOnly: isReadOnly)
        segment.append(statement, parameters)
        return segment
    }

    /// Refuses what the protocol or the memory cannot carry, before anything is sent.
    func check() throws(PostgresError) {
        guard steps.count <= Segment.statementsMax else {
            throw .tooLarge("\(steps.count) statements, at most \(Segment.statementsMax)")
        }
        var byteCount = 0
        for step in steps {
            guard step.parameters.count <= Segment.parametersMax else {
                throw .tooLarge(
                    "\(step.parameters.count) parameters, at most \(Segment.parametersMax)")
            }
            byteCount += step.parameters.bytes.count
        }
        guard byteCount <= Segment.parameterBytesMax else {
            throw .tooLarge(
                "\(byteCount) bytes of parameters, at most \(Segment.parameterBytesMax)")
        }
    }
}
