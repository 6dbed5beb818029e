-- The marks of the timelines, with which a replica is compared with the primary (Replica.swift).

DROP POLICY IF EXISTS server ON timelines;
CREATE POLICY server ON timelines TO bookplate_app
    USING (true)
    WITH CHECK (true);
DROP POLICY IF EXISTS administration ON timelines;
CREATE POLICY administration ON timelines TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT ON timelines TO bookplate_app;
