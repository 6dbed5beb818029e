-- requires: accounts, changes, reads, search
-- The notes of a library.

-- MARK: Positions

-- Returns the length in seconds that converts the positions of an audiobook: that of the latest read that has one.
CREATE OR REPLACE FUNCTION audio_length(owner uuid, book uuid) RETURNS int
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT r.length_seconds
    FROM reads r
    WHERE r.user_id = owner AND r.book_id = book AND r.length_seconds IS NOT NULL
    ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
    LIMIT 1
$$;

-- Returns the number by which the notes of a book are sorted first. It is the part of the book before the note, from 0 to 1, if the
-- length of the book is known. Other notes with a page follow, and after them notes with a time, and notes without a position. It is
-- greater than 1 for a page after the last one, because the note may be from an edition with more pages.
CREATE OR REPLACE FUNCTION note_position(page int, percent float8, seconds int, page_count int, length_seconds int)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN percent IS NOT NULL THEN percent / 100
        WHEN page IS NOT NULL AND page_count > 0 THEN page::float8 / page_count
        WHEN seconds IS NOT NULL AND length_seconds > 0 THEN seconds::float8 / length_seconds
        WHEN page IS NOT NULL THEN 1e10 + page
        WHEN seconds IS NOT NULL THEN 1e11 + seconds
        ELSE 'Infinity'
    END
$$;

-- MARK: Mutations

-- Stores those notes of `given` that are valid, and returns for each, in order, what is wrong with it, or null. `given` is an
-- array of objects: {"id": "…", "bookId": "…", "text": "…", "comment": "…", "chapter": "…", "color": "YELLOW", "page": 1,
-- "percent": null, "seconds": null, "createdAt": "…"}. Only `id`, `bookId`, and one of `text` and `comment` are required. The
-- problems are BOOK, TAKEN, DELETED, BOOK_FULL, and LIBRARY_FULL.
--
-- A note that the book has already is not stored again.
CREATE OR REPLACE FUNCTION create_notes(owner uuid, given jsonb) RETURNS TABLE (problem text)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH input AS MATERIALIZED (
        SELECT i.*
        FROM ROWS FROM (
            jsonb_to_recordset(given) AS (
                id uuid, "bookId" uuid, text text, comment text, chapter text, color label_color, page int, percent float8,
                seconds int, "createdAt" timestamptz
            )
        ) WITH ORDINALITY AS i (id, book_id, text, comment, chapter, color, page, percent, seconds, created_at, n)
    ), checked AS MATERIALIZED (
        SELECT
            i.*,
            k.id IS NOT NULL AS is_stored,
            CASE
                WHEN b.id IS NULL THEN 'BOOK'
                WHEN k.book_id = i.book_id THEN NULL
                WHEN EXISTS (SELECT FROM input o WHERE o.id = i.id AND o.n < i.n AND o.book_id <> i.book_id) THEN 'TAKEN'
                WHEN EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = owner AND t.id = i.id) THEN 'DELETED'
                WHEN is_other_object(owner, i.id)
                    OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = i.id)
                    OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = i.id)
                THEN 'TAKEN'
            END AS found
        FROM input i
        LEFT JOIN books b ON b.user_id = owner AND b.id = i.book_id
        LEFT JOIN notes k ON k.user_id = owner AND k.id = i.id
    ), capacities AS MATERIALIZED (
        SELECT
            c.book_id,
            2000 - (SELECT count(*) FROM notes k WHERE k.user_id = owner AND k.book_id = c.book_id) AS capacity
        FROM (SELECT DISTINCT c.book_id FROM checked c) c
    ), accepted AS MATERIALIZED (
        SELECT
            c.*,
            CASE
                WHEN c.found IS NOT NULL OR c.is_stored THEN c.found
                WHEN count(*) FILTER (WHERE c.found IS NULL AND NOT c.is_stored)
                    OVER (PARTITION BY c.book_id ORDER BY c.n) > r.capacity
                THEN 'BOOK_FULL'
                WHEN count(*) FILTER (WHERE c.found IS NULL AND NOT c.is_stored) OVER (ORDER BY c.n)
                    > 100000 - (SELECT count(*) FROM notes k WHERE k.user_id = owner)
                THEN 'LIBRARY_FULL'
            END AS problem
        FROM checked c
        JOIN capacities r ON r.book_id = c.book_id
    ), stored AS (
        INSERT INTO notes (
            user_id, id, book_id, text, comment, chapter, color, page, percent, seconds, created_at
        )
        SELECT
            owner, a.id, a.book_id, a.text, a.comment, a.chapter, a.color, a.page, a.percent, a.seconds,
            -- Notes without a time are made now, in their order.
            coalesce(a.created_at, now() + (a.n - 1) * interval '1 microsecond')
        FROM accepted a
        WHERE a.problem IS NULL AND NOT a.is_stored
        ORDER BY a.n
        -- The batch may contain a note twice.
        ON CONFLICT DO NOTHING
    )
    SELECT a.problem
    FROM accepted a
    ORDER BY a.n;
END
$$;

-- Changes those values of a note that are members of `given`, and returns what is wrong: NOTE if there is no such note, EMPTY if it
-- would have no text and no comment, or null. `given` may have the members `text`, `comment`, `chapter`, `color`, and `position`, an object
-- with at most one of `page`, `percent`, and `seconds`.
CREATE OR REPLACE FUNCTION change_note(owner uuid, note uuid, given jsonb) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    kept notes;
    changed notes;
BEGIN
    SELECT n.* INTO kept
    FROM notes n
    WHERE n.user_id = owner AND n.id = note;
    IF NOT FOUND THEN
        RETURN 'NOTE';
    END IF;
    changed := kept;
    IF given ? 'text' THEN
        changed.text := given ->> 'text';
    END IF;
    IF given ? 'comment' THEN
        changed.comment := given ->> 'comment';
    END IF;
    IF changed.text IS NULL AND changed.comment IS NULL THEN
        RETURN 'EMPTY';
    END IF;
    IF given ? 'chapter' THEN
        changed.chapter := given ->> 'chapter';
    END IF;
    IF given ? 'color' THEN
        changed.color := (given ->> 'color')::label_color;
    END IF;
    IF given ? 'position' THEN
        changed.page := (given -> 'position' ->> 'page')::int;
        changed.percent := (given -> 'position' ->> 'percent')::float8;
        changed.seconds := (given -> 'position' ->> 'seconds')::int;
    END IF;
    IF changed IS DISTINCT FROM kept THEN
        UPDATE notes n
        SET text = changed.text,
            comment = changed.comment,
            chapter = changed.chapter,
            color = changed.color,
            page = changed.page,
            percent = changed.percent,
            seconds = changed.seconds,
            updated_at = now()
        WHERE n.user_id = owner AND n.id = note;
    END IF;
    RETURN NULL;
END
$$;

-- Deletes a note, and returns its book; null if there is no such note.
CREATE OR REPLACE FUNCTION delete_note(owner uuid, note uuid) RETURNS uuid
LANGUAGE plpgsql
AS $$
DECLARE
    book uuid;
BEGIN
    DELETE FROM notes n
    WHERE n.user_id = owner AND n.id = note
    RETURNING n.book_id INTO book;
    IF FOUND THEN
        PERFORM record_deleted_id(owner, note);
    END IF;
    RETURN book;
END
$$;

-- MARK: Search

-- Returns the notes of the caller's library that match a search, and have the color unless it is null. A note matches if every
-- word of the search is the beginning of a word of the text, the comment, or the chapter, or of the title, the series, or an
-- author of the book. Words of one or two Latin letters or digits are not looked for in titles, series, and authors. If there are
-- no such notes, a word of at least four letters also matches words of the catalog that are spelled similarly
-- (search_similar_words), and words of titles with a slight misspelling (search_patterns). Only the first six words count. A search
-- without letters and digits is searched as it is.
--
-- First the books are grouped by the words that they do not have. Each group then needs one search for the notes with
-- these words. At most 16 groups, those with the fewest words, are searched this way. The notes of all other books must have
-- all words.
--
-- Relies on this plan: a bitmap scan of notes_search. PostgreSQL compares text-search queries after row-level security, and so
-- not with an index, unless the function has the owner's privileges. OFFSET 0 keeps the planner from reading all notes of the reader
-- by another index. enable_seqscan = off, because the planner has no statistics of the keys of one reader. force_custom_plan,
-- because the words decide how much is found. Starting parallel workers takes longer than most searches.
-- definer: a policy would keep the index of words from being used; it compares the user itself.
CREATE OR REPLACE FUNCTION search_notes(search text, of_color label_color) RETURNS TABLE (id uuid, created_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    owner uuid := app_user_id();
    prefix text := note_key_prefix(owner) || ' ';
    words text[] := (ARRAY(SELECT left(w, 200) FROM unnest(search_query_words(search)) w))[1:6];
    -- The part of a text-search query for each word.
    parts text[];
    word text;
    similar_words text[];
    trigram_letters int := 48;
    -- For each word, a regular expression of the titles that match it (search_patterns).
    patterns text[];
    -- A group of books: the parts that their notes must match, and the books. The last group is all other books.
    needed text[];
    book_ids uuid[];
    titled_ids uuid[];
    is_found boolean := false;
BEGIN
    IF owner IS NULL THEN
        RETURN;
    END IF;
    IF words = '{}' THEN
        RETURN QUERY
            SELECT n.id, n.created_at
            FROM notes n
            WHERE n.user_id = owner
                AND strpos(concat_ws(E'\n', n.text, n.comment, n.chapter), search) > 0
                AND (of_color IS NULL OR n.color = of_color);
        RETURN;
    END IF;
    FOR is_lenient IN 0..1 LOOP
        parts := '{}';
        titled_ids := '{}';
        FOREACH word IN ARRAY words LOOP
            similar_words := '{}';
            IF is_lenient = 1 AND length(word) > 3 THEN
                SELECT s.trigram_letters, s.similar_words
                INTO trigram_letters, similar_words
                FROM search_similar_words(word, trigram_letters) s;
            END IF;
            parts := parts || concat_ws(
                ' | ',
                (
                    SELECT string_agg(quote_literal(prefix || t) || ':*', ' & ')
                    FROM unnest((search_word_terms(word))[1:12]) t
                ),
                (SELECT string_agg(quote_literal(prefix || s), ' | ') FROM unnest(similar_words) s)
            );
        END LOOP;
        IF is_lenient = 1 THEN
            patterns := search_patterns(
                words,
                ARRAY(
                    SELECT DISTINCT k.word
                    FROM (
                        SELECT string_to_table(left(b.search_text, 2000), ' ') AS word
                        FROM books b
                        WHERE b.user_id = owner
                        LIMIT 200000
                    ) k
                    WHERE length(k.word) BETWEEN 2 AND 42
                    LIMIT 20000
                )
            );
        END IF;
        FOR needed, book_ids IN
            SELECT g.needed, array_agg(g.id)
            FROM (
                SELECT
                    b.id,
                    ARRAY(
                        SELECT parts[i]
                        FROM generate_subscripts(words, 1) i
                        WHERE NOT CASE is_lenient
                            -- Short words of Latin letters are in so many titles that there would be a group for each combination.
                            WHEN 0 THEN octet_length(words[i]) > 2 AND b.text LIKE '% ' || words[i] || '%'
                            ELSE octet_length(words[i]) > 2 AND b.text ~ patterns[i]
                        END
                    ) AS needed
                FROM (
                    SELECT b.id, ' ' || left(b.search_text, 2000) || ' ' AS text
                    FROM books b
                    WHERE b.user_id = owner
                    OFFSET 0
                ) b
            ) g
            WHERE cardinality(g.needed) < cardinality(words)
            GROUP BY g.needed
            ORDER BY cardinality(g.needed)
            LIMIT 16
        LOOP
            titled_ids := titled_ids || book_ids;
            IF needed = '{}' THEN
                RETURN QUERY
                    SELECT n.id, n.created_at
                    FROM notes n
                    WHERE n.user_id = owner AND n.book_id = ANY(book_ids) AND (of_color IS NULL OR n.color = of_color);
            ELSE
                RETURN QUERY
                    SELECT n.id, n.created_at
                    -- Two readers may have the same prefix.
                    FROM (
                        SELECT *
                        FROM notes m
                        WHERE note_search_keys(m.user_id, m.text, m.comment, m.chapter)
                            @@ ('(' || array_to_string(needed, ') & (') || ')')::tsquery
                        OFFSET 0
                    ) n
                    WHERE n.user_id = owner AND n.book_id = ANY(book_ids) AND (of_color IS NULL OR n.color = of_color);
            END IF;
            is_found := is_found OR FOUND;
        END LOOP;
        RETURN QUERY
            SELECT n.id, n.created_at
            FROM (
                SELECT *
                FROM notes m
                WHERE note_search_keys(m.user_id, m.text, m.comment, m.chapter)
                    @@ ('(' || array_to_string(parts, ') & (') || ')')::tsquery
                OFFSET 0
            ) n
            WHERE n.user_id = owner AND n.book_id <> ALL(titled_ids) AND (of_color IS NULL OR n.color = of_color);
        EXIT WHEN is_found OR FOUND;
    END LOOP;
END
$$;

-- MARK: Imports

-- Adds notes to books of the caller's library, and returns those ids of `given` whose book does not exist or is full, or whose id
-- belongs to another object. `given` is an array as for `create_notes`, whose elements may also have `updatedAt`. Notes that exist
-- stay as they are.
CREATE OR REPLACE FUNCTION import_notes(given jsonb) RETURNS uuid[]
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    owner uuid := app_user_id();
    ignored uuid[];
BEGIN
    WITH new_notes AS MATERIALIZED (
        SELECT
            i.*,
            row_number() OVER (PARTITION BY i."bookId" ORDER BY i."createdAt", i.id) AS book_position,
            row_number() OVER (ORDER BY i."createdAt", i.id) AS position
        FROM jsonb_to_recordset(given) AS i (
            id uuid, "bookId" uuid, text text, comment text, chapter text, color label_color, page int, percent float8,
            seconds int, "createdAt" timestamptz, "updatedAt" timestamptz
        )
        WHERE NOT EXISTS (SELECT FROM notes n WHERE n.user_id = owner AND n.id = i.id OFFSET 0)
    ), counted AS MATERIALIZED (
        SELECT b.id, b.note_count
        FROM (SELECT DISTINCT f."bookId" FROM new_notes f) k
        CROSS JOIN LATERAL (
            SELECT b.id, (SELECT count(*) FROM notes n WHERE n.user_id = owner AND n.book_id = b.id) AS note_count
            FROM books b
            WHERE b.user_id = owner AND b.id = k."bookId"
            OFFSET 0
        ) b
    ), stored AS (
        INSERT INTO notes (
            user_id, id, book_id, text, comment, chapter, color, page, percent, seconds, created_at, updated_at
        )
        SELECT
            owner, f.id, b.id, f.text, f.comment, f.chapter, f.color, f.page, f.percent, f.seconds,
            coalesce(f."createdAt", now()), coalesce(f."updatedAt", f."createdAt", now())
        FROM new_notes f
        JOIN counted b ON b.id = f."bookId"
        WHERE f.book_position <= 2000 - b.note_count
            AND f.position <= 100000 - (SELECT count(*) FROM notes n WHERE n.user_id = owner)
            AND NOT is_other_object(owner, f.id)
            AND NOT EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = f.id OFFSET 0)
            AND NOT EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = f.id OFFSET 0)
        ON CONFLICT DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO ignored
    FROM new_notes f
    WHERE f.id NOT IN (SELECT s.id FROM stored s);
    RETURN ignored;
END
$$;

-- MARK: Change log

-- Logs a changed note.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_note() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
BEGIN
    IF NEW IS DISTINCT FROM OLD THEN
        ignored := append_change(NEW.user_id, 'UPDATED', 'Note', NEW.id);
    END IF;
    RETURN NULL;
END
$$;

-- Logs created and deleted notes, and their books, which have another number of notes. The notes of a deleted book are not logged: they
-- are deleted with it. Runs once per statement, because a book can have thousands of notes.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_note_counts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
-- The planner has no statistics of transition tables.
SET enable_seqscan = off
AS $$
DECLARE
    ignored text;
    change change_kind := CASE TG_OP WHEN 'INSERT' THEN 'CREATED' ELSE 'DELETED' END;
    owner uuid;
    ids uuid[];
    books uuid[];
BEGIN
    FOR owner, ids, books IN
        SELECT c.user_id, array_agg(c.id), array_agg(DISTINCT c.book_id)
        FROM changed_rows c
        CROSS JOIN LATERAL (SELECT FROM books b WHERE b.user_id = c.user_id AND b.id = c.book_id OFFSET 0) b
        GROUP BY c.user_id
        ORDER BY c.user_id
    LOOP
        ignored := append_changes(owner, change, 'Note', ids);
        ignored := set_config('app.logs_unwritten_books', 'on', true);
        ignored := append_changes(owner, 'UPDATED', 'Book', books);
    END LOOP;
    RETURN NULL;
END
$$;

-- As for books (changes.sql), no statement can forget to log a change.
CREATE OR REPLACE TRIGGER log_changes
AFTER UPDATE ON notes
FOR EACH ROW
EXECUTE FUNCTION log_note();

-- As above. PostgreSQL has no triggers with transition tables for several events.
CREATE OR REPLACE TRIGGER log_insert
AFTER INSERT ON notes
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_note_counts();

-- As above; foreign keys delete the notes of deleted books.
CREATE OR REPLACE TRIGGER log_delete
AFTER DELETE ON notes
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_note_counts();

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON notes;
CREATE POLICY owner_only ON notes TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON notes;
CREATE POLICY administration ON notes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO bookplate_app;

REVOKE ALL ON FUNCTION log_note, log_note_counts, search_notes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_notes TO bookplate_app;
