import TestBasics
import Testing

@testable import Bookplate

@Suite struct ISBNTests {
    @Test(arguments: [
        ("9780306406157", "9780306406157"), ("978-0-306-40615-7", "9780306406157"),
        ("978 0 306 40615 7", "9780306406157"), ("0306406152", "9780306406157"),
        ("0-306-40615-2", "9780306406157"), ("080442957X", "9780804429573"),
        ("080442957x", "9780804429573"), ("0-8044-2957-X", "9780804429573"),
        ("ISBN-13: 978-0-306-40615-7", "9780306406157"), ("ISBN 9780306406157", "9780306406157"),
        ("isbn-10: 0306406152", "9780306406157"), ("ISBN-13 9780306406157", "9780306406157"),
        ("ISBN：9780306406157", "9780306406157"),
        // Hyphens and spaces of every kind.
        ("978\u{2010}0\u{2011}306\u{2012}40615\u{2013}7", "9780306406157"),
        ("978\u{2014}0\u{2015}306\u{2212}40615-7", "9780306406157"),
        ("978\u{00A0}0306\u{200B}40615\u{2009}7", "9780306406157"),
        // Digits of other scripts.
        ("９７８０３０６４０６１５７", "9780306406157"), ("٩٧٨٠٣٠٦٤٠٦١٥٧", "9780306406157"),
        ("０８０４４２９５７Ｘ", "9780804429573"),
        // As spreadsheets export it.
        ("=\"9780306406157\"", "9780306406157"),
        // With a barcode's add-on for the price or the issue number.
        ("978030640615751299", "9780306406157"), ("9780306406157 51299", "9780306406157"),
        ("978030640615712", "9780306406157"),
        // With additions as in library catalogs.
        ("0-306-40615-2 (pbk.) : £12.99", "9780306406157"), ("9780306406157 : $9", "9780306406157"),
        ("ISBN(13): 978-0-306-40615-7 [v. 2]", "9780306406157"),
        ("EAN: ISBN-13: 9780306406157", "9780306406157"),
        // Nine digits: an SBN from before 1970, or a number whose leading zero a spreadsheet has removed.
        ("306406152", "9780306406157"), ("SBN 306-40615-2", "9780306406157"),
        // With the prefix of a scanner, or the zero of a GTIN-14.
        ("]E09780306406157", "9780306406157"), ("]E3978030640615751299", "9780306406157"),
        ("09780306406157", "9780306406157"), ("]C109780306406157", "9780306406157"),
        // With words and other numbers.
        ("9780306406157 boxed set", "9780306406157"), ("ISBN 13 9780306406157", "9780306406157"),
        ("ISBN 10 0306406152", "9780306406157"), ("isbn13: 9780306406157", "9780306406157"),
        ("9780306406157 2nd edition", "9780306406157"), ("978 0 306 40615 7 3", "9780306406157"),
        ("080442957X boxed set", "9780804429573"), ("extra 0-8044-2957-X", "9780804429573"),
        // 979: France, Korea, Italy, Spain, the United States.
        ("9791032305690", "9791032305690"), ("9798886451740", "9798886451740"),
    ])
    func readsTypedAndScannedNumbers(text: String, isbn: String) {
        #expect(ISBN(text)?.description == isbn)
    }

    @Test(arguments: [
        ("", ISBN.Problem.length), ("123", .length), ("97803064061", .length),
        ("97803064061570", .length), ("no digits", .length), ("B00ABCDEFG", .length),
        (String(repeating: "9", count: 10_000), .length), ("9780306406158", .checkDigit),
        ("0306406153", .checkDigit), ("978030640615X", .checkDigit), ("X306406152", .checkDigit),
        ("03064X6152", .checkDigit),
        // Printed music, a magazine, a pen.
        ("9790060115615", .notABook), ("9796000000003", .notABook), ("306406153", .length),
        (": : :", .length), ("9771234567003", .notABook), ("4006381333931", .notABook),
        // EAN-8, and UPC, also as an EAN-13.
        ("96385074", .ean8), ("036000291452", .upc), ("0036000291452", .upc),
        ("96385075", .length), ("036000291453", .length), ("97803064061", .length),
        ("0000000000", .placeholder), ("9780000000002", .placeholder), ("1111111111", .placeholder),
    ])
    func reportsTheProblem(text: String, problem: ISBN.Problem) {
        #expect(ISBN.read(text) == .failure(problem))
        #expect(problem.message.hasSuffix("."))
    }

    @Test(
        arguments: [
            ("9780306406157", "0306406152"), ("9780804429573", "080442957X"),
            ("9791032305690", nil),
        ] as [(String, String?)])
    func only978NumbersHaveAnISBN10(isbn: String, isbn10: String?) throws {
        #expect(try #require(ISBN(isbn)).isbn10 == isbn10)
    }

    @Test func detectsEverySingleWrongDigit() {
        for isbn in ["9780306406157", "0306406152", "9791032305690"] {
            let digits = Array(isbn)
            for index in digits.indices {
                for digit in "0123456789" where digit != digits[index] {
                    var wrong = digits
                    wrong[index] = digit
                    #expect(ISBN(String(wrong)) == nil)
                }
            }
        }
    }

    /// Whatever a reader types, the result is a problem or an ISBN, which is read again as itself.
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func anyTextIsReadOrRefused(seed: UInt64) {
        var random = SeededGenerator(seed)
        let alphabet = Array("0123456789978xX-– ]E[():;=\"٩９aßあ\u{301}\u{200B}\n\0")
        let number = "9780306406157"
        for _ in 0..<5_000 {
            let noise = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? "0"
            }
            var text = String(noise)
            if Bool.random(using: &random) {
                text = String(text.prefix(Int.random(in: 0...30, using: &random))) + number + text
            }
            guard case .success(let isbn) = ISBN.read(text) else { continue }
            #expect(ISBN.read("\(isbn)") == .success(isbn), "\(text)")
            #expect("\(isbn)".count == 13)
        }
        let letters = String(repeating: "a ", count: Int.random(in: 0...9, using: &random))
        guard case .success(let isbn) = ISBN.read(letters + number) else {
            Issue.record("\(letters + number)")
            return
        }
        #expect("\(isbn)" == number)
    }
}
