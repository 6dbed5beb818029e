-- Why: readers bring their library from elsewhere as a file, which is read in the background.

create type import_format as enum ('GOODREADS', 'STORYGRAPH', 'BOOKPLATE');
create type import_state as enum ('QUEUED', 'RUNNING', 'DONE', 'FAILED');

create table imports (
  user_id uuid not null references users on delete cascade,
  id uuid not null,
  format import_format not null,
  state import_state not null default 'QUEUED',
  -- The file; gone when it has been read.
  content bytea,
  content_hash bytea not null,
  -- Its records; null until they have been counted.
  total int,
  done int not null default 0,
  created int not null default 0,
  updated int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, id)
);
-- The same file is not read twice at once.
create unique index imports_unfinished on imports (user_id, content_hash, format)
  where state in ('QUEUED', 'RUNNING');

create table import_failures (
  user_id uuid not null,
  import_id uuid not null,
  line int not null,
  message text not null,
  primary key (user_id, import_id, line),
  foreign key (user_id, import_id) references imports on delete cascade
);

do $$
declare
  owned text;
begin
  foreach owned in array array['imports', 'import_failures'] loop
    execute format('alter table %I enable row level security, force row level security', owned);
    execute format('create policy owner_only on %I to bookplate_app '
      'using (user_id = (select app_user_id())) with check (user_id = (select app_user_id()))', owned);
    execute format('create policy administration on %I to current_user using (true) with check (true)', owned);
    execute format('grant select, insert, update, delete on %I to bookplate_app', owned);
  end loop;
end
$$;

-- Finds a book by its title: for records without an ISBN.
create index books_title on books (user_id, hashtext(lower(title)));

-- How far a status is on the way to READ. An import takes a book further and never back.
create function status_rank(status reading_status) returns int language sql immutable parallel safe as $$
  select case status when 'WANT_TO_READ' then 0 when 'READ' then 2 else 1 end
$$;

-- The shelf of this name, made where there is none; null where the library has no room for one more.
create function import_shelf(shelf_id uuid, shelf_name text, shelf_created_at timestamptz) returns uuid
language plpgsql as $$
declare
  owner uuid := app_user_id();
  found_id uuid;
begin
  select s.id into found_id from shelves s where s.user_id = owner and lower(s.name) = lower(shelf_name);
  if found then return found_id; end if;
  insert into shelves (user_id, id, name, position, created_at)
    select owner,
      case when exists (select from shelves s where s.user_id = owner and s.id = shelf_id)
        then gen_random_uuid() else coalesce(shelf_id, gen_random_uuid()) end,
      shelf_name, coalesce(max(position) + 1, 0), coalesce(shelf_created_at, now())
    from shelves where user_id = owner having count(*) < 500
    returning id into found_id;
  return found_id;
end
$$;

-- Brings one book into the caller's library. What is there already is not lost: blanks are filled, a status only
-- moves on, a review stays. So a second time nothing changes.
create function import_book(record jsonb, out outcome text, out problem text)
language plpgsql as $$
declare
  owner uuid := app_user_id();
  b record;
  card editions;
  kept books;
  shelf uuid;
  shelf_name text;
begin
  outcome := 'SAME';
  select * into b from jsonb_to_record(record) as r (
    id uuid, "cardId" uuid, title text, author text, isbn13 text, publisher text, "publishedDate" text,
    "pageCount" int, category text, genre text, description text, status reading_status, "currentPage" int,
    "addedAt" timestamptz, "startedAt" timestamptz, "finishedAt" timestamptz, "updatedAt" timestamptz,
    shelves text[], "reviewId" uuid, rating int, review text, "reviewedAt" timestamptz,
    "reviewUpdatedAt" timestamptz);
  select * into card from editions e where e.id = b."cardId";
  if not found then select * into card from editions e where e.isbn13 = b.isbn13; end if;

  select * into kept from books k where k.user_id = owner and k.id = b.id;
  if not found then
    select * into kept from books k where k.user_id = owner and (k.isbn13 = b.isbn13 or k.edition_id = card.id)
      order by k.isbn13 = b.isbn13 desc nulls last limit 1;
  end if;
  if not found then
    select * into kept from books k where k.user_id = owner
      and hashtext(lower(k.title)) = hashtext(lower(b.title)) and lower(k.title) = lower(b.title)
      and (k.author is null or b.author is null or lower(k.author) = lower(b.author))
      and (k.isbn13 is null or b.isbn13 is null)
      order by k.added_at, k.id limit 1;
  end if;

  if not found then
    insert into books (user_id, id, edition_id, title, author, isbn13, publisher, published_date, page_count,
        category, genre, description, status, current_page, added_at, started_at, finished_at, updated_at)
      values (owner, b.id, card.id, b.title, coalesce(b.author, card.authors[1]), coalesce(b.isbn13, card.isbn13),
        coalesce(b.publisher, card.publisher), coalesce(b."publishedDate", card.published_date),
        coalesce(b."pageCount", card.page_count), b.category, coalesce(b.genre, card.genres[1]),
        coalesce(b.description, card.description), b.status, b."currentPage", coalesce(b."addedAt", now()),
        b."startedAt", b."finishedAt", coalesce(b."updatedAt", now()))
      returning * into kept;
    outcome := 'CREATED';
  else
    update books k set
        author = coalesce(k.author, b.author),
        isbn13 = coalesce(k.isbn13, case when not exists (
          select from books o where o.user_id = owner and o.isbn13 = b.isbn13) then b.isbn13 end),
        edition_id = coalesce(k.edition_id, case when not exists (
          select from books o where o.user_id = owner and o.edition_id = card.id) then card.id end),
        publisher = coalesce(k.publisher, b.publisher),
        published_date = coalesce(k.published_date, b."publishedDate"),
        page_count = coalesce(k.page_count, b."pageCount"),
        category = coalesce(k.category, b.category), genre = coalesce(k.genre, b.genre),
        description = coalesce(k.description, b.description),
        status = case when status_rank(b.status) > status_rank(k.status) then b.status else k.status end,
        current_page = coalesce(k.current_page, b."currentPage"),
        started_at = coalesce(k.started_at, b."startedAt"),
        finished_at = coalesce(k.finished_at, b."finishedAt"), updated_at = now()
      where k.user_id = owner and k.id = kept.id and (
        (k.author is null and b.author is not null)
        or (k.isbn13 is null and b.isbn13 is not null and not exists (
          select from books o where o.user_id = owner and o.isbn13 = b.isbn13))
        or (k.edition_id is null and card.id is not null and not exists (
          select from books o where o.user_id = owner and o.edition_id = card.id))
        or (k.publisher is null and b.publisher is not null)
        or (k.published_date is null and b."publishedDate" is not null)
        or (k.page_count is null and b."pageCount" is not null)
        or (k.category is null and b.category is not null) or (k.genre is null and b.genre is not null)
        or (k.description is null and b.description is not null)
        or status_rank(b.status) > status_rank(k.status)
        or (k.current_page is null and b."currentPage" is not null)
        or (k.started_at is null and b."startedAt" is not null)
        or (k.finished_at is null and b."finishedAt" is not null));
    if found then outcome := 'UPDATED'; end if;
  end if;

  foreach shelf_name in array coalesce(b.shelves, '{}') loop
    shelf := import_shelf(null, shelf_name, null);
    if shelf is null then
      problem := 'A library has at most 500 shelves: “' || shelf_name || '” was left out.';
    else
      insert into shelf_books (user_id, shelf_id, book_id, added_at)
        values (owner, shelf, kept.id, kept.added_at) on conflict do nothing;
      if found and outcome = 'SAME' then outcome := 'UPDATED'; end if;
    end if;
  end loop;

  if b.rating is not null then
    insert into reviews (user_id, book_id, id, rating, text, created_at, updated_at)
      values (owner, kept.id,
        case when exists (select from reviews v where v.user_id = owner and v.id = b."reviewId")
          then gen_random_uuid() else coalesce(b."reviewId", gen_random_uuid()) end,
        b.rating, b.review, coalesce(b."reviewedAt", b."finishedAt", now()),
        coalesce(b."reviewUpdatedAt", b."reviewedAt", b."finishedAt", now()))
      on conflict (user_id, book_id) do nothing;
    if found and outcome = 'SAME' then outcome := 'UPDATED'; end if;
  end if;
exception when integrity_constraint_violation or data_exception then
  -- What was checked before does not come here; one odd record is not to stop the others.
  outcome := 'FAILED';
  problem := 'This book cannot be stored.';
end
$$;

-- Brings the next records of an import into the library, and notes how far it has come: both or neither.
-- `start` is how many were done before; at another place nothing happens. Answers the new position.
create function import_records(import uuid, start int, records jsonb) returns int
language plpgsql as $$
declare
  owner uuid := app_user_id();
  entry jsonb;
  result record;
  problem text;
  created_count int := 0;
  updated_count int := 0;
  reached int;
begin
  select i.done into reached from imports i
    where i.user_id = owner and i.id = import and i.state = 'RUNNING' for update;
  if reached is distinct from start then return reached; end if;
  for entry in select * from jsonb_array_elements(records) loop
    problem := entry->>'problem';
    if entry ? 'book' then
      select * into result from import_book(entry->'book');
      created_count := created_count + (result.outcome = 'CREATED')::int;
      updated_count := updated_count + (result.outcome = 'UPDATED')::int;
      problem := coalesce(problem, result.problem);
    elsif entry ? 'shelf' then
      perform import_shelf((entry->'shelf'->>'id')::uuid, entry->'shelf'->>'name',
        (entry->'shelf'->>'createdAt')::timestamptz);
    elsif entry ? 'swipe' then
      insert into swipes (user_id, edition_id, action, swiped_at)
        select owner, e.id, (entry->'swipe'->>'action')::swipe_action, (entry->'swipe'->>'swipedAt')::timestamptz
          from editions e where e.id = (entry->'swipe'->>'cardId')::uuid
        on conflict do nothing;
    end if;
    if problem is not null then
      insert into import_failures (user_id, import_id, line, message)
        values (owner, import, (entry->>'line')::int, problem)
        on conflict do nothing;
    end if;
  end loop;
  update imports i
    set done = i.done + jsonb_array_length(records), created = i.created + created_count,
      updated = i.updated + updated_count, updated_at = now()
    where i.user_id = owner and i.id = import returning i.done into reached;
  perform pg_notify('imports', owner::text);
  return reached;
end
$$;
