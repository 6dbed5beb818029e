import GraphQL
import Postgres
import Requests

/// An entry of a library's change log: one object was created, updated, or deleted.
struct Change: Sendable, Equatable {
    /// The number of the change. Later changes of the library have greater numbers.
    let seq: Int64
    /// CREATED, UPDATED, or DELETED.
    let kind: String
    /// The name of the type of the object, such as `Book`.
    let typename: String
    let id: UUID
    /// The time of the change in microseconds since the Unix epoch.
    let at: Int64

    var cursor: ChangeCursor { ChangeCursor(seq: seq, at: at) }
}

/// A page of a library's change log.
struct ChangePage {
    let changes: [Change]
    /// The position after the page.
    let cursor: ChangeCursor
    let hasMore: Bool
    /// Whether the log has changes before the page.
    let hasPreviousPage: Bool
    /// Whether the requested cursor is older than the log, or belongs to a change that the log does not have: one that was lost in
    /// a failover, or made after the backup that was restored. The client then has to fetch its library again and continue from the
    /// page's cursor.
    let resetRequired: Bool

    init(_ rows: [Row], after cursor: ChangeCursor, first: Int) {
        let log = rows.first
        let pruned = log?.prunedSeq ?? 0
        // The change of a cursor at the very beginning of the log was pruned, and cannot be compared.
        guard cursor.seq == pruned || cursor.seq > pruned && cursor.at == log?.cursorAt else {
            (changes, hasMore, hasPreviousPage, resetRequired) = ([], false, false, true)
            self.cursor = ChangeCursor(seq: log?.lastSeq ?? 0, at: log?.lastAt ?? 0)
            return
        }
        let found = rows.compactMap(\.change)
        changes = Array(found.prefix(first))
        hasMore = found.count > first
        hasPreviousPage = cursor.seq > pruned
        resetRequired = false
        self.cursor = changes.last?.cursor ?? cursor
    }

    /// A row of `select`.
    struct Row: RowDecodable {
        /// The number of the log's newest change.
        let lastSeq: Int64
        /// The number of the newest change that was pruned.
        let prunedSeq: Int64
        /// The time of the log's newest change; nil if the log is empty.
        let lastAt: Int64?
        /// The time of the change with the number of the cursor; nil if the log does not have it.
        let cursorAt: Int64?
        let change: Change?

        init?(_ row: inout RowReader) {
            guard let lastSeq = row.int64(), let prunedSeq = row.int64() else { return nil }
            self.lastSeq = lastSeq
            self.prunedSeq = prunedSeq
            lastAt = row.timestamptz()
            cursorAt = row.timestamptz()
            if let seq = row.int64(), let kind = row.text(), let typename = row.text(),
                let id = row.uuid(), let at = row.timestamptz()
            {
                change = Change(seq: seq, kind: kind, typename: typename, id: id, at: at)
            } else {
                change = nil
            }
        }
    }

    /// Returns the changes after `$2`. If there are none, the result is one row without a change.
    ///
    /// Relies on this plan: the head and the change of the cursor are read by their keys, and the changes from the primary key's
    /// index in its order, so neither the length of the log nor the number of older changes matters.
    static let select = TypedStatement<Row>(
        """
        SELECT log.last_seq, log.pruned_seq, log.last_at, log.cursor_at, c.seq, c.kind, c.typename, c.id, c.at
        FROM (
          -- Pruning deletes the oldest entries, and never the newest one.
          SELECT
            coalesce(max(seq), 0) AS last_seq,
            coalesce(min(seq) - 1, 0) AS pruned_seq,
            (SELECT at FROM changes WHERE user_id = $1 ORDER BY seq DESC LIMIT 1) AS last_at,
            (SELECT at FROM changes WHERE user_id = $1 AND seq = $2) AS cursor_at
          FROM changes
          WHERE user_id = $1
        ) log
        LEFT JOIN LATERAL (
          SELECT *
          FROM changes
          WHERE user_id = $1 AND seq > $2
          ORDER BY seq
          LIMIT $3
        ) c ON true
        ORDER BY c.seq
        """)

    /// Returns the parameters of `select`, which reads one change more than the page has to know whether there are more.
    static func parameters(_ userID: UUID, after cursor: ChangeCursor, first: Int) -> Parameters {
        var parameters = Parameters.of(userID)
        parameters.append(int64: cursor.seq)
        parameters.append(int32: Int32(clamping: first + 1))
        return parameters
    }
}

/// Changes as objects of the schema.
final class ChangeBatch: ObjectBatch {
    let changes: [Change]
    private let selection: PlannedSelection

    init(_ changes: [Change], _ selection: PlannedSelection) {
        self.changes = changes
        self.selection = selection
    }

    var count: Int { changes.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        let change = changes[object]
        switch selection.fields[field].selected.name {
        case "cursor": writer.write(change.cursor.text)
        case "kind": writer.write(change.kind)
        case "typename": writer.write(change.typename)
        case "nodeId": writer.write(change.id.description)
        case "changedAt": writer.write(Instant(microseconds: change.at).text)
        default: return .null
        }
        return .value
    }
}
