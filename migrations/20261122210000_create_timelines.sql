-- Why: a replica must follow the present primary. After a failover, an old replica may have a later position in the WAL than
-- the new primary, but of another history.

-- The timelines of the WAL on which servers have used this database. A replica that has the row of the primary's timeline
-- follows the primary's history. Two standbys that were promoted by mistake have timelines of the same number, but rows with
-- different marks.
CREATE TABLE timelines (
    -- The number of the timeline in the names of WAL files.
    number int PRIMARY KEY,
    mark uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE timelines ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
