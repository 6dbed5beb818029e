-- 2,000 made-up readers, each with 150 likes: half of them of the reader's own circle, one of 50, and of both halves the popular
-- more than the others. The same number of books gives the same likes.
\set ON_ERROR_STOP on
begin;
-- Nobody is told of them: no decks, no frontiers.
set local session_replication_role = replica;
delete from swipes;
insert into users (id, tenant_id, apple_sub)
  select md5('learn-' || r)::uuid, (select id from tenants limit 1), 'learn-' || r from generate_series(1, 2000) r
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
update feed_state set similar_at = '-infinity';
commit;
vacuum analyze swipes;
