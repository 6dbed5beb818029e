-- Why: a place in the feed's order that stays when other books come, go or become popular; so a new book
-- enters at once, cursors stay true, and what a reader has seen can be remembered by place.

-- A short name for an edition, as the tie-breaker of its place.
alter table editions add column number bigint generated always as identity;
alter table editions add constraint editions_number_fits check (number < 4294967296);

-- What the feed's order was last made with: one row.
create table feed_state (
  only_row boolean primary key default true check (only_row),
  -- Books of other languages come last.
  main_language text,
  -- Places taken since then are few: what was remembered since is worth keeping (see feed_frontiers).
  frontiers_valid_since timestamptz not null default '-infinity'
);
insert into feed_state default values;
grant select on feed_state to bookplate_app;

-- A book's place, smaller is earlier: two bits for the tier, 29 for the popularity, 32 for the edition.
-- Tier 0 is shown first; tier 1 is where skipped books stand when they come back; 2 is books without a
-- description or a genre; 3 is books in other languages than the catalogue's main one.
create function feed_position(tier int, popularity float8, number bigint)
returns bigint language sql immutable parallel safe as $$
  select (tier::bigint << 61)
    | ((536870911 - least(floor(ln(1 + greatest(popularity, 0)) * 16777216), 536870911)::bigint) << 32)
    | number
$$;

-- A book stands in the queue of its first genre (genre_id = primary_id; 0 is "none"), and for filtered
-- feeds under each of its other genres. The feed takes the queues of the primary genres in turn.
drop table feed_order;
create table feed_order (
  genre_id smallint not null,
  primary_id smallint not null,
  position bigint not null,
  edition_id uuid not null references editions on delete cascade,
  placed_at timestamptz not null default now(),
  primary key (genre_id, primary_id, position)
);
create index feed_order_edition_id on feed_order (edition_id, genre_id);
create index feed_order_placed_at on feed_order (placed_at) where genre_id = primary_id;
grant select on feed_order to bookplate_app;

-- Gives the editions their places. A place is kept while the popularity has changed by less than 5 %: the
-- order is calm, and a refresh writes little. One statement for one book or a million, each planned for its size.
create function place_editions(ids uuid[]) returns void language plpgsql
security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  insert into genres (id, name, readers)
    select id::smallint, name, 0
    from (select name, coalesce((select max(id) from genres), 0) + row_number() over (order by name) as id
      from (select distinct unnest(genres) as name from editions where id = any(ids)) named
      where not exists (select from genres g where g.name = named.name)) fresh
    where id <= 32767
    on conflict do nothing;
  with wanted as materialized (
    select distinct on (e.id, g.id) coalesce(g.id, 0) as genre_id, e.primary_id, e.position, e.id as edition_id
    from (
      select e.id, e.genres, coalesce(first.id, 0) as primary_id,
        -- The popularity's 29 bits count in 1/16777216 of its logarithm.
        case when old.position >> 61 = t.tier
          and abs((old.position >> 32 & 536870911) - (new.position >> 32 & 536870911)) < 0.05 * 16777216
          then old.position else new.position end as position
      from unnest(ids) as given (id)
      join editions e using (id)
      left join genres first on first.name = e.genres[1]
      cross join lateral (select case
        when split_part(e.language, '-', 1) <> (select main_language from feed_state) then 3
        when e.hook is null or first.id is null then 2 else 0 end as tier) t
      cross join lateral (select feed_position(t.tier, e.popularity, e.number) as position) new
      left join feed_order old on old.edition_id = e.id and old.genre_id = old.primary_id
    ) e
    left join lateral (select g.id from unnest(e.genres) listed (name) join genres g using (name)
      union select e.primary_id) g on true
    order by e.id, g.id
  ), gone as (
    delete from feed_order f where f.edition_id = any(ids) and not exists (
      select from wanted w where w.edition_id = f.edition_id and w.genre_id = f.genre_id
        and w.primary_id = f.primary_id and w.position = f.position)
  )
  insert into feed_order (genre_id, primary_id, position, edition_id)
    select genre_id, primary_id, position, edition_id from wanted
    order by genre_id, primary_id, position
    on conflict do nothing;
end
$$;
revoke execute on function place_editions(uuid[]) from public;

-- Whoever writes editions: what decides a place is followed at once.
create function place_new_editions() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform place_editions(array(select id from fresh));
  return null;
end
$$;
create function place_changed_editions() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
declare
  changed uuid[] := array(select f.id from fresh f join stale s using (id)
    where (f.genres, f.popularity, f.language, f.hook is null)
      is distinct from (s.genres, s.popularity, s.language, s.hook is null));
begin
  if changed <> '{}' then
    perform place_editions(changed);
  end if;
  return null;
end
$$;
revoke execute on function place_new_editions(), place_changed_editions() from public;
create trigger place_new_editions after insert on editions
  referencing new table as fresh for each statement execute function place_new_editions();
create trigger place_changed_editions after update on editions
  referencing old table as stale new table as fresh
  for each statement execute function place_changed_editions();

-- Brings genres and the whole order up to date with editions; writes only what changed.
create or replace function refresh_feed_order() returns void language plpgsql as $$
begin
  update feed_state set main_language = found.language
    from (select split_part(language, '-', 1) as language from editions where language is not null
      group by 1 order by count(*) desc, 1 limit 1) found
    where main_language is distinct from found.language;
  perform place_editions(array(select id from editions));
  update genres g set readers = counted.readers
    from (select genre, sum(ratings_count)::bigint as readers
      from editions, unnest(genres) as genre group by genre) counted
    where counted.genre = g.name and counted.readers <> g.readers;
  -- Frontiers (of the next migration) that would have to look at many new places begin anew. None is made
  -- until this is committed, so none misses it.
  perform pg_advisory_xact_lock(20261121);
  update feed_state set frontiers_valid_since = clock_timestamp()
    where 1000 < (select count(*) from (select from feed_order
      where genre_id = primary_id and placed_at > frontiers_valid_since limit 1001) newer);
end
$$;
select refresh_feed_order();
