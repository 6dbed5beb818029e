-- requires: accounts, changes
-- The reads of a library and their progress. The columns status, started_at, finished_at, and current_page of `books` follow
-- from the reads: `refresh_read_books` calculates the last three, and the mutations of reads also set the status.

-- MARK: Dates

-- Returns which day it is for the reader, such as 2026-01-31.
CREATE OR REPLACE FUNCTION reader_today(owner uuid) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT to_char(now() AT TIME ZONE u.time_zone, 'YYYY-MM-DD')
    FROM users u
    WHERE u.id = owner
$$;

-- Returns the first day of a year, month, or day. PostgreSQL accepts the year as text only with the setting DateStyle.
CREATE OR REPLACE FUNCTION first_day(given text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT make_date(
        left(given, 4)::int,
        coalesce(nullif(substr(given, 6, 2), ''), '1')::int,
        coalesce(nullif(substr(given, 9, 2), ''), '1')::int
    )
$$;

-- Returns the time that an app shows for a date if it knows only times: `kept` if that is on the date, otherwise the beginning
-- of the date.
CREATE OR REPLACE FUNCTION date_time(given text, kept timestamptz, time_zone text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN starts_with(to_char(kept AT TIME ZONE time_zone, 'YYYY-MM-DD'), given) THEN kept
        ELSE first_day(given)::timestamp AT TIME ZONE time_zone
    END
$$;

-- MARK: Progress

-- Returns the part of a book that has been read, from 0 to 1; null if it follows from a length that is not known.
CREATE OR REPLACE FUNCTION progress_fraction(page int, percent float8, seconds int, page_count int, length_seconds int)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN percent IS NOT NULL THEN percent / 100
        WHEN page IS NOT NULL THEN least(page::float8 / nullif(page_count, 0), CASE WHEN page_count > 0 THEN 1 END)
        WHEN length_seconds > 0 THEN least(seconds::float8 / length_seconds, 1)
    END
$$;

-- Returns the page of an entry; null if it is not known.
CREATE OR REPLACE FUNCTION progress_page_of(page int, percent float8, seconds int, page_count int, length_seconds int)
RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(
        page,
        round(progress_fraction(NULL, percent, seconds, page_count, length_seconds) * page_count)::int
    )
$$;

-- MARK: Books

-- Makes the dates and the page of books follow from their reads. Books that have no read keep their values.
--
-- The page is that of the newest entry of the open read. If the read has no entry, or if its page is not known, the book keeps
-- its page, unless `clears_page` is true.
CREATE OR REPLACE FUNCTION refresh_read_books(owner uuid, ids uuid[], clears_page boolean) RETURNS void
LANGUAGE sql
SET enable_seqscan = off
AS $$
    UPDATE books b
    SET started_at = fresh.started_at,
        finished_at = fresh.finished_at,
        current_page = fresh.current_page,
        updated_at = now()
    FROM (
        SELECT
            k.id,
            date_time(latest.started_on, k.started_at, u.time_zone) AS started_at,
            CASE
                WHEN latest.outcome = 'FINISHED' THEN date_time(latest.finished_on, k.finished_at, u.time_zone)
            END AS finished_at,
            CASE
                WHEN latest.outcome <> 'READING' THEN k.current_page
                WHEN clears_page THEN newest.page
                ELSE coalesce(newest.page, k.current_page)
            END AS current_page
        FROM books k
        JOIN users u ON u.id = owner
        CROSS JOIN LATERAL (
            SELECT r.id, r.started_on, r.finished_on, r.outcome, r.length_seconds
            FROM reads r
            WHERE r.user_id = owner AND r.book_id = k.id
            ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
            LIMIT 1
        ) latest
        LEFT JOIN LATERAL (
            SELECT progress_page_of(p.page, p.percent, p.seconds, k.page_count, latest.length_seconds) AS page
            FROM progress_entries p
            WHERE p.user_id = owner AND p.read_id = latest.id AND latest.outcome = 'READING'
            ORDER BY p.at DESC, p.id DESC
            LIMIT 1
        ) newest ON true
        WHERE k.user_id = owner AND k.id = ANY(ids)
    ) fresh
    WHERE b.user_id = owner
        AND b.id = fresh.id
        AND (b.started_at, b.finished_at, b.current_page)
            IS DISTINCT FROM (fresh.started_at, fresh.finished_at, fresh.current_page)
$$;

-- MARK: Imports

-- Adds reads to books of the caller's library, and returns the ids of the books that got something new. `given` is an array of
-- objects: {"bookId": "…", "id": "…", "startedOn": "2019-05", "finishedOn": "2019-06-01", "outcome": "FINISHED",
-- "format": "PRINT", "lengthSeconds": 3600, "note": "…", "createdAt": "…", "updatedAt": "…"}. Only `bookId` and `outcome` are
-- required. The status of the books stays as it is.
--
-- A read is in the library already if its id is, or if a read of the book has the same outcome and the same dates; null then
-- equals any date. Such a read gets the values that it lacks. Each read of the library is matched only once, so that several
-- reads without dates stay several reads. A read that ended after the open read began is the end of the open read. A second
-- open read of a book is ignored, as are reads after the two-hundredth.
CREATE OR REPLACE FUNCTION import_reads(given jsonb) RETURNS uuid[]
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    owner uuid := app_user_id();
    entry record;
    kept reads;
    -- The reads that earlier entries have matched or added.
    used uuid[] := ARRAY[]::uuid[];
    changed uuid[] := ARRAY[]::uuid[];
BEGIN
    FOR entry IN
        SELECT r.*
        FROM jsonb_to_recordset(given) AS r (
            "bookId" uuid, id uuid, "startedOn" text, "finishedOn" text, outcome read_outcome, format read_format,
            "lengthSeconds" int, note text, "createdAt" timestamptz, "updatedAt" timestamptz
        )
    LOOP
        SELECT r.* INTO kept
        FROM reads r
        WHERE r.user_id = owner AND r.id = entry.id;
        IF NOT FOUND THEN
            SELECT r.* INTO kept
            FROM reads r
            WHERE r.user_id = owner
                AND r.book_id = entry."bookId"
                AND r.id <> ALL(used)
                AND coalesce(r.started_on = entry."startedOn", true)
                AND (
                    (r.outcome = entry.outcome AND coalesce(r.finished_on = entry."finishedOn", true))
                    OR (r.outcome = 'READING' AND r.started_on <= entry."finishedOn")
                )
            ORDER BY
                r.outcome = entry.outcome DESC,
                r.finished_on IS NOT DISTINCT FROM entry."finishedOn" DESC,
                r.sorted_on DESC, r.created_at DESC, r.id DESC
            LIMIT 1;
        END IF;
        IF kept.id IS NOT NULL THEN
            used := used || kept.id;
            UPDATE reads r
            SET started_on = coalesce(r.started_on, entry."startedOn"),
                finished_on = CASE
                    WHEN entry.outcome <> 'READING' THEN coalesce(r.finished_on, entry."finishedOn")
                    ELSE r.finished_on
                END,
                outcome = CASE WHEN r.outcome = 'READING' THEN entry.outcome ELSE r.outcome END,
                format = coalesce(r.format, entry.format),
                length_seconds = coalesce(r.length_seconds, entry."lengthSeconds"),
                note = coalesce(r.note, entry.note),
                updated_at = now()
            WHERE r.user_id = owner
                AND r.id = kept.id
                AND (
                    (r.outcome = 'READING' AND entry.outcome <> 'READING')
                    OR (r.started_on IS NULL AND entry."startedOn" IS NOT NULL)
                    OR (r.finished_on IS NULL AND entry."finishedOn" IS NOT NULL AND entry.outcome <> 'READING')
                    OR (r.format IS NULL AND entry.format IS NOT NULL)
                    OR (r.length_seconds IS NULL AND entry."lengthSeconds" IS NOT NULL)
                    OR (r.note IS NULL AND entry.note IS NOT NULL)
                );
        ELSE
            entry.id := coalesce(entry.id, gen_random_uuid());
            used := used || entry.id;
            INSERT INTO reads (
                user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, created_at, updated_at
            )
            SELECT
                owner, entry.id, b.id, entry."startedOn", entry."finishedOn", entry.outcome,
                entry.format, entry."lengthSeconds", entry.note, coalesce(entry."createdAt", now()),
                coalesce(entry."updatedAt", entry."createdAt", now())
            FROM books b
            WHERE b.user_id = owner
                AND b.id = entry."bookId"
                AND (SELECT count(*) FROM reads r WHERE r.user_id = owner AND r.book_id = b.id) < 200
            ON CONFLICT DO NOTHING;
        END IF;
        IF FOUND THEN
            changed := changed || coalesce(kept.book_id, entry."bookId");
        END IF;
    END LOOP;
    PERFORM refresh_read_books(owner, changed, false);
    RETURN changed;
END
$$;

-- Adds progress entries to reads of the caller's library, and returns those ids of `given` whose read does not exist or is
-- full. `given` is an array of objects: {"id": "…", "readId": "…", "at": "…", "page": 1, "percent": null, "seconds": null,
-- "note": "…", "createdAt": "…", "updatedAt": "…"}. Entries that exist stay as they are.
CREATE OR REPLACE FUNCTION import_progress(given jsonb) RETURNS uuid[]
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    owner uuid := app_user_id();
    ignored uuid[];
BEGIN
    WITH entries AS MATERIALIZED (
        SELECT p.*, row_number() OVER (PARTITION BY p."readId" ORDER BY p.at, p.id) AS position
        FROM jsonb_to_recordset(given) AS p (
            id uuid, "readId" uuid, at timestamptz, page int, percent float8, seconds int, note text,
            "createdAt" timestamptz, "updatedAt" timestamptz
        )
    ), allowed AS MATERIALIZED (
        SELECT e.*
        FROM entries e
        JOIN (
            SELECT
                r.id,
                (SELECT count(*) FROM progress_entries p WHERE p.user_id = owner AND p.read_id = r.id) AS entry_count
            FROM reads r
            WHERE r.user_id = owner AND r.id IN (SELECT e."readId" FROM entries e)
        ) r ON r.id = e."readId"
        WHERE r.entry_count + e.position <= 10000
    ), stored AS (
        INSERT INTO progress_entries (user_id, id, read_id, at, page, percent, seconds, note, created_at, updated_at)
        SELECT
            owner, a.id, a."readId", a.at, a.page, a.percent, a.seconds, a.note, coalesce(a."createdAt", now()),
            coalesce(a."updatedAt", a."createdAt", now())
        FROM allowed a
        ON CONFLICT DO NOTHING
    )
    SELECT coalesce(array_agg(e.id), '{}') INTO ignored
    FROM entries e
    WHERE e.id NOT IN (SELECT a.id FROM allowed a)
        AND NOT EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = e.id);
    PERFORM refresh_read_books(
        owner,
        ARRAY(
            SELECT DISTINCT r.book_id
            FROM jsonb_to_recordset(given) AS p ("readId" uuid)
            JOIN reads r ON r.user_id = owner AND r.id = p."readId"
        ),
        false
    );
    RETURN ignored;
END
$$;

-- MARK: Change log

-- Logs a created, changed, or deleted read. The reads of a deleted book are not logged: they are deleted with it.
CREATE OR REPLACE FUNCTION log_read() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        ignored := append_change(NEW.user_id, 'CREATED', 'Read', NEW.id);
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM
        FROM books b
        WHERE b.user_id = OLD.user_id AND b.id = OLD.book_id;
        IF FOUND THEN
            ignored := append_change(OLD.user_id, 'DELETED', 'Read', OLD.id);
        END IF;
    ELSIF NEW IS DISTINCT FROM OLD THEN
        ignored := append_change(NEW.user_id, 'UPDATED', 'Read', NEW.id);
    END IF;
    RETURN NULL;
END
$$;

-- Logs a created, changed, or deleted entry. The entries of a deleted read are not logged: they are deleted with it.
CREATE OR REPLACE FUNCTION log_progress_entry() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        ignored := append_change(NEW.user_id, 'CREATED', 'ProgressEntry', NEW.id);
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM
        FROM reads r
        WHERE r.user_id = OLD.user_id AND r.id = OLD.read_id;
        IF FOUND THEN
            ignored := append_change(OLD.user_id, 'DELETED', 'ProgressEntry', OLD.id);
        END IF;
    ELSIF NEW IS DISTINCT FROM OLD THEN
        ignored := append_change(NEW.user_id, 'UPDATED', 'ProgressEntry', NEW.id);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER log_changes
AFTER INSERT OR UPDATE OR DELETE ON reads
FOR EACH ROW
WHEN (current_setting('app.bulk', true) IS DISTINCT FROM 'on')
EXECUTE FUNCTION log_read();

CREATE OR REPLACE TRIGGER log_changes
AFTER INSERT OR UPDATE OR DELETE ON progress_entries
FOR EACH ROW
EXECUTE FUNCTION log_progress_entry();

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON reads;
CREATE POLICY owner_only ON reads TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON reads;
CREATE POLICY administration ON reads TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON progress_entries;
CREATE POLICY owner_only ON progress_entries TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON progress_entries;
CREATE POLICY administration ON progress_entries TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON reading_tombstones;
CREATE POLICY owner_only ON reading_tombstones TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON reading_tombstones;
CREATE POLICY administration ON reading_tombstones TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON reads, progress_entries TO bookplate_app;
GRANT SELECT, INSERT, DELETE ON reading_tombstones TO bookplate_app;

REVOKE ALL ON FUNCTION log_read, log_progress_entry FROM PUBLIC;
