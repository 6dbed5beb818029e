-- Why: tenants are the apps that share a server, and each has its own users, who sign in with sessions.

-- The server connects as bookplate_app. The role has no DDL, and row-level security applies to it.
-- Policies and grants are in migrations/functions. Without them the role can access no table.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'bookplate_app') THEN
        CREATE ROLE bookplate_app LOGIN;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'role bookplate_app is missing: create it as a superuser with "create role bookplate_app login"';
END
$$;

CREATE TABLE tenants (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    name text NOT NULL CHECK (name <> ''),
    -- Accepted issuers of identity tokens. Empty means those of the server's configuration.
    issuers text[] NOT NULL DEFAULT '{}',
    audiences text[] NOT NULL,
    amazon_tag text CHECK (amazon_tag ~ '^[A-Za-z0-9-]{1,64}$'),
    bookshop_id text CHECK (bookshop_id ~ '^[0-9]{1,10}$'),
    -- Limits of the bytes of all covers; null means unlimited.
    storage_bytes_max bigint CHECK (storage_bytes_max >= 0),
    user_storage_bytes_max bigint DEFAULT 2147483648 CHECK (user_storage_bytes_max >= 0),
    -- Null means the limit of the server's configuration.
    requests_per_minute int CHECK (requests_per_minute > 0),
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The addresses of the key sets of issuers that the server's configuration does not contain.
CREATE TABLE identity_providers (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    issuer text NOT NULL CHECK (issuer ~ '^https?://[^[:space:][:cntrl:]]+$' AND char_length(issuer) <= 500),
    jwks_url text NOT NULL CHECK (jwks_url ~ '^https?://[^[:space:][:cntrl:]]+$' AND char_length(jwks_url) <= 500),
    PRIMARY KEY (tenant_id, issuer)
);

CREATE TABLE users (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants,
    -- The subject of the identity token. If the provider is not Apple, it starts with the issuer and U+001F. Unique per tenant,
    -- because each app has its own accounts.
    apple_sub text NOT NULL,
    email text,
    -- Apple reported that mail to the relay address is switched off. The address is hidden until it is on again.
    email_disabled boolean NOT NULL DEFAULT false,
    display_name text,
    preferred_genres text[] NOT NULL DEFAULT '{}',
    -- A name of the IANA time zone database. It decides which day it is for the reader.
    time_zone text NOT NULL DEFAULT 'UTC',
    -- Counts the changes of swipes, books, reviews, and preferred genres that the feed learns from.
    signals_version bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, apple_sub)
) WITH (fillfactor = 80);
ALTER TABLE users ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- One row per sign-in.
CREATE TABLE sessions (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    -- Counts the rotations of the refresh token.
    generation int NOT NULL DEFAULT 0,
    -- A hash of the refresh token's secret. The secret itself is not stored.
    refresh_hash bytea NOT NULL,
    -- The name that the app gave the device, for the user's list of sessions.
    device_name text CHECK (char_length(device_name) BETWEEN 1 AND 100),
    created_at timestamptz NOT NULL DEFAULT now(),
    rotated_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    PRIMARY KEY (user_id, id)
);
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- Identity tokens that opened a session. A token is accepted once, by all servers together, even after its account is
-- deleted; therefore the table has no user_id.
CREATE TABLE identity_token_uses (
    -- SHA-256 of the signed part of the token.
    token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    -- The token's own expiry. An expired token is rejected anyway, so the row can be deleted.
    expires_at timestamptz NOT NULL
);
CREATE INDEX identity_token_uses_expires_at ON identity_token_uses (expires_at);

-- Apple's refresh tokens. Deleting the account revokes them at Apple.
CREATE TABLE apple_grants (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    -- The app that received the grant. Only that app can revoke it.
    client_id text NOT NULL CHECK (char_length(client_id) BETWEEN 1 AND 255),
    -- Encrypted with the sealing key of the installation.
    sealed_token bytea NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
ALTER TABLE apple_grants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- Server-to-server notifications from Apple that were processed. Apple repeats them, and each is processed once.
CREATE TABLE apple_notifications (
    -- SHA-256 of the notification's issuer and jti. The content is not stored.
    id_hash bytea PRIMARY KEY CHECK (octet_length(id_hash) = 32),
    -- The notification's own expiry. An expired notification is rejected anyway, so the row can be deleted.
    expires_at timestamptz NOT NULL
);
CREATE INDEX apple_notifications_expires_at ON apple_notifications (expires_at);

-- One row per deleted account, without personal data.
CREATE TABLE account_tombstones (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- SHA-256 of the user's id.
    user_hash bytea NOT NULL,
    -- SHA-256 of the id of the session that requested the deletion. If that client loses the response and repeats the
    -- request within an hour, it receives the same response. After that, or without such a session, null.
    session_hash bytea,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    books int NOT NULL,
    reviews int NOT NULL,
    covers int NOT NULL DEFAULT 0,
    -- Whether the grant at Apple was revoked; null until that is known.
    apple_token_revoked boolean
);
-- Finds the tombstone when a deletion request is repeated.
CREATE INDEX account_tombstones_user_hash ON account_tombstones (user_hash);
-- Finds the session hashes that can be cleared.
CREATE INDEX account_tombstones_session ON account_tombstones (deleted_at)
    WHERE session_hash IS NOT NULL;
