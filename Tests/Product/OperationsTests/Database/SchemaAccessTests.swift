import FoundationEssentials
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

@Suite struct SchemaAccessTests {
    private static let dump = """
        -- A comment
        GRANT USAGE ON SCHEMA public TO bookplate_app;
        GRANT SELECT,INSERT ON TABLE public.books TO bookplate_app;
        REVOKE ALL ON FUNCTION public.count_jobs() FROM PUBLIC;
        GRANT ALL ON FUNCTION public.count_jobs() TO bookplate_app;
        CREATE POLICY owner_only ON public.books TO bookplate_app USING ((user_id = public.app_user_id()));
        ALTER TABLE public.books ENABLE ROW LEVEL SECURITY;
        ALTER TABLE ONLY public.books FORCE ROW LEVEL SECURITY;
        """
    private let access = SchemaAccess(dump: dump)

    @Test func readsOnePrivilegePerStatement() {
        #expect(
            access.statements == [
                "GRANT USAGE ON SCHEMA public TO bookplate_app",
                "GRANT SELECT ON TABLE public.books TO bookplate_app",
                "GRANT INSERT ON TABLE public.books TO bookplate_app",
                "GRANT EXECUTE ON FUNCTION public.count_jobs() TO bookplate_app",
                "CREATE POLICY owner_only ON public.books TO bookplate_app USING ((user_id = public.app_user_id()))",
                "ALTER TABLE public.books ENABLE ROW LEVEL SECURITY",
                "ALTER TABLE public.books FORCE ROW LEVEL SECURITY",
            ])
    }

    /// Every role may use the schema and the functions that are not restricted.
    @Test func findsDifferences() {
        let changed = "CREATE POLICY owner_only ON public.books TO bookplate_app USING (true)"
        var present = access.statements.filter {
            !$0.contains("INSERT") && !$0.hasPrefix("CREATE")
        }
        present.formUnion([
            changed, "GRANT USAGE ON SCHEMA public TO PUBLIC",
            "GRANT EXECUTE ON FUNCTION public.fold(text) TO PUBLIC",
            "GRANT EXECUTE ON FUNCTION public.count_jobs() TO PUBLIC",
        ])
        let differences = access.differences(from: present)
        #expect(
            differences.missing == [
                "CREATE POLICY owner_only ON public.books TO bookplate_app USING ((user_id = public.app_user_id()))",
                "GRANT INSERT ON TABLE public.books TO bookplate_app",
            ])
        #expect(
            differences.unexpected == [
                changed, "GRANT EXECUTE ON FUNCTION public.count_jobs() TO PUBLIC",
            ])
    }

    @Test(arguments: [
        ("CREATE POLICY p ON public.books USING (true)", "DROP POLICY p ON public.books"),
        (
            "GRANT SELECT ON TABLE public.books TO PUBLIC",
            "REVOKE SELECT ON TABLE public.books FROM PUBLIC"
        ),
        (
            "ALTER TABLE public.editions FORCE ROW LEVEL SECURITY",
            "ALTER TABLE public.editions NO FORCE ROW LEVEL SECURITY"
        ),
    ])
    func namesTheStatementThatRemovesADifference(statement: String, removal: String) {
        #expect(SchemaAccess.removal(of: statement) == removal)
    }

    /// The dump of the project describes a database that the migrations create.
    @Test func aMigratedDatabaseHasTheAccessOfTheDump() async throws {
        let dump = try String(
            contentsOfFile: "\(TestCluster.migrations)/schema.sql", encoding: .utf8)
        let database = try await TestCluster.shared.makeDatabase()
        let differences = try await database.withConnection { connection in
            try SchemaAccess(dump: dump).differences(connection)
        }
        #expect(differences == .init(missing: [], unexpected: []))
    }

    /// Versions of PostgreSQL print the same expression with other parentheses and casts.
    @Test func policiesThatAnotherVersionPrintsDifferentlyAreEqual() async throws {
        let dump = try String(
            contentsOfFile: "\(TestCluster.migrations)/schema.sql", encoding: .utf8)
        let other = dump.replacing(
            "((user_id = public.app_user_id()))", with: "((((user_id)) = (public.app_user_id())))")
        #expect(other != dump)
        let database = try await TestCluster.shared.makeDatabase()
        let differences = try await database.withConnection { connection in
            try SchemaAccess(dump: other).differences(connection)
        }
        #expect(differences == .init(missing: [], unexpected: []))
        let wrong = dump.replacing(
            "ON public.swipes TO bookplate_app USING ((user_id = public.app_user_id()))",
            with: "ON public.swipes TO bookplate_app USING ((user_id <> public.app_user_id()))")
        let found = try await database.withConnection { connection in
            try SchemaAccess(dump: wrong).differences(connection)
        }
        #expect(found.missing.count == 1)
        #expect(found.unexpected.count == 1)
    }
}
