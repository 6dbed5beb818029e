-- requires: accounts
-- The audit log: events of security and administration in a hash chain, so that a changed or deleted event is found.

-- MARK: Recording

-- Adds an event. The operator is the one that bookplate-admin has set for its connection.
CREATE OR REPLACE FUNCTION record_audit_event(
    event_kind text, tenant_id uuid, account_id uuid, credential_id uuid, detail jsonb
) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO audit_events (kind, tenant_id, account_id, credential_id, operator, detail)
    VALUES (
        event_kind, record_audit_event.tenant_id, record_audit_event.account_id, record_audit_event.credential_id,
        nullif(current_setting('app.operator', true), ''), record_audit_event.detail
    )
$$;

-- Records a new session, a revoked session, and the creation and the end of a token or of a shared link. The argument is the kind of the event. Also notifies
-- all servers of the end of a session or token at the commit, so that they close its streams and sockets. The tokens of apps are not
-- recorded, because their grants are.
-- definer: no request can write to the audit log, except by what it does.
CREATE OR REPLACE FUNCTION audit_credential() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    credential jsonb := to_jsonb(NEW);
    account uuid;
    tenant uuid;
    detail jsonb := '{}';
BEGIN
    IF TG_OP = 'DELETE' THEN
        credential := to_jsonb(OLD);
    END IF;
    account := (credential ->> 'user_id')::uuid;
    IF TG_OP <> 'INSERT' AND TG_TABLE_NAME <> 'shared_links' THEN
        PERFORM pg_notify('session_ended', credential ->> 'id');
    END IF;
    SELECT u.tenant_id INTO tenant FROM users u WHERE u.id = account;
    -- The tokens of a deleted account disappear with it, which is one event.
    IF tenant IS NULL OR credential ->> 'grant_id' IS NOT NULL THEN
        RETURN NULL;
    END IF;
    IF TG_ARGV[0] = 'TOKEN_CREATED' THEN
        detail := jsonb_build_object(
            'scopes', credential -> 'scopes', 'expiresAt', credential -> 'expires_at',
            'documents', credential -> 'documents'
        );
    END IF;
    PERFORM record_audit_event(TG_ARGV[0], tenant, account, (credential ->> 'id')::uuid, detail);
    RETURN NULL;
END
$$;

-- Triggers, because accounts, guests, and apps of other developers start sessions and get tokens in different statements.
CREATE OR REPLACE TRIGGER audit_sign_in
AFTER INSERT ON sessions
FOR EACH ROW
EXECUTE FUNCTION audit_credential('SIGNED_IN');

-- A trigger, because several functions and `bookplate-admin` revoke sessions.
CREATE OR REPLACE TRIGGER notify_session_ended_on_update
AFTER UPDATE OF revoked_at ON sessions
FOR EACH ROW
WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
EXECUTE FUNCTION audit_credential('SESSION_REVOKED');

-- A trigger, because readers, e-readers, and apps get tokens in different statements.
CREATE OR REPLACE TRIGGER audit_token_creation
AFTER INSERT ON access_tokens
FOR EACH ROW
EXECUTE FUNCTION audit_credential('TOKEN_CREATED');

-- A trigger, because tokens also end with their grants and accounts, by foreign keys.
CREATE OR REPLACE TRIGGER notify_token_ended
AFTER DELETE ON access_tokens
FOR EACH ROW
EXECUTE FUNCTION audit_credential('TOKEN_REVOKED');

-- Records refused sign-ins and tokens, which a server has counted by their reason.
-- definer: the audit log is closed: a server can add only these kinds of events.
CREATE OR REPLACE FUNCTION record_refusals(kinds text[], reasons text[], counts bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT record_audit_event(
        r.kind, NULL, NULL, NULL, jsonb_build_object('reason', left(r.reason, 200), 'count', r.count)
    )
    FROM unnest(kinds, reasons, counts) AS r (kind, reason, count)
    WHERE r.kind IN ('SIGN_IN_REFUSED', 'TOKEN_REFUSED')
$$;

-- MARK: The chain

-- Returns the hash of an event that follows an event with the hash `previous`.
CREATE OR REPLACE FUNCTION audit_hash(previous bytea, event audit_events) RETURNS bytea
LANGUAGE sql STABLE
AS $$
    SELECT sha256(
        previous || convert_to(
            jsonb_build_array(
                event.position, event.id, (extract(epoch FROM event.at) * 1000000)::bigint, event.kind, event.tenant_id,
                event.account_id, event.credential_id, event.operator, event.detail
            )::text, 'UTF8'
        )
    )
$$;

-- Adds up to `events_max` events to the chain, in the order of their ids. An event whose transaction was slow can follow later
-- ones. Returns how many were added, and the newest position and hash.
-- definer: the audit log is closed: a server can extend the chain, but not write an event into it.
CREATE OR REPLACE FUNCTION chain_audit_events(
    events_max int, OUT added int, OUT last_position bigint, OUT last_hash bytea
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    event audit_events;
BEGIN
    added := 0;
    SELECT c.last_position, c.last_hash INTO last_position, last_hash
    FROM audit_chain c
    FOR UPDATE;
    FOR event IN
        SELECT e.*
        FROM audit_events e
        WHERE e.position IS NULL
        ORDER BY e.id
        LIMIT events_max
    LOOP
        added := added + 1;
        last_position := last_position + 1;
        event.position := last_position;
        last_hash := audit_hash(last_hash, event);
        UPDATE audit_events e
        SET position = event.position, hash = chain_audit_events.last_hash
        WHERE e.id = event.id;
    END LOOP;
    IF added > 0 THEN
        UPDATE audit_chain c
        SET last_position = chain_audit_events.last_position, last_hash = chain_audit_events.last_hash;
    END IF;
END
$$;

-- Deletes up to `rows_max` of the oldest events that are older than `kept_days`, at least 400, and returns how many. An event records
-- the new beginning of the chain, so that the deletion of other events is found.
-- definer: the audit log is closed: a server can delete only events that are older than 400 days.
CREATE OR REPLACE FUNCTION prune_audit_events(kept_days int, rows_max int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    chain audit_chain;
    boundary bigint;
    deleted bigint;
BEGIN
    SELECT c.* INTO chain FROM audit_chain c FOR UPDATE;
    SELECT max(oldest.position) INTO boundary
    FROM (
        SELECT e.position, e.at
        FROM audit_events e
        WHERE e.position IS NOT NULL
        ORDER BY e.position
        LIMIT rows_max
    ) oldest
    WHERE oldest.at < now() - greatest(kept_days, 400) * interval '1 day';
    IF boundary IS NULL THEN
        RETURN 0;
    END IF;
    UPDATE audit_chain c
    SET first_position = boundary + 1,
        previous_hash = (SELECT e.hash FROM audit_events e WHERE e.position = boundary);
    DELETE FROM audit_events e WHERE e.position <= boundary;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    PERFORM record_audit_event(
        'AUDIT_PRUNED', NULL, NULL, NULL,
        (
            SELECT jsonb_build_object('through', boundary, 'hash', encode(c.previous_hash, 'hex'))
            FROM audit_chain c
        )
    );
    RETURN deleted;
END
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS administration ON audit_events;
CREATE POLICY administration ON audit_events TO CURRENT_USER
    USING (true)
    WITH CHECK (true);
DROP POLICY IF EXISTS administration ON audit_chain;
CREATE POLICY administration ON audit_chain TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION record_audit_event, audit_credential, record_refusals, audit_hash, chain_audit_events,
    prune_audit_events FROM PUBLIC;
-- The server's role has no access to the tables. Through these functions it can add refusals, extend the chain, and delete old events.
GRANT EXECUTE ON FUNCTION record_refusals, chain_audit_events, prune_audit_events TO bookplate_app;
