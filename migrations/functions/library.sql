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
GRANT SELECT, INSERT, DELETE, UPDATE (position) ON shelf_books TO bookplate_app;
-- Only triggers and functions write these tables.
GRANT SELECT ON listed_books, library_counts, shelf_counts TO bookplate_app;

-- MARK: The order of a shelf

-- Returns the shortest position between two others, which are the digits of fractions: 45 for 4 and 5, and 42 for 4 and 45. Returns null
-- if they are equal.
CREATE OR REPLACE FUNCTION position_between(lower text, upper text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    first CONSTANT numeric := ('0.' || lower)::numeric;
    last CONSTANT numeric := ('0.' || upper)::numeric;
    middle CONSTANT numeric := (first + last) * 0.5;
    rounded numeric;
BEGIN
    IF first >= last THEN
        RETURN NULL;
    END IF;
    FOR digits IN 1..scale(middle) LOOP
        rounded := round(middle, digits);
        IF rounded > first AND rounded < last THEN
            RETURN substr(rounded::text, 3);
        END IF;
    END LOOP;
END
$$;

-- Puts a book on a shelf directly before or after another one, `anchor`, or at the end if that is null or not on the shelf. Returns what is
-- wrong: SHELF or BOOK if it does not exist, or null. A book that has the place already does not move.
--
-- Each placement at the same place makes positions longer, by a digit for about three of them. When a position would have more than 200
-- digits, or if two books have the same one, all books of the shelf first get new positions in their order.
CREATE OR REPLACE FUNCTION place_book(owner uuid, shelf uuid, book uuid, anchor uuid, is_before boolean) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    kept text;
    found text;
    placed text;
    neighbor shelf_books;
BEGIN
    -- Two devices may place books at the same time.
    PERFORM lock_user(owner);
    IF NOT EXISTS (SELECT FROM shelves s WHERE s.user_id = owner AND s.id = shelf) THEN
        RETURN 'SHELF';
    ELSIF NOT EXISTS (SELECT FROM books b WHERE b.user_id = owner AND b.id = book) THEN
        RETURN 'BOOK';
    END IF;
    SELECT s.position INTO kept
    FROM shelf_books s
    WHERE s.user_id = owner AND s.shelf_id = shelf AND s.book_id = book;
    IF kept IS NOT NULL AND anchor = book THEN
        RETURN NULL;
    END IF;
    LOOP
        SELECT s.position INTO found
        FROM shelf_books s
        WHERE s.user_id = owner AND s.shelf_id = shelf AND s.book_id = anchor;
        IF found IS NOT NULL AND is_before THEN
            SELECT s.* INTO neighbor
            FROM shelf_books s
            WHERE s.user_id = owner AND s.shelf_id = shelf AND (s.position, s.book_id) < (found, anchor)
            ORDER BY s.position DESC, s.book_id DESC
            LIMIT 1;
            placed := position_between(coalesce(neighbor.position, '0'), found);
        ELSE
            SELECT s.* INTO neighbor
            FROM shelf_books s
            WHERE s.user_id = owner AND s.shelf_id = shelf AND (s.position, s.book_id) > (found, anchor)
            ORDER BY s.position, s.book_id
            LIMIT 1;
            placed := position_between(found, neighbor.position);
            IF neighbor.position IS NULL THEN
                SELECT s.* INTO neighbor
                FROM shelf_books s
                WHERE s.user_id = owner AND s.shelf_id = shelf
                ORDER BY s.position DESC, s.book_id DESC
                LIMIT 1;
                placed := last_shelf_position();
                -- The clock may be behind.
                IF placed <= neighbor.position THEN
                    placed := neighbor.position || '5';
                END IF;
            END IF;
        END IF;
        -- The book has the place already.
        IF neighbor.book_id = book THEN
            RETURN NULL;
        END IF;
        EXIT WHEN length(placed) <= 200;
        UPDATE shelf_books s
        SET position = lpad(o.number::text, 10, '0')
        FROM (
            SELECT p.book_id, row_number() OVER (ORDER BY p.position, p.book_id) AS number
            FROM shelf_books p
            WHERE p.user_id = owner AND p.shelf_id = shelf
        ) o
        WHERE s.user_id = owner AND s.shelf_id = shelf AND s.book_id = o.book_id;
    END LOOP;
    IF kept IS NULL THEN
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author, position)
        SELECT owner, shelf, l.book_id, l.added_at, l.sort_title, l.sort_author, placed
        FROM listed_books l
        WHERE l.user_id = owner AND l.book_id = book;
    ELSE
        UPDATE shelf_books s
        SET position = placed
        WHERE s.user_id = owner AND s.shelf_id = shelf AND s.book_id = book;
        -- Logs the shelf.
        UPDATE shelves s
        SET updated_at = now()
        WHERE s.user_id = owner AND s.id = shelf;
    END IF;
    RETURN NULL;
END
$$;

-- Removes a book from the queue of the books to read next if its new status says that the reader has started it. The triggers that log
-- changes of books call this function for each change of a status.
CREATE OR REPLACE FUNCTION leave_up_next(owner uuid, book uuid, new_status reading_status) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    shelf uuid;
BEGIN
    IF new_status IN ('WANT_TO_READ', 'PAUSED') THEN
        RETURN;
    END IF;
    SELECT s.shelf_id INTO shelf
    FROM shelves h
    JOIN shelf_books s ON s.user_id = owner AND s.shelf_id = h.id AND s.book_id = book
    WHERE h.user_id = owner AND h.is_up_next;
    IF FOUND THEN
        DELETE FROM shelf_books s
        WHERE s.user_id = owner AND s.shelf_id = shelf AND s.book_id = book;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION leave_up_next FROM PUBLIC;

-- MARK: Lists

-- The triggers and functions that log changes of books, reviews, and shelves (changes.sql) call these functions, with the same
-- privileges, before they return for an import: no statement can forget a list.

-- Counts a book under its new rank (`list_rank`), and no longer under the old one, which is null for a new book. The triggers that log
-- changes update the numbers themselves, and call this function only when there is no row with fewer than 100 `writes`. The row of
-- `listed_books` is written before, and the caller holds the lock of the user unless it writes many rows.
--
-- If the last write was by an earlier transaction, the writes are counted from 1 again. Otherwise they are counted up to 200. At that
-- number, this transaction has written the numbers at least 100 times. It forgets them, and the next one counts the books again: see the
-- table.
CREATE OR REPLACE FUNCTION count_listed_book(owner uuid, old_rank smallint, new_rank smallint) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
    -- As in `append_change`, the age of the current transaction and its subtransactions is not positive.
    is_own boolean;
    is_known boolean;
BEGIN
    SELECT age(c.xmin) <= 0, c.books IS NOT NULL
    INTO is_own, is_known
    FROM library_counts c
    WHERE c.user_id = owner;
    IF NOT is_known AND is_own THEN
        RETURN;
    ELSIF is_known THEN
        UPDATE library_counts c
        SET books[new_rank] = c.books[new_rank] + 1,
            writes = CASE WHEN is_own THEN c.writes + 1 ELSE 1 END
        WHERE c.user_id = owner AND c.books IS NOT NULL AND NOT (is_own AND c.writes >= 200);
        IF FOUND THEN
            IF old_rank IS NOT NULL THEN
                UPDATE library_counts c
                SET books[old_rank] = c.books[old_rank] - 1
                WHERE c.user_id = owner;
            END IF;
        ELSE
            -- Sets `writes`, too: another transaction may have counted the books since the statement before.
            UPDATE library_counts c
            SET books = NULL,
                writes = 200
            WHERE c.user_id = owner;
        END IF;
    ELSE
        ignored := recount_library(owner);
    END IF;
END
$$;

-- Counts the books of a library by their status. Takes the lock of the user, so that no other transaction changes the library meanwhile.
CREATE OR REPLACE FUNCTION recount_library(owner uuid) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
BEGIN
    PERFORM lock_user(owner);
    INSERT INTO library_counts AS c (user_id, books)
    SELECT
        owner,
        ARRAY[
            count(*) FILTER (WHERE l.list_rank = 1),
            count(*) FILTER (WHERE l.list_rank = 2),
            count(*) FILTER (WHERE l.list_rank = 3),
            count(*) FILTER (WHERE l.list_rank = 4),
            count(*) FILTER (WHERE l.list_rank = 5)
        ]
    FROM listed_books l
    WHERE l.user_id = owner
    ON CONFLICT (user_id) DO UPDATE
    SET books = excluded.books,
        writes = 1;
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
