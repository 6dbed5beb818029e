-- Why: long tasks, such as backfills and sweeps, continue where they were interrupted.

CREATE TABLE checkpoints (
    task text PRIMARY KEY,
    -- The last item that the task finished, in a format of its own.
    position text NOT NULL,
    done bigint NOT NULL DEFAULT 0 CHECK (done >= 0),
    -- How many of `done` had a result.
    found bigint NOT NULL DEFAULT 0 CHECK (found >= 0),
    updated_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE checkpoints ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
