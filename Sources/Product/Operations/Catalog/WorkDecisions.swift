import Postgres
import Requests

/// The operator's decisions about which editions are one work: `bookplate-admin catalog merge-works`, `split-works`, and
/// `undo-works`.
package struct WorkDecisions {
    /// A merge that was made, or that is not needed.
    package struct Merge: RowDecodable {
        /// The number of the decision; nil if the two were one work already.
        package let decision: Int?
        package let work: UUID
        /// The editions of the work.
        package let editions: [UUID]

        package init?(_ row: inout RowReader) {
            decision = row.int64().map { Int($0) }
            guard let work = row.uuid() else { return nil }
            self.work = work
            editions = row.uuids() ?? []
        }
    }

    package struct Split: RowDecodable {
        package let decision: Int
        package let work: UUID
        /// The work of the other editions.
        package let rest: UUID

        package init?(_ row: inout RowReader) {
            guard let decision = row.int64(), let work = row.uuid(), let rest = row.uuid() else {
                return nil
            }
            self.decision = Int(decision)
            self.work = work
            self.rest = rest
        }
    }

    /// A decision in the list.
    package struct Decision: RowDecodable {
        package let id: Int
        package let kind: String
        package let editions: [UUID]
        /// The titles of some of the editions.
        package let titles: [String]
        /// In microseconds of Unix time.
        package let decidedAt: Int64
        package let undoneAt: Int64?

        package init?(_ row: inout RowReader) {
            guard let id = row.int64(), let kind = row.text() else { return nil }
            self.id = Int(id)
            self.kind = kind
            editions = row.uuids() ?? []
            titles = row.texts() ?? []
            decidedAt = row.timestamptz() ?? 0
            undoneAt = row.timestamptz()
        }

        package var decidedAtText: String { Instant(microseconds: decidedAt).text }
        package var undoneAtText: String? { undoneAt.map { Instant(microseconds: $0).text } }
    }

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// Makes two works one.
    ///
    /// The arguments are ids of works or editions.
    ///
    /// - Returns: Nil if one of them does not exist.
    package func merge(_ one: UUID, _ other: UUID) throws(PostgresError) -> Merge? {
        var parameters = Parameters()
        parameters.append(uuid: one)
        parameters.append(uuid: other)
        return try connection.query(
            "SELECT decision, work, editions FROM merge_works($1, $2)", parameters
        ).decode(Merge.self).first
    }

    /// Makes some editions of a work a work of their own.
    ///
    /// - Returns: Nil unless the editions exist, belong to one work, and leave at least one edition of it.
    package func split(_ editions: [UUID]) throws(PostgresError) -> Split? {
        var parameters = Parameters()
        parameters.append(uuids: editions)
        return try connection.query(
            "SELECT decision, work, rest FROM split_works($1)", parameters
        ).decode(Split.self).first
    }

    /// Undoes a decision.
    ///
    /// - Returns: The number of editions that it was about; nil if there is no such decision, or if it was undone already.
    package func undo(_ decision: Int) throws(PostgresError) -> Int? {
        var parameters = Parameters()
        parameters.append(int64: Int64(decision))
        let count = try connection.query(
            "SELECT count FROM undo_work_decision($1) AS count WHERE count IS NOT NULL", parameters
        ).decode(Int64.self).first
        return count.map { Int($0) }
    }

    /// Returns all decisions, the newest first.
    package func all() throws(PostgresError) -> [Decision] {
        try connection.query(
            """
            SELECT
                d.id,
                d.kind::text,
                array_agg(m.edition_id ORDER BY m.edition_id),
                array_agg(DISTINCT e.title),
                d.decided_at,
                d.undone_at
            FROM work_decisions d
            JOIN work_decision_editions m ON m.decision_id = d.id
            JOIN editions e ON e.id = m.edition_id
            GROUP BY d.id
            ORDER BY d.id DESC
            """
        ).decode(Decision.self)
    }
}
