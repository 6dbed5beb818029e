-- Why: shelves, books, reviews and swipes: what a reader owns. user_id leads every key, so that a
-- client-chosen id can neither meet nor reveal somebody else's row; foreign keys carry it too.

create type reading_status as enum ('WANT_TO_READ', 'READING', 'READ', 'PAUSED', 'DID_NOT_FINISH');
create type swipe_action as enum ('LIKE', 'SKIP', 'DISLIKE', 'BUY');

create table shelves (
  user_id uuid not null references users on delete cascade,
  id uuid not null,
  name text not null check (name = btrim(name) and char_length(name) between 1 and 100),
  position int not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, id)
);
create unique index shelves_name on shelves (user_id, lower(name));

create table books (
  user_id uuid not null references users on delete cascade,
  id uuid not null,
  edition_id uuid references editions on delete set null,
  title text not null check (title = btrim(title) and char_length(title) between 1 and 500),
  author text check (char_length(author) between 1 and 500),
  isbn13 text check (isbn13 ~ '^97[89][0-9]{10}$'),
  publisher text,
  published_date text,
  page_count int check (page_count > 0),
  category text check (char_length(category) between 1 and 100),
  genre text check (char_length(genre) between 1 and 100),
  description text,
  status reading_status not null default 'WANT_TO_READ',
  current_page int check (current_page >= 0),
  added_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null default now(),
  primary key (user_id, id)
);
create unique index books_edition_id on books (user_id, edition_id) where edition_id is not null;
create unique index books_isbn13 on books (user_id, isbn13) where isbn13 is not null;
-- The lists of the app's tabs, newest first. Other orders sort one user's rows.
create index books_added_at on books (user_id, added_at, id);
create index books_status on books (user_id, status, added_at, id);
-- For what removes an edition.
create index books_of_edition on books (edition_id) where edition_id is not null;

-- added_at is the book's: a shelf's newest books are read from the index alone.
create table shelf_books (
  user_id uuid not null,
  shelf_id uuid not null,
  book_id uuid not null,
  added_at timestamptz not null,
  primary key (user_id, shelf_id, book_id),
  foreign key (user_id, shelf_id) references shelves on delete cascade,
  foreign key (user_id, book_id) references books on delete cascade
);
create index shelf_books_added_at on shelf_books (user_id, shelf_id, added_at, book_id);
create index shelf_books_book_id on shelf_books (user_id, book_id);

create table reviews (
  user_id uuid not null,
  book_id uuid not null,
  id uuid not null,
  rating smallint not null check (rating between 1 and 5),
  text text check (char_length(text) between 1 and 100000),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, book_id),
  unique (user_id, id),
  foreign key (user_id, book_id) references books on delete cascade
);
create index reviews_created_at on reviews (user_id, created_at, id);

-- recorded_at is the server's clock: a feed cursor counts the swipes recorded before it was made.
create table swipes (
  user_id uuid not null references users on delete cascade,
  edition_id uuid not null references editions on delete cascade,
  action swipe_action not null,
  swiped_at timestamptz not null,
  recorded_at timestamptz not null default now(),
  -- The book that this swipe put into the library, to take back with it.
  saved_book_id uuid,
  primary key (user_id, edition_id)
);
create index swipes_edition_id on swipes (edition_id);

do $$
declare
  owned text;
begin
  foreach owned in array array['shelves', 'books', 'shelf_books', 'reviews', 'swipes'] loop
    execute format('alter table %I enable row level security, force row level security', owned);
    execute format('create policy owner_only on %I to bookplate_app '
      'using (user_id = (select app_user_id())) with check (user_id = (select app_user_id()))', owned);
    execute format('create policy administration on %I to current_user using (true) with check (true)', owned);
    execute format('grant select, insert, update, delete on %I to bookplate_app', owned);
  end loop;
end
$$;
