/// An International Standard Book Number of 13 digits with a verified check digit.
///
/// It is read from typed or scanned text, which may contain hyphens and spaces of any kind, a label before the number, an
/// ISBN-10 with an upper or lower case X, digits of other scripts, the add-on of a barcode (issue number or price), and a
/// binding or a price after the number.
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
        /// A number whose digits, apart from the prefix and the check digit, are all the same.
        case placeholder

        /// A sentence for the person who typed or scanned the text.
        package var message: String {
            switch self {
            case .length: "An ISBN has 10 or 13 digits. Check the number and try again."
            case .checkDigit:
                "The check digit of the ISBN does not match. Check for a typing error."
            case .notABook: "This barcode is not an ISBN. ISBNs start with 978, 9791, or 9798."
            case .placeholder: "This number is a placeholder, not the ISBN of a book."
            }
        }
    }

    /// Reads an ISBN from a text.
    package static func read(_ text: some StringProtocol) -> Result<ISBN, Problem> {
        guard text.utf8.count <= 200 else { return .failure(.length) }
        let digits = significantDigits(text)
        switch digits.count {
        case 13, 15, 18:
            // The last two or five of 15 or 18 digits are the add-on of the barcode: the issue number or the price.
            return read13(Array(digits.prefix(13)))
        case 10:
            return read10(digits)
        case 9:
            // A number from before 1970 (SBN), or one whose leading zero a spreadsheet has removed.
            guard case .success(let isbn) = read10([UInt8(ascii: "0")] + digits) else {
                return .failure(.length)
            }
            return .success(isbn)
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

    /// Returns the digits and X in ASCII, without the text around them.
    private static func significantDigits(_ text: some StringProtocol) -> [UInt8] {
        var text = Substring(text)
        // The number is before the separator in "9780306406157 (pbk.) : £12.99", and after it in "ISBN-13: 978…".
        while let separator = text.firstIndex(where: { ":：([$£€".contains($0) }) {
            let front = text[..<separator]
            if front.unicodeScalars.count(where: { $0.properties.numericType == .decimal }) >= 9 {
                text = front
            } else {
                text = text[text.index(after: separator)...]
            }
        }
        // The digits of a label are not part of the number.
        if let label = text.range(ofLabel: ["ISBN-13", "ISBN-10", "ISBN13", "ISBN10"]) {
            text = text[label.upperBound...]
        }
        var digits: [UInt8] = []
        for scalar in text.unicodeScalars {
            if let value = scalar.properties.numericType == .decimal
                ? scalar.properties.numericValue : nil
            {
                digits.append(48 + UInt8(value))
            } else if scalar == "x" || scalar == "X" || scalar == "Ｘ" || scalar == "ｘ" {
                digits.append(UInt8(ascii: "X"))
            }
        }
        return digits
    }

    private static func read13(_ digits: [UInt8]) -> Result<ISBN, Problem> {
        guard !digits.contains(UInt8(ascii: "X")) else { return .failure(.checkDigit) }
        guard checkDigit13(digits.prefix(12)) == digits[12] else { return .failure(.checkDigit) }
        guard digits.withUnsafeBytes({ ISBNDigits($0)?.isOfBook ?? false }) else {
            return .failure(.notABook)
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

extension Substring {
    /// Returns the range of the first of the labels that the text contains, ignoring case.
    fileprivate func range(ofLabel labels: [String]) -> Range<Index>? {
        for label in labels {
            guard let start = indices.first(where: { self[$0...].uppercased().hasPrefix(label) })
            else { continue }
            return start..<index(start, offsetBy: label.count)
        }
        return nil
    }
}
