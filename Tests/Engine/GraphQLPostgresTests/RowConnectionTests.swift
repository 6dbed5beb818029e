import GraphQL
import GraphQLPostgres
import Testing

@Suite struct RowConnectionTests {
    private static func pages(_ arguments: String, _ selection: String) -> String {
        #"{ author(id: "\#(Library.austen)") { bookPages\#(arguments) { \#(selection) } } }"#
    }

    @Test func pageOfALookupIsPartOfItsRoundTrip() async throws {
        let response = try await Library.execute(
            Self.pages(
                "(first: 2)", "nodes { title isRead } pageInfo { hasNextPage hasPreviousPage }"))
        #expect(
            response.body == """
                {"data":{"author":{"bookPages":{"nodes":[{"title":"Emma","isRead":true},{"title":"Emma","isRead":false}],\
                "pageInfo":{"hasNextPage":true,"hasPreviousPage":false}}}}}
                """)
        #expect(
            response.roundTrips == [
                [
                    "SELECT a.id FROM authors a WHERE a.user_id = $1 AND a.id = $2",
                    """
                    SELECT b.title, b.is_read, b.id, k.n FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n) \
                    CROSS JOIN LATERAL ( SELECT b.* FROM books b \
                    WHERE b.user_id = $1 AND b.author_id = k.id AND ($5 IS NULL OR b.is_read = $5) \
                    ORDER BY b.title, b.id LIMIT $3 ) b
                    """,
                ]
            ])
    }

    @Test func statementsOfANextPageWithATotal() async throws {
        let first = try await Library.execute(
            Self.pages("(first: 1, orderBy: ADDED_AT)", "pageInfo { endCursor }"))
        let cursor = try #require(Self.connection(first)?["pageInfo"]?["endCursor"]?.string)
        let response = try await Library.execute(
            Self.pages(
                #"(first: 1, orderBy: ADDED_AT, after: "\#(cursor)")"#,
                "totalCount nodes { title }"))
        #expect(
            response.roundTrips.first?.dropFirst() == [
                """
                SELECT b.title, b.added_at, b.id, k.n FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n) \
                CROSS JOIN LATERAL ( SELECT b.* FROM books b \
                WHERE b.user_id = $1 AND b.author_id = k.id AND ($5 IS NULL OR b.is_read = $5) \
                AND (b.added_at, b.id) < ($6, $7) ORDER BY b.added_at DESC, b.id DESC LIMIT $3 ) b
                """,
                """
                SELECT (SELECT count(*) FROM books b \
                WHERE b.user_id = $1 AND b.author_id = k.id AND ($5 IS NULL OR b.is_read = $5)) \
                FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n) ORDER BY k.n
                """,
            ])
    }

    private static func connection(_ response: Library.Response) throws -> Value? {
        try response.value["data"]?["author"]?["bookPages"]
    }

    /// Returns the last two digits of the books' ids, page by page.
    private static func allPages(orderBy: String, first: Int) async throws -> [[String]] {
        var pages: [[String]] = []
        var after: String?
        while pages.count < 10 {
            let argument = after.map { #", after: "\#($0)""# } ?? ""
            let response = try await Library.execute(
                Self.pages(
                    "(orderBy: \(orderBy), first: \(first)\(argument))",
                    """
                    edges { cursor node { id } }
                    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
                    """))
            let connection = try #require(try Self.connection(response))
            let edges = connection["edges"]?.list ?? []
            let info = connection["pageInfo"]
            pages.append(
                edges.map { String(($0["node"]?["id"]?.string ?? "").suffix(2)) })
            #expect(info?["hasPreviousPage"]?.boolean == (after != nil))
            #expect(info?["startCursor"]?.string == edges.first?["cursor"]?.string)
            #expect(info?["endCursor"]?.string == edges.last?["cursor"]?.string)
            guard info?["hasNextPage"]?.boolean == true else { return pages }
            after = info?["endCursor"]?.string
        }
        Issue.record("the pages do not end: \(pages)")
        return pages
    }

    /// Both orders have ties, which the id resolves.
    @Test(arguments: [
        ("TITLE", 1, [["b1"], ["b3"], ["b5"], ["b2"], ["b4"]]),
        ("TITLE", 2, [["b1", "b3"], ["b5", "b2"], ["b4"]]),
        ("ADDED_AT", 1, [["b4"], ["b2"], ["b5"], ["b3"], ["b1"]]),
        ("ADDED_AT", 3, [["b4", "b2", "b5"], ["b3", "b1"]]),
        ("ADDED_AT", 5, [["b4", "b2", "b5", "b3", "b1"]]),
    ])
    func cursorsContinueWithinTies(orderBy: String, first: Int, pages: [[String]]) async throws {
        #expect(try await Self.allPages(orderBy: orderBy, first: first) == pages)
    }

    @Test func everyEdgeHasItsOwnCursor() async throws {
        let response = try await Library.execute(Self.pages("", "edges { cursor }"))
        let cursors = try Self.connection(response)?["edges"]?.list?.compactMap {
            $0["cursor"]?.string
        }
        let last = try await Library.execute(
            Self.pages(#"(after: "\#(try #require(cursors?[3]))")"#, "nodes { title }"))
        #expect(Set(cursors ?? []).count == 5)
        #expect(
            last.body
                == #"{"data":{"author":{"bookPages":{"nodes":[{"title":"Sanditon"}]}}}}"#)
    }

    @Test func pagesOfSeveralParents() async throws {
        let response = try await Library.execute(
            """
            {
              me {
                authors {
                  name
                  bookPages(first: 1) {
                    totalCount
                    edges { node { title review { text } } }
                    nodes { title author { name } }
                    pageInfo { hasNextPage endCursor }
                  }
                }
              }
            }
            """)
        let authors = try response.value["data"]?["me"]?["authors"]?.list ?? []
        let pages = authors.map { $0["bookPages"] }
        #expect(pages.map { $0?["totalCount"]?.int } == [5, 0, 1])
        #expect(pages.map { $0?["pageInfo"]?["hasNextPage"]?.boolean } == [true, false, false])
        #expect(pages.map { $0?["pageInfo"]?["endCursor"]?.isNull } == [false, true, false])
        #expect(
            pages.map { page in page?["nodes"]?.list?.map { $0["title"]?.string } } == [
                ["Emma"], [], ["Frankenstein"],
            ])
        #expect(
            pages.map { page in page?["nodes"]?.list?.map { $0["author"]?["name"]?.string } } == [
                ["Austen"], [], ["Shelley"],
            ])
        #expect(
            pages.map { page in
                page?["edges"]?.list?.map { $0["node"]?["review"]?["text"]?.string }
            } == [["Witty"], [], ["Alive"]])
        // The user with the authors; the pages and their totals; the reviews and authors of the books.
        #expect(response.statementCounts == [1, 2, 2])
    }

    @Test(arguments: [("true", 2), ("false", 3), ("null", 5)])
    func parametersOfTheSource(isRead: String, count: Int) async throws {
        let response = try await Library.execute(
            Self.pages("(isRead: \(isRead), first: 1)", "totalCount nodes { isRead }"))
        let connection = try Self.connection(response)
        #expect(connection?["totalCount"]?.int == count)
        if isRead != "null" {
            #expect(
                connection?["nodes"]?.list?.map { $0["isRead"]?.boolean } == [isRead == "true"])
        }
    }

    @Test func cursorAndParametersOfTheSourceTogether() async throws {
        let first = try await Library.execute(
            Self.pages("(isRead: true, first: 1)", "nodes { title } pageInfo { endCursor }"))
        let cursor = try #require(try Self.connection(first)?["pageInfo"]?["endCursor"]?.string)
        let second = try await Library.execute(
            Self.pages(
                #"(isRead: true, first: 1, after: "\#(cursor)")"#,
                "totalCount nodes { title } pageInfo { hasNextPage }"))
        #expect(
            second.body == """
                {"data":{"author":{"bookPages":{"totalCount":2,"nodes":[{"title":"Lady Susan"}],\
                "pageInfo":{"hasNextPage":false}}}}}
                """)
    }

    @Test func onlyTheTotal() async throws {
        let response = try await Library.execute(Self.pages("", "totalCount"))
        #expect(response.body == #"{"data":{"author":{"bookPages":{"totalCount":5}}}}"#)
    }

    @Test func defaultOrderAndPageSize() async throws {
        for arguments in ["", "(orderBy: null)", "(first: null)", "(first: 100)", "(after: null)"] {
            let response = try await Library.execute(Self.pages(arguments, "nodes { title }"))
            let titles = try Self.connection(response)?["nodes"]?.list?.map { $0["title"]?.string }
            #expect(titles == ["Emma", "Emma", "Lady Susan", "Persuasion", "Sanditon"])
        }
        #expect(try PageSize(ArgumentValues()).first == 20)
        #expect(try PageSize(ArgumentValues(), default: 7).first == 7)
    }
}
