-- Why: an identity token is good once, for all servers, and longer than the account that it opened.

create table identity_token_uses (
  -- SHA-256 of what the issuer signed.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  used_at timestamptz not null default now(),
  -- After this the token is refused anyhow, and the row may go.
  expires_at timestamptz not null
);
create index identity_token_uses_expires_at on identity_token_uses (expires_at);
grant select, insert, update, delete on identity_token_uses to bookplate_app;

-- Opens the caller's session with a token that was never used, or finds the one that the same sign-in has
-- opened a moment ago: its answer may have been lost. Answers whether it is new.
--
-- The session's id and secret follow from the token and what came with it, so a token that comes with
-- something else names a session that is not there.
create function open_session(
  session_id uuid, refresh_hash bytea, token_hash bytea, token_expires_at timestamptz,
  session_days int, grace_seconds int, sign_ins_per_hour_max int
) returns boolean
language plpgsql as $$
declare
  recent bigint;
begin
  insert into identity_token_uses (token_hash, expires_at)
    values (open_session.token_hash, token_expires_at) on conflict do nothing;
  if not found then
    perform from sessions s
      where s.user_id = app_user_id() and s.id = session_id and s.generation = 0
        and s.revoked_at is null and s.created_at > now() - grace_seconds * interval '1 second';
    if found then return false; end if;
    raise exception 'the identity token was used before' using errcode = 'BP411';
  end if;

  select count(*) into recent from sessions s
    where s.user_id = app_user_id() and s.created_at > now() - interval '1 hour';
  if recent >= sign_ins_per_hour_max then
    raise exception 'the user signs in too often' using errcode = 'BP429', detail = '3600';
  end if;
  -- What has ended long ago, and a few uses that say nothing any more: nobody else takes them away.
  delete from sessions s
    where s.user_id = app_user_id()
      and least(s.expires_at, coalesce(s.revoked_at, 'infinity')) < now() - interval '1 day';
  delete from identity_token_uses u where u.token_hash in (
    select e.token_hash from identity_token_uses e where e.expires_at < now() - interval '1 hour'
      order by e.expires_at limit 20 for update skip locked);

  insert into sessions (user_id, id, refresh_hash, expires_at)
    values (app_user_id(), session_id, open_session.refresh_hash,
      now() + session_days * interval '1 day');
  return true;
end
$$;
