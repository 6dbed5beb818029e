-- Why: a source that was away is asked again soon, and one that has said no is not asked again at once.

-- When those are asked for again that are asked for now, unless somebody says that there is none: after 15 minutes at first,
-- then after twice as long each time, and after the eighth as if there were none.
create function next_cover_due(failures int) returns timestamptz language sql stable
  return now() + case when failures >= 7 then interval '90 days' else interval '15 minutes' * (1 << failures) end;

-- Takes editions without a picture: up to half of them those that nobody could tell of, so that these hold up no others. What is
-- taken is written down as if nobody could tell of it, which stays so after a crash. From then on cover_due_at says when alone.
create or replace function take_editions_without_cover(count int)
returns table (id uuid, isbn13 text, cover_links text[])
language sql security definer set search_path = public, pg_temp
begin atomic
  with late as (
    select d.id from editions d
      where d.cover_version is null and d.cover_failures > 0 and d.cover_due_at < now()
      order by d.cover_due_at
      limit greatest(1, take_editions_without_cover.count / 2) for update skip locked),
  others as (
    select d.id from editions d
      where d.cover_version is null and (d.isbn13 is not null or d.cover_links <> '{}') and d.cover_failures = 0
        and greatest(d.cover_due_at, (d.cover_asked_at at time zone 'UTC' + interval '90 days') at time zone 'UTC') < now()
      order by greatest(d.cover_due_at, (d.cover_asked_at at time zone 'UTC' + interval '90 days') at time zone 'UTC'),
        d.popularity desc, d.id
      limit take_editions_without_cover.count - (select count(*) from late) for update skip locked)
  update editions e
    set cover_due_at = next_cover_due(e.cover_failures), cover_failures = (e.cover_failures + 1) % 8, cover_asked_at = null
    where e.id in (select l.id from late l union all select o.id from others o)
    returning e.id, e.isbn13, e.cover_links;
end;

-- As above, of one that has just come.
create or replace function take_edition_without_cover(isbn13 text)
returns table (id uuid, isbn13 text, cover_links text[])
language sql security definer set search_path = public, pg_temp
begin atomic
  update editions e
    set cover_due_at = next_cover_due(e.cover_failures), cover_failures = (e.cover_failures + 1) % 8, cover_asked_at = null
    where e.isbn13 = take_edition_without_cover.isbn13 and e.cover_version is null
    returning e.id, e.isbn13, e.cover_links;
end;

-- Nobody has a picture of it: it is not asked for again for so many days. One that an import is writing now is not waited for: it is
-- asked for again soon, as it was written down when it was taken.
create function miss_edition_cover(id uuid, days int) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update editions e set cover_due_at = now() + miss_edition_cover.days * interval '1 day', cover_failures = 0
    where e.id in (
      select d.id from editions d
        where d.id = miss_edition_cover.id and d.cover_version is null for update skip locked);
end;
revoke all on function miss_edition_cover(uuid, int) from public;
grant execute on function miss_edition_cover(uuid, int) to bookplate_app;
