-- Why: readers swipe the cards of a feed, which is ordered by popularity and by what each reader likes.

CREATE TYPE swipe_action AS ENUM ('LIKE', 'SKIP', 'DISLIKE', 'BUY');

-- recorded_at is the server's clock: a feed cursor counts the swipes recorded before it was made.
CREATE TABLE swipes (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    action swipe_action NOT NULL,
    swiped_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    -- The book that this swipe added to the library. Undoing the swipe removes it.
    saved_book_id uuid,
    -- When the card was swiped first.
    seen_at timestamptz NOT NULL DEFAULT now(),
    -- The time that the client sent, if any. `swiped_at` is this time, or recorded_at if it is in the future.
    said_at timestamptz,
    PRIMARY KEY (user_id, edition_id)
);
ALTER TABLE swipes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX swipes_edition_id ON swipes (edition_id);
CREATE INDEX swipes_recorded_at ON swipes (user_id, recorded_at);
CREATE INDEX swipes_seen_at ON swipes (user_id, seen_at);
CREATE INDEX swipes_skipped ON swipes (user_id, swiped_at)
    WHERE action = 'SKIP';

-- Swipes that do not count any more: a newer one replaced them, they arrived after a newer one, or they were undone.
CREATE TABLE earlier_swipes (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    -- The time that the client sent, or swiped_at.
    said_at timestamptz NOT NULL,
    swiped_at timestamptz NOT NULL,
    action swipe_action NOT NULL,
    recorded_at timestamptz NOT NULL,
    saved_book_id uuid,
    -- It arrived after a newer one, so it has never counted.
    is_late boolean NOT NULL DEFAULT false,
    is_taken_back boolean NOT NULL DEFAULT false,
    -- When it ceased to count.
    ended_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, edition_id, said_at)
);
ALTER TABLE earlier_swipes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX earlier_swipes_edition_id ON earlier_swipes (edition_id);
CREATE INDEX earlier_swipes_ended_at ON earlier_swipes (ended_at);

CREATE VIEW reader_signals WITH (security_invoker = true) AS
SELECT signals.user_id,
    signals.edition_id,
    signals.weight,
    signals.voice,
    signals.at
   FROM ( SELECT DISTINCT ON (said.user_id, said.edition_id) said.user_id,
            said.edition_id,
            said.weight,
            said.voice,
            said.at
           FROM ( SELECT r.user_id,
                    b.edition_id,
                    r.updated_at AS at,
                    1 AS rank,
                    ((ARRAY[0.1, 0.2, 0.6, (1)::numeric, 1.25])[r.rating])::real AS weight,
                    ((ARRAY['-0.3'::numeric, (0)::numeric, 0.6, (1)::numeric, 1.25])[r.rating])::real AS voice
                   FROM (reviews r
                     JOIN books b ON (((b.user_id = r.user_id) AND (b.id = r.book_id))))
                  WHERE (b.edition_id IS NOT NULL)
                UNION ALL
                 SELECT swipes.user_id,
                    swipes.edition_id,
                    swipes.swiped_at,
                    2,
                    (
                        CASE swipes.action
                            WHEN 'BUY'::swipe_action THEN 1.25
                            WHEN 'LIKE'::swipe_action THEN (1)::numeric
                            ELSE (0)::numeric
                        END)::real AS float4,
                    (
                        CASE swipes.action
                            WHEN 'BUY'::swipe_action THEN 1.25
                            WHEN 'LIKE'::swipe_action THEN (1)::numeric
                            WHEN 'SKIP'::swipe_action THEN '-0.05'::numeric
                            ELSE '-0.3'::numeric
                        END)::real AS float4
                   FROM swipes
                UNION ALL
                 SELECT books.user_id,
                    books.edition_id,
                    books.added_at,
                    3,
                    (
                        CASE books.status
                            WHEN 'READ'::reading_status THEN 0.8
                            WHEN 'DID_NOT_FINISH'::reading_status THEN 0.2
                            ELSE 0.7
                        END)::real AS float4,
                    (
                        CASE books.status
                            WHEN 'READ'::reading_status THEN 0.8
                            WHEN 'DID_NOT_FINISH'::reading_status THEN (0)::numeric
                            ELSE 0.7
                        END)::real AS float4
                   FROM books
                  WHERE (books.edition_id IS NOT NULL)) said
          ORDER BY said.user_id, said.edition_id, said.rank) signals;

CREATE TABLE edition_similar (
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    rank smallint NOT NULL,
    similar_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    score float4 NOT NULL,
    PRIMARY KEY (edition_id, rank)
);
CREATE INDEX edition_similar_similar_id ON edition_similar (similar_id);

CREATE TABLE feed_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    main_language text,
    frontiers_valid_since timestamptz NOT NULL DEFAULT '-infinity',
    similar_at timestamptz NOT NULL DEFAULT '-infinity',
    order_version int NOT NULL DEFAULT 0,
    order_kept_since int NOT NULL DEFAULT 0
);
INSERT INTO feed_state DEFAULT VALUES;

-- The default of feed_order.placed_in.
CREATE FUNCTION feed_order_version() RETURNS int
LANGUAGE sql STABLE
AS $$
    SELECT order_version
    FROM feed_state
$$;

CREATE TABLE feed_order (
    genre_id smallint NOT NULL,
    primary_id smallint NOT NULL,
    position bigint NOT NULL,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    placed_at timestamptz NOT NULL DEFAULT now(),
    placed_in int NOT NULL DEFAULT feed_order_version(),
    PRIMARY KEY (genre_id, primary_id, position)
);
CREATE INDEX feed_order_edition_id ON feed_order (edition_id, genre_id);
CREATE INDEX feed_order_placed_at ON feed_order (placed_at)
    WHERE genre_id = primary_id;

CREATE TABLE feed_order_before (
    genre_id smallint NOT NULL,
    primary_id smallint NOT NULL,
    position bigint NOT NULL,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    placed_in int NOT NULL,
    gone_in int NOT NULL,
    gone_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (genre_id, primary_id, position, gone_in)
);
CREATE INDEX feed_order_before_edition_id ON feed_order_before (edition_id);
CREATE INDEX feed_order_before_gone_at ON feed_order_before USING brin (gone_at);

CREATE TABLE feed_frontiers (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    genre_id smallint NOT NULL,
    unseen bigint[] NOT NULL,
    reach bigint NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, genre_id)
);
ALTER TABLE feed_frontiers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE feed_returns (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    PRIMARY KEY (user_id, edition_id)
);
ALTER TABLE feed_returns ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX feed_returns_edition_id ON feed_returns (edition_id);

CREATE TABLE feed_decks (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    version int NOT NULL,
    editions uuid[] NOT NULL,
    genres smallint[] NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    touched_at timestamptz,
    PRIMARY KEY (user_id, version)
);
ALTER TABLE feed_decks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE feed_openings (
    version int PRIMARY KEY,
    editions uuid[] NOT NULL,
    genres smallint[] NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now()
);
