-- Copies the catalog of the home database to the other databases of the same servers. The home database logs which editions were
-- changed. A job in each other database queries the log and saves the editions. docs/decisions/user-databases.md explains the design.

-- Records that the current transaction has changed editions.
CREATE OR REPLACE FUNCTION log_catalog_changes(ids uuid[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO catalog_changes AS c (edition_id, changed_in)
    SELECT DISTINCT i.id, pg_current_xact_id()
    FROM unnest(ids) AS i (id)
    ORDER BY i.id
    ON CONFLICT (edition_id) DO UPDATE
    SET changed_in = excluded.changed_in
    WHERE c.changed_in <> excluded.changed_in
$$;

-- Returns the next editions after a position, in the order of (changed_in, edition_id), with the data that other databases copy.
--
-- Only transactions below the snapshot's xmin are returned. All of them have ended, so no later commit can add a row before a position
-- that was already returned.
--
-- A dump that is restored into a new cluster contains transaction IDs of the old cluster. They can be greater than all IDs of the new
-- one, and would then never be returned. Each call therefore sets up to 50,000 such rows to its own transaction ID, so that later calls
-- return them. If `after` itself is such an ID, the copy starts over from the first row.
CREATE OR REPLACE FUNCTION changed_editions(after xid8, after_id uuid, editions_max int)
RETURNS TABLE (changed_in xid8, edition_id uuid, record jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    snapshot CONSTANT pg_snapshot := pg_current_snapshot();
    uncopied CONSTANT text[] := uncopied_edition_columns();
BEGIN
    UPDATE catalog_changes c
    SET changed_in = pg_current_xact_id()
    WHERE c.edition_id IN (
        SELECT o.edition_id
        FROM catalog_changes o
        WHERE o.changed_in >= pg_snapshot_xmax(snapshot)
        LIMIT 50000
        FOR UPDATE SKIP LOCKED
    );
    RETURN QUERY
        SELECT
            c.changed_in,
            e.id,
            jsonb_build_object(
                'edition', to_jsonb(e) - uncopied,
                'sources', (SELECT jsonb_agg(to_jsonb(s)) FROM edition_sources s WHERE s.edition_id = e.id),
                'work_keys', (SELECT jsonb_agg(to_jsonb(k)) FROM edition_work_keys k WHERE k.edition_id = e.id)
            )
        FROM catalog_changes c
        JOIN editions e ON e.id = c.edition_id
        WHERE (c.changed_in, c.edition_id) > (
                CASE WHEN changed_editions.after < pg_snapshot_xmax(snapshot) THEN changed_editions.after ELSE '0' END,
                changed_editions.after_id
            )
            AND c.changed_in < pg_snapshot_xmin(snapshot)
        ORDER BY c.changed_in, c.edition_id
        LIMIT changed_editions.editions_max;
END
$$;

-- Returns the position up to which the catalog has been copied to this database; null if it has not.
CREATE OR REPLACE FUNCTION catalog_copy_position() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT c.position
    FROM checkpoints c
    WHERE c.task = 'catalog.copy'
$$;

-- Returns the ID of the matching edition in this catalog for each record, in the same order; null if there is none. Editions match by
-- ID (including IDs of removed editions), then by ISBN, then by an ID at an external source.
CREATE OR REPLACE FUNCTION find_local_editions(records jsonb[]) RETURNS uuid[]
LANGUAGE sql STABLE
AS $$
    SELECT array_agg(
        coalesce(
            (SELECT e.id FROM editions e WHERE e.id = (r.record #>> '{edition,id}')::uuid),
            (
                SELECT e.id
                FROM removed_editions m
                JOIN editions e ON e.id = m.survivor_id
                WHERE m.id = (r.record #>> '{edition,id}')::uuid
                    AND coalesce(e.isbn13 = r.record #>> '{edition,isbn13}', true)
            ),
            (SELECT e.id FROM editions e WHERE e.isbn13 = r.record #>> '{edition,isbn13}'),
            (
                SELECT e.id
                FROM jsonb_populate_recordset(NULL::edition_sources, nullif(r.record -> 'sources', 'null')) s
                JOIN edition_sources k ON k.source = s.source AND k.key = s.key
                JOIN editions e ON e.id = k.edition_id
                WHERE e.isbn13 IS NULL OR r.record #>> '{edition,isbn13}' IS NULL
                ORDER BY k.source, k.key
                LIMIT 1
            )
        )
        ORDER BY r.number
    )
    FROM unnest(records) WITH ORDINALITY AS r (record, number)
$$;

-- Saves editions of another database, and the position after them. An edition that this catalog has already keeps its id, its popularity,
-- its cover, and what the other database does not know.
--
-- Requests save editions at the same time, in another order. A copy that waits for one of them for half a second fails, before
-- PostgreSQL would look for a deadlock and could end the request.
CREATE OR REPLACE FUNCTION copy_editions(records jsonb[], new_position text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    -- The ids of the records in this catalog.
    local_ids uuid[];
BEGIN
    PERFORM lock_catalog();
    PERFORM set_config('lock_timeout', '500', true);
    local_ids := find_local_editions(records);
    INSERT INTO editions (
        id, isbn13, title, subtitle, series, series_position, authors, author_roles, publisher, published_date, language,
        page_count, genres, subjects, description, hook, average_rating, ratings_count, popularity, cover_links, created_at,
        updated_at
    )
    SELECT
        t.id, t.isbn13, t.title, t.subtitle, t.series, t.series_position, t.authors, t.author_roles, t.publisher,
        t.published_date, t.language, t.page_count, t.genres, t.subjects, t.description, t.hook, t.average_rating,
        t.ratings_count, t.popularity, t.cover_links, t.created_at, t.updated_at
    FROM unnest(records, local_ids) AS r (record, local_id)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::editions, r.record -> 'edition') t
    WHERE r.local_id IS NULL
    ORDER BY t.id
    ON CONFLICT DO NOTHING;
    -- Also those that a request has added meanwhile.
    local_ids := find_local_editions(records);
    WITH given AS MATERIALIZED (
        SELECT DISTINCT ON (r.local_id) r.local_id, t.*
        FROM unnest(records, local_ids) WITH ORDINALITY AS r (record, local_id, number)
        CROSS JOIN LATERAL jsonb_populate_record(NULL::editions, r.record -> 'edition') t
        ORDER BY r.local_id, r.local_id <> t.id, r.number
    ), merged AS MATERIALIZED (
        SELECT
            e.id,
            coalesce(
                e.isbn13,
                CASE WHEN NOT EXISTS (SELECT FROM editions o WHERE o.isbn13 = g.isbn13) THEN g.isbn13 END
            ) AS isbn13,
            g.title,
            coalesce(g.subtitle, e.subtitle) AS subtitle,
            coalesce(g.series, e.series) AS series,
            coalesce(g.series_position, e.series_position) AS series_position,
            CASE WHEN g.authors = '{}' THEN e.authors ELSE g.authors END AS authors,
            CASE WHEN g.authors = '{}' THEN e.author_roles ELSE g.author_roles END AS author_roles,
            coalesce(g.publisher, e.publisher) AS publisher,
            coalesce(g.published_date, e.published_date) AS published_date,
            coalesce(g.language, e.language) AS language,
            coalesce(g.page_count, e.page_count) AS page_count,
            CASE WHEN g.subjects = '{}' THEN e.subjects ELSE g.subjects END AS subjects,
            CASE WHEN g.subjects = '{}' THEN e.genres ELSE g.genres END AS genres,
            coalesce(g.description, e.description) AS description,
            CASE WHEN g.description IS NULL THEN e.hook ELSE g.hook END AS hook,
            coalesce(g.average_rating, e.average_rating) AS average_rating,
            greatest(g.ratings_count, e.ratings_count) AS ratings_count,
            CASE WHEN g.cover_links = '{}' THEN e.cover_links ELSE g.cover_links END AS cover_links
        FROM given g
        JOIN editions e ON e.id = g.local_id
        ORDER BY e.id
        FOR UPDATE OF e
    )
    UPDATE editions e
    SET isbn13 = m.isbn13,
        title = m.title,
        subtitle = m.subtitle,
        series = m.series,
        series_position = m.series_position,
        authors = m.authors,
        author_roles = m.author_roles,
        publisher = m.publisher,
        published_date = m.published_date,
        language = m.language,
        page_count = m.page_count,
        subjects = m.subjects,
        genres = m.genres,
        description = m.description,
        hook = m.hook,
        average_rating = m.average_rating,
        ratings_count = m.ratings_count,
        cover_links = m.cover_links,
        updated_at = now()
    FROM merged m
    WHERE e.id = m.id
        AND (
            e.isbn13, e.title, e.subtitle, e.series, e.series_position, e.authors, e.author_roles, e.publisher, e.published_date,
            e.language, e.page_count, e.subjects, e.genres, e.description, e.hook, e.average_rating, e.ratings_count,
            e.cover_links
        ) IS DISTINCT FROM (
            m.isbn13, m.title, m.subtitle, m.series, m.series_position, m.authors, m.author_roles, m.publisher, m.published_date,
            m.language, m.page_count, m.subjects, m.genres, m.description, m.hook, m.average_rating, m.ratings_count,
            m.cover_links
        );
    INSERT INTO edition_sources (source, key, edition_id)
    SELECT s.source, s.key, r.local_id
    FROM unnest(records, local_ids) AS r (record, local_id)
    CROSS JOIN LATERAL jsonb_populate_recordset(NULL::edition_sources, nullif(r.record -> 'sources', 'null')) s
    WHERE r.local_id IS NOT NULL
    ORDER BY s.source, s.key
    ON CONFLICT DO NOTHING;
    PERFORM save_work_keys(array_agg(r.local_id), array_agg(k.source), array_agg(k.key))
    FROM unnest(records, local_ids) AS r (record, local_id)
    CROSS JOIN LATERAL jsonb_populate_recordset(NULL::edition_work_keys, nullif(r.record -> 'work_keys', 'null')) k
    WHERE r.local_id IS NOT NULL
    HAVING count(*) > 0;
    INSERT INTO checkpoints (task, position)
    VALUES ('catalog.copy', new_position)
    ON CONFLICT (task) DO UPDATE
    SET position = excluded.position, updated_at = now();
END
$$;

-- Logs editions that get another ID at an external source. This does not change their row in `editions`.
CREATE OR REPLACE FUNCTION log_new_sources() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM log_catalog_changes(ARRAY(SELECT n.edition_id FROM new_rows n));
    RETURN NULL;
END
$$;

-- A trigger, because imports, lookups, moves of accounts, and copies of the catalog add sources.
CREATE OR REPLACE TRIGGER log_new_sources
AFTER INSERT ON edition_sources
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_new_sources();

-- MARK: Policies and grants

REVOKE ALL ON FUNCTION
    log_catalog_changes, changed_editions, catalog_copy_position, find_local_editions, copy_editions, log_new_sources
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION changed_editions, catalog_copy_position, copy_editions TO bookplate_app;
