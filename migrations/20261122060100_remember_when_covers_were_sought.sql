-- Why: what nobody has a cover of is left alone for a day, and what nobody could tell of is not.

-- When a search for the book's cover last came to its end because nobody has one; null where it ended as a source was away.
alter table books add column cover_sought_at timestamptz;

-- As before; and `is_answered` says whether all who could have a cover have answered.
create function end_cover_search(
  user_id uuid, book_id uuid, wanted_at timestamptz, status cover_status, is_answered bool
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
      cover_sought_at = case when end_cover_search.is_answered then now() end
    where b.user_id = end_cover_search.user_id and b.id = end_cover_search.book_id;
  if has_cover and book.cover_status = 'FETCHING' then
    perform tell_cover_stays(end_cover_search.user_id, end_cover_search.book_id);
  end if;
end
$$;

-- As programs of the release before this one end a search, who do not say why, and set_found_cover, where it is no matter.
create or replace function end_cover_search(
  user_id uuid, book_id uuid, wanted_at timestamptz, status cover_status
) returns void language plpgsql as $$
begin
  perform end_cover_search(user_id, book_id, wanted_at, status, false);
end
$$;
