import Testing

@testable import Bookplate

@Suite struct CSVReaderTests {
    private func read(_ text: String) -> [Result<CSVReader.Record, CSVReader.Failure>] {
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
            // As Goodreads writes ISBNs, quoted by the rules and not.
            ("\"=\"\"0439023483\"\"\"", [["=\"0439023483\""]]),
            ("=\"0439023483\",5", [["=\"0439023483\"", "5"]]),
            // Against the rules, and clear enough.
            ("6\" nails,x", [["6\" nails", "x"]]), ("\"a\"b,c", [["ab", "c"]]),
            ("Émile,\"日本\"", [["Émile", "日本"]]),
        ] as [(String, [[String]])])
    func records(text: String, fields: [[String]]) throws {
        #expect(try read(text).map { try $0.get().fields } == fields)
    }

    @Test func linesAreCountedThroughFieldsOfSeveral() throws {
        let lines = try read("h\n\"a\nb\nc\"\nd\n\n\"e\r\nf\"\ng").map { try $0.get().line }
        #expect(lines == [1, 2, 5, 7, 9])
    }

    @Test(
        arguments: [
            ("a\n\"open\nrest,x", CSVReader.Problem.openQuote, 2),
            ("a\n" + String(repeating: ",", count: 200) + "\nb", .tooManyFields, 2),
            (
                "a\n\"" + String(repeating: "x", count: CSVReader.fieldBytesMax + 1) + "\"\nb",
                .fieldTooLong, 2
            ), ("a\nb\0c\nd", .notText, 2),
        ])
    func hostileRecordsAreRefusedAlone(text: String, problem: CSVReader.Problem, line: Int) {
        let records = read(text)
        #expect(records[1] == .failure(.init(line: line, problem: problem)))
        if problem != .openQuote {
            #expect(records.count == 3, "it goes on behind the record")
        }
    }

    @Test func bytesThatAreNoTextAreRefusedAlone() {
        let records = Array(CSVReader([0x61, 0x0A, 0xFF, 0xFE, 0x0A, 0x62]))
        #expect(records.map { (try? $0.get())?.fields } == [["a"], nil, ["b"]])
    }
}
