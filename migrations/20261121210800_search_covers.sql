-- Why: a book gets a cover without anyone asking, and no search undoes what a reader did while it was under way.

-- cover_wanted_at stands as long as a search is under way, also when it goes on after its minute. Whoever gives or takes
-- away a cover meanwhile clears it, and a later wish is another instant: so what a search brings is told from what it may not touch.
create index books_cover_wanted_at on books (cover_wanted_at) where cover_status = 'FETCHING';

-- Asks for the searches that this transaction has wished for, and tells of them: a job and an event for each book, all in
-- one statement.
create function enqueue_cover_searches(kind text, priority int, attempts_max int) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  owner uuid := app_user_id();
  added bigint;
begin
  with wished as materialized (
    select b.id from books b
      where b.cover_status = 'FETCHING' and b.cover_wanted_at = now() and b.user_id = owner
      order by b.id),
  told as (
    insert into events (user_id, kind, payload)
      select owner, 'cover_changed', jsonb_build_object('book_id', w.id, 'status', 'FETCHING') from wished w)
  insert into jobs as j (user_id, kind, payload, key, priority, attempts_max)
    select owner, enqueue_cover_searches.kind, jsonb_build_object('bookID', w.id), w.id::text,
        enqueue_cover_searches.priority, enqueue_cover_searches.attempts_max
      from wished w
    on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do update
      set priority = least(j.priority, excluded.priority), run_at = least(j.run_at, excluded.run_at),
        attempts = case j.state when 'RUNNING' then j.attempts else 0 end,
        again = j.state = 'RUNNING', updated_at = now();
  get diagnostics added = row_count;
  return added;
end
$$;
revoke all on function enqueue_cover_searches(text, int, int) from public;
grant execute on function enqueue_cover_searches(text, int, int) to bookplate_app;

-- A search found nothing, or the picture went. That one began is told with its job, READY with the picture.
drop trigger tell_cover_status on books;
create trigger tell_cover_status after update of cover_status on books
  for each row when (old.cover_status <> new.cover_status and new.cover_status not in ('READY', 'FETCHING'))
  execute function tell_cover_status();

-- The search is over, and the picture that was there stays.
create function tell_cover_stays(user_id uuid, book_id uuid) returns void language sql as $$
  insert into events (user_id, kind, payload)
    select c.user_id, 'cover_changed', jsonb_build_object(
        'book_id', c.book_id, 'status', 'READY', 'source', c.source, 'version', c.version)
      from covers c where c.user_id = tell_cover_stays.user_id and c.book_id = tell_cover_stays.book_id
$$;

-- As before; and the same picture again ends a search, which is told.
create or replace function set_cover(
  user_id uuid, book_id uuid, version text, source cover_source, width int, height int,
  dominant_color text, blur_hash text, byte_counts int[], hashes bytea[], unless_newer_than timestamptz
) returns text language plpgsql as $$
#variable_conflict use_column
declare
  tenant tenants;
  current covers;
  status cover_status;
  added bigint := cover_bytes(set_cover.byte_counts);
begin
  -- Two covers of one book come one after the other, and a book that is being deleted is gone first.
  select b.cover_status into status from books b
    where b.user_id = set_cover.user_id and b.id = set_cover.book_id for no key update;
  if not found then
    raise exception 'There is no such book in the library.' using errcode = 'BP404';
  end if;
  select * into current from covers c where c.user_id = set_cover.user_id and c.book_id = set_cover.book_id;
  if current.updated_at > unless_newer_than then return current.version; end if;

  select t.* into tenant from tenants t join users u on u.tenant_id = t.id where u.id = set_cover.user_id;
  if added + (select coalesce(sum(cover_bytes(c.byte_counts)), 0) from covers c
      where c.user_id = set_cover.user_id and c.book_id <> set_cover.book_id) > tenant.user_storage_bytes_max then
    raise exception 'Your covers take all the room there is for them. Remove some, and try again.'
      using errcode = 'BP413';
  end if;
  if added + (select coalesce(sum(s.bytes), 0) from tenant_storage s where s.tenant_id = tenant.id)
      > tenant.storage_bytes_max then
    raise exception 'There is no room for more covers at the moment. Try again later.' using errcode = 'BP413';
  end if;

  update books b set cover_status = 'READY', cover_wanted_at = null,
      updated_at = case when unless_newer_than is null then now() else b.updated_at end
    where b.user_id = set_cover.user_id and b.id = set_cover.book_id;
  if left(current.version, 16) = left(set_cover.version, 16) then
    update covers c set source = set_cover.source
      where c.user_id = set_cover.user_id and c.book_id = set_cover.book_id and c.source <> set_cover.source;
    if status <> 'READY' then perform tell_cover_stays(set_cover.user_id, set_cover.book_id); end if;
    return current.version;
  end if;
  insert into covers (user_id, book_id, tenant_id, version, source, width, height, dominant_color,
      blur_hash, byte_counts, hashes)
    values (set_cover.user_id, set_cover.book_id, tenant.id, set_cover.version, set_cover.source,
      set_cover.width, set_cover.height, set_cover.dominant_color, set_cover.blur_hash,
      set_cover.byte_counts, set_cover.hashes)
    on conflict (user_id, book_id) do update
      set version = excluded.version, source = excluded.source, width = excluded.width,
        height = excluded.height, dominant_color = excluded.dominant_color, blur_hash = excluded.blur_hash,
        byte_counts = excluded.byte_counts, hashes = excluded.hashes, updated_at = now();
  return set_cover.version;
end
$$;

-- A search ends without a picture of its own: for the status that is given, or for the picture that is there.
-- Nothing happens where it is not the search that the book waits for.
create function end_cover_search(
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
    set cover_status = case when has_cover then 'READY' else end_cover_search.status end, cover_wanted_at = null
    where b.user_id = end_cover_search.user_id and b.id = end_cover_search.book_id;
  if has_cover and book.cover_status = 'FETCHING' then
    perform tell_cover_stays(end_cover_search.user_id, end_cover_search.book_id);
  end if;
end
$$;

-- Makes what a search has found the book's cover, and answers which version that is then; null where the book is gone or
-- does not wait for this search any more. `wanted_at` is the wish that the search began with; null where nobody
-- wished, and then only a book without a cover gets one.
create function set_found_cover(
  user_id uuid, book_id uuid, version text, source cover_source, width int, height int,
  dominant_color text, blur_hash text, byte_counts int[], hashes bytea[], wanted_at timestamptz
) returns text language plpgsql as $$
#variable_conflict use_column
declare
  book books;
  current covers;
begin
  select * into book from books b
    where b.user_id = set_found_cover.user_id and b.id = set_found_cover.book_id for no key update;
  if not found or book.cover_wanted_at is distinct from set_found_cover.wanted_at then return null; end if;
  select * into current from covers c
    where c.user_id = set_found_cover.user_id and c.book_id = set_found_cover.book_id;
  if found and set_found_cover.wanted_at is null then return current.version; end if;
  -- What was found before is not replaced by something smaller.
  if current.source not in ('MANUAL_UPLOAD', 'URL') and current.width > set_found_cover.width then
    perform end_cover_search(set_found_cover.user_id, set_found_cover.book_id, set_found_cover.wanted_at, 'READY');
    return current.version;
  end if;
  -- The reader did not touch the book: its time stays.
  return set_cover(set_found_cover.user_id, set_found_cover.book_id, set_found_cover.version,
    set_found_cover.source, set_found_cover.width, set_found_cover.height, set_found_cover.dominant_color,
    set_found_cover.blur_hash, set_found_cover.byte_counts, set_found_cover.hashes, 'infinity');
end
$$;

-- Tells readers who have waited for so long that nothing was found yet; the search goes on. Answers whose books they are.
-- A user who is writing at the moment has their turn the next time, so nobody waits for anybody.
create function end_overdue_cover_waits(seconds int, users_max int) returns setof uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  owner uuid;
  ended uuid[];
  book uuid;
begin
  for owner in
    select distinct b.user_id from books b
      where b.cover_status = 'FETCHING' and b.cover_wanted_at < now() - seconds * interval '1 second'
      limit users_max
  loop
    continue when not pg_try_advisory_xact_lock(hashtextextended(owner::text, 0));
    with waits as (
      update books b
        set cover_status = case when exists (
            select from covers c where c.user_id = owner and c.book_id = b.id) then 'READY' else 'NOT_FOUND'
          end::cover_status
        where b.user_id = owner and b.cover_status = 'FETCHING'
          and b.cover_wanted_at < now() - seconds * interval '1 second'
        returning b.id, b.cover_status)
    select array_agg(w.id) filter (where w.cover_status = 'READY') into ended from waits w;
    foreach book in array coalesce(ended, '{}') loop
      perform tell_cover_stays(owner, book);
    end loop;
    return next owner;
  end loop;
end
$$;
revoke all on function end_overdue_cover_waits(int, int) from public;
grant execute on function end_overdue_cover_waits(int, int) to bookplate_app;
