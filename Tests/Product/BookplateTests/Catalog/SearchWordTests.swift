import GraphQL
import Operations
import TestSupport
import Testing

/// What the catalog search makes of words that do not match, of names of authors, and of aliases.
@Suite struct SearchWordTests {
    private static let books = [
        #"{"title":"The Lord of the Rings","series":"The Lord of the Rings","seriesPosition":"1-3","authors":["J.R.R. Tolkien"],"ratingsCount":390000}"#,
        #"{"title":"The Two Towers","series":"The Lord of the Rings","seriesPosition":"2","authors":["J.R.R. Tolkien"],"ratingsCount":480000}"#,
        #"{"title":"Accidental Death of an Anarchist","authors":["Dario Fo"],"ratingsCount":4000}"#,
        #"{"title":"Dune","series":"Dune","seriesPosition":"1","authors":["Frank Herbert"],"ratingsCount":480000}"#,
        #"{"title":"Dune Messiah","series":"Dune","seriesPosition":"2","authors":["Frank Herbert"],"ratingsCount":80000}"#,
        #"{"title":"Un Lun Dun","authors":["China Miéville"],"ratingsCount":13000}"#,
        #"{"title":"Free Radicals","authors":["Paula Download"],"ratingsCount":50}"#,
        #"{"title":"Kindle User's Guide","authors":["Amazon"],"ratingsCount":3500}"#,
        #"{"title":"Pride and Prejudice","authors":["Jane Austen"],"ratingsCount":2000000}"#,
        #"{"title":"Jane Austen's Letters","authors":["Jane Austen"],"ratingsCount":2000}"#,
        #"{"title":"Jane Austen: A Life","authors":["Carol Shields"],"ratingsCount":2200}"#,
        #"{"title":"Tea with Jane Austen","authors":["Kim Wilson"],"ratingsCount":1400}"#,
        #"{"title":"Austenland","authors":["Shannon Hale"],"ratingsCount":40000}"#,
        #"{"title":"Hamlet","authors":["William Shakespeare"],"ratingsCount":510000}"#,
        #"{"title":"Shakespeare","authors":["Bill Bryson"],"ratingsCount":25000}"#,
        #"{"title":"Wild","authors":["Cheryl Strayed"],"ratingsCount":380000}"#,
        #"{"title":"Toby","authors":["Margaret Wild"],"ratingsCount":100}"#,
        #"{"title":"It","authors":["Stephen King"],"ratingsCount":290000}"#,
        #"{"title":"King","authors":["T.M. Frazier"],"ratingsCount":16000}"#,
        #"{"title":"A Game of Thrones","series":"A Song of Ice and Fire","seriesPosition":"1","authors":["George R.R. Martin"],"ratingsCount":1300000}"#,
        #"{"title":"Harry Potter and the Goblet of Fire","series":"Harry Potter","seriesPosition":"4","authors":["J.K. Rowling"],"ratingsCount":1700000}"#,
        #"{"title":"Harry Potter Boxed Set, Books 1-4","authors":["J.K. Rowling"],"ratingsCount":40000}"#,
        #"{"title":"Best of H.P. Lovecraft","authors":["H.P. Lovecraft"],"ratingsCount":25000}"#,
        #"{"title":"Fahrenheit 451","authors":["Ray Bradbury"],"ratingsCount":570000}"#,
        #"{"title":"The Four Loves","authors":["C.S. Lewis"],"ratingsCount":30000}"#,
        #"{"title":"Frost","authors":["Marianna Baer"],"ratingsCount":2000}"#,
    ]

    private static let app = Shared { try await TestApp.start(catalog: books) }

    private static let search = """
        query($query: String!, $first: Int, $after: String) {
          search(query: $query, first: $first, after: $after) {
            droppedWords nodes { title } pageInfo { endCursor }
          }
        }
        """

    @Test(
        arguments: [
            ("the lord fo the rings", "The Lord of the Rings", ["fo"]),
            ("dune frank herbert epub", "Dune", ["epub"]),
            ("Dune Frank Herbert PDF", "Dune", ["pdf"]),
            ("dune messiah frank herbert kindle", "Dune Messiah", ["kindle"]),
            ("kindle pride and prejudice jane austen", "Pride and Prejudice", ["kindle"]),
            (
                "pride and prejudice austen free download", "Pride and Prejudice",
                ["free", "download"]
            ),
            ("pride and qqqqqqqqq prejudice", "Pride and Prejudice", ["qqqqqqqqq"]),
            ("hamlet qqqqqqqqq xxxxxxxxx", "Hamlet", ["qqqqqqqqq", "xxxxxxxxx"]),
            // Titles beside a word that says what to do with a book.
            ("dune pdf", "Dune", ["pdf"]), ("read dune", "Dune", ["read"]),
            ("dune", "Dune", []), ("dnue", "Dune", []),
            ("pride prejudise", "Pride and Prejudice", []),
            ("978-0-7475-3849-3", nil, []), ("qqqqqqqqq", nil, []),
            ("qqqqqqqqq xxxxxxxxx", nil, []),
        ] as [(String, String?, [Value])])
    func dropsWordsThatMatchNothing(
        query: String, first: String?, dropped: [Value]
    ) async throws {
        let response = try await Self.app().makeReader().execute(
            Self.search, ["query": .string(query), "first": 5])
        #expect(response.errors.isEmpty, "\(response.json)")
        #expect(response["search", "nodes", 0, "title"]?.string == first, "\(response.json)")
        #expect(response["search", "droppedWords"] == .list(dropped), "\(response.json)")
    }

    /// All pages have the same dropped words, and together all books once.
    @Test func pagesOfASearchWithDroppedWordsAgree() async throws {
        let reader = try await Self.app().makeReader()
        let all = try await reader.execute(
            Self.search, ["query": "dune herbert epub", "first": 100])
        let titles = all["search", "nodes"]?.values(of: "title") ?? []
        #expect(titles.count > 1)
        var seen: [Value] = []
        var after = Value.null
        for _ in titles {
            let page = try await reader.execute(
                Self.search, ["query": "dune herbert epub", "first": 1, "after": after])
            seen += page["search", "nodes"]?.values(of: "title") ?? []
            #expect(page["search", "droppedWords"] == ["epub"])
            after = page["search", "pageInfo", "endCursor"] ?? .null
        }
        #expect(seen == titles)
    }

    @Test(arguments: [
        ("jane austen", "Pride and Prejudice"), ("austen", "Pride and Prejudice"),
        ("Austen, Jane", "Pride and Prejudice"), ("jane austn", "Pride and Prejudice"),
        ("jane aust", "Pride and Prejudice"), ("austenland", "Austenland"),
        ("jane austen letters", "Jane Austen's Letters"),
        ("tea with jane austen", "Tea with Jane Austen"),
        ("william shakespeare", "Hamlet"), ("shakespeare", "Hamlet"), ("shakespear", "Hamlet"),
        ("shakespeare bryson", "Shakespeare"), ("wild", "Wild"), ("margaret wild", "Toby"),
        ("king", "It"), ("stephen king", "It"), ("king frazier", "King"),
        ("it", "It"), ("fost", "Frost"), ("dun", "Dune"),
        ("harr", "Harry Potter and the Goblet of Fire"),
    ])
    func namesOfAuthorsFindTheirBooksFirst(query: String, first: String) async throws {
        let response = try await Self.app().makeReader().execute(
            Self.search, ["query": .string(query), "first": 5])
        #expect(response["search", "nodes", 0, "title"]?.string == first, "\(response.json)")
    }

    @Test(arguments: [
        ("lotr", "The Lord of the Rings"), ("LOTR 2", "The Two Towers"),
        ("lotr tolkien", "The Lord of the Rings"), ("asoiaf", "A Game of Thrones"),
        ("hp 4", "Harry Potter and the Goblet of Fire"),
        ("hp lovecraft", "Best of H.P. Lovecraft"), ("h.p. lovecraft", "Best of H.P. Lovecraft"),
    ])
    func aliasesFindWhatTheyStandFor(query: String, first: String) async throws {
        let response = try await Self.app().makeReader().execute(
            Self.search, ["query": .string(query), "first": 5])
        #expect(response["search", "nodes", 0, "title"]?.string == first, "\(response.json)")
        #expect(response["search", "droppedWords"] == [])
    }

    @Test(arguments: ["lotr frost", "frost lotr"])
    func aliasesAreNotDropped(query: String) async throws {
        let response = try await Self.app().makeReader().execute(
            Self.search, ["query": .string(query), "first": 5])
        #expect(
            response["search", "nodes", 0, "title"] == "The Lord of the Rings", "\(response.json)")
        #expect(response["search", "droppedWords"] == ["frost"])
    }

    /// Fewer results are better than unrelated ones.
    @Test(
        arguments: [
            (
                "hp 4",
                ["Harry Potter and the Goblet of Fire", "Harry Potter Boxed Set, Books 1-4"]
            ),
            (
                "harry potter 4",
                ["Harry Potter and the Goblet of Fire", "Harry Potter Boxed Set, Books 1-4"]
            ), ("lotr 2", ["The Two Towers"]),
        ] as [(String, [Value])])
    func nothingUnrelatedFollowsTheNumberOfAVolume(query: String, titles: [Value]) async throws {
        let response = try await Self.app().makeReader().execute(
            Self.search, ["query": .string(query), "first": 20])
        #expect(response["search", "nodes"]?.values(of: "title") == titles, "\(response.json)")
    }

    private static let titleApp = Shared {
        try await TestApp.start(
            catalog: [
                ("Fire Star", "Chris d'Lacey", 13_000), ("Firestarter", "Stephen King", 142_000),
                ("9-11", "Noam Chomsky", 3_000), ("911 Calls", "Lee Holt", 9_000),
                ("Tai-Pan", "James Clavell", 34_000),
                ("America (The Book)", "Jon Stewart", 75_000),
                ("The Jungle", "Upton Sinclair", 110_000),
                ("The Jungle Book", "Rudyard Kipling", 84_000),
                ("Ham on Rye", "Charles Bukowski", 54_000),
                ("Hamlet", "William Shakespeare", 516_000), ("Home", "Toni Morrison", 14_000),
                ("Homegoing", "Yaa Gyasi", 80_000), ("Olivia", "Ian Falconer", 51_000),
                ("Delirium", "Lauren Oliver", 256_000), ("Orlando", "Virginia Woolf", 40_000),
                ("Robinson Crusoe", "Daniel Defoe\",\"Virginia Woolf", 178_000),
                ("The Brothers Karamazov", "Fyodor Dostoevsky", 305_000),
                ("Angels & Demons", "Dan Brown", 2_000_000),
            ].map { title, author, readers in
                #"{"title":"\#(title)","authors":["\#(author)"],"ratingsCount":\#(readers)}"#
            })
    }

    @Test(
        arguments: [
            // With and without spaces.
            ("firestar", "Fire Star", []), ("fire star", "Fire Star", []), ("911", "9-11", []),
            ("taipan", "Tai-Pan", []),
            // Words that are not of the title.
            ("the tai-pan book", "Tai-Pan", ["the", "book"]),
            ("read the jungle", "The Jungle", ["read"]),
            ("the jungle book", "The Jungle Book", []), ("jungle book", "The Jungle Book", []),
            // The beginning of a title: the best-known one, unless it is a title.
            ("ham", "Hamlet", []), ("home", "Home", []), ("homeg", "Homegoing", []),
            // Incomplete and misspelled titles and names of authors.
            ("bro", "The Brothers Karamazov", []), ("brown", "Angels & Demons", []),
            ("olivra", "Olivia", []),
            // An author's own books come before contributions.
            ("virginia woolf", "Orlando", []), ("woolf", "Orlando", []),
        ] as [(String, String, [Value])])
    func titlesAreFoundAsTheyAreTyped(
        query: String, first: String, dropped: [Value]
    ) async throws {
        let response = try await Self.titleApp().makeReader().execute(
            Self.search, ["query": .string(query), "first": 5])
        #expect(response["search", "nodes", 0, "title"]?.string == first, "\(response.json)")
        #expect(response["search", "droppedWords"] == .list(dropped), "\(response.json)")
    }

    /// There are many titles that are similar words, and better-known titles that begin with it.
    @Test func aTitleIsFoundBesideManySimilarOnes() async throws {
        var books: [(title: String, readers: Int)] = [("Rose", 500)]
        for n in 1...30 {
            books += [("Roses", n), ("Prose", n), ("Roser", n)]
        }
        for n in 1...200 {
            books.append(("The Rose Garden \(n)", 1000 + n))
        }
        let app = try await TestApp.start(
            catalog: books.enumerated().map { index, book in
                #"{"title":"\#(book.title)","authors":["Author \#(index)"],"ratingsCount":\#(book.readers)}"#
            })
        let response = try await app.makeReader().execute(
            Self.search, ["query": "rose", "first": 5])
        #expect(response["search", "nodes", 0, "title"]?.string == "Rose", "\(response.json)")
    }

    @Test func theOperatorEditsAliases() async throws {
        let app = try await TestApp.start(
            catalog: Self.books + [
                #"{"title":"天龍八部","authors":["金庸"],"ratingsCount":10}"#
            ])
        let reader = try await app.makeReader()
        func first(_ query: String) async throws -> String? {
            try await reader.execute(Self.search, ["query": .string(query), "first": 1])[
                "search", "nodes", 0, "title"]?.string
        }
        #expect(try await first("ddd") == nil)
        try await app.database.withConnection { connection in
            let aliases = SearchAliases(connection)
            for (alias, meaning, stored) in [
                ("D.D. Dé", " Dune Messiah ", "d de"), ("ddd", "Hamlet", "ddd"),
                ("DDD", "Dune Messiah", "ddd"), ("天八", "天龍八部", "天八"),
            ] {
                let added = try aliases.add(alias, meaning: meaning)
                #expect(added?.alias == stored)
            }
            for (alias, meaning) in [
                ("", "Dune"), ("!", "Dune"), ("a b c d", "Dune"), ("dx", ""), ("dx", "!"),
                (String(repeating: "d", count: 61), "Dune"),
                ("dx", String(repeating: "d", count: 101)),
            ] {
                let refused = try aliases.add(alias, meaning: meaning)
                #expect(refused == nil, "\(alias)")
            }
            let all = try aliases.all()
            #expect(all.contains { $0.alias == "d de" && $0.meaning == "Dune Messiah" })
        }
        for (query, title) in [
            ("ddd", "Dune Messiah"), ("d. d. de", "Dune Messiah"), ("herbert ddd", "Dune Messiah"),
            ("天八", "天龍八部"),
        ] {
            #expect(try await first(query) == title, "\(query)")
        }
        try await app.database.withConnection { connection in
            let removed = try SearchAliases(connection).remove("DDD")
            #expect(removed?.meaning == "Dune Messiah")
            let again = try SearchAliases(connection).remove("DDD")
            #expect(again == nil)
        }
        #expect(try await first("ddd") == nil)
    }

    /// The library understands the same forms of names and words as the catalog.
    @Test(
        arguments: [
            ("jk rowling", ["Harry Potter and the Goblet of Fire"]),
            ("grr martin", ["A Game of Thrones"]), ("rr martin", ["A Game of Thrones"]),
            ("cs lewis", ["The Four Loves"]), ("fahrenheit451", ["Fahrenheit 451"]),
            ("harrypotter", ["Harry Potter and the Goblet of Fire"]),
            ("harry pot ter", ["Harry Potter and the Goblet of Fire"]),
            ("gob let", ["Harry Potter and the Goblet of Fire"]), ("thefour", ["The Four Loves"]),
            ("ks lewis", []),
        ] as [(String, [Value])])
    func theLibraryKnowsInitialsAndJoinedWords(search: String, titles: [Value]) async throws {
        let reader = try await Self.app().makeReader()
        for (title, author) in [
            ("Harry Potter and the Goblet of Fire", "J. K. Rowling"),
            ("A Game of Thrones", "George R.R. Martin"), ("The Four Loves", "C.S. Lewis"),
            ("Fahrenheit 451", "Ray Bradbury"),
        ] {
            _ = try await reader.makeBook([
                "title": .string(title), "authors": [["name": .string(author)]],
            ])
        }
        let response = try await reader.execute(
            SearchTests.library, ["search": .string(search), "order": "RELEVANCE"])
        #expect(
            response["me", "books", "nodes"]?.values(of: "title") == titles, "\(response.json)")
    }
}
