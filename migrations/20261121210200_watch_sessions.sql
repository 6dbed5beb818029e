-- Why: sockets and streams of a session close when it ends: told at once, and found by asking.

-- Told with the commit, to every server that listens. Who misses it finds it by ended_sessions.
create function tell_session_ended() returns trigger language plpgsql as $$
begin
  perform pg_notify('session_ended', old.id::text);
  return null;
end
$$;
create trigger session_revoked after update of revoked_at on sessions
  for each row when (old.revoked_at is null and new.revoked_at is not null)
  execute function tell_session_ended();
create trigger session_deleted after delete on sessions
  for each row execute function tell_session_ended();

-- Those of the given sessions that are not alive: one question for all sockets of a server, whoever's they
-- are. It tells no more than who already has a session's id could find out by using it.
create function ended_sessions(users uuid[], ids uuid[]) returns setof uuid
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select asked.id from unnest(users, ids) as asked (user_id, id)
    where not exists (select from sessions s
      where s.user_id = asked.user_id and s.id = asked.id
        and s.revoked_at is null and s.expires_at > now());
end;
revoke all on function ended_sessions(uuid[], uuid[]) from public;
grant execute on function ended_sessions(uuid[], uuid[]) to bookplate_app;
