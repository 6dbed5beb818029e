import GraphQL
import Postgres

/// What became of one object of a library.
struct Change: Sendable, Equatable {
    let seq: Int64
    /// CREATED, UPDATED or DELETED.
    let kind: String
    let typename: String
    let id: UUID
    /// Microseconds of Unix time.
    let at: Int64

    var cursor: ChangeCursor { ChangeCursor(seq: seq) }

    /// A page of the log behind `$2`, with one row more to tell whether there is more. It has a row
    /// without a change where there is none: where the log stands, and up to where it was pruned.
    static let select = Statement(
        """
        SELECT coalesce(h.last_seq, 0), coalesce(h.pruned_seq, 0), c.seq, c.kind, c.typename, c.id, c.at \
        FROM (SELECT) AS one LEFT JOIN change_heads h ON h.user_id = $1 \
        LEFT JOIN LATERAL (SELECT * FROM changes WHERE user_id = $1 AND seq > $2 \
        ORDER BY seq LIMIT $3) c ON true ORDER BY c.seq
        """)

    static func parameters(_ userID: UUID, after cursor: ChangeCursor, first: Int) -> Parameters {
        var parameters = Parameters.of(userID)
        parameters.append(int64: cursor.seq)
        parameters.append(int32: Int32(clamping: first + 1))
        return parameters
    }

    /// The change in a row of `select`.
    init?(_ rows: Rows, _ row: Int) {
        guard let seq = rows.int64(row, 2), let kind = rows.text(row, 3),
            let typename = rows.text(row, 4), let id = rows.uuid(row, 5),
            let at = rows.timestamptz(row, 6)
        else { return nil }
        (self.seq, self.kind, self.typename, self.id, self.at) = (seq, kind, typename, id, at)
    }
}

/// What `Change.select` says.
struct ChangePage {
    let changes: [Change]
    /// Where to go on.
    let cursor: ChangeCursor
    let hasMore: Bool
    /// The cursor is older than the log, or of a log that is not there any more: the client has to
    /// fetch its library anew, and goes on from the page's cursor.
    let resetRequired: Bool

    init(_ rows: Rows, after cursor: ChangeCursor, first: Int) {
        let last = rows.int64(0, 0) ?? 0
        let pruned = rows.int64(0, 1) ?? 0
        guard cursor.seq >= pruned, cursor.seq <= last else {
            (changes, hasMore, resetRequired) = ([], false, true)
            self.cursor = ChangeCursor(seq: last)
            return
        }
        let found = (0..<rows.count).compactMap { Change(rows, $0) }
        changes = Array(found.prefix(first))
        hasMore = found.count > first
        resetRequired = false
        self.cursor = changes.last?.cursor ?? cursor
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
        case "id": writer.write(change.id.description)
        case "at": writer.write(Instant(microseconds: change.at).text)
        default: return .null
        }
        return .value
    }
}
