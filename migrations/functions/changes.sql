-- requires: accounts, audit
-- The change log of each library, and the outbox for brokers and live subscriptions.

-- MARK: Appending to the log

-- The entries of a user have the numbers 1, 2, 3, and so on. An appending transaction holds the lock of the user until its
-- commit. Therefore entries become visible in the order of their numbers, and a client that continues from a cursor misses
-- none. The newest entry is never pruned, so the next number is always known.
--
-- A transaction logs at most one UPDATED per object, and none for an object that it has created, unless it has logged thousands of other
-- objects since then.
--
-- Only the trigger functions below and `log_read_of_book` call the functions of this section, with their privileges.

-- Returns the number of the newest entry of a user that another transaction has added. The entries of the current
-- transaction follow it.
CREATE OR REPLACE FUNCTION last_committed_change(owner uuid) RETURNS bigint
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(
        (
            SELECT c.seq
            FROM changes c
            WHERE c.user_id = owner
                -- A visible row of a transaction in progress belongs to the current one or to a part of it that has its own id,
                -- such as a block with EXCEPTION. xmin is the lower half of the id.
                AND NOT (
                    c.at >= now()
                    AND pg_xact_status(
                        ((pg_current_xact_id()::text::bigint >> 32 << 32) + c.xmin::text::bigint)::text::xid8
                    ) = 'in progress'
                )
            ORDER BY c.seq DESC
            LIMIT 1
        ),
        0
    )
$$;

-- Returns last_committed_change(owner), cached for the transaction. Without the cache, each change of a large statement would read
-- all entries of the transaction again. The caller holds the lock of the user, so the value cannot change; both end with the
-- transaction.
CREATE OR REPLACE FUNCTION cached_last_committed_change(owner uuid) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    kept text := current_setting('app.last_committed_change', true);
    last bigint;
BEGIN
    IF starts_with(kept, owner::text) THEN
        RETURN split_part(kept, ' ', 2)::bigint;
    END IF;
    last := last_committed_change(owner);
    kept := set_config('app.last_committed_change', owner || ' ' || last, true);
    RETURN last;
END
$$;

-- Adds entries for several objects, in the order of `ids`. Objects that this transaction has created or updated already get no
-- UPDATED. Each call compares the objects with the newest entries of the transaction, at least 500, and ten for each object: with all
-- entries, a transaction of thousands of statements would take quadratic time. Such a transaction may log an object twice.
CREATE OR REPLACE FUNCTION append_changes(owner uuid, change change_kind, typename text, ids uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    last_committed bigint;
    last_seq bigint;
BEGIN
    PERFORM lock_user(owner);
    IF EXISTS (SELECT FROM webhooks) THEN
        PERFORM mark_webhook_position(owner);
    END IF;
    IF change = 'UPDATED' THEN
        last_committed := cached_last_committed_change(owner);
    END IF;
    last_seq := coalesce((SELECT max(c.seq) FROM changes c WHERE c.user_id = owner), 0);
    INSERT INTO logs_to_prune (user_id, oldest_at)
    VALUES (owner, now())
    ON CONFLICT DO NOTHING;
    INSERT INTO changes (user_id, seq, kind, typename, id, at)
    SELECT
        owner,
        last_seq + row_number() OVER (ORDER BY changed.index),
        change,
        append_changes.typename,
        changed.id,
        clock_timestamp()
    FROM unnest(ids) WITH ORDINALITY AS changed (id, index)
    WHERE change <> 'UPDATED'
        OR changed.id NOT IN (
            SELECT c.id
            FROM changes c
            WHERE c.user_id = owner
                AND c.seq > greatest(last_committed, last_seq - 500 - 10 * cardinality(ids))
                AND c.typename = append_changes.typename
                AND c.kind <> 'DELETED'
        );
END
$$;

-- Adds an entry for one object. Every change of a book calls this function, so its usual case is cheap: a query of one row, and
-- an INSERT of values. An UPDATED after other entries of the transaction needs another query, and only a second UPDATED of an object,
-- or an UPDATED after eight entries of a transaction, needs `append_changes`.
--
-- The trigger of `books` passes the `xmin` of the old row, the id of the transaction that wrote it. With it, a second UPDATE of
-- thousands of books does not compare each book with all entries of the transaction, and neither does a first one:
-- - If this transaction wrote the old row, it has logged the book, unless it has written books without logging them. The triggers
--   then set app.writes_unlogged_books. A rollback to a savepoint ends the setting together with these writes.
-- - If an earlier transaction wrote the old row, this one has not logged the book, unless it has logged books without writing them,
--   and set app.logs_unwritten_books.
CREATE OR REPLACE FUNCTION append_change(
    owner uuid, change change_kind, typename text, object uuid, old_xmin xid DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
    last_seq bigint;
    last_at timestamptz;
    has_webhooks boolean;
    -- Whether the log may have no row in `logs_to_prune`, which only logs without an entry of the last day lack.
    may_be_unmarked boolean;
BEGIN
    IF change = 'DELETED' THEN
        -- The log of a deleted account is deleted, too.
        PERFORM
        FROM users u
        WHERE u.id = owner;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    -- PL/pgSQL evaluates assignments without an executor, which PERFORM starts.
    ignored := pg_advisory_xact_lock(hashtextextended(owner::text, 0));
    SELECT c.seq, c.at, EXISTS (SELECT FROM webhooks), c.at < now() - interval '1 day'
    INTO last_seq, last_at, has_webhooks, may_be_unmarked
    FROM changes c
    WHERE c.user_id = owner
    ORDER BY c.seq DESC
    LIMIT 1;
    IF last_seq IS NULL THEN
        last_seq := 0;
        has_webhooks := EXISTS (SELECT FROM webhooks);
        may_be_unmarked := true;
    ELSIF change = 'UPDATED' AND last_at >= now() THEN
        -- The entries of this transaction are among those that are not older than it. PostgreSQL cannot search the index of times for the
        -- interval: the newest range of that index has thousands of entries, those of all readers.
        PERFORM
        FROM changes c
        WHERE c.user_id = owner
            AND c.seq > last_seq - 8
            AND c.at - now() >= interval '0'
            AND (c.id = object OR c.seq = last_seq - 7);
        IF FOUND THEN
            -- A row that a subtransaction wrote has the id of the subtransaction.
            IF old_xmin = pg_current_xact_id()::xid
                AND current_setting('app.writes_unlogged_books', true) IS DISTINCT FROM 'on'
            THEN
                RETURN;
            END IF;
            -- The age is positive if the id is lower than that of this transaction, whose subtransactions have higher ids. A higher id
            -- can also belong to another transaction.
            IF old_xmin IS NULL OR age(old_xmin) <= 0 OR current_setting('app.logs_unwritten_books', true) = 'on' THEN
                ignored := append_changes(owner, change, append_change.typename, ARRAY[object]);
                RETURN;
            END IF;
        END IF;
    END IF;
    IF has_webhooks THEN
        ignored := mark_webhook_position(owner);
    END IF;
    IF may_be_unmarked THEN
        INSERT INTO logs_to_prune (user_id, oldest_at)
        VALUES (owner, coalesce(last_at, now()))
        ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO changes (user_id, seq, kind, typename, id, at)
    VALUES (owner, last_seq + 1, change, append_change.typename, object, clock_timestamp());
END
$$;

-- Adds an entry for an object of a book, and an UPDATED for the book, with one INSERT, and returns true. Adds nothing and returns
-- false if the transaction may have added entries before. The caller holds the lock of the user.
CREATE OR REPLACE FUNCTION append_first_changes(
    owner uuid, change change_kind, typename text, object uuid, book uuid
) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
    last_seq bigint;
    last_at timestamptz;
    has_webhooks boolean;
    may_be_unmarked boolean;
BEGIN
    -- As in `append_change`.
    SELECT c.seq, c.at, EXISTS (SELECT FROM webhooks), c.at < now() - interval '1 day'
    INTO last_seq, last_at, has_webhooks, may_be_unmarked
    FROM changes c
    WHERE c.user_id = owner
    ORDER BY c.seq DESC
    LIMIT 1;
    IF last_at >= now() THEN
        RETURN false;
    ELSIF last_seq IS NULL THEN
        last_seq := 0;
        has_webhooks := EXISTS (SELECT FROM webhooks);
        may_be_unmarked := true;
    END IF;
    IF has_webhooks THEN
        ignored := mark_webhook_position(owner);
    END IF;
    IF may_be_unmarked THEN
        INSERT INTO logs_to_prune (user_id, oldest_at)
        VALUES (owner, coalesce(last_at, now()))
        ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO changes (user_id, seq, kind, typename, id, at)
    VALUES
        (owner, last_seq + 1, change, append_first_changes.typename, object, clock_timestamp()),
        (owner, last_seq + 2, 'UPDATED', 'Book', book, clock_timestamp());
    RETURN true;
END
$$;

-- Logs a change of a read and of its book for a request that then changes both, and names them, so that the triggers do not log them
-- again: the read with its id, and the version of the book's row that the update replaces. No other statement replaces that version,
-- so the name has no effect after the update. If the transaction has added entries before, the triggers log the two.
--
-- The trigger of the book would also list its new status and times, so this function does it.
-- definer: no request has the privilege to write the log and the lists.
CREATE OR REPLACE FUNCTION log_read_of_book(
    change change_kind, read uuid, book uuid, version tid, old_status reading_status, new_status reading_status,
    finished timestamptz
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
    ignored text;
    old_rank CONSTANT smallint := list_rank(old_status);
    new_rank CONSTANT smallint := list_rank(new_status);
BEGIN
    -- An administrator has no user.
    IF owner IS NOT NULL AND append_first_changes(owner, change, 'Read', read, book) THEN
        ignored := set_config('app.logged_read', read::text, true) || set_config('app.logged_book', version::text, true);
        UPDATE listed_books l
        SET list_rank = new_rank,
            finished_at = coalesce(finished, '-infinity'),
            updated_at = now()
        WHERE l.user_id = owner AND l.book_id = book;
        IF new_rank <> old_rank THEN
            ignored := leave_up_next(owner, book, new_status);
            UPDATE library_counts c
            SET books[new_rank] = c.books[new_rank] + 1,
                books[old_rank] = c.books[old_rank] - 1,
                writes = c.writes + 1
            WHERE c.user_id = owner AND c.writes < 100;
            IF NOT FOUND THEN
                ignored := count_listed_book(owner, old_rank, new_rank);
            END IF;
        END IF;
    END IF;
END
$$;

-- MARK: Triggers

-- Triggers log every change: those of requests, imports, jobs, foreign keys, and the administrator's SQL. No statement can
-- forget it.

-- Logs a created, changed, or deleted shelf. An update that changes nothing is not logged.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_shelf() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
BEGIN
    IF current_setting('app.bulk', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        ignored := append_change(NEW.user_id, 'CREATED', 'Shelf', NEW.id);
    ELSIF TG_OP = 'DELETE' THEN
        ignored := append_change(OLD.user_id, 'DELETED', 'Shelf', OLD.id);
    ELSIF NEW IS DISTINCT FROM OLD THEN
        ignored := append_change(NEW.user_id, 'UPDATED', 'Shelf', NEW.id);
    END IF;
    RETURN NULL;
END
$$;

-- Lists and logs a created book.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_created_book() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
    new_rank CONSTANT smallint := list_rank(NEW.status);
BEGIN
    IF current_setting('app.lists_books', true) = 'on' THEN
        RETURN NULL;
    END IF;
    INSERT INTO listed_books (
        user_id, book_id, list_rank, added_at, updated_at, finished_at, sort_title, sort_author, search_text
    )
    VALUES (
        NEW.user_id, NEW.id, new_rank, NEW.added_at, NEW.updated_at, coalesce(NEW.finished_at, '-infinity'),
        book_sort_title(NEW.title, NEW.language), book_sort_author(NEW.author), NEW.search_text
    );
    IF current_setting('app.bulk', true) = 'on' THEN
        ignored := set_config('app.writes_unlogged_books', 'on', true);
    ELSE
        ignored := append_change(NEW.user_id, 'CREATED', 'Book', NEW.id);
    END IF;
    -- `count_listed_book` would do this, too, but calling it takes as long as the update.
    UPDATE library_counts c
    SET books[new_rank] = c.books[new_rank] + 1,
        writes = c.writes + 1
    WHERE c.user_id = NEW.user_id AND c.writes < 100;
    IF NOT FOUND THEN
        ignored := count_listed_book(NEW.user_id, NULL, new_rank);
    END IF;
    RETURN NULL;
END
$$;

-- Lists and logs a changed book. An update that changes nothing is not logged. The end of a cover search that found nothing and the
-- removal of a cover are events, too: READY is recorded with the cover, and FETCHING with the job (CoverRequest.swift).
--
-- In each transaction, PL/pgSQL prepares each expression that it reaches, including operators that it does not evaluate. Therefore the
-- usual case, a change of the status or the page, reaches few and small expressions.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_book() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
    old_rank smallint;
    new_rank CONSTANT smallint := list_rank(NEW.status);
BEGIN
    UPDATE listed_books l
    SET list_rank = new_rank,
        finished_at = coalesce(NEW.finished_at, '-infinity'),
        updated_at = NEW.updated_at
    WHERE l.user_id = NEW.user_id
        AND l.book_id = NEW.id
        AND (l.updated_at, l.finished_at, l.list_rank)
            IS DISTINCT FROM (NEW.updated_at, coalesce(NEW.finished_at, '-infinity'), new_rank);
    IF current_setting('app.bulk', true) = 'on' THEN
        IF NEW.status <> OLD.status THEN
            ignored := leave_up_next(NEW.user_id, NEW.id, NEW.status);
            ignored := count_listed_book(NEW.user_id, list_rank(OLD.status), new_rank);
        END IF;
        ignored := set_config('app.writes_unlogged_books', 'on', true);
        RETURN NULL;
    END IF;
    -- Comparing the records takes longer than the rest, and the time usually decides.
    IF NEW.updated_at = OLD.updated_at THEN
        IF NEW IS NOT DISTINCT FROM OLD THEN
            ignored := set_config('app.writes_unlogged_books', 'on', true);
            RETURN NULL;
        END IF;
    END IF;
    ignored := append_change(NEW.user_id, 'UPDATED', 'Book', NEW.id, OLD.xmin);
    IF NEW.status = OLD.status AND NEW.cover_status = OLD.cover_status THEN
        RETURN NULL;
    END IF;
    IF NEW.status <> OLD.status THEN
        ignored := leave_up_next(NEW.user_id, NEW.id, NEW.status);
        old_rank := list_rank(OLD.status);
        UPDATE library_counts c
        SET books[new_rank] = c.books[new_rank] + 1,
            books[old_rank] = c.books[old_rank] - 1,
            writes = c.writes + 1
        WHERE c.user_id = NEW.user_id AND c.writes < 100;
        IF NOT FOUND THEN
            ignored := count_listed_book(NEW.user_id, old_rank, new_rank);
        END IF;
    END IF;
    IF NEW.cover_status <> OLD.cover_status AND NEW.cover_status NOT IN ('READY', 'FETCHING') THEN
        INSERT INTO events (user_id, kind, payload)
        VALUES (
            NEW.user_id,
            'cover_changed',
            jsonb_build_object('book_id', NEW.id, 'status', NEW.cover_status)
        );
    END IF;
    RETURN NULL;
END
$$;

-- Removes deleted books from the lists, and logs them. Runs once per statement, because a shelf can be deleted with thousands of books.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_deleted_books() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
BEGIN
    DELETE FROM listed_books l
    USING old_rows o
    WHERE l.user_id = o.user_id AND l.book_id = o.id;
    FOR owner, ids IN
        SELECT o.user_id, array_agg(o.id)
        FROM old_rows o
        -- The log of a deleted account is deleted, too.
        JOIN users u ON u.id = o.user_id
        GROUP BY o.user_id
        ORDER BY o.user_id
    LOOP
        ignored := append_changes(owner, 'DELETED', 'Book', ids);
        UPDATE library_counts c
        SET books[1] = c.books[1] - d.did_not_finish,
            books[2] = c.books[2] - d.read,
            books[3] = c.books[3] - d.want_to_read,
            books[4] = c.books[4] - d.paused,
            books[5] = c.books[5] - d.reading
        FROM (
            SELECT
                count(*) FILTER (WHERE o.status = 'WANT_TO_READ') AS want_to_read,
                count(*) FILTER (WHERE o.status = 'READING') AS reading,
                count(*) FILTER (WHERE o.status = 'READ') AS read,
                count(*) FILTER (WHERE o.status = 'PAUSED') AS paused,
                count(*) FILTER (WHERE o.status = 'DID_NOT_FINISH') AS did_not_finish
            FROM old_rows o
            WHERE o.user_id = owner
        ) d
        WHERE c.user_id = owner AND c.books IS NOT NULL;
    END LOOP;
    RETURN NULL;
END
$$;

-- Counts and lists ratings, and logs created, changed, or deleted reviews, and their books, whose review fields change. With app.deletes_book,
-- the review is deleted with its book; then only the review is logged here.
-- definer: no request has the privilege to write the log, the lists, and the counts.
CREATE OR REPLACE FUNCTION log_reviews() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
-- A plan for the length of the arrays would be made again for each statement, which takes longer than the statement.
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
    books uuid[];
    old_reviews reviews[];
    new_reviews reviews[];
    change change_kind;
BEGIN
    IF TG_OP = 'DELETE' THEN
        FOR owner, ids, books, old_reviews IN
            SELECT o.user_id, array_agg(o.id), array_agg(o.book_id), array_agg(without_text(ROW(o.*)::reviews))
            FROM old_rows o
            GROUP BY o.user_id
            ORDER BY o.user_id
        LOOP
            -- The log and the counts of a deleted account are deleted, too.
            PERFORM
            FROM users u
            WHERE u.id = owner;
            CONTINUE WHEN NOT FOUND;
            IF current_setting('app.deletes_book', true) IS DISTINCT FROM 'on' THEN
                UPDATE listed_books l
                SET quarter_stars = 0
                WHERE l.user_id = owner AND l.book_id = ANY(books) AND l.quarter_stars <> 0;
            END IF;
            IF cardinality(ids) = 1 THEN
                ignored := append_change(owner, 'DELETED', 'Review', ids[1]);
            ELSE
                ignored := append_changes(owner, 'DELETED', 'Review', ids);
            END IF;
            ignored := count_ratings(owner, old_reviews, NULL);
            IF current_setting('app.deletes_book', true) IS DISTINCT FROM 'on' THEN
                ignored := set_config('app.logs_unwritten_books', 'on', true);
                ignored := append_changes(owner, 'UPDATED', 'Book', books);
            END IF;
        END LOOP;
        RETURN NULL;
    END IF;
    change := CASE TG_OP WHEN 'INSERT' THEN 'CREATED' ELSE 'UPDATED' END;
    FOR owner, ids, books, new_reviews IN
        SELECT n.user_id, array_agg(n.id), array_agg(n.book_id), array_agg(without_text(ROW(n.*)::reviews))
        FROM new_rows n
        GROUP BY n.user_id
        ORDER BY n.user_id
    LOOP
        ignored := pg_advisory_xact_lock(hashtextextended(owner::text, 0));
        IF TG_OP = 'UPDATE' THEN
            old_reviews := ARRAY(SELECT without_text(ROW(o.*)::reviews) FROM old_rows o WHERE o.user_id = owner);
        END IF;
        ignored := count_ratings(owner, old_reviews, new_reviews);
        UPDATE listed_books l
        SET quarter_stars = coalesce(n.quarter_stars, 0)
        FROM unnest(new_reviews) n
        WHERE l.user_id = owner AND l.book_id = n.book_id AND l.quarter_stars <> coalesce(n.quarter_stars, 0);
        CONTINUE WHEN current_setting('app.bulk', true) = 'on';
        ignored := set_config('app.logs_unwritten_books', 'on', true);
        IF cardinality(ids) = 1 THEN
            IF NOT append_first_changes(owner, change, 'Review', ids[1], books[1]) THEN
                ignored := append_change(owner, change, 'Review', ids[1]);
                ignored := append_change(owner, 'UPDATED', 'Book', books[1]);
            END IF;
        ELSE
            ignored := append_changes(owner, change, 'Review', ids);
            ignored := append_changes(owner, 'UPDATED', 'Book', books);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Deletes the review of a book before the book. The foreign key would delete it together with the reads. The years in which its rating
-- counts would not be known any more then.
CREATE OR REPLACE FUNCTION delete_review_of_book() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
BEGIN
    IF NOT EXISTS (SELECT FROM public.reviews v WHERE v.user_id = OLD.user_id AND v.book_id = OLD.id) THEN
        RETURN OLD;
    END IF;
    ignored := set_config('app.deletes_book', 'on', true);
    DELETE FROM public.reviews v
    WHERE v.user_id = OLD.user_id AND v.book_id = OLD.id;
    ignored := set_config('app.deletes_book', '', true);
    RETURN OLD;
END
$$;

-- Lists, counts, and logs books of the current user that were added with app.lists_books, as `log_created_book` would, but with one
-- statement for all. `ratings` has the ratings of their reviews in quarter stars.
-- definer: no request has the privilege to write the log and the lists.
CREATE OR REPLACE FUNCTION list_imported_books(ids uuid[], ratings smallint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
BEGIN
    PERFORM lock_user(owner);
    INSERT INTO listed_books (
        user_id, book_id, list_rank, quarter_stars, added_at, updated_at, finished_at, sort_title, sort_author, search_text
    )
    SELECT
        b.user_id, b.id, list_rank(b.status), coalesce(n.rating, 0), b.added_at, b.updated_at,
        coalesce(b.finished_at, '-infinity'), book_sort_title(b.title, b.language), book_sort_author(b.author), b.search_text
    FROM unnest(ids, ratings) AS n (id, rating)
    CROSS JOIN LATERAL (SELECT * FROM books b WHERE b.user_id = owner AND b.id = n.id OFFSET 0) b;
    UPDATE library_counts c
    SET books[1] = c.books[1] + n.did_not_finish,
        books[2] = c.books[2] + n.read,
        books[3] = c.books[3] + n.want_to_read,
        books[4] = c.books[4] + n.paused,
        books[5] = c.books[5] + n.reading,
        writes = c.writes + 1
    FROM (
        SELECT
            count(*) FILTER (WHERE b.status = 'WANT_TO_READ') AS want_to_read,
            count(*) FILTER (WHERE b.status = 'READING') AS reading,
            count(*) FILTER (WHERE b.status = 'READ') AS read,
            count(*) FILTER (WHERE b.status = 'PAUSED') AS paused,
            count(*) FILTER (WHERE b.status = 'DID_NOT_FINISH') AS did_not_finish
        FROM books b
        WHERE b.user_id = owner AND b.id = ANY(ids)
    ) n
    WHERE c.user_id = owner AND c.books IS NOT NULL;
    IF NOT FOUND THEN
        PERFORM recount_library(owner);
    END IF;
    PERFORM append_changes(owner, 'CREATED', 'Book', ids);
END
$$;

-- Counts the books of shelves, and logs the books and the shelves of added and removed rows of shelf_books, unless the book or the shelf was deleted. Runs
-- once per statement: a shelf can contain thousands of books, and all of them change when it is deleted.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_shelf_books() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
-- The planner has no statistics of transition tables.
SET enable_seqscan = off
AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
BEGIN
    FOR owner IN SELECT DISTINCT m.user_id FROM moved_rows m ORDER BY m.user_id LOOP
        ignored := pg_advisory_xact_lock(hashtextextended(owner::text, 0));
    END LOOP;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO shelf_counts AS c (user_id, shelf_id, books)
        SELECT m.user_id, m.shelf_id, count(*)
        FROM moved_rows m
        GROUP BY m.user_id, m.shelf_id
        ON CONFLICT (user_id, shelf_id) DO UPDATE
        SET books = c.books + excluded.books;
        PERFORM
        FROM moved_rows m
        WHERE m.sort_title IS NULL
        LIMIT 1;
        IF FOUND THEN
            UPDATE shelf_books s
            SET sort_title = l.sort_title, sort_author = l.sort_author
            FROM moved_rows m
            JOIN listed_books l ON l.user_id = m.user_id AND l.book_id = m.book_id
            WHERE s.user_id = m.user_id AND s.shelf_id = m.shelf_id AND s.book_id = m.book_id AND m.sort_title IS NULL;
        END IF;
        IF current_setting('app.bulk', true) = 'on' THEN
            RETURN NULL;
        END IF;
    ELSE
        UPDATE shelf_counts c
        SET books = c.books - m.books
        FROM (SELECT user_id, shelf_id, count(*) AS books FROM moved_rows GROUP BY user_id, shelf_id) m
        WHERE c.user_id = m.user_id AND c.shelf_id = m.shelf_id;
    END IF;
    ignored := set_config('app.logs_unwritten_books', 'on', true);
    -- EXECUTE plans the query each time. Otherwise a session keeps the plan of a time when the libraries were small, which reads
    -- all books of the reader for each row.
    FOR owner, ids IN EXECUTE '
        SELECT b.user_id, array_agg(b.id)
        FROM (SELECT DISTINCT m.user_id, m.book_id FROM moved_rows m) m
        JOIN books b ON b.user_id = m.user_id AND b.id = m.book_id
        GROUP BY b.user_id
        ORDER BY b.user_id'
    LOOP
        ignored := append_changes(owner, 'UPDATED', 'Book', ids);
    END LOOP;
    FOR owner, ids IN
        SELECT s.user_id, array_agg(s.id)
        FROM (SELECT DISTINCT m.user_id, m.shelf_id FROM moved_rows m) m
        JOIN shelves s ON s.user_id = m.user_id AND s.id = m.shelf_id
        GROUP BY s.user_id
        ORDER BY s.user_id
    LOOP
        ignored := append_changes(owner, 'UPDATED', 'Shelf', ids);
    END LOOP;
    RETURN NULL;
END
$$;

-- Deletes the log and the deliveries of a deleted user. It is a trigger, because a foreign key would lock the user's row for each
-- entry.
-- definer: the log and the deliveries of webhooks are closed to requests.
CREATE OR REPLACE FUNCTION delete_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    DELETE FROM changes
    WHERE user_id = OLD.id;
    DELETE FROM logs_to_prune
    WHERE user_id = OLD.id;
    IF EXISTS (SELECT FROM webhooks) THEN
        PERFORM end_webhook_user(OLD.tenant_id, OLD.id);
    END IF;
    PERFORM record_audit_event('ACCOUNT_DELETED', OLD.tenant_id, OLD.id, NULL, '{}');
    RETURN NULL;
END
$$;

-- These triggers run for each row: without transition tables, an update of one book takes half the time. Imports set app.bulk
-- or app.lists_books, and log their changes themselves. The functions check these settings, because PostgreSQL parses the WHEN condition
-- of a trigger again for each statement. Only the trigger for updates of `books` has a condition: a status change is frequent, and a function that
-- returns at once takes three times as long as a condition.
CREATE OR REPLACE TRIGGER log_changes
AFTER INSERT OR UPDATE OR DELETE ON shelves
FOR EACH ROW
EXECUTE FUNCTION log_shelf();

-- This trigger runs for each row, as above. `log_read_of_book` names the version of the row whose update it has logged.
CREATE OR REPLACE TRIGGER log_changes
AFTER UPDATE ON books
FOR EACH ROW
WHEN (OLD.ctid::text IS DISTINCT FROM current_setting('app.logged_book', true))
EXECUTE FUNCTION log_book();

-- This trigger runs for each row, as above. Its name differs, because deleted books are logged once per statement.
CREATE OR REPLACE TRIGGER log_insert
AFTER INSERT ON books
FOR EACH ROW
EXECUTE FUNCTION log_created_book();

-- A trigger, because foreign keys delete the books of an account, too.
CREATE OR REPLACE TRIGGER delete_review_of_book
BEFORE DELETE ON books
FOR EACH ROW
EXECUTE FUNCTION delete_review_of_book();

-- Once per statement: a shelf can be deleted with thousands of books, and an account with all of them.
CREATE OR REPLACE TRIGGER log_delete
AFTER DELETE ON books
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_deleted_books();

-- Once per statement, because a rating changes the counts of its reader. PostgreSQL has no triggers with transition tables for several
-- events.
CREATE OR REPLACE TRIGGER log_insert
AFTER INSERT ON reviews
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_reviews();

-- As above.
CREATE OR REPLACE TRIGGER log_update
AFTER UPDATE ON reviews
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_reviews();

-- As above.
CREATE OR REPLACE TRIGGER log_delete
AFTER DELETE ON reviews
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_reviews();

-- Once per statement: a shelf can get thousands of books.
CREATE OR REPLACE TRIGGER log_insert
AFTER INSERT ON shelf_books
REFERENCING NEW TABLE AS moved_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_shelf_books();

-- As above; foreign keys delete the rows of deleted books and shelves.
CREATE OR REPLACE TRIGGER log_delete
AFTER DELETE ON shelf_books
REFERENCING OLD TABLE AS moved_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_shelf_books();

-- A trigger instead of a foreign key, which would lock the user's row for each entry.
CREATE OR REPLACE TRIGGER delete_changes
AFTER DELETE ON users
FOR EACH ROW
EXECUTE FUNCTION delete_changes();

-- MARK: Pruning

-- Deletes entries older than the given number of days, at least one, of at most `users_max` users, those with the oldest entries
-- first. Returns the number of users.
--
-- Only the beginning of a log is deleted, up to its first newer entry: a gap would hide changes from clients. The newest entry
-- of a user remains, because it has the last number of the log.
--
-- The log has no index on the time, which every write would have to update. `logs_to_prune` has the time of the oldest entry of each log,
-- except of logs whose only entry is so old: its next entry adds the row again (append_change). Users who are changing something
-- are left for the next call; at most users_max * 20 logs are looked at.
-- definer: a job for the logs of all readers.
CREATE OR REPLACE FUNCTION prune_changes(older_than_days int, users_max int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    cutoff timestamptz := now() - greatest(1, older_than_days) * interval '1 day';
    owner uuid;
    pruned int := 0;
BEGIN
    FOR owner IN
        SELECT l.user_id
        FROM logs_to_prune l
        WHERE l.oldest_at < cutoff
        ORDER BY l.oldest_at
        LIMIT users_max * 20
    LOOP
        EXIT WHEN pruned >= users_max;
        -- The lock of lock_user.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended(owner::text, 0));
        DELETE FROM changes c
        WHERE c.user_id = owner
            AND c.seq < (
                SELECT coalesce(min(n.seq) FILTER (WHERE n.at >= cutoff), max(n.seq))
                FROM changes n
                WHERE n.user_id = owner
            );
        UPDATE logs_to_prune l
        SET oldest_at = c.at
        FROM (SELECT k.at FROM changes k WHERE k.user_id = owner ORDER BY k.seq LIMIT 1) c
        WHERE l.user_id = owner AND c.at >= cutoff;
        IF NOT FOUND THEN
            DELETE FROM logs_to_prune l
            WHERE l.user_id = owner;
        END IF;
        pruned := pruned + 1;
    END LOOP;
    RETURN pruned;
END
$$;

-- MARK: Outbox

-- Returns the oldest events that were not delivered yet.
CREATE OR REPLACE FUNCTION pending_events(rows_max int)
RETURNS TABLE (user_id uuid, id bigint, kind text, payload jsonb, created_at timestamptz)
LANGUAGE sql STABLE
AS $$
    SELECT e.user_id, e.id, e.kind, e.payload, e.created_at
    FROM events e
    WHERE e.delivered_at IS NULL
    ORDER BY e.id
    LIMIT rows_max
$$;

-- Returns the oldest events that were not delivered yet to the server that publishes events, and extends its lease. A server
-- becomes the publisher if no other one holds the lease, or if the lease has ended. Other servers get no events.
-- definer: the outbox has the events of all readers.
CREATE OR REPLACE FUNCTION take_events(holder uuid, lease_ms int, rows_max int)
RETURNS TABLE (user_id uuid, id bigint, kind text, payload jsonb, created_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    INSERT INTO leases AS l (name, holder, lease_until)
    VALUES ('events', take_events.holder, clock_timestamp() + lease_ms * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder,
        lease_until = excluded.lease_until
    WHERE l.holder = excluded.holder OR l.lease_until < clock_timestamp();
    IF FOUND THEN
        RETURN QUERY
        SELECT *
        FROM pending_events(rows_max);
    END IF;
END
$$;

-- Ends the lease of a server that shuts down, so that another one can publish events at once.
-- definer: the lease of the outbox is closed: a server can end only its own.
CREATE OR REPLACE FUNCTION release_events(holder uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    DELETE FROM leases l
    WHERE l.name = 'events' AND l.holder = release_events.holder
$$;

-- Records that the broker has confirmed events: event `ids[i]` of `user_ids[i]`.
-- definer: the outbox has the events of all readers.
CREATE OR REPLACE FUNCTION mark_events_delivered(user_ids uuid[], ids bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    UPDATE events e
    SET delivered_at = clock_timestamp()
    FROM unnest(user_ids, ids) AS delivered (user_id, id)
    WHERE e.user_id = delivered.user_id
        AND e.id = delivered.id
        AND e.delivered_at IS NULL
$$;

-- Deletes at most `rows_max` events that are older than the given number of days, at least one, and returns their number. Events
-- that were not delivered are deleted, too: without a broker, no event is ever delivered.
-- definer: a job for the events of all readers.
CREATE OR REPLACE FUNCTION prune_events(older_than_days int, rows_max int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH old AS (
        SELECT e.user_id, e.id
        FROM events e
        WHERE e.created_at < now() - greatest(1, older_than_days) * interval '1 day'
        LIMIT rows_max
    ), deleted AS (
        DELETE FROM events e
        USING old
        WHERE e.user_id = old.user_id AND e.id = old.id
        RETURNING 1
    )
    SELECT count(*)
    FROM deleted
$$;

-- Returns a number per user that changes with each entry of the change log, event, and step of an import. The number is a sum of
-- three positions, so only equality has a meaning. A server compares it with an earlier one to find changes whose notifications
-- it has missed. `place` is the same number for servers of release 0.9, which run on this schema during an upgrade.
-- definer: one statement for all readers with an open subscription.
CREATE OR REPLACE FUNCTION library_positions(users uuid[]) RETURNS TABLE (user_id uuid, "position" bigint, place bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT given.id, total.position, total.position
    FROM unnest(users) AS given (id)
    CROSS JOIN LATERAL (
        SELECT
            coalesce((SELECT max(c.seq) FROM changes c WHERE c.user_id = given.id), 0)
                + coalesce((SELECT max(e.id) FROM events e WHERE e.user_id = given.id), 0)
                + coalesce(
                    (
                        SELECT (extract(epoch FROM max(i.updated_at)) * 1000000)::bigint
                        FROM imports i
                        WHERE i.user_id = given.id
                    ),
                    0
                ) AS position
    ) total
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON changes;
CREATE POLICY owner_only ON changes TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON changes;
CREATE POLICY administration ON changes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON events;
CREATE POLICY owner_only ON events TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON events;
CREATE POLICY administration ON events TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- Only functions access the following tables.
DROP POLICY IF EXISTS administration ON logs_to_prune;
CREATE POLICY administration ON logs_to_prune TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS administration ON leases;
CREATE POLICY administration ON leases TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- Functions with the rights of the owner write the log.
GRANT SELECT ON changes TO bookplate_app;
GRANT SELECT, INSERT ON events TO bookplate_app;

REVOKE ALL ON FUNCTION append_changes, append_change, append_first_changes, log_shelf, log_created_book, log_book,
    log_deleted_books, log_reviews, log_shelf_books, delete_changes FROM PUBLIC;
REVOKE ALL ON FUNCTION prune_changes, pending_events, take_events, release_events, mark_events_delivered, prune_events,
    library_positions, list_imported_books, log_read_of_book FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_changes, take_events, release_events, mark_events_delivered, prune_events,
    library_positions, list_imported_books, log_read_of_book TO bookplate_app;
