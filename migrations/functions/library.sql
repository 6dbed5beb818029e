-- requires: accounts
-- The policies and grants of shelves, books on shelves, books, and reviews. A row is visible to its user only.

DROP POLICY IF EXISTS owner_only ON shelves;
CREATE POLICY owner_only ON shelves TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON shelves;
CREATE POLICY administration ON shelves TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON books;
CREATE POLICY owner_only ON books TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON books;
CREATE POLICY administration ON books TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON shelf_books;
CREATE POLICY owner_only ON shelf_books TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON shelf_books;
CREATE POLICY administration ON shelf_books TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON reviews;
CREATE POLICY owner_only ON reviews TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON reviews;
CREATE POLICY administration ON reviews TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON listed_books;
CREATE POLICY owner_only ON listed_books TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON listed_books;
CREATE POLICY administration ON listed_books TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON library_counts;
CREATE POLICY owner_only ON library_counts TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON library_counts;
CREATE POLICY administration ON library_counts TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON shelf_counts;
CREATE POLICY owner_only ON shelf_counts TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON shelf_counts;
CREATE POLICY administration ON shelf_counts TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- The table is closed to the server's role. Only functions in works.sql access it.
DROP POLICY IF EXISTS administration ON books_to_link;
CREATE POLICY administration ON books_to_link TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON shelves, books, reviews TO bookplate_app;
GRANT SELECT, INSERT, DELETE ON shelf_books TO bookplate_app;
-- Only triggers and functions write these tables.
GRANT SELECT ON listed_books, library_counts, shelf_counts TO bookplate_app;

-- MARK: Lists

-- The triggers and functions that log changes of books, reviews, and shelves (changes.sql) call these functions, with the same
-- privileges, before they return for an import: no statement can forget a list.

-- Counts a book under its new status, and no longer under the old one. The old status is null for a new book. The row of `listed_books`
-- is written before, and the caller holds the lock of the user unless it writes many rows.
--
-- If a transaction has written the numbers a hundred times, it forgets them, and the next one counts again: see the table.
CREATE OR REPLACE FUNCTION count_listed_book(owner uuid, old_status reading_status, new_status reading_status) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
    is_known boolean;
BEGIN
    UPDATE library_counts c
    SET want_to_read = c.want_to_read + (new_status = 'WANT_TO_READ')::int - coalesce((old_status = 'WANT_TO_READ')::int, 0),
        reading = c.reading + (new_status = 'READING')::int - coalesce((old_status = 'READING')::int, 0),
        read = c.read + (new_status = 'READ')::int - coalesce((old_status = 'READ')::int, 0),
        paused = c.paused + (new_status = 'PAUSED')::int - coalesce((old_status = 'PAUSED')::int, 0),
        did_not_finish = c.did_not_finish
            + (new_status = 'DID_NOT_FINISH')::int
            - coalesce((old_status = 'DID_NOT_FINISH')::int, 0),
        writes = CASE WHEN c.written_at < now() THEN 1 ELSE c.writes + 1 END,
        written_at = now()
    WHERE c.user_id = owner AND (c.writes < 100 OR c.written_at < now())
    RETURNING c.reading IS NOT NULL INTO is_known;
    IF is_known THEN
        RETURN;
    END IF;
    PERFORM
    FROM library_counts c
    WHERE c.user_id = owner AND c.writes >= 100 AND c.written_at >= now() AND c.reading IS NULL;
    IF NOT FOUND THEN
        ignored := recount_library(owner);
    END IF;
END
$$;

-- Counts the books of a library by their status if they are not known. If the transaction has counted many changes already, it makes them
-- unknown instead. Takes the lock of the user, so that no other transaction changes the library meanwhile.
CREATE OR REPLACE FUNCTION recount_library(owner uuid) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
BEGIN
    PERFORM lock_user(owner);
    UPDATE library_counts c
    SET want_to_read = NULL, reading = NULL, read = NULL, paused = NULL, did_not_finish = NULL
    WHERE c.user_id = owner AND c.writes >= 100 AND c.written_at >= now() AND c.reading IS NOT NULL;
    IF FOUND THEN
        RETURN;
    END IF;
    INSERT INTO library_counts AS c (user_id, want_to_read, reading, read, paused, did_not_finish)
    SELECT
        owner,
        count(*) FILTER (WHERE l.list_rank = list_rank('WANT_TO_READ')),
        count(*) FILTER (WHERE l.list_rank = list_rank('READING')),
        count(*) FILTER (WHERE l.list_rank = list_rank('READ')),
        count(*) FILTER (WHERE l.list_rank = list_rank('PAUSED')),
        count(*) FILTER (WHERE l.list_rank = list_rank('DID_NOT_FINISH'))
    FROM listed_books l
    WHERE l.user_id = owner
    ON CONFLICT (user_id) DO UPDATE
    SET want_to_read = excluded.want_to_read,
        reading = excluded.reading,
        read = excluded.read,
        paused = excluded.paused,
        did_not_finish = excluded.did_not_finish;
END
$$;

-- Changes the texts of a book in the lists. A trigger of `books` calls it before the row is written.
-- definer: requests may not write the lists.
CREATE OR REPLACE FUNCTION relist_texts(
    owner uuid, book uuid, added timestamptz, title text, author text, language text, searched text
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    new_title text := book_sort_title(title, language);
    new_author text := book_sort_author(author);
BEGIN
    -- Requests may execute the function, because the trigger runs with their privileges, but not call it themselves.
    IF pg_trigger_depth() = 0 THEN
        RAISE insufficient_privilege USING MESSAGE = 'relist_texts is only called by a trigger';
    END IF;
    UPDATE listed_books l
    SET added_at = added,
        sort_title = new_title,
        sort_author = new_author,
        search_text = searched
    WHERE l.user_id = owner AND l.book_id = book;
    UPDATE shelf_books s
    SET sort_title = new_title, sort_author = new_author
    WHERE s.user_id = owner
        AND s.book_id = book
        AND (s.sort_title COLLATE "C", s.sort_author COLLATE "C") IS DISTINCT FROM (new_title, new_author);
END
$$;

REVOKE ALL ON FUNCTION count_listed_book, recount_library, relist_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION relist_texts TO bookplate_app;
