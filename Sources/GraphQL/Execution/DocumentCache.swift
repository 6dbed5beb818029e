/// Parsed, validated and planned documents, the least recently used forgotten first.
///
/// One cache belongs to one thread of execution, so it needs no lock. Documents that were refused
/// are kept too: asking again costs no more than asking for a good one.
public final class DocumentCache {
    private let schema: Schema
    private let resolvers: any ResolverSource
    private let limits: RequestLimits
    private var entries: [Text: Entry] = [:]
    private var sourceBytes = 0
    private var clock: UInt64 = 0
    /// How many texts were not known.
    public private(set) var missCount = 0

    /// The hash of an array goes byte by byte; this one takes eight at a time.
    private struct Text: Hashable {
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

    public init(schema: Schema, resolvers: any ResolverSource, limits: RequestLimits) {
        self.schema = schema
        self.resolvers = resolvers
        self.limits = limits
    }

    /// The document with this text; a text seen before is neither parsed nor validated again.
    public func document(_ text: [UInt8]) throws(RequestErrors) -> CachedDocument {
        clock += 1
        if let entry = entries[Text(bytes: text)] {
            entry.lastUsed = clock
            return try entry.document.get()
        }
        missCount += 1
        let document = Result { () throws(RequestErrors) in
            try CachedDocument(text, schema: schema, resolvers: resolvers, limits: limits)
        }
        makeRoom(for: text.count)
        entries[Text(bytes: text)] = Entry(document, lastUsed: clock)
        sourceBytes += text.count
        return try document.get()
    }

    /// Forgets the older half when full: rare, so that a hit stays one look-up.
    private func makeRoom(for bytes: Int) {
        guard
            entries.count >= limits.cachedDocumentsMax
                || sourceBytes + bytes > limits.cachedSourceBytesMax
        else { return }
        let ages = entries.values.map(\.lastUsed).sorted()
        // None is there when a single document is larger than the cache.
        guard let median = ages.dropFirst(ages.count / 2).first else { return }
        entries = entries.filter { $0.value.lastUsed > median }
        sourceBytes = entries.keys.reduce(0) { $0 + $1.bytes.count }
    }
}

/// A valid document and its plans.
public final class CachedDocument {
    public let document: Document
    /// How long it took to parse and to validate it, once.
    public let parsing: Duration
    public let validation: Duration
    private let schema: Schema
    private let resolvers: any ResolverSource
    private let limits: RequestLimits
    private let conditionVariables: [String]
    /// Operations that were asked for, by the name they were asked for with.
    private var operations:
        [String?: (definition: OperationDefinition, variables: OperationVariables)] = [:]
    private var plans: [PlanKey: OperationPlan] = [:]
    private let pageSizeVariables: [String]
    private var costs: [CostKey: Int] = [:]

    private struct PlanKey: Hashable {
        let operationName: String?
        /// Nil for a variable that is null, or belongs to another operation.
        let conditions: [Bool?]
    }

    private struct CostKey: Hashable {
        let operationName: String?
        let pageSizes: [Int?]
    }

    init(
        _ text: [UInt8], schema: Schema, resolvers: any ResolverSource, limits: RequestLimits
    ) throws(RequestErrors) {
        let start = ContinuousClock.now
        let document: Document
        do throws(GraphQLError) {
            document = try parse(Source(text), limits: limits.parsing)
        } catch {
            throw RequestErrors([error])
        }
        let parsed = ContinuousClock.now
        let errors = validate(
            document, against: schema, limits: limits.operation, options: limits.validation)
        guard errors.isEmpty else { throw RequestErrors(errors) }
        self.document = document
        parsing = parsed - start
        validation = .now - parsed
        self.schema = schema
        self.resolvers = resolvers
        self.limits = limits
        conditionVariables = document.conditionVariables()
        pageSizeVariables = document.pageSizeVariables()
    }

    /// Chooses the operation, coerces the variables and finds the plan that holds for them.
    ///
    /// - Returns: with the cost, in objects that the operation can return.
    ///
    /// Spec: https://spec.graphql.org/September2025/#ExecuteRequest()
    public func plan(
        operationName: String?, variables given: Value
    ) throws(RequestErrors) -> (plan: OperationPlan, variables: VariableValues, cost: Int) {
        let (operation, operationVariables) = try operation(named: operationName)
        let variables = try operationVariables.coerce(
            given, errorsMax: limits.errorsMax, hasSuggestions: limits.validation.hasSuggestions)
        let cost = try cost(of: operation, variables)
        var conditions: [String: Bool] = [:]
        for name in conditionVariables { conditions[name] = variables[name]?.boolean }
        let key = PlanKey(
            operationName: operation.name?.value,
            conditions: conditionVariables.map { conditions[$0] })
        if let plan = plans[key] { return (plan, variables, cost) }
        do throws(GraphQLError) {
            let plan = try planOperation(
                operation, of: document, schema: schema, resolvers: resolvers,
                conditions: conditions, fieldsMax: limits.plannedFieldsMax)
            // A client that tries all combinations gets its answers, but no room.
            if plans.count >= limits.plansPerDocumentMax { plans.removeAll() }
            plans[key] = plan
            return (plan, variables, cost)
        } catch {
            throw RequestErrors([error])
        }
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
            throw RequestErrors([error.withCode("BAD_USER_INPUT")])
        }
    }

    /// The next request plans anew: to measure what that costs.
    public func forgetPlans() { plans.removeAll() }

    /// Objects that the operation can return; page sizes that variables decide are known only now.
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
            throw RequestErrors([error])
        }
    }
}

extension GraphQLError {
    func withCode(_ code: String) -> GraphQLError {
        guard self.code == nil else { return self }
        var error = self
        error.extensions.insert(.init("code", .string(code)), at: 0)
        return error
    }
}
