-- Why: readers keep quotes and thoughts, and search them.

CREATE TYPE note_color AS ENUM ('YELLOW', 'ORANGE', 'RED', 'PINK', 'PURPLE', 'BLUE', 'GREEN', 'GRAY');

-- Domains, and not constraints of the table, for the reason given at `books`.
CREATE DOMAIN note_text AS text
    CONSTRAINT notes_text_check CHECK (char_length(VALUE) BETWEEN 1 AND 10000);
CREATE DOMAIN note_comment AS text
    CONSTRAINT notes_comment_check CHECK (char_length(VALUE) BETWEEN 1 AND 10000);
CREATE DOMAIN note_chapter AS text
    CONSTRAINT notes_chapter_check CHECK (char_length(VALUE) BETWEEN 1 AND 500);

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
    color note_color,
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
CREATE INDEX notes_of_book ON notes (user_id, book_id);
CREATE INDEX notes_of_user ON notes (user_id, created_at, id);

-- The functions are here, and not in migrations/functions, because an index stores their results.

-- Returns the beginning of the keys of a reader in `notes_search`. All readers share the index. Without the beginning, a search
-- would read the entries of a word for all of them.
CREATE FUNCTION note_key_prefix(owner uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT to_hex(hashtextextended(owner::text, 0))
$$;

-- Returns the keys by which a search finds a note: its folded words. A search compares at most the first 200 characters of a
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
            FROM string_to_table(public.search_fold(concat_ws(' ', text, comment, chapter)), ' ') word
            WHERE word <> ''
        )
    );
END
$$;

-- Without a pending list, which every search would have to read.
CREATE INDEX notes_search ON notes USING gin (
    note_search_keys(user_id, text, comment, chapter)
) WITH (fastupdate = off);
