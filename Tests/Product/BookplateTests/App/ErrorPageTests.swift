import FoundationEssentials
import Glibc
import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The table of reasons in `docs/how-to/show-errors.md` is that of the schema, with the English sentences.
///
/// `BOOKPLATE_UPDATE_SNAPSHOTS=1` writes the table instead.
@Suite struct ErrorPageTests {
    @Test func pageListsEachReason() throws {
        let path = "\(TestCluster.project)/docs/how-to/show-errors.md"
        let page = try String(contentsOfFile: path, encoding: .utf8)
        let head = "| reason | when | message in English |\n| --- | --- | --- |\n"
        let start = try #require(page.firstRange(of: head)).upperBound
        let table = try Self.rows().map { "\($0)\n" }.joined()
        if getenv("BOOKPLATE_UPDATE_SNAPSHOTS") != nil {
            try (page[..<start] + table).write(toFile: path, atomically: false, encoding: .utf8)
            return
        }
        #expect(page[start...] == table)
    }

    private static func rows() throws -> [String] {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        guard case .enumeration(let values)? = schema.type(named: "ErrorReason")?.kind else {
            return []
        }
        return values.map { value in
            let sentence = ErrorReason(rawValue: value.name).map(ErrorTexts.english.text)
            return "| `\(value.name)` | \(value.description ?? "") | \(sentence ?? "") |"
        }
    }
}
