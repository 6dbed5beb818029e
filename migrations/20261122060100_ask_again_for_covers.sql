-- Why: a source that was away is asked again soon, and one that has said no is not asked again at once.

-- When a search for the book's cover last came to its end without one.
alter table books add column cover_sought_at timestamptz;

-- As before; and it is written down when the search ended.
create or replace function end_cover_search(
  user_id uuid, book_id uuid, wanted_at timestamptz, status cover_status
) returns void language plpgsql as $$
#variable_conflict use_column
declare
  book books;
  has_cover bool;
begin
  select * into book from books b
    where b.user_id = end_cover_search.user_id and b.id = end_cover_search.book_id for no key update;
  if not found or book.cover_wanted_at is distinct from end_cover_search.wanted_at then return; end if;
  has_cover := exists (select from covers c
    where c.user_id = end_cover_search.user_id and c.book_id = end_cover_search.book_id);
  update books b
    set cover_status = case when has_cover then 'READY' else end_cover_search.status end, cover_wanted_at = null,
      cover_sought_at = now()
    where b.user_id = end_cover_search.user_id and b.id = end_cover_search.book_id;
  if has_cover and book.cover_status = 'FETCHING' then
    perform tell_cover_stays(end_cover_search.user_id, end_cover_search.book_id);
  end if;
end
$$;

-- When a picture of a catalogue's book may be asked for, and how often in a row nobody could say.
alter table editions
  add column cover_due_at timestamptz not null default '-infinity',
  add column cover_failures int not null default 0;
update editions set cover_due_at = cover_asked_at + interval '90 days'
  where cover_asked_at is not null and cover_version is null;
drop index editions_without_cover;
-- Those that were never asked for come first, the popular first of all.
create index editions_without_cover on editions (cover_due_at, popularity desc, id) where cover_version is null;
create index editions_with_late_cover on editions (cover_due_at) where cover_version is null and cover_failures > 0;

-- When those are asked for again that are asked for now, unless somebody says that there is none: after 15 minutes at first,
-- then after twice as long each time, and after the eighth as if there were none.
create function next_cover_due(failures int) returns timestamptz language sql stable
  return now() + case when failures >= 7 then interval '90 days' else interval '15 minutes' * (1 << failures) end;

-- Takes editions without a picture: first those that nobody could tell of.
create or replace function take_editions_without_cover(count int)
returns table (id uuid, isbn13 text, cover_links text[])
language sql security definer set search_path = public, pg_temp
begin atomic
  with late as (
    select d.id from editions d
      where d.cover_version is null and d.cover_failures > 0 and d.cover_due_at < now()
      order by d.cover_due_at
      limit take_editions_without_cover.count for update skip locked),
  others as (
    select d.id from editions d
      where d.cover_version is null and d.cover_due_at < now() and d.cover_failures = 0
        and (d.isbn13 is not null or d.cover_links <> '{}')
      order by d.cover_due_at, d.popularity desc, d.id
      limit take_editions_without_cover.count - (select count(*) from late) for update skip locked)
  update editions e
    set cover_due_at = next_cover_due(e.cover_failures), cover_failures = (e.cover_failures + 1) % 8
    where e.id in (select l.id from late l union all select o.id from others o)
    returning e.id, e.isbn13, e.cover_links;
end;

-- As above, of one that has just come.
create or replace function take_edition_without_cover(isbn13 text)
returns table (id uuid, isbn13 text, cover_links text[])
language sql security definer set search_path = public, pg_temp
begin atomic
  update editions e
    set cover_due_at = next_cover_due(e.cover_failures), cover_failures = (e.cover_failures + 1) % 8
    where e.isbn13 = take_edition_without_cover.isbn13 and e.cover_version is null
    returning e.id, e.isbn13, e.cover_links;
end;

-- Nobody has a picture of these: not asked for again for 90 days.
create function miss_edition_covers(ids uuid[]) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update editions e set cover_due_at = now() + interval '90 days', cover_failures = 0
    where e.id = any(miss_edition_covers.ids) and e.cover_version is null;
end;
revoke all on function miss_edition_covers(uuid[]) from public;
grant execute on function miss_edition_covers(uuid[]) to bookplate_app;

alter table editions drop column cover_asked_at;
