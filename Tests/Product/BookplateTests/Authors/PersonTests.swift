import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Pages about authors and other persons of the catalog.
@Suite struct PersonTests {
    private static func line(
        _ number: Int, _ title: String, _ contributors: String, members: String = "",
        ratings: Int? = nil
    ) -> String {
        """
        {\(members)"title":"\(title)","authors":[\(contributors)],"isbn13":"\(TestCatalog.isbn(number))",\
        "genres":["Fantasy"],"language":"en","ratingsCount":\(ratings ?? number)}
        """
    }

    private static let pratchett = #""Terry Pratchett""#
    private static let catalog = [
        line(801, "Mort", pratchett, members: #""series":"Discworld","seriesPosition":"4","#),
        line(802, "Sourcery", pratchett, members: #""series":"Discworld","seriesPosition":"5","#),
        line(803, "Good Omens", #""Neil Gaiman","Terry Pratchett""#),
        // Another edition of Mort, with another spelling of the name.
        line(804, "Mort: A Novel of Discworld", #""TERRY PRATCHETT""#),
        line(805, "Stardust", #""Neil Gaiman""#),
    ]

    private static let app = Shared { try await TestApp.start(catalog: catalog) }

    private func person(
        of number: Int, at position: Int = 0, _ reader: TestReader
    ) async throws -> Value {
        try await reader.requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { authors { personId } } }",
            ["isbn": .string(TestCatalog.isbn(number))], "lookupISBN", "authors", .index(position),
            "personId")
    }

    private func author(
        _ id: Value, _ fields: String, _ reader: TestReader
    ) async throws -> Value {
        try await reader.requireValue(
            "query($id: ID!) { author(id: $id) { \(fields) } }", ["id": id], "author")
    }

    @Test func worksOfAPersonAreTheMostPopularFirstWithOneCardEach() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await person(of: 801, reader)
        #expect(try await person(of: 803, at: 1, reader) == id)
        let first = try await author(
            id,
            """
            id name workCount series { name bookCount }
            works(first: 2) { nodes { title } pageInfo { hasNextPage endCursor } }
            """, reader)
        #expect(first["id"] == id)
        #expect(first["name"] == "TERRY PRATCHETT", "as on the most popular edition")
        #expect(first["workCount"] == 3)
        #expect(first["series"] == [["name": "Discworld", "bookCount": 2]])
        let titles = first["works", "nodes"]?.values(of: "title").compactMap(\.string) ?? []
        let rest = try await reader.requireValue(
            """
            query($id: ID!, $after: String) { node(id: $id) { ... on Person {
              works(after: $after) { nodes { title } pageInfo { hasNextPage } } } } }
            """, ["id": id, "after": first["works", "pageInfo", "endCursor"] ?? .null], "node",
            "works")
        let all = titles + (rest["nodes"]?.values(of: "title").compactMap(\.string) ?? [])
        #expect(all.count == 3)
        #expect(all[0].hasPrefix("Mort"))
        #expect(all[1...] == ["Good Omens", "Sourcery"])
        #expect(rest["pageInfo", "hasNextPage"] == false)
    }

    @Test func booksOfThePersonInTheLibrary() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await person(of: 801, reader)
        let card = try await WorkTests.card(803, reader)
        let omens = try await reader.makeBook(["cardId": card])
        // Not in the catalog, with the name in another form.
        let own = try await reader.makeBook([
            "title": "A Private Print", "authors": [["name": "Pratchett, Terry"]],
        ])
        _ = try await reader.makeBook([
            "title": "About Terry Pratchett", "authors": [["name": "Someone Else"]],
        ])
        let books = try await author(id, "books { nodes { id } }", reader)
        #expect(books["books", "nodes"]?.values(of: "id") == [own, omens])
        let other = try await Self.app().makeReader()
        #expect(try await author(id, "books { nodes { id } }", other)["books", "nodes"] == [])
    }

    @Test func followingIsListedAndCanBeRepeated() async throws {
        let reader = try await Self.app().makeReader()
        let pratchett = try await person(of: 801, reader)
        let gaiman = try await person(of: 805, reader)
        let follow = "mutation($id: ID!) { followAuthor(id: $id) { id isFollowed } }"
        for id in [pratchett, gaiman, pratchett] {
            let response = try await reader.execute(follow, ["id": id])
            #expect(response["followAuthor"] == ["id": id, "isFollowed": true])
        }
        let list = "{ me { followedAuthors { id name isFollowed } } }"
        let followed = try await reader.requireValue(list, .null, "me", "followedAuthors")
        #expect(followed.values(of: "id") == [gaiman, pratchett])
        #expect(followed[0, "name"] == "Neil Gaiman")
        for _ in 0..<2 {
            let response = try await reader.execute(
                "mutation($id: ID!) { unfollowAuthor(id: $id) { id } }", ["id": pratchett])
            #expect(response["unfollowAuthor", "id"] == pratchett)
        }
        #expect(
            try await reader.requireValue(list, .null, "me", "followedAuthors").values(of: "id")
                == [gaiman])
    }

    /// Other devices see follows in the change log. A repetition is not logged.
    @Test func followsAreInTheChangeLog() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await person(of: 801, reader)
        let log = """
            query($after: String) { changes(after: $after) {
              changes { kind typename nodeId node { ... on Person { name isFollowed } } } pageInfo { endCursor }
            } }
            """
        var cursor = try await reader.requireValue(
            log, .null, "changes", "pageInfo", "endCursor")
        for (mutation, isFollowed) in [("followAuthor", true), ("unfollowAuthor", false)] {
            for _ in 0..<2 {
                let response = try await reader.execute(
                    "mutation($id: ID!) { \(mutation)(id: $id) { id } }", ["id": id])
                #expect(response.errors.isEmpty)
            }
            let page = try await reader.requireValue(log, ["after": cursor], "changes")
            #expect(
                page["changes"] == [
                    [
                        "kind": "UPDATED", "typename": "Person", "nodeId": id,
                        "node": ["name": "TERRY PRATCHETT", "isFollowed": .boolean(isFollowed)],
                    ]
                ])
            cursor = page["pageInfo", "endCursor"] ?? .null
        }
    }

    /// The account and its log are deleted, although a trigger logs the persons who are not followed any more.
    @Test func deletedAccountLeavesNoFollows() async throws {
        let reader = try await Self.app().makeReader()
        let person = try await person(of: 801, reader)
        _ = try await reader.requireValue(
            "mutation($id: ID!) { followAuthor(id: $id) { id } }", ["id": person], "followAuthor")
        _ = try await reader.requireValue(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id],
            "deleteAccount")
        for table in ["changes", "followed_authors", "logs_to_prune"] {
            #expect(
                try await reader.app.database.count(
                    "SELECT count(*) FROM \(table) WHERE user_id = '\(reader.id.string ?? "")'")
                    == 0)
        }
    }

    /// An import adds the followed persons of an archive, the latest first, up to 200.
    @Test func archiveBringsFollowedAuthors() async throws {
        let app = try await Self.app()
        let (from, to) = (try await app.makeReader(), try await app.makeReader())
        for number in [801, 805] {
            let id = try await person(of: number, from)
            _ = try await from.requireValue(
                "mutation($id: ID!) { followAuthor(id: $id) { id } }", ["id": id], "followAuthor")
        }
        let list = "{ me { followedAuthors { id name } } }"
        let before = try await from.requireValue(list, .null, "me", "followedAuthors")
        let round = ImportRoundTripTests()
        let archive = try #require(try await round.exported(from).first)
        for _ in 0..<2 {
            #expect(try await round.imported(to, archive)["failed"] == [])
            #expect(try await to.requireValue(list, .null, "me", "followedAuthors") == before)
        }
        try await to.executeSQL(
            """
            DELETE FROM followed_authors WHERE user_id = '\(to.id.string ?? "")';
            INSERT INTO followed_authors (user_id, person_id, name)
            SELECT '\(to.id.string ?? "")', gen_random_uuid(), 'Author ' || n
            FROM generate_series(1, 199) n
            """)
        _ = try await round.imported(to, archive)
        let full = try await to.requireValue(list, .null, "me", "followedAuthors")
        #expect(full.list?.count == 200)
        let names = full.values(of: "name")
        #expect(names.contains("Neil Gaiman") && !names.contains("TERRY PRATCHETT"))
    }

    /// The least popular book of the catalog comes early, and says why.
    @Test func feedShowsBooksOfFollowedAuthorsEarly() async throws {
        let others = (1...60).map {
            Self.line($0, "Popular \($0)", "\"Author \($0)\"", ratings: 10_000 - $0)
        }
        let app = try await TestApp.start(
            catalog: others + [Self.line(700, "Quiet", #""Rare Writer""#)])
        let reader = try await app.makeReader()
        let feed = "{ feed(first: 10) { nodes { title reason { kind } } } }"
        func titles() async throws -> [Value] {
            try await reader.requireValue(feed, .null, "feed", "nodes").list ?? []
        }
        #expect(try await !titles().contains { $0["title"] == "Quiet" })
        let id = try await person(of: 700, reader)
        _ = try await reader.requireValue(
            "mutation($id: ID!) { followAuthor(id: $id) { id } }", ["id": id], "followAuthor",
            "id")
        let quiet = try await titles().first { $0["title"] == "Quiet" }
        #expect(quiet?["reason", "kind"] == "FOLLOWED")
    }

    /// Books of the library are not candidates, so they must not use the places of the author's other books.
    @Test func feedShowsTheOtherBooksOfAFollowedAuthor() async throws {
        let numbers = 700...711
        let app = try await TestApp.start(
            catalog: numbers.map {
                Self.line($0, "Quiet \($0)", #""Rare Writer""#, ratings: 2_000 - $0)
            } + (1...60).map { Self.line($0, "Popular \($0)", "\"Author \($0)\"", ratings: 9_000) })
        let reader = try await app.makeReader()
        for number in numbers.dropLast() {
            let card = try await WorkTests.card(number, reader)
            _ = try await reader.makeBook(["cardId": card])
        }
        let id = try await person(of: 700, reader)
        _ = try await reader.requireValue(
            "mutation($id: ID!) { followAuthor(id: $id) { id } }", ["id": id], "followAuthor",
            "id")
        let cards = try await reader.requireValue(
            "{ feed(first: 10) { nodes { title reason { kind } } } }", .null, "feed", "nodes")
        let quiet = cards.list?.first { $0["title"] == "Quiet 711" }
        #expect(quiet?["reason", "kind"] == "FOLLOWED", "\(cards)")
    }

    @Test func unknownPersonsAreNotFound() async throws {
        let reader = try await Self.app().makeReader()
        let id: Value = "00000000-0000-8000-8000-000000000000"
        let page = try await reader.execute(
            "query($id: ID!) { author(id: $id) { name } }", ["id": id])
        #expect(page["author"] == .null)
        #expect(page.code == nil)
        for id in [id, "not an id"] {
            let response = try await reader.execute(
                "mutation($id: ID!) { followAuthor(id: $id) { name } }", ["id": id])
            #expect(response.code == "NOT_FOUND", "\(response.json)")
            #expect(response.reason == "NO_SUCH_AUTHOR")
        }
    }

    @Test func moreThan200PersonsAreRefused() async throws {
        let reader = try await Self.app().makeReader()
        let id = reader.id.string ?? ""
        try await reader.executeSQL(
            """
            INSERT INTO followed_authors (user_id, person_id, name)
            SELECT '\(id)', gen_random_uuid(), 'Author ' || n
            FROM generate_series(1, 200) n
            """)
        let person = try await person(of: 801, reader)
        let response = try await reader.execute(
            "mutation($id: ID!) { followAuthor(id: $id) { name } }", ["id": person])
        #expect(response.reason == "LIMIT_REACHED", "\(response.json)")
    }
}
