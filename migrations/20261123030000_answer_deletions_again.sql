-- Why: who deletes the account and loses the answer asks again, and is told the same instead of to sign in.

-- Of the session that asked for it, where one did, as user_hash is of the user: an id that meant something there alone.
alter table account_tombstones
  add column session_hash bytea,
  add column apple_token_revoked boolean not null default false;

-- What a session was told that has deleted its account; nothing for any other.
create function deleted_account(user_id uuid, session_id uuid)
returns table (books int, reviews int, covers int, apple_token_revoked boolean)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select t.books, t.reviews, t.covers, t.apple_token_revoked from account_tombstones t
    where t.user_hash = sha256(uuid_send(deleted_account.user_id))
      and t.session_hash = sha256(uuid_send(deleted_account.session_id));
end;
revoke all on function deleted_account(uuid, uuid) from public;
grant execute on function deleted_account(uuid, uuid) to bookplate_app;

-- Apple has heard of it before the answer was given.
create function note_apple_revocation(user_id uuid) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update account_tombstones t set apple_token_revoked = true
    where t.user_hash = sha256(uuid_send(note_apple_revocation.user_id)) and t.session_hash is not null;
end;
revoke all on function note_apple_revocation(uuid) from public;
grant execute on function note_apple_revocation(uuid) to bookplate_app;
