import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// The canonical genres and their aliases.
@Suite struct GenreTests {
    static let app = Shared {
        try await TestApp.start(catalog: [
            line(1, #"["FANTASY", "Dragons"]"#),
            line(2, #"["Fiction / Science Fiction / Space Opera"]"#),
            line(3, #"["sci-fi", "Fantasy fiction"]"#), line(4, #"["Unheard of"]"#),
        ])
    }

    private static func line(_ number: Int, _ genres: String) -> String {
        """
        {"title":"Book \(number)","authors":["Author \(number)"],"isbn13":"\(TestCatalog.isbn(number))",\
        "genres":\(genres),"description":"A book.","ratingsCount":\(100 * number)}
        """
    }

    private func canonical(_ names: [String]) async throws -> [String] {
        try await Self.app().database.withConnection { connection in
            var parameters = Parameters()
            parameters.append(texts: names)
            return try connection.query("SELECT canonical_genres($1)", parameters).texts(0, 0) ?? []
        }
    }

    @Test(
        arguments: [
            (["Fantasy"], ["Fantasy"]),
            (["science fiction"], ["Science Fiction"]),
            (["Sci-Fi"], ["Science Fiction"]),
            (["SCIENCE-FICTION", "scifi", "SF"], ["Science Fiction"]),
            (["Children's stories"], ["Children"]),
            (["Children’s Stories"], ["Children"]),
            (["Mystery and Crime"], ["Mystery & Crime"]),
            (["Biography & Autobiography"], ["Biography & Memoir"]),
            (["BIOGRAPHY & AUTOBIOGRAPHY"], ["Biography & Memoir"]),
            (["Comics & Graphic Novels", "Manga"], ["Graphic Novels"]),
            // The order of the first mention.
            (["Young Adult", "Fantasy", "Teen"], ["Young Adult", "Fantasy"]),
            // Paths, as book trade and libraries write them.
            (["Fiction / Fantasy / Epic"], ["Fantasy"]),
            (["Juvenile Fiction / Fantasy & Magic"], ["Children", "Fantasy"]),
            (["Detective and mystery stories, English"], ["Mystery & Crime"]),
            (["Authors, English -- Biography"], ["Biography & Memoir"]),
            (["Fiction, historical, general"], ["Historical Fiction"]),
            // A story about dogs is not a book on keeping them.
            (["Dogs -- Juvenile fiction"], ["Children"]),
            (["Dogs -- Training"], ["Home & Hobbies"]),
            // General genres count only without others.
            (["Fiction"], ["General Fiction"]),
            (["Fiction", "Romance"], ["Romance"]),
            (["Non-Fiction", "India"], ["General Nonfiction"]),
            // Unknown names, and texts that are not names.
            (["Harry Potter (Fictitious character)", "to-read", "", " / ", "--", "☃"], []),
            ([], []),
        ] as [([String], [String])])
    func namesStandForGenres(names: [String], genres: [String]) async throws {
        #expect(try await canonical(names) == genres)
    }

    /// All spellings of a canonical name or an alias lead to the same genre.
    @Test func spellingDoesNotMatter() async throws {
        let aliases = try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                "SELECT alias, g.name FROM genre_aliases a JOIN genres g ON g.id = a.genre_id")
            return (0..<rows.count).map { (rows.text($0, 0) ?? "", rows.text($0, 1) ?? "") }
        }
        #expect(aliases.count > 1000)
        #expect(Set(aliases.map(\.1)).count == 45)
        let spellings: [@Sendable (String) -> String] = [
            { $0 }, { $0.uppercased() }, { " \($0)  " }, { "\($0)." },
            { $0.split(separator: " ").joined(separator: "-") },
        ]
        for spelling in spellings {
            let found = try await Self.app().database.withConnection { connection in
                var parameters = Parameters()
                parameters.append(texts: aliases.map { spelling($0.0) })
                let rows = try connection.query(
                    """
                    SELECT (canonical_genres(ARRAY[name]))[1]
                    FROM unnest($1::text[]) WITH ORDINALITY AS n (name, position)
                    ORDER BY position
                    """, parameters)
                return (0..<rows.count).map { rows.text($0, 0) }
            }
            #expect(found == aliases.map(\.1))
        }
    }

    @Test func booksHaveAtMostSixGenres() async throws {
        let names = ["Fantasy", "Horror", "Romance", "Poetry", "Drama", "Travel", "Sports"]
        #expect(try await canonical(names) == Array(names.prefix(6)))
    }

    // MARK: - Requests

    @Test func genresOfTheCatalogAreListed() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute("{ genres { id name bookCount } }")
        // Fantasy has 100 + 300 readers, Science Fiction 200 + 300.
        #expect(
            response["genres"] == [
                ["id": "science-fiction", "name": "Science Fiction", "bookCount": 2],
                ["id": "fantasy", "name": "Fantasy", "bookCount": 2],
            ])
    }

    /// The ids of genres never change: apps store them.
    @Test func idsAreStable() async throws {
        let ids = try await Self.app().database.withConnection { connection in
            let rows = try connection.query("SELECT slug FROM genres ORDER BY id")
            return (0..<rows.count).compactMap { rows.text($0, 0) }
        }
        #expect(
            ids == [
                "fantasy", "science-fiction", "dystopian", "mystery-and-crime", "thriller",
                "horror", "paranormal", "romance", "erotica", "historical-fiction",
                "contemporary-fiction", "literary-fiction", "classics", "adventure",
                "war-and-military", "westerns", "myths-and-fairy-tales", "humor",
                "short-stories", "poetry", "drama", "graphic-novels", "young-adult", "children",
                "lgbtq", "biography-and-memoir", "history", "true-crime", "science-and-nature",
                "technology-and-computing", "philosophy", "psychology-and-health",
                "family-and-relationships", "religion-and-spirituality",
                "business-and-economics", "self-help", "politics-and-society",
                "education-and-reference", "travel", "food-and-cooking", "home-and-hobbies",
                "arts-and-letters", "sports", "general-fiction", "general-nonfiction",
            ])
    }

    @Test func cardsShowCanonicalGenres() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            "{ feed { nodes { title genres { id name bookCount } } } }")
        let cards = response["feed", "nodes"]?.list ?? []
        let genres = Dictionary(
            uniqueKeysWithValues: cards.map {
                ($0["title"]?.string ?? "", $0["genres"]?.values(of: "name") ?? [])
            })
        #expect(
            genres == [
                "Book 1": ["Fantasy"], "Book 2": ["Science Fiction"],
                "Book 3": ["Science Fiction", "Fantasy"], "Book 4": [],
            ])
        let card = try #require(cards.first { $0["title"] == "Book 3" })
        #expect(card["genres", 1] == ["id": "fantasy", "name": "Fantasy", "bookCount": 2])
    }

    /// The genres come from a cache, which the first request fills in its only round trip.
    @Test func genresOfCardsNeedNoStatement() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(40))
        let reader = try await app.makeReader()
        // Builds the decks.
        for _ in 0..<2 {
            _ = try await reader.requireValue("{ feed(first: 40) { nodes { id } } }", .null, "feed")
        }
        let query = "{ feed(first: 40) { nodes { genres { name } similar { genres { id } } } } }"
        let first = try await reader.execute(query)
        let second = try await reader.execute(query)
        #expect(first["feed", "nodes"]?.list?.count == 40 && first["feed"] == second["feed"])
        #expect(first.statements == second.statements + 1)
        #expect(first.roundTrips == second.roundTrips)
        #expect(try await reader.execute("{ me { preferredGenres { id } } }").statements == 2)
    }

    @Test func numberOfBooksIsThatOfTheLastCount() async throws {
        let app = try await TestApp.start(catalog: [Self.line(1, #"["Poetry"]"#)])
        let reader = try await app.makeReader()
        let genres = "{ genres { id bookCount } }"
        #expect(
            try await reader.execute(genres)["genres"] == [["id": "poetry", "bookCount": 1]])
        try await app.database.importCatalog([Self.line(2, #"["Poetry", "Drama"]"#)])
        #expect(
            try await reader.execute(genres)["genres"]
                == [["id": "poetry", "bookCount": 2], ["id": "drama", "bookCount": 1]])
    }

    @Test(
        arguments: [
            ("Science Fiction", ["Book 2", "Book 3"]), ("science fiction", ["Book 2", "Book 3"]),
            ("SciFi", ["Book 2", "Book 3"]), ("High Fantasy", ["Book 1", "Book 3"]),
            ("poetry", []), ("science-fiction", ["Book 2", "Book 3"]),
            ("mystery-and-crime", []),
        ] as [(String, [String])])
    func filterAcceptsAliases(genre: String, titles: [String]) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            "query($genres: [String!]) { feed(genres: $genres) { nodes { title } } }",
            ["genres": [.string(genre)]])
        let found = response["feed", "nodes"]?.values(of: "title").compactMap(\.string) ?? []
        #expect(response.errors.isEmpty && found.sorted() == titles)
    }

    @Test func filterAcceptsTheIDsOfQueryGenres() async throws {
        let reader = try await Self.app().makeReader()
        let ids = try await reader.requireValue("{ genres { id } }", .null, "genres")
        let response = try await reader.execute(
            "query($genres: [String!]) { feed(genres: $genres) { nodes { title } } }",
            ["genres": .list(ids.values(of: "id"))])
        #expect(response.errors.isEmpty)
        #expect(response["feed", "nodes"]?.list?.count == 3)
    }

    /// An empty list means all books, as null does, and both have the same cursors.
    @Test(arguments: [.null, []] as [Value])
    func emptyFilterShowsAllBooks(genres: Value) async throws {
        let reader = try await Self.app().makeReader()
        let query = """
            query($genres: [String!], $after: String) {
              feed(first: 2, genres: $genres, after: $after) {
                nodes { title genres { name } } pageInfo { endCursor hasNextPage }
              }
            }
            """
        let first = try await reader.execute(query, ["genres": genres])
        #expect(first.errors.isEmpty && first["feed", "pageInfo", "hasNextPage"] == true)
        let after = first["feed", "pageInfo", "endCursor"] ?? .null
        let titles = first["feed", "nodes"]?.values(of: "title").compactMap(\.string) ?? []
        for genres in [.null, []] as [Value] {
            let second = try await reader.execute(query, ["genres": genres, "after": after])
            let rest = second["feed", "nodes"]?.values(of: "title").compactMap(\.string) ?? []
            #expect((titles + rest).sorted() == ["Book 1", "Book 2", "Book 3", "Book 4"])
        }
    }

    @Test(arguments: ["", "Unheard of", "Fantasy\u{0}", "Cats / Fantasy"])
    func unknownGenresAreRejected(genre: String) async throws {
        let reader = try await Self.app().makeReader()
        let feed = try await reader.execute(
            "query($genres: [String!]) { feed(genres: $genres) { nodes { title } } }",
            ["genres": ["Fantasy", .string(genre)]])
        #expect(feed.code == "BAD_USER_INPUT" && feed.field == "genres")
        #expect(feed.message == "There is no genre “\(genre)”. See Query.genres.")
        let profile = try await reader.execute(
            UserTests.update, ["input": ["preferredGenres": [.string(genre)]]])
        #expect(profile.code == "BAD_USER_INPUT" && profile.field == "preferredGenres")
    }

    // MARK: - Aliases of the operator

    @Test func addedAliasAppliesToExistingBooks() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await database.importCatalog([
            Self.line(1, #"["Cosy Crime!", "Fantasy"]"#), Self.line(2, #"["cosy crime"]"#),
        ])
        let first = "SELECT count(*) FROM editions WHERE genres[1] = 'Mystery & Crime'"
        #expect(try await database.count(first) == 0)
        try await database.withConnection { connection in
            let genres = CatalogGenres(connection)
            #expect(try genres.unknownNames().map(\.name) == ["Cosy Crime!", "cosy crime"])
            #expect(try genres.addAlias("Cosy crime", of: "Nothing") == nil)
            #expect(try genres.addAlias("!", of: "Fantasy") == nil)
            #expect(try genres.addAlias("Cosy crime", of: "Fantasy") == "cosy crime")
            #expect(try genres.addAlias("COSY CRIME", of: "Mystery & Crime") == "cosy crime")
            try CatalogMaintenance.refresh(isDryRun: false, connection)
            #expect(try genres.unknownNames().isEmpty)
            let counts = try genres.counts()
            #expect(counts.count == 45)
            #expect(counts[0].name == "Mystery & Crime" && counts[0].count == 2)
        }
        #expect(try await database.count(first) == 2)
    }

    /// The starter catalog uses the canonical names only.
    @Test func starterCatalogHasCanonicalNames() async throws {
        let names = try StarterCatalog.lines(500).flatMap { line in
            try parseJSON(Array(line.utf8))["genres"]?.list?.compactMap(\.string) ?? []
        }
        let known = try await Self.app().database.withConnection { connection in
            let rows = try connection.query("SELECT name FROM genres")
            return Set((0..<rows.count).compactMap { rows.text($0, 0) })
        }
        #expect(names.count > 500)
        #expect(Set(names).subtracting(known).isEmpty)
    }
}
