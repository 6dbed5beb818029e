-- Why: who deletes the account and loses the answer asks again, and is told the same instead of to sign in.

alter table account_tombstones
  -- Of the session that asked for it, where one did and may still ask, as user_hash is of the user: an id that meant
  -- something there alone.
  add column session_hash bytea,
  -- Null until the session that asked can be told.
  add column apple_token_revoked boolean;

-- What a session was told, or is to be told, that has deleted its account within the hour: longer than its access token
-- lasts. Nothing for any other.
create function deleted_account(user_id uuid, session_id uuid)
returns table (books int, reviews int, covers int, apple_token_revoked boolean, is_overdue boolean)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select t.books, t.reviews, t.covers, t.apple_token_revoked, t.deleted_at < now() - interval '10 seconds'
    from account_tombstones t
    where t.user_hash = sha256(uuid_send(deleted_account.user_id))
      and t.session_hash = sha256(uuid_send(deleted_account.session_id))
      and t.deleted_at > now() - interval '1 hour';
end;
revoke all on function deleted_account(uuid, uuid) from public;
grant execute on function deleted_account(uuid, uuid) to bookplate_app;

-- What the session is told of Apple's grant; what it was told first stays.
create function settle_apple_revocation(user_id uuid, session_id uuid, revoked boolean) returns boolean
language sql security definer set search_path = public, pg_temp
begin atomic
  update account_tombstones t
    set apple_token_revoked = coalesce(t.apple_token_revoked, settle_apple_revocation.revoked)
    where t.user_hash = sha256(uuid_send(settle_apple_revocation.user_id))
      and t.session_hash = sha256(uuid_send(settle_apple_revocation.session_id))
    returning t.apple_token_revoked;
end;
revoke all on function settle_apple_revocation(uuid, uuid, boolean) from public;
grant execute on function settle_apple_revocation(uuid, uuid, boolean) to bookplate_app;

-- Forgets who asked, where nobody is answered any more.
create function forget_deleting_sessions() returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update account_tombstones t set session_hash = null
    where t.session_hash is not null and t.deleted_at < now() - interval '1 hour';
end;
revoke all on function forget_deleting_sessions() from public;
grant execute on function forget_deleting_sessions() to bookplate_app;
