-- Rate limits of all servers together, and the documents that clients have registered at any of them. The server's role has no
-- privilege on the tables themselves.

-- Takes units from buckets, given as the times in which they are refilled, and returns the time until each of these buckets is
-- full again, in microseconds. A bucket that several servers have overdrawn is empty until what was taken too much has been
-- refilled, for at most ten minutes. `at` is the time of the statement.
-- definer: no request can read or refill a bucket: it can only take units.
CREATE OR REPLACE FUNCTION share_rates(kinds smallint[], keys uuid[], costs bigint[], at timestamptz DEFAULT now())
RETURNS TABLE (kind smallint, key uuid, refill bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO rate_buckets AS b (kind, key, full_at)
    SELECT taken.kind, taken.key, at + taken.cost * interval '1 microsecond'
    FROM unnest(kinds, keys, costs) AS taken (kind, key, cost)
    -- All servers lock the buckets in the same order.
    ORDER BY taken.kind, taken.key
    ON CONFLICT (kind, key) DO UPDATE
    SET full_at = least(
        greatest(b.full_at, at) + (excluded.full_at - at),
        at + interval '10 minutes'
    )
    RETURNING b.kind, b.key, (extract(epoch FROM b.full_at - at) * 1000000)::bigint
$$;

-- Removes the buckets that are full again, such as those of deleted accounts. Returns their number. It waits for no lock, so there
-- are no deadlocks with servers that lock their buckets in order.
-- definer: no request can read or refill a bucket: a job removes the full ones.
CREATE OR REPLACE FUNCTION prune_rate_buckets() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH removed AS (
        DELETE FROM rate_buckets b
        WHERE (b.kind, b.key) IN (
            SELECT o.kind, o.key
            FROM rate_buckets o
            WHERE o.full_at < now()
            FOR UPDATE SKIP LOCKED
        )
        RETURNING b.key
    )
    SELECT count(*)
    FROM removed
$$;

-- MARK: Automatic persisted queries

-- Adds a document that a client has registered. Removes the older half if there are too many.
-- definer: documents of other apps are closed: one can be added, up to the limits.
CREATE OR REPLACE FUNCTION add_persisted_query(hash text, document text, count_max bigint, bytes_max bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    INSERT INTO persisted_queries (sha256, body, bytes)
    VALUES (hash, document, octet_length(document))
    ON CONFLICT DO NOTHING;
    -- The limits are approximate, and checking them reads the table.
    IF NOT FOUND OR random() >= 0.01 THEN
        RETURN;
    END IF;
    PERFORM
    FROM persisted_queries p
    HAVING count(*) > count_max OR sum(p.bytes) > bytes_max;
    IF FOUND THEN
        DELETE FROM persisted_queries p
        WHERE p.created_at <= (
            SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY q.created_at)
            FROM persisted_queries q
        );
    END IF;
END
$$;

-- Returns the document with a hash. Null if no client has registered it, or if it was removed.
-- definer: documents of other apps are closed: one is read by its hash.
CREATE OR REPLACE FUNCTION persisted_query(hash text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT p.body
    FROM persisted_queries p
    WHERE p.sha256 = hash
$$;

-- MARK: Policies and grants

-- The tables are closed to the server's role.
DROP POLICY IF EXISTS administration ON rate_buckets;
CREATE POLICY administration ON rate_buckets TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS administration ON persisted_queries;
CREATE POLICY administration ON persisted_queries TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION share_rates, prune_rate_buckets, add_persisted_query, persisted_query FROM PUBLIC;
GRANT EXECUTE ON FUNCTION share_rates, prune_rate_buckets, add_persisted_query, persisted_query TO bookplate_app;
