import Testing

/// Each statement names the user for each table with rows of users.
///
/// A statement of one user therefore reads and writes rows of that user only. Statements for all users are listed here.
@Suite struct UserStatementTests {
    /// Statements that concern all users: administration, metrics, and background work.
    private static let ofAllUsers: Set = [
        // Statements of the product, by file and table.
        "CatalogImport.swift books_to_link", "CoverBackfill.swift books",
        "CoverRecord.swift stored_covers", "DocumentRecord.swift access_tokens",
        "TenantRecord+Providers.swift identities",
        "WebhookRecord+Administration.swift webhook_deliveries",
        "WebhookRecord.swift webhook_deliveries",
        // Functions of the database, by function and table.
        "collect_webhook_events webhook_positions", "count_webhooks webhook_deliveries",
        "enqueue_webhooks webhook_deliveries", "import_readers identities",
        "is_oauth_client_used oauth_grants", "settle_webhook_delivery webhook_deliveries",
    ]

    /// A table in a statement that does not name the user of its rows.
    private static func violations(_ sql: String, _ tables: [String]) throws -> [String] {
        let keywords: Set = [
            "WHERE", "ON", "SET", "CROSS", "JOIN", "LEFT", "USING", "ORDER", "GROUP", "LIMIT",
            "UNION", "FOR", "RETURNING", "FULL", "VALUES", "SELECT", "OFFSET",
        ]
        let reference = try Regex(
            #"\b(?:FROM|JOIN|UPDATE|USING)\s+(?:public\.)?(\#(tables.joined(separator: "|")))\b(?:\s+(?:AS\s+)?([A-Za-z_]+))?"#,
            as: (Substring, Substring, Substring?).self)
        return try sql.matches(of: reference).compactMap { match in
            let alias = match.output.2.flatMap { keywords.contains(String($0)) ? nil : $0 }
            let column = try Regex(alias.map { #"\b\#($0)\.(user_id|owner_id)\b"# } ?? "user_id")
            let isNamed =
                sql.contains(column) || sql.contains(/USING \([^)]*user_id/)
            return isNamed ? nil : String(match.output.1)
        }
    }

    @Test(arguments: [
        ("SELECT title FROM books b WHERE b.user_id = $1 AND b.id = $2", []),
        ("SELECT title FROM books WHERE id = $1", ["books"]),
        (
            "SELECT FROM books b JOIN reviews r ON r.book_id = b.id WHERE b.user_id = $1",
            ["reviews"]
        ),
        ("SELECT FROM books b JOIN reviews r USING (user_id, book_id)", []),
        ("UPDATE shelves s SET name = $1 WHERE s.id = $2", ["shelves"]),
        ("SELECT FROM editions WHERE id = $1", []),
    ])
    func findsTablesWithoutTheUser(sql: String, tables: [String]) throws {
        #expect(try Self.violations(sql, SQLSources.tables()) == tables)
    }

    @Test func statementsNameTheUserOfEachTable() throws {
        let tables = try SQLSources.tables()
        #expect(tables.count > 30)
        var found: Set<String> = []
        for statement in try SQLSources.statements() {
            found.formUnion(
                try Self.violations(statement.sql, tables).map { "\(statement.file) \($0)" })
        }
        for function in try SQLSources.functions() {
            for sql in function.body.split(separator: ";") {
                found.formUnion(
                    try Self.violations(String(sql), tables).map { "\(function.name) \($0)" })
            }
        }
        #expect(
            found.subtracting(Self.ofAllUsers).sorted() == [],
            "name the user_id of each table, or list a statement that concerns all users")
        #expect(Self.ofAllUsers.subtracting(found).sorted() == [], "remove these from the list")
    }
}
