-- Why: a refresh moves only books that were spoken of, and whom it makes look anew at what they have seen does it in the
-- background and not at their next page.

-- Popularity: the catalogue's readers, and our own on top. `prior` of our signals weigh as much as all the
-- catalogue's, and those of late up to three times (trending). What nobody speaks of stays as it is: once all was divided
-- by the number of our signals, which left the order as it was and wrote every book again.
create or replace function refresh_popularity(half_life_days float8 default 14) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
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
  -- Frontiers that would have to look at many new places begin anew. None is made until this is committed, so none
  -- misses it.
  perform pg_advisory_xact_lock(20261121);
  update feed_state set frontiers_valid_since = clock_timestamp()
    where 1000 < (select count(*) from (select from feed_order
      where genre_id = primary_id and placed_at > frontiers_valid_since limit 1001) newer);
  if found then
    -- Who was here lately is dealt a deck, and has new frontiers with it.
    insert into jobs as j (user_id, kind, payload, key, run_at, priority, attempts_max)
      select user_id, 'feed.deck', '{}'::jsonb, 'deck', now(), 10, 3
      from feed_decks group by user_id having max(made_at) > now() - interval '30 days'
      on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do update
        set again = j.state = 'RUNNING';
    perform pg_notify('jobs', 'feed.deck');
  end if;
end
$$;
