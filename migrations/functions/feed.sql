-- requires: accounts
-- The discovery feed: readers' signals, books by genre, and decks of cards. The terms are explained in the
-- migration create_feed.

-- MARK: Swipes and signals

-- The latest swipe of each card that was not undone. A time in the future counts as the time at which the server recorded it.
CREATE OR REPLACE VIEW current_swipes WITH (security_invoker = true) AS
SELECT DISTINCT ON (user_id, edition_id)
    user_id,
    edition_id,
    action,
    scope,
    least(swiped_at, recorded_at) AS swiped_at,
    recorded_at,
    store
FROM swipes
WHERE undone_at IS NULL
ORDER BY user_id, edition_id, least(swiped_at, recorded_at) DESC, swiped_at DESC;

-- A reader's opinion of a work, from the strongest source: a rated or abandoned book, a swipe, or the book in the library. `edition_id` is the
-- record of the work that the opinion is about, and `founder_id` identifies the work (`work_records`). Similar books are learned from
-- `weight`, 0 to 1.25. `voice` is the weight in the reader's own feed, -0.3 to 1.25. If it is positive, it also adds to the popularity
-- of the work (signals.sql).
--
-- The rating of a book counts once the reader has read it: its status is READ, or it has a finished read. Therefore the rating still
-- counts while the book is read again. A book that the reader has not read, and did not finish, counts like a book with one star,
-- whatever its rating is.
CREATE OR REPLACE VIEW reader_signals WITH (security_invoker = true) AS
SELECT user_id, edition_id, weight, voice, at, founder_id
FROM (
    SELECT DISTINCT ON (s.user_id, coalesce(w.founder_id, s.edition_id))
        s.user_id,
        s.edition_id,
        s.weight,
        s.voice,
        s.at,
        coalesce(w.founder_id, s.edition_id) AS founder_id
    FROM (
        SELECT
            r.user_id,
            b.edition_id,
            r.updated_at AS at,
            1 AS rank,
            (ARRAY[0.1, 0.2, 0.6, 1, 1.25])[CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END]::float4 AS weight,
            (ARRAY[-0.3, 0, 0.6, 1, 1.25])[CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END]::float4 AS voice
        FROM reviews r
        JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
        -- A review without a rating is not a signal. The status of its book is.
        WHERE b.edition_id IS NOT NULL
            AND r.quarter_stars IS NOT NULL
            AND (
                b.status = 'READ'
                OR EXISTS (
                    SELECT
                    FROM reads d
                    WHERE d.user_id = r.user_id AND d.book_id = r.book_id AND d.outcome = 'FINISHED'
                )
            )
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
            b.user_id,
            b.edition_id,
            b.added_at,
            CASE WHEN n.is_abandoned THEN 1 ELSE 3 END,
            CASE WHEN n.is_abandoned THEN 0.1 WHEN b.status IN ('READ', 'DID_NOT_FINISH') THEN 0.8 ELSE 0.7 END::float4,
            CASE WHEN n.is_abandoned THEN -0.3 WHEN b.status IN ('READ', 'DID_NOT_FINISH') THEN 0.8 ELSE 0.7 END::float4
        FROM books b
        CROSS JOIN LATERAL (
            SELECT b.status = 'DID_NOT_FINISH' AND NOT EXISTS (
                SELECT
                FROM reads d
                WHERE d.user_id = b.user_id AND d.book_id = b.id AND d.outcome = 'FINISHED'
            ) AS is_abandoned
        ) n
        WHERE b.edition_id IS NOT NULL
    ) s
    LEFT JOIN work_records w ON w.edition_id = s.edition_id
    ORDER BY s.user_id, coalesce(w.founder_id, s.edition_id), s.rank, s.at DESC
) signals;

-- Adds the books of liked or bought cards to the library, under the given ids. A book that is already there stays as it is.
CREATE OR REPLACE FUNCTION save_cards(reader uuid, cards uuid[], book_ids uuid[], fetches_covers boolean)
RETURNS TABLE (card_id uuid, book_id uuid)
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN QUERY
    INSERT INTO books (
        user_id, id, edition_id, title, subtitle, authors, author_roles, isbn13, publisher, published_date, page_count,
        language, genre, description, cover_status, cover_requested_at
    )
    SELECT
        reader, c.book_id, e.id, e.title, left(nullif(btrim(e.subtitle), ''), 500), e.authors, e.author_roles, e.isbn13, e.publisher,
        e.published_date, e.page_count, e.language, e.genres[1], e.description,
        CASE WHEN fetches_covers THEN 'FETCHING' ELSE 'NO_COVER' END::cover_status,
        CASE WHEN fetches_covers THEN now() END
    FROM unnest(cards, book_ids) AS c (card_id, book_id)
    JOIN editions e ON e.id = c.card_id
    ON CONFLICT DO NOTHING
    RETURNING edition_id, id;
END
$$;

-- Undoes the swipe of a card at the time `at`, or the current one if `at` is null. The rules:
-- 1. A time with milliseconds only, as the API returns it, means the latest swipe of that millisecond.
-- 2. Without a time, a repeated call changes nothing until another swipe arrives: if a later swipe was undone after the current
--    one was recorded, that was the swipe to undo.
-- 3. The book that the swipe saved passes to another like or purchase, of any record of the work, that was recorded later and
--    would have saved it. Otherwise it is deleted, unless it was changed, shelved, or reviewed. Returns the deleted book.
-- 4. If the swipe that is current now is a like or purchase that arrived late, and so has never counted, its book is saved.
CREATE OR REPLACE FUNCTION undo_swipe(reader uuid, card uuid, at timestamptz, fetches_covers boolean)
RETURNS TABLE (book_id uuid, title text, author text, genre text)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    undone swipes;
    heir swipes;
    current swipes;
    records uuid[] := ARRAY(
        SELECT card
        UNION
        SELECT o.edition_id
        FROM work_records w
        JOIN work_records o USING (founder_id)
        WHERE w.edition_id = card AND o.rank <= 50
    );
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
        WHERE s.user_id = reader
            AND s.edition_id = card
            AND (s.swiped_at = at OR date_trunc('milliseconds', least(s.swiped_at, s.recorded_at)) = at)
        ORDER BY s.swiped_at = at DESC, s.swiped_at DESC
        LIMIT 1;
    END IF;
    IF undone IS NULL OR undone.undone_at IS NOT NULL THEN
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
        WHERE b.user_id = reader AND b.id = undone.saved_book_id AND b.edition_id = ANY(records)
    ) THEN
        SELECT s.* INTO heir
        FROM swipes s
        WHERE s.user_id = reader
            AND s.edition_id = ANY(records)
            AND s.undone_at IS NULL
            AND s.action IN ('LIKE', 'BUY')
            AND s.recorded_at >= undone.recorded_at
        ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.swiped_at DESC
        LIMIT 1;
        IF FOUND THEN
            UPDATE swipes s
            SET saved_book_id = undone.saved_book_id
            WHERE s.user_id = reader AND s.edition_id = heir.edition_id AND s.swiped_at = heir.swiped_at;
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
                AND NOT EXISTS (
                    SELECT FROM notes n WHERE n.user_id = reader AND n.book_id = b.id
                )
            -- RETURN QUERY requires the exact types, and these columns have domains.
            RETURNING b.id, b.title::text, b.author, b.genre::text;
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

-- Deletes swipes that were undone the given number of days ago, at least one, and returns their number. Their readers are collected
-- again, in case the undone swipe was collected.
-- definer: a job for the swipes of all readers.
CREATE OR REPLACE FUNCTION prune_undone_swipes(older_than_days int, rows_max int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH old AS (
        SELECT user_id, edition_id, swiped_at
        FROM swipes
        WHERE undone_at < now() - greatest(1, older_than_days) * interval '1 day'
        LIMIT rows_max
    ), deleted AS (
        DELETE FROM swipes s
        USING old
        WHERE s.user_id = old.user_id AND s.edition_id = old.edition_id AND s.swiped_at = old.swiped_at
        RETURNING s.user_id
    ), marked AS (
        INSERT INTO readers_to_collect (user_id)
        SELECT DISTINCT d.user_id
        FROM deleted d
        ORDER BY d.user_id
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) FROM deleted
$$;

-- MARK: Genres

-- Returns the most common words of a language in titles and descriptions, as `search_fold` returns them; null if they are not known.
CREATE OR REPLACE FUNCTION common_words(language text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT string_to_array(
        CASE language
            WHEN 'en' THEN 'the of and in to for with my from at by is on you your his her an other how what when who that this it as are'
            WHEN 'es' THEN 'el la los las de del y en un una por para con que su sus se lo como mi tu'
            WHEN 'fr' THEN 'le la les de du des et un une dans pour avec qui que sur au aux est son sa ses mon ma ne pas il elle'
            WHEN 'de' THEN 'der die das und ein eine von im des zu mit den dem ist nicht ich auf sich als einer wie vom zur'
            WHEN 'it' THEN 'il lo la gli le di del della dell delle dei e un una per con che nel nella su non mio mia'
            WHEN 'pt' THEN 'o os as do da dos das e um uma por para com que no na seu sua em ao'
            WHEN 'nl' THEN 'de het een van en op voor met die zijn naar niet uit ik te dat'
            WHEN 'sv' THEN 'och det att en ett som av med for den till inte jag om'
            WHEN 'da' THEN 'og det at en et som af med for den til ikke jeg om der'
            WHEN 'no' THEN 'og det at en et som av med for den til ikke jeg om min'
            WHEN 'pl' THEN 'i w z na do nie sie o jest za od po ze'
            WHEN 'id' THEN 'dan di yang ke dari untuk tidak itu ini dengan sang negeri'
            WHEN 'la' THEN 'et ad cum de ex quae qui non'
        END,
        ' '
    )
$$;

-- Returns the language of an edition; null if it is doubtful. Catalogs often have the language of another edition: "Cruel & Unusual" is
-- in Dutch, and "The Overcoat" in Russian. The language is doubtful if the edition has an ISBN of English-speaking countries (978-0 and
-- 978-1), or none, and nothing else speaks for the language. Words and letters of the title decide first, and then an English description,
-- the publisher, or another description: "Cien años de soledad" is in Spanish, and so is "Cujo" of Debolsillo, whose ISBN is American. The
-- feed takes a book whose language is doubtful for one in the main language.
CREATE OR REPLACE FUNCTION likely_language(language text, isbn13 text, title text, publisher text, description text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    own_words text[];
    english_words text[];
    words text[];
    own int;
    english int;
BEGIN
    IF language IS NULL OR split_part(language, '-', 1) = 'en' OR (isbn13 NOT LIKE '9780%' AND isbn13 NOT LIKE '9781%') THEN
        RETURN language;
    END IF;
    own_words := coalesce(common_words(split_part(language, '-', 1)), '{}');
    english_words := common_words('en');
    words := string_to_array(search_fold(left(title, 500)), ' ');
    SELECT count(*) FILTER (WHERE word = ANY(own_words)), count(*) FILTER (WHERE word = ANY(english_words))
    INTO own, english
    FROM unnest(words) AS word;
    IF own > 0 OR english > 0 THEN
        RETURN CASE WHEN own >= english THEN language END;
    END IF;
    IF title ~ '[[:alpha:]]' AND octet_length(translate(title, '‘’“”–—…°·', '')) > char_length(translate(title, '‘’“”–—…°·', '')) THEN
        RETURN language;
    END IF;
    words := string_to_array(search_fold(left(description, 500)), ' ');
    SELECT count(*) FILTER (WHERE word = ANY(own_words)), count(*) FILTER (WHERE word = ANY(english_words))
    INTO own, english
    FROM unnest(words) AS word;
    -- The catalog describes the book to readers of English: "Fahrenheit 451" of Plaza & Janés.
    IF own = 0 AND english >= 3 THEN
        RETURN NULL;
    END IF;
    IF octet_length(publisher) > char_length(publisher)
        OR search_fold(publisher) ~ ('espanol|libro|editorial|ediciones|debolsillo|alfaguara|planeta|grijalbo|lectorum|santillana'
            '|rayo|sudamericana|edizioni|editore|editora|verlag|gmbh|uitgeverij|forlag|forlaget|wydawnictwo|gallimard|hachette livre'
            '|french and european|presses')
    THEN
        RETURN language;
    END IF;
    RETURN CASE
        WHEN own > english THEN language
        WHEN isbn13 IS NULL
            AND own = english
            AND coalesce(search_fold(publisher), '') !~ '\m(?:press|books|house|publishing|publishers|sons|company|university)\M'
        THEN language
    END;
END
$$;

-- Returns the language of the feed that a BCP 47 tag belongs to: its first part. The two forms of Norwegian are one language.
CREATE OR REPLACE FUNCTION feed_language(tag text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    language text := split_part(tag, '-', 1);
BEGIN
    RETURN CASE WHEN language IN ('nb', 'nn') THEN 'no' ELSE language END;
END
$$;

-- Returns an edition's position in its genres; smaller is earlier: two bits for the tier, 29 for the popularity, and 32 for the
-- edition's number. Tier 0 is shown first. Tier 2 is for books that are shown late. Tier 1, for skipped books whose cool-down is over,
-- depends on the reader, so it occurs only in the server's queries. The popularity is ln(1 + popularity) × 2^24, at most 2^29 - 1, subtracted from that maximum.
CREATE OR REPLACE FUNCTION genre_position(tier int, popularity float8, number bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT
        (tier::bigint << 61)
        | ((536870911 - least(floor(ln(1 + greatest(popularity, 0)) * 16777216), 536870911)::bigint) << 32)
        | number
$$;

-- Writes the rows of these editions in edition_genres, and their languages in work_records; null means all editions. Rows that stay the
-- same are not written.
--
-- Books in the main language without a text (a hook or a description) or a genre have tier 2. Books in other languages do not, because
-- most of them have no text or genre: of 335 Spanish books among 20,000, only 20 have both.
CREATE OR REPLACE FUNCTION list_genres_of_editions(ids uuid[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
    WITH genre_lists AS MATERIALIZED (
        -- Many editions have the same list.
        SELECT genres, genre_ids(genres) AS ids
        FROM (
            SELECT DISTINCT genres
            FROM editions
            WHERE list_genres_of_editions.ids IS NULL OR id = ANY(list_genres_of_editions.ids)
        ) lists
    ), listed AS MATERIALIZED (
        SELECT
            e.id,
            e.number,
            e.popularity,
            e.genres,
            e.hook IS NOT NULL OR e.description IS NOT NULL AS has_text,
            coalesce(main.language, '') AS main_language,
            coalesce(
                feed_language(likely_language(e.language, e.isbn13, e.title, e.publisher, e.description)), main.language, ''
            ) AS language
        FROM editions e
        CROSS JOIN (SELECT main_language AS language FROM feed_state) main
        WHERE list_genres_of_editions.ids IS NULL OR e.id = ANY(list_genres_of_editions.ids)
    ), current_rows AS MATERIALIZED (
        SELECT
            e.language,
            g.genre_id,
            genre_position(
                CASE WHEN e.language = e.main_language AND (NOT e.has_text OR l.ids = '{}') THEN 2 ELSE 0 END,
                e.popularity,
                e.number
            ) AS position,
            e.id AS edition_id,
            g.ordinal
        FROM listed e
        JOIN genre_lists l ON l.genres = e.genres
        CROSS JOIN LATERAL unnest(
            CASE WHEN l.ids = '{}' THEN ARRAY[0]::smallint[] ELSE l.ids END
        ) WITH ORDINALITY AS g (genre_id, ordinal)
    ), deleted AS (
        DELETE FROM edition_genres f
        WHERE (list_genres_of_editions.ids IS NULL OR f.edition_id = ANY(list_genres_of_editions.ids))
            AND NOT EXISTS (
                SELECT
                FROM current_rows c
                WHERE c.language = f.language AND c.genre_id = f.genre_id AND c.position = f.position
            )
    )
    -- A position contains the edition's number, so a conflict is with a row of the same edition.
    INSERT INTO edition_genres (language, genre_id, position, edition_id, ordinal)
    SELECT c.language, c.genre_id, c.position, c.edition_id, c.ordinal
    FROM current_rows c
    WHERE NOT EXISTS (
        SELECT
        FROM edition_genres f
        WHERE f.language = c.language AND f.genre_id = c.genre_id AND f.position = c.position AND f.ordinal = c.ordinal
    )
    ORDER BY c.language, c.genre_id, c.position
    ON CONFLICT (language, genre_id, position) DO UPDATE
    SET ordinal = excluded.ordinal;
    UPDATE work_records w
    SET language = f.language
    FROM edition_genres f
    WHERE (list_genres_of_editions.ids IS NULL OR w.edition_id = ANY(list_genres_of_editions.ids))
        AND f.edition_id = w.edition_id
        AND f.ordinal = 1
        AND w.language <> f.language;
END
$$;

-- MARK: Decks

-- Stores a cold-start deck that was built when the catalog had this version (`refresh_feed`), unless it is empty or equals the newest
-- one of the language.
-- definer: the decks of new readers are shared: no request can write one.
CREATE OR REPLACE FUNCTION store_cold_start_deck(language text, editions uuid[], version bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO cold_start_decks (language, editions)
    SELECT store_cold_start_deck.language, store_cold_start_deck.editions
    WHERE store_cold_start_deck.editions <> '{}'
        AND store_cold_start_deck.editions IS DISTINCT FROM (
            SELECT d.editions
            FROM cold_start_decks d
            WHERE d.language = store_cold_start_deck.language
            ORDER BY d.chain
            LIMIT 1
        );
    UPDATE feed_state SET cold_start_version = version WHERE cold_start_version <> version;
$$;

-- Deletes the cold-start decks of other languages.
-- definer: the decks of new readers are shared: no request can write one.
CREATE OR REPLACE FUNCTION keep_cold_start_decks(languages text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    DELETE FROM cold_start_decks d
    WHERE d.language <> ALL(keep_cold_start_decks.languages)
$$;

-- Turns the due marks of readers, at most `readers_max`, into jobs that build their decks, as `Pipeline.enqueue` in EnqueueJob.swift
-- does. Several workers share the marks.
--
-- Relies on this plan: the due marks by feed_readers_due, in their order. So the number of readers does not matter.
-- definer: a worker turns the marks of all readers into jobs.
CREATE OR REPLACE FUNCTION enqueue_due_decks(readers_max int) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
-- A job of a reader may be locked for a long time, for example by `finish_learning`. The marks then wait for the next call.
SET lock_timeout = '200ms'
AS $$
    WITH due AS MATERIALIZED (
        SELECT f.user_id
        FROM feed_readers f
        JOIN users u ON u.id = f.user_id
        WHERE f.deck_due_at <= now()
        ORDER BY f.deck_due_at
        LIMIT readers_max
        -- An account that is being deleted is left out, whose jobs could not be added before the end of the deletion.
        FOR KEY SHARE OF u SKIP LOCKED
        FOR UPDATE OF f SKIP LOCKED
    ), unmarked AS (
        UPDATE feed_readers f
        SET deck_due_at = NULL
        FROM due d
        WHERE f.user_id = d.user_id
        RETURNING f.user_id
    )
    -- The kind and the 3 attempts repeat those of the Swift type PrepareDeck.
    INSERT INTO jobs AS j (user_id, kind, payload, key, attempts_max)
    SELECT u.user_id, 'feed.deck', '{}', 'deck', 3
    FROM unmarked u
    -- A fixed order prevents deadlocks with `finish_learning`.
    ORDER BY u.user_id
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET priority = 0,
        run_at = least(j.run_at, excluded.run_at),
        attempts = CASE j.state WHEN 'RUNNING' THEN j.attempts ELSE 0 END,
        again = (j.state = 'RUNNING'),
        updated_at = excluded.updated_at
$$;

-- MARK: Background updates

-- Brings the main language, the genres, their numbers of readers, and the popularity of the books up to date with the changes of
-- editions and signals since the last call. Writes only what has changed.
-- After a catalog import, the genres of all editions are updated, too. The popularity is left to the next call, because others wait for
-- the rows of `work_signals` that it locks. After a change of the main language, the genres of all editions and the records of all works
-- are updated. Decks that are built from now on contain the changes, so older ones start no scroll.
CREATE OR REPLACE FUNCTION refresh_genres(is_import boolean) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    changed uuid[];
    has_other_popularity boolean := false;
    has_other_language boolean;
BEGIN
    changed := count_catalog(is_import);
    UPDATE feed_state
    SET main_language = most_common.language
    FROM (
        SELECT language
        FROM catalog_languages
        WHERE language <> '' AND editions > 0
        ORDER BY editions DESC, language
        LIMIT 1
    ) most_common
    WHERE main_language IS DISTINCT FROM most_common.language;
    has_other_language := FOUND;
    IF has_other_language THEN
        PERFORM match_works(NULL);
    END IF;
    IF is_import OR has_other_language THEN
        PERFORM list_genres_of_editions(NULL);
        -- Not now(), the start of the transaction: decks that were built during an import contain nothing of it.
        UPDATE feed_state SET decks_valid_since = clock_timestamp();
    END IF;
    -- Last, because others wait for the works that it locks.
    IF NOT is_import THEN
        has_other_popularity := refresh_popularity(changed);
    END IF;
    IF is_import OR has_other_language OR has_other_popularity OR changed <> '{}' THEN
        UPDATE feed_state SET catalog_version = catalog_version + 1;
    END IF;
END
$$;

-- Updates the popularity of the books, which the trigger of editions brings into their genres, and deletes the chains whose
-- newest deck is old, and the cold-start decks that no cursor needs: they were replaced two days ago. Returns the version of the catalog
-- if it has changed since the cold-start decks were built, otherwise null.
--
-- Relies on this plan: the old decks are found by the index on their times, and the newer decks of their chains by the key.
-- definer: a job that writes the catalog and deletes decks of all readers.
CREATE OR REPLACE FUNCTION refresh_feed() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT lock_catalog();
    -- Before works are locked: the deletion of an account deletes its decks first, and then locks the works of its signals.
    DELETE FROM feed_decks d
    WHERE d.created_at < now() - interval '2 days'
        AND NOT EXISTS (
            SELECT
            FROM feed_decks newer
            WHERE newer.user_id = d.user_id
                AND newer.chain = d.chain
                AND newer.created_at >= now() - interval '2 days'
            OFFSET 0
        );
    -- Newer decks have smaller numbers.
    DELETE FROM cold_start_decks d
    WHERE EXISTS (
        SELECT
        FROM cold_start_decks newer
        WHERE newer.language = d.language AND newer.chain < d.chain AND newer.created_at < now() - interval '2 days'
    );
    SELECT refresh_genres(false);
    SELECT catalog_version
    FROM feed_state
    WHERE catalog_version <> cold_start_version;
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON swipes;
CREATE POLICY owner_only ON swipes TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON swipes;
CREATE POLICY administration ON swipes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON feed_readers;
CREATE POLICY owner_only ON feed_readers TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON feed_readers;
CREATE POLICY administration ON feed_readers TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON feed_decks;
CREATE POLICY owner_only ON feed_decks TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON feed_decks;
CREATE POLICY administration ON feed_decks TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE ON swipes TO bookplate_app;
GRANT SELECT, INSERT, UPDATE ON feed_readers TO bookplate_app;
GRANT SELECT, INSERT, DELETE ON feed_decks TO bookplate_app;
GRANT USAGE ON SEQUENCE feed_chains TO bookplate_app;
GRANT SELECT ON feed_state, catalog_languages, edition_genres, cold_start_decks, edition_similar, current_swipes, reader_signals
    TO bookplate_app;

REVOKE ALL ON FUNCTION list_genres_of_editions, refresh_genres FROM PUBLIC;
REVOKE ALL ON FUNCTION prune_undone_swipes, store_cold_start_deck, keep_cold_start_decks, enqueue_due_decks, refresh_feed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_undone_swipes, store_cold_start_deck, keep_cold_start_decks, enqueue_due_decks, refresh_feed TO bookplate_app;
