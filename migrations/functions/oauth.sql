-- requires: access_tokens, accounts, audit
-- OAuth: requests of apps of other developers, the decisions of readers, and the tokens of the apps.
--
-- An app that asks for tokens is not a caller with a session, so these functions run with the rights of the owner, and find their
-- rows by hashes of secrets, and by the client, which has been authenticated. Readers decide requests with statements of their own
-- (AuthorizationRequest.swift).

-- MARK: Requests

-- Adds a request of an app. Returns false if the user code is in use. Also deletes a few requests that have expired.
-- definer: an app asks before a reader has signed in.
CREATE OR REPLACE FUNCTION start_oauth_request(
    new_id uuid, tenant uuid, client uuid, new_code text, requested access_scope[], lifetime_seconds int,
    new_redirect_uri text, new_state text, challenge text, new_browser_hash bytea, new_device_hash bytea
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    DELETE FROM oauth_requests r
    WHERE r.id IN (
        SELECT e.id
        FROM oauth_requests e
        -- The app gets a more exact error for an hour.
        WHERE e.expires_at < now() - interval '1 hour'
        ORDER BY e.expires_at
        LIMIT 20
        FOR UPDATE SKIP LOCKED
    );
    INSERT INTO oauth_requests (
        id, tenant_id, client_id, user_code, scopes, redirect_uri, state, code_challenge, browser_hash, device_hash,
        expires_at
    )
    VALUES (
        new_id, tenant, client, new_code, requested, new_redirect_uri, new_state, challenge, new_browser_hash, new_device_hash,
        now() + lifetime_seconds * interval '1 second'
    )
    ON CONFLICT (tenant_id, user_code) DO NOTHING;
    RETURN FOUND;
END
$$;

-- Returns a request of the authorization code grant for its page. A request that has expired is returned for another hour.
-- definer: a browser shows the page of a request before a reader has signed in.
CREATE OR REPLACE FUNCTION oauth_request_of_browser(request uuid)
RETURNS TABLE (
    tenant_id uuid, client_name text, is_self_registered boolean, user_code text, scopes text[], redirect_uri text, state text,
    browser_hash bytea, is_allowed boolean, is_finished boolean
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT
        r.tenant_id, c.name, c.is_self_registered, r.user_code, r.scopes::text[], r.redirect_uri, r.state, r.browser_hash,
        r.is_allowed, r.expires_at <= now() OR r.grant_id IS NOT NULL
    FROM oauth_requests r
    JOIN oauth_clients c ON c.id = r.client_id
    WHERE r.id = request AND r.redirect_uri IS NOT NULL
$$;

-- Sets the authorization code of a request that was allowed. A code that was not used is replaced. Returns whether that was done.
-- definer: the browser that gets the code has no session.
CREATE OR REPLACE FUNCTION set_oauth_code(request uuid, new_hash bytea, lifetime_seconds int) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    UPDATE oauth_requests r
    SET code_hash = new_hash, code_expires_at = now() + lifetime_seconds * interval '1 second'
    WHERE r.id = request AND r.is_allowed AND r.grant_id IS NULL AND r.expires_at > now()
    RETURNING true
$$;

-- Ends a request because its browser has cancelled it, unless a reader has decided it. The app gets the error access_denied.
-- definer: the browser that cancels has no session.
CREATE OR REPLACE FUNCTION cancel_oauth_request(request uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    UPDATE oauth_requests r
    SET expires_at = now()
    WHERE r.id = request AND r.user_id IS NULL AND r.expires_at > now()
$$;

-- MARK: Tokens

-- Adds an access token of a grant. The five newest ones stay valid, because requests with an older one may be on their way.
CREATE OR REPLACE FUNCTION add_oauth_token(
    owner uuid, of_grant uuid, allowed access_scope[], new_token uuid, new_hash bytea, new_last_characters text,
    lifetime_seconds int
) RETURNS void
LANGUAGE sql
AS $$
    DELETE FROM access_tokens t
    WHERE t.user_id = owner
        AND t.grant_id = of_grant
        AND (
            t.expires_at <= now()
            OR t.id IN (
                SELECT n.id
                FROM access_tokens n
                WHERE n.user_id = owner AND n.grant_id = of_grant
                ORDER BY n.created_at DESC, n.id DESC
                OFFSET 4
            )
        );
    INSERT INTO access_tokens (user_id, id, name, scopes, token_hash, seed, last_characters, expires_at, grant_id)
    SELECT
        owner, new_token, c.name, allowed, new_hash, '', new_last_characters,
        least(now() + lifetime_seconds * interval '1 second', g.expires_at), of_grant
    FROM oauth_grants g
    JOIN oauth_clients c ON c.id = g.client_id
    WHERE g.user_id = owner AND g.id = of_grant
$$;

-- Creates the grant of a request that the reader has allowed, with its first access token. A reader has at most 100 grants: a further
-- one replaces the one that was not used for the longest time.
CREATE OR REPLACE FUNCTION create_oauth_grant(
    request oauth_requests, new_grant uuid, new_refresh_hash bytea, new_token uuid, new_hash bytea, new_last_characters text,
    token_seconds int, grant_days int
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM oauth_grants g
    WHERE g.user_id = request.user_id
        AND (
            g.expires_at <= now()
            OR g.id IN (
                SELECT o.id
                FROM oauth_grants o
                WHERE o.user_id = request.user_id
                ORDER BY coalesce(o.last_used_at, o.created_at) DESC, o.id DESC
                OFFSET 99
            )
        );
    INSERT INTO oauth_grants (user_id, id, client_id, scopes, refresh_hash, expires_at)
    VALUES (
        request.user_id, new_grant, request.client_id, request.scopes, new_refresh_hash,
        now() + grant_days * interval '1 day'
    );
    PERFORM add_oauth_token(
        request.user_id, new_grant, request.scopes, new_token, new_hash, new_last_characters, token_seconds
    );
    UPDATE oauth_requests r
    SET grant_id = new_grant, expires_at = now() + interval '1 day'
    WHERE r.id = request.id;
END
$$;

-- Exchanges an authorization code or a device code for tokens. `given_hash` is the hash of the code. The code challenge is that of the
-- code verifier which the app has sent, and `given_redirect_uri` null if it has sent none.
--
-- The outcome is DONE, INVALID for a code that does not exist, is too old, or has another redirect URI or code challenge, or REUSED for
-- a code that was used before: its grant ends, because someone else may have used it. Device codes can also have the outcomes PENDING,
-- SLOW_DOWN, DENIED, and EXPIRED. A failed attempt makes an authorization code invalid.
-- definer: an app authenticates with its secret, without a session.
CREATE OR REPLACE FUNCTION exchange_oauth_code(
    client uuid, given_hash bytea, is_device boolean, given_redirect_uri text, challenge text, new_grant uuid,
    new_refresh_hash bytea, new_token uuid, new_hash bytea, new_last_characters text, token_seconds int, grant_days int,
    OUT outcome text, OUT user_id uuid, OUT scopes text[]
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    request oauth_requests;
    locked_user uuid;
    is_early boolean;
BEGIN
    outcome := 'INVALID';
    -- The lock of the user comes before locks of rows.
    SELECT r.* INTO request
    FROM oauth_requests r
    WHERE r.client_id = client
        AND CASE WHEN is_device THEN r.device_hash = given_hash ELSE r.code_hash = given_hash END;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    locked_user := request.user_id;
    IF locked_user IS NOT NULL THEN
        PERFORM lock_user(locked_user);
    END IF;
    SELECT r.* INTO request
    FROM oauth_requests r
    WHERE r.id = request.id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    ELSIF request.user_id IS DISTINCT FROM locked_user THEN
        -- The reader has decided meanwhile. The next attempt takes the lock of the user.
        outcome := 'PENDING';
        RETURN;
    ELSIF request.grant_id IS NOT NULL THEN
        DELETE FROM oauth_grants g
        WHERE g.user_id = request.user_id AND g.id = request.grant_id;
        outcome := 'REUSED';
        RETURN;
    END IF;
    IF is_device THEN
        is_early := coalesce(request.polled_at > now() - (request.interval_seconds - 0.5) * interval '1 second', false);
        UPDATE oauth_requests r
        SET polled_at = now(), interval_seconds = r.interval_seconds + CASE WHEN is_early THEN 5 ELSE 0 END
        WHERE r.id = request.id;
        outcome := CASE
            WHEN request.is_allowed = false THEN 'DENIED'
            WHEN request.expires_at <= now() THEN 'EXPIRED'
            WHEN is_early THEN 'SLOW_DOWN'
            WHEN request.is_allowed IS NULL THEN 'PENDING'
            ELSE 'DONE'
        END;
    ELSIF request.code_hash = given_hash
        AND request.code_expires_at > now()
        AND request.code_challenge = challenge
        -- The app may leave the redirect URI out here (OAuth 2.1), but not send another one.
        AND coalesce(request.redirect_uri = given_redirect_uri, true)
    THEN
        outcome := 'DONE';
    ELSE
        UPDATE oauth_requests r
        SET code_hash = NULL, expires_at = now()
        WHERE r.id = request.id;
    END IF;
    IF outcome = 'DONE' THEN
        PERFORM create_oauth_grant(
            request, new_grant, new_refresh_hash, new_token, new_hash, new_last_characters, token_seconds, grant_days
        );
        user_id := request.user_id;
        scopes := request.scopes::text[];
    END IF;
END
$$;

-- Replaces a refresh token, and adds an access token with the requested scopes, or those of the grant if there are none.
--
-- The outcome is DONE, REPEATED if the token was replaced less than `grace_seconds` ago by the same successor, SCOPE if a requested scope
-- is not one of the grant, OTHER if the grant has another refresh token, or UNKNOWN if there is no such grant. `stored_hash` and
-- `stored_generation` are those of the grant before.
-- definer: an app authenticates with its secret, without a session.
CREATE OR REPLACE FUNCTION refresh_oauth_grant(
    client uuid, owner uuid, of_grant uuid, given_hash bytea, successor_hash bytea, grace_seconds int,
    requested access_scope[], new_token uuid, new_hash bytea, new_last_characters text, token_seconds int,
    OUT outcome text, OUT stored_hash bytea, OUT stored_generation int, OUT scopes text[]
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    stored oauth_grants;
BEGIN
    PERFORM lock_user(owner);
    SELECT g.* INTO stored
    FROM oauth_grants g
    WHERE g.user_id = owner AND g.id = of_grant AND g.client_id = client AND g.expires_at > now()
    FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'UNKNOWN';
        RETURN;
    END IF;
    stored_hash := stored.refresh_hash;
    stored_generation := stored.generation;
    outcome := CASE
        WHEN stored.refresh_hash = given_hash THEN 'DONE'
        WHEN stored.refresh_hash = successor_hash AND stored.rotated_at > now() - grace_seconds * interval '1 second'
            THEN 'REPEATED'
        ELSE 'OTHER'
    END;
    IF outcome = 'OTHER' THEN
        RETURN;
    ELSIF NOT stored.scopes @> coalesce(requested, '{}') THEN
        outcome := 'SCOPE';
        RETURN;
    ELSIF outcome = 'DONE' THEN
        UPDATE oauth_grants g
        SET refresh_hash = successor_hash, generation = g.generation + 1, rotated_at = now()
        WHERE g.user_id = owner AND g.id = of_grant;
    END IF;
    scopes := coalesce(requested, stored.scopes)::text[];
    PERFORM add_oauth_token(
        owner, of_grant, coalesce(requested, stored.scopes), new_token, new_hash, new_last_characters, token_seconds
    );
END
$$;

-- Returns the current refresh token of a grant of a client. No row if there is no such grant.
-- definer: an app authenticates with its secret, without a session.
CREATE OR REPLACE FUNCTION oauth_refresh_state(client uuid, owner uuid, of_grant uuid)
RETURNS TABLE (refresh_hash bytea, generation int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT g.refresh_hash, g.generation
    FROM oauth_grants g
    WHERE g.user_id = owner AND g.id = of_grant AND g.client_id = client
$$;

-- Ends a grant of a client, with all its access tokens.
-- definer: an app authenticates with its secret, without a session.
CREATE OR REPLACE FUNCTION end_oauth_grant(client uuid, owner uuid, of_grant uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM lock_user(owner);
    DELETE FROM oauth_grants g
    WHERE g.user_id = owner AND g.id = of_grant AND g.client_id = client;
END
$$;

-- Revokes an access token of a client.
-- definer: an app authenticates with its secret, without a session.
CREATE OR REPLACE FUNCTION revoke_oauth_token(client uuid, given_hash bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    DELETE FROM access_tokens t
    USING oauth_grants g
    WHERE t.token_hash = given_hash AND g.user_id = t.user_id AND g.id = t.grant_id AND g.client_id = client
$$;

-- MARK: Clients

-- Returns whether a reader has allowed an app something, or is about to. Requests without an answer do not count,
-- because they can be started without signing in.
CREATE OR REPLACE FUNCTION is_oauth_client_used(client uuid) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM oauth_grants g WHERE g.client_id = client)
        OR EXISTS (SELECT FROM oauth_requests r WHERE r.client_id = client AND r.is_allowed AND r.expires_at > now())
$$;

-- Adds an app that registers itself. Returns false if the tenant does not allow that, or has `clients_max` such apps. The oldest
-- app without access to an account is removed after an hour. One address can register only some hundred apps in that time, so it
-- cannot prevent the registrations of others.
-- definer: an app registers itself, with limits that it cannot change.
CREATE OR REPLACE FUNCTION register_oauth_client(
    new_id uuid, tenant uuid, new_name text, uris text[], allowed access_scope[], device boolean, new_secret_hash bytea,
    clients_max int
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF (SELECT count(*) FROM oauth_clients c WHERE c.tenant_id = tenant AND c.is_self_registered) >= clients_max THEN
        DELETE FROM oauth_clients c
        WHERE c.id = (
            SELECT u.id
            FROM oauth_clients u
            WHERE u.tenant_id = tenant
                AND u.is_self_registered
                AND u.created_at < now() - interval '1 hour'
                AND NOT is_oauth_client_used(u.id)
            ORDER BY u.created_at
            LIMIT 1
        );
    END IF;
    PERFORM
    FROM tenants t
    WHERE t.id = tenant
        AND t.oauth
        AND t.oauth_registration
        AND (SELECT count(*) FROM oauth_clients c WHERE c.tenant_id = t.id AND c.is_self_registered) < clients_max;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO oauth_clients (
        id, tenant_id, name, redirect_uris, scopes, allows_device, secret_hash, is_self_registered
    )
    VALUES (new_id, tenant, new_name, uris, allowed, device, new_secret_hash, true);
    PERFORM record_audit_event('CLIENT_REGISTERED', tenant, NULL, NULL, jsonb_build_object('client', new_id));
    RETURN true;
END
$$;

-- Deletes requests, grants, and access tokens of apps that have expired, and apps that registered themselves more than `unused_days`
-- ago and have no access. Returns how many rows.
-- definer: a job for the grants of all readers.
CREATE OR REPLACE FUNCTION prune_oauth(unused_days int, rows_max int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    total bigint := 0;
    deleted bigint;
BEGIN
    DELETE FROM oauth_requests r
    WHERE r.id IN (
        SELECT e.id
        FROM oauth_requests e
        WHERE e.expires_at < now() - interval '1 hour'
        LIMIT rows_max
        FOR UPDATE SKIP LOCKED
    );
    GET DIAGNOSTICS deleted = ROW_COUNT;
    total := total + deleted;
    DELETE FROM oauth_grants g
    WHERE (g.user_id, g.id) IN (
        SELECT e.user_id, e.id
        FROM oauth_grants e
        WHERE e.expires_at < now()
        ORDER BY e.user_id, e.id
        LIMIT rows_max
        FOR UPDATE SKIP LOCKED
    );
    GET DIAGNOSTICS deleted = ROW_COUNT;
    total := total + deleted;
    DELETE FROM access_tokens t
    WHERE (t.user_id, t.id) IN (
        SELECT e.user_id, e.id
        FROM access_tokens e
        WHERE e.grant_id IS NOT NULL AND e.expires_at < now() - interval '1 hour'
        ORDER BY e.user_id, e.id
        LIMIT rows_max
        FOR UPDATE SKIP LOCKED
    );
    GET DIAGNOSTICS deleted = ROW_COUNT;
    total := total + deleted;
    DELETE FROM oauth_clients c
    WHERE c.id IN (
        SELECT u.id
        FROM oauth_clients u
        WHERE u.is_self_registered
            AND u.created_at < now() - greatest(1, unused_days) * interval '1 day'
            AND NOT is_oauth_client_used(u.id)
        LIMIT rows_max
        FOR UPDATE SKIP LOCKED
    );
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN total + deleted;
END
$$;

-- MARK: Audit

-- Records access that a reader has allowed to an app, or its end. The argument is the kind of the event. The grants of a deleted
-- account disappear with it, which is one event.
-- definer: no request can write to the audit log, except by what it does.
CREATE OR REPLACE FUNCTION audit_oauth_grant() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    changed oauth_grants;
BEGIN
    IF TG_OP = 'DELETE' THEN
        changed := OLD;
    ELSE
        changed := NEW;
    END IF;
    PERFORM record_audit_event(
        TG_ARGV[0], u.tenant_id, u.id, changed.id,
        jsonb_build_object('client', changed.client_id, 'scopes', changed.scopes)
    )
    FROM users u
    WHERE u.id = changed.user_id;
    RETURN NULL;
END
$$;

-- A trigger, so that the audit log also contains grants that the administrator adds with SQL.
CREATE OR REPLACE TRIGGER audit_oauth_grant
AFTER INSERT ON oauth_grants
FOR EACH ROW
EXECUTE FUNCTION audit_oauth_grant('APP_AUTHORIZED');

-- A trigger, because grants also end with their clients, by a foreign key.
CREATE OR REPLACE TRIGGER audit_ended_oauth_grant
AFTER DELETE ON oauth_grants
FOR EACH ROW
EXECUTE FUNCTION audit_oauth_grant('APP_REVOKED');

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON oauth_grants;
CREATE POLICY owner_only ON oauth_grants TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON oauth_grants;
CREATE POLICY administration ON oauth_grants TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- Readers decide requests of their tenant that no other reader has decided (AuthorizationRequest.swift), and cannot read secrets.
DROP POLICY IF EXISTS finding ON oauth_requests;
CREATE POLICY finding ON oauth_requests FOR SELECT TO bookplate_app
    USING (tenant_id = app_tenant_id() AND (user_id = app_user_id() OR user_id IS NULL));
DROP POLICY IF EXISTS deciding ON oauth_requests;
CREATE POLICY deciding ON oauth_requests FOR UPDATE TO bookplate_app
    USING (tenant_id = app_tenant_id() AND (user_id = app_user_id() OR user_id IS NULL))
    WITH CHECK (tenant_id = app_tenant_id() AND user_id = app_user_id());
DROP POLICY IF EXISTS forgetting ON oauth_requests;
CREATE POLICY forgetting ON oauth_requests FOR DELETE TO bookplate_app
    USING (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON oauth_requests;
CREATE POLICY administration ON oauth_requests TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT ON oauth_clients TO bookplate_app;
GRANT
    SELECT (
        id, tenant_id, client_id, user_code, scopes, redirect_uri, created_at, expires_at, user_id, is_allowed, grant_id
    ),
    UPDATE (scopes, user_id, is_allowed, code_hash), DELETE
    ON oauth_requests TO bookplate_app;
-- Functions create and refresh grants.
GRANT SELECT, DELETE ON oauth_grants TO bookplate_app;

REVOKE ALL ON FUNCTION start_oauth_request, oauth_request_of_browser, set_oauth_code, cancel_oauth_request,
    exchange_oauth_code, refresh_oauth_grant, oauth_refresh_state, end_oauth_grant, revoke_oauth_token, register_oauth_client,
    prune_oauth, audit_oauth_grant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION start_oauth_request, oauth_request_of_browser, set_oauth_code, cancel_oauth_request,
    exchange_oauth_code, refresh_oauth_grant, oauth_refresh_state, end_oauth_grant, revoke_oauth_token, register_oauth_client,
    prune_oauth TO bookplate_app;
