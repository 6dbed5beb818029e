-- Why: an operator can move an account with all its rows to another database.

CREATE TYPE account_move_state AS ENUM ('CLOSING', 'LEAVING', 'LEFT', 'ARRIVED');

-- The newest move of each account that has left this database or arrived in it. Without a foreign key, because an account that has
-- left has no row in `users`.
CREATE TABLE account_moves (
    user_id uuid PRIMARY KEY,
    -- The same in both databases.
    move_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    -- CLOSING: sessions, tokens, and grants are packed in `account_parcels`, so that no new request can use the account. LEAVING: all
    -- rows are packed. LEFT: the other database has the account. ARRIVED: this database has it.
    state account_move_state NOT NULL,
    -- The id in the table `installation` of the other database.
    other_installation uuid NOT NULL,
    -- The SHA-256 of the account's identities, for which this database creates no second account. Empty if the account has arrived.
    identity_hashes bytea[] NOT NULL DEFAULT '{}',
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);

-- Sign-ins with unknown identities search them.
CREATE INDEX account_moves_identities ON account_moves USING gin (identity_hashes)
    WHERE state <> 'ARRIVED';
CREATE INDEX account_moves_unfinished ON account_moves (user_id)
    WHERE state IN ('CLOSING', 'LEAVING');

-- The rows of accounts that are being moved, and the rows of the tenant and of the catalog to which they refer.
CREATE TABLE account_parcels (
    user_id uuid NOT NULL,
    table_name text NOT NULL COLLATE "C",
    number bigint NOT NULL,
    row jsonb NOT NULL,
    PRIMARY KEY (user_id, table_name, number)
);

ALTER TABLE account_moves ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE account_parcels ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- A row for each account that is moved, which may be packed and unpacked again.
ALTER TABLE account_moves SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
-- All rows of an account at once, which are deleted a moment later.
ALTER TABLE account_parcels SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
