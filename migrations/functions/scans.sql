-- requires: accounts
-- The ISBNs that readers have scanned.

-- Adds the scans of an exported library, the latest first, up to the limit of 1,000. `given` is an array of objects: {"id": "…",
-- "isbn": "…", "scannedAt": "…", "outcome": "FOUND"}. Scans that exist stay as they are.
CREATE OR REPLACE FUNCTION import_scans(given jsonb) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO scans (user_id, id, isbn13, scanned_at, outcome, recorded_at)
    SELECT app_user_id(), n.id, n.isbn, n.at, n.outcome, n.at
    FROM (
        SELECT g.id, g.isbn, g.outcome, least(g."scannedAt", now()) AS at
        FROM jsonb_to_recordset(given) AS g (id uuid, isbn text, "scannedAt" timestamptz, outcome scan_outcome)
    ) n
    WHERE NOT EXISTS (SELECT FROM scans o WHERE o.user_id = app_user_id() AND o.id = n.id)
    ORDER BY n.at DESC, n.id
    LIMIT (SELECT greatest(1000 - count(*), 0) FROM scans s WHERE s.user_id = app_user_id())
    ON CONFLICT DO NOTHING
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON scans;
CREATE POLICY owner_only ON scans TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON scans;
CREATE POLICY administration ON scans TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON scans TO bookplate_app;
