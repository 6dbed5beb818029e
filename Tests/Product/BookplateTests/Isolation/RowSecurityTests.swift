import GraphQL
import Postgres
import TestSupport
import Testing

/// The guarantees of row-level security, which hold for all statements that the server could send.
@Suite(.serialized) struct RowSecurityTests {
    private struct Fixture {
        let database: TestDatabase
        let user: String
        /// A user of another tenant.
        let otherUser: String
    }

    private static let fixture = Shared {
        let app = try await TestApp.start(catalog: TestCatalog.lines(6))
        let (reader, other) = (try await app.makeReader(), try await app.makeReader(.beta))
        try await IsolationFixture.fill(reader)
        try await IsolationFixture.fill(other)
        let (user, otherUser) = (reader.id.string ?? "", other.id.string ?? "")
        try await app.database.withConnection(as: nil) { connection in
            for user in [user, otherUser] {
                try connection.fillEmptyTables(of: user)
            }
        }
        return Fixture(database: app.database, user: user, otherUser: otherUser)
    }

    @Test func tablesWithUsersRowsAreListed() async throws {
        let names = try await Self.fixture().database.withConnection {
            try $0.texts("SELECT name FROM (\(SecurityCheck.owned)) t ORDER BY 1")
        }
        #expect(
            names == [
                "access_tokens", "apple_grants", "book_copies", "books", "changes", "covers",
                "deleted_books",
                "ereader_documents", "ereader_positions", "events", "feed_decks", "feed_readers",
                "followed_authors", "identities",
                "import_failures", "imports", "library_counts", "listed_books", "moving_covers",
                "notes", "oauth_grants", "progress_entries",
                "reading_counts", "reading_days",
                "reading_goals", "reading_tombstones", "reading_top_counts",
                "reads", "removed_covers", "reviews", "scans", "sessions", "shared_links",
                "shelf_books",
                "shelf_counts", "shelves", "swipes", "users",
            ])
    }

    @Test(arguments: SecurityCheck.allCases)
    func checkFindsNoViolations(check: SecurityCheck) async throws {
        let violations = try await Self.fixture().database.withConnection {
            try check.violations($0)
        }
        #expect(violations == [])
    }

    @Test func rowsAreAccessibleOnlyToTheirOwner() async throws {
        let fixture = try await Self.fixture()
        let leaks = try await fixture.database.withConnection(as: nil) { connection in
            try connection.undoing {
                try connection.leaks(user: fixture.user, otherUser: fixture.otherUser)
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
        "UPDATE editions SET title = 'x'", "SELECT refresh_genres(true)",
        "UPDATE source_usage SET used = 0", "TRUNCATE object_writes",
        "INSERT INTO checkpoints (task, position) VALUES ('authors.backfill', 'x')",
        "UPDATE account_tombstones SET books = 0", "DELETE FROM account_tombstones",
        "SELECT payload FROM jobs", "SELECT last_error FROM jobs", "UPDATE jobs SET fence = 1",
        "DELETE FROM jobs", "SELECT code_hash FROM oauth_requests",
        "INSERT INTO oauth_requests SELECT * FROM oauth_requests",
        "UPDATE oauth_requests SET expires_at = 'infinity'",
        "DELETE FROM source_misses", "UPDATE timelines SET mark = NULL",
        "SELECT refresh_search_words()", "DELETE FROM swipes", "DELETE FROM imports",
        "UPDATE import_failures SET line = 1", "DELETE FROM import_failures",
        "UPDATE shelf_books SET added_at = now()",
        "UPDATE removed_covers SET kept_until = now()", "SELECT pending_events(1)",
        "SELECT * FROM leases", "SELECT * FROM rate_buckets",
        "SELECT * FROM persisted_queries", "SELECT * FROM schema_usage",
        "UPDATE usage_clients SET name = 'x'", "DELETE FROM reading_days",
        "UPDATE reading_counts SET number = 1", "SELECT * FROM reading_recounts",
        "UPDATE access_tokens SET name = 'x'", "UPDATE identities SET subject = 'x'",
        "INSERT INTO moving_covers SELECT FROM users", "SELECT merge_guest(NULL, NULL)",
        "SELECT * FROM oauth_requests", "UPDATE oauth_grants SET scopes = '{FEED}'",
        "INSERT INTO oauth_grants SELECT * FROM oauth_grants", "DELETE FROM oauth_clients",
        "UPDATE oauth_clients SET name = 'x'",
        "SELECT * FROM audit_events", "UPDATE shared_links SET expires_at = NULL",
        "DELETE FROM audit_events", "UPDATE audit_chain SET first_position = 2",
        "SELECT record_audit_event('SIGNED_IN', NULL, NULL, NULL, '{}')",
    ])
    func serverRoleHasNoPrivilege(sql: String) async throws {
        let sqlState = try await Self.fixture().database.withConnection(as: TestCluster.app) {
            connection in
            try connection.undoing { try connection.sqlState(of: sql) }
        }
        #expect(sqlState == "42501")
    }

    /// A cover uses the storage of its user's tenant, also while its book is deleted.
    @Test(arguments: [
        "UPDATE covers SET tenant_id = (SELECT id FROM tenants WHERE id <> app_tenant_id() LIMIT 1)",
        """
        INSERT INTO deleted_books (user_id, id, book, shelf_ids, cover)
        SELECT c.user_id, gen_random_uuid(), '{}', '{}',
            to_jsonb(c) || jsonb_build_object(
                'tenant_id', (SELECT id FROM tenants WHERE id <> app_tenant_id() LIMIT 1)
            )
        FROM covers c
        LIMIT 1
        """,
    ])
    func coverCannotUseTheStorageOfAnotherTenant(sql: String) async throws {
        let fixture = try await Self.fixture()
        let sqlState = try await fixture.database.withConnection(as: nil) { connection in
            try connection.undoing {
                try connection.execute(
                    """
                    SELECT set_config('app.user_id', id::text, true),
                      set_config('app.tenant_id', tenant_id::text, true)
                    FROM users WHERE id = '\(fixture.user)';
                    SET LOCAL ROLE bookplate_app
                    """)
                return try connection.sqlState(of: sql)
            }
        }
        #expect(sqlState == "42501")
    }

    // MARK: - The checks detect violations

    /// The check of the rows must detect each weakened policy of each table.
    @Test(arguments: [
        "ALTER TABLE % DISABLE ROW LEVEL SECURITY",
        "ALTER POLICY owner_only ON % USING (true)",
        "ALTER POLICY owner_only ON % WITH CHECK (true)",
        "DROP POLICY owner_only ON %",
        "CREATE POLICY open ON % USING (true) WITH CHECK (true)",
    ])
    func weakenedPolicyIsDetectedByItsRows(weakening: String) async throws {
        let fixture = try await Self.fixture()
        let undetected = try await fixture.database.withConnection(as: nil) { connection in
            try connection.texts("SELECT name FROM (\(SecurityCheck.owned)) t").filter { table in
                // The policy for writing does not matter if the role cannot write to the table.
                if weakening.hasSuffix("WITH CHECK (true)"), try connection.isReadOnly(table) {
                    return false
                }
                return try connection.undoing {
                    try connection.execute(
                        weakening.split(separator: "%", omittingEmptySubsequences: false)
                            .joined(separator: table))
                    let leaks = try connection.leaks(
                        user: fixture.user, otherUser: fixture.otherUser)
                    return !leaks.contains { $0.hasPrefix("\(table): ") }
                }
            }
        }
        #expect(undetected == [])
    }

    @Test(arguments: [
        "ALTER POLICY identity_only ON identities USING (true)",
        "ALTER POLICY identity_only ON identities USING (tenant_id = (SELECT app_tenant_id()))",
        "ALTER POLICY administration ON books TO bookplate_app",
        "CREATE OR REPLACE FUNCTION app_user_id() RETURNS uuid LANGUAGE sql AS "
            + "'SELECT id FROM editions ORDER BY id LIMIT 1'",
        "ALTER ROLE bookplate_app BYPASSRLS",
        "ALTER TABLE books OWNER TO bookplate_app; "
            + "ALTER TABLE books NO FORCE ROW LEVEL SECURITY",
    ])
    func weakenedProtectionIsDetectedByItsRows(weakening: String) async throws {
        let fixture = try await Self.fixture()
        let leaks = try await fixture.database.withConnection(as: nil) { connection in
            try connection.undoing {
                // Another user of the same tenant.
                try connection.execute(
                    """
                    WITH third AS (
                        INSERT INTO users (id, tenant_id) SELECT gen_random_uuid(), tenant_id
                        FROM users WHERE id = '\(fixture.user)'
                        RETURNING id, tenant_id
                    )
                    INSERT INTO identities (user_id, tenant_id, subject) SELECT id, tenant_id, 'third' FROM third
                    """)
                try connection.execute(weakening)
                return try connection.leaks(user: fixture.user, otherUser: fixture.otherUser)
            }
        }
        #expect(leaks != [])
    }

    @Test func sharedRowsAreAccessibleOnlyToTheirOwner() async throws {
        #expect(try await sharedLeaks(after: "SELECT") == [])
    }

    @Test(arguments: [
        "ALTER TABLE jobs DISABLE ROW LEVEL SECURITY",
        "ALTER POLICY enqueuing ON jobs USING (true)",
        "ALTER POLICY enqueuing ON jobs WITH CHECK (true)",
        "ALTER POLICY enqueuing ON jobs USING (user_id = app_user_id())",
        "DROP POLICY repeating ON jobs",
        "ALTER TABLE oauth_requests DISABLE ROW LEVEL SECURITY",
        "ALTER POLICY finding ON oauth_requests USING (true)",
        "ALTER POLICY finding ON oauth_requests USING (tenant_id = app_tenant_id())",
        "ALTER POLICY deciding ON oauth_requests WITH CHECK (true)",
    ])
    func weakenedPolicyOfASharedTableIsDetectedByItsRows(weakening: String) async throws {
        #expect(try await sharedLeaks(after: weakening) != [])
    }

    private func sharedLeaks(after statement: String) async throws -> [String] {
        let fixture = try await Self.fixture()
        return try await fixture.database.withConnection(as: nil) { connection in
            try connection.undoing {
                try connection.execute(statement)
                return try connection.sharedLeaks(user: fixture.user, otherUser: fixture.otherUser)
            }
        }
    }

    @Test(arguments: [
        (
            "ALTER TABLE books NO FORCE ROW LEVEL SECURITY",
            SecurityCheck.everyTableIsEnabledAndForced
        ),
        ("DROP POLICY owner_only ON swipes", .everyTableHasAPolicyForTheServer),
        ("ALTER POLICY owner_only ON swipes TO PUBLIC", .everyTableHasAPolicyForTheServer),
        ("ALTER POLICY owner_only ON swipes WITH CHECK (true)", .everyTableHasAPolicyForTheServer),
        ("CREATE TABLE memos (user_id uuid, id uuid)", .everyTableIsEnabledAndForced),
        ("CREATE TABLE memos (user_id uuid, id uuid PRIMARY KEY)", .userLeadsEveryPrimaryKey),
        (
            "ALTER POLICY owner_only ON swipes USING (user_id = (SELECT app_user_id()))",
            .everyPolicyComparesDirectly
        ),
        ("CREATE POLICY open ON books USING (true)", .noPolicyAppliesToPublic),
        ("CREATE UNIQUE INDEX ON shelves (name) WHERE false", .userLeadsEveryUniqueIndex),
        (
            "CREATE UNIQUE INDEX ON books (id); CREATE TABLE memos (user_id uuid, book_id uuid "
                + "REFERENCES books (id))", .foreignKeysBetweenUsersRowsCarryTheUser
        ),
        ("ALTER TABLE editions OWNER TO bookplate_app", .serverOwnsNothing),
        ("ALTER ROLE bookplate_app BYPASSRLS", .serverHasNoPowers),
        ("GRANT bookplate_test_owner TO bookplate_app", .serverHasNoPowers),
        ("GRANT SELECT (url) ON webhooks TO bookplate_app", .closedTablesAreInaccessible),
        ("ALTER TABLE webhooks NO FORCE ROW LEVEL SECURITY", .closedTablesAreInaccessible),
        (
            "GRANT SELECT (payload) ON jobs TO bookplate_app",
            .sharedTablesShowOnlyTheirPublicColumns
        ),
        ("ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY", .sharedTablesShowOnlyTheirPublicColumns),
        (
            "ALTER POLICY finding ON oauth_requests USING (true)",
            .sharedTablesShowOnlyTheirPublicColumns
        ),
        ("GRANT UPDATE ON source_usage TO bookplate_app", .closedTablesAreInaccessible),
        ("GRANT EXECUTE ON FUNCTION purge_dead_jobs TO PUBLIC", .closedTablesAreInaccessible),
        ("ALTER FUNCTION purge_dead_jobs RESET search_path", .closedTablesAreInaccessible),
    ])
    func weakenedProtectionIsDetectedInTheSystemCatalog(weakening: String, check: SecurityCheck)
        async throws
    {
        let violations = try await Self.fixture().database.withConnection(as: nil) { connection in
            try connection.undoing {
                try connection.execute(weakening)
                return try check.violations(connection)
            }
        }
        #expect(violations != [])
    }
}
