-- Why: subscriptions find out that they were not told of something, and one server at a time tells the broker.

-- Where the log and the outbox of these users stand: a number that grows with every change and every event.
-- One question for all subscriptions of a server; it tells of nobody's library more than that it changed.
create function library_positions(users uuid[]) returns table (user_id uuid, place bigint)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select asked.id,
      coalesce((select h.last_seq from change_heads h where h.user_id = asked.id), 0)
      + coalesce((select max(e.id) from events e where e.user_id = asked.id), 0)
    from unnest(users) as asked (id);
end;

-- What one server does at a time, and which. Touched by the functions below only.
create table leases (
  name text primary key,
  holder uuid not null,
  lease_until timestamptz not null
);

-- The events that the broker has not had, oldest first, for the one server that tells it; nothing for the
-- others. The lease is renewed each time; who does not come back loses it.
create function take_events(holder uuid, lease_ms int, rows_max int)
returns table (user_id uuid, id bigint, kind text, payload jsonb, created_at timestamptz)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into leases as l (name, holder, lease_until)
    values ('events', take_events.holder, clock_timestamp() + lease_ms * interval '1 millisecond')
    on conflict (name) do update
      set holder = excluded.holder, lease_until = excluded.lease_until
      where l.holder = excluded.holder or l.lease_until < clock_timestamp();
  if found then
    return query select * from pending_events(rows_max);
  end if;
end
$$;

-- The next server need not wait for the lease to run out.
create function release_events(holder uuid) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  delete from leases l where l.name = 'events' and l.holder = release_events.holder;
end;

do $$
declare
  name text;
begin
  foreach name in array array['library_positions(uuid[])', 'take_events(uuid, int, int)',
    'release_events(uuid)'] loop
    execute format('revoke all on function %s from public', name);
    execute format('grant execute on function %s to bookplate_app', name);
  end loop;
end
$$;
