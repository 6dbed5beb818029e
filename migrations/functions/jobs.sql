-- requires: accounts
-- The background queue. A request adds jobs of its user, or without a user. Workers claim and finish jobs of all users with the
-- functions below. A worker writes for the user that the job's row names (begin_job), not for a user that the worker names.

-- MARK: Enqueuing

-- Adds a job and returns its id. If the work is already queued (same user, kind, and key), the job gets the new payload and all of
-- its attempts, and runs at the earlier of both times; if it is running, it runs once more. The policy of the table allows jobs
-- of the current user, which begin_request or begin_job has set, and jobs without a user.
CREATE OR REPLACE FUNCTION enqueue_job(
    user_id uuid, kind text, payload jsonb, key text, delay_ms bigint, priority int, attempts_max int
) RETURNS uuid
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    job_id uuid;
BEGIN
    INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
    VALUES (
        enqueue_job.user_id, enqueue_job.kind, enqueue_job.payload, enqueue_job.key, now() + delay_ms * interval '1 millisecond',
        enqueue_job.priority, enqueue_job.attempts_max
    )
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    -- Not excluded.payload, which requires the privilege to read payloads.
    SET payload = enqueue_job.payload,
        priority = least(j.priority, excluded.priority),
        run_at = least(j.run_at, excluded.run_at),
        attempts = CASE j.state WHEN 'RUNNING' THEN j.attempts ELSE 0 END,
        again = (j.state = 'RUNNING'),
        updated_at = excluded.updated_at
    RETURNING j.id INTO job_id;
    RETURN job_id;
END
$$;

-- Deletes jobs whose work the request has done itself in the meantime. Only jobs without a user that have not started.
-- definer: a server can delete only jobs without a user that have not started.
CREATE OR REPLACE FUNCTION withdraw_jobs(ids uuid[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    DELETE FROM jobs j
    WHERE j.id = ANY(ids) AND j.user_id IS NULL AND j.state = 'READY' AND j.every IS NULL
$$;

-- MARK: Working

-- Returns the first due job of each of several readers, for claim_jobs. Starts with a random reader, so that calls return all readers
-- sooner or later. The cost depends on `readers_max` only.
CREATE OR REPLACE FUNCTION first_jobs_of_readers(kind text, readers_max int)
RETURNS TABLE (id uuid, user_id uuid, priority smallint, run_at timestamptz)
LANGUAGE plpgsql SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    first_reader uuid := gen_random_uuid();
    reader uuid := first_reader;
    next_reader uuid;
    has_wrapped boolean := false;
BEGIN
    FOR number IN 1..readers_max LOOP
        next_reader := (
            SELECT j.user_id
            FROM jobs j
            WHERE j.state = 'READY' AND j.kind = first_jobs_of_readers.kind AND j.user_id > reader
            ORDER BY j.user_id
            LIMIT 1
        );
        IF next_reader IS NULL AND NOT has_wrapped THEN
            has_wrapped := true;
            reader := '00000000-0000-0000-0000-000000000000';
            CONTINUE;
        END IF;
        EXIT WHEN next_reader IS NULL OR has_wrapped AND next_reader > first_reader;
        reader := next_reader;
        RETURN QUERY
            SELECT j.id, j.user_id, j.priority, j.run_at
            FROM jobs j
            WHERE j.state = 'READY' AND j.kind = first_jobs_of_readers.kind AND j.user_id = reader
                AND j.run_at <= now()
            ORDER BY j.priority, j.run_at
            LIMIT 1
            FOR UPDATE SKIP LOCKED;
    END LOOP;
END
$$;

-- Claims jobs that are due, at most `capacities[i]` of the kind `kinds[i]`, of which at most `background_capacities[i]` have a
-- background priority. Jobs whose lease has expired are ready again first, or dead if that was their last attempt and they were
-- not enqueued again. `postponed_ms` is for how long the job has been postponed.
--
-- Readers take turns: of the due jobs of one kind, those that users wait for come first, and among them the jobs of the readers with the
-- fewest running and claimed jobs. At most `reader_capacities[i]` jobs of a reader run at a time, on all servers together,
-- except that workers which claim at the same moment may each start one. The jobs
-- without a user have no such limit, and take turns as if they were those of one more reader.
--
-- Relies on this plan: for each kind, the index jobs_ready is read in its order until there are four times as many jobs as
-- requested. Only if there are that many, first_jobs_of_readers adds jobs of readers who may wait behind them. So the number
-- of waiting jobs does not matter. The jobs with expired leases and the running jobs come from jobs_running.
-- definer: a worker claims jobs of all readers.
CREATE OR REPLACE FUNCTION claim_jobs(
    kinds text[], capacities int[], background_capacities int[], reader_capacities int[], worker text, lease_ms int
) RETURNS TABLE (
    id uuid, fence int, user_id uuid, kind text, payload jsonb, attempt int, priority int, postponed_ms bigint
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    UPDATE jobs j
    SET state = CASE
            WHEN j.attempts >= j.attempts_max AND j.every IS NULL AND NOT j.again THEN 'DEAD'
            ELSE 'READY'
        END::job_state,
        attempts = CASE WHEN j.again THEN 0 ELSE j.attempts END,
        postponed_since = CASE WHEN j.attempts >= j.attempts_max AND j.again THEN NULL ELSE j.postponed_since END,
        last_error = 'The worker ' || coalesce(j.worker, '') || ' stopped before it finished the job.',
        worker = NULL,
        lease_until = NULL,
        updated_at = now()
    WHERE j.id IN (
        SELECT e.id
        FROM jobs e
        WHERE e.state = 'RUNNING' AND e.lease_until < now()
        FOR UPDATE SKIP LOCKED
    );
    RETURN QUERY
        WITH requested AS MATERIALIZED (
            SELECT *
            FROM unnest(kinds, capacities, background_capacities, reader_capacities)
                AS r (kind, capacity, background_capacity, reader_capacity)
        ), oldest AS MATERIALIZED (
            SELECT r.kind, o.*
            FROM requested r
            CROSS JOIN LATERAL (
                SELECT j.id, j.user_id, j.priority, j.run_at
                FROM jobs j
                WHERE j.state = 'READY' AND j.kind = r.kind AND j.run_at <= now()
                ORDER BY j.priority, j.run_at
                LIMIT r.capacity * 4
                FOR UPDATE SKIP LOCKED
            ) o
        ), due AS MATERIALIZED (
            SELECT *
            FROM oldest
            UNION
            SELECT r.kind, f.*
            FROM requested r
            CROSS JOIN LATERAL first_jobs_of_readers(r.kind, 16) f
            WHERE r.capacity * 4 = (SELECT count(*) FROM oldest o WHERE o.kind = r.kind)
        ), running AS MATERIALIZED (
            SELECT j.kind, j.user_id, count(*) AS count
            FROM jobs j
            WHERE j.state = 'RUNNING'
            GROUP BY 1, 2
        ), loaded AS (
            -- `load` is the number of the reader's running jobs of the kind if this job runs, too.
            SELECT
                d.*,
                coalesce(r.count, 0) + row_number() OVER (
                    PARTITION BY d.kind, d.user_id ORDER BY d.priority, d.run_at
                ) AS load
            FROM due d
            LEFT JOIN running r ON r.kind = d.kind AND r.user_id IS NOT DISTINCT FROM d.user_id
        ), numbered AS (
            SELECT
                l.id, l.priority, r.capacity, r.background_capacity,
                row_number() OVER by_kind AS number,
                count(*) FILTER (WHERE l.priority > 0) OVER by_kind AS background_number
            FROM loaded l
            JOIN requested r ON r.kind = l.kind
            WHERE l.user_id IS NULL OR l.load <= r.reader_capacity
            WINDOW by_kind AS (
                PARTITION BY l.kind ORDER BY l.priority > 0, l.load, l.priority, l.run_at
                ROWS UNBOUNDED PRECEDING
            )
        ), picked AS MATERIALIZED (
            SELECT n.id
            FROM numbered n
            WHERE n.number <= n.capacity AND n.background_number <= n.background_capacity
        )
        UPDATE jobs j
        SET state = 'RUNNING',
            attempts = j.attempts + 1,
            fence = j.fence + 1,
            again = false,
            worker = claim_jobs.worker,
            lease_until = now() + lease_ms * interval '1 millisecond',
            updated_at = now()
        FROM picked
        WHERE j.id = picked.id
        RETURNING
            j.id, j.fence, j.user_id, j.kind::text, j.payload, j.attempts, j.priority::int,
            (extract(epoch FROM now() - j.postponed_since) * 1000)::bigint;
END
$$;

-- Extends the leases of jobs. Returns the jobs that the worker still holds.
-- definer: a worker has jobs of several readers.
CREATE OR REPLACE FUNCTION renew_jobs(ids uuid[], fences int[], lease_ms int) RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    UPDATE jobs j
    SET lease_until = now() + lease_ms * interval '1 millisecond'
    FROM unnest(ids, fences) AS held (id, fence)
    WHERE j.id = held.id AND j.fence = held.fence AND j.state = 'RUNNING'
    RETURNING j.id
$$;

-- Starts every transaction of a job: sets the job's user, and fails if another worker holds the job.
--
-- In a writing transaction the row lock blocks a claim, but not a renewal. Therefore no transaction of
-- this worker can commit after another worker has claimed the job.
-- definer: the row of the job says for whom the worker writes.
CREATE OR REPLACE FUNCTION begin_job(id uuid, fence int, read_only boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    owner uuid;
    tenant uuid;
BEGIN
    SELECT j.user_id INTO owner
    FROM jobs j
    WHERE j.id = begin_job.id AND j.fence = begin_job.fence AND j.state = 'RUNNING';
    IF FOUND AND NOT read_only THEN
        IF owner IS NOT NULL THEN
            PERFORM lock_user(owner);
        END IF;
        -- Another worker may have claimed the job while this transaction waited.
        PERFORM
        FROM jobs j
        WHERE j.id = begin_job.id AND j.fence = begin_job.fence AND j.state = 'RUNNING'
        FOR KEY SHARE;
    END IF;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another worker holds the job' USING ERRCODE = 'BP410';
    END IF;
    SELECT u.tenant_id INTO tenant
    FROM users u
    WHERE u.id = owner;
    PERFORM
        set_config('app.user_id', coalesce(owner::text, ''), true),
        set_config('app.tenant_id', coalesce(tenant::text, ''), true);
    IF read_only THEN
        PERFORM set_config('transaction_read_only', 'on', true);
    END IF;
END
$$;

-- MARK: Outcomes

-- Deletes a job that is done. A recurring job waits for its next run, and one that was enqueued again runs at once.
-- Returns false if the worker does not hold the job any more.
-- definer: the job may have deleted its reader, and only its fence proves that the worker holds it.
CREATE OR REPLACE FUNCTION finish_job(id uuid, fence int) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    DELETE FROM jobs j
    WHERE j.id = finish_job.id
        AND j.fence = finish_job.fence
        AND j.state = 'RUNNING'
        AND NOT j.again
        AND j.every IS NULL;
    IF FOUND THEN
        RETURN true;
    END IF;
    UPDATE jobs j
    SET state = 'READY',
        attempts = 0,
        worker = NULL,
        lease_until = NULL,
        last_error = NULL,
        postponed_since = NULL,
        run_at = CASE WHEN j.again THEN now() ELSE now() + j.every END,
        again = false,
        updated_at = now()
    WHERE j.id = finish_job.id AND j.fence = finish_job.fence AND j.state = 'RUNNING';
    RETURN FOUND;
END
$$;

-- Records that a job failed. It runs again after the delay. It is dead if the delay is null or this was the last attempt;
-- a recurring job waits for its next run instead, and a job that was enqueued again while it ran starts over at once. In any case, a
-- job that was enqueued again has all of its attempts.
-- definer: only its fence proves that the worker holds the job.
CREATE OR REPLACE FUNCTION fail_job(id uuid, fence int, message text, delay_ms bigint) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    UPDATE jobs j
    SET state = CASE
            WHEN (delay_ms IS NULL OR j.attempts >= j.attempts_max) AND j.every IS NULL AND NOT j.again THEN 'DEAD'
            ELSE 'READY'
        END::job_state,
        run_at = CASE
            WHEN delay_ms IS NOT NULL AND j.attempts < j.attempts_max THEN now() + delay_ms * interval '1 millisecond'
            WHEN j.again THEN now()
            ELSE now() + coalesce(j.every, '0')
        END,
        attempts = CASE
            WHEN j.again THEN 0
            WHEN j.every IS NOT NULL AND (delay_ms IS NULL OR j.attempts >= j.attempts_max) THEN 0
            ELSE j.attempts
        END,
        postponed_since = CASE
            WHEN j.again AND (delay_ms IS NULL OR j.attempts >= j.attempts_max) THEN NULL
            ELSE j.postponed_since
        END,
        again = false,
        last_error = left(message, 1000),
        worker = NULL,
        lease_until = NULL,
        updated_at = now()
    WHERE j.id = fail_job.id AND j.fence = fail_job.fence AND j.state = 'RUNNING'
    RETURNING true
$$;

-- Postpones a job that cannot run now for a reason outside of it, such as a paused source. This does not count as an
-- attempt. If the job was enqueued again while it ran, it waits, too, because the reason applies to the new request.
-- definer: only its fence proves that the worker holds the job.
CREATE OR REPLACE FUNCTION postpone_job(id uuid, fence int, message text, delay_ms bigint) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    UPDATE jobs j
    SET state = 'READY',
        attempts = greatest(0, j.attempts - 1),
        run_at = now() + delay_ms * interval '1 millisecond',
        postponed_since = coalesce(j.postponed_since, now()),
        last_error = left(message, 1000),
        worker = NULL,
        lease_until = NULL,
        updated_at = now()
    WHERE j.id = postpone_job.id AND j.fence = postpone_job.fence AND j.state = 'RUNNING'
    RETURNING true
$$;

-- Gives back the jobs of a worker that is shutting down, as if they had not been claimed, and wakes other workers.
-- definer: a worker has jobs of several readers.
CREATE OR REPLACE FUNCTION release_jobs(ids uuid[], fences int[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    UPDATE jobs j
    SET state = 'READY',
        attempts = j.attempts - 1,
        run_at = now(),
        worker = NULL,
        lease_until = NULL,
        updated_at = now()
    FROM unnest(ids, fences) AS held (id, fence)
    WHERE j.id = held.id AND j.fence = held.fence AND j.state = 'RUNNING';
    SELECT pg_notify('jobs', '')
$$;

-- MARK: Maintenance

-- Deletes jobs that have been dead for the given number of days, at least one, and returns how many.
-- definer: a job for the jobs of all readers.
CREATE OR REPLACE FUNCTION purge_dead_jobs(older_than_days int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH deleted AS (
        DELETE FROM jobs
        WHERE state = 'DEAD' AND updated_at < now() - greatest(1, older_than_days) * interval '1 day'
        RETURNING id
    )
    SELECT count(*)
    FROM deleted
$$;

-- Returns the number of jobs of each kind and state, for metrics.
-- definer: a metric of the jobs of all readers.
CREATE OR REPLACE FUNCTION count_jobs() RETURNS TABLE (kind text, state text, count bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT j.kind, lower(j.state::text), count(*)
    FROM jobs j
    GROUP BY 1, 2
$$;

-- MARK: Policies and grants

-- A request sees neither the payloads of jobs nor who works on them, and nothing of the jobs of others.
DROP POLICY IF EXISTS enqueuing ON jobs;
CREATE POLICY enqueuing ON jobs TO bookplate_app
    USING (user_id = app_user_id() OR user_id IS NULL)
    WITH CHECK (user_id = app_user_id() OR user_id IS NULL);
-- It can only enqueue a job with a key again. The others name what they delete or revoke, and stay as they are.
DROP POLICY IF EXISTS repeating ON jobs;
CREATE POLICY repeating ON jobs AS RESTRICTIVE FOR UPDATE TO bookplate_app
    USING (key IS NOT NULL AND state <> 'DEAD');
DROP POLICY IF EXISTS administration ON jobs;
CREATE POLICY administration ON jobs TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT
    SELECT (id, user_id, kind, key, state, priority, run_at, attempts, attempts_max, every, updated_at),
    INSERT (user_id, kind, payload, key, run_at, priority, attempts_max, every),
    UPDATE (payload, priority, run_at, attempts, attempts_max, every, again, updated_at)
    ON jobs TO bookplate_app;

REVOKE ALL ON FUNCTION enqueue_job, withdraw_jobs, first_jobs_of_readers, claim_jobs, renew_jobs, begin_job,
    finish_job, fail_job, postpone_job, release_jobs, purge_dead_jobs, count_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION enqueue_job, withdraw_jobs, claim_jobs, renew_jobs, begin_job, finish_job, fail_job,
    postpone_job, release_jobs, purge_dead_jobs, count_jobs TO bookplate_app;
