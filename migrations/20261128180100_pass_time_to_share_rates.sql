-- Why: the time of shared rates is computed once and passed, so that the function has another parameter.
-- same-transaction

DROP FUNCTION IF EXISTS share_rates(smallint[], uuid[], bigint[]);
