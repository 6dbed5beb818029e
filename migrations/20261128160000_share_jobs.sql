-- Why: readers take turns with their jobs, so that claim_jobs finds the next job of each reader, and has another parameter.
-- same-transaction

DROP FUNCTION IF EXISTS claim_jobs(text[], int[], int[], text, int);
CREATE INDEX jobs_ready_of_readers ON jobs (kind, user_id, priority, run_at)
    WHERE state = 'READY' AND user_id IS NOT NULL;
