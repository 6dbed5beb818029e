import BookSources
import GraphQL
import GraphQLServing
import Postgres
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Rate limits of users, addresses, and tenants, and the responses of limited requests.
@Suite struct RateLimitTests {
    private final class Clock: Sendable {
        private let nanoseconds = Mutex<Int64>(1_000_000_000_000)

        var now: Int64 { nanoseconds.withLock { $0 } }

        func advance(seconds: Int64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
    }

    private let clock = Clock()

    private func start(
        _ settings: RateLimits.Settings, catalog: [String] = []
    ) async throws -> TestApp {
        try await TestApp.start(
            catalog: catalog, rates: RateLimits(settings, clock: { [clock] in clock.now }))
    }

    private func address(_ number: UInt64) -> ClientAddress {
        ClientAddress(high: 0, low: 0xFFFF_0A00_0000 + number)
    }

    @Test func userIsLimitedAcrossAddresses() async throws {
        let app = try await start(.init(perCaller: 3))
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        for left in [2, 1, 0] {
            let response = try await app.execute(
                "{ me { id } }", token: reader.token, address: address(UInt64(left)))
            #expect(response.errors.isEmpty)
            #expect(response.rate?.remainingUnits == left)
            #expect(response.rate?.name == "user")
        }
        let refused = try await app.execute(
            "{ me { id } }", token: reader.token, address: address(9))
        #expect(refused.code == "RATE_LIMITED")
        #expect(refused.isRequestError)
        #expect(refused.errors.first?["extensions", "retryAfter"] == 20)
        #expect(refused.retryAfterSeconds == 20)
        #expect(refused.message == "Too many requests. Try again in 20 s.")
        #expect(refused.statements == 0)
        #expect(try await other.execute("{ me { id } }").errors.isEmpty)
        clock.advance(seconds: 20)
        #expect(try await reader.execute("{ me { id } }").errors.isEmpty)
    }

    @Test func invalidDocumentsCostUnits() async throws {
        let app = try await start(.init(perCaller: 2))
        let reader = try await app.makeReader()
        #expect(try await reader.execute("{ nonsense").code == "GRAPHQL_PARSE_FAILED")
        #expect(try await reader.execute("{ nonsense }").code == "GRAPHQL_VALIDATION_FAILED")
        #expect(try await reader.execute("{ nonsense").code == "RATE_LIMITED")
    }

    @Test(arguments: [
        ("{ __typename }", 1), ("{ me { books(first: 49) { nodes { id } } } }", 1),
        ("{ me { books(first: 100) { nodes { id } } } }", 2),
        ("{ me { books(first: 100) { nodes { id shelves { id } } } } }", 12),
    ])
    func costDependsOnTheMaximumSizeOfTheResponse(query: String, units: Int) async throws {
        let app = try await start(.init(perCaller: 100))
        let reader = try await app.makeReader()
        #expect(try await reader.execute(query).rate?.remainingUnits == 100 - units)
        // The size of a page can be a variable.
        if query.contains("first: 100") {
            let varying =
                "query($n: Int) "
                + query.split(separator: "100", omittingEmptySubsequences: false).joined(
                    separator: "$n")
            #expect(
                try await reader.execute(varying, ["n": 100]).rate?.remainingUnits == 100 - 2
                    * units)
            #expect(
                try await reader.execute(varying, ["n": 1]).rate?.remainingUnits == 100 - 2 * units
                    - 1)
        }
    }

    /// Parsing a large body takes time before the cost of its operation is known.
    @Test(arguments: [(0, 1), (16_383, 1), (16_384, 2), (1_048_576, 65)])
    func sizeOfTheRequestCostsUnits(byteCount: Int, units: Int) async throws {
        let app = try await start(.init(perCaller: 100))
        let reader = try await app.makeReader()
        let response = try await app.execute(
            "{ __typename }", token: reader.token, bodyByteCount: byteCount)
        #expect(response.rate?.remainingUnits == 100 - units)
    }

    /// Each is an event of the audit log, which is kept for long.
    @Test func tokensCostAdditionalUnits() async throws {
        let app = try await start(.init(perCaller: 35))
        let reader = try await app.makeReader()
        func left() async throws -> Int? {
            try await reader.execute("{ __typename }").rate?.remainingUnits
        }
        let before = try #require(try await left())
        let created = try await reader.execute(
            #"mutation { createAccessToken(input: {name: "reader", scopes: [LIBRARY_READ]}) { token { id } } }"#
        )
        let token = try #require(
            created["createAccessToken", "token", "id"]?.string)
        #expect(try await left() == before - 12)
        let revoke = "mutation($id: ID!) { revokeAccessToken(id: $id) { id } }"
        #expect(try await reader.execute(revoke, ["id": .string(token)]).errors.isEmpty)
        #expect(try await left() == before - 24)
        #expect(
            try await reader.execute(
                #"mutation { createAccessToken(input: {name: "other", scopes: [LIBRARY_READ]}) { token { id } } }"#
            ).code == "RATE_LIMITED")
    }

    /// The costs are in addition to the unit of the request itself.
    @Test func imagesAndImportsCostAdditionalUnits() async throws {
        let app = try await start(.init(perCaller: 55))
        let reader = try await app.makeReader()
        let book = try await reader.makeBook("Dune")
        let setCover = """
            mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { coverStatus } }
            """
        func left() async throws -> Int? {
            try await reader.execute("{ __typename }").rate?.remainingUnits
        }
        let before = try #require(try await left())
        let cover = try await app.execute(
            setCover, ["book": book, "image": UploadReference.value(0)],
            token: reader.token, uploads: [TestImage.png()])
        #expect(cover.errors.isEmpty)
        #expect(try await left() == before - 7)
        let refused = try await app.execute(
            "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
            ["file": UploadReference.value(0)], token: reader.token,
            uploads: [
                Array(
                    "Book Id,Title,Author,My Rating,Exclusive Shelf\n1,Dune,Frank Herbert,5,read\n"
                        .utf8)
            ])
        #expect(refused.code == "RATE_LIMITED")
        #expect(refused.retryAfterSeconds != nil)
        #expect(try await app.database.count("SELECT count(*) FROM imports") == 0)
    }

    private static let countBooks = "{ me { books { totalCount } } }"

    /// Executes a document that waits for a lock for more than 300 ms.
    private func executeSlowly(_ document: String, _ reader: TestReader) async throws
        -> TestResponse
    {
        let request = try await reader.app.database.withConnection { connection in
            try connection.execute("BEGIN; LOCK TABLE books")
            let request = Task { try await reader.execute(document) }
            try waitUntilBlocking("the statement waits") {
                try connection.query(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'books'::regclass"
                ).int64(0, 0) == 1
            }
            _ = try connection.query("SELECT pg_sleep(0.3)")
            try connection.execute("ROLLBACK")
            return request
        }
        return try await request.value
    }

    /// A unit pays for 10 ms. Writes often wait for locks and the disk, so a transaction counts as 200 ms at most.
    @Test(arguments: [
        (countBooks, 30...1000),
        (#"mutation { createBook(input: {title: "Dune"}) { id } }"#, 20...29),
    ])
    func timeOfTheDatabaseIsChargedAfterwards(
        document: String, units: ClosedRange<Int>
    ) async throws {
        let app = try await start(.init(perCaller: 10_000, nanosecondsPerUnit: 10_000_000))
        let reader = try await app.makeReader()
        let before = try #require(try await reader.execute("{ __typename }").rate?.remainingUnits)
        let response = try await executeSlowly(document, reader)
        #expect(response.errors.isEmpty)
        let after = try #require(response.rate?.remainingUnits)
        #expect(units.contains(before - after), "\(before - after)")
    }

    /// The request itself succeeds, because its cost is not known before. The next ones wait until the debt is refilled.
    @Test func timeBeyondTheLimitLeavesADebt() async throws {
        let app = try await start(.init(perCaller: 10, nanosecondsPerUnit: 10_000_000))
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        clock.advance(seconds: 200)  // until the sign-ins are paid for
        let first = try await executeSlowly(Self.countBooks, reader)
        #expect(first.errors.isEmpty)
        #expect(first.rate?.remainingUnits == 0)
        let refused = try await reader.execute(Self.countBooks)
        #expect(refused.code == "RATE_LIMITED")
        #expect(refused.retryAfterSeconds == 66)
        #expect(try await other.execute(Self.countBooks).errors.isEmpty)
        clock.advance(seconds: 66)
        #expect(try await reader.execute(Self.countBooks).errors.isEmpty)
    }

    /// The statement waits for a lock until it is cancelled because its request was. That takes at least 100 ms.
    @Test func timeOfAnAbandonedRequestIsCharged() async throws {
        let app = try await start(.init(perCaller: 60, nanosecondsPerUnit: 1_000_000))
        let reader = try await app.makeReader()
        _ = try await reader.execute("{ __typename }")
        clock.advance(seconds: 200)
        #expect(try await reader.execute("{ __typename }").rate?.remainingUnits == 59)
        let database = app.database
        try await database.withConnection { connection in
            func waits() throws -> Bool {
                try connection.query(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'books'::regclass"
                ).int64(0, 0) == 1
            }
            try connection.execute("BEGIN; LOCK TABLE books")
            let request = Task { try await reader.execute("{ me { books { totalCount } } }") }
            try waitUntilBlocking("the statement waits") { try waits() }
            request.cancel()
            try waitUntilBlocking("the statement is cancelled") { try !waits() }
            try connection.execute("ROLLBACK")
        }
        try await waitUntil("the time is charged") {
            try await reader.execute("{ __typename }").code == "RATE_LIMITED"
        }
    }

    /// An ISBN that the catalog has, or that no source had at the last lookup, costs nothing extra. The fields of one level share a
    /// lookup.
    @Test func lookupsAtTheSourcesCostUnits() async throws {
        let source = TestSource([
            "9780140328721": BookRecord(title: "Fox", isbns: ["9780140328721"])
        ])
        let app = try await TestApp.start(
            catalog: TestCatalog.lines(3), sources: SourceChain([source.source(.openLibrary)]),
            rates: RateLimits(.init(perCaller: 44), clock: { [clock] in clock.now }))
        let reader = try await app.makeReader()
        func left() async throws -> Int? {
            try await reader.execute("{ __typename }").rate?.remainingUnits
        }
        func lookups(_ isbns: String...) -> String {
            let fields = isbns.enumerated().map { "f\($0): lookupISBN(isbn: \"\($1)\") { title }" }
            return "{ \(fields.joined(separator: " ")) }"
        }
        let search = "{ search(query: \"unheard of\") { nodes { title } } }"
        // The units of the query and of `left`, then the additional ones.
        for (query, units) in [
            (lookups(TestCatalog.isbn(2)), 0), (lookups("9780140328721", "9780140328721"), 5),
            (lookups("9780140328721"), 0), (lookups("9780141439587", "9780261102217"), 10),
            (lookups("9780141439587", "9780261102217"), 0), (search, 5), (search, 0),
        ] {
            let before = try #require(try await left())
            let response = try await reader.execute(query)
            #expect(response.errors.isEmpty, "\(response.json)")
            #expect(try await left() == before - 2 - units, "\(query)")
        }
        // Two units are left, which are not enough for a lookup.
        let requests = source.requests
        let refused = try await reader.execute(lookups("9780374104092", TestCatalog.isbn(1)))
        #expect(refused.code == "RATE_LIMITED")
        #expect(refused["f0"] == .null && refused["f1", "title"] == "Card 1")
        #expect(source.requests == requests)
    }

    private func startSearching(
        _ settings: RateLimits.Settings, bookCount: Int
    ) async throws -> (TestApp, TestReader) {
        let source = BookSource(
            name: .openLibrary, edition: { _, _ in nil }, search: { _, _, _ in [] })
        let app = try await TestApp.start(
            catalog: [], coverSources: CoverSources(SourceChain([source])),
            rates: RateLimits(settings, clock: { [clock] in clock.now }))
        let reader = try await app.makeReader()
        try await app.database.execute(
            """
            INSERT INTO books (user_id, id, title)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), 'Book ' || n
            FROM generate_series(1, \(bookCount)) n
            """)
        return (app, reader)
    }

    /// Twelve searches cost three units including that of the request. If the caller has fewer units, only some searches are
    /// enqueued.
    @Test func costOfCoverSearchesDependsOnTheirNumber() async throws {
        let (app, reader) = try await startSearching(.init(perCaller: 20), bookCount: 12)
        for (queued, left) in [(12, 16), (0, 14)] as [(Int, Int)] {
            let response = try await reader.execute("mutation { fetchMissingCovers { queued } }")
            #expect(response["fetchMissingCovers", "queued"] == .int(queued))
            #expect(try await reader.execute("{ __typename }").rate?.remainingUnits == left)
        }
        try await app.database.execute("UPDATE books SET cover_requested_at = NULL")
        for _ in 1...12 { _ = try await reader.execute("{ __typename }") }
        #expect(
            try await reader.execute("mutation { fetchMissingCovers { queued } }")[
                "fetchMissingCovers", "queued"] == 10)
        #expect(try await reader.execute("{ __typename }").code == "RATE_LIMITED")
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM books WHERE cover_requested_at IS NOT NULL") == 10)
    }

    /// Repeated requests process the whole library even with the smallest limits.
    @Test(arguments: [
        RateLimits.Settings(perCaller: 1), .init(perAddress: 1), .init(perCaller: 9, perAddress: 1),
    ])
    func coverSearchesContinueWithTheNextRequest(settings: RateLimits.Settings) async throws {
        let (app, reader) = try await startSearching(settings, bookCount: 12)
        for queued in [5, 5, 2, 0] {
            let response = try await app.execute(
                "mutation { fetchMissingCovers { queued } }", token: reader.token,
                address: address(1))
            #expect(response["fetchMissingCovers", "queued"] == .int(queued))
            clock.advance(seconds: 60)
        }
    }

    /// Of two concurrent requests, one has nothing to do and pays only for the request.
    @Test func concurrentCoverSearchesAreChargedOnce() async throws {
        let (_, reader) = try await startSearching(.init(perCaller: 100), bookCount: 100)
        async let one = reader.execute("mutation { fetchMissingCovers { queued } }")
        async let other = reader.execute("mutation { fetchMissingCovers { queued } }")
        let queued = try await [one, other].map { $0["fetchMissingCovers", "queued"]?.int ?? 0 }
        #expect(queued.sorted() == [0, 100])
        #expect(try await reader.execute("{ __typename }").rate?.remainingUnits == 100 - 2 - 19 - 1)
    }

    @Test func addressIsLimitedForAllItsUsers() async throws {
        let app = try await start(.init(perCaller: 100, perAddress: 3))
        let readers = [
            try await app.makeReader(), try await app.makeReader(), try await app.makeReader(),
        ]
        for reader in readers {
            #expect(
                try await app.execute("{ me { id } }", token: reader.token, address: address(1))
                    .errors
                    .isEmpty)
        }
        let refused = try await app.execute(
            "{ me { id } }", token: readers[0].token, address: address(1))
        #expect(refused.code == "RATE_LIMITED")
        #expect(refused.rate?.name == "address")
        // Requests that the address limit rejects do not cost units of the user.
        let elsewhere = try await app.execute(
            "{ me { id } }", token: readers[0].token, address: address(2))
        #expect(elsewhere.rate?.remainingUnits == 98)
    }

    @Test func anonymousCallersAreLimitedByAddress() async throws {
        let app = try await start(.init(perCaller: 2))
        for (number, code) in [(1, nil), (1, nil), (1, "RATE_LIMITED"), (2, nil)]
            as [(UInt64, String?)]
        {
            #expect(try await app.execute("{ __typename }", address: address(number)).code == code)
        }
        // One network of IPv6 is one client.
        let high: UInt64 = 0x2001_0DB8_0000_0001
        for (low, code) in [(1, nil), (2, nil), (3, "RATE_LIMITED")] as [(UInt64, String?)] {
            let key = ClientAddress(high: high, low: low)
            #expect(try await app.execute("{ __typename }", address: key).code == code)
        }
    }

    @Test func tenantHasItsOwnLimit() async throws {
        let app = try await start(.init())
        try await app.database.execute(
            "UPDATE tenants SET requests_per_minute = 2 WHERE slug = 'alpha'")
        let alpha = [try await app.makeReader(), try await app.makeReader()]
        let beta = try await app.makeReader(.beta)
        try await app.services.accounts.tenants.refresh(from: app.pool)
        #expect(try await alpha[0].execute("{ me { id } }").errors.isEmpty)
        #expect(try await alpha[1].execute("{ me { id } }").errors.isEmpty)
        let refused = try await alpha[1].execute("{ me { id } }")
        #expect(refused.code == "RATE_LIMITED")
        #expect(refused.rate?.name == "tenant")
        #expect(try await beta.execute("{ me { id } }").errors.isEmpty)
        // After the operator increases the limit, the bucket refills faster.
        try await app.database.execute(
            "UPDATE tenants SET requests_per_minute = 200 WHERE slug = 'alpha'")
        try await app.services.accounts.tenants.refresh(from: app.pool)
        clock.advance(seconds: 1)
        #expect(try await alpha[1].execute("{ me { id } }").errors.isEmpty)
    }

    @Test func signInAndRefreshHaveTheirOwnLimits() async throws {
        let app = try await start(.init(signIns: 2, refreshes: 1))
        func signIn(_ number: UInt64) async throws -> TestResponse {
            try await app.signIn(
                token: app.identityToken(subject: "s"), address: address(number))
        }
        let session = try await signIn(1)
        let token = session["signIn", "refreshToken"] ?? .null
        #expect(try await signIn(1).errors.isEmpty)
        let refused = try await signIn(1)
        #expect(refused.code == "RATE_LIMITED")
        #expect(refused.retryAfterSeconds == 30)
        #expect(refused.errors.first?["path"] == ["signIn"])
        #expect(try await signIn(2).errors.isEmpty)
        for code in [nil, "RATE_LIMITED"] {
            let response = try await app.execute(
                RefreshTests.refresh, ["token": token], address: address(1))
            #expect(response.code == code)
        }
    }

    /// Each sign-in of a document counts.
    @Test func aliasesDoNotBypassTheLimit() async throws {
        let app = try await start(.init(signIns: 3))
        let fields = (0..<10).map {
            #"a\#($0): signIn(input: {apple: {identityToken: "x"}}) { accessToken }"#
        }
        // The first error makes the data null, so the next request checks the bucket.
        _ = try await app.execute(
            "mutation { \(fields.joined(separator: " ")) }", address: address(1))
        #expect(
            try await app.signIn(token: "x", address: address(1)).code == "RATE_LIMITED")
    }

    /// This limit is counted in the database and holds for all servers together.
    @Test func signInsPerUserAreLimited() async throws {
        let app = try await start(.init(signInsOfUserPerHour: 3))
        for _ in 0..<3 { #expect(try await app.signIn(subject: "eager").errors.isEmpty) }
        let refused = try await app.signIn(subject: "eager")
        #expect(refused.code == "RATE_LIMITED")
        #expect(refused.retryAfterSeconds == 3600)
        #expect(try await app.signIn(subject: "calm").errors.isEmpty)
    }

    @Test func nothingIsLimitedByDefault() async throws {
        let app = try await start(.init())
        let response = try await app.execute("{ __typename }", address: address(1))
        #expect(response.rate == nil && response.retryAfterSeconds == nil)
    }
}
