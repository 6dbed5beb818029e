import GraphQL
import GraphQLServing
import Postgres
import Synchronization

/// Counts which elements of the schema the operations of each app use: the evidence for the removal of deprecated ones.
///
/// Each event loop counts in memory (`Counts`). A background task adds the counts to the tables `usage_clients` and
/// `schema_usage` with one statement per minute. If that fails, they are kept for the next time. A server that crashes
/// loses those of a minute. Nothing about readers is counted.
package final class SchemaUsage: Sendable {
    /// The maximum number of apps, by name and version, that a tenant can have within 30 days. Further ones are counted
    /// together.
    package static let clientsPerTenantMax = 100
    /// The maximum number of apps of all tenants in memory.
    static let clientsMax = 500

    private let loops = Mutex<[Counts]>([])
    /// Counts that could not be stored.
    private let unstored = Mutex(UsageCounts())

    package init() {}

    /// Returns the counts of a new event loop.
    func makeCounts() -> Counts {
        let counts = Counts()
        loops.withLock { $0.append(counts) }
        return counts
    }

    /// The counts of one event loop. The lock is contended only while the counts are collected.
    final class Counts: Sendable {
        private let counts = Mutex(UsageCounts())

        /// Counts one execution of an operation.
        func add(_ plan: OperationPlan, variables: Value?, by client: UsageClient) {
            let used = plan.usedElements(variables: variables)
            counts.withLock { $0.add(used, of: plan.schema.elements, by: client) }
        }

        fileprivate func take() -> UsageCounts { counts.withLock { $0.take() } }
    }

    private static let record = Statement(
        "SELECT record_schema_usage($1, $2, $3, $4, $5, $6, \(clientsPerTenantMax))")

    /// Adds the counts since the last call to the tables.
    package func store(in database: ConnectionPool) async throws(PostgresError) {
        var counts = unstored.withLock { $0.take() }
        for loop in loops.withLock({ $0 }) { counts.add(loop.take()) }
        if counts.isEmpty { return }
        do throws(PostgresError) {
            var pipeline = Pipeline(timeout: .seconds(10))
            pipeline.append(Self.record, counts.parameters)
            _ = try await database.run(pipeline)
        } catch {
            unstored.withLock { [counts] in $0.add(counts) }
            throw error
        }
    }
}

/// An app of a tenant.
struct UsageClient: Hashable, Sendable {
    /// Nil for requests without a valid access token.
    let tenantID: UUID?
    let app: ClientApp
}

/// The number of executions by app and element.
private struct UsageCounts: Sendable {
    fileprivate enum Key: Hashable {
        case client(UsageClient)
        /// All apps of the tenant beyond the limits.
        case others(UUID?)
    }

    private struct Row {
        let key: Key
        /// By the number of the element.
        var uses: [Int64]
    }

    /// Nil until something is counted.
    private var elements: SchemaElements?
    private var rows: [Row] = []
    private var rowIndices: [Key: Int] = [:]
    private var clientCounts: [UUID?: Int] = [:]

    var isEmpty: Bool { rows.isEmpty }

    mutating func take() -> UsageCounts {
        let taken = self
        self = UsageCounts()
        return taken
    }

    mutating func add(
        _ used: SchemaElementSet, of elements: SchemaElements, by client: UsageClient
    ) {
        let row = row(.client(client), elements)
        used.increment(&rows[row].uses)
    }

    mutating func add(_ more: UsageCounts) {
        guard let elements = more.elements else { return }
        for added in more.rows {
            let row = row(added.key, elements)
            for (number, uses) in added.uses.enumerated() { rows[row].uses[number] += uses }
        }
    }

    /// Returns the index of the row to count in.
    private mutating func row(_ key: Key, _ elements: SchemaElements) -> Int {
        if let row = rowIndices[key] { return row }
        if case .client(let client) = key {
            let count = clientCounts[client.tenantID, default: 0]
            guard count < SchemaUsage.clientsPerTenantMax, rows.count < SchemaUsage.clientsMax
            else { return row(.others(client.tenantID), elements) }
            clientCounts[client.tenantID] = count + 1
        }
        self.elements = elements
        rows.append(Row(key: key, uses: Array(repeating: 0, count: elements.coordinates.count)))
        rowIndices[key] = rows.count - 1
        return rows.count - 1
    }

    /// The parameters of `record_schema_usage`.
    var parameters: Parameters {
        let coordinates = elements?.coordinates.map(\.description) ?? []
        var (clients, names, uses): ([Int32], [String], [Int64]) = ([], [], [])
        for (index, row) in rows.enumerated() {
            for (number, count) in row.uses.enumerated() where count > 0 {
                clients.append(Int32(index + 1))
                names.append(coordinates[number])
                uses.append(count)
            }
        }
        var parameters = Parameters()
        parameters.appendArray(of: .uuid) { tenants in
            for row in rows { tenants.append(uuid: row.key.tenantID) }
        }
        parameters.append(texts: rows.map { $0.key.name })
        parameters.append(texts: rows.map { $0.key.version })
        parameters.append(int32s: clients)
        parameters.append(texts: names)
        parameters.append(int64s: uses)
        return parameters
    }
}

extension UsageCounts.Key {
    fileprivate var tenantID: UUID? {
        switch self {
        case .client(let client): client.tenantID
        case .others(let tenantID): tenantID
        }
    }

    /// Names of apps cannot contain parentheses.
    fileprivate var name: String {
        if case .client(let client) = self { client.app.name } else { "(other)" }
    }

    fileprivate var version: String {
        if case .client(let client) = self { client.app.version } else { "" }
    }
}
