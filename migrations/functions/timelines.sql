-- Comparison of a replica with the primary. The server's role has no privilege on the table itself.

-- Returns the position of the primary in the WAL and the mark of its timeline. Adds the row of a new timeline, which is the only
-- write. Fails on a replica.
CREATE OR REPLACE FUNCTION written_position() RETURNS TABLE ("position" bigint, mark uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    written CONSTANT pg_lsn := pg_current_wal_insert_lsn();
    -- The name of a WAL file starts with its timeline, as eight hexadecimal digits.
    timeline CONSTANT int := ('x' || substring(pg_walfile_name(written) FOR 8))::bit(32)::int;
BEGIN
    "position" := written - '0/0';
    SELECT t.mark INTO mark FROM timelines t WHERE t.number = timeline;
    IF NOT FOUND THEN
        INSERT INTO timelines (number) VALUES (timeline) ON CONFLICT DO NOTHING;
        SELECT t.mark INTO mark FROM timelines t WHERE t.number = timeline;
    END IF;
    RETURN NEXT;
END
$$;

-- Returns the position up to which a replica has replayed the WAL, and the mark of the latest timeline that it knows. The position
-- is null on a server that is not a replica.
CREATE OR REPLACE FUNCTION replayed_position() RETURNS TABLE ("position" bigint, mark uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT pg_last_wal_replay_lsn() - '0/0', (SELECT t.mark FROM timelines t ORDER BY t.number DESC LIMIT 1)
$$;

-- MARK: Policies and grants

-- The table is closed to the server's role.
DROP POLICY IF EXISTS administration ON timelines;
CREATE POLICY administration ON timelines TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION written_position, replayed_position FROM PUBLIC;
GRANT EXECUTE ON FUNCTION written_position, replayed_position TO bookplate_app;
