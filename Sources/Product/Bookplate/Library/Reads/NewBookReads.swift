/// The parts of the statement of `BookCreation` that add the reads of the book: the JSON list `$21`.
enum NewBookReads {
    /// Returns the condition that the chosen id of a read of the JSON list belongs to another object. `$1` is the user, and `$2`
    /// the id of the book. A repeated request finds its own reads.
    static func isTaken(_ reads: String) -> String {
        """
        EXISTS (
          SELECT
          FROM jsonb_to_recordset(\(reads)) AS g (id uuid, "isIDChosen" boolean)
          WHERE g."isIDChosen"
            AND (
              g.id = $2
              OR is_other_object($1, g.id)
              OR EXISTS (SELECT FROM reads r WHERE r.user_id = $1 AND r.id = g.id AND r.book_id <> $2)
              OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = $1 AND p.id = g.id)
              OR EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = $1 AND t.id = g.id)
            )
        )
        """
    }

    /// The part that inserts the reads.
    static let added = """
        , added_reads AS (
          INSERT INTO reads (
            user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, page_count, genre,
            author_id, author
          )
          SELECT
            $1,
            g.id,
            created.id,
            CASE WHEN g."startsToday" THEN reader_today($1) ELSE g."startedOn" END,
            CASE WHEN g."endsToday" THEN reader_today($1) ELSE g."finishedOn" END,
            g.outcome,
            g.format,
            g."lengthSeconds",
            g.note,
            created.page_count,
            created.genre,
            created.author_ids[1],
            left(created.authors[1], 200)
          FROM created,
            jsonb_to_recordset($21) AS g (
              id uuid, "startsToday" boolean, "startedOn" text, "endsToday" boolean, "finishedOn" text,
              outcome read_outcome, format read_format, "lengthSeconds" int, note text
            )
        )
        """
}
