-- Why: readers swipe the cards of a feed, which is ordered by popularity and by what each reader likes.

-- A reader is a user of the feed. A card shows an edition, so `card_id` is `editions.id`. A scroll reads a chain of decks from
-- its start. A signal is a reader's opinion of an edition (view `reader_signals`).

CREATE TYPE swipe_action AS ENUM ('LIKE', 'SKIP', 'DISLIKE', 'BUY');

-- The swipes of readers, as events. A device that sends a swipe again conflicts with its own row. A swipe that arrives late is
-- an earlier event.
CREATE TABLE swipes (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    -- The client's time, which may be in the future, or the server's time if the client sent none.
    swiped_at timestamptz NOT NULL,
    action swipe_action NOT NULL,
    -- The id of the bookstore whose link the reader opened, for BUY. Null if the client did not send it.
    store text CHECK (char_length(store) BETWEEN 1 AND 100),
    recorded_at timestamptz NOT NULL DEFAULT now(),
    undone_at timestamptz,
    -- The book that this swipe added to the library. It may be deleted since.
    saved_book_id uuid,
    PRIMARY KEY (user_id, edition_id, swiped_at)
);
ALTER TABLE swipes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX swipes_edition_id ON swipes (edition_id);
-- The history of a reader. A page merges one scan for each action. Partial indexes, because under row-level security a
-- comparison of an enum cannot be a condition of an index scan: `enum_eq` is not leakproof.
CREATE INDEX swipes_history_like ON swipes (user_id, least(swiped_at, recorded_at), edition_id, swiped_at)
    WHERE action = 'LIKE';
CREATE INDEX swipes_history_skip ON swipes (user_id, least(swiped_at, recorded_at), edition_id, swiped_at)
    WHERE action = 'SKIP';
CREATE INDEX swipes_history_dislike ON swipes (user_id, least(swiped_at, recorded_at), edition_id, swiped_at)
    WHERE action = 'DISLIKE';
CREATE INDEX swipes_history_buy ON swipes (user_id, least(swiped_at, recorded_at), edition_id, swiped_at)
    WHERE action = 'BUY';
CREATE INDEX swipes_undone_at ON swipes (undone_at) WHERE undone_at IS NOT NULL;
-- Swipes are appended in the order of this time, so the index is tiny.
CREATE INDEX swipes_recorded_at ON swipes USING brin (recorded_at);

-- The editions that readers of an edition probably like, best first, or dislike if the score is negative. The job feed.similar
-- learns them.
CREATE TABLE edition_similar (
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    rank smallint NOT NULL,
    similar_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    score float4 NOT NULL,
    PRIMARY KEY (edition_id, rank)
);
CREATE INDEX edition_similar_similar_id ON edition_similar (similar_id);

-- One row: what the feed's background work has found out about the whole catalog.
CREATE TABLE feed_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- The language of most editions. Those in other languages come last in the feed.
    main_language text,
    -- When similar editions were last learned. Signals since then are new.
    similar_at timestamptz NOT NULL DEFAULT '-infinity',
    -- Decks that are older do not start a scroll. Set when the whole catalog or all similar editions have changed.
    decks_valid_since timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO feed_state DEFAULT VALUES;

-- The editions of each genre, most popular first.
CREATE TABLE edition_genres (
    -- 0 for an edition without a genre, therefore no foreign key.
    genre_id smallint NOT NULL,
    -- The sort key that `genre_position` returns: tier, popularity, and number of the edition.
    position bigint NOT NULL,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    -- 1 for the edition's first genre.
    ordinal smallint NOT NULL,
    PRIMARY KEY (genre_id, position) INCLUDE (edition_id, ordinal)
);
CREATE INDEX edition_genres_edition_id ON edition_genres (edition_id, ordinal) INCLUDE (genre_id, position);

-- The feed finds the other books of liked authors and series by these indexes.
CREATE INDEX editions_first_author_hash ON editions (first_author_hash, popularity DESC);
CREATE INDEX editions_series_hash ON editions (series_hash, popularity DESC) WHERE series_hash <> 0;

-- The numbers of new chains.
CREATE SEQUENCE feed_chains;

-- Immutable lists of cards for one reader. A feed is a chain of decks.
CREATE TABLE feed_decks (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    -- From feed_chains, and so unique in the installation: a cursor of another reader matches no deck. A negative number is that
    -- of the cold-start deck with which the chain starts.
    chain bigint NOT NULL,
    -- The number of preceding decks of the chain.
    number smallint NOT NULL,
    -- The genres of a filtered feed, in ascending order. Empty for all genres.
    filter smallint[] NOT NULL,
    -- Empty at the end of a feed.
    editions uuid[] NOT NULL,
    -- The reader's signals_version when the deck's signals were read. With an older version, cursors still read the deck, but it
    -- starts no scroll.
    signals_version bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, chain, number)
);
ALTER TABLE feed_decks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX feed_decks_start ON feed_decks (user_id, filter, chain DESC) WHERE number = 0;
CREATE INDEX feed_decks_created_at ON feed_decks USING brin (created_at);

-- The first deck of readers without signals.
CREATE TABLE cold_start_decks (
    -- Negative, to tell these chains from those of feed_chains.
    chain bigint GENERATED ALWAYS AS IDENTITY (INCREMENT BY -1 START WITH -1) PRIMARY KEY,
    editions uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
