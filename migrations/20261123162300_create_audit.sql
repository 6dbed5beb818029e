-- Why: after an incident, an operator must find out who signed in, which tokens were used, and what was administered, and must
-- notice if these records were changed.

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
