-- requires: accounts, changes, reading_counts
-- The reads of a library and their progress. The columns status, started_at, finished_at, and current_page of `books` follow
-- from the reads: `refresh_read_books` calculates the last three, and the mutations of reads also set the status.

-- MARK: Limits

-- The maximum number of reads of a book; in Swift, Read.ofBookMax.
CREATE OR REPLACE FUNCTION reads_of_book_max() RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT 200
$$;

-- The maximum number of progress entries of a read; in Swift, ProgressEntry.ofReadMax.
CREATE OR REPLACE FUNCTION entries_of_read_max() RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT 10000
$$;

-- MARK: Dates

-- Returns which day it is for the reader, such as 2026-01-31. It is not an SQL function, because the plan of such a function is not
-- kept for the next statement.
CREATE OR REPLACE FUNCTION reader_today(owner uuid) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN (
        SELECT to_char(now() AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD')
        FROM users u
        WHERE u.id = owner
    );
END
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

-- Returns the newest entry of the open read of a book, and the length of an audiobook. Returns no row if there is no such entry.
CREATE OR REPLACE FUNCTION newest_progress(owner uuid, book uuid)
RETURNS TABLE (page int, percent float8, seconds int, length_seconds int)
LANGUAGE sql STABLE ROWS 1
AS $$
    SELECT p.page::int, p.percent::float8, p.seconds::int, r.length_seconds::int
    FROM reads r
    JOIN progress_entries p ON p.user_id = owner AND p.read_id = r.id
    WHERE r.user_id = owner AND r.book_id = newest_progress.book AND r.outcome = 'READING'
    ORDER BY p.at DESC, p.id DESC
    LIMIT 1
$$;

-- MARK: Books

-- Sets the dates and the page of books to those that follow from their reads. Books that have no read keep their values.
--
-- The page is that of the newest entry of the open read, and null if it is not known. If the read has no entry, the book keeps its
-- page, unless `clears_page` is true. A trigger of `books` sets the page if the number of pages changes (`set_computed_columns`).
CREATE OR REPLACE FUNCTION refresh_read_books(owner uuid, ids uuid[], clears_page boolean) RETURNS void
LANGUAGE sql
SET enable_seqscan = off
AS $$
    UPDATE books b
    SET started_at = updated.started_at,
        finished_at = updated.finished_at,
        current_page = updated.current_page,
        updated_at = now()
    FROM (
        SELECT
            k.id,
            date_time(latest.started_on, k.started_at, u.time_zone) AS started_at,
            CASE
                WHEN latest.outcome = 'FINISHED' THEN date_time(latest.finished_on, k.finished_at, u.time_zone)
            END AS finished_at,
            CASE
                WHEN newest.id IS NOT NULL THEN newest.page
                WHEN latest.outcome = 'READING' AND clears_page THEN NULL
                ELSE k.current_page
            END AS current_page
        FROM books k
        -- OFFSET 0: the function is called once, and not for each book.
        CROSS JOIN (SELECT known_zone(u.time_zone) AS time_zone FROM users u WHERE u.id = owner OFFSET 0) u
        CROSS JOIN LATERAL (
            SELECT r.id, r.started_on, r.finished_on, r.outcome, r.length_seconds
            FROM reads r
            WHERE r.user_id = owner AND r.book_id = k.id
            ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
            LIMIT 1
        ) latest
        LEFT JOIN LATERAL (
            SELECT p.id, progress_page_of(p.page, p.percent, p.seconds, k.page_count, latest.length_seconds) AS page
            FROM progress_entries p
            WHERE p.user_id = owner AND p.read_id = latest.id AND latest.outcome = 'READING'
            ORDER BY p.at DESC, p.id DESC
            LIMIT 1
        ) newest ON true
        WHERE k.user_id = owner AND k.id = ANY(ids)
    ) updated
    WHERE b.user_id = owner
        AND b.id = updated.id
        AND (b.started_at, b.finished_at, b.current_page)
            IS DISTINCT FROM (updated.started_at, updated.finished_at, updated.current_page)
$$;

-- Changes the reads of a book that gets a new status or page, and returns the dates and the page that the book gets. A new status or
-- page that is null stays the same. Returns no row, and changes nothing, if there is no such book, or if the new page is greater than
-- `page_max`, which is the book's page count if it is null.
--
-- The statements that update a book call this before the update, so that only the queries that the change needs are executed: in one
-- statement with common table expressions, PostgreSQL starts all of them. The caller must update the book, because its entry in the
-- change log is written here.
--
-- READING opens a read, unless the book has an open one. READ and DID_NOT_FINISH end the open read. READ without an open read
-- adds a finished one, unless a read of the book was finished today: the reader may have changed the status by mistake. A new
-- page is logged as the newest progress of the open read, unless it is the page of the newest entry. If the read is full, its newest
-- entry gets the page.
--
-- Relies on this plan: the book by its primary key, and its reads by `reads_open` and `reads_of_book`.
CREATE OR REPLACE FUNCTION change_reads(
    owner uuid, book uuid, new_status reading_status, new_page int, page_max int
) RETURNS TABLE (started_at timestamptz, finished_at timestamptz, current_page int)
LANGUAGE plpgsql ROWS 1
AS $$
#variable_conflict use_column
DECLARE
    ignored text;
    -- The version of the book's row before the update.
    version tid;
    old_status reading_status;
    book_page_count int;
    book_genre text;
    first_author_id uuid;
    first_author text;
    book_moods text[];
    open_read uuid;
    -- The read that is added or ended, and what happens to it.
    read uuid;
    change change_kind;
    today text;
    read_count int;
    newest_entry uuid;
    newest_at timestamptz;
    newest_page int;
BEGIN
    SELECT
        b.ctid, b.status, b.started_at, b.finished_at, b.current_page, b.page_count, b.genre, b.author_ids[1],
        left(b.authors[1], 200), nullif(b.moods, '{}'),
        (SELECT r.id FROM reads r WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'READING')
    INTO
        version, old_status, started_at, finished_at, current_page, book_page_count, book_genre, first_author_id, first_author,
        book_moods, open_read
    FROM books b
    WHERE b.user_id = owner AND b.id = book;
    IF NOT FOUND OR new_page > coalesce(page_max, book_page_count) THEN
        RETURN;
    END IF;
    IF open_read IS NOT NULL THEN
        IF new_status IN ('READ', 'DID_NOT_FINISH') THEN
            read := open_read;
            change := 'UPDATED';
            today := reader_today(owner);
        END IF;
    ELSIF new_status = 'READING' OR new_status = 'READ' AND old_status <> 'READ' THEN
        SELECT
            to_char(now() AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD'),
            (SELECT count(*) FROM reads r WHERE r.user_id = owner AND r.book_id = book)
        INTO today, read_count
        FROM users u
        WHERE u.id = owner;
        IF read_count > 0 AND new_status = 'READ' THEN
            PERFORM
            FROM reads r
            WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'FINISHED' AND r.finished_on = today
            LIMIT 1;
            IF FOUND THEN
                read_count := reads_of_book_max();
            END IF;
        END IF;
        IF read_count < reads_of_book_max() THEN
            read := gen_random_uuid();
            change := 'CREATED';
        END IF;
    END IF;
    IF change IS NOT NULL THEN
        ignored := log_read_of_book(
            change, read, book, version, old_status, coalesce(new_status, old_status),
            CASE new_status WHEN 'READ' THEN now() WHEN 'READING' THEN NULL WHEN 'DID_NOT_FINISH' THEN NULL END
        );
    END IF;
    IF change = 'CREATED' THEN
        IF new_status = 'READING' THEN
            INSERT INTO reads (user_id, id, book_id, started_on, outcome, page_count, genre, author_id, author, moods)
            VALUES (
                owner, read, book, today, 'READING', book_page_count, book_genre, first_author_id, first_author, book_moods
            );
            open_read := read;
            started_at := now();
            finished_at := NULL;
            -- A book that is read again starts without a page.
            IF read_count > 0 THEN
                current_page := NULL;
            END IF;
        ELSE
            INSERT INTO reads (user_id, id, book_id, finished_on, outcome, page_count, genre, author_id, author, moods)
            VALUES (
                owner, read, book, today, 'FINISHED', book_page_count, book_genre, first_author_id, first_author, book_moods
            );
            started_at := NULL;
            finished_at := now();
        END IF;
    END IF;
    IF new_page IS NOT NULL AND open_read IS NOT NULL THEN
        SELECT p.id, p.at, p.page INTO newest_entry, newest_at, newest_page
        FROM progress_entries p
        WHERE p.user_id = owner AND p.read_id = open_read
        ORDER BY p.at DESC, p.id DESC
        LIMIT 1;
        IF newest_page IS DISTINCT FROM new_page THEN
            -- The newest entry may be of this transaction, or of a device whose clock is ahead.
            newest_at := greatest(now(), newest_at + interval '1 microsecond');
            INSERT INTO progress_entries (user_id, id, read_id, at, page)
            SELECT owner, gen_random_uuid(), open_read, newest_at, new_page
            WHERE (SELECT count(*) FROM progress_entries p WHERE p.user_id = owner AND p.read_id = open_read)
                < entries_of_read_max();
            IF NOT FOUND THEN
                UPDATE progress_entries p
                SET at = newest_at, page = new_page, percent = NULL, seconds = NULL, updated_at = now()
                WHERE p.user_id = owner AND p.id = newest_entry;
            END IF;
        END IF;
    END IF;
    -- The page is logged before the read ends.
    IF change = 'UPDATED' THEN
        UPDATE reads r
        SET outcome = (CASE new_status WHEN 'READ' THEN 'FINISHED' ELSE 'DID_NOT_FINISH' END)::read_outcome,
            -- The read may have started tomorrow, in another time zone.
            finished_on = greatest(today COLLATE "C", r.started_on),
            updated_at = now()
        WHERE r.user_id = owner AND r.id = read;
        finished_at := CASE WHEN new_status = 'READ' THEN now() END;
    END IF;
    RETURN NEXT;
END
$$;

-- MARK: Mutations of reads

-- The functions return an outcome: DONE, BOOK or READ if there is no such object, OPEN if the book has another open read (its
-- id is `other_id`), FULL, TAKEN if the id belongs to another object, DELETED if it belonged to a deleted read, DATES if the
-- read would end before it starts, or OPEN_END if an open read would have a last day. Then nothing has changed, unless the
-- outcome is DONE.

-- Returns whether an object of the reader, or of the catalog, has the id. Reads and entries of progress are not considered. It is not an
-- SQL function, whose plan would not be kept for the next statement.
CREATE OR REPLACE FUNCTION is_other_object(owner uuid, given uuid) RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN owner = given
        OR EXISTS (SELECT FROM editions WHERE id = given)
        OR EXISTS (SELECT FROM books WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM deleted_books WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM shelves WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM reviews WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM notes WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM imports WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM reading_goals WHERE user_id = owner AND id = given);
END
$$;

-- Returns whether the last day is not before the first day, as far as both are known.
CREATE OR REPLACE FUNCTION is_in_order(started text, finished text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(are_dates_in_order(started, finished), true)
$$;

-- Updates the book of a read after the read was added or its outcome was changed. `old_outcome` is the previous outcome, or null
-- for a new read.
--
-- An open read makes the book READING. A read that was open makes it READ or DID_NOT_FINISH. Any other read does so only if it
-- is the latest one: a read of an earlier year does not change the status.
CREATE OR REPLACE FUNCTION update_book_of_read(owner uuid, read uuid, old_outcome read_outcome) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    changed reads;
    is_latest boolean;
BEGIN
    SELECT r.* INTO changed
    FROM reads r
    WHERE r.user_id = owner AND r.id = read;
    is_latest := NOT EXISTS (
        SELECT
        FROM reads r
        WHERE r.user_id = owner
            AND r.book_id = changed.book_id
            AND (r.sorted_on, r.created_at, r.id) > (changed.sorted_on, changed.created_at, changed.id)
    );
    IF changed.outcome IS DISTINCT FROM old_outcome AND (is_latest OR old_outcome = 'READING') THEN
        UPDATE books b
        SET status = (
                CASE changed.outcome WHEN 'FINISHED' THEN 'READ' ELSE changed.outcome::text END
            )::reading_status,
            -- A book that is read again starts without a page.
            current_page = CASE
                WHEN old_outcome IS NULL AND changed.outcome = 'READING' AND EXISTS (
                    SELECT
                    FROM reads r
                    WHERE r.user_id = owner AND r.book_id = changed.book_id AND r.id <> read
                ) THEN NULL
                ELSE b.current_page
            END,
            updated_at = now()
        WHERE b.user_id = owner AND b.id = changed.book_id;
    END IF;
    PERFORM refresh_read_books(owner, ARRAY[changed.book_id], false);
END
$$;

-- Adds a read to a book. `given` has the members of `import_reads` without `bookId`, and `startsToday`.
CREATE OR REPLACE FUNCTION add_read(owner uuid, book uuid, given jsonb, OUT outcome text, OUT other_id uuid)
LANGUAGE plpgsql
AS $$
DECLARE
    read uuid := (given ->> 'id')::uuid;
    added read_outcome := (given ->> 'outcome')::read_outcome;
BEGIN
    outcome := 'DONE';
    PERFORM
    FROM books b
    WHERE b.user_id = owner AND b.id = book;
    IF NOT FOUND THEN
        outcome := 'BOOK';
    ELSIF EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = read AND r.book_id = book) THEN
        -- The request is repeated.
        RETURN;
    ELSIF EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = owner AND t.id = read) THEN
        outcome := 'DELETED';
    ELSIF is_other_object(owner, read)
        OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = read)
        OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = read)
    THEN
        outcome := 'TAKEN';
    ELSIF (SELECT count(*) FROM reads r WHERE r.user_id = owner AND r.book_id = book) >= reads_of_book_max() THEN
        outcome := 'FULL';
    ELSIF added = 'READING' THEN
        SELECT r.id INTO other_id
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'READING';
        IF FOUND THEN
            outcome := 'OPEN';
        END IF;
    END IF;
    IF outcome = 'DONE' THEN
        INSERT INTO reads (
            user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, page_count, genre, author_id,
            author, moods
        )
        SELECT
            owner,
            read,
            book,
            CASE WHEN given ? 'startsToday' THEN reader_today(owner) ELSE given ->> 'startedOn' END,
            given ->> 'finishedOn',
            added,
            (given ->> 'format')::read_format,
            (given ->> 'lengthSeconds')::int,
            given ->> 'note',
            b.page_count, b.genre, b.author_ids[1], left(b.authors[1], 200), nullif(b.moods, '{}')
        FROM books b
        WHERE b.user_id = owner AND b.id = book;
        PERFORM update_book_of_read(owner, read, NULL);
    END IF;
END
$$;

-- Changes those values of a read that are members of `given`, and its outcome. A read that ends without `finishedOn` ends
-- today.
CREATE OR REPLACE FUNCTION change_read(owner uuid, read uuid, given jsonb, OUT outcome text, OUT other_id uuid)
LANGUAGE plpgsql
AS $$
DECLARE
    kept reads;
    changed reads;
BEGIN
    SELECT r.* INTO kept
    FROM reads r
    WHERE r.user_id = owner AND r.id = read;
    IF NOT FOUND THEN
        outcome := 'READ';
        RETURN;
    END IF;
    changed := kept;
    IF given ? 'outcome' THEN
        changed.outcome := (given ->> 'outcome')::read_outcome;
    END IF;
    IF given ? 'startedOn' THEN
        changed.started_on := given ->> 'startedOn';
    END IF;
    IF given ? 'finishedOn' THEN
        changed.finished_on := given ->> 'finishedOn';
    ELSIF changed.outcome = 'READING' THEN
        changed.finished_on := NULL;
    ELSIF kept.outcome = 'READING' THEN
        -- The read may have started tomorrow, in another time zone.
        changed.finished_on := greatest(reader_today(owner) COLLATE "C", changed.started_on);
    END IF;
    IF given ? 'format' THEN
        changed.format := (given ->> 'format')::read_format;
    END IF;
    IF given ? 'lengthSeconds' THEN
        changed.length_seconds := (given ->> 'lengthSeconds')::int;
    END IF;
    IF given ? 'note' THEN
        changed.note := given ->> 'note';
    END IF;
    IF changed.outcome = 'READING' AND changed.finished_on IS NOT NULL THEN
        outcome := 'OPEN_END';
        RETURN;
    ELSIF NOT is_in_order(changed.started_on, changed.finished_on) THEN
        outcome := 'DATES';
        RETURN;
    ELSIF changed.outcome = 'READING' AND kept.outcome <> 'READING' THEN
        SELECT r.id INTO other_id
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = kept.book_id AND r.outcome = 'READING';
        IF FOUND THEN
            outcome := 'OPEN';
            RETURN;
        END IF;
    END IF;
    outcome := 'DONE';
    IF changed IS DISTINCT FROM kept THEN
        UPDATE reads r
        SET started_on = changed.started_on,
            finished_on = changed.finished_on,
            outcome = changed.outcome,
            format = changed.format,
            length_seconds = changed.length_seconds,
            note = changed.note,
            updated_at = now()
        WHERE r.user_id = owner AND r.id = read;
        PERFORM update_book_of_read(owner, read, kept.outcome);
    END IF;
END
$$;

-- Deletes a read, and returns its book; null if there is no such read. If the read was open, a book that is READING or PAUSED
-- gets the status that follows from its latest remaining read, or WANT_TO_READ.
CREATE OR REPLACE FUNCTION delete_read(owner uuid, read uuid) RETURNS uuid
LANGUAGE plpgsql
AS $$
DECLARE
    deleted reads;
BEGIN
    DELETE FROM reads r
    WHERE r.user_id = owner AND r.id = read
    RETURNING r.* INTO deleted;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM record_deleted_id(owner, read);
    UPDATE books b
    SET status = CASE
            WHEN deleted.outcome <> 'READING' OR b.status NOT IN ('READING', 'PAUSED') THEN b.status
            WHEN latest.outcome = 'FINISHED' THEN 'READ'
            WHEN latest.outcome = 'DID_NOT_FINISH' THEN 'DID_NOT_FINISH'
            ELSE 'WANT_TO_READ'
        END,
        -- `refresh_read_books` leaves books without reads as they are.
        started_at = CASE WHEN latest.outcome IS NOT NULL THEN b.started_at END,
        finished_at = CASE WHEN latest.outcome IS NOT NULL THEN b.finished_at END,
        current_page = CASE WHEN deleted.outcome <> 'READING' THEN b.current_page END,
        updated_at = now()
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (
        SELECT r.outcome
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = deleted.book_id
        ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
        LIMIT 1
    ) latest ON true
    WHERE b.user_id = owner AND b.id = deleted.book_id;
    PERFORM refresh_read_books(owner, ARRAY[deleted.book_id], false);
    RETURN deleted.book_id;
END
$$;

-- Records that an id was deleted. Each call also removes up to 20 records that are older than a year.
CREATE OR REPLACE FUNCTION record_deleted_id(owner uuid, deleted uuid) RETURNS void
LANGUAGE sql
AS $$
    DELETE FROM reading_tombstones t
    WHERE t.user_id = owner
        AND t.id IN (
            SELECT o.id
            FROM reading_tombstones o
            WHERE o.user_id = owner AND o.deleted_at < now() - interval '1 year'
            LIMIT 20
        );
    INSERT INTO reading_tombstones (user_id, id)
    VALUES (owner, deleted)
    ON CONFLICT (user_id, id) DO UPDATE
    SET deleted_at = excluded.deleted_at;
$$;

-- MARK: Mutations of progress

-- Stores those entries of `given` that are valid, and returns for each, in order: what is wrong with it, or null; and the
-- length of the book. `given` is an array as for `import_progress`, in which `at` is optional. The problems are READ,
-- TAKEN, DELETED, FULL, PAGE, and SECONDS.
--
-- An entry whose id is in the library already is not stored again.
CREATE OR REPLACE FUNCTION log_progress(owner uuid, given jsonb)
RETURNS TABLE (problem text, page_count int, length_seconds int)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH input AS MATERIALIZED (
        SELECT
            i.n,
            i.id,
            i.read_id,
            -- Entries without a time are logged now, in their order.
            coalesce(i.at, now() + (i.n - 1) * interval '1 microsecond') AS at,
            i.page,
            i.percent,
            i.seconds,
            i.note,
            r.book_id,
            b.page_count::int,
            r.length_seconds::int
        FROM ROWS FROM (
            jsonb_to_recordset(given) AS (
                id uuid, "readId" uuid, at timestamptz, page int, percent float8, seconds int, note text
            )
        ) WITH ORDINALITY AS i (id, read_id, at, page, percent, seconds, note, n)
        LEFT JOIN reads r ON r.user_id = owner AND r.id = i.read_id
        LEFT JOIN books b ON b.user_id = owner AND b.id = r.book_id
    ), checked AS MATERIALIZED (
        SELECT
            i.*,
            p.id IS NOT NULL AS is_stored,
            CASE
                WHEN p.id IS NOT NULL THEN NULL
                WHEN i.book_id IS NULL THEN 'READ'
                WHEN EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = owner AND t.id = i.id) THEN 'DELETED'
                WHEN is_other_object(owner, i.id)
                    OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = i.id)
                THEN 'TAKEN'
                WHEN i.page > i.page_count THEN 'PAGE'
                WHEN i.seconds > i.length_seconds THEN 'SECONDS'
            END AS found
        FROM input i
        LEFT JOIN progress_entries p ON p.user_id = owner AND p.id = i.id
    ), capacities AS MATERIALIZED (
        SELECT
            k.read_id,
            entries_of_read_max()
                - (SELECT count(*) FROM progress_entries p WHERE p.user_id = owner AND p.read_id = k.read_id) AS capacity
        FROM (SELECT DISTINCT c.read_id FROM checked c) k
    ), accepted AS MATERIALIZED (
        SELECT
            c.*,
            CASE
                WHEN c.found IS NULL AND NOT c.is_stored
                    AND count(*) FILTER (WHERE c.found IS NULL AND NOT c.is_stored)
                        OVER (PARTITION BY c.read_id ORDER BY c.n) > k.capacity
                THEN 'FULL'
                ELSE c.found
            END AS problem
        FROM checked c
        JOIN capacities k ON k.read_id = c.read_id
    ), stored AS (
        INSERT INTO progress_entries (user_id, id, read_id, at, page, percent, seconds, note)
        SELECT owner, a.id, a.read_id, a.at, a.page, a.percent, a.seconds, a.note
        FROM accepted a
        WHERE a.problem IS NULL AND NOT a.is_stored
        ORDER BY a.n
        -- The batch may contain an entry twice.
        ON CONFLICT DO NOTHING
    )
    SELECT a.problem, a.page_count, a.length_seconds
    FROM accepted a
    ORDER BY a.n;
    PERFORM refresh_read_books(
        owner,
        ARRAY(
            SELECT DISTINCT r.book_id
            -- Entries that were refused change nothing.
            FROM jsonb_to_recordset(given) AS i (id uuid)
            JOIN progress_entries p ON p.user_id = owner AND p.id = i.id
            JOIN reads r ON r.user_id = owner AND r.id = p.read_id
            WHERE r.outcome = 'READING'
        ),
        true
    );
END
$$;

-- Changes an entry, and returns what is wrong, or null; and the length of the book. `given` may have the members `at`, `position`
-- with one of `page`, `percent`, and `seconds`, `note`, and `changedAt`, without which the change is made now. The problems are
-- ENTRY, PAGE, and SECONDS.
--
-- The time, the position, and the note are three registers. Each keeps the value of its latest change, and the greater one of
-- two changes at the same time. The order in which changes arrive therefore does not matter.
CREATE OR REPLACE FUNCTION change_progress(owner uuid, entry uuid, given jsonb)
RETURNS TABLE (problem text, page_count int, length_seconds int)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    kept progress_entries;
    changed progress_entries;
    book uuid;
    changed_at timestamptz := least(coalesce((given ->> 'changedAt')::timestamptz, now()), now());
    new_page int := (given -> 'position' ->> 'page')::int;
    new_percent float8 := (given -> 'position' ->> 'percent')::float8;
    new_seconds int := (given -> 'position' ->> 'seconds')::int;
BEGIN
    SELECT p.* INTO kept
    FROM progress_entries p
    WHERE p.user_id = owner AND p.id = entry;
    IF NOT FOUND THEN
        problem := 'ENTRY';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT b.id, b.page_count, r.length_seconds INTO book, page_count, length_seconds
    FROM reads r
    JOIN books b ON b.user_id = owner AND b.id = r.book_id
    WHERE r.user_id = owner AND r.id = kept.read_id;
    IF new_page > page_count THEN
        problem := 'PAGE';
    ELSIF new_seconds > length_seconds THEN
        problem := 'SECONDS';
    END IF;
    RETURN NEXT;
    IF problem IS NOT NULL THEN
        RETURN;
    END IF;
    changed := kept;
    IF given ? 'at'
        AND (changed_at, (given ->> 'at')::timestamptz) > (coalesce(kept.at_changed_at, '-infinity'), kept.at)
    THEN
        changed.at := (given ->> 'at')::timestamptz;
        changed.at_changed_at := changed_at;
    END IF;
    IF given ? 'position'
        AND (changed_at, coalesce(new_page, -1), coalesce(new_percent, -1), coalesce(new_seconds, -1))
            > (
                coalesce(kept.position_changed_at, '-infinity'), coalesce(kept.page, -1), coalesce(kept.percent, -1),
                coalesce(kept.seconds, -1)
            )
    THEN
        changed.page := new_page;
        changed.percent := new_percent;
        changed.seconds := new_seconds;
        changed.position_changed_at := changed_at;
    END IF;
    IF given ? 'note'
        AND (changed_at, coalesce(given ->> 'note', '') COLLATE "C")
            > (coalesce(kept.note_changed_at, '-infinity'), coalesce(kept.note, '') COLLATE "C")
    THEN
        changed.note := given ->> 'note';
        changed.note_changed_at := changed_at;
    END IF;
    IF changed IS DISTINCT FROM kept THEN
        UPDATE progress_entries p
        SET at = changed.at,
            page = changed.page,
            percent = changed.percent,
            seconds = changed.seconds,
            note = changed.note,
            at_changed_at = changed.at_changed_at,
            position_changed_at = changed.position_changed_at,
            note_changed_at = changed.note_changed_at,
            updated_at = now()
        WHERE p.user_id = owner AND p.id = entry;
        IF (changed.at, changed.page, changed.percent, changed.seconds)
                IS DISTINCT FROM (kept.at, kept.page, kept.percent, kept.seconds)
            AND EXISTS (
                SELECT FROM reads r WHERE r.user_id = owner AND r.id = kept.read_id AND r.outcome = 'READING'
            )
        THEN
            PERFORM refresh_read_books(owner, ARRAY[book], true);
        END IF;
    END IF;
END
$$;

-- Deletes an entry, and returns its read; null if there is no such entry.
CREATE OR REPLACE FUNCTION delete_progress(owner uuid, entry uuid) RETURNS uuid
LANGUAGE plpgsql
AS $$
DECLARE
    read uuid;
BEGIN
    DELETE FROM progress_entries p
    WHERE p.user_id = owner AND p.id = entry
    RETURNING p.read_id INTO read;
    IF FOUND THEN
        PERFORM record_deleted_id(owner, entry);
        PERFORM refresh_read_books(
            owner,
            ARRAY(SELECT r.book_id FROM reads r WHERE r.user_id = owner AND r.id = read AND r.outcome = 'READING'),
            true
        );
    END IF;
    RETURN read;
END
$$;

-- MARK: Imports

-- Returns whether a read of the library has all that a record of an import says about it.
CREATE OR REPLACE FUNCTION has_all_of_read(
    kept reads, outcome read_outcome, started text, finished text, format read_format, length_seconds int, note text
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (kept.outcome <> 'READING' OR outcome = 'READING')
        AND (kept.started_on IS NOT NULL OR started IS NULL)
        AND (kept.finished_on IS NOT NULL OR finished IS NULL OR outcome = 'READING')
        AND (kept.format IS NOT NULL OR format IS NULL)
        AND (kept.length_seconds IS NOT NULL OR length_seconds IS NULL)
        AND (kept.note IS NOT NULL OR note IS NULL)
$$;

-- Returns those reads of `given` (`import_reads`) that may bring something new, in the same order. When a file is imported again, the
-- library has all reads of most books: the reads with their ids, or the only read of a book.
CREATE OR REPLACE FUNCTION new_parts_of_reads(given jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(k.read ORDER BY k.position), '[]')
        FROM (
            SELECT
                g.read, g.position,
                bool_and(
                    CASE
                        WHEN by_id.id IS NOT NULL THEN by_id.has_all
                        ELSE g.number = 1 AND coalesce(by_book.has_all AND by_book.number = 1, false)
                    END
                ) OVER (PARTITION BY g."bookId") AS is_known
            FROM (
                SELECT i.*, o.read, o.position, count(*) OVER (PARTITION BY i."bookId") AS number
                FROM jsonb_array_elements(given) WITH ORDINALITY AS o (read, position)
                CROSS JOIN LATERAL jsonb_to_record(o.read) AS i (
                    "bookId" uuid, id uuid, "startedOn" text, "finishedOn" text, outcome read_outcome, format read_format,
                    "lengthSeconds" int, note text
                )
            ) g
            LEFT JOIN LATERAL (
                SELECT
                    r.id,
                    has_all_of_read(r, g.outcome, g."startedOn", g."finishedOn", g.format, g."lengthSeconds", g.note) AS has_all
                FROM reads r
                WHERE r.user_id = owner AND r.id = g.id
                OFFSET 0
            ) by_id ON true
            LEFT JOIN LATERAL (
                SELECT
                    count(*) AS number,
                    bool_and(
                        r.outcome = g.outcome
                        AND coalesce(r.started_on = g."startedOn", true)
                        AND coalesce(r.finished_on = g."finishedOn", true)
                        AND is_in_order(coalesce(r.started_on, g."startedOn"), coalesce(r.finished_on, g."finishedOn"))
                        AND has_all_of_read(r, g.outcome, g."startedOn", g."finishedOn", g.format, g."lengthSeconds", g.note)
                    ) AS has_all
                FROM reads r
                WHERE r.user_id = owner AND r.book_id = g."bookId" AND g.number = 1 AND by_id.id IS NULL
            ) by_book ON true
        ) k
        WHERE NOT k.is_known
    );
END
$$;

-- Adds reads to books of the caller's library, and returns the ids of the books that got something new. `given` is an array of
-- objects: {"bookId": "…", "id": "…", "startedOn": "2019-05", "finishedOn": "2019-06-01", "outcome": "FINISHED",
-- "format": "PRINT", "lengthSeconds": 3600, "note": "…", "createdAt": "…", "updatedAt": "…"}. Only `bookId` and `outcome` are
-- required. A book that still has an open read is not READ or DID_NOT_FINISH afterwards, but READING.
--
-- A read is in the library already if its id is, or if a read of the book has the same outcome and the same dates; null then
-- equals any date. Such a read gets the values that it lacks. Each read of the library is matched only once, so that several
-- reads without dates stay several reads. A read that ended after the open read began is the end of the open read. A second
-- open read of a book is ignored, as are an open read of a book that is READ or DID_NOT_FINISH, reads after the two-hundredth,
-- and dates with which a read would end before it starts. The reads of a book follow one another in `given`.
CREATE OR REPLACE FUNCTION import_reads(given jsonb) RETURNS uuid[]
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    owner uuid := app_user_id();
    entry record;
    kept reads;
    -- The first and the last day that the read gets.
    first_date text;
    last_date text;
    -- The book of the previous entry, and its reads that earlier entries have matched or added.
    book uuid;
    used uuid[] := ARRAY[]::uuid[];
    changed uuid[] := ARRAY[]::uuid[];
BEGIN
    FOR entry IN
        SELECT r.*
        FROM jsonb_to_recordset(new_parts_of_reads(given)) AS r (
            "bookId" uuid, id uuid, "startedOn" text, "finishedOn" text, outcome read_outcome, format read_format,
            "lengthSeconds" int, note text, "createdAt" timestamptz, "updatedAt" timestamptz
        )
    LOOP
        IF entry."bookId" IS DISTINCT FROM book THEN
            book := entry."bookId";
            used := '{}';
        END IF;
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
                AND is_in_order(
                    coalesce(r.started_on, entry."startedOn"), coalesce(r.finished_on, entry."finishedOn")
                )
                AND (
                    (r.outcome = entry.outcome AND coalesce(r.finished_on = entry."finishedOn", true))
                    OR (
                        r.outcome = 'READING'
                        AND CASE
                            WHEN r.started_on IS NOT NULL AND entry."finishedOn" IS NOT NULL
                            THEN is_in_order(r.started_on, entry."finishedOn")
                            -- The import has just changed the status.
                            ELSE EXISTS (
                                SELECT
                                FROM books b
                                WHERE b.user_id = owner AND b.id = r.book_id AND b.status IN ('READ', 'DID_NOT_FINISH')
                            )
                        END
                    )
                )
            ORDER BY
                r.outcome = entry.outcome DESC,
                r.finished_on IS NOT DISTINCT FROM entry."finishedOn" DESC,
                r.sorted_on DESC, r.created_at DESC, r.id DESC
            LIMIT 1;
        END IF;
        IF kept.id IS NOT NULL THEN
            used := used || kept.id;
            first_date := coalesce(kept.started_on, entry."startedOn");
            last_date := CASE
                WHEN entry.outcome <> 'READING' THEN coalesce(kept.finished_on, entry."finishedOn")
                ELSE kept.finished_on
            END;
            IF NOT is_in_order(first_date, last_date) THEN
                first_date := kept.started_on;
                last_date := kept.finished_on;
            END IF;
            UPDATE reads r
            SET started_on = first_date,
                finished_on = last_date,
                outcome = CASE WHEN r.outcome = 'READING' THEN entry.outcome ELSE r.outcome END,
                format = coalesce(r.format, entry.format),
                length_seconds = coalesce(r.length_seconds, entry."lengthSeconds"),
                note = coalesce(r.note, entry.note),
                updated_at = now()
            WHERE r.user_id = owner
                AND r.id = kept.id
                AND (
                    (r.outcome = 'READING' AND entry.outcome <> 'READING')
                    OR r.started_on IS DISTINCT FROM first_date
                    OR r.finished_on IS DISTINCT FROM last_date
                    OR (r.format IS NULL AND entry.format IS NOT NULL)
                    OR (r.length_seconds IS NULL AND entry."lengthSeconds" IS NOT NULL)
                    OR (r.note IS NULL AND entry.note IS NOT NULL)
                );
        ELSE
            entry.id := coalesce(entry.id, gen_random_uuid());
            used := used || entry.id;
            INSERT INTO reads (
                user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, created_at, updated_at,
                page_count, genre, author_id, author, moods
            )
            SELECT
                owner,
                entry.id,
                b.id,
                CASE WHEN is_in_order(entry."startedOn", entry."finishedOn") THEN entry."startedOn" END,
                entry."finishedOn",
                entry.outcome,
                entry.format, entry."lengthSeconds", entry.note, coalesce(entry."createdAt", now()),
                coalesce(entry."updatedAt", entry."createdAt", now()),
                b.page_count, b.genre, b.author_ids[1], left(b.authors[1], 200), nullif(b.moods, '{}')
            FROM books b
            WHERE b.user_id = owner
                AND b.id = entry."bookId"
                AND (entry.outcome <> 'READING' OR b.status NOT IN ('READ', 'DID_NOT_FINISH'))
                AND (SELECT count(*) FROM reads r WHERE r.user_id = owner AND r.book_id = b.id) < reads_of_book_max()
            ON CONFLICT DO NOTHING;
        END IF;
        IF FOUND THEN
            changed := changed || coalesce(kept.book_id, entry."bookId");
        END IF;
    END LOOP;
    -- The import has moved the status because of an earlier reading.
    UPDATE books b
    SET status = 'READING',
        updated_at = now()
    WHERE b.user_id = owner
        AND b.id = ANY(ARRAY(SELECT DISTINCT (g ->> 'bookId')::uuid FROM jsonb_array_elements(given) g))
        AND b.status IN ('READ', 'DID_NOT_FINISH')
        AND EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.book_id = b.id AND r.outcome = 'READING');
    IF changed <> '{}' THEN
        PERFORM refresh_read_books(owner, changed, false);
    END IF;
    RETURN changed;
END
$$;

-- Adds the first reads of new books, with the same result as `import_reads`, but with one statement for all. Reads whose ids are in the
-- library already are left to that function.
CREATE OR REPLACE FUNCTION import_first_reads(given jsonb) RETURNS uuid[]
LANGUAGE plpgsql
-- Such a join reads all books of the reader.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    owner uuid := app_user_id();
    known jsonb;
    ids uuid[];
    changed uuid[];
BEGIN
    WITH input AS MATERIALIZED (
        SELECT i.*, o.position
        FROM jsonb_array_elements(given) WITH ORDINALITY AS o (read, position)
        CROSS JOIN LATERAL jsonb_to_record(o.read) AS i (
            "bookId" uuid, id uuid, "startedOn" text, "finishedOn" text, outcome read_outcome, format read_format,
            "lengthSeconds" int, note text, "createdAt" timestamptz, "updatedAt" timestamptz
        )
    ), added AS (
        INSERT INTO reads (
            user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, created_at, updated_at,
            page_count, genre, author_id, author, moods
        )
        SELECT
            owner, coalesce(n.id, gen_random_uuid()), b.id,
            CASE WHEN is_in_order(n."startedOn", n."finishedOn") THEN n."startedOn" END,
            n."finishedOn", n.outcome, n.format, n."lengthSeconds", n.note, coalesce(n."createdAt", now()),
            coalesce(n."updatedAt", n."createdAt", now()), b.page_count, b.genre, b.author_ids[1], left(b.authors[1], 200),
            nullif(b.moods, '{}')
        FROM (
            SELECT
                i.*,
                row_number() OVER of_book AS number,
                count(*) FILTER (WHERE i.outcome = 'READING') OVER of_book AS open_reads
            FROM input i
            WHERE NOT EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = i.id OFFSET 0)
            WINDOW of_book AS (PARTITION BY i."bookId" ORDER BY i.position ROWS UNBOUNDED PRECEDING)
        ) n
        CROSS JOIN LATERAL (SELECT * FROM books b WHERE b.user_id = owner AND b.id = n."bookId" OFFSET 0) b
        WHERE n.number <= reads_of_book_max()
            AND (n.outcome <> 'READING' OR n.open_reads = 1 AND b.status NOT IN ('READ', 'DID_NOT_FINISH'))
        ON CONFLICT DO NOTHING
        RETURNING id, book_id
    )
    SELECT array_agg(a.id), array_agg(DISTINCT a.book_id) INTO ids, changed
    FROM added a;
    IF ids IS NOT NULL THEN
        PERFORM refresh_read_books(owner, changed, false);
    END IF;
    known := (
        SELECT jsonb_agg(o.read ORDER BY o.position)
        FROM jsonb_array_elements(given) WITH ORDINALITY AS o (read, position)
        WHERE EXISTS (
            SELECT FROM reads r WHERE r.user_id = owner AND r.id = (o.read ->> 'id')::uuid AND r.id <> ALL(coalesce(ids, '{}')) OFFSET 0
        )
    );
    IF known IS NOT NULL THEN
        changed := changed || import_reads(known);
    END IF;
    RETURN coalesce(changed, '{}');
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
        -- `position` counts only the entries that are new.
        SELECT
            n.*,
            count(*) FILTER (WHERE n.is_new) OVER (PARTITION BY n."readId" ORDER BY n.at, n.id) AS position
        FROM (
            SELECT
                p.*,
                NOT EXISTS (SELECT FROM progress_entries e WHERE e.user_id = owner AND e.id = p.id OFFSET 0) AS is_new
            FROM jsonb_to_recordset(given) AS p (
                id uuid, "readId" uuid, at timestamptz, page int, percent float8, seconds int, note text,
                "createdAt" timestamptz, "updatedAt" timestamptz
            )
        ) n
    ), counted AS MATERIALIZED (
        SELECT r.id, r.entry_count
        FROM (SELECT DISTINCT e."readId" FROM entries e WHERE e.is_new) k
        CROSS JOIN LATERAL (
            SELECT r.id, (SELECT count(*) FROM progress_entries p WHERE p.user_id = owner AND p.read_id = r.id) AS entry_count
            FROM reads r
            WHERE r.user_id = owner AND r.id = k."readId"
            OFFSET 0
        ) r
    ), allowed AS MATERIALIZED (
        SELECT e.*
        FROM entries e
        JOIN counted c ON c.id = e."readId"
        WHERE e.is_new AND c.entry_count + e.position <= entries_of_read_max()
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
        AND NOT EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = e.id OFFSET 0);
    PERFORM refresh_read_books(
        owner,
        ARRAY(
            SELECT DISTINCT r.book_id
            FROM jsonb_to_recordset(given) AS p ("readId" uuid)
            CROSS JOIN LATERAL (SELECT r.book_id FROM reads r WHERE r.user_id = owner AND r.id = p."readId" OFFSET 0) r
        ),
        false
    );
    RETURN ignored;
END
$$;

-- MARK: Change log

-- Logs the entries and notes of books, whose positions follow from the length of the book: `reads` are those whose length has changed, or
-- null if the number of pages has. Reads all of them, because almost all have a value that changes.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_positions(owner uuid, books uuid[], reads uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
    ids uuid[];
BEGIN
    -- Requests may execute the function, because a trigger runs with their privileges, but not call it themselves.
    IF pg_trigger_depth() = 0 THEN
        RAISE insufficient_privilege USING MESSAGE = 'log_positions is only called by triggers';
    END IF;
    ids := ARRAY(
        SELECT p.id
        FROM reads r
        JOIN progress_entries p ON p.user_id = owner AND p.read_id = r.id
        WHERE r.user_id = owner
            AND r.book_id = ANY(books)
            AND (log_positions.reads IS NULL OR r.id = ANY(log_positions.reads))
    );
    IF ids <> '{}' THEN
        ignored := append_changes(owner, 'UPDATED', 'ProgressEntry', ids);
    END IF;
    ids := ARRAY(
        SELECT n.id
        FROM notes n
        WHERE n.user_id = owner AND n.book_id = ANY(books) AND num_nonnulls(n.page, n.percent, n.seconds) > 0
    );
    IF ids <> '{}' THEN
        ignored := append_changes(owner, 'UPDATED', 'Note', ids);
    END IF;
END
$$;

-- Logs and counts created, changed, or deleted reads. The log comes first, because it locks the user. `log_read_of_book` names the read that
-- it has logged, and functions that set app.bulk log their reads themselves. The copies of the book's facts are not part of a read.
--
-- The old and the new rows of an update are compared as sets: a join of the transition tables, of which the planner has no statistics, can
-- take quadratic time.
-- definer: no request has the privilege to write the log and the counts.
CREATE OR REPLACE FUNCTION log_reads() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
-- A plan for the length of the arrays would be made again for each statement, which takes longer than the statement.
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    ignored text;
    is_bulk CONSTANT boolean := current_setting('app.bulk', true) = 'on';
    logged_read CONSTANT text := current_setting('app.logged_read', true);
    owner uuid;
    ids uuid[];
    old_reads reads[];
    new_reads reads[];
    -- The books and reads whose length, or whose order among reads with a length, has changed.
    timed_books uuid[];
    timed_reads uuid[];
    change change_kind;
BEGIN
    IF TG_OP = 'DELETE' THEN
        change := 'DELETED';
        FOR owner, ids, old_reads, timed_books, timed_reads IN
            SELECT
                o.user_id, array_agg(o.id), array_agg(without_note(ROW(o.*)::reads)) FILTER (WHERE o.outcome <> 'READING'),
                array_agg(o.book_id) FILTER (WHERE o.length_seconds IS NOT NULL),
                array_agg(o.id) FILTER (WHERE o.length_seconds IS NOT NULL)
            FROM old_rows o
            GROUP BY o.user_id
            ORDER BY o.user_id
        LOOP
            -- The log and the counts of a deleted account are deleted, too.
            PERFORM
            FROM users u
            WHERE u.id = owner;
            CONTINUE WHEN NOT FOUND;
            IF cardinality(ids) = 1 THEN
                ignored := append_change(owner, change, 'Read', ids[1]);
            ELSE
                ignored := append_changes(owner, change, 'Read', ids);
            END IF;
            IF timed_books IS NOT NULL THEN
                -- The notes of a deleted book are deleted, too.
                timed_books := ARRAY(SELECT b.id FROM books b WHERE b.user_id = owner AND b.id = ANY(timed_books));
                ignored := log_positions(owner, timed_books, timed_reads);
            END IF;
            IF old_reads IS NOT NULL THEN
                ignored := count_reads(owner, old_reads, NULL);
            END IF;
        END LOOP;
        RETURN NULL;
    END IF;
    change := CASE TG_OP WHEN 'INSERT' THEN 'CREATED' ELSE 'UPDATED' END;
    FOR owner, ids, new_reads, timed_books, timed_reads IN
        SELECT
            n.user_id, array_agg(n.id) FILTER (WHERE n.id::text IS DISTINCT FROM logged_read),
            array_agg(without_note(ROW(n.*)::reads)) FILTER (WHERE n.outcome <> 'READING'),
            array_agg(n.book_id) FILTER (WHERE n.length_seconds IS NOT NULL),
            array_agg(n.id) FILTER (WHERE n.length_seconds IS NOT NULL)
        FROM new_rows n
        GROUP BY n.user_id
        ORDER BY n.user_id
    LOOP
        IF TG_OP = 'UPDATE' THEN
            old_reads := ARRAY(SELECT without_note(ROW(o.*)::reads) FROM old_rows o WHERE o.user_id = owner AND o.outcome <> 'READING');
            ids := ARRAY(
                SELECT c.id
                FROM (
                    SELECT
                        n.user_id, n.id, n.book_id, n.started_on, n.finished_on, n.outcome, n.format, n.length_seconds, n.note,
                        n.created_at, n.updated_at
                    FROM new_rows n
                    EXCEPT
                    SELECT
                        o.user_id, o.id, o.book_id, o.started_on, o.finished_on, o.outcome, o.format, o.length_seconds, o.note,
                        o.created_at, o.updated_at
                    FROM old_rows o
                ) c
                WHERE c.user_id = owner AND c.id::text IS DISTINCT FROM logged_read
            );
            -- The latest read with a length decides about the positions of notes.
            SELECT array_agg(DISTINCT c.book_id), array_agg(DISTINCT c.id) INTO timed_books, timed_reads
            FROM (
                SELECT t.user_id, t.id, t.book_id, t.length_seconds, t.sorted_on
                FROM (
                    SELECT n.user_id, n.id, n.book_id, n.length_seconds, n.sorted_on FROM new_rows n
                    UNION ALL
                    SELECT o.user_id, o.id, o.book_id, o.length_seconds, o.sorted_on FROM old_rows o
                ) t
                GROUP BY t.user_id, t.id, t.book_id, t.length_seconds, t.sorted_on
                HAVING count(*) = 1
            ) c
            WHERE c.user_id = owner AND c.length_seconds IS NOT NULL;
        END IF;
        IF is_bulk THEN
            ignored := pg_advisory_xact_lock(hashtextextended(owner::text, 0));
        ELSE
            IF cardinality(ids) = 1 THEN
                ignored := append_change(owner, change, 'Read', ids[1]);
            ELSIF ids <> '{}' THEN
                ignored := append_changes(owner, change, 'Read', ids);
            END IF;
            IF timed_books IS NOT NULL THEN
                ignored := log_positions(owner, timed_books, timed_reads);
            END IF;
        END IF;
        IF new_reads IS NOT NULL OR old_reads <> '{}' THEN
            ignored := count_reads(owner, old_reads, new_reads);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Logs created entries, and counts them in `reading_days`. This function and the next two run once per statement, because a read can
-- have thousands of entries.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_added_progress() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
    times timestamptz[];
BEGIN
    FOR owner, ids, times IN
        SELECT n.user_id, array_agg(n.id), array_agg(n.at)
        FROM new_rows n
        GROUP BY n.user_id
        ORDER BY n.user_id
    LOOP
        ignored := append_changes(owner, 'CREATED', 'ProgressEntry', ids);
        ignored := count_reading_days(owner, NULL, times);
    END LOOP;
    RETURN NULL;
END
$$;

-- Logs changed entries, and counts them again if the time of one has changed.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_changed_progress() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
    old_times timestamptz[];
    new_times timestamptz[];
BEGIN
    FOR owner, ids, old_times, new_times IN
        SELECT n.user_id, array_agg(n.id), array_agg(o.at), array_agg(n.at)
        FROM new_rows n
        JOIN old_rows o ON o.user_id = n.user_id AND o.id = n.id
        WHERE n IS DISTINCT FROM o
        GROUP BY n.user_id
        ORDER BY n.user_id
    LOOP
        ignored := append_changes(owner, 'UPDATED', 'ProgressEntry', ids);
        IF old_times <> new_times THEN
            ignored := count_reading_days(owner, old_times, new_times);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Logs deleted entries, and removes them from `reading_days`. The entries of a deleted read are not logged: they are deleted with
-- it.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_deleted_progress() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
-- The planner has no statistics of transition tables.
SET enable_seqscan = off
AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
    times timestamptz[];
BEGIN
    FOR owner, ids, times IN
        SELECT o.user_id, array_agg(o.id) FILTER (WHERE r.id IS NOT NULL), array_agg(o.at)
        FROM old_rows o
        -- The log of a deleted account is deleted, too.
        JOIN users u ON u.id = o.user_id
        LEFT JOIN reads r ON r.user_id = o.user_id AND r.id = o.read_id
        GROUP BY o.user_id
        ORDER BY o.user_id
    LOOP
        IF ids IS NOT NULL THEN
            ignored := append_changes(owner, 'DELETED', 'ProgressEntry', ids);
        ELSE
            ignored := lock_user(owner);
        END IF;
        ignored := count_reading_days(owner, times, NULL);
    END LOOP;
    RETURN NULL;
END
$$;

-- As for books (changes.sql), no statement can forget to log a change and to count a finished book. PostgreSQL has no triggers with
-- transition tables for several events.
CREATE OR REPLACE TRIGGER log_insert
AFTER INSERT ON reads
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_reads();

-- As above, with the old rows, to see which reads have changed and to subtract them.
CREATE OR REPLACE TRIGGER log_update
AFTER UPDATE ON reads
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_reads();

-- As above; reads are also deleted with their books, by a foreign key.
CREATE OR REPLACE TRIGGER log_delete
AFTER DELETE ON reads
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_reads();

-- As above.
CREATE OR REPLACE TRIGGER log_insert
AFTER INSERT ON progress_entries
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_added_progress();

-- As above, with the old rows, to see which entries have changed and to subtract their days.
CREATE OR REPLACE TRIGGER log_update
AFTER UPDATE ON progress_entries
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_changed_progress();

-- As above; entries are also deleted with their reads, by a foreign key.
CREATE OR REPLACE TRIGGER log_delete
AFTER DELETE ON progress_entries
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_deleted_progress();

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
GRANT SELECT, INSERT, UPDATE, DELETE ON reading_tombstones TO bookplate_app;

REVOKE ALL ON FUNCTION log_reads, log_added_progress, log_changed_progress, log_deleted_progress, log_positions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log_positions TO bookplate_app;
