import Testing

@testable import Postgres

/// The order in which the files of `migrations/functions` are applied.
@Suite struct RepeatableFileTests {
    private func order(_ files: [String: String]) throws(MigrationError) -> [String] {
        var parsed: [RepeatableFile] = []
        for (name, sql) in files { parsed.append(try RepeatableFile(name: name, sql: sql)) }
        return try RepeatableFile.ordered(parsed).map(\.name)
    }

    @Test(arguments: [
        ([:], []),
        (["b": "", "a": "", "c": ""], ["a", "b", "c"]),
        (["a": "-- requires: c\n", "b": "", "c": ""], ["b", "c", "a"]),
        (["a": "-- requires: b, c", "b": "-- requires: c", "c": ""], ["c", "b", "a"]),
        (["a": "-- requires: d", "b": "-- requires: d", "c": "", "d": ""], ["c", "d", "a", "b"]),
        (["a": "-- Requires:b ,c", "b": "", "c": ""], ["b", "c", "a"]),
        // Only the first line is read.
        (["a": "SELECT 1;\n-- requires: b", "b": ""], ["a", "b"]),
    ])
    func appliesRequirementsFirstAndThenByName(
        files: [String: String], expected: [String]
    ) throws {
        #expect(try order(files) == expected)
    }

    @Test(arguments: [
        (["a": "-- requires: a"], ["a", "a"]),
        (["a": "-- requires: b", "b": "-- requires: a"], ["a", "b", "a"]),
        (
            ["a": "-- requires: b", "b": "-- requires: e, c", "c": "-- requires: b", "e": ""],
            ["b", "c", "b"]
        ),
    ])
    func rejectsACycle(files: [String: String], names: [String]) {
        let error = #expect(throws: MigrationError.requirementCycle(names)) { try order(files) }
        #expect(error?.description.contains("\(names[0]) requires \(names[1])") == true)
    }

    @Test func rejectsAnUnknownRequirement() {
        let error = #expect(throws: MigrationError.unknownRequirement("functions/a.sql", "b")) {
            try order(["a": "-- requires: b"])
        }
        #expect(
            error?.description == "functions/a.sql requires b, but functions/b.sql does not exist")
    }

    @Test(arguments: [
        "-- requires:", "-- requires: a,", "-- requires: a b/c", "-- requires: b.sql",
    ])
    func rejectsARequirementThatIsNotAName(line: String) {
        #expect(throws: MigrationError.badRequirements("functions/a.sql")) {
            try RepeatableFile(name: "a", sql: line)
        }
    }

    @Test(arguments: ["", "Big", "a b", "a.b", "../a"])
    func rejectsInvalidNames(name: String) {
        #expect(throws: MigrationError.badRepeatableName("functions/\(name).sql")) {
            try RepeatableFile(name: name, sql: "")
        }
    }
}
