import FoundationEssentials
import GraphQL
import TestSupport
import Testing

/// Runs every query and command that the documentation shows.
@Suite struct DocsTests {
    typealias Block = DocumentationBlock

    static let pages = Block.pages
    static let blocks = Block.all

    // MARK: Queries

    private static let schema = Shared {
        let text = try String(
            contentsOfFile: "\(TestCluster.project)/schema.graphql", encoding: .utf8)
        return try buildSchema(
            try parse(Source(text), limits: .trusted), hasIncrementalDelivery: true)
    }

    @Test(arguments: blocks.filter { $0.words.first == "graphql" })
    func queriesAreValid(block: Block) async throws {
        let document = try parse(Source(block.text))
        let errors = validate(document, against: try await Self.schema(), limits: OperationLimits())
        #expect(errors.map(\.message) == [])
    }

    @Test(arguments: pages)
    func queriesWork(page: String) async throws {
        let blocks = try Block.blocks(of: page).filter { $0.words == ["graphql"] }
        guard !blocks.isEmpty else { return }
        let server = try await Self.server()
        let user = try await PageUser(server, page)
        for block in blocks {
            let document = try parse(Source(block.text))
            guard Self.canBeRun(document, block) else { continue }
            let variables = try parseJSON(Array(user.filled(block.variables ?? "{}").utf8))
            let response =
                if block.variables?.contains(#""image": null"#) == true {
                    try await server.client.upload(
                        TestImage.png(), operations: HTTPClient.operations(block.text, variables),
                        map: #"{"0":["variables.image"]}"#, token: user.token
                    ).json
                } else {
                    try await server.client.execute(block.text, variables, token: user.token)
                }
            #expect(response["errors"] == nil, "\(block): \(response)")
            #expect(response["data"] != nil)
        }
    }

    /// Whether a block is a single query or mutation with values for all required variables.
    private static func canBeRun(_ document: Document, _ block: Block) -> Bool {
        let operations = document.definitions.compactMap { definition in
            if case .operation(let operation) = definition { operation } else { nil }
        }
        guard operations.count == 1, operations[0].kind != .subscription else { return false }
        return operations[0].variables.allSatisfy { variable in
            if case .nonNull = variable.type, variable.defaultValue == nil {
                return block.variables != nil
            }
            return true
        }
    }

    /// The catalog contains the book whose ISBN the examples use.
    private static let installation = Shared {
        try await Installation.ready(
            catalog: TestCatalog.lines() + [
                #"{"isbn13": "9780140328721", "title": "Fantastic Mr. Fox", "authors": ["Roald Dahl"], "genres": ["Children"]}"#
            ])
    }
    private static let server = Shared { try await installation().startServer() }

    // MARK: Commands

    /// The lines of a block without comments. Lines that end with a backslash are joined with the next one.
    private static func commands(_ block: Block) -> [String] {
        block.text.replacing("\\\n", with: " ").split(separator: "\n").map { line in
            String(
                line.drop { $0 == " " }.split(
                    separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0])
        }
    }

    /// Splits a line into words as a shell does, up to the first redirection or pipe.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == " " {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        if !word.isEmpty { words.append(word) }
        return Array(words.prefix { ![">", ">>", "|", "&&", "||", "<"].contains($0) })
    }

    @Test(arguments: blocks.filter { $0.words.first == "sh" })
    func commandsExist(block: Block) async throws {
        let installation = try await Self.installation()
        let help = try await installation.admin("--experimental-dump-help")
        let root = try #require(try parseJSON(Array(help.output.utf8))["command"])
        for line in Self.commands(block) {
            let words = Self.words(line)
            let names = ["bookplate-admin", "scripts/admin"]
            if let start = words.firstIndex(where: names.contains) {
                Self.check(Array(words[(start + 1)...]), root, block)
            }
            for script in words where script.hasPrefix("scripts/") && !script.contains(".") {
                #expect(
                    FileManager.default.isExecutableFile(
                        atPath: "\(TestCluster.project)/\(script)"),
                    "\(block): \(script)")
            }
        }
    }

    /// Checks that the words name a command, and that the command has all the options.
    private static func check(_ words: [String], _ root: Value, _ block: Block) {
        var command = root
        var rest = words[...]
        while let name = rest.first,
            let child = command["subcommands"]?.list?.first(where: {
                $0["commandName"]?.string == name
            })
        {
            command = child
            rest = rest.dropFirst()
        }
        let isLeaf = (command["subcommands"]?.list ?? []).allSatisfy {
            $0["commandName"]?.string == "help"
        }
        #expect(
            isLeaf || ["--help", "--version"].contains(rest.first ?? ""),
            "\(block): \(words.joined(separator: " "))")
        let known =
            (command["arguments"]?.list ?? []).flatMap { argument in
                (argument["names"]?.list ?? []).compactMap { $0["name"]?.string }
            } + ["help", "version"]
        for option in rest where option.hasPrefix("--") {
            let name = option.dropFirst(2).prefix { $0 != "=" }
            #expect(known.contains(String(name)), "\(block): \(option)")
        }
    }

    @Test(arguments: blocks.filter { $0.words == ["sh", "run"] })
    func commandsWork(block: Block) async throws {
        let installation = try await Self.installation()
        for line in Self.commands(block) where line.hasPrefix("bookplate-admin ") {
            let outcome = try await installation.admin(Array(Self.words(line).dropFirst()))
            #expect(outcome.code == 0, "\(block): \(line): \(outcome.errors)")
        }
    }

    // MARK: References

    /// The table in `docs/how-to/monitor.md` contains every metric that a server exports, and no name that the sources
    /// do not contain. The dashboard and the alerts use only these.
    @Test func metricsAreDocumented() async throws {
        let server = try await Self.server()
        _ = try await server.client.execute("{ nonsense }")
        let exported = try await server.client.send("GET", "/metrics").body.split(separator: "\n")
            .filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) }
        let page = try Self.text("docs/how-to/monitor.md")
        let table = page.split(separator: "\n").filter {
            $0.hasPrefix("| `bookplate_") || $0.hasPrefix("| `process_")
        }
        let documented = Set(
            table.flatMap { row in
                row.split(separator: "|")[0].matches(of: /`((?:bookplate|process)_[a-z_]+)`/).map {
                    String($0.1)
                }
            })
        #expect(Set(exported).subtracting(documented) == [])
        // The server of this test does not export metrics of features that it does not use.
        #expect(documented.subtracting(try Self.literals()) == [])
        let dashboard = try String(
            contentsOfFile: "\(TestCluster.project)/docs/grafana.json", encoding: .utf8)
        #expect(throws: Never.self) { try parseJSON(Array(dashboard.utf8)) }
        let used = Set(
            dashboard.matches(of: /(?:bookplate|process)_[a-z_]+/).map { match in
                String(match.0.hasSuffix("_bucket") ? match.0.dropLast("_bucket".count) : match.0)
            })
        #expect(used.subtracting(documented) == [])
        let alerts = try String(
            contentsOfFile: "\(TestCluster.project)/docs/alerts.yml", encoding: .utf8)
        let alerting = Set(
            alerts.matches(of: /(?:bookplate|process)_[a-z_]+/).map { match in
                String(match.0.hasSuffix("_bucket") ? match.0.dropLast("_bucket".count) : match.0)
            })
        #expect(alerting.subtracting(documented) == [])
        #expect(!alerting.isEmpty)
        #expect(documented.subtracting(used).subtracting(alerting) == [])
    }

    /// The string literals of `Sources` that have the form of a metric's name.
    private static func literals() throws -> Set<String> {
        let folder = "\(TestCluster.project)/Sources"
        return try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".swift") }
            .reduce(into: []) { names, file in
                let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                guard text.contains("\"bookplate_") || text.contains("\"process_") else { return }
                for match in text.matches(of: /"((?:bookplate|process)_[a-z_]+)"/) {
                    names.insert(String(match.1))
                }
            }
    }

    @Test func alertRulesAreValid() async throws {
        let promtool = Program(
            name: "promtool", environment: ["PATH": "/usr/bin:/bin"],
            folder: try Program.makeFolder(), path: "/usr/bin/promtool")
        let outcome = try await promtool.run(
            "check", "rules", "\(TestCluster.project)/docs/alerts.yml")
        #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    }

    /// Each alert names an existing section that says what to do.
    @Test func alertsHaveRunbooks() throws {
        let rules = try Self.text("docs/alerts.yml").split(separator: "- alert: ").dropFirst()
        #expect(!rules.isEmpty)
        for rule in rules {
            let runbook = try #require(
                rule.firstMatch(of: /\n          runbook: (\S+\.md)#(\S+)\n/), "\(rule)")
            let anchors = Self.anchors(try Self.text("docs/\(runbook.1)"))
            #expect(anchors.contains(String(runbook.2)), "\(runbook.2)")
        }
    }

    /// The table of errors in `docs/api.md` lists exactly the codes that the source contains.
    @Test func errorCodesAreDocumented() throws {
        let page = try Self.text("docs/api.md")
        let start = try #require(page.firstRange(of: "\n## Errors\n"))
        let section = page[start.upperBound...].split(separator: "\n## ", maxSplits: 1)[0]
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let documented = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([A-Z_]+)`/).map { String($0.1) }
        }
        #expect(Set(documented).count == documented.count)

        var codes: Set<String> = []
        let folder = "\(TestCluster.project)/Sources"
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder)
        where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            let literals =
                text.matches(of: /"code",? *(?:\.string\()?:? ?"([A-Z_]+)"/).map(\.1)
                + text.matches(of: /static let \w+Code = "([A-Z_]+)"/).map(\.1)
            codes.formUnion(literals.map(String.init))
            // The switch statements of the error types, and the codes of the engine's errors.
            for match in text.matches(
                of: /(?:var code: String|ErrorCodes) \{(?<body>[^}]*)\}/)
            {
                codes.formUnion(match.body.matches(of: /"([A-Z_]+)"/).map { String($0.1) })
            }
        }
        // Not sent to clients.
        codes.remove("CLIENT_CLOSED_REQUEST")
        #expect(codes.count > 25)
        #expect(Set(documented) == codes)
        let schema = try Self.text("schema.graphql")
        let values = try #require(schema.firstMatch(of: /\nenum ErrorCode \{(?<body>[^}]*)\}/))
        for match in values.body.matches(of: /\n  ([A-Z_]+)\n/) {
            #expect(codes.contains(String(match.1)), "\(match.1)")
        }
    }

    /// `docs/configuration.md` mentions every setting.
    @Test func variablesAreDocumented() throws {
        let page = try Self.text("docs/configuration.md")
        let folder = TestCluster.project + "/Sources/Libraries/Config"
        for file in try FileManager.default.contentsOfDirectory(atPath: folder)
        where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            for match in text.matches(of: /"(BOOKPLATE_[A-Z0-9_]*[A-Z0-9]|DATABASE_URL)"/) {
                #expect(page.contains("`\(match.1)`"), "\(match.1)")
            }
        }
    }

    /// Pages without examples, whose links and file names are checked too.
    static let otherPages = ["CHANGELOG.md", "Sources/README.md", "migrations/README.md"]

    @Test(arguments: pages + otherPages)
    func linkTargetsExist(page: String) throws {
        let text = try Self.text(page)
        let folder = page.split(separator: "/").dropLast().joined(separator: "/")
        for match in text.matches(of: /\]\(([^)#:]*)(?:#([^)]*))?\)/) {
            let target = match.1.isEmpty ? page : (folder.isEmpty ? "" : folder + "/") + match.1
            let path = "\(TestCluster.project)/\(target)"
            #expect(FileManager.default.fileExists(atPath: path), "\(match.1)")
            guard let anchor = match.2, target.hasSuffix(".md") else { continue }
            let headings = try Self.anchors(String(contentsOfFile: path, encoding: .utf8))
            #expect(headings.contains(String(anchor)), "\(match.0)")
        }
        for match in text.matches(of: /src="([^":]+)"/) {
            let path = "\(TestCluster.project)/\(folder.isEmpty ? "" : folder + "/")\(match.1)"
            #expect(FileManager.default.fileExists(atPath: path), "\(match.1)")
        }
    }

    /// The anchors that GitHub generates for a page's headings, for example `#who-it-is-for` for `## Who it is for`.
    private static func anchors(_ text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
                let heading = line.drop { $0 == "#" || $0 == " " }.lowercased()
                return String(
                    heading.replacing(" ", with: "-").filter {
                        $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_"
                    })
            })
    }

    /// A file or folder of the project that a page names in backticks must exist. Paths of the code map are relative to
    /// `Sources`. How-tos also name files that a contributor creates while following them; `isCreatedByTheReader`
    /// matches those.
    @Test(arguments: pages + otherPages)
    func namedFilesExist(page: String) throws {
        let isCreatedByTheReader = /(Sources|Tests)\/.*\/Quote(\/.*)?/
        let paths = /(?:Sources|Tests|scripts|migrations|docs)\/[A-Za-z0-9_.\/-]+/
        let inSources = /[A-Z][A-Za-z]+\/[A-Za-z\/]+(?:\.swift)?/
        for match in try Self.text(page).matches(of: /`([^`\n]+)`/) {
            var path: String?
            if let found = match.1.firstMatch(of: paths) {
                path = String(found.0)
            } else if page == "Sources/README.md", match.1.wholeMatch(of: inSources) != nil {
                path = "Sources/\(match.1)"
            }
            guard let path, path.wholeMatch(of: isCreatedByTheReader) == nil else { continue }
            #expect(
                FileManager.default.fileExists(atPath: "\(TestCluster.project)/\(path)"), "\(path)")
        }
    }

    private static func text(_ page: String) throws -> String {
        try String(contentsOfFile: "\(TestCluster.project)/\(page)", encoding: .utf8)
    }

    /// The README of each folder links to all pages in it.
    @Test(arguments: ["docs", "docs/how-to", "docs/decisions"])
    func everyPageIsInItsIndex(folder: String) throws {
        let index = try Self.text("\(folder)/README.md")
        let names = try FileManager.default.contentsOfDirectory(
            atPath: "\(TestCluster.project)/\(folder)")
        for name in names where name.hasSuffix(".md") && name != "README.md" {
            #expect(index.contains("](\(name))"), "\(name)")
        }
    }
}

/// A signed-in user with a shelf and a book, whose ids replace the placeholders of a page. `{year}` is that of a
/// finished read and of a goal.
private struct PageUser {
    let token: String
    private let values: [String: String]

    init(_ server: RunningServer, _ page: String) async throws {
        let session = try await server.signIn(page)
        token = session["accessToken"]?.string ?? ""
        func execute(_ query: String) async throws -> Value {
            try await server.client.execute(query, token: session["accessToken"]?.string)["data"]
                ?? .null
        }
        let shelf = try await execute(
            #"mutation { createShelf(input: {name: "Everything"}) { id } }"#)
        let book = try await execute(#"mutation { createBook(input: {title: "Dune"}) { id } }"#)
        let started = try await execute(
            """
            mutation { createBook(input: {title: "Emma", status: READING}) { currentRead { id } } }
            """)
        let read = started["createBook", "currentRead", "id"]?.string ?? ""
        let old = try await execute(
            """
            mutation { createBook(input: {title: "Ulysses", reads: [{finishedOn: "2019"}]}) {
              reads { nodes { id } } } }
            """)
        let logged = try await execute(
            """
            mutation { logProgress(inputs: [{readId: "\(read)", percent: 40}]) { entry { id } } }
            """)
        let created = try await execute(
            """
            mutation { createAccessToken(input: {name: "Kobo", scopes: [PROGRESS]}) { secret token { id } } }
            """)["createAccessToken"]
        let kobo = KOReaderClient(server.client, password: created?["secret"]?.string ?? "")
        _ = try await kobo.push("0b229176d4e8db7f6d2b5a4952368d7a", "1", 0.32)
        let document = try await execute("{ me { ereaderDocuments { nodes { id } } } }")
        let bookID = book["createBook", "id"]?.string ?? ""
        let note = try await execute(
            #"mutation { createNote(input: {bookId: "\#(bookID)", text: "Fear"}) { id } }"#)
        let goal = try await execute(
            "mutation { setReadingGoal(input: {year: 2019, target: 12}) { id } }")
        let card = try await execute("{ feed(first: 1) { nodes { id } } }")
        let identity = try await server.client.send(
            "POST", "/development/identity-token",
            body: #"{"subject":"\#(page).again","audience":"com.example.reader"}"#)
        values = [
            "user": session["user", "id"]?.string ?? "",
            "refreshToken": session["refreshToken"]?.string ?? "",
            "identityToken": identity.json["identityToken"]?.string ?? "",
            "shelf": shelf["createShelf", "id"]?.string ?? "",
            "book": bookID, "note": note["createNote", "id"]?.string ?? "",
            "goal": goal["setReadingGoal", "id"]?.string ?? "",
            "read": read, "oldRead": old["createBook", "reads", "nodes", 0, "id"]?.string ?? "",
            "entry": logged["logProgress", 0, "entry", "id"]?.string ?? "",
            "card": card["feed", "nodes", 0, "id"]?.string ?? "",
            "token": created?["token", "id"]?.string ?? "",
            "document": document["me", "ereaderDocuments", "nodes", 0, "id"]?.string ?? "",
            "year": "2019",
        ]
    }

    /// Returns a block's variables with the placeholders replaced. A placeholder that starts with `new` becomes a
    /// new id each time.
    func filled(_ text: String) -> String {
        var text = text
        for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
        for name in [
            "newShelf", "newBook", "newRead", "newEntry", "newKey", "newNote", "newCopy", "newScan",
        ] {
            text = text.replacing("{\(name)}", with: "\(UUID())".lowercased())
        }
        return text
    }
}
