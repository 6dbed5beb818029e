import Postgres
import Ranking

/// The statements that read a reader's signals and profile. `$1` is the reader.
///
/// A signal is the reader's opinion of a work. It comes from the strongest source: a review, otherwise a swipe, otherwise the book in
/// the library.
enum ReaderSignals {
    struct Profile: RowDecodable {
        /// Changes with the reader's signals, preferred genres, and languages. Read it before the signals, so that they are not
        /// older.
        let version: Int64
        let preferredGenres: [Int16]
        let languages: [String]
        /// The latest followed authors, at most 50, as hashes of the spellings of their names (`editions.first_author_hash`).
        let followedAuthors: [Int32]
        /// All languages of the catalog, the main one first.
        let catalogLanguages: [String]

        init?(_ row: inout RowReader) {
            guard let version = row.int64() else { return nil }
            self.version = version
            preferredGenres = row.int16s()
            languages = row.texts() ?? []
            followedAuthors = (row.texts() ?? []).compactMap { Int32($0) }
            catalogLanguages = row.texts() ?? []
        }
    }

    static let profile = TypedStatement<Profile>(
        """
        SELECT
            coalesce((SELECT f.signals_version FROM feed_readers f WHERE f.user_id = $1), 0),
            genre_ids(preferred_genres)::text[],
            languages,
            ARRAY(
                SELECT DISTINCT e.first_author_hash::text
                FROM (
                    SELECT f.person_id
                    FROM followed_authors f
                    WHERE f.user_id = $1
                    ORDER BY f.followed_at DESC
                    LIMIT 50
                ) f
                CROSS JOIN LATERAL (
                    SELECT e.first_author_hash, e.author_ids
                    FROM editions e
                    WHERE e.author_ids @> ARRAY[f.person_id]
                    LIMIT 100
                ) e
                WHERE e.author_ids[1] = f.person_id
            ),
            ARRAY(
                SELECT coalesce(main_language, '')
                FROM feed_state
                UNION ALL
                (
                    SELECT l.language
                    FROM catalog_languages l
                    WHERE l.language <> '' AND l.editions > 0 AND l.language IS DISTINCT FROM (SELECT main_language FROM feed_state)
                    ORDER BY l.editions DESC, l.language
                )
            )
        FROM users
        WHERE id = $1
        """)

    struct Signal: RowDecodable {
        /// The founder of the work that the signal is about.
        let id: UUID
        /// The number of the record that the signal is about (`editions.number`).
        let number: Int64
        /// The language of the record that the signal is about, as in `edition_genres`.
        let language: String
        let signal: ReaderSignal

        init?(_ row: inout RowReader) {
            guard let id = row.uuid() else { return nil }
            self.id = id
            number = row.int64() ?? 0
            language = row.text() ?? ""
            signal = ReaderSignal(
                weight: Float(row.float8() ?? 0), newer: Float(row.float8() ?? 0),
                traits: BookTraits(&row))
        }
    }

    /// The reader's last 300 signals, newest first. `newer` is the number of positive signals that are newer, counting those of
    /// the same time by half.
    ///
    /// Relies on this plan: the reader's reviews, swipes, and books by the prefix of their keys, then the 300 editions by key.
    static let latest = TypedStatement<Signal>(
        """
        SELECT
            s.founder_id,
            e.number,
            (SELECT f.language FROM edition_genres f WHERE f.edition_id = s.edition_id AND f.ordinal = 1),
            s.voice::float8,
            s.newer,
            \(BookTraits.columns(of: "e"))
        FROM (
            SELECT
                edition_id,
                founder_id,
                voice,
                at,
                greatest(
                    0,
                    (
                        count(*) FILTER (WHERE voice > 0) OVER until_then
                        + count(*) FILTER (WHERE voice > 0) OVER later
                        - 1
                    ) / 2.0
                )::float8 AS newer
            FROM (
                SELECT edition_id, founder_id, voice, at
                FROM reader_signals
                WHERE user_id = $1
                ORDER BY at DESC
                LIMIT 300
            ) latest
            WINDOW
                until_then AS (ORDER BY at DESC),
                later AS (ORDER BY at DESC RANGE UNBOUNDED PRECEDING EXCLUDE GROUP)
        ) s
        CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = s.edition_id OFFSET 0) e
        ORDER BY s.at DESC
        """)
}

extension BookTraits {
    /// The columns of an edition that the initializer reads.
    ///
    /// - Parameter genres: The expression for the genres as text, in the order of their ordinals. By default, a subquery reads them.
    static func columns(of edition: String, genres: String? = nil) -> String {
        let subquery = """
            ARRAY(
                SELECT f.genre_id::text
                FROM edition_genres f
                WHERE f.edition_id = \(edition).id AND f.genre_id <> 0
                ORDER BY f.ordinal
            )
            """
        return """
            \(genres ?? subquery),
            \(edition).first_author_hash,
            \(edition).series_key,
            \(edition).series_number
            """
    }

    init(_ row: inout RowReader) {
        self.init(
            genres: row.int16s(), author: row.int32() ?? 0, series: row.int64() ?? 0,
            seriesPosition: row.float8().map { Float($0) })
    }
}

extension RowReader {
    /// Reads an array of genres, as text.
    mutating func int16s() -> [Int16] { (texts() ?? []).compactMap { Int16($0) } }
}
