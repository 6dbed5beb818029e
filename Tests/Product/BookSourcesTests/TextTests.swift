import Basics
import TestBasics
import Testing

@testable import BookSources

/// HTML, character references, languages, series, and names.
@Suite struct TextTests {
    @Test(arguments: [
        ("&lt;p&gt;A &lt;b&gt;bold&lt;/b&gt; book.&lt;/p&gt;", "A bold book."),
        ("&amp;lt;p&amp;gt;One&amp;lt;/p&amp;gt;", "One"),
        ("Caf&eacute; &Eacute;mile &frac12;", "Café Émile ½"),
        ("Caf&amp;eacute;", "Café"), ("&mdash; &rsquo; &ldquo;x&rdquo;", "— ’ “x”"),
        ("<div>One.</div><div>Two.</div>", "One.\nTwo."),
        ("<ul><li>a</li><li>b</li></ul>c", "a\nb\n\nc"),
        ("<h1>T</h1><p>a</p>\n<p>b</p>", "T\n\na\n\nb"), ("a<br>b<BR/>\nc", "a\nb\nc"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("<p title=\"a > b\">x</p>", "x"), ("a <!-- no --> b", "a  b"),
        ("a<script>x<b</script>b", "ab"),
        ("a < b & c <3 AT&T <you> ?a=1&copy=2", "a < b & c <3 AT&T <you> ?a=1&copy=2"),
        ("Learn &lt;div&gt; and &lt;span&gt;.", "Learn <div> and <span>."), ("&#146;&#x80;", "’€"),
        ("&#1055;&#1110;&#1076;", "Під"),
        ("&#0;&#xD800;&#1114112;&nope;", "&#0;&#xD800;&#1114112;&nope;"),
        ("Tom &amp Jerry&nbsp;x", "Tom & Jerry x"), ("&NotEqualTilde;", "≂̸"),
        ("a<o:p></o:p>b", "ab"),
        ("<p>a</p><br><p>b</p>", "a\n\nb"), ("<", "<"), ("&", "&"), ("", ""),
    ])
    func htmlOfCatalogsBecomesText(html: String, text: String) {
        #expect(plainText(ofHTML: html, isCatalog: true) == text)
    }

    /// A note of a reader may be about HTML.
    @Test func textOfReadersIsDecodedOnce() {
        #expect(plainText(ofHTML: "&lt;b&gt;x&lt;/b&gt; &amp;eacute;") == "<b>x</b> &eacute;")
    }

    @Test(
        arguments: [
            ("Ren&eacute; Thi&eacute;blemont", "René Thiéblemont"),
            ("&#1055;&#1110;&#1076;", "Під"),
            ("<i>Emma</i> &amp;amp; <b>x</b>", "Emma & x"), ("a\n\tb\u{0}", "a b"), (" <br> ", nil),
        ] as [(String, String?)])
    func titlesAndNamesAreOneLine(text: String, line: String?) {
        #expect(plainLine(text) == line)
    }

    @Test func tableOfReferencesIsThatOfTheStandard() {
        #expect(CharacterReferences.count == 2125)
    }

    private static let pieces = [
        "<p>", "</p>", "<br>", "<", ">", "&", "&amp;", "&lt;", "&gt;", "&#x27;", "&#", ";", "a",
        " ", "\n", "é", "<b", "'", "\"",
        "<!--", "-->", "<script>", "</script", "=\"", "/", "\u{0}", "🦊",
    ]

    /// The converter accepts any text, keeps its letters, and reads back what exports write.
    @Test(arguments: Array(UInt64(1)...100))
    func anyTextIsConverted(seed: UInt64) {
        var random = SeededGenerator(seed)
        let text = (0..<Int.random(in: 0..<30, using: &random)).map { _ in
            Self.pieces.randomElement(using: &random) ?? ""
        }.joined()
        _ = plainText(ofHTML: text, isCatalog: true)
        _ = plainLine(text)
        _ = plainText(text)
        #expect(plainText(ofHTML: html(ofText: text)) == trimmed(text[...]))
        let words = plainText(ofHTML: "before<p>" + text.filter { $0 != "<" } + "</p>after")
        #expect(words.hasPrefix("before") && words.hasSuffix("after"))
    }

    /// Long texts of unclosed tags and references take linear time. With quadratic time, this test would take minutes.
    @Test(arguments: [
        "<a ", "<a=\"", "&", "<!--", "&lt;p&gt;", "<script>", "<p>", "<", "<p><br>", "[", "(source",
        "*",
    ])
    func longTextsAreConverted(piece: String) {
        let text = String(repeating: piece, count: 20_000)
        _ = plainText(ofHTML: text, isCatalog: true)
        _ = plainText("x" + String(repeating: "<br>", count: 20_000) + text)
    }

    /// The time of the regular expression for volumes would grow with the third power of the length.
    @Test func longSeriesAreRefused() {
        #expect(SeriesName(catalog: String(repeating: "-", count: 5_000) + "x") == nil)
        _ = SeriesName(catalog: String(repeating: "-", count: 299) + "x")
    }

    // MARK: - Languages

    @Test(
        arguments: [
            ("eng", "en"), ("English", "en"), ("fre", "fr"), ("fra", "fr"), ("Thai", "th"),
            ("Persian", "fa"),
            ("Welsh", "cy"), ("wel", "cy"), ("en-us", "en-US"), ("pt_BR", "pt-BR"),
            ("Brazilian Portuguese", "pt-BR"),
            ("Greek, Modern", "el"), ("Greek (Modern)", "el"), ("Ancient Greek", "grc"),
            ("grc", "grc"), ("zh-hant-tw", "zh-Hant-TW"),
            ("Norwegian Bokmål", "nb"), ("iw", "he"), ("und", nil), ("un", nil), ("mul", nil),
            ("zxx", nil), ("Undetermined", nil), ("Multiple languages", nil), ("", nil),
            ("und-Latn", nil), ("no language", nil),
        ] as [(String, String?)])
    func languagesAreTags(text: String, tag: String?) {
        #expect(Languages.tag(text) == tag)
    }

    // MARK: - Names and series

    @Test(arguments: [
        ("Coelho, Paulo", "Paulo Coelho"), ("King, Martin Luther, Jr.", "Martin Luther King, Jr."),
        ("Vonnegut, Kurt, Jr.", "Kurt Vonnegut, Jr."), ("Davis, Arthur, III", "Arthur Davis III"),
        ("King, Jr., Martin Luther", "Martin Luther King, Jr."),
        ("Dahl, Roald, 1916-1990", "Roald Dahl"),
        ("Lee, Alan, 1947-", "Alan Lee"), ("Martin King, Jr.", "Martin King, Jr."),
        ("Plato", "Plato"),
        ("Farrar, Straus, and Giroux", "Farrar, Straus, and Giroux"), ("", ""), (",", ","),
        ("Jr.", "Jr."),
    ])
    func givenNameComesFirst(name: String, expected: String) {
        #expect(Contributor.givenNameFirst(name) == expected)
    }

    @Test(
        arguments: [
            ("The Wheel of Time ; bk. 1", "The Wheel of Time", "1"),
            ("Discworld, v. 4", "Discworld", "4"),
            ("Discworld, #4", "Discworld", "4"), ("The Stars Trilogy", "The Stars Trilogy", nil),
            ("Penguin Classics", nil, nil), ("Library of America ; 5", nil, nil), ("", nil, nil),
        ] as [(String, String?, String?)])
    func seriesOfCatalogsAreRead(text: String, name: String?, position: String?) {
        let series = SeriesName(catalog: text)
        #expect(series?.name == name && series?.position == position)
    }

    /// Any text is read or refused, and positions can be stored.
    @Test(arguments: Array(UInt64(1)...60))
    func anyTextIsReadAsSeriesAndName(seed: UInt64) {
        var random = SeededGenerator(seed)
        let pieces = [
            "#", "(", ")", ",", ";", "1", ".", "½", "-", "–", " ", "S", "Part", "of", "Jr.",
            "9999999999", "é", "#1",
        ]
        let text = (0..<Int.random(in: 0..<14, using: &random)).map { _ in
            pieces.randomElement(using: &random) ?? ""
        }.joined()
        for series in [
            SeriesName(numbered: text), SeriesName(catalog: text),
            SeriesName.separate(text)?.series,
        ] {
            guard let series else { continue }
            #expect(!series.name.isEmpty)
            #expect(series.position.map { (1...20).contains($0.unicodeScalars.count) } ?? true)
        }
        if let (title, _, _) = SeriesName.separate(text) { #expect(text.contains(title)) }
        #expect(!text.contains("é") || Contributor.givenNameFirst(text).contains("é"))
        if let date = publishedDate(text) { #expect(PartialDate(date.text) == date) }
        if let tag = Languages.tag(text) { #expect(Languages.tag(tag) == tag) }
    }
}
