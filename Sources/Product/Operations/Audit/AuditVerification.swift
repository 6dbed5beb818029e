import Postgres

/// The result of a check of the audit log's hash chain.
package struct AuditVerification: Sendable, Equatable {
    /// A position and its hash, which an operator has noted: `17:9f86d0…`.
    package struct Anchor: Sendable, Equatable {
        package let position: Int64
        /// 64 lowercase hexadecimal digits.
        package let hash: String

        package init(position: Int64, hash: String) {
            self.position = position
            self.hash = hash
        }

        package init?(_ text: String) {
            let parts = text.split(separator: ":")
            guard parts.count == 2, let position = Int64(parts[0]), position > 0,
                parts[1].utf8.count == 64, parts[1].allSatisfy(\.isHexDigit)
            else { return nil }
            self.init(position: position, hash: parts[1].lowercased())
        }

        package var text: String { "\(position):\(hash)" }
    }

    /// The maximum number of problems that are reported.
    package static let problemsMax = 20

    package let eventCount: Int64
    /// The number of events that are not in the chain yet.
    package let unchainedCount: Int64
    /// The end of the chain; nil if it has no events.
    package let anchor: Anchor?
    package let problems: [String]

    /// Checks all events in one snapshot of the database.
    ///
    /// - Parameter anchors: The chain must contain them.
    package static func run(
        _ anchors: [Anchor], _ connection: AdminConnection
    ) throws(PostgresError) -> AuditVerification {
        try connection.inTransaction(commits: false, mapping: { $0 }) {
            () throws(PostgresError) in
            try connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            guard let ends = try connection.query(Ends.text).decode(Ends.self).first else {
                return AuditVerification(
                    eventCount: 0, unchainedCount: 0, anchor: nil,
                    problems: ["The row of audit_chain is missing."])
            }
            var problems = ends.problems
            problems += try connection.query(mismatches).decode(Mismatch.self).map(\.problem)
            for anchor in anchors {
                if let problem = try problem(of: anchor, ends, connection) {
                    problems.append(problem)
                }
            }
            return AuditVerification(
                eventCount: ends.eventCount, unchainedCount: ends.unchainedCount,
                anchor: ends.lastPosition > 0
                    ? Anchor(position: ends.lastPosition, hash: ends.lastHash) : nil,
                problems: problems)
        }
    }

    private static func problem(
        of anchor: Anchor, _ ends: Ends, _ connection: AdminConnection
    ) throws(PostgresError) -> String? {
        if anchor.position == ends.firstPosition - 1 {
            return anchor.hash == ends.previousHash
                ? nil : "The chain does not continue from the anchor \(anchor.text)."
        }
        guard anchor.position >= ends.firstPosition else {
            return
                "The anchor \(anchor.text) is older than the events that were kept. Use a newer one."
        }
        var parameters = Parameters()
        parameters.append(int64: anchor.position)
        let hashes = try connection.query(
            "SELECT encode(hash, 'hex') FROM audit_events WHERE position = $1", parameters
        ).decode(String.self)
        return hashes.first == anchor.hash
            ? nil : "The chain does not contain the anchor \(anchor.text)."
    }

    /// The ends of the chain, as they are recorded and as the events show them.
    private struct Ends: RowDecodable {
        let firstPosition: Int64
        let previousHash: String
        let lastPosition: Int64
        let lastHash: String
        let eventCount: Int64
        let unchainedCount: Int64
        /// The newest event; nil if there is none.
        let foundPosition: Int64?
        let foundHash: String?
        /// The beginning of the chain according to the newest event about pruning; nil if there is none.
        let prunedThrough: Int64?
        let prunedHash: String?

        init?(_ row: inout RowReader) {
            guard let firstPosition = row.int64(), let previousHash = row.text(),
                let lastPosition = row.int64(), let lastHash = row.text(),
                let eventCount = row.int64(), let unchainedCount = row.int64()
            else { return nil }
            self.firstPosition = firstPosition
            self.previousHash = previousHash
            self.lastPosition = lastPosition
            self.lastHash = lastHash
            self.eventCount = eventCount
            self.unchainedCount = unchainedCount
            foundPosition = row.int64()
            foundHash = row.text()
            prunedThrough = row.int64()
            prunedHash = row.text()
        }

        static let text = """
            SELECT
                c.first_position, encode(c.previous_hash, 'hex'), c.last_position, encode(c.last_hash, 'hex'),
                (SELECT count(*) FROM audit_events WHERE position IS NOT NULL),
                (SELECT count(*) FROM audit_events WHERE position IS NULL),
                l.position, encode(l.hash, 'hex'),
                (p.detail ->> 'through')::bigint, p.detail ->> 'hash'
            FROM audit_chain c
            LEFT JOIN LATERAL (
                SELECT e.position, e.hash
                FROM audit_events e
                WHERE e.position IS NOT NULL
                ORDER BY e.position DESC
                LIMIT 1
            ) l ON true
            LEFT JOIN LATERAL (
                SELECT e.detail
                FROM audit_events e
                WHERE e.kind = 'AUDIT_PRUNED'
                ORDER BY e.id DESC
                LIMIT 1
            ) p ON true
            """

        var problems: [String] {
            var problems: [String] = []
            let zeros = String(repeating: "0", count: 64)
            if firstPosition - 1 != prunedThrough ?? 0 || previousHash != prunedHash ?? zeros {
                problems.append(
                    "The chain begins at event \(firstPosition), but no event records that the events before it were pruned."
                )
            }
            let found = foundPosition ?? firstPosition - 1
            if found < lastPosition {
                problems.append("Events \(found + 1) to \(lastPosition) at the end are missing.")
            } else if found > lastPosition || foundHash ?? previousHash != lastHash {
                problems.append("The recorded end of the chain is not that of the newest event.")
            }
            return problems
        }
    }

    /// An event that does not follow from the previous one.
    private struct Mismatch: RowDecodable {
        let position: Int64
        /// The number of missing events before it.
        let missingCount: Int64

        init?(_ row: inout RowReader) {
            guard let position = row.int64(), let missingCount = row.int64() else { return nil }
            self.position = position
            self.missingCount = missingCount
        }

        var problem: String {
            missingCount > 0
                ? "\(missingCount) events before event \(position) are missing."
                : "Event \(position) does not follow from the event before it: one of the two was changed."
        }
    }

    private static let mismatches = """
        SELECT position, missing
        FROM (
            SELECT
                e.position, e.hash,
                e.position - lag(e.position, 1, c.first_position - 1) OVER in_order - 1 AS missing,
                audit_hash(lag(e.hash, 1, c.previous_hash) OVER in_order, e) AS expected
            FROM audit_events e, audit_chain c
            WHERE e.position IS NOT NULL
            WINDOW in_order AS (ORDER BY e.position)
        ) chained
        WHERE missing <> 0 OR hash <> expected
        ORDER BY position
        LIMIT \(problemsMax)
        """
}
