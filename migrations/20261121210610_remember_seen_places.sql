-- Why: a page of the feed starts behind what its reader has seen instead of walking over it.

create index swipes_recorded_at on swipes (user_id, recorded_at);
create index swipes_skipped on swipes (user_id, swiped_at) where action = 'SKIP';

-- Of each genre's queue, as it was at `seen_at`: all books up to `reach` were seen or owned, but for those
-- in `unseen`. A hint: each card is still looked up, so an old one costs time and is never wrong.
create table feed_frontiers (
  user_id uuid not null references users on delete cascade,
  genre_id smallint not null,
  unseen bigint[] not null,
  reach bigint not null,
  seen_at timestamptz not null default now(),
  primary key (user_id, genre_id)
);

-- Books that were seen and are not any more, until the frontiers know: a swipe taken back, a book given away.
create table feed_returns (
  user_id uuid not null references users on delete cascade,
  edition_id uuid not null references editions on delete cascade,
  primary key (user_id, edition_id)
);
create index feed_returns_edition_id on feed_returns (edition_id);

do $$
declare
  owned text;
begin
  foreach owned in array array['feed_frontiers', 'feed_returns'] loop
    execute format('alter table %I enable row level security, force row level security', owned);
    execute format('create policy owner_only on %I to bookplate_app '
      'using (user_id = (select app_user_id())) with check (user_id = (select app_user_id()))', owned);
    execute format('create policy administration on %I to current_user using (true) with check (true)', owned);
    execute format('grant select, insert, update, delete on %I to bookplate_app', owned);
  end loop;
end
$$;

-- Moves a reader's frontiers on, from where they stood: each seen book is passed once, and not at every page.
create function advance_feed(reader uuid) returns void language plpgsql as $$
declare
  -- Unseen books that are known ahead.
  step constant int := 12;
  valid_since timestamptz;
  returned uuid[];
begin
  -- Another device does it just now, or the order changes.
  if not pg_try_advisory_xact_lock(hashtextextended(reader::text, 0))
    or not pg_try_advisory_xact_lock_shared(20261121) then
    return;
  end if;
  valid_since := (select frontiers_valid_since from feed_state);
  returned := array(select edition_id from feed_returns where user_id = reader);
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
        -- Also what had begun to take its place then and was not to be seen yet: no import lasts an hour.
        select o.position, o.edition_id from feed_order o
          where o.placed_at > greatest(f.seen_at - interval '1 hour', valid_since)
            and o.genre_id = g.id and o.primary_id = g.id and o.position <= f.reach
      ) k
      where not exists (select from swipes s where s.user_id = reader and s.edition_id = k.edition_id)
        and not exists (select from books b where b.user_id = reader and b.edition_id = k.edition_id)
    ) known
    cross join lateral (
      -- What is ahead is looked for when few are known, or when the reader has been there.
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
        order by o.position limit step) o
    ) ahead
    on conflict (user_id, genre_id) do update
      set unseen = excluded.unseen, reach = excluded.reach, seen_at = excluded.seen_at;
  delete from feed_returns where user_id = reader and edition_id = any(returned);
end
$$;

-- Every fiftieth swipe or book moves the frontiers on. Which one it is, is drawn: nothing is counted, so
-- nobody waits for anybody.
create function advance_feed_now_and_then() returns trigger language plpgsql as $$
declare
  reader uuid;
begin
  for reader in select user_id from fresh where edition_id is not null
    group by user_id having count(*) > random() * 50
  loop
    perform advance_feed(reader);
  end loop;
  return null;
end
$$;
create function return_to_feed() returns trigger language plpgsql as $$
begin
  -- Where the reader or the book goes for good, nothing returns.
  insert into feed_returns (user_id, edition_id)
    select distinct s.user_id, s.edition_id from stale s
    join users u on u.id = s.user_id join editions e on e.id = s.edition_id
    on conflict do nothing;
  return null;
end
$$;
create trigger advance_feed after insert on swipes
  referencing new table as fresh for each statement execute function advance_feed_now_and_then();
create trigger advance_feed after insert on books
  referencing new table as fresh for each statement execute function advance_feed_now_and_then();
create trigger return_to_feed after delete on swipes
  referencing old table as stale for each statement execute function return_to_feed();
create trigger return_to_feed after delete on books
  referencing old table as stale for each statement execute function return_to_feed();

-- A book whose ISBN is corrected is another edition.
create function return_changed_to_feed() returns trigger language plpgsql as $$
begin
  insert into feed_returns (user_id, edition_id)
    select distinct s.user_id, s.edition_id from stale s join fresh f using (user_id, id)
    join users u on u.id = s.user_id join editions e on e.id = s.edition_id
    where f.edition_id is distinct from s.edition_id
    on conflict do nothing;
  return null;
end
$$;
create trigger return_to_feed_changed after update on books
  referencing old table as stale new table as fresh
  for each statement execute function return_changed_to_feed();
