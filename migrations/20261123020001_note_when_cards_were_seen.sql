-- Why: a card has been seen from its first swipe on, whatever that was changed to since; and a swipe is known by the time that the
-- client said, even if its clock is ahead.

-- Those that are there were seen before any page to come: a constant, so that no row is written.
alter table swipes
  add column seen_at timestamptz not null default '-infinity',
  -- The time that the client said, where it said one: `swiped_at` is that or, of one in the future, when it was recorded.
  add column said_at timestamptz;
alter table swipes alter column seen_at set default now();
