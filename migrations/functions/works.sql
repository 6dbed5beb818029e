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

-- Updates the rows of the works with these keys; null means all works. The first record is one that the feed shows early (in the
-- main language, with a description and a genre), and of these the one with the most ratings. Ratings change only when the
-- catalog is written, so the hourly refresh does not exchange a work's record. Two transactions that add the first two records
-- of a work at the same time do not see each other's record; the two are matched when one of them is written again.
CREATE OR REPLACE FUNCTION match_records(keys bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    known uuid[];
BEGIN
    IF keys IS NULL THEN
        keys := ARRAY(SELECT work_key(title, authors) FROM editions);
    END IF;
    keys := array_remove(keys, NULL);
    IF keys = '{}' THEN
        RETURN;
    END IF;
    known := ARRAY(SELECT edition_id FROM work_records WHERE work_key = ANY(keys));
    WITH records AS MATERIALIZED (
        SELECT
            e.id,
            k.key,
            work_volume(e.title, e.series_position) AS volume,
            feed_tier(e.language, (SELECT main_language FROM feed_state), e.hook, e.genres <> '{}') AS tier,
            e.ratings_count,
            e.number
        FROM (SELECT DISTINCT key FROM unnest(keys) AS given (key)) k
        CROSS JOIN LATERAL (
            SELECT * FROM editions e WHERE work_key(e.title, e.authors) = k.key OFFSET 0
        ) e
    ), volumes AS (
        SELECT
            id,
            key,
            CASE
                WHEN min(volume) OVER of_key IS DISTINCT FROM max(volume) OVER of_key THEN coalesce(volume, '')
                ELSE ''
            END AS volume,
            tier,
            ratings_count,
            number
        FROM records
        WINDOW of_key AS (PARTITION BY key)
    ), ranked AS MATERIALIZED (
        SELECT
            id,
            key,
            volume,
            row_number() OVER (PARTITION BY key, volume ORDER BY tier, ratings_count DESC, number) AS rank,
            count(*) OVER (PARTITION BY key, volume) AS total
        FROM volumes
    ), deleted AS (
        DELETE FROM work_records w
        WHERE w.edition_id = ANY(known)
            AND NOT EXISTS (SELECT FROM ranked r WHERE r.id = w.edition_id AND r.total > 1)
    )
    INSERT INTO work_records AS w (edition_id, work_key, volume, rank)
    SELECT id, key, volume, rank
    FROM ranked
    WHERE total > 1
    ORDER BY id
    ON CONFLICT (edition_id) DO UPDATE
    SET work_key = excluded.work_key,
        volume = excluded.volume,
        rank = excluded.rank
    WHERE (w.work_key, w.volume, w.rank) IS DISTINCT FROM (excluded.work_key, excluded.volume, excluded.rank);
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
        FROM (SELECT w.work_key, w.volume FROM work_records w WHERE w.edition_id = edition OFFSET 0) w
        CROSS JOIN LATERAL (
            SELECT o.edition_id
            FROM work_records o
            WHERE o.work_key = w.work_key AND o.volume = w.volume AND o.rank <= 50 AND o.edition_id <> edition
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
        CROSS JOIN LATERAL (SELECT e.id FROM editions e WHERE e.isbn13 = g.isbn13 OFFSET 0) e
        UNION ALL
        SELECT g.position, s.edition_id, 'SOURCE', 0
        FROM given g
        CROSS JOIN LATERAL (
            SELECT s.edition_id
            FROM edition_sources s
            WHERE s.source = 'goodreads' AND s.key = g.goodreads_id
            OFFSET 0
        ) s
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
    ), matched AS (
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

-- Links the next books of `books_to_link`. The links are signals, so the decks with which the readers' scrolls start are
-- replaced, as `replaceDeckSoon` in PrepareDeck.swift does. Returns the number of books that were looked at, where 0 means that
-- none is left, and the readers whose books changed.
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
    UPDATE users
    SET signals_version = signals_version + 1
    WHERE id = ANY(changed_readers);
    -- The kind and the 3 attempts repeat those of the Swift type PrepareDeck.
    INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
    SELECT reader, 'feed.deck', '{}', 'deck', now() + interval '5 seconds', 10, 3
    FROM unnest(changed_readers) AS reader
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET run_at = least(j.run_at, excluded.run_at), again = (j.state = 'RUNNING');
END
$$;

-- Enqueues the job that links the books of `books_to_link`. The kind and the 10 attempts repeat those of the Swift type
-- LinkBooks.
CREATE OR REPLACE FUNCTION enqueue_link_job() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO jobs AS j (kind, payload, key, run_at, priority, attempts_max)
    VALUES ('library.link', '{}', 'link', now() + interval '1 second', 5, 10)
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET run_at = least(j.run_at, excluded.run_at), again = (j.state = 'RUNNING')
$$;

-- Enqueues the job that links the books without an edition that have one of these keys.
CREATE OR REPLACE FUNCTION enqueue_links(keys bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
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
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM enqueue_link_job();
    END IF;
END
$$;

-- Enqueues the job that links the books without an edition that were added or changed since this time. An import of the catalog
-- calls this after its commit with the time of its start: the triggers of `editions` did not see the books of
-- transactions that ran at the same time, and these transactions did not see the new editions. Such a transaction may have
-- started before the import, and the times of its books are those of its start.
CREATE OR REPLACE FUNCTION enqueue_links_of_recent_books(since timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    INSERT INTO books_to_link (user_id, book_id)
    SELECT user_id, id
    FROM books
    WHERE edition_id IS NULL AND updated_at > since - interval '10 minutes'
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM enqueue_link_job();
    END IF;
END
$$;

-- MARK: Triggers of editions

-- `CatalogImport` and `CatalogMaintenance` set app.bulk, and update the words and genres of all editions at their end.
CREATE OR REPLACE FUNCTION index_new_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    keys bigint[] := ARRAY(SELECT work_key(title, authors) FROM new_rows);
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
    PERFORM match_records(keys);
    PERFORM enqueue_links(keys || ARRAY(SELECT isbn_key(isbn13) FROM new_rows WHERE isbn13 IS NOT NULL));
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION index_changed_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ids uuid[];
    keys bigint[];
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
            WHERE (n.genres, n.popularity, n.language, n.hook IS NULL)
                IS DISTINCT FROM (o.genres, o.popularity, o.language, o.hook IS NULL)
        );
        IF ids <> '{}' THEN
            PERFORM list_genres_of_editions(ids);
        END IF;
    END IF;
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
                n.title, n.subtitle, n.authors, n.series, n.series_position, n.isbn13, n.hook IS NULL, n.genres, n.language,
                n.ratings_count
            ) IS DISTINCT FROM (
                o.title, o.subtitle, o.authors, o.series, o.series_position, o.isbn13, o.hook IS NULL, o.genres, o.language,
                o.ratings_count
            )
    )
    SELECT
        array_agg(key),
        array_agg(key) FILTER (WHERE is_new) || array_agg(isbn_key(new_isbn)) FILTER (WHERE new_isbn IS NOT NULL)
    INTO keys, new_keys
    FROM (
        SELECT work_key(old_title, old_authors) AS key, false AS is_new, NULL AS new_isbn
        FROM changed
        WHERE is_renamed
        UNION ALL
        SELECT work_key(title, authors), true, NULL
        FROM changed
        WHERE is_renamed
        UNION ALL
        -- The other columns decide about the order of a work's records.
        SELECT w.work_key, false, changed.new_isbn
        FROM changed
        LEFT JOIN work_records w ON w.edition_id = changed.id
        WHERE NOT is_renamed OR new_isbn IS NOT NULL
    ) keyed;
    PERFORM match_records(coalesce(keys, '{}'));
    PERFORM enqueue_links(new_keys);
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION index_deleted_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    keys bigint[] := ARRAY(SELECT work_key(title, authors) FROM old_rows);
BEGIN
    PERFORM match_records(keys);
    -- Books of a removed edition may have another record of the work.
    PERFORM enqueue_links(keys);
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER index_new_editions AFTER INSERT ON editions
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION index_new_editions();
CREATE OR REPLACE TRIGGER index_changed_editions AFTER UPDATE ON editions
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION index_changed_editions();
CREATE OR REPLACE TRIGGER index_deleted_editions AFTER DELETE ON editions
    REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION index_deleted_editions();

-- MARK: Policies and grants

GRANT SELECT ON work_records TO bookplate_app;
REVOKE ALL ON FUNCTION match_records, enqueue_link_job, enqueue_links, enqueue_links_of_recent_books, index_new_editions,
    index_changed_editions, index_deleted_editions, link_waiting_books FROM PUBLIC;
GRANT EXECUTE ON FUNCTION link_waiting_books TO bookplate_app;
