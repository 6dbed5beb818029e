-- Why: the job that prunes change logs and the one that deletes inactive guests read all users. They now find what is due.
-- same-transaction

-- The logs that have an entry to delete some day, and the time of their oldest entry. Without a foreign key, which would lock the
-- user's row: the trigger that deletes the log of a deleted user deletes the row, too.
CREATE TABLE logs_to_prune (
    user_id uuid PRIMARY KEY,
    oldest_at timestamptz NOT NULL
);
CREATE INDEX logs_to_prune_oldest_at ON logs_to_prune (oldest_at);
ALTER TABLE logs_to_prune SET (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000
);
INSERT INTO logs_to_prune (user_id, oldest_at)
SELECT user_id, min(at)
FROM changes
GROUP BY user_id;
ALTER TABLE logs_to_prune ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE logs_to_prune IS
    'The time of the oldest entry of each change log, except of logs whose only entry is too old to be counted.';

ALTER TABLE users
    ADD COLUMN guest_seen_at timestamptz NOT NULL DEFAULT now();
UPDATE users
SET guest_seen_at = created_at
WHERE is_guest;
CREATE INDEX users_guest_seen_at ON users (guest_seen_at)
    WHERE is_guest;

COMMENT ON COLUMN users.guest_seen_at IS
    'When a guest was last known to be active. The job that deletes inactive guests examines those with old times, and updates them.';

DROP FUNCTION IF EXISTS prune_changes(int, uuid, int), inactive_guests(int, uuid, int);
