-- Why: a cursor gives the same page again after the order has been refreshed: what had another place is kept for a day.

-- Counts the refreshes; each begins a new order. What takes its place between two of them belongs to the current one.
alter table feed_state add column order_version int not null default 0;
create function feed_order_version() returns int language sql stable
  as $$ select order_version from feed_state $$;

alter table feed_order add column placed_in int not null default 0;
alter table feed_order alter column placed_in set default feed_order_version();

-- Places of orders before the current one: from `placed_in` on, and no longer in `gone_in`.
create table feed_order_before (
  genre_id smallint not null,
  primary_id smallint not null,
  position bigint not null,
  edition_id uuid not null references editions on delete cascade,
  placed_in int not null,
  gone_in int not null,
  gone_at timestamptz not null default now(),
  primary key (genre_id, primary_id, position, gone_in)
);
create index feed_order_before_edition_id on feed_order_before (edition_id);
create index feed_order_before_gone_at on feed_order_before using brin (gone_at);
grant select on feed_order_before to bookplate_app;

create function keep_place_for_cursors() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  insert into feed_order_before (genre_id, primary_id, position, edition_id, placed_in, gone_in)
    select g.genre_id, g.primary_id, g.position, g.edition_id, g.placed_in, v.version
    from gone g join editions e on e.id = g.edition_id cross join (select feed_order_version() as version) v
    where g.placed_in < v.version
    on conflict do nothing;
  return null;
end
$$;
revoke execute on function keep_place_for_cursors() from public;
create trigger keep_place_for_cursors after delete on feed_order
  referencing old table as gone for each statement execute function keep_place_for_cursors();

-- What the background does for the feed now and then, in small locks of rows that readers never take. It and an import of
-- the catalogue take turns, for both write editions and the feed's state, and not in the same order.
create or replace function refresh_feed() returns void
language sql security definer set search_path = public, pg_temp as $$
  select pg_advisory_xact_lock(20261122);
  update feed_state set order_version = order_version + 1;
  delete from feed_order_before where gone_at < now() - interval '1 day';
  select refresh_popularity();
  select refresh_feed_order();
$$;
