import Postgres
import TestSupport
import Testing

/// Migrations of databases that already have rows, by an owner who is not a superuser.
@Suite struct UpgradeTests {
    /// The newest migration of version 0.9.0.
    private static let released: Int64 = 20_261_122_210_000

    /// A file with an earlier time than the newest migration of a release would be refused by its databases.
    @Test func allNewMigrationsAreLaterThanTheLastRelease() throws {
        let files = try MigrationFiles(folder: TestCluster.migrations).versioned
        #expect(files.count { $0.version <= Self.released } == 12)
    }

    @Test func migrationsAdaptTheRowsOfTheLastRelease() async throws {
        let database = try await TestCluster.shared.makeEmptyDatabase()
        try await database.withConnection { connection in
            _ = try Migrator(connection, folder: TestCluster.migrations).up(to: Self.released)
        }
        try await database.withConnection(as: nil) { connection in
            try connection.execute(
                """
                -- The policies of the release, which are in repeatable files.
                DO $$
                DECLARE
                    name regclass;
                BEGIN
                    FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relrowsecurity LOOP
                        EXECUTE format(
                            'CREATE POLICY administration ON %s TO \(TestCluster.owner) USING (true) WITH CHECK (true)',
                            name
                        );
                    END LOOP;
                END
                $$;
                INSERT INTO tenants (id, slug, name, audiences) VALUES (gen_random_uuid(), 'a', 'A', '{a}');
                INSERT INTO users (id, tenant_id, apple_sub) SELECT gen_random_uuid(), id, 'ada' FROM tenants;
                INSERT INTO books (user_id, id, title, status)
                SELECT id, gen_random_uuid(), status::text, status
                FROM users, unnest('{READ, READING}'::reading_status[]) AS status;
                INSERT INTO reviews (user_id, book_id, id, half_stars) SELECT user_id, id, gen_random_uuid(), 8 FROM books;
                """)
        }
        try await database.withConnection { connection in
            _ = try Migrator(connection, folder: TestCluster.migrations).up()
        }
        for (count, expected) in [
            ("SELECT count(*) FROM reviews WHERE is_visible", 1),
            ("SELECT count(*) FROM reviews", 2),
            ("SELECT count(*) FROM identities WHERE subject = 'ada'", 1),
            ("SELECT count(*) FROM readers_to_collect", 1),
            ("SELECT count(*) FROM books WHERE length(title_card_version) = 32", 2),
            ("SELECT count(*) FROM changes", 0),
        ] {
            #expect(try await database.count(count) == expected, "\(count)")
        }
    }
}
