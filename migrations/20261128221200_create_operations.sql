-- Why: after an incident, an operator must find out who signed in, which tokens were used, and what was administered, and must
-- notice if these records were changed. Files and replicas must belong to this installation and to the present primary.

-- Events of security and administration. They contain ids, but no other data of readers, and stay when the account is deleted.
CREATE TABLE audit_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind text NOT NULL CHECK (kind ~ '^[A-Z_]{1,40}$'),
    tenant_id uuid,
    account_id uuid,
    -- The session or personal access token that the event is about.
    credential_id uuid,
    -- The user of the operating system who ran the command of bookplate-admin. Null for events of readers.
    operator text CHECK (char_length(operator) BETWEEN 1 AND 100),
    detail jsonb NOT NULL DEFAULT '{}',
    -- The position in the chain, from 1, and the hash of the previous event's hash and this event. Null until a job adds the
    -- event to the chain: requests would otherwise wait for one another.
    position bigint UNIQUE,
    hash bytea CHECK (octet_length(hash) = 32),
    CHECK ((position IS NULL) = (hash IS NULL))
);
ALTER TABLE audit_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX audit_events_unchained ON audit_events (id) WHERE position IS NULL;
CREATE INDEX audit_events_account_id ON audit_events (account_id, id) WHERE account_id IS NOT NULL;
CREATE INDEX audit_events_at ON audit_events (at);

COMMENT ON TABLE audit_events IS
    'Events of security and administration. They contain no personal data, and stay when the account is deleted.';
COMMENT ON COLUMN audit_events.credential_id IS 'The session or access token to which the event refers.';
COMMENT ON COLUMN audit_events.operator IS 'The user of the operating system who ran the command. Null for events of readers.';
COMMENT ON COLUMN audit_events.position IS 'The position in the hash chain, from 1; null until a job adds the event to the chain.';
COMMENT ON COLUMN audit_events.hash IS 'SHA-256 of the hash of the previous event and this event.';

-- The two ends of the chain, in a single row. The hash before the first event is 32 zeros.
CREATE TABLE audit_chain (
    id boolean PRIMARY KEY DEFAULT true CHECK (id),
    -- The position of the oldest event that was not pruned, and the hash of the event before it.
    first_position bigint NOT NULL,
    previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
    -- The position and hash of the newest event; 0 and zeros before the first one.
    last_position bigint NOT NULL,
    last_hash bytea NOT NULL CHECK (octet_length(last_hash) = 32)
);
INSERT INTO audit_chain (first_position, previous_hash, last_position, last_hash)
VALUES (1, decode(repeat('00', 32), 'hex'), 0, decode(repeat('00', 32), 'hex'));
ALTER TABLE audit_chain ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE audit_chain IS 'Both ends of the hash chain, in a single row.';
COMMENT ON COLUMN audit_chain.first_position IS 'The position of the oldest event that was not pruned.';
COMMENT ON COLUMN audit_chain.previous_hash IS 'The hash before that event: of the last pruned event, or 32 zeros.';
COMMENT ON COLUMN audit_chain.last_position IS 'The position of the newest event; 0 before the first one.';

-- The id of this installation: one row. The object store contains the same id, so that `storage gc` never compares a
-- store with another installation's database.
CREATE TABLE installation (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only)
);
INSERT INTO installation DEFAULT VALUES;

COMMENT ON TABLE installation IS
    'The id of this installation, in a single row. The object store contains it, too, so that the files of another one are '
    'never deleted.';

-- A replica must follow the present primary. After a failover, an old replica may have a later position in the WAL than the new
-- primary, but of another history.
--
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

COMMENT ON TABLE timelines IS
    'The timelines of the WAL on which servers have used this database. A replica that lacks a row follows another history.';
COMMENT ON COLUMN timelines.number IS 'The number of the timeline in the names of WAL files.';
COMMENT ON COLUMN timelines.mark IS 'Distinguishes timelines of the same number, if two standbys were promoted.';

-- The tables of the migrator, which it creates before it runs this file.

COMMENT ON TABLE schema_migrations IS 'The versioned files that were applied.';
COMMENT ON COLUMN schema_migrations.version IS 'The time in the name of the file.';
COMMENT ON COLUMN schema_migrations.checksum IS 'SHA-256 of the file.';
COMMENT ON COLUMN schema_migrations.milliseconds IS 'How long the file took.';

COMMENT ON TABLE schema_functions IS 'The repeatable files that were applied.';
COMMENT ON COLUMN schema_functions.name IS 'The name of the file in `functions`, without .sql.';
COMMENT ON COLUMN schema_functions.checksum IS 'SHA-256 of the file.';

COMMENT ON TABLE schema_states IS
    'The combinations of a version and repeatable files that the database has had. A server is ready if its own combination '
    'is here.';
COMMENT ON COLUMN schema_states.functions IS 'A checksum of all repeatable files.';
