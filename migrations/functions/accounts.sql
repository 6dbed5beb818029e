-- Accounts: who calls, the start of a request, sign-in, and account deletion.
--
-- To read the functions, start here, and continue in this order:
-- 1. Callers: identities, access_tokens, oauth, audit.
-- 2. Background work: jobs, checkpoints, object_writes.
-- 3. A reader's library: library, reads, notes, goals, ereaders, deleted_books, covers, and then changes, which logs all of them.
-- 4. The catalog: catalog, edition_covers, works, work_decisions, series, search.
-- 5. The feed: feed, signals.
-- 6. Whole libraries: imports, readers, guests, merges.
-- 7. Around the API: sharing, webhooks, rates, usage, documents, timelines, migrations.
--
-- `-- requires:` in the first line of a file is only the order in which the files are applied: it names files whose functions the
-- file's policies call.
--
-- The functions raise these errors; DatabaseError.swift turns them into errors of the API.
-- BP401  The session has ended.
-- BP404, BP409, BP413  Not found, conflict, and quota exceeded. Their message is the name of an ErrorReason, and their detail the
-- maximum, if there is one.
-- BP410  Another worker holds the job.
-- BP411  The identity token was used before.
-- BP412  The notification was processed before.
-- BP429  Too many sign-ins. The detail is the number of seconds to wait.

-- MARK: The caller

-- begin_request and begin_job set the caller for one transaction. Without them these functions return null, which equals
-- no row, so the policies fail closed. Policies compare `user_id = app_user_id()` directly, without a sub-select: the
-- planner then sees that the policy and the statement's own `user_id = $1` compare the same column, and checks that both
-- agree once, before it reads the table. That saves 5 to 10 % of a small read.
--
-- The server's role can set app.user_id itself. Row-level security protects against a forgotten condition, not against
-- SQL injection.
CREATE OR REPLACE FUNCTION app_user_id() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT nullif(current_setting('app.user_id', true), '')::uuid
$$;

-- Returns the tenant of the caller, which is set together with the user. A sign-in sets only the tenant.
CREATE OR REPLACE FUNCTION app_tenant_id() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT nullif(current_setting('app.tenant_id', true), '')::uuid
$$;

-- Returns the verified subject of an identity token. It is set during sign-in only.
CREATE OR REPLACE FUNCTION app_subject() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT nullif(current_setting('app.subject', true), '')
$$;

-- MARK: Requests

-- Serializes the writing transactions of a user, until the end of the transaction. Taken before any row lock, this
-- advisory lock prevents deadlocks between two requests of one user, makes the order of the change log the commit order,
-- and writes nothing.
--
-- begin_request, begin_token_request, and begin_job take it for each writing transaction. Therefore the functions that change a
-- library can check something, such as a limit or an id, and then rely on it without a lock of their own.
CREATE OR REPLACE FUNCTION lock_user(user_id uuid) RETURNS void
LANGUAGE sql
AS $$
    SELECT pg_advisory_xact_lock(hashtextextended(user_id::text, 0))
$$;

-- Starts every pipelined request: sets the caller for this transaction, and fails if the session has ended. A revoked
-- session or a deleted account therefore stops working at its next request.
--
-- Relies on this plan: one row of sessions by its primary key.
CREATE OR REPLACE FUNCTION begin_request(user_id uuid, tenant_id uuid, session_id uuid, read_only boolean) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
BEGIN
    -- PL/pgSQL evaluates assignments without an executor, which PERFORM starts.
    ignored := set_config('app.user_id', user_id::text, true);
    ignored := set_config('app.tenant_id', tenant_id::text, true);
    IF read_only THEN
        ignored := set_config('transaction_read_only', 'on', true);
    ELSE
        ignored := lock_user(user_id);
        -- With a synchronous standby, the commit waits for it even if the request changes nothing. A repeated mutation may find
        -- that everything is done already, by a transaction that no standby has: the wait of its commit was ended by an
        -- administrator, or by a restart. Otherwise the repetition would be confirmed, and the change would be lost if the
        -- standby became the primary.
        IF current_setting('synchronous_standby_names') <> '' THEN
            ignored := pg_logical_emit_message(true, 'bookplate', '');
        END IF;
    END IF;
    PERFORM
    FROM sessions s
    WHERE s.user_id = begin_request.user_id
        AND s.id = session_id
        AND s.revoked_at IS NULL
        AND s.expires_at > now();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the session has ended' USING ERRCODE = 'BP401';
    END IF;
END
$$;

-- Fails like begin_request. Read-only requests check the session in a statement of their own, and call this in it.
CREATE OR REPLACE FUNCTION refuse_session() RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'the session has ended' USING ERRCODE = 'BP401';
END
$$;

-- MARK: Sessions

-- Opens a session for the caller with an identity token that was not used before, and returns true. Returns false if the
-- same sign-in opened the session less than `grace_seconds` ago, because its response may have been lost.
--
-- The session's id and secret are derived from the token and the rest of the sign-in request. A used token with a
-- different request therefore names a session that does not exist, and fails.
CREATE OR REPLACE FUNCTION open_session(
    session_id uuid, refresh_hash bytea, token_hash bytea, token_expires_at timestamptz,
    session_days int, grace_seconds int, sign_ins_per_hour_max int, device_name text
) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    recent bigint;
BEGIN
    INSERT INTO identity_token_uses (token_hash, expires_at)
    VALUES (open_session.token_hash, token_expires_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM
        FROM sessions s
        WHERE s.user_id = app_user_id()
            AND s.id = session_id
            AND s.generation = 0
            AND s.revoked_at IS NULL
            AND s.created_at > now() - grace_seconds * interval '1 second';
        IF FOUND THEN
            RETURN false;
        END IF;
        RAISE EXCEPTION 'the identity token was used before' USING ERRCODE = 'BP411';
    END IF;

    SELECT count(*) INTO recent
    FROM sessions s
    WHERE s.user_id = app_user_id() AND s.created_at > now() - interval '1 hour';
    IF recent >= sign_ins_per_hour_max THEN
        RAISE EXCEPTION 'the user signs in too often' USING ERRCODE = 'BP429', DETAIL = '3600';
    END IF;

    -- Each sign-in deletes the user's old sessions and a few expired tokens; there is no job for it.
    DELETE FROM sessions s
    WHERE s.user_id = app_user_id()
        AND least(s.expires_at, coalesce(s.revoked_at, 'infinity')) < now() - interval '1 day';
    DELETE FROM identity_token_uses u
    WHERE u.token_hash IN (
        SELECT e.token_hash
        FROM identity_token_uses e
        WHERE e.expires_at < now() - interval '1 hour'
        ORDER BY e.expires_at
        LIMIT 20
        FOR UPDATE SKIP LOCKED
    );

    INSERT INTO sessions (user_id, id, refresh_hash, device_name, expires_at)
    VALUES (
        app_user_id(), session_id, open_session.refresh_hash, open_session.device_name,
        now() + session_days * interval '1 day'
    );
    RETURN true;
END
$$;

-- Returns the given sessions and access tokens that have ended. A server checks all sockets of all its users with one call. A
-- caller learns nothing that it could not find out by using the session.
-- definer: one statement for the sessions of all readers with an open socket.
CREATE OR REPLACE FUNCTION ended_sessions(users uuid[], ids uuid[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT given.id
    FROM unnest(users, ids) AS given (user_id, id)
    WHERE NOT EXISTS (
        SELECT
        FROM sessions s
        WHERE s.user_id = given.user_id
            AND s.id = given.id
            AND s.revoked_at IS NULL
            AND s.expires_at > now()
    )
    AND NOT EXISTS (
        SELECT
        FROM access_tokens t
        WHERE t.user_id = given.user_id
            AND t.id = given.id
            AND coalesce(t.expires_at > now(), true)
            AND (
                t.grant_id IS NULL
                OR EXISTS (SELECT FROM users u JOIN tenants n ON n.id = u.tenant_id WHERE u.id = t.user_id AND n.oauth)
            )
    )
$$;

-- Notifies all servers at the commit, so that they close the sockets of the session. A server that misses the notification finds
-- the session with ended_sessions.
CREATE OR REPLACE FUNCTION notify_session_ended() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_notify('session_ended', OLD.id::text);
    RETURN NULL;
END
$$;

-- A trigger, because sessions also end with their accounts, by a foreign key.
CREATE OR REPLACE TRIGGER notify_session_ended_on_delete
AFTER DELETE ON sessions
FOR EACH ROW
EXECUTE FUNCTION notify_session_ended();

-- Records a notification from Apple in the transaction that processes it. Fails if it was processed before. Each call
-- also deletes a few expired records.
CREATE OR REPLACE FUNCTION record_apple_notification(id_hash bytea, expires_at timestamptz) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM apple_notifications n
    WHERE n.id_hash IN (
        SELECT e.id_hash
        FROM apple_notifications e
        WHERE e.expires_at < now() - interval '1 hour'
        ORDER BY e.expires_at
        LIMIT 20
        FOR UPDATE SKIP LOCKED
    );
    INSERT INTO apple_notifications (id_hash, expires_at)
    VALUES (record_apple_notification.id_hash, record_apple_notification.expires_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the notification was processed before' USING ERRCODE = 'BP412';
    END IF;
END
$$;

-- MARK: Policies and grants

-- Every table of users' rows has the policies `owner_only`, for the server's role, and `administration`. FORCE ROW LEVEL
-- SECURITY also applies to the owner of the tables; `administration` lets the owner access all rows: the SECURITY DEFINER
-- functions, the triggers that they fire, and the admin CLI.

DROP POLICY IF EXISTS owner_only ON sessions;
CREATE POLICY owner_only ON sessions TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON sessions;
CREATE POLICY administration ON sessions TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON apple_grants;
CREATE POLICY owner_only ON apple_grants TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON apple_grants;
CREATE POLICY administration ON apple_grants TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON users;
CREATE POLICY owner_only ON users TO bookplate_app
    USING (id = app_user_id() AND tenant_id = app_tenant_id())
    WITH CHECK (id = app_user_id() AND tenant_id = app_tenant_id());
DROP POLICY IF EXISTS administration ON users;
CREATE POLICY administration ON users TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT ON tenants, identity_providers TO bookplate_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON users, sessions, apple_grants TO bookplate_app;
-- The functions lock rows with FOR UPDATE, which requires the privilege UPDATE.
GRANT SELECT, INSERT, UPDATE, DELETE ON identity_token_uses, apple_notifications TO bookplate_app;
-- Tombstones contain hashes of ids, so a statement finds only those whose ids it knows. After a
-- deletion, only the result at Apple and the session that can repeat it may change.
GRANT
    SELECT (user_hash, session_hash, deleted_at, books, reviews, covers, apple_token_revoked), INSERT,
    UPDATE (apple_token_revoked, session_hash)
    ON account_tombstones TO bookplate_app;

REVOKE ALL ON FUNCTION ended_sessions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ended_sessions TO bookplate_app;
