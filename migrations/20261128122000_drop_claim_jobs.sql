-- Why: a worker says how many jobs with the background priority it takes, so that claim_jobs has another parameter.
-- same-transaction

DROP FUNCTION IF EXISTS claim_jobs(text[], int[], text, int);
