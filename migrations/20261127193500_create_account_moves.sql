-- Why: an operator can move an account with all its rows to another database.
-- same-transaction

CREATE TYPE account_move_state AS ENUM ('CLOSING', 'LEAVING', 'LEFT', 'ARRIVING', 'ARRIVED', 'CANCELLED');

-- The moves of accounts that have left this database, have arrived in it, or were to do so. Rows are never deleted, so no move is
-- carried out twice. Without a foreign key, because an account that has left has no row in `users`.
CREATE TABLE account_moves (
    -- The same in both databases.
    move_id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    tenant_id uuid,
    -- CLOSING: sessions, tokens, and grants are packed in `account_parcels`, so that no new request can use the account. LEAVING: all
    -- rows are packed. LEFT: the other database has the account, and the parcel is kept for a day. ARRIVING: this database expects
    -- it. ARRIVED: this database has got it. CANCELLED: the move was undone.
    state account_move_state NOT NULL,
    -- The position of the move among the completed moves of the account, from 1, in whichever databases they were. Both databases
    -- have the same number. An account whose next move would have a number that the other database knows is an older copy, for
    -- example from a backup. 0 if the move was cancelled before this database knew it.
    number int NOT NULL,
    -- The id in the table `installation` of the other database.
    other_installation uuid NOT NULL,
    -- The address of the server that has the account after it has left. Null if the operator has given none.
    new_url text,
    -- Hashes of the identities, tokens, and codes of an account that is leaving or has left, and of the identities of one that is
    -- arriving. Requests with them are refused, and no second account is created. Empty in other states, and after the account has
    -- come back or was deleted.
    known_hashes bytea[] NOT NULL DEFAULT '{}',
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);

-- An account is in at most one move at a time.
CREATE UNIQUE INDEX account_moves_unfinished ON account_moves (user_id)
    WHERE state IN ('CLOSING', 'LEAVING', 'ARRIVING');
CREATE INDEX account_moves_users ON account_moves (user_id);
-- Requests with unknown identities and tokens search them.
CREATE INDEX account_moves_hashes ON account_moves USING gin (known_hashes);
-- Background work searches for parcels that are not needed any more.
CREATE INDEX account_moves_left ON account_moves (ended_at) WHERE state = 'LEFT';

-- The rows of accounts that are being moved, and the rows of the tenant and of the catalog to which they refer.
CREATE TABLE account_parcels (
    move_id uuid NOT NULL,
    table_name text NOT NULL COLLATE "C",
    number bigint NOT NULL,
    row jsonb NOT NULL,
    PRIMARY KEY (move_id, table_name, number)
);

ALTER TABLE account_moves ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE account_parcels ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

ALTER TABLE account_moves SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
-- All rows of an account at once, which are deleted soon.
ALTER TABLE account_parcels SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
