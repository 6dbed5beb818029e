-- requires: accounts
-- Personal access tokens: creation, and requests that are sent with one.

-- Returns the id, the user, and the tenant of the token with a hash. Returns no row if there is no such token, if it has expired,
-- or if it does not have the scope. Records the use of the token. The caller is not known yet, so row-level security cannot apply.
--
-- Relies on this plan: the indexes of both hashes.
CREATE OR REPLACE FUNCTION authenticate_access_token(given_hash bytea, wanted access_scope)
RETURNS TABLE (user_id uuid, tenant_id uuid, id uuid)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH found AS MATERIALIZED (
        SELECT t.user_id, u.tenant_id, t.id, t.last_used_at
        FROM access_tokens t
        JOIN users u ON u.id = t.user_id
        WHERE (t.token_hash = given_hash OR t.kosync_hash = given_hash)
            AND wanted = ANY(t.scopes)
            AND coalesce(t.expires_at > now(), true)
    ), used AS (
        UPDATE access_tokens t
        SET last_used_at = now()
        FROM found f
        WHERE t.user_id = f.user_id
            AND t.id = f.id
            AND coalesce(f.last_used_at < now() - interval '10 minutes', true)
    )
    SELECT f.user_id, f.tenant_id, f.id
    FROM found f
$$;

-- Does for a request with a personal access token what `begin_request` does for one with a session.
CREATE OR REPLACE FUNCTION begin_token_request(user_id uuid, tenant_id uuid, token_id uuid, read_only boolean) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
BEGIN
    ignored := set_config('app.user_id', user_id::text, true);
    ignored := set_config('app.tenant_id', tenant_id::text, true);
    IF read_only THEN
        ignored := set_config('transaction_read_only', 'on', true);
    ELSE
        ignored := lock_user(user_id);
    END IF;
    PERFORM
    FROM access_tokens t
    WHERE t.user_id = begin_token_request.user_id
        AND t.id = token_id
        AND coalesce(t.expires_at > now(), true);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the access token was revoked or has expired' USING ERRCODE = 'BP401';
    END IF;
END
$$;

-- Stores a new token. The outcome is DONE, FULL if the reader has too many tokens, or TAKEN if there is a token with the id.
-- If the same request has created that token less than `grace_seconds` ago, the outcome is REPEATED, with the stored hash and
-- seed, because the response may have been lost.
CREATE OR REPLACE FUNCTION create_access_token(
    owner uuid, new_id uuid, new_name text, new_scopes access_scope[], new_token_hash bytea, new_kosync_hash bytea,
    new_seed bytea, new_last_characters text, new_expires_at timestamptz, grace_seconds int, tokens_max int,
    OUT outcome text, OUT stored_hash bytea, OUT stored_seed bytea
)
LANGUAGE plpgsql
AS $$
DECLARE
    kept access_tokens;
BEGIN
    SELECT t.* INTO kept
    FROM access_tokens t
    WHERE t.user_id = owner AND t.id = new_id;
    IF FOUND THEN
        outcome := 'TAKEN';
        IF (kept.name, kept.scopes) = (new_name, new_scopes)
            AND kept.expires_at IS NOT DISTINCT FROM new_expires_at
            AND kept.created_at > now() - grace_seconds * interval '1 second'
        THEN
            outcome := 'REPEATED';
            stored_hash := kept.token_hash;
            stored_seed := kept.seed;
        END IF;
        RETURN;
    END IF;
    IF (SELECT count(*) FROM access_tokens t WHERE t.user_id = owner) >= tokens_max THEN
        DELETE FROM access_tokens t
        WHERE t.user_id = owner AND t.expires_at <= now();
        IF NOT FOUND THEN
            outcome := 'FULL';
            RETURN;
        END IF;
    END IF;
    INSERT INTO access_tokens (
        user_id, id, name, scopes, token_hash, kosync_hash, seed, last_characters, expires_at
    )
    VALUES (
        owner, new_id, new_name, new_scopes, new_token_hash, new_kosync_hash, new_seed, new_last_characters, new_expires_at
    );
    outcome := 'DONE';
    stored_hash := new_token_hash;
    stored_seed := new_seed;
END
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON access_tokens;
CREATE POLICY owner_only ON access_tokens TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON access_tokens;
CREATE POLICY administration ON access_tokens TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- A token never changes; only `authenticate_access_token` records its use.
GRANT SELECT, INSERT, DELETE ON access_tokens TO bookplate_app;

REVOKE ALL ON FUNCTION authenticate_access_token FROM PUBLIC;
GRANT EXECUTE ON FUNCTION authenticate_access_token TO bookplate_app;
