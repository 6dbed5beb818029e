-- Why: sign-ins ask refuse_moved_hash instead, which also reports accounts that have left.
-- same-transaction

DROP FUNCTION IF EXISTS is_moving_identity();
