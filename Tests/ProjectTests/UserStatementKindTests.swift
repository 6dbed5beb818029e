import Testing

/// Kinds of SQL that hide what a statement does, or that cost time in every write (docs/decisions/plain-sql.md).
///
/// The lists below contain each exception with its reason, one per line.
@Suite struct UserStatementKindTests {
    enum Kind: String, CaseIterable {
        /// A trigger with transition tables, such as one that writes a log.
        case transitionTables
        /// A function that writes, and whose result is assigned to a column by an UPDATE.
        case writerInSet
        /// A function with the rights of its caller that accesses rows of users, and is called by a statement of the product.
        case functionOfUsersRows
        /// A function with the rights of the owner and without a line `-- definer: reason` above it.
        case definerWithoutReason
        /// The clock in DO UPDATE instead of a value that was computed once.
        case clockInUpdate
        /// OFFSET 0, which keeps the planner from joining.
        case offset
        /// A join that does not name the user of the joined table.
        case joinWithoutUser
    }

    private static let exceptions: [Kind: [String: String]] = [
        .transitionTables: [
            "collect_signals_of_changed_records ON work_records": manyRows,
            "collect_signals_of_deleted_records ON work_records": manyRows,
            "collect_signals_of_new_records ON work_records": manyRows,
            "count_delete ON moving_covers": storageUse,
            "count_insert ON moving_covers": storageUse,
            "index_changed_editions ON editions": manyRows,
            "index_deleted_editions ON editions": manyRows,
            "index_new_editions ON editions": manyRows,
            "log_delete ON book_copies": logOfMany,
            "log_delete ON books": logOfMany,
            "log_delete ON followed_authors": logOfMany,
            "log_delete ON notes": logOfMany,
            "log_delete ON progress_entries": logOfMany,
            "log_delete ON reads": countsOfMany,
            "log_delete ON reviews": countsOfMany,
            "log_delete ON shelf_books": logOfMany,
            "log_insert ON book_copies": logOfMany,
            "log_insert ON followed_authors": logOfMany,
            "log_insert ON notes": logOfMany,
            "log_insert ON progress_entries": logOfMany,
            "log_insert ON reads": countsOfMany,
            "log_insert ON reviews": countsOfMany,
            "log_insert ON shelf_books": logOfMany,
            "log_update ON book_copies": logOfMany,
            "log_update ON progress_entries": logOfMany,
            "log_update ON reads": countsOfMany,
            "log_update ON reviews": countsOfMany,
            "record_delete ON covers": storageUse,
            "record_delete ON deleted_books": storageUse,
            "record_insert ON covers": storageUse,
            "record_insert ON deleted_books": storageUse,
            "record_update ON covers": storageUse,
            "record_update ON deleted_books": storageUse,
            "subtract_collected_signals ON collected_signals": manyRows,
        ],
        .writerInSet: [:],
        .functionOfUsersRows: [
            "add_read": steps,
            "audio_length": computed,
            "begin_request": opensTransactions,
            "begin_token_request": opensTransactions,
            "book_of_work": shared,
            "book_progression": shared,
            "books_of_series": shared,
            "change_note": steps,
            "change_progress": steps,
            "change_read": steps,
            "change_reads": steps,
            "count_works_of_series": shared,
            "create_access_token": steps,
            "create_notes": steps,
            "create_shared_link": steps,
            "delete_books": steps,
            "delete_copy": steps,
            "delete_note": steps,
            "delete_progress": steps,
            "delete_read": steps,
            "delete_reading_goal": steps,
            "end_cover_search": shared,
            "enqueue_links_of_recent_editions": shared,
            "import_readers": wholeLibraries,
            "import_records": wholeLibraries,
            "is_other_object": shared,
            "link_books": shared,
            "link_document": steps,
            "log_progress": steps,
            "match_books": shared,
            "newest_progress": shared,
            "next_book_of_series": shared,
            "next_of_series": computed,
            "open_session": steps,
            "owned_works_of_series": shared,
            "place_book": steps,
            "put_progression": steps,
            "reader_today": shared,
            "record_deleted_id": shared,
            "reading_goal_progress": computed,
            "refresh_read_books": shared,
            "release_deleted_identity": steps,
            "restore_book": steps,
            "retry_webhook_deliveries": steps,
            "save_cards": shared,
            "set_cover": shared,
            "set_found_cover": steps,
            "set_reading_goal": steps,
            "sign_in": steps,
            "sync_document": steps,
            "undo_swipe": steps,
            "unlink_identity": steps,
            "was_other_record_seen": shared,
        ],
        .definerWithoutReason: [:],
        .clockInUpdate: [
            "changes.sql take_events":
                "a lease is compared with the time at which the row is locked"
        ],
        .offset: [
            "BookConnections.swift hasIndex": lookups,
            "BookConnections.swift row": lookups,
            "BookFilters.swift byDate": oneEvaluation,
            "BookFilters.swift limited": lookups,
            "BookFilters.swift series": lookups,
            "BookUpdates.swift factsOfCard": lookups,
            "BookUpdates.swift update": lookups,
            "DeckBuilder.swift deleteUnused": oneEvaluation,
            "DeckBuilder.swift lastCards": lookups,
            "DeckCandidates.swift select": lookups,
            "FeedPage.swift firstPageText": lookups,
            "FeedPage.swift isUnseen": lookups,
            "FeedPage.swift pageText": lookups,
            "FeedReason.swift ofCard": lookups,
            "MoveBook.swift move": lookups,
            "ReaderSignals.swift latest": lookups,
            "RowType.swift selectForEachKey": lookups,
            "SharedItem.swift statement": lookups,
            "SimilarCards.swift similar": lookups,
            "SwipeMutations.swift input": lookups,
            "SwipeScope.swift hidden": lookups,
            "SwipeScope.swift isInEffect": lookups,
            "Work.swift ofWork": lookups,
            "WorkRecords.swift hasOther": lookups,
            "WorkRecords.swift isOtherRecordUnseen": lookups,
            "WorkRecords.swift isRecordToShow": lookups,
            "changes.sql list_imported_books": lookups,
            "copies.sql import_copies": lookups,
            "copies.sql log_copies": lookups,
            "ereaders.sql import_documents": lookups,
            "ereaders.sql import_positions": lookups,
            "feed.sql refresh_feed": lookups,
            "imports.sql complete_imported_books": lookups,
            "imports.sql find_imported_books": lookups,
            "imports.sql import_other_records": lookups,
            "imports.sql import_reviews": lookups,
            "imports.sql place_imported_books": lookups,
            "imports.sql report_lost_values": lookups,
            "imports.sql store_imported_books": lookups,
            "notes.sql import_notes": lookups,
            "notes.sql log_note_counts": lookups,
            "notes.sql search_notes": lookups,
            "reads.sql import_first_reads": lookups,
            "reads.sql import_progress": lookups,
            "reads.sql new_parts_of_reads": lookups,
            "reads.sql refresh_read_books": oneEvaluation,
            "search.sql books_with_keys": lookups,
            "authors.sql works_of_person": lookups,
            "series.sql books_of_series": lookups,
            "signals.sql collect_signals": lookups,
            "signals.sql finish_learning": lookups,
            "works.sql book_of_work": lookups,
            "works.sql enqueue_links": lookups,
            "works.sql link_books": lookups,
            "works.sql match_books": lookups,
            "works.sql match_works": lookups,
            "works.sql was_other_record_seen": lookups,
        ],
        .joinWithoutUser: [
            "StorageUsage.swift stored_covers":
                "administration: the covers of all users of a tenant"
        ],
    ]

    private static let logOfMany =
        "a foreign key or a function writes thousands of rows, which get their log entries at once"
    private static let countsOfMany =
        "adds the differences of all rows to the counts of the reader at once"
    private static let computed = "computes a value of several tables for one field"
    private static let manyRows = "the catalog writes thousands of rows with one statement"
    private static let storageUse =
        "foreign keys delete covers, and the use of the storage is counted once per statement"
    private static let opensTransactions = "the first statement of each transaction of a user"
    private static let shared = "several statements, functions, or triggers share it"
    private static let steps =
        "each step depends on the result of the one before, in one round trip"
    private static let wholeLibraries = "thousands of rows, in steps that share temporary data"
    private static let lookups =
        "looks up each key in an index: a join may read all rows of the reader or of the catalog"
    private static let oneEvaluation = "evaluates an expensive expression once"

    // MARK: - Detection

    /// Returns the functions that have a property, or that call a function which has it.
    private static func closure(
        _ functions: [SQLSources.Function], of has: (SQLSources.Function) -> Bool
    ) -> Set<String> {
        var found = Set(functions.filter(has).map(\.name))
        while true {
            let more = functions.filter { function in
                !found.contains(function.name) && !found.isDisjoint(with: function.calls)
            }
            if more.isEmpty { return found }
            found.formUnion(more.map(\.name))
        }
    }

    private static func writers(_ functions: [SQLSources.Function]) -> Set<String> {
        closure(functions) { function in
            function.body.replacing(/FOR (?:NO KEY )?UPDATE/, with: "")
                .contains(/\b(?:INSERT INTO|UPDATE|DELETE FROM)\b/)
        }
    }

    private static func functionsOfUsersRows(
        _ functions: [SQLSources.Function], _ tables: [String]
    ) throws -> Set<String> {
        let access = try Regex(
            #"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+(?:public\.)?(?:users|\#(tables.joined(separator: "|")))\b"#
        )
        return closure(functions) { $0.body.contains(access) }
    }

    /// Returns the writers whose results a statement assigns: `SET a = writer(b)` and `a = (SELECT … FROM writer(b))`.
    private static func assignedWriters(_ sql: String, _ writers: Set<String>) -> [String] {
        sql.matches(of: /\b(\w+)\(/).compactMap { match -> String? in
            let name = String(match.1)
            guard writers.contains(name) else { return nil }
            var before = trimmed(sql[..<match.range.lowerBound])
            if before.hasSuffix("FROM"), let select = before.ranges(of: "SELECT").last {
                before = trimmed(before[..<select.lowerBound])
                guard before.hasSuffix("(") else { return nil }
                before = trimmed(before.dropLast())
                return before.hasSuffix("=") && !before.hasSuffix(":=") ? name : nil
            }
            let isAssigned = before.hasSuffix("=") && !before.hasSuffix(":=")
            return isAssigned && before.contains(/\bSET\s/) ? name : nil
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    private static func hasClockInUpdate(_ sql: String) -> Bool {
        sql.split(separator: "DO UPDATE").dropFirst().contains { part in
            let set = part.split(separator: "RETURNING").first ?? ""
            return set.contains(/\bnow\(\)|_timestamp\b/)
        }
    }

    private static func tablesJoinedWithoutUser(
        _ sql: String, _ tables: [String]
    ) throws -> [String] {
        let join = try Regex(
            #"\bJOIN\s+(\#(tables.joined(separator: "|")))\b(?:\s+(?:AS\s+)?\w+)?\s+(?:ON|USING)\b"#,
            as: (Substring, Substring).self)
        return sql.matches(of: join).compactMap { match in
            let rest = sql[match.range.upperBound...]
            let end = rest.firstMatch(
                of:
                    /\b(?:JOIN|LEFT|CROSS|FULL|WHERE|GROUP|ORDER|UNION|RETURNING|LIMIT|FOR|WINDOW)\b/
            )
            let condition = rest[..<(end?.range.lowerBound ?? rest.endIndex)]
            return condition.contains("user_id") || condition.contains("owner_id")
                ? nil : String(match.output.1)
        }
    }

    private static func places(of kind: Kind) throws -> Set<String> {
        let functions = try SQLSources.functions()
        let statements = try SQLSources.statements()
        let bodies = functions.flatMap { function in
            function.body.split(separator: ";").map {
                SQLSources.Statement(
                    file: function.file, name: function.name, sql: String($0))
            }
        }
        switch kind {
        case .transitionTables:
            return try SQLSources.transitionTableTriggers()
        case .writerInSet:
            let writers = writers(functions)
            return Set(
                (statements + bodies).flatMap { statement in
                    assignedWriters(statement.sql, writers).map { "\(statement.file) \($0)" }
                })
        case .functionOfUsersRows:
            let definers = Set(functions.filter(\.isDefiner).map(\.name))
            return try Set(statements.flatMap { SQLSources.calls(in: $0.sql) })
                .intersection(functionsOfUsersRows(functions, SQLSources.tables()))
                .subtracting(definers)
        case .definerWithoutReason:
            return Set(functions.filter { $0.isDefiner && $0.reason == nil }.map(\.name))
        case .clockInUpdate:
            return Set((statements + bodies).filter { hasClockInUpdate($0.sql) }.map(\.place))
        case .offset:
            return Set(
                (statements + bodies).filter { $0.sql.contains(/\bOFFSET 0\b/) }.map(\.place))
        case .joinWithoutUser:
            let tables = try SQLSources.tables()
            return try Set(
                (statements + bodies).flatMap { statement in
                    try tablesJoinedWithoutUser(statement.sql, tables)
                        .map { "\(statement.file) \($0)" }
                })
        }
    }

    // MARK: - Tests

    @Test(arguments: Kind.allCases) func placesOfEachKindHaveAReason(kind: Kind) throws {
        let found = try Self.places(of: kind)
        let listed = Set(Self.exceptions[kind, default: [:]].keys)
        #expect(
            found.subtracting(listed).sorted() == [],
            "rewrite these statements, or list them with a reason (docs/decisions/plain-sql.md)")
        #expect(listed.subtracting(found).sorted() == [], "remove these from the list")
    }

    /// Exactly the functions with the rights of the owner have a reason beside them.
    @Test func reasonsOfDefinersAreCurrent() throws {
        let functions = try SQLSources.functions()
        #expect(functions.count > 200)
        #expect(functions.filter { !$0.isDefiner && $0.reason != nil }.map(\.name) == [])
    }

    @Test(arguments: [
        ("UPDATE books SET status = 'READ', page = change(id) WHERE user_id = $1", ["change"]),
        ("(started_at, page) = (SELECT r.a, r.b FROM change(b.id) r)", ["change"]),
        ("SELECT change($1)", []),
        ("SELECT c.outcome FROM change($1) c WHERE c.outcome = 'DONE'", []),
        ("kept := (SELECT a FROM change(book))", []),
        ("UPDATE books SET page = compute(id) WHERE user_id = $1", []),
    ])
    func findsAssignedWriters(sql: String, writers: [String]) {
        #expect(Self.assignedWriters(sql, ["change"]) == writers)
    }

    @Test(arguments: [
        ("ON CONFLICT (id) DO UPDATE SET updated_at = now()", true),
        ("ON CONFLICT (id) DO UPDATE SET until = clock_timestamp()", true),
        (
            "VALUES ($1, now()) ON CONFLICT (id) DO UPDATE SET at = excluded.at RETURNING now()",
            false
        ),
        ("UPDATE books SET updated_at = now() WHERE user_id = $1", false),
    ])
    func findsClocksInUpdates(sql: String, isFound: Bool) {
        #expect(Self.hasClockInUpdate(sql) == isFound)
    }

    @Test(arguments: [
        ("FROM books b JOIN reviews r ON r.book_id = b.id WHERE r.user_id = $1", ["reviews"]),
        ("FROM books b JOIN reviews r ON r.user_id = b.user_id AND r.book_id = b.id", []),
        ("FROM books b JOIN reviews r USING (user_id, book_id)", []),
        ("FROM books b LEFT JOIN editions e ON e.id = b.edition_id", []),
    ])
    func findsJoinsWithoutTheUser(sql: String, tables: [String]) throws {
        #expect(try Self.tablesJoinedWithoutUser(sql, SQLSources.tables()) == tables)
    }
}
