import ArgumentParser
import GraphQL
import Postgres
import Testing

@testable import Admin

@Suite struct TableTests {
    private let table = Table(
        ["slug", "name", "audiences"], [["a", "Ä", ""], ["shop", "The Shop", "x"]])

    @Test func alignsColumnsOnATerminal() {
        #expect(
            table.lines(isTerminal: true) == [
                "SLUG  NAME      AUDIENCES", "a     Ä         ", "shop  The Shop  x",
            ])
        #expect(
            Table([], [["id", "1"], ["name", "A"]]).lines(isTerminal: true) == [
                "id    1", "name  A",
            ])
        #expect(Table(["id"], []).lines(isTerminal: true) == [])
    }

    @Test func separatesCellsByTabsOtherwise() {
        #expect(table.lines(isTerminal: false) == ["a\tÄ\t", "shop\tThe Shop\tx"])
    }
}

@Suite struct TerminalTests {
    @Test func stylesTextOnlyWithColors() {
        #expect(Terminal.styled("ok", .green, hasColors: true) == "\u{1B}[32mok\u{1B}[0m")
        #expect(Terminal.styled("ok", .green, hasColors: false) == "ok")
    }
}

@Suite struct ByteCountTests {
    @Test(arguments: [
        (0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 KiB"), (2 << 30, "2 GiB"),
        (500_000_000_000, "500 GB"), (2_147_483_649, "2.0 GiB"),
    ])
    func textIsExactOrRounded(bytes: Int64, text: String) {
        #expect(ByteCount.text(bytes) == text)
    }
}

@Suite struct FailureTests {
    @Test(arguments: [
        PostgresError.connectFailed("refused"), .connectionLost("refused"), .timeout,
    ])
    func errorsOfTheDatabaseSayWhatToDo(error: PostgresError) {
        #expect(Failure(error).message.contains("run bookplate-admin doctor"))
        // The doctor prints its own advice.
        #expect(!Failure.reason(error).contains("doctor"))
    }
}

@Suite struct UnknownWordTests {
    private static func program() throws -> Value {
        let help = try parseJSON(Array(AdminCommand._dumpHelp().utf8))
        return try #require(help["command"])
    }

    @Test(arguments: [
        ("migrat up", "unknown command 'migrat': did you mean 'bookplate-admin migrate'?"),
        ("tenant lst", "unknown command 'lst': did you mean 'bookplate-admin tenant list'?"),
        ("keys x", "unknown command 'x': the commands of bookplate-admin keys are list, rotate"),
        ("tenant add --slg x --name X", "unknown option '--slg': did you mean '--slug'?"),
        ("doctor --ofline=yes", "unknown option '--ofline': did you mean '--offline'?"),
        (
            "doctor --something-else",
            "unknown option '--something-else': see bookplate-admin doctor --help"
        ),
        ("--versio", "unknown option '--versio': did you mean '--version'?"),
    ])
    func isReportedWithASuggestion(line: String, message: String) throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(UnknownWord(in: words, of: try Self.program())?.message == message)
    }

    @Test(arguments: [
        "", "tenant", "tenant add --slug", "tenant add --name --slg", "catalog import -- --slg",
        "help tenant", "tenant add -q",
    ])
    func isNotFoundOnOtherCommandLines(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(UnknownWord(in: words, of: try Self.program()) == nil)
    }
}

@Suite struct HelpTests {
    /// ArgumentParser wraps longer lines, which breaks the indentation of examples.
    @Test func examplesFitATerminalWith80Columns() throws {
        let help = try parseJSON(Array(AdminCommand._dumpHelp().utf8))
        var commands = [try #require(help["command"])]
        var exampleCount = 0
        while let command = commands.popLast() {
            commands += command["subcommands"]?.list ?? []
            for line in (command["discussion"]?.string ?? "").split(separator: "\n")
            where line.hasPrefix("  ") {
                exampleCount += 1
                #expect(line.count <= 80, "\(line)")
            }
        }
        #expect(exampleCount > 50)
    }
}

@Suite struct AddressCheckTests {
    @Test(arguments: [
        ("http://localhost:8080", true), ("https://LOCALHOST/x", true), ("http://[::1]:80", true),
        ("http://127.1.2.3", true), ("http://0.0.0.0:1", true), ("https://a.localhost", true),
        ("https://books.example.com", false), ("https://localhost.example.com", false),
        ("https://127.example.com", false),
    ])
    func findsURLsOfThisMachine(url: String, isLocal: Bool) {
        #expect(AddressCheck.isLocal(url) == isLocal)
    }

    @Test(
        arguments: [
            (nil, nil), (13 * 86_400, CheckResult.State.warning), (-1, .warning),
            (60 * 86_400, .ok),
        ] as [(Int?, CheckResult.State?)])
    func certificatesExpire(seconds: Int?, state: CheckResult.State?) {
        let now = 1_700_000_000
        let found = AddressCheck.certificate(
            of: "books.example.com", expiresAt: seconds.map { now + $0 }, now: now)
        #expect(found.first?.state == state)
    }

    @Test(arguments: [(1, "1 day"), (2, "2 days")])
    func namesTheHostOfTheCertificate(days: Int, text: String) {
        let found = AddressCheck.certificate(
            of: "books.example.com", expiresAt: days * 86_400, now: 0)
        #expect(found.first?.message == "the certificate of books.example.com expires in \(text)")
    }

    @Test(
        arguments: [
            (200, .ok), (400, .ok), (301, .warning), (308, .warning), (502, .warning),
        ] as [(Int, CheckResult.State)])
    func redirectsAndErrorsOfTheProxyAreReported(status: Int, state: CheckResult.State) {
        #expect(
            AddressCheck.result("proxy", "https://books.example.com", status: status).state
                == state)
    }
}

@Suite struct AuditedCommandTests {
    private static func leaves(
        _ command: any ParsableCommand.Type, _ path: [String]
    ) -> [(path: [String], type: any ParsableCommand.Type)] {
        let subcommands = command.configuration.subcommands
        let path = path + [command._commandName]
        return subcommands.isEmpty ? [(path, command)] : subcommands.flatMap { leaves($0, path) }
    }

    /// Each command that changes the database, a file, or a key has `--dry-run`, or changes something only with `--fix`.
    @Test func everyCommandThatChangesSomethingIsAudited() {
        var missing: [String] = []
        for (path, type) in Self.leaves(AdminCommand.self, []) {
            // It writes only a file of the source code.
            if path.suffix(2) == ["migrate", "new"] { continue }
            let help = type.helpMessage()
            let changesSomething = help.contains("--dry-run") || help.contains("--fix")
            if changesSomething != (type is any AuditedCommand.Type), path.last != "export" {
                missing.append(path.joined(separator: " "))
            }
        }
        #expect(missing == [])
    }
}
