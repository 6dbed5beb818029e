-- requires: accounts, ereaders, goals, notes, reads
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

-- Returns noon of a reader's day such as 2021-02-01, or now if that is earlier. It is the same day in most other time zones.
CREATE OR REPLACE FUNCTION noon_of_day(owner uuid, day text) RETURNS timestamptz
LANGUAGE sql STABLE
AS $$
    SELECT least(now(), (noon_of_day.day::date + time '12:00') AT TIME ZONE known_zone(u.time_zone))
    FROM users u
    WHERE u.id = owner AND noon_of_day.day IS NOT NULL
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

-- Returns the ids of the caller's books with the titles, by their titles in lower case. The case does not matter.
--
-- An index on the titles in lower case could not be used, because PostgreSQL computes them after row-level security. The index of the
-- list by title finds a few books, whose titles are then compared. force_custom_plan, because a plan that was made when the library was
-- empty would read all of it.
CREATE OR REPLACE FUNCTION books_with_titles(titles text[]) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
AS $$
DECLARE
    owner uuid := app_user_id();
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(k.title, k.ids), '{}')
        FROM (
            SELECT g.title, jsonb_agg(b.id) AS ids
            FROM (SELECT DISTINCT lower(t.title) AS title FROM unnest(titles) AS t (title)) g
            CROSS JOIN LATERAL (SELECT DISTINCT unnest(possible_sort_titles(g.title)) AS sort_title OFFSET 0) s
            CROSS JOIN generate_series(1, 5) AS r (list_rank)
            CROSS JOIN LATERAL (
                SELECT l.book_id
                FROM listed_books l
                WHERE l.user_id = owner AND l.list_rank = r.list_rank AND l.sort_title = s.sort_title
                OFFSET 0
            ) l
            CROSS JOIN LATERAL (
                SELECT o.id
                FROM books o
                WHERE o.user_id = owner AND o.id = l.book_id AND lower(o.title) = g.title
                OFFSET 0
            ) b
            GROUP BY g.title
        ) k
    );
END
$$;

-- Returns the problem of an import that a value of a record was left out. `stored` is the value in the library. It is null for the rating
-- or the text of a review that has only the other.
CREATE OR REPLACE FUNCTION left_out(field text, given text, stored text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT jsonb_build_object(
        'field', left_out.field,
        'message',
        format(
            CASE
                WHEN stored IS NOT NULL THEN '“%s” was left out, because the book in the library has “%s”.'
                WHEN left_out.field = 'rating'
                    THEN '“%s” was left out, because the book in the library has a review without a rating. Edit the review to add it.'
                ELSE '“%s” was left out, because the book in the library has a rating without a text. Edit the review to add it.'
            END,
            CASE WHEN char_length(given) > 60 THEN left(given, 60) || '…' ELSE given END,
            CASE WHEN char_length(stored) > 60 THEN left(stored, 60) || '…' ELSE stored END
        )
    )
$$;

-- Finds the book of the library that a record of an import is about, and adds to it what the record contains. `book` is the
-- record's book, and `known` holds the ids of the library's books by their titles in lower case. With the outcome CREATED the
-- caller stores the book; `card_id` is then the edition that the record names, by its id or its ISBN. `problems` has the values of the
-- record that are lost, because the book has others.
--
-- A book that Bookplate has exported is another book than all books with other ids, unless both have the same ISBN or card: two books with the same
-- title and author stay two books.
CREATE OR REPLACE FUNCTION import_book(
    book jsonb,
    known jsonb,
    OUT outcome text,
    OUT problem text,
    OUT problems jsonb,
    OUT book_id uuid,
    OUT card_id uuid,
    OUT shelf_ids uuid[]
)
LANGUAGE plpgsql
AS $$
DECLARE
    owner uuid := app_user_id();
    given record;
    -- The book of the library, and the same with the record's data.
    kept books;
    merged books;
    shelf uuid;
    shelf_name text;
    -- How the record names its edition.
    named_by book_link;
BEGIN
    outcome := 'SAME';
    shelf_ids := '{}';
    SELECT * INTO given
    FROM jsonb_to_record(book) AS r (
        id uuid, "cardId" uuid, title text, subtitle text, authors text[], "authorRoles" author_role[],
        isbn13 text, publisher text, "publishedDate" text, "pageCount" int, language text, category text, genre text,
        description text, status reading_status, "currentPage" int, "startedAt" timestamptz,
        "finishedAt" timestamptz, shelves text[], "halfStars" int, review text, binding text, "originalYear" int,
        "privateNotes" text, moods text[], "seriesName" text, "seriesPosition" text,
        "isIdentified" boolean, "isArchived" boolean, "linkedBy" book_link
    );
    IF given."halfStars" NOT BETWEEN 1 AND 10 OR char_length(given.review) NOT BETWEEN 1 AND 100000 THEN
        outcome := 'FAILED';
        problem := 'This book cannot be stored.';
        RETURN;
    END IF;
    named_by := coalesce(given."linkedBy", 'CARD');
    SELECT e.id INTO card_id
    FROM editions e
    WHERE e.id = given."cardId";
    -- Books of an archive whose card is not in the catalog are linked at the end of the import.
    IF NOT FOUND AND given."isArchived" IS NOT TRUE THEN
        named_by := 'ISBN';
        SELECT e.id INTO card_id
        FROM editions e
        WHERE e.isbn13 = given.isbn13;
    END IF;

    SELECT * INTO kept
    FROM books b
    WHERE b.user_id = owner AND b.id = given.id;
    IF NOT FOUND THEN
        SELECT * INTO kept
        FROM books b
        WHERE b.user_id = owner AND b.isbn13 = given.isbn13;
    END IF;
    IF NOT FOUND THEN
        -- A book with the edition only because of its title is another copy of the work if both have an ISBN.
        SELECT * INTO kept
        FROM books b
        WHERE b.user_id = owner
            AND b.edition_id = card_id
            AND (given."isArchived" IS NOT TRUE OR named_by <> 'TITLE')
            AND (b.linked_by <> 'TITLE' OR b.isbn13 IS NULL OR given.isbn13 IS NULL);
    END IF;
    IF NOT FOUND AND given."isIdentified" IS NOT TRUE AND known ? lower(given.title) THEN
        SELECT * INTO kept
        FROM books b
        WHERE b.user_id = owner
            AND b.id = ANY(ARRAY(SELECT jsonb_array_elements_text(known -> lower(given.title))::uuid))
            AND (b.authors = '{}' OR given.authors = '{}' OR b.author_ids && author_ids(given.authors))
            AND (b.isbn13 IS NULL OR given.isbn13 IS NULL)
        ORDER BY b.added_at, b.id
        LIMIT 1;
    END IF;

    IF kept.id IS NULL THEN
        book_id := given.id;
        outcome := 'CREATED';
    ELSE
        book_id := kept.id;
        merged := kept;
        -- Most books get nothing new when a file is imported again, and one condition takes a fraction of the assignments.
        IF (kept.authors = '{}' AND given.authors <> '{}')
            OR (kept.subtitle IS NULL AND given.subtitle IS NOT NULL)
            OR (kept.publisher IS NULL AND given.publisher IS NOT NULL)
            OR (kept.published_date IS NULL AND given."publishedDate" IS NOT NULL)
            OR (kept.page_count IS NULL AND given."pageCount" IS NOT NULL)
            OR (kept.language IS NULL AND given.language IS NOT NULL)
            OR (kept.category IS NULL AND given.category IS NOT NULL)
            OR (kept.genre IS NULL AND given.genre IS NOT NULL)
            OR (kept.description IS NULL AND given.description IS NOT NULL)
            OR (kept.current_page IS NULL AND given."currentPage" IS NOT NULL)
            OR (kept.binding IS NULL AND given.binding IS NOT NULL)
            OR (kept.original_year IS NULL AND given."originalYear" IS NOT NULL)
            OR (kept.private_notes IS NULL AND given."privateNotes" IS NOT NULL)
            OR (kept.moods = '{}' AND given.moods <> '{}')
            OR (kept.started_at IS NULL AND given."startedAt" IS NOT NULL)
            OR (kept.finished_at IS NULL AND given."finishedAt" IS NOT NULL)
            OR status_rank(given.status) > status_rank(kept.status)
            OR (kept.isbn13 IS NULL AND given.isbn13 IS NOT NULL)
            OR (kept.edition_id IS NULL AND card_id IS NOT NULL)
            OR (kept.series IS NULL AND given."seriesName" IS NOT NULL)
        THEN
            IF kept.authors = '{}' THEN
                merged.authors := given.authors;
                merged.author_roles := given."authorRoles";
            END IF;
            merged.subtitle := coalesce(kept.subtitle, given.subtitle);
            merged.publisher := coalesce(kept.publisher, given.publisher);
            merged.published_date := coalesce(kept.published_date, given."publishedDate");
            merged.page_count := coalesce(kept.page_count, given."pageCount");
            merged.language := coalesce(kept.language, given.language);
            merged.category := coalesce(kept.category, given.category);
            merged.genre := coalesce(kept.genre, given.genre);
            merged.description := coalesce(kept.description, given.description);
            IF kept.current_page IS NULL
                AND given."currentPage" IS NOT NULL
                AND NOT EXISTS (SELECT FROM newest_progress(owner, kept.id))
            THEN
                merged.current_page := given."currentPage";
            END IF;
            merged.binding := coalesce(kept.binding, given.binding);
            merged.original_year := coalesce(kept.original_year, given."originalYear");
            merged.private_notes := coalesce(kept.private_notes, given."privateNotes");
            IF kept.moods = '{}' THEN
                merged.moods := coalesce(given.moods, '{}');
            END IF;
            merged.started_at := coalesce(kept.started_at, given."startedAt");
            merged.finished_at := coalesce(kept.finished_at, given."finishedAt");
            IF status_rank(given.status) > status_rank(kept.status) THEN
                merged.status := given.status;
            END IF;
            -- Another book of the library may have the ISBN or the edition.
            IF kept.isbn13 IS NULL
                AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = owner AND b.isbn13 = given.isbn13)
            THEN
                merged.isbn13 := given.isbn13;
            END IF;
            IF kept.edition_id IS NULL AND card_id IS NOT NULL
                AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = owner AND b.edition_id = card_id)
            THEN
                merged.edition_id := card_id;
                merged.linked_by := named_by;
            END IF;
            -- The series of the edition need not be stored again.
            IF kept.series IS NULL AND given."seriesName" IS NOT NULL
                AND NOT is_series_of_edition(merged.edition_id, given."seriesName", given."seriesPosition")
            THEN
                merged.series := given."seriesName";
                merged.series_position := given."seriesPosition";
            END IF;
        END IF;
        IF merged IS DISTINCT FROM kept THEN
            UPDATE books b
            SET edition_id = merged.edition_id,
                linked_by = merged.linked_by,
                subtitle = merged.subtitle,
                authors = merged.authors,
                author_roles = merged.author_roles,
                isbn13 = merged.isbn13,
                publisher = merged.publisher,
                published_date = merged.published_date,
                page_count = merged.page_count,
                language = merged.language,
                category = merged.category,
                genre = merged.genre,
                description = merged.description,
                status = merged.status,
                current_page = merged.current_page,
                binding = merged.binding,
                original_year = merged.original_year,
                private_notes = merged.private_notes,
                moods = merged.moods,
                series = merged.series,
                series_position = merged.series_position,
                started_at = merged.started_at,
                finished_at = merged.finished_at,
                updated_at = now()
            WHERE b.user_id = owner AND b.id = kept.id;
            outcome := 'UPDATED';
        END IF;
        -- The same for the values that are lost. A comparison with null is not true.
        IF lower(given.title) <> lower(merged.title)
            OR given.subtitle <> merged.subtitle
            OR given.authors <> merged.authors
            OR (given.isbn13 IS NOT NULL AND given.isbn13 IS DISTINCT FROM merged.isbn13)
            OR given.publisher <> merged.publisher
            OR given."publishedDate" <> merged.published_date
            OR given."pageCount" <> merged.page_count
            OR given.language <> merged.language
            OR given.category <> merged.category
            OR given.genre <> merged.genre
            OR given.description <> merged.description
            OR (given.status = 'PAUSED' AND merged.status <> 'PAUSED')
            OR given.binding <> merged.binding
            OR given."originalYear" <> merged.original_year
            OR given."privateNotes" <> merged.private_notes
            OR given.moods <> merged.moods
            OR (given."seriesName" IS NOT NULL AND merged.series IS NOT NULL)
        THEN
            SELECT jsonb_agg(left_out(l.field, l.given, l.stored) ORDER BY l.position) INTO problems
            FROM (
                VALUES
                    (1, 'title', CASE WHEN lower(given.title) <> lower(merged.title) THEN given.title END, merged.title::text),
                    (2, 'subtitle', given.subtitle, merged.subtitle::text),
                    (
                        3,
                        'authors',
                        (
                            SELECT string_agg(a.name, ', ' ORDER BY a.position)
                            FROM unnest(given.authors) WITH ORDINALITY AS a (name, position)
                            WHERE author_id(a.name) <> ALL(author_ids(merged.authors))
                        ),
                        array_to_string(merged.authors, ', ')
                    ),
                    (4, 'isbn13', given.isbn13, merged.isbn13::text),
                    (5, 'publisher', given.publisher, merged.publisher),
                    (6, 'publishedDate', given."publishedDate", merged.published_date),
                    (7, 'pageCount', given."pageCount"::text, merged.page_count::text),
                    (8, 'language', given.language, merged.language),
                    (9, 'category', given.category, merged.category::text),
                    (10, 'genre', given.genre, merged.genre::text),
                    (11, 'description', given.description, merged.description),
                    (12, 'status', CASE WHEN given.status = 'PAUSED' THEN 'PAUSED' END, merged.status::text),
                    (13, 'binding', given.binding, merged.binding::text),
                    (14, 'originalPublicationYear', given."originalYear"::text, merged.original_year::text),
                    (15, 'privateNotes', given."privateNotes", merged.private_notes::text),
                    (16, 'moods', array_to_string(given.moods, ', '), array_to_string(merged.moods, ', ')),
                    (
                        17,
                        'series',
                        CASE WHEN merged.series IS NOT NULL THEN concat_ws(' ', given."seriesName", given."seriesPosition") END,
                        concat_ws(' ', merged.series, merged.series_position)
                    )
            ) AS l (position, field, given, stored)
            WHERE l.given <> '' AND l.given IS DISTINCT FROM l.stored;
        END IF;
    END IF;

    FOREACH shelf_name IN ARRAY coalesce(given.shelves, '{}') LOOP
        shelf := import_shelf(NULL, shelf_name, NULL);
        IF shelf IS NULL THEN
            problem := 'A library has at most 500 shelves: “' || shelf_name || '” was left out.';
        ELSE
            shelf_ids := shelf_ids || shelf;
        END IF;
    END LOOP;
EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
    -- The import has checked the usual limits before. One record that the database rejects does not stop the others.
    outcome := 'FAILED';
    problem := 'This book cannot be stored.';
    problems := NULL;
    shelf_ids := '{}';
END
$$;

-- Returns a rating in half stars as a number of stars: 4.5 for 9.
CREATE OR REPLACE FUNCTION stars_text(half_stars text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (half_stars::int / 2)::text || CASE WHEN half_stars::int % 2 = 1 THEN '.5' ELSE '' END
$$;

-- Stores new books of an import in one statement. `editionId` is the edition that the record names. Books without one are
-- matched with the catalog by their Goodreads id, title, and author. Returns the ids of the books that could not be stored.
CREATE OR REPLACE FUNCTION store_imported_books(books jsonb) RETURNS uuid[]
LANGUAGE plpgsql
AS $$
DECLARE
    failed uuid[] := '{}';
    one jsonb;
BEGIN
    IF books = '[]' THEN
        RETURN failed;
    END IF;
    -- The triggers would list and log each book by itself.
    PERFORM set_config('app.lists_books', 'on', true);
    WITH given AS MATERIALIZED (
        SELECT *
        FROM jsonb_to_recordset(store_imported_books.books) AS r (
            id uuid, "cardId" uuid, "editionId" uuid, "goodreadsId" text, title text, subtitle text, authors text[],
            "authorRoles" author_role[], isbn13 text, publisher text, "publishedDate" text,
            "pageCount" int, language text, category text, genre text, description text,
            status reading_status, "currentPage" int, "addedAt" timestamptz, "addedOn" text, "startedAt" timestamptz,
            "finishedAt" timestamptz, "updatedAt" timestamptz, binding text, "originalYear" int, "privateNotes" text,
            moods text[], "seriesName" text, "seriesPosition" text, "isArchived" boolean, "linkedBy" book_link
        )
    ), matched AS (
        SELECT m.*
        FROM (
            SELECT
                array_agg(app_user_id()) AS readers,
                array_agg(id) AS ids,
                array_agg(isbn13) AS isbns,
                array_agg(title) AS titles,
                array_agg(author_text(authors, "authorRoles")) AS authors,
                array_agg("goodreadsId") AS goodreads_ids
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
        binding, original_year, private_notes, moods, series, series_position
    )
    SELECT
        app_user_id(),
        g.id,
        -- Another copy of the work may have the edition because of its title.
        coalesce(
            CASE
                WHEN NOT EXISTS (SELECT FROM books b WHERE b.user_id = app_user_id() AND b.edition_id = card.id) THEN card.id
            END,
            m.edition_id
        ),
        CASE
            WHEN card.id IS NULL THEN coalesce(m.linked_by, 'CARD')
            WHEN card.id = g."cardId" THEN coalesce(g."linkedBy", 'CARD')
            ELSE 'ISBN'
        END,
        g.title,
        coalesce(g.subtitle, CASE WHEN facts.title = g.title THEN left(nullif(btrim(facts.subtitle), ''), 500) END),
        CASE WHEN g.authors = '{}' THEN coalesce(facts.authors, '{}') ELSE g.authors END,
        CASE WHEN g.authors = '{}' THEN coalesce(facts.author_roles, '{}') ELSE g."authorRoles" END,
        coalesce(g.isbn13, facts.isbn13),
        coalesce(g.publisher, facts.publisher),
        coalesce(g."publishedDate", facts.published_date),
        coalesce(g."pageCount", facts.page_count),
        coalesce(g.language, facts.language),
        g.category,
        coalesce(g.genre, facts.genres[1]),
        coalesce(g.description, facts.description),
        g.status,
        g."currentPage",
        coalesce(g."addedAt", noon_of_day(app_user_id(), g."addedOn"), now()),
        g."startedAt",
        g."finishedAt",
        coalesce(g."updatedAt", now()),
        g.binding,
        g."originalYear",
        g."privateNotes",
        coalesce(g.moods, '{}'),
        CASE WHEN own_series.is_own THEN g."seriesName" END,
        CASE WHEN own_series.is_own THEN g."seriesPosition" END
    FROM given g
    LEFT JOIN editions card ON card.id = g."editionId"
    -- A book of an archive has all of its facts.
    LEFT JOIN editions facts ON facts.id = card.id AND g."isArchived" IS NOT TRUE
    LEFT JOIN matched m ON m.book_id = g.id
    CROSS JOIN LATERAL (
        SELECT NOT is_series_of_edition(coalesce(card.id, m.edition_id), g."seriesName", g."seriesPosition") AS is_own
    ) own_series;
    PERFORM set_config('app.lists_books', '', true);
    PERFORM list_imported_books(array_agg(r.id ORDER BY r.position), array_agg(r.half_stars ORDER BY r.position))
    FROM (
        SELECT (b.book ->> 'id')::uuid AS id, (b.book ->> 'halfStars')::smallint AS half_stars, b.position
        FROM jsonb_array_elements(books) WITH ORDINALITY AS b (book, position)
    ) r;
    RETURN failed;
EXCEPTION WHEN integrity_constraint_violation OR data_exception OR SQLSTATE 'BP413' THEN
    IF jsonb_array_length(books) = 1 THEN
        RETURN ARRAY[(books -> 0 ->> 'id')::uuid];
    END IF;
    FOR one IN SELECT * FROM jsonb_array_elements(books) LOOP
        failed := failed || store_imported_books(jsonb_build_array(one));
    END LOOP;
    RETURN failed;
END
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

-- Brings the next records of an import into the library, and stores how far it has come, both in one transaction. `start` is
-- the number of records that are done: if it differs from the stored one, nothing happens. Returns the new number.
--
-- New books wait, so that one statement stores many, and the change log has one entry for each. They are stored early if
-- a later record may be about one of them.
--
-- A library that was empty when the table was last analyzed looks small to the planner. It would then find a book by its id in
-- another index with all the columns that it needs, where it reads the entries of the whole library.
CREATE OR REPLACE FUNCTION import_records(import uuid, start int, records jsonb) RETURNS int
LANGUAGE plpgsql SET enable_seqscan = off SET enable_indexonlyscan = off
AS $$
DECLARE
    owner uuid := app_user_id();
    entry jsonb;
    book jsonb;
    result record;
    problem text;
    -- The problems of values that the book of the library does not get.
    lost jsonb;
    created_count int := 0;
    reached int;
    known jsonb;
    shelf uuid;
    waiting jsonb := '[]';
    -- The ids, ISBNs, editions, and titles of the waiting books.
    waiting_keys text[] := '{}';
    keys text[];
    lines jsonb := '{}';
    failed uuid[] := '{}';
    updated_ids uuid[] := '{}';
    placed_ids uuid[] := '{}';
    placed_on uuid[] := '{}';
    reviews_of uuid[] := '{}';
    reviewed jsonb[] := '{}';
    -- The books with reads, and their records.
    read_ids uuid[] := '{}';
    read_records jsonb[] := '{}';
    reads jsonb;
    are_first boolean;
    progress jsonb := '[]';
    notes jsonb := '[]';
    documents jsonb := '[]';
    positions jsonb := '[]';
    -- The books of the library by the ids that they have in the file, if the ids differ.
    ids_of_file jsonb := '{}';
    file_format import_format;
    -- The books that got something new from a read.
    read_changes uuid[] := '{}';
    -- The existing books that the import has added something to.
    touched_ids uuid[] := '{}';
    created_ids uuid[] := '{}';
BEGIN
    SELECT i.done, i.format INTO reached, file_format
    FROM imports i
    WHERE i.user_id = owner AND i.id = import AND i.state = 'RUNNING'
    FOR UPDATE;
    IF reached IS DISTINCT FROM start THEN
        RETURN reached;
    END IF;
    FOR entry IN SELECT * FROM jsonb_array_elements(records || '[{}]') LOOP
        problem := NULL;
        lost := '[]';
        book := entry -> 'book';
        keys := ARRAY[book ->> 'id', book ->> 'isbn13', book ->> 'cardId', lower(book ->> 'title')];
        LOOP
            -- The empty entry after the last record stores the rest.
            IF entry = '{}' OR keys && waiting_keys THEN
                failed := failed || store_imported_books(waiting);
                waiting := '[]';
                waiting_keys := '{}';
                known := NULL;
            END IF;
            EXIT WHEN book IS NULL;
            IF known IS NULL THEN
                known := books_with_titles(
                    ARRAY(
                        SELECT r.book ->> 'title'
                        FROM (SELECT e -> 'book' AS book FROM jsonb_array_elements(records) e) r
                        -- A book that has been imported before is found by its id.
                        WHERE NOT r.book ? 'isIdentified'
                            AND NOT EXISTS (
                                SELECT FROM books b WHERE b.user_id = owner AND b.id = (r.book ->> 'id')::uuid OFFSET 0
                            )
                    )
                );
            END IF;
            SELECT * INTO result FROM import_book(book, known);
            EXIT WHEN result.outcome <> 'CREATED';
            keys := keys || result.card_id::text;
            -- If a waiting book has the same edition under another ISBN or id, the waiting books are stored first.
            EXIT WHEN NOT keys && waiting_keys;
        END LOOP;
        IF book IS NOT NULL THEN
            problem := result.problem;
            lost := coalesce(result.problems, '[]');
            IF file_format = 'BOOKPLATE' AND result.outcome <> 'FAILED' AND result.book_id::text <> book ->> 'id' THEN
                ids_of_file := ids_of_file || jsonb_build_object(book ->> 'id', result.book_id);
            END IF;
            IF result.outcome <> 'FAILED' AND book -> 'reads' <> '[]' THEN
                read_ids := read_ids || result.book_id;
                read_records := read_records || book;
            END IF;
            IF result.outcome = 'CREATED' THEN
                waiting := waiting || (book || jsonb_build_object('editionId', result.card_id));
                waiting_keys := waiting_keys || array_remove(keys, NULL);
                lines := lines || jsonb_build_object(book ->> 'id', entry -> 'line');
                created_count := created_count + 1;
            ELSIF result.outcome = 'UPDATED' THEN
                updated_ids := updated_ids || result.book_id;
            END IF;
            FOREACH shelf IN ARRAY result.shelf_ids LOOP
                IF result.outcome = 'CREATED' OR NOT EXISTS (
                    SELECT
                    FROM shelf_books f
                    WHERE f.user_id = owner AND f.shelf_id = shelf AND f.book_id = result.book_id
                ) THEN
                    placed_ids := placed_ids || result.book_id;
                    placed_on := placed_on || shelf;
                    IF result.outcome = 'SAME' THEN
                        result.outcome := 'UPDATED';
                    END IF;
                END IF;
            END LOOP;
            IF result.outcome <> 'FAILED' AND book ?| '{halfStars, review}' AND result.book_id <> ALL(reviews_of)
                AND (
                    result.outcome = 'CREATED'
                    OR NOT EXISTS (SELECT FROM reviews v WHERE v.user_id = owner AND v.book_id = result.book_id)
                )
            THEN
                reviews_of := reviews_of || result.book_id;
                reviewed := reviewed || book;
                IF result.outcome = 'SAME' THEN
                    result.outcome := 'UPDATED';
                END IF;
            ELSIF result.outcome <> 'FAILED' AND book ?| '{halfStars, review}' THEN
                -- A book has one review: that of the library, or of an earlier record.
                SELECT coalesce(lost || jsonb_agg(left_out(l.field, l.given, l.stored)), lost) INTO lost
                FROM (
                    SELECT w.record ->> 'halfStars' AS half_stars, w.record ->> 'review' AS text
                    FROM unnest(reviews_of, reviewed) AS w (book_id, record)
                    WHERE w.book_id = result.book_id
                    UNION ALL
                    SELECT v.half_stars::text, v.text::text
                    FROM reviews v
                    WHERE v.user_id = owner AND v.book_id = result.book_id
                    LIMIT 1
                ) kept
                CROSS JOIN LATERAL (
                    VALUES
                        ('rating', stars_text(book ->> 'halfStars'), stars_text(kept.half_stars)),
                        ('review', book ->> 'review', kept.text)
                ) AS l (field, given, stored)
                WHERE l.given IS DISTINCT FROM l.stored AND l.given IS NOT NULL;
            END IF;
            IF result.outcome = 'UPDATED' THEN
                touched_ids := touched_ids || result.book_id;
            END IF;
            IF result.outcome = 'CREATED' THEN
                created_ids := created_ids || result.book_id;
            END IF;
        ELSIF entry ? 'shelf' THEN
            shelf := import_shelf(
                (entry -> 'shelf' ->> 'id')::uuid,
                entry -> 'shelf' ->> 'name',
                (entry -> 'shelf' ->> 'createdAt')::timestamptz
            );
            -- A shelf of the library keeps what it has.
            UPDATE shelves s
            SET description = coalesce(s.description, given_shelf.description),
                color = coalesce(s.color, given_shelf.color),
                updated_at = now()
            FROM (
                SELECT
                    entry -> 'shelf' ->> 'description' AS description,
                    (entry -> 'shelf' ->> 'color')::label_color AS color
            ) given_shelf
            WHERE s.user_id = app_user_id()
                AND s.id = shelf
                AND (
                    s.description IS NULL AND given_shelf.description IS NOT NULL
                    OR s.color IS NULL AND given_shelf.color IS NOT NULL
                );
        ELSIF entry ? 'profile' THEN
            -- The account keeps what it has.
            UPDATE users u
            SET display_name = coalesce(u.display_name, given_profile.display_name),
                preferred_genres = CASE WHEN u.preferred_genres = '{}' THEN given_profile.genres ELSE u.preferred_genres END,
                languages = CASE WHEN u.languages = '{}' THEN given_profile.languages ELSE u.languages END,
                time_zone = CASE WHEN u.time_zone = 'UTC' THEN given_profile.time_zone ELSE u.time_zone END,
                updated_at = now()
            FROM (
                SELECT
                    entry -> 'profile' ->> 'displayName' AS display_name,
                    ARRAY(
                        SELECT g.name
                        FROM jsonb_array_elements_text(entry -> 'profile' -> 'preferredGenres') WITH ORDINALITY AS p (name, position)
                        JOIN genres g ON g.name = p.name
                        ORDER BY p.position
                    ) AS genres,
                    ARRAY(SELECT jsonb_array_elements_text(entry -> 'profile' -> 'languages')) AS languages,
                    coalesce(zone_to_store(entry -> 'profile' ->> 'timeZone'), 'UTC') AS time_zone
            ) given_profile
            WHERE u.id = owner
                AND (
                    (u.display_name IS NULL AND given_profile.display_name IS NOT NULL)
                    OR (u.preferred_genres = '{}' AND given_profile.genres <> '{}')
                    OR (u.languages = '{}' AND given_profile.languages <> '{}')
                    OR (u.time_zone = 'UTC' AND given_profile.time_zone <> 'UTC')
                );
            PERFORM import_goals(entry -> 'profile' -> 'readingGoals');
        ELSIF entry ? 'progress' THEN
            progress := progress || (entry -> 'progress');
            lines := lines || jsonb_build_object(entry -> 'progress' ->> 'id', entry -> 'line');
        ELSIF entry ? 'note' THEN
            notes := notes || (entry -> 'note');
            lines := lines || jsonb_build_object(entry -> 'note' ->> 'id', entry -> 'line');
        ELSIF entry ? 'document' THEN
            documents := documents || (entry -> 'document');
        ELSIF entry ? 'position' THEN
            positions := positions || (entry -> 'position');
        ELSIF entry ? 'swipe' THEN
            INSERT INTO swipes (user_id, edition_id, action, scope, store, swiped_at)
            SELECT
                owner,
                e.id,
                (entry -> 'swipe' ->> 'action')::swipe_action,
                (entry -> 'swipe' ->> 'scope')::swipe_scope,
                entry -> 'swipe' ->> 'store',
                (entry -> 'swipe' ->> 'swipedAt')::timestamptz
            FROM editions e
            WHERE e.id = (entry -> 'swipe' ->> 'cardId')::uuid
            ON CONFLICT DO NOTHING;
        END IF;
        IF problem IS NOT NULL OR entry ? 'problems' OR lost <> '[]' THEN
            INSERT INTO import_failures (user_id, import_id, line, position, field, message)
            SELECT owner, import, (entry ->> 'line')::int, p.position, p.problem ->> 'field', p.problem ->> 'message'
            FROM jsonb_array_elements(
                coalesce(entry -> 'problems', '[]')
                    || lost
                    || CASE WHEN problem IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object('message', problem)) END
            ) WITH ORDINALITY AS p (problem, position)
            ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;

    -- The records may have completed the ISBN or the author of books without an edition.
    IF updated_ids <> '{}' THEN
        PERFORM link_books(array_fill(owner, ARRAY[cardinality(updated_ids)]), updated_ids);
    END IF;
    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author)
    SELECT owner, p.shelf_id, b.id, b.added_at, book_sort_title(b.title, b.language), book_sort_author(b.author)
    FROM unnest(placed_on, placed_ids) AS p (shelf_id, book_id)
    JOIN books b ON b.user_id = owner AND b.id = p.book_id
    ON CONFLICT DO NOTHING;
    -- A review keeps its id unless another review has it.
    INSERT INTO reviews (user_id, book_id, id, half_stars, text, has_spoilers, created_at, updated_at)
    SELECT
        owner,
        r.book_id,
        CASE
            WHEN r.position > 1 OR r.id IS NULL OR EXISTS (SELECT FROM reviews v WHERE v.user_id = owner AND v.id = r.id)
                THEN gen_random_uuid()
            ELSE r.id
        END,
        r.half_stars,
        r.text,
        r.has_spoilers,
        coalesce(r.created_at, now()),
        coalesce(r.updated_at, r.created_at, now())
    FROM (
        SELECT
            b.id AS book_id,
            (w ->> 'reviewId')::uuid AS id,
            (w ->> 'halfStars')::int AS half_stars,
            w ->> 'review' AS text,
            coalesce((w ->> 'hasSpoilers')::boolean, false) AS has_spoilers,
            coalesce(
                (w ->> 'reviewedAt')::timestamptz,
                noon_of_day(owner, w ->> 'reviewedOn'),
                (w ->> 'finishedAt')::timestamptz,
                noon_of_day(owner, w ->> 'addedOn')
            ) AS created_at,
            (w ->> 'reviewUpdatedAt')::timestamptz AS updated_at,
            row_number() OVER (PARTITION BY w ->> 'reviewId') AS position
        FROM unnest(reviews_of, reviewed) AS listed (book_id, w)
        JOIN books b ON b.user_id = owner AND b.id = listed.book_id
    ) r
    ON CONFLICT DO NOTHING;
    -- import_reads matches each read of the library with at most one of the call, so records of the same book are in calls of
    -- their own. The library has no reads of new books, so their first ones need not be matched.
    FOR are_first, reads IN
        SELECT r.turn = 1 AND r.is_new, jsonb_agg(r.read || jsonb_build_object('bookId', r.book_id) ORDER BY r.record, r.number)
        FROM (
            SELECT
                listed.book_id,
                listed.record,
                n.number,
                n.read,
                listed.book_id = ANY(created_ids) AS is_new,
                dense_rank() OVER (PARTITION BY listed.book_id ORDER BY listed.record) AS turn
            FROM unnest(read_ids, read_records) WITH ORDINALITY AS listed (book_id, book, record)
            CROSS JOIN LATERAL jsonb_array_elements(listed.book -> 'reads') WITH ORDINALITY AS n (read, number)
            WHERE listed.book_id <> ALL(failed)
        ) r
        GROUP BY r.turn, r.is_new
        ORDER BY r.turn
    LOOP
        IF are_first THEN
            read_changes := read_changes || import_first_reads(reads);
        ELSE
            read_changes := read_changes || import_reads(reads);
        END IF;
    END LOOP;
    IF progress <> '[]' THEN
        INSERT INTO import_failures (user_id, import_id, line, message)
        SELECT owner, import, (lines ->> id::text)::int, 'The read of this entry does not exist or is full. The entry was left out.'
        FROM unnest(import_progress(progress)) AS id
        ON CONFLICT DO NOTHING;
    END IF;
    UPDATE imports i
    SET book_ids = i.book_ids || ids_of_file
    WHERE i.user_id = owner AND i.id = import AND ids_of_file <> '{}';
    IF notes <> '[]' THEN
        INSERT INTO import_failures (user_id, import_id, line, message)
        SELECT owner, import, (lines ->> id::text)::int, 'The book of this note does not exist or is full. The note was left out.'
        FROM unnest(import_notes(of_library_books(import, notes))) AS id
        ON CONFLICT DO NOTHING;
    END IF;
    IF documents <> '[]' THEN
        PERFORM import_documents(of_library_books(import, documents));
    END IF;
    IF positions <> '[]' THEN
        PERFORM import_positions(of_library_books(import, positions));
    END IF;
    INSERT INTO import_failures (user_id, import_id, line, message)
    SELECT owner, import, (lines ->> id::text)::int, 'This book cannot be stored.'
    FROM unnest(failed) AS id
    ON CONFLICT DO NOTHING;
    UPDATE imports i
    SET done = i.done + jsonb_array_length(records),
        created = i.created + created_count - cardinality(failed),
        updated = i.updated + (
            SELECT count(DISTINCT t.id)
            FROM unnest(touched_ids || read_changes) AS t (id)
            WHERE t.id <> ALL(created_ids)
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

REVOKE ALL ON FUNCTION prune_imports FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_imports TO bookplate_app;
