-- requires: accounts
-- Covers of readers' books: storing, searching, removal, and the storage that they use.

-- MARK: Storage use

-- Returns the bytes of the three files of a cover together.
CREATE OR REPLACE FUNCTION cover_bytes(byte_counts int[]) RETURNS bigint
LANGUAGE sql IMMUTABLE
AS $$
    SELECT byte_counts[1]::bigint + byte_counts[2] + byte_counts[3]
$$;

-- The covers whose files must stay in the object store: those of books, those of deleted books that can be restored, and those of
-- merged guests until their files are copied. `user_id` and `book_id` name the files. `owner_id` is the account whose storage they use.
CREATE OR REPLACE VIEW stored_covers WITH (security_invoker = true) AS
SELECT user_id, book_id, tenant_id, version, width, height, byte_counts, hashes, false AS is_deleted,
    user_id AS owner_id
FROM covers
UNION ALL
SELECT d.user_id, d.id, c.tenant_id, c.version, c.width, c.height, c.byte_counts, c.hashes, true, d.user_id
FROM deleted_books d
CROSS JOIN LATERAL jsonb_populate_record(NULL::covers, d.cover) c
WHERE d.cover IS NOT NULL
UNION ALL
SELECT m.guest_id, m.guest_book_id, c.tenant_id, c.version, c.width, c.height, c.byte_counts, c.hashes, true, m.user_id
FROM moving_covers m
CROSS JOIN LATERAL jsonb_populate_record(NULL::covers, m.cover) c;

-- Adds stored covers to the storage that their tenants use, or subtracts them if `sign` is -1. Once per statement, because each
-- update of a row within one transaction makes the next one slower: a shelf or an account can have 50,000 covers.
CREATE OR REPLACE FUNCTION count_covers(stored covers[], sign int) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    changed record;
BEGIN
    FOR changed IN
        SELECT
            c.tenant_id,
            abs(hashtext(c.user_id::text) % 16)::smallint AS part,
            sign * sum(cover_bytes(c.byte_counts)) AS bytes,
            sign * count(*) AS covers
        FROM unnest(stored) c
        GROUP BY 1, 2
        ORDER BY 1, 2
    LOOP
        UPDATE tenant_storage t
        SET bytes = t.bytes + changed.bytes,
            covers = t.covers + changed.covers
        WHERE t.tenant_id = changed.tenant_id AND t.part = changed.part;
        -- Nothing is subtracted after the tenant was deleted.
        IF NOT FOUND AND sign = 1 THEN
            INSERT INTO tenant_storage AS t (tenant_id, part, bytes, covers)
            VALUES (changed.tenant_id, changed.part, changed.bytes, changed.covers)
            ON CONFLICT ON CONSTRAINT tenant_storage_pkey DO UPDATE
            SET bytes = t.bytes + excluded.bytes,
                covers = t.covers + excluded.covers;
        END IF;
    END LOOP;
END
$$;

-- Records that rows have lost their versions, so that the files are deleted later, unless another row has them. Deleting an
-- account records none, because it removes the user's folder.
CREATE OR REPLACE FUNCTION record_removed_covers(lost covers[]) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO removed_covers (user_id, book_id, version)
    SELECT l.user_id, l.book_id, l.version
    FROM unnest(lost) l
    WHERE EXISTS (
            SELECT
            FROM users u
            WHERE u.id = l.user_id
        )
        AND NOT EXISTS (
            SELECT
            FROM covers c
            WHERE c.user_id = l.user_id AND c.book_id = l.book_id AND c.version = l.version
        )
        AND NOT EXISTS (
            SELECT
            FROM deleted_books d
            WHERE d.user_id = l.user_id AND d.id = l.book_id AND d.cover ->> 'version' = l.version
        )
    ON CONFLICT DO NOTHING
$$;

-- Runs after covers are stored, replaced, or removed by any statement:
-- 1. Rejects a version whose files may be removed already, however late the transaction comes.
-- 2. Records an event for devices and brokers for each book that has another version now.
-- 3. Records the versions that lost their rows (record_removed_covers).
-- 4. Updates the storage that the tenants use.
-- definer: no request can write the storage that a tenant uses, except by storing a cover.
CREATE OR REPLACE FUNCTION record_covers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    stored covers[] := ARRAY[]::covers[];
    lost covers[] := ARRAY[]::covers[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        stored := ARRAY(SELECT n::covers FROM new_rows n);
    ELSIF TG_OP = 'DELETE' THEN
        lost := ARRAY(SELECT o::covers FROM old_rows o);
    ELSE
        SELECT coalesce(array_agg(n::covers), '{}'), coalesce(array_agg(o::covers), '{}') INTO stored, lost
        FROM new_rows n
        JOIN old_rows o USING (user_id, book_id)
        WHERE n.version <> o.version;
    END IF;
    -- Foreign keys run a statement for each deleted book, and most of these change nothing.
    IF stored <> '{}' THEN
        IF EXISTS (
            SELECT
            FROM unnest(stored) s
            JOIN removed_covers r USING (user_id, book_id, version)
        ) THEN
            RAISE EXCEPTION 'LATE_IMAGE' USING ERRCODE = 'BP409';
        END IF;
        INSERT INTO events (user_id, kind, payload)
        SELECT
            s.user_id,
            'cover_changed',
            jsonb_build_object('book_id', s.book_id, 'status', 'READY', 'source', s.source, 'version', s.version)
        FROM unnest(stored) s;
    END IF;
    IF lost <> '{}' THEN
        PERFORM record_removed_covers(lost);
        PERFORM count_covers(lost, -1);
    END IF;
    IF stored <> '{}' THEN
        PERFORM count_covers(stored, 1);
    END IF;
    RETURN NULL;
END
$$;

-- Triggers, because covers also disappear with their books and accounts, which no statement here deletes. PostgreSQL has no
-- triggers with transition tables for several events.
CREATE OR REPLACE TRIGGER record_insert
AFTER INSERT ON covers
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION record_covers();

-- As above, with the old rows, because a new version of a cover replaces one.
CREATE OR REPLACE TRIGGER record_update
AFTER UPDATE ON covers
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION record_covers();

-- As above; foreign keys delete covers.
CREATE OR REPLACE TRIGGER record_delete
AFTER DELETE ON covers
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION record_covers();

-- Records the versions and the storage of the covers of deleted books, as record_covers does for those of books. These covers are
-- dropped when the books are restored, purged, or deleted again, or when a new cover needs their space. delete_books inserts the
-- rows before it deletes the books, and restore_book deletes the row after the book has its cover again, so the version is always
-- in one of the two tables.
-- definer: no request can write the storage that a tenant uses, except by deleting a book.
CREATE OR REPLACE FUNCTION record_deleted_covers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    stored covers[] := ARRAY[]::covers[];
    lost covers[] := ARRAY[]::covers[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        stored := ARRAY(
            SELECT jsonb_populate_record(NULL::covers, n.cover)
            FROM new_rows n
            WHERE n.cover IS NOT NULL
        );
    ELSIF TG_OP = 'DELETE' THEN
        lost := ARRAY(
            SELECT jsonb_populate_record(NULL::covers, o.cover)
            FROM old_rows o
            WHERE o.cover IS NOT NULL
        );
    ELSE
        SELECT
            coalesce(array_agg(jsonb_populate_record(NULL::covers, n.cover)) FILTER (WHERE n.cover IS NOT NULL), '{}'),
            coalesce(array_agg(jsonb_populate_record(NULL::covers, o.cover)) FILTER (WHERE o.cover IS NOT NULL), '{}')
            INTO stored, lost
        FROM new_rows n
        JOIN old_rows o USING (user_id, id)
        WHERE n.cover IS DISTINCT FROM o.cover;
    END IF;
    IF lost <> '{}' THEN
        PERFORM record_removed_covers(lost);
        PERFORM count_covers(lost, -1);
    END IF;
    IF stored <> '{}' THEN
        PERFORM count_covers(stored, 1);
    END IF;
    RETURN NULL;
END
$$;

-- Triggers for the same reasons as those of covers.
CREATE OR REPLACE TRIGGER record_insert
AFTER INSERT ON deleted_books
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION record_deleted_covers();

-- As above, with the old rows: a book that is deleted again replaces its row.
CREATE OR REPLACE TRIGGER record_update
AFTER UPDATE ON deleted_books
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION record_deleted_covers();

-- As above; foreign keys delete the rows of deleted accounts.
CREATE OR REPLACE TRIGGER record_delete
AFTER DELETE ON deleted_books
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION record_deleted_covers();

-- Counts the covers of merged guests while their files are copied. The row of the guest has lost them, and that of the account
-- does not have them yet.
-- definer: no request can write the storage that a tenant uses, except by merging a guest.
CREATE OR REPLACE FUNCTION count_moving_covers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM count_covers(ARRAY(SELECT jsonb_populate_record(NULL::covers, n.cover) FROM new_rows n), 1);
    ELSE
        PERFORM count_covers(ARRAY(SELECT jsonb_populate_record(NULL::covers, o.cover) FROM old_rows o), -1);
    END IF;
    RETURN NULL;
END
$$;

-- Triggers, so that the counts are those of the rows, whichever statement adds or removes them.
CREATE OR REPLACE TRIGGER count_insert
AFTER INSERT ON moving_covers
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION count_moving_covers();

-- As above; foreign keys delete the rows of deleted accounts.
CREATE OR REPLACE TRIGGER count_delete
AFTER DELETE ON moving_covers
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT
EXECUTE FUNCTION count_moving_covers();

-- Whether a reader has chosen the cover. The others were found by a search.
CREATE OR REPLACE FUNCTION is_chosen_cover(source cover_source) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT source IN ('MANUAL_UPLOAD', 'URL')
$$;

-- Drops the covers of deleted books of a user, the oldest first, until they have freed the given number of bytes.
CREATE OR REPLACE FUNCTION drop_deleted_covers(owner uuid, bytes_needed bigint) RETURNS void
LANGUAGE sql
AS $$
    UPDATE deleted_books d
    SET cover = NULL
    FROM (
        SELECT
            c.book_id,
            sum(cover_bytes(c.byte_counts)) OVER (ORDER BY b.deleted_at, b.id) - cover_bytes(c.byte_counts) AS freed_before
        FROM stored_covers c
        JOIN deleted_books b ON b.user_id = c.user_id AND b.id = c.book_id
        WHERE c.user_id = owner AND c.is_deleted
    ) oldest
    WHERE d.user_id = owner AND d.id = oldest.book_id AND oldest.freed_before < bytes_needed
$$;

-- MARK: Storing a cover

-- Makes a version the cover of a book. Returns the book's version after that, which is the previous one if it is the same
-- image, or if it is newer than `unless_newer_than`.
--
-- Only a call with `unless_newer_than` = null counts as a change of the book by its reader (books.updated_at).
CREATE OR REPLACE FUNCTION set_cover(
    user_id uuid, book_id uuid, version text, source cover_source, width int, height int,
    dominant_color text, blur_hash text, byte_counts int[], hashes bytea[], unless_newer_than timestamptz
) RETURNS text
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    tenant tenants;
    current covers;
    status cover_status;
    added bigint := cover_bytes(set_cover.byte_counts);
    -- The bytes of the cover that is replaced.
    replaced bigint;
    excess bigint;
BEGIN
    -- The lock serializes concurrent covers of one book, and waits for a transaction that deletes the book.
    SELECT b.cover_status INTO status
    FROM books b
    WHERE b.user_id = set_cover.user_id AND b.id = set_cover.book_id
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'NO_SUCH_BOOK' USING ERRCODE = 'BP404';
    END IF;
    SELECT * INTO current
    FROM covers c
    WHERE c.user_id = set_cover.user_id AND c.book_id = set_cover.book_id;
    IF current.updated_at > unless_newer_than THEN
        RETURN current.version;
    END IF;

    SELECT t.* INTO tenant
    FROM tenants t
    JOIN users u ON u.tenant_id = t.id
    WHERE u.id = set_cover.user_id;
    -- The covers of deleted books use the storage, but a new cover may replace them.
    excess := added - tenant.user_storage_bytes_max + (
        SELECT coalesce(sum(cover_bytes(c.byte_counts)), 0)
        FROM stored_covers c
        WHERE c.owner_id = set_cover.user_id AND (c.book_id <> set_cover.book_id OR c.is_deleted)
    );
    IF excess > 0 THEN
        PERFORM drop_deleted_covers(set_cover.user_id, excess);
        IF added - tenant.user_storage_bytes_max + (
            SELECT coalesce(sum(cover_bytes(c.byte_counts)), 0)
            FROM stored_covers c
            WHERE c.owner_id = set_cover.user_id AND (c.book_id <> set_cover.book_id OR c.is_deleted)
        ) > 0 THEN
            RAISE EXCEPTION 'COVER_STORAGE_USED' USING ERRCODE = 'BP413';
        END IF;
    END IF;
    replaced := coalesce(cover_bytes(current.byte_counts), 0);
    excess := added - replaced - tenant.storage_bytes_max + (
        SELECT coalesce(sum(s.bytes), 0)
        FROM tenant_storage s
        WHERE s.tenant_id = tenant.id
    );
    IF excess > 0 THEN
        PERFORM drop_deleted_covers(set_cover.user_id, excess);
        IF added - replaced - tenant.storage_bytes_max + (
            SELECT coalesce(sum(s.bytes), 0)
            FROM tenant_storage s
            WHERE s.tenant_id = tenant.id
        ) > 0 THEN
            RAISE EXCEPTION 'SERVER_STORAGE_FULL' USING ERRCODE = 'BP413';
        END IF;
    END IF;

    UPDATE books b
    SET cover_status = 'READY',
        cover_requested_at = NULL,
        is_cover_removed = false,
        updated_at = CASE WHEN unless_newer_than IS NULL THEN now() ELSE b.updated_at END
    WHERE b.user_id = set_cover.user_id AND b.id = set_cover.book_id;
    -- Versions of the same image differ in their last 16 digits only.
    IF left(current.version, 16) = left(set_cover.version, 16) THEN
        UPDATE covers c
        SET source = set_cover.source
        WHERE c.user_id = set_cover.user_id AND c.book_id = set_cover.book_id AND c.source <> set_cover.source;
        IF status <> 'READY' THEN
            PERFORM record_unchanged_cover_event(set_cover.user_id, set_cover.book_id);
        END IF;
        RETURN current.version;
    END IF;
    INSERT INTO covers (
        user_id, book_id, tenant_id, version, source, width, height, dominant_color, blur_hash, byte_counts, hashes
    )
    VALUES (
        set_cover.user_id, set_cover.book_id, tenant.id, set_cover.version, set_cover.source,
        set_cover.width, set_cover.height, set_cover.dominant_color, set_cover.blur_hash,
        set_cover.byte_counts, set_cover.hashes
    )
    ON CONFLICT (user_id, book_id) DO UPDATE
    SET version = excluded.version,
        source = excluded.source,
        width = excluded.width,
        height = excluded.height,
        dominant_color = excluded.dominant_color,
        blur_hash = excluded.blur_hash,
        byte_counts = excluded.byte_counts,
        hashes = excluded.hashes,
        updated_at = excluded.updated_at;
    RETURN set_cover.version;
END
$$;

-- MARK: Searching a cover

-- Ends a search that did not set a cover: the book gets the given status, or READY if it has a cover. Does nothing if the
-- book does not wait for this search any more. `is_answered`: all sources answered, and none has a cover.
CREATE OR REPLACE FUNCTION end_cover_search(
    user_id uuid, book_id uuid, requested_at timestamptz, status cover_status, is_answered bool
) RETURNS void
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    book books;
    has_cover bool;
BEGIN
    SELECT * INTO book
    FROM books b
    WHERE b.user_id = end_cover_search.user_id AND b.id = end_cover_search.book_id
    FOR NO KEY UPDATE;
    IF NOT FOUND OR book.cover_requested_at IS DISTINCT FROM end_cover_search.requested_at THEN
        RETURN;
    END IF;
    has_cover := EXISTS (
        SELECT
        FROM covers c
        WHERE c.user_id = end_cover_search.user_id AND c.book_id = end_cover_search.book_id
    );
    UPDATE books b
    SET cover_status = CASE WHEN has_cover THEN 'READY' ELSE end_cover_search.status END,
        cover_requested_at = NULL,
        cover_not_found_at = CASE WHEN end_cover_search.is_answered THEN now() END
    WHERE b.user_id = end_cover_search.user_id AND b.id = end_cover_search.book_id;
    IF has_cover AND book.cover_status = 'FETCHING' THEN
        PERFORM record_unchanged_cover_event(end_cover_search.user_id, end_cover_search.book_id);
    END IF;
END
$$;

-- Makes an image that a search has found the cover of a book. Returns the book's version after that, or null if the book
-- does not exist or does not wait for this search any more. `requested_at` is the books.cover_requested_at with which the search
-- began. It is null for a search that no reader requested; such a search only sets the cover of a book without one.
CREATE OR REPLACE FUNCTION set_found_cover(
    user_id uuid, book_id uuid, version text, source cover_source, width int, height int,
    dominant_color text, blur_hash text, byte_counts int[], hashes bytea[], requested_at timestamptz
) RETURNS text
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    book books;
    current covers;
BEGIN
    SELECT * INTO book
    FROM books b
    WHERE b.user_id = set_found_cover.user_id AND b.id = set_found_cover.book_id
    FOR NO KEY UPDATE;
    IF NOT FOUND OR book.cover_requested_at IS DISTINCT FROM set_found_cover.requested_at THEN
        RETURN NULL;
    END IF;
    SELECT * INTO current
    FROM covers c
    WHERE c.user_id = set_found_cover.user_id AND c.book_id = set_found_cover.book_id;
    IF FOUND AND set_found_cover.requested_at IS NULL THEN
        RETURN current.version;
    END IF;
    -- A smaller image does not replace one that was found before.
    IF current.source NOT IN ('MANUAL_UPLOAD', 'URL') AND current.width > set_found_cover.width THEN
        PERFORM end_cover_search(
            set_found_cover.user_id, set_found_cover.book_id, set_found_cover.requested_at, 'READY', false);
        RETURN current.version;
    END IF;
    -- 'infinity' always sets the cover without changing books.updated_at, because the reader did not change the book.
    RETURN set_cover(
        set_found_cover.user_id, set_found_cover.book_id, set_found_cover.version,
        set_found_cover.source, set_found_cover.width, set_found_cover.height, set_found_cover.dominant_color,
        set_found_cover.blur_hash, set_found_cover.byte_counts, set_found_cover.hashes, 'infinity');
END
$$;

-- Ends the waiting for covers that were requested more than `seconds` ago, at least one: their status becomes NOT_FOUND, or
-- READY if there is a previous cover. The searches continue and can still set a cover. Returns the users of the books.
--
-- Skips users with a running transaction, so that this never waits. The next call handles them.
-- definer: a job for the books of all readers.
CREATE OR REPLACE FUNCTION end_overdue_cover_waits(seconds int, users_max int) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    owner uuid;
    with_cover uuid[];
    book uuid;
BEGIN
    FOR owner IN
        -- The books come from books_cover_requested_at. For distinct users, the planner would read the primary key of all books.
        SELECT overdue.user_id
        FROM (
            SELECT b.user_id, b.cover_requested_at
            FROM books b
            WHERE b.cover_status = 'FETCHING' AND b.cover_requested_at < now() - greatest(1, seconds) * interval '1 second'
            ORDER BY b.cover_requested_at
            LIMIT 100 * users_max
        ) overdue
        GROUP BY overdue.user_id
        ORDER BY min(overdue.cover_requested_at)
        LIMIT users_max
    LOOP
        -- The lock of lock_user.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended(owner::text, 0));
        WITH ended AS (
            UPDATE books b
            SET cover_status = CASE
                    WHEN EXISTS (
                        SELECT
                        FROM covers c
                        WHERE c.user_id = owner AND c.book_id = b.id
                    ) THEN 'READY'
                    ELSE 'NOT_FOUND'
                END::cover_status
            WHERE b.user_id = owner
                AND b.cover_status = 'FETCHING'
                AND b.cover_requested_at < now() - greatest(1, seconds) * interval '1 second'
            RETURNING b.id, b.cover_status
        )
        SELECT array_agg(e.id) FILTER (WHERE e.cover_status = 'READY') INTO with_cover
        FROM ended e;
        FOREACH book IN ARRAY coalesce(with_cover, '{}') LOOP
            PERFORM record_unchanged_cover_event(owner, book);
        END LOOP;
        RETURN NEXT owner;
    END LOOP;
END
$$;

-- MARK: Events

-- Records that a search is over and the previous cover stays.
CREATE OR REPLACE FUNCTION record_unchanged_cover_event(user_id uuid, book_id uuid) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO events (user_id, kind, payload)
    SELECT
        c.user_id,
        'cover_changed',
        jsonb_build_object('book_id', c.book_id, 'status', 'READY', 'source', c.source, 'version', c.version)
    FROM covers c
    WHERE c.user_id = record_unchanged_cover_event.user_id AND c.book_id = record_unchanged_cover_event.book_id
$$;

-- MARK: Removed versions

-- Returns those of the given versions that no row names, and marks them as removed: from now on no row can name them.
-- definer: the sweep of the store examines the covers of all readers.
CREATE OR REPLACE FUNCTION mark_versions_removed(user_id uuid, book_ids uuid[], versions text[])
RETURNS TABLE (book_id uuid, version text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    -- Waits for the user's running transactions, whose rows the query below then sees. Later ones see its result.
    PERFORM lock_user(mark_versions_removed.user_id);
    RETURN QUERY
        WITH unnamed AS MATERIALIZED (
            SELECT given.book_id, given.version
            FROM unnest(book_ids, versions) AS given (book_id, version)
            WHERE NOT EXISTS (
                SELECT
                FROM stored_covers c
                WHERE c.user_id = mark_versions_removed.user_id
                    AND c.book_id = given.book_id
                    AND c.version = given.version
            )
        ), marked AS (
            INSERT INTO removed_covers AS r (user_id, book_id, version, kept_until)
            SELECT mark_versions_removed.user_id, n.book_id, n.version, now() + interval '1 day'
            FROM unnamed n
            -- A deleted user can name no version.
            WHERE EXISTS (
                SELECT
                FROM users u
                WHERE u.id = mark_versions_removed.user_id
            )
            ON CONFLICT (user_id, book_id, version) DO NOTHING
        )
        SELECT n.book_id, n.version
        FROM unnamed n;
END
$$;

-- Whether a row names the version.
-- definer: the sweep of the store examines the covers of all readers.
CREATE OR REPLACE FUNCTION is_stored_version(user_id uuid, book_id uuid, version text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT EXISTS (
        SELECT
        FROM stored_covers c
        WHERE c.user_id = is_stored_version.user_id
            AND c.book_id = is_stored_version.book_id
            AND c.version = is_stored_version.version
    )
$$;

-- Returns removed versions whose rows can be deleted together with their files.
-- definer: the sweep of the store examines the covers of all readers.
CREATE OR REPLACE FUNCTION expired_removed_covers(count int)
RETURNS TABLE (user_id uuid, book_id uuid, version text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT r.user_id, r.book_id, r.version
    FROM removed_covers r
    WHERE coalesce(r.kept_until, '-infinity') < now()
    LIMIT expired_removed_covers.count
$$;

-- Deletes the rows of removed versions after their files were removed.
-- definer: the sweep of the store examines the covers of all readers.
CREATE OR REPLACE FUNCTION delete_removed_covers(user_ids uuid[], book_ids uuid[], versions text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    DELETE FROM removed_covers r
    USING unnest(user_ids, book_ids, versions) AS given (user_id, book_id, version)
    WHERE r.user_id = given.user_id
        AND r.book_id = given.book_id
        AND r.version = given.version
        AND coalesce(r.kept_until, '-infinity') < now()
$$;

-- MARK: Public access

-- Covers are public: a client that knows the ids, which cannot be guessed, can load the image without a session. The functions
-- below return the data for such a request, without a caller.

-- Returns the version of a book's cover. Null if the book has none or does not exist.
-- definer: the image of a cover is loaded without a session.
CREATE OR REPLACE FUNCTION public_cover_version(user_id uuid, book_id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT c.version
    FROM covers c
    WHERE c.user_id = public_cover_version.user_id AND c.book_id = public_cover_version.book_id
$$;

-- Returns the texts of the title card, the generated image of a book without a cover. No row if there is no such book.
-- definer: the image of a cover is loaded without a session.
CREATE OR REPLACE FUNCTION public_book_title(user_id uuid, book_id uuid, OUT title text, OUT author text, OUT genre text)
RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT b.title, b.author, b.genre
    FROM books b
    WHERE b.user_id = public_book_title.user_id AND b.id = public_book_title.book_id
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON covers;
-- The tenant pays for the storage of the cover, so it must be the user's own.
CREATE POLICY owner_only ON covers TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id() AND tenant_id = app_tenant_id());
DROP POLICY IF EXISTS administration ON covers;
CREATE POLICY administration ON covers TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON removed_covers;
CREATE POLICY owner_only ON removed_covers TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON removed_covers;
CREATE POLICY administration ON removed_covers TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON covers TO bookplate_app;
GRANT SELECT, INSERT, DELETE ON removed_covers TO bookplate_app;
GRANT SELECT ON tenant_storage, installation, stored_covers TO bookplate_app;

-- Only triggers call these functions.
REVOKE ALL ON FUNCTION record_covers, record_deleted_covers, count_covers, count_moving_covers, record_removed_covers FROM PUBLIC;
REVOKE ALL ON FUNCTION end_overdue_cover_waits, mark_versions_removed, is_stored_version,
    expired_removed_covers, delete_removed_covers, public_cover_version, public_book_title FROM PUBLIC;
GRANT EXECUTE ON FUNCTION end_overdue_cover_waits, mark_versions_removed, is_stored_version,
    expired_removed_covers, delete_removed_covers, public_cover_version, public_book_title TO bookplate_app;
