-- Why: a bucket has no file locks, so the writes in progress are recorded in the database.
-- same-transaction

-- The versions of images that servers are writing to a bucket. Rows live for seconds.
CREATE TABLE object_writes (
    -- The path of the version in the bucket: BUCKET/FOLDER/NAME.VERSION.
    version text PRIMARY KEY,
    -- When the process that writes the version has died.
    expires_at timestamptz NOT NULL
);
ALTER TABLE object_writes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- A row for each upload, which is deleted a moment later.
ALTER TABLE object_writes SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
