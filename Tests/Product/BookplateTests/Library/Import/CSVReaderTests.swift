import TestBasics
import TestSupport
import Testing

@testable import Bookplate

@Suite struct CSVReaderTests {
    private func read(_ text: String) -> [CSVReader.Record] {
        Array(CSVReader(Array(text.utf8)[...]))
    }

    @Test(
        arguments: [
            ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
            ("a,b\r\n1,2", [["a", "b"], ["1", "2"]]),
            ("a\r1\r", [["a"], ["1"]]),
            ("\u{FEFF}a,b", [["a", "b"]]),
            ("\"a,\"\"b\"\"\",c", [["a,\"b\"", "c"]]),
            ("\"one\ntwo\r\nthree\",x", [["one\ntwo\r\nthree", "x"]]),
            (",,", [["", "", ""]]), ("\"\",", [["", ""]]),
            ("\n\na\n\n", [["a"]]), ("", []),
            // ISBNs as Goodreads exports them, with and without correct quoting.
            ("\"=\"\"0439023483\"\"\"", [["=\"0439023483\""]]),
            ("=\"0439023483\",5", [["=\"0439023483\"", "5"]]),
            // Not allowed by the RFC, but unambiguous.
            ("6\" nails,x", [["6\" nails", "x"]]), ("\"a\"b,c", [["ab", "c"]]),
            ("Émile,\"日本\"", [["Émile", "日本"]]),
        ] as [(String, [[String]])])
    func records(text: String, fields: [[String]]) throws {
        #expect(try read(text).map { try $0.fields.get() } == fields)
    }

    @Test(
        arguments: [
            ("h\n\"a\nb\nc\"\nd\n\n\"e\r\nf\"\ng", [1, 2, 5, 7, 9]),
            ("h\r\n\r\n\"a\r\nb\"\r\nc", [1, 3, 5]), ("h\r\"a\rb\"\r\rc", [1, 2, 5]),
        ] as [(String, [Int])])
    func lineNumbersCountLineBreaksInFields(text: String, lines: [Int]) {
        #expect(read(text).map(\.line) == lines)
    }

    private static let long = String(repeating: "x", count: CSVReader.recordBytesMax)

    private static let damage: [(String, CSVReader.Problem)] = [
        ("\"open", .unclosedQuote),
        (String(repeating: ",", count: CSVReader.fieldsMax), .tooManyFields),
        ("\"\(long)\"", .tooLong), ("\(long)x", .tooLong), ("\"\(long)", .tooLong),
        ("a,\(long)", .tooLong),
        // The quote is closed by a quote of another record.
        ("\"open\n\"other\" said,x", .unclosedQuote),
    ]

    /// Damage in the second line does not affect the third.
    @Test(arguments: damage)
    func damagedRecordsDoNotAffectOthers(record: String, problem: CSVReader.Problem) {
        let records = read("a\n\(record)\nlast,one")
        #expect(records.first == .init(line: 1, fields: .success(["a"])))
        #expect(records.count > 2 && records[1] == .init(line: 2, fields: .failure(problem)))
        #expect(records.last?.fields == .success(["last", "one"]))
    }

    /// In each line, the second field begins with a quote that the next line closes. Without a limit, reading this file would
    /// take minutes.
    @Test func rereadingAfterDamageIsLimited() {
        let lines = String(repeating: "a\",\"c\n", count: 100_000)
        var problems = 0
        for record in CSVReader(Array(lines.utf8)[...]) {
            if case .failure = record.fields { problems += 1 }
        }
        #expect((1...1000).contains(problems))
    }

    /// Bytes that are not UTF-8 are read as Windows-1252, also beside UTF-8. NUL characters are left out.
    @Test func invalidTextIsRepaired() {
        let bytes: [UInt8] = [0x61, 0x0A, 0xE9, 0xC3, 0xA9, 0x93, 0x00, 0x0A, 0x62]
        let records = Array(CSVReader(bytes[...]))
        #expect(records.map { try? $0.fields.get() } == [["a"], ["éé“"], ["b"]])
    }

    /// In a tab-separated file without quoting, a quote is text and does not swallow the next records.
    @Test(
        arguments: [
            ("t\tc\n\"A\" Is for Alibi\tx\nB\t\"signed\nC\ty\n", false),
            ("t\tc\nA\t\"signed\nB\tcopy\"\n", false), ("t\tc\n\"A\"\tx\n", false),
            ("t\tc\nA\tb\n", false), ("\"t\"\t\"c\"\n\"A\"\t\"x\ny\"\n", true),
            ("t\tc\n\"\"\"A\"\" Is\"\tx\n", true), ("t\tc\nA\t\"x\ny\"\nB\tz\n", true),
            ("", true),
        ] as [(String, Bool)])
    func quotingIsDetected(text: String, isQuoted: Bool) {
        let bytes = Array(text.utf8)
        #expect(CSVDialect(separator: 0x09, of: bytes).isQuoted == isQuoted)
        #expect(CSVDialect(separator: 0x2C, of: bytes).isQuoted)
        guard !isQuoted else { return }
        let records = CSVReader(bytes, CSVDialect(separator: 0x09, of: bytes))
        let lines = text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        #expect(records.map { try? $0.fields.get() } == lines)
    }

    /// A table of LibraryThing with any text in its cells is read line by line.
    @Test(arguments: Array(UInt64(1)...40))
    func unquotedTablesAreReadLineByLine(seed: UInt64) {
        var random = SeededGenerator(seed)
        let pieces = ["a", "\"", "\"A\" b", " ", ",", "'", "é"]
        let rows = (0..<20).map { _ in
            (0..<3).map { _ in
                "x"
                    + (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                        pieces.randomElement(using: &random) ?? ""
                    }.joined()
            }
        }
        // At least one cell cannot be a quoted one.
        let table = [["t", "c", "d"], ["\"A\" Is", "", "\"signed"]] + rows
        let bytes = Array(table.map { $0.joined(separator: "\t") }.joined(separator: "\n").utf8)
        let read = CSVReader(bytes, CSVDialect(separator: 0x09, of: bytes))
        #expect(read.map { try? $0.fields.get() } == table)
    }

    @Test func longestRecordIsRead() throws {
        let field = String(repeating: "é\"\n", count: 200_000)
        let record = "\"" + field.replacing("\"", with: "\"\"") + "\""
        #expect(record.utf8.count <= CSVReader.recordBytesMax)
        #expect(try read(record + "\nb").map { try $0.fields.get() } == [[field], ["b"]])
    }

    // MARK: - Properties

    private static let pieces = ["a", "é", "日", "\"", ",", ";", "\n", "\r", "\r\n", " ", "=", "'"]

    /// A random table that is written as CSV is read back unchanged, with the right line numbers.
    @Test(arguments: Array(UInt64(1)...40))
    func writtenTablesAreReadBack(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let lineEnd = ["\n", "\r\n", "\r"].randomElement(using: &random) ?? "\n"
        let separator = [",", ";", "\t"].randomElement(using: &random) ?? ","
        var text = Bool.random(using: &random) ? "\u{FEFF}" : ""
        var line = 1
        var expected: [CSVReader.Record] = []
        for _ in 0..<30 {
            while Int.random(in: 0..<6, using: &random) == 0 {
                text += lineEnd
                line += 1
            }
            let fields = (0...Int.random(in: 0..<5, using: &random)).map { _ in
                (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                    Self.pieces.randomElement(using: &random) ?? ""
                }.joined()
            }
            expected.append(.init(line: line, fields: .success(fields)))
            let cells = fields.map { field in
                let needsQuotes =
                    field.unicodeScalars.contains { "\"\n\r".unicodeScalars.contains($0) }
                    || field.contains(separator) || fields.count == 1 && field.isEmpty
                return needsQuotes || Bool.random(using: &random)
                    ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
            }
            let record = cells.joined(separator: separator)
            text += record + lineEnd
            line += record.replacing("\r\n", with: "\n").unicodeScalars
                .count { $0 == "\n" || $0 == "\r" }
            line += 1
        }
        let bytes = Array(text.utf8)
        let read = Array(CSVReader(bytes[...], separator: separator.utf8.first ?? 0))
        #expect(read == expected)
    }

    /// With random bytes, the reader terminates. The line numbers increase and do not exceed the number of lines.
    @Test(arguments: Array(UInt64(1)...40))
    func randomBytesAreReadToTheEnd(seed: UInt64) {
        var random = SeededGenerator(seed)
        let bytes: [UInt8] = (0..<2000).map { _ in
            [0x22, 0x22, 0x2C, 0x0A, 0x0D, 0x61, 0x20, 0xC3, 0xA9, 0xFF, 0x00]
                .randomElement(using: &random) ?? 0
        }
        let lines = Array(CSVReader(bytes[...])).map(\.line)
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $0 < $1 })
        #expect(lines.last ?? 0 <= 1 + bytes.count { $0 == 0x0A || $0 == 0x0D })
    }

    /// Damaged lines among valid ones do not affect the valid ones.
    @Test(arguments: Array(UInt64(1)...40))
    func randomDamageDoesNotAffectOtherRecords(seed: UInt64) {
        var random = SeededGenerator(seed)
        let damaged = ["\"", "a,\"b", "\"a\"\"", "x\0", "\"\"\"", "a,\"\"\"b"]
        var lines: [String] = []
        for number in 0..<40 {
            lines.append(
                Int.random(in: 0..<5, using: &random) == 0
                    ? damaged.randomElement(using: &random) ?? "" : "\(number),\"quoted \(number)\""
            )
        }
        let records = read(lines.joined(separator: "\n"))
        for (number, line) in lines.enumerated() where line.hasPrefix("\(number),") {
            let record = records.first { $0.line == number + 1 }
            #expect(record?.fields == .success(["\(number)", "quoted \(number)"]), "\(lines)")
        }
    }
}
