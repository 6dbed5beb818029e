import Requests

/// An International Standard Book Number of 13 digits with a verified check digit.
///
/// It is read from typed or scanned text, which may contain hyphens and spaces of any kind, a label before the number, an
/// ISBN-10 with an upper or lower case X, digits of other scripts, the prefix of a scanner (`]E0`), the zero that makes it a
/// GTIN-14, the add-on of a barcode (issue number or price), and words or a price after the number.
package struct ISBN: Hashable, Sendable, CustomStringConvertible {
    /// The 13 digits in ASCII.
    package let description: String

    /// Returns nil unless the text contains one valid ISBN. `read` returns the reason.
    package init?(_ text: some StringProtocol) {
        guard case .success(let isbn) = ISBN.read(text) else { return nil }
        self = isbn
    }

    private init(verified digits: String) { description = digits }

    /// The reason why a text is not an ISBN.
    package enum Problem: Error, Equatable, Sendable {
        case length
        case checkDigit
        /// An EAN of another product, for example music, a magazine, or a pen.
        case notABook
        /// A barcode of 8 digits.
        case ean8
        /// A barcode of 12 digits, which is used in North America, or the same number with a zero before it.
        case upc
        /// A number whose digits, apart from the prefix and the check digit, are all the same.
        case placeholder

        package var reason: ErrorReason {
            switch self {
            case .length: .isbnLength
            case .checkDigit: .isbnCheckDigit
            case .notABook: .notAnISBN
            case .ean8: .shortBarcode
            case .upc: .productBarcode
            case .placeholder: .placeholderISBN
            }
        }

        /// An English sentence for the person who typed or scanned the text.
        package var message: String {
            BookplateError.badUserInput(field: "isbn", .init(reason)).message
        }
    }

    /// Reads an ISBN from a text.
    package static func read(_ text: some StringProtocol) -> Result<ISBN, Problem> {
        guard text.utf8.count <= 200 else { return .failure(.length) }
        let numbers = numbers(in: text)
        let results = numbers.map { read($0) }
        for result in results { if case .success = result { return result } }
        // The longest number is the one that was meant.
        let longest = zip(numbers, results).max { $0.0.digits.count < $1.0.digits.count }
        return longest?.1 ?? .failure(.length)
    }

    private static func read(_ number: Number) -> Result<ISBN, Problem> {
        let result = read(number.digits)
        if case .success = result { return result }
        // Numbers after the first one, such as that of a volume, may follow after a space.
        for count in number.breaks where count == 10 || count == 13 {
            let first = read(Array(number.digits.prefix(count)))
            if case .success = first { return first }
        }
        return result
    }

    private static func read(_ digits: [UInt8]) -> Result<ISBN, Problem> {
        switch digits.count {
        case 13, 15, 18:
            // The last two or five of 15 or 18 digits are the add-on of the barcode: the issue number or the price.
            return read13(Array(digits.prefix(13)))
        case 14 where digits.starts(with: "0978".utf8) || digits.starts(with: "0979".utf8):
            return read13(Array(digits.dropFirst()))
        case 10:
            return read10(digits)
        case 9:
            // A number from before 1970 (SBN), or one whose leading zero a spreadsheet has removed.
            guard case .success(let isbn) = read10([UInt8(ascii: "0")] + digits) else {
                return .failure(.length)
            }
            return .success(isbn)
        case 8 where isEAN(digits): return .failure(.ean8)
        // The beginning of an ISBN is not a UPC, also if its check digit happens to match.
        case 12 where isEAN(digits) && !digits.starts(with: "97".utf8): return .failure(.upc)
        default:
            return .failure(.length)
        }
    }

    /// The number as an ISBN-10. Only numbers with the prefix 978 have one.
    package var isbn10: String? {
        guard description.hasPrefix("978") else { return nil }
        let body = description.dropFirst(3).dropLast().utf8.map { Int($0) - 48 }
        let sum = zip(body, stride(from: 10, through: 2, by: -1)).reduce(0) { $0 + $1.0 * $1.1 }
        let check = (11 - sum % 11) % 11
        return description.dropFirst(3).dropLast() + (check == 10 ? "X" : "\(check)")
    }

    /// The digits and X of a number in ASCII.
    private struct Number {
        var digits: [UInt8] = []
        /// The numbers of digits after which a space follows.
        var breaks: [Int] = []
    }

    /// Returns the numbers in a text. Letters separate them.
    private static func numbers(in text: some StringProtocol) -> [Number] {
        var text = Substring(text)
        // The symbology identifier of a scanner: https://www.iso.org/standard/44231.html
        let trimmed = text.drop(while: \.isWhitespace)
        if trimmed.first == "]", trimmed.dropFirst().first?.isLetter == true {
            text = trimmed.dropFirst(3)
        }
        // The number is before the separator in "9780306406157 (pbk.) : £12.99", and after it in "ISBN-13: 978…".
        while let separator = text.firstIndex(where: { ":：([$£€".contains($0) }) {
            let front = text[..<separator]
            if front.unicodeScalars.count(where: { $0.properties.numericType == .decimal }) >= 9 {
                text = front
            } else {
                text = text[text.index(after: separator)...]
            }
        }
        var numbers = [Number()]
        let scalars = Array(text.unicodeScalars)
        for index in labelEnd(in: scalars)..<scalars.count {
            let scalar = scalars[index]
            let last = numbers.count - 1
            if let value = scalar.properties.numericType == .decimal
                ? scalar.properties.numericValue : nil
            {
                numbers[last].digits.append(48 + UInt8(value))
            } else if isX(scalar), !isLetter(scalars, index - 1), !isLetter(scalars, index + 1) {
                numbers[last].digits.append(UInt8(ascii: "X"))
            } else if scalar.properties.isAlphabetic {
                if !numbers[last].digits.isEmpty { numbers.append(Number()) }
            } else if scalar.properties.isWhitespace {
                numbers[last].breaks.append(numbers[last].digits.count)
            }
        }
        return numbers.filter { !$0.digits.isEmpty }
    }

    /// Returns the index after a label such as `ISBN-13`, whose digits are not part of the number; 0 if there is none.
    ///
    /// A regular expression would take about 0.4 ms for the longest texts, and a request can contain 100 of them.
    private static func labelEnd(in scalars: [Unicode.Scalar]) -> Int {
        func isASCIIDigit(_ index: Int) -> Bool {
            index < scalars.count && ("0"..."9").contains(scalars[index])
        }
        for start in scalars.indices.dropLast(5) {
            guard
                zip(scalars[start...], "ISBN".unicodeScalars).allSatisfy({
                    $0 == $1 || $0.value == $1.value + 32
                })
            else { continue }
            var end = start + 4
            while end < min(scalars.count, start + 7),
                !scalars[end].properties.isAlphabetic || !scalars[end].isASCII, !isASCIIDigit(end)
            {
                end += 1
            }
            if end + 1 < scalars.count, scalars[end] == "1",
                scalars[end + 1] == "0" || scalars[end + 1] == "3", !isASCIIDigit(end + 2)
            {
                return end + 2
            }
        }
        return 0
    }

    private static func isX(_ scalar: Unicode.Scalar) -> Bool {
        ["x", "X", "Ｘ", "ｘ"].contains(scalar)
    }

    private static func isLetter(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        scalars.indices.contains(index) && scalars[index].properties.isAlphabetic
    }

    /// Whether the last digit is the check digit of a barcode of any length.
    private static func isEAN(_ digits: [UInt8]) -> Bool {
        guard !digits.contains(UInt8(ascii: "X")) else { return false }
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            sum + (Int(digit.element) - 48) * (digit.offset.isMultiple(of: 2) ? 1 : 3)
        }
        return sum.isMultiple(of: 10) && Set(digits).count > 1
    }

    private static func read13(_ digits: [UInt8]) -> Result<ISBN, Problem> {
        guard !digits.contains(UInt8(ascii: "X")) else { return .failure(.checkDigit) }
        guard checkDigit13(digits.prefix(12)) == digits[12] else { return .failure(.checkDigit) }
        guard digits.withUnsafeBytes({ ISBNDigits($0)?.isOfBook ?? false }) else {
            // A UPC with a zero before it is the same barcode.
            return .failure(digits[0] == UInt8(ascii: "0") ? .upc : .notABook)
        }
        guard Set(digits.dropFirst(3).dropLast()).count > 1 else { return .failure(.placeholder) }
        return .success(ISBN(verified: String(decoding: digits, as: UTF8.self)))
    }

    private static func read10(_ digits: [UInt8]) -> Result<ISBN, Problem> {
        guard !digits.dropLast().contains(UInt8(ascii: "X")) else { return .failure(.checkDigit) }
        let values = digits.map { $0 == UInt8(ascii: "X") ? 10 : Int($0) - 48 }
        let sum = zip(values, stride(from: 10, through: 1, by: -1)).reduce(0) { $0 + $1.0 * $1.1 }
        guard sum % 11 == 0 else { return .failure(.checkDigit) }
        guard Set(digits.dropLast()).count > 1 else { return .failure(.placeholder) }
        let body = Array("978".utf8) + digits.dropLast()
        return .success(
            ISBN(verified: String(decoding: body + [checkDigit13(body[...])], as: UTF8.self)))
    }

    private static func checkDigit13(_ body: ArraySlice<UInt8>) -> UInt8 {
        let sum = body.enumerated().reduce(0) { sum, digit in
            sum + (Int(digit.element) - 48) * (digit.offset.isMultiple(of: 2) ? 1 : 3)
        }
        return 48 + UInt8((10 - sum % 10) % 10)
    }
}
