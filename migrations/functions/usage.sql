-- Counts of the elements of the schema that apps use.

-- Adds counts to the rows of today. `client_numbers`, `coordinates`, and `uses` have one entry for each count; the number is
-- the position of the client in the first three arrays, from 1. A tenant can have `clients_max` clients within 30 days; further
-- ones are counted together.
-- definer: the counts are for operators: a server can add to them, and not read them.
CREATE OR REPLACE FUNCTION record_schema_usage(
    client_tenants uuid[], client_names text[], client_versions text[],
    client_numbers int[], coordinates text[], uses bigint[], clients_max int
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
BEGIN
    -- Two servers would lock the same rows in different orders, and exceed the limit together.
    PERFORM pg_advisory_xact_lock(hashtext('schema usage'));

    INSERT INTO usage_clients AS u (tenant_id, name, version, last_used_on)
    SELECT DISTINCT
        r.tenant_id,
        CASE WHEN r.is_admitted THEN r.name ELSE '(other)' END,
        CASE WHEN r.is_admitted THEN r.version ELSE '' END,
        today
    FROM (
        SELECT
            g.tenant_id,
            g.name,
            g.version,
            c.id IS NOT NULL
                OR row_number() OVER (PARTITION BY g.tenant_id, c.id IS NULL ORDER BY g.name, g.version)
                    + (
                        SELECT count(*)
                        FROM usage_clients k
                        WHERE k.tenant_id IS NOT DISTINCT FROM g.tenant_id AND k.last_used_on > today - 30
                    ) <= clients_max AS is_admitted
        FROM (
            SELECT DISTINCT tenant_id, name, version
            FROM unnest(client_tenants, client_names, client_versions) AS i (tenant_id, name, version)
        ) g
        LEFT JOIN usage_clients c
            ON c.tenant_id IS NOT DISTINCT FROM g.tenant_id AND c.name = g.name AND c.version = g.version
        -- The tenant may have been removed.
        WHERE g.tenant_id IS NULL OR EXISTS (SELECT FROM tenants t WHERE t.id = g.tenant_id)
    ) r
    ON CONFLICT (tenant_id, name, version) DO UPDATE
    SET last_used_on = excluded.last_used_on
    WHERE u.last_used_on < excluded.last_used_on;

    INSERT INTO schema_usage AS s (day, client_id, coordinate, uses)
    SELECT today, coalesce(c.id, o.id), i.coordinate, sum(i.uses)
    FROM unnest(client_numbers, coordinates, uses) AS i (client_number, coordinate, uses)
    JOIN unnest(client_tenants, client_names, client_versions) WITH ORDINALITY AS g (tenant_id, name, version, number)
        ON g.number = i.client_number
    LEFT JOIN usage_clients c
        ON c.tenant_id IS NOT DISTINCT FROM g.tenant_id AND c.name = g.name AND c.version = g.version
    LEFT JOIN usage_clients o
        ON o.tenant_id IS NOT DISTINCT FROM g.tenant_id AND o.name = '(other)' AND o.version = ''
    WHERE coalesce(c.id, o.id) IS NOT NULL
    GROUP BY coalesce(c.id, o.id), i.coordinate
    ON CONFLICT (day, client_id, coordinate) DO UPDATE
    SET uses = s.uses + excluded.uses;
END
$$;

-- Deletes the counts of days that are older, at least 30 days, and the clients that were last used before. Returns the number of
-- deleted counts.
-- definer: the counts are for operators: a server can delete only old ones.
CREATE OR REPLACE FUNCTION prune_schema_usage(older_than_days int, rows_max int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH first_day AS (
        SELECT (now() AT TIME ZONE 'UTC')::date - greatest(30, older_than_days) AS day
    ), old AS (
        SELECT s.day, s.client_id, s.coordinate
        FROM schema_usage s
        WHERE s.day < (SELECT day FROM first_day)
        ORDER BY s.day
        LIMIT rows_max
    ), deleted AS (
        DELETE FROM schema_usage s
        USING old
        WHERE s.day = old.day AND s.client_id = old.client_id AND s.coordinate = old.coordinate
        RETURNING 1
    ), clients AS (
        DELETE FROM usage_clients c
        WHERE c.last_used_on < (SELECT day FROM first_day)
            AND NOT EXISTS (SELECT FROM schema_usage s WHERE s.client_id = c.id)
    )
    SELECT count(*) FROM deleted
$$;

-- MARK: Policies and grants

-- The tables are closed to the server's role: operators read them with the admin CLI.
DROP POLICY IF EXISTS administration ON usage_clients;
CREATE POLICY administration ON usage_clients TO CURRENT_USER
    USING (true)
    WITH CHECK (true);
DROP POLICY IF EXISTS administration ON schema_usage;
CREATE POLICY administration ON schema_usage TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION record_schema_usage, prune_schema_usage FROM PUBLIC;
GRANT EXECUTE ON FUNCTION record_schema_usage, prune_schema_usage TO bookplate_app;
