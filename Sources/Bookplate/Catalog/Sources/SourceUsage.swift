import BookSources
import Postgres

/// How much of today's budget of a source is reserved.
package struct SourceUsage: Sendable, Equatable {
    package let host: SourceHost
    package let used: Int
    /// The part of `used` that background work has reserved.
    package let usedInBackground: Int

    static let today = Statement(
        "SELECT source, used, used_in_background FROM source_usage_today()")

    /// - Returns: nothing for a source that has not been asked today.
    package static func today(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [SourceHost: SourceUsage] {
        all(try connection.query(today.text))
    }

    static func all(_ rows: Rows) -> [SourceHost: SourceUsage] {
        var all: [SourceHost: SourceUsage] = [:]
        for row in 0..<rows.count {
            guard let host = rows.text(row, 0).flatMap({ SourceHost(rawValue: $0) }),
                let used = rows.int32(row, 1), let usedInBackground = rows.int32(row, 2)
            else { continue }
            all[host] = SourceUsage(
                host: host, used: Int(used), usedInBackground: Int(usedInBackground))
        }
        return all
    }
}
