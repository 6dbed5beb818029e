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

-- Of the next 1,000 readers behind `behind` those who were here lately and whose frontiers a refresh has outdated are
-- dealt decks, and with them new frontiers. Returns the last one, or null: a few at once, for a swipe of a reader waits
-- for whoever asks for their deck. Who reads has a session that was renewed lately, for an access token lives 15 minutes;
-- that a deck was dealt lately tells nothing, for this deals them.
create function deal_outdated_decks(behind uuid) returns uuid
language sql security definer set search_path = public, pg_temp as $$
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
revoke execute on function deal_outdated_decks(uuid) from public;
grant execute on function deal_outdated_decks(uuid) to bookplate_app;
