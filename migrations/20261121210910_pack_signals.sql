-- Why: the server learns in little memory: a row for each reader instead of each signal.

drop function signals_to_learn();

-- All signals that others learn from, without names: a row for each reader, of 10 bytes for each signal (the
-- edition's number, the weight in hundredths). The newest two million, of a reader or an edition the newest 2,000.
create function signals_of_readers() returns table (signals bytea)
language sql stable security definer set search_path = public, pg_temp as $$
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

-- The editions that were spoken of since it was last learned.
create function editions_with_news() returns table (edition bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select distinct e.number from reader_signals s join editions e on e.id = s.edition_id
  where s.weight > 0 and s.at > (select similar_at from feed_state)
$$;
revoke execute on function signals_of_readers(), editions_with_news() from public;
grant execute on function signals_of_readers(), editions_with_news() to bookplate_app;
