import GraphQL
import GraphQLServing
import Identity
import Logging
import Postgres
import Telemetry

/// Counts and measures the operations of one event loop, and logs the slow ones.
struct OperationTelemetry {
    /// An operation that was executed.
    struct Finished {
        let request: GraphQLRequest
        /// The text of the document, also if the request contained only its hash.
        let text: [UInt8]
        let kind: OperationKind
        /// At most 100 characters; nil for an anonymous operation.
        let operationName: String?
        /// The time for finding the document, or for parsing, validating, and planning it, and for coercing the variables.
        let planning: Duration
        let execution: Duration
        let errorCodes: [String]
        let statementCount: Int
        let roundTripCount: Int

        /// Creates the measurements of an operation that has ended now.
        init(
            _ request: GraphQLRequest, text: [UInt8], _ plan: OperationPlan,
            planningStart: ContinuousClock.Instant, executionStart: ContinuousClock.Instant,
            errorCodes: [String], _ statistics: Statistics
        ) {
            self.request = request
            self.text = text
            kind = plan.kind
            operationName = plan.name.map { String($0.prefix(100)) }
            planning = executionStart - planningStart
            execution = .now - executionStart
            self.errorCodes = errorCodes
            statementCount = statistics.statementCount
            roundTripCount = statistics.roundTripCount
        }
    }

    private let logger: Logger
    private let slowOperation: Duration?
    private let durations: [OperationKind: Histogram]
    private let hits: Counter
    private let misses: Counter
    private let refused: Counter
    /// By kind; nil if the request was abandoned before its document was known.
    private let abandoned: [OperationKind?: Counter]
    private let metrics: Metrics
    private let tracer: Tracer?
    private var errors: [String: Counter] = [:]

    init(_ environment: RequestEnvironment) {
        logger = environment.logger
        slowOperation = environment.slowOperation
        metrics = environment.metrics
        tracer = environment.tracer
        durations = Dictionary(
            uniqueKeysWithValues: OperationKind.allCases.map { kind in
                (
                    kind,
                    environment.metrics.histogram(
                        "bookplate_operation_duration_seconds",
                        "Duration of GraphQL operations, from parsing to the complete response.",
                        ["kind": kind.rawValue])
                )
            })
        func document(_ result: String) -> Counter {
            environment.metrics.counter(
                "bookplate_documents_total",
                "Requested documents: cached, or parsed, validated, and planned.",
                ["result": result])
        }
        hits = document("known")
        misses = document("new")
        refused = environment.metrics.counter(
            "bookplate_requests_refused_total",
            "GraphQL requests rejected before execution: syntax, validation, limits, variables.")
        abandoned = Dictionary(
            uniqueKeysWithValues: (OperationKind.allCases + [nil]).map { kind in
                (
                    kind,
                    environment.metrics.counter(
                        "bookplate_operations_abandoned_total",
                        "GraphQL operations whose client disconnected or cancelled them before the response was complete.",
                        ["kind": kind?.rawValue ?? "unknown"])
                )
            })
        // These exist before the first error, so that Prometheus sees the first increase, too.
        for code in [BookplateError.internalError.code, BookplateError.serviceUnavailableCode] {
            errors[code] = errorCounter(code)
        }
    }

    private func errorCounter(_ code: String) -> Counter {
        metrics.counter(
            "bookplate_errors_total", "Errors in GraphQL responses by code.", ["code": code])
    }

    /// Counts a document.
    ///
    /// - Parameter isKnown: Whether it was in the cache.
    func lookedUp(isKnown: Bool) { (isKnown ? hits : misses).increment() }

    /// Counts a request that is rejected before its operation is executed.
    mutating func refused(_ errorCodes: [String]) {
        refused.increment()
        count(errorCodes)
    }

    /// Counts an operation whose client no longer waits for the response. Subscriptions count only while they are being
    /// opened, because clients normally end them by disconnecting.
    func abandoned(_ kind: OperationKind?, _ requestID: String) {
        abandoned[kind]?.increment()
        logger.debug(
            "the client abandoned an operation",
            metadata: ["request_id": "\(requestID)", "kind": "\(kind?.rawValue ?? "unknown")"])
    }

    /// Counts and traces an operation that was executed, and logs it if it was slow.
    mutating func finished(_ operation: Finished, isAbandoned: Bool) {
        let duration = operation.planning + operation.execution
        durations[operation.kind]?.observe(duration)
        count(operation.errorCodes)
        if isAbandoned { abandoned(operation.kind, operation.request.requestID) }
        trace(operation, duration)
        guard let slowOperation, duration >= slowOperation else { return }
        logger.warning(
            "slow operation",
            metadata: [
                "request_id": "\(operation.request.requestID)",
                "operation": "\(operation.operationName ?? "anonymous")",
                "kind": "\(operation.kind.rawValue)",
                // The hash that clients send for persisted queries.
                "document_hash": "\(lowercaseHex(sha256(operation.text)))",
                "milliseconds": .stringConvertible(duration / .milliseconds(1)),
                "planning_milliseconds": .stringConvertible(operation.planning / .milliseconds(1)),
                "execution_milliseconds": .stringConvertible(
                    operation.execution / .milliseconds(1)),
                "statements": .stringConvertible(operation.statementCount),
                "round_trips": .stringConvertible(operation.roundTripCount),
                "errors": .stringConvertible(operation.errorCodes.count),
            ])
    }

    /// Records a span of the operation, as a part of the HTTP request. Operations of WebSockets begin a trace. The text of the
    /// document may contain secrets, so the span has only its hash.
    ///
    /// Spec: https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/
    private func trace(_ operation: Finished, _ duration: Duration) {
        guard let tracer,
            let trace = TraceParent.current?.makePart() ?? tracer.trace(of: nil, isTrusted: false),
            trace.isRecorded
        else { return }
        var attributes: [(name: String, value: TraceSpan.AttributeValue)] = [
            ("graphql.operation.type", .text(operation.kind.rawValue)),
            ("bookplate.document_hash", .text(lowercaseHex(sha256(operation.text)))),
            ("bookplate.request_id", .text(operation.request.requestID)),
            ("bookplate.database.statements", .number(operation.statementCount)),
            ("bookplate.database.round_trips", .number(operation.roundTripCount)),
        ]
        if let name = operation.operationName {
            attributes.append(("graphql.operation.name", .text(name)))
        }
        if let code = operation.errorCodes.first { attributes.append(("error.type", .text(code))) }
        tracer.record(
            TraceSpan(
                trace, name: operation.kind.rawValue, duration: duration, attributes: attributes,
                hasFailed: operation.errorCodes.contains {
                    $0 == BookplateError.internalError.code
                        || $0 == BookplateError.serviceUnavailableCode
                }))
    }

    /// Counts errors by code. The codes are a fixed set. Errors of cancelled requests do not count, because they are not sent.
    mutating func count(_ codes: [String]) {
        for code in codes where code != BookplateError.cancelledCode {
            let counter = errors[code] ?? errorCounter(code)
            errors[code] = counter
            counter.increment()
        }
    }
}
