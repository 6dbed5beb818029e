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

    /// A subquery for the first record of an edition's work: one row, or none for the only record of a work. It is to be
    /// joined laterally, so that PostgreSQL looks up each edition instead of reading the whole table.
    static func firstRecord(of edition: String) -> String {
        """
        (SELECT first.edition_id FROM (SELECT w.work_key, w.volume FROM work_records w \
        WHERE w.edition_id = \(edition) OFFSET 0) w CROSS JOIN LATERAL (SELECT r.edition_id FROM work_records r \
        WHERE r.work_key = w.work_key AND r.volume = w.volume AND r.rank = 1 OFFSET 0) first)
        """
    }
}
