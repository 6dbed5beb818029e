/// SQL conditions that exclude further records of the same work from the feed.
///
/// A record is an edition of the catalog, and a work is all records of the same book. Its founder, the oldest record, identifies
/// it. `work_records` contains the records of works that the catalog has more than once; the best record of each has rank 1.
/// Most editions are not in that table, so each condition usually costs one lookup by primary key. `$1` is the reader.
enum WorkRecords {
    /// Returns the condition that the edition is the first record of its work, and that the reader has not seen another record
    /// of it.
    static func isRecordToShow(_ edition: String) -> String {
        """
        NOT EXISTS (
            SELECT
            FROM work_records w
            WHERE w.edition_id = \(edition)
                AND (w.rank > 1 OR was_other_record_seen($1, w.edition_id, now()))
            OFFSET 0
        )
        """
    }

    /// Returns the condition that the reader has not seen another record of the work. Records that were skipped at
    /// `skippedAfter` or earlier do not count. The rank of the edition does not matter.
    static func isOtherRecordUnseen(_ edition: String, skippedAfter: String) -> String {
        """
        NOT EXISTS (
            SELECT
            FROM work_records w
            WHERE w.edition_id = \(edition)
                AND was_other_record_seen($1, w.edition_id, now(), \(skippedAfter))
            OFFSET 0
        )
        """
    }

    /// Returns a subquery for the first record of an edition's work: one row, or none if the work has only one record. Use it
    /// in a lateral join, so that PostgreSQL looks up each edition instead of reading the whole table.
    static func firstRecord(of edition: String) -> String {
        """
        (
            SELECT first.edition_id
            FROM (
                SELECT w.founder_id
                FROM work_records w
                WHERE w.edition_id = \(edition)
                OFFSET 0
            ) w
            CROSS JOIN LATERAL (
                SELECT r.edition_id
                FROM work_records r
                WHERE r.founder_id = w.founder_id AND r.rank = 1
                OFFSET 0
            ) first
        )
        """
    }
}
