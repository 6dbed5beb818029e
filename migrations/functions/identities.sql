-- requires: accounts, audit, guests
-- Sign-in with identities: finding and creating accounts, linking and unlinking identities.

-- MARK: Identities

-- Serializes the transactions that create, link, or merge accounts of the identity in app.subject, until the end of the
-- transaction. Always taken before the locks of users.
CREATE OR REPLACE FUNCTION lock_identity() RETURNS void
LANGUAGE sql
AS $$
    SELECT pg_advisory_xact_lock(hashtextextended(app_tenant_id() || app_subject(), 1))
$$;

-- Returns the user of the identity in app.subject; null if it is unknown.
CREATE OR REPLACE FUNCTION user_of_identity() RETURNS uuid
LANGUAGE sql STABLE
AS $$
    SELECT i.user_id
    FROM identities i
    WHERE i.tenant_id = app_tenant_id() AND i.subject = app_subject()
$$;

-- Creates the account of the identity in app.subject, which has none. The caller has called lock_identity.
-- definer: no request can add an identity, except by creating its account.
CREATE OR REPLACE FUNCTION create_account(new_user uuid, email text, display_name text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    INSERT INTO users (id, tenant_id, email, display_name)
    VALUES (new_user, app_tenant_id(), create_account.email, create_account.display_name);
    INSERT INTO identities (user_id, tenant_id, subject)
    VALUES (new_user, app_tenant_id(), app_subject())
$$;

-- MARK: Sign-in

-- Returns the user of the identity in app.subject, and sets app.user_id to it. Creates the account if the identity is unknown.
--
-- `guest` and `guest_session` name the session of the request; null if it has none. If they are those of a guest, the guest gets
-- the identity (UPGRADED). If the identity has an account already, the guest's library moves into it, and the guest is deleted
-- (MERGED). A repeated request finds the same account, and no guest.
CREATE OR REPLACE FUNCTION sign_in(
    new_user uuid, email text, display_name text, guest uuid, guest_session uuid, OUT user_id uuid, OUT guest_outcome text
)
LANGUAGE plpgsql
AS $$
BEGIN
    user_id := user_of_identity();
    IF user_id IS NULL OR guest <> user_id THEN
        PERFORM lock_identity();
        IF guest IS NULL THEN
            user_id := user_of_identity();
        ELSE
            SELECT a.user_id, a.outcome INTO user_id, guest_outcome
            FROM adopt_guest(guest, guest_session) a;
        END IF;
        IF user_id IS NULL THEN
            PERFORM create_account(new_user, sign_in.email, sign_in.display_name);
            user_id := new_user;
        END IF;
    END IF;
    PERFORM set_config('app.user_id', user_id::text, true);
END
$$;

-- MARK: Linking

-- Returns whether an identity is one of Apple, or of another issuer of the server's configuration.
CREATE OR REPLACE FUNCTION is_from_apple(subject text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT strpos(subject, U&'\001F') = 0
$$;

-- Adds the identity in app.subject to the caller, and makes a guest an account. Fails if another user has the identity, if it is from
-- Apple and the caller has another one from Apple, if the caller has `identities_max` identities, or if the identity token was used
-- before. A repeated request changes nothing. The caller has called lock_identity before begin_request.
-- definer: no request can add an identity without the token that has proved it, which is used up here.
CREATE OR REPLACE FUNCTION link_identity(
    token_hash bytea, token_expires_at timestamptz, identities_max int, OUT is_upgrade boolean
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    owner uuid := app_user_id();
    present uuid := user_of_identity();
BEGIN
    is_upgrade := false;
    IF present = owner THEN
        RETURN;
    ELSIF present IS NOT NULL THEN
        RAISE EXCEPTION 'IDENTITY_TAKEN' USING ERRCODE = 'BP409';
    ELSIF is_from_apple(app_subject()) AND EXISTS (
        SELECT FROM identities i WHERE i.user_id = owner AND is_from_apple(i.subject)
    ) THEN
        -- An account has one grant of Apple for each app.
        RAISE EXCEPTION 'SECOND_APPLE_IDENTITY' USING ERRCODE = 'BP409';
    ELSIF (SELECT count(*) FROM identities i WHERE i.user_id = owner) >= identities_max THEN
        RAISE EXCEPTION 'LIMIT_REACHED' USING ERRCODE = 'BP409', DETAIL = identities_max;
    END IF;
    INSERT INTO identity_token_uses (token_hash, expires_at)
    VALUES (link_identity.token_hash, token_expires_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the identity token was used before' USING ERRCODE = 'BP411';
    END IF;
    INSERT INTO identities (user_id, tenant_id, subject)
    SELECT u.id, u.tenant_id, app_subject()
    FROM users u
    WHERE u.id = owner AND u.tenant_id = app_tenant_id();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the caller belongs to another tenant' USING ERRCODE = 'BP401';
    END IF;
    PERFORM record_audit_event('IDENTITY_LINKED', app_tenant_id(), owner, NULL, '{}');
    UPDATE users u
    SET is_guest = false
    WHERE u.id = owner AND u.is_guest;
    IF FOUND THEN
        is_upgrade := true;
        PERFORM record_audit_event('GUEST_UPGRADED', app_tenant_id(), owner, NULL, '{}');
    END IF;
END
$$;

-- Removes an identity of the caller, unless it is the last one. Succeeds if there is no such identity. Adds a job for each token of
-- Apple that belongs to the identity, which revokes it.
CREATE OR REPLACE FUNCTION unlink_identity(identity uuid, revocation_kind text, attempts_max int) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM identities i
    WHERE i.user_id = app_user_id() AND i.id = identity;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM
    FROM identities i
    WHERE i.user_id = app_user_id();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'ONLY_IDENTITY' USING ERRCODE = 'BP409';
    END IF;
    IF NOT EXISTS (SELECT FROM identities i WHERE i.user_id = app_user_id() AND is_from_apple(i.subject)) THEN
        PERFORM enqueue_job(
            NULL, revocation_kind,
            jsonb_build_object('clientID', g.client_id, 'sealedToken', replace(encode(g.sealed_token, 'base64'), E'\n', '')),
            NULL, 0, 0, attempts_max
        )
        FROM apple_grants g
        WHERE g.user_id = app_user_id();
        DELETE FROM apple_grants g
        WHERE g.user_id = app_user_id();
    END IF;
END
$$;

-- Records a removed identity, unless its account is deleted, which is one event.
-- definer: no request can write to the audit log, except by what it does.
CREATE OR REPLACE FUNCTION audit_unlinked_identity() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM record_audit_event('IDENTITY_UNLINKED', OLD.tenant_id, OLD.user_id, NULL, '{}')
    FROM users u
    WHERE u.id = OLD.user_id;
    RETURN NULL;
END
$$;

-- A trigger, because readers unlink identities, and notifications from Apple end them, in different functions.
CREATE OR REPLACE TRIGGER audit_unlinked_identity
AFTER DELETE ON identities
FOR EACH ROW
EXECUTE FUNCTION audit_unlinked_identity();

-- Removes the identity in app.subject, which Apple has deleted, if the caller has another one: the account stays. Ends its sessions
-- and tokens, and sets app.user_id to no user. An account without another identity is left to the deletion that follows.
CREATE OR REPLACE FUNCTION release_deleted_identity() RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    owner uuid := app_user_id();
BEGIN
    IF owner IS NULL THEN
        RETURN;
    END IF;
    PERFORM lock_user(owner);
    IF NOT EXISTS (SELECT FROM identities i WHERE i.user_id = owner AND i.subject <> app_subject()) THEN
        RETURN;
    END IF;
    DELETE FROM identities i
    WHERE i.user_id = owner AND i.subject = app_subject();
    DELETE FROM apple_grants g
    WHERE g.user_id = owner;
    UPDATE sessions s
    SET revoked_at = now()
    WHERE s.user_id = owner AND s.revoked_at IS NULL;
    -- Waits for an exchange in progress, whose grant the next statement then sees.
    DELETE FROM oauth_requests r
    WHERE r.user_id = owner AND r.grant_id IS NULL;
    DELETE FROM oauth_grants g
    WHERE g.user_id = owner;
    DELETE FROM access_tokens t
    WHERE t.user_id = owner;
    PERFORM set_config('app.user_id', '', true);
END
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON identities;
CREATE POLICY owner_only ON identities TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
-- During sign-in the user's id is not known yet. The verified identity makes its own row visible.
DROP POLICY IF EXISTS identity_only ON identities;
CREATE POLICY identity_only ON identities FOR SELECT TO bookplate_app
    USING (tenant_id = (SELECT app_tenant_id()) AND subject = (SELECT app_subject()));
DROP POLICY IF EXISTS administration ON identities;
CREATE POLICY administration ON identities TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- Functions add identities, after the token was verified.
GRANT SELECT, DELETE ON identities TO bookplate_app;

REVOKE ALL ON FUNCTION create_account, link_identity, audit_unlinked_identity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_account, link_identity TO bookplate_app;
