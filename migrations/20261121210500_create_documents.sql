-- Why: apps name their operations by id instead of sending them, and a server can be told to run no others.

-- Trusted documents: the operations that an app was published with, from its manifest.
create table documents (
  id text primary key check (char_length(id) between 1 and 200),
  -- Of the body, in lower-case hexadecimal digits: the text itself is known by it, whatever its id.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  name text,
  kind text check (kind in ('query', 'mutation', 'subscription')),
  body text not null,
  created_at timestamptz not null default now(),
  -- The last manifest that had it: what no manifest has any more can be pruned.
  synced_at timestamptz not null default now()
);
create index documents_sha256 on documents (sha256);
create index documents_synced_at on documents (synced_at);

grant select on documents to bookplate_app;
