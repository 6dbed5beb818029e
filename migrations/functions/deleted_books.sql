-- requires: accounts, covers, works
-- Deleting books of a reader's library, and restoring them.

-- Returns how long a deleted book can be restored.
CREATE OR REPLACE FUNCTION restorable_for() RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT interval '30 days'
$$;

-- Deletes books such that they can be restored. The triggers run after both parts of the statement, and so find the covers in
-- `stored_covers`. Ids of books that do not exist are ignored. Returns the deleted books with the
-- shelves that they were on.
CREATE OR REPLACE FUNCTION delete_books(owner uuid, ids uuid[])
RETURNS TABLE (book_id uuid, title text, author text, genre text, shelf_ids uuid[])
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH stored AS (
        INSERT INTO deleted_books (
            user_id, id, book, review, cover, shelf_ids, shelf_positions, reads, progress_entries, notes, copies, ereader_position
        )
        SELECT
            owner,
            b.id,
            to_jsonb(b),
            (
                SELECT to_jsonb(r)
                FROM reviews r
                WHERE r.user_id = owner AND r.book_id = b.id
            ),
            (
                SELECT to_jsonb(c)
                FROM covers c
                WHERE c.user_id = owner AND c.book_id = b.id
            ),
            ARRAY(
                SELECT s.shelf_id
                FROM shelf_books s
                JOIN shelves h ON h.user_id = s.user_id AND h.id = s.shelf_id
                WHERE s.user_id = owner AND s.book_id = b.id
                ORDER BY h.name, h.id
            ),
            ARRAY(
                SELECT s.position
                FROM shelf_books s
                JOIN shelves h ON h.user_id = s.user_id AND h.id = s.shelf_id
                WHERE s.user_id = owner AND s.book_id = b.id
                ORDER BY h.name, h.id
            ),
            (
                SELECT jsonb_agg(to_jsonb(r))
                FROM reads r
                WHERE r.user_id = owner AND r.book_id = b.id
            ),
            (
                SELECT jsonb_agg(to_jsonb(p))
                FROM reads r
                JOIN progress_entries p ON p.user_id = owner AND p.read_id = r.id
                WHERE r.user_id = owner AND r.book_id = b.id
            ),
            (
                SELECT jsonb_agg(to_jsonb(n))
                FROM notes n
                WHERE n.user_id = owner AND n.book_id = b.id
            ),
            (
                SELECT jsonb_agg(to_jsonb(c))
                FROM book_copies c
                WHERE c.user_id = owner AND c.book_id = b.id
            ),
            (
                SELECT to_jsonb(p)
                FROM ereader_positions p
                WHERE p.user_id = owner AND p.book_id = b.id
            )
        FROM books b
        WHERE b.user_id = owner AND b.id = ANY(ids)
        -- Another book may have had the id before.
        ON CONFLICT (user_id, id) DO UPDATE
        SET deleted_at = excluded.deleted_at,
            book = excluded.book,
            review = excluded.review,
            cover = excluded.cover,
            shelf_ids = excluded.shelf_ids,
            shelf_positions = excluded.shelf_positions,
            reads = excluded.reads,
            progress_entries = excluded.progress_entries,
            notes = excluded.notes,
            copies = excluded.copies,
            ereader_position = excluded.ereader_position
        RETURNING id, shelf_ids
    ), no_covers AS (
        -- One statement for all books: a foreign key deletes the rows of each book by a statement of its own, whose triggers
        -- run again.
        DELETE FROM covers c
        WHERE c.user_id = owner AND c.book_id = ANY(ids)
    ), no_shelves AS (
        DELETE FROM shelf_books s
        WHERE s.user_id = owner AND s.book_id = ANY(ids)
    ), deleted AS (
        DELETE FROM books b
        WHERE b.user_id = owner AND b.id = ANY(ids)
        RETURNING b.id, b.title, b.author, b.genre
    )
    -- RETURN QUERY requires the exact types, and these columns have domains.
    SELECT b.id, b.title::text, b.author::text, b.genre::text, s.shelf_ids
    FROM deleted b
    JOIN stored s ON s.id = b.id;
END
$$;

-- Inserts rows that were stored as a JSON array. Columns that were added to the table since then get their defaults. Rows
-- whose key is in use are left out.
CREATE OR REPLACE FUNCTION insert_stored_rows(target regclass, stored jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    columns text;
BEGIN
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns
    FROM pg_attribute a
    WHERE a.attrelid = target
        AND a.attnum > 0
        AND NOT a.attisdropped
        AND a.attgenerated = ''
        AND stored -> 0 ? a.attname;
    EXECUTE format(
        'INSERT INTO %1$s (%2$s) SELECT %2$s FROM jsonb_populate_recordset(NULL::%1$s, $1) ON CONFLICT DO NOTHING',
        target, columns
    )
    USING stored;
END
$$;

-- Restores a deleted book with its review, its reads, its notes, its copies, its cover, the last position of an e-reader, and
-- those of its shelves that still exist. The outcome is RESTORED, EXISTS if the library has the book, NOT_FOUND if it was never deleted or can no
-- longer be restored, or CONFLICT if another book, `other_id`, has its ISBN or its edition.
CREATE OR REPLACE FUNCTION restore_book(owner uuid, restored_id uuid, OUT outcome text, OUT other_id uuid)
LANGUAGE plpgsql
AS $$
DECLARE
    stored deleted_books;
    book books;
BEGIN
    outcome := 'EXISTS';
    IF EXISTS (SELECT FROM books b WHERE b.user_id = owner AND b.id = restored_id) THEN
        RETURN;
    END IF;
    -- A purge that is running either waits for this transaction or makes the row disappear.
    SELECT d.* INTO stored
    FROM deleted_books d
    WHERE d.user_id = owner AND d.id = restored_id AND d.deleted_at > now() - restorable_for()
    FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'NOT_FOUND';
        RETURN;
    END IF;

    book := jsonb_populate_record(NULL::books, stored.book);
    -- The catalog may have deleted the edition. A link by title does not identify the edition, so it is made again below.
    IF book.linked_by = 'TITLE' OR NOT EXISTS (SELECT FROM editions e WHERE e.id = book.edition_id) THEN
        book.edition_id := NULL;
        book.linked_by := 'CARD';
    END IF;
    SELECT b.id INTO other_id
    FROM books b
    WHERE b.user_id = owner AND (b.isbn13 = book.isbn13 OR b.edition_id = book.edition_id)
    ORDER BY b.isbn13 IS NOT DISTINCT FROM book.isbn13 DESC
    LIMIT 1;
    IF FOUND THEN
        outcome := 'CONFLICT';
        RETURN;
    END IF;

    PERFORM insert_stored_rows(
        'books',
        jsonb_build_array(
            stored.book || jsonb_build_object(
                'edition_id', book.edition_id,
                'linked_by', book.linked_by,
                -- A cover search that was running has ended without the book.
                'cover_requested_at', NULL,
                'cover_status', CASE
                    WHEN stored.cover IS NOT NULL THEN 'READY'
                    WHEN book.cover_status IN ('READY', 'FETCHING') THEN 'NO_COVER'
                    ELSE book.cover_status::text
                END
            )
        )
    );
    PERFORM link_books(ARRAY[owner], ARRAY[restored_id]);
    IF stored.review IS NOT NULL THEN
        -- An import may have stored a review with the same id.
        IF EXISTS (SELECT FROM reviews r WHERE r.user_id = owner AND r.id = (stored.review ->> 'id')::uuid) THEN
            stored.review := stored.review || jsonb_build_object('id', gen_random_uuid());
        END IF;
        PERFORM insert_stored_rows('reviews', jsonb_build_array(stored.review));
    END IF;
    IF stored.cover IS NOT NULL THEN
        PERFORM insert_stored_rows('covers', jsonb_build_array(stored.cover));
    END IF;
    IF stored.reads IS NOT NULL THEN
        PERFORM insert_stored_rows('reads', stored.reads);
        -- An import may have stored a read with the same id for another book.
        stored.progress_entries := (
            SELECT jsonb_agg(p)
            FROM jsonb_array_elements(stored.progress_entries) AS p
            JOIN reads r ON r.user_id = owner AND r.id = (p ->> 'read_id')::uuid AND r.book_id = restored_id
        );
        IF stored.progress_entries IS NOT NULL THEN
            PERFORM insert_stored_rows('progress_entries', stored.progress_entries);
        END IF;
    END IF;
    IF stored.notes IS NOT NULL THEN
        -- Another book may have a note with the same id by now.
        PERFORM insert_stored_rows(
            'notes',
            (
                SELECT jsonb_agg(
                    CASE
                        WHEN EXISTS (SELECT FROM notes k WHERE k.user_id = owner AND k.id = (n ->> 'id')::uuid)
                            THEN n || jsonb_build_object('id', gen_random_uuid())
                        ELSE n
                    END
                )
                FROM jsonb_array_elements(stored.notes) AS n
            )
        );
    END IF;
    IF stored.copies IS NOT NULL THEN
        -- Another book may have a copy with the same id by now.
        PERFORM insert_stored_rows(
            'book_copies',
            (
                SELECT jsonb_agg(
                    CASE
                        WHEN EXISTS (SELECT FROM book_copies k WHERE k.user_id = owner AND k.id = (c ->> 'id')::uuid)
                            THEN c || jsonb_build_object('id', gen_random_uuid())
                        ELSE c
                    END
                )
                FROM jsonb_array_elements(stored.copies) AS c
            )
        );
    END IF;
    IF stored.ereader_position IS NOT NULL THEN
        PERFORM insert_stored_rows('ereader_positions', jsonb_build_array(stored.ereader_position));
    END IF;
    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author, position)
    SELECT
        owner, s.id, restored_id, book.added_at, book_sort_title(book.title, book.language), book_sort_author(book.author),
        coalesce(p.position, last_shelf_position())
    FROM unnest(stored.shelf_ids, stored.shelf_positions) AS p (shelf_id, position)
    JOIN shelves s ON s.user_id = owner AND s.id = p.shelf_id
    ON CONFLICT DO NOTHING;
    DELETE FROM deleted_books d
    WHERE d.user_id = owner AND d.id = restored_id;
    outcome := 'RESTORED';
END
$$;

-- Deletes at most `rows_max` books for good that can no longer be restored, and returns their number. The documents of e-readers
-- lose their links to these books. A sweep of the object store removes the files of the covers.
-- definer: a job for the books of all readers.
CREATE OR REPLACE FUNCTION purge_deleted_books(rows_max int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH old AS MATERIALIZED (
        SELECT d.user_id, d.id
        FROM deleted_books d
        WHERE d.deleted_at <= now() - restorable_for()
        ORDER BY d.deleted_at
        LIMIT rows_max
        FOR UPDATE SKIP LOCKED
    ), purged AS (
        DELETE FROM deleted_books d
        USING old
        WHERE d.user_id = old.user_id AND d.id = old.id
        RETURNING 1
    ), unlinked AS (
        UPDATE ereader_documents d
        SET book_id = NULL
        FROM old
        WHERE d.user_id = old.user_id
            AND d.book_id = old.id
            -- The reader may have added a book with the same id since then.
            AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = old.user_id AND b.id = old.id)
    )
    SELECT count(*)
    FROM purged
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON deleted_books;
CREATE POLICY owner_only ON deleted_books TO bookplate_app
    USING (user_id = app_user_id())
    -- The trigger counts the cover for the tenant that it names.
    WITH CHECK (
        user_id = app_user_id()
        AND (
            cover IS NULL
            OR (
                (cover ->> 'tenant_id')::uuid = app_tenant_id()
                AND (cover ->> 'user_id')::uuid = user_id
                AND (cover ->> 'book_id')::uuid = id
            )
        )
    );
DROP POLICY IF EXISTS administration ON deleted_books;
CREATE POLICY administration ON deleted_books TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON deleted_books TO bookplate_app;

REVOKE ALL ON FUNCTION purge_deleted_books FROM PUBLIC;
GRANT EXECUTE ON FUNCTION purge_deleted_books TO bookplate_app;
