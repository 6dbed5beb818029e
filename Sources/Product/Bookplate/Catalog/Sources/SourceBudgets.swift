import BookSources
import Postgres
import Synchronization

/// Daily budgets of requests to external sources, counted in PostgreSQL for all servers and the admin CLI together.
///
/// A server reserves several requests with one statement and then grants them from memory. Reserved requests that are
/// not used by the end of the day, or before the server stops, are lost. Days begin at 00:00 UTC by the database's
/// clock.
package final class SourceBudgets: Sendable {
    package typealias Instant = ContinuousClock.Instant
    package typealias Run =
        @Sendable (Statement, Parameters) async throws(PostgresError) -> Rows

    /// The part of a day's budget that background work may use, in percent.
    package static let backgroundPercent = 80
    /// A reservation that takes longer counts as failed: a reader may be waiting for it.
    private static let timeout = Duration.seconds(1)

    /// The maximum number of requests per day. A host without an entry has no budget.
    package let limits: [SourceHost: Int]
    private let run: Run
    private let now: @Sendable () -> Instant
    private let accounts = Mutex<[Key: Account]>([:])

    private struct Key: Hashable {
        let host: SourceHost
        let priority: RequestPriority
    }

    /// This process's reservation for one day.
    fileprivate struct Account {
        var requests = 0
        var isExhausted = false
        /// The end of the day; nil before the first reservation.
        var endsAt: Instant?
        /// The reservation that is being made. Its value is false if it failed.
        var reservation: Task<Bool, Never>?
    }

    /// - Parameter run: Runs a statement in a transaction of its own.
    init(
        _ limits: [SourceHost: Int], now: @escaping @Sendable () -> Instant = { .now },
        run: @escaping Run
    ) {
        self.limits = limits
        self.now = now
        self.run = run
    }

    /// Creates the budgets of a server.
    package convenience init(
        _ limits: [SourceHost: Int], _ database: ConnectionPool,
        now: @escaping @Sendable () -> Instant = { .now }
    ) {
        self.init(limits, now: now) { statement, parameters async throws(PostgresError) in
            var pipeline = Pipeline(timeout: Self.timeout)
            pipeline.append(statement, parameters)
            return try await database.run(pipeline)[0]
        }
    }

    /// Creates the budgets of a command, on a connection of their own.
    package convenience init(
        _ limits: [SourceHost: Int], url: String
    ) throws(PostgresError) {
        let connection = try BlockingConnection(url)
        self.init(limits) { statement, parameters async throws(PostgresError) in
            try await connection.run(statement, parameters)
        }
    }

    /// Returns the part of a budget that background work may use.
    package static func backgroundLimit(_ limit: Int) -> Int {
        max(1, limit * backgroundPercent / 100)
    }

    /// Returns the number of requests that are reserved at once.
    ///
    /// It is at most 20, and lower for a small budget, because unused requests may be lost.
    static func batchSize(_ limit: Int) -> Int { min(20, max(1, limit / 50)) }

    package var requestBudget: RequestBudget {
        RequestBudget { host, priority in await self.take(host, priority) }
    }

    fileprivate enum Step {
        case done(RequestBudget.Decision)
        case wait(Task<Bool, Never>)
    }

    private func take(
        _ host: SourceHost, _ priority: RequestPriority
    ) async -> RequestBudget.Decision {
        guard let limit = limits[host] else { return .granted }
        let key = Key(host: host, priority: priority)
        while true {
            let step = accounts.withLock { accounts in
                accounts[key, default: Account()].take(at: now()) {
                    Task { await self.reserve(key, of: limit) }
                }
            }
            switch step {
            case .done(let decision): return decision
            case .wait(let reservation):
                guard await reservation.value else { return .unknown }
            }
        }
    }

    /// The result of a reservation.
    private struct Reservation: RowDecodable {
        let count: Int
        /// The time until the end of the day.
        let resetsIn: Duration

        init?(_ row: inout RowReader) {
            guard let count = row.int32(), let milliseconds = row.int64() else { return nil }
            self.count = Int(count)
            resetsIn = .milliseconds(milliseconds)
        }

        static let query = TypedStatement<Self>(
            "SELECT granted, resets_in_ms FROM reserve_source_requests($1, $2, $3, $4)")
    }

    /// Reserves the next requests of the day.
    private func reserve(_ key: Key, of limit: Int) async -> Bool {
        var parameters = Parameters()
        parameters.append(text: key.host.rawValue)
        parameters.append(int32: Int32(clamping: Self.batchSize(limit)))
        parameters.append(int32: Int32(clamping: limit))
        parameters.append(
            int32: key.priority == .background
                ? Int32(clamping: Self.backgroundLimit(limit)) : nil)
        // Read the clock before the statement, so that the day does not end later here than in the database.
        let sentAt = now()
        let reserved = try? await run(Reservation.query.statement, parameters)
            .decode(Reservation.self).first
        return accounts.withLock { accounts in
            var account = Account()
            if let reserved {
                account.requests = reserved.count
                account.isExhausted = reserved.count == 0
                account.endsAt = sentAt.advanced(by: reserved.resetsIn)
            }
            accounts[key] = account
            return reserved != nil
        }
    }
}

extension SourceBudgets.Account {
    /// - Parameter reserve: Starts a reservation. Called if no reserved request is left.
    fileprivate mutating func take(
        at now: SourceBudgets.Instant, reserve: () -> Task<Bool, Never>
    ) -> SourceBudgets.Step {
        if let reservation { return .wait(reservation) }
        if let endsAt, endsAt > now {
            if requests > 0 {
                requests -= 1
                return .done(.granted)
            }
            if isExhausted { return .done(.exhausted(resetsIn: now.duration(to: endsAt))) }
        }
        let reservation = reserve()
        self.reservation = reservation
        return .wait(reservation)
    }
}

/// A connection for the rare statements of a command-line tool. Each statement blocks its thread.
private actor BlockingConnection {
    private let connection: AdminConnection

    init(_ url: String) throws(PostgresError) { connection = try AdminConnection(url) }

    func run(_ statement: Statement, _ parameters: Parameters) throws(PostgresError) -> Rows {
        try connection.query(statement.text, parameters)
    }
}
