-- Why: a deletion that is asked for again is found without reading all that there were.
-- no-transaction

create index concurrently if not exists account_tombstones_user_hash on account_tombstones (user_hash);
