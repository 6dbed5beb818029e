-- requires: catalog, library
-- The records of one work.

CREATE OR REPLACE FUNCTION work_volume(title text, series_position text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $$
  select lower(coalesce(nullif(btrim(series_position), ''),
    substring(title from '[(\[][^)\]]*(?:#|\m(?:[Vv]olume|[Vv]ol|[Bb]ook|[Pp]art|[Nn]umber|[Nn]o)\M\.?)\s*([[:alnum:]]+)')))
$$;

CREATE OR REPLACE FUNCTION match_records(keys bigint[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
 SET plan_cache_mode TO 'force_custom_plan'
AS $$
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

CREATE OR REPLACE FUNCTION match_new_records()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
begin
  perform match_records(array(select work_key(title, authors) from new_rows));
  return null;
end
$$;

CREATE OR REPLACE FUNCTION match_removed_records()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
begin
  perform match_records(array(select work_key(title, authors) from old_rows));
  return null;
end
$$;

CREATE OR REPLACE FUNCTION match_changed_records()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
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

CREATE OR REPLACE FUNCTION was_other_record_seen(reader uuid, edition uuid, until timestamp with time zone, skipped_after timestamp with time zone DEFAULT '-infinity'::timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $$
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
CREATE OR REPLACE TRIGGER match_new_records AFTER INSERT ON editions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION match_new_records();
CREATE OR REPLACE TRIGGER match_removed_records AFTER DELETE ON editions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION match_removed_records();
CREATE OR REPLACE TRIGGER match_changed_records AFTER UPDATE ON editions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION match_changed_records();

GRANT SELECT ON work_records TO bookplate_app;
REVOKE ALL ON FUNCTION match_records, match_new_records, match_removed_records, match_changed_records FROM PUBLIC;
