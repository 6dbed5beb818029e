import FoundationEssentials
import TestSupport
import Testing
import Version

@testable import Bookplate

/// What the project's pages say of its code, kept true.
@Suite struct TidyTests {
    private static let sources = TestCluster.project + "/Sources"

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    /// The Swift files of a module, with their paths.
    private static func files(of module: String) throws -> [(path: String, text: String)] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(sources)/\(module)")
            .filter { $0.hasSuffix(".swift") }.sorted()
            .map { ("\(module)/\($0)", try text("\(sources)/\(module)/\($0)")) }
    }

    private static let modules =
        ((try? FileManager.default.contentsOfDirectory(atPath: sources)) ?? [])
        .filter { !$0.contains(".") }.sorted()

    private static func imports(of module: String) throws -> Set<String> {
        var names: Set<String> = []
        for file in try files(of: module) {
            for line in file.text.split(separator: "\n") {
                let words = line.split(separator: " ").filter {
                    !$0.hasPrefix("@") && $0 != "public" && $0 != "package"
                }
                if words.first == "import", let name = words.last { names.insert(String(name)) }
            }
        }
        return names
    }

    @Test func migrationsAreNamedAndExplained() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: TestCluster.migrations)
            .sorted()
        #expect(!names.isEmpty)
        var versions: Set<Substring> = []
        for name in names {
            #expect(name.wholeMatch(of: /[0-9]{14}_[a-z]+(_[a-z0-9]+)+\.sql/) != nil, "\(name)")
            #expect(versions.insert(name.prefix(14)).inserted, "\(name)")
            let first = try Self.text("\(TestCluster.migrations)/\(name)").split(separator: "\n")
                .first
            #expect(first?.hasPrefix("-- Why: ") == true, "\(name)")
        }
        #expect(versions.max().flatMap { Int64($0) } == schemaVersion)
    }

    /// Which of the project's own modules each may import: one way, from the servers to the engine.
    @Test func importsPointOneWay() throws {
        let allowed: [String: Set<String>] = [
            "GraphQL": [], "Config": [], "EventLoops": [], "Telemetry": [], "Version": [],
            "HTTPFetch": ["CCurl", "Telemetry"], "MQTT": ["CMosquitto"],
            "Postgres": ["CLibPQ", "CReadiness", "EventLoops"],
            "Identity": ["CJWT", "CCrypto", "HTTPFetch"],
            "BookSources": ["HTTPFetch"], "Gzip": ["CZlib"],
            "Objects": [], "Zip": ["CArchive"], "Images": [],
            "Imager": ["CSandbox", "CVips", "Images", "Version"],
            "Bookplate": [
                "BookSources", "GraphQL", "Postgres", "Identity", "HTTPFetch", "Images", "Objects",
                "Ranking", "Zip",
                "Telemetry",
            ], "Ranking": [], "RankingTool": ["Ranking", "Version"],
            "Server": [
                "CExplorer", "Config", "EventLoops", "GraphQL", "Objects", "Postgres", "Telemetry",
                "Version",
            ],
            "GraphQLTool": ["GraphQL", "Version"],
            "Admin": [
                "BookSources", "Bookplate", "Config", "GraphQL", "Gzip", "HTTPFetch", "Identity",
                "Images", "MQTT", "Objects", "Postgres", "Version",
            ],
            "BookplateServer": [
                "BookSources", "Bookplate", "CMalloc", "Config", "EventLoops", "GraphQL",
                "HTTPFetch", "Identity", "Images", "MQTT", "Objects", "Postgres", "Server",
                "Telemetry",
                "Version",
            ],
        ]
        let own = Set(Self.modules)
        for module in Self.modules where !module.hasPrefix("C") || module == "Config" {
            let expected = try #require(allowed[module], "say here what \(module) may import")
            let found = try Self.imports(of: module).intersection(own)
            #expect(found.isSubset(of: expected), "\(module): \(found.subtracting(expected))")
        }
    }

    @Test func graphQLImportsNothing() throws {
        #expect(try Self.imports(of: "GraphQL").subtracting(["Synchronization"]) == [])
    }

    @Test func onlyConfigReadsTheEnvironment() throws {
        for module in Self.modules where module != "Config" {
            for file in try Self.files(of: module) {
                for name in [
                    "getenv(", "environ[", "ProcessInfo.processInfo.environment", "= environ",
                ] {
                    #expect(!file.text.contains(name), "\(file.path)")
                }
            }
        }
    }

    /// Statements on the product's tables stand beside the types they serve.
    @Test func onlyBookplateHasSQLOfTheProduct() throws {
        let statement =
            /(?i)\b(from|into|update|join)\s+(users|sessions|tenants|shelves|books|shelf_books|reviews|swipes|editions|edition_sources|genres|feed_order|account_tombstones|jobs|changes|change_heads|events|covers|removed_covers|tenant_storage|imports|import_failures)\b/
        for module in Self.modules where module != "Bookplate" {
            for file in try Self.files(of: module) {
                let lines = file.text.split(separator: "\n").filter {
                    !$0.drop { $0 == " " }.hasPrefix("//") && $0.contains(statement)
                        // Sentences of the CLI's help.
                        && !$0.contains("abstract:")
                }
                #expect(lines == [], "\(file.path)")
            }
        }
    }

    /// Swift 6.3.1 with `-O` miscompiles such tuples in tasks: docs/decisions/task-group-tuples.md.
    @Test func noTupleAwaitsBesideAnotherElement() throws {
        let pattern = /\(\s*(?:\w+\.)*\w+,\s*(?:\.\w+\()?(?:try )?await\b/
        // The pattern finds the code that crashed, on one line or several.
        for code in [
            "return (place, .success(try await ask(source)))",
            ".answer(\n    place, .success(try await sources[place].edition(number, deadline)))",
            "(record, try await record.states(in: store))",
        ] {
            #expect(code.contains(pattern), "\(code)")
        }
        for module in Self.modules {
            for file in try Self.files(of: module) {
                for match in file.text.matches(of: pattern) {
                    // A call that awaits one of its arguments starts with the name of a function.
                    let before = file.text[..<match.range.lowerBound].last
                    let isCall = before.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
                    let isEnumCase = file.text[..<match.range.lowerBound].contains(/\.\w+$/)
                    #expect(isCall && !isEnumCase, "\(file.path): \(match.output)")
                }
            }
        }
    }

    @Test func theChangelogHasASectionForTheVersion() throws {
        let changelog = try Self.text(TestCluster.project + "/CHANGELOG.md")
        #expect(changelog.contains("\n## [Unreleased]\n"))
        #expect(changelog.contains("\n## [\(bookplateVersion)] - 20"))
    }

    @Test func nothingIsLeftUndone() throws {
        for module in Self.modules {
            for file in try Self.files(of: module) {
                for word in ["TO" + "DO", "FIX" + "ME", "fatalError(", "try!"] {
                    #expect(!file.text.contains(word), "\(file.path): \(word)")
                }
            }
        }
    }
}
