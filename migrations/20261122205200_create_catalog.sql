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
-- one space between words and around each CJK character. The collation and the dictionary are named so that the result
-- is the same in every database. Text in ASCII takes a shorter path to the same result.
CREATE FUNCTION search_fold(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF octet_length(value) = char_length(value) THEN
        RETURN btrim(regexp_replace(
            replace(translate(lower(value COLLATE "C"), '''`', ''), '&', ' and '),
            '[^a-z0-9]+', ' ', 'g'));
    END IF;
    RETURN btrim(regexp_replace(
        regexp_replace(
            regexp_replace(
                replace(
                    lower(public.unaccent('public.unaccent'::regdictionary, normalize(value, NFKC)) COLLATE "und-x-icu"),
                    '&', ' and '),
                '[''’ʼ`]', '', 'g'),
            '([\u2E80-\u9FFF\uF900-\uFAFF])', ' \1 ', 'g'),
        '[^[:alnum:]]+', ' ', 'g'));
END
$$;

-- Returns the folded text of everything that a search may match, for comparing it letter by letter.
CREATE FUNCTION search_text(
    title text, subtitle text, series text, series_position text, authors text[]
) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN public.search_fold(
        concat_ws(' ', title, subtitle, series, series_position, array_to_string(authors, ' ')));
END
$$;

-- Returns the words for the full-text index. Initials are also one word: "jrr" finds "j r r tolkien".
CREATE FUNCTION search_vector(
    title text, subtitle text, series text, series_position text, authors text[]
) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    names text := public.search_fold(array_to_string(authors, ' '));
BEGIN
    RETURN setweight(to_tsvector('simple', public.search_fold(title)), 'A')
        || setweight(to_tsvector('simple', names), 'B')
        || setweight(to_tsvector('simple', regexp_replace(names, '(?<=\m\w) (?=\w\M)', '', 'g')), 'B')
        || setweight(to_tsvector('simple', public.search_fold(concat_ws(' ', subtitle, series, series_position))), 'C');
END
$$;

CREATE TABLE editions (
    id uuid PRIMARY KEY,
    -- A short number for the edition, in feed positions and in the learning of similar editions.
    number bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT editions_number_fits CHECK (number < 4294967296),
    isbn13 text UNIQUE CHECK (isbn13 ~ '^97[89][0-9]{10}$'),
    isbn10 text CHECK (isbn10 ~ '^[0-9]{9}[0-9X]$'),
    title text NOT NULL CHECK (title <> ''),
    subtitle text,
    series text,
    series_position text,
    authors text[] NOT NULL DEFAULT '{}',
    publisher text,
    published_date text,
    language text,
    page_count int CHECK (page_count > 0),
    genres text[] NOT NULL DEFAULT '{}',
    description text,
    -- The beginning of the description, for cards.
    hook text CHECK (char_length(hook) <= 140),
    average_rating float8 CHECK (average_rating BETWEEN 0 AND 5),
    ratings_count int NOT NULL DEFAULT 0 CHECK (ratings_count >= 0),
    popularity float8 NOT NULL DEFAULT 0,
    -- When `backfill editions` last requested missing facts from external sources; null if never.
    sources_requested_at timestamptz,
    -- Addresses of covers, the most likely first. Each is preceded by the name of its source and a space.
    cover_links text[] NOT NULL DEFAULT '{}',
    -- The stored cover and the width of its largest size; null without a cover.
    cover_version text CHECK (cover_version ~ '^[0-9a-f]{32}$'),
    cover_width int CHECK (cover_width > 0),
    -- When a missing cover may be requested, and how many requests in a row failed because a source did not answer.
    cover_due_at timestamptz NOT NULL DEFAULT '-infinity',
    cover_failures int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    search_title text GENERATED ALWAYS AS (search_fold(title)) STORED,
    search_text text GENERATED ALWAYS AS
        (search_text(title, subtitle, series, series_position, authors)) STORED,
    search_vector tsvector GENERATED ALWAYS AS
        (search_vector(title, subtitle, series, series_position, authors)) STORED,
    -- The first author and the series as numbers, which the feed compares to vary its cards.
    author_key int GENERATED ALWAYS AS (coalesce(hashtext(lower(authors[1])), 0)) STORED,
    series_key int GENERATED ALWAYS AS (coalesce(hashtext(lower(series)), 0)) STORED
);
-- The plans of a search do not depend on statistics of these columns, and collecting them takes long.
ALTER TABLE editions
    ALTER COLUMN search_title SET STATISTICS 0,
    ALTER COLUMN search_text SET STATISTICS 0,
    ALTER COLUMN search_vector SET STATISTICS 0;
CREATE UNIQUE INDEX editions_number ON editions (number);
CREATE INDEX editions_popularity ON editions (popularity DESC, id);
CREATE INDEX editions_search_title ON editions (search_title);
CREATE INDEX editions_search_vector ON editions USING gin (search_vector) WITH (fastupdate = off);
-- Editions whose cover was never requested come first, the most popular of them first.
CREATE INDEX editions_due_for_cover ON editions (cover_due_at, popularity DESC, id)
    WHERE cover_version IS NULL AND (isbn13 IS NOT NULL OR cover_links <> '{}');
CREATE INDEX editions_late_for_cover ON editions (cover_due_at)
    WHERE cover_version IS NULL AND cover_failures > 0;

-- The ids of editions at external sources. An external id belongs to one edition.
CREATE TABLE edition_sources (
    source text NOT NULL CHECK (source ~ '^[a-z_]{1,32}$'),
    key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 200),
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    PRIMARY KEY (source, key)
);
CREATE INDEX edition_sources_edition_id ON edition_sources (edition_id);

CREATE TABLE genres (
    id smallint PRIMARY KEY,
    name text NOT NULL UNIQUE,
    readers bigint NOT NULL DEFAULT 0
);

CREATE FUNCTION work_key(title text, authors text[])
 RETURNS bigint
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $$
declare
  folded text;
  author text;
  first_author constant text := authors[1];
begin
  if title ~ '[(\[]' then
    folded := public.search_fold(regexp_replace(title, '\([^)]*\)|\[[^]]*\]', '', 'g'));
  else
    folded := public.search_fold(title);
  end if;
  if split_part(folded, ' ', 1) in ('the', 'a', 'an') then
    folded := substring(folded from position(' ' in folded) + 1);
  end if;
  -- "Le Guin, Ursula K." is read as "Ursula K. Le Guin".
  author := public.search_fold(case when position(',' in first_author) = 0 then first_author
    else split_part(first_author, ',', 2) || ' ' || split_part(first_author, ',', 1) end);
  if folded = '' or coalesce(author, '') = '' then
    return null;
  end if;
  return hashtextextended(folded || '|' || split_part(author, ' ', -1) || '|' || left(author, 1), 0);
end
$$;

-- The triggers find the other records of a work by this index.
CREATE INDEX editions_work_key ON editions (work_key(title, authors));

-- The records of works of which the catalog has two or more. An edition that is the only record of its work has no row.
CREATE TABLE work_records (
    edition_id uuid PRIMARY KEY REFERENCES editions ON DELETE CASCADE,
    work_key bigint NOT NULL,
    -- Volumes that share a title are different works. Empty if all records of the title say the same volume or none.
    volume text NOT NULL,
    -- The feed shows only the record of rank 1.
    rank int NOT NULL
);
CREATE INDEX work_records_work ON work_records (work_key, volume, rank) INCLUDE (edition_id);

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

-- A source that does not know an ISBN is not requested again for it until the row expires.
CREATE TABLE source_misses (
    source text NOT NULL CHECK (source ~ '^[a-z_]{1,32}$'),
    isbn13 text NOT NULL CHECK (isbn13 ~ '^97[89][0-9]{10}$'),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (source, isbn13)
);
CREATE INDEX source_misses_isbn13 ON source_misses (isbn13);

-- Queries that external sources answered recently. They are not sent again until the row expires.
CREATE TABLE source_searches (
    query text PRIMARY KEY CHECK (char_length(query) BETWEEN 1 AND 1000),
    expires_at timestamptz NOT NULL
);

-- Requests to external services that servers have reserved, by UTC day. Some of them may stay unused, because a server
-- reserves several at once and returns none.
CREATE TABLE source_usage (
    source text NOT NULL CHECK (source ~ '^[a-z-]{1,40}$'),
    day date NOT NULL,
    used int NOT NULL DEFAULT 0 CHECK (used >= 0),
    -- The part of `used` that background work has reserved.
    used_in_background int NOT NULL DEFAULT 0 CHECK (used_in_background BETWEEN 0 AND used),
    PRIMARY KEY (source, day)
);
ALTER TABLE source_usage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
