-- The position of the storage sweep. The server's role has no privilege on the table itself.

-- Returns the last folder that the sweep has finished, and the number of finished folders, unless they are older than a day. After
-- that, a sweep starts from the beginning, because the finished folders may have changed.
CREATE OR REPLACE FUNCTION sweep_checkpoint() RETURNS TABLE ("position" text, folders bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT c.position, c.done
    FROM checkpoints c
    WHERE c.task = 'storage.sweep' AND c.updated_at > now() - interval '1 day'
$$;

-- Stores how far the sweep has come. Replaces the previous checkpoint.
CREATE OR REPLACE FUNCTION save_sweep_checkpoint("position" text, folders bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO checkpoints (task, position, done)
    VALUES ('storage.sweep', save_sweep_checkpoint.position, save_sweep_checkpoint.folders)
    ON CONFLICT (task) DO UPDATE
    SET position = excluded.position,
        done = excluded.done,
        updated_at = now()
$$;

-- Deletes the checkpoint of a sweep that is complete, so that the next sweep starts from the beginning.
CREATE OR REPLACE FUNCTION delete_sweep_checkpoint() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    DELETE FROM checkpoints c
    WHERE c.task = 'storage.sweep'
$$;

-- MARK: Policies and grants

-- The table is closed to the server's role.
DROP POLICY IF EXISTS administration ON checkpoints;
CREATE POLICY administration ON checkpoints TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION sweep_checkpoint, save_sweep_checkpoint, delete_sweep_checkpoint FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_checkpoint, save_sweep_checkpoint, delete_sweep_checkpoint TO bookplate_app;
