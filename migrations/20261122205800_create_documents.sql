-- Why: apps send the ids of their trusted documents instead of the text, and a server can be limited to these. The use
-- of each element of the schema is counted, because the counts decide when a deprecated field can be removed.

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

-- The apps whose requests are counted, by the name and version that they send.
CREATE TABLE usage_clients (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Null for requests without a valid access token, such as a sign-in.
    tenant_id uuid REFERENCES tenants ON DELETE CASCADE,
    -- Empty if the app sends none. `(other)` is the name of all apps beyond the limit of the tenant.
    name text NOT NULL CHECK (char_length(name) <= 64),
    version text NOT NULL CHECK (char_length(version) <= 64),
    last_used_on date NOT NULL,
    UNIQUE NULLS NOT DISTINCT (tenant_id, name, version)
);
ALTER TABLE usage_clients ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The number of operations that used an element of the schema.
CREATE TABLE schema_usage (
    day date NOT NULL,
    client_id int NOT NULL REFERENCES usage_clients ON DELETE CASCADE,
    -- A field, argument, input field, or enum value: `Book.title`, `Query.book(id:)`.
    coordinate text NOT NULL CHECK (char_length(coordinate) BETWEEN 1 AND 300),
    uses bigint NOT NULL CHECK (uses > 0),
    PRIMARY KEY (day, client_id, coordinate)
);
ALTER TABLE schema_usage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX schema_usage_client_id ON schema_usage (client_id);
