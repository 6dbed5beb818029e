-- Why: apps send the ids of their trusted documents instead of the text, and a server can be limited to these.

CREATE TABLE documents (
    id text PRIMARY KEY CHECK (char_length(id) BETWEEN 1 AND 200),
    -- SHA-256 of the body in lower-case hexadecimal digits. It finds the document of a request that contains the text.
    sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    -- The name and the kind of the first operation. The name is null if it has none, and both are null if the document has
    -- no operation.
    name text,
    kind text CHECK (kind IN ('query', 'mutation', 'subscription')),
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- When a manifest last contained the document. Documents that are in no manifest any more can be pruned by it.
    synced_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX documents_sha256 ON documents (sha256);
CREATE INDEX documents_synced_at ON documents (synced_at);
