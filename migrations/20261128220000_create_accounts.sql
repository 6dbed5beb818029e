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
    -- The step of ratings in quarter stars: 4 for whole stars, 2 for half stars, 1 for quarter stars.
    rating_step smallint NOT NULL DEFAULT 4 CHECK (rating_step IN (1, 2, 4)),
    -- Whether the apps of the tenant may sign in guests, and how many books the library of a guest may have.
    guests boolean NOT NULL DEFAULT false,
    guest_books_max int NOT NULL DEFAULT 200 CHECK (guest_books_max BETWEEN 1 AND 1000),
    -- Whether apps of other developers can ask for access by OAuth, and whether they can register themselves.
    oauth boolean NOT NULL DEFAULT false,
    oauth_registration boolean NOT NULL DEFAULT false,
    -- Whether assistants may call the trusted documents as tools of the Model Context Protocol.
    mcp boolean NOT NULL DEFAULT false,
    -- Whether readers may share parts of their libraries by links. If false, no link works.
    sharing boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE tenants IS 'The apps that share this installation. Each one has its own users.';
COMMENT ON COLUMN tenants.slug IS 'The name in commands, such as `tenant update SLUG`.';
COMMENT ON COLUMN tenants.issuers IS 'The accepted issuers of identity tokens. Empty for those of the server''s configuration.';
COMMENT ON COLUMN tenants.audiences IS 'The accepted audiences of identity tokens: bundle IDs and client IDs.';
COMMENT ON COLUMN tenants.amazon_tag IS 'The tag of Amazon''s affiliate program in links to the shop.';
COMMENT ON COLUMN tenants.bookshop_id IS 'The affiliate ID in links to bookshop.org.';
COMMENT ON COLUMN tenants.storage_bytes_max IS 'The maximum number of bytes of all covers of the tenant; null for no limit.';
COMMENT ON COLUMN tenants.user_storage_bytes_max IS 'The maximum number of bytes of the covers of one user; null for no limit.';
COMMENT ON COLUMN tenants.requests_per_minute IS 'The rate limit of the tenant; null for that of the server''s configuration.';
COMMENT ON COLUMN tenants.rating_step IS
    'The step of ratings in quarter stars: 4 for whole stars, 2 for half stars, 1 for quarter stars.';
COMMENT ON COLUMN tenants.guests IS 'Whether apps may sign in guests.';
COMMENT ON COLUMN tenants.guest_books_max IS 'The maximum number of books of a guest.';
COMMENT ON COLUMN tenants.oauth IS 'Whether apps of other developers may ask readers for access by OAuth.';
COMMENT ON COLUMN tenants.oauth_registration IS 'Whether apps of other developers may register themselves.';
COMMENT ON COLUMN tenants.mcp IS 'Whether trusted documents are offered as tools of the Model Context Protocol.';
COMMENT ON COLUMN tenants.sharing IS 'Whether readers may share by links. If false, no link works.';

-- The issuers that the server's configuration does not contain. Without `jwks_url`, the address of the keys comes from the discovery
-- document of the issuer. Without audiences, those of the tenant count.
CREATE TABLE identity_providers (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    issuer text NOT NULL CHECK (issuer ~ '^https?://[^[:space:][:cntrl:]]+$' AND char_length(issuer) <= 500),
    -- Apps name the provider of an identity token.
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 500),
    audiences text[] NOT NULL DEFAULT '{}',
    jwks_url text CHECK (jwks_url ~ '^https?://[^[:space:][:cntrl:]]+$' AND char_length(jwks_url) <= 500),
    PRIMARY KEY (tenant_id, issuer)
);

CREATE UNIQUE INDEX identity_providers_name ON identity_providers (tenant_id, name);

COMMENT ON TABLE identity_providers IS
    'The OpenID Connect providers of tenants, in addition to those of the server''s configuration.';
COMMENT ON COLUMN identity_providers.name IS 'The name by which apps choose the provider. Unique for each tenant.';
COMMENT ON COLUMN identity_providers.audiences IS 'The accepted client IDs. Empty for the audiences of the tenant.';
COMMENT ON COLUMN identity_providers.jwks_url IS
    'The address of the keys; null if the discovery document of the issuer contains it.';

CREATE TABLE users (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants,
    -- A guest is a user without an identity. The first identity makes the guest an account, and the flag is never set again.
    is_guest boolean NOT NULL DEFAULT false,
    guest_seen_at timestamptz NOT NULL DEFAULT now(),
    email text,
    -- Apple reported that mail to the relay address is switched off. The address is hidden until it is on again.
    email_disabled boolean NOT NULL DEFAULT false,
    display_name text,
    preferred_genres text[] NOT NULL DEFAULT '{}',
    -- At most 10 primary language subtags, the most preferred first. Empty if the languages are not known.
    languages text[] NOT NULL DEFAULT '{}' CHECK (array_to_string(languages, ' ') ~ '^(?:[a-z]{2,3}(?: [a-z]{2,3}){0,9})?$'),
    -- A name of the IANA time zone database. It decides which day it is for the reader.
    time_zone text NOT NULL DEFAULT 'UTC',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 80);
ALTER TABLE users ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The counts of guests, and the search for inactive ones.
CREATE INDEX users_guests ON users (tenant_id, created_at)
    WHERE is_guest;
CREATE INDEX users_guest_seen_at ON users (guest_seen_at)
    WHERE is_guest;

COMMENT ON TABLE users IS 'Accounts and guests. A user belongs to one tenant.';
COMMENT ON COLUMN users.email_disabled IS
    'Whether Apple has reported that mail to the relay address is switched off. The address is not shown then.';
COMMENT ON COLUMN users.preferred_genres IS 'The names of genres, in the order of the reader.';
COMMENT ON COLUMN users.languages IS
    'The languages in which the user reads, the most preferred first: the first parts of BCP 47 tags. Empty if they are not known.';
COMMENT ON COLUMN users.time_zone IS 'A name of the IANA time zone database, which decides when the reader''s day begins.';
COMMENT ON COLUMN users.is_guest IS 'Whether the user has no identity. Adding the first identity ends this for good.';
COMMENT ON COLUMN users.guest_seen_at IS
    'When a guest was last known to be active. The job that deletes inactive guests examines those with old times, and updates them.';

-- The identities with which users sign in. A guest has none, and an account can have several.
CREATE TABLE identities (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenants,
    -- The subject of the identity token. If the provider is not Apple, it starts with the issuer and U+001F.
    subject text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id)
);
-- Each app has its own accounts.
CREATE UNIQUE INDEX identities_subject ON identities (tenant_id, subject);
ALTER TABLE identities ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE identities IS 'The identities with which users sign in. An account has one or more, and a guest has none.';
COMMENT ON COLUMN identities.tenant_id IS 'The tenant of the user. A copy, because subjects are unique for each tenant.';
COMMENT ON COLUMN identities.subject IS
    'The subject of the identity token. If the provider is not Apple, the issuer and U+001F precede it.';

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

COMMENT ON TABLE sessions IS 'Sign-ins. Each one has a refresh token.';
COMMENT ON COLUMN sessions.generation IS 'How often the refresh token was rotated.';
COMMENT ON COLUMN sessions.refresh_hash IS 'A hash of the secret of the refresh token. The secret is not stored.';
COMMENT ON COLUMN sessions.device_name IS 'The name that the app gave the device, for the reader''s list of sessions.';
COMMENT ON COLUMN sessions.rotated_at IS
    'When the refresh token was last rotated, which is also the last known use of the session.';
COMMENT ON COLUMN sessions.revoked_at IS 'When the session was ended; null if it was not.';

-- Identity tokens that opened a session. A token is accepted once, by all servers together, even after its account is
-- deleted; therefore the table has no user_id.
CREATE TABLE identity_token_uses (
    -- SHA-256 of the signed part of the token.
    token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    -- The token's own expiry. An expired token is rejected anyway, so the row can be deleted.
    expires_at timestamptz NOT NULL
);
CREATE INDEX identity_token_uses_expires_at ON identity_token_uses (expires_at);

COMMENT ON TABLE identity_token_uses IS
    'Identity tokens that have opened a session. A token is accepted once, by all servers together, also after its account '
    'was deleted.';
COMMENT ON COLUMN identity_token_uses.token_hash IS 'SHA-256 of the signed part of the token.';
COMMENT ON COLUMN identity_token_uses.expires_at IS 'When the token expires. The row is not needed after that.';

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

COMMENT ON TABLE apple_grants IS 'Apple''s refresh tokens of users, which are revoked when the account is deleted.';
COMMENT ON COLUMN apple_grants.client_id IS 'The app that has received the token. Only this app can revoke it.';
COMMENT ON COLUMN apple_grants.sealed_token IS 'The token, encrypted with the sealing key of the installation.';

-- Server-to-server notifications from Apple that were processed. Apple repeats them, and each is processed once.
CREATE TABLE apple_notifications (
    -- SHA-256 of the notification's issuer and jti. The content is not stored.
    id_hash bytea PRIMARY KEY CHECK (octet_length(id_hash) = 32),
    -- The notification's own expiry. An expired notification is rejected anyway, so the row can be deleted.
    expires_at timestamptz NOT NULL
);
CREATE INDEX apple_notifications_expires_at ON apple_notifications (expires_at);

COMMENT ON TABLE apple_notifications IS
    'The server-to-server notifications of Apple that were processed. Apple repeats notifications.';
COMMENT ON COLUMN apple_notifications.id_hash IS 'SHA-256 of the notification''s issuer and `jti`.';
COMMENT ON COLUMN apple_notifications.expires_at IS 'When the notification expires. The row is not needed after that.';

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

COMMENT ON TABLE account_tombstones IS 'Deleted accounts, without personal data.';
COMMENT ON COLUMN account_tombstones.user_hash IS 'SHA-256 of the user''s id.';
COMMENT ON COLUMN account_tombstones.session_hash IS
    'SHA-256 of the id of the session that requested the deletion, which can repeat the request for an hour. Null after that.';
COMMENT ON COLUMN account_tombstones.books IS 'The number of books that were deleted, as in the next two columns.';
COMMENT ON COLUMN account_tombstones.apple_token_revoked IS 'Whether the grant at Apple was revoked; null until this is known.';
