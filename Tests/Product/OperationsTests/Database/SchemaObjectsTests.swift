import FoundationEssentials
import TestSupport
import Testing

@testable import Operations

@Suite struct SchemaObjectsTests {
    private static let dump = """
        CREATE DOMAIN public.book_title AS text
        	CONSTRAINT books_title_check CHECK ((VALUE <> ''::text));

        -- Name: books; Type: TABLE; Schema: public; Owner: -

        CREATE TABLE public.books (
            id uuid NOT NULL,
            price numeric(10,2) DEFAULT 0,
            CONSTRAINT books_price_check CHECK ((price >= (0)::numeric))
        )
        WITH (fillfactor='85');

        ALTER TABLE ONLY public.books
            ADD CONSTRAINT books_pkey PRIMARY KEY (id);

        CREATE UNIQUE INDEX books_price ON public.books USING btree (price);

        CREATE TRIGGER log_changes AFTER UPDATE OF price ON public.books FOR EACH ROW EXECUTE FUNCTION public.log_change();

        """
    private static let functions = """
        CREATE OR REPLACE FUNCTION log_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RETURN NULL;
        END
        $$;
        """
    private let release = SchemaObjects(dump: dump, migrations: [functions])

    @Test func readsTheStatementsOfADump() {
        let statements = Dictionary(
            uniqueKeysWithValues: release.definitions.map { name, definitions in
                ("\(name.kind.rawValue) \(name.text)", definitions.first ?? "")
            })
        #expect(
            statements == [
                "constraint books_title_check on public.book_title":
                    "ALTER DOMAIN public.book_title ADD CONSTRAINT books_title_check CHECK ((VALUE <> ''::text))",
                "column id on public.books": "ALTER TABLE public.books ADD COLUMN id uuid NOT NULL",
                "column price on public.books":
                    "ALTER TABLE public.books ADD COLUMN price numeric(10,2) DEFAULT 0",
                "constraint books_price_check on public.books":
                    "ALTER TABLE public.books ADD CONSTRAINT books_price_check CHECK ((price >= (0)::numeric))",
                "constraint books_pkey on public.books":
                    "ALTER TABLE public.books ADD CONSTRAINT books_pkey PRIMARY KEY (id)",
                "index books_price on public.books":
                    "CREATE UNIQUE INDEX books_price ON public.books USING btree (price)",
                "trigger log_changes on public.books":
                    "CREATE TRIGGER log_changes AFTER UPDATE OF price ON public.books FOR EACH ROW EXECUTE FUNCTION public.log_change()",
                "function public.log_change": "\nBEGIN\n    RETURN NULL;\nEND\n",
            ])
    }

    /// Another version of PostgreSQL prints the same expression differently.
    @Test(arguments: [true, false])
    func findsDifferences(comparesStatements: Bool) {
        var database = SchemaObjects()
        for (name, definitions) in release.definitions where name.kind != .index {
            database.add(name.kind, name.text, name.kind == .trigger ? nil : definitions.first)
        }
        database.add(.column, "price on public.books", "ALTER TABLE public.books ADD COLUMN other")
        database.add(.function, "public.log_change", "other")
        database.add(.constraint, "extra on public.books", "ALTER TABLE …")
        database.add(.index, "extra on public.books", "CREATE INDEX …")
        let found = release.differences(of: database, comparesStatements: comparesStatements)
        #expect(
            found.map(\.description)
                == (comparesStatements ? ["changed column price on public.books"] : []) + [
                    "changed function public.log_change",
                    "disabled trigger log_changes on public.books",
                    "missing index books_price on public.books",
                    "unexpected constraint extra on public.books",
                ])
    }

    /// The dump and the functions of the project describe a database that the migrations create.
    @Test func aMigratedDatabaseHasTheObjectsOfTheRelease() async throws {
        let folder = TestCluster.migrations
        let migrations = try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".sql") && $0 != "schema.sql" }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
        let dump = try String(contentsOfFile: "\(folder)/schema.sql", encoding: .utf8)
        let database = try await TestCluster.shared.makeDatabase()
        let differences = try await database.withConnection { connection in
            try SchemaObjects(dump: dump, migrations: migrations).differences(connection)
        }
        #expect(differences.map(\.description) == [])
    }
}
