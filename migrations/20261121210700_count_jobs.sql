-- Why: an operator sees at /metrics how many jobs wait, run and are dead, and the server's role reads no jobs itself.

create function count_jobs() returns table (kind text, state text, count bigint)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select j.kind, lower(j.state::text), count(*) from jobs j group by 1, 2;
end;

revoke all on function count_jobs() from public;
grant execute on function count_jobs() to bookplate_app;
