-- The popularity of books and similar books, from the signals of all readers. The signals are collected incrementally, so the cost
-- of an update depends on what is new. The tables are explained in the migration collect_signals.

-- MARK: Collecting signals

-- Adds the readers whose library, reviews, or swipes changed since the last call, or all readers, to those whose signals have to
-- be collected. Returns nothing. Looks back 30 minutes further than the last call, because transactions that started before it may
-- have committed later. Nothing is missed after a long pause: the newest entry of each change log is never pruned, and
-- `prune_undone_swipes` adds the readers of the swipes that it deletes.
--
-- Takes the lock of the catalog, because imports and decisions about works add readers by triggers and then change `feed_state`, too.
-- definer: a job for all readers.
CREATE OR REPLACE FUNCTION find_readers_to_collect(is_everyone boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    since timestamptz;
BEGIN
    PERFORM lock_catalog();
    SELECT collected_at - interval '30 minutes' INTO since
    FROM feed_state;
    IF is_everyone THEN
        INSERT INTO readers_to_collect (user_id)
        SELECT id
        FROM users
        ORDER BY id
        ON CONFLICT DO NOTHING;
    ELSE
        INSERT INTO readers_to_collect (user_id)
        SELECT u.id
        FROM users u
        WHERE u.id IN (
            SELECT user_id
            FROM changes
            WHERE at > since
            UNION
            SELECT user_id
            FROM swipes
            WHERE recorded_at > since
            UNION
            SELECT user_id
            FROM swipes
            WHERE undone_at > since
        )
        ORDER BY u.id
        ON CONFLICT DO NOTHING;
    END IF;
    UPDATE feed_state
    SET collected_at = now();
END
$$;

-- Adds the readers of editions that have moved to another work: their signals are now about that work. The editions have the
-- popularity of that work.
CREATE OR REPLACE FUNCTION collect_signals_of_editions(editions uuid[]) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO edition_changes (edition_id)
    SELECT unnest(editions);
    INSERT INTO readers_to_collect AS r (user_id)
    SELECT s.user_id
    FROM swipes s
    WHERE s.edition_id = ANY(editions)
    UNION
    SELECT b.user_id
    FROM books b
    WHERE b.edition_id = ANY(editions)
    ORDER BY user_id
    -- Also locks a row that is already there, so that it is not collected before this transaction has ended.
    ON CONFLICT (user_id) DO UPDATE
    SET changed_at = excluded.changed_at
$$;

-- Runs when editions get a work or lose theirs.
-- definer: the readers to collect are closed to requests.
CREATE OR REPLACE FUNCTION collect_signals_of_works() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM collect_signals_of_editions(ARRAY(SELECT edition_id FROM changed_rows));
    RETURN NULL;
END
$$;

-- Runs when editions move to another work.
-- definer: the readers to collect are closed to requests.
CREATE OR REPLACE FUNCTION collect_signals_of_moved_works() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM collect_signals_of_editions(
        ARRAY(
            SELECT n.edition_id
            FROM new_rows n
            JOIN old_rows o USING (edition_id)
            WHERE n.founder_id IS DISTINCT FROM o.founder_id
        )
    );
    -- The feed shows another record of the work.
    INSERT INTO edition_changes (edition_id)
    SELECT n.edition_id
    FROM new_rows n
    JOIN old_rows o USING (edition_id)
    WHERE n.rank <> o.rank AND n.founder_id = o.founder_id;
    RETURN NULL;
END
$$;

-- These are triggers, because works are also assigned by functions that the catalog calls. PostgreSQL has no triggers with
-- transition tables for several events.
CREATE OR REPLACE TRIGGER collect_signals_of_new_records
AFTER INSERT ON work_records
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION collect_signals_of_works();

-- As above, with the old rows, to leave out the editions that stay in their work.
CREATE OR REPLACE TRIGGER collect_signals_of_changed_records
AFTER UPDATE ON work_records
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION collect_signals_of_moved_works();

-- As above; records are also deleted with their editions.
CREATE OR REPLACE TRIGGER collect_signals_of_deleted_records
AFTER DELETE ON work_records
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION collect_signals_of_works();

-- Returns 2 ^ (days from 2026-01-01 until a time / 14). Times are limited to 30 years before and after, so that the power is in
-- the range of a float8.
CREATE OR REPLACE FUNCTION half_life_power(at timestamptz) RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT power(2, greatest(-1e9, least(1e9, extract(epoch FROM at)::float8 - 1767225600)) / 1209600)
$$;

-- Returns what a signal adds to `work_signals.recent`. It is rounded, so that a sum does not depend on the order.
CREATE OR REPLACE FUNCTION recent_voice(voice int, at timestamptz) RETURNS numeric
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT round((voice * half_life_power(at))::numeric, 6)
$$;

-- Adds to the sums of works. The arrays have one element for each work, in ascending order of the numbers, so that two transactions
-- do not wait for each other.
CREATE OR REPLACE FUNCTION add_work_signals(
    numbers bigint[], counts int[], voices bigint[], recents numeric[], changes bigint[]
) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO work_signals AS w (number, signals, voice, recent, changes)
    SELECT *
    FROM unnest(numbers, counts, voices, recents, changes)
    ON CONFLICT (number) DO UPDATE
    SET signals = w.signals + excluded.signals,
        voice = w.voice + excluded.voice,
        recent = w.recent + excluded.recent,
        changes = w.changes + excluded.changes
$$;

-- Collects the signals of the next readers of `readers_to_collect`, and adds the differences to the sums of the works. Returns the
-- number of readers, where 0 means that none is left.
--
-- Relies on this plan: for each reader, their reviews, swipes, and books by the prefix of the keys.
-- definer: a job that adds the signals of all readers.
CREATE OR REPLACE FUNCTION collect_signals(readers_max int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    readers uuid[];
    sums record;
BEGIN
    -- Readers who are being deleted are left out, and so are those whose works are changing.
    readers := ARRAY(
        SELECT r.user_id
        FROM readers_to_collect r
        JOIN users u ON u.id = r.user_id
        ORDER BY r.user_id
        LIMIT readers_max
        FOR KEY SHARE OF u SKIP LOCKED
        FOR UPDATE OF r SKIP LOCKED
    );
    DELETE FROM readers_to_collect
    WHERE user_id = ANY(readers);
    WITH new_signals AS MATERIALIZED (
        SELECT
            s.user_id,
            e.number,
            round(s.weight * 100)::smallint AS weight,
            round(greatest(s.voice, 0) * 100)::smallint AS voice,
            -- Imported books can have times in the future.
            least(s.at, now()) AS at
        FROM unnest(readers) AS r (id)
        CROSS JOIN LATERAL (
            SELECT *
            FROM reader_signals s
            WHERE s.user_id = r.id AND s.weight > 0
            OFFSET 0
        ) s
        CROSS JOIN LATERAL (SELECT e.number FROM editions e WHERE e.id = s.founder_id OFFSET 0) e
    ), old_signals AS MATERIALIZED (
        SELECT c.user_id, s.number, s.weight, s.voice, s.at
        FROM collected_signals c
        CROSS JOIN LATERAL unnest(c.works, c.weights, c.voices, c.times) AS s (number, weight, voice, at)
        WHERE c.user_id = ANY(readers)
    ), differences AS MATERIALIZED (
        SELECT
            number,
            count(n.weight) - count(o.weight) AS signals,
            sum(coalesce(n.voice, 0) - coalesce(o.voice, 0)) AS voice,
            sum(coalesce(recent_voice(n.voice, n.at), 0) - coalesce(recent_voice(o.voice, o.at), 0)) AS recent,
            count(*) AS changes
        FROM new_signals n
        FULL JOIN old_signals o USING (user_id, number)
        WHERE (n.weight, n.voice, n.at) IS DISTINCT FROM (o.weight, o.voice, o.at)
        GROUP BY number
    ), stored AS (
        INSERT INTO collected_signals AS c (user_id, works, weights, voices, times, newest_at, signal_count)
        SELECT
            r.id,
            coalesce(array_agg(s.number ORDER BY s.at DESC, s.number) FILTER (WHERE s.number IS NOT NULL), '{}'),
            coalesce(array_agg(s.weight ORDER BY s.at DESC, s.number) FILTER (WHERE s.number IS NOT NULL), '{}'),
            coalesce(array_agg(s.voice ORDER BY s.at DESC, s.number) FILTER (WHERE s.number IS NOT NULL), '{}'),
            coalesce(array_agg(s.at ORDER BY s.at DESC, s.number) FILTER (WHERE s.number IS NOT NULL), '{}'),
            coalesce(max(s.at), '-infinity'),
            count(s.number)
        FROM unnest(readers) AS r (id)
        LEFT JOIN new_signals s ON s.user_id = r.id
        GROUP BY r.id
        ON CONFLICT (user_id) DO UPDATE
        SET works = excluded.works,
            weights = excluded.weights,
            voices = excluded.voices,
            times = excluded.times,
            newest_at = excluded.newest_at,
            signal_count = excluded.signal_count
        WHERE (c.works, c.weights, c.voices, c.times)
            IS DISTINCT FROM (excluded.works, excluded.weights, excluded.voices, excluded.times)
    )
    SELECT
        array_agg(number ORDER BY number) AS numbers,
        array_agg(signals::int ORDER BY number) AS counts,
        array_agg(voice::bigint ORDER BY number) AS voices,
        array_agg(recent ORDER BY number) AS recents,
        array_agg(changes ORDER BY number) AS changes
    INTO sums
    FROM differences;
    PERFORM add_work_signals(sums.numbers, sums.counts, sums.voices, sums.recents, sums.changes);
    RETURN cardinality(readers);
END
$$;

-- Subtracts the signals of deleted readers from the sums of the works.
-- definer: the sums of the signals of all readers are closed to requests.
CREATE OR REPLACE FUNCTION subtract_collected_signals() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM add_work_signals(
        array_agg(number ORDER BY number),
        array_agg(signals::int ORDER BY number),
        array_agg(voice::bigint ORDER BY number),
        array_agg(recent ORDER BY number),
        array_agg(changes ORDER BY number)
    )
    FROM (
        SELECT
            s.number,
            -count(*) AS signals,
            -sum(s.voice) AS voice,
            -sum(recent_voice(s.voice, s.at)) AS recent,
            count(*) AS changes
        FROM old_rows o
        CROSS JOIN LATERAL unnest(o.works, o.voices, o.times) AS s (number, voice, at)
        GROUP BY s.number
    ) sums;
    RETURN NULL;
END
$$;

-- A trigger, because the signals of a deleted account disappear by a foreign key.
CREATE OR REPLACE TRIGGER subtract_collected_signals
AFTER DELETE ON collected_signals
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION subtract_collected_signals();

-- MARK: Popularity

-- Updates the popularity of the editions: their ratings in the catalog, and the readers' positive signals about the work.
-- 5,000 signals weigh as much as the whole catalog, and new ones up to three times as much, with a half-life of 14 days. Changes of at
-- most 5% are not written. Returns whether any popularity was written.
--
-- Reads only the `changed` editions, and the works whose signals have changed since the last call, or have decayed by 5%: for each work,
-- `refresh_at` is the time when the first of its editions will have decayed that far. The number of ratings in the catalog is that of an
-- earlier call until it has changed by more than 1%. After such a change, the function reads all works with signals.
--
-- The caller holds the lock of the catalog. Signals may be collected meanwhile: the numbers of changes that were read are stored, so a
-- work with more changes stays due.
CREATE OR REPLACE FUNCTION refresh_popularity(changed uuid[]) RETURNS boolean
LANGUAGE plpgsql
-- The arrays have very different sizes, so a plan for one of them can be slow for another.
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    catalog_weight CONSTANT float8 := 5000;
    catalog_ratings CONSTANT bigint := (SELECT coalesce(sum(ratings), 0) FROM catalog_languages);
    today CONSTANT float8 := half_life_power(now());
    has_other_weight boolean;
    -- The popularity that a hundredth of a signal adds.
    unit float8;
    works bigint[];
    refreshed record;
BEGIN
    UPDATE feed_state
    SET popularity_ratings = catalog_ratings
    WHERE abs(catalog_ratings - popularity_ratings) > 0.01 * popularity_ratings;
    has_other_weight := FOUND;
    SELECT greatest(popularity_ratings, 1) / catalog_weight / 100 INTO unit
    FROM feed_state;
    works := ARRAY(
        SELECT number
        FROM work_signals
        WHERE has_other_weight
        UNION
        SELECT number
        FROM work_signals
        WHERE changes <> refreshed_changes
        UNION
        SELECT number
        FROM work_signals
        WHERE refresh_at <= now()
    );
    IF works = '{}' AND changed = '{}' THEN
        RETURN false;
    END IF;
    works := ARRAY(
        SELECT unnest(works)
        UNION
        SELECT s.number
        FROM editions e
        LEFT JOIN work_records w ON w.edition_id = e.id
        LEFT JOIN editions f ON f.id = w.founder_id
        JOIN work_signals s ON s.number = coalesce(f.number, e.number)
        WHERE e.id = ANY(changed)
    );
    -- The trigger of editions does not log what this function writes.
    PERFORM set_config('app.refreshes_popularity', 'on', true);
    WITH ids AS MATERIALIZED (
        SELECT unnest(changed) AS id
        UNION
        SELECT id
        FROM editions
        WHERE number = ANY(works)
        UNION
        SELECT r.edition_id
        FROM editions e
        JOIN work_records r ON r.founder_id = e.id
        WHERE e.number = ANY(works)
    ), counted AS MATERIALIZED (
        SELECT
            e.id,
            coalesce(f.number, e.number) AS number,
            e.popularity AS old_popularity,
            e.ratings_count + coalesce(s.voice, 0) * unit AS lasting,
            coalesce(2 * s.recent::float8 / today, 0) * unit AS fading
        FROM ids
        JOIN editions e USING (id)
        LEFT JOIN work_records w ON w.edition_id = e.id
        LEFT JOIN editions f ON f.id = w.founder_id
        LEFT JOIN work_signals s ON s.number = coalesce(f.number, e.number)
    ), written AS (
        UPDATE editions e
        SET popularity = c.lasting + c.fading
        FROM counted c
        WHERE c.id = e.id AND abs(c.lasting + c.fading - e.popularity) > 0.05 * (1 + e.popularity)
        RETURNING e.id, e.popularity
    ), due AS (
        -- A difference of 5% is reached when this share of the fading part is left: 2 ^ (-days / 14).
        SELECT number, min(now() + greatest(-ln(share) / ln(2) * interval '14 days', interval '1 hour')) AS at
        FROM (
            SELECT
                c.number,
                (p.popularity - 0.05 * (1 + p.popularity) - c.lasting) / c.fading AS share
            FROM counted c
            LEFT JOIN written w USING (id)
            CROSS JOIN LATERAL (SELECT coalesce(w.popularity, c.old_popularity) AS popularity) p
            WHERE c.fading > 0
        ) shares
        WHERE share > 0
        GROUP BY number
    )
    SELECT
        array_agg(s.number ORDER BY s.number) AS numbers,
        array_agg(s.changes ORDER BY s.number) AS changes,
        array_agg(d.at ORDER BY s.number) AS times,
        EXISTS (SELECT FROM written) AS has_written
    INTO refreshed
    FROM work_signals s
    LEFT JOIN due d USING (number)
    WHERE s.number = ANY(works);
    PERFORM set_config('app.refreshes_popularity', 'off', true);
    -- The same order as in `add_work_signals`, so that the two do not wait for each other.
    PERFORM
    FROM work_signals
    WHERE number = ANY(works)
    ORDER BY number
    FOR UPDATE;
    UPDATE work_signals s
    SET refreshed_changes = r.changes, refresh_at = r.at
    FROM unnest(refreshed.numbers, refreshed.changes, refreshed.times) AS r (number, changes, at)
    WHERE s.number = r.number;
    RETURN refreshed.has_written;
END
$$;

-- MARK: Learning

-- Returns the signals that similar books are learned from, without the names of the readers: one row for each reader, with the
-- newest signal first. These are the readers with the newest signals, at most 100,000, and as many as have two million signals
-- together.
-- definer: a job that learns from the signals of all readers.
CREATE OR REPLACE FUNCTION signals_to_learn() RETURNS TABLE (works bigint[], weights smallint[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT c.works, c.weights
    FROM (
        SELECT
            user_id,
            newest_at,
            signal_count,
            sum(signal_count) OVER (ORDER BY newest_at DESC, user_id ROWS UNBOUNDED PRECEDING) AS total
        FROM (
            SELECT user_id, newest_at, signal_count
            FROM collected_signals
            ORDER BY newest_at DESC, user_id
            LIMIT 100000
        ) latest
    ) newest
    JOIN collected_signals c USING (user_id)
    WHERE newest.total - newest.signal_count < 2000000 AND newest.signal_count > 0
    ORDER BY newest.newest_at DESC, user_id
$$;

-- Returns the works with signals that changed since their similar books were learned, or only those that are due. A work is due when 5%
-- of the signals that it is learned from have changed. `is_empty` means that it has lost all signals. If replacing all similar books was
-- interrupted, all works are due.
-- definer: the counts of all readers are closed to requests.
CREATE OR REPLACE FUNCTION works_to_learn(only_due boolean DEFAULT false)
RETURNS TABLE (number bigint, changes bigint, is_due boolean, is_empty boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF (SELECT is_replacing_similar FROM feed_state) THEN
        RETURN QUERY
        SELECT w.number, w.changes, true, w.signals <= 0
        FROM work_signals w;
    ELSIF only_due THEN
        -- The conditions of the index work_signals_to_learn.
        RETURN QUERY
        SELECT w.number, w.changes, true, w.signals <= 0
        FROM work_signals w
        WHERE w.changes > w.learned_changes AND (w.changes - w.learned_changes) * 20 >= least(w.signals, 2000);
    ELSE
        RETURN QUERY
        SELECT w.number, w.changes, (w.changes - w.learned_changes) * 20 >= least(w.signals, 2000), w.signals <= 0
        FROM work_signals w
        WHERE w.changes > w.learned_changes;
    END IF;
END
$$;

-- Stores learned links. `sources` are the editions whose links are replaced as a whole; if it is null, only the links to and
-- from the `learned` editions are replaced. A link goes from `froms[i]` to `tos[i]` with `scores[i]`. Editions are given by
-- their numbers. An edition keeps its 50 strongest links.
-- definer: the similar cards are shared: no request can write them.
CREATE OR REPLACE FUNCTION replace_similar(
    sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores float8[]
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
-- The arrays have very different sizes, so a plan for one of them can be slow for another.
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    relearned CONSTANT uuid[] := ARRAY(SELECT id FROM editions WHERE number = ANY(learned));
    new_links record;
    affected uuid[];
BEGIN
    WITH known AS MATERIALIZED (
        SELECT number, e.id
        FROM (SELECT DISTINCT unnest(froms || tos) AS number) n
        JOIN editions e USING (number)
    )
    SELECT array_agg(f.id) AS froms, array_agg(t.id) AS tos, array_agg(l.score::float4) AS scores
    INTO new_links
    FROM unnest(froms, tos, replace_similar.scores) AS l (from_number, to_number, score)
    JOIN known f ON f.number = l.from_number
    JOIN known t ON t.number = l.to_number;
    IF sources IS NOT NULL THEN
        -- The sources of all editions are computed by `finish_learning`. Until then they are incomplete.
        UPDATE feed_state
        SET is_replacing_similar = true
        WHERE NOT is_replacing_similar;
        affected := ARRAY(SELECT id FROM editions WHERE number = ANY(sources));
    ELSE
        affected := ARRAY(
            SELECT unnest(source_ids)
            FROM edition_similar_sources
            WHERE edition_id = ANY(relearned)
            UNION
            SELECT unnest(new_links.froms)
        );
        DELETE FROM edition_similar_sources
        WHERE edition_id = ANY(relearned);
        INSERT INTO edition_similar_sources (edition_id, source_ids)
        SELECT l.to_id, array_agg(l.from_id)
        FROM unnest(new_links.froms, new_links.tos) AS l (from_id, to_id)
        GROUP BY l.to_id
        ORDER BY l.to_id;
    END IF;
    WITH links AS (
        SELECT s.edition_id, u.similar_id, u.score
        FROM edition_similar s
        CROSS JOIN LATERAL unnest(s.similar_ids, s.scores) AS u (similar_id, score)
        WHERE sources IS NULL AND s.edition_id = ANY(affected) AND u.similar_id <> ALL(relearned)
        UNION ALL
        SELECT *
        FROM unnest(new_links.froms, new_links.tos, new_links.scores)
    ), strongest AS (
        SELECT
            *,
            row_number() OVER (PARTITION BY edition_id ORDER BY abs(score) DESC, similar_id) AS strength
        FROM links
    ), new_rows AS (
        SELECT
            edition_id,
            array_agg(similar_id ORDER BY score DESC, similar_id) AS similar_ids,
            array_agg(score ORDER BY score DESC, similar_id) AS scores
        FROM strongest
        WHERE strength <= 50
        GROUP BY edition_id
    ), deleted AS (
        DELETE FROM edition_similar s
        WHERE s.edition_id = ANY(affected) AND NOT EXISTS (SELECT FROM new_rows n WHERE n.edition_id = s.edition_id)
    )
    INSERT INTO edition_similar AS s (edition_id, similar_ids, scores)
    SELECT n.edition_id, n.similar_ids, n.scores
    FROM new_rows n
    -- A fixed order prevents deadlocks between a job and a command.
    ORDER BY n.edition_id
    ON CONFLICT (edition_id) DO UPDATE
    SET similar_ids = excluded.similar_ids, scores = excluded.scores
    WHERE (s.similar_ids, s.scores) IS DISTINCT FROM (excluded.similar_ids, excluded.scores);
END
$$;

-- Removes deleted editions from the links of others.
CREATE OR REPLACE FUNCTION remove_similar(ids uuid[]) RETURNS void
LANGUAGE sql
AS $$
    WITH removed AS (
        DELETE FROM edition_similar_sources
        WHERE edition_id = ANY(ids)
        RETURNING source_ids
    )
    UPDATE edition_similar s
    SET (similar_ids, scores) = (
        SELECT coalesce(array_agg(u.id ORDER BY u.rank), '{}'), coalesce(array_agg(u.score ORDER BY u.rank), '{}')
        FROM unnest(s.similar_ids, s.scores) WITH ORDINALITY AS u (id, score, rank)
        WHERE u.id <> ALL(ids)
    )
    WHERE s.edition_id IN (SELECT unnest(source_ids) FROM removed)
$$;

-- Records that the similar books of works were learned: `learned[i]`, with the `changes[i]` that `works_to_learn` had returned.
-- Enqueues decks for the readers who were active in the last 30 days and have signals
-- for one of the learned editions. Until a new deck is built, the old ones start scrolls: they only lack what was learned. If
-- everything was learned, all decks are outdated, so other readers get theirs when they return.
--
-- Relies on this plan: if not everything was learned, the readers are found by the learned editions, and their sessions by the key.
-- definer: a job that enqueues others for all readers.
CREATE OR REPLACE FUNCTION finish_learning(learned bigint[], changes bigint[], is_everything boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    learned_editions CONSTANT uuid[] := ARRAY(
        SELECT id
        FROM editions
        WHERE number = ANY(learned)
        UNION
        SELECT w.edition_id
        FROM editions e
        JOIN work_records w ON w.founder_id = e.id
        WHERE e.number = ANY(learned)
    );
    readers uuid[];
BEGIN
    -- `refresh_feed` locks the state of the feed and works, too.
    PERFORM lock_catalog();
    IF is_everything THEN
        DELETE FROM edition_similar_sources;
        INSERT INTO edition_similar_sources (edition_id, source_ids)
        SELECT u.similar_id, array_agg(s.edition_id)
        FROM edition_similar s
        CROSS JOIN LATERAL unnest(s.similar_ids) AS u (similar_id)
        GROUP BY u.similar_id;
        UPDATE feed_state
        SET decks_valid_since = clock_timestamp(), is_replacing_similar = false;
    END IF;
    IF is_everything THEN
        readers := ARRAY(
            WITH hashed AS MATERIALIZED (SELECT unnest(learned_editions) AS id)
            SELECT a.user_id
            FROM (SELECT DISTINCT user_id FROM sessions WHERE rotated_at > now() - interval '30 days') a
            WHERE EXISTS (
                SELECT
                FROM swipes s
                WHERE s.user_id = a.user_id AND s.undone_at IS NULL AND s.edition_id IN (SELECT id FROM hashed)
            ) OR EXISTS (
                SELECT
                FROM books b
                WHERE b.user_id = a.user_id AND b.edition_id IN (SELECT id FROM hashed)
            )
        );
    ELSE
        readers := ARRAY(
            SELECT r.user_id
            FROM (
                SELECT s.user_id
                FROM unnest(learned_editions) AS e (id)
                CROSS JOIN LATERAL (
                    SELECT user_id
                    FROM swipes
                    WHERE edition_id = e.id AND undone_at IS NULL
                    OFFSET 0
                ) s
                UNION
                SELECT b.user_id
                FROM unnest(learned_editions) AS e (id)
                CROSS JOIN LATERAL (SELECT user_id FROM books WHERE edition_id = e.id OFFSET 0) b
            ) r
            WHERE EXISTS (
                SELECT
                FROM sessions s
                WHERE s.user_id = r.user_id AND s.rotated_at > now() - interval '30 days'
                OFFSET 0
            )
        );
    END IF;
    -- The kind and the 3 attempts repeat those of the Swift type PrepareDeck.
    INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
    SELECT reader, 'feed.deck', '{}'::jsonb, 'deck', now(), 10, 3
    FROM unnest(readers) AS reader
    -- A fixed order prevents deadlocks with `enqueue_due_decks`.
    ORDER BY reader
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET again = (j.state = 'RUNNING');
    IF readers <> '{}' THEN
        PERFORM pg_notify('jobs', 'feed.deck');
    END IF;
    -- Last, and in this order, because the deletion of an account locks its jobs first, and then the works of its signals.
    PERFORM
    FROM work_signals
    WHERE number = ANY(learned)
    ORDER BY number
    FOR UPDATE;
    UPDATE work_signals w
    SET learned_changes = l.changes
    FROM unnest(learned, finish_learning.changes) AS l (number, changes)
    WHERE w.number = l.number;
END
$$;

-- MARK: Policies and grants

-- The tables are closed to the server's role.
DROP POLICY IF EXISTS administration ON readers_to_collect;
CREATE POLICY administration ON readers_to_collect TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS administration ON collected_signals;
CREATE POLICY administration ON collected_signals TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION collect_signals_of_editions, collect_signals_of_works, collect_signals_of_moved_works, add_work_signals,
    subtract_collected_signals, refresh_popularity, remove_similar FROM PUBLIC;
REVOKE ALL ON FUNCTION find_readers_to_collect, collect_signals, signals_to_learn, works_to_learn, replace_similar,
    finish_learning FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_readers_to_collect, collect_signals, signals_to_learn, works_to_learn, replace_similar,
    finish_learning TO bookplate_app;
