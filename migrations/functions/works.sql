-- Works: the records of the catalog that are the same book, and the links of readers' books to them. A record is a row of
-- `editions`. The feed shows one record of each work.

-- Returns the volume that a record names: its position in the series, or, in brackets in its title, the word after "#", "Book",
-- "Vol.", and the like, or a number alone. Number words and Roman numerals become digits. Null if it names none.
CREATE OR REPLACE FUNCTION work_volume(title text, series_position text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    volume text;
    words CONSTANT text[] := '{one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve}';
    numerals CONSTANT text[] := '{i, ii, iii, iv, v, vi, vii, viii, ix, x, xi, xii}';
BEGIN
    volume := lower(coalesce(
        nullif(btrim(series_position), ''),
        substring(
            title FROM
            '[(\[][^)\]]*(?:#|\m(?:[Vv]olume|[Vv]ol|[Bb]ook|[Pp]art|[Nn]umber|[Nn]o)\M\.?)\s*([[:alnum:]]+(?:[.–-][[:alnum:]]+)*)'
        ),
        substring(title FROM '[(\[]([0-9]{1,3})[)\]]')
    ));
    RETURN coalesce(
        array_position(words, volume)::text,
        array_position(numerals, volume)::text,
        regexp_replace(replace(volume, '–', '-'), '\.0$', '')
    );
END
$$;

-- Returns the number of the volume of a series that a record is, under whatever title: "Northern Lights" and "The Golden Compass" are
-- volume 1. Null if the position is not a whole number, and for titles that may be several volumes, a part of one, or a companion.
CREATE OR REPLACE FUNCTION whole_volume(title text, series_position text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN CASE
        WHEN series_position ~ '^[1-9][0-9]{0,2}$'
            AND title !~ '/'
            AND search_fold(title) !~ ('\m(?:parts?|tomos?|box|boxed|set|bundle|collections?|collected|treasury|omnibus|complete|trilogy|trilogie'
                '|trilogia|integrale|sammelband|gesamtausgabe|[0-9] in [0-9]|novels|stories|graphic|comics?|colou?ring|guide|companion'
                '|workbook|screenplay|journal|abridged|adaptation)\M')
        THEN series_position
    END;
END
$$;

-- Returns the id of the work that an edition has founded, or the edition that has founded the work with an id: the same UUID with
-- another version (the version XOR 12, so that the UUIDs of version 4, which editions have, get version 8).
CREATE OR REPLACE FUNCTION work_id(founder uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT overlay(
        founder::text PLACING translate(substr(founder::text, 15, 1), '0123456789abcdef', 'cdef89ab45670123') FROM 15
    )::uuid
$$;

-- Returns the edition that has an id, or that the id of a work leads to. Null if there is none.
CREATE OR REPLACE FUNCTION edition_with_id(given uuid) RETURNS uuid
LANGUAGE sql STABLE
AS $$
    SELECT id
    FROM (
        SELECT e.id, 1 AS rank
        FROM editions e
        WHERE e.id IN (given, work_id(given))
        UNION ALL
        SELECT r.survivor_id, 2
        FROM removed_editions r
        WHERE r.id IN (given, work_id(given))
    ) found
    ORDER BY rank
    LIMIT 1
$$;

-- Returns the reader's book of an edition or, if there is none, the first one of another record of its work. Null if there is
-- none.
CREATE OR REPLACE FUNCTION book_of_work(reader uuid, edition uuid) RETURNS uuid
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    book uuid;
BEGIN
    SELECT b.id INTO book
    FROM books b
    WHERE b.user_id = reader AND b.edition_id = edition;
    IF NOT FOUND THEN
        SELECT b.id INTO book
        FROM work_records w
        JOIN work_records other USING (founder_id)
        CROSS JOIN LATERAL (
            SELECT b.id, b.added_at
            FROM books b
            WHERE b.user_id = reader AND b.edition_id = other.edition_id
            OFFSET 0
        ) b
        WHERE w.edition_id = edition
        ORDER BY b.added_at, b.id
        LIMIT 1;
    END IF;
    RETURN book;
END
$$;

-- Matches editions with the other records of their works: those with the given ids or work keys (title and author), and all that
-- these are connected with. Null means all editions.
--
-- Two editions are connected by:
-- 1. a decision of the operator (`work_decisions`),
-- 2. the same work at a source (`edition_work_keys`), or
-- 3. the same work key and volume, or
-- 4. the same volume of a series by the same author (`whole_volume`). Not in a series that has one title as two volumes: it has several
--    numberings, such as the order of publication and that of the story.
-- All editions that are connected, directly or through others, are one work. Only the latest split of an edition, and later
-- merges, connect it with others.
--
-- The first record is one in the main language, with a description and a genre, and of these the one with the most ratings. Ratings change only when the catalog is written, so the hourly refresh does not exchange a work's record.
-- Two transactions that add the first two records of a work at the same time do not see each other's record; the two are matched
-- when one of them is written again.
CREATE OR REPLACE FUNCTION match_works(given uuid[], given_keys bigint[] DEFAULT '{}') RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    -- The editions whose works may change.
    affected uuid[] := '{}';
    next uuid[];
    -- One element for each link of an edition that it shares with others: the number of the edition, the link, and the smallest
    -- number of the editions that are known to be connected with it.
    numbers bigint[];
    links bigint[];
    labels bigint[];
    new_labels bigint[];
BEGIN
    IF given IS NULL THEN
        affected := ARRAY(SELECT id FROM editions);
    ELSE
        next := ARRAY(
            SELECT unnest(given)
            UNION
            SELECT e.id
            FROM unnest(given_keys) AS k (key)
            CROSS JOIN LATERAL (
                SELECT id FROM editions e WHERE work_key(e.title, e.authors) = k.key OFFSET 0
            ) e
        );
        WHILE next <> '{}' LOOP
            affected := affected || next;
            next := ARRAY(
                SELECT id
                FROM (
                    SELECT e.id
                    FROM (
                        SELECT DISTINCT work_key(e.title, e.authors) AS key
                        FROM editions e
                        WHERE e.id = ANY(next)
                    ) k
                    CROSS JOIN LATERAL (
                        SELECT id FROM editions e WHERE work_key(e.title, e.authors) = k.key OFFSET 0
                    ) e
                    UNION
                    SELECT e.id
                    FROM (
                        SELECT DISTINCT e.series_key AS key
                        FROM editions e
                        WHERE e.id = ANY(next)
                    ) k
                    CROSS JOIN LATERAL (
                        SELECT id FROM editions e WHERE e.series_key = k.key OFFSET 0
                    ) e
                    UNION
                    SELECT o.edition_id
                    FROM edition_work_keys k
                    JOIN edition_work_keys o USING (source, key)
                    WHERE k.edition_id = ANY(next)
                    UNION
                    SELECT o.edition_id
                    FROM work_decision_editions k
                    JOIN work_decision_editions o USING (decision_id)
                    WHERE k.edition_id = ANY(next)
                    UNION
                    SELECT o.edition_id
                    FROM work_records k
                    JOIN work_records o USING (founder_id)
                    WHERE k.edition_id = ANY(next)
                ) connected
                WHERE id <> ALL(affected)
            );
        END LOOP;
    END IF;

    WITH records AS MATERIALIZED (
        SELECT
            e.id,
            e.number,
            work_key(e.title, e.authors) AS key,
            work_volume(e.title, e.series_position) AS volume,
            e.series_key,
            whole_volume(e.title, e.series_position) AS whole_volume,
            (
                SELECT max(d.id)
                FROM work_decision_editions m
                JOIN work_decisions d ON d.id = m.decision_id
                WHERE m.edition_id = e.id AND d.kind = 'SPLIT' AND d.undone_at IS NULL
            ) AS last_split
        FROM editions e
        WHERE e.id = ANY(affected)
    ), all_links AS (
        SELECT number, hashtextextended('title ' || key || ' ' || volume, 0) AS link
        FROM (
            SELECT
                number,
                key,
                -- Volumes that share a title are different works. A record that names no volume is one of them only if the
                -- records of the title name fewer than two.
                CASE
                    WHEN min(volume) OVER of_key IS DISTINCT FROM max(volume) OVER of_key THEN coalesce(volume, '')
                    ELSE ''
                END AS volume
            FROM records
            WHERE key IS NOT NULL AND last_split IS NULL
            WINDOW of_key AS (PARTITION BY key)
        ) titled
        UNION ALL
        SELECT number, hashtextextended('volume ' || series_key || ' ' || whole_volume, 0)
        FROM (
            SELECT *, bool_or(has_two) OVER (PARTITION BY series_key) AS is_ambiguous
            FROM (
                SELECT *, min(whole_volume) OVER of_title IS DISTINCT FROM max(whole_volume) OVER of_title AS has_two
                FROM records
                WHERE series_key IS NOT NULL AND whole_volume IS NOT NULL AND last_split IS NULL
                WINDOW of_title AS (PARTITION BY series_key, key)
            ) numbered
        ) volumes
        WHERE NOT is_ambiguous
        UNION ALL
        SELECT r.number, hashtextextended('source ' || k.source || ' ' || k.key, 0)
        FROM edition_work_keys k
        JOIN records r ON r.id = k.edition_id
        WHERE k.edition_id = ANY(affected) AND r.last_split IS NULL
        UNION ALL
        SELECT r.number, hashtextextended('decision ' || d.id, 0)
        FROM work_decision_editions m
        JOIN work_decisions d ON d.id = m.decision_id
        JOIN records r ON r.id = m.edition_id
        WHERE m.edition_id = ANY(affected) AND d.undone_at IS NULL AND d.id >= coalesce(r.last_split, 0)
    ), shared AS (
        SELECT number, link
        FROM (SELECT number, link, count(*) OVER (PARTITION BY link) AS total FROM all_links) counted
        WHERE total > 1
    )
    SELECT array_agg(number ORDER BY number, link), array_agg(link ORDER BY number, link)
    INTO numbers, links
    FROM shared;

    labels := numbers;
    LOOP
        SELECT array_agg(label ORDER BY position) INTO new_labels
        FROM (
            SELECT position, min(label) OVER (PARTITION BY number) AS label
            FROM (
                SELECT position, number, min(label) OVER (PARTITION BY link) AS label
                FROM unnest(numbers, links, labels) WITH ORDINALITY AS l (number, link, label, position)
            ) of_link
        ) of_edition;
        EXIT WHEN new_labels IS NOT DISTINCT FROM labels;
        labels := new_labels;
    END LOOP;

    WITH ranked AS MATERIALIZED (
        SELECT
            e.id,
            f.id AS founder_id,
            -- Empty for a new edition, until `list_genres_of_editions` writes it.
            coalesce((SELECT g.language FROM edition_genres g WHERE g.edition_id = e.id AND g.ordinal = 1), '') AS language,
            row_number() OVER (
                PARTITION BY f.id
                ORDER BY
                    coalesce(feed_language(e.language) <> (SELECT main_language FROM feed_state), false),
                    (e.hook IS NOT NULL OR e.description IS NOT NULL) AND e.genres <> '{}' DESC,
                    e.ratings_count DESC,
                    e.number
            ) AS rank
        FROM (SELECT DISTINCT number, label FROM unnest(numbers, labels) AS l (number, label)) m
        JOIN editions e ON e.number = m.number
        JOIN editions f ON f.number = m.label
    ), deleted AS (
        DELETE FROM work_records w
        WHERE w.edition_id = ANY(affected)
            AND NOT EXISTS (SELECT FROM ranked r WHERE r.id = w.edition_id)
    )
    INSERT INTO work_records AS w (edition_id, founder_id, rank, language)
    SELECT id, founder_id, rank, language
    FROM ranked
    ORDER BY id
    ON CONFLICT (edition_id) DO UPDATE
    SET founder_id = excluded.founder_id,
        rank = excluded.rank
    WHERE (w.founder_id, w.rank) IS DISTINCT FROM (excluded.founder_id, excluded.rank);
END
$$;

-- Saves the works of editions at sources: the work of `ids[i]` at `sources[i]` is `keys[i]`. The works at other sources stay.
CREATE OR REPLACE FUNCTION save_work_keys(ids uuid[], sources text[], keys text[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    changed uuid[];
BEGIN
    WITH saved AS (
        INSERT INTO edition_work_keys AS k (edition_id, source, key)
        SELECT DISTINCT ON (given.id, given.source) given.id, given.source, given.key
        FROM unnest(ids, save_work_keys.sources, keys) AS given (id, source, key)
        ORDER BY given.id, given.source
        ON CONFLICT (edition_id, source) DO UPDATE
        SET key = excluded.key
        WHERE k.key <> excluded.key
        RETURNING edition_id
    )
    SELECT array_agg(DISTINCT edition_id) INTO changed
    FROM saved;
    IF changed IS NOT NULL THEN
        PERFORM match_works(changed);
    END IF;
END
$$;

-- Returns the record of a work that a reader of the languages sees: the first record in the first of the languages that has one, or
-- the first record of all. Only the first 50 records of a work are checked.
--
-- Relies on this plan: one range of the index work_records_work, which contains the languages.
CREATE OR REPLACE FUNCTION record_to_show(founder uuid, languages text[]) RETURNS uuid
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN (
        SELECT r.edition_id
        FROM work_records r
        WHERE r.founder_id = founder AND r.rank <= 50
        ORDER BY array_position(languages, r.language), r.rank
        LIMIT 1
    );
END
$$;

-- Returns whether the reader had swiped or added another record of the edition's work by `until`. Skips at
-- `skipped_after` or earlier do not count. Only the first 50 records of a work are checked.
CREATE OR REPLACE FUNCTION was_other_record_seen(
    reader uuid, edition uuid, until timestamptz, skipped_after timestamptz DEFAULT '-infinity'
) RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN EXISTS (
        SELECT
        FROM (SELECT w.founder_id FROM work_records w WHERE w.edition_id = edition OFFSET 0) w
        CROSS JOIN LATERAL (
            SELECT o.edition_id
            FROM work_records o
            WHERE o.founder_id = w.founder_id AND o.rank <= 50 AND o.edition_id <> edition
            OFFSET 0
        ) other
        WHERE EXISTS (
                SELECT
                FROM swipes s
                WHERE s.user_id = reader
                    AND s.edition_id = other.edition_id
                    AND s.recorded_at <= until
                    AND (s.undone_at IS NULL OR s.undone_at > until)
                    AND (s.action <> 'SKIP' OR least(s.swiped_at, s.recorded_at) > skipped_after)
                OFFSET 0
            )
            OR EXISTS (
                SELECT
                FROM books b
                WHERE b.user_id = reader AND b.edition_id = other.edition_id AND b.added_at <= until
                OFFSET 0
            )
    );
END
$$;

-- MARK: Links of books to editions

-- Returns the editions that books are records of, at most one for each book, and each at most once for a reader. The arrays
-- have one element for each book: its reader, its id, its ISBN, title, and author, and its id at Goodreads.
--
-- An edition with the ISBN comes first, then one with the Goodreads id, then the first record of the work with the title
-- and author. A book is compared with the records of a title as if it were one of them: if they say different volumes, only the
-- record of the same volume matches. A title without its subtitle matches only an edition that has this subtitle, or
-- none and no series: "The Hunger Games: Mockingjay" is not "The Hunger Games". Editions that another book of the
-- reader has are left out.
--
-- Relies on this plan: for each book, one lookup of each key (editions_isbn13_key, edition_sources_pkey, editions_work_key) and,
-- for each edition found, of work_records_pkey and books_edition_id. OFFSET 0 and force_generic_plan prevent other joins.
CREATE OR REPLACE FUNCTION match_books(
    readers uuid[],
    ids uuid[],
    isbns text[],
    titles text[],
    authors text[],
    goodreads_ids text[]
) RETURNS TABLE (reader uuid, book_id uuid, edition_id uuid, linked_by book_link)
LANGUAGE plpgsql STABLE ROWS 2 SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT *
        FROM unnest(readers, ids, isbns, titles, authors, goodreads_ids) WITH ORDINALITY
            AS g (reader, id, isbn13, title, author, goodreads_id, position)
    ), exact AS (
        SELECT g.position, e.id, 'ISBN'::book_link AS linked_by, 0 AS rank
        FROM given g
        JOIN editions e ON e.isbn13 = g.isbn13
        WHERE e.isbn13 = ANY(isbns)
        UNION ALL
        SELECT g.position, s.edition_id, 'SOURCE', 0
        FROM given g
        JOIN edition_sources s ON s.source = 'goodreads' AND s.key = g.goodreads_id
        WHERE s.key = ANY(goodreads_ids)
    ), same_title AS MATERIALIZED (
        SELECT
            g.position,
            e.id,
            k.rest,
            e.subtitle,
            e.series,
            coalesce(w.rank, 1) AS rank,
            work_volume(g.title, NULL) AS book_volume,
            work_volume(e.title, e.series_position) AS volume,
            min(work_volume(e.title, e.series_position)) OVER of_key AS first_volume,
            max(work_volume(e.title, e.series_position)) OVER of_key AS last_volume
        FROM given g
        CROSS JOIN LATERAL possible_work_keys(g.title, g.author) k
        CROSS JOIN LATERAL (
            SELECT e.id, e.title, e.subtitle, e.series, e.series_position
            FROM editions e
            WHERE work_key(e.title, e.authors) = k.key
            OFFSET 0
        ) e
        LEFT JOIN LATERAL (SELECT w.rank FROM work_records w WHERE w.edition_id = e.id OFFSET 0) w ON true
        WINDOW of_key AS (PARTITION BY g.position, k.key)
    ), candidates AS (
        SELECT position, id, linked_by, rank
        FROM exact
        UNION ALL
        SELECT position, id, 'TITLE', rank + CASE WHEN rest IS NULL THEN 0 ELSE 1000 END
        FROM same_title
        -- All volumes that are named, including the book's, agree, or the record has the volume of the book.
        WHERE (
                least(first_volume, book_volume) IS NOT DISTINCT FROM greatest(last_volume, book_volume)
                OR coalesce(volume, '') = coalesce(book_volume, '')
            )
            AND (
                rest IS NULL
                OR search_fold(subtitle) = search_fold(rest)
                OR (subtitle IS NULL AND series IS NULL AND rest !~ '[0-9#]|^([Vv]ol|[Bb]ook|[Pp]art|[Nn]o)\M')
            )
    ), best AS (
        SELECT DISTINCT ON (c.position) g.reader, g.id AS book_id, c.id AS edition_id, c.linked_by, c.position
        FROM candidates c
        JOIN given g USING (position)
        WHERE NOT EXISTS (
            SELECT
            FROM books other
            WHERE other.user_id = g.reader AND other.edition_id = c.id AND other.id <> g.id
            OFFSET 0
        )
        ORDER BY c.position, c.linked_by, c.rank, c.id
    )
    SELECT DISTINCT ON (b.reader, b.edition_id) b.reader, b.book_id, b.edition_id, b.linked_by
    FROM best b
    ORDER BY b.reader, b.edition_id, b.linked_by, b.position;
END
$$;

-- Links books to the editions that `match_books` finds, and removes links that no longer match. A link that the reader chose,
-- or that an imported id says, is kept. Returns the readers whose books changed.
CREATE OR REPLACE FUNCTION link_books(readers uuid[], ids uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT
            b.user_id, b.id, b.edition_id, b.linked_by, b.isbn13, b.title, author_text(b.authors, b.author_roles) AS author
        FROM unnest(readers, ids) AS given (user_id, id)
        CROSS JOIN LATERAL (
            SELECT *
            FROM books b
            WHERE b.user_id = given.user_id AND b.id = given.id
            OFFSET 0
        ) b
        WHERE b.edition_id IS NULL OR b.linked_by IN ('ISBN', 'TITLE')
    -- MATERIALIZED: all books are matched once, and not for each book.
    ), matched AS MATERIALIZED (
        SELECT m.*
        FROM (
            SELECT
                array_agg(user_id) AS readers,
                array_agg(id) AS ids,
                array_agg(isbn13) AS isbns,
                array_agg(title) AS titles,
                array_agg(author) AS authors
            FROM found
        ) f
        CROSS JOIN LATERAL match_books(f.readers, f.ids, f.isbns, f.titles, f.authors, NULL) m
    ), changed AS (
        UPDATE books b
        SET edition_id = m.edition_id, linked_by = coalesce(m.linked_by, 'CARD')
        FROM found f
        LEFT JOIN matched m ON m.reader = f.user_id AND m.book_id = f.id
        WHERE b.user_id = f.user_id AND b.id = f.id AND m.edition_id IS DISTINCT FROM f.edition_id
        RETURNING b.user_id
    )
    SELECT DISTINCT user_id
    FROM changed;
END
$$;

-- Links the next books of `books_to_link`. The links are signals, so the decks with which the scrolls of active readers start
-- are replaced, as `replaceDeckSoon` in PrepareDeck.swift does. Returns the number of books that were looked at, where 0 means that
-- none is left, and the readers whose books changed.
-- definer: a job for the books of all readers.
CREATE OR REPLACE FUNCTION link_waiting_books(count int, OUT looked_at int, OUT changed_readers uuid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    readers uuid[];
    ids uuid[];
BEGIN
    SELECT coalesce(array_agg(w.user_id), '{}'), coalesce(array_agg(w.book_id), '{}')
    INTO readers, ids
    FROM (
        SELECT user_id, book_id
        FROM books_to_link
        ORDER BY user_id, book_id
        LIMIT count
    ) w;
    -- In one order, and before any row is locked, so that two transactions do not wait for each other.
    PERFORM lock_user(r.reader)
    FROM (SELECT DISTINCT reader FROM unnest(readers) AS reader ORDER BY reader) r;
    DELETE FROM books_to_link w
    USING unnest(readers, ids) AS taken (user_id, book_id)
    WHERE w.user_id = taken.user_id AND w.book_id = taken.book_id;
    looked_at := cardinality(ids);
    changed_readers := ARRAY(SELECT link_books(readers, ids));
    INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
    SELECT
        reader,
        1,
        -- Others get a deck when they return: an import of readers does not build one for each.
        CASE
            WHEN EXISTS (SELECT FROM sessions s WHERE s.user_id = reader AND s.rotated_at > now() - interval '30 days')
            THEN now() + interval '5 seconds'
        END
    FROM unnest(changed_readers) AS reader
    ORDER BY reader
    ON CONFLICT (user_id) DO UPDATE
    SET signals_version = f.signals_version + 1,
        deck_due_at = least(f.deck_due_at, excluded.deck_due_at);
END
$$;

-- Enqueues the job that links the books of `books_to_link`. The kind and the 10 attempts repeat those of the Swift type
-- LinkBooks.
CREATE OR REPLACE FUNCTION enqueue_link_job() RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO jobs AS j (kind, payload, key, run_at, priority, attempts_max)
    VALUES ('library.link', '{}', 'link', now() + interval '1 second', 5, 10)
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET run_at = least(j.run_at, excluded.run_at), again = (j.state = 'RUNNING')
$$;

-- Enqueues the job that links the books without an edition that have one of these keys. With app.bulk, the caller enqueues the job.
CREATE OR REPLACE FUNCTION enqueue_links(keys bigint[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO books_to_link (user_id, book_id)
    SELECT DISTINCT b.user_id, b.id
    FROM unnest(keys) AS k (key)
    CROSS JOIN LATERAL (
        SELECT b.user_id, b.id
        FROM books b
        WHERE b.edition_id IS NULL
            AND book_link_keys(b.isbn13, b.title, author_text(b.authors, b.author_roles)) @> ARRAY[k.key]
        OFFSET 0
    ) b
    -- A fixed order prevents deadlocks between servers.
    ORDER BY b.user_id, b.id
    ON CONFLICT DO NOTHING;
    -- An import of the catalog enqueues the job at its end: another transaction that enqueues it would wait for the import.
    IF FOUND AND current_setting('app.bulk', true) IS DISTINCT FROM 'on' THEN
        PERFORM enqueue_link_job();
    END IF;
END
$$;

-- Enqueues the job that links the books without an edition that match the editions which were added or changed since this time. An
-- import of the catalog calls this after its commit with the time of its start: the triggers of `editions` did not see the books of
-- transactions that ran at the same time, and these transactions did not see the new editions.
CREATE OR REPLACE FUNCTION enqueue_links_of_recent_editions(since timestamptz) RETURNS void
LANGUAGE sql
AS $$
    SELECT enqueue_links(
        ARRAY(SELECT work_key(title, authors) FROM editions WHERE updated_at >= since)
            || ARRAY(SELECT isbn_key(isbn13) FROM editions WHERE updated_at >= since AND isbn13 IS NOT NULL)
    )
$$;

-- MARK: Triggers of editions

-- The trigger functions update everything that follows from editions: the words of the search, the genres of the feed, the works, and
-- the links of books. `CatalogImport` and `CatalogMaintenance` set app.bulk, and update the words and genres of all editions at their
-- end.

-- Runs after editions were added.
-- definer: a new edition changes the words, works, and links of all readers.
CREATE OR REPLACE FUNCTION index_new_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF current_setting('app.bulk', true) IS DISTINCT FROM 'on' THEN
        INSERT INTO search_words (word, editions, forms)
        SELECT word, count(*), search_forms(word)
        FROM new_rows, unnest(tsvector_to_array(search_vector)) AS word
        WHERE length(word) BETWEEN 2 AND 40
        GROUP BY word
        ORDER BY word
        ON CONFLICT DO NOTHING;
        PERFORM list_genres_of_editions(ARRAY(SELECT id FROM new_rows));
    END IF;
    INSERT INTO edition_changes (edition_id, editions, language, genres, ratings)
    SELECT id, 1, coalesce(feed_language(language), ''), genres, ratings_count
    FROM new_rows;
    PERFORM match_works(ARRAY(SELECT id FROM new_rows));
    PERFORM enqueue_links(
        ARRAY(SELECT work_key(title, authors) FROM new_rows)
            || ARRAY(SELECT isbn_key(isbn13) FROM new_rows WHERE isbn13 IS NOT NULL)
    );
    RETURN NULL;
END
$$;

-- Runs after editions were changed. Only what follows from changed columns is updated. Words of an old text stay until
-- refresh_search_words counts all words again.
-- definer: a changed edition changes the words, works, and links of all readers.
CREATE OR REPLACE FUNCTION index_changed_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ids uuid[];
    -- The editions whose work may be another one, and the keys that they had.
    moved uuid[];
    old_keys bigint[];
    new_keys bigint[];
BEGIN
    IF current_setting('app.bulk', true) IS DISTINCT FROM 'on' THEN
        INSERT INTO search_words (word, editions, forms)
        SELECT word, count(*), search_forms(word)
        FROM new_rows n
        JOIN old_rows o USING (id)
        CROSS JOIN unnest(tsvector_to_array(n.search_vector)) AS word
        WHERE n.search_vector IS DISTINCT FROM o.search_vector AND length(word) BETWEEN 2 AND 40
        GROUP BY word
        ORDER BY word
        ON CONFLICT DO NOTHING;
        ids := ARRAY(
            SELECT n.id
            FROM new_rows n
            JOIN old_rows o USING (id)
            WHERE (n.genres, n.popularity, n.language, n.isbn13, n.title, n.publisher, n.hook IS NULL, n.description IS NULL)
                IS DISTINCT FROM (o.genres, o.popularity, o.language, o.isbn13, o.title, o.publisher, o.hook IS NULL, o.description IS NULL)
        );
        IF ids <> '{}' THEN
            PERFORM list_genres_of_editions(ids);
        END IF;
    END IF;
    -- `refresh_popularity` sets app.refreshes_popularity.
    INSERT INTO edition_changes (edition_id, editions, language, genres, ratings)
    SELECT
        n.id,
        -- A change of other columns has one row, which does not count.
        CASE WHEN is_counted THEN r.editions ELSE 0 END,
        coalesce(feed_language(r.language), ''),
        r.genres,
        r.ratings_count
    FROM new_rows n
    JOIN old_rows o USING (id)
    CROSS JOIN LATERAL (
        SELECT (n.language, n.genres, n.ratings_count) IS DISTINCT FROM (o.language, o.genres, o.ratings_count) AS is_counted
    ) c
    CROSS JOIN LATERAL (
        VALUES (1, n.language, n.genres, n.ratings_count), (-1, o.language, o.genres, o.ratings_count)
    ) r (editions, language, genres, ratings_count)
    WHERE is_counted
        OR (
            r.editions = 1
            AND (
                (n.title, n.authors, n.series, n.series_position, n.publisher, n.hook IS NULL, n.description IS NULL)
                    IS DISTINCT FROM (o.title, o.authors, o.series, o.series_position, o.publisher, o.hook IS NULL, o.description IS NULL)
                OR (
                    n.popularity <> o.popularity
                    AND current_setting('app.refreshes_popularity', true) IS DISTINCT FROM 'on'
                )
            )
        );
    WITH changed AS MATERIALIZED (
        SELECT
            n.id,
            (n.title, n.subtitle, n.authors, n.series, n.series_position)
                IS DISTINCT FROM (o.title, o.subtitle, o.authors, o.series, o.series_position) AS is_renamed,
            CASE WHEN n.isbn13 IS DISTINCT FROM o.isbn13 THEN n.isbn13 END AS new_isbn,
            o.title AS old_title,
            n.title,
            o.authors AS old_authors,
            n.authors
        FROM new_rows n
        JOIN old_rows o USING (id)
        WHERE (
                n.title, n.subtitle, n.authors, n.series, n.series_position, n.isbn13, n.hook IS NULL, n.description IS NULL,
                n.genres, n.language, n.ratings_count
            ) IS DISTINCT FROM (
                o.title, o.subtitle, o.authors, o.series, o.series_position, o.isbn13, o.hook IS NULL, o.description IS NULL,
                o.genres, o.language, o.ratings_count
            )
    )
    SELECT
        -- The other columns decide about the order of a work's records.
        coalesce(array_agg(id) FILTER (WHERE is_renamed OR EXISTS (SELECT FROM work_records w WHERE w.edition_id = id)), '{}'),
        array_agg(work_key(old_title, old_authors)) FILTER (WHERE is_renamed),
        coalesce(array_agg(work_key(title, authors)) FILTER (WHERE is_renamed), '{}')
            || coalesce(array_agg(isbn_key(new_isbn)) FILTER (WHERE new_isbn IS NOT NULL), '{}')
    INTO moved, old_keys, new_keys
    FROM changed;
    PERFORM match_works(moved, old_keys);
    PERFORM enqueue_links(new_keys);
    RETURN NULL;
END
$$;

-- Runs after editions were deleted. Records an edition of the same work that survives, so that ids of the work stay valid, and matches
-- the rest of the work again. Removes the deleted editions from those that are similar to others.
-- definer: a removed edition changes the words, works, and links of all readers.
CREATE OR REPLACE FUNCTION index_deleted_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    keys bigint[] := ARRAY(SELECT work_key(title, authors) FROM old_rows);
BEGIN
    INSERT INTO removed_editions (id, survivor_id)
    SELECT DISTINCT ON (o.id) o.id, r.edition_id
    FROM old_rows o
    JOIN work_records w ON w.edition_id = o.id
    JOIN work_records r USING (founder_id)
    JOIN editions e ON e.id = r.edition_id
    ORDER BY o.id, r.rank
    ON CONFLICT (id) DO UPDATE
    SET survivor_id = excluded.survivor_id;
    UPDATE removed_editions r
    SET survivor_id = next.survivor_id
    FROM old_rows o
    JOIN removed_editions next ON next.id = o.id
    WHERE r.survivor_id = o.id;
    DELETE FROM removed_editions r
    USING old_rows o
    WHERE r.survivor_id = o.id;
    INSERT INTO edition_changes (edition_id, editions, language, genres, ratings)
    SELECT id, -1, coalesce(feed_language(language), ''), genres, ratings_count
    FROM old_rows;
    PERFORM remove_similar(ARRAY(SELECT id FROM old_rows));
    PERFORM match_works(ARRAY(SELECT id FROM old_rows), keys);
    -- Books of a removed edition may have another record of the work.
    PERFORM enqueue_links(keys);
    RETURN NULL;
END
$$;

-- Triggers, because imports, external sources, and the administrator add and change editions. They run once per statement, because
-- an import writes thousands of rows.
CREATE OR REPLACE TRIGGER index_new_editions
AFTER INSERT ON editions
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION index_new_editions();

-- As above, with the old rows, to leave out the editions whose keys are the same.
CREATE OR REPLACE TRIGGER index_changed_editions
AFTER UPDATE ON editions
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION index_changed_editions();

-- As above; only the administrator deletes editions, with SQL.
CREATE OR REPLACE TRIGGER index_deleted_editions
AFTER DELETE ON editions
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION index_deleted_editions();

-- MARK: Policies and grants

GRANT SELECT ON work_records, removed_editions TO bookplate_app;
REVOKE ALL ON FUNCTION match_works, save_work_keys, enqueue_link_job, enqueue_links, enqueue_links_of_recent_editions,
    index_new_editions, index_changed_editions, index_deleted_editions, link_waiting_books FROM PUBLIC;
GRANT EXECUTE ON FUNCTION link_waiting_books TO bookplate_app;
