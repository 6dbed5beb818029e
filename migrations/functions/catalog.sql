-- requires: accounts
-- The catalog: saving editions that external sources found, and the budgets of requests to these sources.

-- MARK: Editions

-- Adds an edition that an external source found, or fills the gaps of the one with the same ISBN, and returns its id.
--
-- The server's role cannot write to the catalog otherwise. Neither a request nor a source can change or remove a fact that
-- the catalog already has. Genres that the catalog does not know are dropped, because sources list all kinds of
-- subjects as genres.
CREATE OR REPLACE FUNCTION save_edition(
    isbn13 text, isbn10 text, title text, subtitle text, authors text[], publisher text,
    published_date text, page_count int, language text, genres text[], description text, hook text,
    cover_links text[], sources text[], keys text[]
) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    saved uuid;
    known_genres text[] := array(
        SELECT g.name
        FROM unnest(save_edition.genres) WITH ORDINALITY AS given (name, position)
        JOIN genres g ON lower(g.name) = lower(given.name)
        ORDER BY given.position
    );
BEGIN
    INSERT INTO editions AS e (
        id, isbn13, isbn10, title, subtitle, authors, publisher, published_date,
        page_count, language, genres, description, hook, cover_links
    )
    VALUES (
        gen_random_uuid(), save_edition.isbn13, save_edition.isbn10, save_edition.title, save_edition.subtitle,
        save_edition.authors, save_edition.publisher, save_edition.published_date, save_edition.page_count,
        save_edition.language, known_genres, save_edition.description, save_edition.hook, save_edition.cover_links
    )
    ON CONFLICT (isbn13) DO UPDATE
    SET isbn10 = coalesce(e.isbn10, excluded.isbn10),
        subtitle = coalesce(e.subtitle, excluded.subtitle),
        authors = CASE WHEN e.authors = '{}' THEN excluded.authors ELSE e.authors END,
        publisher = coalesce(e.publisher, excluded.publisher),
        published_date = coalesce(e.published_date, excluded.published_date),
        page_count = coalesce(e.page_count, excluded.page_count),
        language = coalesce(e.language, excluded.language),
        genres = CASE WHEN e.genres = '{}' THEN excluded.genres ELSE e.genres END,
        description = coalesce(e.description, excluded.description),
        hook = coalesce(e.hook, excluded.hook),
        cover_links = CASE WHEN e.cover_links = '{}' THEN excluded.cover_links ELSE e.cover_links END,
        updated_at = now()
    RETURNING e.id INTO saved;
    INSERT INTO edition_sources (source, key, edition_id)
    SELECT given.source, given.key, saved
    FROM unnest(save_edition.sources, save_edition.keys) AS given (source, key)
    ON CONFLICT DO NOTHING;
    RETURN saved;
END
$$;

-- MARK: External sources

-- Records that sources do not know ISBNs, for at most 30 days.
CREATE OR REPLACE FUNCTION record_source_misses(sources text[], isbns text[], seconds int) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO source_misses (source, isbn13, expires_at)
    SELECT DISTINCT given.source, given.isbn13, now() + least(seconds, 2592000) * interval '1 second'
    FROM unnest(sources, isbns) AS given (source, isbn13)
    -- A fixed order prevents deadlocks between servers.
    ORDER BY 2, 1
    ON CONFLICT (source, isbn13) DO UPDATE
    SET expires_at = excluded.expires_at
$$;

-- Records that a query was sent to the external sources, for at most 30 days.
CREATE OR REPLACE FUNCTION record_source_search(query text, seconds int) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO source_searches (query, expires_at)
    VALUES (search_fold(record_source_search.query), now() + least(seconds, 2592000) * interval '1 second')
    ON CONFLICT (query) DO UPDATE
    SET expires_at = excluded.expires_at
$$;

-- Reserves up to `requested` requests of today's budget. Returns how many were reserved (0 if the budget is used up) and
-- for how long today still lasts. `background_max` is the budget of background work, or null for an interactive request.
--
-- The upsert locks the row of the day until the transaction ends, so concurrent calls never exceed the budget together.
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

GRANT SELECT ON editions, edition_sources, genres, source_misses, source_searches TO bookplate_app;

REVOKE ALL ON FUNCTION save_edition, record_source_misses, record_source_search, reserve_source_requests,
    source_usage_today FROM PUBLIC;
GRANT EXECUTE ON FUNCTION save_edition, record_source_misses, record_source_search, reserve_source_requests,
    source_usage_today TO bookplate_app;
