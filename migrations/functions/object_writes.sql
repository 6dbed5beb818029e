-- The writes in progress of a store in a bucket, which DatabaseLeases.swift records. They keep a sweep from deleting files that no row
-- names yet.

DROP POLICY IF EXISTS server ON object_writes;
CREATE POLICY server ON object_writes TO bookplate_app
    USING (true)
    WITH CHECK (true);
DROP POLICY IF EXISTS administration ON object_writes;
CREATE POLICY administration ON object_writes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON object_writes TO bookplate_app;
