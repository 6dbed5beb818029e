import BookSources
import GraphQL
import TestSupport
import Testing

/// Searches of the catalog and of the reader's library, with words as people type them.
@Suite struct SearchTests {
    static let books = [
        #"{"title":"The Hobbit","subtitle":"There and Back Again","authors":["J.R.R. Tolkien"],"isbn13":"9780261102217","ratingsCount":2000000}"#,
        #"{"title":"Harry Potter and the Philosopher's Stone","series":"Harry Potter","seriesPosition":"1","authors":["J.K. Rowling"],"ratingsCount":4000000,"isbn13":"9780747532699"}"#,
        #"{"title":"Harry Potter and the Chamber of Secrets","series":"Harry Potter","seriesPosition":"2","authors":["J.K. Rowling"],"ratingsCount":1700000,"isbn13":"9780747538493"}"#,
        #"{"title":"Les Misérables","authors":["Victor Hugo"],"ratingsCount":500000}"#,
        #"{"title":"Ender's Game","series":"Ender's Saga","seriesPosition":"1","authors":["Orson Scott Card"],"ratingsCount":800000}"#,
        #"{"title":"Pride & Prejudice","authors":["Jane Austen"],"ratingsCount":2000000}"#,
        #"{"title":"Catch-22","authors":["Joseph Heller"],"ratingsCount":600000}"#,
        #"{"title":"La sombra del viento","authors":["Carlos Ruiz Zafón"],"ratingsCount":300000}"#,
        #"{"title":"海辺のカフカ","authors":["村上春樹"],"ratingsCount":100}"#,
        #"{"title":"Sapiens","subtitle":"A Brief History of Humankind","authors":["Yuval Noah Harari"],"ratingsCount":900000}"#,
        #"{"title":"Dune","series":"Dune","seriesPosition":"1","authors":["Frank Herbert"],"ratingsCount":700000}"#,
        #"{"title":"Преступление и наказание","authors":["Фёдор Достоевский"],"ratingsCount":5000}"#,
        #"{"title":"The Dog Stars","authors":["Peter Heller"],"ratingsCount":40000}"#,
        #"{"title":"Straße der Ölsardinen","authors":["Jon Søren"],"ratingsCount":10}"#,
        #"{"title":"Donaudampfschifffahrtselektrizitäten","authors":["Jon Søren"],"ratingsCount":10}"#,
        #"{"title":"กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ กขค","authors":["Jon Søren"],"ratingsCount":10}"#,
    ]

    static let app = Shared { try await TestApp.start(catalog: books + TestCatalog.lines(60)) }

    static let search = """
        query($query: String!, $first: Int, $after: String) {
          search(query: $query, first: $first, after: $after) {
            nodes { id title } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor }
          }
        }
        """

    private func titles(_ query: String) async throws -> [String] {
        let response = try await Self.app().makeReader().execute(
            Self.search, ["query": .string(query), "first": 5])
        #expect(response.errors.isEmpty, "\(response.json)")
        return response["search", "nodes"]?.values(of: "title").compactMap(\.string) ?? []
    }

    @Test(arguments: [
        ("the hobbit", "The Hobbit"), ("HOBBIT", "The Hobbit"), ("hobit", "The Hobbit"),
        ("hobibt", "The Hobbit"), ("there and back again", "The Hobbit"),
        ("tolkein hobbit", "The Hobbit"), ("hobbit tolkien", "The Hobbit"),
        ("jrr tolkien", "The Hobbit"), ("J. R. R. Tolkien", "The Hobbit"),
        ("hobb", "The Hobbit"), ("les miserables", "Les Misérables"),
        ("LES MISÉRABLES", "Les Misérables"), ("miserables hugo", "Les Misérables"),
        ("enders game", "Ender's Game"), ("ender’s game", "Ender's Game"),
        ("pride and prejudice", "Pride & Prejudice"), ("pride prejudise", "Pride & Prejudice"),
        ("catch 22", "Catch-22"), ("catch22", "Catch-22"), ("zafon", "La sombra del viento"),
        ("sombra viento ruiz", "La sombra del viento"), ("カフカ", "海辺のカフカ"),
        ("村上", "海辺のカフカ"), ("brief history of humankind", "Sapiens"),
        ("sapiens a brief history", "Sapiens"), ("dnue", "Dune"), ("dune", "Dune"),
        ("harry potter 2", "Harry Potter and the Chamber of Secrets"),
        ("harrypotter chamber", "Harry Potter and the Chamber of Secrets"),
        ("rowling stone", "Harry Potter and the Philosopher's Stone"),
        ("harry potter", "Harry Potter and the Philosopher's Stone"),
        ("преступление", "Преступление и наказание"),
        ("Федор Достоевский", "Преступление и наказание"),
        ("donaudampfschiffahrtselektrizitaten", "Donaudampfschifffahrtselektrizitäten"),
        ("donaudampfshiffahrtzelektrizitaten", "Donaudampfschifffahrtselektrizitäten"),
        (
            "xqxqxq xqxqxqxq donaudampfshiffahrtzelektrizitaten",
            "Donaudampfschifffahrtselektrizitäten"
        ),
        (
            "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอ",
            "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ กขค"
        ),
        ("strasse", "Straße der Ölsardinen"), ("olsardinen soren", "Straße der Ölsardinen"),
        ("the the hobbit book", "The Hobbit"), ("heller dog", "The Dog Stars"),
        ("978-0-7475-3849-3", "Harry Potter and the Chamber of Secrets"),
        ("ISBN 0747538492", "Harry Potter and the Chamber of Secrets"),
    ])
    func findsFirst(query: String, title: String) async throws {
        #expect(try await titles(query).first == title)
    }

    @Test(arguments: ["!!!", "% _", "'", "\\", "| ! :* ( )", "zzzzzzzzzz", "9780306406157"])
    func findsNothingWithoutAnError(query: String) async throws {
        #expect(try await titles(query) == [])
    }

    /// Operators of query languages only separate words.
    @Test(arguments: [
        "hobbit & | !", "(hobbit:*", "'hobbit", "hobbit\\", "<hobbit>", "hobbit\u{200B}",
    ])
    func ignoresOperators(query: String) async throws {
        #expect(try await titles(query).first == "The Hobbit")
    }

    @Test(arguments: [
        ("", "query"), ("   ", "query"), (String(repeating: "a", count: 201), "query"),
        ("a\u{0}b", "query"),
    ])
    func invalidQueryIsRefused(query: String, field: String) async throws {
        let response = try await Self.app().makeReader().execute(
            Self.search, ["query": .string(query)])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == field)
    }

    @Test(arguments: ["", "x", "AAAA", String(repeating: "A", count: 100), "%00"])
    func invalidCursorIsRefused(cursor: String) async throws {
        let response = try await Self.app().makeReader().execute(
            Self.search, ["query": "dune", "after": .string(cursor)])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "after")
    }

    @Test func acceptsLongQueries() async throws {
        // `titles` expects no errors. Some characters fold to several letters.
        _ = try await titles(Array(repeating: "the of", count: 28).joined(separator: " "))
        for character in ["村", "ﷺ", "ⅷ", "ﬃ", "😀"] {
            _ = try await titles(String(repeating: character, count: 200))
        }
        _ = try await titles("' OR 1=1; DROP TABLE editions --")
        #expect(try await titles("hobbit").first == "The Hobbit")
    }

    /// All pages together are the same as one large page, even if books are added in between.
    @Test(arguments: [1, 2, 7])
    func pagesShowEveryMatchOnce(first: Int) async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(40))
        let reader = try await app.makeReader()
        let all = try await reader.requireValue(
            Self.search, ["query": "card", "first": 100], "search", "nodes"
        ).values(of: "id")
        #expect(all.count == 40)
        var seen: [Value] = []
        var after = Value.null
        for page in 0..<100 {
            let response = try await reader.execute(
                Self.search, ["query": "card", "first": .int(first), "after": after])
            seen += response["search", "nodes"]?.values(of: "id") ?? []
            #expect(response["search", "pageInfo", "hasPreviousPage"] == .boolean(page > 0))
            guard response["search", "pageInfo", "hasNextPage"] == true else { break }
            after = response["search", "pageInfo", "endCursor"] ?? .null
            if page == 2 {
                try await app.database.importCatalog([
                    #"{"title":"Card","ratingsCount":9000000,"isbn13":"9780306406157"}"#
                ])
            }
        }
        #expect(seen.filter(all.contains) == all)
        #expect(Set(seen.compactMap(\.string)).count == seen.count)
    }

    @Test func costsOneRoundTrip() async throws {
        let response = try await Self.app().makeReader().execute(Self.search, ["query": "card"])
        #expect(response.statements == 2)
        #expect(response.roundTrips == 1)
    }

    @Test func searchesTheSourcesIfTheCatalogHasFewMatches() async throws {
        let source = TestSource([
            "9780140328721": BookRecord(
                title: "Fantastic Mr. Fox", authors: ["Roald Dahl"],
                isbns: ["not one", "0140328726", "9780374104092"]),
            "none": BookRecord(title: "A fox without a number"),
        ])
        let app = try await TestApp.start(sources: SourceChain([source.source(.openLibrary)]))
        let reader = try await app.makeReader()
        for _ in 0..<2 {
            let response = try await reader.execute(Self.search, ["query": "Fantastic, Fox"])
            #expect(response["search", "nodes"]?.values(of: "title") == ["Fantastic Mr. Fox"])
        }
        // The sources are searched once a day for the same words in any spelling.
        _ = try await reader.execute(Self.search, ["query": "fantastic fox!"])
        #expect(source.requests.count == 1)
        // The sources are not searched if there are enough matches.
        _ = try await reader.execute(Self.search, ["query": "card"])
        #expect(source.requests.count == 1)
    }

    /// Old books have no ISBN. Their ids at the sources identify them, so another search does not add them again.
    @Test func booksWithoutAnISBNAreAdded() async throws {
        let source = TestSource([
            "a": BookRecord(
                title: "Moonstone", authors: ["Wilkie Collins"],
                keys: [SourceKey(source: .googleBooks, key: "abc")],
                series: SeriesName(name: "Sergeant Cuff", position: "1")),
            "b": BookRecord(
                title: "Moonstone Letters", authors: ["Wilkie Collins"],
                workKeys: [SourceKey(source: .googleBooks, key: "work")]),
            "c": BookRecord(
                title: "Moonstone Scan", keys: [SourceKey(source: .googleBooks, key: "scan")]),
            "d": BookRecord(title: "Moonstone Unknown", authors: ["Wilkie Collins"]),
        ])
        let app = try await TestApp.start(sources: SourceChain([source.source(.googleBooks)]))
        let reader = try await app.makeReader()
        for query in ["moonstone", "moonston", "moonstone"] {
            let response = try await reader.execute(
                "query($q: String!) { search(query: $q, first: 9) { nodes { title isbn13 series { position series { name } } } } }",
                ["q": .string(query)])
            let nodes = response["search", "nodes"]
            #expect(
                nodes?.values(of: "title") == ["Moonstone", "Moonstone Letters"], "\(response.json)"
            )
            #expect(response["search", "nodes", 0, "isbn13"] == .null)
            #expect(
                response["search", "nodes", 0, "series"] == [
                    ["position": "1", "series": ["name": "Sergeant Cuff"]]
                ])
        }
        #expect(source.requests.count == 2)
        #expect(
            try await app.database.count("SELECT count(*) FROM editions WHERE title LIKE 'Moon%'")
                == 2)
    }

    /// This query folds to more letters than `source_searches` may contain.
    @Test func aLongQueryIsSearchedOnceAtTheSources() async throws {
        let source = TestSource()
        let app = try await TestApp.start(sources: SourceChain([source.source(.openLibrary)]))
        let reader = try await app.makeReader()
        for _ in 0..<2 {
            let response = try await reader.execute(
                Self.search, ["query": .string(String(repeating: "ﷺ", count: 200))])
            #expect(response.errors.isEmpty, "\(response.json)")
        }
        #expect(source.requests.count == 1)
    }

    @Test func failedSourcesDoNotAffectTheCatalogsMatches() async throws {
        let source = TestSource()
        source.fail(with: .busy)
        let app = try await TestApp.start(
            catalog: Self.books, sources: SourceChain([source.source(.googleBooks)]))
        let reader = try await app.makeReader()
        for _ in 0..<2 {
            let response = try await reader.execute(Self.search, ["query": "dune"])
            #expect(response["search", "nodes", 0, "title"] == "Dune")
            #expect(response.errors.isEmpty)
        }
        // The search failed, so it is repeated.
        #expect(source.requests.count == 2)
    }

    @Test func searchRequiresSignIn() async throws {
        let response = try await Self.app().execute(Self.search, ["query": "dune"])
        #expect(response.code == "UNAUTHENTICATED")
    }

    // MARK: - The reader's library

    static let library = """
        query($search: String!, $order: BookOrder) { me {
          books(search: $search, orderBy: $order) { totalCount nodes { title } }
        } }
        """

    @Test(
        arguments: [
            ("zafon", ["La sombra del viento"]), ("SOMBRA ruiz", ["La sombra del viento"]),
            ("sombar", ["La sombra del viento"]), ("back again", ["The Hobbit"]),
            ("enders game", ["Ender's Game"]), ("ende", ["Ender's Game"]),
            ("0-261-10221-4", ["The Hobbit"]), ("potter", ["By hand: Harry Potter"]),
            ("tolkien zafon", []), ("dune", []), ("pottre", ["By hand: Harry Potter"]),
        ] as [(String, [Value])])
    func findsBooksOfTheLibrary(search: String, titles: [Value]) async throws {
        let reader = try await Self.app().makeReader()
        for title in ["hobbit", "sombra", "ender's game"] {
            let card = try await reader.requireValue(
                Self.search, ["query": .string(title), "first": 1], "search", "nodes", 0, "id")
            _ = try await reader.makeBook(["cardId": card])
        }
        _ = try await reader.makeBook(["title": "By hand: Harry Potter"])
        for order in ["ADDED_DESC", "RELEVANCE"] {
            let response = try await reader.execute(
                Self.library, ["search": .string(search), "order": .string(order)])
            #expect(
                response["me", "books", "nodes"]?.values(of: "title") == titles, "\(response.json)")
            #expect(response["me", "books", "totalCount"] == .int(titles.count))
        }
    }

    /// The first twelve words of a search count, and words in any order.
    @Test(arguments: [
        ("a b c d e f g h i j k l", 1), ("l k j i h g f e d c b a", 1),
        ("a b c d e f g h i j k l zzz", 1), ("zzz a b c d e f g h i j k l", 0),
        (String(repeating: "a ", count: 99), 1), (String(repeating: "ﷺ", count: 200), 0),
        (String(repeating: "x", count: 200), 0), ("lphabet", 1), ("aplhabet", 1), ("alphaxxt", 1),
        ("alpha", 1), ("lphax", 0),
        // No book has the second word, so it is dropped.
        ("alphabet " + String(repeating: "ⅷ", count: 190), 1),
    ])
    func longSearchesOfTheLibrary(search: String, count: Int) async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeBook(["title": "Alphabet: a b c d e f g h i j k l m"])
        for order in ["ADDED_DESC", "RELEVANCE"] {
            let response = try await reader.execute(
                Self.library, ["search": .string(search), "order": .string(order)])
            #expect(response["me", "books", "totalCount"] == .int(count), "\(response.json)")
        }
    }

    @Test func usesSimilarWordsOnlyWithoutAnExactMatch() async throws {
        let reader = try await Self.app().makeReader()
        for title in ["Dune", "June", "Moon"] {
            _ = try await reader.makeBook(["title": .string(title)])
        }
        for (search, titles) in [("dune", ["Dune"]), ("nune", ["June", "Dune"]), ("mon", [])] {
            let books = try await reader.requireValue(
                Self.library, ["search": .string(search), "order": "ADDED_DESC"], "me", "books",
                "nodes")
            #expect(books.values(of: "title") == titles.map { .string($0) }, "\(search)")
        }
    }

    @Test func sortsTheLibraryByRelevance() async throws {
        let reader = try await Self.app().makeReader()
        for title in ["Dune Messiah", "Dune", "The Road to Dune and back", "Else"] {
            _ = try await reader.makeBook(["title": .string(title)])
        }
        let books = try await reader.requireValue(
            Self.library, ["search": "dune", "order": "RELEVANCE"], "me", "books", "nodes")
        #expect(books.values(of: "title") == ["Dune", "Dune Messiah", "The Road to Dune and back"])
    }

    /// The plans must not depend on the planner's estimates, which expect too many rows.
    @Test(arguments: ["winter", "winter river", "winter 17", "the winterr river 2999", "zzz"])
    func aSearchNeverScansTheCatalog(query: String) async throws {
        let app = try await Self.largeApp()
        let scans = try await app.database.withConnection { connection in
            try connection.execute("BEGIN")
            _ = try connection.query("SELECT * FROM search_editions('\(query)', 20, NULL, NULL)")
            return try connection.texts(
                """
                SELECT relname::text
                FROM pg_stat_xact_user_tables
                WHERE seq_scan > 0 AND relname IN ('editions', 'work_records')
                """)
        }
        #expect(scans == [])
    }

    private static let largeApp = Shared {
        let app = try await TestApp.start(catalog: [])
        try await app.database.execute(
            """
            INSERT INTO editions (id, title, authors, genres, ratings_count, popularity)
            SELECT md5('e' || n)::uuid, 'The Winter River ' || n / 2, ARRAY['Author ' || n / 2], '{}', n, n
            FROM generate_series(1, 3000) n;
            ANALYZE
            """)
        return app
    }
}
