-- Why: apps send the ids of their trusted documents instead of the text, and a server can be limited to these. Rate limits hold for
-- all servers together. The use of each element of the schema is counted, because the counts decide when a deprecated field can be
-- removed.

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

COMMENT ON TABLE documents IS 'The trusted documents of apps, by the ids that requests contain.';
COMMENT ON COLUMN documents.sha256 IS 'SHA-256 of the body, in hexadecimal.';
COMMENT ON COLUMN documents.name IS 'The name of the first operation; null without one.';
COMMENT ON COLUMN documents.kind IS 'The kind of the first operation; null if the document has none.';
COMMENT ON COLUMN documents.synced_at IS 'When a manifest last contained the document.';

-- The documents of automatic persisted queries, which clients have registered by their hashes at one of the servers. Unlogged,
-- because clients register them again. The functions limit the number and the size.
CREATE UNLOGGED TABLE persisted_queries (
    -- SHA-256 of the body in lower-case hexadecimal digits.
    sha256 text PRIMARY KEY,
    body text NOT NULL,
    bytes int NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE persisted_queries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE persisted_queries IS
    'Documents that clients have registered by their hashes (automatic persisted queries). Clients register them again if the'
    ' table is lost.';
COMMENT ON COLUMN persisted_queries.sha256 IS 'SHA-256 of the body, in hexadecimal.';
COMMENT ON COLUMN persisted_queries.bytes IS 'The size of the body.';

-- Token buckets of callers that have used a noticeable part of one. Unlogged, because the counts are worthless after a minute.
CREATE UNLOGGED TABLE rate_buckets (
    -- The limit that the bucket belongs to, such as that of users. `RateLimits.swift` has the numbers.
    kind smallint NOT NULL,
    -- The id of a user or a tenant, or the address of a client.
    key uuid NOT NULL,
    -- When the bucket will be full again.
    full_at timestamptz NOT NULL,
    PRIMARY KEY (kind, key)
);
ALTER TABLE rate_buckets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE rate_buckets IS
    'The token buckets of rate limits, shared by all servers. Callers that have used little of a bucket have no row.';
COMMENT ON COLUMN rate_buckets.kind IS 'The limit to which the bucket belongs, by the numbers in `RateLimits.swift`.';
COMMENT ON COLUMN rate_buckets.key IS 'The id of a user or a tenant, or the address of a client.';
COMMENT ON COLUMN rate_buckets.full_at IS 'When the bucket will be full again.';

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

COMMENT ON TABLE usage_clients IS 'The apps whose use of the schema is counted.';
COMMENT ON COLUMN usage_clients.tenant_id IS 'Null for requests without a valid access token, such as a sign-in.';
COMMENT ON COLUMN usage_clients.name IS
    'The name that the app sends; empty if it sends none. `(other)` contains all apps beyond the limit.';

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

COMMENT ON TABLE schema_usage IS 'The number of operations that have used an element of the GraphQL schema.';
COMMENT ON COLUMN schema_usage.coordinate IS
    'A field, argument, input field, or enum value, such as `Book.title` or `Query.book(id:)`.';
