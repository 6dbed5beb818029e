import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// Catalog files of different formats, with and without errors.
@Suite struct CatalogFileTests {
    private func entries(_ text: String) throws -> [(line: Int, result: String)] {
        try CatalogFile(Array(text.utf8)).entries.map { entry in
            switch entry.record {
            case .success(let record):
                (
                    entry.line,
                    [
                        record.title, record.authors.map(\.name).joined(separator: "+"),
                        record.isbn?.description ?? "-", record.publishedDate?.text ?? "-",
                        record.language ?? "-", record.pageCount.map { "\($0)" } ?? "-",
                    ].joined(separator: "|")
                )
            case .failure(let problem): (entry.line, problem.message)
            }
        }
    }

    @Test func readsTablesOfSeveralFormats() throws {
        for (text, expected) in [
            (
                "isbn13,isbn,title,authors,language,pages,date_published,image\n9783257233056,3257233051,Veronika beschliesst zu sterben: Roman,\"['Coelho, Paulo']\",de,223.0,2002.0,https://a\n",
                "Veronika beschliesst zu sterben: Roman|Paulo Coelho|9783257233056|2002|de|223"
            ),
            (
                "book_id,isbn,isbn13,authors,original_publication_year,title,language_code\r\n1,439023483,9.78043902348e+12,\"Suzanne Collins, Someone Else\",2008.0,The Hunger Games,eng\r\n",
                "The Hunger Games|Suzanne Collins+Someone Else|9780439023481|2008|en|-"
            ),
            (
                "author,country,id,isbn,original_title,publication_date,publisher\nQ6882,,Q6507,978-0-14-118126-4,Finnegans Wake,+1939-05-04T00:00:00Z,Q898097\n",
                "Finnegans Wake||9780141181264|1939-05-04|-|-"
            ),
            (
                "\u{FEFF}Book,Author,Description,Genres,Avg_Rating,Num_Ratings\nEmma,Jane Austen,\"a \"\"b\"\", c\",\"['Classics', \"\"Children's\"\"]\",4.47,\"9,278,135\"\n",
                "Emma|Jane Austen|-|-|-|-"
            ),
            (
                "isbn13,title,authors,num_pages\n9780002261982,Spider's Web,Charles Osborne;Agatha Christie,240\n",
                "Spider's Web|Charles Osborne+Agatha Christie|9780002261982|-|-|240"
            ),
        ] {
            #expect(try entries(text).map(\.result) == [expected])
        }
    }

    @Test func readsNumbersAndLists() throws {
        let text =
            "Book,Genres,Avg_Rating,Num_Ratings,Description\nEmma,\"['Classics', \"\"Children's\"\", 'Classics']\",4.47,\"9,278,135\",\"Two\nlines\"\n"
        let record = try #require(
            try CatalogFile(Array(text.utf8)).entries.map { try $0.record.get() }.first)
        #expect(record.subjects == ["Classics", "Children's"])
        #expect(record.averageRating == 4.47)
        #expect(record.ratingsCount == 9_278_135)
        #expect(record.description == "Two\nlines")
    }

    /// An error is reported with its line, and the other lines are read.
    @Test func reportsErrorsByLine() throws {
        let text = """
            isbn13,title,authors
            9780306406157,Good,Ann
            9780306406158,Wrong digit,Ann
            9.78043902348e+12,Rounded,Ann
            9780140328721,Two,few
            9780140328721,"Unclosed,Ann
            9780140328721,Lines
            9780140328721,"Behind" quotes,Ann
            ,  ,Ann
            none,Numberless,Ann

            9780261102217,"With
            lines",Ann
            9780747532699,Last,Ann
            """
        let found = try entries(text)
        #expect(
            found.map(\.line) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14])
        #expect(found[0].result.hasPrefix("Good|"))
        #expect(found[1].result.hasPrefix("ISBN 9780306406158: "))
        #expect(found[1].result.hasSuffix(" (column 1)"))
        #expect(found[2].result.hasPrefix("ISBN 9.78043902348e+12: "))
        #expect(found[3].result.hasPrefix("Two|few"))
        #expect(found[4].result == "the closing quote of a field is missing")
        #expect(found[5].result == "2 cells, but the header has 3 columns")
        // Invalid CSV, but unambiguous.
        #expect(found[6].result.hasPrefix("Behind quotes|Ann"))
        #expect(found[7].result == "title is missing (column 2)")
        #expect(found[8].result.hasPrefix("Numberless|Ann|-"))
        #expect(found[9].result.hasPrefix("With lines|"))
        #expect(found[10].result.hasPrefix("Last|"))
    }

    /// Bytes that are not UTF-8 are read as Windows-1252, and NUL characters are left out.
    @Test func invalidBytesAreRepaired() throws {
        let bytes = Array("title\nGood É\n".utf8) + Array("Caf".utf8) + [0xE9, 0x00, 0x0A]
        let found = try CatalogFile(bytes).entries.map { try $0.record.get().title }
        #expect(found == ["Good É", "Café"])
    }

    /// One bad character does not lose the record, and other fields keep their values.
    @Test(
        arguments: [
            (#"{"title":"A fox \ud83e runs.","authors":["Ann"]}"#, "A fox \u{FFFD} runs.", ["Ann"]),
            (#"{"title":"T","averageRating":NaN,"authors":["Ann"]}"#, "T", ["Ann"]),
            (#"{"title":"T\u0000","authors":"Petra Vance",}"#, "T", ["Petra Vance"]),
            (
                #"{"title":"Caf&eacute; &amp; <i>Bar</i>","authors":["Ren&eacute; T"]}"#,
                "Café & Bar", ["René T"]
            ),
            (#"{"title":"T","authors":[{"name":"Ann"}, null, "Bo"]}"#, "T", ["Ann", "Bo"]),
        ])
    func damagedLinesAreRepaired(line: String, title: String, authors: [String]) throws {
        let record = try CatalogRecord(line: Array(line.utf8))
        #expect(record.title == title && record.authors.map(\.name) == authors)
        let latin1 = Array(line.utf8).map { $0 == UInt8(ascii: "T") ? 0xC9 : $0 }
        let bytes = try CatalogRecord(line: latin1)
        #expect(bytes.title == title.replacing("T", with: "É"))
    }

    @Test func descriptionsAreTextAndWrongDaysAreLeftOut() throws {
        let record = try CatalogRecord(
            line: Array(
                #"{"title":"T","description":"&lt;p&gt;A &lt;b&gt;bold&lt;/b&gt; book.&lt;/p&gt;","publishedDate":"2010-02-30","language":"und"}"#
                    .utf8))
        #expect(record.description == "A bold book.")
        #expect(record.publishedDate?.text == "2010-02" && record.language == nil)
    }

    @Test(arguments: ["", " \n\n"])
    func emptyFilesHaveNoEntries(text: String) throws {
        #expect(try entries(text).isEmpty)
    }

    @Test(arguments: ["a,b\n1,2\n", "\"title\n"])
    func refusesFilesWithoutAValidHeader(text: String) {
        #expect(throws: CatalogFile.Unreadable.self) { try CatalogFile(Array(text.utf8)) }
    }

    /// Records without ISBN and ids are matched by title and author.
    @Test func importingATableTwiceAddsEachBookOnce() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let text = "title,author\nEmma,Jane Austen\nPersuasion,Jane Austen\nemma!,jane austen\n"
        for created in [2, 0] {
            let (summary, problems) = try await database.withConnection { connection in
                var problems: [Int: String] = [:]
                let summary = try CatalogImport(connection).run(
                    try CatalogFile(Array(text.utf8))
                ) { problems[$0] = $1 }
                return (summary, problems)
            }
            #expect(summary.created == created)
            #expect(problems == [4: "this book is already on line 2"])
        }
        #expect(try await database.count("SELECT count(*) FROM editions") == 2)
        #expect(
            try await database.count("SELECT editions FROM search_words WHERE word = 'jane'") == 2)
    }
}
