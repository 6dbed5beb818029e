-- requires: accounts, reads
-- The positions that e-readers report, and the progress entries that follow from them.
--
-- The functions return an outcome. Only DONE, CREATED, and UPDATED can mean that something has changed. BOOK and DOCUMENT mean that
-- there is no such object. READS means that the book has no room for another read, and ENTRIES that its open read has no room for
-- another progress entry.

-- MARK: Progress

-- Returns whether a position in a book without an open read starts a new one. A book that was not read before is read now. A
-- reader who looks something up in a finished book, or closes it, does not read it again: the position must be in the first
-- tenth. A book that was given up is read on from any position before the last tenth.
CREATE OR REPLACE FUNCTION starts_read(owner uuid, book uuid, fraction float8) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT CASE
        WHEN latest.outcome IS NULL AND b.status NOT IN ('READ', 'DID_NOT_FINISH') THEN true
        WHEN coalesce(latest.outcome = 'DID_NOT_FINISH', b.status = 'DID_NOT_FINISH') THEN starts_read.fraction < 0.9
        ELSE starts_read.fraction < 0.1
    END
    FROM books b
    LEFT JOIN LATERAL (
        SELECT r.outcome
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = book
        ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
        LIMIT 1
    ) latest ON true
    WHERE b.user_id = owner AND b.id = book
$$;

-- Adds a position to the open read of a book, or changes the entry that the same device has written last, if that is the newest
-- one and began less than 15 minutes before: a device that reports every page would otherwise fill the read with entries. An
-- entry that the reader has edited is never changed. A position that is not newer than the newest entry, or before the first
-- day of the read, or the position of the newest entry, adds nothing.
--
-- `outcome` is READS, ENTRIES, or DONE, with the entry that now has the position, if any, and the time at which it began.
CREATE OR REPLACE FUNCTION log_position(
    owner uuid, book uuid, given_fraction float8, given_at timestamptz, given_device text, may_read_again boolean,
    OUT outcome text, OUT entry_id uuid, OUT entry_began_at timestamptz
)
LANGUAGE plpgsql
AS $$
DECLARE
    day text;
    read reads;
    newest progress_entries;
    kept ereader_positions;
BEGIN
    outcome := 'DONE';
    SELECT to_char(given_at AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD') INTO day
    FROM users u
    WHERE u.id = owner;
    SELECT r.* INTO read
    FROM reads r
    WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'READING';
    IF NOT FOUND THEN
        IF NOT starts_read(owner, book, CASE WHEN may_read_again THEN given_fraction ELSE 1 END) THEN
            RETURN;
        END IF;
        SELECT a.outcome INTO outcome
        FROM add_read(
            owner,
            book,
            jsonb_build_object('id', gen_random_uuid(), 'outcome', 'READING', 'startedOn', day, 'format', 'EBOOK')
        ) a;
        IF outcome <> 'DONE' THEN
            outcome := 'READS';
            RETURN;
        END IF;
        SELECT r.* INTO read
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'READING';
    END IF;
    SELECT p.* INTO newest
    FROM progress_entries p
    WHERE p.user_id = owner AND p.read_id = read.id
    ORDER BY p.at DESC, p.id DESC
    LIMIT 1;
    SELECT p.* INTO kept
    FROM ereader_positions p
    WHERE p.user_id = owner AND p.book_id = book;
    entry_id := kept.entry_id;
    entry_began_at := kept.entry_began_at;
    IF given_at <= newest.at
        OR left(day, length(read.started_on)) COLLATE "C" < read.started_on
        OR newest.percent = 100 * given_fraction
    THEN
        RETURN;
    END IF;
    IF newest.id = kept.entry_id
        AND kept.device_id = given_device
        AND given_at < kept.entry_began_at + interval '15 minutes'
        AND num_nonnulls(newest.at_changed_at, newest.position_changed_at, newest.note) = 0
    THEN
        UPDATE progress_entries p
        SET at = given_at,
            percent = 100 * given_fraction,
            updated_at = now()
        WHERE p.user_id = owner AND p.id = newest.id;
        PERFORM refresh_read_books(owner, ARRAY[book], true);
        RETURN;
    END IF;
    entry_id := gen_random_uuid();
    entry_began_at := given_at;
    SELECT CASE WHEN l.problem IS NULL THEN 'DONE' ELSE 'ENTRIES' END INTO outcome
    FROM log_progress(
        owner,
        jsonb_build_array(
            jsonb_build_object(
                'id', entry_id, 'readId', read.id, 'at', given_at, 'percent', 100 * given_fraction
            )
        )
    ) l;
END
$$;

-- Stores the last position in a book, and its progress. The outcome is BOOK, READS, ENTRIES, or DONE.
CREATE OR REPLACE FUNCTION store_position(
    owner uuid, book uuid, given_fraction float8, given_at timestamptz, given_device text, given_device_name text,
    given_title text, given_refs text[], may_read_again boolean
) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    logged record;
BEGIN
    PERFORM
    FROM books b
    WHERE b.user_id = owner AND b.id = book;
    IF NOT FOUND THEN
        RETURN 'BOOK';
    END IF;
    SELECT l.* INTO logged
    FROM log_position(owner, book, given_fraction, given_at, given_device, may_read_again) l;
    IF logged.outcome <> 'DONE' THEN
        RETURN logged.outcome;
    END IF;
    INSERT INTO ereader_positions (
        user_id, book_id, modified_at, fraction, device_id, device_name, title, place_refs, entry_id, entry_began_at
    )
    VALUES (
        owner, book, given_at, given_fraction, given_device, given_device_name, given_title, given_refs, logged.entry_id,
        logged.entry_began_at
    )
    ON CONFLICT (user_id, book_id) DO UPDATE
    SET modified_at = excluded.modified_at,
        fraction = excluded.fraction,
        device_id = excluded.device_id,
        device_name = excluded.device_name,
        title = excluded.title,
        place_refs = excluded.place_refs,
        entry_id = excluded.entry_id,
        entry_began_at = excluded.entry_began_at;
    RETURN 'DONE';
END
$$;

-- MARK: KOReader

-- Returns the id of a device of KOReader as a URI, as OPDS Progression requires.
CREATE OR REPLACE FUNCTION device_uri(device_id text, device_name text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT 'urn:uuid:' || CASE
        WHEN device_id ~ '^[0-9A-Fa-f]{32}$' THEN device_id::uuid
        -- Not md5(), which some builds of PostgreSQL do not have.
        ELSE left(encode(sha256(convert_to(coalesce(device_id, '') || E'\n' || device_name, 'UTF8')), 'hex'), 32)::uuid
    END
$$;

-- Stores the position in a document, and the progress of the book that it is linked to. The outcome is READS, ENTRIES, FULL if
-- the reader has too many linked documents, or DONE with the time of the position. A position that is stored already is not
-- stored again, and has the time at which it was stored.
--
-- Relies on this plan: the count of a reader's documents from an index. It runs only for a new document.
CREATE OR REPLACE FUNCTION sync_document(
    owner uuid, given_hash text, given_progress text, given_fraction float8, given_device_name text, given_device_id text,
    given_title text, given_author text, documents_max int, OUT outcome text, OUT stored_at timestamptz
)
LANGUAGE plpgsql
AS $$
DECLARE
    kept ereader_documents;
BEGIN
    outcome := 'DONE';
    stored_at := now();
    SELECT d.* INTO kept
    FROM ereader_documents d
    WHERE d.user_id = owner AND d.hash = given_hash;
    IF NOT FOUND THEN
        IF (SELECT count(*) FROM ereader_documents d WHERE d.user_id = owner) >= documents_max THEN
            DELETE FROM ereader_documents d
            WHERE d.user_id = owner
                AND d.id = (
                    SELECT o.id
                    FROM ereader_documents o
                    WHERE o.user_id = owner AND o.book_id IS NULL
                    ORDER BY o.synced_at, o.id
                    LIMIT 1
                );
            IF NOT FOUND THEN
                outcome := 'FULL';
                RETURN;
            END IF;
        END IF;
        INSERT INTO ereader_documents (user_id, hash, title, author, progress, fraction, device_name, device_id)
        VALUES (
            owner, given_hash, given_title, given_author, given_progress, given_fraction, given_device_name, given_device_id
        );
        RETURN;
    END IF;
    IF (kept.progress, kept.fraction, kept.device_name) = (given_progress, given_fraction, given_device_name)
        AND kept.device_id IS NOT DISTINCT FROM given_device_id
    THEN
        stored_at := kept.synced_at;
    ELSIF kept.book_id IS NOT NULL THEN
        outcome := store_position(
            owner, kept.book_id, given_fraction, now(), device_uri(given_device_id, given_device_name), given_device_name,
            NULL, NULL, true
        );
        IF outcome IN ('READS', 'ENTRIES') THEN
            RETURN;
        END IF;
        -- A link to a deleted book has no effect.
        outcome := 'DONE';
    END IF;
    UPDATE ereader_documents d
    SET title = coalesce(given_title, d.title),
        author = coalesce(given_author, d.author),
        progress = given_progress,
        fraction = given_fraction,
        device_name = given_device_name,
        device_id = given_device_id,
        synced_at = stored_at
    WHERE d.user_id = owner
        AND d.id = kept.id
        AND (
            stored_at > d.synced_at
            OR (coalesce(given_title, d.title), coalesce(given_author, d.author)) IS DISTINCT FROM (d.title, d.author)
        );
END
$$;

-- Links a document to a book, and takes over its position unless the book has a newer one. The outcome is DOCUMENT, BOOK,
-- READS, ENTRIES, or DONE.
CREATE OR REPLACE FUNCTION link_document(owner uuid, document uuid, book uuid) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    kept ereader_documents;
    result text;
BEGIN
    SELECT d.* INTO kept
    FROM ereader_documents d
    WHERE d.user_id = owner AND d.id = document;
    IF NOT FOUND THEN
        RETURN 'DOCUMENT';
    END IF;
    PERFORM
    FROM books b
    WHERE b.user_id = owner AND b.id = book;
    IF NOT FOUND THEN
        RETURN 'BOOK';
    END IF;
    IF kept.book_id IS NOT DISTINCT FROM book THEN
        RETURN 'DONE';
    END IF;
    IF NOT EXISTS (
        SELECT
        FROM ereader_positions p
        WHERE p.user_id = owner AND p.book_id = book AND p.modified_at >= kept.synced_at
    ) THEN
        result := store_position(
            owner, book, kept.fraction, kept.synced_at, device_uri(kept.device_id, kept.device_name), kept.device_name, NULL,
            NULL, false
        );
        IF result <> 'DONE' THEN
            RETURN result;
        END IF;
    END IF;
    UPDATE ereader_documents d
    SET book_id = book
    WHERE d.user_id = owner AND d.id = document;
    RETURN 'DONE';
END
$$;

-- Adds documents of an exported library, an array of objects: {"id": "…", "hash": "…", "bookId": "…", "title": "…", "author": "…",
-- "progress": "…", "percent": 50, "deviceName": "…", "deviceId": "…", "createdAt": "…", "syncedAt": "…"}. Existing documents
-- stay as they are. A link to a book that neither exists nor can be restored is left out, and so are documents beyond 10,000.
CREATE OR REPLACE FUNCTION import_documents(given jsonb) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO ereader_documents (
        user_id, id, hash, book_id, title, author, progress, fraction, device_name, device_id, created_at, synced_at
    )
    SELECT
        app_user_id(), i.id, i.hash, coalesce(b.id, d.id), i.title, i.author, i.progress, i.percent / 100, i."deviceName", i."deviceId",
        coalesce(i."createdAt", now()), least(coalesce(i."syncedAt", now()), now())
    FROM jsonb_to_recordset(given) AS i (
        id uuid, hash text, "bookId" uuid, title text, author text, progress text, percent float8, "deviceName" text,
        "deviceId" text, "createdAt" timestamptz, "syncedAt" timestamptz
    )
    LEFT JOIN LATERAL (SELECT b.id FROM books b WHERE b.user_id = app_user_id() AND b.id = i."bookId" OFFSET 0) b ON true
    LEFT JOIN LATERAL (SELECT d.id FROM deleted_books d WHERE d.user_id = app_user_id() AND d.id = i."bookId" OFFSET 0) d ON true
    ORDER BY i."syncedAt" DESC
    LIMIT greatest(10000 - (SELECT count(*) FROM ereader_documents d WHERE d.user_id = app_user_id()), 0)
    ON CONFLICT DO NOTHING
$$;

-- Adds the last positions of an exported library to books that have none, an array of objects: {"bookId": "…", "modifiedAt": "…",
-- "percent": 50, "deviceId": "…", "deviceName": "…", "title": "…", "references": []}.
CREATE OR REPLACE FUNCTION import_positions(given jsonb) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO ereader_positions (
        user_id, book_id, modified_at, fraction, device_id, device_name, title, place_refs
    )
    SELECT
        app_user_id(), b.id, least(i."modifiedAt", now()), i.percent / 100, i."deviceId", i."deviceName", i.title, i."references"
    FROM jsonb_to_recordset(given) AS i (
        "bookId" uuid, "modifiedAt" timestamptz, percent float8, "deviceId" text, "deviceName" text, title text,
        "references" text[]
    )
    CROSS JOIN LATERAL (SELECT b.id FROM books b WHERE b.user_id = app_user_id() AND b.id = i."bookId" OFFSET 0) b
    ON CONFLICT DO NOTHING
$$;

-- MARK: OPDS Progression

-- Returns the last known position in a book: what an e-reader has reported, or the newest progress entry of its latest read if
-- that is newer. Then `device_id` is null. No row if there is no such book, and a row of nulls if no position is known.
CREATE OR REPLACE FUNCTION book_progression(owner uuid, book uuid)
RETURNS TABLE (
    modified_at timestamptz, fraction float8, device_id text, device_name text, title text, place_refs text[]
)
LANGUAGE sql STABLE
AS $$
    SELECT
        CASE WHEN latest.is_newer THEN latest.at ELSE p.modified_at END,
        CASE WHEN latest.is_newer THEN latest.fraction ELSE p.fraction END,
        CASE WHEN latest.is_newer THEN NULL ELSE p.device_id END,
        CASE WHEN latest.is_newer THEN NULL ELSE p.device_name END,
        CASE WHEN latest.is_newer THEN NULL ELSE p.title END,
        CASE WHEN latest.is_newer THEN NULL ELSE p.place_refs END
    FROM books b
    LEFT JOIN ereader_positions p ON p.user_id = owner AND p.book_id = b.id
    LEFT JOIN LATERAL (
        SELECT
            -- The reader may have corrected an entry after its time.
            greatest(e.at, e.position_changed_at) AS at,
            progress_fraction(e.page, e.percent, e.seconds, b.page_count, r.length_seconds) AS fraction,
            coalesce(greatest(e.at, e.position_changed_at) > p.modified_at, true)
                AND progress_fraction(e.page, e.percent, e.seconds, b.page_count, r.length_seconds) IS NOT NULL AS is_newer
        FROM (
            SELECT l.id, l.length_seconds
            FROM reads l
            WHERE l.user_id = owner AND l.book_id = b.id
            ORDER BY l.sorted_on DESC, l.created_at DESC, l.id DESC
            LIMIT 1
        ) r
        JOIN progress_entries e ON e.user_id = owner AND e.read_id = r.id
        ORDER BY e.at DESC, e.id DESC
        LIMIT 1
    ) latest ON true
    WHERE b.user_id = owner AND b.id = book
$$;

-- Stores the position in a book that a device has sent. The outcome is BOOK, READS, ENTRIES, OLDER if a later position is
-- known, SAME if the position is stored already, CREATED, or UPDATED.
CREATE OR REPLACE FUNCTION put_progression(
    owner uuid, book uuid, given_fraction float8, given_at timestamptz, given_device text, given_device_name text,
    given_title text, given_refs text[]
) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    known record;
    result text;
BEGIN
    SELECT p.* INTO known
    FROM book_progression(owner, book) p;
    IF NOT FOUND THEN
        RETURN 'BOOK';
    END IF;
    IF given_at <= known.modified_at THEN
        RETURN CASE
            WHEN (
                known.modified_at, known.fraction, known.device_id, known.device_name, known.title, known.place_refs
            ) IS NOT DISTINCT FROM (
                given_at, given_fraction, given_device, given_device_name, given_title, given_refs
            ) THEN 'SAME'
            ELSE 'OLDER'
        END;
    END IF;
    result := store_position(
        owner, book, given_fraction, given_at, given_device, given_device_name, given_title, given_refs, true
    );
    RETURN CASE
        WHEN result <> 'DONE' THEN result
        WHEN known.modified_at IS NULL THEN 'CREATED'
        ELSE 'UPDATED'
    END;
END
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON ereader_documents;
CREATE POLICY owner_only ON ereader_documents TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON ereader_documents;
CREATE POLICY administration ON ereader_documents TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON ereader_positions;
CREATE POLICY owner_only ON ereader_positions TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON ereader_positions;
CREATE POLICY administration ON ereader_positions TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON ereader_documents, ereader_positions TO bookplate_app;
