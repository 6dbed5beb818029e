-- Why: a page of a reader's own deck is one look-up and its cards; readers of whom nothing is known have a deck, too.

-- Whom a book is of and which series, as the feed compares them.
alter table editions
  add column author_key int generated always as (coalesce(hashtext(lower(authors[1])), 0)) stored,
  add column series_key int generated always as (coalesce(hashtext(lower(series)), 0)) stored;

-- Decks without genres are dealt again.
delete from feed_decks;
alter table feed_decks
  -- The first genre of each card.
  add column genres smallint[] not null,
  -- When one of its cards was first swiped or came into the library; until then all may be shown.
  add column touched_at timestamptz;

-- The deck of those who have none of their own: the popular, varied. A version never changes.
create table feed_openings (
  version int primary key,
  editions uuid[] not null,
  genres smallint[] not null,
  made_at timestamptz not null default now()
);
grant select on feed_openings to bookplate_app;

-- A new opening, unless it is the one that there is. A cursor may name an old one for a day.
create function deal_opening(editions uuid[], genres smallint[]) returns void
language sql security definer set search_path = public, pg_temp as $$
  insert into feed_openings (version, editions, genres)
    select 1 + coalesce(max(version), 0), deal_opening.editions, deal_opening.genres from feed_openings
    having deal_opening.editions is distinct from
      (select o.editions from feed_openings o order by version desc limit 1);
  delete from feed_openings where made_at < now() - interval '1 day'
    and version < (select max(version) from feed_openings);
$$;
revoke execute on function deal_opening(uuid[], smallint[]) from public;
grant execute on function deal_opening(uuid[], smallint[]) to bookplate_app;

-- Of these cards one is seen now.
create function touch_decks(reader uuid, seen uuid[]) returns void language sql as $$
  update feed_decks set touched_at = now() where user_id = reader and touched_at is null and editions && seen
$$;

create or replace function advance_feed_now_and_then() returns trigger language plpgsql as $$
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

create or replace function return_changed_to_feed() returns trigger language plpgsql as $$
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

-- Owning and reviewing books speaks for others, as swiping does. The deck follows in a while, so that what comes
-- together is dealt once.
create function deal_soon() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  insert into jobs as j (user_id, kind, payload, key, run_at, priority, attempts_max)
    select distinct u.id, 'feed.deck', '{}'::jsonb, 'deck', now() + interval '5 seconds', 10, 3
    from said s join users u on u.id = s.user_id
    on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do update
      set run_at = least(j.run_at, excluded.run_at), again = j.state = 'RUNNING';
  return null;
end
$$;
revoke execute on function deal_soon() from public;
create trigger deal_soon_of_new after insert on books
  referencing new table as said for each statement execute function deal_soon();
create trigger deal_soon_of_gone after delete on books
  referencing old table as said for each statement execute function deal_soon();
create trigger deal_soon_of_new after insert on reviews
  referencing new table as said for each statement execute function deal_soon();
create trigger deal_soon_of_changed after update on reviews
  referencing new table as said for each statement execute function deal_soon();
create trigger deal_soon_of_gone after delete on reviews
  referencing old table as said for each statement execute function deal_soon();
