import GraphQL
import Testing

@Suite struct JSONReaderTests {
    @Test(
        arguments: [
            ("null", .null), (" true ", .boolean(true)), ("false\n", .boolean(false)),
            ("0", .int(0)), ("-0", .int(0)), ("-12", .int(-12)),
            ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
            ("9223372036854775808", .bigInt("9223372036854775808")),
            ("-9223372036854775809", .bigInt("-9223372036854775809")),
            ("9223372036854775808.0", .float(9_223_372_036_854_775_808)), ("-0.0", .float(-0.0)),
            ("1.0", .float(1)), ("1e3", .float(1000)), ("1E+2", .float(100)),
            ("-1.5e-3", .float(-0.0015)),
            ("1e400", .float(.infinity)), ("-1e400", .float(-.infinity)), ("1e-400", .float(0)),
            ("0.1", .float(0.1)),
            ("123456789012345678901234567890", .bigInt("123456789012345678901234567890")),
            ("\"\"", .string("")),
            ("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tb\"", .string("a\"\\/\u{8}\u{C}\n\r\tb")),
            ("\"\\u00e9é\\u20AC\"", .string("éé€")), ("\"\\ud83d\\ude00\"", .string("😀")),
            ("\"😀\\u0000\u{7F}\"", .string("😀\u{0}\u{7F}")),
            ("[]", .list([])), ("[ ]", .list([])),
            ("[1,[2 , 3]]", .list([.int(1), .list([.int(2), .int(3)])])),
            ("{}", .object([])),
            (
                "{\"b\":1,\"a\":{\"\":null}}",
                .object([.init("b", .int(1)), .init("a", .object([.init("", .null)]))])
            ),
            ("{\"__proto__\": 1}", .object([.init("__proto__", .int(1))])),
        ] as [(String, Value)])
    func readsValues(text: String, expected: Value) throws {
        #expect(try parseJSON(Array(text.utf8)) == expected)
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd), ("  ", .unexpectedEnd), ("tru", .unexpectedEnd),
            ("trux", .unexpected(offset: 3)),
            ("[1", .unexpectedEnd), ("[1,]", .unexpected(offset: 3)),
            ("[,1]", .unexpected(offset: 1)),
            ("{\"a\":1,}", .unexpected(offset: 7)), ("{a:1}", .unexpected(offset: 1)),
            ("{\"a\" 1}", .unexpected(offset: 5)), ("{\"a\"", .unexpectedEnd),
            ("1 2", .unexpected(offset: 2)),
            ("01", .unexpected(offset: 1)), ("-", .unexpectedEnd), ("+1", .unexpected(offset: 0)),
            (".5", .unexpected(offset: 0)), ("1.", .unexpectedEnd),
            ("1.e1", .unexpected(offset: 2)),
            ("1e", .unexpectedEnd), ("0x1", .unexpected(offset: 1)),
            ("NaN", .unexpected(offset: 0)),
            ("\"a", .unexpectedEnd), ("\"\n\"", .unexpected(offset: 1)), ("\"\\", .unexpectedEnd),
            ("\"\\x\"", .invalidEscape(offset: 1)), ("\"\\u12\"", .invalidEscape(offset: 1)),
            ("\"\\ud83d\"", .invalidEscape(offset: 1)), ("\"\\ude00\"", .invalidEscape(offset: 1)),
            ("\"\\ud83d\\ud83d\"", .invalidEscape(offset: 1)), ("'a'", .unexpected(offset: 0)),
            ("/**/1", .unexpected(offset: 0)), ("\u{FEFF}1", .unexpected(offset: 0)),
            ("[1}", .unexpected(offset: 2)), ("]", .unexpected(offset: 0)),
            ("{\"a\":1,\"b\":2,\"a\":3}", .duplicateMember(name: "a", offset: 13)),
            ("{\"a\":1,\"\\u0061\":3}", .duplicateMember(name: "a", offset: 7)),
        ] as [(String, JSONError)])
    func rejectsInvalidTexts(text: String, expected: JSONError) {
        #expect(throws: expected) { try parseJSON(Array(text.utf8)) }
        #expect(expected.message.hasPrefix("JSON "))
    }

    @Test(
        arguments: [
            ([0x22, 0xFF, 0x22], 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
            ([0x22, 0xC0, 0x80, 0x22], 1),
            ([0x22, 0xE2, 0x82], 1),
        ] as [([UInt8], Int)])
    func rejectsBytesThatAreNoUTF8(bytes: [UInt8], offset: Int) {
        #expect(throws: JSONError.notUTF8(offset: offset)) { try parseJSON(bytes) }
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")])
    func nestingIsLimited(open: String, close: String) throws {
        let levels = open.utf8.count > 5 ? 32 : 64
        func text(_ count: Int) -> [UInt8] {
            Array(
                (String(repeating: open, count: count) + "1"
                    + String(repeating: close, count: count)).utf8)
        }
        _ = try parseJSON(text(levels))
        #expect {
            try parseJSON(text(levels + 1))
        } throws: { error in
            if case .tooDeep(64, _)? = error as? JSONError { true } else { false }
        }
        #expect(throws: JSONError.self) {
            try parseJSON(
                Array(String(repeating: open, count: 1_500_000).utf8),
                limits: JSONLimits(bytesMax: .max))
        }
    }

    /// The largest number of values that fit in a request body. Reading must not copy all previous
    /// values for each value, which would be 20 billion copies here.
    @Test func readsManySmallValues() throws {
        let lists = try parseJSON(Array("[\(String(repeating: "[],", count: 200_000))[]]".utf8))
        #expect(lists.list?.count == 200_001)
        let members = (0..<60_000).map { "\"k\($0)\":{}" }.joined(separator: ",")
        guard case .object(let object) = try parseJSON(Array("{\(members)}".utf8)) else {
            Issue.record("no object")
            return
        }
        #expect(object.count == 60_000)
    }

    @Test func lengthIsLimited() throws {
        let limits = JSONLimits(bytesMax: 4)
        _ = try parseJSON(Array("1234".utf8), limits: limits)
        #expect(throws: JSONError.tooLong(bytesMax: 4)) {
            try parseJSON(Array("12345".utf8), limits: limits)
        }
    }

    /// Lists and objects count, too.
    @Test(arguments: [("1", true), ("[1,[]]", true), (#"{"a":[1]}"#, true), ("[1,2,3]", false)])
    func numberOfValuesIsLimited(text: String, isAccepted: Bool) throws {
        let limits = JSONLimits(valuesMax: 3)
        guard !isAccepted else {
            _ = try parseJSON(Array(text.utf8), limits: limits)
            return
        }
        #expect(throws: JSONError.tooManyValues(valuesMax: 3, offset: 5)) {
            try parseJSON(Array(text.utf8), limits: limits)
        }
    }

    @Test func rejectsDuplicateNamesInLargeObjects() {
        let members = (0..<1_000).map { "\"m\($0)\":\($0)" }
        func text(_ more: String) -> [UInt8] {
            Array("{\((members + [more]).joined(separator: ","))}".utf8)
        }
        #expect(throws: Never.self) { try parseJSON(text("\"n\":1")) }
        #expect {
            try parseJSON(text("\"m999\":1"))
        } throws: { error in
            if case .duplicateMember("m999", _)? = error as? JSONError { true } else { false }
        }
    }
}
