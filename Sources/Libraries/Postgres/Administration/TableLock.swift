/// A lock that a transaction holds on a table, and which other sessions it blocks.
///
/// Modes: https://www.postgresql.org/docs/15/explicit-locking.html#LOCKING-TABLES
package struct TableLock: Sendable, Equatable, CustomStringConvertible {
    /// The table's name, qualified if it is not on the search path.
    package let table: String
    /// PostgreSQL's name of the lock mode without `Lock`, for example `AccessExclusive`.
    package let mode: String

    /// The access of other sessions to a table that a lock blocks as long as it is held.
    ///
    /// The raw values are part of the JSON output of `bookplate-admin`.
    package enum BlockedAccess: String, Sendable {
        case nothing = "nobody"
        case writes = "writers"
        case readsAndWrites = "everybody"
    }

    /// All lock modes from the weakest to the strongest.
    fileprivate static let modes = [
        "AccessShare", "RowShare", "RowExclusive", "ShareUpdateExclusive", "Share",
        "ShareRowExclusive", "Exclusive", "AccessExclusive",
    ]

    /// The access of other sessions that the lock blocks.
    package var blocks: BlockedAccess {
        switch mode {
        case "AccessExclusive": .readsAndWrites
        case "Share", "ShareRowExclusive", "Exclusive": .writes
        default: .nothing
        }
    }

    package var description: String {
        switch blocks {
        case .nothing: "\(table) (\(mode): blocks neither reads nor writes)"
        case .writes: "\(table) (\(mode): blocks writes)"
        case .readsAndWrites: "\(table) (\(mode): blocks reads and writes)"
        }
    }
}

extension AdminConnection {
    /// Returns the names of the existing tables by OID. Call it before the transaction begins.
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

    /// Returns the strongest lock that this session holds on each of the tables, sorted by table name.
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
