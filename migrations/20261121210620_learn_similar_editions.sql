-- Why: what readers like says what else they may like; each reader's own feed is prepared from it.

create unique index editions_number on editions (number);

-- What a reader thinks of a book, from the strongest that they said of it: a review, a swipe, having it.
-- `weight` is what others learn from it, 0 to 1.25; `voice` is what it says to the reader's own feed.
create view reader_signals with (security_invoker = true) as
select user_id, edition_id, weight, voice, at from (
  select distinct on (user_id, edition_id) user_id, edition_id, weight, voice, at from (
    select r.user_id, b.edition_id, r.updated_at as at, 1 as rank,
      (array[0.1, 0.2, 0.6, 1, 1.25])[r.rating]::float4 as weight,
      (array[-0.3, 0, 0.6, 1, 1.25])[r.rating]::float4 as voice
    from reviews r join books b on b.user_id = r.user_id and b.id = r.book_id
    where b.edition_id is not null
    union all
    select user_id, edition_id, swiped_at, 2,
      case action when 'BUY' then 1.25 when 'LIKE' then 1 else 0 end::float4,
      case action when 'BUY' then 1.25 when 'LIKE' then 1 when 'SKIP' then -0.05 else -0.3 end::float4
    from swipes
    union all
    select user_id, edition_id, added_at, 3,
      case status when 'READ' then 0.8 when 'DID_NOT_FINISH' then 0.2 else 0.7 end::float4,
      case status when 'READ' then 0.8 when 'DID_NOT_FINISH' then 0 else 0.7 end::float4
    from books where edition_id is not null
  ) said order by user_id, edition_id, rank
) signals;
grant select on reader_signals to bookplate_app;

-- How much liking an edition speaks for another: its strongest links, rank 1 first; below 0 it speaks against.
create table edition_similar (
  edition_id uuid not null references editions on delete cascade,
  rank smallint not null,
  similar_id uuid not null references editions on delete cascade,
  score float4 not null,
  primary key (edition_id, rank)
);
create index edition_similar_similar_id on edition_similar (similar_id);
grant select on edition_similar to bookplate_app;

-- The reader's own part of the feed, best first. A version never changes, so cursors into it stay true.
create table feed_decks (
  user_id uuid not null references users on delete cascade,
  version int not null,
  editions uuid[] not null,
  made_at timestamptz not null default now(),
  primary key (user_id, version)
);
alter table feed_decks enable row level security, force row level security;
create policy owner_only on feed_decks to bookplate_app
  using (user_id = (select app_user_id())) with check (user_id = (select app_user_id()));
create policy administration on feed_decks to current_user using (true) with check (true);
grant select, insert, update, delete on feed_decks to bookplate_app;

-- When similarity was last learned, of all and of what had changed.
alter table feed_state add column similar_at timestamptz not null default '-infinity';

-- All signals that others learn from, without names: readers and editions are numbered. `is_new` tells the
-- editions that were spoken of since the last time.
create function signals_to_learn()
returns table (reader int, edition bigint, weight float4, is_new boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select dense_rank() over (order by s.user_id)::int - 1, e.number, s.weight,
    s.at > (select similar_at from feed_state)
  from reader_signals s join editions e on e.id = s.edition_id
  where s.weight > 0
  order by s.at desc
$$;
revoke execute on function signals_to_learn() from public;
grant execute on function signals_to_learn() to bookplate_app;

-- Replaces the links of the editions `sources`, or else those to the editions `learned`, by the ones given, and
-- keeps each edition's 50 strongest.
create function replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores float8[])
returns void language plpgsql security definer
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
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
revoke execute on function replace_similar(bigint[], bigint[], bigint[], bigint[], float8[]) from public;
grant execute on function replace_similar(bigint[], bigint[], bigint[], bigint[], float8[]) to bookplate_app;

-- Notes when it was learnt, and has the feeds prepared of readers who have spoken since theirs were.
create function similar_was_learned(at timestamptz) returns void
language sql security definer set search_path = public, pg_temp as $$
  update feed_state set similar_at = at where similar_at < at;
  insert into jobs (user_id, kind, payload, key, run_at, priority, attempts_max)
    select distinct s.user_id, 'feed.deck', '{}'::jsonb, 'deck', now(), 10, 3 from reader_signals s
    where not exists (select from feed_decks d where d.user_id = s.user_id and d.made_at > s.at)
    on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do nothing;
  select pg_notify('jobs', 'feed.deck');
$$;
revoke execute on function similar_was_learned(timestamptz) from public;
grant execute on function similar_was_learned(timestamptz) to bookplate_app;

-- Popularity: the catalogue's readers until there are enough of our own. Both are shares; `prior` of our own
-- signals weigh as much as all the catalogue's, and those of late up to three times (trending). The sum stays, so
-- that a book nobody speaks of moves little.
create function refresh_popularity(half_life_days float8 default 14) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  prior constant float8 := 5000;
  world constant float8 := (select greatest(sum(ratings_count), 1) from editions);
begin
  with own as materialized (
    select edition_id, sum(voice * (1 + 2 * power(0.5, extract(epoch from now() - at) / 86400 / half_life_days))) as readers
    from reader_signals where voice > 0 group by edition_id
  ), fresh as (
    select e.id, (e.ratings_count + coalesce(own.readers, 0) * world / prior)
      / (1 + (select coalesce(sum(readers), 0) from own) / prior) as popularity
    from editions e left join own on own.edition_id = e.id
  )
  update editions e set popularity = fresh.popularity from fresh
    where fresh.id = e.id and abs(fresh.popularity - e.popularity) > 0.05 * (1 + e.popularity);
end
$$;
revoke execute on function refresh_popularity(float8) from public;

-- What the background does for the feed now and then, in small locks of rows that readers never take.
create function refresh_feed() returns void
language sql security definer set search_path = public, pg_temp as $$
  select refresh_popularity();
  select refresh_feed_order();
$$;
revoke execute on function refresh_feed() from public;
grant execute on function refresh_feed() to bookplate_app;
