import Testing

@testable import Config

@Suite struct EnvironmentFileTests {
    @Test(arguments: [
        ("A=b", ["A": "b"]), ("", [:]), ("# only a comment\n\n", [:]),
        ("export A = b # comment", ["A": "b"]), ("A=b#c", ["A": "b#c"]), ("A=", ["A": ""]),
        ("A='b # c'", ["A": "b # c"]), (#"A="b\"\\\n" # c"#, ["A": "b\"\\\n"]),
        ("A=b=c\r\nB=d\r\n", ["A": "b=c", "B": "d"]), ("A=1\nA=2", ["A": "2"]),
    ])
    func parsesLines(text: String, expected: [String: String]) throws {
        #expect(try EnvironmentFile.parse(text, name: ".env") == expected)
    }

    @Test(arguments: ["A", "=b", "1A=b", "A B=c", "A='b", "A=\"b", "A='b'c", "Ä=b"])
    func reportsTheNumberOfAnInvalidLine(line: String) {
        let error = #expect(throws: ConfigError.self) {
            try EnvironmentFile.parse("OK=1\n\(line)\n", name: ".env")
        }
        #expect(error?.name == ".env:2")
    }

    @Test func loadsWithoutAFileButNotFromAFolder() throws {
        #expect(try Configuration.load(file: "/nowhere/.env").port == 8080)
        #expect(throws: ConfigError.self) { try Configuration.load(file: "/") }
    }
}
