-- Inserts 2,000 synthetic users with 150 likes each. Half of a user's likes are books of the user's group, which is one
-- of 50. Popular books get more likes than others. The result is deterministic for a given number of books.
\set ON_ERROR_STOP on
begin;
-- Disables triggers, so that the swipes have no other effects.
set local session_replication_role = replica;
delete from swipes;
insert into users (id, tenant_id)
  select md5('learn-' || r)::uuid, (select id from tenants limit 1) from generate_series(1, 2000) r
  on conflict do nothing;
select setseed(0.5);
insert into swipes (user_id, edition_id, action, swiped_at)
  select md5('learn-' || r)::uuid, md5('curve-' || n)::uuid, 'LIKE', now() - interval '1 day'
  from (
    select r, n, row_number() over (partition by r order by first) as place
    from (
      select r, n, min(draw) as first
      from (
        select r, draw, case when draw % 2 = 0 then drawn / 50 * 50 + 1 + r % 50 else drawn + 1 end as n
        from generate_series(1, 2000) r, generate_series(1, 400) draw
          cross join lateral (select floor((:books - 50) * power(random(), 3) + 0 * r * draw)::int as drawn) d
      ) draws group by r, n
    ) distinct_draws
  ) chosen where place <= 150;
truncate collected_signals, work_signals;
commit;
vacuum analyze swipes;
