-- Why: a deletion that is asked for again, and what is to be forgotten of it, are found without reading all that there were.
-- no-transaction

create index concurrently if not exists account_tombstones_user_hash on account_tombstones (user_hash);
create index concurrently if not exists account_tombstones_session on account_tombstones (deleted_at)
  where session_hash is not null;
