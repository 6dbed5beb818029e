-- Why: work that outlives its request: retried, shared by all servers, never lost.

create type job_state as enum ('READY', 'RUNNING', 'DEAD');

-- A row is a job that is not done; a job that is done is deleted.
create table jobs (
  id uuid primary key default gen_random_uuid(),
  -- Whom it is done for: it goes with them. Null where it is nobody's.
  user_id uuid references users on delete cascade,
  kind text not null check (kind ~ '^[a-z]+(\.[a-z_]+)+$'),
  payload jsonb not null,
  -- Names the work: it is waited for or under way once.
  key text check (char_length(key) between 1 and 200),
  state job_state not null default 'READY',
  -- 0 where somebody waits for it; the higher, the later.
  priority smallint not null default 0,
  run_at timestamptz not null default now(),
  attempts int not null default 0,
  attempts_max int not null check (attempts_max > 0),
  -- Counts the workers that took it; only the last may settle it or write for it.
  fence int not null default 0,
  worker text,
  lease_until timestamptz,
  -- Asked for again while it was under way: it may have read before that.
  again boolean not null default false,
  -- Of a job that is done again and again, once for all servers.
  every interval check (every > interval '0'),
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index jobs_key on jobs (user_id, kind, key) nulls not distinct
  where key is not null and state <> 'DEAD';
create index jobs_ready on jobs (kind, priority, run_at) where state = 'READY';
create index jobs_running on jobs (lease_until) where state = 'RUNNING';

-- The server's role has no privilege on the table: it can ask for work, and see what it has taken, and
-- nothing else. Whom a worker writes for is what its job says (begin_job), not what the worker says.
alter table jobs enable row level security, force row level security;
create policy administration on jobs to current_user using (true) with check (true);

-- Adds a job, or hurries the one of the same key. A request can only ask in its own user's name, or nobody's.
create function enqueue_job(
  user_id uuid, kind text, payload jsonb, key text, delay_ms bigint, priority int, attempts_max int
) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  due timestamptz := now() + delay_ms * interval '1 millisecond';
  made uuid;
begin
  if enqueue_job.user_id <> app_user_id() then
    raise exception 'a job in somebody else''s name' using errcode = '42501';
  end if;
  insert into jobs as j (user_id, kind, payload, key, run_at, priority, attempts_max)
    values (enqueue_job.user_id, enqueue_job.kind, enqueue_job.payload, enqueue_job.key, due,
      enqueue_job.priority, enqueue_job.attempts_max)
    on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do update
      set payload = excluded.payload, priority = least(j.priority, excluded.priority),
        run_at = least(j.run_at, excluded.run_at), again = j.state = 'RUNNING', updated_at = now()
    returning j.id into made;
  if delay_ms <= 0 then perform pg_notify('jobs', enqueue_job.kind); end if;
  return made;
end
$$;

-- Sees to it that a kind of job is done again and again.
create function schedule_job(kind text, every_ms bigint, attempts_max int) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  insert into jobs as j (kind, payload, key, every, attempts_max)
    values (schedule_job.kind, '{}', 'schedule', every_ms * interval '1 millisecond',
      schedule_job.attempts_max)
    on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do update
      set every = excluded.every, attempts_max = excluded.attempts_max,
        run_at = least(j.run_at, now() + excluded.every)
      where (j.every, j.attempts_max) is distinct from (excluded.every, excluded.attempts_max);
end;

-- Takes jobs that are due, as many of each kind as there is room for. What dead workers held is back first.
create function claim_jobs(kinds text[], rooms int[], worker text, lease_ms int)
returns table (id uuid, fence int, user_id uuid, kind text, payload jsonb, attempt int)
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
      returning j.id, j.fence, j.user_id, j.kind, j.payload, j.attempts;
end
$$;

-- Keeps jobs for longer; answers those that are still the worker's.
create function renew_jobs(ids uuid[], fences int[], lease_ms int) returns setof uuid
language sql security definer set search_path = public, pg_temp
begin atomic
  update jobs j set lease_until = now() + lease_ms * interval '1 millisecond'
    from unnest(ids, fences) as held (id, fence)
    where j.id = held.id and j.fence = held.fence and j.state = 'RUNNING'
    returning j.id;
end;

-- The job is done: it is deleted, or waits for its next time. False where it is not the worker's any more.
create function finish_job(id uuid, fence int) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from jobs j
    where j.id = finish_job.id and j.fence = finish_job.fence and j.state = 'RUNNING'
      and not j.again and j.every is null;
  if found then return true; end if;
  update jobs j
    set state = 'READY', attempts = 0, worker = null, lease_until = null, last_error = null,
      run_at = case when j.again then now() else now() + j.every end, again = false, updated_at = now()
    where j.id = finish_job.id and j.fence = finish_job.fence and j.state = 'RUNNING';
  return found;
end
$$;

-- The job failed. It is tried again after the delay, or never where that is null or it was tried too often;
-- what is done again and again waits for its next time instead.
create function fail_job(id uuid, fence int, message text, delay_ms bigint) returns boolean
language sql security definer set search_path = public, pg_temp
begin atomic
  update jobs j
    set state = case when (delay_ms is null or j.attempts >= j.attempts_max) and j.every is null
        then 'DEAD' else 'READY' end::job_state,
      run_at = case when delay_ms is not null and j.attempts < j.attempts_max
        then now() + delay_ms * interval '1 millisecond' else now() + coalesce(j.every, '0') end,
      attempts = case when j.every is not null and (delay_ms is null or j.attempts >= j.attempts_max)
        then 0 else j.attempts end,
      last_error = left(message, 1000), worker = null, lease_until = null, updated_at = now()
    where j.id = fail_job.id and j.fence = fail_job.fence and j.state = 'RUNNING'
    returning true;
end;

-- Gives jobs back as if they had not been taken: their worker is told to stop.
create function release_jobs(ids uuid[], fences int[]) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update jobs j
    set state = 'READY', attempts = j.attempts - 1, run_at = now(), worker = null, lease_until = null,
      updated_at = now()
    from unnest(ids, fences) as held (id, fence)
    where j.id = held.id and j.fence = held.fence and j.state = 'RUNNING';
  select pg_notify('jobs', '');
end;

-- Opens every transaction of a job: says for whom it is done, and refuses a worker that has lost it.
--
-- The lock is what a claim waits for and a renewal does not: once a worker has lost its job to another,
-- nothing that it has begun can commit later than the other begins.
create function begin_job(id uuid, fence int, read_only boolean) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  owner uuid;
  tenant uuid;
begin
  if read_only then
    select j.user_id into owner from jobs j
      where j.id = begin_job.id and j.fence = begin_job.fence and j.state = 'RUNNING';
  else
    select j.user_id into owner from jobs j
      where j.id = begin_job.id and j.fence = begin_job.fence and j.state = 'RUNNING'
      for key share;
  end if;
  if not found then
    raise exception 'the job is another worker''s' using errcode = 'BP410';
  end if;
  select u.tenant_id into tenant from users u where u.id = owner;
  perform set_config('app.user_id', coalesce(owner::text, ''), true),
    set_config('app.tenant_id', coalesce(tenant::text, ''), true);
  if read_only then perform set_config('transaction_read_only', 'on', true); end if;
end
$$;

-- Dead letters that nobody has looked at for so long.
create function purge_dead_jobs(older_than_days int) returns bigint
language sql security definer set search_path = public, pg_temp
begin atomic
  with gone as (delete from jobs where state = 'DEAD'
    and updated_at < now() - older_than_days * interval '1 day' returning id)
  select count(*) from gone;
end;

do $$
declare
  name text;
begin
  foreach name in array array['enqueue_job(uuid, text, jsonb, text, bigint, int, int)',
    'schedule_job(text, bigint, int)', 'claim_jobs(text[], int[], text, int)',
    'renew_jobs(uuid[], int[], int)', 'finish_job(uuid, int)', 'fail_job(uuid, int, text, bigint)',
    'release_jobs(uuid[], int[])', 'begin_job(uuid, int, boolean)', 'purge_dead_jobs(int)'] loop
    execute format('revoke all on function %s from public', name);
    execute format('grant execute on function %s to bookplate_app', name);
  end loop;
end
$$;
