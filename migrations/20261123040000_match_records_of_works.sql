-- Why: a book that a reader has disliked or owns came back in the feed as another record of the same work.

-- Returns the key that all records of a work have in common: a hash of the title and of the first author's family name and
-- initial. Brackets, a leading article, marks, case, and punctuation of the title do not count. Null without an author, and for
-- a title without letters and digits. Functions are named with their schema because pg_restore runs without a search path.
create function work_key(title text, authors text[]) returns bigint
language plpgsql immutable parallel safe as $$
declare
  folded text;
  author text;
  first_author constant text := authors[1];
begin
  if title ~ '[(\[]' then
    folded := public.search_fold(regexp_replace(title, '\([^)]*\)|\[[^]]*\]', '', 'g'));
  else
    folded := public.search_fold(title);
  end if;
  if split_part(folded, ' ', 1) in ('the', 'a', 'an') then
    folded := substring(folded from position(' ' in folded) + 1);
  end if;
  -- "Le Guin, Ursula K." is read as "Ursula K. Le Guin".
  author := public.search_fold(case when position(',' in first_author) = 0 then first_author
    else split_part(first_author, ',', 2) || ' ' || split_part(first_author, ',', 1) end);
  if folded = '' or coalesce(author, '') = '' then
    return null;
  end if;
  return hashtextextended(folded || '|' || split_part(author, ' ', -1) || '|' || left(author, 1), 0);
end
$$;

-- Returns the volume that a record says it is: its position in the series, or what follows "#", "Book", "Vol.", and the like in
-- brackets in its title. Null if it says none.
create function work_volume(title text, series_position text) returns text
language sql immutable parallel safe as $$
  select lower(coalesce(nullif(btrim(series_position), ''),
    substring(title from '[(\[][^)\]]*(?:#|\m(?:[Vv]olume|[Vv]ol|[Bb]ook|[Pp]art|[Nn]umber|[Nn]o)\M\.?)\s*([[:alnum:]]+)')))
$$;

-- The triggers find the other records of a work by this index.
create index editions_work_key on editions (work_key(title, authors));

-- The records of works of which the catalogue has two or more. An edition that is the only record of its work has no row.
create table work_records (
  edition_id uuid primary key references editions on delete cascade,
  work_key bigint not null,
  -- Volumes that share a title are different works. Empty if all records of the title say the same volume or none.
  volume text not null,
  -- The feed shows only the record of rank 1.
  rank int not null
);
create index work_records_work on work_records (work_key, volume, rank) include (edition_id);
grant select on work_records to bookplate_app;

-- Updates the rows of the works with these keys; null means all works. The first record is one that the feed shows early (not in
-- another language than the main one, with a description and a genre), then the one with the most ratings in the
-- catalogue. These change only when the catalogue is written, so the hourly refresh does not exchange a work's record. Two
-- transactions that add the first two records of a work at the same time do not see each other's record; the two are matched
-- when one of them is written again.
create function match_records(keys bigint[]) returns void language plpgsql
security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  known uuid[];
begin
  if keys is null then
    keys := array(select work_key(title, authors) from editions);
  end if;
  keys := array_remove(keys, null);
  if keys = '{}' then
    return;
  end if;
  known := array(select edition_id from work_records where work_key = any(keys));
  with records as materialized (
    select e.id, k.key, work_volume(e.title, e.series_position) as said_volume,
      case when split_part(e.language, '-', 1) <> (select main_language from feed_state) then 3
        when e.hook is null or e.genres = '{}' then 2 else 0 end as tier, e.ratings_count, e.number
    from (select distinct key from unnest(keys) as given (key)) k
    cross join lateral (select * from editions e where work_key(e.title, e.authors) = k.key offset 0) e
  ), volumes as (
    select *, case when min(said_volume) over of_key is distinct from max(said_volume) over of_key
      then coalesce(said_volume, '') else '' end as volume
    from records window of_key as (partition by key)
  ), ranked as materialized (
    select id, key, volume, row_number() over (partition by key, volume order by tier, ratings_count desc, number) as rank,
      count(*) over (partition by key, volume) as total
    from volumes
  ), gone as (
    delete from work_records w where w.edition_id = any(known)
      and not exists (select from ranked r where r.id = w.edition_id and r.total > 1)
    returning w.edition_id
  ), written as (
    insert into work_records as w (edition_id, work_key, volume, rank)
      select id, key, volume, rank from ranked where total > 1 order by id
      on conflict (edition_id) do update
        set work_key = excluded.work_key, volume = excluded.volume, rank = excluded.rank
        where (w.work_key, w.volume, w.rank) is distinct from (excluded.work_key, excluded.volume, excluded.rank)
      returning w.edition_id, w.rank
  )
  -- Readers' frontiers may have passed a record while it was hidden. They look again at what is placed now.
  update feed_order f set placed_at = now() from (
      select edition_id from gone union select edition_id from written where rank = 1) shown
    where f.edition_id = shown.edition_id and f.edition_id = any(known);
end
$$;

create function match_new_records() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform match_records(array(select work_key(title, authors) from new_rows));
  return null;
end
$$;
create function match_removed_records() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform match_records(array(select work_key(title, authors) from old_rows));
  return null;
end
$$;
create function match_changed_records() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
declare
  keys bigint[];
begin
  with changed as materialized (
    select n.id, (n.title, n.authors, n.series_position) is distinct from (o.title, o.authors, o.series_position) as is_renamed,
      o.title as old_title, n.title, o.authors as old_authors, n.authors
    from new_rows n join old_rows o using (id)
    where (n.title, n.authors, n.series_position, n.hook is null, n.genres, n.language, n.ratings_count)
      is distinct from (o.title, o.authors, o.series_position, o.hook is null, o.genres, o.language, o.ratings_count)
  )
  select array_agg(key) into keys from (
    select work_key(old_title, old_authors) as key from changed where is_renamed
    union all select work_key(title, authors) from changed where is_renamed
    -- The other columns decide about the order of a work's records.
    union all select (select w.work_key from work_records w where w.edition_id = changed.id) from changed where not is_renamed) keyed;
  perform match_records(coalesce(keys, '{}'));
  return null;
end
$$;
create trigger match_new_records after insert on editions
  referencing new table as new_rows for each statement execute function match_new_records();
create trigger match_removed_records after delete on editions
  referencing old table as old_rows for each statement execute function match_removed_records();
create trigger match_changed_records after update on editions
  referencing old table as old_rows new table as new_rows for each statement execute function match_changed_records();

-- Returns whether the reader had swiped or added another record of the edition's work at the instant `until`. Skips at
-- `skipped_after` or earlier do not count. The function looks at the first 50 records of a work.
create function was_other_record_seen(
  reader uuid, edition uuid, until timestamptz, skipped_after timestamptz default '-infinity'
) returns boolean language plpgsql stable as $$
begin
  return exists (
    select from (select w.work_key, w.volume from work_records w where w.edition_id = edition offset 0) w
    cross join lateral (select o.edition_id from work_records o
      where o.work_key = w.work_key and o.volume = w.volume and o.rank <= 50 and o.edition_id <> edition offset 0) other
    where
      exists (select from swipes s where s.user_id = reader and s.edition_id = other.edition_id
        and s.seen_at <= until and (s.action <> 'SKIP' or s.swiped_at > skipped_after) offset 0)
      or exists (select from books b where b.user_id = reader and b.edition_id = other.edition_id
        and b.added_at <= until offset 0));
end
$$;

revoke execute on function match_records(bigint[]), match_new_records(), match_removed_records(), match_changed_records()
  from public;

-- As before, and a deck is touched, too, when another record of a work in it is seen.
create or replace function touch_decks(reader uuid, seen uuid[]) returns void language sql as $$
  update feed_decks set touched_at = now() where user_id = reader and touched_at is null and editions && (seen || array(
    select other.edition_id from unnest(seen) as card (id)
    cross join lateral (select w.work_key, w.volume from work_records w where w.edition_id = card.id offset 0) w
    cross join lateral (select o.edition_id from work_records o
      where o.work_key = w.work_key and o.volume = w.volume and o.rank <= 50 offset 0) other))
$$;

-- As before, and the records that the feed hides from the reader because of another one count as seen.
create or replace function advance_feed(reader uuid) returns void language plpgsql as $$
declare
  -- The number of unseen books that are known ahead.
  step constant int := 12;
  valid_since timestamptz;
  returned uuid[];
begin
  -- Another device advances the frontiers at this moment, or a refresh changes the order.
  if not pg_try_advisory_xact_lock(hashtextextended(reader::text, 0))
    or not pg_try_advisory_xact_lock_shared(20261121) then
    return;
  end if;
  valid_since := (select frontiers_valid_since from feed_state);
  returned := array(
    select edition_id from feed_returns where user_id = reader
    union
    select first.edition_id from feed_returns r
      cross join lateral (select w.work_key, w.volume from work_records w where w.edition_id = r.edition_id offset 0) w
      cross join lateral (select f.edition_id from work_records f
        where f.work_key = w.work_key and f.volume = w.volume and f.rank = 1 offset 0) first
      where r.user_id = reader);
  insert into feed_frontiers (user_id, genre_id, unseen, reach)
    select reader, g.id, known.unseen || coalesce(ahead.unseen, '{}'),
      case when not further.is_needed then f.reach
        when cardinality(ahead.unseen) = step then ahead.reach else 9223372036854775807 end
    from (select id from genres union all select 0::smallint) g
    left join feed_frontiers f on f.user_id = reader and f.genre_id = g.id and f.seen_at > valid_since
    cross join lateral (
      select coalesce(array_agg(k.position order by k.position), '{}') as unseen from (
        select o.position, o.edition_id from feed_order o
          where o.genre_id = g.id and o.primary_id = g.id and o.position = any(f.unseen)
        union
        select o.position, o.edition_id from feed_order o
          where o.edition_id = any(returned) and o.genre_id = g.id and o.primary_id = g.id and o.position <= f.reach
        union
        -- An import that had begun when the frontier was made may have placed books since. No import takes an hour.
        select o.position, o.edition_id from feed_order o
          where o.placed_at > greatest(f.seen_at - interval '1 hour', valid_since)
            and o.genre_id = g.id and o.primary_id = g.id and o.position <= f.reach
      ) k
      where not exists (select from swipes s where s.user_id = reader and s.edition_id = k.edition_id)
        and not exists (select from books b where b.user_id = reader and b.edition_id = k.edition_id)
        and not exists (select from work_records w where w.edition_id = k.edition_id
          and (w.rank > 1 or was_other_record_seen(reader, w.edition_id, now())))
    ) known
    cross join lateral (
      -- Look ahead when few unseen books are known, or when the reader has swiped there.
      select cardinality(known.unseen) < step or exists (
        select from (select o.edition_id from feed_order o where o.genre_id = g.id and o.primary_id = g.id
          and o.position > f.reach order by o.position limit step) o
        where exists (select from swipes s where s.user_id = reader and s.edition_id = o.edition_id)) as is_needed
    ) further
    cross join lateral (
      select array_agg(o.position order by o.position) as unseen, max(o.position) as reach
      from (
        select o.position from feed_order o
        where further.is_needed and o.genre_id = g.id and o.primary_id = g.id and o.position > coalesce(f.reach, -1)
          and not exists (select from swipes s where s.user_id = reader and s.edition_id = o.edition_id offset 0)
          and not exists (select from books b where b.user_id = reader and b.edition_id = o.edition_id offset 0)
          and not exists (select from work_records w where w.edition_id = o.edition_id
            and (w.rank > 1 or was_other_record_seen(reader, w.edition_id, now())) offset 0)
        order by o.position limit step) o
    ) ahead
    on conflict (user_id, genre_id) do update
      set unseen = excluded.unseen, reach = excluded.reach, seen_at = excluded.seen_at;
  delete from feed_returns where user_id = reader and edition_id = any(returned);
end
$$;

-- As before, and another main language may make another record of a work the first one.
create or replace function refresh_feed_order() returns void language plpgsql as $$
begin
  update feed_state set main_language = found.language
    from (select split_part(language, '-', 1) as language from editions where language is not null
      group by 1 order by count(*) desc, 1 limit 1) found
    where main_language is distinct from found.language;
  if found then
    perform match_records(null);
  end if;
  perform place_editions(array(select id from editions));
  update genres g set readers = counted.readers
    from (select genre, sum(ratings_count)::bigint as readers
      from editions, unnest(genres) as genre group by genre) counted
    where counted.genre = g.name and counted.readers <> g.readers;
  -- Frontiers that would have to look at many new places begin again. None is made until this is committed, so none
  -- misses this change.
  perform pg_advisory_xact_lock(20261121);
  update feed_state set frontiers_valid_since = clock_timestamp()
    where 1000 < (select count(*) from (select from feed_order
      where genre_id = primary_id and placed_at > frontiers_valid_since limit 1001) newer);
end
$$;

select match_records(null);
