import GraphQL
import TestSupport
import Testing

@Suite struct ReadTests {
    static let app = Shared { try await TestApp.start() }
    private static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    static let fields =
        "id startedOn finishedOn outcome format lengthSeconds note book { status currentPage }"
    static let start = """
        mutation($id: ID!, $input: ReadInput) { startRead(id: $id, input: $input) { \(fields) } }
        """
    static let update = """
        mutation($id: ID!, $input: UpdateReadInput!) { updateRead(id: $id, input: $input) { \(fields) } }
        """
    static let finish = """
        mutation($id: ID!, $input: FinishReadInput) { finishRead(id: $id, input: $input) { \(fields) } }
        """

    /// Returns the reads of a book, the latest first.
    static func reads(_ reader: TestReader, _ book: Value) async throws -> Value {
        try await reader.requireValue(
            """
            query($id: ID!) { book(id: $id) {
              status currentPage currentRead { id }
              reads { nodes { id startedOn finishedOn outcome } }
            } }
            """, ["id": book], "book")
    }

    private static func today(_ reader: TestReader) async throws -> Value {
        let rows = try await reader.app.database.withConnection { connection in
            try connection.texts("SELECT reader_today('\(reader.id.string ?? "")')")
        }
        return .string(rows.first ?? "")
    }

    @Test func readIsStartedAndFinishedAndReadAgain() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let today = try await Self.today(reader)
        let first = try await reader.execute(Self.start, ["id": book])
        #expect(first["startRead", "startedOn"] == today)
        #expect(first["startRead", "outcome"] == "READING")
        #expect(first["startRead", "book", "status"] == "READING")
        let id = try #require(first["startRead", "id"])
        let finished = try await reader.execute(Self.finish, ["id": id])
        #expect(finished["finishRead", "finishedOn"] == today)
        #expect(finished["finishRead", "book", "status"] == "READ")

        let second = try await reader.execute(
            Self.start, ["id": book, "input": ["startedOn": .null, "format": "AUDIO"]])
        #expect(second["startRead", "startedOn"] == .null)
        #expect(second["startRead", "format"] == "AUDIO")
        #expect(second["startRead", "book", "status"] == "READING")
        let state = try await Self.reads(reader, book)
        #expect(state["reads", "nodes"]?.values(of: "outcome") == ["READING", "FINISHED"])
        #expect(state["currentRead", "id"] == second["startRead", "id"])
    }

    @Test func repeatedMutationsHaveNoSecondEffect() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let input: Value = ["id": "0198c0de-0000-7000-8000-0000000000c1", "startedOn": "2019"]
        let first = try await reader.execute(Self.start, ["id": book, "input": input])
        let again = try await reader.execute(Self.start, ["id": book, "input": input])
        #expect(first.errors.isEmpty && again.json == first.json)
        let id = try #require(first["startRead", "id"])
        let end: Value = ["finishedOn": "2019-07", "outcome": "DID_NOT_FINISH"]
        let ended = try await reader.execute(Self.finish, ["id": id, "input": end])
        #expect(ended["finishRead", "book", "status"] == "DID_NOT_FINISH")
        _ = try await reader.execute(
            "mutation($id: ID!) { updateBook(id: $id, input: {status: WANT_TO_READ}) { id } }",
            ["id": book])
        let repeated = try await reader.execute(Self.finish, ["id": id, "input": end])
        #expect(repeated["finishRead", "finishedOn"] == "2019-07")
        #expect(repeated["finishRead", "book", "status"] == "WANT_TO_READ")
    }

    @Test func pastReadChangesTheStatusOnlyIfItIsTheLatest() async throws {
        let reader = try await Self.app().makeReader()
        let past: Value = ["startedOn": "2018-12", "finishedOn": "2019"]
        let wanted = try await reader.makeBook("Wanted")
        let added = try await reader.execute(Self.start, ["id": wanted, "input": past])
        #expect(added["startRead", "outcome"] == "FINISHED")
        #expect(added["startRead", "book", "status"] == "READ")
        let reading = try await reader.makeBook("Reading", status: "READING")
        let older = try await reader.execute(Self.start, ["id": reading, "input": past])
        #expect(older["startRead", "book", "status"] == "READING")
        let abandoned = try await reader.execute(
            Self.start,
            ["id": wanted, "input": ["finishedOn": "2010", "outcome": "DID_NOT_FINISH"]])
        #expect(abandoned["startRead", "book", "status"] == "READ")
    }

    @Test func secondOpenReadIsAConflict() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title", status: "READING")
        let open = try await Self.reads(reader, book)["currentRead", "id"]
        let second = try await reader.execute(Self.start, ["id": book])
        #expect(second.code == "CONFLICT")
        #expect(second.errors.first?["extensions", "id"] == open)
        let past = try await reader.execute(
            Self.start, ["id": book, "input": ["finishedOn": "2019"]])
        let reopened = try await reader.execute(
            Self.update,
            ["id": past["startRead", "id"] ?? .null, "input": ["outcome": "READING"]])
        #expect(reopened.code == "CONFLICT")
    }

    @Test(
        arguments: [
            (["startedOn": "2019-05", "finishedOn": "2019-04-30"], "finishedOn"),
            (["finishedOn": "2999"], "finishedOn"), (["startedOn": "2999-01-01"], "startedOn"),
            (["outcome": "READING", "finishedOn": "2019"], "finishedOn"),
            (["lengthSeconds": 0], "lengthSeconds"),
            (["note": .string(String(repeating: "x", count: 10_001))], "note"),
            (["id": "x"], "id"),
        ] as [(Value, String)])
    func invalidInputIsRejected(input: Value, field: String) async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let response = try await reader.execute(Self.start, ["id": book, "input": input])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == field)
        #expect(try await Self.reads(reader, book)["reads", "nodes"] == [])
    }

    @Test func dateThatDoesNotExistIsAnInvalidVariable() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            Self.start, ["id": Self.absent, "input": ["startedOn": "2019-02-29"]])
        #expect(response.isRequestError)
    }

    @Test func absentFieldsStayAndNullClears() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let started = try await reader.execute(
            Self.start,
            [
                "id": book,
                "input": [
                    "startedOn": "2019-03", "finishedOn": "2019-05-01", "format": "AUDIO",
                    "lengthSeconds": 3600, "note": "On the train",
                ],
            ])
        let id = try #require(started["startRead", "id"])
        let same = try await reader.execute(Self.update, ["id": id, "input": [:]])
        #expect(same["updateRead"] == started["startRead"])
        let cleared = try await reader.execute(
            Self.update,
            [
                "id": id,
                "input": [
                    "startedOn": .null, "finishedOn": .null, "format": .null,
                    "lengthSeconds": .null, "note": "",
                ],
            ])
        for name in ["startedOn", "finishedOn", "format", "lengthSeconds", "note"] {
            #expect(cleared["updateRead"]?[name] == .null)
        }
        #expect(cleared["updateRead", "outcome"] == "FINISHED")
    }

    /// The new date of one end is compared with the stored date of the other.
    @Test func datesOfAnUpdateAreComparedWithTheStoredOnes() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let id = try await reader.requireValue(
            Self.start,
            ["id": book, "input": ["startedOn": "2019-03", "finishedOn": "2019-05-01"]],
            "startRead", "id")
        let reversed = try await reader.execute(
            Self.update, ["id": id, "input": ["startedOn": "2019-06"]])
        #expect(reversed.code == "BAD_USER_INPUT" && reversed.field == "finishedOn")
        let open = try await reader.execute(
            Self.update, ["id": id, "input": ["outcome": "READING", "finishedOn": "2020"]])
        #expect(open.field == "finishedOn")
        let reopened = try await reader.execute(
            Self.update, ["id": id, "input": ["outcome": "READING"]])
        #expect(reopened["updateRead", "finishedOn"] == .null)
        #expect(reopened["updateRead", "book", "status"] == "READING")
    }

    @Test func deletedOpenReadLeavesTheStatusOfTheLatestOtherRead() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let delete = "mutation($id: ID!) { deleteRead(id: $id) { id book { status } } }"
        let id: Value = "0198c0de-0000-7000-8000-0000000000c2"
        let input: Value = ["id": id]
        _ = try await reader.execute(Self.start, ["id": book, "input": input])
        let first = try await reader.execute(delete, ["id": id])
        #expect(
            first["deleteRead"]
                == ["id": id, "book": ["status": "WANT_TO_READ"]])
        let again = try await reader.execute(delete, ["id": id])
        #expect(again["deleteRead"] == ["id": id, "book": .null])
        // A device that repeats the creation does not bring the read back.
        let replayed = try await reader.execute(Self.start, ["id": book, "input": input])
        #expect(replayed.code == "CONFLICT" && replayed.field == "id")

        _ = try await reader.execute(Self.start, ["id": book, "input": ["finishedOn": "2019"]])
        let open = try await reader.requireValue(
            Self.start, ["id": book, "input": [:]], "startRead", "id")
        let second = try await reader.execute(delete, ["id": open])
        #expect(second["deleteRead", "book", "status"] == "READ")
    }

    @Test func bookHasALimitedNumberOfReads() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        try await reader.executeSQL(
            """
            INSERT INTO reads (user_id, id, book_id, outcome)
            SELECT user_id, gen_random_uuid(), id, 'FINISHED' FROM books, generate_series(1, 200)
            WHERE id = '\(book.string ?? "")'
            """)
        let response = try await reader.execute(Self.start, ["id": book])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.message == "At most 200 are allowed. Delete some first.")
    }

    @Test func unknownObjectsAreNotFound() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        #expect(try await reader.execute(Self.start, ["id": Self.absent]).code == "NOT_FOUND")
        #expect(try await reader.execute(Self.finish, ["id": Self.absent]).code == "NOT_FOUND")
        #expect(
            try await reader.execute(Self.update, ["id": Self.absent, "input": [:]]).code
                == "NOT_FOUND")
        // The id of another object cannot become that of a read.
        #expect(
            try await reader.execute(Self.start, ["id": book, "input": ["id": book]]).code
                == "CONFLICT")
    }

    @Test func timeZoneDecidesWhichDayItIs() async throws {
        let reader = try await Self.app().makeReader()
        func set(_ zone: Value) async throws -> TestResponse {
            try await reader.execute(
                "mutation($z: String) { updateProfile(input: {timeZone: $z}) { timeZone } }",
                ["z": zone])
        }
        var days: Set<String> = []
        // The clocks of the two differ by 25 hours.
        for zone in ["Pacific/Kiritimati", "pacific/pago_pago"] {
            let name = try await set(.string(zone))["updateProfile", "timeZone"]
            #expect(name?.string?.lowercased() == zone.lowercased())
            let book = try await reader.makeBook(zone, status: "READING")
            let state = try await Self.reads(reader, book)
            days.insert(state["reads", "nodes", 0, "startedOn"]?.string ?? "")
        }
        #expect(days.count == 2)
        for zone in ["Europe/Nowhere", "EST5EDT4,M3", "", "posix/UTC"] as [Value] {
            let response = try await set(zone)
            #expect(response.code == "BAD_USER_INPUT" && response.field == "timeZone")
        }
        #expect(try await set(.null)["updateProfile", "timeZone"] == "UTC")
    }

    @Test func oldNamesOfTimeZonesAreStoredAsCurrentOnes() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            "mutation { updateProfile(input: {timeZone: \"asia/calcutta\"}) { timeZone } }")
        #expect(response["updateProfile", "timeZone"] == "Asia/Kolkata")
        #expect(
            try await reader.app.database.text(
                "SELECT known_zone('Asia/Calcutta') || ' ' || known_zone('Europe/Nowhere')")
                == "Asia/Calcutta UTC")
    }

    /// The database server may lack names of zones that it had when they were stored.
    @Test func unknownStoredTimeZonesCountAsUTC() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let finished = try await reader.makeBook("A", status: "READ")
        try await app.database.execute("UPDATE users SET time_zone = 'Europe/Nowhere'")
        let read = try await reader.requireValue(
            Self.start, ["id": try await reader.makeBook("B"), "input": [:]], "startRead", "id")
        let logged = try await reader.execute(
            ProgressTests.log, ["inputs": [["readId": read, "percent": 10]]])
        #expect(logged["logProgress", 0, "entry", "percent"] == 10, "\(logged.json)")
        for status in ["READ", "WANT_TO_READ"] {
            let response = try await reader.execute(
                "mutation($id: ID!) { updateBook(id: $id, input: {status: \(status)}) { status } }",
                ["id": finished])
            #expect(response["updateBook", "status"] == .string(status), "\(response.json)")
        }
        let statistics = try await reader.execute(
            "{ me { stats { streaks { currentDays } } } }")
        #expect(
            statistics["me", "stats", "streaks", "currentDays"] == 1, "\(statistics.json)")
        // The trigger counts the days again.
        try await app.database.execute("UPDATE users SET time_zone = 'Europe/Elsewhere'")
        #expect(try await app.database.count("SELECT count(*) FROM reading_days") == 1)
    }

    @Test func readsOfAYearAreThoseThatEndedInIt() async throws {
        let reader = try await Self.app().makeReader()
        let (first, second) = (try await reader.makeBook("A"), try await reader.makeBook("B"))
        for (book, dates) in [
            (first, ["2019-05", "2020"]), (second, ["2019-01-01", "2019"]),
        ] {
            for date in dates {
                _ = try await reader.requireValue(
                    Self.start, ["id": book, "input": ["finishedOn": .string(date)]], "startRead")
            }
        }
        let query = """
            query($year: Int, $after: String) { me {
              reads(year: $year, first: 2, after: $after) {
                totalCount nodes { finishedOn book { title } } pageInfo { endCursor hasNextPage }
              }
              stats { readByYear { year bookCount } }
            } }
            """
        let page = try await reader.execute(query, ["year": 2019])
        #expect(page["me", "reads", "totalCount"] == 3)
        #expect(
            page["me", "reads", "nodes"]?.values(of: "finishedOn") == ["2019-05", "2019-01-01"])
        let rest = try await reader.execute(
            query, ["year": 2019, "after": page["me", "reads", "pageInfo", "endCursor"] ?? .null])
        #expect(rest["me", "reads", "nodes"]?.values(of: "finishedOn") == ["2019"])
        #expect(
            page["me", "stats", "readByYear"] == [
                ["year": 2020, "bookCount": 1], ["year": 2019, "bookCount": 3],
            ])
    }
}
