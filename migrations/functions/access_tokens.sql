-- requires: accounts, audit
-- Personal access tokens: creation, and requests that are sent with one.

-- Returns the token with a hash, and no row if there is no such token, if it has expired, or if it is one of an app and the tenant
-- does not allow apps any more. The caller is not known yet, so row-level security cannot apply. It changes nothing, so that
-- replicas can run it.
--
-- Relies on this plan: the indexes of both hashes.
-- definer: the token is all that the server has: its reader is not known yet.
CREATE OR REPLACE FUNCTION find_access_token(given_hash bytea)
RETURNS TABLE (user_id uuid, tenant_id uuid, id uuid, scopes access_scope[], documents text[], expires_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT t.user_id, u.tenant_id, t.id, t.scopes, t.documents, t.expires_at
    FROM access_tokens t
    JOIN users u ON u.id = t.user_id
    WHERE (t.token_hash = given_hash OR t.kosync_hash = given_hash)
        AND coalesce(t.expires_at > now(), true)
        AND (t.grant_id IS NULL OR (SELECT n.oauth FROM tenants n WHERE n.id = u.tenant_id))
$$;

-- Records the times at which tokens were used, in seconds since the Unix epoch, if they are more than ten minutes after the
-- recorded ones. The first use of a day is an event of the audit log. An app gets a new token every hour, so its uses also are
-- recorded in its grant, and the event has the ID of the grant.
-- definer: one statement for the tokens of many readers; no request may change a token.
CREATE OR REPLACE FUNCTION record_token_uses(users uuid[], ids uuid[], seconds bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    -- The order prevents deadlocks between two servers. Rows that another transaction is deleting are skipped, because it may lock
    -- them in another order.
    WITH grants AS MATERIALIZED (
        SELECT g.user_id, g.id, g.last_used_at
        FROM oauth_grants g
        WHERE (g.user_id, g.id) IN (
            SELECT t.user_id, t.grant_id
            FROM unnest(users, ids) AS used (user_id, id)
            JOIN access_tokens t ON t.user_id = used.user_id AND t.id = used.id
        )
        ORDER BY g.user_id, g.id
        FOR UPDATE SKIP LOCKED
    ), found AS MATERIALIZED (
        SELECT
            t.user_id, t.id, t.grant_id, to_timestamp(used.seconds) AS used_at,
            CASE WHEN t.grant_id IS NULL THEN t.last_used_at ELSE g.last_used_at END AS last_used_at
        FROM unnest(users, ids, seconds) AS used (user_id, id, seconds)
        JOIN access_tokens t ON t.user_id = used.user_id AND t.id = used.id
        LEFT JOIN grants g ON g.user_id = t.user_id AND g.id = t.grant_id
        WHERE coalesce(t.last_used_at < to_timestamp(used.seconds) - interval '10 minutes', true)
            AND (t.grant_id IS NULL OR g.id IS NOT NULL)
        ORDER BY t.user_id, t.id
        FOR UPDATE OF t SKIP LOCKED
    ), updated AS (
        UPDATE access_tokens t
        SET last_used_at = f.used_at
        FROM found f
        WHERE t.user_id = f.user_id AND t.id = f.id
    ), updated_grants AS (
        UPDATE oauth_grants g
        SET last_used_at = f.used_at
        FROM (
            SELECT n.user_id, n.grant_id, max(n.used_at) AS used_at
            FROM found n
            GROUP BY n.user_id, n.grant_id
        ) f
        WHERE g.user_id = f.user_id AND g.id = f.grant_id
    )
    SELECT record_audit_event('TOKEN_USED', first.tenant_id, first.user_id, first.credential_id, '{}')
    FROM (
        SELECT DISTINCT u.tenant_id, f.user_id, coalesce(f.grant_id, f.id) AS credential_id
        FROM found f
        JOIN users u ON u.id = f.user_id
        WHERE (f.last_used_at AT TIME ZONE 'UTC')::date IS DISTINCT FROM (f.used_at AT TIME ZONE 'UTC')::date
    ) first
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
        -- As in `begin_request`.
        IF current_setting('synchronous_standby_names') <> '' THEN
            ignored := pg_logical_emit_message(true, 'bookplate', '');
        END IF;
    END IF;
    PERFORM
    FROM access_tokens t
    WHERE t.user_id = begin_token_request.user_id
        AND t.id = token_id
        AND coalesce(t.expires_at > now(), true)
        AND (t.grant_id IS NULL OR (SELECT n.oauth FROM tenants n WHERE n.id = begin_token_request.tenant_id));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the access token was revoked or has expired' USING ERRCODE = 'BP401';
    END IF;
END
$$;

-- Stores a new token. The outcome is DONE, FULL if the reader has too many tokens, TAKEN if there is a token with the id, or
-- DOCUMENTS if one of `given_documents`, ids or hashes of trusted documents, does not exist.
-- If the same request has created that token less than `grace_seconds` ago, the outcome is REPEATED, with the stored hash and
-- seed, because the response may have been lost.
CREATE OR REPLACE FUNCTION create_access_token(
    owner uuid, new_id uuid, new_name text, new_scopes access_scope[], new_token_hash bytea, new_kosync_hash bytea,
    new_seed bytea, new_last_characters text, new_expires_at timestamptz, grace_seconds int, tokens_max int,
    given_documents text[],
    OUT outcome text, OUT stored_hash bytea, OUT stored_seed bytea
)
LANGUAGE plpgsql
AS $$
DECLARE
    kept access_tokens;
    -- Null if the token is not bound to documents.
    new_documents text[];
BEGIN
    IF given_documents IS NOT NULL THEN
        SELECT array_agg(DISTINCT d.sha256 ORDER BY d.sha256) INTO new_documents
        FROM unnest(given_documents) AS given (name)
        JOIN documents d ON d.id = given.name OR d.sha256 = given.name;
        IF EXISTS (
            SELECT
            FROM unnest(given_documents) AS given (name)
            WHERE NOT EXISTS (SELECT FROM documents d WHERE d.id = given.name OR d.sha256 = given.name)
        ) THEN
            outcome := 'DOCUMENTS';
            RETURN;
        END IF;
    END IF;
    SELECT t.* INTO kept
    FROM access_tokens t
    WHERE t.user_id = owner AND t.id = new_id;
    IF FOUND THEN
        outcome := 'TAKEN';
        IF (kept.name, kept.scopes) = (new_name, new_scopes)
            AND kept.expires_at IS NOT DISTINCT FROM new_expires_at
            AND kept.documents IS NOT DISTINCT FROM new_documents
            AND kept.created_at > now() - grace_seconds * interval '1 second'
        THEN
            outcome := 'REPEATED';
            stored_hash := kept.token_hash;
            stored_seed := kept.seed;
        END IF;
        RETURN;
    END IF;
    IF (SELECT count(*) FROM access_tokens t WHERE t.user_id = owner AND t.grant_id IS NULL) >= tokens_max THEN
        DELETE FROM access_tokens t
        WHERE t.user_id = owner AND t.grant_id IS NULL AND t.expires_at <= now();
        IF NOT FOUND THEN
            outcome := 'FULL';
            RETURN;
        END IF;
    END IF;
    INSERT INTO access_tokens (
        user_id, id, name, scopes, token_hash, kosync_hash, seed, last_characters, expires_at,
        documents
    )
    VALUES (
        owner, new_id, new_name, new_scopes, new_token_hash, new_kosync_hash, new_seed, new_last_characters, new_expires_at,
        new_documents
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

-- A token never changes; only `record_token_uses` records its use.
GRANT SELECT, INSERT, DELETE ON access_tokens TO bookplate_app;

REVOKE ALL ON FUNCTION find_access_token, record_token_uses FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_access_token, record_token_uses TO bookplate_app;
