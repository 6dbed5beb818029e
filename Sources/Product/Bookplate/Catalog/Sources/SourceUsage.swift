import BookSources
import Postgres

/// The part of today's budget of a source that is reserved.
package struct SourceUsage: Sendable, Equatable, RowDecodable {
    package let host: SourceHost
    package let used: Int
    /// The part of `used` that background work has reserved.
    package let usedInBackground: Int

    package init?(_ row: inout RowReader) {
        guard let host = row.text().flatMap({ SourceHost(rawValue: $0) }),
            let used = row.int32(), let usedInBackground = row.int32()
        else { return nil }
        self.host = host
        self.used = Int(used)
        self.usedInBackground = Int(usedInBackground)
    }

    static let today = TypedStatement<Self>(
        "SELECT source, used, used_in_background FROM source_usage_today()")

    /// Returns today's usage by host. A source without requests today has no entry.
    package static func today(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [SourceHost: SourceUsage] {
        byHost(try connection.query(today.statement.text).decode())
    }

    static func byHost(_ usages: [SourceUsage]) -> [SourceHost: SourceUsage] {
        Dictionary(usages.map { ($0.host, $0) }, uniquingKeysWith: { _, last in last })
    }
}
