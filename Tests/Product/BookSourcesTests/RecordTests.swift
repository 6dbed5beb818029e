import Testing

@testable import BookSources

/// The conversion of the sources' data.
@Suite struct RecordTests {
    @Test(
        arguments: [
            ("October 1, 1988", "1988-10-01"), ("1997", "1997"), ("2020-11", "2020-11"),
            ("Dec 31, 1990", "1990-12-31"), ("2014-02-04", "2014-02-04"), ("1990*", "1990"),
            ("c1987", "1987"), ("01 Feb 1999", "1999-02-01"), ("June 2003", "2003-06"),
            ("[1850?]", "1850"), ("3/4/2001", "2001"), ("2004 May 7", "2004-05-07"),
            ("2013-13-01", "2013"), ("Marx 1848", "1848"), ("", nil), ("unknown", nil),
            ("0000", nil),
            ("99999", nil), ("2010-02-30", "2010-02"), ("June 31, 2015", "2015-06"),
            ("2019-02-29", "2019-02"), ("2020-02-29", "2020-02-29"), ("20040115", "2004-01-15"),
            ("20040230", "2004-02"), ("20040000", "2004"), ("12345678", nil), ("1997-98", "1997"),
            ("2004-05-00", "2004-05"), ("31 April 2001", "2001-04"),
            ("+1939-05-04T00:00:00Z", "1939-05-04"),
        ] as [(String, String?)])
    func parsesDates(text: String, expected: String?) {
        #expect(publishedDate(text)?.text == expected)
    }

    @Test(
        arguments: [
            ("<p>One &amp; <b>two</b>.<br>Three</p>", "One & two.\nThree"),
            ("a < b and c > d", "a < b and c > d"),
            (
                "Words.\r\n\r\nMore *words*. ([source][1])\r\n\r\n[1]: http://a",
                "Words.\n\nMore words."
            ),
            ("Text\r\n----------\r\nSee also: x", "Text"),
            ("> quoted [by](https://a)", "quoted by"),
            ("&#8220;Q&#x201D; &unknown; &#1114112;", "“Q” &unknown; &#1114112;"), ("<br/>", nil),
            ("  \n ", nil), ("<", "<"), ("<a", "<a"), ("R&D", "R&D"),
        ] as [(String, String?)])
    func convertsDescriptionsToPlainText(text: String, expected: String?) {
        #expect(plainText(text) == expected)
    }

    @Test(arguments: [
        ("The Hobbit!", "hobbit"), ("Les Misérables", "les miserables"),
        ("Dune (Dune, #1)", "dune"), ("Pride & Prejudice", "pride and prejudice"),
        ("Ender’s Game", "enders game"), ("The", "the"), ("村上春樹", "村上春樹"), ("!!!", ""),
    ])
    func normalizesTitles(title: String, expected: String) {
        #expect(folded(title) == expected)
    }

    @Test func convertsAMarkdownDescriptionOfOpenLibrary() throws {
        let json = try #require(JSON(Array(recorded("books-edition-markdown-no-covers").utf8)))
        let record = try #require(
            OpenLibrary(unreachable, SourceLimits(), url: "", coversURL: nil).record(edition: json))
        #expect(record.title == "The Stars with You")
        let text = try #require(record.description)
        #expect(text.hasPrefix("\"She didn't choose her garden\""))
        #expect(text.contains("The Stars With You gives us"))
        #expect(!text.contains("https://"))
    }

    @Test func convertsVolumesWithoutISBNsOrImages() throws {
        for name in ["google-volumes-two", "google-volumes-no-imagelinks"] {
            let json = try #require(JSON(Array(recorded(name).utf8)))
            let volume = try #require(json["items"]?.items.first)
            let record = try #require(GoogleBooks.record(volume: volume))
            #expect(!record.title.isEmpty)
            #expect(!record.isbns.contains { $0.hasPrefix("UOM") })
        }
    }

    @Test func keepsTheMonthOfAJapaneseVolume() throws {
        let json = try #require(
            JSON(Array(recorded("google-volumes-isbn-9784815602666-japanese").utf8)))
        let record = try #require(
            json["items"]?.items.first.flatMap({ GoogleBooks.record(volume: $0) }))
        #expect(record.publishedDate?.text == "2020-11")
        #expect(record.language == "ja")
    }

    @Test func takesTheMostUsefulStepOfACategory() throws {
        let json = try #require(JSON(Array(recorded("google-volume-2cl7AgAAQBAJ").utf8)))
        let record = try #require(GoogleBooks.record(volume: json))
        #expect(record.genres.contains("Science Fiction"))
        #expect(record.description?.contains("<") == false)
    }

    @Test func rejectsDeeplyNestedJSON() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(JSON(Array(deep.utf8)) == nil)
    }
}
