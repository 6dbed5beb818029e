-- Why: readers swipe the cards of a feed, which is ordered by popularity and by what each reader likes.

-- A reader is a user of the feed. A card shows an edition, so `card_id` is `editions.id`. A scroll reads a chain of decks from
-- its start. A signal is a reader's opinion of an edition (view `reader_signals`).

CREATE TYPE swipe_action AS ENUM ('LIKE', 'SKIP', 'DISLIKE', 'BUY');
CREATE TYPE swipe_scope AS ENUM ('BOOK', 'AUTHOR', 'SERIES');

-- A domain, and not a constraint of the table, for the reason given at `books`.
CREATE DOMAIN swipe_store AS text
    CONSTRAINT swipes_store_check CHECK (char_length(VALUE) BETWEEN 1 AND 100);

-- The swipes of readers, as events. A device that sends a swipe again conflicts with its own row. A swipe that arrives late is
-- an earlier event.
CREATE TABLE swipes (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    edition_id uuid NOT NULL REFERENCES editions ON DELETE CASCADE,
    -- The client's time, which may be in the future, or the server's time if the client sent none.
    swiped_at timestamptz NOT NULL,
    action swipe_action NOT NULL,
    -- The subject of a DISLIKE: with AUTHOR or SERIES, the feed hides all their books. BOOK for other actions.
    scope swipe_scope NOT NULL DEFAULT 'BOOK',
    -- The id of the bookstore whose link the reader opened, for BUY. Null if the client did not send it.
    store swipe_store,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    undone_at timestamptz,
    -- The book that this swipe added to the library. It may be deleted since.
    saved_book_id uuid,
    PRIMARY KEY (user_id, edition_id, swiped_at)
);
ALTER TABLE swipes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE swipes ALTER COLUMN user_id SET (n_distinct = -0.01);
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
-- The authors and series that the feed hides.
CREATE INDEX swipes_hiding ON swipes (user_id, least(swiped_at, recorded_at), edition_id, swiped_at)
    WHERE scope <> 'BOOK';
CREATE INDEX swipes_undone_at ON swipes (undone_at) WHERE undone_at IS NOT NULL;
-- Swipes are appended in the order of this time, so the index is tiny.
CREATE INDEX swipes_recorded_at ON swipes USING brin (recorded_at);

COMMENT ON TABLE swipes IS 'The swipes of readers. A swipe that is undone stays for some time.';
COMMENT ON COLUMN swipes.swiped_at IS
    'The time of the device, which may be in the future, or that of the server if the device sent none.';
COMMENT ON COLUMN swipes.action IS 'BUY: the reader has opened a link to a shop.';
COMMENT ON COLUMN swipes.scope IS
    'The subject of a DISLIKE: with AUTHOR or SERIES, the feed hides all books of the first author or of the series of the edition.';
COMMENT ON COLUMN swipes.store IS 'The id of the shop, for BUY; null if the device did not send it.';
COMMENT ON COLUMN swipes.recorded_at IS 'When the server stored the swipe.';
COMMENT ON COLUMN swipes.saved_book_id IS 'The book that the swipe added to the library. It may have been deleted.';

-- The persons whose new books a reader wants to see.
CREATE TABLE followed_authors (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    -- author_id(name)
    person_id uuid NOT NULL,
    -- As in the catalog at that time, so that the list has a name after the catalog has lost the last book of the person.
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 500),
    followed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, person_id)
);
ALTER TABLE followed_authors ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE followed_authors ALTER COLUMN user_id SET (n_distinct = -0.01);

COMMENT ON TABLE followed_authors IS 'The persons whose new books a reader wants to see.';
COMMENT ON COLUMN followed_authors.person_id IS 'The id that `author_id` computes from the name.';
COMMENT ON COLUMN followed_authors.name IS 'The name in the catalog when the reader began to follow the person.';

-- The editions that readers of an edition probably like, best first, or dislike if the score is negative. The job feed.similar
-- learns them. One row for all links of an edition, so that a feed reads one row for each signal, and learning writes one.
CREATE TABLE edition_similar (
    edition_id uuid PRIMARY KEY REFERENCES editions ON DELETE CASCADE,
    -- At most 50, by descending scores.
    similar_ids uuid[] NOT NULL,
    -- The score of each similar edition.
    scores float4[] NOT NULL
);

COMMENT ON TABLE edition_similar IS 'The editions that readers of an edition probably like, as learned by the job `feed.similar`.';
COMMENT ON COLUMN edition_similar.similar_ids IS 'The similar editions, by descending scores.';
COMMENT ON COLUMN edition_similar.scores IS
    'The score of each similar edition. Negative if readers of the edition probably dislike the other one.';

-- The editions whose rows in `edition_similar` may contain an edition: each edition is learned from at most 100 others. When it is
-- learned again or deleted, only these rows change. The rows of deleted editions are deleted by the trigger of `editions`, which
-- still needs them, so there is no foreign key.
CREATE TABLE edition_similar_sources (
    edition_id uuid PRIMARY KEY,
    source_ids uuid[] NOT NULL
);

COMMENT ON TABLE edition_similar_sources IS 'The editions whose rows in `edition_similar` may contain an edition.';

-- One row: what the feed's background work has found out about the whole catalog.
CREATE TABLE feed_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- The language of most editions. The feed shows it to readers whose languages are not known, and to others after theirs.
    main_language text,
    -- Decks that are older do not start a scroll. Set when the whole catalog or all similar editions have changed.
    decks_valid_since timestamptz NOT NULL DEFAULT '-infinity',
    -- When the changed readers were last looked for.
    collected_at timestamptz NOT NULL DEFAULT now(),
    -- The ratings of the whole catalog from which the popularity of editions is computed. They are updated when the sum has changed
    -- by more than 1%.
    popularity_ratings bigint NOT NULL DEFAULT 0,
    -- Increases when the catalog has changed for the feed. The other column is its value when the cold-start decks were last built.
    catalog_version bigint NOT NULL DEFAULT 1,
    cold_start_version bigint NOT NULL DEFAULT 0,
    -- True while the links of all editions are replaced. If that was interrupted, all are learned again.
    is_replacing_similar boolean NOT NULL DEFAULT false
);
INSERT INTO feed_state DEFAULT VALUES;

COMMENT ON TABLE feed_state IS 'The state of the feed''s background work, in a single row.';
COMMENT ON COLUMN feed_state.main_language IS
    'The language of most editions. The feed shows it to readers whose languages are not known, and to others after theirs.';
COMMENT ON COLUMN feed_state.decks_valid_since IS 'Decks that were built before this time are not used to start a scroll.';
COMMENT ON COLUMN feed_state.collected_at IS 'When the readers whose signals changed were last searched.';
COMMENT ON COLUMN feed_state.popularity_ratings IS
    'The number of ratings in the catalog from which the popularity of editions is computed. Updated when it has changed by 1%.';
COMMENT ON COLUMN feed_state.catalog_version IS 'Increases when the catalog has changed for the feed.';
COMMENT ON COLUMN feed_state.cold_start_version IS 'The value of `catalog_version` when the cold-start decks were last built.';
COMMENT ON COLUMN feed_state.is_replacing_similar IS
    'True while the similar editions of all editions are replaced. If that was interrupted, all are learned again.';

-- The log of changes of the catalog since the last `refresh_feed`. The triggers of `editions` and `work_records` write it. It is a log
-- without unique keys, so that transactions do not wait for each other. A changed edition has two rows if its counts have changed: one
-- removes the old counts, and one adds the new ones.
CREATE TABLE edition_changes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The popularity of this edition has to be computed again. The edition may be deleted.
    edition_id uuid NOT NULL,
    -- 1 to add the other columns to the counts, -1 to subtract them, 0 if they do not count.
    editions smallint NOT NULL DEFAULT 0 CHECK (editions BETWEEN -1 AND 1),
    -- The language of `feed_language`, or an empty string.
    language text NOT NULL DEFAULT '',
    genres text[] NOT NULL DEFAULT '{}',
    ratings int NOT NULL DEFAULT 0
);

COMMENT ON TABLE edition_changes IS 'A log of changes of editions since the last refresh of the feed.';
COMMENT ON COLUMN edition_changes.editions IS '1 to add the row to the counts, -1 to subtract it, 0 if only the popularity may change.';
COMMENT ON COLUMN edition_changes.language IS 'The language (`feed_language`); empty without one.';
COMMENT ON COLUMN edition_changes.ratings IS 'The number of ratings of the edition.';

-- The counts of the catalog by language, of which the main language and the number of all ratings are computed.
CREATE TABLE catalog_languages (
    -- The language of `feed_language`, or an empty string.
    language text PRIMARY KEY,
    editions bigint NOT NULL,
    ratings bigint NOT NULL
);

COMMENT ON TABLE catalog_languages IS 'The numbers of editions and ratings in each language.';
COMMENT ON COLUMN catalog_languages.language IS 'The language (`feed_language`); empty for editions without one.';
COMMENT ON COLUMN catalog_languages.ratings IS 'The sum of `editions.ratings_count`.';

-- The numbers of new chains.
CREATE SEQUENCE feed_chains;

-- One row for each reader whose signals have changed since the account was created. A row of its own, and not columns of `users`: most
-- writes of a reader update it, and an update of a user passes the triggers of all tables that refer to users.
CREATE TABLE feed_readers (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- Counts the changes of swipes, books, reviews, preferred genres, languages, and followed authors that the feed learns from.
    signals_version bigint NOT NULL,
    -- When a job for the next deck is due; null if no deck is due. The mark costs a write less than a job, and changes in quick succession
    -- keep the first mark. A worker turns due marks into jobs (enqueue_due_decks).
    deck_due_at timestamptz
) WITH (fillfactor = 50);
ALTER TABLE feed_readers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX feed_readers_due ON feed_readers (deck_due_at) WHERE deck_due_at IS NOT NULL;

COMMENT ON TABLE feed_readers IS 'The readers whose signals have changed, and when their next decks are due.';
COMMENT ON COLUMN feed_readers.signals_version IS
    'The number of changes of swipes, books, reviews, preferred genres, languages, and followed authors from which the feed learns.';
COMMENT ON COLUMN feed_readers.deck_due_at IS 'When a job for the next deck is due; null if no deck is due.';

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
    -- Why each card is in the deck: the kind (`FeedReason.Kind`) times 2^32, plus the number of the edition or genre; 0 for no reason.
    reasons bigint[] NOT NULL,
    -- The reader's `feed_readers.signals_version` when the deck's signals were read; 0 if the reader had no row. With an older version,
    -- cursors still read the deck, but it starts no scroll.
    signals_version bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, chain, number)
-- A deck of 100 cards stays in its row.
) WITH (toast_tuple_target = 4096);
ALTER TABLE feed_decks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX feed_decks_start ON feed_decks (user_id, filter, chain DESC) WHERE number = 0;
CREATE INDEX feed_decks_created_at ON feed_decks (created_at);

COMMENT ON TABLE feed_decks IS 'Immutable lists of cards for a reader. A scroll of the feed reads a chain of decks.';
COMMENT ON COLUMN feed_decks.chain IS
    'The number of the chain, from the sequence `feed_chains`. Negative if it starts with a deck of `cold_start_decks`.';
COMMENT ON COLUMN feed_decks.number IS 'The number of preceding decks of the chain.';
COMMENT ON COLUMN feed_decks.filter IS 'The ids of the genres of a filtered feed, ascending. Empty for all genres.';
COMMENT ON COLUMN feed_decks.editions IS 'The cards in their order. Empty at the end of a feed.';
COMMENT ON COLUMN feed_decks.reasons IS
    'For each card the kind of the reason times 2^32, plus the number of the liked edition or of the genre; 0 without a reason.';
COMMENT ON COLUMN feed_decks.signals_version IS
    'The value of `feed_readers.signals_version` from which the deck was built. An older deck does not start a scroll.';

-- The first decks of readers without signals who read one language.
CREATE TABLE cold_start_decks (
    -- Negative, to tell these chains from those of feed_chains.
    chain bigint GENERATED ALWAYS AS IDENTITY (INCREMENT BY -1 START WITH -1) PRIMARY KEY,
    language text COLLATE "C" NOT NULL,
    editions uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX cold_start_decks_language ON cold_start_decks (language, chain);

COMMENT ON TABLE cold_start_decks IS 'The first decks of readers without signals who read one language.';
COMMENT ON COLUMN cold_start_decks.language IS 'The language of the cards, as in `edition_genres`.';
COMMENT ON COLUMN cold_start_decks.chain IS 'Negative, so that it differs from the numbers of `feed_chains`.';
COMMENT ON COLUMN cold_start_decks.editions IS 'The cards in their order.';

-- The hourly jobs read the signals of the readers who changed something, and keep sums for each work.

-- Readers whose signals have to be collected again.
CREATE TABLE readers_to_collect (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    changed_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE readers_to_collect ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE readers_to_collect IS 'Readers whose signals have to be collected again.';

-- The signals of each reader when they were last collected, newest first. All arrays have the same length. Only signals with a
-- positive weight are collected (see the view `reader_signals`).
CREATE TABLE collected_signals (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- The numbers of the oldest editions of the works, which identify the works.
    works bigint[] NOT NULL,
    -- In hundredths.
    weights smallint[] NOT NULL,
    -- The weight of each signal in the popularity of its work, in hundredths. Negative values are stored as 0.
    voices smallint[] NOT NULL,
    times timestamptz[] NOT NULL,
    -- The first of the times; -infinity without signals.
    newest_at timestamptz NOT NULL,
    signal_count int NOT NULL
);
ALTER TABLE collected_signals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- An index-only scan selects the readers with the newest signals.
CREATE INDEX collected_signals_newest ON collected_signals (newest_at DESC, user_id) INCLUDE (signal_count);

COMMENT ON TABLE collected_signals IS
    'The signals of each reader at the last collection, newest first. The arrays have the same length.';
COMMENT ON COLUMN collected_signals.works IS 'The numbers (`editions.number`) of the oldest editions of the works.';
COMMENT ON COLUMN collected_signals.weights IS 'The weight of each signal for learning similar books, in hundredths.';
COMMENT ON COLUMN collected_signals.voices IS
    'The weight of each signal in the popularity of its work, in hundredths (`voice` in `reader_signals`). Negative weights '
    'are stored as 0.';
COMMENT ON COLUMN collected_signals.times IS 'The time of each signal.';
COMMENT ON COLUMN collected_signals.newest_at IS 'The first element of `times`; -infinity without signals.';

-- The sums of the collected signals of each work. They are exact, so that adding and subtracting signals gives the same sums as
-- counting all of them. A frequent reason for an update is a new signal, so the pages keep room for new versions of their rows.
CREATE TABLE work_signals (
    -- The number of the edition that has founded the work.
    number bigint PRIMARY KEY,
    signals int NOT NULL,
    -- The sum of the voices, in hundredths.
    voice bigint NOT NULL,
    -- The sum of each voice, in hundredths, times 2 ^ (d / 14), where d is the number of days from 2026-01-01 to the signal. Divided
    -- by the same power for today, it is the sum of the voices with a half-life of 14 days.
    recent numeric NOT NULL,
    -- How many signals were ever added, changed, or removed.
    changes bigint NOT NULL,
    -- The value of `changes` when the similar books of the work were last learned.
    learned_changes bigint NOT NULL DEFAULT 0,
    -- The value of `changes` when the popularity of the work's editions was last computed.
    refreshed_changes bigint NOT NULL DEFAULT 0,
    -- When the popularity of one of the editions will have decayed by 5% since it was written; null if never.
    refresh_at timestamptz
) WITH (fillfactor = 70);
-- Each of these indexes contains only the works that the next run of a job has to read.
CREATE INDEX work_signals_to_refresh ON work_signals (number) WHERE changes <> refreshed_changes;
CREATE INDEX work_signals_refresh_at ON work_signals (refresh_at) WHERE refresh_at IS NOT NULL;
CREATE INDEX work_signals_to_learn ON work_signals (number) INCLUDE (changes, signals)
    WHERE changes > learned_changes AND (changes - learned_changes) * 20 >= least(signals, 2000);

COMMENT ON TABLE work_signals IS 'The sums of the collected signals of each work.';
COMMENT ON COLUMN work_signals.number IS 'The number (`editions.number`) of the oldest edition of the work.';
COMMENT ON COLUMN work_signals.signals IS 'The number of signals.';
COMMENT ON COLUMN work_signals.voice IS
    'The sum of `collected_signals.voices`: the weight of the signals in the popularity, in hundredths.';
COMMENT ON COLUMN work_signals.recent IS
    'The same sum with each weight multiplied by 2 ^ (d / 14), where d is the number of days from 2026-01-01 to the signal. '
    'Divided by this power for today, it is a sum with a half-life of 14 days.';
COMMENT ON COLUMN work_signals.changes IS 'The number of signals that were ever added, changed, or removed.';
COMMENT ON COLUMN work_signals.learned_changes IS 'The value of `changes` when similar books of the work were last learned.';
COMMENT ON COLUMN work_signals.refreshed_changes IS
    'The value of `changes` when the popularity of the editions of the work was last computed.';
COMMENT ON COLUMN work_signals.refresh_at IS
    'When the popularity of one of the editions of the work will have decayed by 5%; null if never.';
