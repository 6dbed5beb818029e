import GraphQL
import Requests

/// 13 digits in a cell, for writing the forms of an ISBN directly into a response.
struct ISBNDigits {
    /// The digits in ASCII.
    private let digits: InlineArray<13, UInt8>

    /// Returns nil unless the cell contains 13 digits.
    init?(_ cell: UnsafeRawBufferPointer?) {
        guard let cell, cell.count == 13, cell.allSatisfy({ $0.isASCIIDigit }) else {
            return nil
        }
        digits = InlineArray { cell[$0] }
    }

    /// Whether the digits are an ISBN, as `ISBN` defines it.
    var isISBN: Bool {
        let sum = (0..<13).reduce(0) { $0 + value($1) * ($1.isMultiple(of: 2) ? 1 : 3) }
        return sum.isMultiple(of: 10) && isOfBook
            && (4..<12).contains { digits[$0] != digits[3] }
    }

    /// Whether the number starts with a prefix for books.
    ///
    /// 979-0 is for printed music (ISMN), and most other groups of 979 are not assigned.
    var isOfBook: Bool {
        let prefix = number(from: 0, count: 3)
        return prefix == 978 || prefix == 979 && ISBNRanges.current.hasGroup(self)
    }

    /// Whether it has a form with 10 digits: only numbers with the prefix 978 do.
    var hasISBN10: Bool { digits[2] == UInt8(ascii: "8") }

    /// The number that `count` digits from an index form. Digits after the last one count as zeros.
    func number(from start: Int, count: Int) -> Int {
        var number = 0
        for index in start..<start + count {
            number = number * 10 + (index < 13 ? value(index) : 0)
        }
        return number
    }

    private func value(_ index: Int) -> Int { Int(digits[index]) - 48 }

    /// Appends the 13 digits.
    func append(to writer: inout ResponseWriter) { append(0..<13, to: &writer) }

    /// Appends the ISBN-10.
    func appendISBN10(to writer: inout ResponseWriter) {
        append(3..<12, to: &writer)
        var sum = 0
        for index in 3..<12 { sum += value(index) * (13 - index) }
        let check = (11 - sum % 11) % 11
        writer.append(check == 10 ? UInt8(ascii: "X") : UInt8(48 + check))
    }

    /// Appends the digits with hyphens, such as `978-0-306-40615-7`. A number outside the assigned ranges has none.
    func appendHyphenated(_ ranges: ISBNRanges, to writer: inout ResponseWriter) {
        guard let lengths = ranges.lengths(of: self) else { return append(to: &writer) }
        let registrant = 3 + lengths.group
        let title = registrant + lengths.registrant
        for part in [0..<3, 3..<registrant, registrant..<title, title..<12] {
            append(part, to: &writer)
            writer.append(UInt8(ascii: "-"))
        }
        append(12..<13, to: &writer)
    }

    private func append(_ range: Range<Int>, to writer: inout ResponseWriter) {
        for index in range { writer.append(digits[index]) }
    }
}
