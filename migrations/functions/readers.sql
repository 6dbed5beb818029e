-- requires: accounts, changes, reads, works
-- Loading existing readers with their libraries: `bookplate-admin readers import`.

-- Creates the accounts of readers in a tenant, or finds them, and adds to their libraries what they do not have yet. Nothing is
-- overwritten, and books that a reader has deleted do not come back, so a batch can be repeated. `given` is an array of objects:
-- {"subject": "…", "displayName": "…", "email": "…", "createdAt": "…", "preferredGenres": [], "languages": [],
-- "timeZone": "…", "shelves": [], "books": []}. The books are those of `import_records`, and their reads have ids.
--
-- The triggers that log changes are off (app.bulk), because they take several times as long as the rest. The last statement adds
-- the same entries to the logs.
CREATE OR REPLACE FUNCTION import_readers(
    tenant uuid,
    given jsonb,
    OUT readers_created int,
    OUT books_created int,
    OUT reviews_created int,
    OUT reads_created int,
    OUT shelves_created int
)
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    owners uuid[];
    owner uuid;
    -- The accounts by their subjects, and the books of the records by their ids.
    accounts jsonb;
    placed jsonb;
    new_books jsonb;
    new_reviews jsonb;
    new_reads jsonb;
    new_shelves jsonb;
    started text := current_setting('app.bulk', true);
BEGIN
    PERFORM set_config('app.bulk', 'on', true);
    -- The view reads hundreds of files.
    WITH zones AS MATERIALIZED (
        SELECT z.name FROM pg_timezone_names z
    ), readers AS (
        -- The first one of each subject.
        SELECT DISTINCT ON (r.value ->> 'subject') t.*
        FROM jsonb_array_elements(given) WITH ORDINALITY AS r (value, number)
        CROSS JOIN LATERAL jsonb_to_record(r.value) AS t (
            subject text, "displayName" text, email text, "preferredGenres" text[], languages text[], "timeZone" text,
            "createdAt" timestamptz
        )
        WHERE NOT EXISTS (SELECT FROM identities i WHERE i.tenant_id = tenant AND i.subject = t.subject)
        ORDER BY r.value ->> 'subject', r.number
    ), created AS (
        -- A reader may sign in meanwhile, or another import may add the same one.
        INSERT INTO identities (user_id, tenant_id, subject, created_at)
        SELECT gen_random_uuid(), tenant, r.subject, coalesce(r."createdAt", now())
        FROM readers r
        ON CONFLICT (tenant_id, subject) DO NOTHING
        RETURNING user_id, subject, created_at
    ), new_users AS (
        INSERT INTO users (id, tenant_id, display_name, email, preferred_genres, languages, time_zone, created_at)
        SELECT
            c.user_id, tenant, r."displayName", r.email,
            ARRAY(SELECT g.name FROM genres g WHERE g.name = ANY(r."preferredGenres")),
            coalesce(r.languages, '{}'),
            coalesce((SELECT current_zone_name(z.name) FROM zones z WHERE z.name = r."timeZone"), 'UTC'),
            c.created_at
        FROM created c
        JOIN readers r ON r.subject = c.subject
        RETURNING id
    )
    SELECT count(*) INTO readers_created FROM new_users;
    SELECT coalesce(jsonb_object_agg(i.subject, i.user_id), '{}'), coalesce(array_agg(DISTINCT i.user_id ORDER BY i.user_id), '{}')
    INTO accounts, owners
    FROM identities i
    WHERE i.tenant_id = tenant AND i.subject IN (SELECT r ->> 'subject' FROM jsonb_array_elements(given) r);
    -- Always in the same order, so that two imports cannot wait for each other.
    FOREACH owner IN ARRAY owners LOOP
        PERFORM lock_user(owner);
    END LOOP;

    WITH named AS (
        SELECT DISTINCT ON (n.user_id, lower(n.name)) n.user_id, n.name, n.reader, n.position
        FROM (
            SELECT (accounts ->> (r.reader ->> 'subject'))::uuid AS user_id, s.name, r.number AS reader, s.position
            FROM jsonb_array_elements(given) WITH ORDINALITY AS r (reader, number)
            CROSS JOIN LATERAL jsonb_array_elements_text(r.reader -> 'shelves') WITH ORDINALITY AS s (name, position)
        ) n
        WHERE NOT EXISTS (SELECT FROM shelves k WHERE k.user_id = n.user_id AND lower(k.name) = lower(n.name))
        ORDER BY n.user_id, lower(n.name), n.reader, n.position
    ), created AS (
        INSERT INTO shelves (user_id, id, name, position)
        SELECT n.user_id, gen_random_uuid(), n.name, n.next
        FROM (
            SELECT
                n.user_id,
                n.name,
                k.next - 1 + row_number() OVER (PARTITION BY n.user_id ORDER BY n.reader, n.position) AS next,
                k.existing + row_number() OVER (PARTITION BY n.user_id ORDER BY n.reader, n.position) AS total
            FROM named n
            CROSS JOIN LATERAL (
                SELECT coalesce(max(s.position) + 1, 0) AS next, count(*) AS existing
                FROM shelves s
                WHERE s.user_id = n.user_id
            ) k
        ) n
        WHERE n.total <= 500
        ON CONFLICT DO NOTHING
        RETURNING user_id, id
    )
    SELECT count(*), coalesce(jsonb_agg(to_jsonb(c)), '[]') INTO shelves_created, new_shelves FROM created c;

    WITH books_given AS (
        SELECT (accounts ->> (r ->> 'subject'))::uuid AS user_id, b.book
        FROM jsonb_array_elements(given) r
        CROSS JOIN LATERAL jsonb_array_elements(r -> 'books') AS b (book)
    ), created AS (
        INSERT INTO books (
            user_id, id, title, subtitle, authors, author_roles, isbn13, publisher, published_date, page_count,
            language, category, genre, description, status, current_page, added_at, started_at, finished_at, updated_at,
            binding, original_year, private_notes, content_notes, moods, series, series_position, edition_id, linked_by
        )
        SELECT
            g.user_id, v.id, v.title, v.subtitle, v.authors, v."authorRoles", v.isbn13, v.publisher,
            v."publishedDate", v."pageCount", v.language, v.category, v.genre, v.description, v.status,
            v."currentPage", coalesce(v."addedAt", now()), v."startedAt", v."finishedAt", coalesce(v."updatedAt", now()),
            v.binding, v."originalYear", v."privateNotes", v."contentNotes", coalesce(v.moods, '{}'), v."seriesName",
            v."seriesPosition", e.id, 'ISBN'
        FROM books_given g
        CROSS JOIN LATERAL jsonb_to_record(g.book) AS v (
            id uuid, title text, subtitle text, authors text[], "authorRoles" author_role[], isbn13 text,
            publisher text, "publishedDate" text, "pageCount" int, language text, category text, genre text,
            description text, status reading_status, "currentPage" int, "addedAt" timestamptz, "startedAt" timestamptz,
            "finishedAt" timestamptz, "updatedAt" timestamptz, binding text, "originalYear" int, "privateNotes" text,
            "contentNotes" text, moods text[], "seriesName" text, "seriesPosition" text
        )
        -- A book with an edition is not in the index of link keys, whose entries take most of the time.
        LEFT JOIN editions e ON e.isbn13 = v.isbn13
            AND NOT EXISTS (SELECT FROM books k WHERE k.user_id = g.user_id AND k.edition_id = e.id)
        WHERE NOT EXISTS (
            SELECT
            FROM deleted_books d
            WHERE d.user_id = g.user_id AND (d.id = v.id OR d.book ->> 'isbn13' = v.isbn13)
        )
        ON CONFLICT DO NOTHING
        RETURNING user_id, id, edition_id
    ), waiting AS (
        INSERT INTO books_to_link (user_id, book_id)
        SELECT c.user_id, c.id
        FROM created c
        WHERE c.edition_id IS NULL
        ON CONFLICT DO NOTHING
    )
    SELECT count(*), coalesce(jsonb_agg(jsonb_build_object('user_id', c.user_id, 'id', c.id)), '[]')
    INTO books_created, new_books
    FROM created c;
    -- The book of a record has its id or its ISBN. A book that the reader has deleted is not there.
    SELECT coalesce(jsonb_agg(jsonb_build_object('user_id', g.user_id, 'id', k.id, 'book', g.book)), '[]') INTO placed
    FROM (
        SELECT (accounts ->> (r ->> 'subject'))::uuid AS user_id, b.book
        FROM jsonb_array_elements(given) r
        CROSS JOIN LATERAL jsonb_array_elements(r -> 'books') AS b (book)
    ) g
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (SELECT k.id FROM books k WHERE k.user_id = g.user_id AND k.id = (g.book ->> 'id')::uuid),
            (SELECT k.id FROM books k WHERE k.user_id = g.user_id AND k.isbn13 = g.book ->> 'isbn13')
        ) AS id
    ) k
    WHERE k.id IS NOT NULL;

    WITH created AS (
        INSERT INTO reviews (user_id, book_id, id, quarter_stars, text, has_spoilers, created_at, updated_at)
        SELECT DISTINCT ON (p.user_id, p.id)
            p.user_id, p.id, gen_random_uuid(), (p.book ->> 'quarterStars')::smallint, p.book ->> 'review',
            coalesce((p.book ->> 'hasSpoilers')::boolean, false),
            coalesce((p.book ->> 'reviewedAt')::timestamptz, (p.book ->> 'finishedAt')::timestamptz, now()),
            coalesce(
                (p.book ->> 'reviewUpdatedAt')::timestamptz, (p.book ->> 'reviewedAt')::timestamptz,
                (p.book ->> 'finishedAt')::timestamptz, now()
            )
        FROM jsonb_to_recordset(placed) AS p (user_id uuid, id uuid, book jsonb)
        WHERE p.book ?| '{quarterStars, review}'
        ON CONFLICT DO NOTHING
        RETURNING user_id, id, book_id
    )
    SELECT count(*), coalesce(jsonb_agg(to_jsonb(c)), '[]') INTO reviews_created, new_reviews FROM created c;

    WITH created AS (
        INSERT INTO reads (
            user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, created_at, updated_at,
            page_count, genre, author_id, author, moods
        )
        SELECT
            p.user_id, v.id, p.id, v."startedOn", v."finishedOn", v.outcome, v.format, v."lengthSeconds", v.note,
            coalesce(v."createdAt", now()), coalesce(v."updatedAt", v."createdAt", now()), k.page_count, k.genre,
            k.author_ids[1], left(k.authors[1], 200), nullif(k.moods, '{}')
        FROM jsonb_to_recordset(placed) AS p (user_id uuid, id uuid, book jsonb)
        JOIN books k ON k.user_id = p.user_id AND k.id = p.id
        CROSS JOIN LATERAL jsonb_to_recordset(p.book -> 'reads') AS v (
            id uuid, "startedOn" text, "finishedOn" text, outcome read_outcome, format read_format, "lengthSeconds" int,
            note text, "createdAt" timestamptz, "updatedAt" timestamptz
        )
        WHERE NOT EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = p.user_id AND t.id = v.id)
            -- The reads of a book that the reader had before are the reader's own.
            AND p.id = (p.book ->> 'id')::uuid
        ON CONFLICT DO NOTHING
        RETURNING user_id, id
    )
    SELECT count(*), coalesce(jsonb_agg(to_jsonb(c)), '[]') INTO reads_created, new_reads FROM created c;

    INSERT INTO book_copies (
        user_id, id, book_id, format, place, note, loan_id, borrower, lent_on, due_on, past_loans, created_at, updated_at
    )
    SELECT
        p.user_id, coalesce(c.id, gen_random_uuid()), p.id, c.format, c.place, c.note, (c.loan ->> 'id')::uuid, c.loan ->> 'borrower', c.loan ->> 'lentOn',
        c.loan ->> 'dueOn', coalesce(c."pastLoans", '[]'), coalesce(c."createdAt", now()),
        coalesce(c."updatedAt", c."createdAt", now())
    FROM jsonb_to_recordset(placed) AS p (user_id uuid, id uuid, book jsonb)
    JOIN jsonb_to_recordset(new_books) AS b (user_id uuid, id uuid) ON b.user_id = p.user_id AND b.id = p.id
    CROSS JOIN LATERAL jsonb_to_recordset(p.book -> 'copies') AS c (
        id uuid, format text, place text, note text, loan jsonb, "pastLoans" jsonb, "createdAt" timestamptz,
        "updatedAt" timestamptz
    )
    WHERE p.book ? 'copies'
    ON CONFLICT DO NOTHING;

    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author, position)
    SELECT
        p.user_id, s.id, p.id, k.added_at, book_sort_title(k.title, k.language), book_sort_author(k.author),
        coalesce(p.book -> 'shelfPositions' ->> (n.index - 1)::int, last_shelf_position())
    FROM jsonb_to_recordset(placed) AS p (user_id uuid, id uuid, book jsonb)
    JOIN books k ON k.user_id = p.user_id AND k.id = p.id
    CROSS JOIN LATERAL jsonb_array_elements_text(p.book -> 'shelves') WITH ORDINALITY AS n (name, index)
    JOIN shelves s ON s.user_id = p.user_id AND lower(s.name) = lower(n.name)
    ON CONFLICT DO NOTHING;

    IF EXISTS (SELECT FROM webhooks) THEN
        PERFORM mark_webhook_position(w.id)
        FROM unnest(owners) AS w (id);
    END IF;
    -- Books that were there before get entries below, although their rows are not written.
    PERFORM set_config('app.logs_unwritten_books', 'on', true);
    INSERT INTO changes (user_id, seq, kind, typename, id, at)
    SELECT
        n.user_id,
        o.last + row_number() OVER (PARTITION BY n.user_id ORDER BY n.position, n.id),
        n.kind,
        n.typename,
        n.id,
        clock_timestamp()
    FROM (
        SELECT s.user_id, s.id, 'CREATED'::change_kind AS kind, 'Shelf' AS typename, 1 AS position
        FROM jsonb_to_recordset(new_shelves) AS s (user_id uuid, id uuid)
        UNION ALL
        SELECT b.user_id, b.id, 'CREATED', 'Book', 2
        FROM jsonb_to_recordset(new_books) AS b (user_id uuid, id uuid)
        UNION ALL
        SELECT v.user_id, v.id, 'CREATED', 'Review', 3
        FROM jsonb_to_recordset(new_reviews) AS v (user_id uuid, id uuid)
        UNION ALL
        SELECT d.user_id, d.id, 'CREATED', 'Read', 4
        FROM jsonb_to_recordset(new_reads) AS d (user_id uuid, id uuid)
        UNION ALL
        -- Books that were there before have got a review.
        SELECT v.user_id, v.book_id, 'UPDATED', 'Book', 5
        FROM jsonb_to_recordset(new_reviews) AS v (user_id uuid, book_id uuid)
        WHERE (v.user_id, v.book_id) NOT IN (
            SELECT b.user_id, b.id FROM jsonb_to_recordset(new_books) AS b (user_id uuid, id uuid)
        )
    ) n
    JOIN (
        SELECT w.id, coalesce(max(c.seq), 0) AS last
        FROM unnest(owners) AS w (id)
        LEFT JOIN changes c ON c.user_id = w.id
        GROUP BY w.id
    ) o ON o.id = n.user_id;
    INSERT INTO logs_to_prune (user_id, oldest_at)
    SELECT w.id, now()
    FROM unnest(owners) AS w (id)
    ORDER BY w.id
    ON CONFLICT DO NOTHING;
    INSERT INTO feed_readers AS f (user_id, signals_version)
    SELECT w.id, 1
    FROM unnest(owners) AS w (id)
    WHERE books_created + reviews_created > 0
    ORDER BY w.id
    ON CONFLICT (user_id) DO UPDATE
    SET signals_version = f.signals_version + 1;
    -- Last, because every import updates the same job, and the next one waits until this transaction ends.
    IF books_created > 0 THEN
        PERFORM enqueue_link_job();
    END IF;
    PERFORM set_config('app.bulk', coalesce(started, ''), true);
END
$$;

REVOKE ALL ON FUNCTION import_readers FROM PUBLIC;
