-- requires: accounts
-- Numbers of finished reads, ratings, and days of reading: for statistics, goals, and streaks.

-- Triggers call the functions of this file once per statement, with the rows before and after it, while they hold the lock of the user.
-- The functions add the differences to the numbers, so their cost does not depend on the size of the library.
--
-- Each statement leaves a version of the rows that it changes, and later statements of the transaction read all of them. A transaction of
-- thousands of statements, such as the deletion of thousands of books, whose foreign keys delete the reads of each book by a statement of
-- its own, would take quadratic time. After 100 statements, a transaction therefore only notes the reader in `reading_recounts`, and counts
-- all of the reader's rows again when it ends.

-- Returns whether a read counts in hours and not in pages: it is AUDIO, or has the length of an audiobook but no format.
CREATE OR REPLACE FUNCTION is_listened(format read_format, length_seconds int) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(format = 'AUDIO', length_seconds IS NOT NULL)
$$;

-- Returns a read without its note, and a review without its text, which are not counted: thousands of rows are in memory at a time.
CREATE OR REPLACE FUNCTION without_note(counted reads) RETURNS reads
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    counted.note := NULL;
    RETURN counted;
END
$$;

CREATE OR REPLACE FUNCTION without_text(counted reviews) RETURNS reviews
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    counted.text := NULL;
    RETURN counted;
END
$$;

-- Returns whether the transaction counts the rows of a reader again when it ends. Otherwise, the caller adds the difference now.
CREATE OR REPLACE FUNCTION is_counted_later(owner uuid) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
    statements CONSTANT int := coalesce(nullif(current_setting('app.counted_statements', true), '')::int, 0);
BEGIN
    IF statements < 100 THEN
        ignored := set_config('app.counted_statements', (statements + 1)::text, true);
        RETURN false;
    END IF;
    INSERT INTO reading_recounts (user_id)
    VALUES (owner)
    ON CONFLICT DO NOTHING;
    RETURN true;
END
$$;

-- Adds differences to the numbers of entries of days.
CREATE OR REPLACE FUNCTION add_reading_days(owner uuid, days date[], differences int[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO reading_days AS d (user_id, day, entry_count)
    SELECT owner, n.day, n.difference
    FROM unnest(days, differences) AS n (day, difference)
    ON CONFLICT ON CONSTRAINT reading_days_pkey DO UPDATE
    SET entry_count = d.entry_count + excluded.entry_count;
    IF -1 >= ANY(differences) THEN
        DELETE FROM reading_days d
        WHERE d.user_id = owner AND d.day = ANY(days) AND d.entry_count = 0;
    END IF;
END
$$;

-- Counts the days of progress entries after a statement that replaced the times of entries by others. Both may be null.
CREATE OR REPLACE FUNCTION count_reading_days(owner uuid, old_times timestamptz[], new_times timestamptz[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
    zone text;
    days date[];
    differences int[];
BEGIN
    IF is_counted_later(owner) THEN
        RETURN;
    END IF;
    SELECT known_zone(u.time_zone) INTO zone
    FROM users u
    WHERE u.id = owner;
    SELECT array_agg(n.day), array_agg(n.difference) INTO days, differences
    FROM (
        SELECT (t.at AT TIME ZONE zone)::date AS day, sum(t.sign)::int AS difference
        FROM (
            SELECT o.at, -1 AS sign FROM unnest(old_times) AS o (at)
            UNION ALL
            SELECT n.at, 1 FROM unnest(new_times) AS n (at)
        ) t
        GROUP BY 1
        HAVING sum(t.sign) <> 0
    ) n;
    IF days IS NOT NULL THEN
        ignored := add_reading_days(owner, days, differences);
    END IF;
END
$$;

-- Returns the day on which a book was finished; null if it was not, or if only the month or the year is known.
CREATE OR REPLACE FUNCTION finished_day(outcome read_outcome, finished_on text) RETURNS date
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF outcome = 'FINISHED' AND length(finished_on) = 10 THEN
        RETURN make_date(left(finished_on, 4)::int, substr(finished_on, 6, 2)::int, substr(finished_on, 9)::int);
    END IF;
    RETURN NULL;
END
$$;

-- Adds the difference between reads before and after a statement to the numbers of `reading_counts` and
-- `reading_top_counts`. The table `reads` has the new rows.
--
-- The rows of the year 0 count all reads. A book, or its rating, counts once in a year, however often it was finished in it. The statement
-- therefore also compares how many finished reads each changed book has now with how many it had before. It looks at all reads of the
-- book: with a condition on the outcome, PostgreSQL may prefer a partial index, and read all finished reads of the reader.
--
-- No statement may change both reads and reviews: the function and `count_ratings` would find both changes. Deleting a book therefore
-- deletes its review first (`delete_review_of_book`).
CREATE OR REPLACE FUNCTION add_read_counts(owner uuid, old_reads reads[], new_reads reads[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    WITH changed AS MATERIALIZED (
        SELECT r.*, y.year, substr(r.finished_on, 6, 2) AS month
        FROM (
            SELECT -1 AS sign, o.* FROM unnest(old_reads) o
            UNION ALL
            SELECT 1, n.* FROM unnest(new_reads) n
        ) r
        CROSS JOIN LATERAL (VALUES (0), (r.finished_year)) AS y (year)
        WHERE r.outcome <> 'READING' AND y.year IS NOT NULL
    ), finished AS (
        SELECT * FROM changed c WHERE c.outcome = 'FINISHED'
    ), changed_books AS MATERIALIZED (
        SELECT n.book_id, n.year, CASE WHEN sum(n.reads) > 0 THEN 1 ELSE -1 END AS sign
        FROM (
            SELECT f.book_id, f.year, f.sign AS difference, 0 AS reads
            FROM finished f
            UNION ALL
            SELECT r.book_id, y.year, 0, (r.outcome = 'FINISHED')::int
            FROM (SELECT DISTINCT f.book_id FROM finished f) t
            JOIN reads r ON r.user_id = owner AND r.book_id = t.book_id
            CROSS JOIN LATERAL (VALUES (0), (r.finished_year)) AS y (year)
            WHERE y.year IS NOT NULL
        ) n
        GROUP BY n.book_id, n.year
        HAVING (sum(n.reads) > 0) <> (sum(n.reads) - sum(n.difference) > 0)
    ), top_counts AS (
        INSERT INTO reading_top_counts AS k (user_id, kind, year, key, number)
        SELECT owner, v.kind, f.year, v.key, sum(f.sign)
        FROM finished f
        CROSS JOIN LATERAL (
            VALUES ('GENRE', f.genre), ('AUTHOR', f.author_id::text)
            UNION ALL
            SELECT DISTINCT 'MOOD', m.mood FROM unnest(f.moods) AS m (mood)
        ) AS v (kind, key)
        WHERE v.key IS NOT NULL
        GROUP BY v.kind, f.year, v.key
        HAVING sum(f.sign) <> 0
        ON CONFLICT (user_id, kind, year, key) DO UPDATE
        SET number = k.number + excluded.number
    )
    INSERT INTO reading_counts AS k (user_id, kind, year, key, number, pages, seconds)
    SELECT owner, d.kind, d.year, d.key, d.number, coalesce(d.pages, 0), coalesce(d.seconds, 0)
    FROM (
        SELECT
            'READS' AS kind, f.year, '' AS key, sum(f.sign) AS number,
            sum(f.sign * f.page_count::bigint) FILTER (WHERE NOT is_listened(f.format, f.length_seconds)) AS pages,
            sum(f.sign * f.length_seconds::bigint) FILTER (WHERE is_listened(f.format, f.length_seconds)) AS seconds
        FROM finished f
        GROUP BY f.year
        UNION ALL
        SELECT
            v.kind, f.year, v.key, sum(f.sign),
            sum(f.sign * f.page_count::bigint) FILTER (WHERE NOT is_listened(f.format, f.length_seconds)),
            sum(f.sign * f.length_seconds::bigint) FILTER (WHERE is_listened(f.format, f.length_seconds))
        FROM finished f
        CROSS JOIN LATERAL (
            VALUES
                ('MONTH', CASE WHEN f.year > 0 THEN nullif(f.month, '') END),
                ('FORMAT', f.format::text)
        ) AS v (kind, key)
        WHERE v.key IS NOT NULL
        GROUP BY v.kind, f.year, v.key
        UNION ALL
        SELECT 'GIVEN_UP', c.year, '', sum(c.sign), 0, 0
        FROM changed c
        WHERE c.outcome = 'DID_NOT_FINISH'
        GROUP BY c.year
        UNION ALL
        SELECT 'BOOKS', b.year, '', sum(b.sign), 0, 0
        FROM changed_books b
        GROUP BY b.year
        UNION ALL
        SELECT 'RATING', b.year, coalesce(v.quarter_stars::int, 0)::text, sum(b.sign), 0, 0
        FROM changed_books b
        JOIN reviews v ON v.user_id = owner AND v.book_id = b.book_id
        WHERE b.year > 0
        GROUP BY b.year, v.quarter_stars
    ) d
    WHERE d.number <> 0 OR d.pages <> 0 OR d.seconds <> 0
    ON CONFLICT (user_id, kind, year, key) DO UPDATE
    SET number = k.number + excluded.number,
        pages = k.pages + excluded.pages,
        seconds = k.seconds + excluded.seconds;
END
$$;

-- Adds a read that was finished or given up to the numbers, or subtracts it, as `add_read_counts` does: most statements change one read, for
-- which PostgreSQL takes longer to start the statement for many reads than to execute it. The table `reads` has the read if `sign` is 1.
CREATE OR REPLACE FUNCTION add_read_count(owner uuid, sign int, changed reads) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    is_audio CONSTANT boolean := is_listened(changed.format, changed.length_seconds);
    pages bigint := 0;
    seconds bigint := 0;
    -- The number of finished reads that the book has without this one.
    of_book int;
    of_year int;
    stars text;
BEGIN
    IF changed.outcome <> 'FINISHED' THEN
        INSERT INTO reading_counts AS k (user_id, kind, year, key, number)
        SELECT owner, 'GIVEN_UP', y.year, '', sign
        FROM unnest(ARRAY[0, changed.finished_year]) AS y (year)
        WHERE y.year IS NOT NULL
        ON CONFLICT (user_id, kind, year, key) DO UPDATE
        SET number = k.number + excluded.number;
        RETURN;
    END IF;
    IF is_audio THEN
        seconds := coalesce(sign * changed.length_seconds, 0);
    ELSE
        pages := coalesce(sign * changed.page_count, 0);
    END IF;
    SELECT
        count(*) FILTER (WHERE r.outcome = 'FINISHED'),
        count(*) FILTER (WHERE r.outcome = 'FINISHED' AND r.finished_year = changed.finished_year)
    INTO of_book, of_year
    FROM reads r
    WHERE r.user_id = owner AND r.book_id = changed.book_id AND r.id <> changed.id;
    IF of_year = 0 AND changed.finished_year IS NOT NULL THEN
        SELECT coalesce(v.quarter_stars::int, 0)::text INTO stars
        FROM reviews v
        WHERE v.user_id = owner AND v.book_id = changed.book_id;
    END IF;
    INSERT INTO reading_top_counts AS k (user_id, kind, year, key, number)
    SELECT owner, v.kind, v.year, v.key, sign
    FROM (
        VALUES
            ('GENRE', 0, changed.genre), ('AUTHOR', 0, changed.author_id::text),
            ('GENRE', changed.finished_year, changed.genre), ('AUTHOR', changed.finished_year, changed.author_id::text)
    ) AS v (kind, year, key)
    WHERE v.key IS NOT NULL AND v.year IS NOT NULL
    ON CONFLICT (user_id, kind, year, key) DO UPDATE
    SET number = k.number + excluded.number;
    IF changed.moods IS NOT NULL THEN
        INSERT INTO reading_top_counts AS k (user_id, kind, year, key, number)
        SELECT DISTINCT owner, 'MOOD', y.year, m.mood, sign
        FROM unnest(ARRAY[0, changed.finished_year]) AS y (year)
        CROSS JOIN unnest(changed.moods) AS m (mood)
        WHERE y.year IS NOT NULL
        ON CONFLICT (user_id, kind, year, key) DO UPDATE
        SET number = k.number + excluded.number;
    END IF;
    INSERT INTO reading_counts AS k (user_id, kind, year, key, number, pages, seconds)
    SELECT owner, v.kind, v.year, v.key, sign, v.pages, v.seconds
    FROM (
        VALUES
            ('READS', 0, '', pages, seconds), ('READS', changed.finished_year, '', pages, seconds),
            ('MONTH', changed.finished_year, nullif(substr(changed.finished_on, 6, 2), ''), pages, seconds),
            ('FORMAT', 0, changed.format::text, pages, seconds),
            ('FORMAT', changed.finished_year, changed.format::text, pages, seconds),
            ('BOOKS', 0, CASE of_book WHEN 0 THEN '' END, 0, 0),
            ('BOOKS', changed.finished_year, CASE of_year WHEN 0 THEN '' END, 0, 0),
            ('RATING', changed.finished_year, stars, 0, 0)
    ) AS v (kind, year, key, pages, seconds)
    WHERE v.key IS NOT NULL AND v.year IS NOT NULL
    ON CONFLICT (user_id, kind, year, key) DO UPDATE
    SET number = k.number + excluded.number,
        pages = k.pages + excluded.pages,
        seconds = k.seconds + excluded.seconds;
END
$$;

-- Counts reads after a statement that replaced reads by others. Both may be null.
CREATE OR REPLACE FUNCTION count_reads(owner uuid, old_reads reads[], new_reads reads[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
    old_number CONSTANT int := coalesce(cardinality(old_reads), 0);
    new_number CONSTANT int := coalesce(cardinality(new_reads), 0);
    one reads;
    other reads;
    sign int := 1;
    days date[];
    differences int[];
BEGIN
    IF old_number = 1 AND new_number = 1 THEN
        one := old_reads[1];
        other := new_reads[1];
        IF (
                one.book_id, one.outcome, one.finished_on, one.format, one.length_seconds, one.page_count, one.genre, one.author_id,
                one.moods
            )
            IS NOT DISTINCT FROM (
                other.book_id, other.outcome, other.finished_on, other.format, other.length_seconds, other.page_count, other.genre,
                other.author_id, other.moods
            )
        THEN
            RETURN;
        END IF;
    END IF;
    IF is_counted_later(owner) THEN
        RETURN;
    END IF;
    IF old_number + new_number = 1 THEN
        IF new_number = 1 THEN
            one := new_reads[1];
        ELSE
            one := old_reads[1];
            sign := -1;
        END IF;
        ignored := add_read_count(owner, sign, one);
        days := ARRAY[finished_day(one.outcome, one.finished_on)];
        IF days[1] IS NOT NULL THEN
            ignored := add_reading_days(owner, days, ARRAY[sign]);
        END IF;
        RETURN;
    END IF;
    ignored := add_read_counts(owner, old_reads, new_reads);
    SELECT array_agg(n.day), array_agg(n.difference) INTO days, differences
    FROM (
        SELECT r.day, sum(r.sign)::int AS difference
        FROM (
            SELECT -1 AS sign, finished_day(o.outcome, o.finished_on) AS day FROM unnest(old_reads) o
            UNION ALL
            SELECT 1, finished_day(n.outcome, n.finished_on) FROM unnest(new_reads) n
        ) r
        WHERE r.day IS NOT NULL
        GROUP BY r.day
        HAVING sum(r.sign) <> 0
    ) n;
    IF days IS NOT NULL THEN
        ignored := add_reading_days(owner, days, differences);
    END IF;
END
$$;

-- Counts reviews after a statement that replaced reviews by others, by their ratings in quarter stars, and 0 for a text without a rating. Both
-- may be null. A review counts in the years in which its book was finished, and among all.
CREATE OR REPLACE FUNCTION count_ratings(owner uuid, old_reviews reviews[], new_reviews reviews[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- The text of a review has changed.
    IF cardinality(old_reviews) = 1 AND cardinality(new_reviews) = 1 THEN
        IF old_reviews[1].quarter_stars IS NOT DISTINCT FROM new_reviews[1].quarter_stars THEN
            RETURN;
        END IF;
    END IF;
    IF is_counted_later(owner) THEN
        RETURN;
    END IF;
    INSERT INTO reading_counts AS k (user_id, kind, year, key, number)
    SELECT owner, 'RATING', y.year, coalesce(v.quarter_stars::int, 0)::text, sum(v.sign)
    FROM (
        SELECT -1 AS sign, o.book_id, o.quarter_stars FROM unnest(old_reviews) o
        UNION ALL
        SELECT 1, n.book_id, n.quarter_stars FROM unnest(new_reviews) n
    ) v
    CROSS JOIN LATERAL (
        SELECT 0 AS year
        UNION
        SELECT CASE r.outcome WHEN 'FINISHED' THEN r.finished_year END
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = v.book_id
    ) y
    WHERE y.year IS NOT NULL
    GROUP BY y.year, v.quarter_stars
    HAVING sum(v.sign) <> 0
    ON CONFLICT (user_id, kind, year, key) DO UPDATE
    SET number = k.number + excluded.number;
END
$$;

-- Counts the days of a reader again in a time zone.
CREATE OR REPLACE FUNCTION recount_reading_days(owner uuid, zone text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM reading_days d
    WHERE d.user_id = owner;
    INSERT INTO reading_days (user_id, day, entry_count)
    SELECT owner, n.day, count(*)
    FROM (
        SELECT (p.at AT TIME ZONE zone)::date AS day
        FROM progress_entries p
        WHERE p.user_id = owner
        UNION ALL
        SELECT finished_day(r.outcome, r.finished_on)
        FROM reads r
        WHERE r.user_id = owner AND r.outcome = 'FINISHED' AND length(r.finished_on) = 10
    ) n
    GROUP BY n.day;
END
$$;

-- Counts the days again when the user changes the time zone.
-- definer: requests have no privilege to write the counts of days.
CREATE OR REPLACE FUNCTION recount_days_of_zone() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM lock_user(NEW.id);
    PERFORM recount_reading_days(NEW.id, known_zone(NEW.time_zone));
    RETURN NULL;
END
$$;

-- A trigger, because both readers and imports change the time zone.
CREATE OR REPLACE TRIGGER recount_reading_days
AFTER UPDATE OF time_zone ON users
FOR EACH ROW
WHEN (NEW.time_zone IS DISTINCT FROM OLD.time_zone)
EXECUTE FUNCTION recount_days_of_zone();

-- Counts the reads, ratings, and days of a reader again at the end of a transaction of many statements.
-- definer: requests have no privilege to write the counts.
CREATE OR REPLACE FUNCTION recount_reading() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    zone text;
BEGIN
    PERFORM lock_user(NEW.user_id);
    DELETE FROM reading_recounts c
    WHERE c.user_id = NEW.user_id;
    SELECT known_zone(u.time_zone) INTO zone
    FROM users u
    WHERE u.id = NEW.user_id;
    -- The transaction may have deleted the account.
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM recount_reading_days(NEW.user_id, zone);
    DELETE FROM reading_counts k
    WHERE k.user_id = NEW.user_id;
    DELETE FROM reading_top_counts k
    WHERE k.user_id = NEW.user_id;
    PERFORM add_read_counts(
        NEW.user_id, NULL, ARRAY(SELECT without_note(r) FROM reads r WHERE r.user_id = NEW.user_id AND r.outcome <> 'READING')
    );
    INSERT INTO reading_counts (user_id, kind, year, key, number)
    SELECT NEW.user_id, 'RATING', 0, coalesce(v.quarter_stars::int, 0)::text, count(*)
    FROM reviews v
    WHERE v.user_id = NEW.user_id
    GROUP BY v.quarter_stars;
    RETURN NULL;
END
$$;

-- PostgreSQL cannot replace a constraint trigger.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = 'reading_recounts'::regclass AND t.tgname = 'recount_reading') THEN
        -- A trigger, because only a deferred one runs when the transaction ends.
        CREATE CONSTRAINT TRIGGER recount_reading
        AFTER INSERT ON reading_recounts
        DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW
        EXECUTE FUNCTION recount_reading();
    END IF;
END
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON reading_counts;
CREATE POLICY owner_only ON reading_counts TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON reading_counts;
CREATE POLICY administration ON reading_counts TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON reading_top_counts;
CREATE POLICY owner_only ON reading_top_counts TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON reading_top_counts;
CREATE POLICY administration ON reading_top_counts TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON reading_days;
CREATE POLICY owner_only ON reading_days TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON reading_days;
CREATE POLICY administration ON reading_days TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- Only triggers access the table.
DROP POLICY IF EXISTS administration ON reading_recounts;
CREATE POLICY administration ON reading_recounts TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT ON reading_counts, reading_top_counts, reading_days TO bookplate_app;

REVOKE ALL ON FUNCTION is_counted_later, add_reading_days, count_reading_days, add_read_count, add_read_counts, count_reads,
    count_ratings, recount_reading_days, recount_days_of_zone, recount_reading FROM PUBLIC;
