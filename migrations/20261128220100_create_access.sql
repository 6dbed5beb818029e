-- Why: readers give other programs access to parts of a library, without the app's session: e-readers and scripts by personal access
-- tokens, and apps of other developers by OAuth. The reader can end it at any time.

CREATE TYPE access_scope AS ENUM ('PROGRESS', 'LIBRARY_READ', 'LIBRARY_WRITE', 'FEED', 'ACCOUNT');

-- The apps of other developers.
CREATE TABLE oauth_clients (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL CONSTRAINT oauth_clients_name_check CHECK (char_length(name) BETWEEN 1 AND 100),
    -- Empty for an app that uses only the device grant.
    redirect_uris text[] NOT NULL CONSTRAINT oauth_clients_redirect_uris_check CHECK (cardinality(redirect_uris) <= 10),
    -- The scopes for which the app may ask.
    scopes access_scope[] NOT NULL CONSTRAINT oauth_clients_scopes_check CHECK (cardinality(scopes) BETWEEN 1 AND 20),
    -- Whether the app may use the device grant.
    allows_device boolean NOT NULL,
    -- SHA-256 of the secret, which has 190 random bits. Null for a public client, which cannot keep a secret.
    secret_hash bytea CHECK (octet_length(secret_hash) = 32),
    -- Whether the app registered itself. The operator has not checked its name then.
    is_self_registered boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX oauth_clients_tenant_id ON oauth_clients (tenant_id, created_at);

COMMENT ON TABLE oauth_clients IS 'Apps of other developers, which use OAuth.';
COMMENT ON COLUMN oauth_clients.redirect_uris IS 'Empty for an app that uses only the device grant.';
COMMENT ON COLUMN oauth_clients.scopes IS 'The scopes for which the app may ask.';
COMMENT ON COLUMN oauth_clients.secret_hash IS 'SHA-256 of the client secret. Null for a public client, which has no secret.';
COMMENT ON COLUMN oauth_clients.is_self_registered IS
    'Whether the app has registered itself, so that the operator has not checked its name.';

-- The access that readers have allowed to apps. Deleting a row ends the access.
CREATE TABLE oauth_grants (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    client_id uuid NOT NULL REFERENCES oauth_clients ON DELETE CASCADE,
    scopes access_scope[] NOT NULL CHECK (cardinality(scopes) BETWEEN 1 AND 20),
    -- A hash of the secret of the current refresh token, and how often the token was replaced.
    refresh_hash bytea NOT NULL,
    generation int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    rotated_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    -- Updated at most every ten minutes.
    last_used_at timestamptz,
    PRIMARY KEY (user_id, id)
);
ALTER TABLE oauth_grants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX oauth_grants_client_id ON oauth_grants (client_id);
CREATE INDEX oauth_grants_expires_at ON oauth_grants (expires_at);

COMMENT ON TABLE oauth_grants IS 'The access that readers have allowed to apps. Deleting a row ends the access.';
COMMENT ON COLUMN oauth_grants.refresh_hash IS 'A hash of the secret of the current refresh token.';
COMMENT ON COLUMN oauth_grants.generation IS 'How often the refresh token was rotated.';
COMMENT ON COLUMN oauth_grants.last_used_at IS 'Updated at most every ten minutes.';

-- Personal access tokens, and the access tokens of apps. A token is revoked by deleting its row.
CREATE TABLE access_tokens (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    name text NOT NULL CONSTRAINT access_tokens_name_check CHECK (char_length(name) BETWEEN 1 AND 100),
    scopes access_scope[] NOT NULL CONSTRAINT access_tokens_scopes_check CHECK (cardinality(scopes) BETWEEN 1 AND 20),
    -- The SHA-256 hashes of the trusted documents that the token may run, sorted. Null for a token that is not bound to documents.
    -- Not the ids, because the text of an id can change.
    documents text[] CONSTRAINT access_tokens_documents_check CHECK (cardinality(documents) BETWEEN 1 AND 100),
    -- Null for a personal access token.
    grant_id uuid,
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
    PRIMARY KEY (user_id, id),
    CONSTRAINT access_tokens_grant_fkey FOREIGN KEY (user_id, grant_id) REFERENCES oauth_grants ON DELETE CASCADE
);
ALTER TABLE access_tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Not unique, because a unique index must start with user_id. Two tokens with the same hash do not exist.
CREATE INDEX access_tokens_token_hash ON access_tokens (token_hash);
CREATE INDEX access_tokens_kosync_hash ON access_tokens (kosync_hash);

CREATE INDEX access_tokens_grant_id ON access_tokens (user_id, grant_id)
    WHERE grant_id IS NOT NULL;
-- Each grant of an app has up to five access tokens, which expire after an hour.
CREATE INDEX access_tokens_grant_expires_at ON access_tokens (expires_at)
    WHERE grant_id IS NOT NULL;

COMMENT ON TABLE access_tokens IS
    'Personal access tokens, and the access tokens of apps of other developers. Deleting a row revokes the token.';
COMMENT ON COLUMN access_tokens.token_hash IS 'SHA-256 of the token. The token is not stored.';
COMMENT ON COLUMN access_tokens.kosync_hash IS
    'SHA-256 of `kosync:` and the MD5 of the token in hexadecimal, which KOReader sends in place of the token. Null for apps,'
    ' and if the server had no MD5.';
COMMENT ON COLUMN access_tokens.seed IS
    'With this and the key of the installation, the server calculates the token again if the response of its creation was '
    'lost. Empty for the tokens of apps.';
COMMENT ON COLUMN access_tokens.last_characters IS 'The last characters of the token, by which the reader recognizes it.';
COMMENT ON COLUMN access_tokens.expires_at IS 'Null for a token that does not expire.';
COMMENT ON COLUMN access_tokens.last_used_at IS 'Updated at most every ten minutes.';
COMMENT ON COLUMN access_tokens.documents IS
    'The SHA-256 hashes of the trusted documents that the token may run, in hexadecimal and sorted. Null for all documents.';
COMMENT ON COLUMN access_tokens.grant_id IS 'The grant of the app (`oauth_grants`). Null for a personal access token.';

-- Requests of apps that wait for the decision of a reader, and those that were decided a short time ago. They have
-- no reader before the decision.
CREATE TABLE oauth_requests (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    client_id uuid NOT NULL REFERENCES oauth_clients ON DELETE CASCADE,
    -- Eight letters, which the reader enters in the app.
    user_code text NOT NULL CHECK (char_length(user_code) = 8),
    -- The requested scopes, and after the decision the allowed ones.
    scopes access_scope[] NOT NULL,
    -- The authorization code grant uses the redirect URI, the state of the app, the code challenge, and the hash of the cookie of the
    -- browser.
    redirect_uri text CHECK (char_length(redirect_uri) <= 2000),
    state text CHECK (char_length(state) <= 2000),
    code_challenge text,
    browser_hash bytea CHECK (octet_length(browser_hash) = 32),
    -- The device grant uses the hash of the device code, the time of its last use, and the seconds between two uses.
    device_hash bytea CHECK (octet_length(device_hash) = 32),
    polled_at timestamptz,
    interval_seconds int NOT NULL DEFAULT 5,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    -- The reader who has decided, and whether the access is allowed.
    user_id uuid REFERENCES users ON DELETE CASCADE,
    is_allowed boolean,
    -- The authorization code.
    code_hash bytea CHECK (octet_length(code_hash) = 32),
    code_expires_at timestamptz,
    -- The grant that was created. The row is kept for a day after that, to recognize a code that is used twice.
    grant_id uuid,
    CHECK ((redirect_uri IS NULL) <> (device_hash IS NULL)),
    CHECK ((user_id IS NULL) = (is_allowed IS NULL))
);
ALTER TABLE oauth_requests ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE UNIQUE INDEX oauth_requests_user_code ON oauth_requests (tenant_id, user_code);
CREATE INDEX oauth_requests_code_hash ON oauth_requests (code_hash);
CREATE INDEX oauth_requests_device_hash ON oauth_requests (device_hash);
CREATE INDEX oauth_requests_expires_at ON oauth_requests (expires_at);
CREATE INDEX oauth_requests_client_id ON oauth_requests (client_id);
CREATE INDEX oauth_requests_user_id ON oauth_requests (user_id);

COMMENT ON TABLE oauth_requests IS
    'Requests of apps that wait for the decision of a reader, and those that were decided a short time ago.';
COMMENT ON COLUMN oauth_requests.user_code IS 'Eight letters, which the reader enters in the app of the tenant.';
COMMENT ON COLUMN oauth_requests.scopes IS 'The requested scopes, and after the decision the allowed ones.';
COMMENT ON COLUMN oauth_requests.redirect_uri IS
    'Only of the authorization code grant, like `state`, `code_challenge`, and `browser_hash`.';
COMMENT ON COLUMN oauth_requests.code_challenge IS 'The challenge of PKCE, by the method S256.';
COMMENT ON COLUMN oauth_requests.browser_hash IS 'SHA-256 of the cookie that ties the request to a browser.';
COMMENT ON COLUMN oauth_requests.device_hash IS
    'SHA-256 of the device code. Only of the device grant, like `polled_at` and `interval_seconds`.';
COMMENT ON COLUMN oauth_requests.polled_at IS 'When the device last asked for the result.';
COMMENT ON COLUMN oauth_requests.interval_seconds IS 'The minimum time between two requests of the device.';
COMMENT ON COLUMN oauth_requests.user_id IS 'The reader who has decided; null before the decision.';
COMMENT ON COLUMN oauth_requests.code_hash IS 'SHA-256 of the authorization code; null if none was issued.';
COMMENT ON COLUMN oauth_requests.grant_id IS
    'The grant that was created. The row is kept for a while after that, to recognize a code that is used twice.';
