-- Why: work that outlives its request is retried, shared by all servers, and never lost. Long tasks continue where they were
-- interrupted.

CREATE TYPE job_state AS ENUM ('READY', 'RUNNING', 'DEAD');

-- Domains, and not constraints of the table, which PostgreSQL parses again for each statement that writes to it (create_library.sql).
CREATE DOMAIN job_kind AS text
    CONSTRAINT jobs_kind_check CHECK (VALUE ~ '^[a-z]+(\.[a-z_]+)+$');
CREATE DOMAIN job_key AS text
    CONSTRAINT jobs_key_check CHECK (char_length(VALUE) BETWEEN 1 AND 200);
CREATE DOMAIN job_attempts_max AS int
    CONSTRAINT jobs_attempts_max_check CHECK (VALUE > 0);
CREATE DOMAIN job_interval AS interval
    CONSTRAINT jobs_every_check CHECK (VALUE > interval '0');

-- A row is a job that is not done; finishing a job deletes its row. A job that failed too often is DEAD and stays until an
-- operator retries it or it is purged. docs/decisions/job-queue-in-postgresql.md explains the design.
CREATE TABLE jobs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- The job is deleted with its user. Null for work of the installation.
    user_id uuid REFERENCES users ON DELETE CASCADE,
    kind job_kind NOT NULL,
    payload jsonb NOT NULL,
    -- Identifies the work: at most one job of this user, kind, and key is ready or running.
    key job_key,
    state job_state NOT NULL DEFAULT 'READY',
    -- 0 for work that a user waits for. Higher numbers run later.
    priority smallint NOT NULL DEFAULT 0,
    run_at timestamptz NOT NULL DEFAULT now(),
    attempts int NOT NULL DEFAULT 0,
    attempts_max job_attempts_max NOT NULL,
    -- A fencing token: each claim increments it, and only the worker with the current number can write for the job or
    -- finish it.
    fence int NOT NULL DEFAULT 0,
    worker text,
    lease_until timestamptz,
    -- The job was enqueued again while it was running. It may have read its data before, so it runs once more.
    again boolean NOT NULL DEFAULT false,
    -- The interval of a recurring job, which runs once for all servers.
    every job_interval,
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
-- The next job of each reader, for claim_jobs.
CREATE INDEX jobs_ready_of_readers ON jobs (kind, user_id, priority, run_at)
    WHERE state = 'READY' AND user_id IS NOT NULL;
CREATE INDEX jobs_running ON jobs (lease_until)
    WHERE state = 'RUNNING';

COMMENT ON TABLE jobs IS 'Background jobs that are not done. Finishing a job deletes its row.';
COMMENT ON COLUMN jobs.user_id IS
    'The user whose rows the job may read and write, and with whom it is deleted. Null for work of the installation.';
COMMENT ON COLUMN jobs.kind IS 'The kind of work, such as `cover.fetch`. It selects the handler.';
COMMENT ON COLUMN jobs.key IS
    'Identifies the work: at most one job of a user, kind, and key is ready or running. Null for jobs that are never '
    'combined.';
COMMENT ON COLUMN jobs.state IS
    'READY: the job waits until `run_at`. RUNNING: a worker holds the lease. DEAD: the job has failed for good.';
COMMENT ON COLUMN jobs.priority IS '0 for work that a user waits for. Jobs with higher numbers run later.';
COMMENT ON COLUMN jobs.attempts IS 'The number of attempts since the job was last enqueued. Postponed runs do not count.';
COMMENT ON COLUMN jobs.fence IS
    'The fencing token. Each claim increments it, and only the worker with the current number can write for the job or finish'
    ' it.';
COMMENT ON COLUMN jobs.worker IS 'The name of the worker that holds the lease.';
COMMENT ON COLUMN jobs.again IS 'Whether the job was enqueued again while it was running, so it runs once more.';
COMMENT ON COLUMN jobs.every IS 'The interval of a recurring job; null for other jobs.';
COMMENT ON COLUMN jobs.postponed_since IS 'When the job was first postponed because its sources were paused; null if it was not.';

-- Work that only one server does at a time, such as publishing events. Only functions access the table.
CREATE TABLE leases (
    name text PRIMARY KEY,
    holder uuid NOT NULL,
    lease_until timestamptz NOT NULL
);
ALTER TABLE leases ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE leases IS 'Work that one server does at a time, such as publishing events.';
COMMENT ON COLUMN leases.holder IS 'The server that does the work until `lease_until`.';

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

COMMENT ON TABLE checkpoints IS 'The progress of long tasks, which continue after an interruption.';
COMMENT ON COLUMN checkpoints.position IS 'The last item that was processed, in a format of the task.';
COMMENT ON COLUMN checkpoints.done IS 'The number of processed items.';
COMMENT ON COLUMN checkpoints.found IS 'The number of processed items with a result.';
