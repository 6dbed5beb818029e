import Testing

@testable import Requests

/// The sentences of errors.
@Suite struct ErrorTextsTests {
    @Test(arguments: ErrorReason.allCases)
    func eachSentenceIsCompleteInEachLanguage(reason: ErrorReason) {
        func placeholders(_ text: String) -> Set<String> {
            Set(text.matches(of: /\{(\w+)\}/).map { String($0.1) })
        }
        let english = placeholders(ErrorTexts.english.text(reason))
        #expect(english.isSubset(of: ["field", "min", "max", "value"]))
        for texts in ErrorTexts.all {
            let sentence = texts.text(reason)
            #expect(sentence.hasSuffix(".") || sentence.hasSuffix("。"), "\(sentence)")
            // The name of a field is a word of the schema, so other languages leave it out.
            let expected = texts.language == "en" ? english : english.subtracting(["field"])
            #expect(placeholders(sentence) == expected, "\(texts.language): \(sentence)")
        }
    }

    @Test(
        arguments: [
            (nil, "en"), ("", "en"), ("de", "de"), ("DE-ch", "de"), ("nl, fr;q=0.1", "fr"),
            ("en;q=0.2, ja;q=0.3", "ja"), ("de;q=0, es", "es"), ("*", "en"), (",;q=x", "en"),
        ] as [(String?, String)])
    func languageIsTheOneWithTheHighestWeight(header: String?, language: String) {
        #expect(ErrorTexts.preferred(by: header).language == language)
    }

    @Test(
        arguments: [
            ("en", 100_000, "Title may have at most 100,000 characters."),
            ("en", 1_000, "Title may have at most 1000 characters."),
            ("en", 100, "Title may have at most 100 characters."),
            ("de", 100_000, "Höchstens 100.000 Zeichen sind erlaubt."),
            ("fr", 10_000, "10\u{202F}000 caractères au maximum sont autorisés."),
        ])
    func numbersAreGrouped(language: String, max: Int, sentence: String) {
        let texts = ErrorTexts.preferred(by: language)
        #expect(texts.sentence(InputProblem(.tooLong, max: max), field: "title") == sentence)
    }

    @Test func fractionsHaveTheSeparatorOfTheLanguage() {
        let problem = InputProblem(.invalidStars, min: 0.5, max: 5.0)
        #expect(
            ErrorTexts.german.sentence(problem, field: nil)
                == "Sterne gibt es in Schritten von 0,5, höchstens 5.")
    }

    /// A name may look like a placeholder.
    @Test(arguments: ["{max}", "{value}", "{", "}", "{{value}}"])
    func valuesAreNotReplaced(value: String) {
        let problem = InputProblem(.nameTaken, max: 7.0, value: value)
        #expect(
            ErrorTexts.english.sentence(problem, field: "name")
                == "“\(value)” already exists. Choose another name.")
    }

    /// Other languages have no sentences for details.
    @Test func detailsAreEnglish() {
        let error = BookplateError.badUserInput(
            field: "file", .init(.invalidFile, detail: "The file is empty."))
        #expect(error.message == "The file is empty.")
        #expect(error.message(in: .german) == "Die Datei kann nicht gelesen werden.")
    }
}
