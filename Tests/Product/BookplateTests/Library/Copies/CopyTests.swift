import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The copies of books that a reader owns, and their loans.
@Suite struct CopyTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    static let create = """
        mutation($input: CreateCopyInput!) { createCopy(input: $input) {
          id format place note loan { id } pastLoans { id } book { id isOwned }
        } }
        """
    static let update = """
        mutation($id: ID!, $input: UpdateCopyInput!) { updateCopy(id: $id, input: $input) { format place note } }
        """
    static let delete =
        "mutation($id: ID!) { deleteCopy(id: $id) { id book { isOwned copies { id } } } }"
    static let lend = """
        mutation($id: ID!, $input: LendCopyInput!) { lendCopy(id: $id, input: $input) {
          loan { id borrower lentOn dueOn returnedOn } pastLoans { id }
        } }
        """
    static let takeBack = """
        mutation($id: ID!, $input: ReturnCopyInput) { returnCopy(id: $id, input: $input) {
          loan { id } pastLoans { id borrower lentOn dueOn returnedOn }
        } }
        """
    private static let loan: Value = "0198c0de-0000-7000-8000-0000000000b1"
    private static let otherLoan: Value = "0198c0de-0000-7000-8000-0000000000b2"

    private func makeCopy(_ reader: TestReader, _ book: Value) async throws -> Value {
        try await reader.requireValue(
            Self.create, ["input": ["bookId": book]], "createCopy", "id")
    }

    @Test func copyHasItsTextsAndIsCreatedOnce() async throws {
        let reader = try await Self.app().makeReader()
        let (book, other) = (try await reader.makeBook("Book"), try await reader.makeBook("Other"))
        let id: Value = "0198c0de-0000-7000-8000-0000000000a1"
        let input: Value = [
            "id": id, "bookId": book, "format": " First edition ", "place": "Living room",
            "note": "Signed",
        ]
        for _ in 1...2 {
            let copy = try await reader.requireValue(
                Self.create, ["input": input], "createCopy")
            #expect(
                copy == [
                    "id": id, "format": "First edition", "place": "Living room", "note": "Signed",
                    "loan": .null, "pastLoans": [], "book": ["id": book, "isOwned": true],
                ])
        }
        let taken = try await reader.execute(
            Self.create, ["input": ["id": id, "bookId": other]])
        #expect(taken.code == "CONFLICT" && taken.field == "id")
        let changed = try await reader.requireValue(
            Self.update, ["id": id, "input": ["place": "Attic", "note": .null]], "updateCopy")
        #expect(changed == ["format": "First edition", "place": "Attic", "note": .null])
        for _ in 1...2 {
            let deleted = try await reader.execute(Self.delete, ["id": id])
            #expect(deleted["deleteCopy", "id"] == id)
        }
        let again = try await reader.execute(Self.create, ["input": input])
        #expect(
            again.code == "NOT_FOUND" && again.errors.first?["extensions", "reason"] == "DELETED")
        let books = try await reader.requireValue(
            "{ me { books(orderBy: TITLE_ASC) { nodes { isOwned copies { id } } } } }", .null, "me",
            "books", "nodes")
        #expect(books == [["isOwned": false, "copies": []], ["isOwned": false, "copies": []]])
    }

    @Test func inputsAreLimited() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        for (field, max) in [("format", 100), ("place", 100), ("note", 1_000)] {
            let text = Value.string(String(repeating: "x", count: max + 1))
            let response = try await reader.execute(
                Self.create, ["input": .object([.init("bookId", book), .init(field, text)])])
            #expect(response.code == "BAD_USER_INPUT" && response.field == field)
            #expect(response.errors.first?["extensions", "max"]?.double == Double(max))
        }
        var copies: [Value] = []
        for _ in 1...BookCopy.ofBookMax { copies.append(try await makeCopy(reader, book)) }
        let full = try await reader.execute(Self.create, ["input": ["bookId": book]])
        #expect(full.code == "BAD_USER_INPUT")
        #expect(full.errors.first?["extensions", "reason"] == "LIMIT_REACHED")
        for (input, field, reason) in [
            (["borrower": " "], "borrower", "EMPTY"),
            (
                ["borrower": .string(String(repeating: "x", count: 201))], "borrower", "TOO_LONG"
            ),
            (["borrower": "Ada", "lentOn": "2999-01-01"], "lentOn", "IN_FUTURE"),
        ] as [(Value, String, String)] {
            let response = try await reader.execute(Self.lend, ["id": copies[0], "input": input])
            #expect(response.field == field)
            #expect(response.errors.first?["extensions", "reason"] == .string(reason))
        }
        let absent: Value = "0198c0de-0000-7000-8000-00000000dead"
        let inputs: [(mutation: String, input: Value)] = [
            (Self.update, ["place": "x"]), (Self.lend, ["borrower": "Ada"]),
            (Self.takeBack, .object([])),
        ]
        for (mutation, input) in inputs {
            let response = try await reader.execute(mutation, ["id": absent, "input": input])
            #expect(response.errors.first?["extensions", "reason"] == "NO_SUCH_COPY")
        }
    }

    @Test func loanIsChangedEndedAndNotRepeated() async throws {
        let reader = try await Self.app().makeReader()
        let copy = try await makeCopy(reader, try await reader.makeBook("Book"))
        let input: Value = [
            "id": Self.loan, "borrower": "Ada", "lentOn": "2026-01-02", "dueOn": "2030-02",
        ]
        for _ in 1...2 {
            let lent = try await reader.requireValue(
                Self.lend, ["id": copy, "input": input], "lendCopy", "loan")
            #expect(
                lent == [
                    "id": Self.loan, "borrower": "Ada", "lentOn": "2026-01-02",
                    "dueOn": "2030-02", "returnedOn": .null,
                ])
        }
        // The same loan can be changed; another one is refused.
        let longer = try await reader.requireValue(
            Self.lend,
            ["id": copy, "input": ["id": Self.loan, "borrower": "Ada B.", "dueOn": "2030-03"]],
            "lendCopy", "loan")
        #expect(longer["dueOn"] == "2030-03" && longer["borrower"] == "Ada B.")
        #expect(longer["lentOn"] == "2026-01-02")
        let other = try await reader.execute(
            Self.lend, ["id": copy, "input": ["id": Self.otherLoan, "borrower": "Bob"]])
        #expect(other.code == "CONFLICT")
        #expect(other.errors.first?["extensions", "id"] == Self.loan)
        #expect(other.errors.first?["extensions", "reason"] == "COPY_IS_LENT")
        // The return of another loan changes nothing.
        for loan in [Self.otherLoan, "no id"] {
            let kept = try await reader.requireValue(
                Self.takeBack, ["id": copy, "input": ["loanId": loan]], "returnCopy")
            #expect(kept["loan", "id"] == Self.loan)
        }
        for _ in 1...2 {
            let back = try await reader.requireValue(
                Self.takeBack, ["id": copy, "input": ["returnedOn": "2026-03-04"]], "returnCopy")
            #expect(
                back == [
                    "loan": .null,
                    "pastLoans": [
                        [
                            "id": Self.loan, "borrower": "Ada B.", "lentOn": "2026-01-02",
                            "dueOn": "2030-03", "returnedOn": "2026-03-04",
                        ]
                    ],
                ])
        }
        // A repeated request does not lend the copy again.
        let repeated = try await reader.requireValue(
            Self.lend, ["id": copy, "input": input], "lendCopy")
        #expect(repeated["loan"] == .null)
        // A copy keeps its last loans.
        for number in 1...22 {
            _ = try await reader.requireValue(
                Self.lend, ["id": copy, "input": ["borrower": .string("Reader \(number)")]],
                "lendCopy", "loan", "lentOn")
            _ = try await reader.requireValue(Self.takeBack, ["id": copy], "returnCopy")
        }
        let kept = try await reader.requireValue(Self.takeBack, ["id": copy], "returnCopy")
        #expect(kept["pastLoans"]?.list?.count == BookCopy.pastLoansMax)
        #expect(kept["pastLoans", 0, "borrower"] == "Reader 22")
    }

    /// A copy cannot come back, and cannot be due, before it was lent. Dates are compared as far as both are known.
    @Test func reversedDatesOfALoanAreRefused() async throws {
        let reader = try await Self.app().makeReader()
        let copy = try await makeCopy(reader, try await reader.makeBook("Book"))
        func lend(_ lentOn: Value, _ dueOn: Value) async throws -> TestResponse {
            try await reader.execute(
                Self.lend,
                [
                    "id": copy,
                    "input": [
                        "id": Self.loan, "borrower": "Ada", "lentOn": lentOn, "dueOn": dueOn,
                    ],
                ])
        }
        func takeBack(_ returnedOn: Value) async throws -> TestResponse {
            try await reader.execute(
                Self.takeBack, ["id": copy, "input": ["returnedOn": returnedOn]])
        }
        for (lentOn, dueOn) in [
            ("2026-03-02", "2026-03-01"), ("2026-03", "2026-02-27"), ("2026-03-02", "2025"),
            (.null, "2019-05"),
        ] as [(Value, Value)] {
            let response = try await lend(lentOn, dueOn)
            #expect(response.reason == "DATES_REVERSED" && response.field == "dueOn")
        }
        for (lentOn, dueOn) in [
            ("2026-03-02", "2026"), ("2026-03-02", "2026-03-02"), (.null, .null),
            ("2026-03-02", .null),
        ] as [(Value, Value)] {
            #expect(try await lend(lentOn, dueOn).errors.isEmpty)
        }
        // The day when the loan is due would be before the new first day.
        #expect(try await lend("2026-03-02", "2026-04").errors.isEmpty)
        let later = try await reader.execute(
            Self.lend,
            ["id": copy, "input": ["id": Self.loan, "borrower": "Ada", "lentOn": "2026-05"]])
        #expect(later.reason == "DATES_REVERSED")
        for day in ["2026-03-01", "2026-02", "2025"] as [Value] {
            let response = try await takeBack(day)
            #expect(response.reason == "DATES_REVERSED" && response.field == "returnedOn")
        }
        let back = try await takeBack("2026-03")
        #expect(back["returnCopy", "pastLoans", 0, "returnedOn"] == "2026-03")
        // Tomorrow is allowed as the first day, because the day begins earlier in other time zones.
        let tomorrow = try await reader.app.database.withConnection {
            try $0.texts(
                "SELECT to_char(now() AT TIME ZONE 'UTC' + interval '1 day', 'YYYY-MM-DD')")
        }
        _ = try await reader.requireValue(
            Self.lend,
            ["id": copy, "input": ["borrower": "Bob", "lentOn": .string(tomorrow[0])]], "lendCopy")
        let last = try await reader.requireValue(Self.takeBack, ["id": copy], "returnCopy")
        #expect(last["pastLoans", 0, "returnedOn"] == .string(tomorrow[0]))
    }

    @Test func copyIsLentOnceAtATime() async throws {
        let reader = try await Self.app().makeReader()
        let copy = try await makeCopy(reader, try await reader.makeBook("Book"))
        let lent = try await withThrowingTaskGroup(of: TestResponse.self) { group in
            for number in 1...8 {
                group.addTask {
                    try await reader.execute(
                        Self.lend, ["id": copy, "input": ["borrower": .string("\(number)")]])
                }
            }
            return try await group.reduce(into: [String]()) { $0.append($1.code ?? "LENT") }
        }
        #expect(lent.sorted() == Array(repeating: "CONFLICT", count: 7) + ["LENT"])
    }

    @Test func lentAndOwnedBooksAreListed() async throws {
        let reader = try await Self.app().makeReader()
        let books = try await reader.makeBooks(4)
        for (book, due) in zip(books, ["2030-05-01", nil, "2030-04"] as [String?]) {
            let copy = try await makeCopy(reader, book)
            _ = try await reader.requireValue(
                Self.lend,
                [
                    "id": copy,
                    "input": ["borrower": "Ada", "dueOn": due.map { .string($0) } ?? .null],
                ],
                "lendCopy")
        }
        let unlent = try await makeCopy(reader, books[3])
        _ = try await reader.requireValue(
            Self.create, ["input": ["bookId": books[3], "format": "Audiobook"]], "createCopy")
        let list = """
            query($first: Int, $after: String) { me {
              lentCopies(first: $first, after: $after) {
                totalCount nodes { book { id } loan { dueOn } } pageInfo { hasNextPage endCursor }
              }
            } }
            """
        let first = try await reader.requireValue(list, ["first": 2], "me", "lentCopies")
        #expect(first["totalCount"] == 3 && first["pageInfo", "hasNextPage"] == true)
        #expect(first["nodes"]?.values(of: "book").map { $0["id"] } == [books[2], books[0]])
        let second = try await reader.requireValue(
            list, ["first": 2, "after": first["pageInfo", "endCursor"] ?? .null], "me", "lentCopies"
        )
        #expect(second["nodes"] == [["book": ["id": books[1]], "loan": ["dueOn": .null]]])
        _ = try await reader.makeBook("Not owned")
        let filtered = try await reader.requireValue(
            """
            { me {
              owned: books(copies: OWNED) { totalCount nodes { id } }
              lent: books(copies: LENT, orderBy: TITLE_ASC) { totalCount nodes { id } }
              all: books { totalCount }
            } }
            """, .null, "me")
        #expect(filtered["owned", "totalCount"] == 4 && filtered["lent", "totalCount"] == 3)
        #expect(filtered["owned", "nodes"]?.list?.count == 4 && filtered["all", "totalCount"] == 5)
        #expect(filtered["lent", "nodes"]?.list?.contains(["id": books[3]]) == false)
        #expect(unlent != .null)
    }

    @Test func changesOfCopiesAreThoseOfTheBook() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        let log = """
            query($after: String) {
              changes(first: 500, after: $after) { pageInfo { endCursor } changes { kind typename nodeId } }
            }
            """
        var cursor = try await reader.requireValue(
            log, .null, "changes", "pageInfo", "endCursor")
        let copy = try await makeCopy(reader, book)
        let steps: [(mutation: String, input: Value)] = [
            (Self.update, ["place": "Hall"]), (Self.update, ["place": "Hall"]),
            (Self.lend, ["borrower": "Ada"]), (Self.takeBack, .object([])), (Self.delete, .null),
        ]
        for (mutation, input) in steps {
            let page = try await reader.requireValue(log, ["after": cursor], "changes")
            cursor = page["pageInfo", "endCursor"] ?? .null
            let isRepeated = page["changes"] == []
            if !isRepeated {
                #expect(
                    page["changes"] == [["kind": "UPDATED", "typename": "Book", "nodeId": book]])
            }
            let response = try await reader.execute(mutation, ["id": copy, "input": input])
            #expect(response.errors.isEmpty, "\(response.json)")
        }
        let last = try await reader.requireValue(log, ["after": cursor], "changes", "changes")
        #expect(last == [["kind": "UPDATED", "typename": "Book", "nodeId": book]])
        let id = book.string ?? ""
        let count = try await reader.app.database.count(
            "SELECT count(*) FROM changes WHERE id = '\(id)' AND kind = 'UPDATED'")
        #expect(count == 5)
    }
}
