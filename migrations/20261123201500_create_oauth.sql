-- Why: apps of other developers need access to parts of a library, without the app's session. The reader allows it in the app, and
-- can end it at any time.
-- same-transaction

-- Whether apps of other developers can ask for access by OAuth, and whether they can register themselves.
ALTER TABLE tenants
    ADD COLUMN oauth boolean NOT NULL DEFAULT false,
    ADD COLUMN oauth_registration boolean NOT NULL DEFAULT false;

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

-- The access tokens of apps are rows of the same table as personal access tokens.
ALTER TABLE access_tokens
    -- Null for a personal access token.
    ADD COLUMN grant_id uuid,
    ADD CONSTRAINT access_tokens_grant_fkey FOREIGN KEY (user_id, grant_id) REFERENCES oauth_grants ON DELETE CASCADE;
CREATE INDEX access_tokens_grant_id ON access_tokens (user_id, grant_id)
    WHERE grant_id IS NOT NULL;

-- Requests of apps that wait for the decision of a reader, and those that were decided a short time ago. The
-- reader is not known before the decision, so only functions use the table.
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

ALTER TABLE oauth_grants SET (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000
);
ALTER TABLE oauth_requests SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);
