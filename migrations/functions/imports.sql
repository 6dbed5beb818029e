-- requires: accounts, library
-- Imports of a library from a file.

-- Returns how far a status is on the way to READ. An import can move a book forward, but not back.
CREATE OR REPLACE FUNCTION status_rank(status reading_status) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE status WHEN 'WANT_TO_READ' THEN 0 WHEN 'READ' THEN 2 ELSE 1 END
$$;

-- Returns the caller's shelf with the name, and creates it if there is none. Returns null if the library has 500 shelves.
--
-- enable_seqscan = off here and below: every query is for the rows of one user, so an index fits. The planner's
-- statistics may describe a table that was almost empty before the import.
CREATE OR REPLACE FUNCTION import_shelf(shelf_id uuid, shelf_name text, shelf_created_at timestamptz) RETURNS uuid
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    owner uuid := app_user_id();
    found_id uuid;
BEGIN
    SELECT s.id INTO found_id
    FROM shelves s
    WHERE s.user_id = owner AND lower(s.name) = lower(shelf_name);
    IF FOUND THEN
        RETURN found_id;
    END IF;
    INSERT INTO shelves (user_id, id, name, position, created_at)
    SELECT
        owner,
        CASE
            WHEN EXISTS (
                SELECT
                FROM shelves s
                WHERE s.user_id = owner AND s.id = shelf_id
            ) THEN gen_random_uuid()
            ELSE coalesce(shelf_id, gen_random_uuid())
        END,
        shelf_name,
        coalesce(max(position) + 1, 0),
        coalesce(shelf_created_at, now())
    FROM shelves
    WHERE user_id = owner
    HAVING count(*) < 500
    RETURNING id INTO found_id;
    RETURN found_id;
END
$$;

CREATE OR REPLACE FUNCTION import_book(record jsonb, known jsonb, OUT outcome text, OUT problem text, OUT book_id uuid, OUT card_id uuid, OUT shelf_ids uuid[])
 RETURNS record
 LANGUAGE plpgsql
AS $$
declare
  owner uuid := app_user_id();
  b record;
  kept books;
  shelf uuid;
  shelf_name text;
begin
  outcome := 'SAME';
  shelf_ids := '{}';
  select * into b from jsonb_to_record(record) as r (
    id uuid, "cardId" uuid, title text, author text, isbn13 text, publisher text, "publishedDate" text,
    "pageCount" int, category text, genre text, description text, status reading_status, "currentPage" int,
    "startedAt" timestamptz, "finishedAt" timestamptz, shelves text[], rating int, review text);
  if b.rating not between 1 and 5 or char_length(b.review) not between 1 and 100000 then
    raise check_violation;
  end if;
  select e.id into card_id from editions e where e.id = b."cardId";
  if not found then select e.id into card_id from editions e where e.isbn13 = b.isbn13; end if;

  select * into kept from books k where k.user_id = owner and k.id = b.id;
  if not found then
    select * into kept from books k where k.user_id = owner and k.isbn13 = b.isbn13;
  end if;
  if not found then
    select * into kept from books k where k.user_id = owner and k.edition_id = card_id;
  end if;
  if not found and known ? lower(b.title) then
    select * into kept from books k where k.user_id = owner
      and k.id = any(array(select jsonb_array_elements_text(known->lower(b.title))::uuid))
      and (k.author is null or b.author is null or lower(k.author) = lower(b.author))
      and (k.isbn13 is null or b.isbn13 is null)
      order by k.added_at, k.id limit 1;
  end if;

  if kept.id is null then
    book_id := b.id;
    outcome := 'CREATED';
  else
    book_id := kept.id;
    update books k set
        author = coalesce(k.author, b.author),
        isbn13 = coalesce(k.isbn13, case when not exists (
          select from books o where o.user_id = owner and o.isbn13 = b.isbn13) then b.isbn13 end),
        edition_id = coalesce(k.edition_id, case when not exists (
          select from books o where o.user_id = owner and o.edition_id = card_id) then card_id end),
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
        or (k.edition_id is null and card_id is not null and not exists (
          select from books o where o.user_id = owner and o.edition_id = card_id))
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
      shelf_ids := shelf_ids || shelf;
    end if;
  end loop;
exception when integrity_constraint_violation or data_exception then
  -- What was checked before does not come here; one odd record is not to stop the others.
  outcome := 'FAILED';
  problem := 'This book cannot be stored.';
  shelf_ids := '{}';
end
$$;

CREATE OR REPLACE FUNCTION store_imported_books(books jsonb)
 RETURNS uuid[]
 LANGUAGE plpgsql
AS $$
declare
  failed uuid[] := '{}';
  one jsonb;
begin
  insert into books (user_id, id, edition_id, title, author, isbn13, publisher, published_date, page_count,
      category, genre, description, status, current_page, added_at, started_at, finished_at, updated_at)
    select app_user_id(), b.id, card.id, b.title, coalesce(b.author, card.authors[1]), coalesce(b.isbn13, card.isbn13),
      coalesce(b.publisher, card.publisher), coalesce(b."publishedDate", card.published_date),
      coalesce(b."pageCount", card.page_count), b.category, coalesce(b.genre, card.genres[1]),
      coalesce(b.description, card.description), b.status, b."currentPage", coalesce(b."addedAt", now()),
      b."startedAt", b."finishedAt", coalesce(b."updatedAt", now())
    from jsonb_to_recordset(store_imported_books.books) as b (
      id uuid, "cardId" uuid, title text, author text, isbn13 text, publisher text, "publishedDate" text,
      "pageCount" int, category text, genre text, description text, status reading_status, "currentPage" int,
      "addedAt" timestamptz, "startedAt" timestamptz, "finishedAt" timestamptz, "updatedAt" timestamptz)
    left join editions card on card.id = b."cardId";
  return failed;
exception when integrity_constraint_violation or data_exception then
  if jsonb_array_length(books) = 1 then return array[(books->0->>'id')::uuid]; end if;
  for one in select * from jsonb_array_elements(books) loop
    failed := failed || store_imported_books(jsonb_build_array(one));
  end loop;
  return failed;
end
$$;

CREATE OR REPLACE FUNCTION import_records(import uuid, start integer, records jsonb)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $$
declare
  owner uuid := app_user_id();
  entry jsonb;
  book jsonb;
  result record;
  problem text;
  created_count int := 0;
  updated_count int := 0;
  reached int;
  known jsonb;
  shelf uuid;
  waiting jsonb := '[]';
  -- By what a later record may mean them: id, ISBN, card, title.
  waiting_keys text[] := '{}';
  keys text[];
  lines jsonb := '{}';
  failed uuid[] := '{}';
  placed_ids uuid[] := '{}';
  placed_on uuid[] := '{}';
  reviews_of uuid[] := '{}';
  reviewed jsonb[] := '{}';
begin
  select i.done into reached from imports i
    where i.user_id = owner and i.id = import and i.state = 'RUNNING' for update;
  if reached is distinct from start then return reached; end if;
  perform set_config('app.bulk', 'on', true);
  for entry in select * from jsonb_array_elements(records || '[{}]') loop
    problem := entry->>'problem';
    book := entry->'book';
    keys := array[book->>'id', book->>'isbn13', book->>'cardId', lower(book->>'title')];
    -- After the last one, too.
    if entry = '{}' or keys && waiting_keys then
      failed := failed || store_imported_books(waiting);
      waiting := '[]';
      waiting_keys := '{}';
      known := null;
    end if;
    if book is not null then
      loop
        if known is null then
          known := (select coalesce(jsonb_object_agg(t.title, t.ids), '{}') from (
            select lower(k.title) as title, jsonb_agg(k.id) as ids from books k
            where k.user_id = owner and lower(k.title) in (
              select lower(r->'book'->>'title') from jsonb_array_elements(records) r) group by 1) t);
        end if;
        select * into result from import_book(book, known);
        exit when result.outcome <> 'CREATED' or result.card_id is null or result.card_id::text <> all(waiting_keys);
        -- Its card waits under another number.
        failed := failed || store_imported_books(waiting);
        waiting := '[]';
        waiting_keys := '{}';
        known := null;
      end loop;
      problem := coalesce(problem, result.problem);
      if result.outcome = 'CREATED' then
        waiting := waiting || (book || jsonb_build_object('cardId', result.card_id));
        waiting_keys := waiting_keys || array_remove(keys || result.card_id::text, null);
        lines := lines || jsonb_build_object(book->>'id', entry->'line');
        created_count := created_count + 1;
      end if;
      foreach shelf in array result.shelf_ids loop
        if result.outcome = 'CREATED' or not exists (
          select from shelf_books f where f.user_id = owner and f.shelf_id = shelf and f.book_id = result.book_id)
        then
          placed_ids := placed_ids || result.book_id;
          placed_on := placed_on || shelf;
          if result.outcome = 'SAME' then result.outcome := 'UPDATED'; end if;
        end if;
      end loop;
      if result.outcome <> 'FAILED' and book ? 'rating' and result.book_id <> all(reviews_of)
        and (result.outcome = 'CREATED' or not exists (
          select from reviews v where v.user_id = owner and v.book_id = result.book_id))
      then
        reviews_of := reviews_of || result.book_id;
        reviewed := reviewed || book;
        if result.outcome = 'SAME' then result.outcome := 'UPDATED'; end if;
      end if;
      updated_count := updated_count + (result.outcome = 'UPDATED')::int;
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

  insert into shelf_books (user_id, shelf_id, book_id, added_at)
    select owner, p.shelf_id, b.id, b.added_at
    from unnest(placed_on, placed_ids) as p (shelf_id, book_id)
    join books b on b.user_id = owner and b.id = p.book_id
    on conflict do nothing;
  -- A review keeps its id where no other has it.
  insert into reviews (user_id, book_id, id, rating, text, created_at, updated_at)
    select owner, r.book_id,
      case when r.place > 1 or r.id is null or exists (select from reviews v where v.user_id = owner and v.id = r.id)
        then gen_random_uuid() else r.id end,
      r.rating, r.text, coalesce(r.created_at, now()), coalesce(r.updated_at, r.created_at, now())
    from (
      select b.id as book_id, (w->>'reviewId')::uuid as id, (w->>'rating')::int as rating, w->>'review' as text,
        coalesce((w->>'reviewedAt')::timestamptz, (w->>'finishedAt')::timestamptz) as created_at,
        (w->>'reviewUpdatedAt')::timestamptz as updated_at, row_number() over (partition by w->>'reviewId') as place
      from unnest(reviews_of, reviewed) as listed (book_id, w)
      join books b on b.user_id = owner and b.id = listed.book_id) r
    on conflict do nothing;
  insert into import_failures (user_id, import_id, line, message)
    select owner, import, (lines->>id::text)::int, 'This book cannot be stored.' from unnest(failed) as id
    on conflict do nothing;
  -- The feed's triggers are silent meanwhile; what was dealt may hold books that are here now.
  update feed_decks set touched_at = now() where user_id = owner and touched_at is null;
  update imports i
    set done = i.done + jsonb_array_length(records), created = i.created + created_count - cardinality(failed),
      updated = i.updated + updated_count, updated_at = now()
    where i.user_id = owner and i.id = import returning i.done into reached;
  return reached;
end
$$;

-- Ends imports that made no progress for the given number of days, because their job failed for good. Returns their users.
-- Otherwise such an import would keep its file, and one of the user's five places for waiting imports.
CREATE OR REPLACE FUNCTION prune_imports(older_than_days int) RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH ended AS (
        UPDATE imports i
        SET state = 'FAILED',
            content = NULL,
            updated_at = now()
        WHERE i.content IS NOT NULL AND i.updated_at < now() - older_than_days * interval '1 day'
        RETURNING i.user_id, i.id
    ), recorded AS (
        INSERT INTO import_failures (user_id, import_id, line, message)
        SELECT e.user_id, e.id, 0, 'This import was given up. Import the file again.'
        FROM ended e
        ON CONFLICT DO NOTHING
    )
    SELECT e.user_id
    FROM ended e
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON imports;
CREATE POLICY owner_only ON imports TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON imports;
CREATE POLICY administration ON imports TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON import_failures;
CREATE POLICY owner_only ON import_failures TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON import_failures;
CREATE POLICY administration ON import_failures TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON imports, import_failures TO bookplate_app;

REVOKE ALL ON FUNCTION prune_imports FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_imports TO bookplate_app;
