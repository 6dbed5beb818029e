-- requires: accounts, authors, copies, ereaders, goals, notes, reads, scans
-- Imports of a library from a file.

-- Returns how far a status is on the way to READ. An import can move a book forward, but not back.
CREATE OR REPLACE FUNCTION status_rank(status reading_status) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE status WHEN 'WANT_TO_READ' THEN 0 WHEN 'READ' THEN 2 ELSE 1 END
$$;

-- Returns whether the catalog says that an edition is in a series at a position.
CREATE OR REPLACE FUNCTION is_series_of_edition(edition uuid, series text, series_position text) RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN series IS NOT NULL AND EXISTS (
        SELECT
        FROM editions e
        WHERE e.id = edition
            AND e.series_id = series_id(is_series_of_edition.series)
            AND e.series_position IS NOT DISTINCT FROM is_series_of_edition.series_position
    );
END
$$;

-- Returns the caller's shelf with the name, and creates it if there is none. Returns null if the library has 500 shelves.
--
-- enable_seqscan = off here and below: every query is for the rows of one user, so an index fits. The planner's
-- statistics may describe a table that was almost empty before the import.
CREATE OR REPLACE FUNCTION import_shelf(shelf_id uuid, shelf_name text, shelf_created_at timestamptz) RETURNS uuid
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    owner uuid := app_user_id();
    found_id uuid;
BEGIN
    SELECT s.id INTO found_id
    FROM shelves s
    WHERE s.user_id = owner AND lower(s.name) = lower(shelf_name);
    IF FOUND THEN
        RETURN found_id;
    END IF;
    INSERT INTO shelves (user_id, id, name, position, created_at)
    SELECT
        owner,
        CASE
            WHEN EXISTS (
                SELECT
                FROM shelves s
                WHERE s.user_id = owner AND s.id = shelf_id
            ) OR EXISTS (
                SELECT
                FROM deleted_books d
                WHERE d.user_id = owner AND d.id = shelf_id
            ) THEN gen_random_uuid()
            ELSE coalesce(shelf_id, gen_random_uuid())
        END,
        shelf_name,
        coalesce(max(position) + 1, 0),
        coalesce(shelf_created_at, now())
    FROM shelves
    WHERE user_id = owner
    HAVING count(*) < 500
    RETURNING id INTO found_id;
    RETURN found_id;
END
$$;

-- Returns noon of a day such as 2021-02-01 in a time zone, or now if that is earlier. It is the same day in most other time zones.
CREATE OR REPLACE FUNCTION noon_of_day(day text, zone text) RETURNS timestamptz
LANGUAGE sql STABLE
AS $$
    SELECT least(now(), (noon_of_day.day::date + time '12:00') AT TIME ZONE zone)
    WHERE noon_of_day.day IS NOT NULL
$$;

-- Returns the texts by which lists sort a book with the title (`book_sort_title`) in any language: with its first word, and without it,
-- because the word may be an article.
CREATE OR REPLACE FUNCTION possible_sort_titles(title text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    -- No language has this tag.
    bare text := title_sort_key(title, '-');
BEGIN
    RETURN ARRAY[
        left(sort_text(bare), 200),
        left(sort_text(regexp_replace(bare, '^[^[:space:]]+ +(?=[^[:space:]])', '')), 200),
        left(sort_text(regexp_replace(bare, '^[^[:space:]]{1,3}[''’] *(?=[^[:space:]])', '')), 200),
        left(sort_text(regexp_replace(bare, '^ال(?=[^[:space:]])', '')), 200)
    ];
END
$$;

-- Returns the message of an import that a value of a record was left out. `stored` is the value in the library. It is null for the rating
-- or the text of a review that has only the other.
CREATE OR REPLACE FUNCTION left_out(field text, given text, stored text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT format(
        CASE
            WHEN stored IS NOT NULL THEN '“%s” was left out, because the book in the library has “%s”.'
            WHEN left_out.field = 'rating'
                THEN '“%s” was left out, because the book in the library has a review without a rating. Edit the review to add it.'
            ELSE '“%s” was left out, because the book in the library has a rating without a text. Edit the review to add it.'
        END,
        CASE WHEN char_length(given) > 60 THEN left(given, 60) || '…' ELSE given END,
        CASE WHEN char_length(stored) > 60 THEN left(stored, 60) || '…' ELSE stored END
    )
$$;

-- Returns a rating in quarter stars as a number of stars: 4.5 for 18.
CREATE OR REPLACE FUNCTION stars_text(quarter_stars text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT trim_scale(quarter_stars::numeric / 4)::text
$$;

-- Returns objects of a file with the ids that their books have in the library.
CREATE OR REPLACE FUNCTION of_library_books(import uuid, given jsonb) RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT jsonb_agg(
        g.object || jsonb_build_object(
            'bookId', coalesce(i.book_ids -> (g.object ->> 'bookId'), g.object -> 'bookId')
        )
        ORDER BY g.position
    )
    FROM imports i
    CROSS JOIN LATERAL jsonb_array_elements(given) WITH ORDINALITY AS g (object, position)
    WHERE i.user_id = app_user_id() AND i.id = import
$$;

-- MARK: Books

-- The functions of this section bring the book records of a chunk into the library with one statement for each step. A statement does not
-- see what it has changed itself, so no two of its records may be about the same book. Records that share an id, an ISBN, a card, or a title
-- therefore come in turns: the first one of each, then the next.
--
-- enable_hashjoin and enable_mergejoin = off: such a join reads the rows of the whole library for each chunk. enable_memoize = off: nearly
-- all keys differ.

-- Returns the indexes of the records of which no earlier one has the same id, ISBN, card, or title.
CREATE OR REPLACE FUNCTION first_of_keys(records jsonb[]) RETURNS int[]
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN ARRAY(
        SELECT k.n
        FROM (
            SELECT r.n, min(r.n) OVER (PARTITION BY key) AS first
            FROM unnest(records) WITH ORDINALITY AS r (record, n)
            CROSS JOIN LATERAL jsonb_to_record(r.record -> 'book') AS b (id text, isbn13 text, "cardId" text, title text)
            CROSS JOIN LATERAL unnest(ARRAY[b.id, b.isbn13, b."cardId", lower(b.title)]) AS key
            WHERE key IS NOT NULL
        ) k
        GROUP BY k.n
        HAVING bool_and(k.first = k.n)
        ORDER BY k.n
    );
END
$$;

-- Finds the books of the library that records are about, in their order. `known` is null for a new book, and `card_id` the edition that the
-- record names, by its id or its ISBN; with `is_taken`, another copy of the work has it because of its title. With `waits`, an earlier one
-- of the records is about the same book or names the same edition.
--
-- A book that Bookplate has exported is another book than all books with other ids, unless both have the same ISBN or card: two books with
-- the same title and author stay two books. A book with the edition only because of its title is another copy of the work if both have
-- an ISBN. Books of an archive whose card is not in the catalog are linked at the end of the import.
--
-- An index on the titles in lower case could not be used, because PostgreSQL computes them after row-level security. The index of the
-- list by title finds a few books, whose titles are then compared.
CREATE OR REPLACE FUNCTION find_imported_books(books jsonb[]) RETURNS TABLE (
    n bigint, known uuid, card_id uuid, is_taken boolean, waits boolean
)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_indexonlyscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_memoize = off
AS $$
#variable_conflict use_column
DECLARE
    owner CONSTANT uuid := app_user_id();
BEGIN
    RETURN QUERY
    SELECT
        f.n, f.known, f.card_id,
        f.known IS NULL AND f.card_id IS NOT NULL AND EXISTS (SELECT FROM books b WHERE b.user_id = owner AND b.edition_id = f.card_id),
        f.known IS NOT NULL AND row_number() OVER (PARTITION BY f.known ORDER BY f.n) > 1
            OR f.card_id IS NOT NULL AND row_number() OVER (PARTITION BY f.card_id ORDER BY f.n) > 1
    FROM (
        SELECT g.n, coalesce(by_id.id, by_isbn.id, by_card.id, by_title.id) AS known, named.id AS card_id
        FROM unnest(books) WITH ORDINALITY AS g (book, n)
        CROSS JOIN LATERAL jsonb_to_record(g.book) AS r (
            id uuid, "cardId" uuid, title text, authors text[], isbn13 text, "isIdentified" boolean, "isArchived" boolean,
            "linkedBy" book_link
        )
        LEFT JOIN LATERAL (SELECT e.id FROM editions e WHERE e.id = r."cardId" OFFSET 0) card ON true
        LEFT JOIN LATERAL (
            SELECT e.id FROM editions e WHERE card.id IS NULL AND r."isArchived" IS NOT TRUE AND e.isbn13 = r.isbn13 OFFSET 0
        ) isbn_card ON true
        -- PostgreSQL compares the result of COALESCE with an index only if it is a column.
        CROSS JOIN LATERAL (SELECT coalesce(card.id, isbn_card.id) AS id OFFSET 0) named
        LEFT JOIN LATERAL (SELECT b.id FROM books b WHERE b.user_id = owner AND b.id = r.id OFFSET 0) by_id ON true
        LEFT JOIN LATERAL (
            SELECT b.id FROM books b WHERE by_id.id IS NULL AND b.user_id = owner AND b.isbn13 = r.isbn13 OFFSET 0
        ) by_isbn ON true
        LEFT JOIN LATERAL (
            SELECT b.id
            FROM books b
            WHERE coalesce(by_id.id, by_isbn.id) IS NULL
                AND b.user_id = owner
                AND b.edition_id = named.id
                AND (r."isArchived" IS NOT TRUE OR r."linkedBy" IS DISTINCT FROM 'TITLE')
                AND (b.linked_by <> 'TITLE' OR b.isbn13 IS NULL OR r.isbn13 IS NULL)
            OFFSET 0
        ) by_card ON true
        LEFT JOIN LATERAL (
            SELECT b.id
            FROM (
                SELECT l.book_id
                FROM listed_books l
                WHERE coalesce(by_id.id, by_isbn.id, by_card.id) IS NULL
                    AND r."isIdentified" IS NOT TRUE
                    AND l.user_id = owner
                    AND l.list_rank = ANY('{1,2,3,4,5}')
                    AND l.sort_title = ANY(possible_sort_titles(lower(r.title)))
                OFFSET 0
            ) l
            CROSS JOIN LATERAL (SELECT * FROM books b WHERE b.user_id = owner AND b.id = l.book_id OFFSET 0) b
            WHERE lower(b.title) = lower(r.title)
                AND (b.authors = '{}' OR r.authors = '{}' OR b.author_ids && author_ids(r.authors))
                AND (b.isbn13 IS NULL OR r.isbn13 IS NULL)
            ORDER BY b.added_at, b.id
            LIMIT 1
        ) by_title ON true
    ) f
    ORDER BY f.n;
END
$$;

-- Stores new books. `editionId` is the edition that the record names, which another book has if `isTaken` is true. Books without one are
-- matched with the catalog by their Goodreads id, title, and author. The search of a cover is requested together with the row: an update
-- would write to all indexes again.
CREATE OR REPLACE FUNCTION store_imported_books(books jsonb) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexonlyscan = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
BEGIN
    -- The triggers would list and log each book by itself.
    PERFORM set_config('app.lists_books', 'on', true);
    WITH given AS MATERIALIZED (
        SELECT *
        FROM jsonb_to_recordset(store_imported_books.books) AS r (
            id uuid, "cardId" uuid, "editionId" uuid, "goodreadsId" text, title text, subtitle text, authors text[],
            "authorRoles" author_role[], isbn13 text, publisher text, "publishedDate" text, "pageCount" int, language text,
            category text, genre text, description text, status reading_status, "currentPage" int, "addedAt" timestamptz,
            "addedOn" text, "startedAt" timestamptz, "finishedAt" timestamptz, "updatedAt" timestamptz, binding text,
            "originalYear" int, "privateNotes" text, "contentNotes" text, moods text[], "seriesName" text, "seriesPosition" text,
            "isArchived" boolean, "linkedBy" book_link, "isTaken" boolean, "wantsCover" boolean, reads jsonb
        )
    ), matched AS MATERIALIZED (
        SELECT m.*
        FROM (
            SELECT
                array_agg(owner) AS readers, array_agg(id) AS ids, array_agg(isbn13) AS isbns, array_agg(title) AS titles,
                array_agg(author_text(authors, "authorRoles")) AS authors, array_agg("goodreadsId") AS goodreads_ids
            FROM given
            WHERE "editionId" IS NULL AND "isArchived" IS NOT TRUE
        ) g
        CROSS JOIN LATERAL match_books(g.readers, g.ids, g.isbns, g.titles, g.authors, g.goodreads_ids) m
        -- A record of the same file names the edition itself.
        WHERE m.edition_id NOT IN (SELECT "editionId" FROM given WHERE "editionId" IS NOT NULL)
    )
    INSERT INTO books (
        user_id, id, edition_id, linked_by, title, subtitle, authors, author_roles, isbn13, publisher, published_date,
        page_count, language, category, genre, description, status, current_page, added_at, started_at, finished_at, updated_at,
        binding, original_year, private_notes, content_notes, moods, series, series_position, cover_status, cover_requested_at
    )
    SELECT
        owner,
        g.id,
        coalesce(CASE WHEN NOT g."isTaken" THEN card.id END, m.edition_id),
        CASE
            WHEN card.id IS NULL THEN coalesce(m.linked_by, 'CARD')
            WHEN card.id = g."cardId" THEN coalesce(g."linkedBy", 'CARD') ELSE 'ISBN'
        END,
        g.title, coalesce(g.subtitle, CASE WHEN facts.title = g.title THEN left(nullif(btrim(facts.subtitle), ''), 500) END),
        CASE WHEN g.authors = '{}' THEN coalesce(facts.authors, '{}') ELSE g.authors END,
        CASE WHEN g.authors = '{}' THEN coalesce(facts.author_roles, '{}') ELSE g."authorRoles" END,
        coalesce(g.isbn13, facts.isbn13), coalesce(g.publisher, facts.publisher),
        coalesce(g."publishedDate", facts.published_date), coalesce(g."pageCount", facts.page_count),
        coalesce(g.language, facts.language), g.category, coalesce(g.genre, facts.genres[1]),
        coalesce(g.description, facts.description), g.status, g."currentPage",
        coalesce(g."addedAt", noon_of_day(g."addedOn", u.zone), now()),
        CASE WHEN is_read THEN date_time(g.reads -> -1 ->> 'startedOn', g."startedAt", u.zone) ELSE g."startedAt" END,
        CASE WHEN is_read THEN date_time(g.reads -> -1 ->> 'finishedOn', g."finishedAt", u.zone) ELSE g."finishedAt" END,
        coalesce(g."updatedAt", now()), g.binding, g."originalYear", g."privateNotes", g."contentNotes", coalesce(g.moods, '{}'),
        CASE WHEN own_series.is_own THEN g."seriesName" END, CASE WHEN own_series.is_own THEN g."seriesPosition" END,
        (CASE WHEN g."wantsCover" THEN 'FETCHING' ELSE 'NO_COVER' END)::cover_status, CASE WHEN g."wantsCover" THEN now() END
    FROM given g
    CROSS JOIN (SELECT coalesce((SELECT known_zone(u.time_zone) FROM users u WHERE u.id = owner), 'UTC') AS zone OFFSET 0) u
    LEFT JOIN LATERAL (SELECT e.id FROM editions e WHERE e.id = g."editionId" OFFSET 0) card ON true
    -- A book of an archive has all of its facts.
    LEFT JOIN LATERAL (
        SELECT * FROM editions e WHERE g."isArchived" IS NOT TRUE AND e.id = g."editionId" OFFSET 0
    ) facts ON true
    LEFT JOIN matched m ON m.book_id = g.id
    -- The times follow from the latest read (`refresh_read_books`), which is usually the last one. With an id, it may be of another book.
    CROSS JOIN LATERAL (SELECT g.reads -> -1 ->> 'outcome' = 'FINISHED' AND NOT g.reads -> -1 ? 'id' AS is_read) latest
    CROSS JOIN LATERAL (
        SELECT
            CASE
                WHEN g."seriesName" IS NOT NULL
                    THEN NOT is_series_of_edition(coalesce(card.id, m.edition_id), g."seriesName", g."seriesPosition")
            END AS is_own
    ) own_series;
    PERFORM set_config('app.lists_books', '', true);
    PERFORM list_imported_books(array_agg((b ->> 'id')::uuid), array_agg((b ->> 'quarterStars')::smallint))
    FROM jsonb_array_elements(books) b;
END
$$;

-- Adds to books of the library what records have and the books lack, and returns the ids of the books that have changed. `cards` has the
-- editions that the records name.
CREATE OR REPLACE FUNCTION complete_imported_books(ids uuid[], books jsonb[], cards uuid[]) RETURNS uuid[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexonlyscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_memoize = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
    changed_ids uuid[];
BEGIN
    WITH merged AS MATERIALIZED (
        SELECT
            b.id, coalesce(b.edition_id, card.id) AS edition_id, coalesce(b.isbn13, free.isbn13) AS isbn13,
            CASE WHEN card.id IS NOT NULL THEN free.linked_by ELSE b.linked_by END AS linked_by,
            CASE WHEN b.authors = '{}' THEN r.authors ELSE b.authors END AS authors,
            CASE WHEN b.authors = '{}' THEN r."authorRoles" ELSE b.author_roles END AS author_roles,
            coalesce(b.subtitle, r.subtitle) AS subtitle, coalesce(b.publisher, r.publisher) AS publisher,
            coalesce(b.published_date, r."publishedDate") AS published_date, coalesce(b.page_count, r."pageCount") AS page_count,
            coalesce(b.language, r.language) AS language, coalesce(b.category, r.category) AS category,
            coalesce(b.genre, r.genre) AS genre, coalesce(b.description, r.description) AS description,
            CASE WHEN status_rank(r.status) > status_rank(b.status) THEN r.status ELSE b.status END AS status,
            coalesce(b.current_page, free.current_page) AS current_page, coalesce(b.binding, r.binding) AS binding,
            coalesce(b.original_year, r."originalYear") AS original_year, coalesce(b.private_notes, r."privateNotes") AS private_notes,
            coalesce(b.content_notes, r."contentNotes") AS content_notes,
            CASE WHEN b.moods = '{}' THEN coalesce(r.moods, '{}') ELSE b.moods END AS moods,
            coalesce(b.series, free.series) AS series,
            CASE WHEN free.series IS NOT NULL THEN r."seriesPosition" ELSE b.series_position END AS series_position,
            coalesce(b.started_at, r."startedAt") AS started_at, coalesce(b.finished_at, r."finishedAt") AS finished_at
        FROM unnest(ids, complete_imported_books.books, cards) AS l (id, book, card_id)
        CROSS JOIN LATERAL jsonb_to_record(l.book) AS r (
            subtitle text, authors text[], "authorRoles" author_role[], isbn13 text, publisher text, "publishedDate" text,
            "pageCount" int, language text, category text, genre text, description text, status reading_status, "currentPage" int,
            "startedAt" timestamptz, "finishedAt" timestamptz, binding text, "originalYear" int, "privateNotes" text,
            "contentNotes" text, moods text[], "seriesName" text, "seriesPosition" text, "cardId" uuid, "linkedBy" book_link
        )
        CROSS JOIN LATERAL (SELECT * FROM books b WHERE b.user_id = owner AND b.id = l.id OFFSET 0) b
        -- Another book of the library may have the edition or the ISBN, and the page follows from the progress.
        LEFT JOIN LATERAL (
            SELECT l.card_id AS id
            WHERE b.edition_id IS NULL AND NOT EXISTS (SELECT FROM books o WHERE o.user_id = owner AND o.edition_id = l.card_id OFFSET 0)
        ) card ON true
        CROSS JOIN LATERAL (
            SELECT
                CASE WHEN card.id = r."cardId" THEN coalesce(r."linkedBy", 'CARD') ELSE 'ISBN' END AS linked_by,
                CASE WHEN b.isbn13 IS NULL AND r.isbn13 IS NOT NULL
                    AND NOT EXISTS (SELECT FROM books o WHERE o.user_id = owner AND o.isbn13 = r.isbn13 OFFSET 0) THEN r.isbn13 END AS isbn13,
                CASE WHEN b.current_page IS NULL AND r."currentPage" IS NOT NULL
                    AND NOT EXISTS (SELECT FROM newest_progress(owner, b.id)) THEN r."currentPage" END AS current_page,
                -- The series of the edition need not be stored again.
                CASE WHEN b.series IS NULL AND NOT is_series_of_edition(
                    coalesce(b.edition_id, card.id), r."seriesName", r."seriesPosition"
                ) THEN r."seriesName" END AS series
            OFFSET 0
        ) free
    ), changed AS (
        UPDATE books b
        SET (
                edition_id, isbn13, linked_by, authors, author_roles, subtitle, publisher, published_date, page_count, language,
                category, genre, description, status, current_page, binding, original_year, private_notes, content_notes, moods,
                series, series_position, started_at, finished_at, updated_at
            ) = (
                m.edition_id, m.isbn13, m.linked_by, m.authors, m.author_roles, m.subtitle, m.publisher, m.published_date, m.page_count,
                m.language, m.category, m.genre, m.description, m.status, m.current_page, m.binding, m.original_year, m.private_notes,
                m.content_notes, m.moods, m.series, m.series_position, m.started_at, m.finished_at, now()
            )
        FROM merged m
        WHERE b.user_id = owner
            AND b.id = m.id
            AND (
                b.edition_id, b.isbn13, b.authors, b.subtitle, b.publisher, b.published_date, b.page_count, b.language, b.category,
                b.genre, b.description, b.status, b.current_page, b.binding, b.original_year, b.private_notes, b.content_notes, b.moods,
                b.series, b.started_at, b.finished_at
            ) IS DISTINCT FROM (
                m.edition_id, m.isbn13, m.authors, m.subtitle, m.publisher, m.published_date, m.page_count, m.language, m.category,
                m.genre, m.description, m.status, m.current_page, m.binding, m.original_year, m.private_notes, m.content_notes, m.moods,
                m.series, m.started_at, m.finished_at
            )
        RETURNING b.id
    )
    SELECT coalesce(array_agg(c.id), '{}') INTO changed_ids FROM changed c;
    RETURN changed_ids;
END
$$;

-- Reports the values of records that are lost, because their books have others. `ids` has the books of the records, and `lines` their
-- lines.
CREATE OR REPLACE FUNCTION report_lost_values(import uuid, lines int[], records jsonb[], ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexonlyscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_memoize = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
BEGIN
    INSERT INTO import_failures (user_id, import_id, line, position, field, message)
    SELECT
        owner, import, g.line, coalesce(jsonb_array_length(g.record -> 'problems'), 0) + p.position, p.field,
        left_out(p.field, p.given, p.stored)
    FROM unnest(lines, records, ids) AS g (line, record, id)
    CROSS JOIN LATERAL jsonb_to_record(g.record -> 'book') AS r (
        title text, subtitle text, authors text[], isbn13 text, publisher text, "publishedDate" text, "pageCount" int, language text,
        category text, genre text, description text, status reading_status, binding text, "originalYear" int, "privateNotes" text,
        "contentNotes" text, moods text[], "seriesName" text, "seriesPosition" text
    )
    CROSS JOIN LATERAL (
        SELECT *
        FROM books b
        WHERE b.user_id = owner
            AND b.id = g.id
            -- Most books have lost nothing, which one condition finds. A comparison with null is not true.
            AND (
                lower(r.title) <> lower(b.title) OR r.subtitle <> b.subtitle OR r.authors <> b.authors
                OR r.isbn13 IS DISTINCT FROM b.isbn13 OR r.publisher <> b.publisher OR r."publishedDate" <> b.published_date
                OR r."pageCount" <> b.page_count OR r.language <> b.language OR r.category <> b.category OR r.genre <> b.genre
                OR r.description <> b.description OR r.status = 'PAUSED' OR r.binding <> b.binding
                OR r."originalYear" <> b.original_year OR r."privateNotes" <> b.private_notes
                OR r."contentNotes" <> b.content_notes OR r.moods <> b.moods
                OR r."seriesName" IS NOT NULL
            )
        OFFSET 0
    ) b
    CROSS JOIN LATERAL (
        VALUES
            (1, 'title', CASE WHEN lower(r.title) <> lower(b.title) THEN r.title END, b.title::text),
            (2, 'subtitle', r.subtitle, b.subtitle::text),
            (
                3,
                'authors',
                (
                    SELECT string_agg(a.name, ', ' ORDER BY a.position)
                    FROM unnest(r.authors) WITH ORDINALITY AS a (name, position)
                    WHERE r.authors <> b.authors AND author_id(a.name) <> ALL(b.author_ids)
                ),
                array_to_string(b.authors, ', ')
            ),
            (4, 'isbn13', r.isbn13, b.isbn13::text),
            (5, 'publisher', r.publisher, b.publisher),
            (6, 'publishedDate', r."publishedDate", b.published_date),
            (7, 'pageCount', r."pageCount"::text, b.page_count::text),
            (8, 'language', r.language, b.language),
            (9, 'category', r.category, b.category::text),
            (10, 'genre', r.genre, b.genre::text),
            (11, 'description', r.description, b.description),
            (12, 'status', CASE WHEN r.status = 'PAUSED' THEN 'PAUSED' END, b.status::text),
            (13, 'binding', r.binding, b.binding::text),
            (14, 'originalPublicationYear', r."originalYear"::text, b.original_year::text),
            (15, 'privateNotes', r."privateNotes", b.private_notes::text),
            (16, 'contentNotes', r."contentNotes", b.content_notes::text),
            (17, 'moods', array_to_string(r.moods, ', '), array_to_string(b.moods, ', ')),
            (
                18,
                'series',
                CASE WHEN b.series IS NOT NULL THEN concat_ws(' ', r."seriesName", r."seriesPosition") END,
                concat_ws(' ', b.series, b.series_position)
            )
    ) AS p (position, field, given, stored)
    WHERE p.given <> '' AND p.given IS DISTINCT FROM p.stored
    ON CONFLICT DO NOTHING;
END
$$;

-- Puts books on the shelves of their records, and returns the ids of the books that were not on one of them. A library has at most 500
-- shelves; records with others get a failure. `known` has the books that the library had before. Of these, the queue of the books to read
-- next gets only those that the reader has not started (`leave_up_next`).
CREATE OR REPLACE FUNCTION place_imported_books(import uuid, lines int[], records jsonb[], ids uuid[], known uuid[]) RETURNS uuid[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexonlyscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_memoize = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
    shelf_name text;
    shelf uuid;
    names text[] := '{}';
    shelves uuid[] := '{}';
    queue CONSTANT uuid := (SELECT s.id FROM shelves s WHERE s.user_id = owner AND s.is_up_next);
    placed uuid[];
BEGIN
    FOR shelf_name IN
        SELECT (array_agg(n.name ORDER BY n.line, n.position))[1]
        FROM (
            SELECT l.line, s.position, s.name
            FROM unnest(lines, records) AS l (line, record)
            CROSS JOIN LATERAL jsonb_array_elements_text(l.record -> 'book' -> 'shelves') WITH ORDINALITY AS s (name, position)
        ) n
        GROUP BY lower(n.name)
        ORDER BY min(ARRAY[n.line, n.position])
    LOOP
        names := names || lower(shelf_name);
        shelves := shelves || import_shelf(NULL, shelf_name, NULL);
    END LOOP;
    IF names = '{}' THEN
        RETURN '{}';
    END IF;
    IF array_position(shelves, NULL) IS NOT NULL THEN
        INSERT INTO import_failures (user_id, import_id, line, position, message)
        SELECT owner, import, l.line, 1000 + s.position, 'A library has at most 500 shelves: “' || s.name || '” was left out.'
        FROM unnest(lines, records) AS l (line, record)
        CROSS JOIN LATERAL jsonb_array_elements_text(l.record -> 'book' -> 'shelves') WITH ORDINALITY AS s (name, position)
        WHERE shelves[array_position(names, lower(s.name))] IS NULL
        ON CONFLICT DO NOTHING;
    END IF;
    WITH added AS (
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author, position)
        SELECT
            owner, p.shelf_id, p.id, b.added_at, b.sort_title, b.sort_author, coalesce(p.position, last_shelf_position())
        FROM (
            -- In the order of the file, which becomes that of the shelf.
            SELECT *
            FROM (
                SELECT DISTINCT ON (l.id, shelf_id)
                    l.id,
                    l.n,
                    shelves[array_position(names, lower(s.name))] AS shelf_id,
                    l.record -> 'book' -> 'shelfPositions' ->> (s.n - 1)::int AS position
                FROM unnest(ids, records) WITH ORDINALITY AS l (id, record, n)
                CROSS JOIN LATERAL jsonb_array_elements_text(l.record -> 'book' -> 'shelves') WITH ORDINALITY AS s (name, n)
                ORDER BY l.id, shelf_id, s.n
            ) d
            ORDER BY d.n
        ) p
        CROSS JOIN LATERAL (SELECT * FROM listed_books b WHERE b.user_id = owner AND b.book_id = p.id OFFSET 0) b
        WHERE p.shelf_id IS NOT NULL
            AND NOT (
                p.shelf_id IS NOT DISTINCT FROM queue
                AND array_position(known, p.id) IS NOT NULL
                AND b.list_rank NOT IN (list_rank('WANT_TO_READ'), list_rank('PAUSED'))
            )
            AND NOT EXISTS (
                SELECT FROM shelf_books o WHERE o.user_id = owner AND o.shelf_id = p.shelf_id AND o.book_id = p.id OFFSET 0
            )
        RETURNING book_id
    )
    SELECT coalesce(array_agg(DISTINCT a.book_id), '{}') INTO placed
    FROM added a;
    RETURN placed;
END
$$;

-- Adds the reviews of records to books that have none, and returns the ids of these books. Other records get a failure for what their review
-- has and the one of the library lacks. A review keeps its id unless another review has it.
CREATE OR REPLACE FUNCTION import_reviews(import uuid, lines int[], records jsonb[], ids uuid[]) RETURNS uuid[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexonlyscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_memoize = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
    reviewed uuid[];
BEGIN
    INSERT INTO import_failures (user_id, import_id, line, position, field, message)
    SELECT
        owner, import, l.line, coalesce(jsonb_array_length(l.record -> 'problems'), 0) + p.position, p.field,
        left_out(p.field, p.given, p.stored)
    FROM unnest(lines, records, ids) AS l (line, record, id)
    CROSS JOIN LATERAL (
        SELECT v.quarter_stars, v.text::text
        FROM reviews v
        WHERE v.user_id = owner AND v.book_id = l.id AND l.record -> 'book' ?| '{quarterStars, review}'
        OFFSET 0
    ) v
    CROSS JOIN LATERAL (
        VALUES
            (19, 'rating', stars_text(l.record -> 'book' ->> 'quarterStars'), stars_text(v.quarter_stars::text)),
            (20, 'review', l.record -> 'book' ->> 'review', v.text)
    ) AS p (position, field, given, stored)
    WHERE p.given IS DISTINCT FROM p.stored AND p.given IS NOT NULL
    ON CONFLICT DO NOTHING;
    WITH added AS (
        INSERT INTO reviews (user_id, book_id, id, quarter_stars, text, has_spoilers, created_at, updated_at)
        SELECT
            owner,
            g.book_id,
            CASE
                WHEN g.id IS NULL OR g.position > 1 OR EXISTS (SELECT FROM reviews v WHERE v.user_id = owner AND v.id = g.id)
                    THEN gen_random_uuid()
                ELSE g.id
            END,
            g.quarter_stars, g.text, g.has_spoilers, coalesce(g.created_at, now()), coalesce(g.updated_at, g.created_at, now())
        FROM (
            SELECT
                l.id AS book_id, r."reviewId" AS id, r."quarterStars" AS quarter_stars, r.review AS text,
                coalesce(r."hasSpoilers", false) AS has_spoilers,
                coalesce(
                    r."reviewedAt", noon_of_day(r."reviewedOn", u.zone), r."finishedAt", noon_of_day(r."addedOn", u.zone)
                ) AS created_at,
                r."reviewUpdatedAt" AS updated_at,
                row_number() OVER (PARTITION BY r."reviewId") AS position
            FROM unnest(ids, records) AS l (id, record)
            CROSS JOIN (SELECT coalesce((SELECT known_zone(u.time_zone) FROM users u WHERE u.id = owner), 'UTC') AS zone OFFSET 0) u
            CROSS JOIN LATERAL jsonb_to_record(l.record -> 'book') AS r (
                "reviewId" uuid, "quarterStars" int, review text, "hasSpoilers" boolean, "reviewedAt" timestamptz, "reviewedOn" text,
                "finishedAt" timestamptz, "addedOn" text, "reviewUpdatedAt" timestamptz
            )
            WHERE num_nonnulls(r."quarterStars", r.review) > 0
                AND NOT EXISTS (SELECT FROM reviews v WHERE v.user_id = owner AND v.book_id = l.id OFFSET 0)
        ) g
        RETURNING book_id
    )
    SELECT coalesce(array_agg(a.book_id), '{}') INTO reviewed
    FROM added a;
    RETURN reviewed;
END
$$;

-- Brings those of the records into the library that need not wait for another one, and returns the ids of new books and of those that have
-- changed, and the other records.
CREATE OR REPLACE FUNCTION import_turn(
    import uuid, records jsonb[], OUT created_ids uuid[], OUT changed_ids uuid[], OUT waiting jsonb[]
)
LANGUAGE plpgsql
AS $$
DECLARE
    books jsonb[] := ARRAY(SELECT r.record -> 'book' FROM unnest(records) WITH ORDINALITY AS r (record, n) ORDER BY r.n);
    turn CONSTANT int[] := first_of_keys(records);
    given jsonb[];
    lines int[];
    known uuid[];
    ids uuid[];
    cards uuid[];
    taken boolean[];
    reads jsonb;
    new_reads jsonb;
BEGIN
    SELECT
        coalesce(array_agg(records[f.n] ORDER BY f.n) FILTER (WHERE NOT f.comes), '{}'),
        array_agg(records[f.n] ORDER BY f.n) FILTER (WHERE f.comes),
        array_agg((records[f.n] ->> 'line')::int ORDER BY f.n) FILTER (WHERE f.comes),
        array_agg(f.known ORDER BY f.n) FILTER (WHERE f.comes),
        array_agg(coalesce(f.known, (books[f.n] ->> 'id')::uuid) ORDER BY f.n) FILTER (WHERE f.comes),
        array_agg(f.card_id ORDER BY f.n) FILTER (WHERE f.comes),
        array_agg(f.is_taken ORDER BY f.n) FILTER (WHERE f.comes)
    INTO waiting, given, lines, known, ids, cards, taken
    FROM (SELECT k.*, NOT k.waits AND k.n IN (SELECT unnest(turn)) AS comes FROM find_imported_books(books) k) f;
    books := ARRAY(SELECT g.record -> 'book' FROM unnest(given) WITH ORDINALITY AS g (record, n) ORDER BY g.n);

    created_ids := ARRAY(SELECT i.id FROM unnest(ids, known) AS i (id, known) WHERE i.known IS NULL);
    changed_ids := '{}';
    IF created_ids <> '{}' THEN
        PERFORM store_imported_books(
            jsonb_agg(b.book || jsonb_build_object('editionId', b.card_id, 'isTaken', b.is_taken) ORDER BY b.n)
        )
        FROM unnest(books, known, cards, taken) WITH ORDINALITY AS b (book, known, card_id, is_taken, n)
        WHERE b.known IS NULL;
    END IF;
    IF cardinality(created_ids) < cardinality(ids) THEN
        changed_ids := complete_imported_books(known, books, cards);
        IF changed_ids <> '{}' THEN
            -- The records may have completed the ISBN or the author of books without an edition.
            PERFORM link_books(array_fill(app_user_id(), ARRAY[cardinality(changed_ids)]), changed_ids);
        END IF;
        PERFORM report_lost_values(import, lines, given, known);
    END IF;
    changed_ids := changed_ids || place_imported_books(import, lines, given, ids, known)
        || import_reviews(import, lines, given, ids) || import_copies(import, lines, given, ids);
    SELECT
        jsonb_agg(r.read || jsonb_build_object('bookId', l.id) ORDER BY l.n, r.n) FILTER (WHERE l.known IS NULL),
        jsonb_agg(r.read || jsonb_build_object('bookId', l.id) ORDER BY l.n, r.n) FILTER (WHERE l.known IS NOT NULL)
    INTO new_reads, reads
    FROM unnest(ids, known, books) WITH ORDINALITY AS l (id, known, book, n)
    CROSS JOIN LATERAL jsonb_array_elements(l.book -> 'reads') WITH ORDINALITY AS r (read, n);
    IF new_reads IS NOT NULL THEN
        changed_ids := changed_ids || import_first_reads(new_reads);
    END IF;
    IF reads IS NOT NULL THEN
        changed_ids := changed_ids || import_reads(reads);
    END IF;
    UPDATE imports i
    SET book_ids = i.book_ids || m.ids
    FROM (
        SELECT jsonb_object_agg(b.book ->> 'id', b.id) AS ids
        FROM unnest(books, ids) AS b (book, id)
        WHERE b.book ->> 'id' <> b.id::text
    ) m
    WHERE i.user_id = app_user_id() AND i.id = import AND i.format = 'BOOKPLATE' AND m.ids IS NOT NULL;
END
$$;

-- Brings book records into the library, and returns the ids of new books and of those that have changed. If the database rejects a record,
-- the others are stored in parts: the parsers have checked the usual limits before.
CREATE OR REPLACE FUNCTION import_books(import uuid, records jsonb[], OUT created_ids uuid[], OUT changed_ids uuid[])
LANGUAGE plpgsql
AS $$
DECLARE
    n CONSTANT int := cardinality(records);
    remaining jsonb[] := records;
    -- The number of records that the next turn looks at: if few of them can come, it need not be all.
    width int := n;
    result record;
    part jsonb[];
BEGIN
    created_ids := '{}';
    changed_ids := '{}';
    WHILE remaining <> '{}' LOOP
        SELECT * INTO result FROM import_turn(import, remaining[:width]);
        created_ids := created_ids || result.created_ids;
        changed_ids := changed_ids || result.changed_ids;
        part := result.waiting || remaining[width + 1:];
        width := 10 + 2 * (cardinality(remaining) - cardinality(part));
        remaining := part;
    END LOOP;
EXCEPTION WHEN integrity_constraint_violation OR data_exception OR SQLSTATE 'BP413' THEN
    created_ids := '{}';
    changed_ids := '{}';
    IF n = 1 THEN
        INSERT INTO import_failures (user_id, import_id, line, message)
        VALUES (app_user_id(), import, (records[1] ->> 'line')::int, 'This book cannot be stored.')
        ON CONFLICT DO NOTHING;
        RETURN;
    END IF;
    FOR part IN VALUES (records[:n / 2]), (records[n / 2 + 1:]) LOOP
        SELECT * INTO result FROM import_books(import, part);
        created_ids := created_ids || result.created_ids;
        changed_ids := changed_ids || result.changed_ids;
    END LOOP;
END
$$;

-- MARK: Other records

-- Brings a record of a shelf into the library. A shelf of the library keeps what it has.
CREATE OR REPLACE FUNCTION import_shelf_record(given jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    shelf CONSTANT uuid := import_shelf((given ->> 'id')::uuid, given ->> 'name', (given ->> 'createdAt')::timestamptz);
    -- The queue of the library stays the only one.
    becomes_queue CONSTANT boolean := given ? 'isUpNext'
        AND NOT EXISTS (SELECT FROM shelves u WHERE u.user_id = app_user_id() AND u.is_up_next);
BEGIN
    UPDATE shelves s
    SET description = coalesce(s.description, given ->> 'description'),
        color = coalesce(s.color, (given ->> 'color')::label_color),
        is_up_next = s.is_up_next OR becomes_queue,
        updated_at = now()
    WHERE s.user_id = app_user_id()
        AND s.id = shelf
        AND (s.description IS NULL AND given ? 'description' OR s.color IS NULL AND given ? 'color' OR becomes_queue);
END
$$;

-- Brings the record of a profile into the account, which keeps what it has.
CREATE OR REPLACE FUNCTION import_profile(given jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE users u
    SET display_name = coalesce(u.display_name, p.display_name),
        preferred_genres = CASE WHEN u.preferred_genres = '{}' THEN p.genres ELSE u.preferred_genres END,
        languages = CASE WHEN u.languages = '{}' THEN p.languages ELSE u.languages END,
        time_zone = CASE WHEN u.time_zone = 'UTC' THEN p.time_zone ELSE u.time_zone END,
        updated_at = now()
    FROM (
        SELECT
            given ->> 'displayName' AS display_name,
            ARRAY(
                SELECT g.name
                FROM jsonb_array_elements_text(given -> 'preferredGenres') WITH ORDINALITY AS n (name, position)
                JOIN genres g ON g.name = n.name
                ORDER BY n.position
            ) AS genres,
            ARRAY(SELECT jsonb_array_elements_text(given -> 'languages')) AS languages,
            coalesce(zone_to_store(given ->> 'timeZone'), 'UTC') AS time_zone
    ) p
    WHERE u.id = app_user_id()
        AND (
            (u.display_name IS NULL AND p.display_name IS NOT NULL)
            OR (u.preferred_genres = '{}' AND p.genres <> '{}')
            OR (u.languages = '{}' AND p.languages <> '{}')
            OR (u.time_zone = 'UTC' AND p.time_zone <> 'UTC')
        );
    PERFORM import_goals(given -> 'readingGoals');
    PERFORM import_followed_authors(given -> 'followedAuthors');
    PERFORM import_scans(given -> 'scans');
END
$$;

-- Brings records of swipes, progress, notes, documents, and positions into the library, each kind with one statement.
CREATE OR REPLACE FUNCTION import_other_records(import uuid, records jsonb) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexonlyscan = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
    swipes jsonb := jsonb_path_query_array(records, '$[*].swipe');
    progress jsonb := jsonb_path_query_array(records, '$[*].progress');
    notes jsonb := jsonb_path_query_array(records, '$[*].note');
    documents jsonb := jsonb_path_query_array(records, '$[*].document');
    positions jsonb := jsonb_path_query_array(records, '$[*].position');
    refused uuid[] := '{}';
BEGIN
    IF swipes <> '[]' THEN
        INSERT INTO swipes (user_id, edition_id, action, scope, store, swiped_at)
        SELECT owner, e.id, s.action, s.scope, s.store, s."swipedAt"
        FROM jsonb_to_recordset(swipes) AS s ("cardId" uuid, action swipe_action, scope swipe_scope, store text, "swipedAt" timestamptz)
        CROSS JOIN LATERAL (SELECT e.id FROM editions e WHERE e.id = s."cardId" OFFSET 0) e
        ON CONFLICT DO NOTHING;
    END IF;
    IF progress <> '[]' THEN
        refused := import_progress(progress);
    END IF;
    IF notes <> '[]' THEN
        refused := refused || import_notes(of_library_books(import, notes));
    END IF;
    IF refused <> '{}' THEN
        INSERT INTO import_failures (user_id, import_id, line, message)
        SELECT
            owner, import, (r ->> 'line')::int,
            CASE
                WHEN r ? 'note' THEN 'The book of this note does not exist or is full. The note was left out.'
                ELSE 'The read of this entry does not exist or is full. The entry was left out.'
            END
        FROM jsonb_array_elements(records) r
        WHERE coalesce(r -> 'note', r -> 'progress') ->> 'id' = ANY(refused::text[])
        ON CONFLICT DO NOTHING;
    END IF;
    IF documents <> '[]' THEN
        PERFORM import_documents(of_library_books(import, documents));
    END IF;
    IF positions <> '[]' THEN
        PERFORM import_positions(of_library_books(import, positions));
    END IF;
END
$$;

-- Collects the planner's statistics of those tables of libraries that have rows, but no statistics. Without them, PostgreSQL expects few rows
-- of each reader, and finds one by reading all of them (migrations/20261128220400_create_library.sql).
-- definer: only the owner of a table can analyze it.
CREATE OR REPLACE FUNCTION analyze_libraries() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.relname
        FROM pg_class c
        WHERE c.oid = ANY(
                '{books,listed_books,shelf_books,shelves,reviews,reads,progress_entries,book_copies,notes,ereader_documents}'::regclass[]
            )
            AND c.reltuples <= 0
            AND pg_relation_size(c.oid) > 0
        ORDER BY c.relname
    LOOP
        EXECUTE format('ANALYZE %I', name);
    END LOOP;
END
$$;

-- Brings the next records of an import into the library, and stores how far it has come, both in one transaction. `start` is
-- the number of records that are done: if it differs from the stored one, nothing happens. Returns the new number.
--
-- A library that was empty when the table was last analyzed looks small to the planner. It would then find a book by its id in
-- another index with all the columns that it needs, where it reads the entries of the whole library: enable_indexonlyscan = off.
CREATE OR REPLACE FUNCTION import_records(import uuid, start int, records jsonb) RETURNS int
LANGUAGE plpgsql SET enable_seqscan = off SET enable_indexonlyscan = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
    reached int;
    entry jsonb;
    books jsonb[];
    result record;
BEGIN
    SELECT i.done INTO reached
    FROM imports i
    WHERE i.user_id = owner AND i.id = import AND i.state = 'RUNNING'
    FOR UPDATE;
    IF reached IS DISTINCT FROM start THEN
        RETURN reached;
    END IF;
    IF start > 0 THEN
        PERFORM analyze_libraries();
    END IF;
    INSERT INTO import_failures (user_id, import_id, line, position, field, message)
    SELECT owner, import, (e.record ->> 'line')::int, p.position, p.problem ->> 'field', p.problem ->> 'message'
    FROM jsonb_array_elements(records) AS e (record)
    CROSS JOIN LATERAL jsonb_array_elements(e.record -> 'problems') WITH ORDINALITY AS p (problem, position)
    ON CONFLICT DO NOTHING;
    FOR entry IN SELECT jsonb_path_query(records, '$[*].shelf') LOOP
        PERFORM import_shelf_record(entry);
    END LOOP;
    FOR entry IN SELECT jsonb_path_query(records, '$[*].profile') LOOP
        PERFORM import_profile(entry);
    END LOOP;
    books := ARRAY(
        SELECT e.record FROM jsonb_array_elements(records) WITH ORDINALITY AS e (record, n) WHERE e.record ? 'book' ORDER BY e.n
    );
    SELECT * INTO result FROM import_books(import, books);
    PERFORM import_other_records(import, records);
    UPDATE imports i
    SET done = i.done + jsonb_array_length(records),
        created = i.created + cardinality(result.created_ids),
        updated = i.updated + (
            SELECT count(*)
            FROM (SELECT unnest(result.changed_ids) EXCEPT SELECT unnest(result.created_ids)) c
        ),
        updated_at = now()
    WHERE i.user_id = owner AND i.id = import
    RETURNING i.done INTO reached;
    RETURN reached;
END
$$;

-- Ends imports that made no progress for the given number of days, at least one, because their job failed for good. Returns
-- their users. Otherwise such an import would keep its file, and one of the user's five places for waiting imports.
-- definer: a job for the imports of all readers.
CREATE OR REPLACE FUNCTION prune_imports(older_than_days int) RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH ended AS (
        UPDATE imports i
        SET state = 'FAILED',
            content = NULL,
            book_ids = '{}',
            updated_at = now()
        WHERE i.content IS NOT NULL AND i.updated_at < now() - greatest(1, older_than_days) * interval '1 day'
        RETURNING i.user_id, i.id
    ), recorded AS (
        INSERT INTO import_failures (user_id, import_id, line, message)
        SELECT e.user_id, e.id, 0, 'This import was given up. Import the file again.'
        FROM ended e
        ON CONFLICT DO NOTHING
    )
    SELECT e.user_id
    FROM ended e
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON imports;
CREATE POLICY owner_only ON imports TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON imports;
CREATE POLICY administration ON imports TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON import_failures;
CREATE POLICY owner_only ON import_failures TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON import_failures;
CREATE POLICY administration ON import_failures TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE ON imports TO bookplate_app;
GRANT SELECT, INSERT ON import_failures TO bookplate_app;

REVOKE ALL ON FUNCTION prune_imports, analyze_libraries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_imports, analyze_libraries TO bookplate_app;
