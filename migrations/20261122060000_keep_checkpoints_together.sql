-- Why: what takes long goes on where it was after a crash, backfills and sweeps alike, and writes that down in one place.

alter table backfill_checkpoints rename to checkpoints;
alter table checkpoints
  -- Of what was done, what brought something.
  add column found bigint not null default 0 check (found >= 0);
insert into checkpoints (task, position, done, found, updated_at)
  select 'covers', reader || '/' || book, asked, found, started_at from cover_backfill;
drop table cover_backfill;

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
