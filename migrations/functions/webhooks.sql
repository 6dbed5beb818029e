-- requires: accounts, audit, changes, jobs
-- Webhooks: events of the change log and of covers, which servers send to the addresses of the tenant. The server's role has no
-- privilege on the tables.
--
-- 1. The first change of a user adds a row to webhook_positions (mark_webhook_position). It is part of the transaction of the
--    change, so no event is lost.
-- 2. A server turns the entries after the position into deliveries and deletes the row (collect_webhook_events).
-- 3. A job for each webhook sends the deliveries that are due, and records the result of each (settle_webhook_delivery).

-- MARK: Positions

-- Records that the user has entries that were not collected, if the tenant has webhooks. The caller holds the lock of the user,
-- and calls this before it adds an entry to the change log. For an entry of the outbox, `last_event` is the id before it.
CREATE OR REPLACE FUNCTION mark_webhook_position(owner uuid, last_event bigint DEFAULT NULL) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM
    FROM webhook_positions p
    WHERE p.user_id = owner;
    IF FOUND THEN
        RETURN;
    END IF;
    INSERT INTO webhook_positions (user_id, change_seq, event_id)
    SELECT
        owner,
        coalesce((SELECT max(c.seq) FROM changes c WHERE c.user_id = owner), 0),
        coalesce(last_event, (SELECT max(e.id) FROM events e WHERE e.user_id = owner), 0)
    FROM users u
    WHERE u.id = owner
        AND EXISTS (
            SELECT
            FROM webhooks w
            WHERE w.tenant_id = u.tenant_id
        );
END
$$;

-- Records that the user of a new cover event has events that were not collected. Tenants without webhooks need no record.
-- definer: which readers have events for webhooks is closed to requests.
CREATE OR REPLACE FUNCTION mark_cover_event() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM webhooks) THEN
        PERFORM mark_webhook_position(NEW.user_id, NEW.id - 1);
    END IF;
    RETURN NULL;
END
$$;

-- A trigger, because several functions and another trigger add events.
CREATE OR REPLACE TRIGGER mark_cover_event
AFTER INSERT ON events
FOR EACH ROW
WHEN (NEW.kind = 'cover_changed')
EXECUTE FUNCTION mark_cover_event();

-- MARK: Deliveries

-- Returns the type of the event of an entry of the change log: progress_entry.updated for UPDATED and ProgressEntry.
CREATE OR REPLACE FUNCTION change_event_type(typename text, kind change_kind) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT lower(regexp_replace(typename, '([a-z])([A-Z])', '\1_\2', 'g')) || '.' || lower(kind::text)
$$;

-- Returns the type of the event of a new status of a cover.
CREATE OR REPLACE FUNCTION cover_event_type(status text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT 'cover.' || CASE status WHEN 'NO_COVER' THEN 'removed' WHEN 'FETCHING' THEN 'searching' ELSE lower(status) END
$$;

-- Returns whether a webhook with these event types and patterns receives events of the type.
CREATE OR REPLACE FUNCTION has_event_type(event_types text[], type text) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT event_types && ARRAY['*', split_part(type, '.', 1) || '.*', type]
$$;

-- The time for which the server tries to deliver an event, and after which it is dead.
CREATE OR REPLACE FUNCTION webhook_lifetime() RETURNS interval
LANGUAGE sql IMMUTABLE
AS $$
    SELECT interval '3 days'
$$;

-- Returns the pause after a number of failures: 5, 10, 20 seconds, and so on, with 25% jitter, until the maximum.
CREATE OR REPLACE FUNCTION webhook_pause(failures int, pause_max interval) RETURNS interval
LANGUAGE sql VOLATILE
AS $$
    SELECT least(interval '5 seconds' * power(2, least(greatest(failures, 1), 20) - 1), pause_max)
        * (0.75 + random() * 0.5)
$$;

-- Serializes changes of the queue of a user. Not the lock of lock_user, which imports hold for long.
CREATE OR REPLACE FUNCTION lock_webhook_queue(owner uuid) RETURNS void
LANGUAGE sql
AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('webhook ' || owner, 0))
$$;

-- Makes the oldest waiting delivery of a user due, unless one is due already. The caller holds the lock of the queue.
CREATE OR REPLACE FUNCTION schedule_webhook_delivery(webhook uuid, owner uuid) RETURNS void
LANGUAGE sql
AS $$
    UPDATE webhook_deliveries d
    SET due_at = clock_timestamp()
    WHERE d.user_id = owner
        AND d.id = (
            SELECT n.id
            FROM webhook_deliveries n
            WHERE n.webhook_id = webhook AND n.user_id = owner AND n.state = 'WAITING'
            ORDER BY n.number
            LIMIT 1
        )
        AND NOT EXISTS (
            SELECT
            FROM webhook_deliveries n
            WHERE n.webhook_id = webhook AND n.user_id = owner AND n.due_at IS NOT NULL
        )
$$;

-- Returns whether further events of a user are dropped, because 50,000 of them wait for a webhook or are dead letters. Otherwise, one
-- user could fill the disk while a receiver is down.
--
-- Relies on this plan: the indexes webhook_deliveries_waiting and webhook_deliveries_dead.
CREATE OR REPLACE FUNCTION is_webhook_queue_full(webhook uuid, owner uuid) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT
        EXISTS (
            SELECT
            FROM webhook_deliveries d
            WHERE d.webhook_id = webhook AND d.user_id = owner AND d.state = 'WAITING'
            OFFSET 49999
        )
        OR EXISTS (
            SELECT
            FROM webhook_deliveries d
            WHERE d.webhook_id = webhook AND d.user_id = owner AND d.state = 'DEAD'
            OFFSET 49999
        )
$$;

-- Turns new entries of a user into deliveries, up to `entries_max` at a time. The caller holds the locks of lock_user and
-- lock_webhook_queue, and has locked the position.
--
-- The entries of both logs are merged by their times. A later entry of a log never comes first, even if the clock was set back.
CREATE OR REPLACE FUNCTION collect_user_events(mark webhook_positions, entries_max int) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    entry_count int;
    last_change bigint;
    last_event bigint;
    receivers uuid[];
    webhook uuid;
BEGIN
    WITH entries AS (
        (
            SELECT
                max(c.at) OVER (ORDER BY c.seq) AS position,
                c.at,
                change_event_type(c.typename, c.kind) AS type,
                c.id AS object_id,
                c.seq AS change_seq,
                NULL::bigint AS event_id
            FROM changes c
            WHERE c.user_id = mark.user_id AND c.seq > mark.change_seq
            ORDER BY c.seq
            LIMIT entries_max
        )
        UNION ALL
        (
            SELECT
                max(e.created_at) OVER (ORDER BY e.id),
                e.created_at,
                cover_event_type(e.payload ->> 'status'),
                (e.payload ->> 'book_id')::uuid,
                NULL,
                e.id
            FROM events e
            WHERE e.user_id = mark.user_id AND e.id > mark.event_id AND e.kind = 'cover_changed'
            ORDER BY e.id
            LIMIT entries_max
        )
    ), taken AS MATERIALIZED (
        SELECT e.*
        FROM entries e
        ORDER BY e.position, e.change_seq, e.event_id
        LIMIT entries_max
    ), open_webhooks AS MATERIALIZED (
        -- The waiting deliveries are counted once for each webhook, and not for each entry.
        SELECT w.id, w.created_at, w.event_types
        FROM users u
        JOIN webhooks w ON w.tenant_id = u.tenant_id
        WHERE u.id = mark.user_id AND NOT is_webhook_queue_full(w.id, mark.user_id)
    ), added AS (
        INSERT INTO webhook_deliveries (user_id, webhook_id, type, object_id, change_seq, event_at, expires_at)
        SELECT mark.user_id, w.id, t.type, t.object_id, t.change_seq, t.at, t.at + webhook_lifetime()
        FROM taken t
        CROSS JOIN open_webhooks w
        WHERE t.type IS NOT NULL AND w.created_at <= t.at AND has_event_type(w.event_types, t.type)
        ORDER BY t.position, t.change_seq, t.event_id
        RETURNING webhook_id
    )
    SELECT
        count(*), max(t.change_seq), max(t.event_id),
        (SELECT array_agg(DISTINCT a.webhook_id) FROM added a)
    INTO entry_count, last_change, last_event, receivers
    FROM taken t;
    FOREACH webhook IN ARRAY coalesce(receivers, '{}') LOOP
        PERFORM schedule_webhook_delivery(webhook, mark.user_id);
    END LOOP;
    IF entry_count < entries_max THEN
        DELETE FROM webhook_positions p
        WHERE p.user_id = mark.user_id;
    ELSE
        UPDATE webhook_positions p
        SET change_seq = greatest(p.change_seq, last_change),
            event_id = greatest(p.event_id, last_event)
        WHERE p.user_id = mark.user_id;
    END IF;
END
$$;

-- Turns new entries of up to `users_max` users into deliveries, at most `entries_max` of each. Returns the number of users. Users with
-- a transaction in progress are left for the next call.
-- definer: a job for the events of all readers.
CREATE OR REPLACE FUNCTION collect_webhook_events(users_max int, entries_max int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    collected int := 0;
    mark webhook_positions;
BEGIN
    FOR mark IN
        SELECT p.*
        FROM webhook_positions p
        FOR UPDATE SKIP LOCKED
    LOOP
        EXIT WHEN collected >= users_max;
        -- The locks of lock_user and lock_webhook_queue. Neither is waited for, so there are no deadlocks.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended(mark.user_id::text, 0))
            OR NOT pg_try_advisory_xact_lock(hashtextextended('webhook ' || mark.user_id, 0));
        PERFORM collect_user_events(mark, entries_max);
        collected := collected + 1;
    END LOOP;
    RETURN collected;
END
$$;

-- Deletes what is left of a deleted user, and adds the event of the deletion.
CREATE OR REPLACE FUNCTION end_webhook_user(tenant uuid, owner uuid) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    webhook uuid;
BEGIN
    DELETE FROM webhook_positions p
    WHERE p.user_id = owner;
    PERFORM lock_webhook_queue(owner);
    DELETE FROM webhook_deliveries d
    WHERE d.user_id = owner;
    FOR webhook IN
        INSERT INTO webhook_deliveries (user_id, webhook_id, type, event_at, expires_at)
        SELECT owner, w.id, 'account.deleted', clock_timestamp(), clock_timestamp() + webhook_lifetime()
        FROM webhooks w
        WHERE w.tenant_id = tenant AND has_event_type(w.event_types, 'account.deleted')
        RETURNING webhook_id
    LOOP
        PERFORM schedule_webhook_delivery(webhook, owner);
    END LOOP;
END
$$;

-- MARK: Sending

-- Enqueues the job of each webhook with deliveries that are due, and returns the number of jobs.
-- definer: a job for the webhooks of all tenants.
CREATE OR REPLACE FUNCTION enqueue_webhooks(kind text, attempts_max int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT
        count(
            enqueue_job(
                NULL, enqueue_webhooks.kind, jsonb_build_object('webhookID', w.id), w.id::text, 0, 0, attempts_max
            )
        )
    FROM webhooks w
    WHERE w.disabled_at IS NULL
        AND (w.paused_until IS NULL OR w.paused_until <= clock_timestamp())
        AND EXISTS (
            SELECT
            FROM webhook_deliveries d
            WHERE d.webhook_id = w.id AND d.due_at <= clock_timestamp()
        )
        AND NOT EXISTS (
            SELECT
            FROM jobs j
            WHERE j.user_id IS NULL
                AND j.kind = enqueue_webhooks.kind
                AND j.key = w.id::text
                AND j.state <> 'DEAD'
                AND (j.state = 'READY' OR j.again)
        )
$$;

-- Returns the address and the secrets of a webhook that may be used now.
-- definer: the secret of a webhook is closed to requests.
CREATE OR REPLACE FUNCTION usable_webhook(id uuid)
RETURNS TABLE (url text, sealed_secret bytea, sealed_previous_secret bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT
        w.url,
        w.sealed_secret,
        CASE WHEN w.previous_secret_until > clock_timestamp() THEN w.sealed_previous_secret END
    FROM webhooks w
    WHERE w.id = usable_webhook.id
        AND w.disabled_at IS NULL
        AND (w.paused_until IS NULL OR w.paused_until <= clock_timestamp())
$$;

-- Returns up to `rows_max` deliveries of a webhook that are due, except those of the users in `excluded`, which are being sent.
-- After several failures, the webhook gets a single delivery to try: preferably one that has not failed before.
-- definer: a job for the events of all readers.
CREATE OR REPLACE FUNCTION due_webhook_deliveries(webhook uuid, excluded uuid[], rows_max int)
RETURNS TABLE (
    user_id uuid, id uuid, type text, object_id uuid, change_seq bigint, event_at timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    is_paused boolean;
BEGIN
    SELECT w.paused_until IS NOT NULL INTO is_paused
    FROM webhooks w
    WHERE w.id = webhook
        AND w.disabled_at IS NULL
        AND (w.paused_until IS NULL OR w.paused_until <= clock_timestamp());
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF is_paused THEN
        RETURN QUERY
            SELECT d.user_id, d.id, d.type, d.object_id, d.change_seq, d.event_at
            FROM webhook_deliveries d
            WHERE d.webhook_id = webhook AND d.due_at <= clock_timestamp() AND d.user_id <> ALL(excluded)
            ORDER BY d.attempts > 0, d.due_at
            LIMIT greatest(1 - cardinality(excluded), 0);
    ELSE
        -- Relies on this plan: the index webhook_deliveries_due_at, without a sort.
        RETURN QUERY
            SELECT d.user_id, d.id, d.type, d.object_id, d.change_seq, d.event_at
            FROM webhook_deliveries d
            WHERE d.webhook_id = webhook AND d.due_at <= clock_timestamp() AND d.user_id <> ALL(excluded)
            ORDER BY d.due_at
            LIMIT greatest(rows_max, 0);
    END IF;
END
$$;

-- Records the result of an attempt. Returns its outcome: delivered, failed, dead, or disabled; null if the delivery does not wait
-- any more.
--
-- A failed delivery is due again after a pause of up to two hours. The webhook as a whole pauses, for up to ten minutes, if the
-- receiver has asked for it, or after five failures in a row with deliveries of at least three users. One failing user therefore
-- does not delay the others. The first success after the pause resumes the webhook, and the deliveries that have failed before are
-- tried again.
--
-- Parameters:
--   retry_after_ms: the pause that the receiver has requested, or null.
--   is_gone: the receiver has responded with status 410.
-- definer: a job for the events of all readers.
CREATE OR REPLACE FUNCTION settle_webhook_delivery(
    webhook uuid, owner uuid, delivery uuid, is_delivered boolean, status int, message text, retry_after_ms bigint,
    is_gone boolean
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    failed_count int;
    failing_users int;
    requested interval := CASE
        WHEN retry_after_ms IS NOT NULL THEN
            least(greatest(retry_after_ms, 1000), 7200000) * interval '1 millisecond'
    END;
    settled webhook_deliveries;
    was_paused boolean;
BEGIN
    PERFORM lock_webhook_queue(owner);
    UPDATE webhook_deliveries d
    SET attempts = d.attempts + 1,
        attempted_at = clock_timestamp(),
        last_status = status,
        last_error = left(message, 500),
        state = CASE
            WHEN is_delivered THEN 'DELIVERED'
            WHEN d.expires_at <= clock_timestamp() AND NOT is_gone THEN 'DEAD'
            ELSE 'WAITING'
        END::webhook_delivery_state,
        due_at = CASE
            WHEN NOT is_delivered AND (is_gone OR d.expires_at > clock_timestamp()) THEN
                clock_timestamp() + greatest(webhook_pause(d.attempts + 1, interval '2 hours'), requested)
        END
    WHERE d.user_id = owner AND d.id = delivery AND d.webhook_id = webhook AND d.due_at IS NOT NULL
    RETURNING d.* INTO settled;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF settled.state <> 'WAITING' THEN
        UPDATE webhook_deliveries d
        SET expires_at = clock_timestamp() + CASE WHEN is_delivered THEN interval '3 days' ELSE interval '30 days' END
        WHERE d.user_id = owner AND d.id = delivery;
        PERFORM schedule_webhook_delivery(webhook, owner);
    END IF;
    IF is_delivered THEN
        -- Not FOR UPDATE, which would block new deliveries, whose foreign key locks the webhook.
        SELECT coalesce(w.paused_until <= clock_timestamp(), false) INTO was_paused
        FROM webhooks w
        WHERE w.id = webhook AND (w.failures > 0 OR w.paused_until IS NOT NULL)
        FOR NO KEY UPDATE;
        IF FOUND THEN
            -- A request that was sent before a pause began does not end it.
            UPDATE webhooks w
            SET failures = 0,
                paused_until = CASE WHEN w.paused_until > clock_timestamp() THEN w.paused_until END
            WHERE w.id = webhook;
        END IF;
        IF was_paused THEN
            UPDATE webhook_deliveries d
            SET due_at = clock_timestamp()
            WHERE d.webhook_id = webhook AND d.due_at > clock_timestamp();
        END IF;
        RETURN 'delivered';
    END IF;
    UPDATE webhooks w
    SET failures = w.failures + 1,
        disabled_at = coalesce(w.disabled_at, CASE WHEN is_gone THEN clock_timestamp() END)
    WHERE w.id = webhook
    RETURNING w.failures INTO failed_count;
    IF is_gone THEN
        RETURN 'disabled';
    END IF;
    SELECT count(*) INTO failing_users
    FROM (
        SELECT
        FROM webhook_deliveries d
        WHERE d.webhook_id = webhook AND d.due_at IS NOT NULL AND d.attempts > 0
        LIMIT 3
    ) f;
    IF requested IS NOT NULL OR (failed_count >= 5 AND failing_users >= 3) THEN
        UPDATE webhooks w
        SET paused_until = clock_timestamp()
                + coalesce(requested, webhook_pause(failed_count - 4, interval '10 minutes'))
        WHERE w.id = webhook;
    END IF;
    RETURN CASE settled.state WHEN 'DEAD' THEN 'dead' ELSE 'failed' END;
END
$$;

-- MARK: Maintenance

-- Makes deliveries dead that were not delivered in time, and deletes old ones that were delivered or are dead: up to `rows_max` in
-- total, and returns their number. Also deletes the secrets before rotations that have ended.
-- definer: a job for the events of all readers.
CREATE OR REPLACE FUNCTION prune_webhook_deliveries(rows_max int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    expired webhook_deliveries;
    pruned bigint := 0;
BEGIN
    UPDATE webhooks w
    SET sealed_previous_secret = NULL,
        previous_secret_until = NULL
    WHERE w.previous_secret_until <= now();
    FOR expired IN
        SELECT d.*
        FROM webhook_deliveries d
        WHERE d.expires_at <= now()
        ORDER BY d.expires_at
        LIMIT rows_max
        FOR UPDATE SKIP LOCKED
    LOOP
        IF expired.state <> 'WAITING' THEN
            DELETE FROM webhook_deliveries d
            WHERE d.user_id = expired.user_id AND d.id = expired.id;
            pruned := pruned + 1;
        ELSIF pg_try_advisory_xact_lock(hashtextextended('webhook ' || expired.user_id, 0)) THEN
            UPDATE webhook_deliveries d
            SET state = 'DEAD',
                due_at = NULL,
                expires_at = now() + interval '30 days',
                last_error = coalesce(d.last_error, 'The webhook was paused or disabled.')
            WHERE d.user_id = expired.user_id AND d.id = expired.id;
            PERFORM schedule_webhook_delivery(expired.webhook_id, expired.user_id);
            pruned := pruned + 1;
        END IF;
    END LOOP;
    RETURN pruned;
END
$$;

-- Makes dead deliveries of a webhook wait again, and returns their number. Null means all of them.
CREATE OR REPLACE FUNCTION retry_webhook_deliveries(webhook uuid, ids uuid[]) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    owner uuid;
    owners uuid[] := '{}';
    retried bigint := 0;
    revived bigint;
BEGIN
    FOR owner IN
        SELECT DISTINCT d.user_id
        FROM webhook_deliveries d
        WHERE d.webhook_id = webhook AND d.state = 'DEAD' AND (ids IS NULL OR d.id = ANY(ids))
        ORDER BY 1
    LOOP
        PERFORM lock_webhook_queue(owner);
        UPDATE webhook_deliveries d
        SET state = 'WAITING',
            attempts = 0,
            expires_at = now() + webhook_lifetime()
        WHERE d.user_id = owner AND d.webhook_id = webhook AND d.state = 'DEAD' AND (ids IS NULL OR d.id = ANY(ids));
        GET DIAGNOSTICS revived = ROW_COUNT;
        retried := retried + revived;
        PERFORM schedule_webhook_delivery(webhook, owner);
    END LOOP;
    RETURN retried;
END
$$;

-- Returns numbers for metrics, for all tenants. `oldest_seconds` is the age of the oldest waiting event of an enabled webhook.
-- definer: a metric of the webhooks of all tenants.
CREATE OR REPLACE FUNCTION count_webhooks(
    OUT enabled bigint, OUT paused bigint, OUT disabled bigint, OUT waiting bigint, OUT dead bigint,
    OUT oldest_seconds bigint
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT w.enabled, w.paused, w.disabled, d.waiting, e.dead, coalesce(d.oldest_seconds, 0)
    FROM (
        SELECT
            count(*) FILTER (WHERE w.disabled_at IS NULL AND w.paused_until IS NULL) AS enabled,
            count(*) FILTER (WHERE w.disabled_at IS NULL AND w.paused_until IS NOT NULL) AS paused,
            count(*) FILTER (WHERE w.disabled_at IS NOT NULL) AS disabled
        FROM webhooks w
    ) w
    -- Not one scan for both states, because each has an index, and most deliveries were delivered.
    CROSS JOIN (
        SELECT
            count(*) AS waiting,
            extract(epoch FROM now() - min(d.event_at) FILTER (WHERE w.disabled_at IS NULL))::bigint AS oldest_seconds
        FROM webhook_deliveries d
        JOIN webhooks w ON w.id = d.webhook_id
        WHERE d.state = 'WAITING'
    ) d
    CROSS JOIN (
        SELECT count(*) AS dead
        FROM webhook_deliveries d
        WHERE d.state = 'DEAD'
    ) e
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS administration ON webhooks;
CREATE POLICY administration ON webhooks TO CURRENT_USER
    USING (true)
    WITH CHECK (true);
DROP POLICY IF EXISTS administration ON webhook_positions;
CREATE POLICY administration ON webhook_positions TO CURRENT_USER
    USING (true)
    WITH CHECK (true);
DROP POLICY IF EXISTS administration ON webhook_deliveries;
CREATE POLICY administration ON webhook_deliveries TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION mark_webhook_position, mark_cover_event, lock_webhook_queue, schedule_webhook_delivery,
    collect_user_events, collect_webhook_events, end_webhook_user, enqueue_webhooks, usable_webhook, due_webhook_deliveries,
    settle_webhook_delivery, prune_webhook_deliveries, retry_webhook_deliveries, count_webhooks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION collect_webhook_events, enqueue_webhooks, usable_webhook, due_webhook_deliveries,
    settle_webhook_delivery, prune_webhook_deliveries, count_webhooks TO bookplate_app;
