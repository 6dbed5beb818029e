import BookSources
import GraphQL
import Postgres
import Requests

/// A row of a paginated query of an export. `$1` is the user, `$2` the id of the last row of the previous page or NULL,
/// `$3` the size of a page, and `$4`, except for shelves, the id of the last row of the part or NULL.
protocol ExportedItem: RowDecodable {
    /// The id by which the next page continues.
    var id: UUID { get }
}

/// Conditions on the ids of a page that PostgreSQL compares with the entries of an index. With `$2 IS NULL OR id > $2`, each page would
/// read all pages before it. CASE and not COALESCE, which PostgreSQL evaluates only after row-level security.
enum PageRange {
    private static let firstID = "'00000000-0000-0000-0000-000000000000'"
    private static let lastID = "'ffffffff-ffff-ffff-ffff-ffffffffffff'"

    /// Returns the condition that a row is after `$2`, the id of the last row of the previous page or NULL.
    static func after(_ column: String) -> String {
        """
        \(column) >= CASE WHEN $2::uuid IS NULL THEN \(firstID) ELSE $2 END AND \(column) IS DISTINCT FROM $2
        """
    }

    /// Returns the condition that a row is not after `$4`, the id of the last row of the part or NULL.
    static func until(_ column: String) -> String {
        "\(column) <= CASE WHEN $4::uuid IS NULL THEN \(lastID) ELSE $4 END"
    }
}

/// A row that becomes an element of a list in `library.json`. `BookplateFile` reads these lists.
protocol ExportedJSONItem: ExportedItem {
    var json: Value { get }
}

struct ExportedProfile: RowDecodable {
    let json: Value

    init?(_ row: inout RowReader) {
        json = .object([
            .init("id", .id(row.uuid())), .init("displayName", .text(row.text())),
            .init("email", .text(row.text())),
            .init("preferredGenres", .list((row.texts() ?? []).map { .string($0) })),
            .init("languages", .list((row.texts() ?? []).map { .string($0) })),
            .init("createdAt", .instant(row.timestamptz())),
            .init("timeZone", .text(row.text())),
            .init(
                "readingGoals",
                row.text().flatMap { try? parseJSON(Array($0.utf8)) } ?? .list([])),
            .init(
                "followedAuthors",
                row.text().flatMap { try? parseJSON(Array($0.utf8)) } ?? .list([])),
            .init("scans", row.text().flatMap { try? parseJSON(Array($0.utf8)) } ?? .list([])),
        ])
    }

    static let query = TypedStatement<Self>(
        """
        SELECT
          u.id, u.display_name, u.email, u.preferred_genres, u.languages, u.created_at, u.time_zone,
          (
            SELECT jsonb_agg(
              jsonb_build_object(
                'id', g.id, 'year', g.year, 'unit', g.unit, 'target', g.target,
                'createdAt', to_char(g.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'updatedAt', to_char(g.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
              )
              ORDER BY g.year, g.unit
            )::text
            FROM reading_goals g
            WHERE g.user_id = $1
          ),
          (
            SELECT jsonb_agg(
              jsonb_build_object(
                'name', f.name,
                'followedAt', to_char(f.followed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
              )
              ORDER BY f.followed_at, f.person_id
            )::text
            FROM followed_authors f
            WHERE f.user_id = $1
          ),
          (
            SELECT jsonb_agg(
              jsonb_build_object(
                'id', s.id, 'isbn', s.isbn13, 'outcome', s.outcome,
                'scannedAt', to_char(s.scanned_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
              )
              ORDER BY s.scanned_at, s.id
            )::text
            FROM scans s
            WHERE s.user_id = $1
          )
        FROM users u
        WHERE u.id = $1
        """)
}

struct ExportedShelf: ExportedJSONItem {
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("id", .id(id)), .init("name", .text(row.text())),
            .init("position", .int(row.int32())), .init("description", .text(row.text())),
            .init("color", .text(row.text())),
            .init("isUpNext", .boolean(row.bool() ?? false)),
            .init("createdAt", .instant(row.timestamptz())),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT s.id, s.name, s.position, s.description, s.color, s.is_up_next, s.created_at
        FROM shelves s
        WHERE s.user_id = $1
          AND (
            $2::uuid IS NULL
            OR (s.position, s.id) > (
              SELECT l.position, l.id FROM shelves l WHERE l.user_id = $1 AND l.id = $2
            )
          )
        ORDER BY s.position, s.id
        LIMIT $3
        """)
}

struct ExportedSwipe: ExportedJSONItem {
    /// The id of the card.
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("cardId", .id(id)), .init("action", .text(row.text())),
            .init("swipedAt", .instant(row.timestamptz())), .init("store", .text(row.text())),
            .init("scope", .text(row.text())),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT edition_id, action, swiped_at, store, scope
        FROM current_swipes
        WHERE user_id = $1
          AND \(PageRange.after("edition_id"))
          AND \(PageRange.until("edition_id"))
        ORDER BY edition_id
        LIMIT $3
        """)
}

struct ExportedCover: ExportedItem {
    /// The id of the book.
    let id: UUID
    let version: String

    init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let version = row.text() else { return nil }
        self.id = id
        self.version = version
    }

    static let page = TypedStatement<Self>(
        """
        SELECT book_id, version
        FROM covers
        WHERE user_id = $1
          AND \(PageRange.after("book_id"))
          AND \(PageRange.until("book_id"))
        ORDER BY book_id
        LIMIT $3
        """)
}

/// Cells as JSON values. NULL becomes null.
extension Value {
    static func id(_ id: UUID?) -> Value { id.map { .string($0.description) } ?? .null }

    package static func text(_ text: String?) -> Value { text.map { .string($0) } ?? .null }

    static func int(_ number: Int32?) -> Value {
        number.map { .int(Int($0)) } ?? .null
    }

    static func instant(_ microseconds: Int64?) -> Value {
        microseconds.map { .string(Instant(microseconds: $0).preciseText) } ?? .null
    }
}
