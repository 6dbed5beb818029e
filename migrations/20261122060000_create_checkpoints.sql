-- Why: what takes long goes on where it was after a crash, and says so in one place; cover_backfill and backfill_checkpoints go in a later release.

create table checkpoints (
  task text primary key,
  -- What it did last, as the task writes it.
  position text not null,
  done bigint not null default 0 check (done >= 0),
  -- Of what was done, what brought something.
  found bigint not null default 0 check (found >= 0),
  updated_at timestamptz not null default now()
);
-- The old tables stay as they are: programs of the release before this one still ask them.
insert into checkpoints (task, position, done, updated_at)
  select task, position, done, updated_at from backfill_checkpoints;
insert into checkpoints (task, position, done, found, updated_at)
  select 'covers', reader || '/' || book, asked, found, started_at from cover_backfill
  on conflict (task) do nothing;

-- The server's role has its sweeps' place through these, and no privilege on the table.
create function sweep_checkpoint() returns table (place text, folders bigint)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  -- What was there days ago says little of what is there now.
  select c.position, c.done from checkpoints c
    where c.task = 'storage.sweep' and c.updated_at > now() - interval '1 day';
end;
create function keep_sweep_checkpoint(place text, folders bigint) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  insert into checkpoints (task, position, done)
    values ('storage.sweep', keep_sweep_checkpoint.place, keep_sweep_checkpoint.folders)
    on conflict (task) do update
      set position = excluded.position, done = excluded.done, updated_at = now();
end;
create function forget_sweep_checkpoint() returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  delete from checkpoints c where c.task = 'storage.sweep';
end;
do $$
declare
  name text;
begin
  foreach name in array array['sweep_checkpoint()', 'keep_sweep_checkpoint(text, bigint)',
    'forget_sweep_checkpoint()'] loop
    execute format('revoke all on function %s from public', name);
    execute format('grant execute on function %s to bookplate_app', name);
  end loop;
end
$$;
