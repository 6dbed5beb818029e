/// A list of statements that are sent together in libpq's pipeline mode: one flush, one round trip, and
/// one implicit transaction.
///
/// Each statement sees the effects of those before it. If one fails, all are rolled back. The server
/// parses every statement before it executes the first one, so a pipeline cannot use a table that it
/// creates.
///
/// Example:
///
///     var pipeline = Pipeline()
///     pipeline.append(insertBook, bookParameters)
///     pipeline.append(countBooks)
///     let rows = try await pool.run(pipeline)  // rows[1] holds the count
///
/// See https://www.postgresql.org/docs/15/libpq-pipeline-mode.html
package struct Pipeline: Sendable {
    struct Step: Sendable {
        let statement: Statement
        let parameters: Parameters
    }

    /// The maximum number of parameters of one statement, a limit of the protocol.
    package static let parametersMax = 65_535
    /// The maximum size of the parameters of all statements together, in bytes.
    package static let parameterBytesMax = 64 << 20
    /// The maximum number of statements.
    package static let statementsMax = 1000

    /// A limit of a pipeline. The raw value is its name.
    package enum Limit: String, Sendable {
        case statementsMax, parametersMax, parameterBytesMax

        package var max: Int {
            switch self {
            case .statementsMax: Pipeline.statementsMax
            case .parametersMax: Pipeline.parametersMax
            case .parameterBytesMax: Pipeline.parameterBytesMax
            }
        }

        /// The plural of the counted things, for messages.
        package var unit: String {
            switch self {
            case .statementsMax: "statements"
            case .parametersMax: "parameters"
            case .parameterBytesMax: "bytes of parameters"
            }
        }
    }

    private(set) var steps: [Step] = []
    /// The notifications to send after the commit.
    private(set) var notifications: Set<Notification> = []

    /// Whether the pipeline changes nothing, so that it may be sent again when its connection is lost.
    package var isReadOnly: Bool
    /// Whether its commit waits until it is stored, also by a synchronous standby. False if the pipeline sets
    /// `synchronous_commit` to off: see `commitAsynchronously`.
    package var isDurable = true
    /// The maximum time from `run` to the result; nil for the pool's `pipelineTimeout`.
    package var timeout: Duration?
    /// The maximum memory of the rows of all statements together, in bytes; nil for no limit.
    ///
    /// It applies to read-only pipelines. The rows are counted while they arrive. When they exceed the limit, they are
    /// discarded, the statement is cancelled, and `run` throws `.rowsTooLarge`.
    package var rowBytesMax: Int?
    /// On whose behalf the pipeline runs; nil for the server itself, which is not limited.
    package var owner: PipelineOwner?
    /// Receives the counts of statements and round trips, and the time that they take.
    package var statistics: Statistics?

    package init(
        isReadOnly: Bool = false, timeout: Duration? = nil, owner: PipelineOwner? = nil,
        statistics: Statistics? = nil
    ) {
        self.isReadOnly = isReadOnly
        self.owner = owner
        self.timeout = timeout
        self.statistics = statistics
    }

    /// Whether its commit may wait for a synchronous standby.
    var mayWaitForStandby: Bool { !isReadOnly && isDurable }

    /// The number of statements.
    package var count: Int { steps.count }

    /// The SQL texts of the statements, in order, for diagnostics.
    package var statementTexts: [String] { steps.map(\.statement.text) }

    /// Appends a statement. Its rows have the same index in the result of `ConnectionPool.run`.
    package mutating func append(_ statement: Statement, _ parameters: Parameters = Parameters()) {
        steps.append(Step(statement: statement, parameters: parameters))
    }

    /// Appends a statement whose rows are decoded.
    ///
    /// - Returns: The key of its rows in `PipelineResults`.
    @discardableResult
    package mutating func append<Row>(
        _ statement: TypedStatement<Row>, _ parameters: Parameters = Parameters()
    ) -> ResultKey<Row> {
        append(statement.statement, parameters)
        return ResultKey(index: steps.count - 1)
    }

    /// Appends a statement whose rows are read without decoding them, for example by a `RowLayout`.
    ///
    /// - Returns: The key of its rows in `PipelineResults`.
    package mutating func appendForRows(
        _ statement: Statement, _ parameters: Parameters = Parameters()
    ) -> RowsKey {
        append(statement, parameters)
        return RowsKey(index: steps.count - 1)
    }

    private static let setAsynchronousCommit = Statement(
        "SELECT set_config('synchronous_commit', 'off', true)")

    /// Appends a statement that makes the commit return before it is stored. Its changes can be lost in a crash.
    package mutating func commitAsynchronously() {
        isDurable = false
        append(Self.setAsynchronousCommit)
    }

    /// Sends a notification shortly after the pipeline is committed.
    ///
    /// Use this instead of `NOTIFY` in SQL, which makes commits wait for each other; see
    /// `NotificationQueue`. The notification is lost if the process ends between the two transactions.
    package mutating func notify(_ channel: String, _ payload: String) {
        notifications.insert(Notification(channel: channel, payload: payload))
    }

    /// Returns a pipeline of one statement.
    package static func one(
        _ statement: Statement, _ parameters: Parameters = Parameters(), isReadOnly: Bool = false
    ) -> Pipeline {
        var pipeline = Pipeline(isReadOnly: isReadOnly)
        pipeline.append(statement, parameters)
        return pipeline
    }

    /// Checks the limits before anything is sent.
    ///
    /// - Throws: `.tooLarge`.
    func check() throws(PostgresError) {
        guard steps.count <= Pipeline.statementsMax else {
            throw .tooLarge(.statementsMax, count: steps.count)
        }
        var byteCount = 0
        for step in steps {
            guard step.parameters.count <= Pipeline.parametersMax else {
                throw .tooLarge(.parametersMax, count: step.parameters.count)
            }
            byteCount += step.parameters.bytes.count
        }
        guard byteCount <= Pipeline.parameterBytesMax else {
            throw .tooLarge(.parameterBytesMax, count: byteCount)
        }
    }
}
