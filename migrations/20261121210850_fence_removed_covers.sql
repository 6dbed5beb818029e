-- Why: files that a sweep takes away are never named afterwards, however late a transaction comes, and a sweep knows its own store.

-- Which database this is: a store of objects bears the same id, so that neither is swept against the other's.
create table installation (
  id uuid not null default gen_random_uuid(),
  is_only boolean primary key default true check (is_only)
);
insert into installation default values;
grant select on installation to bookplate_app;

-- Null where a row has named the version and none will again: forgotten with its files. A sweep's stay until
-- then, as a transaction that was on its way when its server died may still want to name them.
alter table removed_covers add column kept_until timestamptz;

create function refuse_removed_version() returns trigger language plpgsql as $$
begin
  if exists (select from removed_covers r
      where r.user_id = new.user_id and r.book_id = new.book_id and r.version = new.version) then
    raise exception 'The picture came too late to be kept. Send it again.' using errcode = 'BP409';
  end if;
  return new;
end
$$;
create trigger covers_came_too_late before insert on covers
  for each row execute function refuse_removed_version();
create trigger covers_changed_too_late before update of version on covers
  for each row when (old.version <> new.version) execute function refuse_removed_version();

-- Of versions of a user's covers, those that no row names: from now on none can.
create function condemn_versions(user_id uuid, book_ids uuid[], versions text[])
returns table (book_id uuid, version text)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  -- What this user's transactions under way name is seen after them, and what later ones see is the outcome of this.
  perform take_turns(condemn_versions.user_id);
  return query
    with unnamed as materialized (
      select g.book_id, g.version from unnest(book_ids, versions) as g (book_id, version)
        where not exists (select from covers c where c.user_id = condemn_versions.user_id
          and c.book_id = g.book_id and c.version = g.version)),
    kept as (
      insert into removed_covers as r (user_id, book_id, version, kept_until)
        select condemn_versions.user_id, n.book_id, n.version, now() + interval '1 day' from unnamed n
          -- Whoever has gone names nothing.
          where exists (select from users u where u.id = condemn_versions.user_id)
        on conflict (user_id, book_id, version) do nothing)
    select n.book_id, n.version from unnamed n;
end
$$;

-- Versions that may be forgotten as soon as their files are gone.
create function left_covers(count int) returns table (user_id uuid, book_id uuid, version text)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select r.user_id, r.book_id, r.version from removed_covers r
    where coalesce(r.kept_until, '-infinity') < now() limit left_covers.count;
end;
create function forget_left_covers(user_ids uuid[], book_ids uuid[], versions text[]) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  delete from removed_covers r using unnest(user_ids, book_ids, versions) as g (user_id, book_id, version)
    where r.user_id = g.user_id and r.book_id = g.book_id and r.version = g.version
      and coalesce(r.kept_until, '-infinity') < now();
end;
do $$
declare
  name text;
begin
  foreach name in array array['condemn_versions(uuid, uuid[], text[])', 'left_covers(int)',
    'forget_left_covers(uuid[], uuid[], text[])'] loop
    execute format('revoke all on function %s from public', name);
    execute format('grant execute on function %s to bookplate_app', name);
  end loop;
end
$$;
