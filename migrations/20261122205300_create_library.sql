-- Why: readers keep books on shelves and review them.

-- Every primary key starts with user_id, so an id that a client chooses can neither collide with nor reveal a row of
-- another user. Foreign keys contain user_id, too, so no row can refer to another user's library.

CREATE TYPE reading_status AS ENUM ('WANT_TO_READ', 'READING', 'READ', 'PAUSED', 'DID_NOT_FINISH');
CREATE TYPE cover_status AS ENUM ('NONE', 'FETCHING', 'READY', 'NOT_FOUND', 'FAILED');

CREATE TABLE shelves (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    name text NOT NULL CHECK (name = btrim(name) AND char_length(name) BETWEEN 1 AND 100),
    position int NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id)
);
ALTER TABLE shelves ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE UNIQUE INDEX shelves_name ON shelves (user_id, lower(name));

CREATE TABLE books (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    -- The edition of the catalog that the book is; null if the catalog does not have it.
    edition_id uuid REFERENCES editions ON DELETE SET NULL,
    title text NOT NULL CHECK (title = btrim(title) AND char_length(title) BETWEEN 1 AND 500),
    author text CHECK (char_length(author) BETWEEN 1 AND 500),
    isbn13 text CHECK (isbn13 ~ '^97[89][0-9]{10}$'),
    publisher text,
    published_date text,
    page_count int CHECK (page_count > 0),
    category text CHECK (char_length(category) BETWEEN 1 AND 100),
    genre text CHECK (char_length(genre) BETWEEN 1 AND 100),
    description text,
    status reading_status NOT NULL DEFAULT 'WANT_TO_READ',
    current_page int CHECK (current_page >= 0),
    added_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    finished_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT now(),
    cover_status cover_status NOT NULL DEFAULT 'NONE',
    -- When the running cover search was requested; null if none is running. It identifies the search: setting or removing
    -- the cover clears it, and a later request sets another time, so an outdated search cannot overwrite a newer state.
    cover_requested_at timestamptz,
    -- When a search last ended because no source has a cover; null if it ended because a source did not answer.
    cover_not_found_at timestamptz,
    search_text text GENERATED ALWAYS AS (search_fold(title || ' ' || coalesce(author, ''))) STORED,
    PRIMARY KEY (user_id, id)
);
ALTER TABLE books ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE UNIQUE INDEX books_edition_id ON books (user_id, edition_id)
    WHERE edition_id IS NOT NULL;
CREATE UNIQUE INDEX books_isbn13 ON books (user_id, isbn13)
    WHERE isbn13 IS NOT NULL;
-- The lists of the app's tabs, newest first. Other orders sort the rows of one user.
CREATE INDEX books_added_at ON books (user_id, added_at, id);
CREATE INDEX books_status ON books (user_id, status, added_at, id);
-- The foreign key uses this index when an edition is deleted.
CREATE INDEX books_of_edition ON books (edition_id)
    WHERE edition_id IS NOT NULL;
-- end_overdue_cover_waits uses this index.
CREATE INDEX books_cover_requested_at ON books (cover_requested_at)
    WHERE cover_status = 'FETCHING';

-- added_at is a copy of the book's, so an index-only scan returns the newest books of a shelf.
CREATE TABLE shelf_books (
    user_id uuid NOT NULL,
    shelf_id uuid NOT NULL,
    book_id uuid NOT NULL,
    added_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, shelf_id, book_id),
    FOREIGN KEY (user_id, shelf_id) REFERENCES shelves ON DELETE CASCADE,
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE shelf_books ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX shelf_books_added_at ON shelf_books (user_id, shelf_id, added_at, book_id);
-- An index-only scan returns the shelves of a book.
CREATE INDEX shelf_books_of_book ON shelf_books (user_id, book_id, shelf_id);

-- At most one review per book. The API shows it while the book's status is READ.
CREATE TABLE reviews (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    rating smallint NOT NULL CHECK (rating BETWEEN 1 AND 5),
    text text CHECK (char_length(text) BETWEEN 1 AND 100000),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, book_id),
    UNIQUE (user_id, id),
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE reviews ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX reviews_created_at ON reviews (user_id, created_at, id);
