-- The catalog: saving editions that external sources found, and the budgets of requests to these sources.

-- MARK: Lock

-- Waits until no other transaction changes the catalog and what follows from it, and prevents others from doing so until this
-- transaction ends. Imports (CatalogImport.swift), backfills of editions and authors, decisions about works, and updates of the feed
-- call it first, because they write editions, authors, and the state of the feed in different orders. Requests that save a few
-- editions do not, because an import can take minutes. They wait only briefly for any lock instead (`save_edition`).
CREATE OR REPLACE FUNCTION lock_catalog() RETURNS void
LANGUAGE sql
AS $$
    SELECT pg_advisory_xact_lock(20261122)
$$;

-- MARK: Editions

-- Adds an edition that an external source returned, or fills the missing data of the one with the same ISBN. Without an ISBN, the
-- edition is the one that has one of the ids at the sources, and that edition is not changed. Subjects of an edition without a canonical genre are replaced, too. The edition's id at
-- `sources[i]` is `keys[i]`, and the id of its work at `work_sources[i]` is `work_keys[i]`. Returns the id of the edition in the
-- catalog; null if it was not saved because another transaction has locked one of the rows.
--
-- Requests and imports of the catalog lock rows in different orders: editions, the other records of their works, words, and the job
-- that links books. An import keeps its locks until its end. If a request waited for them, and the import for a new edition of the
-- request, that would be a deadlock, and PostgreSQL could end the import. The function therefore waits at most 300 ms for a lock. After
-- such a wait, the transaction saves no other edition and no author. It has saved few editions before, so it ends before the import looks
-- for a deadlock, which it does after waiting for a second (deadlock_timeout).
-- definer: requests can add to the catalog what a source has returned, but not change what is there.
CREATE OR REPLACE FUNCTION save_edition(
    isbn13 text,
    title text,
    subtitle text,
    authors text[],
    author_roles text[],
    publisher text,
    published_date text,
    page_count int,
    language text,
    subjects text[],
    description text,
    hook text,
    cover_links text[],
    sources text[],
    keys text[],
    work_sources text[],
    work_keys text[],
    series text DEFAULT NULL,
    series_position text DEFAULT NULL
) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms'
AS $$
#variable_conflict use_column
DECLARE
    saved uuid;
BEGIN
    IF current_setting('app.catalog_locked', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF save_edition.isbn13 IS NULL THEN
        -- Two searches at once add the edition once.
        PERFORM pg_advisory_xact_lock(hashtextextended('edition ' || k.source || ' ' || k.key, 0))
        FROM unnest(save_edition.sources, save_edition.keys) AS k (source, key);
        SELECT s.edition_id
        INTO saved
        FROM unnest(save_edition.sources, save_edition.keys) AS k (source, key)
        JOIN edition_sources s ON s.source = k.source AND s.key = k.key
        LIMIT 1;
        IF FOUND THEN
            RETURN saved;
        END IF;
    END IF;
    INSERT INTO editions AS e (
        id, isbn13, title, subtitle, series, series_position, authors, author_roles, publisher, published_date, page_count,
        language, subjects, genres, description, hook, cover_links
    )
    VALUES (
        gen_random_uuid(),
        save_edition.isbn13,
        save_edition.title,
        save_edition.subtitle,
        save_edition.series,
        save_edition.series_position,
        save_edition.authors,
        save_edition.author_roles::author_role[],
        save_edition.publisher,
        save_edition.published_date,
        save_edition.page_count,
        save_edition.language,
        save_edition.subjects,
        canonical_genres(save_edition.subjects),
        save_edition.description,
        save_edition.hook,
        save_edition.cover_links
    )
    ON CONFLICT (isbn13) DO UPDATE
    SET subtitle = coalesce(e.subtitle, excluded.subtitle),
        series = coalesce(e.series, excluded.series),
        series_position = CASE WHEN e.series IS NULL THEN excluded.series_position ELSE e.series_position END,
        authors = CASE WHEN e.authors = '{}' THEN excluded.authors ELSE e.authors END,
        author_roles = CASE WHEN e.authors = '{}' THEN excluded.author_roles ELSE e.author_roles END,
        publisher = coalesce(e.publisher, excluded.publisher),
        published_date = coalesce(e.published_date, excluded.published_date),
        page_count = coalesce(e.page_count, excluded.page_count),
        language = coalesce(e.language, excluded.language),
        subjects = CASE WHEN e.genres = '{}' THEN excluded.subjects ELSE e.subjects END,
        genres = CASE WHEN e.genres = '{}' THEN excluded.genres ELSE e.genres END,
        description = coalesce(e.description, excluded.description),
        hook = coalesce(e.hook, excluded.hook),
        cover_links = CASE WHEN e.cover_links = '{}' THEN excluded.cover_links ELSE e.cover_links END,
        updated_at = excluded.updated_at
    RETURNING e.id INTO saved;
    INSERT INTO edition_sources (source, key, edition_id)
    SELECT s.source, s.key, saved
    FROM unnest(save_edition.sources, save_edition.keys) AS s (source, key)
    ORDER BY s.source, s.key
    ON CONFLICT DO NOTHING;
    IF work_keys <> '{}' THEN
        PERFORM save_work_keys(array_fill(saved, ARRAY[cardinality(work_keys)]), work_sources, work_keys);
    END IF;
    RETURN saved;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    PERFORM set_config('app.catalog_locked', 'on', true);
    RETURN NULL;
END
$$;

-- MARK: Authors

-- Saves what an external source has said about authors: `keys` are those at Open Library, and `are_records[i]` says that
-- `bios[i]`, which may be null, is from the author's own record. Existing data stays. The biography of another person with the
-- same name, whose key differs, is not taken. If another transaction has locked one of the authors, none is saved, for the reason
-- explained at `save_edition`.
-- definer: requests can add to the catalog what a source has returned, but not change what is there.
CREATE OR REPLACE FUNCTION save_authors(names text[], keys text[], bios text[], are_records boolean[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms'
AS $$
BEGIN
    IF current_setting('app.catalog_locked', true) = 'on' THEN
        RETURN;
    END IF;
    INSERT INTO authors AS a (id, name, open_library_key, bio, bio_requested_at)
    SELECT DISTINCT ON (author_id(given.name))
        author_id(given.name), given.name, given.key, given.bio, CASE WHEN given.is_record THEN now() END
    FROM unnest(names, keys, bios, are_records) WITH ORDINALITY AS given (name, key, bio, is_record, position)
    -- A fixed order prevents deadlocks between servers.
    ORDER BY 1, given.bio IS NULL, given.position
    ON CONFLICT (id) DO UPDATE
    SET open_library_key = coalesce(a.open_library_key, excluded.open_library_key),
        bio = coalesce(a.bio, excluded.bio),
        bio_requested_at = coalesce(excluded.bio_requested_at, a.bio_requested_at),
        updated_at = excluded.updated_at
    WHERE coalesce(a.open_library_key, excluded.open_library_key) IS NOT DISTINCT FROM excluded.open_library_key
        AND (
            (a.open_library_key IS NULL AND excluded.open_library_key IS NOT NULL)
            OR (a.bio IS NULL AND excluded.bio IS NOT NULL)
            OR excluded.bio_requested_at > coalesce(a.bio_requested_at, '-infinity') + interval '1 day'
        );
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    NULL;
END
$$;

-- Saves the response of a source about one author under the id and name of the catalog. The name may differ in the source: of
-- several authors in the response, one with the same family name and initial is used. Without one, only the time of the request is
-- saved. Returns whether the author has a biography now.
CREATE OR REPLACE FUNCTION save_author_lookup(id uuid, name text, names text[], keys text[], bios text[]) RETURNS boolean
LANGUAGE sql
AS $$
    INSERT INTO authors AS a (id, name, open_library_key, bio, bio_requested_at)
    SELECT save_author_lookup.id, save_author_lookup.name, found.key, found.bio, now()
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (
        SELECT given.key, given.bio
        FROM unnest(names, keys, bios) WITH ORDINALITY AS given (name, key, bio, position)
        WHERE author_key(given.name) = author_key(save_author_lookup.name)
        ORDER BY author_id(given.name) <> save_author_lookup.id, given.bio IS NULL, given.position
        LIMIT 1
    ) found ON true
    ON CONFLICT (id) DO UPDATE
    SET open_library_key = coalesce(excluded.open_library_key, a.open_library_key),
        bio = coalesce(excluded.bio, a.bio),
        bio_requested_at = excluded.bio_requested_at,
        updated_at = excluded.updated_at
    RETURNING a.bio IS NOT NULL
$$;

-- MARK: Genres

-- Returns the canonical genre of each name, in order of first mention and without duplicates. A name that is not an alias is
-- read as a path, such as "Fiction / Science Fiction / Space Opera" or "Dogs -- Juvenile fiction", and each step counts; in a
-- path that says fiction, steps of nonfiction do not count. Unknown names are left out. General genres count only if no
-- name has a specific one.
CREATE OR REPLACE FUNCTION genre_ids(names text[]) RETURNS smallint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    ids smallint[] := '{}';
    general_ids smallint[] := '{}';
    given_name text;
    step text;
    says_fiction boolean;
    genre genres;
BEGIN
    FOREACH given_name IN ARRAY coalesce(names, '{}') LOOP
        SELECT g.* INTO genre
        FROM genre_aliases a
        JOIN genres g ON g.id = a.genre_id
        WHERE a.alias = search_fold(given_name);
        IF genre.is_general THEN
            general_ids := general_ids || genre.id;
        ELSIF genre.id IS NOT NULL THEN
            ids := ids || genre.id;
        ELSIF given_name ~ '[-/,;>(]' THEN
            says_fiction := given_name ~* '\mfiction\M' AND given_name !~* '\mnon-?fiction\M';
            FOREACH step IN ARRAY regexp_split_to_array(given_name, '\s*[/,;>(]\s*|\s*--\s*|\s-\s') LOOP
                SELECT g.* INTO genre
                FROM genre_aliases a
                JOIN genres g ON g.id = a.genre_id
                WHERE a.alias = search_fold(step);
                IF genre.is_general THEN
                    general_ids := general_ids || genre.id;
                ELSIF genre.id IS NOT NULL AND NOT (says_fiction AND genre.is_nonfiction) THEN
                    ids := ids || genre.id;
                END IF;
            END LOOP;
        END IF;
    END LOOP;
    IF ids = '{}' THEN
        RETURN general_ids[1:1];
    ELSIF cardinality(ids) = 1 THEN
        RETURN ids;
    END IF;
    RETURN ARRAY(
        SELECT id
        FROM unnest(ids) WITH ORDINALITY AS mentioned (id, position)
        GROUP BY id
        ORDER BY min(position)
    );
END
$$;

-- Returns the names of the first six genres that `genre_ids` returns.
CREATE OR REPLACE FUNCTION canonical_genres(names text[]) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ARRAY(
        SELECT g.name
        FROM unnest(genre_ids(names)) WITH ORDINALITY AS i (id, position)
        JOIN genres g USING (id)
        ORDER BY i.position
        LIMIT 6
    )
$$;

-- Applies the aliases to all editions. Returns the number of editions whose genres change.
CREATE OR REPLACE FUNCTION reassign_genres() RETURNS bigint
LANGUAGE sql
AS $$
    -- There are few different lists of names, compared with the number of editions.
    WITH lists AS MATERIALIZED (
        SELECT subjects, canonical_genres(subjects) AS genres
        FROM (SELECT DISTINCT subjects FROM editions WHERE subjects <> '{}') listed
    ), changed AS (
        UPDATE editions e
        SET genres = lists.genres, updated_at = now()
        FROM lists
        WHERE e.subjects = lists.subjects AND e.genres <> lists.genres
        RETURNING e.id
    )
    SELECT count(*) FROM changed
$$;

-- Brings the numbers of editions and ratings of each genre and language up to date: counts them if `is_everything`, otherwise adds what
-- `edition_changes` contains. Then it empties this log, and returns the editions that the log contained. If everything was counted, the
-- rows of the log stay without their counts, and the array is empty: the next call returns the editions.
--
-- Each variant is one statement, so that the counts contain exactly the changes whose rows it takes.
CREATE OR REPLACE FUNCTION count_catalog(is_everything boolean) RETURNS uuid[]
LANGUAGE plpgsql
AS $$
DECLARE
    changed uuid[];
BEGIN
    IF is_everything THEN
        WITH taken AS (
            UPDATE edition_changes
            SET editions = 0
            WHERE editions <> 0
        ), counted_genres AS (
            UPDATE genres g
            SET editions = counted.editions, readers = counted.readers
            FROM (
                SELECT g.id, count(e.name) AS editions, coalesce(sum(e.ratings_count), 0)::bigint AS readers
                FROM genres g
                LEFT JOIN (
                    SELECT name, ratings_count
                    FROM editions
                    CROSS JOIN LATERAL unnest(genres) AS name
                ) e ON e.name = g.name
                GROUP BY g.id
            ) counted
            WHERE counted.id = g.id AND (counted.editions, counted.readers) IS DISTINCT FROM (g.editions, g.readers)
        )
        INSERT INTO catalog_languages AS l (language, editions, ratings)
        SELECT language, coalesce(counted.editions, 0), coalesce(counted.ratings, 0)
        FROM (
            SELECT coalesce(feed_language(language), '') AS language, count(*) AS editions, sum(ratings_count) AS ratings
            FROM editions
            GROUP BY 1
        ) counted
        FULL JOIN catalog_languages USING (language)
        ON CONFLICT (language) DO UPDATE
        SET editions = excluded.editions, ratings = excluded.ratings
        WHERE (l.editions, l.ratings) IS DISTINCT FROM (excluded.editions, excluded.ratings);
    ELSIF EXISTS (SELECT FROM edition_changes) THEN
        WITH taken AS (
            DELETE FROM edition_changes
            RETURNING *
        ), counted_genres AS (
            UPDATE genres g
            SET editions = g.editions + counted.editions, readers = g.readers + counted.readers
            FROM (
                SELECT name, sum(t.editions) AS editions, sum(t.editions * t.ratings::bigint)::bigint AS readers
                FROM taken t
                CROSS JOIN LATERAL unnest(t.genres) AS name
                GROUP BY name
            ) counted
            WHERE counted.name = g.name AND (counted.editions <> 0 OR counted.readers <> 0)
        ), counted_languages AS (
            INSERT INTO catalog_languages AS l (language, editions, ratings)
            SELECT language, sum(editions), sum(editions * ratings::bigint)
            FROM taken
            WHERE editions <> 0
            GROUP BY language
            HAVING sum(editions) <> 0 OR sum(editions * ratings::bigint) <> 0
            ON CONFLICT (language) DO UPDATE
            SET editions = l.editions + excluded.editions, ratings = l.ratings + excluded.ratings
        )
        SELECT array_agg(DISTINCT edition_id) INTO changed
        FROM taken;
    END IF;
    RETURN coalesce(changed, '{}');
END
$$;

-- MARK: External sources

-- Reserves up to `requested` requests of today's budget. Returns how many were reserved (0 if the budget is used up) and
-- for how long today still lasts. `background_max` is the budget of background work, or null for an interactive request.
--
-- The upsert locks the row of the day until the transaction ends, so concurrent calls never exceed the budget together.
-- definer: the budgets are closed: a server can only use requests up, because they cost money.
CREATE OR REPLACE FUNCTION reserve_source_requests(source text, requested int, used_max int, background_max int)
RETURNS TABLE (granted int, resets_in_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    usage source_usage;
BEGIN
    INSERT INTO source_usage AS u (source, day)
    VALUES (reserve_source_requests.source, today)
    ON CONFLICT (source, day) DO UPDATE
    SET used = u.used
    RETURNING u.* INTO usage;
    granted := greatest(
        0,
        least(
            reserve_source_requests.requested,
            used_max - usage.used,
            background_max - usage.used_in_background
        )
    );
    IF granted > 0 THEN
        UPDATE source_usage u
        SET used = u.used + granted,
            used_in_background = u.used_in_background + CASE WHEN background_max IS NULL THEN 0 ELSE granted END
        WHERE u.source = usage.source AND u.day = usage.day;
    END IF;
    -- The first reservation of a day deletes the rows of old days.
    IF usage.used = 0 THEN
        DELETE FROM source_usage u
        WHERE u.source = usage.source AND u.day < usage.day - 30;
    END IF;
    resets_in_ms := greatest(
        0,
        ceil(extract(epoch FROM ((usage.day + 1)::timestamp AT TIME ZONE 'UTC') - clock_timestamp()) * 1000)
    )::bigint;
    RETURN NEXT;
END
$$;

-- Returns today's reservations, for metrics and `bookplate-admin doctor`.
-- definer: the budgets are closed: a server reads only those of today.
CREATE OR REPLACE FUNCTION source_usage_today() RETURNS TABLE (source text, used int, used_in_background int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT u.source, u.used, u.used_in_background
    FROM source_usage u
    WHERE u.day = (now() AT TIME ZONE 'UTC')::date
$$;

-- MARK: Policies and grants

-- The table is closed to the server's role.
DROP POLICY IF EXISTS administration ON source_usage;
CREATE POLICY administration ON source_usage TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT ON editions, edition_sources, authors, genres, genre_aliases, source_misses, source_searches TO bookplate_app;
GRANT INSERT, UPDATE (expires_at) ON source_misses, source_searches TO bookplate_app;

REVOKE ALL ON FUNCTION lock_catalog, reassign_genres, count_catalog, save_author_lookup FROM PUBLIC;
REVOKE ALL ON FUNCTION save_edition, save_authors, reserve_source_requests, source_usage_today FROM PUBLIC;
GRANT EXECUTE ON FUNCTION save_edition, save_authors, reserve_source_requests, source_usage_today TO bookplate_app;
