/// SQL conditions about the records of works.
///
/// A record is an edition of the catalog, and a work is all records of the same book. Its founder, the oldest record, identifies
/// it. `work_records` contains the records of works that the catalog has more than once. The feed shows one of them, which depends on
/// the reader's languages (`record_to_show`). Most editions are not in that table, so each condition usually costs one lookup by primary
/// key. Otherwise it also reads the first 50 records of the work, which are one range of the index `work_records_work`.
enum WorkRecords {
    /// Returns the condition that the edition is the record of its work to show, and that the reader has neither seen nor skipped
    /// another record of it. The query contains the tables `seen` and `skipped`.
    static func isRecordToShow(_ edition: String, languages: String) -> String {
        """
        NOT EXISTS (
            SELECT
            FROM work_records w
            WHERE w.edition_id = \(edition)
                AND (
                    record_to_show(w.founder_id, \(languages)) <> w.edition_id
                    OR \(hasOther(in: "seen"))
                    OR \(hasOther(in: "skipped"))
                )
            OFFSET 0
        )
        """
    }

    /// Returns the condition that the reader has not seen another record of the work. Another record may be the one to show.
    static func isOtherRecordUnseen(_ edition: String) -> String {
        """
        NOT EXISTS (
            SELECT
            FROM work_records w
            WHERE w.edition_id = \(edition) AND \(hasOther(in: "seen"))
            OFFSET 0
        )
        """
    }

    private static func hasOther(in table: String) -> String {
        """
        EXISTS (
            SELECT
            FROM work_records o
            WHERE o.founder_id = w.founder_id
                AND o.rank <= 50
                AND o.edition_id <> w.edition_id
                AND o.edition_id IN (SELECT edition_id FROM \(table))
            OFFSET 0
        )
        """
    }

    /// Returns the expression for the record to show of an edition's work: the edition itself if the work has only one record.
    static func recordToShow(of edition: String, languages: String) -> String {
        """
        coalesce(
            (SELECT record_to_show(w.founder_id, \(languages)) FROM work_records w WHERE w.edition_id = \(edition)),
            \(edition)
        )
        """
    }

    /// Returns the same expression for a query that joins `work_records w` to the edition with LEFT JOIN. PostgreSQL may then choose a hash
    /// join, which is cheaper than many lookups.
    static func joinedRecordToShow(of edition: String, languages: String) -> String {
        "CASE WHEN w.edition_id IS NULL THEN \(edition) ELSE record_to_show(w.founder_id, \(languages)) END"
    }
}
