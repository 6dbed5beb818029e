import Basics
import BookSources
import GraphQL
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Encodings, dates, and JSON of files to import.
@Suite struct ImportTextTests {
    private static let table =
        "title;Author ;exclusive_shelf;My  Rating;date read\nÉmile €;Jane “J” Doe;read;4;13/2/2021\n"

    private func book(_ bytes: [UInt8]) throws -> ImportedBook {
        let file = try ImportFile(bytes, format: nil)
        #expect(file.format == .goodreads)
        let record = try #require(Array(file.records(dayOrder: file.survey().dayOrder)).first)
        #expect(record.problems == [])
        guard case .book(let book) = record.content else { throw TestFailure("no book") }
        return book
    }

    private struct TestFailure: Error {
        init(_ message: String) {}
    }

    private static func utf16(_ text: String, bigEndian: Bool) -> [UInt8] {
        "\u{FEFF}\(text)".utf16.flatMap { unit -> [UInt8] in
            let bytes = [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)]
            return bigEndian ? bytes : bytes.reversed()
        }
    }

    private static var windows1252: [UInt8] {
        table.unicodeScalars.map { scalar in
            switch scalar {
            case "€": 0x80
            case "“": 0x93
            case "”": 0x94
            default: UInt8(truncatingIfNeeded: scalar.value)
            }
        }
    }

    @Test(arguments: [
        Array(table.utf8), [0xEF, 0xBB, 0xBF] + Array(table.utf8), Array("ï»¿\(table)".utf8),
        utf16(table, bigEndian: true), utf16(table, bigEndian: false), windows1252,
    ])
    func encodingIsRecognized(bytes: [UInt8]) throws {
        let book = try book(bytes)
        #expect(book.title == "Émile €" && book.authors.names == ["Jane “J” Doe"])
        #expect(book.review?.quarterStars == 16)
        #expect(book.reads.map(\.finishedOn?.text) == ["2021-02-13"])
    }

    /// Random bytes after a byte order mark do not stop the reader.
    @Test(arguments: Array(UInt64(1)...40))
    func randomBytesAreDecoded(seed: UInt64) {
        var random = SeededGenerator(seed)
        let marks: [[UInt8]] = [[], [0xFF, 0xFE], [0xFE, 0xFF], [0xEF, 0xBB, 0xBF]]
        let bytes =
            (marks.randomElement(using: &random) ?? [])
            + (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
        let text = ImportText.utf8(ImportText.withoutMark(bytes))
        #expect(String(validating: text, as: UTF8.self) != nil)
        _ = try? ImportFile(bytes, format: nil).survey()
    }

    @Test(arguments: [
        ("2022-05-03", "2022-05-03"), ("2022/5/3", "2022-05-03"), ("2022/05", "2022-05"),
        ("2022", "2022"), ("2022/00/00", "2022"), ("2022-05-03T10:11:12.000", "2022-05-03"),
        ("2022-05-03 10:11", "2022-05-03"), ("3.5.2022", "2022-05-03"),
        ("May 3, 2022", "2022-05-03"), ("3 May 2022", "2022-05-03"), ("May 2022", "2022-05"),
        ("Tue, Sept 3rd, 2024", "2024-09-03"), ("3-Feb-2020", "2020-02-03"),
        ("2/2/2022", "2022-02-02"), ("31/1/2022", "2022-01-31"), ("1/31/2022 0:00", "2022-01-31"),
        // A day that does not exist loses only the day.
        ("2022/02/30", "2022-02"), ("30/2/2022", "2022-02"), ("June 31, 2015", "2015-06"),
        ("2019-02-29", "2019-02"), ("20040115", "2004-01-15"),
    ])
    func dateIsRead(text: String, date: String) throws {
        #expect(try PartialDate.read(text, order: nil).text == date)
    }

    @Test(arguments: [
        "", "soon", "2022-13-01", "20221301", "0/1/2022", "1/2/23", "99/99/2022",
        "May", "May 99 2022", "2022-05-03-04", "12345", "0101-01-01", "٢٠٢٢",
    ])
    func otherTextsAreNoDates(text: String) {
        #expect(throws: PartialDate.Problem.notADate) {
            try PartialDate.read(text, order: nil)
        }
    }

    @Test func orderOfDayAndMonthIsThatOfTheOtherDates() throws {
        #expect(DayOrder.decided(by: ["1/2/2023", "13/2/2023"]) == .dayFirst)
        #expect(DayOrder.decided(by: ["1/2/2023", "2/13/2023"]) == .monthFirst)
        #expect(DayOrder.decided(by: ["1/2/2023"]) == nil)
        #expect(DayOrder.decided(by: ["13/2/2023", "2/13/2023"]) == nil)
        #expect(try PartialDate.read("1/2/2023", order: .dayFirst).text == "2023-02-01")
        #expect(try PartialDate.read("1/2/2023", order: .monthFirst).text == "2023-01-02")
        #expect(throws: PartialDate.Problem.ambiguous) {
            try PartialDate.read("1/2/2023", order: nil)
        }
    }

    @Test func itemsOfJSONAreReadOneByOne() throws {
        let text =
            #" { "a" : [ 1, "x]\"", {"b": [ ]}, [2] ,null], "é\u0041": {"c": "}"}, "d": -1.5e3 } "#
        let items = try JSONItems(Array(text.utf8), membersMax: 10)
        #expect(items.members.map(\.name) == ["a", "éA", "d"])
        let list = try #require(items["a"])
        #expect(
            try items.list(list).map { try $0.get() }
                == [1, "x]\"", ["b": []], [2], .null])
        #expect(try items.value(items.members[1]) == ["c": "}"])
        #expect(try items.value(items.members[2]) == .float(-1500))
        #expect(Array(items.list(items.members[2])).isEmpty)
    }

    @Test(arguments: [
        "", "[]", "{", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1}x"#, #"{"a" 1}"#, #"{"a":]}"#,
        #"{"a":1 "b":2}"#, #"{"a":"\"}"#,
    ])
    func otherTextsAreNoObjects(text: String) {
        #expect(throws: ImportProblem.self) { try JSONItems(Array(text.utf8), membersMax: 10) }
    }

    /// The items are those that the parser finds, also after random damage.
    @Test(arguments: Array(UInt64(1)...60))
    func randomJSONIsReadAsTheParserReadsIt(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        func value(_ depth: Int) -> Value {
            switch Int.random(in: 0..<(depth > 2 ? 4 : 6), using: &random) {
            case 0: .int(.random(in: -9...9, using: &random))
            case 1:
                .string(["", "a\"]", "{\\", "é\n", "\u{1}"].randomElement(using: &random) ?? "")
            case 2: .null
            case 3: .boolean(.random(using: &random))
            case 4: .list((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth + 1) })
            default:
                .object(
                    (0..<Int.random(in: 0..<4, using: &random)).map {
                        .init("m\($0)", value(depth + 1))
                    })
            }
        }
        let list = (0..<5).map { _ in value(0) }
        var writer = ResponseWriter()
        writer.write(Value.object([.init("list", .list(list)), .init("last", value(0))]))
        let items = try JSONItems(writer.bytes, membersMax: 10)
        #expect(try items.list(items.members[0]).map { try $0.get() } == list)
        var damaged = writer.bytes
        for _ in 0..<3 {
            damaged[Int.random(in: 0..<damaged.count, using: &random)] =
                "{}[]\",:\\x0".utf8.randomElement(using: &random) ?? 0
        }
        if let found = try? JSONItems(damaged, membersMax: 10),
            let parsed = try? parseJSON(damaged)
        {
            #expect(
                found.members.count
                    == { if case .object(let members) = parsed { members.count } else { -1 } }())
        }
    }
}
