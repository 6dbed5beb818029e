/// A lock that a transaction holds on a table, for a person who wants to know whom it would hold up.
///
/// Modes: https://www.postgresql.org/docs/15/explicit-locking.html#LOCKING-TABLES
package struct TableLock: Sendable, Equatable, CustomStringConvertible {
    /// Qualified where the search path needs it.
    package let table: String
    /// As PostgreSQL names it, without `Lock`: `AccessExclusive`.
    package let mode: String

    /// Whom a lock keeps waiting as long as it is held.
    package enum Others: String, Sendable {
        case nobody, writers, everybody
    }

    /// From the weakest to the strongest.
    fileprivate static let modes = [
        "AccessShare", "RowShare", "RowExclusive", "ShareUpdateExclusive", "Share",
        "ShareRowExclusive", "Exclusive", "AccessExclusive",
    ]

    package var holdsUp: Others {
        switch mode {
        case "AccessExclusive": .everybody
        case "Share", "ShareRowExclusive", "Exclusive": .writers
        default: .nobody
        }
    }

    package var description: String { "\(table) (\(mode): holds up \(holdsUp.rawValue))" }
}

extension AdminConnection {
    /// The tables that are there now, by their oid; to be asked before the transaction begins.
    package func tables() throws(PostgresError) -> [Int64: String] {
        let rows = try query(
            """
            SELECT oid::int8, oid::regclass::text FROM pg_class
            WHERE relkind IN ('r', 'p', 'm') AND oid >= 16384 AND relpersistence <> 't'
            """)
        var tables: [Int64: String] = [:]
        for row in 0..<rows.count {
            if let oid = rows.int64(row, 0) { tables[oid] = rows.text(row, 1) }
        }
        return tables
    }

    /// The strongest lock that this session's transaction holds on each of the tables, by name.
    package func locks(on tables: [Int64: String]) throws(PostgresError) -> [TableLock] {
        let rows = try query(
            """
            SELECT relation::int8, replace(mode, 'Lock', '') FROM pg_locks
            WHERE pid = pg_backend_pid() AND locktype = 'relation' AND granted
            """)
        var strongest: [String: Int] = [:]
        for row in 0..<rows.count {
            guard let table = rows.int64(row, 0).flatMap({ tables[$0] }),
                let mode = rows.text(row, 1).flatMap(TableLock.modes.firstIndex(of:))
            else { continue }
            strongest[table] = max(mode, strongest[table] ?? 0)
        }
        return strongest.sorted { $0.key < $1.key }
            .map { TableLock(table: $0.key, mode: TableLock.modes[$0.value]) }
    }
}
