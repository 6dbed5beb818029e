/// A versioned migration: a file in `migrations/`, named `<UTC time>_<name>.sql`, that is applied once.
///
/// Its first line states its reason. `RepeatableFile` is the other kind of migration.
package struct MigrationFile: Sendable, Equatable {
    /// The UTC time in the file's name as the number `YYYYMMDDhhmmss`. Migrations run in this order.
    package let version: Int64
    /// The rest of the file's name, for example `add_cover_digest`.
    package let name: String
    /// The text after `-- Why: ` on the first line.
    package let reason: String
    package let sql: String

    /// The file in the folder of the migrations that contains a dump of the migrated schema, for reading.
    /// The migrator ignores it.
    package static let dumpName = "schema.sql"

    /// Creates a migration from a file's name and contents.
    ///
    /// - Throws: `.badName` or `.missingReason`.
    package init(fileName: String, sql: String) throws(MigrationError) {
        let parts = fileName.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard fileName.hasSuffix(".sql"), parts.count == 2, parts[0].utf8.count == 14,
            parts[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let version = Int64(parts[0])
        else { throw .badName(fileName) }
        let name = parts[1].dropLast(".sql".count)
        guard isMigrationName(name) else { throw .badName(fileName) }
        let firstLine = sql.prefix { !$0.isNewline }
        guard firstLine.hasPrefix("-- Why: "), firstLine.count > "-- Why: ".count else {
            throw .missingReason(fileName)
        }
        self.version = version
        self.name = String(name)
        self.reason = String(firstLine.dropFirst("-- Why: ".count))
        self.sql = sql
    }

    package var fileName: String { "\(version)_\(name).sql" }

    /// Whether the file runs in one transaction, which is the case unless it has a line `-- no-transaction`.
    ///
    /// A migration without a transaction starts over after an interruption, so each of its statements must
    /// be safe to run again.
    package var isTransactional: Bool {
        !sql.split(whereSeparator: \.isNewline).contains("-- no-transaction")
    }

    /// Whether the file runs in the transaction of the previous pending file, which is the case if it has a line
    /// `-- same-transaction` and both are transactional.
    package var joinsPrevious: Bool {
        sql.split(whereSeparator: \.isNewline).contains("-- same-transaction")
    }
}
