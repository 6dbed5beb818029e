/// The parts of a statement by which the status and the page of books change their reads.
///
/// Each is a common table expression of a statement that updates `books b`. They read the rows of an expression with the name
/// `changed`: the columns `id` and `old_status` of each book, `status`, the new status or NULL, `page`, the new page or NULL, and
/// `today`.
/// PostgreSQL plans all parts of a statement, so a statement contains only those that it may need.
enum StatusReads {
    /// The current day of the reader. The function `reader_today` takes longer.
    static let today =
        "(SELECT to_char(now() AT TIME ZONE u.time_zone, 'YYYY-MM-DD') FROM users u WHERE u.id = $1)"

    /// Opens a read for each book that becomes READING, unless it has an open one.
    static let opened = """
        opened AS (
            INSERT INTO reads (user_id, id, book_id, started_on, outcome)
            SELECT $1, gen_random_uuid(), c.id, c.today, 'READING'
            FROM changed c
            WHERE c.status = 'READING'
                AND NOT EXISTS (
                    SELECT FROM reads o WHERE o.user_id = $1 AND o.book_id = c.id AND o.outcome = 'READING'
                )
                AND \(hasRoom)
            RETURNING id, book_id
        )
        """

    /// Ends the open read of each book that becomes READ or DID_NOT_FINISH.
    static let ended = """
        ended AS (
            UPDATE reads r
            SET outcome = CASE c.status WHEN 'READ' THEN 'FINISHED' ELSE 'DID_NOT_FINISH' END::read_outcome,
                -- The read may have started tomorrow, in another time zone.
                finished_on = greatest(c.today COLLATE "C", r.started_on),
                updated_at = now()
            FROM changed c
            WHERE r.user_id = $1
                AND r.book_id = c.id
                AND r.outcome = 'READING'
                AND c.status IN ('READ', 'DID_NOT_FINISH')
            RETURNING r.book_id
        )
        """

    /// Adds a finished read to each book that becomes READ without an open read, unless a read of it was finished today: the
    /// reader may have changed the status by mistake.
    static let added = """
        added AS (
            INSERT INTO reads (user_id, id, book_id, finished_on, outcome)
            SELECT $1, gen_random_uuid(), c.id, c.today, 'FINISHED'
            FROM changed c
            WHERE c.status = 'READ'
                AND c.old_status <> 'READ'
                AND NOT EXISTS (
                    SELECT
                    FROM reads o
                    WHERE o.user_id = $1
                        AND o.book_id = c.id
                        AND (o.outcome = 'READING' OR (o.outcome = 'FINISHED' AND o.finished_on = c.today))
                )
                AND \(hasRoom)
            RETURNING book_id
        )
        """

    /// Logs the new page as progress of the open read, unless it is the page of the newest entry.
    ///
    /// - Parameter opening: Whether the statement contains `opened`.
    static func logged(opening: Bool) -> String {
        """
        logged AS (
            INSERT INTO progress_entries (user_id, id, read_id, at, page)
            SELECT $1, gen_random_uuid(), k.id, now(), c.page
            FROM changed c
            CROSS JOIN LATERAL (
                SELECT o.id FROM reads o WHERE o.user_id = $1 AND o.book_id = c.id AND o.outcome = 'READING'
                \(opening ? "UNION ALL SELECT o.id FROM opened o WHERE o.book_id = c.id" : "")
            ) k
            WHERE c.page IS NOT NULL
                AND c.page IS DISTINCT FROM (
                    SELECT p.page
                    FROM progress_entries p
                    WHERE p.user_id = $1 AND p.read_id = k.id
                    ORDER BY p.at DESC, p.id DESC
                    LIMIT 1
                )
                AND (SELECT count(*) FROM progress_entries p WHERE p.user_id = $1 AND p.read_id = k.id)
                    < \(ProgressEntry.ofReadMax)
        )
        """
    }

    private static let hasRoom = """
        (SELECT count(*) FROM reads o WHERE o.user_id = $1 AND o.book_id = c.id) < \(Read.ofBookMax)
        """

    /// The parts that a statement needs that assigns only these statuses.
    static func parts(for statuses: [String]) -> [String] {
        (statuses.contains("READING") ? [opened] : [])
            + (statuses.contains { $0 == "READ" || $0 == "DID_NOT_FINISH" } ? [ended] : [])
            + (statuses.contains("READ") ? [added] : [])
    }

    /// Returns the values of the dates and the page of `books b`, which are those of the latest read.
    ///
    /// - Parameters:
    ///   - statuses: The statuses that the statement assigns.
    ///   - status: The expression of the new status.
    static func values(
        for statuses: [String], status: String
    ) -> (startedAt: String, finishedAt: String, page: String) {
        let isOpened = "EXISTS (SELECT FROM opened o WHERE o.book_id = b.id)"
        let isEnded = "EXISTS (SELECT FROM ended e WHERE e.book_id = b.id)"
        let isAdded = "EXISTS (SELECT FROM added a WHERE a.book_id = b.id)"
        var (started, finished, page) = ("", "", "")
        if statuses.contains("READING") {
            started += " WHEN \(isOpened) THEN now()"
            finished += " WHEN \(isOpened) THEN NULL"
            // A book that is read again starts without a page. The statement does not see the read that it opens.
            page += """
                 WHEN \(isOpened) AND EXISTS (SELECT FROM reads o WHERE o.user_id = $1 AND o.book_id = b.id) THEN NULL
                """
        }
        if statuses.contains("READ") {
            started += " WHEN \(isAdded) THEN NULL"
            finished += " WHEN \(isAdded) OR (\(isEnded) AND \(status) = 'READ') THEN now()"
        }
        if statuses.contains("DID_NOT_FINISH") { finished += " WHEN \(isEnded) THEN NULL" }
        func value(_ cases: String, else column: String) -> String {
            cases.isEmpty ? column : "CASE\(cases) ELSE \(column) END"
        }
        return (
            value(started, else: "b.started_at"), value(finished, else: "b.finished_at"),
            value(page, else: "b.current_page")
        )
    }
}
