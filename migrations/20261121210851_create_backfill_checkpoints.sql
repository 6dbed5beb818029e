-- Why: a long backfill that was stopped goes on where it was.

create table backfill_checkpoints (
  task text primary key,
  -- What it did last, as the task writes it.
  position text not null,
  done bigint not null check (done >= 0),
  updated_at timestamptz not null default now()
);
