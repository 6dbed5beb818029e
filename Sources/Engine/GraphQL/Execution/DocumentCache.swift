/// A cache of parsed and validated documents, which in turn cache their plans. The key is the text
/// of the document.
///
/// Rejected documents are cached with their errors, so repeating an invalid request is as cheap as
/// repeating a valid one.
///
/// **Eviction** follows the second-chance algorithm: `hand` moves around `ring`, which holds all
/// entries, and removes the first one that was not looked up since the hand passed it. A hit costs
/// one flag more than the lookup in the dictionary, and an insertion removes only as many documents
/// as it needs to, because freeing many plans at once would delay other requests of the thread.
///
/// **Memory.** A short text can have a large plan, so the documents count with the memory of their
/// trees and plans, not with their texts. A new plan also removes other documents.
///
/// The cache is not thread-safe: each executor thread has its own.
public final class DocumentCache {
    private let schema: Schema
    private let resolvers: any ResolverSource
    private let limits: RequestLimits
    private let errorCodes: ErrorCodes
    private var entries: [SourceKey: Entry] = [:]
    private var ring: [Entry] = []
    private var hand = 0
    /// The approximate memory of all entries.
    package private(set) var bytes = 0
    /// The number of documents that were parsed.
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
        let key: SourceKey
        let document: Result<CachedDocument, RequestErrors>
        var wasUsed = true

        init(_ key: SourceKey, _ document: Result<CachedDocument, RequestErrors>) {
            self.key = key
            self.document = document
        }

        /// The approximate memory.
        var bytes: Int {
            switch document {
            case .success(let document): key.bytes.count + document.bytes
            case .failure(let errors):
                key.bytes.count
                    + errors.errors.reduce(0) {
                        $0 + 256 + $1.message.utf8.count
                    }
            }
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
    public func document(_ text: [UInt8]) async throws(RequestErrors) -> CachedDocument {
        if let known = try cached(text) { return known }
        return try await add(text, timer: TurnTimer())
    }

    /// Returns the document with this text if the cache has it.
    ///
    /// - Throws: the errors of a cached document that was rejected.
    package func cached(_ text: [UInt8]) throws(RequestErrors) -> CachedDocument? {
        guard let entry = entries[SourceKey(bytes: text)] else { return nil }
        entry.wasUsed = true
        return try entry.document.get()
    }

    /// Parses and validates a document that the cache does not have, and adds it. After the parsing of a long text, other
    /// tasks of the executor have their turn.
    ///
    /// - Parameter timer: excludes the time of other tasks.
    /// - Throws: the errors of a document that exceeds a limit or is not valid.
    package func add(
        _ text: [UInt8], timer: TurnTimer
    ) async throws(RequestErrors) -> CachedDocument {
        missCount += 1
        let start = timer.elapsed
        let parsed = Result { () throws(GraphQLError) in
            try parse(Source(text), limits: limits.parsing)
        }.mapError { RequestErrors([$0.coded(by: errorCodes)]) }
        let parsing = timer.elapsed - start
        if text.count > Self.longTextBytes {
            await timer.giveWay()
            // Another request may have added the same text in the meantime.
            if let known = try cached(text) { return known }
        }
        let document = parsed.flatMap { document in
            Result { () throws(RequestErrors) in
                try CachedDocument(
                    document, parsing: parsing, schema: schema, resolvers: resolvers,
                    limits: limits, errorCodes: errorCodes)
            }
        }
        let entry = Entry(SourceKey(bytes: text), document)
        bytes += entry.bytes
        evict(toAdd: 1)
        entries[entry.key] = entry
        ring.append(entry)
        let added = try document.get()
        added.cache = self
        return added
    }

    /// Parsing a text of this length takes about 0.1 ms.
    private static let longTextBytes = 4096

    /// Counts the memory of a new plan, and removes other documents if there is too much.
    fileprivate func planned(_ bytes: Int) {
        self.bytes += bytes
        evict(toAdd: 0)
    }

    /// Removes entries until the limits allow `count` more, or until the cache is empty.
    private func evict(toAdd count: Int) {
        while !ring.isEmpty,
            ring.count + count > limits.cachedDocumentsMax || bytes > limits.cachedBytesMax
        {
            if hand >= ring.count { hand = 0 }
            let entry = ring[hand]
            if entry.wasUsed {
                entry.wasUsed = false
                hand += 1
            } else {
                ring.remove(at: hand)
                entries[entry.key] = nil
                bytes -= entry.bytes
                if case .success(let document) = entry.document { document.cache = nil }
            }
        }
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
/// responses but does not use more memory. Plans also count for the memory of the cache.
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
    /// The cache that counts the memory of this document; nil after it was removed.
    fileprivate weak var cache: DocumentCache?
    /// The approximate memory of the document and its plans.
    fileprivate private(set) var bytes: Int

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
        _ document: Document, parsing: Duration, schema: Schema, resolvers: any ResolverSource,
        limits: RequestLimits, errorCodes: ErrorCodes
    ) throws(RequestErrors) {
        let start = ContinuousClock.now
        let errors = validate(
            document, against: schema, limits: limits.operation, options: limits.validation)
        guard errors.isEmpty else { throw RequestErrors(errors).coded(by: errorCodes) }
        self.document = document
        self.parsing = parsing
        validation = .now - start
        self.schema = schema
        self.resolvers = resolvers
        self.limits = limits
        self.errorCodes = errorCodes
        conditionVariables = document.conditionVariables()
        hasIncrementalDirectives =
            schema.hasIncrementalDelivery
            && document.usesDirective { $0 == "defer" || $0 == "stream" }
        pageSizeVariables = document.pageSizeVariables(limits.operation)
        bytes = document.bytes
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
            store(plan, for: key)
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

    /// Removes all plans, so that the next request has to create one.
    package func removeAllPlans() {
        let planBytes = plans.values.reduce(0) { $0 + $1.bytes }
        plans.removeAll()
        count(-planBytes)
    }

    /// Stores a plan for later requests, unless it is so large that many other documents would have to make room for it.
    private func store(_ plan: OperationPlan, for key: PlanKey) {
        guard plan.bytes <= limits.cachedBytesMax / 8 else { return }
        if plans.count >= limits.plansPerDocumentMax
            || bytes + plan.bytes > limits.cachedBytesMax / 4
        {
            removeAllPlans()
        }
        plans[key] = plan
        count(plan.bytes)
    }

    private func count(_ planBytes: Int) {
        bytes += planBytes
        cache?.planned(planBytes)
    }

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
