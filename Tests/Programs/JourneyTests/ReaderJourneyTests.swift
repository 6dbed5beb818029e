import Glibc
import GraphQL
import TestSupport
import Testing

/// The main features in the order in which a new user meets them, over HTTP with the real server and database.
@Suite struct ReaderJourneyTests {
    @Test func fromSignInToStatistics() async throws {
        let installation = try await Installation.ready()
        let server = try await installation.startServer()
        let session = try await server.signIn("ada")
        #expect(session["isNewUser"] == true)
        let token = session["accessToken"]?.string
        // Apple's issuers and that of the development sign-in are one way to sign in.
        let screen = try await server.client.execute(
            #"{ settings(app: "com.example.reader") { identityProviders { name issuers } } }"#)
        let providers = screen["data", "settings", "identityProviders"]
        #expect(providers?.list?.count == 1, "\(screen)")
        #expect(providers?[0, "issuers"]?.list?.contains("https://appleid.apple.com") == true)
        let issued = try await server.client.send(
            "POST", "/development/identity-token",
            body: #"{"subject":"nuria","audience":"com.example.reader"}"#)
        let spanish = try await server.client.send(
            "POST", "/graphql",
            bytes: HTTPClient.operations(
                """
                mutation($token: String!) { signIn(input: {apple: {identityToken: $token}}) {
                  user { languages }
                } }
                """, ["token": issued.json["identityToken"] ?? .null]),
            headers: ["accept-language": "es-MX,es;q=0.9,en;q=0.5"])
        #expect(
            spanish.json["data", "signIn", "user", "languages"] == ["es", "en"], "\(spanish.body)")
        func execute(_ query: String, _ variables: Value = .null) async throws -> Value {
            let response = try await server.client.post(query, variables, token: token)
            #expect(response.status == 200)
            #expect(response.json["errors"] == nil, "\(response.body)")
            return response.json["data"] ?? .null
        }

        let feed = try await execute(
            "{ feed(first: 10) { nodes { id title purchaseLinks { url } } pageInfo { endCursor hasNextPage } } }"
        )
        let cards = try #require(feed["feed", "nodes"]?.list)
        #expect(cards.count == 10)
        #expect(Set(cards.compactMap { $0["id"]?.string }).count == 10)

        let liked = cards[3]
        let swipes = try await execute(
            """
            mutation($liked: ID!, $skipped: ID!) { recordSwipes(inputs: [
              {cardId: $liked, action: LIKE} {cardId: $skipped, action: SKIP}
            ]) { recorded saved { id title } } }
            """, ["liked": liked["id"] ?? .null, "skipped": cards[4]["id"] ?? .null])
        #expect(swipes["recordSwipes", "recorded"] == 2)
        let book = try #require(swipes["recordSwipes", "saved", 0, "id"])

        let wantToRead = try await execute(
            "{ me { books(status: WANT_TO_READ) { totalCount nodes { id title card { id } } } } }")
        #expect(
            wantToRead["me", "books"] == [
                "totalCount": 1,
                "nodes": [
                    [
                        "id": book, "title": liked["title"] ?? .null,
                        "card": ["id": liked["id"] ?? .null],
                    ]
                ],
            ])

        let shelf = try #require(
            try await execute(#"mutation { createShelf(input: {name: "Evenings"}) { id } }"#)[
                "createShelf", "id"])
        let moved = try await execute(
            "mutation($b: ID!, $s: ID!) { moveBook(id: $b, input: {to: $s}) { book { shelves { name bookCount } } } }",
            ["b": book, "s": shelf])
        #expect(moved["moveBook", "book", "shelves"] == [["name": "Evenings", "bookCount": 1]])

        let read = try await execute(
            "mutation($b: ID!) { updateBook(id: $b, input: {status: READ}) { status reads(first: 1) { nodes { finishedOn } } } }",
            ["b": book])
        #expect(read["updateBook", "status"] == "READ")
        let year = try #require(
            read["updateBook", "reads", "nodes", 0, "finishedOn"]?.string.flatMap {
                Int($0.prefix(4))
            })

        let review = try await execute(
            """
            mutation($b: ID!) { reviewBook(id: $b, input: {rating: 5, text: "All of it."}) {
              rating text book { title }
            } }
            """, ["b": book])
        #expect(
            review["reviewBook"] == [
                "rating": 5, "text": "All of it.", "book": ["title": liked["title"] ?? .null],
            ])

        let library = try await execute(
            """
            { me { stats { bookCount wantToRead reading read reviewCount averageRating readByYear { year bookCount } }
              shelves { name books { nodes { title review { rating } } } } } }
            """)
        #expect(
            library["me"] == [
                "stats": [
                    "bookCount": 1, "wantToRead": 0, "reading": 0, "read": 1, "reviewCount": 1,
                    "averageRating": 5, "readByYear": [["year": .int(year), "bookCount": 1]],
                ],
                "shelves": [
                    [
                        "name": "Evenings",
                        "books": [
                            "nodes": [["title": liked["title"] ?? .null, "review": ["rating": 5]]]
                        ],
                    ]
                ],
            ])

        try await otherUsersSeeNothingOfIt(
            server, book: book, shelf: shelf, liked: liked["id"] ?? .null)
        try await dataAndSessionSurviveARestart(installation, server, session, book)
    }

    private func otherUsersSeeNothingOfIt(
        _ server: RunningServer, book: Value, shelf: Value, liked: Value
    ) async throws {
        let token = try await server.signIn("grace")["accessToken"]?.string
        let response = try await server.client.execute(
            """
            query($book: ID!, $shelf: ID!, $card: ID!) {
              book(id: $book) { title } shelf(id: $shelf) { name }
              nodes(ids: [$book, $shelf]) { id } feedCard(id: $card) { inLibrary { id } }
              me { books { totalCount } reviews { totalCount } shelves { id } stats { bookCount read } }
              feed(first: 100) { nodes { id } }
            }
            """, ["book": book, "shelf": shelf, "card": liked], token: token)
        let data = try #require(response["data"])
        #expect(data["book"] == .null)
        #expect(data["shelf"] == .null)
        #expect(data["nodes"] == [.null, .null])
        #expect(data["feedCard"] == ["inLibrary": .null])
        #expect(
            data["me"] == [
                "books": ["totalCount": 0], "reviews": ["totalCount": 0], "shelves": [],
                "stats": ["bookCount": 0, "read": 0],
            ])
        #expect(data["feed", "nodes"]?.values(of: "id").contains(liked) == true)
    }

    /// After a restart of the server the library is unchanged, and both tokens are still valid.
    private func dataAndSessionSurviveARestart(
        _ installation: Installation, _ server: RunningServer, _ session: Value, _ book: Value
    ) async throws {
        server.program.send(SIGTERM)
        #expect(try await blocking { try server.program.wait() }.code == 0)
        let next = try await installation.startServer()
        let response = try await next.client.execute(
            "query($book: ID!) { book(id: $book) { status } }", ["book": book],
            token: session["accessToken"]?.string)
        #expect(response == ["data": ["book": ["status": "READ"]]])
        let refreshed = try await next.client.execute(
            "mutation($t: String!) { refreshSession(refreshToken: $t) { user { id } } }",
            ["t": session["refreshToken"] ?? .null])
        #expect(refreshed["data", "refreshSession", "user", "id"] == session["user", "id"])
    }
}
