-- Why: work that outlives its request is retried, shared by all servers, and never lost.

CREATE TYPE job_state AS ENUM ('READY', 'RUNNING', 'DEAD');

-- A row is a job that is not done; finishing a job deletes its row. A job that failed too often is DEAD and stays until an
-- operator retries it or it is purged. docs/decisions/job-queue-in-postgresql.md explains the design.
CREATE TABLE jobs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- The job is deleted with its user. Null for work of the installation.
    user_id uuid REFERENCES users ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind ~ '^[a-z]+(\.[a-z_]+)+$'),
    payload jsonb NOT NULL,
    -- Identifies the work: at most one job of this user, kind, and key is ready or running.
    key text CHECK (char_length(key) BETWEEN 1 AND 200),
    state job_state NOT NULL DEFAULT 'READY',
    -- 0 for work that a user waits for. Higher numbers run later.
    priority smallint NOT NULL DEFAULT 0,
    run_at timestamptz NOT NULL DEFAULT now(),
    attempts int NOT NULL DEFAULT 0,
    attempts_max int NOT NULL CHECK (attempts_max > 0),
    -- A fencing token: each claim increments it, and only the worker with the current number can write for the job or
    -- finish it.
    fence int NOT NULL DEFAULT 0,
    worker text,
    lease_until timestamptz,
    -- The job was enqueued again while it was running. It may have read its data before, so it runs once more.
    again boolean NOT NULL DEFAULT false,
    -- The interval of a recurring job, which runs once for all servers.
    every interval CHECK (every > interval '0'),
    last_error text,
    -- When the job was first postponed because its sources were paused; null if it was not. This bounds how long it can
    -- be postponed.
    postponed_since timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE UNIQUE INDEX jobs_key ON jobs (user_id, kind, key) NULLS NOT DISTINCT
    WHERE key IS NOT NULL AND state <> 'DEAD';
-- The foreign key uses this index when a user is deleted; jobs_key does not contain all jobs.
CREATE INDEX jobs_user_id ON jobs (user_id)
    WHERE user_id IS NOT NULL;
CREATE INDEX jobs_ready ON jobs (kind, priority, run_at)
    WHERE state = 'READY';
CREATE INDEX jobs_running ON jobs (lease_until)
    WHERE state = 'RUNNING';
