-- Why: a book can be read several times. Each reading has its own dates and progress, which a later one does not overwrite. Readers keep
-- notes and set goals for a year.

CREATE TYPE read_outcome AS ENUM ('READING', 'FINISHED', 'DID_NOT_FINISH');
CREATE TYPE read_format AS ENUM ('PRINT', 'EBOOK', 'AUDIO');

-- A year, a month, or a day: 2019, 2019-05, 2019-05-01. Readers often know only the year. The texts sort by time, and a year
-- sorts before its months.
CREATE DOMAIN partial_date AS text COLLATE "C"
    CONSTRAINT partial_date_check CHECK (
        CASE
            WHEN VALUE IS NULL OR VALUE ~ '^[1-9][0-9]{3}(-(0[1-9]|1[0-2]))?$' THEN true
            WHEN VALUE ~ '^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' THEN
                substr(VALUE, 9)::int <= extract(
                    day FROM make_date(left(VALUE, 4)::int, substr(VALUE, 6, 2)::int, 1) + interval '1 month -1 day'
                )
            ELSE false
        END
    );

-- Domains, and not constraints of the tables, for the reason given at `books`.
CREATE DOMAIN read_note AS text
    CONSTRAINT reads_note_check CHECK (char_length(VALUE) BETWEEN 1 AND 10000);
CREATE DOMAIN read_length AS int
    CONSTRAINT reads_length_seconds_check CHECK (VALUE > 0);
CREATE DOMAIN progress_page AS int
    CONSTRAINT progress_entries_page_check CHECK (VALUE >= 0);
CREATE DOMAIN progress_percent AS float8
    CONSTRAINT progress_entries_percent_check CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN progress_seconds AS int
    CONSTRAINT progress_entries_seconds_check CHECK (VALUE >= 0);
CREATE DOMAIN progress_note AS text
    CONSTRAINT progress_entries_note_check CHECK (char_length(VALUE) BETWEEN 1 AND 10000);

-- PostgreSQL parses the check constraints and the expressions of generated columns again for each statement that writes to a table. A
-- call of a PL/pgSQL function is short, and a STRICT function is not executed for a null. The functions are here, and not in
-- migrations/functions, because the table depends on them.

-- Returns the first key of the order of reads. An open read comes after all others, and a read without a date before them.
CREATE FUNCTION read_order(outcome read_outcome, started_on text, finished_on text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN CASE WHEN outcome = 'READING' THEN '~' ELSE coalesce(finished_on, started_on, '') END;
END
$$;

-- Returns whether the second date is not before the first one, as for a read or a loan. Dates are compared as far as both are known: a
-- read of 2019-05 may have started in 2019.
CREATE FUNCTION are_dates_in_order(started_on text, finished_on text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    known CONSTANT int := least(length(started_on), length(finished_on));
BEGIN
    RETURN left(finished_on, known) COLLATE "C" >= left(started_on, known) COLLATE "C";
END
$$;

-- The readings of the books of a library. The columns started_at, finished_at, and current_page of `books` follow from the
-- latest read: every statement that changes reads maintains them, so that a list of books needs no read.
CREATE TABLE reads (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    book_id uuid NOT NULL,
    -- The days in the time zone that the reader had then.
    started_on partial_date,
    -- The last day, also of a read that was given up. Null if the read is open.
    finished_on partial_date,
    outcome read_outcome NOT NULL,
    format read_format,
    -- The length of an audiobook.
    length_seconds read_length,
    note read_note,
    -- Copies of the page count, the genre, the first author, and the moods of the book, so that `reading_counts` follows from the reads
    -- alone. A statement that adds a read copies them, and a trigger of `books` updates them.
    page_count int,
    genre text,
    author_id uuid,
    author text,
    -- Null without moods, which most books do not have.
    moods text[],
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    -- The first key of the order of reads: the latest read of a book has the greatest (sorted_on, created_at, id). An open read
    -- comes after all others, and a read without a date before them.
    sorted_on text COLLATE "C" NOT NULL GENERATED ALWAYS AS (read_order(outcome, started_on, finished_on)) STORED,
    finished_year int GENERATED ALWAYS AS (left(finished_on, 4)::int) STORED,
    PRIMARY KEY (user_id, id),
    CONSTRAINT reads_open_check CHECK (outcome <> 'READING' OR finished_on IS NULL),
    CONSTRAINT reads_dates_check CHECK (are_dates_in_order(started_on, finished_on)),
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE reads ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE reads ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE UNIQUE INDEX reads_open ON reads (user_id, book_id)
    WHERE outcome = 'READING';
CREATE INDEX reads_of_book ON reads (user_id, book_id, sorted_on, created_at, id);
CREATE INDEX reads_of_user ON reads (user_id, sorted_on, created_at, id);
-- The first and the last read of a year.
CREATE INDEX reads_finished ON reads (user_id, finished_on, id)
    WHERE outcome = 'FINISHED';
-- The longest and the shortest book, of all and of a year.
CREATE INDEX reads_lengths ON reads (user_id, page_count, book_id)
    WHERE outcome = 'FINISHED' AND page_count IS NOT NULL;
CREATE INDEX reads_lengths_of_year ON reads (user_id, finished_year, page_count, book_id)
    WHERE outcome = 'FINISHED' AND page_count IS NOT NULL;
-- The first spelling of the name of an author.
CREATE INDEX reads_authors ON reads (user_id, author_id, author COLLATE "C")
    WHERE outcome = 'FINISHED' AND author_id IS NOT NULL;
-- A filter of lists. Without row-level security, PostgreSQL would compare the format with an index, too.
CREATE INDEX reads_with_format ON reads (user_id, book_id) INCLUDE (format)
    WHERE format IS NOT NULL;

COMMENT ON TABLE reads IS 'The times that a reader has read a book.';
COMMENT ON COLUMN reads.started_on IS 'A year, a month, or a day in the time zone that the reader had then.';
COMMENT ON COLUMN reads.finished_on IS
    'The last day, also of a read that was given up. Null for an open read, or if it is not known.';
COMMENT ON COLUMN reads.outcome IS 'READING: the read is open. A book has at most one open read.';
COMMENT ON COLUMN reads.length_seconds IS 'The length of an audiobook.';
COMMENT ON COLUMN reads.page_count IS 'A copy of the column of `books`, for statistics, like `genre`, `author_id`, `author`, and `moods`.';
COMMENT ON COLUMN reads.sorted_on IS
    'The first part of the order of reads: `finished_on` or `started_on`, or `~` for an open read, which is the last one.';

-- How far the reader was at a point in time. The entries of a read are a set in the order of (at, id).
CREATE TABLE progress_entries (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    read_id uuid NOT NULL,
    at timestamptz NOT NULL,
    -- The position as the reader gave it: exactly one of the three. The others follow from the length of the book.
    page progress_page,
    percent progress_percent,
    seconds progress_seconds,
    note progress_note,
    -- When the devices made the changes that are stored; null for a value of the first version. A change that was made earlier
    -- and arrives later is ignored, so the devices end with the same values, whatever the order in which they send changes.
    at_changed_at timestamptz,
    position_changed_at timestamptz,
    note_changed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    CONSTRAINT progress_entries_position_check CHECK (num_nonnulls(page, percent, seconds) = 1),
    FOREIGN KEY (user_id, read_id) REFERENCES reads ON DELETE CASCADE
);
ALTER TABLE progress_entries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE progress_entries ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE INDEX progress_entries_of_read ON progress_entries (user_id, read_id, at, id);

COMMENT ON TABLE progress_entries IS 'How far a reader was at a time. An entry has one position: a page, a percentage, or seconds.';
COMMENT ON COLUMN progress_entries.at IS 'When the reader was at the position.';
COMMENT ON COLUMN progress_entries.percent IS 'From 0 to 100.';
COMMENT ON COLUMN progress_entries.seconds IS 'The position in an audiobook.';
COMMENT ON COLUMN progress_entries.at_changed_at IS
    'When the device changed `at`; null for the first value. A change that was made earlier and arrives later is ignored.';
COMMENT ON COLUMN progress_entries.position_changed_at IS 'When the device changed the position, as for `at_changed_at`.';
COMMENT ON COLUMN progress_entries.note_changed_at IS 'When the device changed the note, as for `at_changed_at`.';

-- The ids of deleted reads, entries, and notes. A device that repeats the creation of one, because it lost the response, does not
-- bring it back.
CREATE TABLE reading_tombstones (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id)
);
ALTER TABLE reading_tombstones ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE reading_tombstones IS
    'The ids of deleted reads, progress entries, goals, and notes, so that a repeated request does not create them again.';

-- The days with progress or with a finished book, in the time zone of the user, for reading streaks. Converting the times of 20,000 entries takes four
-- times as long as a request may. Triggers of `progress_entries`, `reads`, and `users` maintain the table.
CREATE TABLE reading_days (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    day date NOT NULL,
    -- The number of entries and of finished books of the day, at least 1.
    entry_count int NOT NULL,
    PRIMARY KEY (user_id, day)
);
ALTER TABLE reading_days ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE reading_days IS 'The days with progress or a finished book in the time zone of the reader, for streaks. Triggers maintain it.';
COMMENT ON COLUMN reading_days.entry_count IS 'The number of entries and of finished books of the day, at least 1.';

-- The numbers of finished reads and of ratings of each reader, by year and in total, so that statistics do not read all reads. Triggers of
-- `reads` and `reviews` maintain this table and the next one (reading_counts.sql).
--
-- `kind` is a text: with row-level security, PostgreSQL does not compare values of an enum with an index.
CREATE TABLE reading_counts (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    -- READS, BOOKS, GIVEN_UP, MONTH, FORMAT, or RATING.
    kind text COLLATE "C" NOT NULL,
    -- 0 for all years, which also contains reads without a date.
    year int NOT NULL,
    -- The month (01 to 12), the format, or the rating in quarter stars (0 without one). Otherwise empty.
    key text COLLATE "C" NOT NULL,
    number int NOT NULL,
    -- Of READS, MONTH, and FORMAT.
    pages bigint NOT NULL DEFAULT 0,
    seconds bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, kind, year, key)
) WITH (fillfactor = 50);
ALTER TABLE reading_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE reading_counts ALTER COLUMN user_id SET (n_distinct = -0.01);

COMMENT ON TABLE reading_counts IS
    'The numbers of finished reads and of ratings by year and in total. Triggers maintain the table. A number can be 0.';
COMMENT ON COLUMN reading_counts.kind IS
    'READS and GIVEN_UP: reads. BOOKS: different finished books. RATING: reviews, by year only those of books that were finished in it.';
COMMENT ON COLUMN reading_counts.year IS '0 for all years, which also contains reads without a date.';
COMMENT ON COLUMN reading_counts.key IS 'The month, the format, or the rating in quarter stars (0 without one). Otherwise empty.';

-- The numbers of finished reads by genre, author, and mood. A reader can have thousands of authors, so an index has the order of the numbers. In the
-- table above, such an index would prevent HOT updates.
CREATE TABLE reading_top_counts (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    -- GENRE, AUTHOR, or MOOD.
    kind text COLLATE "C" NOT NULL,
    -- 0 for all years.
    year int NOT NULL,
    -- The genre, the id of the author, or the mood.
    key text COLLATE "C" NOT NULL,
    number int NOT NULL,
    PRIMARY KEY (user_id, kind, year, key)
) WITH (fillfactor = 80);
ALTER TABLE reading_top_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE reading_top_counts ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE INDEX reading_top_counts_order ON reading_top_counts (user_id, kind, year, number DESC, key);

COMMENT ON TABLE reading_top_counts IS
    'The numbers of finished reads by genre, author, and mood. Triggers maintain the table. A number can be 0.';
COMMENT ON COLUMN reading_top_counts.year IS '0 for all years, which also contains reads without a date.';
COMMENT ON COLUMN reading_top_counts.key IS 'The genre, the id of the author, or the mood.';

-- A transaction of many statements adds a row for each reader whose numbers it counts again when it ends. It deletes the row then, so the table
-- is empty.
CREATE TABLE reading_recounts (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE
);
ALTER TABLE reading_recounts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE reading_recounts IS 'Readers whose numbers of reads and days the current transaction counts again when it ends.';

CREATE TYPE goal_unit AS ENUM ('BOOKS', 'PAGES', 'HOURS');

CREATE TABLE reading_goals (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    year int NOT NULL CHECK (year BETWEEN 1000 AND 9998),
    unit goal_unit NOT NULL,
    target int NOT NULL CHECK (target BETWEEN 1 AND 1000000),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    CONSTRAINT reading_goals_of_year UNIQUE (user_id, year, unit)
);
ALTER TABLE reading_goals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE reading_goals ALTER COLUMN user_id SET (n_distinct = -0.01);

COMMENT ON TABLE reading_goals IS 'The goals of readers for years.';
COMMENT ON COLUMN reading_goals.target IS 'The number of books, pages, or hours.';


-- Domains, and not constraints of the table, for the reason given at `books`.
CREATE DOMAIN note_text AS text
    CONSTRAINT notes_text_check CHECK (char_length(VALUE) BETWEEN 1 AND 10000);
CREATE DOMAIN note_comment AS text
    CONSTRAINT notes_comment_check CHECK (char_length(VALUE) BETWEEN 1 AND 10000);
CREATE DOMAIN note_chapter AS text
    CONSTRAINT notes_chapter_check CHECK (char_length(VALUE) BETWEEN 1 AND 500);

-- The functions are here, and not in migrations/functions, because an index stores their results.

-- Returns the beginning of the keys of a reader in `notes_search`. All readers share the index. Without the beginning, a search
-- would read the entries of a word for all of them.
CREATE FUNCTION note_key_prefix(owner uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT to_hex(hashtextextended(owner::text, 0))
$$;

-- Returns the keys by which a search finds a note: its folded words (search_terms). A search compares at most the first 200 characters of a
-- word.
CREATE FUNCTION note_search_keys(owner uuid, text text, comment text, chapter text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    prefix text := public.note_key_prefix(owner) || ' ';
BEGIN
    RETURN array_to_tsvector(
        ARRAY(
            SELECT DISTINCT prefix || left(word, 200)
            FROM string_to_table(public.search_terms(public.search_fold(concat_ws(' ', text, comment, chapter))), ' ') word
            WHERE word <> ''
        )
    );
END
$$;

-- The quotes and thoughts of a library.
CREATE TABLE notes (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    book_id uuid NOT NULL,
    -- The words of the book.
    text note_text,
    -- The reader's own words.
    comment note_comment,
    chapter note_chapter,
    color label_color,
    -- The position as the reader gave it: at most one of the three. The others follow from the length of the book.
    page progress_page,
    percent progress_percent,
    seconds progress_seconds,
    -- When the reader made the note, which an e-reader may send later.
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    CONSTRAINT notes_content_check CHECK (text IS NOT NULL OR comment IS NOT NULL),
    CONSTRAINT notes_position_check CHECK (num_nonnulls(page, percent, seconds) <= 1),
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE notes ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE INDEX notes_of_book ON notes (user_id, book_id);
CREATE INDEX notes_of_user ON notes (user_id, created_at, id);

-- Without a pending list, which every search would have to read.
CREATE INDEX notes_search ON notes USING gin (
    note_search_keys(user_id, text, comment, chapter)
) WITH (fastupdate = off);

COMMENT ON TABLE notes IS
    'Quotes from books and thoughts about them. A note has at most one position: a page, a percentage, or seconds.';
COMMENT ON COLUMN notes.text IS 'The words of the book.';
COMMENT ON COLUMN notes.comment IS 'The reader''s own words.';
COMMENT ON COLUMN notes.percent IS 'From 0 to 100.';
COMMENT ON COLUMN notes.seconds IS 'The position in an audiobook.';
COMMENT ON COLUMN notes.created_at IS 'When the reader made the note. An e-reader may send it later.';

-- The copies of books that readers own, with the loan of a copy that is lent.
CREATE TABLE book_copies (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    book_id uuid NOT NULL,
    format text CHECK (char_length(format) BETWEEN 1 AND 100),
    place text CHECK (char_length(place) BETWEEN 1 AND 100),
    note text CHECK (char_length(note) BETWEEN 1 AND 1000),
    -- The loan, if the copy is lent. The client chooses its id, so that a repeated request does not lend a copy again that has come back.
    loan_id uuid,
    borrower text CHECK (char_length(borrower) BETWEEN 1 AND 200),
    lent_on partial_date,
    due_on partial_date,
    -- Ended loans as JSON, the latest first: {"id": "…", "borrower": "…", "lentOn": "…", "dueOn": "…", "returnedOn": "…"}.
    past_loans jsonb NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    CONSTRAINT book_copies_loan_check CHECK (
        CASE
            WHEN loan_id IS NULL THEN num_nonnulls(borrower, lent_on, due_on) = 0
            ELSE num_nonnulls(borrower, lent_on) = 2
        END
    ),
    CONSTRAINT book_copies_dates_check CHECK (are_dates_in_order(lent_on, due_on)),
    CONSTRAINT book_copies_past_loans_check CHECK (jsonb_array_length(past_loans) <= 20),
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE book_copies ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE book_copies ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE INDEX book_copies_of_book ON book_copies (user_id, book_id);
-- The copies that are lent, those that are due first.
CREATE INDEX book_copies_lent ON book_copies (user_id, coalesce(due_on, '~'), id)
    INCLUDE (book_id)
    WHERE loan_id IS NOT NULL;

COMMENT ON TABLE book_copies IS 'The copies of books that readers own. A reader owns a book that has a copy.';
COMMENT ON COLUMN book_copies.format IS 'The format or the edition in the reader''s words.';
COMMENT ON COLUMN book_copies.place IS 'Where the copy is, in the reader''s words.';
COMMENT ON COLUMN book_copies.note IS 'The condition, or anything else that the reader notes about the copy.';
COMMENT ON COLUMN book_copies.loan_id IS 'The id of the loan; null if the copy is not lent.';
COMMENT ON COLUMN book_copies.borrower IS 'The person to whom the copy is lent.';
COMMENT ON COLUMN book_copies.past_loans IS 'The last loans that have ended, at most 20, the latest first.';

CREATE TYPE scan_outcome AS ENUM ('FOUND', 'UNKNOWN', 'FAILED');

-- The ISBNs that readers have scanned, at most 1,000 of each reader.
CREATE TABLE scans (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    isbn13 text NOT NULL CHECK (isbn13 ~ '^97[89][0-9]{10}$'),
    -- By the clock of the device, and at most `recorded_at`.
    scanned_at timestamptz NOT NULL,
    outcome scan_outcome NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id)
);
ALTER TABLE scans ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE scans ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE INDEX scans_history ON scans (user_id, scanned_at, id);

COMMENT ON TABLE scans IS 'The ISBNs that readers have scanned. Those that were recorded first are deleted when a reader has more than 1,000.';
COMMENT ON COLUMN scans.scanned_at IS 'The time of the device, at most that of the server.';
COMMENT ON COLUMN scans.outcome IS
    'FOUND: the catalog or a source knew the ISBN. UNKNOWN: none did. FAILED: no source could be asked.';
COMMENT ON COLUMN scans.recorded_at IS 'When the server stored the scan; `scanned_at` for a scan of an archive.';

-- Links by which readers share a shelf, a review, a note, or the reading of a year. Anyone who has a link can see this object, and
-- nothing else. A link ends when its row is deleted, also with its object or its account, by the foreign keys. They need no indexes of
-- their own: a reader has at most 100 links.
CREATE TABLE shared_links (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    -- SHA-256 of the token in the address, which has 144 bits. The token itself is not stored.
    token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
    -- From this and the key of the installation, the server calculates the token again for the reader's list of links.
    seed uuid NOT NULL,
    -- Exactly one of the four is set.
    shelf_id uuid,
    review_id uuid,
    note_id uuid,
    year int,
    -- Whether the page shows the name of the reader.
    shows_name boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    PRIMARY KEY (user_id, id),
    CONSTRAINT shared_links_item_check CHECK (num_nonnulls(shelf_id, review_id, note_id, year) = 1),
    FOREIGN KEY (user_id, shelf_id) REFERENCES shelves ON DELETE CASCADE,
    FOREIGN KEY (user_id, review_id) REFERENCES reviews (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, note_id) REFERENCES notes ON DELETE CASCADE
);
ALTER TABLE shared_links ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Not unique: a violation would reveal a row of another reader. Two tokens of 144 random bits are never equal.
CREATE INDEX shared_links_token_hash ON shared_links (token_hash);

COMMENT ON TABLE shared_links IS 'The links by which readers share something. Deleting a row ends the link.';
COMMENT ON COLUMN shared_links.token_hash IS 'SHA-256 of the token in the address. The token is not stored.';
COMMENT ON COLUMN shared_links.seed IS
    'The server calculates the token from it, the id, and the key of the installation, for the reader''s list of links.';
COMMENT ON COLUMN shared_links.shelf_id IS 'The shared shelf. Exactly one of this and the next three columns is set.';
COMMENT ON COLUMN shared_links.shows_name IS 'Whether the name of the reader is shown to those who have the link.';
