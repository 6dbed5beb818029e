-- Why: an e-reader cannot sign in like an app. It gets a token that the reader creates and that opens only what its scopes name.

CREATE TYPE access_scope AS ENUM ('PROGRESS');

-- Personal access tokens. A token is revoked by deleting its row.
CREATE TABLE access_tokens (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    name text NOT NULL CONSTRAINT access_tokens_name_check CHECK (char_length(name) BETWEEN 1 AND 100),
    scopes access_scope[] NOT NULL CONSTRAINT access_tokens_scopes_check CHECK (cardinality(scopes) BETWEEN 1 AND 20),
    -- SHA-256 of the token. The token itself is not stored. It has 190 random bits, too many to be found by trying. A slow hash, as
    -- for passwords, would only slow down each request.
    token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
    -- SHA-256 of `kosync:` and the MD5 of the token in hexadecimal, which KOReader sends in place of the token. Null if the
    -- server that created the token has no MD5.
    kosync_hash bytea CHECK (octet_length(kosync_hash) = 32),
    -- From this and the key of the installation, the server calculates the token again if the response of its creation was lost.
    seed bytea NOT NULL,
    -- The last characters of the token, by which the reader recognizes it.
    last_characters text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Null for a token that does not expire.
    expires_at timestamptz,
    -- Updated at most every ten minutes.
    last_used_at timestamptz,
    PRIMARY KEY (user_id, id)
);
ALTER TABLE access_tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Not unique, because a unique index must start with user_id. Two tokens with the same hash do not exist.
CREATE INDEX access_tokens_token_hash ON access_tokens (token_hash);
CREATE INDEX access_tokens_kosync_hash ON access_tokens (kosync_hash);
