-- Why: the hourly jobs of the feed read the signals of all readers. They now read those of the readers who changed something,
-- and keep sums for each work.

-- Readers whose signals have to be collected again.
CREATE TABLE readers_to_collect (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    changed_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO readers_to_collect (user_id)
SELECT id
FROM users;
ALTER TABLE readers_to_collect ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The signals of each reader when they were last collected, newest first. All arrays have the same length. Only signals with a
-- positive weight are collected (see the view `reader_signals`).
CREATE TABLE collected_signals (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- The numbers of the oldest editions of the works, which identify the works.
    works bigint[] NOT NULL,
    -- In hundredths.
    weights smallint[] NOT NULL,
    -- What each signal adds to the popularity of its work, in hundredths. Negative values are stored as 0.
    voices smallint[] NOT NULL,
    times timestamptz[] NOT NULL,
    -- The first of the times; -infinity without signals.
    newest_at timestamptz NOT NULL,
    signal_count int NOT NULL
);
ALTER TABLE collected_signals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- An index-only scan selects the readers with the newest signals.
CREATE INDEX collected_signals_newest ON collected_signals (newest_at DESC, user_id) INCLUDE (signal_count);

-- The sums of the collected signals of each work. They are exact, so that adding and subtracting signals gives the same sums as
-- counting all of them. A frequent reason for an update is a new signal, so the pages keep room for new versions of their rows.
CREATE TABLE work_signals (
    -- The number of the edition that has founded the work.
    number bigint PRIMARY KEY,
    signals int NOT NULL,
    -- The sum of the voices, in hundredths.
    voice bigint NOT NULL,
    -- The sum of each voice, in hundredths, times 2 ^ (d / 14), where d is the number of days from 2026-01-01 to the signal. Divided by the same power for
    -- today, it is the sum of the voices with a half-life of 14 days.
    recent numeric NOT NULL,
    -- How many signals were ever added, changed, or removed.
    changes bigint NOT NULL,
    -- The value of `changes` when the similar books of the work were last learned.
    learned_changes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

ALTER TABLE feed_state
    -- When the changed readers were last looked for.
    ADD COLUMN collected_at timestamptz NOT NULL DEFAULT now();

-- The changes of the last hour are read by their time.
CREATE INDEX changes_at ON changes USING brin (at);
