-- The writes in progress of a store in a bucket. They keep a sweep from deleting files that no row names yet. The server's role has
-- no privilege on the table itself.

-- Records that a version will be written within the given seconds, or extends the time of one that is recorded.
CREATE OR REPLACE FUNCTION begin_object_write(version text, seconds int) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO object_writes (version, expires_at)
    VALUES (begin_object_write.version, now() + make_interval(secs => begin_object_write.seconds))
    ON CONFLICT (version) DO UPDATE
    SET expires_at = greatest(object_writes.expires_at, excluded.expires_at)
$$;

-- Removes the record of a write whose transaction has ended.
CREATE OR REPLACE FUNCTION end_object_write(version text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    DELETE FROM object_writes w
    WHERE w.version = end_object_write.version
$$;

-- Returns the versions that are being written.
CREATE OR REPLACE FUNCTION pending_object_writes() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT w.version
    FROM object_writes w
    WHERE w.expires_at > now()
$$;

-- Returns the number of writes whose process has died.
CREATE OR REPLACE FUNCTION count_expired_object_writes() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT count(*)
    FROM object_writes w
    WHERE w.expires_at <= now()
$$;

-- Deletes the records of writes whose process has died, and returns their number.
CREATE OR REPLACE FUNCTION delete_expired_object_writes() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH deleted AS (
        DELETE FROM object_writes w
        WHERE w.expires_at <= now()
        RETURNING w.version
    )
    SELECT count(*)
    FROM deleted
$$;

-- MARK: Policies and grants

-- The table is closed to the server's role.
DROP POLICY IF EXISTS administration ON object_writes;
CREATE POLICY administration ON object_writes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION
    begin_object_write, end_object_write, pending_object_writes, count_expired_object_writes, delete_expired_object_writes
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    begin_object_write, end_object_write, pending_object_writes, count_expired_object_writes, delete_expired_object_writes
TO bookplate_app;
