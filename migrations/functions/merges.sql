-- requires: accounts, audit, deleted_books, imports, jobs, reads, works
-- Merging the library of a guest into an account. Everything here runs in one transaction, with the locks of both users.
--
-- A book of the guest that the account has, by its ISBN, edition, work, or title, is merged with that book. All other objects move
-- with their ids, unless the account uses the id already. If both have a value for the same field, the account's
-- value is kept. Longer texts of the guest become notes, so they are not lost.
--
-- A merge keeps all objects, although the account may then have more of a kind than can be created, such as more than 500 shelves or
-- 2,000 notes of a book. The reader cannot create more until the number is below the limit.

-- Returns the id, or another one if the user has an object with it.
CREATE OR REPLACE FUNCTION unused_id(owner uuid, given uuid) RETURNS uuid
LANGUAGE plpgsql
AS $$
BEGIN
    IF is_other_object(owner, given)
        OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = given)
        OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = given)
        OR EXISTS (SELECT FROM ereader_documents d WHERE d.user_id = owner AND d.id = given)
    THEN
        RETURN gen_random_uuid();
    END IF;
    RETURN given;
END
$$;

-- Returns rows of JSON with the given members in each; null if there are no rows.
CREATE OR REPLACE FUNCTION rows_with(stored jsonb, members jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE
AS $$
    SELECT jsonb_agg(r || members)
    FROM jsonb_array_elements(stored) r
$$;

-- Stores a text as notes of a book, in parts that a note has room for.
CREATE OR REPLACE FUNCTION keep_as_notes(owner uuid, book uuid, kept text) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO notes (user_id, id, book_id, comment)
    SELECT owner, gen_random_uuid(), book, substr(kept, 10000 * part + 1, 10000)
    FROM generate_series(0, (char_length(kept) - 1) / 10000) part
$$;

-- Returns the books of the account by the ids of those books of the guest that they are merged with. Each book is merged with at
-- most one other. Books with the same ISBN come first, then those of the same edition and of the same work. Books with the same
-- title and an author in common are the same if one of them has no ISBN.
CREATE OR REPLACE FUNCTION match_guest_books(guest uuid, account uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
DECLARE
    matched jsonb := '{}';
    used uuid[] := '{}';
    with_title uuid[] := ARRAY(
        SELECT g.id
        FROM books g
        WHERE g.user_id = guest
            AND lower(g.title) IN (SELECT lower(k.title) FROM books k WHERE k.user_id = account)
    );
    book books;
    found_id uuid;
BEGIN
    FOR pass IN 1..4 LOOP
        FOR book IN
            SELECT b.*
            FROM books b
            WHERE b.user_id = guest AND NOT matched ? b.id::text AND (pass < 4 OR b.id = ANY(with_title))
            ORDER BY b.added_at, b.id
        LOOP
            found_id := CASE pass
                WHEN 1 THEN (SELECT k.id FROM books k WHERE k.user_id = account AND k.isbn13 = book.isbn13)
                WHEN 2 THEN (
                    SELECT k.id
                    FROM books k
                    WHERE k.user_id = account AND k.edition_id = book.edition_id AND k.id <> ALL(used)
                )
                WHEN 3 THEN (
                    SELECT k.id
                    FROM work_records w
                    JOIN work_records other USING (founder_id)
                    JOIN books k ON k.user_id = account AND k.edition_id = other.edition_id
                    WHERE w.edition_id = book.edition_id AND k.id <> ALL(used)
                    ORDER BY k.added_at, k.id
                    LIMIT 1
                )
                ELSE (
                    SELECT k.id
                    FROM books k
                    WHERE k.user_id = account
                        AND lower(k.title) = lower(book.title)
                        AND (k.authors = '{}' OR book.authors = '{}' OR k.author_ids && book.author_ids)
                        AND (k.isbn13 IS NULL OR book.isbn13 IS NULL)
                        AND k.id <> ALL(used)
                    ORDER BY k.id = book.id DESC, k.added_at, k.id
                    LIMIT 1
                )
            END;
            IF found_id IS NOT NULL THEN
                matched := matched || jsonb_build_object(book.id, found_id);
                used := used || found_id;
            END IF;
        END LOOP;
    END LOOP;
    RETURN matched;
END
$$;

-- Returns the page of an edition at the same part of the book as a page of another edition. If a length is not known, the page stays.
CREATE OR REPLACE FUNCTION page_in_edition(page int, page_count int, other_count int) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN page_count > 0 AND other_count > 0 THEN least(round(page::float8 / page_count * other_count), other_count)::int
        ELSE page
    END
$$;

-- Moves the shelves of the guest, and returns the shelves of the account by their ids. Shelves with the same name are one, which
-- keeps its description and color.
CREATE OR REPLACE FUNCTION merge_shelves(guest uuid, account uuid) RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    becomes_queue boolean;
    merged jsonb := '{}';
    shelf shelves;
    kept uuid;
BEGIN
    FOR shelf IN SELECT s.* FROM shelves s WHERE s.user_id = guest ORDER BY s.position, s.id LOOP
        SELECT s.id INTO kept
        FROM shelves s
        WHERE s.user_id = account AND lower(s.name) = lower(shelf.name);
        IF NOT FOUND THEN
            kept := unused_id(account, shelf.id);
            INSERT INTO shelves (user_id, id, name, position, description, color, is_up_next, created_at, updated_at)
            SELECT
                account, kept, shelf.name, coalesce(max(s.position) + 1, 0), shelf.description, shelf.color,
                -- The queue of the account stays the only one.
                shelf.is_up_next AND NOT coalesce(bool_or(s.is_up_next), false), shelf.created_at, shelf.updated_at
            FROM shelves s
            WHERE s.user_id = account;
        ELSE
            -- The queue of the account stays the only one.
            becomes_queue := shelf.is_up_next
                AND NOT EXISTS (SELECT FROM shelves q WHERE q.user_id = account AND q.is_up_next);
            UPDATE shelves s
            SET description = coalesce(s.description, shelf.description),
                color = coalesce(s.color, shelf.color),
                is_up_next = s.is_up_next OR becomes_queue,
                updated_at = now()
            WHERE s.user_id = account
                AND s.id = kept
                AND (
                    s.description IS NULL AND shelf.description IS NOT NULL
                    OR s.color IS NULL AND shelf.color IS NOT NULL
                    OR becomes_queue
                );
        END IF;
        merged := merged || jsonb_build_object(shelf.id, kept);
    END LOOP;
    RETURN merged;
END
$$;

-- Merges books of the guest with those of the account, and moves the others. Returns the books of the account by the ids of all
-- books of the guest. `matched` is the result of match_guest_books.
CREATE OR REPLACE FUNCTION merge_books(guest uuid, account uuid, matched jsonb) RETURNS jsonb
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    merged jsonb := matched;
    book books;
    moved uuid;
BEGIN
    PERFORM keep_as_notes(account, k.id, g.private_notes)
    FROM jsonb_each_text(matched) m
    JOIN books g ON g.user_id = guest AND g.id = m.key::uuid
    JOIN books k ON k.user_id = account AND k.id = m.value::uuid
    WHERE g.private_notes <> k.private_notes;
    PERFORM keep_as_notes(account, k.id, g.content_notes)
    FROM jsonb_each_text(matched) m
    JOIN books g ON g.user_id = guest AND g.id = m.key::uuid
    JOIN books k ON k.user_id = account AND k.id = m.value::uuid
    WHERE g.content_notes <> k.content_notes;
    UPDATE books k
    SET edition_id = coalesce(k.edition_id, free.edition_id),
        linked_by = CASE WHEN k.edition_id IS NULL AND free.edition_id IS NOT NULL THEN g.linked_by ELSE k.linked_by END,
        authors = CASE WHEN k.authors = '{}' THEN g.authors ELSE k.authors END,
        author_roles = CASE WHEN k.authors = '{}' THEN g.author_roles ELSE k.author_roles END,
        isbn13 = coalesce(k.isbn13, g.isbn13),
        subtitle = coalesce(k.subtitle, g.subtitle),
        publisher = coalesce(k.publisher, g.publisher),
        published_date = coalesce(k.published_date, g.published_date),
        page_count = coalesce(k.page_count, g.page_count),
        language = coalesce(k.language, g.language),
        category = coalesce(k.category, g.category),
        genre = coalesce(k.genre, g.genre),
        description = coalesce(k.description, g.description),
        series = coalesce(k.series, g.series),
        series_position = CASE WHEN k.series IS NULL THEN g.series_position ELSE k.series_position END,
        status = CASE WHEN status_rank(g.status) > status_rank(k.status) THEN g.status ELSE k.status END,
        current_page = coalesce(k.current_page, page_in_edition(g.current_page, g.page_count, k.page_count)),
        binding = coalesce(k.binding, g.binding),
        original_year = coalesce(k.original_year, g.original_year),
        private_notes = coalesce(k.private_notes, g.private_notes),
        content_notes = coalesce(k.content_notes, g.content_notes),
        moods = CASE WHEN k.moods = '{}' THEN g.moods ELSE k.moods END,
        started_at = coalesce(k.started_at, g.started_at),
        finished_at = coalesce(k.finished_at, g.finished_at),
        updated_at = now()
    FROM jsonb_each_text(matched) m
    JOIN books g ON g.user_id = guest AND g.id = m.key::uuid
    CROSS JOIN LATERAL (
        -- Another book of the account may have the edition.
        SELECT CASE
            WHEN NOT EXISTS (SELECT FROM books b WHERE b.user_id = account AND b.edition_id = g.edition_id) THEN g.edition_id
        END AS edition_id
    ) free
    WHERE k.user_id = account AND k.id = m.value::uuid;
    FOR book IN
        SELECT b.*
        FROM books b
        WHERE b.user_id = guest AND NOT matched ? b.id::text
        ORDER BY b.added_at, b.id
    LOOP
        moved := unused_id(account, book.id);
        IF EXISTS (SELECT FROM books k WHERE k.user_id = account AND k.edition_id = book.edition_id) THEN
            book.edition_id := NULL;
            book.linked_by := 'CARD';
        END IF;
        PERFORM insert_stored_rows(
            'books',
            jsonb_build_array(
                to_jsonb(book) || jsonb_build_object(
                    'user_id', account,
                    'id', moved,
                    -- The cover follows when its files are copied.
                    'cover_status', CASE book.cover_status WHEN 'READY' THEN 'NO_COVER' ELSE book.cover_status::text END
                )
            )
        );
        merged := merged || jsonb_build_object(book.id, moved);
    END LOOP;
    INSERT INTO books_to_link (user_id, book_id)
    SELECT account, (merged ->> l.book_id::text)::uuid
    FROM books_to_link l
    WHERE l.user_id = guest AND merged ? l.book_id::text
    ON CONFLICT DO NOTHING;
    RETURN merged;
END
$$;

-- Moves the reads of the guest with their progress. A read of the same days with the same outcome is the same read, and so are two
-- open reads of a book. An entry at the same time and position is the same entry. A page of an edition with another number of pages
-- becomes a percentage.
--
-- The reads of the guest and of the account with the same book, outcome, and days are numbered, those with the same id first, and
-- reads with the same number are one. Each statement handles all reads: with app.bulk, the triggers of `reads` only count.
CREATE OR REPLACE FUNCTION merge_reads(guest uuid, account uuid, merged_books jsonb) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    -- The reads of the guest, the reads of the account that they become, and whether the account had these before.
    guest_ids uuid[];
    ids uuid[];
    are_kept boolean[];
    changed uuid[];
    -- The books of the account with a read that has got a length.
    timed_books uuid[];
BEGIN
    WITH keyed AS MATERIALIZED (
        SELECT
            r.id,
            r.created_at,
            r.is_guest,
            CASE r.outcome
                WHEN 'READING' THEN concat_ws('|', r.merged_book, r.outcome)
                ELSE concat_ws('|', r.merged_book, r.outcome, coalesce(r.started_on, '-'), coalesce(r.finished_on, '-'))
            END AS key
        FROM (
            SELECT g.*, (merged_books ->> g.book_id::text)::uuid AS merged_book, true AS is_guest
            FROM reads g
            WHERE g.user_id = guest
            UNION ALL
            SELECT k.*, k.book_id, false
            FROM reads k
            WHERE k.user_id = account
        ) r
    ), numbered AS (
        SELECT
            k.*,
            row_number() OVER (
                PARTITION BY k.is_guest, k.key
                ORDER BY k.is_in_both DESC, CASE WHEN k.is_in_both THEN k.id END, k.created_at, k.id
            ) AS number
        FROM (SELECT *, count(*) OVER (PARTITION BY key, id) = 2 AS is_in_both FROM keyed) k
    )
    SELECT
        array_agg(g.id ORDER BY g.created_at, g.id),
        array_agg(coalesce(k.id, unused_id(account, g.id)) ORDER BY g.created_at, g.id),
        array_agg(k.id IS NOT NULL ORDER BY g.created_at, g.id)
    INTO guest_ids, ids, are_kept
    FROM numbered g
    LEFT JOIN numbered k ON NOT k.is_guest AND k.key = g.key AND k.number = g.number
    WHERE g.is_guest;
    IF guest_ids IS NOT NULL THEN
        PERFORM set_config('app.bulk', 'on', true);
        timed_books := ARRAY(
            SELECT DISTINCT (merged_books ->> g.book_id::text)::uuid
            FROM reads g
            WHERE g.user_id = guest AND g.length_seconds IS NOT NULL
        );
        WITH written AS (
            UPDATE reads k
            SET started_on = least(k.started_on, g.started_on),
                format = coalesce(k.format, g.format),
                length_seconds = coalesce(k.length_seconds, g.length_seconds),
                note = coalesce(k.note, g.note),
                updated_at = now()
            FROM unnest(guest_ids, ids, are_kept) AS p (guest_id, id, is_kept)
            JOIN reads g ON g.user_id = guest AND g.id = p.guest_id
            WHERE k.user_id = account
                AND k.id = p.id
                AND p.is_kept
                AND (k.started_on, k.format, k.length_seconds, k.note) IS DISTINCT FROM (
                    least(k.started_on, g.started_on), coalesce(k.format, g.format),
                    coalesce(k.length_seconds, g.length_seconds), coalesce(k.note, g.note)
                )
            RETURNING k.id
        )
        SELECT array_agg(w.id) INTO changed FROM written w;
        PERFORM keep_as_notes(account, k.book_id, g.note)
        FROM unnest(guest_ids, ids, are_kept) AS p (guest_id, id, is_kept)
        JOIN reads g ON g.user_id = guest AND g.id = p.guest_id
        JOIN reads k ON k.user_id = account AND k.id = p.id
        WHERE p.is_kept AND k.note <> g.note;
        INSERT INTO reads (
            user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, page_count, genre, author_id,
            author, moods, created_at, updated_at
        )
        SELECT
            account, p.id, b.id, g.started_on, g.finished_on, g.outcome, g.format, g.length_seconds, g.note, b.page_count, b.genre,
            b.author_ids[1], left(b.authors[1], 200), nullif(b.moods, '{}'), g.created_at, g.updated_at
        FROM unnest(guest_ids, ids, are_kept) AS p (guest_id, id, is_kept)
        JOIN reads g ON g.user_id = guest AND g.id = p.guest_id
        JOIN books b ON b.user_id = account AND b.id = (merged_books ->> g.book_id::text)::uuid
        WHERE NOT p.is_kept;
        PERFORM set_config('app.bulk', '', true);
        PERFORM append_changes(account, 'CREATED', 'Read', ids_of_new_reads.ids)
        FROM (
            SELECT array_agg(p.id ORDER BY p.position) AS ids
            FROM unnest(ids, are_kept) WITH ORDINALITY AS p (id, is_kept, position)
            WHERE NOT p.is_kept
        ) ids_of_new_reads
        WHERE ids_of_new_reads.ids IS NOT NULL;
        IF changed IS NOT NULL THEN
            PERFORM append_changes(account, 'UPDATED', 'Read', changed);
        END IF;
        IF timed_books <> '{}' THEN
            PERFORM append_changes(account, 'UPDATED', 'ProgressEntry', l.entries), append_changes(account, 'UPDATED', 'Note', l.notes)
            FROM (
                SELECT
                    ARRAY(
                        SELECT e.id
                        FROM progress_entries e
                        WHERE e.user_id = account AND e.read_id = ANY(changed)
                    ) AS entries,
                    ARRAY(
                        SELECT n.id
                        FROM notes n
                        WHERE n.user_id = account
                            AND n.book_id = ANY(timed_books)
                            AND num_nonnulls(n.page, n.percent, n.seconds) > 0
                    ) AS notes
            ) l;
        END IF;
        INSERT INTO progress_entries (
            user_id, id, read_id, at, page, percent, seconds, note, at_changed_at, position_changed_at, note_changed_at, created_at,
            updated_at
        )
        SELECT
            account, unused_id(account, e.id), p.id, e.at, CASE WHEN c.percent IS NULL THEN e.page END, coalesce(e.percent, c.percent),
            e.seconds, e.note, e.at_changed_at, e.position_changed_at, e.note_changed_at, e.created_at, e.updated_at
        FROM unnest(guest_ids, ids, are_kept) AS p (guest_id, id, is_kept)
        JOIN progress_entries e ON e.user_id = guest AND e.read_id = p.guest_id
        -- The reads have copies of the page counts of their books.
        JOIN reads g ON g.user_id = guest AND g.id = p.guest_id
        JOIN reads k ON k.user_id = account AND k.id = p.id
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN e.page IS NOT NULL AND g.page_count <> k.page_count THEN least(100 * e.page::float8 / g.page_count, 100)
            END AS percent
        ) c
        -- The condition on `is_kept` also keeps PostgreSQL from joining the entries, for which it may read all of them for each entry.
        WHERE NOT p.is_kept OR NOT EXISTS (
            SELECT
            FROM progress_entries same
            WHERE same.user_id = account
                AND same.read_id = p.id
                AND same.at = e.at
                AND (same.page, same.percent, same.seconds, same.note)
                    IS NOT DISTINCT FROM (e.page, e.percent, e.seconds, e.note)
        );
    END IF;
    INSERT INTO reading_tombstones (user_id, id, deleted_at)
    SELECT account, t.id, t.deleted_at
    FROM reading_tombstones t
    WHERE t.user_id = guest
    ON CONFLICT DO NOTHING;
    -- A book with an open read is being read, also if it was finished before.
    UPDATE books b
    SET status = 'READING',
        updated_at = now()
    FROM jsonb_each_text(merged_books) m
    WHERE b.user_id = account
        AND b.id = m.value::uuid
        AND b.status NOT IN ('READING', 'PAUSED')
        AND EXISTS (SELECT FROM reads r WHERE r.user_id = account AND r.book_id = b.id AND r.outcome = 'READING');
    PERFORM refresh_read_books(
        account, ARRAY(SELECT DISTINCT m.value::uuid FROM jsonb_each_text(merged_books) m), false
    );
END
$$;

-- Moves the reviews and notes of the guest. A book keeps its own review, and gets what that does not have.
CREATE OR REPLACE FUNCTION merge_texts(guest uuid, account uuid, merged_books jsonb) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    review reviews;
    kept reviews;
    note notes;
    book uuid;
BEGIN
    FOR review IN SELECT v.* FROM reviews v WHERE v.user_id = guest ORDER BY v.created_at, v.id LOOP
        book := (merged_books ->> review.book_id::text)::uuid;
        SELECT v.* INTO kept
        FROM reviews v
        WHERE v.user_id = account AND v.book_id = book;
        IF FOUND THEN
            UPDATE reviews v
            SET quarter_stars = coalesce(kept.quarter_stars, review.quarter_stars),
                text = coalesce(kept.text, review.text),
                has_spoilers = CASE WHEN kept.text IS NULL THEN review.has_spoilers ELSE kept.has_spoilers END,
                updated_at = now()
            WHERE v.user_id = account
                AND v.book_id = book
                AND ((kept.quarter_stars IS NULL AND review.quarter_stars IS NOT NULL) OR (kept.text IS NULL AND review.text IS NOT NULL));
            IF kept.text <> review.text THEN
                PERFORM keep_as_notes(account, book, review.text);
            END IF;
        ELSE
            review.id := unused_id(account, review.id);
            review.user_id := account;
            review.book_id := book;
            INSERT INTO reviews VALUES (review.*);
        END IF;
    END LOOP;
    FOR note IN SELECT n.* FROM notes n WHERE n.user_id = guest ORDER BY n.created_at, n.id LOOP
        book := (merged_books ->> note.book_id::text)::uuid;
        CONTINUE WHEN EXISTS (
            SELECT
            FROM notes k
            WHERE k.user_id = account
                AND k.book_id = book
                AND (k.text, k.comment, k.chapter, k.color, k.page, k.percent, k.seconds)
                    IS NOT DISTINCT FROM
                    (note.text, note.comment, note.chapter, note.color, note.page, note.percent, note.seconds)
        );
        note.id := unused_id(account, note.id);
        note.user_id := account;
        note.book_id := book;
        INSERT INTO notes VALUES (note.*);
    END LOOP;
END
$$;

-- Moves the copies of the guest. A book of the account keeps its own, too.
CREATE OR REPLACE FUNCTION merge_copies(guest uuid, account uuid, merged_books jsonb) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO book_copies (
        user_id, id, book_id, format, place, note, loan_id, borrower, lent_on, due_on, past_loans, created_at, updated_at
    )
    SELECT
        account,
        CASE
            WHEN EXISTS (SELECT FROM book_copies k WHERE k.user_id = account AND k.id = c.id) THEN gen_random_uuid()
            ELSE c.id
        END,
        (merged_books ->> c.book_id::text)::uuid, c.format, c.place, c.note, c.loan_id, c.borrower, c.lent_on, c.due_on,
        c.past_loans, c.created_at, c.updated_at
    FROM book_copies c
    WHERE c.user_id = guest
        -- The account has the same copy, for example from the same file.
        AND NOT EXISTS (
            SELECT
            FROM book_copies k
            WHERE k.user_id = account
                AND k.book_id = (merged_books ->> c.book_id::text)::uuid
                AND (k.format, k.place, k.note, k.borrower, k.lent_on, k.due_on)
                    IS NOT DISTINCT FROM (c.format, c.place, c.note, c.borrower, c.lent_on, c.due_on)
                AND (k.past_loans = c.past_loans OR c.past_loans = '[]')
        )
$$;

-- Moves the documents and positions of e-readers. Of two positions the later one stays.
CREATE OR REPLACE FUNCTION merge_ereaders(guest uuid, account uuid, merged_books jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO ereader_documents AS k (
        user_id, id, hash, book_id, title, author, progress, fraction, device_name, device_id, created_at, synced_at
    )
    SELECT
        account, unused_id(account, d.id), d.hash, coalesce((merged_books ->> d.book_id::text)::uuid, d.book_id), d.title,
        d.author, d.progress, d.fraction, d.device_name, d.device_id, d.created_at, d.synced_at
    FROM ereader_documents d
    WHERE d.user_id = guest
    ON CONFLICT (user_id, hash) DO UPDATE
    SET book_id = coalesce(k.book_id, excluded.book_id),
        title = coalesce(k.title, excluded.title),
        author = coalesce(k.author, excluded.author),
        progress = CASE WHEN excluded.synced_at > k.synced_at THEN excluded.progress ELSE k.progress END,
        fraction = CASE WHEN excluded.synced_at > k.synced_at THEN excluded.fraction ELSE k.fraction END,
        device_name = CASE WHEN excluded.synced_at > k.synced_at THEN excluded.device_name ELSE k.device_name END,
        device_id = CASE WHEN excluded.synced_at > k.synced_at THEN excluded.device_id ELSE k.device_id END,
        synced_at = greatest(k.synced_at, excluded.synced_at);
    INSERT INTO ereader_positions AS k (
        user_id, book_id, modified_at, fraction, device_id, device_name, title, place_refs, entry_id, entry_began_at
    )
    SELECT
        account, (merged_books ->> p.book_id::text)::uuid, p.modified_at, p.fraction, p.device_id, p.device_name, p.title,
        p.place_refs, e.id, CASE WHEN e.id IS NOT NULL THEN p.entry_began_at END
    FROM ereader_positions p
    -- If the entry has a new id, the position does not refer to it, and the next report adds an entry.
    LEFT JOIN progress_entries e ON e.user_id = account AND e.id = p.entry_id
    WHERE p.user_id = guest
    ON CONFLICT (user_id, book_id) DO UPDATE
    SET modified_at = excluded.modified_at,
        fraction = excluded.fraction,
        device_id = excluded.device_id,
        device_name = excluded.device_name,
        title = excluded.title,
        place_refs = excluded.place_refs,
        entry_id = excluded.entry_id,
        entry_began_at = excluded.entry_began_at
    WHERE k.modified_at < excluded.modified_at;
END
$$;

-- Moves the imports of the guest, and the jobs that work for the library. Running jobs lose their workers, and start again for the
-- account.
CREATE OR REPLACE FUNCTION merge_jobs(guest uuid, account uuid, merged_books jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    import imports;
    guest_import uuid;
    new_ids jsonb := merged_books;
BEGIN
    FOR import IN SELECT i.* FROM imports i WHERE i.user_id = guest ORDER BY i.created_at, i.id LOOP
        -- The account is importing the same file.
        CONTINUE WHEN import.state IN ('QUEUED', 'RUNNING') AND EXISTS (
            SELECT
            FROM imports i
            WHERE i.user_id = account
                AND i.content_hash = import.content_hash
                AND i.format = import.format
                AND i.state IN ('QUEUED', 'RUNNING')
        );
        guest_import := import.id;
        import.user_id := account;
        import.id := unused_id(account, guest_import);
        import.book_ids := (
            SELECT coalesce(jsonb_object_agg(b.key, coalesce(merged_books ->> b.value, b.value)), '{}')
            FROM jsonb_each_text(import.book_ids) b
        );
        new_ids := new_ids || jsonb_build_object(guest_import, import.id);
        INSERT INTO imports VALUES (import.*);
        INSERT INTO import_failures (user_id, import_id, line, position, field, message)
        SELECT account, import.id, f.line, f.position, f.field, f.message
        FROM import_failures f
        WHERE f.user_id = guest AND f.import_id = guest_import;
    END LOOP;
    UPDATE jobs j
    SET user_id = account,
        key = moved.key,
        payload = moved.payload,
        state = 'READY',
        fence = j.fence + 1,
        worker = NULL,
        lease_until = NULL,
        again = false,
        updated_at = now()
    FROM (
        SELECT
            j.id,
            coalesce(new_ids ->> j.key, j.key) AS key,
            CASE j.kind
                WHEN 'library.import' THEN jsonb_build_object('importID', new_ids ->> (j.payload ->> 'importID'))
                WHEN 'cover.fetch' THEN jsonb_build_object('bookID', new_ids ->> (j.payload ->> 'bookID'))
                ELSE j.payload
            END AS payload
        FROM jobs j
        WHERE j.user_id = guest
            AND j.state <> 'DEAD'
            AND CASE j.kind
                WHEN 'library.import' THEN new_ids ? (j.payload ->> 'importID')
                WHEN 'cover.fetch' THEN new_ids ? (j.payload ->> 'bookID')
                ELSE j.kind = 'book.complete'
            END
    ) moved
    WHERE j.id = moved.id
        AND NOT EXISTS (
            SELECT
            FROM jobs k
            WHERE k.user_id = account AND k.kind = j.kind AND k.key = moved.key AND k.state <> 'DEAD'
        );
END
$$;

-- Moves the deleted books of the guest that can be restored.
CREATE OR REPLACE FUNCTION merge_deleted_books(guest uuid, account uuid, merged_shelves jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    deleted deleted_books;
    guest_book uuid;
    members jsonb;
BEGIN
    FOR deleted IN SELECT d.* FROM deleted_books d WHERE d.user_id = guest ORDER BY d.deleted_at, d.id LOOP
        guest_book := deleted.id;
        deleted.user_id := account;
        deleted.id := unused_id(account, guest_book);
        members := jsonb_build_object('user_id', account, 'book_id', deleted.id);
        deleted.book := deleted.book || jsonb_build_object('user_id', account, 'id', deleted.id);
        deleted.review := deleted.review || members;
        deleted.reads := rows_with(deleted.reads, members);
        deleted.progress_entries := rows_with(deleted.progress_entries, jsonb_build_object('user_id', account));
        deleted.notes := rows_with(deleted.notes, members);
        deleted.copies := rows_with(deleted.copies, members);
        deleted.ereader_position := deleted.ereader_position || members;
        deleted.shelf_ids := ARRAY(
            SELECT coalesce((merged_shelves ->> s::text)::uuid, s) FROM unnest(deleted.shelf_ids) s
        );
        IF deleted.cover IS NOT NULL THEN
            INSERT INTO moving_covers (user_id, book_id, guest_id, guest_book_id, cover)
            VALUES (account, deleted.id, guest, guest_book, deleted.cover);
            deleted.cover := NULL;
        END IF;
        INSERT INTO deleted_books VALUES (deleted.*);
    END LOOP;
END
$$;

-- Records which covers of the guest the books of the account get. A book whose cover the reader has removed keeps its state. A book
-- that has a cover gets another one only if a search found the present cover and the guest has chosen the other one. It keeps the
-- present cover until the files of the other one are copied.
CREATE OR REPLACE FUNCTION merge_covers(guest uuid, account uuid, merged_books jsonb) RETURNS void
LANGUAGE sql
AS $$
    WITH moving AS (
        INSERT INTO moving_covers (user_id, book_id, guest_id, guest_book_id, cover)
        SELECT account, b.id, guest, c.book_id, to_jsonb(c)
        FROM covers c
        JOIN books b ON b.user_id = account AND b.id = (merged_books ->> c.book_id::text)::uuid
        WHERE c.user_id = guest
            AND NOT b.is_cover_removed
            AND NOT EXISTS (
                SELECT
                FROM covers k
                WHERE k.user_id = account AND k.book_id = b.id AND (is_chosen_cover(k.source) OR NOT is_chosen_cover(c.source))
            )
        RETURNING book_id
    )
    UPDATE books b
    SET cover_status = 'FETCHING', cover_requested_at = now()
    FROM moving m
    WHERE b.user_id = account
        AND b.id = m.book_id
        AND NOT EXISTS (SELECT FROM covers k WHERE k.user_id = account AND k.book_id = b.id)
$$;

-- Moves the library of a guest into an account, and deletes the guest. The caller holds the locks of both users.
CREATE OR REPLACE FUNCTION merge_guest(guest uuid, account uuid) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    -- A link moves with its object. Others end: the reading of a year becomes that of the account, which its reader has not shared.
    movable_links uuid[] := ARRAY(
        SELECT l.id
        FROM shared_links l
        WHERE l.user_id = guest
            AND l.year IS NULL
            AND NOT is_other_object(account, coalesce(l.shelf_id, l.review_id, l.note_id))
    );
    merged_shelves jsonb := merge_shelves(guest, account);
    merged_books jsonb := merge_books(guest, account, match_guest_books(guest, account));
BEGIN
    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author, position)
    SELECT
        account, k.id, b.id, b.added_at, book_sort_title(b.title, b.language),
        book_sort_author(b.author), s.position
    FROM shelf_books s
    JOIN shelves h ON h.user_id = guest AND h.id = s.shelf_id
    JOIN books g ON g.user_id = guest AND g.id = s.book_id
    JOIN shelves k ON k.user_id = account AND k.id = (merged_shelves ->> s.shelf_id::text)::uuid
    JOIN books b ON b.user_id = account AND b.id = (merged_books ->> s.book_id::text)::uuid
    WHERE s.user_id = guest
        -- The queue gets no book that was started (`leave_up_next`), unless the guest has put such a book into the queue.
        AND (
            NOT k.is_up_next
            OR b.status IN ('WANT_TO_READ', 'PAUSED')
            OR h.is_up_next AND g.status NOT IN ('WANT_TO_READ', 'PAUSED')
        )
    ON CONFLICT DO NOTHING;
    PERFORM merge_reads(guest, account, merged_books);
    PERFORM merge_texts(guest, account, merged_books);
    PERFORM merge_copies(guest, account, merged_books);
    PERFORM merge_covers(guest, account, merged_books);
    PERFORM merge_deleted_books(guest, account, merged_shelves);
    PERFORM merge_ereaders(guest, account, merged_books);
    PERFORM merge_jobs(guest, account, merged_books);
    INSERT INTO swipes (user_id, edition_id, swiped_at, action, scope, store, recorded_at, undone_at, saved_book_id)
    SELECT
        account, s.edition_id, s.swiped_at, s.action, s.scope, s.store, s.recorded_at, s.undone_at,
        coalesce((merged_books ->> s.saved_book_id::text)::uuid, s.saved_book_id)
    FROM swipes s
    WHERE s.user_id = guest
    ON CONFLICT DO NOTHING;
    INSERT INTO followed_authors (user_id, person_id, name, followed_at)
    SELECT account, f.person_id, f.name, f.followed_at
    FROM followed_authors f
    WHERE f.user_id = guest
    ON CONFLICT DO NOTHING;
    INSERT INTO scans (user_id, id, isbn13, scanned_at, outcome, recorded_at)
    SELECT account, s.id, s.isbn13, s.scanned_at, s.outcome, s.recorded_at
    FROM scans s
    WHERE s.user_id = guest
    ON CONFLICT DO NOTHING;
    DELETE FROM scans s
    WHERE s.user_id = account
        AND s.id IN (
            SELECT o.id FROM scans o WHERE o.user_id = account ORDER BY o.recorded_at DESC, o.scanned_at DESC, o.id OFFSET 1000
        );
    INSERT INTO reading_goals (user_id, id, year, unit, target, created_at, updated_at)
    SELECT account, unused_id(account, g.id), g.year, g.unit, g.target, g.created_at, g.updated_at
    FROM reading_goals g
    WHERE g.user_id = guest
    ON CONFLICT DO NOTHING;
    -- Objects that were merged with others have another id now. The name was that of the guest.
    UPDATE shared_links l
    SET user_id = account,
        shows_name = l.shows_name AND g.display_name IS NOT NULL
    FROM users g
    WHERE l.user_id = guest
        AND g.id = guest
        AND l.id = ANY(movable_links)
        AND NOT EXISTS (SELECT FROM shared_links k WHERE k.user_id = account AND k.id = l.id)
        AND (
            EXISTS (SELECT FROM shelves s WHERE s.user_id = account AND s.id = l.shelf_id)
            OR EXISTS (SELECT FROM reviews r WHERE r.user_id = account AND r.id = l.review_id)
            OR EXISTS (SELECT FROM notes n WHERE n.user_id = account AND n.id = l.note_id)
        );
    UPDATE users a
    SET display_name = coalesce(a.display_name, g.display_name),
        preferred_genres = ARRAY(
            SELECT n.name
            FROM unnest(a.preferred_genres || g.preferred_genres) WITH ORDINALITY AS n (name, position)
            GROUP BY n.name
            ORDER BY min(n.position)
            LIMIT 50
        ),
        languages = CASE WHEN a.languages = '{}' THEN g.languages ELSE a.languages END,
        time_zone = CASE a.time_zone WHEN 'UTC' THEN g.time_zone ELSE a.time_zone END,
        updated_at = now()
    FROM users g
    WHERE a.id = account AND g.id = guest;
    INSERT INTO feed_readers AS f (user_id, signals_version)
    VALUES (account, 1)
    ON CONFLICT (user_id) DO UPDATE
    SET signals_version = f.signals_version + 1;

    -- The guest ends like a deleted account. The job also removes the guest's files, after it has copied the covers.
    INSERT INTO account_tombstones (user_hash, books, reviews, covers, apple_token_revoked)
    SELECT
        sha256(uuid_send(guest)),
        (SELECT count(*) FROM books b WHERE b.user_id = guest),
        (SELECT count(*) FROM reviews v WHERE v.user_id = guest),
        (SELECT count(*) FROM covers c WHERE c.user_id = guest),
        false;
    PERFORM enqueue_job(
        NULL, 'account.move_covers', jsonb_build_object('userID', guest), NULL, 0, 0, 100
    );
    PERFORM record_audit_event(
        'GUEST_MERGED', app_tenant_id(), account, NULL, jsonb_build_object('guest', guest)
    );
    DELETE FROM users u
    WHERE u.id = guest;
    PERFORM pg_notify('jobs', 'account.move_covers'), pg_notify('changes', account::text);
END
$$;

-- Only adopt_guest calls these functions.
REVOKE ALL ON FUNCTION merge_guest, merge_covers, merge_deleted_books, merge_jobs, merge_ereaders, merge_texts, merge_reads, merge_books,
    merge_shelves, match_guest_books FROM PUBLIC;
