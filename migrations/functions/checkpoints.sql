-- The positions of long tasks. The servers know only that of their storage sweep (SweepProgress.swift); the others are those of
-- the admin CLI.

DROP POLICY IF EXISTS server ON checkpoints;
CREATE POLICY server ON checkpoints TO bookplate_app
    USING (task = 'storage.sweep')
    WITH CHECK (task = 'storage.sweep');
DROP POLICY IF EXISTS administration ON checkpoints;
CREATE POLICY administration ON checkpoints TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON checkpoints TO bookplate_app;
