-- Why: what a swipe replaced counts again when it is taken back, and one that was taken back stays so when it is sent again.

-- Swipes that do not count, of cards that have one in `swipes` or had: a newer one replaced them, or came before them
-- (`is_late`), or they were taken back.
create table earlier_swipes (
  user_id uuid not null references users on delete cascade,
  edition_id uuid not null references editions on delete cascade,
  -- The time that the client said, also one in the future; `swiped_at` where it said none.
  said_at timestamptz not null,
  swiped_at timestamptz not null,
  action swipe_action not null,
  recorded_at timestamptz not null,
  saved_book_id uuid,
  -- It has never counted, so it has saved no book.
  is_late boolean not null default false,
  is_taken_back boolean not null default false,
  -- When it came to count no more.
  ended_at timestamptz not null default now(),
  primary key (user_id, edition_id, said_at)
);
create index earlier_swipes_edition_id on earlier_swipes (edition_id);
create index earlier_swipes_ended_at on earlier_swipes (ended_at);
alter table earlier_swipes enable row level security, force row level security;
create policy owner_only on earlier_swipes to bookplate_app
  using (user_id = app_user_id()) with check (user_id = app_user_id());
do $$
begin
  execute 'create policy administration on earlier_swipes to current_user using (true) with check (true)';
end
$$;
grant select, insert, update, delete on earlier_swipes to bookplate_app;

-- Takes back the swipe of a card that said `at`; without it the one that counts, but none before a swipe that was taken back
-- since that was recorded, so that asking again changes nothing. The newest that is left counts then: where it never has, since
-- now, and its book is still to be saved.
-- Returns the book that goes with the swipe: the one it saved, if nobody touched that since, unless a like or purchase
-- is left that came after the swipe and would have saved it.
create function take_back_swipe(reader uuid, card uuid, at timestamptz)
returns table (book_id uuid, title text, author text, genre text) language plpgsql as $$
declare
  counting swipes;
  gone record;
  next earlier_swipes;
begin
  select * into counting from swipes s where s.user_id = reader and s.edition_id = card;
  counting.said_at := coalesce(counting.said_at, counting.swiped_at);
  if at is null and not exists (select from earlier_swipes e where e.user_id = reader and e.edition_id = card
    and e.is_taken_back and e.ended_at >= counting.recorded_at
    and (e.swiped_at, e.said_at) > (counting.swiped_at, counting.said_at))
  then
    at := counting.said_at;
  end if;
  if at = counting.said_at then
    gone := counting;
    insert into earlier_swipes (user_id, edition_id, said_at, swiped_at, action, recorded_at, is_taken_back)
      values (reader, card, gone.said_at, gone.swiped_at, gone.action, gone.recorded_at, true)
      on conflict do nothing;
    delete from earlier_swipes e where e.user_id = reader and e.edition_id = card and e.said_at = (
        select l.said_at from earlier_swipes l
        where l.user_id = reader and l.edition_id = card and not l.is_taken_back
        order by l.swiped_at desc, l.said_at desc limit 1)
      returning * into next;
    if next is null then
      delete from swipes s where s.user_id = reader and s.edition_id = card;
    else
      update swipes s set action = next.action, swiped_at = next.swiped_at, said_at = next.said_at,
          saved_book_id = next.saved_book_id,
          recorded_at = case when next.is_late then now() else next.recorded_at end
        where s.user_id = reader and s.edition_id = card;
    end if;
  else
    select * into gone from earlier_swipes e
      where e.user_id = reader and e.edition_id = card and e.said_at = at and not e.is_taken_back;
    update earlier_swipes e set is_taken_back = true, saved_book_id = null, ended_at = now()
      where e.user_id = reader and e.edition_id = card and e.said_at = gone.said_at;
  end if;
  -- A book that was given away goes with no swipe. An edition has one book, so where this is it, no other swipe has another.
  if not exists (select from books b where b.user_id = reader and b.id = gone.saved_book_id and b.edition_id = card) then
    return;
  end if;
  update swipes s set saved_book_id = gone.saved_book_id
    where s.user_id = reader and s.edition_id = card and s.action in ('LIKE', 'BUY') and s.recorded_at >= gone.recorded_at;
  if found then
    return;
  end if;
  update earlier_swipes e set saved_book_id = gone.saved_book_id
    where e.user_id = reader and e.edition_id = card and e.said_at = (
      select l.said_at from earlier_swipes l where l.user_id = reader and l.edition_id = card
        and not l.is_taken_back and l.action in ('LIKE', 'BUY') and l.recorded_at >= gone.recorded_at
      order by l.swiped_at desc, l.said_at desc limit 1);
  if found then
    return;
  end if;
  return query delete from books b where b.user_id = reader and b.id = gone.saved_book_id
    and b.status = 'WANT_TO_READ' and b.updated_at = b.added_at
    and not exists (select from shelf_books p where p.user_id = reader and p.book_id = b.id)
    and not exists (select from reviews r where r.user_id = reader and r.book_id = b.id)
    returning b.id, b.title, b.author, b.genre;
end
$$;

-- Forgets those that count no more for so long; answers how many.
create function prune_earlier_swipes(older_than_days int, rows_max int) returns bigint
language sql security definer set search_path = public, pg_temp
begin atomic
  with old as (select e.user_id, e.edition_id, e.said_at from earlier_swipes e
      where e.ended_at < now() - older_than_days * interval '1 day' limit rows_max),
    gone as (delete from earlier_swipes e using old
      where e.user_id = old.user_id and e.edition_id = old.edition_id and e.said_at = old.said_at returning 1)
  select count(*) from gone;
end;
revoke all on function prune_earlier_swipes(int, int) from public;
grant execute on function prune_earlier_swipes(int, int) to bookplate_app;

-- The editions that were spoken of since it was last learned, whenever that was said to have been: of which a swipe was
-- recorded, or counts no more.
create or replace function editions_with_news() returns table (edition bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select e.number from editions e where e.id in (
    select s.edition_id from reader_signals s where s.weight > 0 and s.at > (select similar_at from feed_state)
    union all
    select s.edition_id from swipes s
      where s.action in ('LIKE', 'BUY') and s.recorded_at > (select similar_at from feed_state)
    union all
    select s.edition_id from earlier_swipes s
      where s.action in ('LIKE', 'BUY') and s.ended_at > (select similar_at from feed_state))
$$;
