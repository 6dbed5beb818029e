-- Why: a feed that is a chain of decks, and swipes as events, replace queues, frontiers, and their triggers.

DROP FUNCTION prune_earlier_swipes(int, int);
DROP VIEW reader_signals;
DROP TABLE feed_order, feed_order_before, feed_frontiers, feed_returns, feed_openings, feed_decks, earlier_swipes, swipes;

DROP TRIGGER advance_feed ON books;
DROP TRIGGER return_to_feed ON books;
DROP TRIGGER return_to_feed_changed ON books;
DROP TRIGGER deal_soon_of_new ON books;
DROP TRIGGER deal_soon_of_gone ON books;
DROP TRIGGER deal_soon_of_new ON reviews;
DROP TRIGGER deal_soon_of_changed ON reviews;
DROP TRIGGER deal_soon_of_gone ON reviews;
DROP TRIGGER place_new_editions ON editions;
DROP TRIGGER place_changed_editions ON editions;
DROP TRIGGER match_new_records ON editions;
DROP TRIGGER match_removed_records ON editions;
DROP TRIGGER match_changed_records ON editions;

DROP FUNCTION advance_feed(uuid);
DROP FUNCTION advance_feed_now_and_then();
DROP FUNCTION touch_decks(uuid, uuid[]);
DROP FUNCTION deal_soon();
DROP FUNCTION return_to_feed();
DROP FUNCTION return_changed_to_feed();
DROP FUNCTION keep_place_for_cursors();
DROP FUNCTION feed_order_version();
DROP FUNCTION place_editions(uuid[]) CASCADE;
DROP FUNCTION place_new_editions();
DROP FUNCTION place_changed_editions();
DROP FUNCTION feed_position(int, float8, bigint);
DROP FUNCTION refresh_feed();
DROP FUNCTION refresh_feed_order();
DROP FUNCTION deal_opening(uuid[], smallint[]);
DROP FUNCTION deal_outdated_decks(uuid);
DROP FUNCTION similar_was_learned(timestamptz);
DROP FUNCTION editions_with_news();
DROP FUNCTION signals_of_readers();
DROP FUNCTION take_back_swipe(uuid, uuid, timestamptz);
DROP FUNCTION match_new_records();
DROP FUNCTION match_removed_records();
DROP FUNCTION match_changed_records();

-- Swipes

-- The swipes of readers, as events. A device that sends a swipe again conflicts with its own row. A swipe that arrives late is
-- an earlier event.
CREATE TABLE swipes (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    -- The client's time, which may be in the future, or the server's time if the client sent none.
    swiped_at timestamptz NOT NULL,
    action swipe_action NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    undone_at timestamptz,
    -- The book that this swipe added to the library. It may be deleted since.
    saved_book_id uuid,
    PRIMARY KEY (user_id, edition_id, swiped_at)
);
CREATE INDEX swipes_edition_id ON swipes (edition_id);
CREATE INDEX swipes_undone_at ON swipes (undone_at) WHERE undone_at IS NOT NULL;
-- Swipes are appended in the order of this time, so the index is tiny.
CREATE INDEX swipes_recorded_at ON swipes USING brin (recorded_at);

ALTER TABLE swipes ENABLE ROW LEVEL SECURITY;
ALTER TABLE swipes FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON swipes TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
CREATE POLICY administration ON swipes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON swipes TO bookplate_app;

-- The latest swipe of each card that was not undone. A time in the future counts as the time at which the server recorded it.
CREATE VIEW current_swipes WITH (security_invoker = true) AS
SELECT DISTINCT ON (user_id, edition_id)
    user_id,
    edition_id,
    action,
    least(swiped_at, recorded_at) AS swiped_at,
    recorded_at
FROM swipes
WHERE undone_at IS NULL
ORDER BY user_id, edition_id, least(swiped_at, recorded_at) DESC, swiped_at DESC;
GRANT SELECT ON current_swipes TO bookplate_app;

-- A reader's opinion of a book, from the strongest source: a review, a swipe, or the book in the library. Other readers' feeds
-- learn from `weight`, 0 to 1.25. `voice` is the weight in the reader's own feed and can be negative.
CREATE VIEW reader_signals WITH (security_invoker = true) AS
SELECT user_id, edition_id, weight, voice, at
FROM (
    SELECT DISTINCT ON (user_id, edition_id) user_id, edition_id, weight, voice, at
    FROM (
        SELECT
            r.user_id,
            b.edition_id,
            r.updated_at AS at,
            1 AS rank,
            (ARRAY[0.1, 0.2, 0.6, 1, 1.25])[r.rating]::float4 AS weight,
            (ARRAY[-0.3, 0, 0.6, 1, 1.25])[r.rating]::float4 AS voice
        FROM reviews r
        JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
        WHERE b.edition_id IS NOT NULL
        UNION ALL
        SELECT
            user_id,
            edition_id,
            swiped_at,
            2,
            CASE action WHEN 'BUY' THEN 1.25 WHEN 'LIKE' THEN 1 ELSE 0 END::float4,
            CASE action WHEN 'BUY' THEN 1.25 WHEN 'LIKE' THEN 1 WHEN 'SKIP' THEN -0.05 ELSE -0.3 END::float4
        FROM current_swipes
        UNION ALL
        SELECT
            user_id,
            edition_id,
            added_at,
            3,
            CASE status WHEN 'READ' THEN 0.8 WHEN 'DID_NOT_FINISH' THEN 0.2 ELSE 0.7 END::float4,
            CASE status WHEN 'READ' THEN 0.8 WHEN 'DID_NOT_FINISH' THEN 0 ELSE 0.7 END::float4
        FROM books
        WHERE edition_id IS NOT NULL
    ) sources
    ORDER BY user_id, edition_id, rank
) signals;
GRANT SELECT ON reader_signals TO bookplate_app;

-- Adds the books of liked or bought cards to the library, under the given ids. A book that is already there stays as it is.
CREATE FUNCTION save_cards(reader uuid, cards uuid[], book_ids uuid[], fetches_covers boolean)
RETURNS TABLE (card_id uuid, book_id uuid)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    INSERT INTO books (
        user_id, id, edition_id, title, author, isbn13, publisher, published_date, page_count,
        genre, description, cover_status, cover_wanted_at
    )
    SELECT
        reader, c.book_id, e.id, e.title, e.authors[1], e.isbn13, e.publisher, e.published_date, e.page_count,
        e.genres[1], e.description,
        CASE WHEN fetches_covers THEN 'FETCHING' ELSE 'NONE' END::cover_status,
        CASE WHEN fetches_covers THEN now() END
    FROM unnest(cards, book_ids) AS c (card_id, book_id)
    JOIN editions e ON e.id = c.card_id
    ON CONFLICT DO NOTHING
    RETURNING edition_id, id;
END
$$;

-- Undoes the swipe of a card at the time `at`, or the current one if `at` is null. The rules:
-- 1. Without a time, a repeated call changes nothing until another swipe arrives: if a later swipe was undone after the current
--    one was recorded, that was the swipe to undo.
-- 2. The book that the swipe saved passes to another like or purchase that was recorded later and would have saved it.
--    Otherwise it is deleted, unless it was changed, shelved, or reviewed. Returns the deleted book.
-- 3. If the swipe that is current now is a like or purchase that arrived late, and so has never counted, its book is saved.
CREATE FUNCTION undo_swipe(reader uuid, card uuid, at timestamptz, fetches_covers boolean)
RETURNS TABLE (book_id uuid, title text, author text, genre text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    undone swipes;
    heir timestamptz;
    current swipes;
BEGIN
    IF at IS NULL THEN
        SELECT s.* INTO undone
        FROM swipes s
        WHERE s.user_id = reader AND s.edition_id = card AND s.undone_at IS NULL
        ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.swiped_at DESC
        LIMIT 1;
        IF EXISTS (
            SELECT
            FROM swipes s
            WHERE s.user_id = reader
                AND s.edition_id = card
                AND s.undone_at >= undone.recorded_at
                AND (least(s.swiped_at, s.recorded_at), s.swiped_at)
                    > (least(undone.swiped_at, undone.recorded_at), undone.swiped_at)
        ) THEN
            RETURN;
        END IF;
    ELSE
        SELECT s.* INTO undone
        FROM swipes s
        WHERE s.user_id = reader AND s.edition_id = card AND s.swiped_at = at AND s.undone_at IS NULL;
    END IF;
    IF undone IS NULL THEN
        RETURN;
    END IF;
    UPDATE swipes s
    SET undone_at = now(),
        saved_book_id = NULL
    WHERE s.user_id = reader AND s.edition_id = card AND s.swiped_at = undone.swiped_at;

    -- The book may have been deleted since, or linked to another edition.
    IF EXISTS (
        SELECT
        FROM books b
        WHERE b.user_id = reader AND b.id = undone.saved_book_id AND b.edition_id = card
    ) THEN
        SELECT s.swiped_at INTO heir
        FROM swipes s
        WHERE s.user_id = reader
            AND s.edition_id = card
            AND s.undone_at IS NULL
            AND s.action IN ('LIKE', 'BUY')
            AND s.recorded_at >= undone.recorded_at
        ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.swiped_at DESC
        LIMIT 1;
        IF found THEN
            UPDATE swipes s
            SET saved_book_id = undone.saved_book_id
            WHERE s.user_id = reader AND s.edition_id = card AND s.swiped_at = heir;
        ELSE
            RETURN QUERY
            DELETE FROM books b
            WHERE b.user_id = reader
                AND b.id = undone.saved_book_id
                AND b.status = 'WANT_TO_READ'
                AND b.updated_at = b.added_at
                AND NOT EXISTS (
                    SELECT FROM shelf_books p WHERE p.user_id = reader AND p.book_id = b.id
                )
                AND NOT EXISTS (
                    SELECT FROM reviews r WHERE r.user_id = reader AND r.book_id = b.id
                )
            RETURNING b.id, b.title, b.author, b.genre;
        END IF;
    END IF;

    SELECT s.* INTO current
    FROM swipes s
    WHERE s.user_id = reader AND s.edition_id = card AND s.undone_at IS NULL
    ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.swiped_at DESC
    LIMIT 1;
    IF current.action IN ('LIKE', 'BUY')
        AND current.saved_book_id IS NULL
        AND EXISTS (
            SELECT
            FROM swipes s
            WHERE s.user_id = reader
                AND s.edition_id = card
                AND s.recorded_at <= current.recorded_at
                AND s.undone_at >= current.recorded_at
                AND (least(s.swiped_at, s.recorded_at), s.swiped_at)
                    > (least(current.swiped_at, current.recorded_at), current.swiped_at)
        )
    THEN
        UPDATE swipes s
        SET saved_book_id = saved.book_id
        FROM save_cards(reader, ARRAY[card], ARRAY[gen_random_uuid()], fetches_covers) saved
        WHERE s.user_id = reader AND s.edition_id = card AND s.swiped_at = current.swiped_at;
    END IF;
END
$$;

-- Deletes swipes that were undone so long ago. Returns their number.
CREATE FUNCTION prune_undone_swipes(older_than_days int, rows_max int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT user_id, edition_id, swiped_at
        FROM swipes
        WHERE undone_at < now() - older_than_days * interval '1 day'
        LIMIT rows_max
    ),
    deleted AS (
        DELETE FROM swipes s
        USING old
        WHERE s.user_id = old.user_id AND s.edition_id = old.edition_id AND s.swiped_at = old.swiped_at
        RETURNING 1
    )
    SELECT count(*) FROM deleted
$$;
REVOKE EXECUTE ON FUNCTION prune_undone_swipes(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_undone_swipes(int, int) TO bookplate_app;

-- Learning

-- The signals of all readers, without their names: one row for each reader, with 10 bytes for each signal (the edition's number
-- as int8, the weight in hundredths as int2). At most the newest two million signals, and the newest 2,000 of each reader and
-- edition.
CREATE FUNCTION signals_of_readers() RETURNS TABLE (signals bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT string_agg(int8send(number) || int2send(round(weight * 100)::int2), NULL ORDER BY at DESC, number)
    FROM (
        SELECT
            user_id,
            number,
            weight,
            at,
            row_number() OVER (PARTITION BY user_id ORDER BY at DESC, number) AS of_reader,
            row_number() OVER (PARTITION BY number ORDER BY at DESC, user_id) AS of_edition
        FROM (
            SELECT s.user_id, e.number, s.weight, s.at
            FROM reader_signals s
            JOIN editions e ON e.id = s.edition_id
            WHERE s.weight > 0
            ORDER BY s.at DESC
            LIMIT 2000000
        ) newest
    ) ranked
    WHERE of_reader <= 2000 AND of_edition <= 2000
    GROUP BY user_id
    ORDER BY user_id
$$;

-- The editions whose signals have changed since the similar books were learned.
CREATE FUNCTION editions_with_news() RETURNS TABLE (edition bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT e.number
    FROM editions e
    WHERE e.id IN (
        SELECT s.edition_id
        FROM reader_signals s
        WHERE s.weight > 0 AND s.at > (SELECT similar_at FROM feed_state)
        UNION ALL
        SELECT s.edition_id
        FROM swipes s
        WHERE s.action IN ('LIKE', 'BUY')
            AND (
                s.recorded_at > (SELECT similar_at FROM feed_state)
                OR s.undone_at > (SELECT similar_at FROM feed_state)
            )
    )
$$;
REVOKE EXECUTE ON FUNCTION signals_of_readers(), editions_with_news() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION signals_of_readers(), editions_with_news() TO bookplate_app;

-- Genres

ALTER TABLE feed_state
    DROP COLUMN frontiers_valid_since,
    DROP COLUMN order_version,
    DROP COLUMN order_kept_since,
    -- Decks that are older do not start a scroll. Set when the whole catalog or all similar books have changed.
    ADD COLUMN decks_valid_since timestamptz NOT NULL DEFAULT '-infinity';

-- The editions of each genre, most popular first. An edition without a genre has genre 0.
CREATE TABLE edition_genres (
    genre_id smallint NOT NULL,
    position bigint NOT NULL,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    -- 1 for the edition's first genre.
    ordinal smallint NOT NULL,
    PRIMARY KEY (genre_id, position) INCLUDE (edition_id, ordinal)
);
CREATE INDEX edition_genres_edition_id ON edition_genres (edition_id, ordinal) INCLUDE (genre_id, position);
GRANT SELECT ON edition_genres TO bookplate_app;

-- The other books of an author or a series that a reader likes.
CREATE INDEX editions_author_key ON editions (author_key, popularity DESC);
CREATE INDEX editions_series_key ON editions (series_key, popularity DESC) WHERE series_key <> 0;

-- Returns an edition's position in its genres; smaller is earlier: two bits for the tier, 29 for the popularity, 32 for the
-- edition's number. Tier 0 is shown first. Tier 1 is for skipped books whose cool-down is over, tier 2 for books without a
-- description or a genre, and tier 3 for books in other languages than the catalog's main one.
CREATE FUNCTION genre_position(tier int, popularity float8, number bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT
        (tier::bigint << 61)
        | ((536870911 - least(floor(ln(1 + greatest(popularity, 0)) * 16777216), 536870911)::bigint) << 32)
        | number
$$;

-- Returns the ids of the genres with these names, in their order, without unknown names.
CREATE FUNCTION genre_ids(names text[]) RETURNS smallint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN ARRAY(
        SELECT g.id
        FROM unnest(names) WITH ORDINALITY AS n (name, ordinal)
        JOIN genres g ON g.name = n.name
        GROUP BY g.id
        ORDER BY min(n.ordinal)
    );
END
$$;

-- Writes the rows of these editions in edition_genres; null means all editions. Rows that stay the same are not written.
CREATE FUNCTION list_genres_of_editions(ids uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    INSERT INTO genres (id, name, readers)
    SELECT id::smallint, name, 0
    FROM (
        SELECT
            name,
            coalesce((SELECT max(id) FROM genres), 0) + row_number() OVER (ORDER BY name) AS id
        FROM (
            SELECT DISTINCT unnest(genres) AS name
            FROM editions
            WHERE list_genres_of_editions.ids IS NULL OR id = ANY(list_genres_of_editions.ids)
        ) named
        WHERE NOT EXISTS (SELECT FROM genres g WHERE g.name = named.name)
    ) new_genres
    WHERE id <= 32767
    ON CONFLICT DO NOTHING;

    WITH genre_lists AS MATERIALIZED (
        -- Many editions have the same list.
        SELECT genres, genre_ids(genres) AS ids
        FROM (
            SELECT DISTINCT genres
            FROM editions
            WHERE list_genres_of_editions.ids IS NULL OR id = ANY(list_genres_of_editions.ids)
        ) lists
    ),
    current_rows AS MATERIALIZED (
        SELECT
            g.genre_id,
            genre_position(
                CASE
                    WHEN split_part(e.language, '-', 1) <> (SELECT main_language FROM feed_state) THEN 3
                    WHEN e.hook IS NULL OR l.ids = '{}' THEN 2
                    ELSE 0
                END,
                e.popularity,
                e.number
            ) AS position,
            e.id AS edition_id,
            g.ordinal
        FROM editions e
        JOIN genre_lists l ON l.genres = e.genres
        CROSS JOIN LATERAL unnest(
            CASE WHEN l.ids = '{}' THEN ARRAY[0]::smallint[] ELSE l.ids END
        ) WITH ORDINALITY AS g (genre_id, ordinal)
        WHERE list_genres_of_editions.ids IS NULL OR e.id = ANY(list_genres_of_editions.ids)
    ),
    deleted AS (
        DELETE FROM edition_genres f
        WHERE (list_genres_of_editions.ids IS NULL OR f.edition_id = ANY(list_genres_of_editions.ids))
            AND NOT EXISTS (
                SELECT
                FROM current_rows c
                WHERE c.genre_id = f.genre_id
                    AND c.position = f.position
                    AND c.edition_id = f.edition_id
                    AND c.ordinal = f.ordinal
            )
    )
    INSERT INTO edition_genres (genre_id, position, edition_id, ordinal)
    SELECT c.genre_id, c.position, c.edition_id, c.ordinal
    FROM current_rows c
    WHERE NOT EXISTS (
        SELECT
        FROM edition_genres f
        WHERE f.genre_id = c.genre_id
            AND f.position = c.position
            AND f.edition_id = c.edition_id
            AND f.ordinal = c.ordinal
    )
    ORDER BY c.genre_id, c.position;
END
$$;
REVOKE EXECUTE ON FUNCTION list_genres_of_editions(uuid[]) FROM PUBLIC;

-- Works

-- Updates the rows of the works with these keys; null means all works. The first record is one that the feed shows early (in the
-- main language, with a description and a genre), and of these the one with the most ratings. Ratings change only when the
-- catalog is written, so the hourly refresh does not exchange a work's record. Two transactions that add the first two records
-- of a work at the same time do not see each other's record; the two are matched when one of them is written again.
CREATE OR REPLACE FUNCTION match_records(keys bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
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
            CASE
                WHEN split_part(e.language, '-', 1) <> (SELECT main_language FROM feed_state) THEN 3
                WHEN e.hook IS NULL OR e.genres = '{}' THEN 2
                ELSE 0
            END AS tier,
            e.ratings_count,
            e.number
        FROM (SELECT DISTINCT key FROM unnest(keys) AS given (key)) k
        CROSS JOIN LATERAL (
            SELECT * FROM editions e WHERE work_key(e.title, e.authors) = k.key OFFSET 0
        ) e
    ),
    volumes AS (
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
    ),
    ranked AS MATERIALIZED (
        SELECT
            id,
            key,
            volume,
            row_number() OVER (PARTITION BY key, volume ORDER BY tier, ratings_count DESC, number) AS rank,
            count(*) OVER (PARTITION BY key, volume) AS total
        FROM volumes
    ),
    deleted AS (
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

-- Returns whether the reader had swiped or added another record of the edition's work at the time `until`. Skips at
-- `skipped_after` or earlier do not count. Only the first 50 records of a work are checked.
CREATE OR REPLACE FUNCTION was_other_record_seen(
    reader uuid, edition uuid, until timestamptz, skipped_after timestamptz DEFAULT '-infinity'
) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
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
                    AND (s.action <> 'SKIP' OR s.swiped_at > skipped_after)
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

-- Triggers of editions: one for each event. They keep the words of the search, the genres, and the works up to date.
DROP TRIGGER editions_inserted ON editions;
DROP TRIGGER editions_updated ON editions;
DROP FUNCTION learn_search_words();
DROP FUNCTION learn_changed_search_words();

-- A catalog import sets app.bulk, and updates the words and genres at its end.
CREATE FUNCTION index_new_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
    PERFORM match_records(ARRAY(SELECT work_key(title, authors) FROM new_rows));
    RETURN NULL;
END
$$;

CREATE FUNCTION index_changed_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changed uuid[];
    keys bigint[];
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
        changed := ARRAY(
            SELECT n.id
            FROM new_rows n
            JOIN old_rows o USING (id)
            WHERE (n.genres, n.popularity, n.language, n.hook IS NULL)
                IS DISTINCT FROM (o.genres, o.popularity, o.language, o.hook IS NULL)
        );
        IF changed <> '{}' THEN
            PERFORM list_genres_of_editions(changed);
        END IF;
    END IF;
    WITH changed AS MATERIALIZED (
        SELECT
            n.id,
            (n.title, n.authors, n.series_position)
                IS DISTINCT FROM (o.title, o.authors, o.series_position) AS is_renamed,
            o.title AS old_title,
            n.title,
            o.authors AS old_authors,
            n.authors
        FROM new_rows n
        JOIN old_rows o USING (id)
        WHERE (n.title, n.authors, n.series_position, n.hook IS NULL, n.genres, n.language, n.ratings_count)
            IS DISTINCT FROM
            (o.title, o.authors, o.series_position, o.hook IS NULL, o.genres, o.language, o.ratings_count)
    )
    SELECT array_agg(key) INTO keys
    FROM (
        SELECT work_key(old_title, old_authors) AS key FROM changed WHERE is_renamed
        UNION ALL
        SELECT work_key(title, authors) FROM changed WHERE is_renamed
        UNION ALL
        -- The other columns decide about the order of a work's records.
        SELECT w.work_key FROM changed JOIN work_records w ON w.edition_id = changed.id WHERE NOT is_renamed
    ) keyed;
    PERFORM match_records(coalesce(keys, '{}'));
    RETURN NULL;
END
$$;

CREATE FUNCTION index_deleted_editions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM match_records(ARRAY(SELECT work_key(title, authors) FROM old_rows));
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION
    index_new_editions(),
    index_changed_editions(),
    index_deleted_editions()
FROM PUBLIC;

CREATE TRIGGER index_new_editions AFTER INSERT ON editions
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION index_new_editions();
CREATE TRIGGER index_changed_editions AFTER UPDATE ON editions
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION index_changed_editions();
CREATE TRIGGER index_deleted_editions AFTER DELETE ON editions
    REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION index_deleted_editions();

-- Decks

-- Immutable lists of cards for one reader. A feed is a chain of decks: a start, and its successors.
CREATE TABLE feed_decks (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    -- Unique in the installation, so a cursor of another reader matches no deck.
    number bigint GENERATED BY DEFAULT AS IDENTITY,
    -- The genres of a filtered feed, in ascending order. Empty for all genres.
    filter smallint[] NOT NULL,
    -- The preceding deck, which may be one of cold_start_decks; null at the start of a chain.
    previous bigint,
    -- The number of preceding decks.
    depth int NOT NULL,
    -- Empty at the end of a feed.
    editions uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The reader's signals have changed since. Such a deck is still read by cursors, but starts no scroll.
    is_outdated boolean NOT NULL DEFAULT false,
    PRIMARY KEY (user_id, number)
);
CREATE UNIQUE INDEX feed_decks_previous ON feed_decks (user_id, previous) WHERE previous IS NOT NULL;
CREATE INDEX feed_decks_start ON feed_decks (user_id, filter, number DESC)
    WHERE previous IS NULL AND NOT is_outdated;
CREATE INDEX feed_decks_created_at ON feed_decks USING brin (created_at);

ALTER TABLE feed_decks ENABLE ROW LEVEL SECURITY;
ALTER TABLE feed_decks FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON feed_decks TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
CREATE POLICY administration ON feed_decks TO CURRENT_USER
    USING (true)
    WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON feed_decks TO bookplate_app;

-- The first deck of readers without signals. Its numbers are negative to tell them from those of feed_decks.
CREATE TABLE cold_start_decks (
    number bigint GENERATED ALWAYS AS IDENTITY (INCREMENT BY -1 START WITH -1) PRIMARY KEY,
    editions uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON cold_start_decks TO bookplate_app;

-- Stores a cold-start deck, unless it equals the newest one, and deletes those that no cursor needs.
CREATE FUNCTION store_cold_start_deck(editions uuid[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO cold_start_decks (editions)
    SELECT store_cold_start_deck.editions
    WHERE store_cold_start_deck.editions IS DISTINCT FROM (
        SELECT d.editions FROM cold_start_decks d ORDER BY number LIMIT 1
    );
    DELETE FROM cold_start_decks
    WHERE created_at < now() - interval '2 days' AND number > (SELECT min(number) FROM cold_start_decks);
$$;
REVOKE EXECUTE ON FUNCTION store_cold_start_deck(uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_cold_start_deck(uuid[]) TO bookplate_app;

-- Stores that similar books were learned, and enqueues decks for the readers who were active in the last 30 days and have signals
-- for one of these editions. If everything was learned, all decks are outdated, so other readers get theirs when they return.
CREATE FUNCTION finish_learning(learned_at timestamptz, learned bigint[], is_everything boolean) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE feed_state
    SET similar_at = greatest(similar_at, learned_at),
        decks_valid_since = CASE WHEN is_everything THEN now() ELSE decks_valid_since END;
    WITH active AS MATERIALIZED (
        SELECT DISTINCT user_id
        FROM sessions
        WHERE rotated_at > now() - interval '30 days'
    )
    INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
    SELECT a.user_id, 'feed.deck', '{}'::jsonb, 'deck', now(), 10, 3
    FROM active a
    WHERE EXISTS (
        SELECT
        FROM editions e
        JOIN swipes s ON s.user_id = a.user_id AND s.edition_id = e.id AND s.undone_at IS NULL
        WHERE e.number = ANY(learned)
    ) OR EXISTS (
        SELECT
        FROM editions e
        JOIN books b ON b.user_id = a.user_id AND b.edition_id = e.id
        WHERE e.number = ANY(learned)
    )
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET again = j.state = 'RUNNING';
    SELECT pg_notify('jobs', 'feed.deck');
$$;
REVOKE EXECUTE ON FUNCTION finish_learning(timestamptz, bigint[], boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION finish_learning(timestamptz, bigint[], boolean) TO bookplate_app;

-- Brings the main language, the genres, and their numbers of readers up to date with the editions. Writes only what has changed.
-- A catalog import also updates the genres of all editions. Its books come into decks that are built from now on, so older ones
-- start no scroll.
CREATE FUNCTION refresh_genres(is_import boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    has_other_language boolean;
BEGIN
    UPDATE feed_state
    SET main_language = found.language
    FROM (
        SELECT split_part(language, '-', 1) AS language
        FROM editions
        WHERE language IS NOT NULL
        GROUP BY 1
        ORDER BY count(*) DESC, 1
        LIMIT 1
    ) found
    WHERE main_language IS DISTINCT FROM found.language;
    has_other_language := found;
    IF has_other_language THEN
        PERFORM match_records(NULL);
    END IF;
    IF is_import OR has_other_language THEN
        PERFORM list_genres_of_editions(NULL);
        UPDATE feed_state SET decks_valid_since = now();
    END IF;
    UPDATE genres g
    SET readers = counted.readers
    FROM (
        SELECT f.genre_id, sum(e.ratings_count)::bigint AS readers
        FROM edition_genres f
        JOIN editions e ON e.id = f.edition_id
        GROUP BY f.genre_id
    ) counted
    WHERE counted.genre_id = g.id AND counted.readers <> g.readers;
END
$$;
REVOKE EXECUTE ON FUNCTION refresh_genres(boolean) FROM PUBLIC;

-- Updates the popularity of the books, which the trigger of editions brings into their genres, and deletes old decks. A catalog
-- import takes the same lock, because both write editions and the feed's state in different orders.
CREATE FUNCTION refresh_feed() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT pg_advisory_xact_lock(20261122);
    SELECT refresh_popularity();
    SELECT refresh_genres(false);
    DELETE FROM feed_decks WHERE created_at < now() - interval '2 days';
$$;
REVOKE EXECUTE ON FUNCTION refresh_feed() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION refresh_feed() TO bookplate_app;

-- Imports

CREATE OR REPLACE FUNCTION public.import_records(import uuid, start integer, records jsonb)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $$
declare
  owner uuid := app_user_id();
  entry jsonb;
  book jsonb;
  result record;
  problem text;
  created_count int := 0;
  updated_count int := 0;
  reached int;
  known jsonb;
  shelf uuid;
  waiting jsonb := '[]';
  -- By what a later record may mean them: id, ISBN, card, title.
  waiting_keys text[] := '{}';
  keys text[];
  lines jsonb := '{}';
  failed uuid[] := '{}';
  placed_ids uuid[] := '{}';
  placed_on uuid[] := '{}';
  reviews_of uuid[] := '{}';
  reviewed jsonb[] := '{}';
begin
  select i.done into reached from imports i
    where i.user_id = owner and i.id = import and i.state = 'RUNNING' for update;
  if reached is distinct from start then return reached; end if;
  perform set_config('app.bulk', 'on', true);
  for entry in select * from jsonb_array_elements(records || '[{}]') loop
    problem := entry->>'problem';
    book := entry->'book';
    keys := array[book->>'id', book->>'isbn13', book->>'cardId', lower(book->>'title')];
    -- After the last one, too.
    if entry = '{}' or keys && waiting_keys then
      failed := failed || store_imported_books(waiting);
      waiting := '[]';
      waiting_keys := '{}';
      known := null;
    end if;
    if book is not null then
      loop
        if known is null then
          known := (select coalesce(jsonb_object_agg(t.title, t.ids), '{}') from (
            select lower(k.title) as title, jsonb_agg(k.id) as ids from books k
            where k.user_id = owner and lower(k.title) in (
              select lower(r->'book'->>'title') from jsonb_array_elements(records) r) group by 1) t);
        end if;
        select * into result from import_book(book, known);
        exit when result.outcome <> 'CREATED' or result.card_id is null or result.card_id::text <> all(waiting_keys);
        -- Its card waits under another number.
        failed := failed || store_imported_books(waiting);
        waiting := '[]';
        waiting_keys := '{}';
        known := null;
      end loop;
      problem := coalesce(problem, result.problem);
      if result.outcome = 'CREATED' then
        waiting := waiting || (book || jsonb_build_object('cardId', result.card_id));
        waiting_keys := waiting_keys || array_remove(keys || result.card_id::text, null);
        lines := lines || jsonb_build_object(book->>'id', entry->'line');
        created_count := created_count + 1;
      end if;
      foreach shelf in array result.shelf_ids loop
        if result.outcome = 'CREATED' or not exists (
          select from shelf_books f where f.user_id = owner and f.shelf_id = shelf and f.book_id = result.book_id)
        then
          placed_ids := placed_ids || result.book_id;
          placed_on := placed_on || shelf;
          if result.outcome = 'SAME' then result.outcome := 'UPDATED'; end if;
        end if;
      end loop;
      if result.outcome <> 'FAILED' and book ? 'rating' and result.book_id <> all(reviews_of)
        and (result.outcome = 'CREATED' or not exists (
          select from reviews v where v.user_id = owner and v.book_id = result.book_id))
      then
        reviews_of := reviews_of || result.book_id;
        reviewed := reviewed || book;
        if result.outcome = 'SAME' then result.outcome := 'UPDATED'; end if;
      end if;
      updated_count := updated_count + (result.outcome = 'UPDATED')::int;
    elsif entry ? 'shelf' then
      perform import_shelf((entry->'shelf'->>'id')::uuid, entry->'shelf'->>'name',
        (entry->'shelf'->>'createdAt')::timestamptz);
    elsif entry ? 'swipe' then
      insert into swipes (user_id, edition_id, action, swiped_at)
        select owner, e.id, (entry->'swipe'->>'action')::swipe_action, (entry->'swipe'->>'swipedAt')::timestamptz
          from editions e where e.id = (entry->'swipe'->>'cardId')::uuid
        on conflict do nothing;
    end if;
    if problem is not null then
      insert into import_failures (user_id, import_id, line, message)
        values (owner, import, (entry->>'line')::int, problem)
        on conflict do nothing;
    end if;
  end loop;

  insert into shelf_books (user_id, shelf_id, book_id, added_at)
    select owner, p.shelf_id, b.id, b.added_at
    from unnest(placed_on, placed_ids) as p (shelf_id, book_id)
    join books b on b.user_id = owner and b.id = p.book_id
    on conflict do nothing;
  -- A review keeps its id where no other has it.
  insert into reviews (user_id, book_id, id, rating, text, created_at, updated_at)
    select owner, r.book_id,
      case when r.place > 1 or r.id is null or exists (select from reviews v where v.user_id = owner and v.id = r.id)
        then gen_random_uuid() else r.id end,
      r.rating, r.text, coalesce(r.created_at, now()), coalesce(r.updated_at, r.created_at, now())
    from (
      select b.id as book_id, (w->>'reviewId')::uuid as id, (w->>'rating')::int as rating, w->>'review' as text,
        coalesce((w->>'reviewedAt')::timestamptz, (w->>'finishedAt')::timestamptz) as created_at,
        (w->>'reviewUpdatedAt')::timestamptz as updated_at, row_number() over (partition by w->>'reviewId') as place
      from unnest(reviews_of, reviewed) as listed (book_id, w)
      join books b on b.user_id = owner and b.id = listed.book_id) r
    on conflict do nothing;
  insert into import_failures (user_id, import_id, line, message)
    select owner, import, (lines->>id::text)::int, 'This book cannot be stored.' from unnest(failed) as id
    on conflict do nothing;
  update imports i
    set done = i.done + jsonb_array_length(records), created = i.created + created_count - cardinality(failed),
      updated = i.updated + updated_count, updated_at = now()
    where i.user_id = owner and i.id = import returning i.done into reached;
  return reached;
end
$$;

SELECT refresh_genres(true);
