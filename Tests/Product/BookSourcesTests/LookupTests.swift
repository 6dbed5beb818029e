import Basics
import LoopbackHTTP
import Synchronization
import Testing

@testable import BookSources

/// Lookups of ISBNs in the external sources.
@Suite struct LookupTests {
    static let annihilation = BookNumber(isbn13: "9780374104092", isbn10: "0374104093")

    static func google(_ target: String) -> [Step]? {
        target.contains("9780374104092")
            ? [.response(recorded("google-volumes-isbn-9780374104092"))]
            : [.response(recorded("google-volumes-zero"))]
    }

    @Test func combinesEditionWorkAndAuthorsOfOpenLibrary() async throws {
        let fake = try FakeSources(openLibrary: FakeSources.fantasticFox)
        let record = try #require(await fake.sources.edition(FakeSources.fox).record)
        #expect(record.title == "Fantastic Mr. Fox")
        #expect(record.authors == ["Roald Dahl"])
        #expect(record.publisher == "Puffin")
        #expect(record.publishedDate?.text == "1988-10-01")
        #expect(record.pageCount == 96)
        #expect(record.language == "en")
        #expect(record.description?.hasPrefix("The main character of Fantastic Mr. Fox") == true)
        #expect(record.description?.contains("\r") == false)
        #expect(
            record.covers.first?.url == "https://covers.example/b/id/8739161-L.jpg?default=false")
        #expect(record.covers.count > 1)
        #expect(record.keys == [SourceKey(source: .openLibrary, key: "OL7353617M")])
        #expect(record.isbns.contains("9780140328721"))
        // The record is complete, so Google Books is not queried.
        #expect(fake.google.requests.isEmpty)
        let agents = Set(fake.openLibrary.requests.map { $0.headers["user-agent"] })
        #expect(agents == ["bookplate-test (ops@example.com)"])
    }

    @Test func queriesGoogleIfOpenLibraryDoesNotHaveTheEdition() async throws {
        let fake = try FakeSources(openLibrary: { _ in nil }, google: Self.google)
        let lookup = await fake.sources.edition(Self.annihilation)
        let record = try #require(lookup.record)
        #expect(lookup.misses == [.openLibrary])
        #expect(lookup.failures == [])
        #expect(record.title == "Annihilation")
        #expect(record.subtitle == "A Novel")
        #expect(record.authors == ["Jeff VanderMeer"])
        #expect(record.publishedDate?.text == "2014-02-04")
        #expect(record.pageCount == 209)
        #expect(record.genres == ["Fiction"])
        #expect(record.keys == [SourceKey(source: .googleBooks, key: "2cl7AgAAQBAJ")])
        let cover = try #require(record.covers.first?.url)
        #expect(cover.hasPrefix("https://books.google.com/books/content?id=2cl7AgAAQBAJ"))
        #expect(!cover.contains("edge=curl"))
        let target = try #require(fake.google.requests.first?.target)
        #expect(target.hasPrefix("/books/v1/volumes?q=isbn%3A9780374104092&"))
        #expect(target.contains("&country=US"))
        #expect(target.contains("&key=secret%20key"))
    }

    @Test func mergesTheRecordsOfSources() async throws {
        let fake = try FakeSources(
            openLibrary: { target in
                target.hasPrefix("/isbn/")
                    ? [
                        .response(
                            #"{"title":"Annihilation","key":"/books/OL1M","publish_date":"2014","publishers":["Farrar"],"covers":[null,-1]}"#
                        )
                    ] : nil
            }, google: Self.google)
        let record = try #require(await fake.sources.edition(Self.annihilation).record)
        #expect(record.publisher == "Farrar")
        #expect(record.authors == ["Jeff VanderMeer"])
        #expect(record.publishedDate?.text == "2014-02-04")
        #expect(record.covers.map(\.source) == [.googleBooks])
        #expect(Set(record.keys.map(\.source)) == [.openLibrary, .googleBooks])
    }

    @Test func ignoresVolumesOfOtherEditions() async throws {
        let fake = try FakeSources(openLibrary: { _ in nil }) { _ in
            [.response(recorded("google-volumes-isbn-9780374104092"))]
        }
        let lookup = await fake.sources.edition(FakeSources.fox)
        #expect(lookup.record == nil)
        #expect(lookup.misses == [.openLibrary, .googleBooks])
        // The second request contains the ISBN without `isbn:`, because that finds some editions that `isbn:` does not find.
        #expect(fake.google.requests.count == 2)
    }

    @Test func followsRecordsThatWereMerged() async throws {
        let fake = try FakeSources(openLibrary: { target in
            switch target {
            case "/isbn/9780140328721.json":
                [.response(#"{"title":"Fox","works":[{"key":"/works/OL999W"}]}"#)]
            case "/works/OL999W.json": [.response(recorded("reconstructed-work-merged-redirect"))]
            default: FakeSources.fantasticFox(target)
            }
        })
        let record = try #require(await fake.sources.edition(FakeSources.fox).record)
        // The edition has no author. The work into which its work was merged has one.
        #expect(record.authors == ["Roald Dahl"])
        #expect(record.description != nil)
    }

    @Test func ignoresCoverIDsBelowOne() async throws {
        let fake = try FakeSources(openLibrary: { target in
            target.hasPrefix("/isbn/")
                ? [.response(recorded("reconstructed-edition-covers-minus-one"))] : nil
        })
        let record = try #require(await fake.sources.edition(FakeSources.fox).record)
        #expect(record.covers.isEmpty)
    }

    /// After any kind of failure at Open Library, the lookup returns Google's record.
    @Test(
        arguments: [
            [http("reconstructed-429")], [http("reconstructed-503")],
            [http("reconstructed-403-user-agent")],
            [.response("<html>not JSON</html>")], [.response(500, "")],
            // The response is truncated.
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"title\":\"Ann")],
            [.send("garbage\r\n\r\n")], [.flood("a", bytes: 5 << 20)],
            [.response(302, headers: ["Location: https://example.com/elsewhere"])],
        ] as [[Step]])
    func usesOtherSourcesAfterAFailure(steps: [Step]) async throws {
        let fake = try FakeSources(openLibrary: { _ in steps }, google: Self.google)
        let lookup = await fake.sources.edition(Self.annihilation)
        #expect(lookup.record?.title == "Annihilation")
        #expect(lookup.failures == [.openLibrary])
    }

    @Test(arguments: [
        (429, "google-reconstructed-429-per-minute"), (429, "google-reconstructed-429-per-day"),
        (503, "google-reconstructed-503-backend"), (403, "google-403-unknown-location"),
    ])
    func reportsTheFailuresOfAllSources(status: Int, body: String) async throws {
        let fake = try FakeSources(openLibrary: { _ in [http("reconstructed-503")] }) { _ in
            [.response(status, recorded(body))]
        }
        let lookup = await fake.sources.edition(Self.annihilation)
        #expect(lookup.record == nil && lookup.misses == [])
        #expect(lookup.failures == [.openLibrary, .googleBooks])
        #expect(Set(fake.failures.all.map { "\($0)" }) == ["status 503", "status \(status)"])
    }

    /// Configured sources may be at private addresses, but a source must not redirect to another private address.
    @Test func doesNotFollowRedirectsToOtherOrigins() async throws {
        let other = try LoopbackServer { _ in [.response(200, "{}")] }
        let fake = try FakeSources(openLibrary: { _ in nil }) { _ in
            [.response(302, headers: ["Location: \(other.url("/books"))"])]
        }
        let lookup = await fake.sources.edition(Self.annihilation)
        #expect(lookup.failures == [.googleBooks])
        #expect(other.requests.isEmpty)
    }

    /// A source that returns the record after a delay.
    private static func source(
        _ name: SourceName, after delay: Duration, _ record: BookRecord,
        onCancel: @escaping @Sendable () -> Void = {}
    ) -> BookSource {
        BookSource(
            name: name,
            edition: { _, _ async throws(SourceError) in
                guard (try? await Task.sleep(for: delay)) != nil else {
                    onCancel()
                    throw .unreachable(.cancelled)
                }
                return record
            }, search: { _, _, _ async throws(SourceError) in [] })
    }

    private static let complete: BookRecord = {
        var record = BookRecord(
            title: "Fox", covers: [CoverCandidate(source: .googleBooks, url: "https://g.example/1")]
        )
        record.authors = ["Roald Dahl"]
        (record.publisher, record.publishedDate) = ("Puffin", PartialDate(year: 1988))
        (record.pageCount, record.description) = (96, "A fox.")
        return record
    }()

    /// As soon as the record is complete, the requests that are still in flight are cancelled, which is not a failure.
    @Test func cancelsSlowSourcesWhenTheRecordIsComplete() async {
        let cancellations = Mutex(0)
        let chain = SourceChain([
            Self.source(.openLibrary, after: .seconds(600), Self.complete) {
                cancellations.withLock { $0 += 1 }
            },
            Self.source(.googleBooks, after: .zero, Self.complete),
        ])
        let lookup = await chain.edition(FakeSources.fox, within: .seconds(600))
        #expect(lookup.record == Self.complete)
        #expect(lookup.failures == [])
        #expect(cancellations.withLock { $0 } == 1)
    }

    /// A book page waits a second for missing data. A job waits until its deadline.
    @Test(arguments: [true, false])
    func waitsForSlowSourcesOnlyInJobs(waitsForAll: Bool) async {
        var incomplete = Self.complete
        incomplete.covers = []
        let delay = Duration.seconds(waitsForAll ? 2 : 60)
        let chain = SourceChain([
            Self.source(.openLibrary, after: .zero, incomplete),
            Self.source(.googleBooks, after: delay, Self.complete),
        ])
        let lookup = await chain.edition(
            FakeSources.fox, within: .seconds(30), waitsForAll: waitsForAll)
        #expect(lookup.record?.covers.count == (waitsForAll ? 1 : 0))
        #expect(lookup.failures == (waitsForAll ? [] : [.googleBooks]))
    }

    @Test func omitsAuthorsThatDoNotArriveInTime() async throws {
        let fake = try FakeSources(openLibrary: { target in
            target.hasPrefix("/authors/")
                ? [.pause(milliseconds: 20_000)] : FakeSources.fantasticFox(target)
        })
        let lookup = await fake.sources.edition(FakeSources.fox, within: .seconds(3))
        #expect(lookup.record?.title == "Fantastic Mr. Fox")
        #expect(lookup.record?.authors == [])
        #expect(lookup.record?.description != nil)
    }

    @Test func sharesOneLookupBetweenConcurrentCalls() async throws {
        let fake = try FakeSources(openLibrary: { target in
            [.pause(milliseconds: 100)] + (FakeSources.fantasticFox(target) ?? [])
        })
        let titles = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<20 {
                group.addTask { await fake.sources.edition(FakeSources.fox).record?.title }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(titles == Array(repeating: "Fantastic Mr. Fox", count: 20))
        #expect(fake.openLibrary.requests.filter { $0.target.hasPrefix("/isbn/") }.count == 1)
    }

    @Test func doesNotQuerySkippedSources() async throws {
        let fake = try FakeSources(openLibrary: FakeSources.fantasticFox, google: Self.google)
        let lookup = await fake.sources.edition(Self.annihilation, skipping: [.openLibrary])
        #expect(lookup.record?.title == "Annihilation")
        #expect(fake.openLibrary.requests.isEmpty)
    }

    @Test func combinesOneBatchRequestWithSingleLookups() async throws {
        let weapons = BookNumber(isbn13: "9780316030571", isbn10: "0316030570")
        let fake = try FakeSources(
            openLibrary: { target in
                target.hasPrefix("/api/books?bibkeys=ISBN:9780316030571,ISBN:9780374104092&")
                    ? [.response(recorded("api-books-data-9780316030571"))] : nil
            }, google: Self.google)
        let found = await fake.sources.editions([weapons, Self.annihilation])
        let record = try #require(found[weapons]?.record)
        #expect(record.title == "Use of Weapons")
        #expect(record.authors == ["Iain M. Banks"])
        #expect(record.publishedDate?.text == "2008-07-28")
        #expect(record.genres.first == "Fiction")
        #expect(
            record.covers.map(\.url) == ["https://covers.example/b/id/2379038-L.jpg?default=false"])
        #expect(found[Self.annihilation]?.record?.title == "Annihilation")
        #expect(found[Self.annihilation]?.misses == [.openLibrary])
    }

    @Test func searchesAllSourcesAndRemovesDuplicates() async throws {
        let fake = try FakeSources(
            openLibrary: { target in
                target.hasPrefix("/search.json?q=time%20war&")
                    ? [.response(recorded("search-2020-two-docs"))] : nil
            }, google: { _ in [.response(503, "")] })
        let search = await fake.sources.search(.anywhere("time war"), count: 10)
        #expect(search.records.map(\.title) == ["This Is How You Lose the Time War"])
        #expect(search.records.first?.authors == ["Amal El-Mohtar", "Max Gladstone"])
        #expect(search.failures == [.googleBooks])
    }

    @Test func findsCoversByTitleOnlyIfTheAuthorMatches() async throws {
        let fake = try FakeSources(openLibrary: { _ in
            [.response(recorded("search-2020-two-docs"))]
        })
        let right = await fake.sources.covers(
            number: nil, title: "this is how you lose the time war!", author: "El-Mohtar, Amal")
        #expect(right.candidates.first?.url.contains("/b/id/8665647-L.jpg") == true)
        #expect(right.failures == [])
        let wrong = await fake.sources.covers(
            number: nil, title: "This Is How You Lose the Time War", author: "Somebody Else")
        #expect(wrong.candidates == [])
        let untitled = await fake.sources.covers(
            number: nil, title: "This Is How You Lose the Time War", author: nil)
        #expect(untitled.candidates == [])
    }
}
