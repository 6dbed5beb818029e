-- Why: looking for the covers of a whole installation takes days at the sources' pace, and goes on where it was stopped.

-- The run that is not finished; gone when it is.
create table cover_backfill (
  is_only boolean primary key default true check (is_only),
  -- The last book that was looked for, in the order of owners and ids.
  reader uuid not null,
  book uuid not null,
  asked bigint not null default 0,
  found bigint not null default 0,
  started_at timestamptz not null default now()
);
