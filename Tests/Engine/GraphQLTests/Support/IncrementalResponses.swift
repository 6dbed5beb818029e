import GraphQL
import GraphQLServing
import Testing

/// Executes a request on a JSON value for a client that accepts a response in several parts.
///
/// - Returns: all responses, in order.
func incrementalResponses(
    to source: String, root: String, variables: String = "{}", schema: Schema,
    loading: JSONDataSource.Loading = .immediate, context: RecordingContext = RecordingContext(),
    onError: ErrorBehavior = .propagate, format: IncrementalFormat = .draft,
    limits: RequestLimits = .trusted, errorsMax: Int = 100, responseBytesMax: Int = .max
) async throws -> [String] {
    let cache = DocumentCache(
        schema: schema, resolvers: JSONDataSource(schema: schema, loading: loading),
        limits: limits, errorCodes: .apollo)
    let (root, variables) = (try json(root), try json(variables))
    let plan: OperationPlan
    let values: VariableValues
    do throws(RequestErrors) {
        (plan, values, _) = try await cache.document(Array(source.utf8))
            .plan(operationName: nil, variables: variables, isIncremental: true)
    } catch {
        return [String(decoding: error.body, as: UTF8.self)]
    }
    let (first, rest) = await executeIncrementally(
        plan, variables: values, root: JSONBatch([root], selection: plan.root), context: context,
        onError: onError, errorsMax: errorsMax, responseBytesMax: responseBytesMax, format: format)
    var bodies = [String(decoding: first.body, as: UTF8.self)]
    while let response = try await rest?.next() {
        bodies.append(String(decoding: response.body, as: UTF8.self))
    }
    return bodies
}

/// A client of incremental delivery: applies the responses to the first one, and checks that they follow the protocol.
struct MergedResponse {
    private(set) var data: Value
    private(set) var errors: [Value]
    /// The announced fragments and lists that have not been completed.
    private var pending: [String: [Value]] = [:]
    private(set) var hasNext: Bool
    private var announcedCount = 0

    init(_ responses: [String]) throws {
        let first = try json(responses[0])
        data = first["data"] ?? .null
        errors = first["errors"]?.list ?? []
        hasNext = first["hasNext"]?.boolean ?? false
        announce(first)
        #expect(hasNext == !pending.isEmpty)
        for response in responses.dropFirst() { try apply(try json(response)) }
        #expect(!hasNext, "the last response announces another")
        #expect(pending.isEmpty, "not completed: \(pending.keys)")
    }

    private mutating func announce(_ response: Value) {
        for entry in response["pending"]?.list ?? [] {
            let id = entry["id"]?.string ?? ""
            #expect(id == "\(announcedCount)")
            announcedCount += 1
            pending[id] = entry["path"]?.list ?? []
        }
    }

    private mutating func apply(_ response: Value) throws {
        #expect(hasNext, "a response follows the last one")
        hasNext = response["hasNext"]?.boolean ?? false
        announce(response)
        for entry in response["incremental"]?.list ?? [] {
            let id = entry["id"]?.string ?? ""
            let path = try #require(pending[id], "unknown id \(id)")
            errors += entry["errors"]?.list ?? []
            if let items = entry["items"]?.list {
                data.append(items, at: path[...])
            } else {
                data.merge(
                    entry["data"] ?? .null, at: (path + (entry["subPath"]?.list ?? []))[...])
            }
        }
        for entry in response["completed"]?.list ?? [] {
            let id = entry["id"]?.string ?? ""
            #expect(pending.removeValue(forKey: id) != nil, "unknown id \(id)")
            errors += entry["errors"]?.list ?? []
        }
        // A path can be announced together with the data that contains it.
        for path in pending.values {
            #expect(data.value(at: path[...]) != nil, "the client does not know the path \(path)")
        }
        #expect(hasNext == !pending.isEmpty)
    }
}

extension Value {
    /// The value with the members of all objects in alphabetical order.
    var sorted: Value {
        switch self {
        case .list(let items): .list(items.map(\.sorted))
        case .object(let members):
            .object(
                members.map { .init($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        default: self
        }
    }

    fileprivate func value(at path: ArraySlice<Value>) -> Value? {
        guard let first = path.first else { return self }
        if let index = first.int {
            guard let items = list, items.indices.contains(index) else { return nil }
            return items[index].value(at: path.dropFirst())
        }
        return first.string.flatMap { self[$0] }?.value(at: path.dropFirst())
    }

    fileprivate mutating func append(_ added: [Value], at path: ArraySlice<Value>) {
        change(at: path) { value in
            guard case .list(let items) = value else {
                Issue.record("not a list: \(value)")
                return
            }
            value = .list(items + added)
        }
    }

    fileprivate mutating func merge(_ added: Value, at path: ArraySlice<Value>) {
        change(at: path) { value in
            guard case .object(var members) = value, case .object(let new) = added else {
                Issue.record("not an object: \(value)")
                return
            }
            for member in new {
                #expect(
                    !members.contains { $0.name == member.name },
                    "\(member.name) is delivered twice")
                members.append(member)
            }
            value = .object(members)
        }
    }

    private mutating func change(at path: ArraySlice<Value>, _ body: (inout Value) -> Void) {
        guard let first = path.first else { return body(&self) }
        switch self {
        case .list(var items):
            guard let index = first.int, items.indices.contains(index) else {
                Issue.record("no item \(first)")
                return
            }
            items[index].change(at: path.dropFirst(), body)
            self = .list(items)
        case .object(var members):
            guard let index = members.firstIndex(where: { $0.name == first.string }) else {
                Issue.record("no member \(first)")
                return
            }
            members[index].value.change(at: path.dropFirst(), body)
            self = .object(members)
        default: Issue.record("no value at \(path)")
        }
    }
}
