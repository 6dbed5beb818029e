import Postgres

/// Shares the token buckets of heavy callers with the other servers, through the database.
///
/// One statement reports all buckets of which a noticeable part was taken, and returns what all servers have taken. It runs at most
/// twice per second, and not at all while no caller is heavy. If it fails, each server limits by what it has counted itself.
package struct RateSharing: Sendable {
    /// The minimum time between two reports.
    package static let interval = Duration.milliseconds(500)
    /// The maximum number of buckets of each limit in one statement.
    static let bucketsMax = 2_000
    private static let timeout = Duration.seconds(2)

    private let rates: RateLimits
    private let database: ConnectionPool

    package init(_ environment: RequestEnvironment, database: ConnectionPool) {
        self.init(environment.rates, database: database)
    }

    init(_ rates: RateLimits, database: ConnectionPool) {
        self.rates = rates
        self.database = database
    }

    /// Shares the buckets until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            await share()
        }
    }

    /// Reports the buckets once, and applies those of all servers.
    package func share() async {
        let shares = rates.takeShares()
        if shares.isEmpty { return }
        var parameters = Parameters()
        parameters.append(int32s: shares.map { Int32($0.kind) })
        parameters.append(uuids: shares.map(\.share.key.id))
        parameters.append(int64s: shares.map { $0.share.cost / 1000 })
        var pipeline = Pipeline(timeout: Self.timeout)
        // Losing the counts in a crash is harmless.
        pipeline.commitAsynchronously()
        let rows = pipeline.append(Self.share, parameters)
        do throws(PostgresError) {
            rates.apply(PipelineResults(try await database.run(pipeline))[rows])
        } catch {
            // The pool logs that the database is unavailable.
        }
    }

    private static let share = TypedStatement<Row>(
        "SELECT kind::int, key, refill FROM share_rates($1::int[]::smallint[], $2, $3)")

    struct Row: RowDecodable {
        let kind: Int
        let key: UUID
        let refillNanoseconds: Int64

        init?(_ row: inout RowReader) {
            guard let kind = row.int32(), let key = row.uuid(), let refill = row.int64() else {
                return nil
            }
            self.kind = Int(kind)
            self.key = key
            refillNanoseconds = refill * 1000
        }
    }
}
