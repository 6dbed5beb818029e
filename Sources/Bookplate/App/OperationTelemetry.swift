import GraphQL
import GraphQLServing
import Identity
import Logging
import Telemetry

/// Counts and times the operations of one event loop, and logs the slow ones.
struct OperationTelemetry {
    /// An operation that was run.
    struct Finished {
        let request: GraphQLRequest
        /// Of the document, which the request may only have named.
        let text: [UInt8]
        let kind: OperationKind
        /// Nil for an anonymous one.
        let operationName: String?
        /// Looking the document up, or parsing, validating and planning it; and its variables.
        let planning: Duration
        let execution: Duration
        let errorCodes: [String]
        let statementCount: Int
        let roundTripCount: Int
    }

    private let logger: Logger
    private let slowOperation: Duration?
    private let durations: [OperationKind: Histogram]
    private let hits: Counter
    private let misses: Counter
    private let refused: Counter
    /// By kind; for nil the document was not known yet.
    private let abandoned: [OperationKind?: Counter]
    private let metrics: Metrics
    private var errors: [String: Counter] = [:]

    init(_ services: Services) {
        logger = services.logger
        slowOperation = services.slowOperation
        metrics = services.metrics
        durations = Dictionary(
            uniqueKeysWithValues: OperationKind.allCases.map { kind in
                (
                    kind,
                    services.metrics.histogram(
                        "bookplate_operation_duration_seconds",
                        "GraphQL operations, from their text to the whole response.",
                        ["kind": kind.rawValue])
                )
            })
        func document(_ result: String) -> Counter {
            services.metrics.counter(
                "bookplate_documents_total",
                "Documents asked for: known already, or parsed, validated and planned.",
                ["result": result])
        }
        hits = document("known")
        misses = document("new")
        refused = services.metrics.counter(
            "bookplate_requests_refused_total",
            "GraphQL requests refused before execution: syntax, validation, limits, variables.")
        abandoned = Dictionary(
            uniqueKeysWithValues: (OperationKind.allCases + [nil]).map { kind in
                (
                    kind,
                    services.metrics.counter(
                        "bookplate_operations_abandoned_total",
                        "GraphQL operations whose client left, or cancelled them, before their response was complete.",
                        ["kind": kind?.rawValue ?? "unknown"])
                )
            })
    }

    func lookedUp(isKnown: Bool) { (isKnown ? hits : misses).increment() }

    mutating func refused(_ errorCodes: [String]) {
        refused.increment()
        count(errorCodes)
    }

    /// Counts an operation whose client does not wait for its response any more. Subscriptions count only while they are
    /// being opened: leaving is how they usually end.
    func abandoned(_ kind: OperationKind?, _ requestID: String) {
        abandoned[kind]?.increment()
        logger.debug(
            "operation abandoned by its client",
            metadata: ["request_id": "\(requestID)", "kind": "\(kind?.rawValue ?? "unknown")"])
    }

    mutating func finished(_ operation: Finished, isAbandoned: Bool) {
        let duration = operation.planning + operation.execution
        durations[operation.kind]?.observe(duration)
        count(operation.errorCodes)
        if isAbandoned { abandoned(operation.kind, operation.request.requestID) }
        guard let slowOperation, duration >= slowOperation else { return }
        logger.warning(
            "slow operation",
            metadata: [
                "request_id": "\(operation.request.requestID)",
                "operation": "\(operation.operationName ?? "anonymous")",
                "kind": "\(operation.kind.rawValue)",
                // The name that clients of persisted queries know the document by.
                "document_hash": "\(lowercaseHex(sha256(operation.text)))",
                "milliseconds": "\(duration / .milliseconds(1))",
                "planning_milliseconds": "\(operation.planning / .milliseconds(1))",
                "execution_milliseconds": "\(operation.execution / .milliseconds(1))",
                "statements": "\(operation.statementCount)",
                "round_trips": "\(operation.roundTripCount)",
                "errors": "\(operation.errorCodes.count)",
            ])
    }

    /// Counts errors by their codes, which are those of the error catalogue: a closed set. Errors of cancelled requests
    /// are not sent to anyone.
    mutating func count(_ codes: [String]) {
        for code in codes where code != BookplateError.cancelledCode {
            let counter =
                errors[code]
                ?? metrics.counter(
                    "bookplate_errors_total", "Errors in GraphQL responses, by their code.",
                    ["code": code])
            errors[code] = counter
            counter.increment()
        }
    }
}
