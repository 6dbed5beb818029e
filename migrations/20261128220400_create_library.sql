-- Why: readers keep books on shelves and review them.

-- Every primary key starts with user_id, so an id that a client chooses can neither collide with nor reveal a row of
-- another user. Foreign keys contain user_id, too, so no row can refer to another user's library.

-- A statement has one plan for all users, chosen for a user with the average number of rows. If most libraries have one book, reading a
-- whole library appears to cost as little as finding a book in it, and a large library is read for each book. In tables with several
-- indexes for the rows of a user, and in tables that are read in pages, `n_distinct` therefore makes PostgreSQL expect 100 rows of each
-- user.

CREATE TYPE reading_status AS ENUM ('WANT_TO_READ', 'READING', 'READ', 'PAUSED', 'DID_NOT_FINISH');
CREATE TYPE cover_status AS ENUM ('NO_COVER', 'FETCHING', 'READY', 'NOT_FOUND', 'FAILED');

-- How a book got its edition: the reader chose its card (this includes saved cards), it has the edition's ISBN, it was imported
-- with an external id of the edition, or its title and author are those of the edition's work. In order of preference:
-- `match_books` sorts by it.
CREATE TYPE book_link AS ENUM ('CARD', 'ISBN', 'SOURCE', 'TITLE');

-- The functions of this file are here, and not in migrations/functions, because `books.link_keys` stores their results.

-- Returns the keys that a work may have in the catalog according to a title and an author that a person or an application
-- has written. They differ from `work_key` in two ways: the text may name several authors, of which each may be the first in
-- the catalog, and the title may contain the subtitle. `rest` is the text after the colon for keys of the text before it, and
-- null for keys of the whole title.
CREATE FUNCTION possible_work_keys(title text, author text) RETURNS TABLE (key bigint, rest text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 2
AS $$
DECLARE
    author_keys text[];
    name text;
BEGIN
    -- Most books have one author, and a title without a colon: then there is one key, and the query below takes most of the time.
    IF author !~* '[,;&/]|\mand\M' AND strpos(title, ':') = 0 THEN
        key := hashtextextended(public.title_key(title) || '|' || public.author_key(author), 0);
        IF key IS NOT NULL THEN
            RETURN NEXT;
        END IF;
        RETURN;
    END IF;
    author_keys := ARRAY[public.author_key(author)];
    IF author ~* '[,;&/]|\mand\M' THEN
        FOREACH name IN ARRAY (regexp_split_to_array(author, '\s*(?:[,;&/]|\mand\M)\s*', 'i'))[1:3] LOOP
            -- A single word is a part of "Family, First".
            IF name ~ '\S\s+\S' THEN
                author_keys := author_keys || public.author_key(name);
            END IF;
        END LOOP;
    END IF;
    RETURN QUERY
    SELECT DISTINCT ON (hashed.key) hashed.key, t.rest
    FROM (
        VALUES
            (public.title_key(title), NULL),
            (public.title_key(substring(title FROM '^([^:(\[]+):\s')), substring(title FROM '^[^:(\[]+:\s+(.*)$'))
    ) AS t (title, rest)
    CROSS JOIN unnest(author_keys) AS a (author)
    CROSS JOIN LATERAL (SELECT hashtextextended(t.title || '|' || a.author, 0) AS key) AS hashed
    WHERE hashed.key IS NOT NULL
    ORDER BY hashed.key, t.rest NULLS FIRST;
END
$$;

-- Returns the ISBN as a key that no work has, except by chance.
CREATE FUNCTION isbn_key(isbn13 text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT hashtextextended('isbn ' || isbn13, 0)
$$;

-- Returns the keys by which a new edition finds a book of a reader: its ISBN and its possible work keys, hashed.
CREATE FUNCTION book_link_keys(isbn13 text, title text, author text) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN array_remove(public.isbn_key(isbn13) || ARRAY(SELECT key FROM public.possible_work_keys(title, author)), NULL);
END
$$;

-- Returns the authors of a book as one text for `possible_work_keys`. Translators, illustrators, and others count only if there
-- is no author.
CREATE FUNCTION author_text(names text[], roles author_role[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    written text := '';
BEGIN
    IF cardinality(names) < 2 OR roles = '{}' THEN
        RETURN nullif(array_to_string(names, ', '), '');
    END IF;
    FOR position IN 1..cardinality(names) LOOP
        IF coalesce(roles[position], 'AUTHOR') = 'AUTHOR' THEN
            written := written || ', ' || names[position];
        END IF;
    END LOOP;
    RETURN coalesce(nullif(substring(written FROM 3), ''), array_to_string(names, ', '));
END
$$;

-- Returns the title by which books are sorted: without quotation marks at its beginning, and without the article of its language. The
-- language is a BCP 47 tag; null means English. A title that is only an article stays as it is. Sort the result with the collation
-- "und-x-icu".
--
-- PL/pgSQL prepares all branches of an expression that it reaches, so the most frequent language has a branch of its own.
CREATE FUNCTION title_sort_key(title text, language text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    -- The collation "C" makes the result the same in every database. It knows no case of letters that are not in ASCII.
    bare text := regexp_replace(title COLLATE "C", '^[[:space:]"''«»‹›„“”‚‘’¡¿([]+', '');
    articles text := '(?:the|an?) +';
BEGIN
    IF split_part(language, '-', 1) <> 'en' THEN
        articles := CASE split_part(language, '-', 1)
            WHEN 'de' THEN '(?:der|die|das|eine?) +'
            WHEN 'fr' THEN '(?:(?:les?|la|une?|des) +|l[''’] *)'
            WHEN 'es' THEN '(?:el|la|los|las|lo|una?|unos|unas) +'
            WHEN 'it' THEN '(?:(?:il|lo|la|i|gli|le|un|uno|una) +|(?:l|un|gl)[''’] *)'
            WHEN 'pt' THEN '(?:os?|as?|uma?|uns|umas) +'
            WHEN 'gl' THEN '(?:os?|as?|un|unha|uns|unhas) +'
            WHEN 'ca' THEN '(?:(?:el|la|els|les|una?|uns|unes) +|l[''’] *)'
            WHEN 'nl' THEN '(?:de|het|een|t) +'
            WHEN 'af' THEN '(?:die|n) +'
            WHEN 'sv' THEN '(?:en|ett|den|det|de) +'
            WHEN 'da' THEN '(?:en|et|den|det|de) +'
            WHEN 'no' THEN '(?:en|et|ei|den|det|de) +'
            WHEN 'nb' THEN '(?:en|et|ei|den|det|de) +'
            WHEN 'nn' THEN '(?:ein|eit|ei|den|det|dei) +'
            WHEN 'hu' THEN '(?:az?|egy) +'
            WHEN 'ro' THEN '(?:un|o) +'
            WHEN 'ga' THEN '(?:an|na) +'
            WHEN 'cy' THEN '(?:yr?) +'
            WHEN 'eo' THEN 'la +'
            WHEN 'el' THEN '(?:[οΟ]|[ηΗ]|[τΤ][οΟ]|[οΟ][ιΙ]|[τΤ][αΑ]|[έΈ]νας|[μΜ][ιί]α|[έΈ]να) +'
            WHEN 'ar' THEN 'ال'
        END;
    END IF;
    RETURN coalesce(nullif(regexp_replace(bare, '^' || articles || '(?=[^[:space:]])', '', 'i'), ''), nullif(bare, ''), title);
END
$$;

-- Returns the beginning of the keys of a reader in `books_search`. All readers share the index. Without the beginning, a search
-- would read the entries of a word for all of them. Two readers may have the same one.
CREATE FUNCTION book_key_prefix(owner uuid) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN lpad(to_hex(hashtext(owner::text)), 8, '0') || ' ';
END
$$;

-- Returns the signs of a text that a search for signs finds: all of them, except the usual punctuation of titles, which a title must
-- not share with letters or digits to be found by it.
CREATE FUNCTION searched_signs(title text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    signs text := regexp_replace(title, '[[:alnum:][:space:]]+', '', 'g');
BEGIN
    IF signs <> '' AND title ~ '[[:alnum:]]' THEN
        signs := regexp_replace(signs, '[-,.:;!?''"’‘“”()–—/&]+', '', 'g');
    END IF;
    IF signs = '' THEN
        RETURN '{}';
    END IF;
    RETURN (ARRAY(SELECT DISTINCT sign FROM regexp_split_to_table(signs, '') sign))[1:20];
END
$$;

-- Returns the keys by which a search of the library finds a book: its words, and for slight misspellings the words of at least four
-- letters in reverse. A misspelled word shares its first or its last letters with the right one. The folded title comes after `=`,
-- and signs after `!`. The first 2,000 letters count, and of a word the first 40.
CREATE FUNCTION book_search_keys(owner uuid, title text, search_text text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    prefix CONSTANT text := public.book_key_prefix(owner);
    keys text[] := ARRAY[prefix || '=' || coalesce(left(search_text, 40), '')];
    word text;
    sign text;
BEGIN
    FOREACH word IN ARRAY string_to_array(coalesce(left(search_text, 2000), ''), ' ') LOOP
        IF length(word) BETWEEN 4 AND 40 THEN
            keys := keys || (prefix || word);
            keys := keys || (prefix || '~' || reverse(word));
        ELSIF word > E'\n' THEN
            keys := keys || (prefix || left(word, 40));
        END IF;
    END LOOP;
    IF title ~ '[^[:alnum:][:space:]]' THEN
        FOREACH sign IN ARRAY public.searched_signs(title) LOOP
            keys := keys || (prefix || '!' || sign);
        END LOOP;
    END IF;
    RETURN array_to_tsvector(keys);
END
$$;

-- Returns a text that sorts without regard to case and accents in the order of bytes. Comparing two texts by a collation of Unicode takes
-- twenty times as long, and a new entry of an index is compared with about fifteen others.
CREATE FUNCTION sort_text(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF octet_length(value) = char_length(value) THEN
        RETURN lower(value COLLATE "C");
    END IF;
    RETURN lower(public.unaccent('public.unaccent'::regdictionary, normalize(value, NFKC)) COLLATE "und-x-icu");
END
$$;

-- Returns the text by which titles are sorted. PostgreSQL replaces a call of this function and of the next one by their bodies, which saves
-- a call of PL/pgSQL. Texts that are equal in their first 200 letters are sorted by their ids.
CREATE FUNCTION book_sort_title(title text, language text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT left(public.sort_text(public.title_sort_key(title, language)), 200)
$$;

-- Returns the text by which authors are sorted. Books without an author come last.
CREATE FUNCTION book_sort_author(author text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(left(public.sort_text(author), 100), U&'\+10FFFF')
$$;

-- The color of a shelf, or of the highlight of a note.
CREATE TYPE label_color AS ENUM ('YELLOW', 'ORANGE', 'RED', 'PINK', 'PURPLE', 'BLUE', 'GREEN', 'GRAY');

CREATE TABLE shelves (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    name text NOT NULL CHECK (name = btrim(name) AND char_length(name) BETWEEN 1 AND 100),
    position int NOT NULL,
    description text CHECK (char_length(description) BETWEEN 1 AND 1000),
    color label_color,
    -- Whether the shelf is the queue of the books that the reader wants to read next. A book leaves it when the reader starts it.
    is_up_next boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id)
);
ALTER TABLE shelves ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE shelves ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE UNIQUE INDEX shelves_name ON shelves (user_id, lower(name));
CREATE UNIQUE INDEX shelves_up_next ON shelves (user_id)
    WHERE is_up_next;

COMMENT ON TABLE shelves IS 'The shelves of a library.';
COMMENT ON COLUMN shelves.position IS 'The order of the shelves, ascending. After a merge or an import, numbers can be missing.';

COMMENT ON COLUMN shelves.is_up_next IS
    'Whether the shelf is the queue of the books that the reader wants to read next. A book leaves it when the reader starts it.';

-- PostgreSQL parses the check constraints of a table again for each statement that writes to it, which took a quarter of
-- the time of a status change. The constraints of a domain apply only to the columns that a statement assigns. Errors name
-- them, see `DatabaseError.swift`.
CREATE DOMAIN book_title AS text
    CONSTRAINT books_title_check CHECK (VALUE = btrim(VALUE) AND char_length(VALUE) BETWEEN 1 AND 500);
CREATE DOMAIN book_subtitle AS text
    CONSTRAINT books_subtitle_check CHECK (VALUE = btrim(VALUE) AND char_length(VALUE) BETWEEN 1 AND 500);
CREATE DOMAIN book_authors AS text[]
    CONSTRAINT books_authors_check CHECK (
        cardinality(VALUE) <= 50
        AND array_position(VALUE, NULL) IS NULL
        AND array_position(VALUE, '') IS NULL
        AND char_length(array_to_string(VALUE, '')) <= 25000
    );
CREATE DOMAIN book_isbn13 AS text
    CONSTRAINT books_isbn13_check CHECK (VALUE ~ '^97[89][0-9]{10}$');
CREATE DOMAIN book_category AS text
    CONSTRAINT books_category_check CHECK (char_length(VALUE) BETWEEN 1 AND 100);
CREATE DOMAIN book_genre AS text
    CONSTRAINT books_genre_check CHECK (char_length(VALUE) BETWEEN 1 AND 100);
CREATE DOMAIN book_series AS text
    CONSTRAINT books_series_check CHECK (VALUE = btrim(VALUE) AND char_length(VALUE) BETWEEN 1 AND 200);
CREATE DOMAIN book_series_position AS text
    CONSTRAINT books_series_position_check CHECK (char_length(VALUE) BETWEEN 1 AND 20);
CREATE DOMAIN book_page_count AS int
    CONSTRAINT books_page_count_check CHECK (VALUE > 0);
CREATE DOMAIN book_current_page AS int
    CONSTRAINT books_current_page_check CHECK (VALUE >= 0);
CREATE DOMAIN book_binding AS text
    CONSTRAINT books_binding_check CHECK (char_length(VALUE) BETWEEN 1 AND 100);
CREATE DOMAIN book_private_notes AS text
    CONSTRAINT books_private_notes_check CHECK (char_length(VALUE) BETWEEN 1 AND 100000);
CREATE DOMAIN book_content_notes AS text
    CONSTRAINT books_content_notes_check CHECK (char_length(VALUE) BETWEEN 1 AND 2000);
CREATE DOMAIN book_moods AS text[]
    CONSTRAINT books_moods_check CHECK (
        cardinality(VALUE) <= 20
        AND array_position(VALUE, NULL) IS NULL
        AND array_position(VALUE, '') IS NULL
        AND char_length(array_to_string(VALUE, '')) <= 2000
    );
CREATE DOMAIN book_year AS int
    CONSTRAINT books_original_year_check CHECK (VALUE BETWEEN -5000 AND 9999);

-- A trigger computes `author`, `author_ids`, `series_id`, `search_text`, and `title_card_version`. PostgreSQL parses the expressions of
-- generated columns again for each update of a book, which took an eighth of the instructions of a status change.
CREATE TABLE books (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    -- The edition of the catalog that the book is; null if the catalog does not have it.
    edition_id uuid REFERENCES editions ON DELETE SET NULL,
    -- Without a meaning if the book has no edition.
    linked_by book_link NOT NULL DEFAULT 'CARD',
    title book_title NOT NULL,
    subtitle book_subtitle,
    -- The names, the main author first, and the role at the position of each name. Names after the last role are authors.
    authors book_authors NOT NULL DEFAULT '{}',
    author_roles author_role[] NOT NULL DEFAULT '{}',
    -- The names of the authors in one line.
    author text,
    author_ids uuid[],
    isbn13 book_isbn13,
    -- The reader's copy of the facts. Later corrections of the edition do not change it.
    publisher text,
    published_date text,
    page_count book_page_count,
    -- A BCP 47 tag, such as en or pt-BR.
    language text,
    -- The reader's own words. A book that is added from a card also gets a genre from it, but never a category.
    category book_category,
    genre book_genre,
    description text,
    -- The series that the reader has entered, and the position in it. Without them, those of the edition count.
    series book_series,
    series_position book_series_position,
    series_id uuid,
    status reading_status NOT NULL DEFAULT 'WANT_TO_READ',
    -- At most page_count when the reader sets one of the two. Imported books may differ.
    current_page book_current_page,
    -- How the edition is bound, or in which format it is, in the words of the reader or of an import: Paperback, Kindle Edition.
    binding book_binding,
    -- The year of the first edition; negative before our era.
    original_year book_year,
    -- The moods of the book, in the words of an import.
    moods book_moods NOT NULL DEFAULT '{}',
    private_notes book_private_notes,
    -- The reader's warnings about the content, such as violence.
    content_notes book_content_notes,
    added_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    finished_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT now(),
    cover_status cover_status NOT NULL DEFAULT 'NO_COVER',
    -- When the running cover search was requested; null if none is running. It identifies the search: setting or removing
    -- the cover clears it, and a later request sets another time, so an outdated search cannot overwrite a newer state.
    cover_requested_at timestamptz,
    -- When a search last ended because no source has a cover; null if it ended because a source did not answer.
    cover_not_found_at timestamptz,
    -- Whether the reader has removed the cover. The cover of the edition is not shown then, either.
    is_cover_removed boolean NOT NULL DEFAULT false,
    search_text text,
    title_card_version text,
    PRIMARY KEY (user_id, id)
-- Room in each page for new versions of its rows.
) WITH (fillfactor = 85);
ALTER TABLE books ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE books
    ALTER COLUMN user_id SET (n_distinct = -0.01),
    ALTER COLUMN title_card_version SET STATISTICS 0;
-- An index-only scan returns the books with the editions that may have a series, in the order of the editions.
CREATE UNIQUE INDEX books_edition_id ON books (user_id, edition_id)
    INCLUDE (added_at, series_id)
    WHERE edition_id IS NOT NULL;
CREATE UNIQUE INDEX books_isbn13 ON books (user_id, isbn13)
    WHERE isbn13 IS NOT NULL;
-- No index contains the status, the page, or the time of the update: an update of columns without an index writes to no index (a HOT
-- update). Lists are read from `listed_books`.
CREATE INDEX books_added_at ON books (user_id, added_at, id);
-- A filter of lists. The order of bytes has the tags of a language and its regions together.
CREATE INDEX books_language ON books (user_id, language COLLATE "C") INCLUDE (id)
    WHERE language IS NOT NULL;
-- The books of a series that the reader has entered.
CREATE INDEX books_series_id ON books (user_id, series_id)
    INCLUDE (added_at)
    WHERE series_id IS NOT NULL;
-- The foreign key uses this index when an edition is deleted.
CREATE INDEX books_of_edition ON books (edition_id)
    WHERE edition_id IS NOT NULL;
-- end_overdue_cover_waits uses this index.
CREATE INDEX books_cover_requested_at ON books (cover_requested_at)
    WHERE cover_status = 'FETCHING';

-- New editions find the books without an edition. Without a pending list, because every new edition searches the index.
CREATE INDEX books_link_keys ON books USING gin (
    book_link_keys(isbn13, title, author_text(authors, author_roles))
) WITH (fastupdate = off)
    WHERE edition_id IS NULL;

-- A search of a library. A new book is added to a pending list of at most 64 kB, which every search reads: adding its words to the index
-- one by one takes three times as long.
CREATE INDEX books_search ON books USING gin (
    book_search_keys(user_id, title, search_text)
) WITH (fastupdate = on, gin_pending_list_limit = 64);

COMMENT ON TABLE books IS 'The books of libraries. A book is the reader''s copy of an edition, or was written by the reader.';
COMMENT ON COLUMN books.edition_id IS 'The edition of the catalog; null if the catalog does not have it.';
COMMENT ON COLUMN books.linked_by IS
    'How the book got its edition: CARD (chosen by the reader), ISBN, SOURCE (an id of an import), or TITLE. Without a '
    'meaning if the book has no edition.';
COMMENT ON COLUMN books.subtitle IS 'The subtitle, if it is not a part of the title.';
COMMENT ON COLUMN books.authors IS 'The names of all contributors, the main author first.';
COMMENT ON COLUMN books.author_roles IS 'The role at the position of each name. Names after the last role are authors.';
COMMENT ON COLUMN books.author IS
    'The names of the authors in one line, by which lists are sorted. A trigger computes it (`author_text`).';
COMMENT ON COLUMN books.author_ids IS 'The ids that `author_id` computes from the names. A trigger computes them.';
COMMENT ON COLUMN books.publisher IS 'The reader''s copy, like the other facts. Later corrections of the edition do not change it.';
COMMENT ON COLUMN books.published_date IS 'A year, a month, or a day, as it was written.';
COMMENT ON COLUMN books.language IS 'A BCP 47 tag, such as en or pt-BR.';
COMMENT ON COLUMN books.category IS 'A category in the reader''s own words.';
COMMENT ON COLUMN books.genre IS 'A genre in the reader''s own words, or that of the card.';
COMMENT ON COLUMN books.series IS 'The series that the reader has entered. Without it, that of the edition is shown.';
COMMENT ON COLUMN books.series_position IS 'The position in the series as a text, such as 1, 2.5, or 1-3.';
COMMENT ON COLUMN books.series_id IS 'The id that `series_id` computes from the name of the series. A trigger computes it.';
COMMENT ON COLUMN books.current_page IS 'The page of the latest progress, usually at most `page_count`.';
COMMENT ON COLUMN books.binding IS 'The binding or format in the words of the reader or of an import, such as Paperback.';
COMMENT ON COLUMN books.original_year IS 'The year of the first edition. Negative before our era.';
COMMENT ON COLUMN books.content_notes IS 'The reader''s warnings about the content, such as violence.';
COMMENT ON COLUMN books.moods IS 'The moods of the book in the words of an import.';
COMMENT ON COLUMN books.started_at IS 'When the latest read was started (`reads`).';
COMMENT ON COLUMN books.finished_at IS 'When the latest read was finished (`reads`).';
COMMENT ON COLUMN books.cover_status IS
    'The state of the cover search. READY: the book has a cover. NOT_FOUND: no source has one. FAILED: no source could '
    'answer.';
COMMENT ON COLUMN books.cover_requested_at IS
    'When the running search was requested, which identifies it; null if none is running.';
COMMENT ON COLUMN books.cover_not_found_at IS
    'When the last search ended because no source has a cover; null if it ended for another reason.';
COMMENT ON COLUMN books.is_cover_removed IS
    'Whether the reader has removed the cover. The cover of the edition is not shown then, either.';
COMMENT ON COLUMN books.search_text IS
    'All searched columns in the form of `search_fold`, and after a line break the other words of the edition when it was linked. A '
    'trigger computes it.';
COMMENT ON COLUMN books.title_card_version IS
    'The version of the image that is drawn for a book without a cover. A trigger computes it.';

-- The order of the status in lists: books that are being read come first.
CREATE FUNCTION list_rank(status reading_status) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (
        CASE status
            WHEN 'READING' THEN 5
            WHEN 'PAUSED' THEN 4
            WHEN 'WANT_TO_READ' THEN 3
            WHEN 'READ' THEN 2
            ELSE 1
        END
    )::smallint
$$;

-- The values of each book by which lists are filtered and sorted. A page of a list reads only its rows: an index has the status and
-- one order, and a list of several statuses merges the entries of each. The triggers that log changes of books maintain the table.
-- It has no foreign key, which would compare each new row with the book of the same statement.
--
-- The table is separate, because the status and the time of the last change are in its indexes: an update of `books` would write to
-- all indexes of that table. `n_distinct` makes PostgreSQL expect many rows of each user, so that it reads a page in the order of an
-- index, and does not sort a few rows.
CREATE TABLE listed_books (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    list_rank smallint NOT NULL,
    -- The rating in quarter stars, 0 without a rating.
    quarter_stars smallint NOT NULL DEFAULT 0,
    added_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- When the latest read was finished, otherwise -infinity.
    finished_at timestamptz NOT NULL,
    sort_title text COLLATE "C" NOT NULL,
    sort_author text COLLATE "C" NOT NULL,
    search_text text NOT NULL,
    PRIMARY KEY (user_id, book_id)
) WITH (fillfactor = 85);
ALTER TABLE listed_books ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE listed_books
    ALTER COLUMN user_id SET (n_distinct = -0.0001),
    ALTER COLUMN search_text SET STATISTICS 0;
CREATE INDEX listed_books_added_at ON listed_books (user_id, list_rank, added_at, book_id);
CREATE INDEX listed_books_updated_at ON listed_books (user_id, list_rank, updated_at, book_id);
CREATE INDEX listed_books_finished_at ON listed_books (user_id, list_rank, finished_at, added_at, book_id);
CREATE INDEX listed_books_quarter_stars ON listed_books (user_id, list_rank, quarter_stars, added_at, book_id);
CREATE INDEX listed_books_title ON listed_books (user_id, list_rank, sort_title, book_id);
CREATE INDEX listed_books_author ON listed_books (user_id, list_rank, sort_author, sort_title, book_id);

COMMENT ON TABLE listed_books IS 'The values of each book by which lists are filtered and sorted. Triggers maintain the table.';
COMMENT ON COLUMN listed_books.list_rank IS 'The order of the status (`list_rank`).';
COMMENT ON COLUMN listed_books.quarter_stars IS 'The rating in quarter stars, 0 without a rating.';
COMMENT ON COLUMN listed_books.finished_at IS 'When the latest read was finished, otherwise -infinity.';
COMMENT ON COLUMN listed_books.sort_title IS 'The title as `book_sort_title` returns it.';
COMMENT ON COLUMN listed_books.sort_author IS 'The authors as `book_sort_author` returns them.';
COMMENT ON COLUMN listed_books.search_text IS 'A copy of the column of `books`.';

-- The number of books of each reader by status. A transaction that writes many books forgets the numbers, after about 100 to 200 writes
-- of its own, because it would otherwise leave a version of the row for each of them. The next one counts again.
--
-- An array instead of a column for each status: a change of the status then assigns two elements, and not five columns. Together with the
-- conditions for the time of the last write that the row does not need, this saves a quarter of the instructions of the update.
--
-- `writes` is at least 100 if the numbers are not known. The triggers rely on this: they only compare `writes` before they change the
-- numbers. Only `count_listed_book` sets the numbers to null, and it sets `writes` in the same statement. A check constraint would take half
-- as long as the update (6 of 13 µs).
CREATE TABLE library_counts (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- The element i is the number of books with the `list_rank` i. Null if the numbers are not known.
    books int[],
    -- Writes since the books were counted, or since a transaction first found 100 or more.
    writes int NOT NULL DEFAULT 1
) WITH (fillfactor = 50);
ALTER TABLE library_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE library_counts IS 'The number of books of each reader by status. Triggers maintain the table.';
COMMENT ON COLUMN library_counts.books IS 'The element i is the number of books with the `list_rank` i. Null if the numbers are not known.';
COMMENT ON COLUMN library_counts.writes IS 'Writes since the books were counted, or since a transaction first found 100 or more.';

-- Books that may have an edition now: a job links them. The triggers of `editions` add them.
CREATE TABLE books_to_link (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    book_id uuid NOT NULL,
    PRIMARY KEY (user_id, book_id)
);
ALTER TABLE books_to_link ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE books_to_link IS 'Books that may match an edition of the catalog now, until a job has looked at them.';

-- Returns the position at the end of a shelf: the time in microseconds, which has 16 digits. Finding the last position would take a search
-- for each new row.
CREATE FUNCTION last_shelf_position() RETURNS text
LANGUAGE sql VOLATILE
AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text
$$;

-- `added_at`, `sort_title`, and `sort_author` are copies, so that an index has the order of a shelf by each of them. Orders that change with the status would
-- make a change of the status write to each shelf of the book; in these orders, a shelf is sorted.
CREATE TABLE shelf_books (
    user_id uuid NOT NULL,
    shelf_id uuid NOT NULL,
    book_id uuid NOT NULL,
    added_at timestamptz NOT NULL,
    -- A trigger sets them if a statement does not.
    sort_title text COLLATE "C",
    sort_author text COLLATE "C",
    -- The reader's order. The digits are those of a fraction, so there is always another position between two (`place_book`).
    position text COLLATE "C" NOT NULL DEFAULT last_shelf_position() CHECK (position ~ '^[0-9]{1,200}$'),
    PRIMARY KEY (user_id, shelf_id, book_id),
    FOREIGN KEY (user_id, shelf_id) REFERENCES shelves ON DELETE CASCADE,
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE shelf_books ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE shelf_books ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE INDEX shelf_books_added_at ON shelf_books (user_id, shelf_id, added_at, book_id);
CREATE INDEX shelf_books_title ON shelf_books (user_id, shelf_id, sort_title, book_id);
CREATE INDEX shelf_books_author ON shelf_books (user_id, shelf_id, sort_author, sort_title, book_id);
CREATE INDEX shelf_books_position ON shelf_books (user_id, shelf_id, position, book_id);
-- An index-only scan returns the shelves of a book.
CREATE INDEX shelf_books_of_book ON shelf_books (user_id, book_id, shelf_id);

COMMENT ON TABLE shelf_books IS 'The books on shelves.';
COMMENT ON COLUMN shelf_books.added_at IS 'A copy of `books.added_at`, for the order of a shelf.';
COMMENT ON COLUMN shelf_books.sort_title IS 'A copy of `listed_books.sort_title`.';
COMMENT ON COLUMN shelf_books.sort_author IS 'A copy of `listed_books.sort_author`.';

COMMENT ON COLUMN shelf_books.position IS 'The reader''s order: the digits of a fraction. They are the time at which the book was added, or between those of two other books.';

-- The number of books on each shelf. In a row of `shelves`, it would change the version of the shelf.
CREATE TABLE shelf_counts (
    user_id uuid NOT NULL,
    shelf_id uuid NOT NULL,
    books int NOT NULL,
    PRIMARY KEY (user_id, shelf_id),
    FOREIGN KEY (user_id, shelf_id) REFERENCES shelves ON DELETE CASCADE
) WITH (fillfactor = 70);
ALTER TABLE shelf_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE shelf_counts IS 'The number of books on each shelf that ever had one. Triggers maintain the table.';
COMMENT ON COLUMN shelf_counts.books IS 'The number of rows of `shelf_books`.';

-- Domains, and not constraints of the table, for the reason given at `books`.
CREATE DOMAIN review_quarter_stars AS smallint
    CONSTRAINT reviews_quarter_stars_check CHECK (VALUE BETWEEN 1 AND 20);
CREATE DOMAIN review_text AS text
    CONSTRAINT reviews_text_check CHECK (char_length(VALUE) BETWEEN 1 AND 100000);

-- At most one review per book, whatever the status of the book is.
CREATE TABLE reviews (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    -- The rating in quarter stars: 16 is 4 stars. Readers rate in steps of `tenants.rating_step`. Imports, and earlier ratings, may have other numbers.
    quarter_stars review_quarter_stars,
    text review_text,
    -- Whether the text reveals the plot.
    has_spoilers boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, book_id),
    UNIQUE (user_id, id),
    CONSTRAINT reviews_content_check CHECK (quarter_stars IS NOT NULL OR text IS NOT NULL),
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE reviews ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE reviews ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE INDEX reviews_created_at ON reviews (user_id, created_at, id);

-- An index-only scan returns the ratings of a library.
CREATE INDEX reviews_quarter_stars ON reviews (user_id, quarter_stars);

COMMENT ON TABLE reviews IS 'The reviews of books, at most one for each book.';
COMMENT ON COLUMN reviews.quarter_stars IS 'The rating in quarter stars: 16 is 4 stars. Null for a text without a rating.';
COMMENT ON COLUMN reviews.has_spoilers IS 'Whether the text reveals the plot.';

-- Deleted books, which their readers can restore for some time (restorable_for). They are not in `books`, so no query has to
-- leave them out. The rows of other tables are JSON, so a migration of those tables does not affect this one.
CREATE TABLE deleted_books (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    book jsonb NOT NULL,
    review jsonb,
    -- The files of this version stay in the object store. Null also after the cover was dropped because a new one needed its space.
    cover jsonb,
    shelf_ids uuid[] NOT NULL,
    shelf_positions text[] NOT NULL DEFAULT '{}',
    -- Arrays of rows; null if there are none.
    reads jsonb,
    progress_entries jsonb,
    notes jsonb,
    copies jsonb,
    -- The row of `ereader_positions`; null if there is none.
    ereader_position jsonb,
    PRIMARY KEY (user_id, id)
);
ALTER TABLE deleted_books ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE deleted_books ALTER COLUMN user_id SET (n_distinct = -0.01);
-- The reader's list, newest first.
CREATE INDEX deleted_books_of_user ON deleted_books (user_id, deleted_at, id);
-- purge_deleted_books uses this index.
CREATE INDEX deleted_books_deleted_at ON deleted_books (deleted_at);

COMMENT ON TABLE deleted_books IS 'Deleted books, which readers can restore for some time, with the rows of other tables as JSON.';
COMMENT ON COLUMN deleted_books.book IS 'The row of `books`, like the rows of other tables in the following columns.';
COMMENT ON COLUMN deleted_books.cover IS
    'The row of `covers`, whose files stay in the store. Null without a cover, and if the space was needed.';
COMMENT ON COLUMN deleted_books.shelf_ids IS 'The shelves on which the book was.';
COMMENT ON COLUMN deleted_books.shelf_positions IS 'The positions of the book on these shelves.';
COMMENT ON COLUMN deleted_books.reads IS 'An array of rows, as in `progress_entries`, `notes`, and `copies`; null if there are none.';
