-- Why: rate limits hold for all servers together, and a document that a client has registered at one server is known to all.

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
