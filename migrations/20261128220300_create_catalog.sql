-- Why: all apps of a server share one catalog of editions, which the feed, the search, and look-ups by ISBN read.

-- All three are trusted extensions: the owner of the database may install them.
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS fuzzystrmatch WITH SCHEMA public;

-- The functions of this file are here, and not in migrations/functions, because generated columns and indexes depend on
-- them: another definition requires a migration that computes the stored values again.
--
-- They are written in PL/pgSQL, which evaluates an expression without an executor. SQL functions with these expressions
-- are not inlined, and folding took most of the time of a catalog import. Names are qualified with their schema because
-- pg_restore runs without a search path.

-- Returns the text that two ways of writing the same words have in common: lower case, without accents and punctuation,
-- one space between words and around each character of Chinese, Japanese, and Korean (search_terms makes words of them). The
-- collation and the dictionary are named so that the result is the same in every database. Text in ASCII takes a shorter path to
-- the same result.
--
-- Marks that readers leave out are removed: accents, the vowel signs of Arabic and Hebrew, and the dots below letters of India.
-- Other marks are parts of words, such as the vowel signs of India and Thailand. The ranges are those of Unicode's category M.
-- Letters of Arabic that are often typed in place of each other become one letter, and digits become those of ASCII.
CREATE FUNCTION search_fold(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF octet_length(value) = char_length(value) THEN
        RETURN btrim(regexp_replace(
            replace(translate(lower(value COLLATE "C"), '''`', ''), '&', ' and '),
            '[^a-z0-9]+', ' ', 'g'));
    END IF;
    value := lower(normalize(value, NFKC) COLLATE "und-x-icu");
    IF value ~ '[\u0300-\u1CFF\u200C\u200D\u00AD\uA800-\uABFF]' THEN
        value := normalize(translate(
            regexp_replace(
                value,
                '[\u00AD\u0300-\u036F\u0483-\u0489\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u05F3\u05F4'
                    '\u0610-\u061A\u0640\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7\u06E8\u06EA-\u06ED'
                    '\u0711\u0730-\u074A\u0898-\u089F\u08CA-\u08E1\u08E3-\u08FF'
                    '\u093C\u09BC\u0A3C\u0ABC\u0B3C\u0C3C\u0CBC\u200C\u200D]',
                '', 'g'),
            U&'\0623\0625\0622\0671\0624\0626\0649\06CC\06D0\0629\06C0\06A9\06BA\0901\03C2\0660\0661\0662\0663\0664\0665'
                '\0666\0667\0668\0669\06F0\06F1\06F2\06F3\06F4\06F5\06F6\06F7\06F8\06F9\0966\0967\0968\0969\096A\096B\096C'
                '\096D\096E\096F',
            U&'\0627\0627\0627\0627\0648\064A\064A\064A\064A\0647\0647\0643\0646\0902\03C3012345678901234567890123456789'),
            NFKC);
    END IF;
    RETURN btrim(regexp_replace(
        regexp_replace(
            regexp_replace(
                replace(
                    lower(public.unaccent('public.unaccent'::regdictionary, value) COLLATE "und-x-icu"),
                    '&', ' and '),
                '[''’ʼ`]', '', 'g'),
            '([\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U0003FFFF])', ' \1 ', 'g'),
        '[^[:alnum:]'
            '\u07A6-\u07B0\u07EB-\u07F3\u0816-\u082D\u0859-\u085B\u0900-\u0963\u0981-\u09E3\u09FE-\u0A75\u0A81-\u0AE3'
            '\u0AFA-\u0B63\u0B82-\u0BD7\u0C00-\u0C63\u0C81-\u0C83\u0CBC-\u0D4D\u0D57-\u0D63\u0D81-\u0DF3\u0E31-\u0E3A'
            '\u0E47-\u0E4E\u0EB1-\u0ECD\u0F18-\u0F19\u0F35\u0F37\u0F39\u0F3E-\u0F84\u0F86-\u0FBC\u102B-\u103E\u1056-\u109D'
            '\u135D-\u135F\u1712-\u1734\u1752-\u17D3\u17DD\u180B-\u180D\u1885-\u18A9\u1920-\u193B\u1A17-\u1A1B\u1A55-\u1A7F'
            '\u1B00-\u1B44\u1B6B-\u1B73\u1B80-\u1BF3\u1C24-\u1C37\u1CD0-\u1CD2\u1CD4-\u1CF9\uA802-\uA827\uA880-\uA8C5'
            '\uA8E0-\uA8F1\uA8FF-\uA92D\uA947-\uA953\uA980-\uA9C0\uA9E5-\uAA4D\uAA7B-\uAAC1\uAAEB-\uAAEF\uABE3-\uABED'
            ']+',
        ' ', 'g'));
END
$$;

-- Returns the form in which titles are compared as a whole: the folded text, or the characters themselves if none of them is a
-- letter or a digit. So "$" and "?" are titles, too.
CREATE FUNCTION search_title(title text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    folded text := public.search_fold(title);
BEGIN
    IF folded <> '' THEN
        RETURN folded;
    END IF;
    RETURN left(regexp_replace(normalize(title, NFKC), '[\s\u200B-\u200F\uFE00-\uFE0F]+', '', 'g'), 200);
END
$$;

-- Whether a folded word is one character of Chinese, Japanese, or Korean, or a pair of them (search_terms).
CREATE FUNCTION is_cjk(word text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN word >= U&'\2E80' COLLATE "C"
        AND word ~ '^[\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U0003FFFF]';
END
$$;

-- Returns the words of a folded text as the index of words has them. Text in Chinese, Japanese, and Korean has no spaces between
-- words, or has endings at them, so each pair of neighboring characters is a word, and so is the last character: `대 한 민 국`
-- becomes `대한 한민 민국 국`. Two characters find a word in the middle of others, and one finds all words with it as a prefix.
CREATE FUNCTION search_terms(folded text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF folded !~ '[\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U0003FFFF]' THEN
        RETURN folded;
    END IF;
    RETURN (
        SELECT string_agg(CASE WHEN public.is_cjk(w.word) AND public.is_cjk(w.next) THEN w.word || w.next ELSE w.word END, ' ')
        FROM (
            SELECT word, lead(word) OVER (ORDER BY position) AS next
            FROM unnest(string_to_array(folded, ' ')) WITH ORDINALITY u (word, position)
        ) w
    );
END
$$;

-- Returns the initials in folded names as people type them, without spaces: `jk` for J. K. Rowling, `rr` and `grr` for George R. R.
-- Martin.
CREATE FUNCTION search_initials(names text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF names !~ ' [a-z\u0370-\u052F](?: |$)' THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT string_agg(
            concat_ws(
                ' ',
                m.found[1] || replace(m.found[2], ' ', ''),
                CASE WHEN length(m.found[2]) > 2 THEN replace(m.found[2], ' ', '') END
            ),
            ' '
        )
        FROM regexp_matches(
            names,
            '\m([a-z\u0370-\u052F])[a-z\u0370-\u052F]*((?: [a-z\u0370-\u052F]\M)+)',
            'g'
        ) m (found)
    );
END
$$;

-- Returns the folded text of everything that a search may match, for comparing it letter by letter.
CREATE FUNCTION search_text(
    title text, subtitle text, series text, series_position text, authors text[]
) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    names text := public.search_fold(array_to_string(authors, ' '));
BEGIN
    RETURN btrim(concat_ws(
        ' ',
        public.search_fold(concat_ws(' ', title, subtitle, series, series_position)), names, public.search_initials(names)
    ));
END
$$;

-- The role of a person in the making of a book. New roles are added at the end.
CREATE TYPE author_role AS ENUM ('AUTHOR', 'EDITOR', 'TRANSLATOR', 'ILLUSTRATOR', 'NARRATOR', 'CONTRIBUTOR');

-- Returns what all spellings of a name have in common: "Le Guin, Ursula K." and "Ursula K. Le Guin" are the same, and so are
-- "Vonnegut, Kurt, Jr.", "Vonnegut, Jr., Kurt", and "Kurt Vonnegut, Jr.". The suffixes are those of `Contributor.isSuffix`.
CREATE FUNCTION folded_author(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    suffix CONSTANT text := ',\s*([js]n?r|ph\.?\s?d|m\.?\s?d|esq|dds|d\.?\s?d|ii|iii|iv|2nd|3rd|4th)\.?\s*(?=,|$)';
    plain text;
    suffixes text;
BEGIN
    IF position(',' IN name) = 0 THEN
        RETURN public.search_fold(name);
    END IF;
    plain := regexp_replace(name, suffix, '', 'gi');
    IF plain <> name THEN
        suffixes := (
            SELECT string_agg(m.found[1], ' ' ORDER BY m.number)
            FROM regexp_matches(name, suffix, 'gi') WITH ORDINALITY m (found, number)
        );
    END IF;
    RETURN public.search_fold(concat_ws(' ', split_part(plain, ',', 2), split_part(plain, ',', 1), suffixes));
END
$$;

-- Returns the folded family name: the last word of the name, without "Jr." and the like. Null if there are no letters.
CREATE FUNCTION family_name(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN nullif(
        split_part(
            regexp_replace(public.folded_author(name), '(?<=.)( ([js]n?r|phd|ph d|md|m d|esq|dds|dd|d d|ii|iii|iv|2nd|3rd|4th))+$', ''),
            ' ', -1),
        '');
END
$$;

-- Returns the id of the author with a name: a UUID that is computed from the folded name. It is the same in the catalog, in a
-- book that a reader made, and in every database, so no table has to know the name. Version 8 is for rules that an
-- implementation defines: https://www.rfc-editor.org/rfc/rfc9562#section-5.8
CREATE FUNCTION author_id(name text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN overlay(
        overlay(
            md5('author ' || coalesce(nullif(public.folded_author(name), ''), name)) PLACING '8' FROM 13 FOR 1
        ) PLACING '8' FROM 17 FOR 1
    )::uuid;
END
$$;

CREATE FUNCTION author_ids(names text[]) RETURNS uuid[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    ids uuid[] := '{}';
    name text;
BEGIN
    FOREACH name IN ARRAY names LOOP
        ids := ids || public.author_id(name);
    END LOOP;
    RETURN ids;
END
$$;

-- Returns the id of the series with a name: a UUID that is computed from the folded name, without a leading article and the word
-- "series" at the end. It is the same in the catalog and in a book that a reader made.
CREATE FUNCTION series_id(name text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    folded text := regexp_replace(public.search_fold(name), '^(?:the|an?) (?=.)|(?<=.) series$', '', 'g');
BEGIN
    RETURN overlay(
        overlay(md5('series ' || coalesce(nullif(folded, ''), name)) PLACING '8' FROM 13 FOR 1) PLACING '8' FROM 17 FOR 1
    )::uuid;
END
$$;

-- Returns the words of a folded text as entries of a full-text index with one weight. PostgreSQL's parser would leave out words that
-- begin with a mark. Of each word, the first 200 characters count.
CREATE FUNCTION search_lexemes(folded text, weight text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    words text := public.search_terms(folded);
BEGIN
    IF words = '' THEN
        RETURN '';
    ELSIF octet_length(words) > 800 THEN
        words := regexp_replace(words, '(\S{1,200})\S*', '\1', 'g');
    END IF;
    RETURN format('''%s'':1%s', replace(words, ' ', format(''':1%s ''', weight)), weight)::tsvector;
END
$$;

-- Returns the words for the full-text index. The weight A is for words of the title, B for the authors and their initials, C for the
-- rest, and D for the family name of the first author.
CREATE FUNCTION search_vector(
    title text, subtitle text, series text, series_position text, authors text[]
) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    names text := public.search_fold(array_to_string(authors, ' '));
BEGIN
    RETURN public.search_lexemes(public.search_fold(title), 'A')
        || public.search_lexemes(names, 'B')
        || public.search_lexemes(coalesce(public.search_initials(names), ''), 'B')
        || public.search_lexemes(public.search_fold(concat_ws(' ', subtitle, series, series_position)), 'C')
        || public.search_lexemes(coalesce(public.family_name(authors[1]), ''), 'D');
END
$$;

-- Returns the version of the title card with these texts: 32 hexadecimal digits. The first byte of the hashed text is the
-- version of the drawing: a new drawing needs a new version, so that clients do not keep the old images.
CREATE FUNCTION title_card_version(title text, author text, genre text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN encode(
        substr(
            sha256(
                '\x3200'::bytea || convert_to(title, 'UTF8')
                    || '\x00'::bytea || convert_to(coalesce(author, ''), 'UTF8')
                    || '\x00'::bytea || convert_to(coalesce(genre, ''), 'UTF8')
            ),
            1,
            16
        ),
        'hex'
    );
END
$$;

-- The key of a work is computed from the title and the first author. Editions with the same key are records of one work.

-- Returns what identifies the author of a work: the family name and the initial of the first name. "Le Guin, Ursula K." and
-- "Ursula K. Le Guin" have the same key, and so have "Kurt Vonnegut Jr." and "K. Vonnegut". Null if there are no letters.
-- Functions that indexes use are named with their schema because pg_restore runs without a search path.
CREATE FUNCTION author_key(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN public.family_name(name) || '|' || left(public.folded_author(name), 1);
END
$$;

-- Returns the title without what differs between records of one work: brackets, a leading article, marks, case, punctuation, a final
-- "board book", and a subtitle that only names the kind of the book or of the edition, such as ": A Novel" or
-- ": 50th Anniversary Edition". A graphic novel is another work.
CREATE FUNCTION title_key(title text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    main_title text := title;
    folded text;
BEGIN
    IF main_title ~ '[(\[]' THEN
        main_title := regexp_replace(main_title, '\([^)]*\)|\[[^]]*\]', '', 'g');
    END IF;
    IF main_title ~ '[:;–—]' THEN
        main_title := regexp_replace(
            main_title,
            '\s*[:;–—]\s*(?!(?:\w+\s+)*graphic\M)(?:'
                '(?:an?|the)\s+(?:\w+\s+){0,4}(?:novel|novella|memoir|thriller|mystery)(?:\s+(?:of|in|about|from)\s[^:]*)?'
                '|novel|stories|poems|essays|(?:\w+\s+){0,3}edition|(?:movie\s+)?tie-in|(?:un)?abridged'
                ')\s*$',
            '',
            'i'
        );
    END IF;
    folded := public.search_fold(main_title);
    IF split_part(folded, ' ', 1) IN ('the', 'a', 'an') THEN
        folded := substring(folded FROM position(' ' IN folded) + 1);
    END IF;
    IF folded LIKE '% board book' THEN
        folded := left(folded, -11);
    END IF;
    RETURN nullif(folded, '');
END
$$;

-- Returns the key that all records of a work have in common: a hash of `title_key` and of the first author's `author_key`.
-- Null without an author, and for a title without letters and digits.
CREATE FUNCTION work_key(title text, authors text[]) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN hashtextextended(public.title_key(title) || '|' || public.author_key(authors[1]), 0);
END
$$;

-- Returns the key that the volumes of a series by one author have in common: a hash of the series and the first author's `author_key`.
-- Null without a series or an author.
CREATE FUNCTION series_key(series_id uuid, authors text[]) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN hashtextextended(series_id || '|' || public.author_key(authors[1]), 0);
END
$$;

-- Returns the position in a series as a number, such as 2.5, -1, or 0.5 for "½". Null if it is not a number, such as the range "1-3" of a
-- collected edition.
CREATE FUNCTION series_number(position_text text) RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN p.written ~ '^-?(?:[0-9]{1,6}(?:[.][0-9]{1,3})?)?[½¼¾⅓⅔]?$' AND p.written ~ '[0-9½¼¾⅓⅔]$' THEN
            coalesce(substring(p.written FROM '^-?[0-9]+(?:[.][0-9]+)?')::float8, 0)
                + CASE WHEN left(p.written, 1) = '-' THEN -1 ELSE 1 END
                * CASE right(p.written, 1)
                    WHEN '½' THEN 0.5
                    WHEN '¼' THEN 0.25
                    WHEN '¾' THEN 0.75
                    WHEN '⅓' THEN 1.0 / 3
                    WHEN '⅔' THEN 2.0 / 3
                    ELSE 0
                END
    END
    FROM (SELECT translate(btrim(position_text), '−–', '--') AS written) p
$$;

CREATE TABLE editions (
    id uuid PRIMARY KEY,
    -- A short number for the edition, in feed positions and in the learning of similar editions. At most 32 bits, because
    -- `genre_position` contains it.
    number bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT editions_number_fits CHECK (number < 4294967296),
    isbn13 text UNIQUE CHECK (isbn13 ~ '^97[89][0-9]{10}$'),
    title text NOT NULL CHECK (title <> ''),
    subtitle text,
    series text,
    series_position text,
    -- The names, the main author first, and the role at the position of each name. Names after the last role are authors.
    authors text[] NOT NULL DEFAULT '{}',
    author_roles author_role[] NOT NULL DEFAULT '{}',
    publisher text,
    published_date text,
    language text,
    page_count int CHECK (page_count > 0),
    -- The names of its canonical genres, and the names that sources and files have given. New aliases apply to the latter.
    genres text[] NOT NULL DEFAULT '{}',
    subjects text[] NOT NULL DEFAULT '{}',
    description text,
    -- One sentence, for cards: from a catalog file, or from the description (`Hook.swift`).
    hook text CHECK (char_length(hook) <= 140),
    average_rating float8 CHECK (average_rating BETWEEN 0 AND 5),
    ratings_count int NOT NULL DEFAULT 0 CHECK (ratings_count >= 0),
    popularity float8 NOT NULL DEFAULT 0,
    -- When `backfill editions` last requested missing facts from external sources; null if never.
    sources_requested_at timestamptz,
    -- Addresses of covers, the most likely first. Each is preceded by the name of its source and a space.
    cover_links text[] NOT NULL DEFAULT '{}',
    -- The stored cover, and the size of its full size in pixels; null without a cover.
    cover_version text CHECK (cover_version ~ '^[0-9a-f]{32}$'),
    cover_width int CHECK (cover_width > 0),
    cover_height int CHECK (cover_height > 0),
    cover_dominant_color text CHECK (cover_dominant_color ~ '^#[0-9A-F]{6}$'),
    cover_blur_hash text,
    -- When a missing cover may be requested, and how many requests have failed since a source answered, modulo 8. A pause of
    -- the sources counts as a failure (edition_covers.sql).
    cover_due_at timestamptz NOT NULL DEFAULT '-infinity',
    cover_failures int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    search_title text GENERATED ALWAYS AS (search_title(title)) STORED,
    search_text text GENERATED ALWAYS AS
        (search_text(title, subtitle, series, series_position, authors)) STORED,
    search_vector tsvector GENERATED ALWAYS AS
        (search_vector(title, subtitle, series, series_position, authors)) STORED,
    author_ids uuid[] GENERATED ALWAYS AS (author_ids(authors)) STORED,
    series_id uuid GENERATED ALWAYS AS (series_id(nullif(btrim(series), ''))) STORED,
    -- A hash of the first author, 0 if there is none. The feed compares it to vary its cards, and finds other books of liked authors
    -- by it. `series_key` serves the same purpose for series: authors use the same names, such as "Private".
    first_author_hash int GENERATED ALWAYS AS (coalesce(hashtext(lower(authors[1])), 0)) STORED,
    series_key bigint GENERATED ALWAYS AS (series_key(series_id(nullif(btrim(series), '')), authors)) STORED,
    series_number float8 GENERATED ALWAYS AS (series_number(series_position)) STORED,
    -- Every URL of a title card contains it, so it is not computed again for each request.
    title_card_version text GENERATED ALWAYS AS (title_card_version(title, authors[1], genres[1])) STORED,
    CONSTRAINT editions_cover_is_complete CHECK (
        num_nulls(cover_version, cover_width, cover_height, cover_dominant_color, cover_blur_hash) IN (0, 5)
    )
);
-- The plans of a search do not depend on statistics of these columns, and collecting them takes long.
ALTER TABLE editions
    ALTER COLUMN author_ids SET STATISTICS 0,
    ALTER COLUMN search_title SET STATISTICS 0,
    ALTER COLUMN search_text SET STATISTICS 0,
    ALTER COLUMN search_vector SET STATISTICS 0,
    ALTER COLUMN title_card_version SET STATISTICS 0;
-- Learning gets the ids of thousands of editions by index-only scans.
CREATE UNIQUE INDEX editions_number ON editions (number) INCLUDE (id);
CREATE INDEX editions_popularity ON editions (popularity DESC, id);
CREATE INDEX editions_series_id ON editions (series_id) WHERE series_id IS NOT NULL;
-- An index-only scan returns the series of a reader's books.
CREATE INDEX editions_series_of_id ON editions (id) INCLUDE (series_id) WHERE series_id IS NOT NULL;
-- A title is found with and without its spaces: "FireStar" and "Fire Star".
CREATE INDEX editions_search_title ON editions (replace(search_title, ' ', ''));
ALTER INDEX editions_search_title ALTER COLUMN 1 SET STATISTICS 0;
CREATE INDEX editions_search_vector ON editions USING gin (search_vector) WITH (fastupdate = off);
-- Editions whose cover was never requested come first, the most popular of them first.
CREATE INDEX editions_due_for_cover ON editions (cover_due_at, popularity DESC, id)
    WHERE cover_version IS NULL AND (isbn13 IS NOT NULL OR cover_links <> '{}');
CREATE INDEX editions_late_for_cover ON editions (cover_due_at)
    WHERE cover_version IS NULL AND cover_failures > 0;
-- The triggers find the other records of a work by this index.
CREATE INDEX editions_work_key ON editions (work_key(title, authors));
-- The works of a person.
CREATE INDEX editions_author_ids ON editions USING gin (author_ids) WITH (fastupdate = off);
-- The feed finds the other books of liked authors and series by these indexes.
CREATE INDEX editions_first_author_hash ON editions (first_author_hash, popularity DESC);
CREATE INDEX editions_series_key ON editions (series_key, popularity DESC) INCLUDE (id, series_number) WHERE series_key IS NOT NULL;

COMMENT ON TABLE editions IS 'The catalog, which all tenants share. An edition is also a record of a work.';
COMMENT ON COLUMN editions.number IS
    'A short number of at most 32 bits, for positions in the feed and for learning similar editions.';
COMMENT ON COLUMN editions.series_position IS 'The position in the series as a text, such as 1, 2.5, or 1-3.';
COMMENT ON COLUMN editions.authors IS 'The names of all contributors, the main author first.';
COMMENT ON COLUMN editions.author_roles IS 'The role at the position of each name. Names after the last role are authors.';
COMMENT ON COLUMN editions.published_date IS 'A year, a month, or a day, as the source wrote it.';
COMMENT ON COLUMN editions.language IS 'A BCP 47 tag, such as en or pt-BR.';
COMMENT ON COLUMN editions.genres IS 'The names of the canonical genres, computed from `subjects`.';
COMMENT ON COLUMN editions.subjects IS 'The genres and subjects in the words of sources and files.';
COMMENT ON COLUMN editions.hook IS 'One sentence for cards, from a catalog file or from the description.';
COMMENT ON COLUMN editions.average_rating IS 'From 0 to 5 stars.';
COMMENT ON COLUMN editions.popularity IS
    'The number of ratings plus the weighted positive signals of readers (`refresh_popularity`).';
COMMENT ON COLUMN editions.sources_requested_at IS 'When missing data was last requested from external sources; null if never.';
COMMENT ON COLUMN editions.cover_links IS
    'Addresses of covers, the most likely one first. The name of the source and a space precede each address.';
COMMENT ON COLUMN editions.cover_version IS 'The version of the stored cover; null without a cover.';
COMMENT ON COLUMN editions.cover_width IS 'The width of the full size in pixels.';
COMMENT ON COLUMN editions.cover_height IS 'The height of the full size in pixels.';
COMMENT ON COLUMN editions.cover_dominant_color IS 'A color of CSS, such as #A1B2C3.';
COMMENT ON COLUMN editions.cover_blur_hash IS 'A placeholder in the format of https://blurha.sh.';
COMMENT ON COLUMN editions.cover_due_at IS 'When a missing cover may be requested.';
COMMENT ON COLUMN editions.cover_failures IS 'The number of failed requests for the cover since a source answered, modulo 8.';
COMMENT ON COLUMN editions.search_text IS 'All searched columns in the form of `search_fold`, for comparisons letter by letter.';
COMMENT ON COLUMN editions.search_vector IS 'The words of the full-text index.';
COMMENT ON COLUMN editions.author_ids IS 'The ids that `author_id` computes from the names, in the same order.';
COMMENT ON COLUMN editions.series_id IS 'The id that `series_id` computes from the name of the series.';
COMMENT ON COLUMN editions.first_author_hash IS
    'A hash of the first author, 0 without one. The feed uses it to vary its cards, and to find other books of liked authors.';
COMMENT ON COLUMN editions.series_key IS
    'A hash of the series and of the first author; null without a series or an author. The feed uses it like `first_author_hash`.';
COMMENT ON COLUMN editions.series_number IS 'The number that `series_number` computes from `series_position`.';
COMMENT ON COLUMN editions.title_card_version IS
    'The version of the image that is drawn for an edition without a cover, computed from its text.';

-- The ids of editions at external sources. An external id belongs to one edition, although some sources, such as Wikidata,
-- give ids to works. The source `words` is the catalog's own: a hash of the title and the authors of an edition without an
-- ISBN and without ids.
CREATE TABLE edition_sources (
    source text NOT NULL CHECK (source ~ '^[a-z_]{1,32}$'),
    key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 200),
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    PRIMARY KEY (source, key)
);
CREATE INDEX edition_sources_edition_id ON edition_sources (edition_id);

COMMENT ON TABLE edition_sources IS 'The ids of editions at external sources. An id belongs to one edition.';
COMMENT ON COLUMN edition_sources.source IS
    'The name of the source, such as `open_library`. `words` is the source of ids that are hashes of the title and the '
    'authors.';
COMMENT ON COLUMN edition_sources.key IS 'The id at the source.';

-- Authors of catalog books for whom a source or a catalog file has more than the name. Readers' books never add a row. Authors
-- with the same name share a row, which has the facts of the author that was stored first.
CREATE TABLE authors (
    -- author_id(name)
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 500),
    open_library_key text CHECK (open_library_key ~ '^OL[0-9]{1,15}A$'),
    bio text CHECK (char_length(bio) BETWEEN 1 AND 2000),
    -- When a source was last asked for the biography; null if never.
    bio_requested_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE authors IS 'Authors of editions of whom more than the name is known. Authors with the same name share a row.';
COMMENT ON COLUMN authors.id IS 'The id that `author_id` computes from the name.';
COMMENT ON COLUMN authors.open_library_key IS 'The id at Open Library, such as OL26320A.';
COMMENT ON COLUMN authors.bio IS 'A short text about the person.';
COMMENT ON COLUMN authors.bio_requested_at IS 'When a source was last asked for the text; null if never.';

-- The canonical genres: what cards show, what `Query.genres` lists, and what readers filter by. Their ids and slugs never
-- change.
CREATE TABLE genres (
    id smallint PRIMARY KEY,
    -- The id in the schema.
    slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    name text NOT NULL UNIQUE,
    -- Applies only to an edition without a more specific genre.
    is_general boolean NOT NULL DEFAULT false,
    is_nonfiction boolean NOT NULL DEFAULT false,
    -- The numbers of editions and of their ratings, as of the last `count_catalog`.
    editions int NOT NULL DEFAULT 0,
    readers bigint NOT NULL DEFAULT 0
);

COMMENT ON TABLE genres IS 'The canonical genres. Their ids and slugs never change.';
COMMENT ON COLUMN genres.slug IS 'The id in the GraphQL schema.';
COMMENT ON COLUMN genres.is_general IS 'Whether the genre applies only to editions without a more specific one.';
COMMENT ON COLUMN genres.editions IS 'The number of editions, as of the last `count_catalog`.';
COMMENT ON COLUMN genres.readers IS 'The number of ratings of these editions, as of the last `count_catalog`.';

-- Names of genres in sources, catalog files, and requests, in the form that `search_fold` returns.
CREATE TABLE genre_aliases (
    alias text PRIMARY KEY CHECK (alias = search_fold(alias) AND alias <> ''),
    genre_id smallint NOT NULL REFERENCES genres ON DELETE CASCADE
);

COMMENT ON TABLE genre_aliases IS 'The names of genres in sources, files, and requests.';
COMMENT ON COLUMN genre_aliases.alias IS 'The name in the form of `search_fold`.';

WITH canonical (id, name, is_general, is_nonfiction, aliases) AS (
    VALUES
    (1, 'Fantasy', false, false, '
        adult fantasy, dark fantasy, dragons, elves, epic fantasy, fae, faerie, faeries, fairies, fantasy,
        fantasy adventure, fantasy and magic, fantasy fiction, fantasy romance, fey, fiction fantasy,
        heroic fantasy, high fantasy, historical fantasy, imaginary places, magic, novela fantastica,
        otherworldly, paranormal fantasy, roman fantastique, steampunk, sword and sorcery, urban fantasy,
        wizards, ya fantasy, young adult fantasy
    '),
    (2, 'Science Fiction', false, false, '
        aliens, alternate history, ciencia ficcion, cyber punk, cyberpunk, dr who, futuristic,
        hard science fiction, human alien encounters, interplanetary voyages, life on other planets,
        military science fiction, robotics fiction, robots, sci fi, science fiction, science fiction and fantasy,
        science fiction fantasy, sciencefiction, scifi, sf, sf masterworks, space, space opera,
        speculative fiction, star trek, star wars, steam punk, steampunk fiction, time travel,
        time travel fiction, ya sci fi
    '),
    (3, 'Dystopian', false, false, '
        apocalypse, apocalyptic, climate fiction, distopia, distopian, dystopia, dystopian, dystopian fiction,
        dystopian novels, dystopias, post apocalypse, post apocalyptic, utopia, utopias, ya dystopia,
        ya dystopian
    '),
    (4, 'Mystery & Crime', false, false, '
        cozy mysteries, cozy mystery, crime, crime and mystery, crime fiction, crime mystery,
        crime thriller and mystery, detective, detective and mystery, detective and mystery stories,
        detective stories, detectives, hard boiled, hardboiled, historical mystery, murder mystery, mysteries,
        mystery, mystery and crime, mystery and detective, mystery and detective stories, mystery and thriller,
        mystery crime, mystery stories, noir, organized crime, police, police procedural, police procedurals,
        private investigators, psychological mystery, sherlock holmes, whodunit, women sleuths
    '),
    (5, 'Thriller', false, false, '
        assassins, conspiracy, crime thriller, espionage, espionage fiction, legal thriller, medical thriller,
        mystery suspense, mystery thriller, political thriller, psychological thriller, spies, spy, spy fiction,
        spy stories, spy thriller, spy thrillers, suspense, suspense and thriller, suspense fiction,
        suspense thriller, techno thriller, technothriller, terrorism fiction, thriller, thrillers,
        thrillers and suspense
    '),
    (6, 'Horror', false, false, '
        creepy, cthulhu mythos, ghost, ghost stories, ghosts, gothic, gothic fiction, gothic horror, halloween,
        horror, horror fiction, horror stories, horror tales, horror thriller, lovecraftian, occult fiction,
        scary, southern gothic, thriller horror, zombie, zombies
    '),
    (7, 'Paranormal', false, false, '
        angels, angels and demons, angels demons, demons, fallen angel, fallen angels, occult and supernatural,
        paranormal, paranormal fiction, paranormal romance, pnr, reverse harem, romance paranormal,
        shapeshifters, shifter, shifters, supernatural, vampire, vampire romance, vampires, vamps, werewolf,
        werewolves, witches, ya paranormal, young adult paranormal
    '),
    (8, 'Romance', false, false, '
        adult romance, amish, amish fiction, billionaire romance, category romance, chic lit, chick lit,
        chicklit, clean romance, college romance, contemporary romance, dark romance, friends to lovers,
        gay romance, gothic romance, historical romance, lesbian romance, love, love stories, love story,
        love triangle, m f romance, man woman relationships fiction, military romance, new adult, office romance,
        regency, regency fiction, regency romance, relationships fiction, rom com, romance, romance fiction,
        romance historical, romantic, romantic comedy, romantic suspense, romcom, sports romance,
        western romance, womens fiction romance, ya romance, young adult romance
    '),
    (9, 'Erotica', false, false, '
        bdsm, bdsm romance, dark erotica, erotic, erotic fiction, erotic literature, erotic romance,
        erotic stories, erotica, menage, reverse harem erotica, sexuality fiction, smut
    '),
    (10, 'Historical Fiction', false, false, '
        biographical fiction, fiction historical, historic fiction, historical, historical fiction,
        historical fiction general, historical novel, historical novels, historical stories, historicalfiction,
        medieval, regency england, tudors, victorian
    '),
    (11, 'Contemporary Fiction', false, false, '
        bildungsroman, bildungsromans, book club, city and town life, coming of age, coming of age stories,
        contemporary, contemporary fiction, contemporary women, domestic fiction, family life, family saga,
        family sagas, female friendship, friendship fiction, modern fiction, political fiction,
        psychological fiction, psychological novels, realistic, realistic fiction, sagas, school stories,
        small town and rural, urban fiction, women s fiction, womens, womens fiction, ya contemporary
    '),
    (12, 'Literary Fiction', false, false, '
        absurdist, african literature, allegories, american, american fiction, american literature,
        arabic fiction, argentine literature, asian literature, australian fiction, booker, booker prize,
        british literature, canadian literature, chinese literature, czech literature, egyptian literature,
        english fiction, english literature, epistolary, european literature, experimental fiction,
        finnish literature, french literature, german literature, hungarian literature, indian literature,
        indic fiction, indonesian literature, irish literature, italian literature, japanese literature,
        latin american, latin american literature, literary, literary fiction, literary novels, literature,
        literature in translation, magic realism, magical realism, man booker, man booker prize, metafiction,
        modernism, nobel prize, novels literary, polish literature, portuguese literature, postmodern, pulitzer,
        pulitzer prize, pulitzer prize winners, russian literature, scandinavian literature, southern,
        spanish literature, surreal, swedish literature, translated fiction, translations, turkish literature,
        world literature
    '),
    (13, 'Classics', false, false, '
        18th century, 19th century, 20th century classics, american classics, ancient literature, classic,
        classic fiction, classic lit, classic literature, classical fiction, classical literature, classics,
        classics fiction, great books, modern classic, modern classics, russian classics, the classics
    '),
    (14, 'Adventure', false, false, '
        action, action adventure, action and adventure, adventure, adventure and adventurers, adventure fiction,
        adventure stories, exploration, nautical, pirates, sea adventures, sea stories, shipwrecks, survival,
        survival fiction, survival stories, swashbuckler, treasure, voyages and travels
    '),
    (15, 'War & Military', false, false, '
        imaginary wars and battles, military, military fiction, military history fiction, military science,
        military strategy, naval history, prisoners of war, soldiers, strategy military, vietnam, war,
        war and military, war fiction, war novels, war stories, world war ii fiction
    '),
    (16, 'Westerns', false, false, '
        cowboys, frontier and pioneer life, western, western fiction, western stories, westerns, wild west
    '),
    (17, 'Myths & Fairy Tales', false, false, '
        arthurian, arthurian legend, arthurian romances, fables, fairy tale, fairy tale retellings, fairy tales,
        fairy tales and folklore, fairy tales folk tales legends and mythology, fairytale, fairytales,
        folk tales, folklore, folklore and mythology, folktales, gods, greek mythology, legend, legends,
        legends myths fables, myth, mythology, myths, myths and fairy tales, norse mythology, retelling,
        retellings
    '),
    (18, 'Humor', false, false, '
        american wit and humor, black humor, canadian wit and humor, comedy, comedy fiction, comics humor,
        dark comedy, funny, hilarious, humor, humor and satire, humor form, humorous, humorous fiction,
        humorous stories, humour, jokes, parodies, parody, satire, satire fiction, wit and humor
    '),
    (19, 'Short Stories', false, false, '
        anthologies, anthologies multiple authors, anthology, collections, novella, novellas, short fiction,
        short stories, short stories single author, short story, short story collections, stories, tales
    '),
    (20, 'Poetry', false, false, '
        american poetry, childrens poetry, english poetry, epic poetry, haiku, love poetry, lyrik, poems, poesia,
        poesie, poetry, poetry general, verse, شعر
    '),
    (21, 'Drama', false, false, '
        american drama, childrens plays, comedies, drama, english drama, french drama, greek drama,
        motion picture plays, performing arts drama, play, plays, screenplay, screenplays, shakespeare, teatro,
        theater, theatre, tragedies, tragedy
    '),
    (22, 'Graphic Novels', false, false, '
        anime, bande dessinee, cartoons, cartoons and comics, comic, comic book, comic books, comic books strips,
        comic books strips etc, comic strips, comics, comics and graphic novels, comics graphic novels,
        graphic novel, graphic novels, graphic novels and comics, graphic novels comics, manga, manhua, manhwa,
        superhero, superheroes, webtoon
    '),
    (23, 'Young Adult', false, false, '
        high school, teen, teen and young adult, teen fiction, teenage fiction, teens, teens and young adult, ya,
        ya books, ya fiction, ya lit, ya nonfiction, young adult, young adult books, young adult fiction,
        young adult general, young adult literature, young adult nonfiction, youngadult
    '),
    (24, 'Children', false, false, '
        animal fiction, baby, bedtime, beginning readers, board books, caldecott, chapter books, children,
        children books, children fiction, children s, children s books, children s lit, children s literature,
        childrens, childrens books, childrens ebooks, childrens fiction, childrens lit, childrens literature,
        childrens literature english, childrens picture books, childrens stories, early readers, easy readers,
        jugendbuch, juvenile, juvenile fiction, juvenile literature, juvenile nonfiction, juvenile works, kids,
        kids books, kinder, kinderbuch, middle grade, newbery, nursery rhymes, picture book, picture books,
        picture books for children, readers, stories in rhyme, toddlers
    '),
    (25, 'LGBTQ', false, false, '
        bisexual, femme femme, gay, gay and lesbian, gay fiction, gay men, gender and sexuality, glbt, glbtq,
        homosexuality, lesbian, lesbian fiction, lgbt, lgbt studies, lgbtq, lgbtq fiction, lgbtq plus, lgbtqia,
        lgbtqia fiction, lgbtqplus, m m contemporary, m m romance, queer, trans, transgender
    '),
    (26, 'Biography & Memoir', false, true, '
        adventurers and explorers, authors biography, autobiografia, autobiographies, autobiography,
        autobiography memoir, bio, bio memoir, biografia, biographie, biographies, biographies and memoirs,
        biographies memoirs, biography, biography and autobiography, biography and memoir,
        biography autobiography, biography memoir, celebrity, correspondence, diaries, diary, letters, memoir,
        memoir biography, memoirs, memoirs biographies, novelists biography, personal memoirs,
        personal narratives, true story
    '),
    (27, 'History', false, true, '
        19th century history, 20th century, american civil war, american history, american revolution,
        american revolutionary war, ancient, ancient and classical, ancient history, antislavery movements,
        archaeology, british history, civil war, civilization, cold war, crusades, european history, geschichte,
        great britain history, histoire, historia, historical non fiction, history, history modern, holocaust,
        military history, presidents, presidents biography, russian history, slavery, united states history,
        us history, vietnam war, world history, world war 1, world war 1914 1918, world war 1939 1945,
        world war i, world war ii, ww2, wwi, wwii
    '),
    (28, 'True Crime', false, true, '
        crime non fiction, murder, murderers, serial killers, serial murderers, true crime,
        true crime and mystery, true crime stories
    '),
    (29, 'Science & Nature', false, true, '
        animals, astronomy, astronomy space, biology, birds, botany, chemistry, climate change, cosmology,
        dinosaurs, earth sciences, ecology, ecosystems and habitats, electrons, environment,
        environmental conservation and protection, environmental science, environmental science and ecology,
        evolution, evolution biology, genetics, geography, geology, life sciences, math, mathematics,
        mathematics general, medicine, natural history, natural sciences, nature, neuroscience, oceanography,
        physics, physics general, popular science, science, science and nature, science general, space science,
        sustainability, weather, zoology
    '),
    (30, 'Technology & Computing', false, true, '
        aeronautics, artificial intelligence, aviation, coding, computer programmers, computer programming,
        computer science, computers, computers and technology, data science, electronics, engineering,
        information technology, internet, machine learning, programming, software, software engineering, tech,
        technology, technology and computing, technology and engineering, technology general, transport,
        transportation, web
    '),
    (31, 'Philosophy', false, true, '
        atheism, classical philosophy, eastern philosophy, epistemology, ethics, ethics and moral philosophy,
        existentialism, logic, metaphysics, nietzsche, nihilism, philosophers, philosophy, philosophy general,
        political philosophy, skepticism, stoic, stoicism
    '),
    (32, 'Psychology & Health', false, true, '
        abuse, addiction, aging, alternative medicine, autism, autistic spectrum disorder, behavioral economics,
        cancer, cognitive science, death, diet, diet and nutrition, diets, dreams, eating disorders, exercise,
        fitness, grief, health, health and fitness, human behavior, medical, medicine general, mental health,
        mental illness, mental illness fiction, nursing, nutrition, psych, psychoanalysis, psychology,
        psychology and health, psychology general, psychotherapy, running, self care, sex, sexuality, trauma,
        vegan nutrition, weight loss, yoga
    '),
    (33, 'Family & Relationships', false, true, '
        adoption, child rearing, childbirth, dating, divorce, families, family, family and relationships,
        fatherhood, foster care, husband and wife, infants, love and relationships, marriage, motherhood,
        mothers and daughters, parenthood, parenting, parenting and relationships, pregnancy,
        pregnancy and childbirth, relationships
    '),
    (34, 'Religion & Spirituality', false, true, '
        angels and spirit guides, apologetics, astrology, bible, bible study, bibles, body mind and spirit,
        body mind spirit, buddhism, catholic, catholicism, christian, christian fiction, christian inspirational,
        christian life, christian living, christian romance, christianity, christianity fiction, church, clergy,
        confucianism, cults, devotional, faith, hinduism, inspirational fiction, islam, jewish, judaism, lds,
        magick, meditation, mindfulness, mysticism, new age, new thought, occult, paganism, prayer,
        reincarnation, religion, religion and spirituality, religious, religious fiction, sacred texts,
        spiritual, spiritual growth, spiritual life, spirituality, sufism, taoism, tarot, thelema, theology,
        wicca, zen
    '),
    (35, 'Business & Economics', false, true, '
        accounting, advertising, buisness, business, business and economics, business and investing,
        business and management, business and money, business books, business enterprises, capitalism, careers,
        consumer behavior, corporate, economics, economics and finance, entrepreneur, entrepreneurship, finance,
        finance personal, industries, investing, investments, leadership, management, marketing, money,
        negotiation, organizational behavior, personal finance, productivity, real estate, sales, small business,
        startup, stock market, strategy
    '),
    (36, 'Self-Help', false, true, '
        autoayuda, communication, conduct of life, creativity, decision making, habits, happiness, how to,
        inspirational, motivation, motivational, motivational and inspirational, personal development,
        personal growth, self actualization, self development, self help, self improvement, self realization,
        selfhelp, success, time management
    '),
    (37, 'Politics & Society', false, true, '
        activism, african american, african american studies, african americans, anthropology, anti racist,
        civil rights, communism, conspiracy theories, crime and criminals, cultural, cultural studies, culture,
        current affairs, current events, democracy, disability, essays politics, ethnic studies, feminism,
        feminist, gender, gender studies, globalization, government, human rights, immigration, imperialism,
        international relations, journalism, journalism and media, law, marxism, media studies, political,
        political science, political science and international relations, politics, politics and government,
        politics and society, pop culture, popular culture, poverty, race, social, social conditions,
        social issues, social justice, social problems, social science, social sciences, social work, socialism,
        sociology, terrorism, urban studies, womens studies
    '),
    (38, 'Education & Reference', false, true, '
        academic, almanacs, college, curiosities and wonders, dictionaries, dictionary, education,
        education and reference, education and teaching, education general, encyclopedia, encyclopedias,
        foreign language study, grammar, homeschooling, language, language and languages, language learning,
        linguistics, reference, school, study aids, teachers, teaching, test preparation, textbook, textbooks,
        trivia
    '),
    (39, 'Travel', false, true, '
        description and travel, guidebook, guidebooks, hiking, mountaineering, outdoors, special interest travel,
        travel, travel and adventure, travel essays, travel guides, travel literature, travel writing,
        travelers writings, travelogue, voyages
    '),
    (40, 'Food & Cooking', false, true, '
        baking, beverages, brewing, chocolate, cook books, cookbook, cookbooks, cookery, cooking,
        cooking food and wine, cooking general, culinary, desserts, food, food and cooking, food and drink,
        food and wine, food writing, foodie, gastronomy, recipes, vegan, vegetarian, vegetarianism, wine
    '),
    (41, 'Home & Hobbies', false, true, '
        agriculture, antiques and collectibles, cats, chess, collectibles, costume, crafts, crafts and hobbies,
        crafts hobbies and home, diy, do it yourself, dogs, games, games and activities, gaming, gardening,
        gardens, hobbies, home and garden, home and hobbies, home improvement, horses, house and home,
        interior design, knitting, needlework, pets, puzzles, quilting, role playing games, rpg, sewing,
        video games, woodworking
    '),
    (42, 'Arts & Letters', false, true, '
        architecture, art, art and photography, art history, artists, artists monographs, arts and letters,
        arts and photography, authorship, ballet, books about books, books and reading, cinema, creative writing,
        criticism, dance, design, drawing, english language, essays, fashion, film, film and video, graphic arts,
        graphic design, history and criticism, language arts and disciplines, librarianship, libraries,
        literary collections, literary criticism, literary essays, literary theory,
        literature and fiction history and criticism, literature history and criticism, media tie in,
        motion pictures, music, musicians, on writing, painting, performing arts, photography, popular music,
        publishing, rhetoric, rock music, storytelling, television, theater criticism, theory, typography,
        writing
    '),
    (43, 'Sports', false, true, '
        athletes, baseball, basketball, boxing, chess sport, climbing, cycling, fishing, football, golf, hockey,
        martial arts, olympics, running sport, soccer, sport, sports, sports and outdoors, sports and recreation,
        swimming, tennis, wrestling
    '),
    (44, 'General Fiction', true, false, '
        adult, adult fiction, belletristik, ficcion, fiction, fiction and literature, fiction fiction,
        fiction general, fictional, general fiction, general literature fiction, large type books,
        literature and fiction, novel, novela, novels, roman, romans
    '),
    (45, 'General Nonfiction', true, true, '
        adult nonfiction, general nonfiction, miscellaneous nonfiction, no ficcion, non fic, non fiction,
        nonfiction, nonfiction general, sachbuch
    ')
), inserted AS (
    INSERT INTO genres (id, slug, name, is_general, is_nonfiction)
    SELECT id, replace(search_fold(name), ' ', '-'), name, is_general, is_nonfiction
    FROM canonical
)
INSERT INTO genre_aliases (alias, genre_id)
SELECT search_fold(alias), id
FROM canonical
CROSS JOIN LATERAL string_to_table(aliases, ',') AS alias;

-- The editions of each language and genre, most popular first.
CREATE TABLE edition_genres (
    -- The language of the edition (`feed_language`). If that is unknown or doubtful, the main language of the catalog; empty without one.
    language text COLLATE "C" NOT NULL,
    -- 0 for an edition without a genre, therefore no foreign key.
    genre_id smallint NOT NULL,
    -- The sort key that `genre_position` returns: tier, popularity, and number of the edition.
    position bigint NOT NULL,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    -- 1 for the edition's first genre.
    ordinal smallint NOT NULL,
    PRIMARY KEY (language, genre_id, position) INCLUDE (edition_id, ordinal)
);
CREATE INDEX edition_genres_edition_id ON edition_genres (edition_id, ordinal) INCLUDE (language, genre_id, position);

COMMENT ON TABLE edition_genres IS 'The editions of each language and genre, in the order of the feed.';
COMMENT ON COLUMN edition_genres.language IS
    'The language of the edition (`feed_language`). If that is unknown or doubtful, it is the main language of the catalog.';
COMMENT ON COLUMN edition_genres.genre_id IS '0 for editions without a genre.';
COMMENT ON COLUMN edition_genres.position IS 'The sort key: tier, popularity, and number of the edition (`genre_position`).';
COMMENT ON COLUMN edition_genres.ordinal IS 'The position of the genre in the list of the edition, from 1.';

-- The ids of works at sources. An edition has at most one id at each source. Editions with the same source and key are records
-- of one work.
CREATE TABLE edition_work_keys (
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    source text NOT NULL CHECK (source ~ '^[a-z_]{1,32}$'),
    key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 200),
    PRIMARY KEY (edition_id, source)
);
CREATE INDEX edition_work_keys_key ON edition_work_keys (source, key);

COMMENT ON TABLE edition_work_keys IS
    'The ids of works at external sources. Editions with the same source and key are records of one work.';
COMMENT ON COLUMN edition_work_keys.key IS 'The id of the work at the source.';

-- The operators' decisions about works. The editions of a merge are records of one work. The editions of a split are a work
-- of their own: their titles, their keys at sources, and earlier decisions no longer count.
CREATE TYPE work_decision_kind AS ENUM ('MERGE', 'SPLIT');
CREATE TABLE work_decisions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind work_decision_kind NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT now(),
    -- A decision that was undone stays here, without an effect.
    undone_at timestamptz
);
CREATE TABLE work_decision_editions (
    decision_id bigint NOT NULL REFERENCES work_decisions ON DELETE CASCADE,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    PRIMARY KEY (decision_id, edition_id)
);
CREATE INDEX work_decision_editions_edition_id ON work_decision_editions (edition_id);

COMMENT ON TABLE work_decisions IS 'The operator''s decisions that editions are records of one work, or are not.';
COMMENT ON COLUMN work_decisions.undone_at IS 'When the decision was undone, so that it has no effect; null if it was not.';

COMMENT ON TABLE work_decision_editions IS 'The editions to which a decision applies.';

-- The records of works of which the catalog has two or more: the result of `match_works`. An edition that is the only record of
-- its work has no row. The trigger of `editions` deletes the rows of deleted editions, because it still needs them.
CREATE TABLE work_records (
    edition_id uuid PRIMARY KEY,
    -- The oldest record of the work. The id of the work is computed from it (`work_id`), so a work keeps its id when it gains
    -- records, and each record leads to the work that it belongs to now.
    founder_id uuid NOT NULL,
    -- The feed shows the record of the lowest rank in a language of the reader (`record_to_show`).
    rank int NOT NULL,
    -- A copy of `edition_genres.language`, so that the record to show is found without a lookup for each record.
    language text NOT NULL
);
CREATE INDEX work_records_work ON work_records (founder_id, rank) INCLUDE (edition_id, language);

COMMENT ON TABLE work_records IS 'The editions of works that have two or more, as computed by `match_works`.';
COMMENT ON COLUMN work_records.founder_id IS 'The oldest edition of the work. The id of the work is computed from it (`work_id`).';
COMMENT ON COLUMN work_records.rank IS
    'The order of the records, from 1. The feed shows the first one in a language of the reader.';
COMMENT ON COLUMN work_records.language IS 'The language of the edition, as in `edition_genres`.';

-- Editions that were deleted, if their work has other editions. `survivor_id` is one of those: an id of a work that was computed
-- from the deleted edition returns the work of the survivor.
CREATE TABLE removed_editions (
    id uuid PRIMARY KEY,
    survivor_id uuid NOT NULL
);
CREATE INDEX removed_editions_survivor_id ON removed_editions (survivor_id);

COMMENT ON TABLE removed_editions IS 'Deleted editions of works that have other editions.';
COMMENT ON COLUMN removed_editions.survivor_id IS 'Another edition of the work, to which ids of the deleted one lead.';

-- The words of the catalog. The search finds corrections of misspelled words here, because there are far fewer words
-- than editions.
CREATE TABLE search_words (
    word text COLLATE "C" PRIMARY KEY,
    -- How many editions contain the word, as of the last refresh_search_words.
    editions int NOT NULL,
    -- The word, and the word without each one of its letters (see search_forms).
    forms text[] NOT NULL
);
CREATE INDEX search_words_forms ON search_words USING gin (forms);
CREATE INDEX search_words_word ON search_words USING gin (word gin_trgm_ops);

COMMENT ON TABLE search_words IS 'The words of the catalog, among which the search finds corrections of misspelled words.';
COMMENT ON COLUMN search_words.editions IS 'The number of editions with the word, as of the last `refresh_search_words`.';
COMMENT ON COLUMN search_words.forms IS 'The word, and the word without each one of its letters (`search_forms`).';

-- Short names of books and series, as readers type them: "lotr". The operator adds others (`bookplate-admin catalog search-alias
-- add`).
CREATE TABLE search_aliases (
    -- At most three words, as `search_query_terms` returns them.
    alias text PRIMARY KEY CHECK (alias ~ '^\S+(?: \S+){0,2}$' AND char_length(alias) <= 60),
    meaning text NOT NULL CHECK (search_fold(meaning) <> '' AND char_length(meaning) <= 100)
);

COMMENT ON TABLE search_aliases IS 'Short names of books and series that a search also understands, such as lotr.';
COMMENT ON COLUMN search_aliases.alias IS 'One to three words, as `search_query_terms` returns them.';
COMMENT ON COLUMN search_aliases.meaning IS 'The text that the search searches, too.';

INSERT INTO search_aliases (alias, meaning)
VALUES
    ('acofas', 'A Court of Frost and Starlight'),
    ('acok', 'A Clash of Kings'),
    ('acomaf', 'A Court of Mist and Fury'),
    ('acosf', 'A Court of Silver Flames'),
    ('acotar', 'A Court of Thorns and Roses'),
    ('acowar', 'A Court of Wings and Ruin'),
    ('adwd', 'A Dance with Dragons'),
    ('affc', 'A Feast for Crows'),
    ('agot', 'A Game of Thrones'),
    ('ahwosg', 'A Heartbreaking Work of Staggering Genius'),
    ('asoiaf', 'A Song of Ice and Fire'),
    ('asos', 'A Storm of Swords'),
    ('atwq', 'All the Wrong Questions'),
    ('c and p', 'Crime and Punishment'),
    ('f451', 'Fahrenheit 451'),
    ('fotr', 'The Fellowship of the Ring'),
    ('gwtw', 'Gone with the Wind'),
    ('h2g2', 'The Hitchhiker''s Guide to the Galaxy'),
    ('hgttg', 'The Hitchhiker''s Guide to the Galaxy'),
    ('hhgttg', 'The Hitchhiker''s Guide to the Galaxy'),
    ('hitchhikers guide', 'The Hitchhiker''s Guide to the Galaxy'),
    ('hp', 'Harry Potter'),
    ('hpdh', 'Harry Potter and the Deathly Hallows'),
    ('hpgof', 'Harry Potter and the Goblet of Fire'),
    ('hphbp', 'Harry Potter and the Half-Blood Prince'),
    ('hpootp', 'Harry Potter and the Order of the Phoenix'),
    ('hppoa', 'Harry Potter and the Prisoner of Azkaban'),
    ('kkc', 'The Kingkiller Chronicle'),
    ('lotf', 'Lord of the Flies'),
    ('lotr', 'The Lord of the Rings'),
    ('nineteen eighty four', '1984'),
    ('notw', 'The Name of the Wind'),
    ('oryx crake', 'Oryx and Crake'),
    ('pjo', 'Percy Jackson and the Olympians'),
    ('rotk', 'The Return of the King'),
    ('slaughterhouse 5', 'Slaughterhouse-Five'),
    ('tfios', 'The Fault in Our Stars'),
    ('thg', 'The Hunger Games'),
    ('tkam', 'To Kill a Mockingbird'),
    ('tmi', 'The Mortal Instruments'),
    ('tog', 'Throne of Glass'),
    ('tpobaw', 'The Perks of Being a Wallflower'),
    ('twok', 'The Way of Kings'),
    ('ttw', 'The Time Traveler''s Wife'),
    ('wot', 'The Wheel of Time');

-- A source that does not know an ISBN is not requested again for it until the row expires.
CREATE TABLE source_misses (
    source text NOT NULL CHECK (source ~ '^[a-z_]{1,32}$'),
    isbn13 text NOT NULL CHECK (isbn13 ~ '^97[89][0-9]{10}$'),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (isbn13, source)
);

COMMENT ON TABLE source_misses IS 'ISBNs that an external source does not know. It is not asked again before the row expires.';

-- Queries that external sources answered recently. They are not sent again until the row expires.
CREATE TABLE source_searches (
    query text PRIMARY KEY CHECK (char_length(query) BETWEEN 1 AND 1000),
    expires_at timestamptz NOT NULL
);

COMMENT ON TABLE source_searches IS 'Queries that external sources have answered. They are not sent again before the row expires.';

-- Requests to external services that servers have reserved, by UTC day. Some of them may stay unused, because a server
-- reserves several at once and returns none.
CREATE TABLE source_usage (
    -- The name in BOOKPLATE_SOURCE_BUDGETS, such as `open-library`. Other tables use the name `open_library`.
    source text NOT NULL CHECK (source ~ '^[a-z-]{1,40}$'),
    day date NOT NULL,
    used int NOT NULL DEFAULT 0 CHECK (used >= 0),
    -- The part of `used` that background work has reserved.
    used_in_background int NOT NULL DEFAULT 0 CHECK (used_in_background BETWEEN 0 AND used),
    PRIMARY KEY (source, day)
);
ALTER TABLE source_usage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE source_usage IS
    'The number of requests to external sources on each day, for the daily budgets. It includes requests that a server has '
    'reserved and not used.';
COMMENT ON COLUMN source_usage.source IS
    'The name in BOOKPLATE_SOURCE_BUDGETS, such as `open-library`. Other tables use `open_library`.';
COMMENT ON COLUMN source_usage.day IS 'A day of UTC.';
COMMENT ON COLUMN source_usage.used_in_background IS 'The part of `used` that background work has reserved.';
