import GraphQL
import Postgres
import TestSupport
import Testing

/// What the database itself guarantees, whatever statements the server may send.
@Suite(.serialized) struct RowSecurityTests {
    private struct Fixture {
        let database: TestDatabase
        let mine: String
        /// Of another tenant.
        let theirs: String
    }

    private static let fixture = Shared {
        let app = try await TestApp.start(catalog: TestCatalog.lines(6))
        let (reader, other) = (try await app.makeReader(), try await app.makeReader(.beta))
        try await IsolationFixture.fill(reader)
        try await IsolationFixture.fill(other)
        let (mine, theirs) = (reader.id.string ?? "", other.id.string ?? "")
        try await app.database.withConnection(as: nil) { connection in
            for user in [mine, theirs] {
                try connection.fillEmptyTables(of: user)
                try connection.execute(
                    """
                    SELECT advance_feed('\(user)');
                    INSERT INTO feed_returns SELECT user_id, edition_id FROM books WHERE user_id = '\(user)';
                    INSERT INTO earlier_swipes (user_id, edition_id, said_at, swiped_at, action, recorded_at)
                      SELECT user_id, edition_id, added_at, added_at, 'SKIP', added_at FROM books WHERE user_id = '\(user)'
                    """)
            }
        }
        return Fixture(database: app.database, mine: mine, theirs: theirs)
    }

    @Test func tablesOfUsersAreKnown() async throws {
        let names = try await Self.fixture().database.withConnection {
            try $0.texts("SELECT name FROM (\(SecurityCheck.owned)) t ORDER BY 1")
        }
        #expect(
            names == [
                "apple_grants", "books", "change_heads", "changes", "covers", "earlier_swipes",
                "events",
                "feed_decks",
                "feed_frontiers", "feed_returns", "import_failures", "imports", "removed_covers",
                "reviews", "sessions", "shelf_books", "shelves", "swipes", "users",
            ])
    }

    @Test(arguments: SecurityCheck.allCases)
    func hasNoOffenders(check: SecurityCheck) async throws {
        let offenders = try await Self.fixture().database.withConnection { try check.offenders($0) }
        #expect(offenders == [])
    }

    @Test func rowsAreTheirOwnersOnly() async throws {
        let fixture = try await Self.fixture()
        let leaks = try await fixture.database.withConnection(as: nil) { connection in
            try connection.undoing {
                try connection.leaks(mine: fixture.mine, theirs: fixture.theirs)
            }
        }
        #expect(leaks == [])
    }

    @Test(arguments: [
        "CREATE TABLE mine (id int)", "DROP TABLE books",
        "ALTER TABLE books DISABLE ROW LEVEL SECURITY",
        "TRUNCATE books", "SELECT * FROM account_tombstones", "DELETE FROM editions",
        "UPDATE tenants SET name = 'x'", "INSERT INTO schema_migrations VALUES (1, 'a', 'b')",
        "SET ROLE bookplate_test_owner", "CREATE POLICY mine ON books USING (true)",
        "UPDATE editions SET title = 'x'", "SELECT refresh_feed_order()",
        "UPDATE source_usage SET used = 0",
    ])
    func serverMayNot(sql: String) async throws {
        let refusal = try await Self.fixture().database.withConnection(as: TestCluster.app) {
            connection in
            try connection.undoing { try connection.refusal(sql) }
        }
        #expect(refusal == "42501")
    }

    // MARK: - The checks can fail

    /// Every table's guard broken in every way must be found out.
    @Test(arguments: [
        "ALTER TABLE % DISABLE ROW LEVEL SECURITY",
        "ALTER POLICY owner_only ON % USING (true)",
        "ALTER POLICY owner_only ON % WITH CHECK (true)",
        "DROP POLICY owner_only ON %",
        "CREATE POLICY open ON % USING (true) WITH CHECK (true)",
    ])
    func brokenGuardIsFoundByItsRows(weakening: String) async throws {
        let fixture = try await Self.fixture()
        let unnoticed = try await fixture.database.withConnection(as: nil) { connection in
            try connection.texts("SELECT name FROM (\(SecurityCheck.owned)) t").filter { table in
                // Where nothing can be written, it does not matter what might be.
                if weakening.hasSuffix("WITH CHECK (true)"), try connection.isReadOnly(table) {
                    return false
                }
                return try connection.undoing {
                    try connection.execute(
                        weakening.split(separator: "%", omittingEmptySubsequences: false)
                            .joined(separator: table))
                    let leaks = try connection.leaks(mine: fixture.mine, theirs: fixture.theirs)
                    return !leaks.contains { $0.hasPrefix("\(table): ") }
                }
            }
        }
        #expect(unnoticed == [])
    }

    @Test(arguments: [
        "ALTER POLICY identity_only ON users USING (true)",
        "ALTER POLICY identity_only ON users USING (tenant_id = (SELECT app_tenant_id()))",
        "ALTER POLICY administration ON books TO bookplate_app",
        "CREATE OR REPLACE FUNCTION app_user_id() RETURNS uuid LANGUAGE sql AS "
            + "'SELECT id FROM editions ORDER BY id LIMIT 1'",
        "ALTER ROLE bookplate_app BYPASSRLS",
        "ALTER TABLE books OWNER TO bookplate_app; "
            + "ALTER TABLE books NO FORCE ROW LEVEL SECURITY",
    ])
    func brokenGuardOfOneKindIsFound(weakening: String) async throws {
        let fixture = try await Self.fixture()
        let leaks = try await fixture.database.withConnection(as: nil) { connection in
            try connection.undoing {
                // Somebody of the same tenant, too.
                try connection.execute(
                    """
                    INSERT INTO users (id, tenant_id, apple_sub) SELECT gen_random_uuid(), tenant_id, 'third'
                    FROM users WHERE id = '\(fixture.mine)'
                    """)
                try connection.execute(weakening)
                return try connection.leaks(mine: fixture.mine, theirs: fixture.theirs)
            }
        }
        #expect(leaks != [])
    }

    @Test(arguments: [
        (
            "ALTER TABLE books NO FORCE ROW LEVEL SECURITY",
            SecurityCheck.everyTableIsEnabledAndForced
        ),
        ("DROP POLICY owner_only ON swipes", .everyTableHasAPolicyForTheServer),
        ("ALTER POLICY owner_only ON swipes TO PUBLIC", .everyTableHasAPolicyForTheServer),
        ("ALTER POLICY owner_only ON swipes WITH CHECK (true)", .everyTableHasAPolicyForTheServer),
        ("CREATE TABLE notes (user_id uuid, id uuid)", .everyTableIsEnabledAndForced),
        ("CREATE TABLE notes (user_id uuid, id uuid PRIMARY KEY)", .userLeadsEveryPrimaryKey),
        (
            "ALTER POLICY owner_only ON swipes USING (user_id = (SELECT app_user_id()))",
            .everyPolicyComparesDirectly
        ),
        ("CREATE POLICY open ON books USING (true)", .noPolicyIsForEverybody),
        ("CREATE UNIQUE INDEX ON shelves (name) WHERE false", .userLeadsEveryUniqueIndex),
        (
            "CREATE UNIQUE INDEX ON books (id); CREATE TABLE notes (user_id uuid, book_id uuid "
                + "REFERENCES books (id))", .foreignKeysBetweenUsersRowsCarryTheUser
        ),
        ("ALTER TABLE editions OWNER TO bookplate_app", .serverOwnsNothing),
        ("ALTER ROLE bookplate_app BYPASSRLS", .serverHasNoPowers),
        ("GRANT bookplate_test_owner TO bookplate_app", .serverHasNoPowers),
        ("GRANT SELECT (payload) ON jobs TO bookplate_app", .closedTablesAreClosed),
        ("ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY", .closedTablesAreClosed),
        ("GRANT UPDATE ON source_usage TO bookplate_app", .closedTablesAreClosed),
        ("GRANT EXECUTE ON FUNCTION purge_dead_jobs TO PUBLIC", .closedTablesAreClosed),
        ("ALTER FUNCTION purge_dead_jobs RESET search_path", .closedTablesAreClosed),
    ])
    func brokenGuardIsFoundInTheCatalogue(weakening: String, check: SecurityCheck) async throws {
        let offenders = try await Self.fixture().database.withConnection(as: nil) { connection in
            try connection.undoing {
                try connection.execute(weakening)
                return try check.offenders(connection)
            }
        }
        #expect(offenders != [])
    }
}
