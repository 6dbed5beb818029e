import GraphQL
import GraphQLPostgres
import Testing

@Suite struct CellTests {
    /// Returns the JSON of a cell; nil if the field is null, and "error" if the cell is malformed.
    private static func json(_ cell: [UInt8], as format: CellFormat) -> String? {
        var writer = ResponseWriter()
        let result = cell.withUnsafeBytes { writer.write(cell: $0, as: format) }
        switch result {
        case .value: return String(decoding: writer.bytes, as: UTF8.self)
        case .null: return nil
        case .error: return "error"
        }
    }

    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    @Test(arguments: [
        ("", #""""#), ("Emma", #""Emma""#), ("a \"b\" \\ c\n", #""a \"b\" \\ c\n""#),
        ("é", #""é""#),
    ])
    func text(_ text: String, json: String) {
        #expect(Self.json(Array(text.utf8), as: .text) == json)
    }

    @Test func uuid() {
        let cell: [UInt8] = [
            0x01, 0x98, 0xC0, 0xDE, 0x12, 0x34, 0x7A, 0xBC, 0x8D, 0xEF, 0, 0, 0, 0, 0, 0xFF,
        ]
        #expect(Self.json(cell, as: .uuid) == #""0198c0de-1234-7abc-8def-0000000000ff""#)
    }

    @Test func integersOfAllSizes() {
        #expect(Self.json(Self.bytes(Int16.min), as: .integer) == "-32768")
        #expect(Self.json(Self.bytes(Int32.max), as: .integer) == "2147483647")
        #expect(Self.json(Self.bytes(Int64.min), as: .integer) == "-9223372036854775808")
    }

    @Test func float() {
        #expect(Self.json(Self.bytes((4.25).bitPattern), as: .float) == "4.25")
        #expect(Self.json(Self.bytes((-0.5).bitPattern), as: .float) == "-0.5")
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func floatThatJSONCannotRepresentIsNull(_ value: Double) {
        #expect(Self.json(Self.bytes(value.bitPattern), as: .float) == nil)
    }

    @Test func boolean() {
        #expect(Self.json([1], as: .boolean) == "true")
        #expect(Self.json([0], as: .boolean) == "false")
    }

    @Test(
        arguments: [
            (CellFormat.uuid, [0, 15, 17]), (.integer, [0, 1, 3, 5, 7, 9]), (.float, [0, 4, 9]),
            (.boolean, [0, 2]), (.timestamp, [0, 4, 9]), (.texts, [1, 4, 11, 12, 19]),
        ] as [(CellFormat, [Int])])
    func cellOfTheWrongLengthIsAnError(format: CellFormat, lengths: [Int]) {
        for length in lengths {
            // The first byte makes a `text[]` an array of one dimension whose other fields are missing.
            let cell: [UInt8] = (0..<length).map { $0 == 3 ? 1 : 0 }
            #expect(Self.json(cell, as: format) == "error", "\(length) bytes")
        }
    }

    // MARK: - Lists

    /// Returns the binary form of a one-dimensional `text[]`.
    private static func array(_ elements: [String?]) -> [UInt8] {
        var cell = bytes(Int32(1)) + bytes(Int32(elements.contains(nil) ? 1 : 0)) + bytes(Int32(25))
        cell += bytes(Int32(elements.count)) + bytes(Int32(1))
        for element in elements {
            guard let element else {
                cell += bytes(Int32(-1))
                continue
            }
            cell += bytes(Int32(element.utf8.count)) + Array(element.utf8)
        }
        return cell
    }

    @Test func listsOfTexts() {
        // An empty array has no dimensions.
        #expect(
            Self.json(
                Self.bytes(Int32(0)) + Self.bytes(Int32(0)) + Self.bytes(Int32(25)), as: .texts)
                == "[]")
        #expect(Self.json(Self.array(["a"]), as: .texts) == #"["a"]"#)
        #expect(Self.json(Self.array(["", "b\"c"]), as: .texts) == #"["","b\"c"]"#)
    }

    @Test func listWithANullElementIsAnError() {
        #expect(Self.json(Self.array(["a", nil]), as: .texts) == "error")
    }

    @Test func listThatEndsEarlyIsAnError() {
        let cell = Self.array(["one", "two"])
        for length in 1..<cell.count {
            #expect(
                Self.json(Array(cell[..<length]), as: .texts) == "error", "\(length) bytes")
        }
    }

    // MARK: - Timestamps

    private static let second: Int64 = 1_000_000
    private static let day: Int64 = 86_400 * second

    @Test(arguments: [
        (0, "2000-01-01T00:00:00.000Z"),
        (1500, "2000-01-01T00:00:00.001Z"),
        (-1000, "1999-12-31T23:59:59.999Z"),
        (-1, "1999-12-31T23:59:59.999Z"),
        (day - 1000, "2000-01-01T23:59:59.999Z"),
        (59 * day, "2000-02-29T00:00:00.000Z"),
        (-day, "1999-12-31T00:00:00.000Z"),
        // 0000-01-01 and the last millisecond of 9999 are the limits of RFC 3339.
        (-730_485 * day, "0000-01-01T00:00:00.000Z"),
        (-730_485 * day - 1000, "0000-01-01T00:00:00.000Z"),
        (2_921_940 * day - 1000, "9999-12-31T23:59:59.999Z"),
        (2_921_940 * day, "9999-12-31T23:59:59.999Z"),
        // PostgreSQL's -infinity and infinity.
        (.min, "0000-01-01T00:00:00.000Z"),
        (.max, "9999-12-31T23:59:59.999Z"),
    ])
    func timestamp(microseconds: Int64, text: String) {
        #expect(Self.json(Self.bytes(microseconds), as: .timestamp) == "\"\(text)\"")
        var writer = ResponseWriter()
        writer.writeTimestamp(microseconds)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\(text)\"")
    }

    @Test(arguments: [
        (0, 2000, 1, 1), (-1, 1999, 12, 31), (31, 2000, 2, 1), (59, 2000, 2, 29), (60, 2000, 3, 1),
        (365, 2000, 12, 31), (366, 2001, 1, 1), (424, 2001, 2, 28), (425, 2001, 3, 1),
        (-36_466, 1900, 2, 28), (-36_465, 1900, 3, 1), (-730_485, 0, 1, 1),
        (-730_426, 0, 2, 29), (-730_425, 0, 3, 1), (-730_486, -1, 12, 31),
        (2_921_939, 9999, 12, 31), (2_921_940, 10_000, 1, 1),
    ])
    func civilDate(daysSince2000: Int, year: Int, month: Int, day: Int) {
        let date = CivilDate(daysSince2000: daysSince2000)
        #expect(date.year == year)
        #expect(date.month == month)
        #expect(date.day == day)
    }

    @Test func everyDayOfFourCenturiesFollowsThePreviousDay() {
        var (year, month, day) = (1900, 1, 1)
        for days in -36_524..<(146_097 - 36_524) {
            let date = CivilDate(daysSince2000: days)
            guard date.year == year, date.month == month, date.day == day else {
                Issue.record("day \(days) is \(date), expected \(year)-\(month)-\(day)")
                return
            }
            let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let daysOfMonth = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            day += 1
            if day > daysOfMonth[month - 1] { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }
}
