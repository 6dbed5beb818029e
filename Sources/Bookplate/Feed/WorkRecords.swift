/// SQL conditions that keep a second record of a work out of the feed.
///
/// `work_records` lists the records of works that the catalogue has more than once, the best record of each with rank 1.
/// Most editions are not in that table, so for them each condition is one look-up by primary key. `$1` is the reader.
enum WorkRecords {
    /// The condition that the feed may show this edition as far as other records of its work are concerned: it is the first
    /// record, and the reader had not seen another one at the instant `until`.
    static func isRecordToShow(_ edition: String, until: String) -> String {
        """
        NOT EXISTS (SELECT FROM work_records w WHERE w.edition_id = \(edition) \
        AND (w.rank > 1 OR was_other_record_seen($1, w.edition_id, \(until))) OFFSET 0)
        """
    }

    /// The condition that the reader had not seen another record of the work at the instant `until`. Records that were
    /// skipped at `skippedAfter` or earlier do not count. The rank of the edition does not matter.
    static func isOtherRecordUnseen(
        _ edition: String, until: String, skippedAfter: String
    ) -> String {
        """
        NOT EXISTS (SELECT FROM work_records w WHERE w.edition_id = \(edition) \
        AND was_other_record_seen($1, w.edition_id, \(until), \(skippedAfter)) OFFSET 0)
        """
    }

    /// A query for the first records of the works that the `edition_id` column of `table` belongs to.
    static func firstRecords(of table: String) -> String {
        """
        SELECT first.edition_id FROM \(table) t JOIN work_records w ON w.edition_id = t.edition_id \
        JOIN work_records first ON first.work_key = w.work_key AND first.volume = w.volume AND first.rank = 1
        """
    }
}
