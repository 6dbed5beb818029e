-- Why: requests to external sources have daily budgets that all servers share, and a job whose sources are paused waits without losing an attempt.

-- Requests to external services that servers have reserved, by UTC day. Reserved requests may be unused: a server takes several
-- at once and returns none.
create table source_usage (
  source text not null check (source ~ '^[a-z-]{1,40}$'),
  day date not null,
  used int not null default 0 check (used >= 0),
  -- The part of `used` that background work has reserved.
  used_in_background int not null default 0 check (used_in_background between 0 and used),
  primary key (source, day)
);

-- The server's role has no privilege on the table; it uses the functions below.
alter table source_usage enable row level security, force row level security;
create policy administration on source_usage to current_user using (true) with check (true);

-- Reserves up to `wanted` requests of today's budget. Returns how many were reserved, 0 where the budget is used up, and
-- how long today still lasts.
--
-- The upsert locks the row of the day until the transaction ends, so concurrent calls never exceed the budget together.
-- `background_max` is the budget of background work, or null for an interactive request.
create function reserve_source_requests(source text, wanted int, used_max int, background_max int)
returns table (granted int, resets_in_ms bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  today date := (clock_timestamp() at time zone 'UTC')::date;
  usage source_usage;
begin
  insert into source_usage as u (source, day) values (reserve_source_requests.source, today)
    on conflict (source, day) do update set used = u.used
    returning u.* into usage;
  granted := greatest(0, least(reserve_source_requests.wanted, used_max - usage.used,
    background_max - usage.used_in_background));
  if granted > 0 then
    update source_usage u
      set used = u.used + granted,
        used_in_background = u.used_in_background + case when background_max is null then 0 else granted end
      where u.source = usage.source and u.day = usage.day;
  end if;
  if usage.used = 0 then
    delete from source_usage u where u.source = usage.source and u.day < usage.day - 30;
  end if;
  resets_in_ms := greatest(0, ceil(extract(epoch from
    ((usage.day + 1)::timestamp at time zone 'UTC') - clock_timestamp()) * 1000))::bigint;
  return next;
end
$$;

-- Today's reservations, for metrics and `bookplate-admin doctor`.
create function source_usage_today() returns table (source text, used int, used_in_background int)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select u.source, u.used, u.used_in_background from source_usage u
    where u.day = (now() at time zone 'UTC')::date;
end;

-- When a job was first postponed because its sources were paused; null where it was not. This bounds how long it is postponed.
alter table jobs add column postponed_since timestamptz;

-- As before, and also returns the job's priority and for how long it has been postponed.
drop function claim_jobs(text[], int[], text, int);
create function claim_jobs(kinds text[], rooms int[], worker text, lease_ms int)
returns table (
  id uuid, fence int, user_id uuid, kind text, payload jsonb, attempt int, priority int, postponed_ms bigint
)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  update jobs j
    set state = case when j.attempts >= j.attempts_max and j.every is null then 'DEAD' else 'READY' end
        ::job_state,
      last_error = 'The worker ' || coalesce(j.worker, '') || ' stopped before it was done.',
      worker = null, lease_until = null, updated_at = now()
    where j.id in (select e.id from jobs e where e.state = 'RUNNING' and e.lease_until < now()
      for update skip locked);
  return query
    with picked as materialized (
      select due.id from unnest(kinds, rooms) as wanted (kind, room)
        cross join lateral (
          select j.id from jobs j
            where j.state = 'READY' and j.kind = wanted.kind and j.run_at <= now()
            order by j.priority, j.run_at limit wanted.room for update skip locked) due)
    update jobs j
      set state = 'RUNNING', attempts = j.attempts + 1, fence = j.fence + 1, again = false,
        worker = claim_jobs.worker, lease_until = now() + lease_ms * interval '1 millisecond',
        updated_at = now()
      from picked where j.id = picked.id
      returning j.id, j.fence, j.user_id, j.kind, j.payload, j.attempts, j.priority::int,
        (extract(epoch from now() - j.postponed_since) * 1000)::bigint;
end
$$;

-- As before, and forgets that the job was postponed.
create or replace function finish_job(id uuid, fence int) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from jobs j
    where j.id = finish_job.id and j.fence = finish_job.fence and j.state = 'RUNNING'
      and not j.again and j.every is null;
  if found then return true; end if;
  update jobs j
    set state = 'READY', attempts = 0, worker = null, lease_until = null, last_error = null, postponed_since = null,
      run_at = case when j.again then now() else now() + j.every end, again = false, updated_at = now()
    where j.id = finish_job.id and j.fence = finish_job.fence and j.state = 'RUNNING';
  return found;
end
$$;

-- The job cannot run now for a reason that is not its own. It runs again after the delay, and this was not an attempt.
-- If it was requested again while it ran, it still waits: the reason holds for the new request, too.
create function postpone_job(id uuid, fence int, message text, delay_ms bigint) returns boolean
language sql security definer set search_path = public, pg_temp
begin atomic
  update jobs j
    set state = 'READY', attempts = greatest(0, j.attempts - 1), run_at = now() + delay_ms * interval '1 millisecond',
      postponed_since = coalesce(j.postponed_since, now()), last_error = left(message, 1000), worker = null,
      lease_until = null, updated_at = now()
    where j.id = postpone_job.id and j.fence = postpone_job.fence and j.state = 'RUNNING'
    returning true;
end;

-- The sources of an edition's cover are paused: it is due again after the delay, or after the usual time for a source that
-- failed if that is later. Pauses never count as the eighth failure, after which an edition is left alone for 90 days.
create function postpone_edition_cover(id uuid, delay_ms bigint) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update editions e
    set cover_failures = case e.cover_failures when 0 then 7 else e.cover_failures end,
      cover_due_at = greatest(now() + postpone_edition_cover.delay_ms * interval '1 millisecond',
        next_cover_due(case e.cover_failures when 0 then 6 else e.cover_failures - 1 end))
    where e.id in (
      select d.id from editions d
        where d.id = postpone_edition_cover.id and d.cover_version is null for update skip locked);
end;

do $$
declare
  name text;
begin
  foreach name in array array['reserve_source_requests(text, int, int, int)', 'source_usage_today()',
    'claim_jobs(text[], int[], text, int)', 'postpone_job(uuid, int, text, bigint)',
    'postpone_edition_cover(uuid, bigint)'] loop
    execute format('revoke all on function %s from public', name);
    execute format('grant execute on function %s to bookplate_app', name);
  end loop;
end
$$;
