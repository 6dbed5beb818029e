-- requires: accounts, catalog, library, works
-- The feed.

CREATE OR REPLACE FUNCTION feed_position(tier integer, popularity double precision, number bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $$
  select (tier::bigint << 61)
    | ((536870911 - least(floor(ln(1 + greatest(popularity, 0)) * 16777216), 536870911)::bigint) << 32)
    | number
$$;

CREATE OR REPLACE FUNCTION place_editions(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
 SET plan_cache_mode TO 'force_custom_plan'
AS $$
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

CREATE OR REPLACE FUNCTION place_new_editions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
begin
  perform place_editions(array(select id from fresh));
  return null;
end
$$;

CREATE OR REPLACE FUNCTION place_changed_editions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
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

CREATE OR REPLACE FUNCTION refresh_feed_order()
 RETURNS void
 LANGUAGE plpgsql
AS $$
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

CREATE OR REPLACE FUNCTION keep_place_for_cursors()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
begin
  insert into feed_order_before (genre_id, primary_id, position, edition_id, placed_in, gone_in)
    select g.genre_id, g.primary_id, g.position, g.edition_id, g.placed_in, v.version
    from gone g join editions e on e.id = g.edition_id cross join (select feed_order_version() as version) v
    where g.placed_in < v.version
    on conflict do nothing;
  return null;
end
$$;
CREATE OR REPLACE TRIGGER place_new_editions AFTER INSERT ON editions REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT WHEN ((current_setting('app.bulk'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION place_new_editions();
CREATE OR REPLACE TRIGGER place_changed_editions AFTER UPDATE ON editions REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT WHEN ((current_setting('app.bulk'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION place_changed_editions();
CREATE OR REPLACE TRIGGER keep_place_for_cursors AFTER DELETE ON feed_order REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_place_for_cursors();

CREATE OR REPLACE FUNCTION advance_feed(reader uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $$
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

CREATE OR REPLACE FUNCTION advance_feed_now_and_then()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
declare
  reader uuid;
  seen uuid[];
begin
  for reader, seen in select user_id, array_agg(edition_id) from fresh where edition_id is not null group by user_id loop
    perform touch_decks(reader, seen);
    if cardinality(seen) > random() * 50 then
      perform advance_feed(reader);
    end if;
  end loop;
  return null;
end
$$;

CREATE OR REPLACE FUNCTION return_to_feed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
begin
  -- Where the reader or the book goes for good, nothing returns.
  insert into feed_returns (user_id, edition_id)
    select distinct s.user_id, s.edition_id from stale s
    join users u on u.id = s.user_id join editions e on e.id = s.edition_id
    on conflict do nothing;
  return null;
end
$$;

CREATE OR REPLACE FUNCTION return_changed_to_feed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
begin
  if not exists (select from stale s join fresh f using (user_id, id) where f.edition_id is distinct from s.edition_id) then
    return null;
  end if;
  insert into feed_returns (user_id, edition_id)
    select distinct s.user_id, s.edition_id from stale s join fresh f using (user_id, id)
    join users u on u.id = s.user_id join editions e on e.id = s.edition_id
    where f.edition_id is distinct from s.edition_id
    on conflict do nothing;
  perform touch_decks(f.user_id, array_agg(f.edition_id)) from stale s join fresh f using (user_id, id)
    where f.edition_id is distinct from s.edition_id and f.edition_id is not null group by f.user_id;
  return null;
end
$$;

CREATE OR REPLACE FUNCTION touch_decks(reader uuid, seen uuid[])
 RETURNS void
 LANGUAGE sql
AS $$
  update feed_decks set touched_at = now() where user_id = reader and touched_at is null and editions && (seen || array(
    select other.edition_id from unnest(seen) as card (id)
    cross join lateral (select w.work_key, w.volume from work_records w where w.edition_id = card.id offset 0) w
    cross join lateral (select o.edition_id from work_records o
      where o.work_key = w.work_key and o.volume = w.volume and o.rank <= 50 offset 0) other))
$$;

CREATE OR REPLACE FUNCTION deal_soon()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
begin
  insert into jobs as j (user_id, kind, payload, key, run_at, priority, attempts_max)
    select distinct u.id, 'feed.deck', '{}'::jsonb, 'deck', now() + interval '5 seconds', 10, 3
    from said s join users u on u.id = s.user_id
    on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do update
      set run_at = least(j.run_at, excluded.run_at), again = j.state = 'RUNNING';
  return null;
end
$$;

CREATE OR REPLACE FUNCTION deal_opening(editions uuid[], genres smallint[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  insert into feed_openings (version, editions, genres)
    select 1 + coalesce(max(version), 0), deal_opening.editions, deal_opening.genres from feed_openings
    having deal_opening.editions is distinct from
      (select o.editions from feed_openings o order by version desc limit 1);
  delete from feed_openings where made_at < now() - interval '1 day'
    and version < (select max(version) from feed_openings);
$$;

CREATE OR REPLACE FUNCTION deal_outdated_decks(behind uuid)
 RETURNS uuid
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  with walked as materialized (
    select id from users where id > behind order by id limit 1000
  ), asked as (
    insert into jobs as j (user_id, kind, payload, key, run_at, priority, attempts_max)
      select w.id, 'feed.deck', '{}'::jsonb, 'deck', now(), 10, 3 from walked w
      where exists (select from sessions s
          where s.user_id = w.id and s.rotated_at > now() - interval '30 days' offset 0)
        and exists (select from feed_frontiers f
          where f.user_id = w.id and f.seen_at <= (select frontiers_valid_since from feed_state) offset 0)
      on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do update
        set again = j.state = 'RUNNING'
      returning user_id
  ), told as (
    select pg_notify('jobs', 'feed.deck') from asked limit 1
  )
  select id from walked left join told on true order by id desc limit 1
$$;
CREATE OR REPLACE TRIGGER advance_feed AFTER INSERT ON swipes REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION advance_feed_now_and_then();
CREATE OR REPLACE TRIGGER advance_feed AFTER INSERT ON books REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT WHEN ((current_setting('app.bulk'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION advance_feed_now_and_then();
CREATE OR REPLACE TRIGGER return_to_feed AFTER DELETE ON swipes REFERENCING OLD TABLE AS stale FOR EACH STATEMENT EXECUTE FUNCTION return_to_feed();
CREATE OR REPLACE TRIGGER return_to_feed AFTER DELETE ON books REFERENCING OLD TABLE AS stale FOR EACH STATEMENT EXECUTE FUNCTION return_to_feed();
CREATE OR REPLACE TRIGGER return_to_feed_changed AFTER UPDATE ON books REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION return_changed_to_feed();
CREATE OR REPLACE TRIGGER deal_soon_of_new AFTER INSERT ON books REFERENCING NEW TABLE AS said FOR EACH STATEMENT EXECUTE FUNCTION deal_soon();
CREATE OR REPLACE TRIGGER deal_soon_of_gone AFTER DELETE ON books REFERENCING OLD TABLE AS said FOR EACH STATEMENT EXECUTE FUNCTION deal_soon();
CREATE OR REPLACE TRIGGER deal_soon_of_new AFTER INSERT ON reviews REFERENCING NEW TABLE AS said FOR EACH STATEMENT EXECUTE FUNCTION deal_soon();
CREATE OR REPLACE TRIGGER deal_soon_of_changed AFTER UPDATE ON reviews REFERENCING NEW TABLE AS said FOR EACH STATEMENT EXECUTE FUNCTION deal_soon();
CREATE OR REPLACE TRIGGER deal_soon_of_gone AFTER DELETE ON reviews REFERENCING OLD TABLE AS said FOR EACH STATEMENT EXECUTE FUNCTION deal_soon();

CREATE OR REPLACE FUNCTION refresh_feed()
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  select pg_advisory_xact_lock(20261122);
  update feed_state set order_version = order_version + 1;
  with gone as (delete from feed_order_before where gone_at < now() - interval '1 day' returning gone_in)
    update feed_state set order_kept_since = greatest(order_kept_since, (select max(gone_in) from gone));
  select refresh_popularity();
  select refresh_feed_order();
$$;

CREATE OR REPLACE FUNCTION refresh_popularity(half_life_days double precision DEFAULT 14)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
declare
  prior constant float8 := 5000;
  world constant float8 := (select greatest(sum(ratings_count), 1) from editions);
begin
  with own as materialized (
    select edition_id, sum(voice * (1 + 2 * power(0.5, extract(epoch from now() - at) / 86400 / half_life_days))) as readers
    from reader_signals where voice > 0 group by edition_id
  ), fresh as (
    select e.id, e.ratings_count + coalesce(own.readers, 0) * world / prior as popularity
    from editions e left join own on own.edition_id = e.id
  )
  update editions e set popularity = fresh.popularity from fresh
    where fresh.id = e.id and abs(fresh.popularity - e.popularity) > 0.05 * (1 + e.popularity);
end
$$;

CREATE OR REPLACE FUNCTION replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores double precision[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
 SET plan_cache_mode TO 'force_custom_plan'
AS $$
declare
  touched constant uuid[] := case when sources is not null
    then array(select id from editions where number = any(sources))
    else array(
      select s.edition_id from edition_similar s join editions e on e.id = s.similar_id where e.number = any(learned)
      union select id from editions where number = any(froms)) end;
  relearned constant uuid[] := array(select id from editions where number = any(learned));
begin
  create temporary table relinked on commit drop as
    with links as (
      select edition_id, similar_id, score from edition_similar
        where sources is null and edition_id = any(touched) and similar_id <> all(relearned)
      union all
      select f.id, t.id, l.score from unnest(froms, tos, scores) l (f, t, score)
        join editions f on f.number = l.f join editions t on t.number = l.t
    ), strongest as (
      select *, row_number() over (partition by edition_id order by abs(score) desc, similar_id) as strength from links
    )
    select edition_id, row_number() over (partition by edition_id order by score desc, similar_id) as rank,
      similar_id, score from strongest where strength <= 50;
  delete from edition_similar where edition_id = any(touched);
  insert into edition_similar (edition_id, rank, similar_id, score)
    select edition_id, rank, similar_id, score from relinked;
  drop table relinked;
end
$$;

CREATE OR REPLACE FUNCTION similar_was_learned(at timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  update feed_state set similar_at = at where similar_at < at;
  insert into jobs (user_id, kind, payload, key, run_at, priority, attempts_max)
    select distinct s.user_id, 'feed.deck', '{}'::jsonb, 'deck', now(), 10, 3 from reader_signals s
    where not exists (select from feed_decks d where d.user_id = s.user_id and d.made_at > s.at)
    on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do nothing;
  select pg_notify('jobs', 'feed.deck');
$$;

CREATE OR REPLACE FUNCTION signals_of_readers()
 RETURNS TABLE(signals bytea)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  select string_agg(int8send(number) || int2send(round(weight * 100)::int2), null order by at desc, number)
  from (
    select user_id, number, weight, at,
      row_number() over (partition by user_id order by at desc, number) as of_reader,
      row_number() over (partition by number order by at desc, user_id) as of_edition
    from (
      select s.user_id, e.number, s.weight, s.at from reader_signals s join editions e on e.id = s.edition_id
      where s.weight > 0 order by s.at desc limit 2000000
    ) newest
  ) ranked
  where of_reader <= 2000 and of_edition <= 2000
  group by user_id
  order by user_id
$$;

CREATE OR REPLACE FUNCTION editions_with_news()
 RETURNS TABLE(edition bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  select e.number from editions e where e.id in (
    select s.edition_id from reader_signals s where s.weight > 0 and s.at > (select similar_at from feed_state)
    union all
    select s.edition_id from swipes s
      where s.action in ('LIKE', 'BUY') and s.recorded_at > (select similar_at from feed_state)
    union all
    select s.edition_id from earlier_swipes s
      where s.action in ('LIKE', 'BUY') and s.ended_at > (select similar_at from feed_state))
$$;
CREATE OR REPLACE FUNCTION take_back_swipe(reader uuid, card uuid, at timestamp with time zone)
 RETURNS TABLE(book_id uuid, title text, author text, genre text)
 LANGUAGE plpgsql
AS $$
declare
  counting swipes;
  gone record;
  next earlier_swipes;
begin
  select * into counting from swipes s where s.user_id = reader and s.edition_id = card;
  counting.said_at := coalesce(counting.said_at, counting.swiped_at);
  if at is null and not exists (select from earlier_swipes e where e.user_id = reader and e.edition_id = card
    and e.is_taken_back and e.ended_at >= counting.recorded_at
    and (e.swiped_at, e.said_at) > (counting.swiped_at, counting.said_at))
  then
    at := counting.said_at;
  end if;
  if at = counting.said_at then
    gone := counting;
    insert into earlier_swipes (user_id, edition_id, said_at, swiped_at, action, recorded_at, is_taken_back)
      values (reader, card, gone.said_at, gone.swiped_at, gone.action, gone.recorded_at, true)
      on conflict do nothing;
    delete from earlier_swipes e where e.user_id = reader and e.edition_id = card and e.said_at = (
        select l.said_at from earlier_swipes l
        where l.user_id = reader and l.edition_id = card and not l.is_taken_back
        order by l.swiped_at desc, l.said_at desc limit 1)
      returning * into next;
    if next is null then
      delete from swipes s where s.user_id = reader and s.edition_id = card;
    else
      update swipes s set action = next.action, swiped_at = next.swiped_at, said_at = next.said_at,
          saved_book_id = next.saved_book_id,
          recorded_at = case when next.is_late then now() else next.recorded_at end
        where s.user_id = reader and s.edition_id = card;
    end if;
  else
    select * into gone from earlier_swipes e
      where e.user_id = reader and e.edition_id = card and e.said_at = at and not e.is_taken_back;
    update earlier_swipes e set is_taken_back = true, saved_book_id = null, ended_at = now()
      where e.user_id = reader and e.edition_id = card and e.said_at = gone.said_at;
  end if;
  -- A book that was given away goes with no swipe. An edition has one book, so where this is it, no other swipe has another.
  if not exists (select from books b where b.user_id = reader and b.id = gone.saved_book_id and b.edition_id = card) then
    return;
  end if;
  update swipes s set saved_book_id = gone.saved_book_id
    where s.user_id = reader and s.edition_id = card and s.action in ('LIKE', 'BUY') and s.recorded_at >= gone.recorded_at;
  if found then
    return;
  end if;
  update earlier_swipes e set saved_book_id = gone.saved_book_id
    where e.user_id = reader and e.edition_id = card and e.said_at = (
      select l.said_at from earlier_swipes l where l.user_id = reader and l.edition_id = card
        and not l.is_taken_back and l.action in ('LIKE', 'BUY') and l.recorded_at >= gone.recorded_at
      order by l.swiped_at desc, l.said_at desc limit 1);
  if found then
    return;
  end if;
  return query delete from books b where b.user_id = reader and b.id = gone.saved_book_id
    and b.status = 'WANT_TO_READ' and b.updated_at = b.added_at
    and not exists (select from shelf_books p where p.user_id = reader and p.book_id = b.id)
    and not exists (select from reviews r where r.user_id = reader and r.book_id = b.id)
    returning b.id, b.title, b.author, b.genre;
end
$$;

CREATE OR REPLACE FUNCTION prune_earlier_swipes(older_than_days integer, rows_max integer)
 RETURNS bigint
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  with old as (select e.user_id, e.edition_id, e.said_at from earlier_swipes e
      where e.ended_at < now() - older_than_days * interval '1 day' limit rows_max),
    gone as (delete from earlier_swipes e using old
      where e.user_id = old.user_id and e.edition_id = old.edition_id and e.said_at = old.said_at returning 1)
  select count(*) from gone;
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON swipes;
CREATE POLICY owner_only ON swipes TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON swipes;
CREATE POLICY administration ON swipes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON earlier_swipes;
CREATE POLICY owner_only ON earlier_swipes TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON earlier_swipes;
CREATE POLICY administration ON earlier_swipes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON feed_frontiers;
CREATE POLICY owner_only ON feed_frontiers TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON feed_frontiers;
CREATE POLICY administration ON feed_frontiers TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON feed_returns;
CREATE POLICY owner_only ON feed_returns TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON feed_returns;
CREATE POLICY administration ON feed_returns TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON feed_decks;
CREATE POLICY owner_only ON feed_decks TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON feed_decks;
CREATE POLICY administration ON feed_decks TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON swipes, earlier_swipes, feed_frontiers, feed_returns, feed_decks TO bookplate_app;
GRANT SELECT ON feed_state, feed_order, feed_order_before, feed_openings, edition_similar, reader_signals TO bookplate_app;

REVOKE ALL ON FUNCTION place_editions, place_new_editions, place_changed_editions, keep_place_for_cursors, deal_soon,
    refresh_popularity FROM PUBLIC;
REVOKE ALL ON FUNCTION deal_opening, deal_outdated_decks, refresh_feed, replace_similar, similar_was_learned,
    signals_of_readers, editions_with_news, prune_earlier_swipes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION deal_opening, deal_outdated_decks, refresh_feed, replace_similar, similar_was_learned,
    signals_of_readers, editions_with_news, prune_earlier_swipes TO bookplate_app;
