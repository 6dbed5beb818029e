import GraphQL
import TestSupport
import Testing

@Suite struct ReadingGoalTests {
    private static let app = Shared { try await TestApp.start() }
    private static let set = """
        mutation($input: SetReadingGoalInput!) {
          setReadingGoal(input: $input) { id year unit target progress isReached }
        }
        """

    @Test func goalIsSetOncePerYearAndUnit() async throws {
        let reader = try await Self.app().makeReader()
        let id: Value = "0198c0de-0000-7000-8000-0000000000f1"
        let first = try await reader.execute(
            Self.set, ["input": ["id": id, "year": 2024, "target": 12]])
        #expect(
            first["setReadingGoal"] == [
                "id": id, "year": 2024, "unit": "BOOKS", "target": 12, "progress": 0,
                "isReached": false,
            ])
        let again = try await reader.execute(
            Self.set, ["input": ["id": id, "year": 2024, "target": 12]])
        #expect(again.json == first.json)
        let changed = try await reader.execute(
            Self.set, ["input": ["year": 2024, "unit": "BOOKS", "target": 20]])
        #expect(changed["setReadingGoal", "id"] == id)
        #expect(changed["setReadingGoal", "target"] == 20)
        let pages = try await reader.execute(
            Self.set, ["input": ["year": 2024, "unit": "PAGES", "target": 5000]])
        #expect(pages["setReadingGoal", "id"] != id)
        let found = try await reader.execute(
            """
            query($id: ID!) {
              node(id: $id) { ... on ReadingGoal { target expected isOnTrack } }
              me { readingGoals { unit } pages: readingGoal(year: 2024, unit: PAGES) { target }
                books: readingGoal(year: 2024) { target } none: readingGoal(year: 2023) { target } }
              changes { changes { kind typename nodeId } }
            }
            """, ["id": id])
        #expect(found["node"] == ["target": 20, "expected": 20, "isOnTrack": false])
        #expect(found["me", "readingGoals"]?.values(of: "unit") == ["BOOKS", "PAGES"])
        #expect(found["me", "pages", "target"] == 5000 && found["me", "books", "target"] == 20)
        #expect(found["me", "none"] == .null)
        let changes = found["changes", "changes"]?.list?.filter { $0["nodeId"] == id }
        #expect(changes?.map { $0["kind"] } == ["CREATED", "UPDATED"])
        #expect(changes?.first?["typename"] == "ReadingGoal")
    }

    @Test func deletedGoalDoesNotReturn() async throws {
        let reader = try await Self.app().makeReader()
        let id: Value = "0198c0de-0000-7000-8000-0000000000f2"
        let input: Value = ["input": ["id": id, "year": 2024, "target": 12]]
        _ = try await reader.execute(Self.set, input)
        let delete = "mutation($id: ID!) { deleteReadingGoal(id: $id) { id } }"
        for _ in 0..<2 {
            let deleted = try await reader.execute(delete, ["id": id])
            #expect(deleted["deleteReadingGoal", "id"] == id)
        }
        let repeated = try await reader.execute(Self.set, input)
        #expect(repeated.code == "CONFLICT" && repeated.field == "id")
        let goals = try await reader.execute("{ me { readingGoals { id } } }")
        #expect(goals["me", "readingGoals"] == [])
    }

    @Test(
        arguments: [
            (["year": 999, "target": 1], "year"), (["year": 9999, "target": 1], "year"),
            (["year": 2200, "target": 1], "year"), (["year": 2024, "target": 0], "target"),
            (["year": 2024, "target": 1_000_001], "target"),
            (["id": "x", "year": 2024, "target": 1], "id"),
        ] as [(Value, String)])
    func invalidGoalIsRefused(input: Value, field: String) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.set, ["input": input])
        #expect(response.code == "BAD_USER_INPUT" && response.field == field)
    }

    @Test func idOfAnotherObjectIsRefused() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let taken = try await reader.execute(
            Self.set, ["input": ["id": book, "year": 2024, "target": 12]])
        #expect(taken.code == "CONFLICT" && taken.field == "id")
        let id = try await reader.execute(
            Self.set, ["input": ["year": 2024, "target": 12]])["setReadingGoal", "id"]
        let other = try await reader.execute(
            Self.set, ["input": ["id": id ?? .null, "year": 2025, "target": 12]])
        #expect(other.code == "CONFLICT")
        let read = try await reader.execute(
            "mutation($id: ID!, $read: ID) { startRead(id: $id, input: {id: $read}) { id } }",
            ["id": book, "read": id ?? .null])
        #expect(read.code == "CONFLICT")
    }

    @Test func readerHasAtMostAHundredGoals() async throws {
        let reader = try await Self.app().makeReader()
        try await reader.app.database.execute(
            """
            INSERT INTO reading_goals (user_id, id, year, unit, target)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), 1900 + n, 'HOURS', 1
            FROM generate_series(1, 100) n
            """)
        let response = try await reader.execute(
            Self.set, ["input": ["year": 2024, "target": 12]])
        #expect(response.code == "BAD_USER_INPUT")
        let changed = try await reader.execute(
            Self.set, ["input": ["year": 1950, "unit": "HOURS", "target": 12]])
        #expect(changed["setReadingGoal", "target"] == 12)
    }

    @Test func secondReadingDoesNotChangeAnEarlierYear() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook([
            "title": "Title", "pageCount": 300, "reads": [["finishedOn": "2024-06-01"]],
        ])
        try await reader.review(book, rating: 5)
        let review = """
            { me { yearInReview(year: 2024) {
              totals { finishedReads finishedBooks pages } byMonth { readCount } averageRating
              firstRead { finishedOn } lastRead { finishedOn } longestBook { title }
            } } }
            """
        let before = try await reader.execute(review)
        #expect(before["me", "yearInReview", "totals", "finishedReads"] == 1)
        #expect(before["me", "yearInReview", "averageRating"] == 5)
        let read = try await reader.requireValue(
            "mutation($id: ID!) { startRead(id: $id) { id } }", ["id": book], "startRead", "id")
        #expect(try await reader.execute(review).json == before.json)
        _ = try await reader.requireValue(
            "mutation($id: ID!) { finishRead(id: $id) { id } }", ["id": read], "finishRead")
        #expect(try await reader.execute(review).json == before.json)
    }

    @Test func emptyYearsAndInvalidArguments() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            """
            { me {
              empty: yearInReview(year: 1999) { totals { finishedReads hours } topGenres { genre }
                averageRating longestBook { id } firstRead { id } longestStreakDays byMonth { readCount } }
              invalid: yearInReview(year: 0) { year }
              stats { readByMonth(year: 10000) { month } readByGenre(first: 51) { genre }
                streaks { currentDays lastDay } totals { pages } readByAuthor { author { id } } }
            } }
            """)
        #expect(response["me", "empty", "totals"] == ["finishedReads": 0, "hours": 0])
        #expect(response["me", "empty", "topGenres"] == [])
        #expect(response["me", "empty", "byMonth"]?.list?.count == 12)
        #expect(response["me", "empty", "firstRead"] == .null)
        #expect(response["me", "invalid"] == .null)
        #expect(response["me", "stats", "readByMonth"] == .null)
        #expect(response["me", "stats", "readByGenre"] == .null)
        #expect(response["me", "stats", "streaks"] == ["currentDays": 0, "lastDay": .null])
        #expect(response.errors.count == 3)
    }
}
