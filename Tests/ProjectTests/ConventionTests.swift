import FoundationEssentials
import Testing
import Version

/// Conventions of CONTRIBUTING.md that a machine can check.
@Suite struct ConventionTests {
    /// The Swift modules, without the C targets in Sources/System.
    static let modules = DependencyTests.targets
        .filter { $0.path.hasPrefix("Sources/") && !$0.path.hasPrefix("Sources/System/") }
        .map(\.name)

    /// Returns the folder of a Swift module: `Sources/<floor>/<module>`.
    static func folder(of module: String) throws -> String {
        try #require(DependencyTests.targets.first { $0.name == module }).path
    }

    private static func sources(of module: String) throws -> [(path: String, text: String)] {
        try Project.files([try folder(of: module)], [".swift"]).map { path in
            (path: path, text: try Project.text(path))
        }
    }

    @Test func migrationsAreNamedAndExplained() throws {
        let files = try Project.files(["migrations"], [".sql"]).map {
            $0.dropFirst("migrations/".count)
        }
        let versioned = files.filter { !$0.hasPrefix("functions/") && $0 != "schema.sql" }
        #expect(!versioned.isEmpty)
        var versions: Set<Substring> = []
        for name in versioned {
            #expect(name.wholeMatch(of: /[0-9]{14}_[a-z]+(_[a-z0-9]+)+\.sql/) != nil, "\(name)")
            #expect(versions.insert(name.prefix(14)).inserted, "\(name)")
            #expect(try Project.text("migrations/\(name)").hasPrefix("-- Why: "), "\(name)")
        }
    }

    @Test func everyTableHasAComment() throws {
        let schema = try Project.text("migrations/schema.sql")
        let tables = schema.matches(of: /CREATE (?:UNLOGGED )?TABLE public\.(\w+) \(/).map {
            String($0.1)
        }
        let described = Set(
            schema.matches(of: /COMMENT ON TABLE public\.(\w+) IS/).map { String($0.1) })
        #expect(!tables.isEmpty)
        #expect(tables.filter { !described.contains($0) } == [])
    }

    /// These files are applied again whenever they change, so each statement must be safe to run again.
    @Test func filesOfFunctionsCanRunAgain() throws {
        let files = try Project.files(["migrations/functions"], [".sql"])
        #expect(!files.isEmpty)
        for file in files {
            #expect(try Project.text(file).hasPrefix("-- "), "\(file)")
            for line in try Project.text(file).split(separator: "\n")
            where line.hasPrefix("CREATE ") {
                #expect(
                    line.hasPrefix("CREATE OR REPLACE ") || line.hasPrefix("CREATE POLICY "),
                    "\(file): \(line)")
            }
        }
    }

    @Test(arguments: modules) func onlyConfigReadsTheEnvironment(_ module: String) throws {
        for file in try Self.sources(of: module) where module != "Config" {
            for name in ["getenv(", "environ[", "ProcessInfo.processInfo.environment"] {
                #expect(!file.text.contains(name), "\(file.path)")
            }
            #expect(!file.text.contains(/= environ\b/), "\(file.path)")
        }
    }

    /// The modules with SQL for the tables of the product.
    private static let product: Set = ["Requests", "Bookplate", "Operations"]

    /// SQL for a table is in the module that owns the table.
    @Test(arguments: modules) func onlyTheProductHasSQLForItsTables(_ module: String) throws {
        let statement =
            /(?i)\b(from|into|update|join)\s+(users|sessions|tenants|shelves|books|shelf_books|reviews|swipes|editions|edition_sources|authors|genres|edition_genres|feed_decks|cold_start_decks|account_tombstones|jobs|changes|events|covers|removed_covers|tenant_storage|imports|import_failures)\b/
        for file in try Self.sources(of: module) where !Self.product.contains(module) {
            let lines = file.text.split(separator: "\n").filter { line in
                !line.drop { $0 == " " }.hasPrefix("//") && line.contains(statement)
                    && !line.contains("abstract:")
                    && !(module == "JobQueue" && line.contains("jobs"))
            }
            #expect(lines == [], "\(file.path)")
        }
    }

    /// Each operation is next to its noun in the product. The admin CLI only parses, calls, and prints.
    @Test func theAdminCLIRunsNoStatements() throws {
        for file in try Self.sources(of: "Admin") {
            #expect(!file.text.contains(/\.(query|execute|copy)\(/), "\(file.path)")
        }
    }

    /// Swift 6.3.1 with `-O` miscompiles such tuples in tasks: docs/decisions/task-group-tuples.md.
    @Test func tuplesDoNotAwait() throws {
        let pattern = /\(\s*(?:\w+\.)*\w+,\s*(?:\.\w+\()?(?:try )?await\b/
        for code in [
            "return (index, .success(try await lookup(source)))",
            ".found(\n    index, .success(try await sources[index].edition(number, deadline)))",
            "(record, try await record.states(in: store))",
        ] {
            #expect(code.contains(pattern), "\(code)")
        }
        for file in try Self.modules.flatMap(Self.sources) {
            for match in file.text.matches(of: pattern) {
                // A call that awaits one of its arguments starts with the name of a function.
                let before = file.text[..<match.range.lowerBound]
                let isCall = before.last.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
                let isEnumCase = before.contains(/\.\w+$/)
                #expect(isCall && !isEnumCase, "\(file.path): \(match.output)")
            }
        }
    }

    @Test func theChangelogHasASectionForTheVersion() throws {
        let changelog = try Project.text("CHANGELOG.md")
        #expect(changelog.contains("\n## [Unreleased]\n"))
        #expect(changelog.contains("\n## [\(bookplateVersion)] - 20"))
    }

    @Test(arguments: modules) func sourcesHaveNoUnfinishedWork(_ module: String) throws {
        for file in try Self.sources(of: module) {
            for word in ["TO" + "DO", "FIX" + "ME", "fatalError(", "try!"] {
                #expect(!file.text.contains(word), "\(file.path): \(word)")
            }
        }
    }

    /// Tests wait for conditions. They do not measure time, which depends on the machine.
    @Test func testsDoNotMeasureTime() throws {
        for path in try Project.files(["Tests"], [".swift"])
        where !path.contains("/Benchmarks/") && !path.contains("/Fuzz/")
            && !path.hasSuffix("ConventionTests.swift")
        {
            let text = try Project.text(path)
            #expect(
                !text.contains(/#expect\([^\n]*(\.now|elapsed|duration\(to:)[^\n]*[<>]/), "\(path)")
        }
    }
}
