/// A cache of parsed and validated documents, which in turn cache their plans. The key is the text
/// of the document.
///
/// Rejected documents are cached with their errors, so repeating an invalid request is as cheap as
/// repeating a valid one.
///
/// **Eviction.** When the cache is full, it removes the less recently used half of its entries at
/// once. With a limit of 1,000 documents, one insertion in about 500 sorts 1,000 timestamps, and a
/// hit costs only a dictionary lookup and the update of one timestamp. `clock` counts lookups and
/// serves as the timestamp.
///
/// The cache is not thread-safe: each executor thread has its own.
public final class DocumentCache {
    private let schema: Schema
    private let resolvers: any ResolverSource
    private let limits: RequestLimits
    private let errorCodes: ErrorCodes
    private var entries: [SourceKey: Entry] = [:]
    private var sourceBytes = 0
    private var clock: UInt64 = 0
    /// The number of lookups that did not find their document in the cache.
    package private(set) var missCount = 0

    /// The text of a document. Hashes the bytes as one buffer, which is faster than the
    /// byte-by-byte hash of an array.
    private struct SourceKey: Hashable {
        let bytes: [UInt8]

        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private final class Entry {
        let document: Result<CachedDocument, RequestErrors>
        var lastUsed: UInt64

        init(_ document: Result<CachedDocument, RequestErrors>, lastUsed: UInt64) {
            self.document = document
            self.lastUsed = lastUsed
        }
    }

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - schema: The schema of all documents.
    ///   - resolvers: The resolvers of the fields of `schema`, such as an ``ExecutableSchema``.
    ///   - limits: The limits on documents, operations, and the cache itself.
    ///   - errorCodes: The codes of the engine's own errors, also during the execution of the plans.
    public init(
        schema: Schema, resolvers: any ResolverSource, limits: RequestLimits,
        errorCodes: ErrorCodes = .none
    ) {
        self.errorCodes = errorCodes
        self.schema = schema
        self.resolvers = resolvers
        self.limits = limits
    }

    /// Returns the document with this text. A cached text is neither parsed nor validated again.
    ///
    /// - Throws: the errors of a document that exceeds a limit or is not valid.
    public func document(_ text: [UInt8]) throws(RequestErrors) -> CachedDocument {
        clock += 1
        if let entry = entries[SourceKey(bytes: text)] {
            entry.lastUsed = clock
            return try entry.document.get()
        }
        missCount += 1
        let document = Result { () throws(RequestErrors) in
            try CachedDocument(
                text, schema: schema, resolvers: resolvers, limits: limits, errorCodes: errorCodes)
        }
        evictIfFull(adding: text.count)
        entries[SourceKey(bytes: text)] = Entry(document, lastUsed: clock)
        sourceBytes += text.count
        return try document.get()
    }

    /// Removes the less recently used half of the entries if another document of `bytes` bytes
    /// would exceed a limit.
    private func evictIfFull(adding bytes: Int) {
        guard
            entries.count >= limits.cachedDocumentsMax
                || sourceBytes + bytes > limits.cachedSourceBytesMax
        else { return }
        let ages = entries.values.map(\.lastUsed).sorted()
        // The cache is empty if the document alone exceeds the limit.
        guard let median = ages.dropFirst(ages.count / 2).first else { return }
        entries = entries.filter { $0.value.lastUsed > median }
        sourceBytes = entries.keys.reduce(0) { $0 + $1.bytes.count }
    }
}

/// A valid document with the plans and costs that its requests share.
///
/// Three caches are filled on demand:
///
/// - `operations` maps the requested operation name to the operation and its variables.
/// - `plans` has one plan for each operation and combination of the variables in `@skip`,
///   `@include`, `@defer`, and `@stream`. Operations with the last two have other plans for clients
///   that expect a single response.
/// - `costs` has one cost for each operation and combination of the variables that are page sizes.
///
/// A client can choose the keys of the last two. They are emptied when they reach
/// `RequestLimits.plansPerDocumentMax` entries, so a client that tries all combinations gets
/// responses but does not use more memory.
public final class CachedDocument {
    /// The parsed document.
    public let document: Document
    /// The time that parsing and validation took when the document was added to the cache.
    package let parsing: Duration
    package let validation: Duration
    private let schema: Schema
    private let resolvers: any ResolverSource
    private let limits: RequestLimits
    private let errorCodes: ErrorCodes
    private let conditionVariables: [String]
    /// Whether the document contains `@defer` or `@stream`.
    private let hasIncrementalDirectives: Bool
    /// The requested operations by the requested name, which is nil if the request did not name
    /// one.
    private var operations:
        [String?: (definition: OperationDefinition, variables: OperationVariables)] = [:]
    private var plans: [PlanKey: OperationPlan] = [:]
    private let pageSizeVariables: [String]
    private var costs: [CostKey: Int] = [:]

    private struct PlanKey: Hashable {
        let operationName: String?
        let isIncremental: Bool
        /// The value of each condition variable. Nil for a variable that is null, absent, or
        /// belongs to another operation.
        let conditions: [Bool?]
    }

    private struct CostKey: Hashable {
        let operationName: String?
        let pageSizes: [Int?]
    }

    init(
        _ text: [UInt8], schema: Schema, resolvers: any ResolverSource, limits: RequestLimits,
        errorCodes: ErrorCodes
    ) throws(RequestErrors) {
        let start = ContinuousClock.now
        let document: Document
        do throws(GraphQLError) {
            document = try parse(Source(text), limits: limits.parsing)
        } catch {
            throw RequestErrors([error.coded(by: errorCodes)])
        }
        let parsed = ContinuousClock.now
        let errors = validate(
            document, against: schema, limits: limits.operation, options: limits.validation)
        guard errors.isEmpty else { throw RequestErrors(errors).coded(by: errorCodes) }
        self.document = document
        parsing = parsed - start
        validation = .now - parsed
        self.schema = schema
        self.resolvers = resolvers
        self.limits = limits
        self.errorCodes = errorCodes
        conditionVariables = document.conditionVariables()
        hasIncrementalDirectives =
            schema.hasIncrementalDelivery
            && document.usesDirective { $0 == "defer" || $0 == "stream" }
        pageSizeVariables = document.pageSizeVariables(limits.operation)
    }

    /// Selects the operation, coerces the variables, checks the cost, and returns a plan for the
    /// values of the variables. If this takes long, other tasks of the executor have their turn in between.
    ///
    /// - Parameters:
    ///   - operationName: the operation; nil if the document has only one.
    ///   - given: the variables of the request, a JSON object or null.
    ///   - isIncremental: whether the client accepts a response in several parts. Otherwise, the
    ///     plan ignores `@defer` and `@stream`.
    /// - Returns: the plan, the coerced variables, and the cost: the number of objects that the
    ///   operation can return.
    ///
    /// Spec: https://spec.graphql.org/September2025/#ExecuteRequest()
    public func plan(
        operationName: String?, variables given: Value, isIncremental: Bool = false
    ) async throws(RequestErrors) -> (plan: OperationPlan, variables: VariableValues, cost: Int) {
        let (operation, operationVariables) = try operation(named: operationName)
        let variables: VariableValues
        do throws(RequestErrors) {
            variables = try await operationVariables.coerce(
                given, errorsMax: limits.errorsMax,
                hasSuggestions: limits.validation.hasSuggestions)
        } catch {
            throw error.coded(by: errorCodes)
        }
        let cost = try cost(of: operation, variables)
        var conditions: [String: Bool] = [:]
        for name in conditionVariables { conditions[name] = variables[name]?.boolean }
        let isIncremental = isIncremental && hasIncrementalDirectives
        let key = PlanKey(
            operationName: operation.name?.value, isIncremental: isIncremental,
            conditions: conditionVariables.map { conditions[$0] })
        if let plan = plans[key] { return (plan, variables, cost) }
        do throws(GraphQLError) {
            let plan = try await planOperation(
                operation, of: document, schema: schema, resolvers: resolvers,
                conditions: conditions, fieldsMax: limits.plannedFieldsMax,
                deferredFragmentsMax: isIncremental ? limits.deferredFragmentsMax : nil,
                errorCodes: errorCodes)
            // Another request may have planned the same operation in the meantime.
            if let known = plans[key] { return (known, variables, cost) }
            if plans.count >= limits.plansPerDocumentMax { plans.removeAll() }
            plans[key] = plan
            return (plan, variables, cost)
        } catch {
            throw RequestErrors([error.coded(by: errorCodes)])
        }
    }

    /// Returns the scopes that each operation needs, whatever the values of its variables are, in
    /// the order of the document.
    package func scopes() async throws(RequestErrors) -> [(
        operation: OperationDefinition, scopes: ScopeSet
    )] {
        var found: [(operation: OperationDefinition, scopes: ScopeSet)] = []
        for case .operation(let operation) in document.definitions {
            do throws(GraphQLError) {
                let plan = try await planOperation(
                    operation, of: document, schema: schema, resolvers: resolvers,
                    conditions: nil, fieldsMax: limits.plannedFieldsMax, errorCodes: errorCodes)
                found.append((operation, plan.scopes))
            } catch {
                throw RequestErrors([error.coded(by: errorCodes)])
            }
        }
        return found
    }

    private func operation(
        named name: String?
    ) throws(RequestErrors) -> (OperationDefinition, OperationVariables) {
        if let known = operations[name] { return known }
        do throws(GraphQLError) {
            let operation = try document.operation(named: name)
            let variables = OperationVariables(
                operation.variables, schema: schema, source: document.source)
            operations[name] = (operation, variables)
            return (operation, variables)
        } catch {
            throw RequestErrors([error.coded(by: errorCodes)])
        }
    }

    /// Removes all plans, so that the next request has to create one. Used to benchmark planning.
    package func removeAllPlans() { plans.removeAll() }

    /// Returns the number of objects that the operation can return. Page sizes that are variables
    /// are not known before the request.
    private func cost(
        of operation: OperationDefinition, _ variables: VariableValues
    ) throws(RequestErrors) -> Int {
        let key = CostKey(
            operationName: operation.name?.value,
            pageSizes: pageSizeVariables.map { variables[$0]?.int })
        if let known = costs[key] { return known }
        do throws(GraphQLError) {
            let cost = try checkCost(
                of: operation, in: document, against: schema, variables: variables,
                limits: limits.operation)
            if costs.count >= limits.plansPerDocumentMax { costs.removeAll() }
            costs[key] = cost
            return cost
        } catch {
            throw RequestErrors([error.coded(by: errorCodes)])
        }
    }
}
