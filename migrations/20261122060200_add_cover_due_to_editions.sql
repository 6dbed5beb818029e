-- Why: a source that was away is asked again for a catalogue's picture after minutes, not after 90 days.

-- When a picture of a catalogue's book may be asked for, and how often in a row nobody could say. Constants: no row is written.
-- Until 90 days after its cover_asked_at, which a later release drops, a book is not due either.
alter table editions
  add column cover_due_at timestamptz not null default '-infinity',
  add column cover_failures int not null default 0;
