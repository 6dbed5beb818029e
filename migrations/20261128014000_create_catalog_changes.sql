-- Why: other databases of the same servers copy the catalog of the first one.
-- same-transaction

-- The editions and the transactions that changed them last, from which other databases copy them in order. Without a foreign key, whose
-- checks would make imports slower: a trigger deletes the row with its edition.
CREATE TABLE catalog_changes (
    edition_id uuid PRIMARY KEY,
    changed_in xid8 NOT NULL
);
CREATE INDEX catalog_changes_changed_in ON catalog_changes (changed_in, edition_id);
ALTER TABLE catalog_changes SET (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000
);
INSERT INTO catalog_changes (edition_id, changed_in)
SELECT id, pg_current_xact_id()
FROM editions;

COMMENT ON TABLE catalog_changes IS
    'The last change of each edition, from which other databases of the same servers copy the catalog.';
COMMENT ON COLUMN catalog_changes.changed_in IS 'The transaction of the change, in the numbering of this cluster.';
