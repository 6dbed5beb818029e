-- Why: a cursor older than the places that are kept hid what a refresh had moved; now it can tell, and goes on in the current order.

-- The first order all of whose places are known: those gone in it or before may be deleted, no later ones are.
alter table feed_state add column order_kept_since int not null default 0;
update feed_state set order_kept_since = coalesce((select min(gone_in) from feed_order_before), order_version);

create or replace function refresh_feed() returns void
language sql security definer set search_path = public, pg_temp as $$
  select pg_advisory_xact_lock(20261122);
  update feed_state set order_version = order_version + 1;
  with gone as (delete from feed_order_before where gone_at < now() - interval '1 day' returning gone_in)
    update feed_state set order_kept_since = greatest(order_kept_since, (select max(gone_in) from gone));
  select refresh_popularity();
  select refresh_feed_order();
$$;
