import GraphQLServing
import GraphQL
import Identity
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Random reads, edits, deletions, imports, time zones, and progress entries. All statistics equal a plain recount of the lists.
@Suite struct StatisticsPropertyTests {
    private static let app = Shared { try await TestApp.start() }

    private struct Library {
        let reader: TestReader
        var random: SeededGenerator
        var zone = "UTC"
        var books: [Value] = []
        var deleted: [Value] = []
        var reads: [Value] = []
        var entries: [Value] = []
        /// The reviews, which the API hides while a book is read again.
        var stars: [String: Double] = [:]

        mutating func int(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

        mutating func one(of values: [Value]) -> Value {
            values.randomElement(using: &random) ?? "0198c0de-0000-7000-8000-00000000dead"
        }

        mutating func date() -> String {
            let year = int(2023...2026)
            switch int(0...4) {
            case 0: return "\(year)"
            case 1: return "\(year)-0\(int(1...9))"
            default: return "\(year)-0\(int(1...9))-\(int(10...28))"
            }
        }

        /// The minute of a progress entry: around the beginning of 2026 or of the summer time, or within the last days.
        mutating func minute() -> Int {
            switch int(0...2) {
            case 0: StatisticsRecount.day(2025, 12, 26) * 1440 + int(0...(14 * 1440))
            case 1: StatisticsRecount.day(2026, 3, 20) * 1440 + int(0...(16 * 1440))
            default: Int(unixSecondsNow() / 60) - int(0...(6 * 1440))
            }
        }

        mutating func readInput() -> Value {
            var members: [Value.Member] = [.init("finishedOn", .string(date()))]
            if int(0...4) == 0 { members.append(.init("outcome", "DID_NOT_FINISH")) }
            if int(0...2) > 0 {
                members.append(.init("format", one(of: ["PRINT", "EBOOK", "AUDIO"])))
            }
            if int(0...2) == 0 { members.append(.init("lengthSeconds", .int(int(1...50_000)))) }
            return .object(members)
        }

        mutating func facts() -> [Value.Member] {
            var members: [Value.Member] = []
            if int(0...3) > 0 { members.append(.init("pageCount", .int(int(1...9) * 100))) }
            if int(0...3) > 0 {
                members.append(.init("genre", one(of: ["Fantasy", "History", "Poetry"])))
            }
            if int(0...3) > 0 {
                members.append(
                    .init("authors", .list([["name": one(of: ["Ada", "Bob", "Eve"])]])))
            }
            return members
        }

        mutating func step(_ number: Int) async throws {
            switch int(0...17) {
            case 0...2:
                var input = facts() + [.init("title", "Book \(number)")]
                if int(0...1) == 0 {
                    input.append(.init("reads", .list([readInput(), readInput()])))
                } else {
                    input.append(.init("status", one(of: ["READ", "READING", "PAUSED"])))
                }
                books.append(try await reader.makeBook(.object(input)))
            case 3...5:
                let response = try await reader.execute(
                    "mutation($id: ID!, $input: ReadInput) { startRead(id: $id, input: $input) { id } }",
                    ["id": one(of: books), "input": int(0...2) == 0 ? [:] : readInput()])
                if let id = response["startRead", "id"] { reads.append(id) }
            case 6:
                let (read, input) = (one(of: reads), readInput())
                try await change("updateRead", "UpdateReadInput", read, input)
            case 7:
                let (read, input) = (one(of: reads), readInput())
                try await change("finishRead", "FinishReadInput", read, input)
            case 8:
                let read = one(of: reads)
                try await delete("deleteRead", read)
            case 9:
                let (book, moods) = (
                    one(of: books), [one(of: ["dark", "sad"]), one(of: ["dark", "funny"])]
                )
                let changed = facts() + [.init("moods", int(0...2) == 0 ? .null : .list(moods))]
                try await change("updateBook", "UpdateBookInput", book, .object(changed))
            case 10:
                let status = one(of: ["READ", "READING", "DID_NOT_FINISH", "WANT_TO_READ"])
                let book = one(of: books)
                try await change("updateBook", "UpdateBookInput", book, ["status": status])
            case 11:
                let book = one(of: books)
                try await delete("deleteBook", book)
                if int(0...1) == 0 {
                    try await delete("restoreBook", book)
                } else {
                    stars[book.string ?? ""] = nil
                }
            case 12...14:
                for _ in 0..<4 {
                    let (read, at) = (one(of: reads), minute())
                    let response = try await reader.execute(
                        """
                        mutation($input: LogProgressInput!) { logProgress(inputs: [$input]) { entry { id } } }
                        """,
                        [
                            "input": [
                                "readId": read, "percent": 10, "at": time(at),
                            ]
                        ])
                    if let id = response["logProgress", 0, "entry", "id"] { entries.append(id) }
                }
            case 15:
                let (entry, at, other) = (one(of: entries), minute(), one(of: entries))
                try await change(
                    "updateProgress", "UpdateProgressInput", entry, ["at": time(at)])
                try await delete("deleteProgress", other)
            case 16:
                zone = StatisticsRecount.zones.keys.sorted().randomElement(using: &random) ?? "UTC"
                _ = try await reader.requireValue(
                    "mutation($zone: String!) { updateProfile(input: {timeZone: $zone}) { id } }",
                    ["zone": .string(zone)], "updateProfile")
            default:
                let (book, rating) = (one(of: books), int(1...5))
                let response = try await reader.execute(
                    """
                    mutation($id: ID!, $rating: Int!) { reviewBook(id: $id, input: {rating: $rating}) { id } }
                    """, ["id": book, "rating": .int(rating)])
                if response.errors.isEmpty { stars[book.string ?? ""] = Double(rating) }
            }
        }

        private func time(_ minute: Int) -> Value {
            .string(Instant(microseconds: Int64(minute) * 60_000_000).text)
        }

        private func change(
            _ mutation: String, _ type: String, _ id: Value, _ input: Value
        ) async throws {
            _ = try await reader.execute(
                "mutation($id: ID!, $input: \(type)!) { \(mutation)(id: $id, input: $input) { id } }",
                ["id": id, "input": input])
        }

        private func delete(_ mutation: String, _ id: Value) async throws {
            _ = try await reader.execute(
                "mutation($id: ID!) { \(mutation)(id: $id) { id } }", ["id": id])
        }

        /// Imports a file whose books have reads.
        mutating func importFile() async throws {
            let lines = (0..<6).map { number in
                "Imported \(number),Ada,\(int(1...9) * 100),\(int(0...5)),read,2025/0\(int(1...9))/1\(number),\(int(1...3))"
            }
            let header =
                "Title,Author,Number of Pages,My Rating,Exclusive Shelf,Date Read,Read Count"
            let response = try await reader.app.execute(
                "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
                ["file": UploadReference.value(0)], token: reader.token,
                uploads: [Array(([header] + lines).joined(separator: "\n").utf8)])
            let id = try #require(response["importLibrary", "id"], "\(response.json)")
            let worker = try await TestWorker.start(
                reader.app.database, [ImportLibrary(covers: reader.app.covers)])
            try await waitUntil("the import has ended") {
                try await reader.requireValue(
                    "query($id: ID!) { node(id: $id) { ... on Import { state } } }", ["id": id],
                    "node", "state") == "DONE"
            }
            await worker.stop()
        }
    }

    private static let totals = "{ finishedReads finishedBooks abandonedReads pages hours }"
    private static let statistics = """
        query($year: Int!) { me {
          stats {
            totals \(totals) readByYear { year bookCount } readByMonth(year: $year) { month readCount pages hours }
            readByGenre(first: 50) { genre readCount }
            readByAuthor(first: 50) { author { name } readCount }
            readByMood(first: 50) { mood readCount }
            readByFormat { format readCount pages hours } longestBook { id } shortestBook { id }
            averageRating ratings { stars bookCount } streaks { currentDays longestDays readingDays }
          }
          yearInReview(year: $year) {
            year totals \(totals) previousTotals \(totals) byMonth { month readCount pages hours }
            topGenres(first: 50) { genre readCount } topAuthors(first: 50) { author { name } readCount }
            topMoods(first: 50) { mood readCount }
            byFormat { format readCount pages hours } averageRating ratings { stars bookCount }
            longestBook { id } shortestBook { id } firstRead { id } lastRead { id }
            longestStreakDays readingDays
          }
          readingGoals(year: $year) { year unit target progress expected isOnTrack isReached }
        } }
        """

    /// Reads the lists of the library.
    private func recount(_ library: Library) async throws -> StatisticsRecount {
        let reader = library.reader
        var nodes: [Value] = []
        var cursor = Value.null
        repeat {
            let page = try await reader.requireValue(
                """
                query($after: String) { me { reads(first: 50, after: $after) {
                  nodes {
                    id finishedOn outcome format lengthSeconds
                    book { id pageCount genre authors { name } moods }
                    progressEntries(first: 100) { nodes { at } }
                  }
                  pageInfo { hasNextPage endCursor }
                } } }
                """, ["after": cursor], "me", "reads")
            nodes += page["nodes"]?.list ?? []
            cursor =
                page["pageInfo", "hasNextPage"] == true
                ? page["pageInfo", "endCursor"] ?? .null : .null
        } while !cursor.isNull
        // Also those of books without reads.
        let reviews = try await reader.requireValue(
            "{ me { reviews(first: 100) { nodes { stars book { id } } } } }", .null, "me",
            "reviews", "nodes")
        var stars: [String: Double] = [:]
        for review in reviews.list ?? [] {
            stars[review["book", "id"]?.string ?? ""] = review["stars"]?.number
        }
        let minutes = nodes.flatMap { $0["progressEntries", "nodes"]?.list ?? [] }
            .compactMap { $0["at"]?.string.flatMap { Instant($0) } }
            .map { Int($0.microseconds / 60_000_000) }
        // A book counts on the day on which it was finished.
        let finishedDays = nodes.filter { $0["outcome"] == "FINISHED" }
            .compactMap { $0["finishedOn"]?.string }.filter { $0.utf8.count == 10 }
        let days = Set(minutes.map { StatisticsRecount.day(ofMinute: $0, in: library.zone) })
            .union(finishedDays.map { StatisticsRecount.day($0) })
        let today = try await reader.app.database.withConnection { connection in
            try connection.texts("SELECT reader_today('\(reader.id.string ?? "")')")
        }
        return StatisticsRecount(
            reads: nodes.filter { $0["outcome"] != "READING" }.map { read in
                StatisticsRecount.Read(
                    id: read["id"]?.string ?? "", finishedOn: read["finishedOn"]?.string ?? "",
                    isFinished: read["outcome"] == "FINISHED", format: read["format"]?.string,
                    seconds: read["lengthSeconds"]?.int, book: read["book", "id"]?.string ?? "",
                    pages: read["book", "pageCount"]?.int, genre: read["book", "genre"]?.string,
                    author: read["book", "authors", 0, "name"]?.string,
                    moods: read["book", "moods"]?.list?.compactMap(\.string) ?? [])
            }, days: days.sorted(), today: StatisticsRecount.day(today.first ?? ""), stars: stars)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func statisticsEqualARecount(seed: UInt64) async throws {
        let reader = try await Self.app().makeReader()
        var library = Library(reader: reader, random: SeededGenerator(seed))
        let goals = [("BOOKS", 3), ("PAGES", 900), ("HOURS", 5)]
        for (unit, target) in goals {
            for year in 2023...2026 {
                _ = try await reader.requireValue(
                    """
                    mutation($input: SetReadingGoalInput!) { setReadingGoal(input: $input) { id } }
                    """,
                    [
                        "input": [
                            "year": .int(year), "unit": .string(unit), "target": .int(target),
                        ]
                    ], "setReadingGoal")
            }
        }
        for round in 0..<3 {
            for number in 0..<30 { try await library.step(round * 100 + number) }
            if round == 1 { try await library.importFile() }
            let recount = try await recount(library)
            for year in 2023...2026 {
                let response = try await reader.execute(
                    Self.statistics, ["year": .int(year)])
                #expect(response.errors.isEmpty, "seed \(seed): \(response.json)")
                let found = response["me"]?.withRoundedNumbers ?? .null
                let message = Comment(rawValue: "seed \(seed), round \(round), year \(year)")
                #expect(
                    found["stats"] == inOrder(recount.library(year: year), of: found["stats"]),
                    message)
                #expect(
                    found["yearInReview"]
                        == inOrder(recount.review(of: year), of: found["yearInReview"]), message)
                let expected = goals.map { recount.goal(year, $0.0, target: $0.1) }
                #expect(
                    found["readingGoals"] == Value.list(expected).withRoundedNumbers, message)
            }
        }
    }

    /// Returns the members in the order of another object, because the order of the members counts.
    private func inOrder(_ value: Value, of other: Value?) -> Value {
        guard case .object(let members) = value.withRoundedNumbers,
            case .object(let ordered) = other
        else { return value }
        return .object(
            ordered.map { member in
                .init(member.name, members.first { $0.name == member.name }?.value ?? .null)
            })
    }
}
