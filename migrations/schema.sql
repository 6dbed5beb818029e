-- The schema of a migrated database, as pg_dump of PostgreSQL 15 prints it. Do not edit: change the migrations, and run
-- BOOKPLATE_UPDATE_SNAPSHOTS=1 scripts/test --filter SchemaDumpTests
-- Name: fuzzystrmatch; Type: EXTENSION; Schema: -; Owner: -

CREATE EXTENSION IF NOT EXISTS fuzzystrmatch WITH SCHEMA public;

-- Name: EXTENSION fuzzystrmatch; Type: COMMENT; Schema: -; Owner: -

COMMENT ON EXTENSION fuzzystrmatch IS 'determine similarities and distance between strings';

-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: -

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

-- Name: unaccent; Type: EXTENSION; Schema: -; Owner: -

CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;

-- Name: EXTENSION unaccent; Type: COMMENT; Schema: -; Owner: -

COMMENT ON EXTENSION unaccent IS 'text search dictionary that removes accents';

-- Name: access_scope; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.access_scope AS ENUM (
    'PROGRESS',
    'LIBRARY_READ',
    'LIBRARY_WRITE',
    'FEED',
    'ACCOUNT'
);

-- Name: author_role; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.author_role AS ENUM (
    'AUTHOR',
    'EDITOR',
    'TRANSLATOR',
    'ILLUSTRATOR',
    'NARRATOR',
    'CONTRIBUTOR'
);

-- Name: book_author; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_author AS text
	CONSTRAINT books_author_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 500)));

-- Name: book_authors; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_authors AS text[]
	CONSTRAINT books_authors_check CHECK (((cardinality(VALUE) <= 50) AND (array_position(VALUE, NULL::text) IS NULL) AND (array_position(VALUE, ''::text) IS NULL) AND (char_length(array_to_string(VALUE, ''::text)) <= 25000)));

-- Name: book_binding; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_binding AS text
	CONSTRAINT books_binding_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 100)));

-- Name: book_category; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_category AS text
	CONSTRAINT books_category_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 100)));

-- Name: book_current_page; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_current_page AS integer
	CONSTRAINT books_current_page_check CHECK ((VALUE >= 0));

-- Name: book_genre; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_genre AS text
	CONSTRAINT books_genre_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 100)));

-- Name: book_isbn13; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_isbn13 AS text
	CONSTRAINT books_isbn13_check CHECK ((VALUE ~ '^97[89][0-9]{10}$'::text));

-- Name: book_link; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.book_link AS ENUM (
    'CARD',
    'ISBN',
    'SOURCE',
    'TITLE'
);

-- Name: book_moods; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_moods AS text[]
	CONSTRAINT books_moods_check CHECK (((cardinality(VALUE) <= 20) AND (array_position(VALUE, NULL::text) IS NULL) AND (array_position(VALUE, ''::text) IS NULL) AND (char_length(array_to_string(VALUE, ''::text)) <= 2000)));

-- Name: book_page_count; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_page_count AS integer
	CONSTRAINT books_page_count_check CHECK ((VALUE > 0));

-- Name: book_private_notes; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_private_notes AS text
	CONSTRAINT books_private_notes_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 100000)));

-- Name: book_series; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_series AS text
	CONSTRAINT books_series_check CHECK (((VALUE = btrim(VALUE)) AND ((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 200))));

-- Name: book_series_position; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_series_position AS text
	CONSTRAINT books_series_position_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 20)));

-- Name: book_title; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_title AS text
	CONSTRAINT books_title_check CHECK (((VALUE = btrim(VALUE)) AND ((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 500))));

-- Name: book_year; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_year AS integer
	CONSTRAINT books_original_year_check CHECK (((VALUE >= '-5000'::integer) AND (VALUE <= 9999)));

-- Name: change_kind; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.change_kind AS ENUM (
    'CREATED',
    'UPDATED',
    'DELETED'
);

-- Name: cover_source; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.cover_source AS ENUM (
    'MANUAL_UPLOAD',
    'URL',
    'OPEN_LIBRARY',
    'GOOGLE_BOOKS',
    'WEB_SEARCH'
);

-- Name: cover_status; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.cover_status AS ENUM (
    'NONE',
    'FETCHING',
    'READY',
    'NOT_FOUND',
    'FAILED'
);

-- Name: goal_unit; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.goal_unit AS ENUM (
    'BOOKS',
    'PAGES',
    'HOURS'
);

-- Name: import_format; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.import_format AS ENUM (
    'GOODREADS',
    'STORYGRAPH',
    'HARDCOVER',
    'LIBRARYTHING',
    'CALIBRE',
    'OPENREADS',
    'BOOKPLATE'
);

-- Name: import_state; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.import_state AS ENUM (
    'QUEUED',
    'RUNNING',
    'DONE',
    'FAILED'
);

-- Name: job_state; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.job_state AS ENUM (
    'READY',
    'RUNNING',
    'DEAD'
);

-- Name: note_chapter; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.note_chapter AS text
	CONSTRAINT notes_chapter_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 500)));

-- Name: note_color; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.note_color AS ENUM (
    'YELLOW',
    'ORANGE',
    'RED',
    'PINK',
    'PURPLE',
    'BLUE',
    'GREEN',
    'GRAY'
);

-- Name: note_comment; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.note_comment AS text
	CONSTRAINT notes_comment_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 10000)));

-- Name: note_text; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.note_text AS text
	CONSTRAINT notes_text_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 10000)));

-- Name: partial_date; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.partial_date AS text COLLATE pg_catalog."C"
	CONSTRAINT partial_date_check CHECK (
CASE
    WHEN ((VALUE IS NULL) OR (VALUE ~ '^[1-9][0-9]{3}(-(0[1-9]|1[0-2]))?$'::text)) THEN true
    WHEN (VALUE ~ '^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'::text) THEN (((substr(VALUE, 9))::integer)::numeric <= EXTRACT(day FROM (make_date(("left"(VALUE, 4))::integer, (substr(VALUE, 6, 2))::integer, 1) + '1 mon -1 days'::interval)))
    ELSE false
END);

-- Name: progress_note; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.progress_note AS text
	CONSTRAINT progress_entries_note_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 10000)));

-- Name: progress_page; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.progress_page AS integer
	CONSTRAINT progress_entries_page_check CHECK ((VALUE >= 0));

-- Name: progress_percent; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.progress_percent AS double precision
	CONSTRAINT progress_entries_percent_check CHECK (((VALUE >= (0)::double precision) AND (VALUE <= (100)::double precision)));

-- Name: progress_seconds; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.progress_seconds AS integer
	CONSTRAINT progress_entries_seconds_check CHECK ((VALUE >= 0));

-- Name: read_format; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.read_format AS ENUM (
    'PRINT',
    'EBOOK',
    'AUDIO'
);

-- Name: read_length; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.read_length AS integer
	CONSTRAINT reads_length_seconds_check CHECK ((VALUE > 0));

-- Name: read_note; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.read_note AS text
	CONSTRAINT reads_note_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 10000)));

-- Name: read_outcome; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.read_outcome AS ENUM (
    'READING',
    'FINISHED',
    'DID_NOT_FINISH'
);

-- Name: reading_status; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.reading_status AS ENUM (
    'WANT_TO_READ',
    'READING',
    'READ',
    'PAUSED',
    'DID_NOT_FINISH'
);

-- Name: swipe_action; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.swipe_action AS ENUM (
    'LIKE',
    'SKIP',
    'DISLIKE',
    'BUY'
);

-- Name: webhook_delivery_state; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.webhook_delivery_state AS ENUM (
    'WAITING',
    'DELIVERED',
    'DEAD'
);

-- Name: work_decision_kind; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.work_decision_kind AS ENUM (
    'MERGE',
    'SPLIT'
);

-- Name: add_oauth_token(uuid, uuid, public.access_scope[], uuid, bytea, text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.add_oauth_token(owner uuid, of_grant uuid, allowed public.access_scope[], new_token uuid, new_hash bytea, new_last_characters text, lifetime_seconds integer) RETURNS void
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

-- Name: add_persisted_query(text, text, bigint, bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.add_persisted_query(hash text, document text, count_max bigint, bytes_max bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO persisted_queries (sha256, body, bytes)
    VALUES (hash, document, octet_length(document))
    ON CONFLICT DO NOTHING;
    -- The limits are approximate, and checking them reads the table.
    IF NOT FOUND OR random() >= 0.01 THEN
        RETURN;
    END IF;
    PERFORM
    FROM persisted_queries p
    HAVING count(*) > count_max OR sum(p.bytes) > bytes_max;
    IF FOUND THEN
        DELETE FROM persisted_queries p
        WHERE p.created_at <= (
            SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY q.created_at)
            FROM persisted_queries q
        );
    END IF;
END
$$;

-- Name: add_read(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.add_read(owner uuid, book uuid, given jsonb, OUT outcome text, OUT other_id uuid) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    read uuid := (given ->> 'id')::uuid;
    added read_outcome := (given ->> 'outcome')::read_outcome;
BEGIN
    outcome := 'DONE';
    PERFORM
    FROM books b
    WHERE b.user_id = owner AND b.id = book;
    IF NOT FOUND THEN
        outcome := 'BOOK';
    ELSIF EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = read AND r.book_id = book) THEN
        -- The request is repeated.
        RETURN;
    ELSIF EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = owner AND t.id = read) THEN
        outcome := 'DELETED';
    ELSIF is_other_object(owner, read)
        OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = read)
        OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = read)
    THEN
        outcome := 'TAKEN';
    ELSIF (SELECT count(*) FROM reads r WHERE r.user_id = owner AND r.book_id = book) >= reads_of_book_max() THEN
        outcome := 'FULL';
    ELSIF added = 'READING' THEN
        SELECT r.id INTO other_id
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'READING';
        IF FOUND THEN
            outcome := 'OPEN';
        END IF;
    END IF;
    IF outcome = 'DONE' THEN
        INSERT INTO reads (user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note)
        VALUES (
            owner,
            read,
            book,
            CASE WHEN given ? 'startsToday' THEN reader_today(owner) ELSE given ->> 'startedOn' END,
            given ->> 'finishedOn',
            added,
            (given ->> 'format')::read_format,
            (given ->> 'lengthSeconds')::int,
            given ->> 'note'
        );
        PERFORM update_book_of_read(owner, read, NULL);
    END IF;
END
$$;

-- Name: add_work_signals(bigint[], integer[], bigint[], numeric[], bigint[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.add_work_signals(numbers bigint[], counts integer[], voices bigint[], recents numeric[], changes bigint[]) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO work_signals AS w (number, signals, voice, recent, changes)
    SELECT *
    FROM unnest(numbers, counts, voices, recents, changes)
    ON CONFLICT (number) DO UPDATE
    SET signals = w.signals + excluded.signals,
        voice = w.voice + excluded.voice,
        recent = w.recent + excluded.recent,
        changes = w.changes + excluded.changes
$$;

-- Name: adopt_guest(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.adopt_guest(guest uuid, guest_session uuid, OUT user_id uuid, OUT outcome text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
    -- Always in the order of the ids, so that two requests cannot wait for each other.
    adopt_guest.user_id := user_of_identity();
    PERFORM lock_user(least(guest, adopt_guest.user_id));
    PERFORM lock_user(greatest(guest, adopt_guest.user_id));
    -- Other transactions lock the row of a user before rows that belong to it.
    PERFORM
    FROM users u
    WHERE u.id IN (guest, adopt_guest.user_id)
    ORDER BY u.id
    FOR UPDATE;
    adopt_guest.user_id := user_of_identity();
    PERFORM
    FROM users u
    WHERE u.id = guest AND u.tenant_id = app_tenant_id() AND u.is_guest
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM
    FROM sessions s
    WHERE s.user_id = guest AND s.id = guest_session AND s.revoked_at IS NULL AND s.expires_at > now();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the session has ended' USING ERRCODE = 'BP401';
    END IF;
    IF adopt_guest.user_id IS NULL THEN
        INSERT INTO identities (user_id, tenant_id, subject)
        VALUES (guest, app_tenant_id(), app_subject());
        UPDATE users u
        SET is_guest = false, updated_at = now()
        WHERE u.id = guest;
        PERFORM record_audit_event('GUEST_UPGRADED', app_tenant_id(), guest, NULL, '{}');
        adopt_guest.user_id := guest;
        outcome := 'UPGRADED';
    ELSE
        PERFORM merge_guest(guest, adopt_guest.user_id);
        outcome := 'MERGED';
    END IF;
END
$$;

-- Name: app_subject(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.app_subject() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT nullif(current_setting('app.subject', true), '')
$$;

-- Name: app_tenant_id(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.app_tenant_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT nullif(current_setting('app.tenant_id', true), '')::uuid
$$;

-- Name: app_user_id(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.app_user_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT nullif(current_setting('app.user_id', true), '')::uuid
$$;

-- Name: append_change(uuid, public.change_kind, text, uuid, xid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.append_change(owner uuid, change public.change_kind, typename text, object uuid, old_xmin xid DEFAULT NULL::xid) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    ignored text;
    last_seq bigint;
    last_at timestamptz;
    has_webhooks boolean;
    -- Whether the log may have no row in `logs_to_prune`, which only logs without an entry of the last day lack.
    may_be_unmarked boolean;
BEGIN
    IF change = 'DELETED' THEN
        -- The log of a deleted account is deleted, too.
        PERFORM
        FROM users u
        WHERE u.id = owner;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    -- PL/pgSQL evaluates assignments without an executor, which PERFORM starts.
    ignored := pg_advisory_xact_lock(hashtextextended(owner::text, 0));
    SELECT c.seq, c.at, EXISTS (SELECT FROM webhooks), c.at < now() - interval '1 day'
    INTO last_seq, last_at, has_webhooks, may_be_unmarked
    FROM changes c
    WHERE c.user_id = owner
    ORDER BY c.seq DESC
    LIMIT 1;
    IF last_seq IS NULL THEN
        last_seq := 0;
        has_webhooks := EXISTS (SELECT FROM webhooks);
        may_be_unmarked := true;
    ELSIF change = 'UPDATED' AND last_at >= now() THEN
        -- The entries of this transaction are among those that are not older than it.
        PERFORM
        FROM changes c
        WHERE c.user_id = owner
            AND c.seq > last_seq - 8
            AND c.at >= now()
            AND (c.id = object OR c.seq = last_seq - 7);
        IF FOUND THEN
            -- A row that a subtransaction wrote has the id of the subtransaction.
            IF old_xmin = pg_current_xact_id()::xid
                AND current_setting('app.writes_unlogged_books', true) IS DISTINCT FROM 'on'
            THEN
                RETURN;
            END IF;
            -- The age is positive if the id is lower than that of this transaction, whose subtransactions have higher ids. A higher id
            -- can also belong to another transaction.
            IF old_xmin IS NULL OR age(old_xmin) <= 0 OR current_setting('app.logs_unwritten_books', true) = 'on' THEN
                ignored := append_changes(owner, change, append_change.typename, ARRAY[object]);
                RETURN;
            END IF;
        END IF;
    END IF;
    IF has_webhooks THEN
        ignored := mark_webhook_position(owner);
    END IF;
    IF may_be_unmarked THEN
        INSERT INTO logs_to_prune (user_id, oldest_at)
        VALUES (owner, coalesce(last_at, now()))
        ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO changes (user_id, seq, kind, typename, id, at)
    VALUES (owner, last_seq + 1, change, append_change.typename, object, clock_timestamp());
END
$$;

-- Name: append_changes(uuid, public.change_kind, text, uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.append_changes(owner uuid, change public.change_kind, typename text, ids uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    last_committed bigint;
BEGIN
    PERFORM lock_user(owner);
    IF EXISTS (SELECT FROM webhooks) THEN
        PERFORM mark_webhook_position(owner);
    END IF;
    IF change = 'UPDATED' THEN
        last_committed := cached_last_committed_change(owner);
    END IF;
    INSERT INTO logs_to_prune (user_id, oldest_at)
    VALUES (owner, now())
    ON CONFLICT DO NOTHING;
    INSERT INTO changes (user_id, seq, kind, typename, id, at)
    SELECT
        owner,
        (SELECT coalesce(max(c.seq), 0) FROM changes c WHERE c.user_id = owner)
            + row_number() OVER (ORDER BY changed.index),
        change,
        append_changes.typename,
        changed.id,
        clock_timestamp()
    FROM unnest(ids) WITH ORDINALITY AS changed (id, index)
    WHERE change <> 'UPDATED'
        OR changed.id NOT IN (
            SELECT c.id
            FROM changes c
            WHERE c.user_id = owner
                AND c.seq > last_committed
                AND c.typename = append_changes.typename
                AND c.kind <> 'DELETED'
        );
END
$$;

-- Name: audio_length(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.audio_length(owner uuid, book uuid) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT r.length_seconds
    FROM reads r
    WHERE r.user_id = owner AND r.book_id = book AND r.length_seconds IS NOT NULL
    ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
    LIMIT 1
$$;

-- Name: audit_credential(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.audit_credential() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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
    IF TG_OP <> 'INSERT' THEN
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

-- Name: audit_events; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.audit_events (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    kind text NOT NULL,
    tenant_id uuid,
    account_id uuid,
    credential_id uuid,
    operator text,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    "position" bigint,
    hash bytea,
    CONSTRAINT audit_events_check CHECK ((("position" IS NULL) = (hash IS NULL))),
    CONSTRAINT audit_events_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT audit_events_kind_check CHECK ((kind ~ '^[A-Z_]{1,40}$'::text)),
    CONSTRAINT audit_events_operator_check CHECK (((char_length(operator) >= 1) AND (char_length(operator) <= 100)))
);

ALTER TABLE ONLY public.audit_events FORCE ROW LEVEL SECURITY;

-- Name: TABLE audit_events; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.audit_events IS 'Events of security and administration. They contain no personal data, and stay when the account is deleted.';

-- Name: COLUMN audit_events.credential_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.audit_events.credential_id IS 'The session or access token to which the event refers.';

-- Name: COLUMN audit_events.operator; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.audit_events.operator IS 'The user of the operating system who ran the command. Null for events of readers.';

-- Name: COLUMN audit_events."position"; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.audit_events."position" IS 'The position in the hash chain, from 1; null until a job adds the event to the chain.';

-- Name: COLUMN audit_events.hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.audit_events.hash IS 'SHA-256 of the hash of the previous event and this event.';

-- Name: audit_hash(bytea, public.audit_events); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.audit_hash(previous bytea, event public.audit_events) RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: audit_oauth_grant(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.audit_oauth_grant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: audit_unlinked_identity(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.audit_unlinked_identity() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM record_audit_event('IDENTITY_UNLINKED', OLD.tenant_id, OLD.user_id, NULL, '{}')
    FROM users u
    WHERE u.id = OLD.user_id;
    RETURN NULL;
END
$$;

-- Name: author_id(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.author_id(name text) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
BEGIN
    RETURN overlay(
        overlay(
            md5('author ' || coalesce(nullif(public.folded_author(name), ''), name)) PLACING '8' FROM 13 FOR 1
        ) PLACING '8' FROM 17 FOR 1
    )::uuid;
END
$$;

-- Name: author_ids(text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.author_ids(names text[]) RETURNS uuid[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
DECLARE
    ids uuid[] := '{}';
    name text;
BEGIN
    FOREACH name IN ARRAY names LOOP
        ids := ids || public.author_id(name);
    END LOOP;
    RETURN ids;
END
$$;

-- Name: author_key(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.author_key(name text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $_$
DECLARE
    folded text;
BEGIN
    folded := public.folded_author(name);
    folded := regexp_replace(folded, '(?<=.) (jr|sr|ii|iii|iv|phd|ph d|md|m d)$', '');
    RETURN nullif(split_part(folded, ' ', -1) || '|' || left(folded, 1), '|');
END
$_$;

-- Name: author_text(text[], public.author_role[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.author_text(names text[], roles public.author_role[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
DECLARE
    written text := '';
BEGIN
    IF cardinality(names) < 2 OR roles = '{}' THEN
        RETURN nullif(array_to_string(names, ', '), '');
    END IF;
    FOR position IN 1..cardinality(names) LOOP
        IF coalesce(roles[position], 'AUTHOR') = 'AUTHOR' THEN
            written := written || ', ' || names[position];
        END IF;
    END LOOP;
    RETURN coalesce(nullif(substring(written FROM 3), ''), array_to_string(names, ', '));
END
$$;

-- Name: begin_guest_deletion(uuid, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.begin_guest_deletion(guest uuid, days integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    tenant uuid;
BEGIN
    PERFORM lock_user(guest);
    SELECT u.tenant_id INTO tenant
    FROM users u
    WHERE u.id = guest
        AND guest_last_active(u.id) < now() - greatest(1, days) * interval '1 day';
    PERFORM
        set_config('app.user_id', CASE WHEN tenant IS NULL THEN '' ELSE guest::text END, true),
        set_config('app.tenant_id', coalesce(tenant::text, ''), true);
END
$$;

-- Name: begin_job(uuid, integer, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.begin_job(id uuid, fence integer, read_only boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    owner uuid;
    tenant uuid;
BEGIN
    SELECT j.user_id INTO owner
    FROM jobs j
    WHERE j.id = begin_job.id AND j.fence = begin_job.fence AND j.state = 'RUNNING';
    IF FOUND AND NOT read_only THEN
        IF owner IS NOT NULL THEN
            PERFORM lock_user(owner);
        END IF;
        -- Another worker may have claimed the job while this transaction waited.
        PERFORM
        FROM jobs j
        WHERE j.id = begin_job.id AND j.fence = begin_job.fence AND j.state = 'RUNNING'
        FOR KEY SHARE;
    END IF;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another worker holds the job' USING ERRCODE = 'BP410';
    END IF;
    SELECT u.tenant_id INTO tenant
    FROM users u
    WHERE u.id = owner;
    PERFORM
        set_config('app.user_id', coalesce(owner::text, ''), true),
        set_config('app.tenant_id', coalesce(tenant::text, ''), true);
    IF read_only THEN
        PERFORM set_config('transaction_read_only', 'on', true);
    END IF;
END
$$;

-- Name: begin_object_write(text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.begin_object_write(version text, seconds integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO object_writes (version, expires_at)
    VALUES (begin_object_write.version, now() + make_interval(secs => begin_object_write.seconds))
    ON CONFLICT (version) DO UPDATE
    SET expires_at = greatest(object_writes.expires_at, excluded.expires_at)
$$;

-- Name: begin_request(uuid, uuid, uuid, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.begin_request(user_id uuid, tenant_id uuid, session_id uuid, read_only boolean) RETURNS void
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

-- Name: begin_token_request(uuid, uuid, uuid, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.begin_token_request(user_id uuid, tenant_id uuid, token_id uuid, read_only boolean) RETURNS void
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

-- Name: book_link_keys(text, text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.book_link_keys(isbn13 text, title text, author text) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN array_remove(public.isbn_key(isbn13) || ARRAY(SELECT key FROM public.possible_work_keys(title, author)), NULL);
END
$$;

-- Name: book_of_work(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.book_of_work(reader uuid, edition uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    book uuid;
BEGIN
    SELECT b.id INTO book
    FROM books b
    WHERE b.user_id = reader AND b.edition_id = edition;
    IF NOT FOUND THEN
        SELECT b.id INTO book
        FROM work_records w
        JOIN work_records other USING (founder_id)
        CROSS JOIN LATERAL (
            SELECT b.id, b.added_at
            FROM books b
            WHERE b.user_id = reader AND b.edition_id = other.edition_id
            OFFSET 0
        ) b
        WHERE w.edition_id = edition
        ORDER BY b.added_at, b.id
        LIMIT 1;
    END IF;
    RETURN book;
END
$$;

-- Name: book_progression(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.book_progression(owner uuid, book uuid) RETURNS TABLE(modified_at timestamp with time zone, fraction double precision, device_id text, device_name text, title text, place_refs text[])
    LANGUAGE sql STABLE
    AS $$
    SELECT
        CASE WHEN latest.is_newer THEN latest.at ELSE p.modified_at END,
        CASE WHEN latest.is_newer THEN latest.fraction ELSE p.fraction END,
        CASE WHEN latest.is_newer THEN NULL ELSE p.device_id END,
        CASE WHEN latest.is_newer THEN NULL ELSE p.device_name END,
        CASE WHEN latest.is_newer THEN NULL ELSE p.title END,
        CASE WHEN latest.is_newer THEN NULL ELSE p.place_refs END
    FROM books b
    LEFT JOIN ereader_positions p ON p.user_id = owner AND p.book_id = b.id
    LEFT JOIN LATERAL (
        SELECT
            -- The reader may have corrected an entry after its time.
            greatest(e.at, e.position_changed_at) AS at,
            progress_fraction(e.page, e.percent, e.seconds, b.page_count, r.length_seconds) AS fraction,
            coalesce(greatest(e.at, e.position_changed_at) > p.modified_at, true)
                AND progress_fraction(e.page, e.percent, e.seconds, b.page_count, r.length_seconds) IS NOT NULL AS is_newer
        FROM (
            SELECT l.id, l.length_seconds
            FROM reads l
            WHERE l.user_id = owner AND l.book_id = b.id
            ORDER BY l.sorted_on DESC, l.created_at DESC, l.id DESC
            LIMIT 1
        ) r
        JOIN progress_entries e ON e.user_id = owner AND e.read_id = r.id
        ORDER BY e.at DESC, e.id DESC
        LIMIT 1
    ) latest ON true
    WHERE b.user_id = owner AND b.id = book
$$;

-- Name: cached_last_committed_change(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.cached_last_committed_change(owner uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    kept text := current_setting('app.last_committed_change', true);
    last bigint;
BEGIN
    IF starts_with(kept, owner::text) THEN
        RETURN split_part(kept, ' ', 2)::bigint;
    END IF;
    last := last_committed_change(owner);
    kept := set_config('app.last_committed_change', owner || ' ' || last, true);
    RETURN last;
END
$$;

-- Name: cancel_oauth_request(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.cancel_oauth_request(request uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE oauth_requests r
    SET expires_at = now()
    WHERE r.id = request AND r.user_id IS NULL AND r.expires_at > now()
$$;

-- Name: canonical_genres(text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.canonical_genres(names text[]) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT ARRAY(
        SELECT g.name
        FROM unnest(genre_ids(names)) WITH ORDINALITY AS i (id, position)
        JOIN genres g USING (id)
        ORDER BY i.position
        LIMIT 6
    )
$$;

-- Name: chain_audit_events(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.chain_audit_events(events_max integer, OUT added integer, OUT last_position bigint, OUT last_hash bytea) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: change_event_type(text, public.change_kind); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.change_event_type(typename text, kind public.change_kind) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT lower(regexp_replace(typename, '([a-z])([A-Z])', '\1_\2', 'g')) || '.' || lower(kind::text)
$$;

-- Name: change_note(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.change_note(owner uuid, note uuid, given jsonb) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    kept notes;
    changed notes;
BEGIN
    SELECT n.* INTO kept
    FROM notes n
    WHERE n.user_id = owner AND n.id = note;
    IF NOT FOUND THEN
        RETURN 'NOTE';
    END IF;
    changed := kept;
    IF given ? 'text' THEN
        changed.text := given ->> 'text';
    END IF;
    IF given ? 'comment' THEN
        changed.comment := given ->> 'comment';
    END IF;
    IF changed.text IS NULL AND changed.comment IS NULL THEN
        RETURN 'EMPTY';
    END IF;
    IF given ? 'chapter' THEN
        changed.chapter := given ->> 'chapter';
    END IF;
    IF given ? 'color' THEN
        changed.color := (given ->> 'color')::note_color;
    END IF;
    IF given ? 'position' THEN
        changed.page := (given -> 'position' ->> 'page')::int;
        changed.percent := (given -> 'position' ->> 'percent')::float8;
        changed.seconds := (given -> 'position' ->> 'seconds')::int;
    END IF;
    IF changed IS DISTINCT FROM kept THEN
        UPDATE notes n
        SET text = changed.text,
            comment = changed.comment,
            chapter = changed.chapter,
            color = changed.color,
            page = changed.page,
            percent = changed.percent,
            seconds = changed.seconds,
            updated_at = now()
        WHERE n.user_id = owner AND n.id = note;
    END IF;
    RETURN NULL;
END
$$;

-- Name: change_progress(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.change_progress(owner uuid, entry uuid, given jsonb) RETURNS TABLE(problem text, page_count integer, length_seconds integer)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    kept progress_entries;
    changed progress_entries;
    book uuid;
    changed_at timestamptz := least(coalesce((given ->> 'changedAt')::timestamptz, now()), now());
    new_page int := (given -> 'position' ->> 'page')::int;
    new_percent float8 := (given -> 'position' ->> 'percent')::float8;
    new_seconds int := (given -> 'position' ->> 'seconds')::int;
BEGIN
    SELECT p.* INTO kept
    FROM progress_entries p
    WHERE p.user_id = owner AND p.id = entry;
    IF NOT FOUND THEN
        problem := 'ENTRY';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT b.id, b.page_count, r.length_seconds INTO book, page_count, length_seconds
    FROM reads r
    JOIN books b ON b.user_id = owner AND b.id = r.book_id
    WHERE r.user_id = owner AND r.id = kept.read_id;
    IF new_page > page_count THEN
        problem := 'PAGE';
    ELSIF new_seconds > length_seconds THEN
        problem := 'SECONDS';
    END IF;
    RETURN NEXT;
    IF problem IS NOT NULL THEN
        RETURN;
    END IF;
    changed := kept;
    IF given ? 'at'
        AND (changed_at, (given ->> 'at')::timestamptz) > (coalesce(kept.at_changed_at, '-infinity'), kept.at)
    THEN
        changed.at := (given ->> 'at')::timestamptz;
        changed.at_changed_at := changed_at;
    END IF;
    IF given ? 'position'
        AND (changed_at, coalesce(new_page, -1), coalesce(new_percent, -1), coalesce(new_seconds, -1))
            > (
                coalesce(kept.position_changed_at, '-infinity'), coalesce(kept.page, -1), coalesce(kept.percent, -1),
                coalesce(kept.seconds, -1)
            )
    THEN
        changed.page := new_page;
        changed.percent := new_percent;
        changed.seconds := new_seconds;
        changed.position_changed_at := changed_at;
    END IF;
    IF given ? 'note'
        AND (changed_at, coalesce(given ->> 'note', '') COLLATE "C")
            > (coalesce(kept.note_changed_at, '-infinity'), coalesce(kept.note, '') COLLATE "C")
    THEN
        changed.note := given ->> 'note';
        changed.note_changed_at := changed_at;
    END IF;
    IF changed IS DISTINCT FROM kept THEN
        UPDATE progress_entries p
        SET at = changed.at,
            page = changed.page,
            percent = changed.percent,
            seconds = changed.seconds,
            note = changed.note,
            at_changed_at = changed.at_changed_at,
            position_changed_at = changed.position_changed_at,
            note_changed_at = changed.note_changed_at,
            updated_at = now()
        WHERE p.user_id = owner AND p.id = entry;
        IF (changed.at, changed.page, changed.percent, changed.seconds)
                IS DISTINCT FROM (kept.at, kept.page, kept.percent, kept.seconds)
            AND EXISTS (
                SELECT FROM reads r WHERE r.user_id = owner AND r.id = kept.read_id AND r.outcome = 'READING'
            )
        THEN
            PERFORM refresh_read_books(owner, ARRAY[book], true);
        END IF;
    END IF;
END
$$;

-- Name: change_read(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.change_read(owner uuid, read uuid, given jsonb, OUT outcome text, OUT other_id uuid) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    kept reads;
    changed reads;
BEGIN
    SELECT r.* INTO kept
    FROM reads r
    WHERE r.user_id = owner AND r.id = read;
    IF NOT FOUND THEN
        outcome := 'READ';
        RETURN;
    END IF;
    changed := kept;
    IF given ? 'outcome' THEN
        changed.outcome := (given ->> 'outcome')::read_outcome;
    END IF;
    IF given ? 'startedOn' THEN
        changed.started_on := given ->> 'startedOn';
    END IF;
    IF given ? 'finishedOn' THEN
        changed.finished_on := given ->> 'finishedOn';
    ELSIF changed.outcome = 'READING' THEN
        changed.finished_on := NULL;
    ELSIF kept.outcome = 'READING' THEN
        -- The read may have started tomorrow, in another time zone.
        changed.finished_on := greatest(reader_today(owner) COLLATE "C", changed.started_on);
    END IF;
    IF given ? 'format' THEN
        changed.format := (given ->> 'format')::read_format;
    END IF;
    IF given ? 'lengthSeconds' THEN
        changed.length_seconds := (given ->> 'lengthSeconds')::int;
    END IF;
    IF given ? 'note' THEN
        changed.note := given ->> 'note';
    END IF;
    IF changed.outcome = 'READING' AND changed.finished_on IS NOT NULL THEN
        outcome := 'OPEN_END';
        RETURN;
    ELSIF NOT is_in_order(changed.started_on, changed.finished_on) THEN
        outcome := 'DATES';
        RETURN;
    ELSIF changed.outcome = 'READING' AND kept.outcome <> 'READING' THEN
        SELECT r.id INTO other_id
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = kept.book_id AND r.outcome = 'READING';
        IF FOUND THEN
            outcome := 'OPEN';
            RETURN;
        END IF;
    END IF;
    outcome := 'DONE';
    IF changed IS DISTINCT FROM kept THEN
        UPDATE reads r
        SET started_on = changed.started_on,
            finished_on = changed.finished_on,
            outcome = changed.outcome,
            format = changed.format,
            length_seconds = changed.length_seconds,
            note = changed.note,
            updated_at = now()
        WHERE r.user_id = owner AND r.id = read;
        PERFORM update_book_of_read(owner, read, kept.outcome);
    END IF;
END
$$;

-- Name: change_reads(uuid, uuid, public.reading_status, public.reading_status, integer, timestamp with time zone, timestamp with time zone, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.change_reads(owner uuid, book uuid, old_status public.reading_status, new_status public.reading_status, new_page integer, INOUT started_at timestamp with time zone, INOUT finished_at timestamp with time zone, INOUT current_page integer) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    open_read uuid;
    is_ended boolean;
    read_count int;
    today text;
BEGIN
    SELECT r.id INTO open_read
    FROM reads r
    WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'READING';
    IF open_read IS NOT NULL THEN
        IF new_status IN ('READ', 'DID_NOT_FINISH') THEN
            is_ended := true;
        END IF;
    ELSIF new_status = 'READING' THEN
        SELECT count(*) INTO read_count
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = book;
        IF read_count < reads_of_book_max() THEN
            INSERT INTO reads (user_id, id, book_id, started_on, outcome)
            VALUES (
                owner,
                gen_random_uuid(),
                book,
                reader_today(owner),
                'READING'
            )
            RETURNING id INTO open_read;
            started_at := now();
            finished_at := NULL;
            -- A book that is read again starts without a page.
            IF read_count > 0 THEN
                current_page := NULL;
            END IF;
        END IF;
    ELSIF new_status = 'READ' THEN
        IF old_status <> 'READ' THEN
            today := reader_today(owner);
            INSERT INTO reads (user_id, id, book_id, finished_on, outcome)
            SELECT owner, gen_random_uuid(), book, today, 'FINISHED'
            FROM (
                SELECT
                    count(*) AS read_count,
                    count(*) FILTER (WHERE r.outcome = 'FINISHED' AND r.finished_on = today) AS finished_today
                FROM reads r
                WHERE r.user_id = owner AND r.book_id = book
            ) existing
            WHERE existing.finished_today = 0 AND existing.read_count < reads_of_book_max();
            IF FOUND THEN
                started_at := NULL;
                finished_at := now();
            END IF;
        END IF;
    END IF;
    IF new_page IS NOT NULL AND open_read IS NOT NULL THEN
        INSERT INTO progress_entries (user_id, id, read_id, at, page)
        SELECT owner, gen_random_uuid(), open_read, now(), new_page
        WHERE new_page IS DISTINCT FROM (
                SELECT p.page
                FROM progress_entries p
                WHERE p.user_id = owner AND p.read_id = open_read
                ORDER BY p.at DESC, p.id DESC
                LIMIT 1
            )
            AND (SELECT count(*) FROM progress_entries p WHERE p.user_id = owner AND p.read_id = open_read)
                < entries_of_read_max();
    END IF;
    -- The page is logged before the read ends.
    IF is_ended THEN
        UPDATE reads r
        SET outcome = (CASE new_status WHEN 'READ' THEN 'FINISHED' ELSE 'DID_NOT_FINISH' END)::read_outcome,
            -- The read may have started tomorrow, in another time zone.
            finished_on = greatest(reader_today(owner) COLLATE "C", r.started_on),
            updated_at = now()
        WHERE r.user_id = owner AND r.id = open_read;
        finished_at := CASE WHEN new_status = 'READ' THEN now() END;
    END IF;
END
$$;

-- Name: claim_edition_without_cover(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.claim_edition_without_cover(isbn13 text) RETURNS TABLE(id uuid, isbn13 text, cover_links text[])
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE editions e
    SET cover_due_at = next_cover_due(e.cover_failures),
        cover_failures = (e.cover_failures + 1) % 8
    WHERE e.isbn13 = claim_edition_without_cover.isbn13 AND e.cover_version IS NULL
    RETURNING e.id, e.isbn13, e.cover_links
$$;

-- Name: claim_editions_without_cover(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.claim_editions_without_cover(count integer) RETURNS TABLE(id uuid, isbn13 text, cover_links text[])
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH failed AS (
        SELECT d.id
        FROM editions d
        WHERE d.cover_version IS NULL AND d.cover_failures > 0 AND d.cover_due_at < now()
        ORDER BY d.cover_due_at
        LIMIT greatest(1, claim_editions_without_cover.count / 2)
        FOR UPDATE SKIP LOCKED
    ), others AS (
        SELECT d.id
        FROM editions d
        WHERE d.cover_version IS NULL
            AND (d.isbn13 IS NOT NULL OR d.cover_links <> '{}')
            AND d.cover_failures = 0
            AND d.cover_due_at < now()
        ORDER BY d.cover_due_at, d.popularity DESC, d.id
        LIMIT claim_editions_without_cover.count - (SELECT count(*) FROM failed)
        FOR UPDATE SKIP LOCKED
    )
    UPDATE editions e
    SET cover_due_at = next_cover_due(e.cover_failures),
        cover_failures = (e.cover_failures + 1) % 8
    WHERE e.id IN (
        SELECT f.id
        FROM failed f
        UNION ALL
        SELECT o.id
        FROM others o
    )
    RETURNING e.id, e.isbn13, e.cover_links
$$;

-- Name: claim_jobs(text[], integer[], integer[], text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.claim_jobs(kinds text[], capacities integer[], background_capacities integer[], worker text, lease_ms integer) RETURNS TABLE(id uuid, fence integer, user_id uuid, kind text, payload jsonb, attempt integer, priority integer, postponed_ms bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
    UPDATE jobs j
    SET state = CASE
            WHEN j.attempts >= j.attempts_max AND j.every IS NULL AND NOT j.again THEN 'DEAD'
            ELSE 'READY'
        END::job_state,
        attempts = CASE WHEN j.again THEN 0 ELSE j.attempts END,
        postponed_since = CASE WHEN j.attempts >= j.attempts_max AND j.again THEN NULL ELSE j.postponed_since END,
        last_error = 'The worker ' || coalesce(j.worker, '') || ' stopped before it finished the job.',
        worker = NULL,
        lease_until = NULL,
        updated_at = now()
    WHERE j.id IN (
        SELECT e.id
        FROM jobs e
        WHERE e.state = 'RUNNING' AND e.lease_until < now()
        FOR UPDATE SKIP LOCKED
    );
    RETURN QUERY
        WITH picked AS MATERIALIZED (
            SELECT numbered.id
            FROM (
                SELECT
                    due.id, due.priority, requested.background_capacity,
                    row_number() OVER (
                        PARTITION BY requested.kind, due.priority > 0 ORDER BY due.priority, due.run_at
                    ) AS number
                FROM unnest(kinds, capacities, background_capacities)
                    AS requested (kind, capacity, background_capacity)
                CROSS JOIN LATERAL (
                    SELECT j.id, j.priority, j.run_at
                    FROM jobs j
                    WHERE j.state = 'READY' AND j.kind = requested.kind AND j.run_at <= now()
                    ORDER BY j.priority, j.run_at
                    LIMIT requested.capacity
                    FOR UPDATE SKIP LOCKED
                ) due
            ) numbered
            WHERE numbered.priority = 0 OR numbered.number <= numbered.background_capacity
        )
        UPDATE jobs j
        SET state = 'RUNNING',
            attempts = j.attempts + 1,
            fence = j.fence + 1,
            again = false,
            worker = claim_jobs.worker,
            lease_until = now() + lease_ms * interval '1 millisecond',
            updated_at = now()
        FROM picked
        WHERE j.id = picked.id
        RETURNING
            j.id, j.fence, j.user_id, j.kind, j.payload, j.attempts, j.priority::int,
            (extract(epoch FROM now() - j.postponed_since) * 1000)::bigint;
END
$$;

-- Name: clear_tombstone_sessions(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.clear_tombstone_sessions() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE account_tombstones t
    SET session_hash = NULL
    WHERE t.session_hash IS NOT NULL AND t.deleted_at < now() - interval '1 hour'
$$;

-- Name: collect_signals(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.collect_signals(readers_max integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    readers uuid[];
    sums record;
BEGIN
    -- Readers who are being deleted are left out, and so are those whose works are changing.
    readers := ARRAY(
        SELECT r.user_id
        FROM readers_to_collect r
        JOIN users u ON u.id = r.user_id
        ORDER BY r.user_id
        LIMIT readers_max
        FOR KEY SHARE OF u SKIP LOCKED
        FOR UPDATE OF r SKIP LOCKED
    );
    DELETE FROM readers_to_collect
    WHERE user_id = ANY(readers);
    WITH new_signals AS MATERIALIZED (
        SELECT
            s.user_id,
            e.number,
            round(s.weight * 100)::smallint AS weight,
            round(greatest(s.voice, 0) * 100)::smallint AS voice,
            -- Imported books can have times in the future.
            least(s.at, now()) AS at
        FROM unnest(readers) AS r (id)
        CROSS JOIN LATERAL (
            SELECT *
            FROM reader_signals s
            WHERE s.user_id = r.id AND s.weight > 0
            OFFSET 0
        ) s
        CROSS JOIN LATERAL (SELECT e.number FROM editions e WHERE e.id = s.founder_id OFFSET 0) e
    ), old_signals AS MATERIALIZED (
        SELECT c.user_id, s.number, s.weight, s.voice, s.at
        FROM collected_signals c
        CROSS JOIN LATERAL unnest(c.works, c.weights, c.voices, c.times) AS s (number, weight, voice, at)
        WHERE c.user_id = ANY(readers)
    ), differences AS MATERIALIZED (
        SELECT
            number,
            count(n.weight) - count(o.weight) AS signals,
            sum(coalesce(n.voice, 0) - coalesce(o.voice, 0)) AS voice,
            sum(coalesce(recent_voice(n.voice, n.at), 0) - coalesce(recent_voice(o.voice, o.at), 0)) AS recent,
            count(*) AS changes
        FROM new_signals n
        FULL JOIN old_signals o USING (user_id, number)
        WHERE (n.weight, n.voice, n.at) IS DISTINCT FROM (o.weight, o.voice, o.at)
        GROUP BY number
    ), stored AS (
        INSERT INTO collected_signals AS c (user_id, works, weights, voices, times, newest_at, signal_count)
        SELECT
            r.id,
            coalesce(array_agg(s.number ORDER BY s.at DESC, s.number) FILTER (WHERE s.number IS NOT NULL), '{}'),
            coalesce(array_agg(s.weight ORDER BY s.at DESC, s.number) FILTER (WHERE s.number IS NOT NULL), '{}'),
            coalesce(array_agg(s.voice ORDER BY s.at DESC, s.number) FILTER (WHERE s.number IS NOT NULL), '{}'),
            coalesce(array_agg(s.at ORDER BY s.at DESC, s.number) FILTER (WHERE s.number IS NOT NULL), '{}'),
            coalesce(max(s.at), '-infinity'),
            count(s.number)
        FROM unnest(readers) AS r (id)
        LEFT JOIN new_signals s ON s.user_id = r.id
        GROUP BY r.id
        ON CONFLICT (user_id) DO UPDATE
        SET works = excluded.works,
            weights = excluded.weights,
            voices = excluded.voices,
            times = excluded.times,
            newest_at = excluded.newest_at,
            signal_count = excluded.signal_count
        WHERE (c.works, c.weights, c.voices, c.times)
            IS DISTINCT FROM (excluded.works, excluded.weights, excluded.voices, excluded.times)
    )
    SELECT
        array_agg(number ORDER BY number) AS numbers,
        array_agg(signals::int ORDER BY number) AS counts,
        array_agg(voice::bigint ORDER BY number) AS voices,
        array_agg(recent ORDER BY number) AS recents,
        array_agg(changes ORDER BY number) AS changes
    INTO sums
    FROM differences;
    PERFORM add_work_signals(sums.numbers, sums.counts, sums.voices, sums.recents, sums.changes);
    RETURN cardinality(readers);
END
$$;

-- Name: collect_signals_of_editions(uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.collect_signals_of_editions(editions uuid[]) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO readers_to_collect AS r (user_id)
    SELECT s.user_id
    FROM swipes s
    WHERE s.edition_id = ANY(editions)
    UNION
    SELECT b.user_id
    FROM books b
    WHERE b.edition_id = ANY(editions)
    ORDER BY user_id
    -- Also locks a row that is already there, so that it is not collected before this transaction has ended.
    ON CONFLICT (user_id) DO UPDATE
    SET changed_at = excluded.changed_at
$$;

-- Name: collect_signals_of_moved_works(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.collect_signals_of_moved_works() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM collect_signals_of_editions(
        ARRAY(
            SELECT n.edition_id
            FROM new_rows n
            JOIN old_rows o USING (edition_id)
            WHERE n.founder_id IS DISTINCT FROM o.founder_id
        )
    );
    RETURN NULL;
END
$$;

-- Name: collect_signals_of_works(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.collect_signals_of_works() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM collect_signals_of_editions(ARRAY(SELECT edition_id FROM changed_rows));
    RETURN NULL;
END
$$;

-- Name: webhook_positions; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.webhook_positions (
    user_id uuid NOT NULL,
    change_seq bigint NOT NULL,
    event_id bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.webhook_positions FORCE ROW LEVEL SECURITY;

-- Name: TABLE webhook_positions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.webhook_positions IS 'Users with changes or events for which there are no deliveries yet.';

-- Name: COLUMN webhook_positions.change_seq; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_positions.change_seq IS 'The newest entry of `changes` that was collected.';

-- Name: COLUMN webhook_positions.event_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_positions.event_id IS 'The newest row of `events` that was collected.';

-- Name: collect_user_events(public.webhook_positions, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.collect_user_events(mark public.webhook_positions, entries_max integer) RETURNS void
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

-- Name: collect_webhook_events(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.collect_webhook_events(users_max integer, entries_max integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: copy_book_facts(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.copy_book_facts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    book record;
BEGIN
    IF current_setting('app.bulk', true) = 'on' THEN
        RETURN NEW;
    END IF;
    SELECT b.page_count, b.genre, b.author_ids[1] AS author_id, left(b.authors[1], 200) AS author INTO book
    FROM books b
    WHERE b.user_id = NEW.user_id AND b.id = NEW.book_id;
    IF FOUND THEN
        NEW.page_count := book.page_count;
        NEW.genre := book.genre;
        NEW.author_id := book.author_id;
        NEW.author := book.author;
    END IF;
    RETURN NEW;
END
$$;

-- Name: covers; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.covers (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    version text NOT NULL,
    source public.cover_source NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    dominant_color text NOT NULL,
    blur_hash text NOT NULL,
    byte_counts integer[] NOT NULL,
    hashes bytea[] NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT covers_byte_counts_check CHECK ((array_length(byte_counts, 1) = 3)),
    CONSTRAINT covers_dominant_color_check CHECK ((dominant_color ~ '^#[0-9A-F]{6}$'::text)),
    CONSTRAINT covers_hashes_check CHECK ((array_length(hashes, 1) = 3)),
    CONSTRAINT covers_height_check CHECK ((height > 0)),
    CONSTRAINT covers_version_check CHECK ((version ~ '^[0-9a-f]{32}$'::text)),
    CONSTRAINT covers_width_check CHECK ((width > 0))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.covers FORCE ROW LEVEL SECURITY;

-- Name: TABLE covers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.covers IS 'The covers of books. The files are in the object store, written before the row and removed after it.';

-- Name: COLUMN covers.tenant_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.covers.tenant_id IS 'The tenant of the user, whose storage the cover uses.';

-- Name: COLUMN covers.version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.covers.version IS 'Names the files. The first 16 digits depend only on the image.';

-- Name: COLUMN covers.width; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.covers.width IS 'The width of the full size in pixels.';

-- Name: COLUMN covers.height; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.covers.height IS 'The height of the full size in pixels.';

-- Name: COLUMN covers.dominant_color; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.covers.dominant_color IS 'A color of CSS, such as #A1B2C3.';

-- Name: COLUMN covers.blur_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.covers.blur_hash IS 'A placeholder in the format of https://blurha.sh.';

-- Name: COLUMN covers.byte_counts; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.covers.byte_counts IS 'The sizes of three files: thumbnail, full size, large size.';

-- Name: COLUMN covers.hashes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.covers.hashes IS 'The SHA-256 hashes of the same files.';

-- Name: count_covers(public.covers[], integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.count_covers(stored public.covers[], sign integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    changed record;
BEGIN
    FOR changed IN
        SELECT
            c.tenant_id,
            abs(hashtext(c.user_id::text) % 16)::smallint AS part,
            sign * sum(cover_bytes(c.byte_counts)) AS bytes,
            sign * count(*) AS covers
        FROM unnest(stored) c
        GROUP BY 1, 2
        ORDER BY 1, 2
    LOOP
        UPDATE tenant_storage t
        SET bytes = t.bytes + changed.bytes,
            covers = t.covers + changed.covers
        WHERE t.tenant_id = changed.tenant_id AND t.part = changed.part;
        -- Nothing is subtracted after the tenant was deleted.
        IF NOT FOUND AND sign = 1 THEN
            INSERT INTO tenant_storage AS t (tenant_id, part, bytes, covers)
            VALUES (changed.tenant_id, changed.part, changed.bytes, changed.covers)
            ON CONFLICT ON CONSTRAINT tenant_storage_pkey DO UPDATE
            SET bytes = t.bytes + excluded.bytes,
                covers = t.covers + excluded.covers;
        END IF;
    END LOOP;
END
$$;

-- Name: count_expired_object_writes(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.count_expired_object_writes() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT count(*)
    FROM object_writes w
    WHERE w.expires_at <= now()
$$;

-- Name: count_genres(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.count_genres() RETURNS void
    LANGUAGE sql
    AS $$
    UPDATE genres g
    SET editions = counted.editions, readers = counted.readers
    FROM (
        SELECT g.id, count(e.name) AS editions, coalesce(sum(e.ratings_count), 0)::bigint AS readers
        FROM genres g
        LEFT JOIN (
            SELECT name, ratings_count
            FROM editions
            CROSS JOIN LATERAL unnest(genres) AS name
        ) e ON e.name = g.name
        GROUP BY g.id
    ) counted
    WHERE counted.id = g.id AND (counted.editions, counted.readers) IS DISTINCT FROM (g.editions, g.readers)
$$;

-- Name: count_guests(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.count_guests() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT count(*)
    FROM users u
    WHERE u.is_guest
$$;

-- Name: count_jobs(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.count_jobs() RETURNS TABLE(kind text, state text, count bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT j.kind, lower(j.state::text), count(*)
    FROM jobs j
    GROUP BY 1, 2
$$;

-- Name: count_moving_covers(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.count_moving_covers() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM count_covers(ARRAY(SELECT jsonb_populate_record(NULL::covers, n.cover) FROM new_rows n), 1);
    ELSE
        PERFORM count_covers(ARRAY(SELECT jsonb_populate_record(NULL::covers, o.cover) FROM old_rows o), -1);
    END IF;
    RETURN NULL;
END
$$;

-- Name: count_reading_days(uuid, timestamp with time zone[], boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.count_reading_days(owner uuid, times timestamp with time zone[], is_added boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    days date[];
    counts int[];
BEGIN
    -- No user is found while the account is being deleted.
    SELECT array_agg(n.day), array_agg(n.entry_count) INTO days, counts
    FROM (
        SELECT (t.at AT TIME ZONE u.time_zone)::date AS day, count(*)::int AS entry_count
        FROM (SELECT known_zone(u.time_zone) AS time_zone FROM users u WHERE u.id = owner OFFSET 0) u
        CROSS JOIN unnest(times) AS t (at)
        GROUP BY 1
    ) n;
    IF is_added THEN
        INSERT INTO reading_days AS d (user_id, day, entry_count)
        SELECT owner, n.day, n.entry_count
        FROM unnest(days, counts) AS n (day, entry_count)
        ON CONFLICT ON CONSTRAINT reading_days_pkey DO UPDATE
        SET entry_count = d.entry_count + excluded.entry_count;
    ELSE
        DELETE FROM reading_days d
        USING unnest(days, counts) AS n (day, entry_count)
        WHERE d.user_id = owner AND d.day = n.day AND d.entry_count <= n.entry_count;
        UPDATE reading_days d
        SET entry_count = d.entry_count - n.entry_count
        FROM unnest(days, counts) AS n (day, entry_count)
        WHERE d.user_id = owner AND d.day = n.day;
    END IF;
END
$$;

-- Name: count_webhooks(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.count_webhooks(OUT enabled bigint, OUT paused bigint, OUT disabled bigint, OUT waiting bigint, OUT dead bigint, OUT oldest_seconds bigint) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: cover_bytes(integer[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.cover_bytes(byte_counts integer[]) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT byte_counts[1]::bigint + byte_counts[2] + byte_counts[3]
$$;

-- Name: cover_event_type(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.cover_event_type(status text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT 'cover.' || CASE status WHEN 'NONE' THEN 'removed' WHEN 'FETCHING' THEN 'searching' ELSE lower(status) END
$$;

-- Name: create_access_token(uuid, uuid, text, public.access_scope[], bytea, bytea, bytea, text, timestamp with time zone, integer, integer, text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.create_access_token(owner uuid, new_id uuid, new_name text, new_scopes public.access_scope[], new_token_hash bytea, new_kosync_hash bytea, new_seed bytea, new_last_characters text, new_expires_at timestamp with time zone, grace_seconds integer, tokens_max integer, given_documents text[], OUT outcome text, OUT stored_hash bytea, OUT stored_seed bytea) RETURNS record
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

-- Name: create_account(uuid, text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.create_account(new_user uuid, email text, display_name text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO users (id, tenant_id, email, display_name)
    VALUES (new_user, app_tenant_id(), create_account.email, create_account.display_name);
    INSERT INTO identities (user_id, tenant_id, subject)
    VALUES (new_user, app_tenant_id(), app_subject())
$$;

-- Name: create_notes(uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.create_notes(owner uuid, given jsonb) RETURNS TABLE(problem text)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH input AS MATERIALIZED (
        SELECT i.*
        FROM ROWS FROM (
            jsonb_to_recordset(given) AS (
                id uuid, "bookId" uuid, text text, comment text, chapter text, color note_color, page int, percent float8,
                seconds int, "createdAt" timestamptz
            )
        ) WITH ORDINALITY AS i (id, book_id, text, comment, chapter, color, page, percent, seconds, created_at, n)
    ), checked AS MATERIALIZED (
        SELECT
            i.*,
            k.id IS NOT NULL AS is_stored,
            CASE
                WHEN b.id IS NULL THEN 'BOOK'
                WHEN k.book_id = i.book_id THEN NULL
                WHEN EXISTS (SELECT FROM input o WHERE o.id = i.id AND o.n < i.n AND o.book_id <> i.book_id) THEN 'TAKEN'
                WHEN EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = owner AND t.id = i.id) THEN 'DELETED'
                WHEN is_other_object(owner, i.id)
                    OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = i.id)
                    OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = i.id)
                THEN 'TAKEN'
            END AS found
        FROM input i
        LEFT JOIN books b ON b.user_id = owner AND b.id = i.book_id
        LEFT JOIN notes k ON k.user_id = owner AND k.id = i.id
    ), capacities AS MATERIALIZED (
        SELECT
            c.book_id,
            2000 - (SELECT count(*) FROM notes k WHERE k.user_id = owner AND k.book_id = c.book_id) AS capacity
        FROM (SELECT DISTINCT c.book_id FROM checked c) c
    ), accepted AS MATERIALIZED (
        SELECT
            c.*,
            CASE
                WHEN c.found IS NOT NULL OR c.is_stored THEN c.found
                WHEN count(*) FILTER (WHERE c.found IS NULL AND NOT c.is_stored)
                    OVER (PARTITION BY c.book_id ORDER BY c.n) > r.capacity
                THEN 'BOOK_FULL'
                WHEN count(*) FILTER (WHERE c.found IS NULL AND NOT c.is_stored) OVER (ORDER BY c.n)
                    > 100000 - (SELECT count(*) FROM notes k WHERE k.user_id = owner)
                THEN 'LIBRARY_FULL'
            END AS problem
        FROM checked c
        JOIN capacities r ON r.book_id = c.book_id
    ), stored AS (
        INSERT INTO notes (
            user_id, id, book_id, text, comment, chapter, color, page, percent, seconds, created_at
        )
        SELECT
            owner, a.id, a.book_id, a.text, a.comment, a.chapter, a.color, a.page, a.percent, a.seconds,
            -- Notes without a time are made now, in their order.
            coalesce(a.created_at, now() + (a.n - 1) * interval '1 microsecond')
        FROM accepted a
        WHERE a.problem IS NULL AND NOT a.is_stored
        ORDER BY a.n
        -- The batch may contain a note twice.
        ON CONFLICT DO NOTHING
    )
    SELECT a.problem
    FROM accepted a
    ORDER BY a.n;
END
$$;

-- Name: oauth_requests; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.oauth_requests (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    client_id uuid NOT NULL,
    user_code text NOT NULL,
    scopes public.access_scope[] NOT NULL,
    redirect_uri text,
    state text,
    code_challenge text,
    browser_hash bytea,
    device_hash bytea,
    polled_at timestamp with time zone,
    interval_seconds integer DEFAULT 5 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    user_id uuid,
    is_allowed boolean,
    code_hash bytea,
    code_expires_at timestamp with time zone,
    grant_id uuid,
    CONSTRAINT oauth_requests_browser_hash_check CHECK ((octet_length(browser_hash) = 32)),
    CONSTRAINT oauth_requests_check CHECK (((redirect_uri IS NULL) <> (device_hash IS NULL))),
    CONSTRAINT oauth_requests_check1 CHECK (((user_id IS NULL) = (is_allowed IS NULL))),
    CONSTRAINT oauth_requests_code_hash_check CHECK ((octet_length(code_hash) = 32)),
    CONSTRAINT oauth_requests_device_hash_check CHECK ((octet_length(device_hash) = 32)),
    CONSTRAINT oauth_requests_redirect_uri_check CHECK ((char_length(redirect_uri) <= 2000)),
    CONSTRAINT oauth_requests_state_check CHECK ((char_length(state) <= 2000)),
    CONSTRAINT oauth_requests_user_code_check CHECK ((char_length(user_code) = 8))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.oauth_requests FORCE ROW LEVEL SECURITY;

-- Name: TABLE oauth_requests; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.oauth_requests IS 'Requests of apps that wait for the decision of a reader, and those that were decided a short time ago.';

-- Name: COLUMN oauth_requests.user_code; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.user_code IS 'Eight letters, which the reader enters in the app of the tenant.';

-- Name: COLUMN oauth_requests.scopes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.scopes IS 'The requested scopes, and after the decision the allowed ones.';

-- Name: COLUMN oauth_requests.redirect_uri; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.redirect_uri IS 'Only of the authorization code grant, like `state`, `code_challenge`, and `browser_hash`.';

-- Name: COLUMN oauth_requests.code_challenge; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.code_challenge IS 'The challenge of PKCE, by the method S256.';

-- Name: COLUMN oauth_requests.browser_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.browser_hash IS 'SHA-256 of the cookie that ties the request to a browser.';

-- Name: COLUMN oauth_requests.device_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.device_hash IS 'SHA-256 of the device code. Only of the device grant, like `polled_at` and `interval_seconds`.';

-- Name: COLUMN oauth_requests.polled_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.polled_at IS 'When the device last asked for the result.';

-- Name: COLUMN oauth_requests.interval_seconds; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.interval_seconds IS 'The minimum time between two requests of the device.';

-- Name: COLUMN oauth_requests.user_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.user_id IS 'The reader who has decided; null before the decision.';

-- Name: COLUMN oauth_requests.code_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.code_hash IS 'SHA-256 of the authorization code; null if none was issued.';

-- Name: COLUMN oauth_requests.grant_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_requests.grant_id IS 'The grant that was created. The row is kept for a while after that, to recognize a code that is used twice.';

-- Name: create_oauth_grant(public.oauth_requests, uuid, bytea, uuid, bytea, text, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.create_oauth_grant(request public.oauth_requests, new_grant uuid, new_refresh_hash bytea, new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, grant_days integer) RETURNS void
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

-- Name: current_zone_name(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.current_zone_name(name text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
    SELECT coalesce(
        $json${
      "Africa/Asmera": "Africa/Nairobi", "Africa/Timbuktu": "Africa/Abidjan",
      "America/Argentina/ComodRivadavia": "America/Argentina/Catamarca", "America/Atka": "America/Adak",
      "America/Buenos_Aires": "America/Argentina/Buenos_Aires", "America/Catamarca": "America/Argentina/Catamarca",
      "America/Coral_Harbour": "America/Panama", "America/Cordoba": "America/Argentina/Cordoba",
      "America/Ensenada": "America/Tijuana", "America/Fort_Wayne": "America/Indiana/Indianapolis",
      "America/Godthab": "America/Nuuk", "America/Indianapolis": "America/Indiana/Indianapolis",
      "America/Jujuy": "America/Argentina/Jujuy", "America/Knox_IN": "America/Indiana/Knox",
      "America/Louisville": "America/Kentucky/Louisville", "America/Mendoza": "America/Argentina/Mendoza",
      "America/Montreal": "America/Toronto", "America/Nipigon": "America/Toronto", "America/Pangnirtung": "America/Iqaluit",
      "America/Porto_Acre": "America/Rio_Branco", "America/Rainy_River": "America/Winnipeg",
      "America/Rosario": "America/Argentina/Cordoba", "America/Santa_Isabel": "America/Tijuana",
      "America/Shiprock": "America/Denver", "America/Thunder_Bay": "America/Toronto", "America/Virgin": "America/Puerto_Rico",
      "America/Yellowknife": "America/Edmonton", "Antarctica/South_Pole": "Pacific/Auckland", "Asia/Ashkhabad": "Asia/Ashgabat",
      "Asia/Calcutta": "Asia/Kolkata", "Asia/Choibalsan": "Asia/Ulaanbaatar", "Asia/Chongqing": "Asia/Shanghai",
      "Asia/Chungking": "Asia/Shanghai", "Asia/Dacca": "Asia/Dhaka", "Asia/Harbin": "Asia/Shanghai",
      "Asia/Istanbul": "Europe/Istanbul", "Asia/Kashgar": "Asia/Urumqi", "Asia/Katmandu": "Asia/Kathmandu",
      "Asia/Macao": "Asia/Macau", "Asia/Rangoon": "Asia/Yangon", "Asia/Saigon": "Asia/Ho_Chi_Minh",
      "Asia/Tel_Aviv": "Asia/Jerusalem", "Asia/Thimbu": "Asia/Thimphu", "Asia/Ujung_Pandang": "Asia/Makassar",
      "Asia/Ulan_Bator": "Asia/Ulaanbaatar", "Atlantic/Faeroe": "Atlantic/Faroe", "Atlantic/Jan_Mayen": "Europe/Berlin",
      "Australia/ACT": "Australia/Sydney", "Australia/Canberra": "Australia/Sydney", "Australia/Currie": "Australia/Hobart",
      "Australia/LHI": "Australia/Lord_Howe", "Australia/NSW": "Australia/Sydney", "Australia/North": "Australia/Darwin",
      "Australia/Queensland": "Australia/Brisbane", "Australia/South": "Australia/Adelaide",
      "Australia/Tasmania": "Australia/Hobart", "Australia/Victoria": "Australia/Melbourne", "Australia/West": "Australia/Perth",
      "Australia/Yancowinna": "Australia/Broken_Hill", "Brazil/Acre": "America/Rio_Branco",
      "Brazil/DeNoronha": "America/Noronha", "Brazil/East": "America/Sao_Paulo", "Brazil/West": "America/Manaus",
      "Canada/Atlantic": "America/Halifax", "Canada/Central": "America/Winnipeg", "Canada/Eastern": "America/Toronto",
      "Canada/Mountain": "America/Edmonton", "Canada/Newfoundland": "America/St_Johns", "Canada/Pacific": "America/Vancouver",
      "Canada/Saskatchewan": "America/Regina", "Canada/Yukon": "America/Whitehorse", "Chile/Continental": "America/Santiago",
      "Chile/EasterIsland": "Pacific/Easter", "Cuba": "America/Havana", "Egypt": "Africa/Cairo", "Eire": "Europe/Dublin",
      "Europe/Belfast": "Europe/London", "Europe/Kiev": "Europe/Kyiv", "Europe/Nicosia": "Asia/Nicosia",
      "Europe/Tiraspol": "Europe/Chisinau", "Europe/Uzhgorod": "Europe/Kyiv", "Europe/Zaporozhye": "Europe/Kyiv",
      "GB": "Europe/London", "GB-Eire": "Europe/London", "Hongkong": "Asia/Hong_Kong", "Iceland": "Africa/Abidjan",
      "Iran": "Asia/Tehran", "Israel": "Asia/Jerusalem", "Jamaica": "America/Jamaica", "Japan": "Asia/Tokyo",
      "Kwajalein": "Pacific/Kwajalein", "Libya": "Africa/Tripoli", "Mexico/BajaNorte": "America/Tijuana",
      "Mexico/BajaSur": "America/Mazatlan", "Mexico/General": "America/Mexico_City", "NZ": "Pacific/Auckland",
      "NZ-CHAT": "Pacific/Chatham", "Navajo": "America/Denver", "PRC": "Asia/Shanghai", "Pacific/Enderbury": "Pacific/Kanton",
      "Pacific/Johnston": "Pacific/Honolulu", "Pacific/Ponape": "Pacific/Guadalcanal", "Pacific/Samoa": "Pacific/Pago_Pago",
      "Pacific/Truk": "Pacific/Port_Moresby", "Pacific/Yap": "Pacific/Port_Moresby", "Poland": "Europe/Warsaw",
      "Portugal": "Europe/Lisbon", "ROC": "Asia/Taipei", "ROK": "Asia/Seoul", "Singapore": "Asia/Singapore",
      "Turkey": "Europe/Istanbul", "US/Alaska": "America/Anchorage", "US/Aleutian": "America/Adak",
      "US/Arizona": "America/Phoenix", "US/Central": "America/Chicago", "US/East-Indiana": "America/Indiana/Indianapolis",
      "US/Eastern": "America/New_York", "US/Hawaii": "Pacific/Honolulu", "US/Indiana-Starke": "America/Indiana/Knox",
      "US/Michigan": "America/Detroit", "US/Mountain": "America/Denver", "US/Pacific": "America/Los_Angeles",
      "US/Samoa": "Pacific/Pago_Pago", "W-SU": "Europe/Moscow"
        }$json$::jsonb ->> name,
        name
    )
$_$;

-- Name: date_time(text, timestamp with time zone, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.date_time(given text, kept timestamp with time zone, time_zone text) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN starts_with(to_char(kept AT TIME ZONE time_zone, 'YYYY-MM-DD'), given) THEN kept
        ELSE first_day(given)::timestamp AT TIME ZONE time_zone
    END
$$;

-- Name: decide_oauth_request(uuid, public.access_scope[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.decide_oauth_request(request uuid, allowed public.access_scope[]) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    kept oauth_requests;
BEGIN
    SELECT r.* INTO kept
    FROM oauth_requests r
    WHERE r.id = request
        AND r.tenant_id = app_tenant_id()
        AND r.expires_at > now()
        AND coalesce(r.user_id = app_user_id(), true)
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'GONE';
    ELSIF NOT kept.scopes @> coalesce(allowed, '{}') THEN
        RETURN 'FOREIGN';
    ELSIF kept.is_allowed IS NULL THEN
        UPDATE oauth_requests r
        SET user_id = app_user_id(), is_allowed = allowed IS NOT NULL, scopes = coalesce(allowed, r.scopes)
        WHERE r.id = request;
    ELSIF kept.is_allowed AND allowed IS NULL AND kept.grant_id IS NULL THEN
        UPDATE oauth_requests r
        SET is_allowed = false, code_hash = NULL
        WHERE r.id = request;
    ELSIF kept.is_allowed <> (allowed IS NOT NULL) OR NOT coalesce(allowed, kept.scopes) @> kept.scopes THEN
        RETURN 'DECIDED';
    END IF;
    RETURN 'DONE';
END
$$;

-- Name: decide_works(public.work_decision_kind, uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.decide_works(decided public.work_decision_kind, ids uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    decision bigint;
BEGIN
    PERFORM lock_catalog();
    INSERT INTO work_decisions (kind)
    VALUES (decided)
    RETURNING id INTO decision;
    INSERT INTO work_decision_editions (decision_id, edition_id)
    SELECT DISTINCT decision, id
    FROM unnest(ids) AS id;
    PERFORM match_works(ids);
    -- Not now(), because this transaction may have waited for the lock.
    UPDATE feed_state SET decks_valid_since = clock_timestamp();
    RETURN decision;
END
$$;

-- Name: delete_allowed_oauth_requests(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_allowed_oauth_requests() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DELETE FROM oauth_requests r
    WHERE r.user_id = app_user_id() AND r.grant_id IS NULL
$$;

-- Name: delete_books(uuid, uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_books(owner uuid, ids uuid[]) RETURNS TABLE(book_id uuid, title text, author text, genre text, shelf_ids uuid[])
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH stored AS (
        INSERT INTO deleted_books (
            user_id, id, book, review, cover, shelf_ids, reads, progress_entries, notes, ereader_position
        )
        SELECT
            owner,
            b.id,
            to_jsonb(b),
            (
                SELECT to_jsonb(r)
                FROM reviews r
                WHERE r.user_id = owner AND r.book_id = b.id
            ),
            (
                SELECT to_jsonb(c)
                FROM covers c
                WHERE c.user_id = owner AND c.book_id = b.id
            ),
            ARRAY(
                SELECT s.shelf_id
                FROM shelf_books s
                JOIN shelves h ON h.user_id = s.user_id AND h.id = s.shelf_id
                WHERE s.user_id = owner AND s.book_id = b.id
                ORDER BY h.name, h.id
            ),
            (
                SELECT jsonb_agg(to_jsonb(r))
                FROM reads r
                WHERE r.user_id = owner AND r.book_id = b.id
            ),
            (
                SELECT jsonb_agg(to_jsonb(p))
                FROM reads r
                JOIN progress_entries p ON p.user_id = owner AND p.read_id = r.id
                WHERE r.user_id = owner AND r.book_id = b.id
            ),
            (
                SELECT jsonb_agg(to_jsonb(n))
                FROM notes n
                WHERE n.user_id = owner AND n.book_id = b.id
            ),
            (
                SELECT to_jsonb(p)
                FROM ereader_positions p
                WHERE p.user_id = owner AND p.book_id = b.id
            )
        FROM books b
        WHERE b.user_id = owner AND b.id = ANY(ids)
        -- Another book may have had the id before.
        ON CONFLICT (user_id, id) DO UPDATE
        SET deleted_at = excluded.deleted_at,
            book = excluded.book,
            review = excluded.review,
            cover = excluded.cover,
            shelf_ids = excluded.shelf_ids,
            reads = excluded.reads,
            progress_entries = excluded.progress_entries,
            notes = excluded.notes,
            ereader_position = excluded.ereader_position
        RETURNING id, shelf_ids
    ), no_covers AS (
        -- One statement for all books: a foreign key deletes the rows of each book by a statement of its own, whose triggers
        -- run again.
        DELETE FROM covers c
        WHERE c.user_id = owner AND c.book_id = ANY(ids)
    ), no_shelves AS (
        DELETE FROM shelf_books s
        WHERE s.user_id = owner AND s.book_id = ANY(ids)
    ), deleted AS (
        DELETE FROM books b
        WHERE b.user_id = owner AND b.id = ANY(ids)
        RETURNING b.id, b.title, b.author, b.genre
    )
    -- RETURN QUERY requires the exact types, and these columns have domains.
    SELECT b.id, b.title::text, b.author::text, b.genre::text, s.shelf_ids
    FROM deleted b
    JOIN stored s ON s.id = b.id;
END
$$;

-- Name: delete_changes(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_changes() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM changes
    WHERE user_id = OLD.id;
    DELETE FROM logs_to_prune
    WHERE user_id = OLD.id;
    IF EXISTS (SELECT FROM webhooks) THEN
        PERFORM end_webhook_user(OLD.tenant_id, OLD.id);
    END IF;
    PERFORM record_audit_event('ACCOUNT_DELETED', OLD.tenant_id, OLD.id, NULL, '{}');
    RETURN NULL;
END
$$;

-- Name: delete_expired_object_writes(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_expired_object_writes() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH deleted AS (
        DELETE FROM object_writes w
        WHERE w.expires_at <= now()
        RETURNING w.version
    )
    SELECT count(*)
    FROM deleted
$$;

-- Name: delete_note(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_note(owner uuid, note uuid) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    book uuid;
BEGIN
    DELETE FROM notes n
    WHERE n.user_id = owner AND n.id = note
    RETURNING n.book_id INTO book;
    IF FOUND THEN
        PERFORM record_deleted_id(owner, note);
    END IF;
    RETURN book;
END
$$;

-- Name: delete_progress(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_progress(owner uuid, entry uuid) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    read uuid;
BEGIN
    DELETE FROM progress_entries p
    WHERE p.user_id = owner AND p.id = entry
    RETURNING p.read_id INTO read;
    IF FOUND THEN
        PERFORM record_deleted_id(owner, entry);
        PERFORM refresh_read_books(
            owner,
            ARRAY(SELECT r.book_id FROM reads r WHERE r.user_id = owner AND r.id = read AND r.outcome = 'READING'),
            true
        );
    END IF;
    RETURN read;
END
$$;

-- Name: delete_read(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_read(owner uuid, read uuid) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    deleted reads;
BEGIN
    DELETE FROM reads r
    WHERE r.user_id = owner AND r.id = read
    RETURNING r.* INTO deleted;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM record_deleted_id(owner, read);
    UPDATE books b
    SET status = CASE
            WHEN deleted.outcome <> 'READING' OR b.status NOT IN ('READING', 'PAUSED') THEN b.status
            WHEN latest.outcome = 'FINISHED' THEN 'READ'
            WHEN latest.outcome = 'DID_NOT_FINISH' THEN 'DID_NOT_FINISH'
            ELSE 'WANT_TO_READ'
        END,
        -- `refresh_read_books` leaves books without reads as they are.
        started_at = CASE WHEN latest.outcome IS NOT NULL THEN b.started_at END,
        finished_at = CASE WHEN latest.outcome IS NOT NULL THEN b.finished_at END,
        current_page = CASE WHEN deleted.outcome <> 'READING' THEN b.current_page END,
        updated_at = now()
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (
        SELECT r.outcome
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = deleted.book_id
        ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
        LIMIT 1
    ) latest ON true
    WHERE b.user_id = owner AND b.id = deleted.book_id;
    PERFORM refresh_read_books(owner, ARRAY[deleted.book_id], false);
    RETURN deleted.book_id;
END
$$;

-- Name: delete_reading_goal(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_reading_goal(owner uuid, goal uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM reading_goals g
    WHERE g.user_id = owner AND g.id = goal;
    IF FOUND THEN
        PERFORM record_deleted_id(owner, goal);
    END IF;
END
$$;

-- Name: delete_removed_covers(uuid[], uuid[], text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_removed_covers(user_ids uuid[], book_ids uuid[], versions text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DELETE FROM removed_covers r
    USING unnest(user_ids, book_ids, versions) AS given (user_id, book_id, version)
    WHERE r.user_id = given.user_id
        AND r.book_id = given.book_id
        AND r.version = given.version
        AND coalesce(r.kept_until, '-infinity') < now()
$$;

-- Name: delete_sweep_checkpoint(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.delete_sweep_checkpoint() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DELETE FROM checkpoints c
    WHERE c.task = 'storage.sweep'
$$;

-- Name: deleted_account(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.deleted_account(user_id uuid, session_id uuid) RETURNS TABLE(books integer, reviews integer, covers integer, apple_token_revoked boolean, is_overdue boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT t.books, t.reviews, t.covers, t.apple_token_revoked, t.deleted_at < now() - interval '10 seconds'
    FROM account_tombstones t
    WHERE t.user_hash = sha256(uuid_send(deleted_account.user_id))
        AND t.session_hash = sha256(uuid_send(deleted_account.session_id))
        AND t.deleted_at > now() - interval '1 hour'
$$;

-- Name: device_uri(text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.device_uri(device_id text, device_name text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT 'urn:uuid:' || CASE
        WHEN device_id ~ '^[0-9A-Fa-f]{32}$' THEN device_id::uuid
        -- Not md5(), which some builds of PostgreSQL do not have.
        ELSE left(encode(sha256(convert_to(coalesce(device_id, '') || E'\n' || device_name, 'UTF8')), 'hex'), 32)::uuid
    END
$_$;

-- Name: drop_deleted_covers(uuid, bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.drop_deleted_covers(owner uuid, bytes_needed bigint) RETURNS void
    LANGUAGE sql
    AS $$
    UPDATE deleted_books d
    SET cover = NULL
    FROM (
        SELECT
            c.book_id,
            sum(cover_bytes(c.byte_counts)) OVER (ORDER BY b.deleted_at, b.id) - cover_bytes(c.byte_counts) AS freed_before
        FROM stored_covers c
        JOIN deleted_books b ON b.user_id = c.user_id AND b.id = c.book_id
        WHERE c.user_id = owner AND c.is_deleted
    ) oldest
    WHERE d.user_id = owner AND d.id = oldest.book_id AND oldest.freed_before < bytes_needed
$$;

-- Name: due_webhook_deliveries(uuid, uuid[], integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.due_webhook_deliveries(webhook uuid, excluded uuid[], rows_max integer) RETURNS TABLE(user_id uuid, id uuid, type text, object_id uuid, change_seq bigint, event_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: edition_with_id(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.edition_with_id(given uuid) RETURNS uuid
    LANGUAGE sql STABLE
    AS $$
    SELECT id
    FROM (
        SELECT e.id, 1 AS rank
        FROM editions e
        WHERE e.id IN (given, work_id(given))
        UNION ALL
        SELECT r.survivor_id, 2
        FROM removed_editions r
        WHERE r.id IN (given, work_id(given))
    ) found
    ORDER BY rank
    LIMIT 1
$$;

-- Name: elapsed_part(integer, date); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.elapsed_part(of_year integer, today date) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT least(
        1,
        greatest(
            0,
            (today - make_date(of_year, 1, 1))::float8 / (make_date(of_year + 1, 1, 1) - make_date(of_year, 1, 1))
        )
    )
$$;

-- Name: end_cover_search(uuid, uuid, timestamp with time zone, public.cover_status, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.end_cover_search(user_id uuid, book_id uuid, requested_at timestamp with time zone, status public.cover_status, is_answered boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    book books;
    has_cover bool;
BEGIN
    SELECT * INTO book
    FROM books b
    WHERE b.user_id = end_cover_search.user_id AND b.id = end_cover_search.book_id
    FOR NO KEY UPDATE;
    IF NOT FOUND OR book.cover_requested_at IS DISTINCT FROM end_cover_search.requested_at THEN
        RETURN;
    END IF;
    has_cover := EXISTS (
        SELECT
        FROM covers c
        WHERE c.user_id = end_cover_search.user_id AND c.book_id = end_cover_search.book_id
    );
    UPDATE books b
    SET cover_status = CASE WHEN has_cover THEN 'READY' ELSE end_cover_search.status END,
        cover_requested_at = NULL,
        cover_not_found_at = CASE WHEN end_cover_search.is_answered THEN now() END
    WHERE b.user_id = end_cover_search.user_id AND b.id = end_cover_search.book_id;
    IF has_cover AND book.cover_status = 'FETCHING' THEN
        PERFORM record_unchanged_cover_event(end_cover_search.user_id, end_cover_search.book_id);
    END IF;
END
$$;

-- Name: end_oauth_grant(uuid, uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.end_oauth_grant(client uuid, owner uuid, of_grant uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM lock_user(owner);
    DELETE FROM oauth_grants g
    WHERE g.user_id = owner AND g.id = of_grant AND g.client_id = client;
END
$$;

-- Name: end_object_write(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.end_object_write(version text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DELETE FROM object_writes w
    WHERE w.version = end_object_write.version
$$;

-- Name: end_overdue_cover_waits(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.end_overdue_cover_waits(seconds integer, users_max integer) RETURNS SETOF uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    owner uuid;
    with_cover uuid[];
    book uuid;
BEGIN
    FOR owner IN
        -- The books come from books_cover_requested_at. For distinct users, the planner would read the primary key of all books.
        SELECT overdue.user_id
        FROM (
            SELECT b.user_id, b.cover_requested_at
            FROM books b
            WHERE b.cover_status = 'FETCHING' AND b.cover_requested_at < now() - greatest(1, seconds) * interval '1 second'
            ORDER BY b.cover_requested_at
            LIMIT 100 * users_max
        ) overdue
        GROUP BY overdue.user_id
        ORDER BY min(overdue.cover_requested_at)
        LIMIT users_max
    LOOP
        -- The lock of lock_user.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended(owner::text, 0));
        WITH ended AS (
            UPDATE books b
            SET cover_status = CASE
                    WHEN EXISTS (
                        SELECT
                        FROM covers c
                        WHERE c.user_id = owner AND c.book_id = b.id
                    ) THEN 'READY'
                    ELSE 'NOT_FOUND'
                END::cover_status
            WHERE b.user_id = owner
                AND b.cover_status = 'FETCHING'
                AND b.cover_requested_at < now() - greatest(1, seconds) * interval '1 second'
            RETURNING b.id, b.cover_status
        )
        SELECT array_agg(e.id) FILTER (WHERE e.cover_status = 'READY') INTO with_cover
        FROM ended e;
        FOREACH book IN ARRAY coalesce(with_cover, '{}') LOOP
            PERFORM record_unchanged_cover_event(owner, book);
        END LOOP;
        RETURN NEXT owner;
    END LOOP;
END
$$;

-- Name: end_webhook_user(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.end_webhook_user(tenant uuid, owner uuid) RETURNS void
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

-- Name: ended_sessions(uuid[], uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.ended_sessions(users uuid[], ids uuid[]) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: enqueue_cover_searches(text, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.enqueue_cover_searches(kind text, priority integer, attempts_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    owner uuid := app_user_id();
    added bigint;
BEGIN
    WITH requested AS MATERIALIZED (
        SELECT b.id, row_number() OVER (ORDER BY b.id) AS number
        FROM books b
        WHERE b.cover_status = 'FETCHING' AND b.cover_requested_at = now() AND b.user_id = owner
        ORDER BY b.id
    ), recorded AS (
        INSERT INTO events (user_id, kind, payload)
        SELECT owner, 'cover_changed', jsonb_build_object('book_id', r.id, 'status', 'FETCHING')
        FROM requested r
    ), awaited AS MATERIALIZED (
        SELECT count(*) AS count
        FROM jobs w
        WHERE w.user_id = owner AND w.kind = enqueue_cover_searches.kind AND w.key IS NOT NULL AND w.state <> 'DEAD'
            AND w.priority = 0
    )
    INSERT INTO jobs AS j (user_id, kind, payload, key, priority, attempts_max)
    SELECT
        owner, enqueue_cover_searches.kind, jsonb_build_object('bookID', r.id), r.id::text,
        CASE WHEN a.count + r.number > 10 THEN 10 ELSE enqueue_cover_searches.priority END,
        enqueue_cover_searches.attempts_max
    FROM requested r
    CROSS JOIN awaited a
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET priority = least(j.priority, excluded.priority),
        run_at = least(j.run_at, excluded.run_at),
        attempts = CASE j.state WHEN 'RUNNING' THEN j.attempts ELSE 0 END,
        again = j.state = 'RUNNING',
        updated_at = now();
    GET DIAGNOSTICS added = ROW_COUNT;
    RETURN added;
END
$$;

-- Name: enqueue_job(uuid, text, jsonb, text, bigint, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.enqueue_job(user_id uuid, kind text, payload jsonb, key text, delay_ms bigint, priority integer, attempts_max integer) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    due timestamptz := now() + delay_ms * interval '1 millisecond';
    job_id uuid;
BEGIN
    IF enqueue_job.user_id IS NOT NULL AND enqueue_job.user_id IS DISTINCT FROM app_user_id() THEN
        RAISE EXCEPTION 'a job can only be enqueued for the current user' USING ERRCODE = '42501';
    END IF;
    INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
    VALUES (
        enqueue_job.user_id, enqueue_job.kind, enqueue_job.payload, enqueue_job.key, due,
        enqueue_job.priority, enqueue_job.attempts_max
    )
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET payload = excluded.payload,
        priority = least(j.priority, excluded.priority),
        run_at = least(j.run_at, excluded.run_at),
        attempts = CASE j.state WHEN 'RUNNING' THEN j.attempts ELSE 0 END,
        again = (j.state = 'RUNNING'),
        updated_at = now()
    RETURNING j.id INTO job_id;
    RETURN job_id;
END
$$;

-- Name: enqueue_link_job(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.enqueue_link_job() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO jobs AS j (kind, payload, key, run_at, priority, attempts_max)
    VALUES ('library.link', '{}', 'link', now() + interval '1 second', 5, 10)
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET run_at = least(j.run_at, excluded.run_at), again = (j.state = 'RUNNING')
$$;

-- Name: enqueue_links(bigint[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.enqueue_links(keys bigint[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO books_to_link (user_id, book_id)
    SELECT DISTINCT b.user_id, b.id
    FROM unnest(keys) AS k (key)
    CROSS JOIN LATERAL (
        SELECT b.user_id, b.id
        FROM books b
        WHERE b.edition_id IS NULL
            AND book_link_keys(b.isbn13, b.title, author_text(b.authors, b.author_roles)) @> ARRAY[k.key]
        OFFSET 0
    ) b
    -- A fixed order prevents deadlocks between servers.
    ORDER BY b.user_id, b.id
    ON CONFLICT DO NOTHING;
    -- An import of the catalog enqueues the job at its end: another transaction that enqueues it would wait for the import.
    IF FOUND AND current_setting('app.bulk', true) IS DISTINCT FROM 'on' THEN
        PERFORM enqueue_link_job();
    END IF;
END
$$;

-- Name: enqueue_links_of_recent_editions(timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.enqueue_links_of_recent_editions(since timestamp with time zone) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT enqueue_links(
        ARRAY(SELECT work_key(title, authors) FROM editions WHERE updated_at >= since)
            || ARRAY(SELECT isbn_key(isbn13) FROM editions WHERE updated_at >= since AND isbn13 IS NOT NULL)
    )
$$;

-- Name: enqueue_webhooks(text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.enqueue_webhooks(kind text, attempts_max integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: entries_of_read_max(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.entries_of_read_max() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT 10000
$$;

-- Name: exchange_oauth_code(uuid, bytea, boolean, text, text, uuid, bytea, uuid, bytea, text, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.exchange_oauth_code(client uuid, given_hash bytea, is_device boolean, given_redirect_uri text, challenge text, new_grant uuid, new_refresh_hash bytea, new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, grant_days integer, OUT outcome text, OUT user_id uuid, OUT scopes text[]) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: expired_removed_covers(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.expired_removed_covers(count integer) RETURNS TABLE(user_id uuid, book_id uuid, version text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT r.user_id, r.book_id, r.version
    FROM removed_covers r
    WHERE coalesce(r.kept_until, '-infinity') < now()
    LIMIT expired_removed_covers.count
$$;

-- Name: fail_job(uuid, integer, text, bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.fail_job(id uuid, fence integer, message text, delay_ms bigint) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE jobs j
    SET state = CASE
            WHEN (delay_ms IS NULL OR j.attempts >= j.attempts_max) AND j.every IS NULL AND NOT j.again THEN 'DEAD'
            ELSE 'READY'
        END::job_state,
        run_at = CASE
            WHEN delay_ms IS NOT NULL AND j.attempts < j.attempts_max THEN now() + delay_ms * interval '1 millisecond'
            WHEN j.again THEN now()
            ELSE now() + coalesce(j.every, '0')
        END,
        attempts = CASE
            WHEN j.again THEN 0
            WHEN j.every IS NOT NULL AND (delay_ms IS NULL OR j.attempts >= j.attempts_max) THEN 0
            ELSE j.attempts
        END,
        postponed_since = CASE
            WHEN j.again AND (delay_ms IS NULL OR j.attempts >= j.attempts_max) THEN NULL
            ELSE j.postponed_since
        END,
        again = false,
        last_error = left(message, 1000),
        worker = NULL,
        lease_until = NULL,
        updated_at = now()
    WHERE j.id = fail_job.id AND j.fence = fail_job.fence AND j.state = 'RUNNING'
    RETURNING true
$$;

-- Name: feed_tier(text, text, text, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.feed_tier(language text, main_language text, hook text, has_genre boolean) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN split_part(language, '-', 1) <> main_language THEN 3
        WHEN hook IS NULL OR NOT has_genre THEN 2
        ELSE 0
    END
$$;

-- Name: find_access_token(bytea); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.find_access_token(given_hash bytea) RETURNS TABLE(user_id uuid, tenant_id uuid, id uuid, scopes public.access_scope[], documents text[], expires_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT t.user_id, u.tenant_id, t.id, t.scopes, t.documents, t.expires_at
    FROM access_tokens t
    JOIN users u ON u.id = t.user_id
    WHERE (t.token_hash = given_hash OR t.kosync_hash = given_hash)
        AND coalesce(t.expires_at > now(), true)
        AND (t.grant_id IS NULL OR (SELECT n.oauth FROM tenants n WHERE n.id = u.tenant_id))
$$;

-- Name: find_readers_to_collect(boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.find_readers_to_collect(is_everyone boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    since timestamptz;
BEGIN
    PERFORM lock_catalog();
    SELECT collected_at - interval '30 minutes' INTO since
    FROM feed_state;
    IF is_everyone THEN
        INSERT INTO readers_to_collect (user_id)
        SELECT id
        FROM users
        ORDER BY id
        ON CONFLICT DO NOTHING;
    ELSE
        INSERT INTO readers_to_collect (user_id)
        SELECT u.id
        FROM users u
        WHERE u.id IN (
            SELECT user_id
            FROM changes
            WHERE at > since
            UNION
            SELECT user_id
            FROM swipes
            WHERE recorded_at > since
            UNION
            SELECT user_id
            FROM swipes
            WHERE undone_at > since
        )
        ORDER BY u.id
        ON CONFLICT DO NOTHING;
    END IF;
    UPDATE feed_state
    SET collected_at = now();
END
$$;

-- Name: finish_job(uuid, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.finish_job(id uuid, fence integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM jobs j
    WHERE j.id = finish_job.id
        AND j.fence = finish_job.fence
        AND j.state = 'RUNNING'
        AND NOT j.again
        AND j.every IS NULL;
    IF FOUND THEN
        RETURN true;
    END IF;
    UPDATE jobs j
    SET state = 'READY',
        attempts = 0,
        worker = NULL,
        lease_until = NULL,
        last_error = NULL,
        postponed_since = NULL,
        run_at = CASE WHEN j.again THEN now() ELSE now() + j.every END,
        again = false,
        updated_at = now()
    WHERE j.id = finish_job.id AND j.fence = finish_job.fence AND j.state = 'RUNNING';
    RETURN FOUND;
END
$$;

-- Name: finish_learning(bigint[], bigint[], boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.finish_learning(learned bigint[], changes bigint[], is_everything boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    UPDATE work_signals w
    SET learned_changes = l.changes
    FROM unnest(learned, finish_learning.changes) AS l (number, changes)
    WHERE w.number = l.number;
    UPDATE feed_state
    SET decks_valid_since = clock_timestamp()
    WHERE is_everything;
    IF cardinality(learned) = 0 THEN
        RETURN;
    END IF;
    WITH active AS MATERIALIZED (
        SELECT DISTINCT s.user_id
        FROM sessions s
        WHERE s.rotated_at > now() - interval '30 days'
    ), learned_editions AS MATERIALIZED (
        SELECT id
        FROM editions
        WHERE number = ANY(learned)
        UNION
        SELECT w.edition_id
        FROM editions e
        JOIN work_records w ON w.founder_id = e.id
        WHERE e.number = ANY(learned)
    )
    -- The kind and the 3 attempts repeat those of the Swift type PrepareDeck.
    INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
    SELECT a.user_id, 'feed.deck', '{}'::jsonb, 'deck', now(), 10, 3
    FROM active a
    WHERE EXISTS (
        SELECT
        FROM swipes s
        WHERE s.user_id = a.user_id
            AND s.undone_at IS NULL
            AND s.edition_id IN (SELECT id FROM learned_editions)
    ) OR EXISTS (
        SELECT
        FROM books b
        WHERE b.user_id = a.user_id AND b.edition_id IN (SELECT id FROM learned_editions)
    )
    -- A fixed order prevents deadlocks with `link_waiting_books`.
    ORDER BY a.user_id
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET again = (j.state = 'RUNNING');
    PERFORM pg_notify('jobs', 'feed.deck');
END
$$;

-- Name: finish_moving_cover(uuid, uuid, uuid, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.finish_moving_cover(account uuid, account_book uuid, guest uuid, version text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    moved jsonb;
    tenant tenants;
    present covers;
    -- The bytes that the cover adds.
    added bigint;
BEGIN
    PERFORM lock_user(account);
    DELETE FROM moving_covers m
    WHERE m.user_id = account AND m.book_id = account_book AND m.guest_id = guest
    RETURNING m.cover || jsonb_build_object('user_id', account, 'book_id', account_book, 'version', finish_moving_cover.version)
    INTO moved;
    IF moved IS NULL OR finish_moving_cover.version IS NULL THEN
        RETURN false;
    END IF;
    -- Without room for it, the book stays without a cover.
    SELECT t.* INTO tenant
    FROM tenants t
    JOIN users u ON u.tenant_id = t.id
    WHERE u.id = account;
    SELECT c.* INTO present
    FROM covers c
    WHERE c.user_id = account AND c.book_id = account_book;
    IF FOUND AND (is_chosen_cover(present.source) OR NOT is_chosen_cover((moved ->> 'source')::cover_source)) THEN
        RETURN false;
    END IF;
    added := cover_bytes((jsonb_populate_record(NULL::covers, moved)).byte_counts) - coalesce(cover_bytes(present.byte_counts), 0);
    IF added + (
            SELECT coalesce(sum(cover_bytes(c.byte_counts)), 0)
            FROM stored_covers c
            WHERE c.owner_id = account
        ) > tenant.user_storage_bytes_max
        OR added + (
            SELECT coalesce(sum(s.bytes), 0)
            FROM tenant_storage s
            WHERE s.tenant_id = tenant.id
        ) > tenant.storage_bytes_max
    THEN
        UPDATE books b
        SET cover_status = 'NONE', cover_requested_at = NULL
        WHERE b.user_id = account AND b.id = account_book AND b.cover_status = 'FETCHING';
        RETURN false;
    END IF;
    UPDATE deleted_books d
    SET cover = moved
    WHERE d.user_id = account AND d.id = account_book AND d.cover IS NULL;
    IF FOUND THEN
        RETURN true;
    END IF;
    UPDATE books b
    SET cover_status = 'READY', cover_requested_at = NULL
    WHERE b.user_id = account AND b.id = account_book AND NOT b.is_cover_removed;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM covers c
    WHERE c.user_id = account AND c.book_id = account_book;
    PERFORM insert_stored_rows('covers', jsonb_build_array(moved));
    RETURN true;
END
$$;

-- Name: first_day(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.first_day(given text) RETURNS date
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT make_date(
        left(given, 4)::int,
        coalesce(nullif(substr(given, 6, 2), ''), '1')::int,
        coalesce(nullif(substr(given, 9, 2), ''), '1')::int
    )
$$;

-- Name: folded_author(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.folded_author(name text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$
BEGIN
    RETURN public.search_fold(
        CASE
            WHEN position(',' IN name) = 0 OR name ~* ',\s*(jr|sr|ii|iii|iv|ph\.?d|m\.?d)\.?\s*$' THEN name
            ELSE split_part(name, ',', 2) || ' ' || split_part(name, ',', 1)
        END
    );
END
$_$;

-- Name: genre_ids(text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.genre_ids(names text[]) RETURNS smallint[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
DECLARE
    ids smallint[] := '{}';
    general_ids smallint[] := '{}';
    given_name text;
    step text;
    says_fiction boolean;
    genre genres;
BEGIN
    FOREACH given_name IN ARRAY coalesce(names, '{}') LOOP
        SELECT g.* INTO genre
        FROM genre_aliases a
        JOIN genres g ON g.id = a.genre_id
        WHERE a.alias = search_fold(given_name);
        IF genre.is_general THEN
            general_ids := general_ids || genre.id;
        ELSIF genre.id IS NOT NULL THEN
            ids := ids || genre.id;
        ELSIF given_name ~ '[-/,;>(]' THEN
            says_fiction := given_name ~* '\mfiction\M' AND given_name !~* '\mnon-?fiction\M';
            FOREACH step IN ARRAY regexp_split_to_array(given_name, '\s*[/,;>(]\s*|\s*--\s*|\s-\s') LOOP
                SELECT g.* INTO genre
                FROM genre_aliases a
                JOIN genres g ON g.id = a.genre_id
                WHERE a.alias = search_fold(step);
                IF genre.is_general THEN
                    general_ids := general_ids || genre.id;
                ELSIF genre.id IS NOT NULL AND NOT (says_fiction AND genre.is_nonfiction) THEN
                    ids := ids || genre.id;
                END IF;
            END LOOP;
        END IF;
    END LOOP;
    IF ids = '{}' THEN
        RETURN general_ids[1:1];
    ELSIF cardinality(ids) = 1 THEN
        RETURN ids;
    END IF;
    RETURN ARRAY(
        SELECT id
        FROM unnest(ids) WITH ORDINALITY AS mentioned (id, position)
        GROUP BY id
        ORDER BY min(position)
    );
END
$$;

-- Name: genre_position(integer, double precision, bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.genre_position(tier integer, popularity double precision, number bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT
        (tier::bigint << 61)
        | ((536870911 - least(floor(ln(1 + greatest(popularity, 0)) * 16777216), 536870911)::bigint) << 32)
        | number
$$;

-- Name: guest_last_active(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.guest_last_active(guest uuid) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    AS $$
    SELECT greatest(
        u.created_at,
        (SELECT max(s.rotated_at) FROM sessions s WHERE s.user_id = guest),
        (SELECT max(t.last_used_at) FROM access_tokens t WHERE t.user_id = guest),
        (SELECT max(g.last_used_at) FROM oauth_grants g WHERE g.user_id = guest)
    )
    FROM users u
    WHERE u.id = guest AND u.is_guest
$$;

-- Name: half_life_power(timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.half_life_power(at timestamp with time zone) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT power(2, greatest(-1e9, least(1e9, extract(epoch FROM at)::float8 - 1767225600)) / 1209600)
$$;

-- Name: has_event_type(text[], text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.has_event_type(event_types text[], type text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT event_types && ARRAY['*', split_part(type, '.', 1) || '.*', type]
$$;

-- Name: import_book(jsonb, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_book(book jsonb, known jsonb, OUT outcome text, OUT problem text, OUT book_id uuid, OUT card_id uuid, OUT shelf_ids uuid[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    owner uuid := app_user_id();
    given record;
    -- The book of the library, and the same with the record's data.
    kept books;
    merged books;
    shelf uuid;
    shelf_name text;
    -- How the record names its edition.
    named_by book_link;
BEGIN
    outcome := 'SAME';
    shelf_ids := '{}';
    SELECT * INTO given
    FROM jsonb_to_record(book) AS r (
        id uuid, "cardId" uuid, title text, authors text[], "authorRoles" author_role[], "writtenAuthor" text,
        isbn13 text, publisher text, "publishedDate" text, "pageCount" int, language text, category text, genre text,
        description text, status reading_status, "currentPage" int, "startedAt" timestamptz,
        "finishedAt" timestamptz, shelves text[], "halfStars" int, review text, binding text, "originalYear" int,
        "privateNotes" text, moods text[], "seriesName" text, "seriesPosition" text
    );
    IF given."halfStars" NOT BETWEEN 1 AND 10 OR char_length(given.review) NOT BETWEEN 1 AND 100000 THEN
        outcome := 'FAILED';
        problem := 'This book cannot be stored.';
        RETURN;
    END IF;
    named_by := 'CARD';
    SELECT e.id INTO card_id
    FROM editions e
    WHERE e.id = given."cardId";
    IF NOT FOUND THEN
        named_by := 'ISBN';
        SELECT e.id INTO card_id
        FROM editions e
        WHERE e.isbn13 = given.isbn13;
    END IF;

    SELECT * INTO kept
    FROM books b
    WHERE b.user_id = owner AND b.id = given.id;
    IF NOT FOUND THEN
        SELECT * INTO kept
        FROM books b
        WHERE b.user_id = owner AND b.isbn13 = given.isbn13;
    END IF;
    IF NOT FOUND THEN
        -- A book with the edition only because of its title is another copy of the work if both have an ISBN.
        SELECT * INTO kept
        FROM books b
        WHERE b.user_id = owner
            AND b.edition_id = card_id
            AND (b.linked_by <> 'TITLE' OR b.isbn13 IS NULL OR given.isbn13 IS NULL);
    END IF;
    IF NOT FOUND AND known ? lower(given.title) THEN
        SELECT * INTO kept
        FROM books b
        WHERE b.user_id = owner
            AND b.id = ANY(ARRAY(SELECT jsonb_array_elements_text(known -> lower(given.title))::uuid))
            AND (b.authors = '{}' OR given.authors = '{}' OR b.author_ids && author_ids(given.authors))
            AND (b.isbn13 IS NULL OR given.isbn13 IS NULL)
        ORDER BY b.added_at, b.id
        LIMIT 1;
    END IF;

    IF kept.id IS NULL THEN
        book_id := given.id;
        outcome := 'CREATED';
    ELSE
        book_id := kept.id;
        merged := kept;
        IF kept.authors = '{}' THEN
            merged.authors := given.authors;
            merged.author_roles := given."authorRoles";
            merged.written_author := given."writtenAuthor";
        END IF;
        merged.publisher := coalesce(kept.publisher, given.publisher);
        merged.published_date := coalesce(kept.published_date, given."publishedDate");
        merged.page_count := coalesce(kept.page_count, given."pageCount");
        merged.language := coalesce(kept.language, given.language);
        merged.category := coalesce(kept.category, given.category);
        merged.genre := coalesce(kept.genre, given.genre);
        merged.description := coalesce(kept.description, given.description);
        merged.current_page := coalesce(kept.current_page, given."currentPage");
        merged.binding := coalesce(kept.binding, given.binding);
        merged.original_year := coalesce(kept.original_year, given."originalYear");
        merged.private_notes := coalesce(kept.private_notes, given."privateNotes");
        IF kept.moods = '{}' THEN
            merged.moods := coalesce(given.moods, '{}');
        END IF;
        merged.started_at := coalesce(kept.started_at, given."startedAt");
        merged.finished_at := coalesce(kept.finished_at, given."finishedAt");
        IF status_rank(given.status) > status_rank(kept.status) THEN
            merged.status := given.status;
        END IF;
        -- Another book of the library may have the ISBN or the edition.
        IF kept.isbn13 IS NULL
            AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = owner AND b.isbn13 = given.isbn13)
        THEN
            merged.isbn13 := given.isbn13;
        END IF;
        IF kept.edition_id IS NULL AND card_id IS NOT NULL
            AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = owner AND b.edition_id = card_id)
        THEN
            merged.edition_id := card_id;
            merged.linked_by := named_by;
        END IF;
        -- The series of the edition need not be stored again.
        IF kept.series IS NULL AND given."seriesName" IS NOT NULL
            AND NOT is_series_of_edition(merged.edition_id, given."seriesName", given."seriesPosition")
        THEN
            merged.series := given."seriesName";
            merged.series_position := given."seriesPosition";
        END IF;
        IF merged IS DISTINCT FROM kept THEN
            UPDATE books b
            SET edition_id = merged.edition_id,
                linked_by = merged.linked_by,
                authors = merged.authors,
                author_roles = merged.author_roles,
                written_author = merged.written_author,
                isbn13 = merged.isbn13,
                publisher = merged.publisher,
                published_date = merged.published_date,
                page_count = merged.page_count,
                language = merged.language,
                category = merged.category,
                genre = merged.genre,
                description = merged.description,
                status = merged.status,
                current_page = merged.current_page,
                binding = merged.binding,
                original_year = merged.original_year,
                private_notes = merged.private_notes,
                moods = merged.moods,
                series = merged.series,
                series_position = merged.series_position,
                started_at = merged.started_at,
                finished_at = merged.finished_at,
                updated_at = now()
            WHERE b.user_id = owner AND b.id = kept.id;
            outcome := 'UPDATED';
        END IF;
    END IF;

    FOREACH shelf_name IN ARRAY coalesce(given.shelves, '{}') LOOP
        shelf := import_shelf(NULL, shelf_name, NULL);
        IF shelf IS NULL THEN
            problem := 'A library has at most 500 shelves: “' || shelf_name || '” was left out.';
        ELSE
            shelf_ids := shelf_ids || shelf;
        END IF;
    END LOOP;
EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
    -- The import has checked the usual limits before. One record that the database rejects does not stop the others.
    outcome := 'FAILED';
    problem := 'This book cannot be stored.';
    shelf_ids := '{}';
END
$$;

-- Name: import_documents(jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_documents(given jsonb) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO ereader_documents (
        user_id, id, hash, book_id, title, author, progress, fraction, device_name, device_id, created_at, synced_at
    )
    SELECT
        app_user_id(), i.id, i.hash, coalesce(b.id, d.id), i.title, i.author, i.progress, i.percent / 100, i."deviceName", i."deviceId",
        coalesce(i."createdAt", now()), least(coalesce(i."syncedAt", now()), now())
    FROM jsonb_to_recordset(given) AS i (
        id uuid, hash text, "bookId" uuid, title text, author text, progress text, percent float8, "deviceName" text,
        "deviceId" text, "createdAt" timestamptz, "syncedAt" timestamptz
    )
    LEFT JOIN books b ON b.user_id = app_user_id() AND b.id = i."bookId"
    LEFT JOIN deleted_books d ON d.user_id = app_user_id() AND d.id = i."bookId"
    ORDER BY i."syncedAt" DESC
    LIMIT greatest(10000 - (SELECT count(*) FROM ereader_documents d WHERE d.user_id = app_user_id()), 0)
    ON CONFLICT DO NOTHING
$$;

-- Name: import_goals(jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_goals(given jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    owner uuid := app_user_id();
    goal record;
BEGIN
    FOR goal IN
        SELECT *
        FROM jsonb_to_recordset(given) AS g (
            id uuid, year int, unit goal_unit, target int, "createdAt" timestamptz, "updatedAt" timestamptz
        )
        LIMIT 100
    LOOP
        INSERT INTO reading_goals (user_id, id, year, unit, target, created_at, updated_at)
        SELECT
            owner,
            CASE
                WHEN is_other_object(owner, goal.id)
                    OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = goal.id)
                    OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = goal.id)
                    OR EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = owner AND t.id = goal.id)
                THEN gen_random_uuid()
                ELSE coalesce(goal.id, gen_random_uuid())
            END,
            goal.year, goal.unit, goal.target, coalesce(goal."createdAt", now()),
            coalesce(goal."updatedAt", goal."createdAt", now())
        WHERE (SELECT count(*) FROM reading_goals g WHERE g.user_id = owner) < 100
        ON CONFLICT DO NOTHING;
    END LOOP;
END
$$;

-- Name: import_notes(jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_notes(given jsonb) RETURNS uuid[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    owner uuid := app_user_id();
    ignored uuid[];
BEGIN
    WITH new_notes AS MATERIALIZED (
        SELECT
            i.*,
            row_number() OVER (PARTITION BY i."bookId" ORDER BY i."createdAt", i.id) AS book_position,
            row_number() OVER (ORDER BY i."createdAt", i.id) AS position
        FROM jsonb_to_recordset(given) AS i (
            id uuid, "bookId" uuid, text text, comment text, chapter text, color note_color, page int, percent float8,
            seconds int, "createdAt" timestamptz, "updatedAt" timestamptz
        )
        WHERE NOT EXISTS (SELECT FROM notes n WHERE n.user_id = owner AND n.id = i.id)
    ), stored AS (
        INSERT INTO notes (
            user_id, id, book_id, text, comment, chapter, color, page, percent, seconds, created_at, updated_at
        )
        SELECT
            owner, f.id, b.id, f.text, f.comment, f.chapter, f.color, f.page, f.percent, f.seconds,
            coalesce(f."createdAt", now()), coalesce(f."updatedAt", f."createdAt", now())
        FROM new_notes f
        JOIN books b ON b.user_id = owner AND b.id = f."bookId"
        WHERE f.book_position
                <= 2000 - (SELECT count(*) FROM notes n WHERE n.user_id = owner AND n.book_id = b.id)
            AND f.position <= 100000 - (SELECT count(*) FROM notes n WHERE n.user_id = owner)
            AND NOT is_other_object(owner, f.id)
            AND NOT EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = f.id)
            AND NOT EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = f.id)
        ON CONFLICT DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO ignored
    FROM new_notes f
    WHERE f.id NOT IN (SELECT s.id FROM stored s);
    RETURN ignored;
END
$$;

-- Name: import_positions(jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_positions(given jsonb) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO ereader_positions (
        user_id, book_id, modified_at, fraction, device_id, device_name, title, place_refs
    )
    SELECT
        app_user_id(), b.id, least(i."modifiedAt", now()), i.percent / 100, i."deviceId", i."deviceName", i.title, i."references"
    FROM jsonb_to_recordset(given) AS i (
        "bookId" uuid, "modifiedAt" timestamptz, percent float8, "deviceId" text, "deviceName" text, title text,
        "references" text[]
    )
    JOIN books b ON b.user_id = app_user_id() AND b.id = i."bookId"
    ON CONFLICT DO NOTHING
$$;

-- Name: import_progress(jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_progress(given jsonb) RETURNS uuid[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    owner uuid := app_user_id();
    ignored uuid[];
BEGIN
    WITH entries AS MATERIALIZED (
        -- `position` counts only the entries that are new.
        SELECT
            n.*,
            count(*) FILTER (WHERE n.is_new) OVER (PARTITION BY n."readId" ORDER BY n.at, n.id) AS position
        FROM (
            SELECT
                p.*,
                NOT EXISTS (SELECT FROM progress_entries e WHERE e.user_id = owner AND e.id = p.id) AS is_new
            FROM jsonb_to_recordset(given) AS p (
                id uuid, "readId" uuid, at timestamptz, page int, percent float8, seconds int, note text,
                "createdAt" timestamptz, "updatedAt" timestamptz
            )
        ) n
    ), allowed AS MATERIALIZED (
        SELECT e.*
        FROM entries e
        JOIN (
            SELECT
                r.id,
                (SELECT count(*) FROM progress_entries p WHERE p.user_id = owner AND p.read_id = r.id) AS entry_count
            FROM reads r
            WHERE r.user_id = owner AND r.id IN (SELECT e."readId" FROM entries e)
        ) r ON r.id = e."readId"
        WHERE e.is_new AND r.entry_count + e.position <= entries_of_read_max()
    ), stored AS (
        INSERT INTO progress_entries (user_id, id, read_id, at, page, percent, seconds, note, created_at, updated_at)
        SELECT
            owner, a.id, a."readId", a.at, a.page, a.percent, a.seconds, a.note, coalesce(a."createdAt", now()),
            coalesce(a."updatedAt", a."createdAt", now())
        FROM allowed a
        ON CONFLICT DO NOTHING
    )
    SELECT coalesce(array_agg(e.id), '{}') INTO ignored
    FROM entries e
    WHERE e.id NOT IN (SELECT a.id FROM allowed a)
        AND NOT EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = e.id);
    PERFORM refresh_read_books(
        owner,
        ARRAY(
            SELECT DISTINCT r.book_id
            FROM jsonb_to_recordset(given) AS p ("readId" uuid)
            JOIN reads r ON r.user_id = owner AND r.id = p."readId"
        ),
        false
    );
    RETURN ignored;
END
$$;

-- Name: import_readers(uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_readers(tenant uuid, given jsonb, OUT readers_created integer, OUT books_created integer, OUT reviews_created integer, OUT reads_created integer, OUT shelves_created integer) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    owners uuid[];
    owner uuid;
    -- The accounts by their subjects, and the books of the records by their ids.
    accounts jsonb;
    placed jsonb;
    new_books jsonb;
    new_reviews jsonb;
    new_reads jsonb;
    new_shelves jsonb;
    started text := current_setting('app.bulk', true);
BEGIN
    PERFORM set_config('app.bulk', 'on', true);
    -- The view reads hundreds of files.
    WITH zones AS MATERIALIZED (
        SELECT z.name FROM pg_timezone_names z
    ), readers AS (
        -- The first one of each subject.
        SELECT DISTINCT ON (r.value ->> 'subject') t.*
        FROM jsonb_array_elements(given) WITH ORDINALITY AS r (value, number)
        CROSS JOIN LATERAL jsonb_to_record(r.value) AS t (
            subject text, "displayName" text, email text, "preferredGenres" text[], "timeZone" text,
            "createdAt" timestamptz
        )
        WHERE NOT EXISTS (SELECT FROM identities i WHERE i.tenant_id = tenant AND i.subject = t.subject)
        ORDER BY r.value ->> 'subject', r.number
    ), created AS (
        -- A reader may sign in meanwhile, or another import may add the same one.
        INSERT INTO identities (user_id, tenant_id, subject, created_at)
        SELECT gen_random_uuid(), tenant, r.subject, coalesce(r."createdAt", now())
        FROM readers r
        ON CONFLICT (tenant_id, subject) DO NOTHING
        RETURNING user_id, subject, created_at
    ), new_users AS (
        INSERT INTO users (id, tenant_id, display_name, email, preferred_genres, time_zone, created_at)
        SELECT
            c.user_id, tenant, r."displayName", r.email,
            ARRAY(SELECT g.name FROM genres g WHERE g.name = ANY(r."preferredGenres")),
            coalesce((SELECT current_zone_name(z.name) FROM zones z WHERE z.name = r."timeZone"), 'UTC'),
            c.created_at
        FROM created c
        JOIN readers r ON r.subject = c.subject
        RETURNING id
    )
    SELECT count(*) INTO readers_created FROM new_users;
    SELECT coalesce(jsonb_object_agg(i.subject, i.user_id), '{}'), coalesce(array_agg(DISTINCT i.user_id ORDER BY i.user_id), '{}')
    INTO accounts, owners
    FROM identities i
    WHERE i.tenant_id = tenant AND i.subject IN (SELECT r ->> 'subject' FROM jsonb_array_elements(given) r);
    -- Always in the same order, so that two imports cannot wait for each other.
    FOREACH owner IN ARRAY owners LOOP
        PERFORM lock_user(owner);
    END LOOP;

    WITH named AS (
        SELECT DISTINCT ON (n.user_id, lower(n.name)) n.user_id, n.name, n.reader, n.position
        FROM (
            SELECT (accounts ->> (r.reader ->> 'subject'))::uuid AS user_id, s.name, r.number AS reader, s.position
            FROM jsonb_array_elements(given) WITH ORDINALITY AS r (reader, number)
            CROSS JOIN LATERAL jsonb_array_elements_text(r.reader -> 'shelves') WITH ORDINALITY AS s (name, position)
        ) n
        WHERE NOT EXISTS (SELECT FROM shelves k WHERE k.user_id = n.user_id AND lower(k.name) = lower(n.name))
        ORDER BY n.user_id, lower(n.name), n.reader, n.position
    ), created AS (
        INSERT INTO shelves (user_id, id, name, position)
        SELECT n.user_id, gen_random_uuid(), n.name, n.next
        FROM (
            SELECT
                n.user_id,
                n.name,
                k.next - 1 + row_number() OVER (PARTITION BY n.user_id ORDER BY n.reader, n.position) AS next,
                k.existing + row_number() OVER (PARTITION BY n.user_id ORDER BY n.reader, n.position) AS total
            FROM named n
            CROSS JOIN LATERAL (
                SELECT coalesce(max(s.position) + 1, 0) AS next, count(*) AS existing
                FROM shelves s
                WHERE s.user_id = n.user_id
            ) k
        ) n
        WHERE n.total <= 500
        ON CONFLICT DO NOTHING
        RETURNING user_id, id
    )
    SELECT count(*), coalesce(jsonb_agg(to_jsonb(c)), '[]') INTO shelves_created, new_shelves FROM created c;

    WITH books_given AS (
        SELECT (accounts ->> (r ->> 'subject'))::uuid AS user_id, b.book
        FROM jsonb_array_elements(given) r
        CROSS JOIN LATERAL jsonb_array_elements(r -> 'books') AS b (book)
    ), created AS (
        INSERT INTO books (
            user_id, id, title, authors, author_roles, written_author, isbn13, publisher, published_date, page_count,
            language, category, genre, description, status, current_page, added_at, started_at, finished_at, updated_at,
            binding, original_year, private_notes, moods, series, series_position, edition_id, linked_by
        )
        SELECT
            g.user_id, v.id, v.title, v.authors, v."authorRoles", v."writtenAuthor", v.isbn13, v.publisher,
            v."publishedDate", v."pageCount", v.language, v.category, v.genre, v.description, v.status,
            v."currentPage", coalesce(v."addedAt", now()), v."startedAt", v."finishedAt", coalesce(v."updatedAt", now()),
            v.binding, v."originalYear", v."privateNotes", coalesce(v.moods, '{}'), v."seriesName", v."seriesPosition",
            e.id, 'ISBN'
        FROM books_given g
        CROSS JOIN LATERAL jsonb_to_record(g.book) AS v (
            id uuid, title text, authors text[], "authorRoles" author_role[], "writtenAuthor" text, isbn13 text,
            publisher text, "publishedDate" text, "pageCount" int, language text, category text, genre text,
            description text, status reading_status, "currentPage" int, "addedAt" timestamptz, "startedAt" timestamptz,
            "finishedAt" timestamptz, "updatedAt" timestamptz, binding text, "originalYear" int, "privateNotes" text,
            moods text[], "seriesName" text, "seriesPosition" text
        )
        -- A book with an edition is not in the index of link keys, whose entries take most of the time.
        LEFT JOIN editions e ON e.isbn13 = v.isbn13
            AND NOT EXISTS (SELECT FROM books k WHERE k.user_id = g.user_id AND k.edition_id = e.id)
        WHERE NOT EXISTS (
            SELECT
            FROM deleted_books d
            WHERE d.user_id = g.user_id AND (d.id = v.id OR d.book ->> 'isbn13' = v.isbn13)
        )
        ON CONFLICT DO NOTHING
        RETURNING user_id, id, edition_id
    ), waiting AS (
        INSERT INTO books_to_link (user_id, book_id)
        SELECT c.user_id, c.id
        FROM created c
        WHERE c.edition_id IS NULL
        ON CONFLICT DO NOTHING
    )
    SELECT count(*), coalesce(jsonb_agg(jsonb_build_object('user_id', c.user_id, 'id', c.id)), '[]')
    INTO books_created, new_books
    FROM created c;
    -- The book of a record has its id or its ISBN. A book that the reader has deleted is not there.
    SELECT coalesce(jsonb_agg(jsonb_build_object('user_id', g.user_id, 'id', k.id, 'book', g.book)), '[]') INTO placed
    FROM (
        SELECT (accounts ->> (r ->> 'subject'))::uuid AS user_id, b.book
        FROM jsonb_array_elements(given) r
        CROSS JOIN LATERAL jsonb_array_elements(r -> 'books') AS b (book)
    ) g
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (SELECT k.id FROM books k WHERE k.user_id = g.user_id AND k.id = (g.book ->> 'id')::uuid),
            (SELECT k.id FROM books k WHERE k.user_id = g.user_id AND k.isbn13 = g.book ->> 'isbn13')
        ) AS id
    ) k
    WHERE k.id IS NOT NULL;

    WITH created AS (
        INSERT INTO reviews (user_id, book_id, id, half_stars, text, has_spoilers, is_visible, created_at, updated_at)
        SELECT DISTINCT ON (p.user_id, p.id)
            p.user_id, p.id, gen_random_uuid(), (p.book ->> 'halfStars')::smallint, p.book ->> 'review',
            coalesce((p.book ->> 'hasSpoilers')::boolean, false), k.status = 'READ',
            coalesce((p.book ->> 'reviewedAt')::timestamptz, (p.book ->> 'finishedAt')::timestamptz, now()),
            coalesce(
                (p.book ->> 'reviewUpdatedAt')::timestamptz, (p.book ->> 'reviewedAt')::timestamptz,
                (p.book ->> 'finishedAt')::timestamptz, now()
            )
        FROM jsonb_to_recordset(placed) AS p (user_id uuid, id uuid, book jsonb)
        JOIN books k ON k.user_id = p.user_id AND k.id = p.id
        WHERE p.book ?| '{halfStars, review}'
        ON CONFLICT DO NOTHING
        RETURNING user_id, id, book_id, is_visible
    )
    SELECT count(*), coalesce(jsonb_agg(to_jsonb(c)), '[]') INTO reviews_created, new_reviews FROM created c;

    WITH created AS (
        INSERT INTO reads (
            user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, created_at, updated_at,
            page_count, genre, author_id, author
        )
        SELECT
            p.user_id, v.id, p.id, v."startedOn", v."finishedOn", v.outcome, v.format, v."lengthSeconds", v.note,
            coalesce(v."createdAt", now()), coalesce(v."updatedAt", v."createdAt", now()), k.page_count, k.genre,
            k.author_ids[1], left(k.authors[1], 200)
        FROM jsonb_to_recordset(placed) AS p (user_id uuid, id uuid, book jsonb)
        JOIN books k ON k.user_id = p.user_id AND k.id = p.id
        CROSS JOIN LATERAL jsonb_to_recordset(p.book -> 'reads') AS v (
            id uuid, "startedOn" text, "finishedOn" text, outcome read_outcome, format read_format, "lengthSeconds" int,
            note text, "createdAt" timestamptz, "updatedAt" timestamptz
        )
        WHERE NOT EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = p.user_id AND t.id = v.id)
            -- The reads of a book that the reader had before are the reader's own.
            AND p.id = (p.book ->> 'id')::uuid
        ON CONFLICT DO NOTHING
        RETURNING user_id, id
    )
    SELECT count(*), coalesce(jsonb_agg(to_jsonb(c)), '[]') INTO reads_created, new_reads FROM created c;

    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
    SELECT p.user_id, s.id, p.id, k.added_at
    FROM jsonb_to_recordset(placed) AS p (user_id uuid, id uuid, book jsonb)
    JOIN books k ON k.user_id = p.user_id AND k.id = p.id
    CROSS JOIN LATERAL jsonb_array_elements_text(p.book -> 'shelves') AS n (name)
    JOIN shelves s ON s.user_id = p.user_id AND lower(s.name) = lower(n.name)
    ON CONFLICT DO NOTHING;

    IF EXISTS (SELECT FROM webhooks) THEN
        PERFORM mark_webhook_position(w.id)
        FROM unnest(owners) AS w (id);
    END IF;
    -- Books that were there before get entries below, although their rows are not written.
    PERFORM set_config('app.logs_unwritten_books', 'on', true);
    INSERT INTO changes (user_id, seq, kind, typename, id, at)
    SELECT
        n.user_id,
        o.last + row_number() OVER (PARTITION BY n.user_id ORDER BY n.position, n.id),
        n.kind,
        n.typename,
        n.id,
        clock_timestamp()
    FROM (
        SELECT s.user_id, s.id, 'CREATED'::change_kind AS kind, 'Shelf' AS typename, 1 AS position
        FROM jsonb_to_recordset(new_shelves) AS s (user_id uuid, id uuid)
        UNION ALL
        SELECT b.user_id, b.id, 'CREATED', 'Book', 2
        FROM jsonb_to_recordset(new_books) AS b (user_id uuid, id uuid)
        UNION ALL
        SELECT v.user_id, v.id, 'CREATED', 'Review', 3
        FROM jsonb_to_recordset(new_reviews) AS v (user_id uuid, id uuid, is_visible boolean)
        WHERE v.is_visible
        UNION ALL
        SELECT d.user_id, d.id, 'CREATED', 'Read', 4
        FROM jsonb_to_recordset(new_reads) AS d (user_id uuid, id uuid)
        UNION ALL
        -- Books that were there before have got a review.
        SELECT v.user_id, v.book_id, 'UPDATED', 'Book', 5
        FROM jsonb_to_recordset(new_reviews) AS v (user_id uuid, book_id uuid)
        WHERE (v.user_id, v.book_id) NOT IN (
            SELECT b.user_id, b.id FROM jsonb_to_recordset(new_books) AS b (user_id uuid, id uuid)
        )
    ) n
    JOIN (
        SELECT w.id, coalesce(max(c.seq), 0) AS last
        FROM unnest(owners) AS w (id)
        LEFT JOIN changes c ON c.user_id = w.id
        GROUP BY w.id
    ) o ON o.id = n.user_id;
    INSERT INTO logs_to_prune (user_id, oldest_at)
    SELECT w.id, now()
    FROM unnest(owners) AS w (id)
    ORDER BY w.id
    ON CONFLICT DO NOTHING;
    UPDATE users u
    SET signals_version = u.signals_version + 1
    WHERE u.id = ANY(owners) AND books_created + reviews_created > 0;
    -- Last, because every import updates the same job, and the next one waits until this transaction ends.
    IF books_created > 0 THEN
        PERFORM enqueue_link_job();
    END IF;
    PERFORM set_config('app.bulk', coalesce(started, ''), true);
END
$$;

-- Name: import_reads(jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_reads(given jsonb) RETURNS uuid[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    owner uuid := app_user_id();
    entry record;
    kept reads;
    -- The first and the last day that the read gets.
    first_date text;
    last_date text;
    -- The book of the previous entry, and its reads that earlier entries have matched or added.
    book uuid;
    used uuid[] := ARRAY[]::uuid[];
    changed uuid[] := ARRAY[]::uuid[];
BEGIN
    FOR entry IN
        SELECT r.*
        FROM jsonb_to_recordset(given) AS r (
            "bookId" uuid, id uuid, "startedOn" text, "finishedOn" text, outcome read_outcome, format read_format,
            "lengthSeconds" int, note text, "createdAt" timestamptz, "updatedAt" timestamptz
        )
    LOOP
        IF entry."bookId" IS DISTINCT FROM book THEN
            book := entry."bookId";
            used := '{}';
        END IF;
        SELECT r.* INTO kept
        FROM reads r
        WHERE r.user_id = owner AND r.id = entry.id;
        IF NOT FOUND THEN
            SELECT r.* INTO kept
            FROM reads r
            WHERE r.user_id = owner
                AND r.book_id = entry."bookId"
                AND r.id <> ALL(used)
                AND coalesce(r.started_on = entry."startedOn", true)
                AND is_in_order(
                    coalesce(r.started_on, entry."startedOn"), coalesce(r.finished_on, entry."finishedOn")
                )
                AND (
                    (r.outcome = entry.outcome AND coalesce(r.finished_on = entry."finishedOn", true))
                    OR (
                        r.outcome = 'READING'
                        AND CASE
                            WHEN r.started_on IS NOT NULL AND entry."finishedOn" IS NOT NULL
                            THEN is_in_order(r.started_on, entry."finishedOn")
                            -- The import has just changed the status.
                            ELSE EXISTS (
                                SELECT
                                FROM books b
                                WHERE b.user_id = owner AND b.id = r.book_id AND b.status IN ('READ', 'DID_NOT_FINISH')
                            )
                        END
                    )
                )
            ORDER BY
                r.outcome = entry.outcome DESC,
                r.finished_on IS NOT DISTINCT FROM entry."finishedOn" DESC,
                r.sorted_on DESC, r.created_at DESC, r.id DESC
            LIMIT 1;
        END IF;
        IF kept.id IS NOT NULL THEN
            used := used || kept.id;
            first_date := coalesce(kept.started_on, entry."startedOn");
            last_date := CASE
                WHEN entry.outcome <> 'READING' THEN coalesce(kept.finished_on, entry."finishedOn")
                ELSE kept.finished_on
            END;
            IF NOT is_in_order(first_date, last_date) THEN
                first_date := kept.started_on;
                last_date := kept.finished_on;
            END IF;
            UPDATE reads r
            SET started_on = first_date,
                finished_on = last_date,
                outcome = CASE WHEN r.outcome = 'READING' THEN entry.outcome ELSE r.outcome END,
                format = coalesce(r.format, entry.format),
                length_seconds = coalesce(r.length_seconds, entry."lengthSeconds"),
                note = coalesce(r.note, entry.note),
                updated_at = now()
            WHERE r.user_id = owner
                AND r.id = kept.id
                AND (
                    (r.outcome = 'READING' AND entry.outcome <> 'READING')
                    OR r.started_on IS DISTINCT FROM first_date
                    OR r.finished_on IS DISTINCT FROM last_date
                    OR (r.format IS NULL AND entry.format IS NOT NULL)
                    OR (r.length_seconds IS NULL AND entry."lengthSeconds" IS NOT NULL)
                    OR (r.note IS NULL AND entry.note IS NOT NULL)
                );
        ELSE
            entry.id := coalesce(entry.id, gen_random_uuid());
            used := used || entry.id;
            INSERT INTO reads (
                user_id, id, book_id, started_on, finished_on, outcome, format, length_seconds, note, created_at, updated_at
            )
            SELECT
                owner,
                entry.id,
                b.id,
                CASE WHEN is_in_order(entry."startedOn", entry."finishedOn") THEN entry."startedOn" END,
                entry."finishedOn",
                entry.outcome,
                entry.format, entry."lengthSeconds", entry.note, coalesce(entry."createdAt", now()),
                coalesce(entry."updatedAt", entry."createdAt", now())
            FROM books b
            WHERE b.user_id = owner
                AND b.id = entry."bookId"
                AND (entry.outcome <> 'READING' OR b.status NOT IN ('READ', 'DID_NOT_FINISH'))
                AND (SELECT count(*) FROM reads r WHERE r.user_id = owner AND r.book_id = b.id) < reads_of_book_max()
            ON CONFLICT DO NOTHING;
        END IF;
        IF FOUND THEN
            changed := changed || coalesce(kept.book_id, entry."bookId");
        END IF;
    END LOOP;
    -- The import has moved the status because of an earlier reading.
    UPDATE books b
    SET status = 'READING',
        updated_at = now()
    WHERE b.user_id = owner
        AND b.id = ANY(ARRAY(SELECT DISTINCT (g ->> 'bookId')::uuid FROM jsonb_array_elements(given) g))
        AND b.status IN ('READ', 'DID_NOT_FINISH')
        AND EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.book_id = b.id AND r.outcome = 'READING');
    PERFORM refresh_read_books(owner, changed, false);
    RETURN changed;
END
$$;

-- Name: import_records(uuid, integer, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_records(import uuid, start integer, records jsonb) RETURNS integer
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_indexonlyscan TO 'off'
    AS $$
DECLARE
    owner uuid := app_user_id();
    entry jsonb;
    book jsonb;
    result record;
    problem text;
    created_count int := 0;
    reached int;
    known jsonb;
    shelf uuid;
    waiting jsonb := '[]';
    -- The ids, ISBNs, editions, and titles of the waiting books.
    waiting_keys text[] := '{}';
    keys text[];
    lines jsonb := '{}';
    failed uuid[] := '{}';
    updated_ids uuid[] := '{}';
    placed_ids uuid[] := '{}';
    placed_on uuid[] := '{}';
    reviews_of uuid[] := '{}';
    reviewed jsonb[] := '{}';
    -- The books with reads, and their records.
    read_ids uuid[] := '{}';
    read_records jsonb[] := '{}';
    reads jsonb;
    progress jsonb := '[]';
    notes jsonb := '[]';
    documents jsonb := '[]';
    positions jsonb := '[]';
    -- The books of the library by the ids that they have in the file, if the ids differ.
    ids_of_file jsonb := '{}';
    file_format import_format;
    -- The books that got something new from a read.
    read_changes uuid[] := '{}';
    -- The existing books that the import has added something to.
    touched_ids uuid[] := '{}';
    created_ids uuid[] := '{}';
BEGIN
    SELECT i.done, i.format INTO reached, file_format
    FROM imports i
    WHERE i.user_id = owner AND i.id = import AND i.state = 'RUNNING'
    FOR UPDATE;
    IF reached IS DISTINCT FROM start THEN
        RETURN reached;
    END IF;
    FOR entry IN SELECT * FROM jsonb_array_elements(records || '[{}]') LOOP
        problem := NULL;
        book := entry -> 'book';
        keys := ARRAY[book ->> 'id', book ->> 'isbn13', book ->> 'cardId', lower(book ->> 'title')];
        LOOP
            -- The empty entry after the last record stores the rest.
            IF entry = '{}' OR keys && waiting_keys THEN
                failed := failed || store_imported_books(waiting);
                waiting := '[]';
                waiting_keys := '{}';
                known := NULL;
            END IF;
            EXIT WHEN book IS NULL;
            IF known IS NULL THEN
                known := (
                    SELECT coalesce(jsonb_object_agg(t.title, t.ids), '{}')
                    FROM (
                        SELECT lower(b.title) AS title, jsonb_agg(b.id) AS ids
                        FROM books b
                        WHERE b.user_id = owner
                            AND lower(b.title) IN (
                                SELECT lower(r -> 'book' ->> 'title')
                                FROM jsonb_array_elements(records) r
                            )
                        GROUP BY 1
                    ) t
                );
            END IF;
            SELECT * INTO result FROM import_book(book, known);
            EXIT WHEN result.outcome <> 'CREATED';
            keys := keys || result.card_id::text;
            -- If a waiting book has the same edition under another ISBN or id, the waiting books are stored first.
            EXIT WHEN NOT keys && waiting_keys;
        END LOOP;
        IF book IS NOT NULL THEN
            problem := result.problem;
            IF file_format = 'BOOKPLATE' AND result.outcome <> 'FAILED' AND result.book_id::text <> book ->> 'id' THEN
                ids_of_file := ids_of_file || jsonb_build_object(book ->> 'id', result.book_id);
            END IF;
            IF result.outcome <> 'FAILED' AND book -> 'reads' <> '[]' THEN
                read_ids := read_ids || result.book_id;
                read_records := read_records || book;
            END IF;
            IF result.outcome = 'CREATED' THEN
                waiting := waiting || (book || jsonb_build_object('editionId', result.card_id));
                waiting_keys := waiting_keys || array_remove(keys, NULL);
                lines := lines || jsonb_build_object(book ->> 'id', entry -> 'line');
                created_count := created_count + 1;
            ELSIF result.outcome = 'UPDATED' THEN
                updated_ids := updated_ids || result.book_id;
            END IF;
            FOREACH shelf IN ARRAY result.shelf_ids LOOP
                IF result.outcome = 'CREATED' OR NOT EXISTS (
                    SELECT
                    FROM shelf_books f
                    WHERE f.user_id = owner AND f.shelf_id = shelf AND f.book_id = result.book_id
                ) THEN
                    placed_ids := placed_ids || result.book_id;
                    placed_on := placed_on || shelf;
                    IF result.outcome = 'SAME' THEN
                        result.outcome := 'UPDATED';
                    END IF;
                END IF;
            END LOOP;
            IF result.outcome <> 'FAILED' AND book ?| '{halfStars, review}' AND result.book_id <> ALL(reviews_of)
                AND (
                    result.outcome = 'CREATED'
                    OR NOT EXISTS (SELECT FROM reviews v WHERE v.user_id = owner AND v.book_id = result.book_id)
                )
            THEN
                reviews_of := reviews_of || result.book_id;
                reviewed := reviewed || book;
                IF result.outcome = 'SAME' THEN
                    result.outcome := 'UPDATED';
                END IF;
            END IF;
            IF result.outcome = 'UPDATED' THEN
                touched_ids := touched_ids || result.book_id;
            END IF;
            IF result.outcome = 'CREATED' THEN
                created_ids := created_ids || result.book_id;
            END IF;
        ELSIF entry ? 'shelf' THEN
            PERFORM import_shelf(
                (entry -> 'shelf' ->> 'id')::uuid,
                entry -> 'shelf' ->> 'name',
                (entry -> 'shelf' ->> 'createdAt')::timestamptz
            );
        ELSIF entry ? 'profile' THEN
            -- The account keeps what it has.
            UPDATE users u
            SET display_name = coalesce(u.display_name, given_profile.display_name),
                preferred_genres = CASE WHEN u.preferred_genres = '{}' THEN given_profile.genres ELSE u.preferred_genres END,
                time_zone = CASE WHEN u.time_zone = 'UTC' THEN given_profile.time_zone ELSE u.time_zone END,
                updated_at = now()
            FROM (
                SELECT
                    entry -> 'profile' ->> 'displayName' AS display_name,
                    ARRAY(
                        SELECT g.name
                        FROM jsonb_array_elements_text(entry -> 'profile' -> 'preferredGenres') WITH ORDINALITY AS p (name, position)
                        JOIN genres g ON g.name = p.name
                        ORDER BY p.position
                    ) AS genres,
                    coalesce(zone_to_store(entry -> 'profile' ->> 'timeZone'), 'UTC') AS time_zone
            ) given_profile
            WHERE u.id = owner
                AND (
                    (u.display_name IS NULL AND given_profile.display_name IS NOT NULL)
                    OR (u.preferred_genres = '{}' AND given_profile.genres <> '{}')
                    OR (u.time_zone = 'UTC' AND given_profile.time_zone <> 'UTC')
                );
            PERFORM import_goals(entry -> 'profile' -> 'readingGoals');
        ELSIF entry ? 'progress' THEN
            progress := progress || (entry -> 'progress');
            lines := lines || jsonb_build_object(entry -> 'progress' ->> 'id', entry -> 'line');
        ELSIF entry ? 'note' THEN
            notes := notes || (entry -> 'note');
            lines := lines || jsonb_build_object(entry -> 'note' ->> 'id', entry -> 'line');
        ELSIF entry ? 'document' THEN
            documents := documents || (entry -> 'document');
        ELSIF entry ? 'position' THEN
            positions := positions || (entry -> 'position');
        ELSIF entry ? 'swipe' THEN
            INSERT INTO swipes (user_id, edition_id, action, store, swiped_at)
            SELECT
                owner,
                e.id,
                (entry -> 'swipe' ->> 'action')::swipe_action,
                entry -> 'swipe' ->> 'store',
                (entry -> 'swipe' ->> 'swipedAt')::timestamptz
            FROM editions e
            WHERE e.id = (entry -> 'swipe' ->> 'cardId')::uuid
            ON CONFLICT DO NOTHING;
        END IF;
        IF problem IS NOT NULL OR entry ? 'problems' THEN
            INSERT INTO import_failures (user_id, import_id, line, position, field, message)
            SELECT owner, import, (entry ->> 'line')::int, p.position, p.problem ->> 'field', p.problem ->> 'message'
            FROM jsonb_array_elements(
                coalesce(entry -> 'problems', '[]')
                    || CASE WHEN problem IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object('message', problem)) END
            ) WITH ORDINALITY AS p (problem, position)
            ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;

    -- The records may have completed the ISBN or the author of books without an edition.
    IF updated_ids <> '{}' THEN
        PERFORM link_books(array_fill(owner, ARRAY[cardinality(updated_ids)]), updated_ids);
    END IF;
    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
    SELECT owner, p.shelf_id, b.id, b.added_at
    FROM unnest(placed_on, placed_ids) AS p (shelf_id, book_id)
    JOIN books b ON b.user_id = owner AND b.id = p.book_id
    ON CONFLICT DO NOTHING;
    -- A review keeps its id unless another review has it. The trigger would compare each review with all earlier entries of the
    -- transaction.
    PERFORM set_config('app.bulk', 'on', true);
    INSERT INTO reviews (user_id, book_id, id, half_stars, text, has_spoilers, is_visible, created_at, updated_at)
    SELECT
        owner,
        r.book_id,
        CASE
            WHEN r.position > 1 OR r.id IS NULL OR EXISTS (SELECT FROM reviews v WHERE v.user_id = owner AND v.id = r.id)
                THEN gen_random_uuid()
            ELSE r.id
        END,
        r.half_stars,
        r.text,
        r.has_spoilers,
        r.is_visible,
        coalesce(r.created_at, now()),
        coalesce(r.updated_at, r.created_at, now())
    FROM (
        SELECT
            b.id AS book_id,
            (w ->> 'reviewId')::uuid AS id,
            (w ->> 'halfStars')::int AS half_stars,
            w ->> 'review' AS text,
            coalesce((w ->> 'hasSpoilers')::boolean, false) AS has_spoilers,
            b.status = 'READ' AS is_visible,
            coalesce((w ->> 'reviewedAt')::timestamptz, (w ->> 'finishedAt')::timestamptz) AS created_at,
            (w ->> 'reviewUpdatedAt')::timestamptz AS updated_at,
            row_number() OVER (PARTITION BY w ->> 'reviewId') AS position
        FROM unnest(reviews_of, reviewed) AS listed (book_id, w)
        JOIN books b ON b.user_id = owner AND b.id = listed.book_id
    ) r
    ON CONFLICT DO NOTHING;
    PERFORM set_config('app.bulk', '', true);
    IF reviews_of <> '{}' THEN
        PERFORM log_imported_reviews(reviews_of);
    END IF;
    -- import_reads matches each read of the library with at most one of the call, so records of the same book are in calls of
    -- their own.
    FOR reads IN
        SELECT jsonb_agg(r.read || jsonb_build_object('bookId', r.book_id) ORDER BY r.record, r.number)
        FROM (
            SELECT
                listed.book_id,
                listed.record,
                n.number,
                n.read,
                dense_rank() OVER (PARTITION BY listed.book_id ORDER BY listed.record) AS turn
            FROM unnest(read_ids, read_records) WITH ORDINALITY AS listed (book_id, book, record)
            CROSS JOIN LATERAL jsonb_array_elements(listed.book -> 'reads') WITH ORDINALITY AS n (read, number)
            WHERE listed.book_id <> ALL(failed)
        ) r
        GROUP BY r.turn
        ORDER BY r.turn
    LOOP
        read_changes := read_changes || import_reads(reads);
    END LOOP;
    IF progress <> '[]' THEN
        INSERT INTO import_failures (user_id, import_id, line, message)
        SELECT owner, import, (lines ->> id::text)::int, 'The read of this entry does not exist or is full. The entry was left out.'
        FROM unnest(import_progress(progress)) AS id
        ON CONFLICT DO NOTHING;
    END IF;
    UPDATE imports i
    SET book_ids = i.book_ids || ids_of_file
    WHERE i.user_id = owner AND i.id = import AND ids_of_file <> '{}';
    IF notes <> '[]' THEN
        INSERT INTO import_failures (user_id, import_id, line, message)
        SELECT owner, import, (lines ->> id::text)::int, 'The book of this note does not exist or is full. The note was left out.'
        FROM unnest(import_notes(of_library_books(import, notes))) AS id
        ON CONFLICT DO NOTHING;
    END IF;
    IF documents <> '[]' THEN
        PERFORM import_documents(of_library_books(import, documents));
    END IF;
    IF positions <> '[]' THEN
        PERFORM import_positions(of_library_books(import, positions));
    END IF;
    INSERT INTO import_failures (user_id, import_id, line, message)
    SELECT owner, import, (lines ->> id::text)::int, 'This book cannot be stored.'
    FROM unnest(failed) AS id
    ON CONFLICT DO NOTHING;
    UPDATE imports i
    SET done = i.done + jsonb_array_length(records),
        created = i.created + created_count - cardinality(failed),
        updated = i.updated + (
            SELECT count(DISTINCT t.id)
            FROM unnest(touched_ids || read_changes) AS t (id)
            WHERE t.id <> ALL(created_ids)
        ),
        updated_at = now()
    WHERE i.user_id = owner AND i.id = import
    RETURNING i.done INTO reached;
    RETURN reached;
END
$$;

-- Name: import_shelf(uuid, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.import_shelf(shelf_id uuid, shelf_name text, shelf_created_at timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    owner uuid := app_user_id();
    found_id uuid;
BEGIN
    SELECT s.id INTO found_id
    FROM shelves s
    WHERE s.user_id = owner AND lower(s.name) = lower(shelf_name);
    IF FOUND THEN
        RETURN found_id;
    END IF;
    INSERT INTO shelves (user_id, id, name, position, created_at)
    SELECT
        owner,
        CASE
            WHEN EXISTS (
                SELECT
                FROM shelves s
                WHERE s.user_id = owner AND s.id = shelf_id
            ) OR EXISTS (
                SELECT
                FROM deleted_books d
                WHERE d.user_id = owner AND d.id = shelf_id
            ) THEN gen_random_uuid()
            ELSE coalesce(shelf_id, gen_random_uuid())
        END,
        shelf_name,
        coalesce(max(position) + 1, 0),
        coalesce(shelf_created_at, now())
    FROM shelves
    WHERE user_id = owner
    HAVING count(*) < 500
    RETURNING id INTO found_id;
    RETURN found_id;
END
$$;

-- Name: inactive_guests(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.inactive_guests(days integer, users_max integer, OUT examined integer, OUT guests uuid[]) RETURNS record
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH due AS MATERIALIZED (
        SELECT u.id, now() - greatest(1, days) * interval '1 day' AS cutoff
        FROM users u
        WHERE u.is_guest AND u.guest_seen_at < now() - greatest(1, days) * interval '1 day'
        ORDER BY u.guest_seen_at
        LIMIT users_max
        FOR NO KEY UPDATE SKIP LOCKED
    ), seen AS MATERIALIZED (
        SELECT
            d.id,
            d.cutoff,
            guest_last_active(d.id) AS active_at
        FROM due d
    ), postponed AS (
        UPDATE users u
        SET guest_seen_at = s.active_at
        FROM seen s
        WHERE u.id = s.id AND s.active_at >= s.cutoff
    )
    SELECT count(*)::int, coalesce(array_agg(s.id ORDER BY s.id) FILTER (WHERE s.active_at < s.cutoff), '{}')
    FROM seen s
$$;

-- Name: index_changed_editions(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.index_changed_editions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ids uuid[];
    -- The editions whose work may be another one, and the keys that they had.
    moved uuid[];
    old_keys bigint[];
    new_keys bigint[];
BEGIN
    IF current_setting('app.bulk', true) IS DISTINCT FROM 'on' THEN
        INSERT INTO search_words (word, editions, forms)
        SELECT word, count(*), search_forms(word)
        FROM new_rows n
        JOIN old_rows o USING (id)
        CROSS JOIN unnest(tsvector_to_array(n.search_vector)) AS word
        WHERE n.search_vector IS DISTINCT FROM o.search_vector AND length(word) BETWEEN 2 AND 40
        GROUP BY word
        ORDER BY word
        ON CONFLICT DO NOTHING;
        ids := ARRAY(
            SELECT n.id
            FROM new_rows n
            JOIN old_rows o USING (id)
            WHERE (n.genres, n.popularity, n.language, n.hook IS NULL)
                IS DISTINCT FROM (o.genres, o.popularity, o.language, o.hook IS NULL)
        );
        IF ids <> '{}' THEN
            PERFORM list_genres_of_editions(ids);
        END IF;
    END IF;
    WITH changed AS MATERIALIZED (
        SELECT
            n.id,
            (n.title, n.subtitle, n.authors, n.series, n.series_position)
                IS DISTINCT FROM (o.title, o.subtitle, o.authors, o.series, o.series_position) AS is_renamed,
            CASE WHEN n.isbn13 IS DISTINCT FROM o.isbn13 THEN n.isbn13 END AS new_isbn,
            o.title AS old_title,
            n.title,
            o.authors AS old_authors,
            n.authors
        FROM new_rows n
        JOIN old_rows o USING (id)
        WHERE (
                n.title, n.subtitle, n.authors, n.series, n.series_position, n.isbn13, n.hook IS NULL, n.genres, n.language,
                n.ratings_count
            ) IS DISTINCT FROM (
                o.title, o.subtitle, o.authors, o.series, o.series_position, o.isbn13, o.hook IS NULL, o.genres, o.language,
                o.ratings_count
            )
    )
    SELECT
        -- The other columns decide about the order of a work's records.
        coalesce(array_agg(id) FILTER (WHERE is_renamed OR EXISTS (SELECT FROM work_records w WHERE w.edition_id = id)), '{}'),
        array_agg(work_key(old_title, old_authors)) FILTER (WHERE is_renamed),
        coalesce(array_agg(work_key(title, authors)) FILTER (WHERE is_renamed), '{}')
            || coalesce(array_agg(isbn_key(new_isbn)) FILTER (WHERE new_isbn IS NOT NULL), '{}')
    INTO moved, old_keys, new_keys
    FROM changed;
    PERFORM match_works(moved, old_keys);
    PERFORM enqueue_links(new_keys);
    RETURN NULL;
END
$$;

-- Name: index_deleted_editions(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.index_deleted_editions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    keys bigint[] := ARRAY(SELECT work_key(title, authors) FROM old_rows);
BEGIN
    INSERT INTO removed_editions (id, survivor_id)
    SELECT DISTINCT ON (o.id) o.id, r.edition_id
    FROM old_rows o
    JOIN work_records w ON w.edition_id = o.id
    JOIN work_records r USING (founder_id)
    JOIN editions e ON e.id = r.edition_id
    ORDER BY o.id, r.rank
    ON CONFLICT (id) DO UPDATE
    SET survivor_id = excluded.survivor_id;
    UPDATE removed_editions r
    SET survivor_id = next.survivor_id
    FROM old_rows o
    JOIN removed_editions next ON next.id = o.id
    WHERE r.survivor_id = o.id;
    DELETE FROM removed_editions r
    USING old_rows o
    WHERE r.survivor_id = o.id;
    PERFORM match_works(ARRAY(SELECT id FROM old_rows), keys);
    -- Books of a removed edition may have another record of the work.
    PERFORM enqueue_links(keys);
    RETURN NULL;
END
$$;

-- Name: index_new_editions(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.index_new_editions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF current_setting('app.bulk', true) IS DISTINCT FROM 'on' THEN
        INSERT INTO search_words (word, editions, forms)
        SELECT word, count(*), search_forms(word)
        FROM new_rows, unnest(tsvector_to_array(search_vector)) AS word
        WHERE length(word) BETWEEN 2 AND 40
        GROUP BY word
        ORDER BY word
        ON CONFLICT DO NOTHING;
        PERFORM list_genres_of_editions(ARRAY(SELECT id FROM new_rows));
    END IF;
    PERFORM match_works(ARRAY(SELECT id FROM new_rows));
    PERFORM enqueue_links(
        ARRAY(SELECT work_key(title, authors) FROM new_rows)
            || ARRAY(SELECT isbn_key(isbn13) FROM new_rows WHERE isbn13 IS NOT NULL)
    );
    RETURN NULL;
END
$$;

-- Name: insert_stored_rows(regclass, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.insert_stored_rows(target regclass, stored jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $_$
DECLARE
    columns text;
BEGIN
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns
    FROM pg_attribute a
    WHERE a.attrelid = target
        AND a.attnum > 0
        AND NOT a.attisdropped
        AND a.attgenerated = ''
        AND stored -> 0 ? a.attname;
    EXECUTE format(
        'INSERT INTO %1$s (%2$s) SELECT %2$s FROM jsonb_populate_recordset(NULL::%1$s, $1) ON CONFLICT DO NOTHING',
        target, columns
    )
    USING stored;
END
$_$;

-- Name: is_chosen_cover(public.cover_source); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_chosen_cover(source public.cover_source) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT source IN ('MANUAL_UPLOAD', 'URL')
$$;

-- Name: is_from_apple(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_from_apple(subject text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT strpos(subject, U&'\001F') = 0
$$;

-- Name: is_in_order(text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_in_order(started text, finished text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT coalesce(
        left(finished, least(length(started), length(finished))) COLLATE "C"
            >= left(started, least(length(started), length(finished))) COLLATE "C",
        true
    )
$$;

-- Name: is_listened(public.read_format, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_listened(format public.read_format, length_seconds integer) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT coalesce(format = 'AUDIO', length_seconds IS NOT NULL)
$$;

-- Name: is_oauth_client_used(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_oauth_client_used(client uuid) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT EXISTS (SELECT FROM oauth_grants g WHERE g.client_id = client)
        OR EXISTS (SELECT FROM oauth_requests r WHERE r.client_id = client AND r.is_allowed AND r.expires_at > now())
$$;

-- Name: is_other_object(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_other_object(owner uuid, given uuid) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT owner = given
        OR EXISTS (SELECT FROM editions WHERE id = given)
        OR EXISTS (SELECT FROM books WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM deleted_books WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM shelves WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM reviews WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM notes WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM imports WHERE user_id = owner AND id = given)
        OR EXISTS (SELECT FROM reading_goals WHERE user_id = owner AND id = given)
$$;

-- Name: is_series_of_edition(uuid, text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_series_of_edition(edition uuid, series text, series_position text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN series IS NOT NULL AND EXISTS (
        SELECT
        FROM editions e
        WHERE e.id = edition
            AND e.series_id = series_id(is_series_of_edition.series)
            AND e.series_position IS NOT DISTINCT FROM is_series_of_edition.series_position
    );
END
$$;

-- Name: is_stored_version(uuid, uuid, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_stored_version(user_id uuid, book_id uuid, version text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT EXISTS (
        SELECT
        FROM stored_covers c
        WHERE c.user_id = is_stored_version.user_id
            AND c.book_id = is_stored_version.book_id
            AND c.version = is_stored_version.version
    )
$$;

-- Name: is_webhook_queue_full(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.is_webhook_queue_full(webhook uuid, owner uuid) RETURNS boolean
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

-- Name: isbn_key(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.isbn_key(isbn13 text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT hashtextextended('isbn ' || isbn13, 0)
$$;

-- Name: keep_as_notes(uuid, uuid, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.keep_as_notes(owner uuid, book uuid, kept text) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO notes (user_id, id, book_id, comment)
    SELECT owner, gen_random_uuid(), book, substr(kept, 10000 * part + 1, 10000)
    FROM generate_series(0, (char_length(kept) - 1) / 10000) part
$$;

-- Name: known_zone(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.known_zone(stored text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    ignored timestamp;
BEGIN
    IF stored = 'UTC' THEN
        RETURN stored;
    END IF;
    BEGIN
        ignored := timestamptz 'epoch' AT TIME ZONE stored;
        RETURN stored;
    EXCEPTION WHEN invalid_parameter_value THEN
        NULL;
    END;
    BEGIN
        ignored := timestamptz 'epoch' AT TIME ZONE current_zone_name(stored);
        RETURN current_zone_name(stored);
    EXCEPTION WHEN invalid_parameter_value THEN
        RETURN 'UTC';
    END;
END
$$;

-- Name: last_committed_change(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.last_committed_change(owner uuid) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
    SELECT coalesce(
        (
            SELECT c.seq
            FROM changes c
            WHERE c.user_id = owner
                -- A visible row of a transaction in progress belongs to the current one or to a part of it that has its own id,
                -- such as a block with EXCEPTION. xmin is the lower half of the id.
                AND NOT (
                    c.at >= now()
                    AND pg_xact_status(
                        ((pg_current_xact_id()::text::bigint >> 32 << 32) + c.xmin::text::bigint)::text::xid8
                    ) = 'in progress'
                )
            ORDER BY c.seq DESC
            LIMIT 1
        ),
        0
    )
$$;

-- Name: library_positions(uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.library_positions(users uuid[]) RETURNS TABLE(user_id uuid, "position" bigint, place bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT given.id, total.position, total.position
    FROM unnest(users) AS given (id)
    CROSS JOIN LATERAL (
        SELECT
            coalesce((SELECT max(c.seq) FROM changes c WHERE c.user_id = given.id), 0)
                + coalesce((SELECT max(e.id) FROM events e WHERE e.user_id = given.id), 0)
                + coalesce(
                    (
                        SELECT (extract(epoch FROM max(i.updated_at)) * 1000000)::bigint
                        FROM imports i
                        WHERE i.user_id = given.id
                    ),
                    0
                ) AS position
    ) total
$$;

-- Name: limit_guest_books(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.limit_guest_books(owner uuid, new_book uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    books_max int;
BEGIN
    SELECT t.guest_books_max INTO books_max
    FROM public.users u
    JOIN public.tenants t ON t.id = u.tenant_id
    WHERE u.id = owner AND u.is_guest;
    IF FOUND
        AND (SELECT count(*) FROM public.books b WHERE b.user_id = owner) >= books_max
        AND NOT EXISTS (SELECT FROM public.books b WHERE b.user_id = owner AND b.id = new_book)
    THEN
        RAISE EXCEPTION 'A guest can have at most % books. Sign in to add more.', books_max USING ERRCODE = 'BP413';
    END IF;
END
$$;

-- Name: link_books(uuid[], uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.link_books(readers uuid[], ids uuid[]) RETURNS SETOF uuid
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT
            b.user_id, b.id, b.edition_id, b.linked_by, b.isbn13, b.title, author_text(b.authors, b.author_roles) AS author
        FROM unnest(readers, ids) AS given (user_id, id)
        CROSS JOIN LATERAL (
            SELECT *
            FROM books b
            WHERE b.user_id = given.user_id AND b.id = given.id
            OFFSET 0
        ) b
        WHERE b.edition_id IS NULL OR b.linked_by IN ('ISBN', 'TITLE')
    ), matched AS (
        SELECT m.*
        FROM (
            SELECT
                array_agg(user_id) AS readers,
                array_agg(id) AS ids,
                array_agg(isbn13) AS isbns,
                array_agg(title) AS titles,
                array_agg(author) AS authors
            FROM found
        ) f
        CROSS JOIN LATERAL match_books(f.readers, f.ids, f.isbns, f.titles, f.authors, NULL) m
    ), changed AS (
        UPDATE books b
        SET edition_id = m.edition_id, linked_by = coalesce(m.linked_by, 'CARD')
        FROM found f
        LEFT JOIN matched m ON m.reader = f.user_id AND m.book_id = f.id
        WHERE b.user_id = f.user_id AND b.id = f.id AND m.edition_id IS DISTINCT FROM f.edition_id
        RETURNING b.user_id
    )
    SELECT DISTINCT user_id
    FROM changed;
END
$$;

-- Name: link_document(uuid, uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.link_document(owner uuid, document uuid, book uuid) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    kept ereader_documents;
    result text;
BEGIN
    SELECT d.* INTO kept
    FROM ereader_documents d
    WHERE d.user_id = owner AND d.id = document;
    IF NOT FOUND THEN
        RETURN 'DOCUMENT';
    END IF;
    PERFORM
    FROM books b
    WHERE b.user_id = owner AND b.id = book;
    IF NOT FOUND THEN
        RETURN 'BOOK';
    END IF;
    IF kept.book_id IS NOT DISTINCT FROM book THEN
        RETURN 'DONE';
    END IF;
    IF NOT EXISTS (
        SELECT
        FROM ereader_positions p
        WHERE p.user_id = owner AND p.book_id = book AND p.modified_at >= kept.synced_at
    ) THEN
        result := store_position(
            owner, book, kept.fraction, kept.synced_at, device_uri(kept.device_id, kept.device_name), kept.device_name, NULL,
            NULL, false
        );
        IF result <> 'DONE' THEN
            RETURN result;
        END IF;
    END IF;
    UPDATE ereader_documents d
    SET book_id = book
    WHERE d.user_id = owner AND d.id = document;
    RETURN 'DONE';
END
$$;

-- Name: link_identity(bytea, timestamp with time zone, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.link_identity(token_hash bytea, token_expires_at timestamp with time zone, identities_max integer, OUT is_upgrade boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    owner uuid := app_user_id();
    present uuid := user_of_identity();
BEGIN
    is_upgrade := false;
    IF present = owner THEN
        RETURN;
    ELSIF present IS NOT NULL THEN
        RAISE EXCEPTION 'This identity belongs to another account. Sign in with it to use that account.'
            USING ERRCODE = 'BP409';
    ELSIF is_from_apple(app_subject()) AND EXISTS (
        SELECT FROM identities i WHERE i.user_id = owner AND is_from_apple(i.subject)
    ) THEN
        -- An account has one grant of Apple for each app.
        RAISE EXCEPTION 'The account has an identity of Apple already. Unlink it first.' USING ERRCODE = 'BP409';
    ELSIF (SELECT count(*) FROM identities i WHERE i.user_id = owner) >= identities_max THEN
        RAISE EXCEPTION 'An account can have at most % identities.', identities_max USING ERRCODE = 'BP409';
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

-- Name: link_waiting_books(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.link_waiting_books(count integer, OUT looked_at integer, OUT changed_readers uuid[]) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    readers uuid[];
    ids uuid[];
BEGIN
    SELECT coalesce(array_agg(w.user_id), '{}'), coalesce(array_agg(w.book_id), '{}')
    INTO readers, ids
    FROM (
        SELECT user_id, book_id
        FROM books_to_link
        ORDER BY user_id, book_id
        LIMIT count
    ) w;
    -- In one order, and before any row is locked, so that two transactions do not wait for each other.
    PERFORM lock_user(r.reader)
    FROM (SELECT DISTINCT reader FROM unnest(readers) AS reader ORDER BY reader) r;
    DELETE FROM books_to_link w
    USING unnest(readers, ids) AS taken (user_id, book_id)
    WHERE w.user_id = taken.user_id AND w.book_id = taken.book_id;
    looked_at := cardinality(ids);
    changed_readers := ARRAY(SELECT link_books(readers, ids));
    UPDATE users
    SET signals_version = signals_version + 1
    WHERE id = ANY(changed_readers);
    -- The kind and the 3 attempts repeat those of the Swift type PrepareDeck.
    INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
    SELECT reader, 'feed.deck', '{}', 'deck', now() + interval '5 seconds', 10, 3
    FROM unnest(changed_readers) AS reader
    -- Others get a deck when they return: an import of readers does not build one for each.
    WHERE EXISTS (SELECT FROM sessions s WHERE s.user_id = reader AND s.rotated_at > now() - interval '30 days')
    -- A fixed order prevents deadlocks with `finish_learning`.
    ORDER BY reader
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET run_at = least(j.run_at, excluded.run_at), again = (j.state = 'RUNNING');
END
$$;

-- Name: list_genres_of_editions(uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.list_genres_of_editions(ids uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
BEGIN
    WITH genre_lists AS MATERIALIZED (
        -- Many editions have the same list.
        SELECT genres, genre_ids(genres) AS ids
        FROM (
            SELECT DISTINCT genres
            FROM editions
            WHERE list_genres_of_editions.ids IS NULL OR id = ANY(list_genres_of_editions.ids)
        ) lists
    ), current_rows AS MATERIALIZED (
        SELECT
            g.genre_id,
            genre_position(
                feed_tier(e.language, (SELECT main_language FROM feed_state), e.hook, l.ids <> '{}'),
                e.popularity,
                e.number
            ) AS position,
            e.id AS edition_id,
            g.ordinal
        FROM editions e
        JOIN genre_lists l ON l.genres = e.genres
        CROSS JOIN LATERAL unnest(
            CASE WHEN l.ids = '{}' THEN ARRAY[0]::smallint[] ELSE l.ids END
        ) WITH ORDINALITY AS g (genre_id, ordinal)
        WHERE list_genres_of_editions.ids IS NULL OR e.id = ANY(list_genres_of_editions.ids)
    ), deleted AS (
        DELETE FROM edition_genres f
        WHERE (list_genres_of_editions.ids IS NULL OR f.edition_id = ANY(list_genres_of_editions.ids))
            AND NOT EXISTS (
                SELECT
                FROM current_rows c
                WHERE c.genre_id = f.genre_id AND c.position = f.position
            )
    )
    -- A position contains the edition's number, so a conflict is with a row of the same edition.
    INSERT INTO edition_genres (genre_id, position, edition_id, ordinal)
    SELECT c.genre_id, c.position, c.edition_id, c.ordinal
    FROM current_rows c
    WHERE NOT EXISTS (
        SELECT
        FROM edition_genres f
        WHERE f.genre_id = c.genre_id AND f.position = c.position AND f.ordinal = c.ordinal
    )
    ORDER BY c.genre_id, c.position
    ON CONFLICT (genre_id, position) DO UPDATE
    SET ordinal = excluded.ordinal;
END
$$;

-- Name: lock_catalog(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.lock_catalog() RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_advisory_xact_lock(20261122)
$$;

-- Name: lock_identity(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.lock_identity() RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_advisory_xact_lock(hashtextextended(app_tenant_id() || app_subject(), 1))
$$;

-- Name: lock_user(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.lock_user(user_id uuid) RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_advisory_xact_lock(hashtextextended(user_id::text, 0))
$$;

-- Name: lock_webhook_queue(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.lock_webhook_queue(owner uuid) RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('webhook ' || owner, 0))
$$;

-- Name: log_added_progress(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_added_progress() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
    times timestamptz[];
BEGIN
    FOR owner, ids, times IN
        SELECT n.user_id, array_agg(n.id), array_agg(n.at)
        FROM new_rows n
        GROUP BY n.user_id
        ORDER BY n.user_id
    LOOP
        ignored := append_changes(owner, 'CREATED', 'ProgressEntry', ids);
        ignored := count_reading_days(owner, times, true);
    END LOOP;
    RETURN NULL;
END
$$;

-- Name: log_book(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_book() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
    review uuid;
BEGIN
    IF current_setting('app.bulk', true) = 'on' THEN
        ignored := set_config('app.writes_unlogged_books', 'on', true);
        RETURN NULL;
    END IF;
    -- Comparing the records takes longer than the rest, and the time usually decides.
    IF NEW.updated_at = OLD.updated_at THEN
        IF NEW IS NOT DISTINCT FROM OLD THEN
            ignored := set_config('app.writes_unlogged_books', 'on', true);
            RETURN NULL;
        END IF;
    END IF;
    ignored := append_change(NEW.user_id, 'UPDATED', 'Book', NEW.id, OLD.xmin);
    IF NEW.status = OLD.status AND NEW.cover_status = OLD.cover_status THEN
        RETURN NULL;
    END IF;
    IF (NEW.status = 'READ') <> (OLD.status = 'READ') THEN
        -- Most books have no review, and a query takes less than an update.
        SELECT r.id INTO review
        FROM reviews r
        WHERE r.user_id = NEW.user_id AND r.book_id = NEW.id;
        IF FOUND THEN
            UPDATE reviews r
            SET is_visible = NEW.status = 'READ'
            WHERE r.user_id = NEW.user_id AND r.id = review;
            IF NEW.status = 'READ' THEN
                ignored := append_change(NEW.user_id, 'CREATED', 'Review', review);
            ELSE
                ignored := append_change(NEW.user_id, 'DELETED', 'Review', review);
            END IF;
        END IF;
    END IF;
    IF NEW.cover_status <> OLD.cover_status AND NEW.cover_status NOT IN ('READY', 'FETCHING') THEN
        INSERT INTO events (user_id, kind, payload)
        VALUES (
            NEW.user_id,
            'cover_changed',
            jsonb_build_object('book_id', NEW.id, 'status', NEW.cover_status)
        );
    END IF;
    RETURN NULL;
END
$$;

-- Name: log_changed_progress(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_changed_progress() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
    old_times timestamptz[];
    new_times timestamptz[];
BEGIN
    FOR owner, ids, old_times, new_times IN
        SELECT n.user_id, array_agg(n.id), array_agg(o.at), array_agg(n.at)
        FROM new_rows n
        JOIN old_rows o ON o.user_id = n.user_id AND o.id = n.id
        WHERE n IS DISTINCT FROM o
        GROUP BY n.user_id
        ORDER BY n.user_id
    LOOP
        ignored := append_changes(owner, 'UPDATED', 'ProgressEntry', ids);
        IF old_times <> new_times THEN
            ignored := count_reading_days(owner, old_times, false);
            ignored := count_reading_days(owner, new_times, true);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Name: log_created_book(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_created_book() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
BEGIN
    IF current_setting('app.bulk', true) = 'on' THEN
        ignored := set_config('app.writes_unlogged_books', 'on', true);
        RETURN NULL;
    END IF;
    ignored := append_change(NEW.user_id, 'CREATED', 'Book', NEW.id);
    RETURN NULL;
END
$$;

-- Name: log_deleted_books(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_deleted_books() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
BEGIN
    FOR owner, ids IN
        SELECT o.user_id, array_agg(o.id)
        FROM old_rows o
        -- The log of a deleted account is deleted, too.
        JOIN users u ON u.id = o.user_id
        GROUP BY o.user_id
        ORDER BY o.user_id
    LOOP
        ignored := append_changes(owner, 'DELETED', 'Book', ids);
    END LOOP;
    RETURN NULL;
END
$$;

-- Name: log_deleted_progress(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_deleted_progress() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
    times timestamptz[];
BEGIN
    FOR owner, ids, times IN
        SELECT o.user_id, array_agg(o.id) FILTER (WHERE r.id IS NOT NULL), array_agg(o.at)
        FROM old_rows o
        -- The log of a deleted account is deleted, too.
        JOIN users u ON u.id = o.user_id
        LEFT JOIN reads r ON r.user_id = o.user_id AND r.id = o.read_id
        GROUP BY o.user_id
        ORDER BY o.user_id
    LOOP
        IF ids IS NOT NULL THEN
            ignored := append_changes(owner, 'DELETED', 'ProgressEntry', ids);
        ELSE
            ignored := lock_user(owner);
        END IF;
        ignored := count_reading_days(owner, times, false);
    END LOOP;
    RETURN NULL;
END
$$;

-- Name: log_imported_reviews(uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_imported_reviews(books_of_reviews uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM set_config('app.logs_unwritten_books', 'on', true);
    PERFORM append_changes(
        app_user_id(),
        'CREATED',
        'Review',
        ARRAY(
            SELECT v.id
            FROM unnest(books_of_reviews) WITH ORDINALITY AS listed (book_id, position)
            JOIN reviews v ON v.user_id = app_user_id() AND v.book_id = listed.book_id AND v.is_visible
            ORDER BY listed.position
        )
    );
    PERFORM append_changes(app_user_id(), 'UPDATED', 'Book', books_of_reviews);
END
$$;

-- Name: log_note(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_note() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        ignored := append_change(NEW.user_id, 'CREATED', 'Note', NEW.id);
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM
        FROM books b
        WHERE b.user_id = OLD.user_id AND b.id = OLD.book_id;
        IF FOUND THEN
            ignored := append_change(OLD.user_id, 'DELETED', 'Note', OLD.id);
        END IF;
    ELSIF NEW IS DISTINCT FROM OLD THEN
        ignored := append_change(NEW.user_id, 'UPDATED', 'Note', NEW.id);
    END IF;
    RETURN NULL;
END
$$;

-- Name: log_position(uuid, uuid, double precision, timestamp with time zone, text, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_position(owner uuid, book uuid, given_fraction double precision, given_at timestamp with time zone, given_device text, may_read_again boolean, OUT outcome text, OUT entry_id uuid, OUT entry_began_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    day text;
    read reads;
    newest progress_entries;
    kept ereader_positions;
BEGIN
    outcome := 'DONE';
    SELECT to_char(given_at AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD') INTO day
    FROM users u
    WHERE u.id = owner;
    SELECT r.* INTO read
    FROM reads r
    WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'READING';
    IF NOT FOUND THEN
        IF NOT starts_read(owner, book, CASE WHEN may_read_again THEN given_fraction ELSE 1 END) THEN
            RETURN;
        END IF;
        SELECT a.outcome INTO outcome
        FROM add_read(
            owner,
            book,
            jsonb_build_object('id', gen_random_uuid(), 'outcome', 'READING', 'startedOn', day, 'format', 'EBOOK')
        ) a;
        IF outcome <> 'DONE' THEN
            outcome := 'READS';
            RETURN;
        END IF;
        SELECT r.* INTO read
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = book AND r.outcome = 'READING';
    END IF;
    SELECT p.* INTO newest
    FROM progress_entries p
    WHERE p.user_id = owner AND p.read_id = read.id
    ORDER BY p.at DESC, p.id DESC
    LIMIT 1;
    SELECT p.* INTO kept
    FROM ereader_positions p
    WHERE p.user_id = owner AND p.book_id = book;
    entry_id := kept.entry_id;
    entry_began_at := kept.entry_began_at;
    IF given_at <= newest.at
        OR left(day, length(read.started_on)) COLLATE "C" < read.started_on
        OR newest.percent = 100 * given_fraction
    THEN
        RETURN;
    END IF;
    IF newest.id = kept.entry_id
        AND kept.device_id = given_device
        AND given_at < kept.entry_began_at + interval '15 minutes'
        AND num_nonnulls(newest.at_changed_at, newest.position_changed_at, newest.note) = 0
    THEN
        UPDATE progress_entries p
        SET at = given_at,
            percent = 100 * given_fraction,
            updated_at = now()
        WHERE p.user_id = owner AND p.id = newest.id;
        PERFORM refresh_read_books(owner, ARRAY[book], true);
        RETURN;
    END IF;
    entry_id := gen_random_uuid();
    entry_began_at := given_at;
    SELECT CASE WHEN l.problem IS NULL THEN 'DONE' ELSE 'ENTRIES' END INTO outcome
    FROM log_progress(
        owner,
        jsonb_build_array(
            jsonb_build_object(
                'id', entry_id, 'readId', read.id, 'at', given_at, 'percent', 100 * given_fraction
            )
        )
    ) l;
END
$$;

-- Name: log_progress(uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_progress(owner uuid, given jsonb) RETURNS TABLE(problem text, page_count integer, length_seconds integer)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH input AS MATERIALIZED (
        SELECT
            i.n,
            i.id,
            i.read_id,
            -- Entries without a time are logged now, in their order.
            coalesce(i.at, now() + (i.n - 1) * interval '1 microsecond') AS at,
            i.page,
            i.percent,
            i.seconds,
            i.note,
            r.book_id,
            b.page_count::int,
            r.length_seconds::int
        FROM ROWS FROM (
            jsonb_to_recordset(given) AS (
                id uuid, "readId" uuid, at timestamptz, page int, percent float8, seconds int, note text
            )
        ) WITH ORDINALITY AS i (id, read_id, at, page, percent, seconds, note, n)
        LEFT JOIN reads r ON r.user_id = owner AND r.id = i.read_id
        LEFT JOIN books b ON b.user_id = owner AND b.id = r.book_id
    ), checked AS MATERIALIZED (
        SELECT
            i.*,
            p.id IS NOT NULL AS is_stored,
            CASE
                WHEN p.id IS NOT NULL THEN NULL
                WHEN i.book_id IS NULL THEN 'READ'
                WHEN EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = owner AND t.id = i.id) THEN 'DELETED'
                WHEN is_other_object(owner, i.id)
                    OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = i.id)
                THEN 'TAKEN'
                WHEN i.page > i.page_count THEN 'PAGE'
                WHEN i.seconds > i.length_seconds THEN 'SECONDS'
            END AS found
        FROM input i
        LEFT JOIN progress_entries p ON p.user_id = owner AND p.id = i.id
    ), capacities AS MATERIALIZED (
        SELECT
            k.read_id,
            entries_of_read_max()
                - (SELECT count(*) FROM progress_entries p WHERE p.user_id = owner AND p.read_id = k.read_id) AS capacity
        FROM (SELECT DISTINCT c.read_id FROM checked c) k
    ), accepted AS MATERIALIZED (
        SELECT
            c.*,
            CASE
                WHEN c.found IS NULL AND NOT c.is_stored
                    AND count(*) FILTER (WHERE c.found IS NULL AND NOT c.is_stored)
                        OVER (PARTITION BY c.read_id ORDER BY c.n) > k.capacity
                THEN 'FULL'
                ELSE c.found
            END AS problem
        FROM checked c
        JOIN capacities k ON k.read_id = c.read_id
    ), stored AS (
        INSERT INTO progress_entries (user_id, id, read_id, at, page, percent, seconds, note)
        SELECT owner, a.id, a.read_id, a.at, a.page, a.percent, a.seconds, a.note
        FROM accepted a
        WHERE a.problem IS NULL AND NOT a.is_stored
        ORDER BY a.n
        -- The batch may contain an entry twice.
        ON CONFLICT DO NOTHING
    )
    SELECT a.problem, a.page_count, a.length_seconds
    FROM accepted a
    ORDER BY a.n;
    PERFORM refresh_read_books(
        owner,
        ARRAY(
            SELECT DISTINCT r.book_id
            -- Entries that were refused change nothing.
            FROM jsonb_to_recordset(given) AS i (id uuid)
            JOIN progress_entries p ON p.user_id = owner AND p.id = i.id
            JOIN reads r ON r.user_id = owner AND r.id = p.read_id
            WHERE r.outcome = 'READING'
        ),
        true
    );
END
$$;

-- Name: log_read(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_read() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
BEGIN
    IF current_setting('app.bulk', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        ignored := append_change(NEW.user_id, 'CREATED', 'Read', NEW.id);
    ELSIF TG_OP = 'DELETE' THEN
        ignored := append_change(OLD.user_id, 'DELETED', 'Read', OLD.id);
    ELSE
        -- Comparing the records takes longer than the rest, and the time usually decides.
        IF NEW.updated_at = OLD.updated_at THEN
            -- The copies of the book's facts are not part of the read.
            OLD.page_count := NEW.page_count;
            OLD.genre := NEW.genre;
            OLD.author_id := NEW.author_id;
            OLD.author := NEW.author;
            IF NEW IS NOT DISTINCT FROM OLD THEN
                RETURN NULL;
            END IF;
        END IF;
        ignored := append_change(NEW.user_id, 'UPDATED', 'Read', NEW.id);
    END IF;
    RETURN NULL;
END
$$;

-- Name: log_reading_goal(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_reading_goal() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        ignored := append_change(NEW.user_id, 'CREATED', 'ReadingGoal', NEW.id);
    ELSIF TG_OP = 'DELETE' THEN
        ignored := append_change(OLD.user_id, 'DELETED', 'ReadingGoal', OLD.id);
    ELSIF NEW IS DISTINCT FROM OLD THEN
        ignored := append_change(NEW.user_id, 'UPDATED', 'ReadingGoal', NEW.id);
    END IF;
    RETURN NULL;
END
$$;

-- Name: log_review(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_review() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
BEGIN
    IF current_setting('app.bulk', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        -- A hidden review was logged as deleted when it was hidden.
        IF OLD.is_visible THEN
            ignored := append_change(OLD.user_id, 'DELETED', 'Review', OLD.id);
        END IF;
        PERFORM
        FROM books b
        WHERE b.user_id = OLD.user_id AND b.id = OLD.book_id;
        IF FOUND THEN
            ignored := set_config('app.logs_unwritten_books', 'on', true);
            ignored := append_change(OLD.user_id, 'UPDATED', 'Book', OLD.book_id);
        END IF;
    ELSE
        IF TG_OP = 'INSERT' THEN
            -- An imported or restored review is hidden while its book is not READ.
            IF NEW.is_visible THEN
                ignored := append_change(NEW.user_id, 'CREATED', 'Review', NEW.id);
            END IF;
        ELSIF NEW.is_visible <> OLD.is_visible THEN
            -- `log_book` logs this.
            RETURN NULL;
        ELSIF NEW.is_visible THEN
            ignored := append_change(NEW.user_id, 'UPDATED', 'Review', NEW.id);
        END IF;
        ignored := set_config('app.logs_unwritten_books', 'on', true);
        ignored := append_change(NEW.user_id, 'UPDATED', 'Book', NEW.book_id);
    END IF;
    RETURN NULL;
END
$$;

-- Name: log_shelf(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_shelf() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    ignored text;
BEGIN
    IF current_setting('app.bulk', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        ignored := append_change(NEW.user_id, 'CREATED', 'Shelf', NEW.id);
    ELSIF TG_OP = 'DELETE' THEN
        ignored := append_change(OLD.user_id, 'DELETED', 'Shelf', OLD.id);
    ELSIF NEW IS DISTINCT FROM OLD THEN
        ignored := append_change(NEW.user_id, 'UPDATED', 'Shelf', NEW.id);
    END IF;
    RETURN NULL;
END
$$;

-- Name: log_shelf_books(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.log_shelf_books() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    ignored text;
    owner uuid;
    ids uuid[];
BEGIN
    ignored := set_config('app.logs_unwritten_books', 'on', true);
    -- EXECUTE plans the query each time. Otherwise a session keeps the plan of a time when the libraries were small, which reads
    -- all books of the reader for each row.
    FOR owner, ids IN EXECUTE '
        SELECT b.user_id, array_agg(b.id)
        FROM (SELECT DISTINCT m.user_id, m.book_id FROM moved_rows m) m
        JOIN books b ON b.user_id = m.user_id AND b.id = m.book_id
        GROUP BY b.user_id
        ORDER BY b.user_id'
    LOOP
        ignored := append_changes(owner, 'UPDATED', 'Book', ids);
    END LOOP;
    FOR owner, ids IN
        SELECT s.user_id, array_agg(s.id)
        FROM (SELECT DISTINCT m.user_id, m.shelf_id FROM moved_rows m) m
        JOIN shelves s ON s.user_id = m.user_id AND s.id = m.shelf_id
        GROUP BY s.user_id
        ORDER BY s.user_id
    LOOP
        ignored := append_changes(owner, 'UPDATED', 'Shelf', ids);
    END LOOP;
    RETURN NULL;
END
$$;

-- Name: mark_cover_event(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.mark_cover_event() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM webhooks) THEN
        PERFORM mark_webhook_position(NEW.user_id, NEW.id - 1);
    END IF;
    RETURN NULL;
END
$$;

-- Name: mark_events_delivered(uuid[], bigint[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.mark_events_delivered(user_ids uuid[], ids bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE events e
    SET delivered_at = clock_timestamp()
    FROM unnest(user_ids, ids) AS delivered (user_id, id)
    WHERE e.user_id = delivered.user_id
        AND e.id = delivered.id
        AND e.delivered_at IS NULL
$$;

-- Name: mark_versions_removed(uuid, uuid[], text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.mark_versions_removed(user_id uuid, book_ids uuid[], versions text[]) RETURNS TABLE(book_id uuid, version text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
    -- Waits for the user's running transactions, whose rows the query below then sees. Later ones see its result.
    PERFORM lock_user(mark_versions_removed.user_id);
    RETURN QUERY
        WITH unnamed AS MATERIALIZED (
            SELECT given.book_id, given.version
            FROM unnest(book_ids, versions) AS given (book_id, version)
            WHERE NOT EXISTS (
                SELECT
                FROM stored_covers c
                WHERE c.user_id = mark_versions_removed.user_id
                    AND c.book_id = given.book_id
                    AND c.version = given.version
            )
        ), marked AS (
            INSERT INTO removed_covers AS r (user_id, book_id, version, kept_until)
            SELECT mark_versions_removed.user_id, n.book_id, n.version, now() + interval '1 day'
            FROM unnamed n
            -- A deleted user can name no version.
            WHERE EXISTS (
                SELECT
                FROM users u
                WHERE u.id = mark_versions_removed.user_id
            )
            ON CONFLICT (user_id, book_id, version) DO NOTHING
        )
        SELECT n.book_id, n.version
        FROM unnamed n;
END
$$;

-- Name: mark_webhook_position(uuid, bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.mark_webhook_position(owner uuid, last_event bigint DEFAULT NULL::bigint) RETURNS void
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

-- Name: match_books(uuid[], uuid[], text[], text[], text[], text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.match_books(readers uuid[], ids uuid[], isbns text[], titles text[], authors text[], goodreads_ids text[]) RETURNS TABLE(reader uuid, book_id uuid, edition_id uuid, linked_by public.book_link)
    LANGUAGE plpgsql STABLE ROWS 2
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT *
        FROM unnest(readers, ids, isbns, titles, authors, goodreads_ids) WITH ORDINALITY
            AS g (reader, id, isbn13, title, author, goodreads_id, position)
    ), exact AS (
        SELECT g.position, e.id, 'ISBN'::book_link AS linked_by, 0 AS rank
        FROM given g
        CROSS JOIN LATERAL (SELECT e.id FROM editions e WHERE e.isbn13 = g.isbn13 OFFSET 0) e
        UNION ALL
        SELECT g.position, s.edition_id, 'SOURCE', 0
        FROM given g
        CROSS JOIN LATERAL (
            SELECT s.edition_id
            FROM edition_sources s
            WHERE s.source = 'goodreads' AND s.key = g.goodreads_id
            OFFSET 0
        ) s
    ), same_title AS MATERIALIZED (
        SELECT
            g.position,
            e.id,
            k.rest,
            e.subtitle,
            e.series,
            coalesce(w.rank, 1) AS rank,
            work_volume(g.title, NULL) AS book_volume,
            work_volume(e.title, e.series_position) AS volume,
            min(work_volume(e.title, e.series_position)) OVER of_key AS first_volume,
            max(work_volume(e.title, e.series_position)) OVER of_key AS last_volume
        FROM given g
        CROSS JOIN LATERAL possible_work_keys(g.title, g.author) k
        CROSS JOIN LATERAL (
            SELECT e.id, e.title, e.subtitle, e.series, e.series_position
            FROM editions e
            WHERE work_key(e.title, e.authors) = k.key
            OFFSET 0
        ) e
        LEFT JOIN LATERAL (SELECT w.rank FROM work_records w WHERE w.edition_id = e.id OFFSET 0) w ON true
        WINDOW of_key AS (PARTITION BY g.position, k.key)
    ), candidates AS (
        SELECT position, id, linked_by, rank
        FROM exact
        UNION ALL
        SELECT position, id, 'TITLE', rank + CASE WHEN rest IS NULL THEN 0 ELSE 1000 END
        FROM same_title
        -- All volumes that are named, including the book's, agree, or the record has the volume of the book.
        WHERE (
                least(first_volume, book_volume) IS NOT DISTINCT FROM greatest(last_volume, book_volume)
                OR coalesce(volume, '') = coalesce(book_volume, '')
            )
            AND (
                rest IS NULL
                OR search_fold(subtitle) = search_fold(rest)
                OR (subtitle IS NULL AND series IS NULL AND rest !~ '[0-9#]|^([Vv]ol|[Bb]ook|[Pp]art|[Nn]o)\M')
            )
    ), best AS (
        SELECT DISTINCT ON (c.position) g.reader, g.id AS book_id, c.id AS edition_id, c.linked_by, c.position
        FROM candidates c
        JOIN given g USING (position)
        WHERE NOT EXISTS (
            SELECT
            FROM books other
            WHERE other.user_id = g.reader AND other.edition_id = c.id AND other.id <> g.id
            OFFSET 0
        )
        ORDER BY c.position, c.linked_by, c.rank, c.id
    )
    SELECT DISTINCT ON (b.reader, b.edition_id) b.reader, b.book_id, b.edition_id, b.linked_by
    FROM best b
    ORDER BY b.reader, b.edition_id, b.linked_by, b.position;
END
$$;

-- Name: match_guest_books(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.match_guest_books(guest uuid, account uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    matched jsonb := '{}';
    used uuid[] := '{}';
    with_title uuid[] := ARRAY(
        SELECT g.id
        FROM books g
        WHERE g.user_id = guest
            AND lower(g.title) IN (SELECT lower(k.title) FROM books k WHERE k.user_id = account)
    );
    book books;
    found_id uuid;
BEGIN
    FOR pass IN 1..4 LOOP
        FOR book IN
            SELECT b.*
            FROM books b
            WHERE b.user_id = guest AND NOT matched ? b.id::text AND (pass < 4 OR b.id = ANY(with_title))
            ORDER BY b.added_at, b.id
        LOOP
            found_id := CASE pass
                WHEN 1 THEN (SELECT k.id FROM books k WHERE k.user_id = account AND k.isbn13 = book.isbn13)
                WHEN 2 THEN (
                    SELECT k.id
                    FROM books k
                    WHERE k.user_id = account AND k.edition_id = book.edition_id AND k.id <> ALL(used)
                )
                WHEN 3 THEN (
                    SELECT k.id
                    FROM work_records w
                    JOIN work_records other USING (founder_id)
                    JOIN books k ON k.user_id = account AND k.edition_id = other.edition_id
                    WHERE w.edition_id = book.edition_id AND k.id <> ALL(used)
                    ORDER BY k.added_at, k.id
                    LIMIT 1
                )
                ELSE (
                    SELECT k.id
                    FROM books k
                    WHERE k.user_id = account
                        AND lower(k.title) = lower(book.title)
                        AND (k.authors = '{}' OR book.authors = '{}' OR k.author_ids && book.author_ids)
                        AND (k.isbn13 IS NULL OR book.isbn13 IS NULL)
                        AND k.id <> ALL(used)
                    ORDER BY k.id = book.id DESC, k.added_at, k.id
                    LIMIT 1
                )
            END;
            IF found_id IS NOT NULL THEN
                matched := matched || jsonb_build_object(book.id, found_id);
                used := used || found_id;
            END IF;
        END LOOP;
    END LOOP;
    RETURN matched;
END
$$;

-- Name: match_works(uuid[], bigint[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.match_works(given uuid[], given_keys bigint[] DEFAULT '{}'::bigint[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
DECLARE
    -- The editions whose works may change.
    affected uuid[] := '{}';
    next uuid[];
    -- One element for each link of an edition that it shares with others: the number of the edition, the link, and the smallest
    -- number of the editions that are known to be connected with it.
    numbers bigint[];
    links bigint[];
    labels bigint[];
    new_labels bigint[];
BEGIN
    IF given IS NULL THEN
        affected := ARRAY(SELECT id FROM editions);
    ELSE
        next := ARRAY(
            SELECT unnest(given)
            UNION
            SELECT e.id
            FROM unnest(given_keys) AS k (key)
            CROSS JOIN LATERAL (
                SELECT id FROM editions e WHERE work_key(e.title, e.authors) = k.key OFFSET 0
            ) e
        );
        WHILE next <> '{}' LOOP
            affected := affected || next;
            next := ARRAY(
                SELECT id
                FROM (
                    SELECT e.id
                    FROM (
                        SELECT DISTINCT work_key(e.title, e.authors) AS key
                        FROM editions e
                        WHERE e.id = ANY(next)
                    ) k
                    CROSS JOIN LATERAL (
                        SELECT id FROM editions e WHERE work_key(e.title, e.authors) = k.key OFFSET 0
                    ) e
                    UNION
                    SELECT o.edition_id
                    FROM edition_work_keys k
                    JOIN edition_work_keys o USING (source, key)
                    WHERE k.edition_id = ANY(next)
                    UNION
                    SELECT o.edition_id
                    FROM work_decision_editions k
                    JOIN work_decision_editions o USING (decision_id)
                    WHERE k.edition_id = ANY(next)
                    UNION
                    SELECT o.edition_id
                    FROM work_records k
                    JOIN work_records o USING (founder_id)
                    WHERE k.edition_id = ANY(next)
                ) connected
                WHERE id <> ALL(affected)
            );
        END LOOP;
    END IF;

    WITH records AS MATERIALIZED (
        SELECT
            e.id,
            e.number,
            work_key(e.title, e.authors) AS key,
            work_volume(e.title, e.series_position) AS volume,
            (
                SELECT max(d.id)
                FROM work_decision_editions m
                JOIN work_decisions d ON d.id = m.decision_id
                WHERE m.edition_id = e.id AND d.kind = 'SPLIT' AND d.undone_at IS NULL
            ) AS last_split
        FROM editions e
        WHERE e.id = ANY(affected)
    ), all_links AS (
        SELECT number, hashtextextended('title ' || key || ' ' || volume, 0) AS link
        FROM (
            SELECT
                number,
                key,
                -- Volumes that share a title are different works. A record that names no volume is one of them only if the
                -- records of the title name fewer than two.
                CASE
                    WHEN min(volume) OVER of_key IS DISTINCT FROM max(volume) OVER of_key THEN coalesce(volume, '')
                    ELSE ''
                END AS volume
            FROM records
            WHERE key IS NOT NULL AND last_split IS NULL
            WINDOW of_key AS (PARTITION BY key)
        ) titled
        UNION ALL
        SELECT r.number, hashtextextended('source ' || k.source || ' ' || k.key, 0)
        FROM edition_work_keys k
        JOIN records r ON r.id = k.edition_id
        WHERE k.edition_id = ANY(affected) AND r.last_split IS NULL
        UNION ALL
        SELECT r.number, hashtextextended('decision ' || d.id, 0)
        FROM work_decision_editions m
        JOIN work_decisions d ON d.id = m.decision_id
        JOIN records r ON r.id = m.edition_id
        WHERE m.edition_id = ANY(affected) AND d.undone_at IS NULL AND d.id >= coalesce(r.last_split, 0)
    ), shared AS (
        SELECT number, link
        FROM (SELECT number, link, count(*) OVER (PARTITION BY link) AS total FROM all_links) counted
        WHERE total > 1
    )
    SELECT array_agg(number ORDER BY number, link), array_agg(link ORDER BY number, link)
    INTO numbers, links
    FROM shared;

    labels := numbers;
    LOOP
        SELECT array_agg(label ORDER BY position) INTO new_labels
        FROM (
            SELECT position, min(label) OVER (PARTITION BY number) AS label
            FROM (
                SELECT position, number, min(label) OVER (PARTITION BY link) AS label
                FROM unnest(numbers, links, labels) WITH ORDINALITY AS l (number, link, label, position)
            ) of_link
        ) of_edition;
        EXIT WHEN new_labels IS NOT DISTINCT FROM labels;
        labels := new_labels;
    END LOOP;

    WITH ranked AS MATERIALIZED (
        SELECT
            e.id,
            f.id AS founder_id,
            row_number() OVER (
                PARTITION BY f.id
                ORDER BY
                    feed_tier(e.language, (SELECT main_language FROM feed_state), e.hook, e.genres <> '{}'),
                    e.ratings_count DESC,
                    e.number
            ) AS rank
        FROM (SELECT DISTINCT number, label FROM unnest(numbers, labels) AS l (number, label)) m
        JOIN editions e ON e.number = m.number
        JOIN editions f ON f.number = m.label
    ), deleted AS (
        DELETE FROM work_records w
        WHERE w.edition_id = ANY(affected)
            AND NOT EXISTS (SELECT FROM ranked r WHERE r.id = w.edition_id)
    )
    INSERT INTO work_records AS w (edition_id, founder_id, rank)
    SELECT id, founder_id, rank
    FROM ranked
    ORDER BY id
    ON CONFLICT (edition_id) DO UPDATE
    SET founder_id = excluded.founder_id,
        rank = excluded.rank
    WHERE (w.founder_id, w.rank) IS DISTINCT FROM (excluded.founder_id, excluded.rank);
END
$$;

-- Name: merge_books(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_books(guest uuid, account uuid, matched jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    merged jsonb := matched;
    book books;
    moved uuid;
BEGIN
    PERFORM keep_as_notes(account, k.id, g.private_notes)
    FROM jsonb_each_text(matched) m
    JOIN books g ON g.user_id = guest AND g.id = m.key::uuid
    JOIN books k ON k.user_id = account AND k.id = m.value::uuid
    WHERE g.private_notes <> k.private_notes;
    UPDATE books k
    SET edition_id = coalesce(k.edition_id, free.edition_id),
        linked_by = CASE WHEN k.edition_id IS NULL AND free.edition_id IS NOT NULL THEN g.linked_by ELSE k.linked_by END,
        authors = CASE WHEN k.authors = '{}' THEN g.authors ELSE k.authors END,
        author_roles = CASE WHEN k.authors = '{}' THEN g.author_roles ELSE k.author_roles END,
        written_author = CASE WHEN k.authors = '{}' THEN g.written_author ELSE k.written_author END,
        isbn13 = coalesce(k.isbn13, g.isbn13),
        publisher = coalesce(k.publisher, g.publisher),
        published_date = coalesce(k.published_date, g.published_date),
        page_count = coalesce(k.page_count, g.page_count),
        language = coalesce(k.language, g.language),
        category = coalesce(k.category, g.category),
        genre = coalesce(k.genre, g.genre),
        description = coalesce(k.description, g.description),
        series = coalesce(k.series, g.series),
        series_position = CASE WHEN k.series IS NULL THEN g.series_position ELSE k.series_position END,
        status = CASE WHEN status_rank(g.status) > status_rank(k.status) THEN g.status ELSE k.status END,
        current_page = coalesce(k.current_page, page_in_edition(g.current_page, g.page_count, k.page_count)),
        binding = coalesce(k.binding, g.binding),
        original_year = coalesce(k.original_year, g.original_year),
        private_notes = coalesce(k.private_notes, g.private_notes),
        moods = CASE WHEN k.moods = '{}' THEN g.moods ELSE k.moods END,
        started_at = coalesce(k.started_at, g.started_at),
        finished_at = coalesce(k.finished_at, g.finished_at),
        updated_at = now()
    FROM jsonb_each_text(matched) m
    JOIN books g ON g.user_id = guest AND g.id = m.key::uuid
    CROSS JOIN LATERAL (
        -- Another book of the account may have the edition.
        SELECT CASE
            WHEN NOT EXISTS (SELECT FROM books b WHERE b.user_id = account AND b.edition_id = g.edition_id) THEN g.edition_id
        END AS edition_id
    ) free
    WHERE k.user_id = account AND k.id = m.value::uuid;
    FOR book IN
        SELECT b.*
        FROM books b
        WHERE b.user_id = guest AND NOT matched ? b.id::text
        ORDER BY b.added_at, b.id
    LOOP
        moved := unused_id(account, book.id);
        IF EXISTS (SELECT FROM books k WHERE k.user_id = account AND k.edition_id = book.edition_id) THEN
            book.edition_id := NULL;
            book.linked_by := 'CARD';
        END IF;
        PERFORM insert_stored_rows(
            'books',
            jsonb_build_array(
                to_jsonb(book) || jsonb_build_object(
                    'user_id', account,
                    'id', moved,
                    -- The cover follows when its files are copied.
                    'cover_status', CASE book.cover_status WHEN 'READY' THEN 'NONE' ELSE book.cover_status::text END
                )
            )
        );
        merged := merged || jsonb_build_object(book.id, moved);
    END LOOP;
    INSERT INTO books_to_link (user_id, book_id)
    SELECT account, (merged ->> l.book_id::text)::uuid
    FROM books_to_link l
    WHERE l.user_id = guest AND merged ? l.book_id::text
    ON CONFLICT DO NOTHING;
    RETURN merged;
END
$$;

-- Name: merge_covers(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_covers(guest uuid, account uuid, merged_books jsonb) RETURNS void
    LANGUAGE sql
    AS $$
    WITH moving AS (
        INSERT INTO moving_covers (user_id, book_id, guest_id, guest_book_id, cover)
        SELECT account, b.id, guest, c.book_id, to_jsonb(c)
        FROM covers c
        JOIN books b ON b.user_id = account AND b.id = (merged_books ->> c.book_id::text)::uuid
        WHERE c.user_id = guest
            AND NOT b.is_cover_removed
            AND NOT EXISTS (
                SELECT
                FROM covers k
                WHERE k.user_id = account AND k.book_id = b.id AND (is_chosen_cover(k.source) OR NOT is_chosen_cover(c.source))
            )
        RETURNING book_id
    )
    UPDATE books b
    SET cover_status = 'FETCHING', cover_requested_at = now()
    FROM moving m
    WHERE b.user_id = account
        AND b.id = m.book_id
        AND NOT EXISTS (SELECT FROM covers k WHERE k.user_id = account AND k.book_id = b.id)
$$;

-- Name: merge_deleted_books(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_deleted_books(guest uuid, account uuid, merged_shelves jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    deleted deleted_books;
    guest_book uuid;
    members jsonb;
BEGIN
    FOR deleted IN SELECT d.* FROM deleted_books d WHERE d.user_id = guest ORDER BY d.deleted_at, d.id LOOP
        guest_book := deleted.id;
        deleted.user_id := account;
        deleted.id := unused_id(account, guest_book);
        members := jsonb_build_object('user_id', account, 'book_id', deleted.id);
        deleted.book := deleted.book || jsonb_build_object('user_id', account, 'id', deleted.id);
        deleted.review := deleted.review || members;
        deleted.reads := rows_with(deleted.reads, members);
        deleted.progress_entries := rows_with(deleted.progress_entries, jsonb_build_object('user_id', account));
        deleted.notes := rows_with(deleted.notes, members);
        deleted.ereader_position := deleted.ereader_position || members;
        deleted.shelf_ids := ARRAY(
            SELECT coalesce((merged_shelves ->> s::text)::uuid, s) FROM unnest(deleted.shelf_ids) s
        );
        IF deleted.cover IS NOT NULL THEN
            INSERT INTO moving_covers (user_id, book_id, guest_id, guest_book_id, cover)
            VALUES (account, deleted.id, guest, guest_book, deleted.cover);
            deleted.cover := NULL;
        END IF;
        INSERT INTO deleted_books VALUES (deleted.*);
    END LOOP;
END
$$;

-- Name: merge_ereaders(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_ereaders(guest uuid, account uuid, merged_books jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO ereader_documents AS k (
        user_id, id, hash, book_id, title, author, progress, fraction, device_name, device_id, created_at, synced_at
    )
    SELECT
        account, unused_id(account, d.id), d.hash, coalesce((merged_books ->> d.book_id::text)::uuid, d.book_id), d.title,
        d.author, d.progress, d.fraction, d.device_name, d.device_id, d.created_at, d.synced_at
    FROM ereader_documents d
    WHERE d.user_id = guest
    ON CONFLICT (user_id, hash) DO UPDATE
    SET book_id = coalesce(k.book_id, excluded.book_id),
        title = coalesce(k.title, excluded.title),
        author = coalesce(k.author, excluded.author),
        progress = CASE WHEN excluded.synced_at > k.synced_at THEN excluded.progress ELSE k.progress END,
        fraction = CASE WHEN excluded.synced_at > k.synced_at THEN excluded.fraction ELSE k.fraction END,
        device_name = CASE WHEN excluded.synced_at > k.synced_at THEN excluded.device_name ELSE k.device_name END,
        device_id = CASE WHEN excluded.synced_at > k.synced_at THEN excluded.device_id ELSE k.device_id END,
        synced_at = greatest(k.synced_at, excluded.synced_at);
    INSERT INTO ereader_positions AS k (
        user_id, book_id, modified_at, fraction, device_id, device_name, title, place_refs, entry_id, entry_began_at
    )
    SELECT
        account, (merged_books ->> p.book_id::text)::uuid, p.modified_at, p.fraction, p.device_id, p.device_name, p.title,
        p.place_refs, e.id, CASE WHEN e.id IS NOT NULL THEN p.entry_began_at END
    FROM ereader_positions p
    -- If the entry has a new id, the position does not refer to it, and the next report adds an entry.
    LEFT JOIN progress_entries e ON e.user_id = account AND e.id = p.entry_id
    WHERE p.user_id = guest
    ON CONFLICT (user_id, book_id) DO UPDATE
    SET modified_at = excluded.modified_at,
        fraction = excluded.fraction,
        device_id = excluded.device_id,
        device_name = excluded.device_name,
        title = excluded.title,
        place_refs = excluded.place_refs,
        entry_id = excluded.entry_id,
        entry_began_at = excluded.entry_began_at
    WHERE k.modified_at < excluded.modified_at;
END
$$;

-- Name: merge_guest(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_guest(guest uuid, account uuid) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    merged_shelves jsonb := merge_shelves(guest, account);
    merged_books jsonb := merge_books(guest, account, match_guest_books(guest, account));
BEGIN
    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
    SELECT account, (merged_shelves ->> s.shelf_id::text)::uuid, b.id, b.added_at
    FROM shelf_books s
    JOIN books b ON b.user_id = account AND b.id = (merged_books ->> s.book_id::text)::uuid
    WHERE s.user_id = guest
    ON CONFLICT DO NOTHING;
    PERFORM merge_reads(guest, account, merged_books);
    -- After the reads, which determine the status of the books and so whether a review is visible.
    PERFORM merge_texts(guest, account, merged_books);
    PERFORM merge_covers(guest, account, merged_books);
    PERFORM merge_deleted_books(guest, account, merged_shelves);
    PERFORM merge_ereaders(guest, account, merged_books);
    PERFORM merge_jobs(guest, account, merged_books);
    INSERT INTO swipes (user_id, edition_id, swiped_at, action, store, recorded_at, undone_at, saved_book_id)
    SELECT
        account, s.edition_id, s.swiped_at, s.action, s.store, s.recorded_at, s.undone_at,
        coalesce((merged_books ->> s.saved_book_id::text)::uuid, s.saved_book_id)
    FROM swipes s
    WHERE s.user_id = guest
    ON CONFLICT DO NOTHING;
    INSERT INTO reading_goals (user_id, id, year, unit, target, created_at, updated_at)
    SELECT account, unused_id(account, g.id), g.year, g.unit, g.target, g.created_at, g.updated_at
    FROM reading_goals g
    WHERE g.user_id = guest
    ON CONFLICT DO NOTHING;
    UPDATE users a
    SET display_name = coalesce(a.display_name, g.display_name),
        preferred_genres = ARRAY(
            SELECT n.name
            FROM unnest(a.preferred_genres || g.preferred_genres) WITH ORDINALITY AS n (name, position)
            GROUP BY n.name
            ORDER BY min(n.position)
            LIMIT 50
        ),
        time_zone = CASE a.time_zone WHEN 'UTC' THEN g.time_zone ELSE a.time_zone END,
        signals_version = a.signals_version + 1,
        updated_at = now()
    FROM users g
    WHERE a.id = account AND g.id = guest;

    -- The guest ends like a deleted account. The job also removes the guest's files, after it has copied the covers.
    INSERT INTO account_tombstones (user_hash, books, reviews, covers, apple_token_revoked)
    SELECT
        sha256(uuid_send(guest)),
        (SELECT count(*) FROM books b WHERE b.user_id = guest),
        (SELECT count(*) FROM reviews v WHERE v.user_id = guest),
        (SELECT count(*) FROM covers c WHERE c.user_id = guest),
        false;
    PERFORM enqueue_job(
        NULL, 'account.move_covers', jsonb_build_object('userID', guest), NULL, 0, 0, 100
    );
    PERFORM record_audit_event(
        'GUEST_MERGED', app_tenant_id(), account, NULL, jsonb_build_object('guest', guest)
    );
    DELETE FROM users u
    WHERE u.id = guest;
    PERFORM pg_notify('jobs', 'account.move_covers'), pg_notify('changes', account::text);
END
$$;

-- Name: merge_jobs(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_jobs(guest uuid, account uuid, merged_books jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    import imports;
    guest_import uuid;
    new_ids jsonb := merged_books;
BEGIN
    FOR import IN SELECT i.* FROM imports i WHERE i.user_id = guest ORDER BY i.created_at, i.id LOOP
        -- The account is importing the same file.
        CONTINUE WHEN import.state IN ('QUEUED', 'RUNNING') AND EXISTS (
            SELECT
            FROM imports i
            WHERE i.user_id = account
                AND i.content_hash = import.content_hash
                AND i.format = import.format
                AND i.state IN ('QUEUED', 'RUNNING')
        );
        guest_import := import.id;
        import.user_id := account;
        import.id := unused_id(account, guest_import);
        import.book_ids := (
            SELECT coalesce(jsonb_object_agg(b.key, coalesce(merged_books ->> b.value, b.value)), '{}')
            FROM jsonb_each_text(import.book_ids) b
        );
        new_ids := new_ids || jsonb_build_object(guest_import, import.id);
        INSERT INTO imports VALUES (import.*);
        INSERT INTO import_failures (user_id, import_id, line, position, field, message)
        SELECT account, import.id, f.line, f.position, f.field, f.message
        FROM import_failures f
        WHERE f.user_id = guest AND f.import_id = guest_import;
    END LOOP;
    UPDATE jobs j
    SET user_id = account,
        key = moved.key,
        payload = moved.payload,
        state = 'READY',
        fence = j.fence + 1,
        worker = NULL,
        lease_until = NULL,
        again = false,
        updated_at = now()
    FROM (
        SELECT
            j.id,
            coalesce(new_ids ->> j.key, j.key) AS key,
            CASE j.kind
                WHEN 'library.import' THEN jsonb_build_object('importID', new_ids ->> (j.payload ->> 'importID'))
                WHEN 'cover.fetch' THEN jsonb_build_object('bookID', new_ids ->> (j.payload ->> 'bookID'))
                ELSE j.payload
            END AS payload
        FROM jobs j
        WHERE j.user_id = guest
            AND j.state <> 'DEAD'
            AND CASE j.kind
                WHEN 'library.import' THEN new_ids ? (j.payload ->> 'importID')
                WHEN 'cover.fetch' THEN new_ids ? (j.payload ->> 'bookID')
                ELSE j.kind = 'book.complete'
            END
    ) moved
    WHERE j.id = moved.id
        AND NOT EXISTS (
            SELECT
            FROM jobs k
            WHERE k.user_id = account AND k.kind = j.kind AND k.key = moved.key AND k.state <> 'DEAD'
        );
END
$$;

-- Name: merge_reads(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_reads(guest uuid, account uuid, merged_books jsonb) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    used uuid[] := '{}';
    read reads;
    kept reads;
    book uuid;
BEGIN
    FOR read IN SELECT r.* FROM reads r WHERE r.user_id = guest ORDER BY r.created_at, r.id LOOP
        book := (merged_books ->> read.book_id::text)::uuid;
        SELECT k.* INTO kept
        FROM reads k
        WHERE k.user_id = account
            AND k.book_id = book
            AND k.id <> ALL(used)
            AND k.outcome = read.outcome
            AND (
                k.outcome = 'READING'
                OR (k.started_on IS NOT DISTINCT FROM read.started_on AND k.finished_on IS NOT DISTINCT FROM read.finished_on)
            )
        ORDER BY k.id = read.id DESC, k.created_at, k.id
        LIMIT 1;
        IF FOUND THEN
            UPDATE reads r
            SET started_on = least(kept.started_on, read.started_on),
                format = coalesce(kept.format, read.format),
                length_seconds = coalesce(kept.length_seconds, read.length_seconds),
                note = coalesce(kept.note, read.note),
                updated_at = now()
            WHERE r.user_id = account AND r.id = kept.id;
            IF kept.note <> read.note THEN
                PERFORM keep_as_notes(account, book, read.note);
            END IF;
        ELSE
            kept.id := unused_id(account, read.id);
            PERFORM insert_stored_rows(
                'reads',
                jsonb_build_array(
                    to_jsonb(read) || jsonb_build_object('user_id', account, 'id', kept.id, 'book_id', book)
                )
            );
        END IF;
        used := used || kept.id;
        PERFORM insert_stored_rows('progress_entries', e.entries)
        FROM (
            SELECT jsonb_agg(
                to_jsonb(p)
                    || jsonb_build_object('user_id', account, 'id', unused_id(account, p.id), 'read_id', kept.id)
                    || CASE
                        WHEN p.page IS NOT NULL AND g.page_count <> k.page_count
                            THEN jsonb_build_object('page', NULL, 'percent', least(100 * p.page::float8 / g.page_count, 100))
                        ELSE '{}'
                    END
            ) AS entries
            FROM progress_entries p
            JOIN books g ON g.user_id = guest AND g.id = read.book_id
            JOIN books k ON k.user_id = account AND k.id = book
            WHERE p.user_id = guest
                AND p.read_id = read.id
                AND NOT EXISTS (
                    SELECT
                    FROM progress_entries same
                    WHERE same.user_id = account
                        AND same.read_id = kept.id
                        AND same.at = p.at
                        AND (same.page, same.percent, same.seconds, same.note)
                            IS NOT DISTINCT FROM (p.page, p.percent, p.seconds, p.note)
                )
        ) e
        WHERE e.entries IS NOT NULL;
    END LOOP;
    INSERT INTO reading_tombstones (user_id, id, deleted_at)
    SELECT account, t.id, t.deleted_at
    FROM reading_tombstones t
    WHERE t.user_id = guest
    ON CONFLICT DO NOTHING;
    -- A book with an open read is being read, also if it was finished before.
    UPDATE books b
    SET status = 'READING',
        updated_at = now()
    FROM jsonb_each_text(merged_books) m
    WHERE b.user_id = account
        AND b.id = m.value::uuid
        AND b.status NOT IN ('READING', 'PAUSED')
        AND EXISTS (SELECT FROM reads r WHERE r.user_id = account AND r.book_id = b.id AND r.outcome = 'READING');
    PERFORM refresh_read_books(
        account, ARRAY(SELECT DISTINCT m.value::uuid FROM jsonb_each_text(merged_books) m), false
    );
END
$$;

-- Name: merge_shelves(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_shelves(guest uuid, account uuid) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
DECLARE
    merged jsonb := '{}';
    shelf shelves;
    kept uuid;
BEGIN
    FOR shelf IN SELECT s.* FROM shelves s WHERE s.user_id = guest ORDER BY s.position, s.id LOOP
        SELECT s.id INTO kept
        FROM shelves s
        WHERE s.user_id = account AND lower(s.name) = lower(shelf.name);
        IF NOT FOUND THEN
            kept := unused_id(account, shelf.id);
            INSERT INTO shelves (user_id, id, name, position, created_at, updated_at)
            SELECT account, kept, shelf.name, coalesce(max(s.position) + 1, 0), shelf.created_at, shelf.updated_at
            FROM shelves s
            WHERE s.user_id = account;
        END IF;
        merged := merged || jsonb_build_object(shelf.id, kept);
    END LOOP;
    RETURN merged;
END
$$;

-- Name: merge_texts(uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_texts(guest uuid, account uuid, merged_books jsonb) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    review reviews;
    kept reviews;
    note notes;
    book uuid;
BEGIN
    FOR review IN SELECT v.* FROM reviews v WHERE v.user_id = guest ORDER BY v.created_at, v.id LOOP
        book := (merged_books ->> review.book_id::text)::uuid;
        SELECT v.* INTO kept
        FROM reviews v
        WHERE v.user_id = account AND v.book_id = book;
        IF FOUND THEN
            UPDATE reviews v
            SET half_stars = coalesce(kept.half_stars, review.half_stars),
                text = coalesce(kept.text, review.text),
                has_spoilers = CASE WHEN kept.text IS NULL THEN review.has_spoilers ELSE kept.has_spoilers END,
                updated_at = now()
            WHERE v.user_id = account
                AND v.book_id = book
                AND ((kept.half_stars IS NULL AND review.half_stars IS NOT NULL) OR (kept.text IS NULL AND review.text IS NOT NULL));
            IF kept.text <> review.text THEN
                PERFORM keep_as_notes(account, book, review.text);
            END IF;
        ELSE
            review.id := unused_id(account, review.id);
            review.user_id := account;
            review.book_id := book;
            INSERT INTO reviews VALUES (review.*);
        END IF;
    END LOOP;
    FOR note IN SELECT n.* FROM notes n WHERE n.user_id = guest ORDER BY n.created_at, n.id LOOP
        book := (merged_books ->> note.book_id::text)::uuid;
        CONTINUE WHEN EXISTS (
            SELECT
            FROM notes k
            WHERE k.user_id = account
                AND k.book_id = book
                AND (k.text, k.comment, k.chapter, k.color, k.page, k.percent, k.seconds)
                    IS NOT DISTINCT FROM
                    (note.text, note.comment, note.chapter, note.color, note.page, note.percent, note.seconds)
        );
        note.id := unused_id(account, note.id);
        note.user_id := account;
        note.book_id := book;
        INSERT INTO notes VALUES (note.*);
    END LOOP;
END
$$;

-- Name: merge_works(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.merge_works(one uuid, other uuid) RETURNS TABLE(decision bigint, work uuid, editions uuid[])
    LANGUAGE plpgsql
    AS $$
DECLARE
    first uuid := edition_with_id(one);
    second uuid := edition_with_id(other);
BEGIN
    IF first IS NULL OR second IS NULL THEN
        RETURN;
    END IF;
    IF second NOT IN (SELECT records_of_work(first)) THEN
        decision := decide_works(
            'MERGE',
            ARRAY(SELECT records_of_work(first) UNION SELECT records_of_work(second))
        );
    END IF;
    editions := ARRAY(SELECT id FROM records_of_work(first) AS id ORDER BY id);
    work := work_id(coalesce((SELECT w.founder_id FROM work_records w WHERE w.edition_id = first), first));
    RETURN NEXT;
END
$$;

-- Name: moving_covers_of(uuid, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.moving_covers_of(guest uuid, covers_max integer) RETURNS TABLE(user_id uuid, book_id uuid, guest_book_id uuid, version text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT m.user_id, m.book_id, m.guest_book_id, m.cover ->> 'version'
    FROM moving_covers m
    WHERE m.guest_id = guest
    ORDER BY m.user_id, m.book_id
    LIMIT covers_max
$$;

-- Name: next_cover_due(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.next_cover_due(failures integer) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    AS $$
    SELECT now() + CASE
        WHEN failures >= 7 THEN interval '90 days'
        ELSE interval '15 minutes' * (1 << failures)
    END
$$;

-- Name: next_of_series(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.next_of_series(reader uuid, series uuid) RETURNS uuid
    LANGUAGE sql STABLE
    AS $$
    WITH finished AS MATERIALIZED (
        SELECT o.work, o.position_number
        FROM owned_works_of_series(reader, next_of_series.series) o
        WHERE o.is_read
    )
    SELECT s.edition_id
    FROM works_of_series(next_of_series.series) s
    WHERE s.position_number IS NOT NULL
        AND s.founder_id NOT IN (SELECT f.work FROM finished f)
        AND s.position_number NOT IN (SELECT f.position_number FROM finished f WHERE f.position_number IS NOT NULL)
        AND (
            (s.position_number >= 1 AND s.position_number = floor(s.position_number))
            OR s.position_number > (SELECT max(f.position_number) FROM finished f)
        )
    ORDER BY s.position_number, s.edition_id
    LIMIT 1
$$;

-- Name: note_key_prefix(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.note_key_prefix(owner uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT to_hex(hashtextextended(owner::text, 0))
$$;

-- Name: note_position(integer, double precision, integer, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.note_position(page integer, percent double precision, seconds integer, page_count integer, length_seconds integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN percent IS NOT NULL THEN percent / 100
        WHEN page IS NOT NULL AND page_count > 0 THEN page::float8 / page_count
        WHEN seconds IS NOT NULL AND length_seconds > 0 THEN seconds::float8 / length_seconds
        WHEN page IS NOT NULL THEN 1e10 + page
        WHEN seconds IS NOT NULL THEN 1e11 + seconds
        ELSE 'Infinity'
    END
$$;

-- Name: note_search_keys(uuid, text, text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.note_search_keys(owner uuid, text text, comment text, chapter text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
DECLARE
    prefix text := public.note_key_prefix(owner) || ' ';
BEGIN
    RETURN array_to_tsvector(
        ARRAY(
            SELECT DISTINCT prefix || left(word, 200)
            FROM string_to_table(public.search_fold(concat_ws(' ', text, comment, chapter)), ' ') word
            WHERE word <> ''
        )
    );
END
$$;

-- Name: notify_session_ended(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.notify_session_ended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('session_ended', OLD.id::text);
    RETURN NULL;
END
$$;

-- Name: oauth_refresh_state(uuid, uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.oauth_refresh_state(client uuid, owner uuid, of_grant uuid) RETURNS TABLE(refresh_hash bytea, generation integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT g.refresh_hash, g.generation
    FROM oauth_grants g
    WHERE g.user_id = owner AND g.id = of_grant AND g.client_id = client
$$;

-- Name: oauth_request_of_browser(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.oauth_request_of_browser(request uuid) RETURNS TABLE(tenant_id uuid, client_name text, is_self_registered boolean, user_code text, scopes text[], redirect_uri text, state text, browser_hash bytea, is_allowed boolean, is_finished boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT
        r.tenant_id, c.name, c.is_self_registered, r.user_code, r.scopes::text[], r.redirect_uri, r.state, r.browser_hash,
        r.is_allowed, r.expires_at <= now() OR r.grant_id IS NOT NULL
    FROM oauth_requests r
    JOIN oauth_clients c ON c.id = r.client_id
    WHERE r.id = request AND r.redirect_uri IS NOT NULL
$$;

-- Name: oauth_request_of_reader(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.oauth_request_of_reader(code text) RETURNS TABLE(id uuid, client_name text, is_self_registered boolean, is_device boolean, redirect_uri text, scopes text[], is_allowed boolean, created_at timestamp with time zone, expires_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT
        r.id, c.name, c.is_self_registered, r.device_hash IS NOT NULL, r.redirect_uri, r.scopes::text[], r.is_allowed,
        r.created_at, r.expires_at
    FROM oauth_requests r
    JOIN oauth_clients c ON c.id = r.client_id
    JOIN tenants t ON t.id = r.tenant_id
    WHERE r.tenant_id = app_tenant_id()
        AND r.user_code = code
        AND r.expires_at > now()
        AND r.grant_id IS NULL
        AND coalesce(r.user_id = app_user_id(), true)
        AND t.oauth
$$;

-- Name: of_library_books(uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.of_library_books(import uuid, given jsonb) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
    SELECT jsonb_agg(
        g.object || jsonb_build_object(
            'bookId', coalesce(i.book_ids -> (g.object ->> 'bookId'), g.object -> 'bookId')
        )
        ORDER BY g.position
    )
    FROM imports i
    CROSS JOIN LATERAL jsonb_array_elements(given) WITH ORDINALITY AS g (object, position)
    WHERE i.user_id = app_user_id() AND i.id = import
$$;

-- Name: open_session(uuid, bytea, bytea, timestamp with time zone, integer, integer, integer, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.open_session(session_id uuid, refresh_hash bytea, token_hash bytea, token_expires_at timestamp with time zone, session_days integer, grace_seconds integer, sign_ins_per_hour_max integer, device_name text) RETURNS boolean
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

-- Name: owned_works_of_series(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.owned_works_of_series(reader uuid, series uuid) RETURNS TABLE(work uuid, is_read boolean, position_number double precision)
    LANGUAGE sql STABLE ROWS 10
    AS $$
    SELECT o.work, bool_or(o.status = 'READ'), min(o.position_number)
    FROM (
        SELECT s.founder_id AS work, b.status, s.position_number
        FROM works_of_series(owned_works_of_series.series) s
        CROSS JOIN LATERAL (
            SELECT s.founder_id AS id
            UNION ALL
            SELECT w.edition_id
            FROM work_records w
            WHERE w.founder_id = s.founder_id AND w.edition_id <> s.founder_id
        ) e
        CROSS JOIN LATERAL (
            SELECT b.status, b.series_id
            FROM books b
            WHERE b.user_id = reader AND b.edition_id = e.id
            OFFSET 0
        ) b
        WHERE coalesce(b.series_id, owned_works_of_series.series) = owned_works_of_series.series
        UNION ALL
        SELECT coalesce(w.founder_id, b.edition_id, b.id), b.status, series_number(b.series_position)
        FROM books b
        LEFT JOIN work_records w ON w.edition_id = b.edition_id
        WHERE b.user_id = reader AND b.series_id = owned_works_of_series.series
    ) o
    GROUP BY o.work
$$;

-- Name: page_in_edition(integer, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.page_in_edition(page integer, page_count integer, other_count integer) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN page_count > 0 AND other_count > 0 THEN least(round(page::float8 / page_count * other_count), other_count)::int
        ELSE page
    END
$$;

-- Name: pending_events(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.pending_events(rows_max integer) RETURNS TABLE(user_id uuid, id bigint, kind text, payload jsonb, created_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT e.user_id, e.id, e.kind, e.payload, e.created_at
    FROM events e
    WHERE e.delivered_at IS NULL
    ORDER BY e.id
    LIMIT rows_max
$$;

-- Name: pending_object_writes(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.pending_object_writes() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT w.version
    FROM object_writes w
    WHERE w.expires_at > now()
$$;

-- Name: persisted_query(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.persisted_query(hash text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT p.body
    FROM persisted_queries p
    WHERE p.sha256 = hash
$$;

-- Name: possible_work_keys(text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.possible_work_keys(title text, author text) RETURNS TABLE(key bigint, rest text)
    LANGUAGE plpgsql IMMUTABLE ROWS 2 PARALLEL SAFE
    AS $_$
DECLARE
    author_keys text[];
    name text;
BEGIN
    author_keys := ARRAY[public.author_key(author)];
    IF author ~* '[,;&/]|\mand\M' THEN
        FOREACH name IN ARRAY (regexp_split_to_array(author, '\s*(?:[,;&/]|\mand\M)\s*', 'i'))[1:3] LOOP
            -- A single word is a part of "Family, First".
            IF name ~ '\S\s+\S' THEN
                author_keys := author_keys || public.author_key(name);
            END IF;
        END LOOP;
    END IF;
    RETURN QUERY
    SELECT DISTINCT ON (hashed.key) hashed.key, t.rest
    FROM (
        VALUES
            (public.title_key(title), NULL),
            (public.title_key(substring(title FROM '^([^:(\[]+):\s')), substring(title FROM '^[^:(\[]+:\s+(.*)$'))
    ) AS t (title, rest)
    CROSS JOIN unnest(author_keys) AS a (author)
    CROSS JOIN LATERAL (SELECT hashtextextended(t.title || '|' || a.author, 0) AS key) AS hashed
    WHERE hashed.key IS NOT NULL
    ORDER BY hashed.key, t.rest NULLS FIRST;
END
$_$;

-- Name: postpone_edition_cover(uuid, bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.postpone_edition_cover(id uuid, delay_ms bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE editions e
    -- Undoes the wrap-around of the claim: 0 means here that the claim counted as the eighth failure.
    SET cover_failures = CASE e.cover_failures WHEN 0 THEN 7 ELSE e.cover_failures END,
        cover_due_at = greatest(
            now() + postpone_edition_cover.delay_ms * interval '1 millisecond',
            next_cover_due(CASE e.cover_failures WHEN 0 THEN 6 ELSE e.cover_failures - 1 END)
        )
    WHERE e.id IN (
        SELECT d.id
        FROM editions d
        WHERE d.id = postpone_edition_cover.id AND d.cover_version IS NULL
        FOR UPDATE SKIP LOCKED
    )
$$;

-- Name: postpone_job(uuid, integer, text, bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.postpone_job(id uuid, fence integer, message text, delay_ms bigint) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE jobs j
    SET state = 'READY',
        attempts = greatest(0, j.attempts - 1),
        run_at = now() + delay_ms * interval '1 millisecond',
        postponed_since = coalesce(j.postponed_since, now()),
        last_error = left(message, 1000),
        worker = NULL,
        lease_until = NULL,
        updated_at = now()
    WHERE j.id = postpone_job.id AND j.fence = postpone_job.fence AND j.state = 'RUNNING'
    RETURNING true
$$;

-- Name: progress_fraction(integer, double precision, integer, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.progress_fraction(page integer, percent double precision, seconds integer, page_count integer, length_seconds integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN percent IS NOT NULL THEN percent / 100
        WHEN page IS NOT NULL THEN least(page::float8 / nullif(page_count, 0), CASE WHEN page_count > 0 THEN 1 END)
        WHEN length_seconds > 0 THEN least(seconds::float8 / length_seconds, 1)
    END
$$;

-- Name: progress_page_of(integer, double precision, integer, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.progress_page_of(page integer, percent double precision, seconds integer, page_count integer, length_seconds integer) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT coalesce(
        page,
        round(progress_fraction(NULL, percent, seconds, page_count, length_seconds) * page_count)::int
    )
$$;

-- Name: prune_audit_events(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_audit_events(kept_days integer, rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: prune_changes(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_changes(older_than_days integer, users_max integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    cutoff timestamptz := now() - greatest(1, older_than_days) * interval '1 day';
    owner uuid;
    pruned int := 0;
BEGIN
    FOR owner IN
        SELECT l.user_id
        FROM logs_to_prune l
        WHERE l.oldest_at < cutoff
        ORDER BY l.oldest_at
        LIMIT users_max
    LOOP
        -- The lock of lock_user.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended(owner::text, 0));
        DELETE FROM changes c
        WHERE c.user_id = owner
            AND c.seq < (
                SELECT coalesce(min(n.seq) FILTER (WHERE n.at >= cutoff), max(n.seq))
                FROM changes n
                WHERE n.user_id = owner
            );
        UPDATE logs_to_prune l
        SET oldest_at = c.at
        FROM (SELECT k.at FROM changes k WHERE k.user_id = owner ORDER BY k.seq LIMIT 1) c
        WHERE l.user_id = owner AND c.at >= cutoff;
        IF NOT FOUND THEN
            DELETE FROM logs_to_prune l
            WHERE l.user_id = owner;
        END IF;
        pruned := pruned + 1;
    END LOOP;
    RETURN pruned;
END
$$;

-- Name: prune_events(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_events(older_than_days integer, rows_max integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH old AS (
        SELECT e.user_id, e.id
        FROM events e
        WHERE e.created_at < now() - greatest(1, older_than_days) * interval '1 day'
        LIMIT rows_max
    ), deleted AS (
        DELETE FROM events e
        USING old
        WHERE e.user_id = old.user_id AND e.id = old.id
        RETURNING 1
    )
    SELECT count(*)
    FROM deleted
$$;

-- Name: prune_imports(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_imports(older_than_days integer) RETURNS SETOF uuid
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH ended AS (
        UPDATE imports i
        SET state = 'FAILED',
            content = NULL,
            book_ids = '{}',
            updated_at = now()
        WHERE i.content IS NOT NULL AND i.updated_at < now() - greatest(1, older_than_days) * interval '1 day'
        RETURNING i.user_id, i.id
    ), recorded AS (
        INSERT INTO import_failures (user_id, import_id, line, message)
        SELECT e.user_id, e.id, 0, 'This import was given up. Import the file again.'
        FROM ended e
        ON CONFLICT DO NOTHING
    )
    SELECT e.user_id
    FROM ended e
$$;

-- Name: prune_oauth(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_oauth(unused_days integer, rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: prune_rate_buckets(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_rate_buckets() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH removed AS (
        DELETE FROM rate_buckets b
        WHERE (b.kind, b.key) IN (
            SELECT o.kind, o.key
            FROM rate_buckets o
            WHERE o.full_at < now()
            FOR UPDATE SKIP LOCKED
        )
        RETURNING b.key
    )
    SELECT count(*)
    FROM removed
$$;

-- Name: prune_schema_usage(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_schema_usage(older_than_days integer, rows_max integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH first_day AS (
        SELECT (now() AT TIME ZONE 'UTC')::date - greatest(30, older_than_days) AS day
    ), old AS (
        SELECT s.day, s.client_id, s.coordinate
        FROM schema_usage s
        WHERE s.day < (SELECT day FROM first_day)
        ORDER BY s.day
        LIMIT rows_max
    ), deleted AS (
        DELETE FROM schema_usage s
        USING old
        WHERE s.day = old.day AND s.client_id = old.client_id AND s.coordinate = old.coordinate
        RETURNING 1
    ), clients AS (
        DELETE FROM usage_clients c
        WHERE c.last_used_on < (SELECT day FROM first_day)
            AND NOT EXISTS (SELECT FROM schema_usage s WHERE s.client_id = c.id)
    )
    SELECT count(*) FROM deleted
$$;

-- Name: prune_undone_swipes(integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_undone_swipes(older_than_days integer, rows_max integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH old AS (
        SELECT user_id, edition_id, swiped_at
        FROM swipes
        WHERE undone_at < now() - greatest(1, older_than_days) * interval '1 day'
        LIMIT rows_max
    ), deleted AS (
        DELETE FROM swipes s
        USING old
        WHERE s.user_id = old.user_id AND s.edition_id = old.edition_id AND s.swiped_at = old.swiped_at
        RETURNING s.user_id
    ), marked AS (
        INSERT INTO readers_to_collect (user_id)
        SELECT DISTINCT d.user_id
        FROM deleted d
        ORDER BY d.user_id
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) FROM deleted
$$;

-- Name: prune_webhook_deliveries(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.prune_webhook_deliveries(rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: public_book_title(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.public_book_title(user_id uuid, book_id uuid, OUT title text, OUT author text, OUT genre text) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT b.title, b.author, b.genre
    FROM books b
    WHERE b.user_id = public_book_title.user_id AND b.id = public_book_title.book_id
$$;

-- Name: public_cover_version(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.public_cover_version(user_id uuid, book_id uuid) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT c.version
    FROM covers c
    WHERE c.user_id = public_cover_version.user_id AND c.book_id = public_cover_version.book_id
$$;

-- Name: purge_dead_jobs(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.purge_dead_jobs(older_than_days integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH deleted AS (
        DELETE FROM jobs
        WHERE state = 'DEAD' AND updated_at < now() - greatest(1, older_than_days) * interval '1 day'
        RETURNING id
    )
    SELECT count(*)
    FROM deleted
$$;

-- Name: purge_deleted_books(integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.purge_deleted_books(rows_max integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    WITH old AS MATERIALIZED (
        SELECT d.user_id, d.id
        FROM deleted_books d
        WHERE d.deleted_at <= now() - restorable_for()
        ORDER BY d.deleted_at
        LIMIT rows_max
        FOR UPDATE SKIP LOCKED
    ), purged AS (
        DELETE FROM deleted_books d
        USING old
        WHERE d.user_id = old.user_id AND d.id = old.id
        RETURNING 1
    ), unlinked AS (
        UPDATE ereader_documents d
        SET book_id = NULL
        FROM old
        WHERE d.user_id = old.user_id
            AND d.book_id = old.id
            -- The reader may have added a book with the same id since then.
            AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = old.user_id AND b.id = old.id)
    )
    SELECT count(*)
    FROM purged
$$;

-- Name: put_progression(uuid, uuid, double precision, timestamp with time zone, text, text, text, text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.put_progression(owner uuid, book uuid, given_fraction double precision, given_at timestamp with time zone, given_device text, given_device_name text, given_title text, given_refs text[]) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    known record;
    result text;
BEGIN
    SELECT p.* INTO known
    FROM book_progression(owner, book) p;
    IF NOT FOUND THEN
        RETURN 'BOOK';
    END IF;
    IF given_at <= known.modified_at THEN
        RETURN CASE
            WHEN (
                known.modified_at, known.fraction, known.device_id, known.device_name, known.title, known.place_refs
            ) IS NOT DISTINCT FROM (
                given_at, given_fraction, given_device, given_device_name, given_title, given_refs
            ) THEN 'SAME'
            ELSE 'OLDER'
        END;
    END IF;
    result := store_position(
        owner, book, given_fraction, given_at, given_device, given_device_name, given_title, given_refs, true
    );
    RETURN CASE
        WHEN result <> 'DONE' THEN result
        WHEN known.modified_at IS NULL THEN 'CREATED'
        ELSE 'UPDATED'
    END;
END
$$;

-- Name: reader_today(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.reader_today(owner uuid) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN (
        SELECT to_char(now() AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD')
        FROM users u
        WHERE u.id = owner
    );
END
$$;

-- Name: reading_goal_progress(uuid, integer, public.goal_unit); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.reading_goal_progress(owner uuid, of_year integer, unit public.goal_unit) RETURNS double precision
    LANGUAGE sql STABLE
    AS $$
    SELECT CASE reading_goal_progress.unit
        WHEN 'BOOKS' THEN count(*)::float8
        WHEN 'PAGES' THEN
            coalesce(sum(r.page_count) FILTER (WHERE NOT is_listened(r.format, r.length_seconds)), 0)::float8
        WHEN 'HOURS' THEN
            coalesce(sum(r.length_seconds) FILTER (WHERE is_listened(r.format, r.length_seconds)), 0)::float8 / 3600
    END
    FROM reads r
    WHERE r.user_id = owner
        AND r.outcome = 'FINISHED'
        AND r.finished_on >= of_year::text
        -- The tilde sorts after all months of the year.
        AND r.finished_on < of_year || '~'
$$;

-- Name: reads_of_book_max(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.reads_of_book_max() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT 200
$$;

-- Name: reassign_genres(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.reassign_genres() RETURNS bigint
    LANGUAGE sql
    AS $$
    -- There are few different lists of names, compared with the number of editions.
    WITH lists AS MATERIALIZED (
        SELECT subjects, canonical_genres(subjects) AS genres
        FROM (SELECT DISTINCT subjects FROM editions WHERE subjects <> '{}') listed
    ), changed AS (
        UPDATE editions e
        SET genres = lists.genres, updated_at = now()
        FROM lists
        WHERE e.subjects = lists.subjects AND e.genres <> lists.genres
        RETURNING e.id
    )
    SELECT count(*) FROM changed
$$;

-- Name: recent_voice(integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.recent_voice(voice integer, at timestamp with time zone) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT round((voice * half_life_power(at))::numeric, 6)
$$;

-- Name: record_apple_notification(bytea, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_apple_notification(id_hash bytea, expires_at timestamp with time zone) RETURNS void
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

-- Name: record_apple_revocation(uuid, uuid, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_apple_revocation(user_id uuid, session_id uuid, revoked boolean) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE account_tombstones t
    SET apple_token_revoked = coalesce(t.apple_token_revoked, record_apple_revocation.revoked)
    WHERE t.user_hash = sha256(uuid_send(record_apple_revocation.user_id))
        AND t.session_hash = sha256(uuid_send(record_apple_revocation.session_id))
    RETURNING t.apple_token_revoked
$$;

-- Name: record_audit_event(text, uuid, uuid, uuid, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_audit_event(event_kind text, tenant_id uuid, account_id uuid, credential_id uuid, detail jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO audit_events (kind, tenant_id, account_id, credential_id, operator, detail)
    VALUES (
        event_kind, record_audit_event.tenant_id, record_audit_event.account_id, record_audit_event.credential_id,
        nullif(current_setting('app.operator', true), ''), record_audit_event.detail
    )
$$;

-- Name: record_covers(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_covers() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    stored covers[] := ARRAY[]::covers[];
    lost covers[] := ARRAY[]::covers[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        stored := ARRAY(SELECT n::covers FROM new_rows n);
    ELSIF TG_OP = 'DELETE' THEN
        lost := ARRAY(SELECT o::covers FROM old_rows o);
    ELSE
        SELECT coalesce(array_agg(n::covers), '{}'), coalesce(array_agg(o::covers), '{}') INTO stored, lost
        FROM new_rows n
        JOIN old_rows o USING (user_id, book_id)
        WHERE n.version <> o.version;
    END IF;
    -- Foreign keys run a statement for each deleted book, and most of these change nothing.
    IF stored <> '{}' THEN
        IF EXISTS (
            SELECT
            FROM unnest(stored) s
            JOIN removed_covers r USING (user_id, book_id, version)
        ) THEN
            RAISE EXCEPTION 'The image arrived too late to be stored. Send it again.' USING ERRCODE = 'BP409';
        END IF;
        INSERT INTO events (user_id, kind, payload)
        SELECT
            s.user_id,
            'cover_changed',
            jsonb_build_object('book_id', s.book_id, 'status', 'READY', 'source', s.source, 'version', s.version)
        FROM unnest(stored) s;
    END IF;
    IF lost <> '{}' THEN
        PERFORM record_removed_covers(lost);
        PERFORM count_covers(lost, -1);
    END IF;
    IF stored <> '{}' THEN
        PERFORM count_covers(stored, 1);
    END IF;
    RETURN NULL;
END
$$;

-- Name: record_deleted_covers(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_deleted_covers() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    stored covers[] := ARRAY[]::covers[];
    lost covers[] := ARRAY[]::covers[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        stored := ARRAY(
            SELECT jsonb_populate_record(NULL::covers, n.cover)
            FROM new_rows n
            WHERE n.cover IS NOT NULL
        );
    ELSIF TG_OP = 'DELETE' THEN
        lost := ARRAY(
            SELECT jsonb_populate_record(NULL::covers, o.cover)
            FROM old_rows o
            WHERE o.cover IS NOT NULL
        );
    ELSE
        SELECT
            coalesce(array_agg(jsonb_populate_record(NULL::covers, n.cover)) FILTER (WHERE n.cover IS NOT NULL), '{}'),
            coalesce(array_agg(jsonb_populate_record(NULL::covers, o.cover)) FILTER (WHERE o.cover IS NOT NULL), '{}')
            INTO stored, lost
        FROM new_rows n
        JOIN old_rows o USING (user_id, id)
        WHERE n.cover IS DISTINCT FROM o.cover;
    END IF;
    IF lost <> '{}' THEN
        PERFORM record_removed_covers(lost);
        PERFORM count_covers(lost, -1);
    END IF;
    IF stored <> '{}' THEN
        PERFORM count_covers(stored, 1);
    END IF;
    RETURN NULL;
END
$$;

-- Name: record_deleted_id(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_deleted_id(owner uuid, deleted uuid) RETURNS void
    LANGUAGE sql
    AS $$
    DELETE FROM reading_tombstones t
    WHERE t.user_id = owner
        AND t.id IN (
            SELECT o.id
            FROM reading_tombstones o
            WHERE o.user_id = owner AND o.deleted_at < now() - interval '1 year'
            LIMIT 20
        );
    INSERT INTO reading_tombstones (user_id, id)
    VALUES (owner, deleted)
    ON CONFLICT (user_id, id) DO UPDATE
    SET deleted_at = now();
$$;

-- Name: record_missing_edition_cover(uuid, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_missing_edition_cover(id uuid, days integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE editions e
    SET cover_due_at = now() + record_missing_edition_cover.days * interval '1 day',
        cover_failures = 0
    WHERE e.id IN (
        SELECT d.id
        FROM editions d
        WHERE d.id = record_missing_edition_cover.id AND d.cover_version IS NULL
        FOR UPDATE SKIP LOCKED
    )
$$;

-- Name: record_refusals(text[], text[], bigint[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_refusals(kinds text[], reasons text[], counts bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT record_audit_event(
        r.kind, NULL, NULL, NULL, jsonb_build_object('reason', left(r.reason, 200), 'count', r.count)
    )
    FROM unnest(kinds, reasons, counts) AS r (kind, reason, count)
    WHERE r.kind IN ('SIGN_IN_REFUSED', 'TOKEN_REFUSED')
$$;

-- Name: record_removed_covers(public.covers[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_removed_covers(lost public.covers[]) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO removed_covers (user_id, book_id, version)
    SELECT l.user_id, l.book_id, l.version
    FROM unnest(lost) l
    WHERE EXISTS (
            SELECT
            FROM users u
            WHERE u.id = l.user_id
        )
        AND NOT EXISTS (
            SELECT
            FROM covers c
            WHERE c.user_id = l.user_id AND c.book_id = l.book_id AND c.version = l.version
        )
        AND NOT EXISTS (
            SELECT
            FROM deleted_books d
            WHERE d.user_id = l.user_id AND d.id = l.book_id AND d.cover ->> 'version' = l.version
        )
    ON CONFLICT DO NOTHING
$$;

-- Name: record_schema_usage(uuid[], text[], text[], integer[], text[], bigint[], integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_schema_usage(client_tenants uuid[], client_names text[], client_versions text[], client_numbers integer[], coordinates text[], uses bigint[], clients_max integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
BEGIN
    -- Two servers would lock the same rows in different orders, and exceed the limit together.
    PERFORM pg_advisory_xact_lock(hashtext('schema usage'));

    INSERT INTO usage_clients AS u (tenant_id, name, version, last_used_on)
    SELECT DISTINCT
        r.tenant_id,
        CASE WHEN r.is_admitted THEN r.name ELSE '(other)' END,
        CASE WHEN r.is_admitted THEN r.version ELSE '' END,
        today
    FROM (
        SELECT
            g.tenant_id,
            g.name,
            g.version,
            c.id IS NOT NULL
                OR row_number() OVER (PARTITION BY g.tenant_id, c.id IS NULL ORDER BY g.name, g.version)
                    + (
                        SELECT count(*)
                        FROM usage_clients k
                        WHERE k.tenant_id IS NOT DISTINCT FROM g.tenant_id AND k.last_used_on > today - 30
                    ) <= clients_max AS is_admitted
        FROM (
            SELECT DISTINCT tenant_id, name, version
            FROM unnest(client_tenants, client_names, client_versions) AS i (tenant_id, name, version)
        ) g
        LEFT JOIN usage_clients c
            ON c.tenant_id IS NOT DISTINCT FROM g.tenant_id AND c.name = g.name AND c.version = g.version
        -- The tenant may have been removed.
        WHERE g.tenant_id IS NULL OR EXISTS (SELECT FROM tenants t WHERE t.id = g.tenant_id)
    ) r
    ON CONFLICT (tenant_id, name, version) DO UPDATE
    SET last_used_on = excluded.last_used_on
    WHERE u.last_used_on < excluded.last_used_on;

    INSERT INTO schema_usage AS s (day, client_id, coordinate, uses)
    SELECT today, coalesce(c.id, o.id), i.coordinate, sum(i.uses)
    FROM unnest(client_numbers, coordinates, uses) AS i (client_number, coordinate, uses)
    JOIN unnest(client_tenants, client_names, client_versions) WITH ORDINALITY AS g (tenant_id, name, version, number)
        ON g.number = i.client_number
    LEFT JOIN usage_clients c
        ON c.tenant_id IS NOT DISTINCT FROM g.tenant_id AND c.name = g.name AND c.version = g.version
    LEFT JOIN usage_clients o
        ON o.tenant_id IS NOT DISTINCT FROM g.tenant_id AND o.name = '(other)' AND o.version = ''
    WHERE coalesce(c.id, o.id) IS NOT NULL
    GROUP BY coalesce(c.id, o.id), i.coordinate
    ON CONFLICT (day, client_id, coordinate) DO UPDATE
    SET uses = s.uses + excluded.uses;
END
$$;

-- Name: record_source_misses(text[], text[], integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_source_misses(sources text[], isbns text[], seconds integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO source_misses (source, isbn13, expires_at)
    SELECT DISTINCT given.source, given.isbn13, now() + least(seconds, 2592000) * interval '1 second'
    FROM unnest(sources, isbns) AS given (source, isbn13)
    -- A fixed order prevents deadlocks between servers.
    ORDER BY 2, 1
    ON CONFLICT (source, isbn13) DO UPDATE
    SET expires_at = excluded.expires_at
$$;

-- Name: record_source_search(text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_source_search(query text, seconds integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO source_searches (query, expires_at)
    VALUES (left(search_fold(record_source_search.query), 400), now() + least(seconds, 2592000) * interval '1 second')
    ON CONFLICT (query) DO UPDATE
    SET expires_at = excluded.expires_at
$$;

-- Name: record_token_uses(uuid[], uuid[], bigint[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_token_uses(users uuid[], ids uuid[], seconds bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: record_unchanged_cover_event(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.record_unchanged_cover_event(user_id uuid, book_id uuid) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO events (user_id, kind, payload)
    SELECT
        c.user_id,
        'cover_changed',
        jsonb_build_object('book_id', c.book_id, 'status', 'READY', 'source', c.source, 'version', c.version)
    FROM covers c
    WHERE c.user_id = record_unchanged_cover_event.user_id AND c.book_id = record_unchanged_cover_event.book_id
$$;

-- Name: records_of_work(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.records_of_work(edition uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE ROWS 3
    AS $$
    SELECT edition
    UNION
    SELECT o.edition_id
    FROM work_records w
    JOIN work_records o USING (founder_id)
    WHERE w.edition_id = edition
$$;

-- Name: recount_reading_days(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.recount_reading_days() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    zone CONSTANT text := known_zone(NEW.time_zone);
BEGIN
    PERFORM lock_user(NEW.id);
    DELETE FROM reading_days d
    WHERE d.user_id = NEW.id;
    INSERT INTO reading_days (user_id, day, entry_count)
    SELECT NEW.id, (p.at AT TIME ZONE zone)::date, count(*)
    FROM progress_entries p
    WHERE p.user_id = NEW.id
    GROUP BY 2;
    RETURN NULL;
END
$$;

-- Name: refresh_feed(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.refresh_feed() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT lock_catalog();
    SELECT refresh_popularity();
    SELECT refresh_genres(false);
    DELETE FROM feed_decks d
    WHERE d.created_at < now() - interval '2 days'
        AND NOT EXISTS (
            SELECT
            FROM feed_decks newer
            WHERE newer.user_id = d.user_id
                AND newer.chain = d.chain
                AND newer.created_at >= now() - interval '2 days'
        );
$$;

-- Name: refresh_genres(boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.refresh_genres(is_import boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    has_other_language boolean;
BEGIN
    UPDATE feed_state
    SET main_language = most_common.language
    FROM (
        SELECT split_part(language, '-', 1) AS language
        FROM editions
        WHERE language IS NOT NULL
        GROUP BY 1
        ORDER BY count(*) DESC, 1
        LIMIT 1
    ) most_common
    WHERE main_language IS DISTINCT FROM most_common.language;
    has_other_language := FOUND;
    IF has_other_language THEN
        PERFORM match_works(NULL);
    END IF;
    IF is_import OR has_other_language THEN
        PERFORM list_genres_of_editions(NULL);
        -- Not now(), the start of the transaction: decks that were built during an import contain nothing of it.
        UPDATE feed_state SET decks_valid_since = clock_timestamp();
    END IF;
    PERFORM count_genres();
END
$$;

-- Name: refresh_oauth_grant(uuid, uuid, uuid, bytea, bytea, integer, public.access_scope[], uuid, bytea, text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.refresh_oauth_grant(client uuid, owner uuid, of_grant uuid, given_hash bytea, successor_hash bytea, grace_seconds integer, requested public.access_scope[], new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, OUT outcome text, OUT stored_hash bytea, OUT stored_generation integer, OUT scopes text[]) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: refresh_popularity(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.refresh_popularity() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    catalog_weight CONSTANT float8 := 5000;
    catalog_ratings CONSTANT float8 := (SELECT greatest(sum(ratings_count), 1) FROM editions);
    today CONSTANT float8 := half_life_power(now());
BEGIN
    WITH counted AS (
        SELECT
            e.id,
            e.ratings_count
                + coalesce((s.voice + 2 * s.recent::float8 / today) / 100, 0) * catalog_ratings / catalog_weight AS popularity
        FROM editions e
        LEFT JOIN work_records w ON w.edition_id = e.id
        LEFT JOIN editions f ON f.id = w.founder_id
        LEFT JOIN work_signals s ON s.number = coalesce(f.number, e.number)
    )
    UPDATE editions e
    SET popularity = counted.popularity
    FROM counted
    WHERE counted.id = e.id AND abs(counted.popularity - e.popularity) > 0.05 * (1 + e.popularity);
END
$$;

-- Name: refresh_read_books(uuid, uuid[], boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.refresh_read_books(owner uuid, ids uuid[], clears_page boolean) RETURNS void
    LANGUAGE sql
    SET enable_seqscan TO 'off'
    AS $$
    UPDATE books b
    SET started_at = updated.started_at,
        finished_at = updated.finished_at,
        current_page = updated.current_page,
        updated_at = now()
    FROM (
        SELECT
            k.id,
            date_time(latest.started_on, k.started_at, u.time_zone) AS started_at,
            CASE
                WHEN latest.outcome = 'FINISHED' THEN date_time(latest.finished_on, k.finished_at, u.time_zone)
            END AS finished_at,
            CASE
                WHEN latest.outcome <> 'READING' THEN k.current_page
                WHEN clears_page THEN newest.page
                ELSE coalesce(newest.page, k.current_page)
            END AS current_page
        FROM books k
        -- OFFSET 0: the function is called once, and not for each book.
        CROSS JOIN (SELECT known_zone(u.time_zone) AS time_zone FROM users u WHERE u.id = owner OFFSET 0) u
        CROSS JOIN LATERAL (
            SELECT r.id, r.started_on, r.finished_on, r.outcome, r.length_seconds
            FROM reads r
            WHERE r.user_id = owner AND r.book_id = k.id
            ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
            LIMIT 1
        ) latest
        LEFT JOIN LATERAL (
            SELECT progress_page_of(p.page, p.percent, p.seconds, k.page_count, latest.length_seconds) AS page
            FROM progress_entries p
            WHERE p.user_id = owner AND p.read_id = latest.id AND latest.outcome = 'READING'
            ORDER BY p.at DESC, p.id DESC
            LIMIT 1
        ) newest ON true
        WHERE k.user_id = owner AND k.id = ANY(ids)
    ) updated
    WHERE b.user_id = owner
        AND b.id = updated.id
        AND (b.started_at, b.finished_at, b.current_page)
            IS DISTINCT FROM (updated.started_at, updated.finished_at, updated.current_page)
$$;

-- Name: refresh_search_words(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.refresh_search_words() RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    CREATE TEMPORARY TABLE counted ON COMMIT DROP AS
        SELECT word, ndoc AS editions
        FROM ts_stat('SELECT search_vector FROM editions')
        WHERE length(word) BETWEEN 2 AND 40;
    INSERT INTO search_words AS w (word, editions, forms)
    SELECT c.word, c.editions, search_forms(c.word)
    FROM counted c
    LEFT JOIN search_words known ON known.word = c.word
    WHERE known.editions IS DISTINCT FROM c.editions
    ON CONFLICT (word) DO UPDATE
    SET editions = excluded.editions;
    DELETE FROM search_words w
    WHERE NOT EXISTS (
        SELECT
        FROM counted c
        WHERE c.word = w.word
    );
    DROP TABLE counted;
END
$$;

-- Name: refuse_session(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.refuse_session() RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the session has ended' USING ERRCODE = 'BP401';
END
$$;

-- Name: register_oauth_client(uuid, uuid, text, text[], public.access_scope[], boolean, bytea, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.register_oauth_client(new_id uuid, tenant uuid, new_name text, uris text[], allowed public.access_scope[], device boolean, new_secret_hash bytea, clients_max integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: release_deleted_identity(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.release_deleted_identity() RETURNS void
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
    PERFORM delete_allowed_oauth_requests();
    DELETE FROM oauth_grants g
    WHERE g.user_id = owner;
    DELETE FROM access_tokens t
    WHERE t.user_id = owner;
    PERFORM set_config('app.user_id', '', true);
END
$$;

-- Name: release_events(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.release_events(holder uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DELETE FROM leases l
    WHERE l.name = 'events' AND l.holder = release_events.holder
$$;

-- Name: release_jobs(uuid[], integer[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.release_jobs(ids uuid[], fences integer[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE jobs j
    SET state = 'READY',
        attempts = j.attempts - 1,
        run_at = now(),
        worker = NULL,
        lease_until = NULL,
        updated_at = now()
    FROM unnest(ids, fences) AS held (id, fence)
    WHERE j.id = held.id AND j.fence = held.fence AND j.state = 'RUNNING';
    SELECT pg_notify('jobs', '')
$$;

-- Name: renew_jobs(uuid[], integer[], integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.renew_jobs(ids uuid[], fences integer[], lease_ms integer) RETURNS SETOF uuid
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE jobs j
    SET lease_until = now() + lease_ms * interval '1 millisecond'
    FROM unnest(ids, fences) AS held (id, fence)
    WHERE j.id = held.id AND j.fence = held.fence AND j.state = 'RUNNING'
    RETURNING j.id
$$;

-- Name: replace_similar(bigint[], bigint[], bigint[], bigint[], double precision[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores double precision[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
DECLARE
    relearned CONSTANT uuid[] := ARRAY(SELECT id FROM editions WHERE number = ANY(learned));
    affected uuid[];
BEGIN
    IF sources IS NOT NULL THEN
        affected := ARRAY(SELECT id FROM editions WHERE number = ANY(sources));
    ELSE
        affected := ARRAY(
            SELECT s.edition_id
            FROM edition_similar s
            JOIN editions e ON e.id = s.similar_id
            WHERE e.number = ANY(learned)
            UNION
            SELECT id FROM editions WHERE number = ANY(froms)
        );
    END IF;
    -- A temporary table, because the old links are read before they are deleted.
    CREATE TEMPORARY TABLE new_links ON COMMIT DROP AS
        WITH links AS (
            SELECT edition_id, similar_id, score
            FROM edition_similar
            WHERE sources IS NULL AND edition_id = ANY(affected) AND similar_id <> ALL(relearned)
            UNION ALL
            SELECT f.id, t.id, l.score
            FROM unnest(froms, tos, scores) AS l (from_number, to_number, score)
            JOIN editions f ON f.number = l.from_number
            JOIN editions t ON t.number = l.to_number
        ), strongest AS (
            SELECT
                *,
                row_number() OVER (PARTITION BY edition_id ORDER BY abs(score) DESC, similar_id) AS strength
            FROM links
        )
        SELECT
            edition_id,
            row_number() OVER (PARTITION BY edition_id ORDER BY score DESC, similar_id) AS rank,
            similar_id,
            score
        FROM strongest
        WHERE strength <= 50;
    DELETE FROM edition_similar
    WHERE edition_id = ANY(affected);
    INSERT INTO edition_similar (edition_id, rank, similar_id, score)
    SELECT edition_id, rank, similar_id, score
    FROM new_links;
    DROP TABLE new_links;
END
$$;

-- Name: replayed_position(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.replayed_position() RETURNS TABLE("position" bigint, mark uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT pg_last_wal_replay_lsn() - '0/0', (SELECT t.mark FROM timelines t ORDER BY t.number DESC LIMIT 1)
$$;

-- Name: reserve_source_requests(text, integer, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.reserve_source_requests(source text, requested integer, used_max integer, background_max integer) RETURNS TABLE(granted integer, resets_in_ms bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    usage source_usage;
BEGIN
    INSERT INTO source_usage AS u (source, day)
    VALUES (reserve_source_requests.source, today)
    ON CONFLICT (source, day) DO UPDATE
    SET used = u.used
    RETURNING u.* INTO usage;
    granted := greatest(
        0,
        least(
            reserve_source_requests.requested,
            used_max - usage.used,
            background_max - usage.used_in_background
        )
    );
    IF granted > 0 THEN
        UPDATE source_usage u
        SET used = u.used + granted,
            used_in_background = u.used_in_background + CASE WHEN background_max IS NULL THEN 0 ELSE granted END
        WHERE u.source = usage.source AND u.day = usage.day;
    END IF;
    -- The first reservation of a day deletes the rows of old days.
    IF usage.used = 0 THEN
        DELETE FROM source_usage u
        WHERE u.source = usage.source AND u.day < usage.day - 30;
    END IF;
    resets_in_ms := greatest(
        0,
        ceil(extract(epoch FROM ((usage.day + 1)::timestamp AT TIME ZONE 'UTC') - clock_timestamp()) * 1000)
    )::bigint;
    RETURN NEXT;
END
$$;

-- Name: restorable_for(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.restorable_for() RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT interval '30 days'
$$;

-- Name: restore_book(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.restore_book(owner uuid, restored_id uuid, OUT outcome text, OUT other_id uuid) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    stored deleted_books;
    book books;
BEGIN
    outcome := 'EXISTS';
    IF EXISTS (SELECT FROM books b WHERE b.user_id = owner AND b.id = restored_id) THEN
        RETURN;
    END IF;
    -- A purge that is running either waits for this transaction or makes the row disappear.
    SELECT d.* INTO stored
    FROM deleted_books d
    WHERE d.user_id = owner AND d.id = restored_id AND d.deleted_at > now() - restorable_for()
    FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'NOT_FOUND';
        RETURN;
    END IF;

    book := jsonb_populate_record(NULL::books, stored.book);
    -- The catalog may have deleted the edition. A link by title does not identify the edition, so it is made again below.
    IF book.linked_by = 'TITLE' OR NOT EXISTS (SELECT FROM editions e WHERE e.id = book.edition_id) THEN
        book.edition_id := NULL;
        book.linked_by := 'CARD';
    END IF;
    SELECT b.id INTO other_id
    FROM books b
    WHERE b.user_id = owner AND (b.isbn13 = book.isbn13 OR b.edition_id = book.edition_id)
    ORDER BY b.isbn13 IS NOT DISTINCT FROM book.isbn13 DESC
    LIMIT 1;
    IF FOUND THEN
        outcome := 'CONFLICT';
        RETURN;
    END IF;

    PERFORM insert_stored_rows(
        'books',
        jsonb_build_array(
            stored.book || jsonb_build_object(
                'edition_id', book.edition_id,
                'linked_by', book.linked_by,
                -- A cover search that was running has ended without the book.
                'cover_requested_at', NULL,
                'cover_status', CASE
                    WHEN stored.cover IS NOT NULL THEN 'READY'
                    WHEN book.cover_status IN ('READY', 'FETCHING') THEN 'NONE'
                    ELSE book.cover_status::text
                END
            )
        )
    );
    PERFORM link_books(ARRAY[owner], ARRAY[restored_id]);
    IF stored.review IS NOT NULL THEN
        -- An import may have stored a review with the same id.
        IF EXISTS (SELECT FROM reviews r WHERE r.user_id = owner AND r.id = (stored.review ->> 'id')::uuid) THEN
            stored.review := stored.review || jsonb_build_object('id', gen_random_uuid());
        END IF;
        PERFORM insert_stored_rows('reviews', jsonb_build_array(stored.review));
    END IF;
    IF stored.cover IS NOT NULL THEN
        PERFORM insert_stored_rows('covers', jsonb_build_array(stored.cover));
    END IF;
    IF stored.reads IS NOT NULL THEN
        PERFORM insert_stored_rows('reads', stored.reads);
        -- An import may have stored a read with the same id for another book.
        stored.progress_entries := (
            SELECT jsonb_agg(p)
            FROM jsonb_array_elements(stored.progress_entries) AS p
            JOIN reads r ON r.user_id = owner AND r.id = (p ->> 'read_id')::uuid AND r.book_id = restored_id
        );
        IF stored.progress_entries IS NOT NULL THEN
            PERFORM insert_stored_rows('progress_entries', stored.progress_entries);
        END IF;
    END IF;
    IF stored.notes IS NOT NULL THEN
        -- Another book may have a note with the same id by now.
        PERFORM insert_stored_rows(
            'notes',
            (
                SELECT jsonb_agg(
                    CASE
                        WHEN EXISTS (SELECT FROM notes k WHERE k.user_id = owner AND k.id = (n ->> 'id')::uuid)
                            THEN n || jsonb_build_object('id', gen_random_uuid())
                        ELSE n
                    END
                )
                FROM jsonb_array_elements(stored.notes) AS n
            )
        );
    END IF;
    IF stored.ereader_position IS NOT NULL THEN
        PERFORM insert_stored_rows('ereader_positions', jsonb_build_array(stored.ereader_position));
    END IF;
    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
    SELECT owner, s.id, restored_id, book.added_at
    FROM shelves s
    WHERE s.user_id = owner AND s.id = ANY(stored.shelf_ids);
    DELETE FROM deleted_books d
    WHERE d.user_id = owner AND d.id = restored_id;
    outcome := 'RESTORED';
END
$$;

-- Name: retry_webhook_deliveries(uuid, uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.retry_webhook_deliveries(webhook uuid, ids uuid[]) RETURNS bigint
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

-- Name: revoke_oauth_token(uuid, bytea); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.revoke_oauth_token(client uuid, given_hash bytea) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DELETE FROM access_tokens t
    USING oauth_grants g
    WHERE t.token_hash = given_hash AND g.user_id = t.user_id AND g.id = t.grant_id AND g.client_id = client
$$;

-- Name: rows_with(jsonb, jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.rows_with(stored jsonb, members jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT jsonb_agg(r || members)
    FROM jsonb_array_elements(stored) r
$$;

-- Name: save_author_lookup(uuid, text, text[], text[], text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.save_author_lookup(id uuid, name text, names text[], keys text[], bios text[]) RETURNS boolean
    LANGUAGE sql
    AS $$
    INSERT INTO authors AS a (id, name, open_library_key, bio, bio_requested_at)
    SELECT save_author_lookup.id, save_author_lookup.name, found.key, found.bio, now()
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (
        SELECT given.key, given.bio
        FROM unnest(names, keys, bios) WITH ORDINALITY AS given (name, key, bio, position)
        WHERE author_key(given.name) = author_key(save_author_lookup.name)
        ORDER BY author_id(given.name) <> save_author_lookup.id, given.bio IS NULL, given.position
        LIMIT 1
    ) found ON true
    ON CONFLICT (id) DO UPDATE
    SET open_library_key = coalesce(excluded.open_library_key, a.open_library_key),
        bio = coalesce(excluded.bio, a.bio),
        bio_requested_at = excluded.bio_requested_at,
        updated_at = now()
    RETURNING a.bio IS NOT NULL
$$;

-- Name: save_authors(text[], text[], text[], boolean[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.save_authors(names text[], keys text[], bios text[], are_records boolean[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '300ms'
    AS $$
BEGIN
    IF current_setting('app.catalog_locked', true) = 'on' THEN
        RETURN;
    END IF;
    INSERT INTO authors AS a (id, name, open_library_key, bio, bio_requested_at)
    SELECT DISTINCT ON (author_id(given.name))
        author_id(given.name), given.name, given.key, given.bio, CASE WHEN given.is_record THEN now() END
    FROM unnest(names, keys, bios, are_records) WITH ORDINALITY AS given (name, key, bio, is_record, position)
    -- A fixed order prevents deadlocks between servers.
    ORDER BY 1, given.bio IS NULL, given.position
    ON CONFLICT (id) DO UPDATE
    SET open_library_key = coalesce(a.open_library_key, excluded.open_library_key),
        bio = coalesce(a.bio, excluded.bio),
        bio_requested_at = coalesce(excluded.bio_requested_at, a.bio_requested_at),
        updated_at = now()
    WHERE coalesce(a.open_library_key, excluded.open_library_key) IS NOT DISTINCT FROM excluded.open_library_key
        AND (
            (a.open_library_key IS NULL AND excluded.open_library_key IS NOT NULL)
            OR (a.bio IS NULL AND excluded.bio IS NOT NULL)
            OR excluded.bio_requested_at > coalesce(a.bio_requested_at, '-infinity') + interval '1 day'
        );
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    NULL;
END
$$;

-- Name: save_cards(uuid, uuid[], uuid[], boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.save_cards(reader uuid, cards uuid[], book_ids uuid[], fetches_covers boolean) RETURNS TABLE(card_id uuid, book_id uuid)
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN QUERY
    INSERT INTO books (
        user_id, id, edition_id, title, authors, author_roles, isbn13, publisher, published_date, page_count, language,
        genre, description, cover_status, cover_requested_at
    )
    SELECT
        reader, c.book_id, e.id, e.title, e.authors, e.author_roles, e.isbn13, e.publisher, e.published_date, e.page_count,
        e.language, e.genres[1], e.description,
        CASE WHEN fetches_covers THEN 'FETCHING' ELSE 'NONE' END::cover_status,
        CASE WHEN fetches_covers THEN now() END
    FROM unnest(cards, book_ids) AS c (card_id, book_id)
    JOIN editions e ON e.id = c.card_id
    ON CONFLICT DO NOTHING
    RETURNING edition_id, id;
END
$$;

-- Name: save_edition(text, text, text, text[], text[], text, text, integer, text, text[], text, text, text[], text[], text[], text[], text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.save_edition(isbn13 text, title text, subtitle text, authors text[], author_roles text[], publisher text, published_date text, page_count integer, language text, subjects text[], description text, hook text, cover_links text[], sources text[], keys text[], work_sources text[], work_keys text[]) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '300ms'
    AS $$
#variable_conflict use_column
DECLARE
    saved uuid;
BEGIN
    IF current_setting('app.catalog_locked', true) = 'on' THEN
        RETURN NULL;
    END IF;
    INSERT INTO editions AS e (
        id, isbn13, title, subtitle, authors, author_roles, publisher, published_date, page_count, language, subjects,
        genres, description, hook, cover_links
    )
    VALUES (
        gen_random_uuid(),
        save_edition.isbn13,
        save_edition.title,
        save_edition.subtitle,
        save_edition.authors,
        save_edition.author_roles::author_role[],
        save_edition.publisher,
        save_edition.published_date,
        save_edition.page_count,
        save_edition.language,
        save_edition.subjects,
        canonical_genres(save_edition.subjects),
        save_edition.description,
        save_edition.hook,
        save_edition.cover_links
    )
    ON CONFLICT (isbn13) DO UPDATE
    SET subtitle = coalesce(e.subtitle, excluded.subtitle),
        authors = CASE WHEN e.authors = '{}' THEN excluded.authors ELSE e.authors END,
        author_roles = CASE WHEN e.authors = '{}' THEN excluded.author_roles ELSE e.author_roles END,
        publisher = coalesce(e.publisher, excluded.publisher),
        published_date = coalesce(e.published_date, excluded.published_date),
        page_count = coalesce(e.page_count, excluded.page_count),
        language = coalesce(e.language, excluded.language),
        subjects = CASE WHEN e.genres = '{}' THEN excluded.subjects ELSE e.subjects END,
        genres = CASE WHEN e.genres = '{}' THEN excluded.genres ELSE e.genres END,
        description = coalesce(e.description, excluded.description),
        hook = coalesce(e.hook, excluded.hook),
        cover_links = CASE WHEN e.cover_links = '{}' THEN excluded.cover_links ELSE e.cover_links END,
        updated_at = now()
    RETURNING e.id INTO saved;
    INSERT INTO edition_sources (source, key, edition_id)
    SELECT s.source, s.key, saved
    FROM unnest(save_edition.sources, save_edition.keys) AS s (source, key)
    ORDER BY s.source, s.key
    ON CONFLICT DO NOTHING;
    IF work_keys <> '{}' THEN
        PERFORM save_work_keys(array_fill(saved, ARRAY[cardinality(work_keys)]), work_sources, work_keys);
    END IF;
    RETURN saved;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    PERFORM set_config('app.catalog_locked', 'on', true);
    RETURN NULL;
END
$$;

-- Name: save_sweep_checkpoint(text, bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.save_sweep_checkpoint("position" text, folders bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO checkpoints (task, position, done)
    VALUES ('storage.sweep', save_sweep_checkpoint.position, save_sweep_checkpoint.folders)
    ON CONFLICT (task) DO UPDATE
    SET position = excluded.position,
        done = excluded.done,
        updated_at = now()
$$;

-- Name: save_work_keys(uuid[], text[], text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.save_work_keys(ids uuid[], sources text[], keys text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    changed uuid[];
BEGIN
    WITH saved AS (
        INSERT INTO edition_work_keys AS k (edition_id, source, key)
        SELECT DISTINCT ON (given.id, given.source) given.id, given.source, given.key
        FROM unnest(ids, save_work_keys.sources, keys) AS given (id, source, key)
        ORDER BY given.id, given.source
        ON CONFLICT (edition_id, source) DO UPDATE
        SET key = excluded.key
        WHERE k.key <> excluded.key
        RETURNING edition_id
    )
    SELECT array_agg(DISTINCT edition_id) INTO changed
    FROM saved;
    IF changed IS NOT NULL THEN
        PERFORM match_works(changed);
    END IF;
END
$$;

-- Name: schedule_job(text, bigint, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.schedule_job(kind text, every_ms bigint, attempts_max integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO jobs AS j (kind, payload, key, every, attempts_max)
    VALUES (schedule_job.kind, '{}', 'schedule', every_ms * interval '1 millisecond', schedule_job.attempts_max)
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET every = excluded.every,
        attempts_max = excluded.attempts_max,
        run_at = least(j.run_at, now() + excluded.every)
    WHERE (j.every, j.attempts_max) IS DISTINCT FROM (excluded.every, excluded.attempts_max)
$$;

-- Name: schedule_webhook_delivery(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.schedule_webhook_delivery(webhook uuid, owner uuid) RETURNS void
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

-- Name: search_candidates(text[], double precision[], double precision); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_candidates(parts text[], counts double precision[], total double precision) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    all_parts tsquery := array_to_string(parts, ' & ')::tsquery;
    rare_parts tsquery;
    -- The expected number of editions that match all parts, and the rare parts.
    expected float8 := total;
    expected_of_rare float8 := total;
    part record;
BEGIN
    FOR part IN
        SELECT *
        FROM unnest(parts, counts) AS p (spelling, count)
        ORDER BY count NULLS FIRST
    LOOP
        IF rare_parts IS NULL OR expected_of_rare > 500 AND part.count < total THEN
            rare_parts := CASE
                WHEN rare_parts IS NULL THEN part.spelling::tsquery
                ELSE rare_parts && part.spelling::tsquery
            END;
            expected_of_rare := expected_of_rare * least(1, coalesce(part.count, 0) / total);
        END IF;
        expected := expected * least(1, coalesce(part.count, 0) / total);
    END LOOP;
    IF expected > 8000 THEN
        RETURN ARRAY(
            SELECT e.id
            FROM (
                SELECT id, search_vector, popularity
                FROM editions
                ORDER BY popularity DESC, id
                LIMIT 10000
            ) e
            -- The function instead of the operator @@, so that the index is not used.
            WHERE ts_match_vq(e.search_vector, all_parts)
            ORDER BY e.popularity DESC, e.id
            LIMIT 100
        );
    END IF;
    RETURN ARRAY(
        SELECT e.id
        FROM (
            SELECT id, popularity
            FROM editions
            WHERE search_vector @@ rare_parts AND ts_match_vq(search_vector, all_parts)
            LIMIT 10000
        ) e
        ORDER BY e.popularity DESC, e.id
        LIMIT 200
    );
END
$$;

-- Name: search_editions(text, integer, double precision, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_editions(folded text, rows_max integer, after_score double precision, after_id uuid) RETURNS TABLE(id uuid, score double precision, is_match boolean)
    LANGUAGE plpgsql STABLE ROWS 50
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    enough CONSTANT int := 10;
    -- Characters such as ligatures fold to several letters.
    query CONSTANT text := left(folded, 400);
    compared CONSTANT text := left(folded, 100);
    trigram_letters int := 48;
    total float8 := (
        SELECT greatest(reltuples, 1000)
        FROM pg_class
        WHERE oid = 'editions'::regclass
    );
    -- Without repeated words. The last word stays the last one.
    words text[] := ARRAY(
        SELECT w.word
        FROM unnest((string_to_array(query, ' '))[1:12]) WITH ORDINALITY w (word, position)
        GROUP BY w.word
        ORDER BY max(w.position)
    );
    n int := coalesce(cardinality(words), 0);
    -- The parts of the query, one per word, and how many editions match each; null if the catalog does not have the word.
    parts text[] := '{}';
    counts float8[] := '{}';
    spelling text;
    count float8;
    similar_words text[];
    split text;
    dropped int;
    exact tsquery;
    candidates uuid[];
BEGIN
    FOR i IN 1..n LOOP
        spelling := quote_literal(words[i]);
        count := (
            SELECT w.editions
            FROM search_words w
            WHERE w.word = words[i]
        );
        IF i = n THEN
            spelling := spelling || ':*';
            count := (
                SELECT CASE
                    WHEN count(*) = 1000 OR sum(w.editions) > greatest(total / 10, 10000) THEN total
                    ELSE sum(w.editions)
                END
                FROM (
                    SELECT w.editions
                    FROM search_words w
                    WHERE w.word ^@ words[i]
                    LIMIT 1000
                ) w
            );
        END IF;
        IF count IS NULL AND length(words[i]) > 1 THEN
            SELECT s.trigram_letters, s.similar_words
            INTO trigram_letters, similar_words
            FROM search_similar_words(words[i], trigram_letters) s;
            split := (
                SELECT format('%L & %L', a.word, b.word)
                FROM generate_series(2, length(words[i]) - 2) k
                CROSS JOIN LATERAL (SELECT * FROM search_words WHERE word = left(words[i], k) OFFSET 0) a
                CROSS JOIN LATERAL (SELECT * FROM search_words WHERE word = substr(words[i], k + 1) OFFSET 0) b
                WHERE length(words[i]) <= 40
                ORDER BY least(a.editions, b.editions) DESC
                LIMIT 1
            );
            spelling := concat_ws(
                ' | ',
                spelling,
                (SELECT string_agg(quote_literal(w), ' | ') FROM unnest(similar_words) w),
                split
            );
            count := (
                SELECT sum(w.editions)
                FROM search_words w
                WHERE w.word = ANY(similar_words)
            );
            IF split IS NOT NULL THEN
                count := coalesce(count, 0) + 100;
            END IF;
        END IF;
        parts := parts || ('(' || spelling || ')');
        -- The catalog's words have at least two letters.
        counts := counts || coalesce(count, CASE WHEN length(words[i]) = 1 THEN total / 20 END);
    END LOOP;
    IF n = 0 THEN
        RETURN;
    END IF;
    FOR i IN 1..n - 1 LOOP
        count := (
            SELECT w.editions
            FROM search_words w
            WHERE w.word = words[i] || words[i + 1]
        );
        -- Reading the index entries of all words that begin with "a" takes longer than all the rest.
        IF count IS NOT NULL AND (counts[i + 1] < total) IS NOT FALSE THEN
            parts[i] := format('(%s & %s | %L)', parts[i], parts[i + 1], words[i] || words[i + 1]);
            parts[i + 1] := parts[i];
            counts[i] := count + least(coalesce(counts[i], 0), coalesce(counts[i + 1], 0));
            counts[i + 1] := counts[i];
        END IF;
    END LOOP;
    exact := array_to_string(parts, ' & ')::tsquery;
    -- OFFSET 0 makes the planner use the index of titles. Without statistics of them, it read a million editions in order of
    -- popularity.
    candidates := ARRAY(
        SELECT e.id
        FROM (
            SELECT t.id, t.popularity
            FROM editions t
            WHERE t.search_title = query
            OFFSET 0
        ) e
        ORDER BY e.popularity DESC, e.id
        LIMIT 50
    ) || search_candidates(parts, counts, total);
    IF cardinality(candidates) < enough THEN
        -- A rare word may be a misspelling that the catalog also has.
        FOR i IN 1..n LOOP
            IF length(words[i]) > 3 AND counts[i] < greatest(100, total / 1000) THEN
                SELECT s.trigram_letters, s.similar_words
                INTO trigram_letters, similar_words
                FROM search_similar_words(words[i], trigram_letters) s;
                IF similar_words <> '{}' THEN
                    parts[i] := format(
                        '(%s | %s)',
                        parts[i],
                        (SELECT string_agg(quote_literal(w), ' | ') FROM unnest(similar_words) w)
                    );
                    counts[i] := counts[i] + (
                        SELECT sum(w.editions)
                        FROM search_words w
                        WHERE w.word = ANY(similar_words)
                    );
                END IF;
            END IF;
        END LOOP;
        candidates := candidates || search_candidates(parts, counts, total);
        WHILE cardinality(candidates) < enough AND cardinality(parts) > 1 LOOP
            dropped := (
                SELECT position
                FROM unnest(counts) WITH ORDINALITY c (count, position)
                ORDER BY c.count DESC NULLS FIRST, position
                LIMIT 1
            );
            parts := parts[:dropped - 1] || parts[dropped + 1:];
            counts := counts[:dropped - 1] || counts[dropped + 1:];
            candidates := candidates || search_candidates(parts, counts, total);
        END LOOP;
    END IF;
    RETURN QUERY
        SELECT ranked.id, ranked.score, ranked.is_match
        FROM (
            SELECT DISTINCT ON (scored.founder_id) scored.id, scored.score, scored.is_match
            FROM (
                SELECT
                    e.id,
                    coalesce(w.founder_id, e.id) AS founder_id,
                    e.search_vector @@ exact AS is_match,
                    similarity(e.search_title, compared)
                        + word_similarity(compared, e.search_text)
                        + 0.5 * (e.search_title = query)::int
                        + 0.2 * (e.search_title ^@ (query || ' '))::int
                        + 0.5 * (e.search_vector @@ exact)::int
                        + 0.3 * (strpos(' ' || e.search_text || ' ', ' ' || query || ' ') > 0)::int
                        + 0.05 * ln(1 + e.popularity) AS score
                FROM (SELECT DISTINCT unnest(candidates) AS id) c
                CROSS JOIN LATERAL (SELECT * FROM editions e WHERE e.id = c.id OFFSET 0) e
                LEFT JOIN LATERAL (
                    SELECT w.founder_id FROM work_records w WHERE w.edition_id = e.id OFFSET 0
                ) w ON true
            ) scored
            ORDER BY scored.founder_id, scored.score DESC, scored.id DESC
        ) ranked
        WHERE after_score IS NULL OR (ranked.score, ranked.id) < (after_score, after_id)
        ORDER BY ranked.score DESC, ranked.id DESC
        LIMIT rows_max;
END
$$;

-- Name: search_fold(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_fold(value text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
BEGIN
    IF octet_length(value) = char_length(value) THEN
        RETURN btrim(regexp_replace(
            replace(translate(lower(value COLLATE "C"), '''`', ''), '&', ' and '),
            '[^a-z0-9]+', ' ', 'g'));
    END IF;
    RETURN btrim(regexp_replace(
        regexp_replace(
            regexp_replace(
                replace(
                    lower(public.unaccent('public.unaccent'::regdictionary, normalize(value, NFKC)) COLLATE "und-x-icu"),
                    '&', ' and '),
                '[''’ʼ`]', '', 'g'),
            '([\u2E80-\u9FFF\uF900-\uFAFF])', ' \1 ', 'g'),
        '[^[:alnum:]]+', ' ', 'g'));
END
$$;

-- Name: search_forms(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_forms(word text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT array_agg(DISTINCT left(word, n - 1) || substr(word, n + 1)) || word
    FROM generate_series(1, length(word)) n
$$;

-- Name: search_notes(text, public.note_color); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_notes(search text, of_color public.note_color) RETURNS TABLE(id uuid, created_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
DECLARE
    owner uuid := app_user_id();
    prefix text := note_key_prefix(owner) || ' ';
    words text[] := (
        ARRAY(
            SELECT left(w, 200)
            FROM string_to_table(search_fold(search), ' ') w
            WHERE w <> ''
        )
    )[1:6];
    -- The part of a text-search query for each word.
    parts text[];
    word text;
    similar_words text[];
    trigram_letters int := 48;
    -- For each word, a regular expression of the titles that match it (search_patterns).
    patterns text[];
    -- A group of books: the parts that their notes must match, and the books. The last group is all other books.
    needed text[];
    book_ids uuid[];
    titled_ids uuid[];
    is_found boolean := false;
BEGIN
    IF owner IS NULL THEN
        RETURN;
    END IF;
    IF words = '{}' THEN
        RETURN QUERY
            SELECT n.id, n.created_at
            FROM notes n
            WHERE n.user_id = owner
                AND strpos(concat_ws(E'\n', n.text, n.comment, n.chapter), search) > 0
                AND (of_color IS NULL OR n.color = of_color);
        RETURN;
    END IF;
    FOR is_lenient IN 0..1 LOOP
        parts := '{}';
        titled_ids := '{}';
        FOREACH word IN ARRAY words LOOP
            similar_words := '{}';
            IF is_lenient = 1 AND length(word) > 3 THEN
                SELECT s.trigram_letters, s.similar_words
                INTO trigram_letters, similar_words
                FROM search_similar_words(word, trigram_letters) s;
            END IF;
            parts := parts || concat_ws(
                ' | ',
                quote_literal(prefix || word) || ':*',
                (SELECT string_agg(quote_literal(prefix || s), ' | ') FROM unnest(similar_words) s)
            );
        END LOOP;
        IF is_lenient = 1 THEN
            patterns := search_patterns(
                words,
                ARRAY(
                    SELECT DISTINCT k.word
                    FROM (
                        SELECT string_to_table(left(b.search_text, 2000), ' ') AS word
                        FROM books b
                        WHERE b.user_id = owner
                        LIMIT 200000
                    ) k
                    WHERE length(k.word) BETWEEN 2 AND 42
                    LIMIT 20000
                )
            );
        END IF;
        FOR needed, book_ids IN
            SELECT g.needed, array_agg(g.id)
            FROM (
                SELECT
                    b.id,
                    ARRAY(
                        SELECT parts[i]
                        FROM generate_subscripts(words, 1) i
                        WHERE NOT CASE is_lenient
                            -- Short words of Latin letters are in so many titles that there would be a group for each combination.
                            WHEN 0 THEN octet_length(words[i]) > 2 AND b.text LIKE '% ' || words[i] || '%'
                            ELSE octet_length(words[i]) > 2 AND b.text ~ patterns[i]
                        END
                    ) AS needed
                FROM (
                    SELECT b.id, ' ' || left(b.search_text, 2000) || ' ' AS text
                    FROM books b
                    WHERE b.user_id = owner
                    OFFSET 0
                ) b
            ) g
            WHERE cardinality(g.needed) < cardinality(words)
            GROUP BY g.needed
            ORDER BY cardinality(g.needed)
            LIMIT 16
        LOOP
            titled_ids := titled_ids || book_ids;
            IF needed = '{}' THEN
                RETURN QUERY
                    SELECT n.id, n.created_at
                    FROM notes n
                    WHERE n.user_id = owner AND n.book_id = ANY(book_ids) AND (of_color IS NULL OR n.color = of_color);
            ELSE
                RETURN QUERY
                    SELECT n.id, n.created_at
                    -- Two readers may have the same prefix.
                    FROM (
                        SELECT *
                        FROM notes m
                        WHERE note_search_keys(m.user_id, m.text, m.comment, m.chapter)
                            @@ ('(' || array_to_string(needed, ') & (') || ')')::tsquery
                        OFFSET 0
                    ) n
                    WHERE n.user_id = owner AND n.book_id = ANY(book_ids) AND (of_color IS NULL OR n.color = of_color);
            END IF;
            is_found := is_found OR FOUND;
        END LOOP;
        RETURN QUERY
            SELECT n.id, n.created_at
            FROM (
                SELECT *
                FROM notes m
                WHERE note_search_keys(m.user_id, m.text, m.comment, m.chapter)
                    @@ ('(' || array_to_string(parts, ') & (') || ')')::tsquery
                OFFSET 0
            ) n
            WHERE n.user_id = owner AND n.book_id <> ALL(titled_ids) AND (of_color IS NULL OR n.color = of_color);
        EXIT WHEN is_found OR FOUND;
    END LOOP;
END
$$;

-- Name: search_patterns(text[], text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_patterns(words text[], known text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT array_agg(' (?:' || q.word || coalesce(s.alternatives, '') || ')' ORDER BY q.position)
    FROM (
        SELECT w.word, w.position, length(w.word) AS letters, ARRAY(
            SELECT left(w.word, n - 1) || substr(w.word, n + 1, 1) || substr(w.word, n, 1) || substr(w.word, n + 2)
            FROM generate_series(1, length(w.word) - 1) n
        ) AS swapped
        FROM unnest(words) WITH ORDINALITY w (word, position)
    ) q
    LEFT JOIN LATERAL (
        SELECT string_agg('|' || k.word || ' ', '' ORDER BY k.distance, k.word) AS alternatives
        FROM (
            SELECT w.word, levenshtein_less_equal(w.word, q.word, 2) AS distance
            FROM unnest(known) w (word)
            WHERE q.letters BETWEEN 4 AND 40
                AND CASE
                    WHEN abs(length(w.word) - q.letters) > 2 THEN false
                    WHEN q.letters > 6 THEN levenshtein_less_equal(w.word, q.word, 2) <= 2
                    ELSE levenshtein_less_equal(w.word, q.word, 1) <= 1 OR w.word = ANY(q.swapped)
                END
            ORDER BY distance, w.word
            LIMIT 16
        ) k
    ) s ON true
$$;

-- Name: search_similar_words(text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_similar_words(misspelled text, INOUT trigram_letters integer, OUT similar_words text[]) RETURNS record
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET "pg_trgm.similarity_threshold" TO '0.35'
    AS $$
BEGIN
    similar_words := '{}';
    IF length(misspelled) > 40 THEN
        RETURN;
    END IF;
    similar_words := ARRAY(
        SELECT w.word
        FROM search_words w
        WHERE w.forms && search_forms(misspelled) AND w.word <> misspelled
        ORDER BY w.editions DESC, w.word
        LIMIT CASE WHEN length(misspelled) < 6 THEN 16 ELSE 8 END
    );
    IF similar_words = '{}' AND length(misspelled) BETWEEN 6 AND trigram_letters THEN
        trigram_letters := trigram_letters - length(misspelled);
        similar_words := ARRAY(
            SELECT w.word
            FROM search_words w
            WHERE w.word % misspelled AND levenshtein(w.word, misspelled) <= length(misspelled) / 3
            ORDER BY levenshtein(w.word, misspelled), w.editions DESC, w.word
            LIMIT 4
        );
    END IF;
END
$$;

-- Name: search_text(text, text, text, text, text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_text(title text, subtitle text, series text, series_position text, authors text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN public.search_fold(
        concat_ws(' ', title, subtitle, series, series_position, array_to_string(authors, ' ')));
END
$$;

-- Name: search_vector(text, text, text, text, text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.search_vector(title text, subtitle text, series text, series_position text, authors text[]) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
DECLARE
    names text := public.search_fold(array_to_string(authors, ' '));
BEGIN
    RETURN setweight(to_tsvector('simple', public.search_fold(title)), 'A')
        || setweight(to_tsvector('simple', names), 'B')
        || setweight(to_tsvector('simple', regexp_replace(names, '(?<=\m\w) (?=\w\M)', '', 'g')), 'B')
        || setweight(to_tsvector('simple', public.search_fold(concat_ws(' ', subtitle, series, series_position))), 'C');
END
$$;

-- Name: series_id(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.series_id(name text) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$
DECLARE
    folded text := regexp_replace(public.search_fold(name), '^(?:the|an?) (?=.)|(?<=.) series$', '', 'g');
BEGIN
    RETURN overlay(
        overlay(md5('series ' || coalesce(nullif(folded, ''), name)) PLACING '8' FROM 13 FOR 1) PLACING '8' FROM 17 FOR 1
    )::uuid;
END
$_$;

-- Name: series_number(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.series_number(position_text text) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
    SELECT substring(position_text FROM '^\s*([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*$')::float8
$_$;

-- Name: set_computed_columns(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.set_computed_columns() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    ignored text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        ignored := public.limit_guest_books(NEW.user_id, NEW.id);
    END IF;
    NEW.author := coalesce(NEW.written_author, NEW.authors[1]);
    NEW.author_ids := public.author_ids(NEW.authors);
    NEW.series_id := public.series_id(NEW.series);
    NEW.search_text := public.search_text(NEW.title, NULL, NEW.series, NEW.series_position, NEW.authors);
    NEW.title_card_version := public.title_card_version(NEW.title, NEW.author, NEW.genre);
    IF TG_OP = 'UPDATE'
        AND (
            NEW.page_count IS DISTINCT FROM OLD.page_count
            OR NEW.genre IS DISTINCT FROM OLD.genre
            OR NEW.authors[1] IS DISTINCT FROM OLD.authors[1]
        )
    THEN
        UPDATE public.reads r
        SET page_count = NEW.page_count,
            genre = NEW.genre,
            author_id = NEW.author_ids[1],
            author = left(NEW.authors[1], 200)
        WHERE r.user_id = NEW.user_id AND r.book_id = NEW.id;
    END IF;
    RETURN NEW;
END
$$;

-- Name: set_cover(uuid, uuid, text, public.cover_source, integer, integer, text, text, integer[], bytea[], timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.set_cover(user_id uuid, book_id uuid, version text, source public.cover_source, width integer, height integer, dominant_color text, blur_hash text, byte_counts integer[], hashes bytea[], unless_newer_than timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    tenant tenants;
    current covers;
    status cover_status;
    added bigint := cover_bytes(set_cover.byte_counts);
    -- The bytes of the cover that is replaced.
    replaced bigint;
    excess bigint;
BEGIN
    -- The lock serializes concurrent covers of one book, and waits for a transaction that deletes the book.
    SELECT b.cover_status INTO status
    FROM books b
    WHERE b.user_id = set_cover.user_id AND b.id = set_cover.book_id
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no such book in the library.' USING ERRCODE = 'BP404';
    END IF;
    SELECT * INTO current
    FROM covers c
    WHERE c.user_id = set_cover.user_id AND c.book_id = set_cover.book_id;
    IF current.updated_at > unless_newer_than THEN
        RETURN current.version;
    END IF;

    SELECT t.* INTO tenant
    FROM tenants t
    JOIN users u ON u.tenant_id = t.id
    WHERE u.id = set_cover.user_id;
    -- The covers of deleted books use the storage, but a new cover may replace them.
    excess := added - tenant.user_storage_bytes_max + (
        SELECT coalesce(sum(cover_bytes(c.byte_counts)), 0)
        FROM stored_covers c
        WHERE c.owner_id = set_cover.user_id AND (c.book_id <> set_cover.book_id OR c.is_deleted)
    );
    IF excess > 0 THEN
        PERFORM drop_deleted_covers(set_cover.user_id, excess);
        IF added - tenant.user_storage_bytes_max + (
            SELECT coalesce(sum(cover_bytes(c.byte_counts)), 0)
            FROM stored_covers c
            WHERE c.owner_id = set_cover.user_id AND (c.book_id <> set_cover.book_id OR c.is_deleted)
        ) > 0 THEN
            RAISE EXCEPTION 'Your covers use all of your storage. Remove some, and try again.' USING ERRCODE = 'BP413';
        END IF;
    END IF;
    replaced := coalesce(cover_bytes(current.byte_counts), 0);
    excess := added - replaced - tenant.storage_bytes_max + (
        SELECT coalesce(sum(s.bytes), 0)
        FROM tenant_storage s
        WHERE s.tenant_id = tenant.id
    );
    IF excess > 0 THEN
        PERFORM drop_deleted_covers(set_cover.user_id, excess);
        IF added - replaced - tenant.storage_bytes_max + (
            SELECT coalesce(sum(s.bytes), 0)
            FROM tenant_storage s
            WHERE s.tenant_id = tenant.id
        ) > 0 THEN
            RAISE EXCEPTION 'The storage for covers is full. Try again later.' USING ERRCODE = 'BP413';
        END IF;
    END IF;

    UPDATE books b
    SET cover_status = 'READY',
        cover_requested_at = NULL,
        is_cover_removed = false,
        updated_at = CASE WHEN unless_newer_than IS NULL THEN now() ELSE b.updated_at END
    WHERE b.user_id = set_cover.user_id AND b.id = set_cover.book_id;
    -- Versions of the same image differ in their last 16 digits only.
    IF left(current.version, 16) = left(set_cover.version, 16) THEN
        UPDATE covers c
        SET source = set_cover.source
        WHERE c.user_id = set_cover.user_id AND c.book_id = set_cover.book_id AND c.source <> set_cover.source;
        IF status <> 'READY' THEN
            PERFORM record_unchanged_cover_event(set_cover.user_id, set_cover.book_id);
        END IF;
        RETURN current.version;
    END IF;
    INSERT INTO covers (
        user_id, book_id, tenant_id, version, source, width, height, dominant_color, blur_hash, byte_counts, hashes
    )
    VALUES (
        set_cover.user_id, set_cover.book_id, tenant.id, set_cover.version, set_cover.source,
        set_cover.width, set_cover.height, set_cover.dominant_color, set_cover.blur_hash,
        set_cover.byte_counts, set_cover.hashes
    )
    ON CONFLICT (user_id, book_id) DO UPDATE
    SET version = excluded.version,
        source = excluded.source,
        width = excluded.width,
        height = excluded.height,
        dominant_color = excluded.dominant_color,
        blur_hash = excluded.blur_hash,
        byte_counts = excluded.byte_counts,
        hashes = excluded.hashes,
        updated_at = now();
    RETURN set_cover.version;
END
$$;

-- Name: set_edition_cover(uuid, text, integer, integer, text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.set_edition_cover(id uuid, version text, width integer, height integer, dominant_color text, blur_hash text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
    UPDATE editions e
    SET cover_version = set_edition_cover.version,
        cover_width = set_edition_cover.width,
        cover_height = set_edition_cover.height,
        cover_dominant_color = set_edition_cover.dominant_color,
        cover_blur_hash = set_edition_cover.blur_hash
    WHERE e.id = set_edition_cover.id AND e.cover_version IS NULL;
    RETURN (
        SELECT e.cover_version
        FROM editions e
        WHERE e.id = set_edition_cover.id
    );
END
$$;

-- Name: set_found_cover(uuid, uuid, text, public.cover_source, integer, integer, text, text, integer[], bytea[], timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.set_found_cover(user_id uuid, book_id uuid, version text, source public.cover_source, width integer, height integer, dominant_color text, blur_hash text, byte_counts integer[], hashes bytea[], requested_at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    book books;
    current covers;
BEGIN
    SELECT * INTO book
    FROM books b
    WHERE b.user_id = set_found_cover.user_id AND b.id = set_found_cover.book_id
    FOR NO KEY UPDATE;
    IF NOT FOUND OR book.cover_requested_at IS DISTINCT FROM set_found_cover.requested_at THEN
        RETURN NULL;
    END IF;
    SELECT * INTO current
    FROM covers c
    WHERE c.user_id = set_found_cover.user_id AND c.book_id = set_found_cover.book_id;
    IF FOUND AND set_found_cover.requested_at IS NULL THEN
        RETURN current.version;
    END IF;
    -- A smaller image does not replace one that was found before.
    IF current.source NOT IN ('MANUAL_UPLOAD', 'URL') AND current.width > set_found_cover.width THEN
        PERFORM end_cover_search(
            set_found_cover.user_id, set_found_cover.book_id, set_found_cover.requested_at, 'READY', false);
        RETURN current.version;
    END IF;
    -- 'infinity' always sets the cover without changing books.updated_at, because the reader did not change the book.
    RETURN set_cover(
        set_found_cover.user_id, set_found_cover.book_id, set_found_cover.version,
        set_found_cover.source, set_found_cover.width, set_found_cover.height, set_found_cover.dominant_color,
        set_found_cover.blur_hash, set_found_cover.byte_counts, set_found_cover.hashes, 'infinity');
END
$$;

-- Name: set_oauth_code(uuid, bytea, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.set_oauth_code(request uuid, new_hash bytea, lifetime_seconds integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    UPDATE oauth_requests r
    SET code_hash = new_hash, code_expires_at = now() + lifetime_seconds * interval '1 second'
    WHERE r.id = request AND r.is_allowed AND r.grant_id IS NULL AND r.expires_at > now()
    RETURNING true
$$;

-- Name: set_reading_goal(uuid, uuid, integer, public.goal_unit, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.set_reading_goal(owner uuid, chosen uuid, of_year integer, of_unit public.goal_unit, new_target integer) RETURNS text
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM reading_goals g WHERE g.user_id = owner AND g.year = of_year AND g.unit = of_unit) THEN
        UPDATE reading_goals g
        SET target = new_target,
            updated_at = now()
        WHERE g.user_id = owner AND g.year = of_year AND g.unit = of_unit AND g.target <> new_target;
    ELSIF of_year > left(reader_today(owner), 4)::int + 10 THEN
        RETURN 'YEAR';
    ELSIF (SELECT count(*) >= 100 FROM reading_goals g WHERE g.user_id = owner) THEN
        RETURN 'FULL';
    ELSIF EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = owner AND t.id = chosen) THEN
        RETURN 'DELETED';
    ELSIF is_other_object(owner, chosen)
        OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = chosen)
        OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = chosen)
    THEN
        RETURN 'TAKEN';
    ELSE
        INSERT INTO reading_goals (user_id, id, year, unit, target)
        VALUES (owner, coalesce(chosen, gen_random_uuid()), of_year, of_unit, new_target);
    END IF;
    RETURN 'DONE';
END
$$;

-- Name: set_review_visibility(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.set_review_visibility() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF current_setting('app.bulk', true) = 'on' THEN
        RETURN NEW;
    END IF;
    NEW.is_visible := EXISTS (
        SELECT
        FROM books b
        WHERE b.user_id = NEW.user_id AND b.id = NEW.book_id AND b.status = 'READ'
    );
    RETURN NEW;
END
$$;

-- Name: settle_webhook_delivery(uuid, uuid, uuid, boolean, integer, text, bigint, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.settle_webhook_delivery(webhook uuid, owner uuid, delivery uuid, is_delivered boolean, status integer, message text, retry_after_ms bigint, is_gone boolean) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: share_rates(smallint[], uuid[], bigint[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.share_rates(kinds smallint[], keys uuid[], costs bigint[]) RETURNS TABLE(kind smallint, key uuid, refill bigint)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO rate_buckets AS b (kind, key, full_at)
    SELECT taken.kind, taken.key, now() + taken.cost * interval '1 microsecond'
    FROM unnest(kinds, keys, costs) AS taken (kind, key, cost)
    -- All servers lock the buckets in the same order.
    ORDER BY taken.kind, taken.key
    ON CONFLICT (kind, key) DO UPDATE
    SET full_at = least(
        greatest(b.full_at, now()) + (excluded.full_at - now()),
        now() + interval '10 minutes'
    )
    RETURNING b.kind, b.key, (extract(epoch FROM b.full_at - now()) * 1000000)::bigint
$$;

-- Name: sign_in(uuid, text, text, uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.sign_in(new_user uuid, email text, display_name text, guest uuid, guest_session uuid, OUT user_id uuid, OUT guest_outcome text) RETURNS record
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

-- Name: signals_to_learn(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.signals_to_learn() RETURNS TABLE(works bigint[], weights smallint[])
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT c.works, c.weights
    FROM (
        SELECT
            user_id,
            newest_at,
            signal_count,
            sum(signal_count) OVER (ORDER BY newest_at DESC, user_id ROWS UNBOUNDED PRECEDING) AS total
        FROM (
            SELECT user_id, newest_at, signal_count
            FROM collected_signals
            ORDER BY newest_at DESC, user_id
            LIMIT 100000
        ) latest
    ) newest
    JOIN collected_signals c USING (user_id)
    WHERE newest.total - newest.signal_count < 2000000 AND newest.signal_count > 0
    ORDER BY newest.newest_at DESC, user_id
$$;

-- Name: source_usage_today(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.source_usage_today() RETURNS TABLE(source text, used integer, used_in_background integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT u.source, u.used, u.used_in_background
    FROM source_usage u
    WHERE u.day = (now() AT TIME ZONE 'UTC')::date
$$;

-- Name: split_works(uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.split_works(cards uuid[]) RETURNS TABLE(decision bigint, work uuid, rest uuid)
    LANGUAGE plpgsql
    AS $$
DECLARE
    remaining uuid[];
BEGIN
    remaining := ARRAY(SELECT id FROM records_of_work(cards[1]) AS id WHERE id <> ALL(cards) ORDER BY id);
    IF remaining = '{}'
        OR EXISTS (SELECT FROM unnest(cards) AS card (id) WHERE card.id NOT IN (SELECT records_of_work(cards[1])))
        OR NOT EXISTS (SELECT FROM editions e WHERE e.id = cards[1])
    THEN
        RETURN;
    END IF;
    decision := decide_works('SPLIT', cards);
    work := work_id(coalesce((SELECT w.founder_id FROM work_records w WHERE w.edition_id = cards[1]), cards[1]));
    rest := work_id(coalesce((SELECT w.founder_id FROM work_records w WHERE w.edition_id = remaining[1]), remaining[1]));
    RETURN NEXT;
END
$$;

-- Name: start_oauth_request(uuid, uuid, uuid, text, public.access_scope[], integer, text, text, text, bytea, bytea); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.start_oauth_request(new_id uuid, tenant uuid, client uuid, new_code text, requested public.access_scope[], lifetime_seconds integer, new_redirect_uri text, new_state text, challenge text, new_browser_hash bytea, new_device_hash bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: starts_read(uuid, uuid, double precision); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.starts_read(owner uuid, book uuid, fraction double precision) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT CASE
        WHEN latest.outcome IS NULL AND b.status NOT IN ('READ', 'DID_NOT_FINISH') THEN true
        WHEN coalesce(latest.outcome = 'DID_NOT_FINISH', b.status = 'DID_NOT_FINISH') THEN starts_read.fraction < 0.9
        ELSE starts_read.fraction < 0.1
    END
    FROM books b
    LEFT JOIN LATERAL (
        SELECT r.outcome
        FROM reads r
        WHERE r.user_id = owner AND r.book_id = book
        ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
        LIMIT 1
    ) latest ON true
    WHERE b.user_id = owner AND b.id = book
$$;

-- Name: status_rank(public.reading_status); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.status_rank(status public.reading_status) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE status WHEN 'WANT_TO_READ' THEN 0 WHEN 'READ' THEN 2 ELSE 1 END
$$;

-- Name: store_cold_start_deck(uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.store_cold_start_deck(editions uuid[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    INSERT INTO cold_start_decks (editions)
    SELECT store_cold_start_deck.editions
    WHERE store_cold_start_deck.editions <> '{}'
        AND store_cold_start_deck.editions IS DISTINCT FROM (
            SELECT d.editions FROM cold_start_decks d ORDER BY chain LIMIT 1
        );
    -- Newer decks have smaller numbers.
    DELETE FROM cold_start_decks d
    WHERE EXISTS (
        SELECT
        FROM cold_start_decks newer
        WHERE newer.chain < d.chain AND newer.created_at < now() - interval '2 days'
    );
$$;

-- Name: store_imported_books(jsonb); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.store_imported_books(books jsonb) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    failed uuid[] := '{}';
    one jsonb;
BEGIN
    WITH given AS MATERIALIZED (
        SELECT *
        FROM jsonb_to_recordset(store_imported_books.books) AS r (
            id uuid, "cardId" uuid, "editionId" uuid, "goodreadsId" text, title text, authors text[],
            "authorRoles" author_role[], "writtenAuthor" text, isbn13 text, publisher text, "publishedDate" text,
            "pageCount" int, language text, category text, genre text, description text,
            status reading_status, "currentPage" int, "addedAt" timestamptz, "startedAt" timestamptz,
            "finishedAt" timestamptz, "updatedAt" timestamptz, binding text, "originalYear" int, "privateNotes" text,
            moods text[], "seriesName" text, "seriesPosition" text
        )
    ), matched AS (
        SELECT m.*
        FROM (
            SELECT
                array_agg(app_user_id()) AS readers,
                array_agg(id) AS ids,
                array_agg(isbn13) AS isbns,
                array_agg(title) AS titles,
                array_agg(author_text(authors, "authorRoles")) AS authors,
                array_agg("goodreadsId") AS goodreads_ids
            FROM given
            WHERE "editionId" IS NULL
        ) g
        CROSS JOIN LATERAL match_books(g.readers, g.ids, g.isbns, g.titles, g.authors, g.goodreads_ids) m
        -- A record of the same file names the edition itself.
        WHERE m.edition_id NOT IN (SELECT "editionId" FROM given WHERE "editionId" IS NOT NULL)
    )
    INSERT INTO books (
        user_id, id, edition_id, linked_by, title, authors, author_roles, written_author, isbn13, publisher, published_date,
        page_count, language, category, genre, description, status, current_page, added_at, started_at, finished_at, updated_at,
        binding, original_year, private_notes, moods, series, series_position
    )
    SELECT
        app_user_id(),
        g.id,
        -- Another copy of the work may have the edition because of its title.
        coalesce(
            CASE
                WHEN NOT EXISTS (SELECT FROM books b WHERE b.user_id = app_user_id() AND b.edition_id = card.id) THEN card.id
            END,
            m.edition_id
        ),
        CASE
            WHEN card.id IS NULL THEN coalesce(m.linked_by, 'CARD')
            WHEN card.id = g."cardId" THEN 'CARD'
            ELSE 'ISBN'
        END,
        g.title,
        CASE WHEN g.authors = '{}' THEN coalesce(card.authors, '{}') ELSE g.authors END,
        CASE WHEN g.authors = '{}' THEN coalesce(card.author_roles, '{}') ELSE g."authorRoles" END,
        g."writtenAuthor",
        coalesce(g.isbn13, card.isbn13),
        coalesce(g.publisher, card.publisher),
        coalesce(g."publishedDate", card.published_date),
        coalesce(g."pageCount", card.page_count),
        coalesce(g.language, card.language),
        g.category,
        coalesce(g.genre, card.genres[1]),
        coalesce(g.description, card.description),
        g.status,
        g."currentPage",
        coalesce(g."addedAt", now()),
        g."startedAt",
        g."finishedAt",
        coalesce(g."updatedAt", now()),
        g.binding,
        g."originalYear",
        g."privateNotes",
        coalesce(g.moods, '{}'),
        CASE WHEN own_series.is_own THEN g."seriesName" END,
        CASE WHEN own_series.is_own THEN g."seriesPosition" END
    FROM given g
    LEFT JOIN editions card ON card.id = g."editionId"
    LEFT JOIN matched m ON m.book_id = g.id
    CROSS JOIN LATERAL (
        SELECT NOT is_series_of_edition(coalesce(card.id, m.edition_id), g."seriesName", g."seriesPosition") AS is_own
    ) own_series;
    RETURN failed;
EXCEPTION WHEN integrity_constraint_violation OR data_exception OR SQLSTATE 'BP413' THEN
    IF jsonb_array_length(books) = 1 THEN
        RETURN ARRAY[(books -> 0 ->> 'id')::uuid];
    END IF;
    FOR one IN SELECT * FROM jsonb_array_elements(books) LOOP
        failed := failed || store_imported_books(jsonb_build_array(one));
    END LOOP;
    RETURN failed;
END
$$;

-- Name: store_position(uuid, uuid, double precision, timestamp with time zone, text, text, text, text[], boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.store_position(owner uuid, book uuid, given_fraction double precision, given_at timestamp with time zone, given_device text, given_device_name text, given_title text, given_refs text[], may_read_again boolean) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    logged record;
BEGIN
    PERFORM
    FROM books b
    WHERE b.user_id = owner AND b.id = book;
    IF NOT FOUND THEN
        RETURN 'BOOK';
    END IF;
    SELECT l.* INTO logged
    FROM log_position(owner, book, given_fraction, given_at, given_device, may_read_again) l;
    IF logged.outcome <> 'DONE' THEN
        RETURN logged.outcome;
    END IF;
    INSERT INTO ereader_positions (
        user_id, book_id, modified_at, fraction, device_id, device_name, title, place_refs, entry_id, entry_began_at
    )
    VALUES (
        owner, book, given_at, given_fraction, given_device, given_device_name, given_title, given_refs, logged.entry_id,
        logged.entry_began_at
    )
    ON CONFLICT (user_id, book_id) DO UPDATE
    SET modified_at = excluded.modified_at,
        fraction = excluded.fraction,
        device_id = excluded.device_id,
        device_name = excluded.device_name,
        title = excluded.title,
        place_refs = excluded.place_refs,
        entry_id = excluded.entry_id,
        entry_began_at = excluded.entry_began_at;
    RETURN 'DONE';
END
$$;

-- Name: subtract_collected_signals(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.subtract_collected_signals() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM add_work_signals(
        array_agg(number ORDER BY number),
        array_agg(signals::int ORDER BY number),
        array_agg(voice::bigint ORDER BY number),
        array_agg(recent ORDER BY number),
        array_agg(changes ORDER BY number)
    )
    FROM (
        SELECT
            s.number,
            -count(*) AS signals,
            -sum(s.voice) AS voice,
            -sum(recent_voice(s.voice, s.at)) AS recent,
            count(*) AS changes
        FROM old_rows o
        CROSS JOIN LATERAL unnest(o.works, o.voices, o.times) AS s (number, voice, at)
        GROUP BY s.number
    ) sums;
    RETURN NULL;
END
$$;

-- Name: sweep_checkpoint(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.sweep_checkpoint() RETURNS TABLE("position" text, folders bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT c.position, c.done
    FROM checkpoints c
    WHERE c.task = 'storage.sweep' AND c.updated_at > now() - interval '1 day'
$$;

-- Name: sync_document(uuid, text, text, double precision, text, text, text, text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.sync_document(owner uuid, given_hash text, given_progress text, given_fraction double precision, given_device_name text, given_device_id text, given_title text, given_author text, documents_max integer, OUT outcome text, OUT stored_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    kept ereader_documents;
BEGIN
    outcome := 'DONE';
    stored_at := now();
    SELECT d.* INTO kept
    FROM ereader_documents d
    WHERE d.user_id = owner AND d.hash = given_hash;
    IF NOT FOUND THEN
        IF (SELECT count(*) FROM ereader_documents d WHERE d.user_id = owner) >= documents_max THEN
            DELETE FROM ereader_documents d
            WHERE d.user_id = owner
                AND d.id = (
                    SELECT o.id
                    FROM ereader_documents o
                    WHERE o.user_id = owner AND o.book_id IS NULL
                    ORDER BY o.synced_at, o.id
                    LIMIT 1
                );
            IF NOT FOUND THEN
                outcome := 'FULL';
                RETURN;
            END IF;
        END IF;
        INSERT INTO ereader_documents (user_id, hash, title, author, progress, fraction, device_name, device_id)
        VALUES (
            owner, given_hash, given_title, given_author, given_progress, given_fraction, given_device_name, given_device_id
        );
        RETURN;
    END IF;
    IF (kept.progress, kept.fraction, kept.device_name) = (given_progress, given_fraction, given_device_name)
        AND kept.device_id IS NOT DISTINCT FROM given_device_id
    THEN
        stored_at := kept.synced_at;
    ELSIF kept.book_id IS NOT NULL THEN
        outcome := store_position(
            owner, kept.book_id, given_fraction, now(), device_uri(given_device_id, given_device_name), given_device_name,
            NULL, NULL, true
        );
        IF outcome IN ('READS', 'ENTRIES') THEN
            RETURN;
        END IF;
        -- A link to a deleted book has no effect.
        outcome := 'DONE';
    END IF;
    UPDATE ereader_documents d
    SET title = coalesce(given_title, d.title),
        author = coalesce(given_author, d.author),
        progress = given_progress,
        fraction = given_fraction,
        device_name = given_device_name,
        device_id = given_device_id,
        synced_at = stored_at
    WHERE d.user_id = owner
        AND d.id = kept.id
        AND (
            stored_at > d.synced_at
            OR (coalesce(given_title, d.title), coalesce(given_author, d.author)) IS DISTINCT FROM (d.title, d.author)
        );
END
$$;

-- Name: take_events(uuid, integer, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.take_events(holder uuid, lease_ms integer, rows_max integer) RETURNS TABLE(user_id uuid, id bigint, kind text, payload jsonb, created_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO leases AS l (name, holder, lease_until)
    VALUES ('events', take_events.holder, clock_timestamp() + lease_ms * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder,
        lease_until = excluded.lease_until
    WHERE l.holder = excluded.holder OR l.lease_until < clock_timestamp();
    IF FOUND THEN
        RETURN QUERY
        SELECT *
        FROM pending_events(rows_max);
    END IF;
END
$$;

-- Name: title_card_version(text, text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.title_card_version(title text, author text, genre text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN encode(
        substr(
            sha256(
                '\x3100'::bytea || convert_to(title, 'UTF8')
                    || '\x00'::bytea || convert_to(coalesce(author, ''), 'UTF8')
                    || '\x00'::bytea || convert_to(coalesce(genre, ''), 'UTF8')
            ),
            1,
            16
        ),
        'hex'
    );
END
$$;

-- Name: title_key(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.title_key(title text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $_$
DECLARE
    main_title text := title;
    folded text;
BEGIN
    IF main_title ~ '[(\[]' THEN
        main_title := regexp_replace(main_title, '\([^)]*\)|\[[^]]*\]', '', 'g');
    END IF;
    IF main_title ~ '[:;–—]' THEN
        main_title := regexp_replace(
            main_title,
            '\s*[:;–—]\s*(?!(?:\w+\s+)*graphic\M)(?:'
                '(?:an?|the)\s+(?:\w+\s+){0,4}(?:novel|novella|memoir|thriller|mystery)(?:\s+(?:of|in|about|from)\s[^:]*)?'
                '|novel|stories|poems|essays|(?:\w+\s+){0,3}edition|(?:movie\s+)?tie-in|(?:un)?abridged'
                ')\s*$',
            '',
            'i'
        );
    END IF;
    folded := public.search_fold(main_title);
    IF split_part(folded, ' ', 1) IN ('the', 'a', 'an') THEN
        folded := substring(folded FROM position(' ' IN folded) + 1);
    END IF;
    RETURN nullif(folded, '');
END
$_$;

-- Name: undo_swipe(uuid, uuid, timestamp with time zone, boolean); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.undo_swipe(reader uuid, card uuid, at timestamp with time zone, fetches_covers boolean) RETURNS TABLE(book_id uuid, title text, author text, genre text)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    undone swipes;
    heir swipes;
    current swipes;
    records uuid[] := ARRAY(
        SELECT card
        UNION
        SELECT o.edition_id
        FROM work_records w
        JOIN work_records o USING (founder_id)
        WHERE w.edition_id = card AND o.rank <= 50
    );
BEGIN
    IF at IS NULL THEN
        SELECT s.* INTO undone
        FROM swipes s
        WHERE s.user_id = reader AND s.edition_id = card AND s.undone_at IS NULL
        ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.swiped_at DESC
        LIMIT 1;
        IF EXISTS (
            SELECT
            FROM swipes s
            WHERE s.user_id = reader
                AND s.edition_id = card
                AND s.undone_at >= undone.recorded_at
                AND (least(s.swiped_at, s.recorded_at), s.swiped_at)
                    > (least(undone.swiped_at, undone.recorded_at), undone.swiped_at)
        ) THEN
            RETURN;
        END IF;
    ELSE
        SELECT s.* INTO undone
        FROM swipes s
        WHERE s.user_id = reader
            AND s.edition_id = card
            AND (s.swiped_at = at OR date_trunc('milliseconds', least(s.swiped_at, s.recorded_at)) = at)
        ORDER BY s.swiped_at = at DESC, s.swiped_at DESC
        LIMIT 1;
    END IF;
    IF undone IS NULL OR undone.undone_at IS NOT NULL THEN
        RETURN;
    END IF;
    UPDATE swipes s
    SET undone_at = now(),
        saved_book_id = NULL
    WHERE s.user_id = reader AND s.edition_id = card AND s.swiped_at = undone.swiped_at;

    -- The book may have been deleted since, or linked to another edition.
    IF EXISTS (
        SELECT
        FROM books b
        WHERE b.user_id = reader AND b.id = undone.saved_book_id AND b.edition_id = ANY(records)
    ) THEN
        SELECT s.* INTO heir
        FROM swipes s
        WHERE s.user_id = reader
            AND s.edition_id = ANY(records)
            AND s.undone_at IS NULL
            AND s.action IN ('LIKE', 'BUY')
            AND s.recorded_at >= undone.recorded_at
        ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.swiped_at DESC
        LIMIT 1;
        IF FOUND THEN
            UPDATE swipes s
            SET saved_book_id = undone.saved_book_id
            WHERE s.user_id = reader AND s.edition_id = heir.edition_id AND s.swiped_at = heir.swiped_at;
        ELSE
            RETURN QUERY
            DELETE FROM books b
            WHERE b.user_id = reader
                AND b.id = undone.saved_book_id
                AND b.status = 'WANT_TO_READ'
                AND b.updated_at = b.added_at
                AND NOT EXISTS (
                    SELECT FROM shelf_books p WHERE p.user_id = reader AND p.book_id = b.id
                )
                AND NOT EXISTS (
                    SELECT FROM reviews r WHERE r.user_id = reader AND r.book_id = b.id
                )
                AND NOT EXISTS (
                    SELECT FROM notes n WHERE n.user_id = reader AND n.book_id = b.id
                )
            -- RETURN QUERY requires the exact types, and these columns have domains.
            RETURNING b.id, b.title::text, b.author, b.genre::text;
        END IF;
    END IF;

    SELECT s.* INTO current
    FROM swipes s
    WHERE s.user_id = reader AND s.edition_id = card AND s.undone_at IS NULL
    ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.swiped_at DESC
    LIMIT 1;
    IF current.action IN ('LIKE', 'BUY')
        AND current.saved_book_id IS NULL
        AND EXISTS (
            SELECT
            FROM swipes s
            WHERE s.user_id = reader
                AND s.edition_id = card
                AND s.recorded_at <= current.recorded_at
                AND s.undone_at >= current.recorded_at
                AND (least(s.swiped_at, s.recorded_at), s.swiped_at)
                    > (least(current.swiped_at, current.recorded_at), current.swiped_at)
        )
    THEN
        UPDATE swipes s
        SET saved_book_id = saved.book_id
        FROM save_cards(reader, ARRAY[card], ARRAY[gen_random_uuid()], fetches_covers) saved
        WHERE s.user_id = reader AND s.edition_id = card AND s.swiped_at = current.swiped_at;
    END IF;
END
$$;

-- Name: undo_work_decision(bigint); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.undo_work_decision(decision bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    ids uuid[] := ARRAY(SELECT m.edition_id FROM work_decision_editions m WHERE m.decision_id = decision);
BEGIN
    PERFORM lock_catalog();
    UPDATE work_decisions d
    SET undone_at = now()
    WHERE d.id = decision AND d.undone_at IS NULL;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM match_works(ids);
    -- Not now(), because this transaction may have waited for the lock.
    UPDATE feed_state SET decks_valid_since = clock_timestamp();
    RETURN cardinality(ids);
END
$$;

-- Name: unlink_identity(uuid, text, integer); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.unlink_identity(identity uuid, revocation_kind text, attempts_max integer) RETURNS void
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
        RAISE EXCEPTION 'This is the only identity of the account. Link another one first, or delete the account.'
            USING ERRCODE = 'BP409';
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

-- Name: unused_id(uuid, uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.unused_id(owner uuid, given uuid) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF is_other_object(owner, given)
        OR EXISTS (SELECT FROM reads r WHERE r.user_id = owner AND r.id = given)
        OR EXISTS (SELECT FROM progress_entries p WHERE p.user_id = owner AND p.id = given)
        OR EXISTS (SELECT FROM ereader_documents d WHERE d.user_id = owner AND d.id = given)
    THEN
        RETURN gen_random_uuid();
    END IF;
    RETURN given;
END
$$;

-- Name: update_book_of_read(uuid, uuid, public.read_outcome); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.update_book_of_read(owner uuid, read uuid, old_outcome public.read_outcome) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    changed reads;
    is_latest boolean;
BEGIN
    SELECT r.* INTO changed
    FROM reads r
    WHERE r.user_id = owner AND r.id = read;
    is_latest := NOT EXISTS (
        SELECT
        FROM reads r
        WHERE r.user_id = owner
            AND r.book_id = changed.book_id
            AND (r.sorted_on, r.created_at, r.id) > (changed.sorted_on, changed.created_at, changed.id)
    );
    IF changed.outcome IS DISTINCT FROM old_outcome AND (is_latest OR old_outcome = 'READING') THEN
        UPDATE books b
        SET status = (
                CASE changed.outcome WHEN 'FINISHED' THEN 'READ' ELSE changed.outcome::text END
            )::reading_status,
            -- A book that is read again starts without a page.
            current_page = CASE
                WHEN old_outcome IS NULL AND changed.outcome = 'READING' AND EXISTS (
                    SELECT
                    FROM reads r
                    WHERE r.user_id = owner AND r.book_id = changed.book_id AND r.id <> read
                ) THEN NULL
                ELSE b.current_page
            END,
            updated_at = now()
        WHERE b.user_id = owner AND b.id = changed.book_id;
    END IF;
    PERFORM refresh_read_books(owner, ARRAY[changed.book_id], false);
END
$$;

-- Name: usable_webhook(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.usable_webhook(id uuid) RETURNS TABLE(url text, sealed_secret bytea, sealed_previous_secret bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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

-- Name: user_of_identity(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.user_of_identity() RETURNS uuid
    LANGUAGE sql STABLE
    AS $$
    SELECT i.user_id
    FROM identities i
    WHERE i.tenant_id = app_tenant_id() AND i.subject = app_subject()
$$;

-- Name: was_other_record_seen(uuid, uuid, timestamp with time zone, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.was_other_record_seen(reader uuid, edition uuid, until timestamp with time zone, skipped_after timestamp with time zone DEFAULT '-infinity'::timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN EXISTS (
        SELECT
        FROM (SELECT w.founder_id FROM work_records w WHERE w.edition_id = edition OFFSET 0) w
        CROSS JOIN LATERAL (
            SELECT o.edition_id
            FROM work_records o
            WHERE o.founder_id = w.founder_id AND o.rank <= 50 AND o.edition_id <> edition
            OFFSET 0
        ) other
        WHERE EXISTS (
                SELECT
                FROM swipes s
                WHERE s.user_id = reader
                    AND s.edition_id = other.edition_id
                    AND s.recorded_at <= until
                    AND (s.undone_at IS NULL OR s.undone_at > until)
                    AND (s.action <> 'SKIP' OR least(s.swiped_at, s.recorded_at) > skipped_after)
                OFFSET 0
            )
            OR EXISTS (
                SELECT
                FROM books b
                WHERE b.user_id = reader AND b.edition_id = other.edition_id AND b.added_at <= until
                OFFSET 0
            )
    );
END
$$;

-- Name: webhook_lifetime(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.webhook_lifetime() RETURNS interval
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT interval '3 days'
$$;

-- Name: webhook_pause(integer, interval); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.webhook_pause(failures integer, pause_max interval) RETURNS interval
    LANGUAGE sql
    AS $$
    SELECT least(interval '5 seconds' * power(2, least(greatest(failures, 1), 20) - 1), pause_max)
        * (0.75 + random() * 0.5)
$$;

-- Name: withdraw_jobs(uuid[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.withdraw_jobs(ids uuid[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DELETE FROM jobs j
    WHERE j.id = ANY(ids) AND j.user_id IS NULL AND j.state = 'READY' AND j.every IS NULL
$$;

-- Name: work_id(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.work_id(founder uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT overlay(
        founder::text PLACING translate(substr(founder::text, 15, 1), '0123456789abcdef', 'cdef89ab45670123') FROM 15
    )::uuid
$$;

-- Name: work_key(text, text[]); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.work_key(title text, authors text[]) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN hashtextextended(public.title_key(title) || '|' || public.author_key(authors[1]), 0);
END
$$;

-- Name: work_volume(text, text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.work_volume(title text, series_position text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $_$
DECLARE
    volume text;
    words CONSTANT text[] := '{one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve}';
    numerals CONSTANT text[] := '{i, ii, iii, iv, v, vi, vii, viii, ix, x, xi, xii}';
BEGIN
    volume := lower(coalesce(
        nullif(btrim(series_position), ''),
        substring(
            title FROM
            '[(\[][^)\]]*(?:#|\m(?:[Vv]olume|[Vv]ol|[Bb]ook|[Pp]art|[Nn]umber|[Nn]o)\M\.?)\s*([[:alnum:]]+(?:[.–-][[:alnum:]]+)*)'
        ),
        substring(title FROM '[(\[]([0-9]{1,3})[)\]]')
    ));
    RETURN coalesce(
        array_position(words, volume)::text,
        array_position(numerals, volume)::text,
        regexp_replace(replace(volume, '–', '-'), '\.0$', '')
    );
END
$_$;

-- Name: works_of_series(uuid); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.works_of_series(series uuid) RETURNS TABLE(edition_id uuid, founder_id uuid, position_number double precision)
    LANGUAGE sql STABLE ROWS 10
    AS $$
    SELECT DISTINCT ON (coalesce(w.founder_id, e.id))
        e.id, coalesce(w.founder_id, e.id), series_number(e.series_position)
    FROM editions e
    LEFT JOIN work_records w ON w.edition_id = e.id
    WHERE e.series_id = works_of_series.series
    ORDER BY coalesce(w.founder_id, e.id), w.rank NULLS FIRST
$$;

-- Name: works_to_learn(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.works_to_learn() RETURNS TABLE(number bigint, changes bigint, is_due boolean, is_empty boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT number, changes, (changes - learned_changes) * 20 >= least(signals, 2000), signals <= 0
    FROM work_signals
    WHERE changes > learned_changes
$$;

-- Name: written_position(); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.written_position() RETURNS TABLE("position" bigint, mark uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    written CONSTANT pg_lsn := pg_current_wal_insert_lsn();
    -- The name of a WAL file starts with its timeline, as eight hexadecimal digits.
    timeline CONSTANT int := ('x' || substring(pg_walfile_name(written) FOR 8))::bit(32)::int;
BEGIN
    "position" := written - '0/0';
    SELECT t.mark INTO mark FROM timelines t WHERE t.number = timeline;
    IF NOT FOUND THEN
        INSERT INTO timelines (number) VALUES (timeline) ON CONFLICT DO NOTHING;
        SELECT t.mark INTO mark FROM timelines t WHERE t.number = timeline;
    END IF;
    RETURN NEXT;
END
$$;

-- Name: zone_to_store(text); Type: FUNCTION; Schema: public; Owner: -

CREATE FUNCTION public.zone_to_store(given text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT CASE WHEN known_zone(current_zone_name(z.name)) = current_zone_name(z.name) THEN current_zone_name(z.name) ELSE z.name END
    FROM pg_timezone_names z
    WHERE lower(z.name) = lower(given)
        AND z.name !~ '^(posix|right)/'
        AND z.name NOT IN ('Factory', 'localtime', 'posixrules')
$$;

-- Name: access_tokens; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.access_tokens (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    scopes public.access_scope[] NOT NULL,
    documents text[],
    grant_id uuid,
    token_hash bytea NOT NULL,
    kosync_hash bytea,
    seed bytea NOT NULL,
    last_characters text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    CONSTRAINT access_tokens_documents_check CHECK (((cardinality(documents) >= 1) AND (cardinality(documents) <= 100))),
    CONSTRAINT access_tokens_kosync_hash_check CHECK ((octet_length(kosync_hash) = 32)),
    CONSTRAINT access_tokens_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
    CONSTRAINT access_tokens_scopes_check CHECK (((cardinality(scopes) >= 1) AND (cardinality(scopes) <= 20))),
    CONSTRAINT access_tokens_token_hash_check CHECK ((octet_length(token_hash) = 32))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.access_tokens FORCE ROW LEVEL SECURITY;

-- Name: TABLE access_tokens; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.access_tokens IS 'Personal access tokens, and the access tokens of apps of other developers. Deleting a row revokes the token.';

-- Name: COLUMN access_tokens.documents; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.access_tokens.documents IS 'The SHA-256 hashes of the trusted documents that the token may run, in hexadecimal and sorted. Null for all documents.';

-- Name: COLUMN access_tokens.grant_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.access_tokens.grant_id IS 'The grant of the app (`oauth_grants`). Null for a personal access token.';

-- Name: COLUMN access_tokens.token_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.access_tokens.token_hash IS 'SHA-256 of the token. The token is not stored.';

-- Name: COLUMN access_tokens.kosync_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.access_tokens.kosync_hash IS 'SHA-256 of `kosync:` and the MD5 of the token in hexadecimal, which KOReader sends in place of the token. Null for apps, and if the server had no MD5.';

-- Name: COLUMN access_tokens.seed; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.access_tokens.seed IS 'With this and the key of the installation, the server calculates the token again if the response of its creation was lost. Empty for the tokens of apps.';

-- Name: COLUMN access_tokens.last_characters; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.access_tokens.last_characters IS 'The last characters of the token, by which the reader recognizes it.';

-- Name: COLUMN access_tokens.expires_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.access_tokens.expires_at IS 'Null for a token that does not expire.';

-- Name: COLUMN access_tokens.last_used_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.access_tokens.last_used_at IS 'Updated at most every ten minutes.';

-- Name: account_tombstones; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.account_tombstones (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    user_hash bytea NOT NULL,
    session_hash bytea,
    deleted_at timestamp with time zone DEFAULT now() NOT NULL,
    books integer NOT NULL,
    reviews integer NOT NULL,
    covers integer DEFAULT 0 NOT NULL,
    apple_token_revoked boolean
);

-- Name: TABLE account_tombstones; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.account_tombstones IS 'Deleted accounts, without personal data.';

-- Name: COLUMN account_tombstones.user_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.account_tombstones.user_hash IS 'SHA-256 of the user''s id.';

-- Name: COLUMN account_tombstones.session_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.account_tombstones.session_hash IS 'SHA-256 of the id of the session that requested the deletion, which can repeat the request for an hour. Null after that.';

-- Name: COLUMN account_tombstones.books; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.account_tombstones.books IS 'The number of books that were deleted, as in the next two columns.';

-- Name: COLUMN account_tombstones.apple_token_revoked; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.account_tombstones.apple_token_revoked IS 'Whether the grant at Apple was revoked; null until this is known.';

-- Name: apple_grants; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.apple_grants (
    user_id uuid NOT NULL,
    client_id text NOT NULL,
    sealed_token bytea NOT NULL,
    CONSTRAINT apple_grants_client_id_check CHECK (((char_length(client_id) >= 1) AND (char_length(client_id) <= 255)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.apple_grants FORCE ROW LEVEL SECURITY;

-- Name: TABLE apple_grants; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.apple_grants IS 'Apple''s refresh tokens of users, which are revoked when the account is deleted.';

-- Name: COLUMN apple_grants.client_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.apple_grants.client_id IS 'The app that has received the token. Only this app can revoke it.';

-- Name: COLUMN apple_grants.sealed_token; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.apple_grants.sealed_token IS 'The token, encrypted with the sealing key of the installation.';

-- Name: apple_notifications; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.apple_notifications (
    id_hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT apple_notifications_id_hash_check CHECK ((octet_length(id_hash) = 32))
);

-- Name: TABLE apple_notifications; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.apple_notifications IS 'The server-to-server notifications of Apple that were processed. Apple repeats notifications.';

-- Name: COLUMN apple_notifications.id_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.apple_notifications.id_hash IS 'SHA-256 of the notification''s issuer and `jti`.';

-- Name: COLUMN apple_notifications.expires_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.apple_notifications.expires_at IS 'When the notification expires. The row is not needed after that.';

-- Name: audit_chain; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.audit_chain (
    id boolean DEFAULT true NOT NULL,
    first_position bigint NOT NULL,
    previous_hash bytea NOT NULL,
    last_position bigint NOT NULL,
    last_hash bytea NOT NULL,
    CONSTRAINT audit_chain_id_check CHECK (id),
    CONSTRAINT audit_chain_last_hash_check CHECK ((octet_length(last_hash) = 32)),
    CONSTRAINT audit_chain_previous_hash_check CHECK ((octet_length(previous_hash) = 32))
);

ALTER TABLE ONLY public.audit_chain FORCE ROW LEVEL SECURITY;

-- Name: TABLE audit_chain; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.audit_chain IS 'Both ends of the hash chain, in a single row.';

-- Name: COLUMN audit_chain.first_position; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.audit_chain.first_position IS 'The position of the oldest event that was not pruned.';

-- Name: COLUMN audit_chain.previous_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.audit_chain.previous_hash IS 'The hash before that event: of the last pruned event, or 32 zeros.';

-- Name: COLUMN audit_chain.last_position; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.audit_chain.last_position IS 'The position of the newest event; 0 before the first one.';

-- Name: audit_events_id_seq; Type: SEQUENCE; Schema: public; Owner: -

ALTER TABLE public.audit_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: authors; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.authors (
    id uuid NOT NULL,
    name text NOT NULL,
    open_library_key text,
    bio text,
    bio_requested_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT authors_bio_check CHECK (((char_length(bio) >= 1) AND (char_length(bio) <= 2000))),
    CONSTRAINT authors_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 500))),
    CONSTRAINT authors_open_library_key_check CHECK ((open_library_key ~ '^OL[0-9]{1,15}A$'::text))
);

-- Name: TABLE authors; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.authors IS 'Authors of editions of whom more than the name is known. Authors with the same name share a row.';

-- Name: COLUMN authors.id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.authors.id IS 'The id that `author_id` computes from the name.';

-- Name: COLUMN authors.open_library_key; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.authors.open_library_key IS 'The id at Open Library, such as OL26320A.';

-- Name: COLUMN authors.bio; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.authors.bio IS 'A short text about the person.';

-- Name: COLUMN authors.bio_requested_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.authors.bio_requested_at IS 'When a source was last asked for the text; null if never.';

-- Name: books; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.books (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    edition_id uuid,
    linked_by public.book_link DEFAULT 'CARD'::public.book_link NOT NULL,
    title public.book_title NOT NULL,
    authors public.book_authors DEFAULT '{}'::text[] NOT NULL,
    author_roles public.author_role[] DEFAULT '{}'::public.author_role[] NOT NULL,
    written_author public.book_author,
    author text,
    author_ids uuid[],
    isbn13 public.book_isbn13,
    publisher text,
    published_date text,
    page_count public.book_page_count,
    language text,
    category public.book_category,
    genre public.book_genre,
    description text,
    series public.book_series,
    series_position public.book_series_position,
    series_id uuid,
    status public.reading_status DEFAULT 'WANT_TO_READ'::public.reading_status NOT NULL,
    current_page public.book_current_page,
    binding public.book_binding,
    original_year public.book_year,
    moods public.book_moods DEFAULT '{}'::text[] NOT NULL,
    private_notes public.book_private_notes,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    cover_status public.cover_status DEFAULT 'NONE'::public.cover_status NOT NULL,
    cover_requested_at timestamp with time zone,
    cover_not_found_at timestamp with time zone,
    is_cover_removed boolean DEFAULT false NOT NULL,
    search_text text,
    title_card_version text
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.books ALTER COLUMN user_id SET (n_distinct=-0.01);
ALTER TABLE ONLY public.books ALTER COLUMN title_card_version SET STATISTICS 0;

ALTER TABLE ONLY public.books FORCE ROW LEVEL SECURITY;

-- Name: TABLE books; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.books IS 'The books of libraries. A book is the reader''s copy of an edition, or was written by the reader.';

-- Name: COLUMN books.edition_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.edition_id IS 'The edition of the catalog; null if the catalog does not have it.';

-- Name: COLUMN books.linked_by; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.linked_by IS 'How the book got its edition: CARD (chosen by the reader), ISBN, SOURCE (an id of an import), or TITLE. Without a meaning if the book has no edition.';

-- Name: COLUMN books.authors; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.authors IS 'The names of all contributors, the main author first.';

-- Name: COLUMN books.author_roles; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.author_roles IS 'The role at the position of each name. Names after the last role are authors.';

-- Name: COLUMN books.written_author; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.written_author IS 'The text in which the reader named several authors; null for one author, or if the names were given as a list.';

-- Name: COLUMN books.author; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.author IS 'The text for clients that do not use lists of authors. A trigger computes it.';

-- Name: COLUMN books.author_ids; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.author_ids IS 'The ids that `author_id` computes from the names. A trigger computes them.';

-- Name: COLUMN books.publisher; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.publisher IS 'The reader''s copy, like the other facts. Later corrections of the edition do not change it.';

-- Name: COLUMN books.published_date; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.published_date IS 'A year, a month, or a day, as it was written.';

-- Name: COLUMN books.language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.language IS 'A BCP 47 tag, such as en or pt-BR.';

-- Name: COLUMN books.category; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.category IS 'A category in the reader''s own words.';

-- Name: COLUMN books.genre; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.genre IS 'A genre in the reader''s own words, or that of the card.';

-- Name: COLUMN books.series; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.series IS 'The series that the reader has entered. Without it, that of the edition is shown.';

-- Name: COLUMN books.series_position; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.series_position IS 'The position in the series as a text, such as 1, 2.5, or 1-3.';

-- Name: COLUMN books.series_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.series_id IS 'The id that `series_id` computes from the name of the series. A trigger computes it.';

-- Name: COLUMN books.current_page; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.current_page IS 'The page of the latest progress, usually at most `page_count`.';

-- Name: COLUMN books.binding; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.binding IS 'The binding or format in the words of the reader or of an import, such as Paperback.';

-- Name: COLUMN books.original_year; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.original_year IS 'The year of the first edition. Negative before our era.';

-- Name: COLUMN books.moods; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.moods IS 'The moods of the book in the words of an import.';

-- Name: COLUMN books.started_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.started_at IS 'When the latest read was started (`reads`).';

-- Name: COLUMN books.finished_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.finished_at IS 'When the latest read was finished (`reads`).';

-- Name: COLUMN books.cover_status; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.cover_status IS 'The state of the cover search. READY: the book has a cover. NOT_FOUND: no source has one. FAILED: no source could answer.';

-- Name: COLUMN books.cover_requested_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.cover_requested_at IS 'When the running search was requested, which identifies it; null if none is running.';

-- Name: COLUMN books.cover_not_found_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.cover_not_found_at IS 'When the last search ended because no source has a cover; null if it ended for another reason.';

-- Name: COLUMN books.is_cover_removed; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.is_cover_removed IS 'Whether the reader has removed the cover. The cover of the edition is not shown then, either.';

-- Name: COLUMN books.search_text; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.search_text IS 'All searched columns in the form of `search_fold`. A trigger computes it.';

-- Name: COLUMN books.title_card_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.title_card_version IS 'The version of the image that is drawn for a book without a cover. A trigger computes it.';

-- Name: books_to_link; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.books_to_link (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.books_to_link FORCE ROW LEVEL SECURITY;

-- Name: TABLE books_to_link; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.books_to_link IS 'Books that may match an edition of the catalog now, until a job has looked at them.';

-- Name: changes; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.changes (
    user_id uuid NOT NULL,
    seq bigint NOT NULL,
    kind public.change_kind NOT NULL,
    typename text NOT NULL,
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.changes ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.changes FORCE ROW LEVEL SECURITY;

-- Name: TABLE changes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.changes IS 'The change log of each library, which clients read to update their copies. Only triggers write it.';

-- Name: COLUMN changes.seq; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.changes.seq IS 'The number of the entry in the log of the user, without gaps, in the order of the commits.';

-- Name: COLUMN changes.typename; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.changes.typename IS 'The type in the GraphQL schema, such as Book.';

-- Name: COLUMN changes.id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.changes.id IS 'The id of the object. Its current state is in its table.';

-- Name: checkpoints; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.checkpoints (
    task text NOT NULL,
    "position" text NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    found bigint DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT checkpoints_done_check CHECK ((done >= 0)),
    CONSTRAINT checkpoints_found_check CHECK ((found >= 0))
);

ALTER TABLE ONLY public.checkpoints FORCE ROW LEVEL SECURITY;

-- Name: TABLE checkpoints; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.checkpoints IS 'The progress of long tasks, which continue after an interruption.';

-- Name: COLUMN checkpoints."position"; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.checkpoints."position" IS 'The last item that was processed, in a format of the task.';

-- Name: COLUMN checkpoints.done; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.checkpoints.done IS 'The number of processed items.';

-- Name: COLUMN checkpoints.found; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.checkpoints.found IS 'The number of processed items with a result.';

-- Name: cold_start_decks; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.cold_start_decks (
    chain bigint NOT NULL,
    editions uuid[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: TABLE cold_start_decks; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.cold_start_decks IS 'The first decks of readers without signals.';

-- Name: COLUMN cold_start_decks.chain; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.cold_start_decks.chain IS 'Negative, so that it differs from the numbers of `feed_chains`.';

-- Name: COLUMN cold_start_decks.editions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.cold_start_decks.editions IS 'The cards in their order.';

-- Name: cold_start_decks_chain_seq; Type: SEQUENCE; Schema: public; Owner: -

ALTER TABLE public.cold_start_decks ALTER COLUMN chain ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.cold_start_decks_chain_seq
    START WITH -1
    INCREMENT BY -1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: collected_signals; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.collected_signals (
    user_id uuid NOT NULL,
    works bigint[] NOT NULL,
    weights smallint[] NOT NULL,
    voices smallint[] NOT NULL,
    times timestamp with time zone[] NOT NULL,
    newest_at timestamp with time zone NOT NULL,
    signal_count integer NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.collected_signals FORCE ROW LEVEL SECURITY;

-- Name: TABLE collected_signals; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.collected_signals IS 'The signals of each reader at the last collection, newest first. The arrays have the same length.';

-- Name: COLUMN collected_signals.works; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.collected_signals.works IS 'The numbers (`editions.number`) of the oldest editions of the works.';

-- Name: COLUMN collected_signals.weights; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.collected_signals.weights IS 'The weight of each signal for learning similar books, in hundredths.';

-- Name: COLUMN collected_signals.voices; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.collected_signals.voices IS 'The weight of each signal in the popularity of its work, in hundredths (`voice` in `reader_signals`). Negative weights are stored as 0.';

-- Name: COLUMN collected_signals.times; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.collected_signals.times IS 'The time of each signal.';

-- Name: COLUMN collected_signals.newest_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.collected_signals.newest_at IS 'The first element of `times`; -infinity without signals.';

-- Name: swipes; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.swipes (
    user_id uuid NOT NULL,
    edition_id uuid NOT NULL,
    swiped_at timestamp with time zone NOT NULL,
    action public.swipe_action NOT NULL,
    store text,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    undone_at timestamp with time zone,
    saved_book_id uuid,
    CONSTRAINT swipes_store_check CHECK (((char_length(store) >= 1) AND (char_length(store) <= 100)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.swipes ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.swipes FORCE ROW LEVEL SECURITY;

-- Name: TABLE swipes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.swipes IS 'The swipes of readers. A swipe that is undone stays for some time.';

-- Name: COLUMN swipes.swiped_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.swipes.swiped_at IS 'The time of the device, which may be in the future, or that of the server if the device sent none.';

-- Name: COLUMN swipes.action; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.swipes.action IS 'BUY: the reader has opened a link to a shop.';

-- Name: COLUMN swipes.store; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.swipes.store IS 'The id of the shop, for BUY; null if the device did not send it.';

-- Name: COLUMN swipes.recorded_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.swipes.recorded_at IS 'When the server stored the swipe.';

-- Name: COLUMN swipes.saved_book_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.swipes.saved_book_id IS 'The book that the swipe added to the library. It may have been deleted.';

-- Name: current_swipes; Type: VIEW; Schema: public; Owner: -

CREATE VIEW public.current_swipes WITH (security_invoker='true') AS
 SELECT DISTINCT ON (swipes.user_id, swipes.edition_id) swipes.user_id,
    swipes.edition_id,
    swipes.action,
    LEAST(swipes.swiped_at, swipes.recorded_at) AS swiped_at,
    swipes.recorded_at,
    swipes.store
   FROM public.swipes
  WHERE (swipes.undone_at IS NULL)
  ORDER BY swipes.user_id, swipes.edition_id, LEAST(swipes.swiped_at, swipes.recorded_at) DESC;

-- Name: deleted_books; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.deleted_books (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    deleted_at timestamp with time zone DEFAULT now() NOT NULL,
    book jsonb NOT NULL,
    review jsonb,
    cover jsonb,
    shelf_ids uuid[] NOT NULL,
    reads jsonb,
    progress_entries jsonb,
    notes jsonb,
    ereader_position jsonb
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.deleted_books ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.deleted_books FORCE ROW LEVEL SECURITY;

-- Name: TABLE deleted_books; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.deleted_books IS 'Deleted books, which readers can restore for some time, with the rows of other tables as JSON.';

-- Name: COLUMN deleted_books.book; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.deleted_books.book IS 'The row of `books`, like the rows of other tables in the following columns.';

-- Name: COLUMN deleted_books.cover; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.deleted_books.cover IS 'The row of `covers`, whose files stay in the store. Null without a cover, and if the space was needed.';

-- Name: COLUMN deleted_books.shelf_ids; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.deleted_books.shelf_ids IS 'The shelves on which the book was.';

-- Name: COLUMN deleted_books.reads; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.deleted_books.reads IS 'An array of rows, as in `progress_entries` and `notes`; null if there are none.';

-- Name: documents; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.documents (
    id text NOT NULL,
    sha256 text NOT NULL,
    name text,
    kind text,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    synced_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT documents_id_check CHECK (((char_length(id) >= 1) AND (char_length(id) <= 200))),
    CONSTRAINT documents_kind_check CHECK ((kind = ANY (ARRAY['query'::text, 'mutation'::text, 'subscription'::text]))),
    CONSTRAINT documents_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

-- Name: TABLE documents; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.documents IS 'The trusted documents of apps, by the ids that requests contain.';

-- Name: COLUMN documents.sha256; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.documents.sha256 IS 'SHA-256 of the body, in hexadecimal.';

-- Name: COLUMN documents.name; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.documents.name IS 'The name of the first operation; null without one.';

-- Name: COLUMN documents.kind; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.documents.kind IS 'The kind of the first operation; null if the document has none.';

-- Name: COLUMN documents.synced_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.documents.synced_at IS 'When a manifest last contained the document.';

-- Name: edition_genres; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.edition_genres (
    genre_id smallint NOT NULL,
    "position" bigint NOT NULL,
    edition_id uuid NOT NULL,
    ordinal smallint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

-- Name: TABLE edition_genres; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.edition_genres IS 'The editions of each genre, in the order of the feed.';

-- Name: COLUMN edition_genres.genre_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_genres.genre_id IS '0 for editions without a genre.';

-- Name: COLUMN edition_genres."position"; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_genres."position" IS 'The sort key: tier, popularity, and number of the edition (`genre_position`).';

-- Name: COLUMN edition_genres.ordinal; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_genres.ordinal IS 'The position of the genre in the list of the edition, from 1.';

-- Name: edition_similar; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.edition_similar (
    edition_id uuid NOT NULL,
    rank smallint NOT NULL,
    similar_id uuid NOT NULL,
    score real NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

-- Name: TABLE edition_similar; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.edition_similar IS 'The editions that readers of an edition probably like, as learned by the job `feed.similar`.';

-- Name: COLUMN edition_similar.rank; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_similar.rank IS 'From 1, the best one first.';

-- Name: COLUMN edition_similar.score; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_similar.score IS 'Negative if readers of the edition probably dislike the other one.';

-- Name: edition_sources; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.edition_sources (
    source text NOT NULL,
    key text NOT NULL,
    edition_id uuid NOT NULL,
    CONSTRAINT edition_sources_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 200))),
    CONSTRAINT edition_sources_source_check CHECK ((source ~ '^[a-z_]{1,32}$'::text))
);

-- Name: TABLE edition_sources; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.edition_sources IS 'The ids of editions at external sources. An id belongs to one edition.';

-- Name: COLUMN edition_sources.source; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_sources.source IS 'The name of the source, such as `open_library`. `words` is the source of ids that are hashes of the title and the authors.';

-- Name: COLUMN edition_sources.key; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_sources.key IS 'The id at the source.';

-- Name: edition_work_keys; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.edition_work_keys (
    edition_id uuid NOT NULL,
    source text NOT NULL,
    key text NOT NULL,
    CONSTRAINT edition_work_keys_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 200))),
    CONSTRAINT edition_work_keys_source_check CHECK ((source ~ '^[a-z_]{1,32}$'::text))
);

-- Name: TABLE edition_work_keys; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.edition_work_keys IS 'The ids of works at external sources. Editions with the same source and key are records of one work.';

-- Name: COLUMN edition_work_keys.key; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_work_keys.key IS 'The id of the work at the source.';

-- Name: editions; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.editions (
    id uuid NOT NULL,
    number bigint NOT NULL,
    isbn13 text,
    title text NOT NULL,
    subtitle text,
    series text,
    series_position text,
    authors text[] DEFAULT '{}'::text[] NOT NULL,
    author_roles public.author_role[] DEFAULT '{}'::public.author_role[] NOT NULL,
    publisher text,
    published_date text,
    language text,
    page_count integer,
    genres text[] DEFAULT '{}'::text[] NOT NULL,
    subjects text[] DEFAULT '{}'::text[] NOT NULL,
    description text,
    hook text,
    average_rating double precision,
    ratings_count integer DEFAULT 0 NOT NULL,
    popularity double precision DEFAULT 0 NOT NULL,
    sources_requested_at timestamp with time zone,
    cover_links text[] DEFAULT '{}'::text[] NOT NULL,
    cover_version text,
    cover_width integer,
    cover_height integer,
    cover_dominant_color text,
    cover_blur_hash text,
    cover_due_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    cover_failures integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_title text GENERATED ALWAYS AS (public.search_fold(title)) STORED,
    search_text text GENERATED ALWAYS AS (public.search_text(title, subtitle, series, series_position, authors)) STORED,
    search_vector tsvector GENERATED ALWAYS AS (public.search_vector(title, subtitle, series, series_position, authors)) STORED,
    author_ids uuid[] GENERATED ALWAYS AS (public.author_ids(authors)) STORED,
    series_id uuid GENERATED ALWAYS AS (public.series_id(NULLIF(btrim(series), ''::text))) STORED,
    first_author_hash integer GENERATED ALWAYS AS (COALESCE(hashtext(lower(authors[1])), 0)) STORED,
    series_hash integer GENERATED ALWAYS AS (COALESCE(hashtext(lower(series)), 0)) STORED,
    title_card_version text GENERATED ALWAYS AS (public.title_card_version(title, authors[1], genres[1])) STORED,
    CONSTRAINT editions_average_rating_check CHECK (((average_rating >= (0)::double precision) AND (average_rating <= (5)::double precision))),
    CONSTRAINT editions_cover_dominant_color_check CHECK ((cover_dominant_color ~ '^#[0-9A-F]{6}$'::text)),
    CONSTRAINT editions_cover_height_check CHECK ((cover_height > 0)),
    CONSTRAINT editions_cover_is_complete CHECK ((num_nulls(cover_version, cover_width, cover_height, cover_dominant_color, cover_blur_hash) = ANY (ARRAY[0, 5]))),
    CONSTRAINT editions_cover_version_check CHECK ((cover_version ~ '^[0-9a-f]{32}$'::text)),
    CONSTRAINT editions_cover_width_check CHECK ((cover_width > 0)),
    CONSTRAINT editions_hook_check CHECK ((char_length(hook) <= 140)),
    CONSTRAINT editions_isbn13_check CHECK ((isbn13 ~ '^97[89][0-9]{10}$'::text)),
    CONSTRAINT editions_number_fits CHECK ((number < '4294967296'::bigint)),
    CONSTRAINT editions_page_count_check CHECK ((page_count > 0)),
    CONSTRAINT editions_ratings_count_check CHECK ((ratings_count >= 0)),
    CONSTRAINT editions_title_check CHECK ((title <> ''::text))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.editions ALTER COLUMN search_title SET STATISTICS 0;
ALTER TABLE ONLY public.editions ALTER COLUMN search_text SET STATISTICS 0;
ALTER TABLE ONLY public.editions ALTER COLUMN search_vector SET STATISTICS 0;
ALTER TABLE ONLY public.editions ALTER COLUMN author_ids SET STATISTICS 0;
ALTER TABLE ONLY public.editions ALTER COLUMN title_card_version SET STATISTICS 0;

-- Name: TABLE editions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.editions IS 'The catalog, which all tenants share. An edition is also a record of a work.';

-- Name: COLUMN editions.number; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.number IS 'A short number of at most 32 bits, for positions in the feed and for learning similar editions.';

-- Name: COLUMN editions.series_position; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.series_position IS 'The position in the series as a text, such as 1, 2.5, or 1-3.';

-- Name: COLUMN editions.authors; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.authors IS 'The names of all contributors, the main author first.';

-- Name: COLUMN editions.author_roles; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.author_roles IS 'The role at the position of each name. Names after the last role are authors.';

-- Name: COLUMN editions.published_date; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.published_date IS 'A year, a month, or a day, as the source wrote it.';

-- Name: COLUMN editions.language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.language IS 'A BCP 47 tag, such as en or pt-BR.';

-- Name: COLUMN editions.genres; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.genres IS 'The names of the canonical genres, computed from `subjects`.';

-- Name: COLUMN editions.subjects; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.subjects IS 'The genres and subjects in the words of sources and files.';

-- Name: COLUMN editions.hook; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.hook IS 'The beginning of the description, for cards.';

-- Name: COLUMN editions.average_rating; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.average_rating IS 'From 0 to 5 stars.';

-- Name: COLUMN editions.popularity; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.popularity IS 'The number of ratings plus the weighted positive signals of readers (`refresh_popularity`).';

-- Name: COLUMN editions.sources_requested_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.sources_requested_at IS 'When missing data was last requested from external sources; null if never.';

-- Name: COLUMN editions.cover_links; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.cover_links IS 'Addresses of covers, the most likely one first. The name of the source and a space precede each address.';

-- Name: COLUMN editions.cover_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.cover_version IS 'The version of the stored cover; null without a cover.';

-- Name: COLUMN editions.cover_width; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.cover_width IS 'The width of the full size in pixels.';

-- Name: COLUMN editions.cover_height; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.cover_height IS 'The height of the full size in pixels.';

-- Name: COLUMN editions.cover_dominant_color; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.cover_dominant_color IS 'A color of CSS, such as #A1B2C3.';

-- Name: COLUMN editions.cover_blur_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.cover_blur_hash IS 'A placeholder in the format of https://blurha.sh.';

-- Name: COLUMN editions.cover_due_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.cover_due_at IS 'When a missing cover may be requested.';

-- Name: COLUMN editions.cover_failures; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.cover_failures IS 'The number of failed requests for the cover since a source answered, modulo 8.';

-- Name: COLUMN editions.search_text; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.search_text IS 'All searched columns in the form of `search_fold`, for comparisons letter by letter.';

-- Name: COLUMN editions.search_vector; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.search_vector IS 'The words of the full-text index.';

-- Name: COLUMN editions.author_ids; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.author_ids IS 'The ids that `author_id` computes from the names, in the same order.';

-- Name: COLUMN editions.series_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.series_id IS 'The id that `series_id` computes from the name of the series.';

-- Name: COLUMN editions.first_author_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.first_author_hash IS 'A hash of the first author, 0 without one. The feed uses it to vary its cards, and to find other books of liked authors.';

-- Name: COLUMN editions.series_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.series_hash IS 'A hash of the series, 0 without one. The feed uses it like `first_author_hash`.';

-- Name: COLUMN editions.title_card_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.title_card_version IS 'The version of the image that is drawn for an edition without a cover, computed from its text.';

-- Name: editions_number_seq; Type: SEQUENCE; Schema: public; Owner: -

ALTER TABLE public.editions ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.editions_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: ereader_documents; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.ereader_documents (
    user_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C",
    book_id uuid,
    title text,
    author text,
    progress text NOT NULL,
    fraction double precision NOT NULL,
    device_name text NOT NULL,
    device_id text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    synced_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ereader_documents_author_check CHECK (((char_length(author) >= 1) AND (char_length(author) <= 500))),
    CONSTRAINT ereader_documents_device_id_check CHECK ((char_length(device_id) <= 200)),
    CONSTRAINT ereader_documents_device_name_check CHECK ((char_length(device_name) <= 200)),
    CONSTRAINT ereader_documents_fraction_check CHECK (((fraction >= (0)::double precision) AND (fraction <= (1)::double precision))),
    CONSTRAINT ereader_documents_hash_check CHECK ((hash ~ '^[A-Za-z0-9_]{1,128}$'::text)),
    CONSTRAINT ereader_documents_progress_check CHECK ((char_length(progress) <= 4000)),
    CONSTRAINT ereader_documents_title_check CHECK (((char_length(title) >= 1) AND (char_length(title) <= 500)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.ereader_documents ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.ereader_documents FORCE ROW LEVEL SECURITY;

-- Name: TABLE ereader_documents; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.ereader_documents IS 'The files that KOReader has reported, with the last position in each.';

-- Name: COLUMN ereader_documents.hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_documents.hash IS 'How the e-reader identifies the file: usually the MD5 of parts of its content, or of its name.';

-- Name: COLUMN ereader_documents.book_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_documents.book_id IS 'The book that the reader has linked. Not a foreign key: the link works again when a deleted book is restored.';

-- Name: COLUMN ereader_documents.title; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_documents.title IS 'Null if the settings of the e-reader do not send it.';

-- Name: COLUMN ereader_documents.progress; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_documents.progress IS 'The position in the file, in the notation of the e-reader.';

-- Name: COLUMN ereader_documents.fraction; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_documents.fraction IS 'The position from 0 to 1.';

-- Name: COLUMN ereader_documents.synced_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_documents.synced_at IS 'When the last position arrived, by the clock of the server.';

-- Name: ereader_positions; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.ereader_positions (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    fraction double precision NOT NULL,
    device_id text NOT NULL,
    device_name text NOT NULL,
    title text,
    place_refs text[],
    entry_id uuid,
    entry_began_at timestamp with time zone,
    CONSTRAINT ereader_positions_device_id_check CHECK ((char_length(device_id) <= 500)),
    CONSTRAINT ereader_positions_device_name_check CHECK ((char_length(device_name) <= 200)),
    CONSTRAINT ereader_positions_fraction_check CHECK (((fraction >= (0)::double precision) AND (fraction <= (1)::double precision))),
    CONSTRAINT ereader_positions_title_check CHECK ((char_length(title) <= 500))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.ereader_positions FORCE ROW LEVEL SECURITY;

-- Name: TABLE ereader_positions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.ereader_positions IS 'The last position in each book, in the terms of OPDS Progression.';

-- Name: COLUMN ereader_positions.modified_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_positions.modified_at IS 'The time of the position, by the clock of the device; by that of the server for KOReader.';

-- Name: COLUMN ereader_positions.fraction; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_positions.fraction IS 'The position from 0 to 1.';

-- Name: COLUMN ereader_positions.device_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_positions.device_id IS 'A URI.';

-- Name: COLUMN ereader_positions.place_refs; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_positions.place_refs IS 'References to positions inside the publication (`references` in OPDS Progression), such as URIs with fragments. Null if the device has sent none.';

-- Name: COLUMN ereader_positions.entry_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_positions.entry_id IS 'The progress entry that the device has written last. Positions of the next 15 minutes change this entry instead of adding others.';

-- Name: COLUMN ereader_positions.entry_began_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.ereader_positions.entry_began_at IS 'The time of the first position in that entry.';

-- Name: events; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.events (
    user_id uuid NOT NULL,
    id bigint NOT NULL,
    kind text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    delivered_at timestamp with time zone,
    CONSTRAINT events_kind_check CHECK ((kind ~ '^[a-z]+(_[a-z]+)*$'::text))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;

-- Name: TABLE events; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.events IS 'The outbox of events for brokers and live subscriptions.';

-- Name: COLUMN events.id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.events.id IS 'Ascending in the order of the commits of a user.';

-- Name: COLUMN events.delivered_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.events.delivered_at IS 'When the broker confirmed the event; null before that.';

-- Name: events_id_seq; Type: SEQUENCE; Schema: public; Owner: -

ALTER TABLE public.events ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: feed_chains; Type: SEQUENCE; Schema: public; Owner: -

CREATE SEQUENCE public.feed_chains
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: feed_decks; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.feed_decks (
    user_id uuid NOT NULL,
    chain bigint NOT NULL,
    number smallint NOT NULL,
    filter smallint[] NOT NULL,
    editions uuid[] NOT NULL,
    signals_version bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.feed_decks FORCE ROW LEVEL SECURITY;

-- Name: TABLE feed_decks; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.feed_decks IS 'Immutable lists of cards for a reader. A scroll of the feed reads a chain of decks.';

-- Name: COLUMN feed_decks.chain; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_decks.chain IS 'The number of the chain, from the sequence `feed_chains`. Negative if it starts with a deck of `cold_start_decks`.';

-- Name: COLUMN feed_decks.number; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_decks.number IS 'The number of preceding decks of the chain.';

-- Name: COLUMN feed_decks.filter; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_decks.filter IS 'The ids of the genres of a filtered feed, ascending. Empty for all genres.';

-- Name: COLUMN feed_decks.editions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_decks.editions IS 'The cards in their order. Empty at the end of a feed.';

-- Name: COLUMN feed_decks.signals_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_decks.signals_version IS 'The value of `users.signals_version` from which the deck was built. An older deck does not start a scroll.';

-- Name: feed_state; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.feed_state (
    only_row boolean DEFAULT true NOT NULL,
    main_language text,
    decks_valid_since timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    collected_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT feed_state_only_row_check CHECK (only_row)
);

-- Name: TABLE feed_state; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.feed_state IS 'The state of the feed''s background work, in a single row.';

-- Name: COLUMN feed_state.main_language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.main_language IS 'The language of most editions. Editions in other languages come last in the feed.';

-- Name: COLUMN feed_state.decks_valid_since; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.decks_valid_since IS 'Decks that were built before this time are not used to start a scroll.';

-- Name: COLUMN feed_state.collected_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.collected_at IS 'When the readers whose signals changed were last searched.';

-- Name: genre_aliases; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.genre_aliases (
    alias text NOT NULL,
    genre_id smallint NOT NULL,
    CONSTRAINT genre_aliases_alias_check CHECK (((alias = public.search_fold(alias)) AND (alias <> ''::text)))
);

-- Name: TABLE genre_aliases; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.genre_aliases IS 'The names of genres in sources, files, and requests.';

-- Name: COLUMN genre_aliases.alias; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.genre_aliases.alias IS 'The name in the form of `search_fold`.';

-- Name: genres; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.genres (
    id smallint NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    is_general boolean DEFAULT false NOT NULL,
    is_nonfiction boolean DEFAULT false NOT NULL,
    editions integer DEFAULT 0 NOT NULL,
    readers bigint DEFAULT 0 NOT NULL,
    CONSTRAINT genres_slug_check CHECK ((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text))
);

-- Name: TABLE genres; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.genres IS 'The canonical genres. Their ids and slugs never change.';

-- Name: COLUMN genres.slug; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.genres.slug IS 'The id in the GraphQL schema.';

-- Name: COLUMN genres.is_general; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.genres.is_general IS 'Whether the genre applies only to editions without a more specific one.';

-- Name: COLUMN genres.editions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.genres.editions IS 'The number of editions, as of the last `count_genres`.';

-- Name: COLUMN genres.readers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.genres.readers IS 'The number of ratings of these editions, as of the last `count_genres`.';

-- Name: identities; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.identities (
    user_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    subject text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.identities FORCE ROW LEVEL SECURITY;

-- Name: TABLE identities; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.identities IS 'The identities with which users sign in. An account has one or more, and a guest has none.';

-- Name: COLUMN identities.tenant_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.identities.tenant_id IS 'The tenant of the user. A copy, because subjects are unique for each tenant.';

-- Name: COLUMN identities.subject; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.identities.subject IS 'The subject of the identity token. If the provider is not Apple, the issuer and U+001F precede it.';

-- Name: identity_providers; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.identity_providers (
    tenant_id uuid NOT NULL,
    issuer text NOT NULL,
    name text NOT NULL,
    audiences text[] DEFAULT '{}'::text[] NOT NULL,
    jwks_url text,
    CONSTRAINT identity_providers_issuer_check CHECK (((issuer ~ '^https?://[^[:space:][:cntrl:]]+$'::text) AND (char_length(issuer) <= 500))),
    CONSTRAINT identity_providers_jwks_url_check CHECK (((jwks_url ~ '^https?://[^[:space:][:cntrl:]]+$'::text) AND (char_length(jwks_url) <= 500))),
    CONSTRAINT identity_providers_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 500)))
);

-- Name: TABLE identity_providers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.identity_providers IS 'The OpenID Connect providers of tenants, in addition to those of the server''s configuration.';

-- Name: COLUMN identity_providers.name; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.identity_providers.name IS 'The name by which apps choose the provider. Unique for each tenant.';

-- Name: COLUMN identity_providers.audiences; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.identity_providers.audiences IS 'The accepted client IDs. Empty for the audiences of the tenant.';

-- Name: COLUMN identity_providers.jwks_url; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.identity_providers.jwks_url IS 'The address of the keys; null if the discovery document of the issuer contains it.';

-- Name: identity_token_uses; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.identity_token_uses (
    token_hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT identity_token_uses_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

-- Name: TABLE identity_token_uses; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.identity_token_uses IS 'Identity tokens that have opened a session. A token is accepted once, by all servers together, also after its account was deleted.';

-- Name: COLUMN identity_token_uses.token_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.identity_token_uses.token_hash IS 'SHA-256 of the signed part of the token.';

-- Name: COLUMN identity_token_uses.expires_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.identity_token_uses.expires_at IS 'When the token expires. The row is not needed after that.';

-- Name: import_failures; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.import_failures (
    user_id uuid NOT NULL,
    import_id uuid NOT NULL,
    line integer NOT NULL,
    "position" integer DEFAULT 0 NOT NULL,
    field text,
    message text NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.import_failures FORCE ROW LEVEL SECURITY;

-- Name: TABLE import_failures; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.import_failures IS 'Records and fields of files that could not be imported.';

-- Name: COLUMN import_failures.line; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.import_failures.line IS 'The line of the file, from 1; 0 for a failure of the whole import.';

-- Name: COLUMN import_failures."position"; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.import_failures."position" IS 'Distinguishes the failures of a line.';

-- Name: COLUMN import_failures.field; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.import_failures.field IS 'The column that was left out; null if the whole record was.';

-- Name: imports; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.imports (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    format public.import_format NOT NULL,
    state public.import_state DEFAULT 'QUEUED'::public.import_state NOT NULL,
    content bytea,
    content_hash bytea NOT NULL,
    total integer,
    done integer DEFAULT 0 NOT NULL,
    created integer DEFAULT 0 NOT NULL,
    updated integer DEFAULT 0 NOT NULL,
    ignored_columns text[] DEFAULT '{}'::text[] NOT NULL,
    book_ids jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.imports FORCE ROW LEVEL SECURITY;

-- Name: TABLE imports; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.imports IS 'Imports of libraries from files of other services.';

-- Name: COLUMN imports.content; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.imports.content IS 'The file; null after the import has ended.';

-- Name: COLUMN imports.content_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.imports.content_hash IS 'SHA-256 of the file.';

-- Name: COLUMN imports.total; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.imports.total IS 'The number of records; null until they were counted.';

-- Name: COLUMN imports.done; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.imports.done IS 'The number of processed records.';

-- Name: COLUMN imports.created; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.imports.created IS 'The number of books that were created.';

-- Name: COLUMN imports.updated; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.imports.updated IS 'The number of books that were changed.';

-- Name: COLUMN imports.ignored_columns; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.imports.ignored_columns IS 'The columns of the file whose data is not kept.';

-- Name: COLUMN imports.book_ids; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.imports.book_ids IS 'The ids of books in the library, by their ids in the file, if these differ.';

-- Name: installation; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.installation (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    is_only boolean DEFAULT true NOT NULL,
    CONSTRAINT installation_is_only_check CHECK (is_only)
);

-- Name: TABLE installation; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.installation IS 'The id of this installation, in a single row. The object store contains it, too, so that the files of another one are never deleted.';

-- Name: jobs; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.jobs (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    user_id uuid,
    kind text NOT NULL,
    payload jsonb NOT NULL,
    key text,
    state public.job_state DEFAULT 'READY'::public.job_state NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    run_at timestamp with time zone DEFAULT now() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    attempts_max integer NOT NULL,
    fence integer DEFAULT 0 NOT NULL,
    worker text,
    lease_until timestamp with time zone,
    again boolean DEFAULT false NOT NULL,
    every interval,
    last_error text,
    postponed_since timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT jobs_attempts_max_check CHECK ((attempts_max > 0)),
    CONSTRAINT jobs_every_check CHECK ((every > '00:00:00'::interval)),
    CONSTRAINT jobs_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 200))),
    CONSTRAINT jobs_kind_check CHECK ((kind ~ '^[a-z]+(\.[a-z_]+)+$'::text))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.jobs FORCE ROW LEVEL SECURITY;

-- Name: TABLE jobs; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.jobs IS 'Background jobs that are not done. Finishing a job deletes its row.';

-- Name: COLUMN jobs.user_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.user_id IS 'The user whose rows the job may read and write, and with whom it is deleted. Null for work of the installation.';

-- Name: COLUMN jobs.kind; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.kind IS 'The kind of work, such as `cover.fetch`. It selects the handler.';

-- Name: COLUMN jobs.key; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.key IS 'Identifies the work: at most one job of a user, kind, and key is ready or running. Null for jobs that are never combined.';

-- Name: COLUMN jobs.state; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.state IS 'READY: the job waits until `run_at`. RUNNING: a worker holds the lease. DEAD: the job has failed for good.';

-- Name: COLUMN jobs.priority; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.priority IS '0 for work that a user waits for. Jobs with higher numbers run later.';

-- Name: COLUMN jobs.attempts; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.attempts IS 'The number of attempts since the job was last enqueued. Postponed runs do not count.';

-- Name: COLUMN jobs.fence; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.fence IS 'The fencing token. Each claim increments it, and only the worker with the current number can write for the job or finish it.';

-- Name: COLUMN jobs.worker; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.worker IS 'The name of the worker that holds the lease.';

-- Name: COLUMN jobs.again; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.again IS 'Whether the job was enqueued again while it was running, so it runs once more.';

-- Name: COLUMN jobs.every; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.every IS 'The interval of a recurring job; null for other jobs.';

-- Name: COLUMN jobs.postponed_since; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.jobs.postponed_since IS 'When the job was first postponed because its sources were paused; null if it was not.';

-- Name: leases; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.leases (
    name text NOT NULL,
    holder uuid NOT NULL,
    lease_until timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.leases FORCE ROW LEVEL SECURITY;

-- Name: TABLE leases; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.leases IS 'Work that one server does at a time, such as publishing events.';

-- Name: COLUMN leases.holder; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.leases.holder IS 'The server that does the work until `lease_until`.';

-- Name: logs_to_prune; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.logs_to_prune (
    user_id uuid NOT NULL,
    oldest_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.logs_to_prune FORCE ROW LEVEL SECURITY;

-- Name: TABLE logs_to_prune; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.logs_to_prune IS 'The time of the oldest entry of each change log, except of logs whose only entry is too old to be counted.';

-- Name: moving_covers; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.moving_covers (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    guest_id uuid NOT NULL,
    guest_book_id uuid NOT NULL,
    cover jsonb NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.moving_covers FORCE ROW LEVEL SECURITY;

-- Name: TABLE moving_covers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.moving_covers IS 'Covers of guests whose libraries were merged into accounts, until a job has copied the files.';

-- Name: COLUMN moving_covers.book_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.moving_covers.book_id IS 'The book of the account that gets the cover.';

-- Name: COLUMN moving_covers.guest_book_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.moving_covers.guest_book_id IS 'The book of the guest, by which the files are found.';

-- Name: COLUMN moving_covers.cover; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.moving_covers.cover IS 'The guest''s row of `covers`.';

-- Name: notes; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.notes (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    book_id uuid NOT NULL,
    text public.note_text,
    comment public.note_comment,
    chapter public.note_chapter,
    color public.note_color,
    page public.progress_page,
    percent public.progress_percent,
    seconds public.progress_seconds,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT notes_content_check CHECK (((text IS NOT NULL) OR (comment IS NOT NULL))),
    CONSTRAINT notes_position_check CHECK ((num_nonnulls(page, percent, seconds) <= 1))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.notes ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.notes FORCE ROW LEVEL SECURITY;

-- Name: TABLE notes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.notes IS 'Quotes from books and thoughts about them. A note has at most one position: a page, a percentage, or seconds.';

-- Name: COLUMN notes.text; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.notes.text IS 'The words of the book.';

-- Name: COLUMN notes.comment; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.notes.comment IS 'The reader''s own words.';

-- Name: COLUMN notes.percent; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.notes.percent IS 'From 0 to 100.';

-- Name: COLUMN notes.seconds; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.notes.seconds IS 'The position in an audiobook.';

-- Name: COLUMN notes.created_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.notes.created_at IS 'When the reader made the note. An e-reader may send it later.';

-- Name: oauth_clients; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.oauth_clients (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    redirect_uris text[] NOT NULL,
    scopes public.access_scope[] NOT NULL,
    allows_device boolean NOT NULL,
    secret_hash bytea,
    is_self_registered boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT oauth_clients_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
    CONSTRAINT oauth_clients_redirect_uris_check CHECK ((cardinality(redirect_uris) <= 10)),
    CONSTRAINT oauth_clients_scopes_check CHECK (((cardinality(scopes) >= 1) AND (cardinality(scopes) <= 20))),
    CONSTRAINT oauth_clients_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);

-- Name: TABLE oauth_clients; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.oauth_clients IS 'Apps of other developers, which use OAuth.';

-- Name: COLUMN oauth_clients.redirect_uris; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_clients.redirect_uris IS 'Empty for an app that uses only the device grant.';

-- Name: COLUMN oauth_clients.scopes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_clients.scopes IS 'The scopes for which the app may ask.';

-- Name: COLUMN oauth_clients.secret_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_clients.secret_hash IS 'SHA-256 of the client secret. Null for a public client, which has no secret.';

-- Name: COLUMN oauth_clients.is_self_registered; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_clients.is_self_registered IS 'Whether the app has registered itself, so that the operator has not checked its name.';

-- Name: oauth_grants; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.oauth_grants (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    scopes public.access_scope[] NOT NULL,
    refresh_hash bytea NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    rotated_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT oauth_grants_scopes_check CHECK (((cardinality(scopes) >= 1) AND (cardinality(scopes) <= 20)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.oauth_grants FORCE ROW LEVEL SECURITY;

-- Name: TABLE oauth_grants; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.oauth_grants IS 'The access that readers have allowed to apps. Deleting a row ends the access.';

-- Name: COLUMN oauth_grants.refresh_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_grants.refresh_hash IS 'A hash of the secret of the current refresh token.';

-- Name: COLUMN oauth_grants.generation; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_grants.generation IS 'How often the refresh token was rotated.';

-- Name: COLUMN oauth_grants.last_used_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.oauth_grants.last_used_at IS 'Updated at most every ten minutes.';

-- Name: object_writes; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.object_writes (
    version text NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

ALTER TABLE ONLY public.object_writes FORCE ROW LEVEL SECURITY;

-- Name: TABLE object_writes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.object_writes IS 'Versions of images that servers are writing to a bucket. Rows exist for seconds.';

-- Name: COLUMN object_writes.version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.object_writes.version IS 'The path in the bucket: BUCKET/FOLDER/NAME.VERSION.';

-- Name: COLUMN object_writes.expires_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.object_writes.expires_at IS 'When the writing process is considered dead.';

-- Name: persisted_queries; Type: TABLE; Schema: public; Owner: -

CREATE UNLOGGED TABLE public.persisted_queries (
    sha256 text NOT NULL,
    body text NOT NULL,
    bytes integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.persisted_queries FORCE ROW LEVEL SECURITY;

-- Name: TABLE persisted_queries; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.persisted_queries IS 'Documents that clients have registered by their hashes (automatic persisted queries). Clients register them again if the table is lost.';

-- Name: COLUMN persisted_queries.sha256; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.persisted_queries.sha256 IS 'SHA-256 of the body, in hexadecimal.';

-- Name: COLUMN persisted_queries.bytes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.persisted_queries.bytes IS 'The size of the body.';

-- Name: progress_entries; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.progress_entries (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    read_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    page public.progress_page,
    percent public.progress_percent,
    seconds public.progress_seconds,
    note public.progress_note,
    at_changed_at timestamp with time zone,
    position_changed_at timestamp with time zone,
    note_changed_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT progress_entries_position_check CHECK ((num_nonnulls(page, percent, seconds) = 1))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.progress_entries ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.progress_entries FORCE ROW LEVEL SECURITY;

-- Name: TABLE progress_entries; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.progress_entries IS 'How far a reader was at a time. An entry has one position: a page, a percentage, or seconds.';

-- Name: COLUMN progress_entries.at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.progress_entries.at IS 'When the reader was at the position.';

-- Name: COLUMN progress_entries.percent; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.progress_entries.percent IS 'From 0 to 100.';

-- Name: COLUMN progress_entries.seconds; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.progress_entries.seconds IS 'The position in an audiobook.';

-- Name: COLUMN progress_entries.at_changed_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.progress_entries.at_changed_at IS 'When the device changed `at`; null for the first value. A change that was made earlier and arrives later is ignored.';

-- Name: COLUMN progress_entries.position_changed_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.progress_entries.position_changed_at IS 'When the device changed the position, as for `at_changed_at`.';

-- Name: COLUMN progress_entries.note_changed_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.progress_entries.note_changed_at IS 'When the device changed the note, as for `at_changed_at`.';

-- Name: rate_buckets; Type: TABLE; Schema: public; Owner: -

CREATE UNLOGGED TABLE public.rate_buckets (
    kind smallint NOT NULL,
    key uuid NOT NULL,
    full_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.rate_buckets FORCE ROW LEVEL SECURITY;

-- Name: TABLE rate_buckets; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.rate_buckets IS 'The token buckets of rate limits, shared by all servers. Callers that have used little of a bucket have no row.';

-- Name: COLUMN rate_buckets.kind; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.rate_buckets.kind IS 'The limit to which the bucket belongs, by the numbers in `RateLimits.swift`.';

-- Name: COLUMN rate_buckets.key; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.rate_buckets.key IS 'The id of a user or a tenant, or the address of a client.';

-- Name: COLUMN rate_buckets.full_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.rate_buckets.full_at IS 'When the bucket will be full again.';

-- Name: reviews; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reviews (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    half_stars smallint,
    text text,
    has_spoilers boolean DEFAULT false NOT NULL,
    is_visible boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT reviews_content_check CHECK (((half_stars IS NOT NULL) OR (text IS NOT NULL))),
    CONSTRAINT reviews_half_stars_check CHECK (((half_stars >= 1) AND (half_stars <= 10))),
    CONSTRAINT reviews_text_check CHECK (((char_length(text) >= 1) AND (char_length(text) <= 100000)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.reviews ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.reviews FORCE ROW LEVEL SECURITY;

-- Name: TABLE reviews; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reviews IS 'The reviews of books, at most one for each book.';

-- Name: COLUMN reviews.half_stars; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reviews.half_stars IS 'The rating in half stars: 8 is 4 stars. Null for a text without a rating.';

-- Name: COLUMN reviews.has_spoilers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reviews.has_spoilers IS 'Whether the text reveals the plot.';

-- Name: COLUMN reviews.is_visible; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reviews.is_visible IS 'Whether the API shows the review, which is the case while the status of the book is READ. Triggers maintain it.';

-- Name: work_records; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.work_records (
    edition_id uuid NOT NULL,
    founder_id uuid NOT NULL,
    rank integer NOT NULL
);

-- Name: TABLE work_records; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.work_records IS 'The editions of works that have two or more, as computed by `match_works`.';

-- Name: COLUMN work_records.founder_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_records.founder_id IS 'The oldest edition of the work. The id of the work is computed from it (`work_id`).';

-- Name: COLUMN work_records.rank; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_records.rank IS 'The order of the records, from 1. The feed shows only the first one.';

-- Name: reader_signals; Type: VIEW; Schema: public; Owner: -

CREATE VIEW public.reader_signals WITH (security_invoker='true') AS
 SELECT signals.user_id,
    signals.edition_id,
    signals.weight,
    signals.voice,
    signals.at,
    signals.founder_id
   FROM ( SELECT DISTINCT ON (s.user_id, COALESCE(w.founder_id, s.edition_id)) s.user_id,
            s.edition_id,
            s.weight,
            s.voice,
            s.at,
            COALESCE(w.founder_id, s.edition_id) AS founder_id
           FROM (( SELECT r.user_id,
                    b.edition_id,
                    r.updated_at AS at,
                    1 AS rank,
                    ((ARRAY[0.1, 0.2, 0.6, (1)::numeric, 1.25])[((r.half_stars + 1) / 2)])::real AS weight,
                    ((ARRAY['-0.3'::numeric, (0)::numeric, 0.6, (1)::numeric, 1.25])[((r.half_stars + 1) / 2)])::real AS voice
                   FROM (public.reviews r
                     JOIN public.books b ON (((b.user_id = r.user_id) AND (b.id = r.book_id))))
                  WHERE ((b.edition_id IS NOT NULL) AND (r.half_stars IS NOT NULL))
                UNION ALL
                 SELECT current_swipes.user_id,
                    current_swipes.edition_id,
                    current_swipes.swiped_at,
                    2,
                    (
                        CASE current_swipes.action
                            WHEN 'BUY'::public.swipe_action THEN 1.25
                            WHEN 'LIKE'::public.swipe_action THEN (1)::numeric
                            ELSE (0)::numeric
                        END)::real AS float4,
                    (
                        CASE current_swipes.action
                            WHEN 'BUY'::public.swipe_action THEN 1.25
                            WHEN 'LIKE'::public.swipe_action THEN (1)::numeric
                            WHEN 'SKIP'::public.swipe_action THEN '-0.05'::numeric
                            ELSE '-0.3'::numeric
                        END)::real AS float4
                   FROM public.current_swipes
                UNION ALL
                 SELECT books.user_id,
                    books.edition_id,
                    books.added_at,
                    3,
                    (
                        CASE books.status
                            WHEN 'READ'::public.reading_status THEN 0.8
                            WHEN 'DID_NOT_FINISH'::public.reading_status THEN 0.2
                            ELSE 0.7
                        END)::real AS float4,
                    (
                        CASE books.status
                            WHEN 'READ'::public.reading_status THEN 0.8
                            WHEN 'DID_NOT_FINISH'::public.reading_status THEN (0)::numeric
                            ELSE 0.7
                        END)::real AS float4
                   FROM public.books
                  WHERE (books.edition_id IS NOT NULL)) s
             LEFT JOIN public.work_records w ON ((w.edition_id = s.edition_id)))
          ORDER BY s.user_id, COALESCE(w.founder_id, s.edition_id), s.rank, s.at DESC) signals;

-- Name: readers_to_collect; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.readers_to_collect (
    user_id uuid NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.readers_to_collect FORCE ROW LEVEL SECURITY;

-- Name: TABLE readers_to_collect; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.readers_to_collect IS 'Readers whose signals have to be collected again.';

-- Name: reading_days; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reading_days (
    user_id uuid NOT NULL,
    day date NOT NULL,
    entry_count integer NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.reading_days FORCE ROW LEVEL SECURITY;

-- Name: TABLE reading_days; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reading_days IS 'The days with progress in the time zone of the reader, for streaks. Triggers maintain it.';

-- Name: COLUMN reading_days.entry_count; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reading_days.entry_count IS 'The number of entries of the day, at least 1.';

-- Name: reading_goals; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reading_goals (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    year integer NOT NULL,
    unit public.goal_unit NOT NULL,
    target integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT reading_goals_target_check CHECK (((target >= 1) AND (target <= 1000000))),
    CONSTRAINT reading_goals_year_check CHECK (((year >= 1000) AND (year <= 9998)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.reading_goals ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.reading_goals FORCE ROW LEVEL SECURITY;

-- Name: TABLE reading_goals; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reading_goals IS 'The goals of readers for years.';

-- Name: COLUMN reading_goals.target; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reading_goals.target IS 'The number of books, pages, or hours.';

-- Name: reading_tombstones; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reading_tombstones (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    deleted_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.reading_tombstones FORCE ROW LEVEL SECURITY;

-- Name: TABLE reading_tombstones; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reading_tombstones IS 'The ids of deleted reads, progress entries, goals, and notes, so that a repeated request does not create them again.';

-- Name: reads; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reads (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    book_id uuid NOT NULL,
    started_on public.partial_date,
    finished_on public.partial_date,
    outcome public.read_outcome NOT NULL,
    format public.read_format,
    length_seconds public.read_length,
    note public.read_note,
    page_count integer,
    genre text,
    author_id uuid,
    author text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    sorted_on text GENERATED ALWAYS AS (
CASE
    WHEN (outcome = 'READING'::public.read_outcome) THEN '~'::text
    ELSE COALESCE((finished_on)::text, (started_on)::text, ''::text)
END) STORED NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT reads_dates_check CHECK (("left"((finished_on)::text, LEAST(length((started_on)::text), length((finished_on)::text))) >= "left"((started_on)::text, LEAST(length((started_on)::text), length((finished_on)::text))))),
    CONSTRAINT reads_open_check CHECK (((outcome <> 'READING'::public.read_outcome) OR (finished_on IS NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.reads ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.reads FORCE ROW LEVEL SECURITY;

-- Name: TABLE reads; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reads IS 'The times that a reader has read a book.';

-- Name: COLUMN reads.started_on; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reads.started_on IS 'A year, a month, or a day in the time zone that the reader had then.';

-- Name: COLUMN reads.finished_on; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reads.finished_on IS 'The last day, also of a read that was given up. Null for an open read, or if it is not known.';

-- Name: COLUMN reads.outcome; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reads.outcome IS 'READING: the read is open. A book has at most one open read.';

-- Name: COLUMN reads.length_seconds; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reads.length_seconds IS 'The length of an audiobook.';

-- Name: COLUMN reads.page_count; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reads.page_count IS 'A copy of the column of `books`, for statistics, like `genre`, `author_id`, and `author`.';

-- Name: COLUMN reads.sorted_on; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reads.sorted_on IS 'The first part of the order of reads: `finished_on` or `started_on`, or `~` for an open read, which is the last one.';

-- Name: removed_covers; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.removed_covers (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    version text NOT NULL,
    kept_until timestamp with time zone
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.removed_covers FORCE ROW LEVEL SECURITY;

-- Name: TABLE removed_covers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.removed_covers IS 'Versions that no row uses any more, until their files are removed.';

-- Name: COLUMN removed_covers.kept_until; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.removed_covers.kept_until IS 'Null for a version that a row used. A version that was found without a row is kept until this time.';

-- Name: removed_editions; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.removed_editions (
    id uuid NOT NULL,
    survivor_id uuid NOT NULL
);

-- Name: TABLE removed_editions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.removed_editions IS 'Deleted editions of works that have other editions.';

-- Name: COLUMN removed_editions.survivor_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.removed_editions.survivor_id IS 'Another edition of the work, to which ids of the deleted one lead.';

-- Name: schema_functions; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.schema_functions (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: TABLE schema_functions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.schema_functions IS 'The repeatable files that were applied.';

-- Name: COLUMN schema_functions.name; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.schema_functions.name IS 'The name of the file in `functions`, without .sql.';

-- Name: COLUMN schema_functions.checksum; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.schema_functions.checksum IS 'SHA-256 of the file.';

-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.schema_migrations (
    version bigint NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    milliseconds bigint NOT NULL
);

-- Name: TABLE schema_migrations; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.schema_migrations IS 'The versioned files that were applied.';

-- Name: COLUMN schema_migrations.version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.schema_migrations.version IS 'The time in the name of the file.';

-- Name: COLUMN schema_migrations.checksum; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.schema_migrations.checksum IS 'SHA-256 of the file.';

-- Name: COLUMN schema_migrations.milliseconds; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.schema_migrations.milliseconds IS 'How long the file took.';

-- Name: schema_states; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.schema_states (
    version bigint NOT NULL,
    functions text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: TABLE schema_states; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.schema_states IS 'The combinations of a version and repeatable files that the database has had. A server is ready if its own combination is here.';

-- Name: COLUMN schema_states.functions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.schema_states.functions IS 'A checksum of all repeatable files.';

-- Name: schema_usage; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.schema_usage (
    day date NOT NULL,
    client_id integer NOT NULL,
    coordinate text NOT NULL,
    uses bigint NOT NULL,
    CONSTRAINT schema_usage_coordinate_check CHECK (((char_length(coordinate) >= 1) AND (char_length(coordinate) <= 300))),
    CONSTRAINT schema_usage_uses_check CHECK ((uses > 0))
);

ALTER TABLE ONLY public.schema_usage FORCE ROW LEVEL SECURITY;

-- Name: TABLE schema_usage; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.schema_usage IS 'The number of operations that have used an element of the GraphQL schema.';

-- Name: COLUMN schema_usage.coordinate; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.schema_usage.coordinate IS 'A field, argument, input field, or enum value, such as `Book.title` or `Query.book(id:)`.';

-- Name: search_words; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.search_words (
    word text NOT NULL COLLATE pg_catalog."C",
    editions integer NOT NULL,
    forms text[] NOT NULL
);

-- Name: TABLE search_words; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.search_words IS 'The words of the catalog, among which the search finds corrections of misspelled words.';

-- Name: COLUMN search_words.editions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.search_words.editions IS 'The number of editions with the word, as of the last `refresh_search_words`.';

-- Name: COLUMN search_words.forms; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.search_words.forms IS 'The word, and the word without each one of its letters (`search_forms`).';

-- Name: series; Type: VIEW; Schema: public; Owner: -

CREATE VIEW public.series WITH (security_invoker='true') AS
 SELECT DISTINCT ON (named.id) named.id,
    named.name
   FROM ( SELECT editions.series_id AS id,
            btrim(editions.series) AS name,
            editions.popularity,
            editions.number
           FROM public.editions
          WHERE (editions.series_id IS NOT NULL)
        UNION ALL
         SELECT books.series_id,
            books.series,
            '-1'::integer,
            0
           FROM public.books
          WHERE (books.series_id IS NOT NULL)) named
  ORDER BY named.id, named.popularity DESC, named.number;

-- Name: sessions; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.sessions (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    refresh_hash bytea NOT NULL,
    device_name text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    rotated_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT sessions_device_name_check CHECK (((char_length(device_name) >= 1) AND (char_length(device_name) <= 100)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.sessions FORCE ROW LEVEL SECURITY;

-- Name: TABLE sessions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.sessions IS 'Sign-ins. Each one has a refresh token.';

-- Name: COLUMN sessions.generation; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.sessions.generation IS 'How often the refresh token was rotated.';

-- Name: COLUMN sessions.refresh_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.sessions.refresh_hash IS 'A hash of the secret of the refresh token. The secret is not stored.';

-- Name: COLUMN sessions.device_name; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.sessions.device_name IS 'The name that the app gave the device, for the reader''s list of sessions.';

-- Name: COLUMN sessions.rotated_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.sessions.rotated_at IS 'When the refresh token was last rotated, which is also the last known use of the session.';

-- Name: COLUMN sessions.revoked_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.sessions.revoked_at IS 'When the session was ended; null if it was not.';

-- Name: shelf_books; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.shelf_books (
    user_id uuid NOT NULL,
    shelf_id uuid NOT NULL,
    book_id uuid NOT NULL,
    added_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.shelf_books ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.shelf_books FORCE ROW LEVEL SECURITY;

-- Name: TABLE shelf_books; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.shelf_books IS 'The books on shelves.';

-- Name: COLUMN shelf_books.added_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelf_books.added_at IS 'A copy of `books.added_at`, for the order of a shelf.';

-- Name: shelves; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.shelves (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    "position" integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT shelves_name_check CHECK (((name = btrim(name)) AND ((char_length(name) >= 1) AND (char_length(name) <= 100))))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.shelves ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.shelves FORCE ROW LEVEL SECURITY;

-- Name: TABLE shelves; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.shelves IS 'The shelves of a library.';

-- Name: COLUMN shelves."position"; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelves."position" IS 'The order of the shelves, ascending. After a merge or an import, numbers can be missing.';

-- Name: source_misses; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.source_misses (
    source text NOT NULL,
    isbn13 text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT source_misses_isbn13_check CHECK ((isbn13 ~ '^97[89][0-9]{10}$'::text)),
    CONSTRAINT source_misses_source_check CHECK ((source ~ '^[a-z_]{1,32}$'::text))
);

-- Name: TABLE source_misses; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.source_misses IS 'ISBNs that an external source does not know. It is not asked again before the row expires.';

-- Name: source_searches; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.source_searches (
    query text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT source_searches_query_check CHECK (((char_length(query) >= 1) AND (char_length(query) <= 1000)))
);

-- Name: TABLE source_searches; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.source_searches IS 'Queries that external sources have answered. They are not sent again before the row expires.';

-- Name: source_usage; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.source_usage (
    source text NOT NULL,
    day date NOT NULL,
    used integer DEFAULT 0 NOT NULL,
    used_in_background integer DEFAULT 0 NOT NULL,
    CONSTRAINT source_usage_check CHECK (((used_in_background >= 0) AND (used_in_background <= used))),
    CONSTRAINT source_usage_source_check CHECK ((source ~ '^[a-z-]{1,40}$'::text)),
    CONSTRAINT source_usage_used_check CHECK ((used >= 0))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.source_usage FORCE ROW LEVEL SECURITY;

-- Name: TABLE source_usage; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.source_usage IS 'The number of requests to external sources on each day, for the daily budgets. It includes requests that a server has reserved and not used.';

-- Name: COLUMN source_usage.source; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.source_usage.source IS 'The name in BOOKPLATE_SOURCE_BUDGETS, such as `open-library`. Other tables use `open_library`.';

-- Name: COLUMN source_usage.day; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.source_usage.day IS 'A day of UTC.';

-- Name: COLUMN source_usage.used_in_background; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.source_usage.used_in_background IS 'The part of `used` that background work has reserved.';

-- Name: stored_covers; Type: VIEW; Schema: public; Owner: -

CREATE VIEW public.stored_covers WITH (security_invoker='true') AS
 SELECT covers.user_id,
    covers.book_id,
    covers.tenant_id,
    covers.version,
    covers.width,
    covers.height,
    covers.byte_counts,
    covers.hashes,
    false AS is_deleted,
    covers.user_id AS owner_id
   FROM public.covers
UNION ALL
 SELECT d.user_id,
    d.id AS book_id,
    c.tenant_id,
    c.version,
    c.width,
    c.height,
    c.byte_counts,
    c.hashes,
    true AS is_deleted,
    d.user_id AS owner_id
   FROM (public.deleted_books d
     CROSS JOIN LATERAL jsonb_populate_record(NULL::public.covers, d.cover) c(user_id, book_id, tenant_id, version, source, width, height, dominant_color, blur_hash, byte_counts, hashes, updated_at))
  WHERE (d.cover IS NOT NULL)
UNION ALL
 SELECT m.guest_id AS user_id,
    m.guest_book_id AS book_id,
    c.tenant_id,
    c.version,
    c.width,
    c.height,
    c.byte_counts,
    c.hashes,
    true AS is_deleted,
    m.user_id AS owner_id
   FROM (public.moving_covers m
     CROSS JOIN LATERAL jsonb_populate_record(NULL::public.covers, m.cover) c(user_id, book_id, tenant_id, version, source, width, height, dominant_color, blur_hash, byte_counts, hashes, updated_at));

-- Name: tenant_storage; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.tenant_storage (
    tenant_id uuid NOT NULL,
    part smallint NOT NULL,
    bytes bigint NOT NULL,
    covers bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

-- Name: TABLE tenant_storage; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.tenant_storage IS 'The storage that the covers of each tenant use, in 16 parts, so that uploads rarely wait for one another.';

-- Name: COLUMN tenant_storage.part; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenant_storage.part IS 'From 0 to 15. The storage of a tenant is the sum of its parts.';

-- Name: COLUMN tenant_storage.covers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenant_storage.covers IS 'The number of covers.';

-- Name: tenants; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.tenants (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    issuers text[] DEFAULT '{}'::text[] NOT NULL,
    audiences text[] NOT NULL,
    amazon_tag text,
    bookshop_id text,
    storage_bytes_max bigint,
    user_storage_bytes_max bigint DEFAULT '2147483648'::bigint,
    requests_per_minute integer,
    half_stars boolean DEFAULT false NOT NULL,
    guests boolean DEFAULT false NOT NULL,
    guest_books_max integer DEFAULT 200 NOT NULL,
    oauth boolean DEFAULT false NOT NULL,
    oauth_registration boolean DEFAULT false NOT NULL,
    mcp boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenants_amazon_tag_check CHECK ((amazon_tag ~ '^[A-Za-z0-9-]{1,64}$'::text)),
    CONSTRAINT tenants_bookshop_id_check CHECK ((bookshop_id ~ '^[0-9]{1,10}$'::text)),
    CONSTRAINT tenants_guest_books_max_check CHECK (((guest_books_max >= 1) AND (guest_books_max <= 1000))),
    CONSTRAINT tenants_name_check CHECK ((name <> ''::text)),
    CONSTRAINT tenants_requests_per_minute_check CHECK ((requests_per_minute > 0)),
    CONSTRAINT tenants_slug_check CHECK ((slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT tenants_storage_bytes_max_check CHECK ((storage_bytes_max >= 0)),
    CONSTRAINT tenants_user_storage_bytes_max_check CHECK ((user_storage_bytes_max >= 0))
);

-- Name: TABLE tenants; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.tenants IS 'The apps that share this installation. Each one has its own users.';

-- Name: COLUMN tenants.slug; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.slug IS 'The name in commands, such as `tenant update SLUG`.';

-- Name: COLUMN tenants.issuers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.issuers IS 'The accepted issuers of identity tokens. Empty for those of the server''s configuration.';

-- Name: COLUMN tenants.audiences; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.audiences IS 'The accepted audiences of identity tokens: bundle IDs and client IDs.';

-- Name: COLUMN tenants.amazon_tag; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.amazon_tag IS 'The tag of Amazon''s affiliate program in links to the shop.';

-- Name: COLUMN tenants.bookshop_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.bookshop_id IS 'The affiliate ID in links to bookshop.org.';

-- Name: COLUMN tenants.storage_bytes_max; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.storage_bytes_max IS 'The maximum number of bytes of all covers of the tenant; null for no limit.';

-- Name: COLUMN tenants.user_storage_bytes_max; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.user_storage_bytes_max IS 'The maximum number of bytes of the covers of one user; null for no limit.';

-- Name: COLUMN tenants.requests_per_minute; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.requests_per_minute IS 'The rate limit of the tenant; null for that of the server''s configuration.';

-- Name: COLUMN tenants.half_stars; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.half_stars IS 'Whether readers may rate books in half stars.';

-- Name: COLUMN tenants.guests; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.guests IS 'Whether apps may sign in guests.';

-- Name: COLUMN tenants.guest_books_max; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.guest_books_max IS 'The maximum number of books of a guest.';

-- Name: COLUMN tenants.oauth; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.oauth IS 'Whether apps of other developers may ask readers for access by OAuth.';

-- Name: COLUMN tenants.oauth_registration; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.oauth_registration IS 'Whether apps of other developers may register themselves.';

-- Name: COLUMN tenants.mcp; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.mcp IS 'Whether trusted documents are offered as tools of the Model Context Protocol.';

-- Name: timelines; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.timelines (
    number integer NOT NULL,
    mark uuid DEFAULT gen_random_uuid() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.timelines FORCE ROW LEVEL SECURITY;

-- Name: TABLE timelines; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.timelines IS 'The timelines of the WAL on which servers have used this database. A replica that lacks a row follows another history.';

-- Name: COLUMN timelines.number; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.timelines.number IS 'The number of the timeline in the names of WAL files.';

-- Name: COLUMN timelines.mark; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.timelines.mark IS 'Distinguishes timelines of the same number, if two standbys were promoted.';

-- Name: usage_clients; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.usage_clients (
    id integer NOT NULL,
    tenant_id uuid,
    name text NOT NULL,
    version text NOT NULL,
    last_used_on date NOT NULL,
    CONSTRAINT usage_clients_name_check CHECK ((char_length(name) <= 64)),
    CONSTRAINT usage_clients_version_check CHECK ((char_length(version) <= 64))
);

ALTER TABLE ONLY public.usage_clients FORCE ROW LEVEL SECURITY;

-- Name: TABLE usage_clients; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.usage_clients IS 'The apps whose use of the schema is counted.';

-- Name: COLUMN usage_clients.tenant_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.usage_clients.tenant_id IS 'Null for requests without a valid access token, such as a sign-in.';

-- Name: COLUMN usage_clients.name; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.usage_clients.name IS 'The name that the app sends; empty if it sends none. `(other)` contains all apps beyond the limit.';

-- Name: usage_clients_id_seq; Type: SEQUENCE; Schema: public; Owner: -

ALTER TABLE public.usage_clients ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.usage_clients_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: users; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.users (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    is_guest boolean DEFAULT false NOT NULL,
    guest_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    email text,
    email_disabled boolean DEFAULT false NOT NULL,
    display_name text,
    preferred_genres text[] DEFAULT '{}'::text[] NOT NULL,
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    signals_version bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.users FORCE ROW LEVEL SECURITY;

-- Name: TABLE users; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.users IS 'Accounts and guests. A user belongs to one tenant.';

-- Name: COLUMN users.is_guest; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.users.is_guest IS 'Whether the user has no identity. Adding the first identity ends this for good.';

-- Name: COLUMN users.guest_seen_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.users.guest_seen_at IS 'When a guest was last known to be active. The job that deletes inactive guests examines those with old times, and updates them.';

-- Name: COLUMN users.email_disabled; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.users.email_disabled IS 'Whether Apple has reported that mail to the relay address is switched off. The address is not shown then.';

-- Name: COLUMN users.preferred_genres; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.users.preferred_genres IS 'The names of genres, in the order of the reader.';

-- Name: COLUMN users.time_zone; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.users.time_zone IS 'A name of the IANA time zone database, which decides when the reader''s day begins.';

-- Name: COLUMN users.signals_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.users.signals_version IS 'The number of changes of swipes, books, reviews, and preferred genres from which the feed learns.';

-- Name: webhook_deliveries; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.webhook_deliveries (
    user_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    webhook_id uuid NOT NULL,
    number bigint NOT NULL,
    type text NOT NULL,
    object_id uuid,
    change_seq bigint,
    event_at timestamp with time zone NOT NULL,
    state public.webhook_delivery_state DEFAULT 'WAITING'::public.webhook_delivery_state NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    attempted_at timestamp with time zone,
    last_status integer,
    last_error text,
    CONSTRAINT webhook_deliveries_check CHECK (((due_at IS NULL) OR (state = 'WAITING'::public.webhook_delivery_state)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.webhook_deliveries FORCE ROW LEVEL SECURITY;

-- Name: TABLE webhook_deliveries; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.webhook_deliveries IS 'Events to send to webhooks, and those that were sent. They contain only ids of users'' data.';

-- Name: COLUMN webhook_deliveries.number; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_deliveries.number IS 'The order of the events of a user.';

-- Name: COLUMN webhook_deliveries.type; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_deliveries.type IS 'The type of the event, such as `book.updated`.';

-- Name: COLUMN webhook_deliveries.object_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_deliveries.object_id IS 'The changed object, or the book of a cover. Null for events of the account.';

-- Name: COLUMN webhook_deliveries.change_seq; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_deliveries.change_seq IS 'The entry of `changes`; null for other events.';

-- Name: COLUMN webhook_deliveries.due_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_deliveries.due_at IS 'When the next attempt is due. Only the oldest waiting delivery of a user for a webhook has it.';

-- Name: COLUMN webhook_deliveries.expires_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_deliveries.expires_at IS 'When a waiting delivery becomes dead, or when a delivered or dead one is deleted.';

-- Name: COLUMN webhook_deliveries.last_status; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhook_deliveries.last_status IS 'The HTTP status of the last attempt; null without a response.';

-- Name: webhook_deliveries_number_seq; Type: SEQUENCE; Schema: public; Owner: -

ALTER TABLE public.webhook_deliveries ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_deliveries_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: webhooks; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.webhooks (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    url text NOT NULL,
    event_types text[] NOT NULL,
    sealed_secret bytea NOT NULL,
    sealed_previous_secret bytea,
    previous_secret_until timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    disabled_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    paused_until timestamp with time zone,
    CONSTRAINT webhooks_check CHECK (((sealed_previous_secret IS NULL) = (previous_secret_until IS NULL))),
    CONSTRAINT webhooks_event_types_check CHECK (((cardinality(event_types) >= 1) AND (cardinality(event_types) <= 50))),
    CONSTRAINT webhooks_url_check CHECK (((url ~ '^https?://[^[:space:][:cntrl:]]+$'::text) AND (char_length(url) <= 2000)))
);

ALTER TABLE ONLY public.webhooks FORCE ROW LEVEL SECURITY;

-- Name: TABLE webhooks; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.webhooks IS 'The addresses that receive the events of a tenant.';

-- Name: COLUMN webhooks.event_types; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhooks.event_types IS 'Types such as `book.updated`, and patterns: `book.*`, or `*` for all.';

-- Name: COLUMN webhooks.sealed_secret; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhooks.sealed_secret IS 'The signing secret, encrypted with the sealing key of the installation.';

-- Name: COLUMN webhooks.sealed_previous_secret; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhooks.sealed_previous_secret IS 'The secret before the last rotation. Deliveries are also signed with it until `previous_secret_until`.';

-- Name: COLUMN webhooks.disabled_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhooks.disabled_at IS 'When the receiver responded with the status 410; null if it did not. Nothing is sent until an operator enables the webhook.';

-- Name: COLUMN webhooks.failures; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhooks.failures IS 'The number of failed attempts since the last successful one.';

-- Name: COLUMN webhooks.paused_until; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.webhooks.paused_until IS 'When the receiver may get requests again; null without a pause.';

-- Name: work_decision_editions; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.work_decision_editions (
    decision_id bigint NOT NULL,
    edition_id uuid NOT NULL
);

-- Name: TABLE work_decision_editions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.work_decision_editions IS 'The editions to which a decision applies.';

-- Name: work_decisions; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.work_decisions (
    id bigint NOT NULL,
    kind public.work_decision_kind NOT NULL,
    decided_at timestamp with time zone DEFAULT now() NOT NULL,
    undone_at timestamp with time zone
);

-- Name: TABLE work_decisions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.work_decisions IS 'The operator''s decisions that editions are records of one work, or are not.';

-- Name: COLUMN work_decisions.undone_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_decisions.undone_at IS 'When the decision was undone, so that it has no effect; null if it was not.';

-- Name: work_decisions_id_seq; Type: SEQUENCE; Schema: public; Owner: -

ALTER TABLE public.work_decisions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.work_decisions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: work_signals; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.work_signals (
    number bigint NOT NULL,
    signals integer NOT NULL,
    voice bigint NOT NULL,
    recent numeric NOT NULL,
    changes bigint NOT NULL,
    learned_changes bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

-- Name: TABLE work_signals; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.work_signals IS 'The sums of the collected signals of each work.';

-- Name: COLUMN work_signals.number; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_signals.number IS 'The number (`editions.number`) of the oldest edition of the work.';

-- Name: COLUMN work_signals.signals; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_signals.signals IS 'The number of signals.';

-- Name: COLUMN work_signals.voice; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_signals.voice IS 'The sum of `collected_signals.voices`: the weight of the signals in the popularity, in hundredths.';

-- Name: COLUMN work_signals.recent; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_signals.recent IS 'The same sum with each weight multiplied by 2 ^ (d / 14), where d is the number of days from 2026-01-01 to the signal. Divided by this power for today, it is a sum with a half-life of 14 days.';

-- Name: COLUMN work_signals.changes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_signals.changes IS 'The number of signals that were ever added, changed, or removed.';

-- Name: COLUMN work_signals.learned_changes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_signals.learned_changes IS 'The value of `changes` when similar books of the work were last learned.';

-- Name: access_tokens access_tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_pkey PRIMARY KEY (user_id, id);

-- Name: account_tombstones account_tombstones_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.account_tombstones
    ADD CONSTRAINT account_tombstones_pkey PRIMARY KEY (id);

-- Name: apple_grants apple_grants_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.apple_grants
    ADD CONSTRAINT apple_grants_pkey PRIMARY KEY (user_id, client_id);

-- Name: apple_notifications apple_notifications_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.apple_notifications
    ADD CONSTRAINT apple_notifications_pkey PRIMARY KEY (id_hash);

-- Name: audit_chain audit_chain_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.audit_chain
    ADD CONSTRAINT audit_chain_pkey PRIMARY KEY (id);

-- Name: audit_events audit_events_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

-- Name: audit_events audit_events_position_key; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_position_key UNIQUE ("position");

-- Name: authors authors_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.authors
    ADD CONSTRAINT authors_pkey PRIMARY KEY (id);

-- Name: books books_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.books
    ADD CONSTRAINT books_pkey PRIMARY KEY (user_id, id);

-- Name: books_to_link books_to_link_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.books_to_link
    ADD CONSTRAINT books_to_link_pkey PRIMARY KEY (user_id, book_id);

-- Name: changes changes_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (user_id, seq);

-- Name: checkpoints checkpoints_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (task);

-- Name: cold_start_decks cold_start_decks_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.cold_start_decks
    ADD CONSTRAINT cold_start_decks_pkey PRIMARY KEY (chain);

-- Name: collected_signals collected_signals_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.collected_signals
    ADD CONSTRAINT collected_signals_pkey PRIMARY KEY (user_id);

-- Name: covers covers_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.covers
    ADD CONSTRAINT covers_pkey PRIMARY KEY (user_id, book_id);

-- Name: deleted_books deleted_books_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.deleted_books
    ADD CONSTRAINT deleted_books_pkey PRIMARY KEY (user_id, id);

-- Name: documents documents_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (id);

-- Name: edition_genres edition_genres_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_genres
    ADD CONSTRAINT edition_genres_pkey PRIMARY KEY (genre_id, "position") INCLUDE (edition_id, ordinal);

-- Name: edition_similar edition_similar_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_similar
    ADD CONSTRAINT edition_similar_pkey PRIMARY KEY (edition_id, rank);

-- Name: edition_sources edition_sources_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_sources
    ADD CONSTRAINT edition_sources_pkey PRIMARY KEY (source, key);

-- Name: edition_work_keys edition_work_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_work_keys
    ADD CONSTRAINT edition_work_keys_pkey PRIMARY KEY (edition_id, source);

-- Name: editions editions_isbn13_key; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.editions
    ADD CONSTRAINT editions_isbn13_key UNIQUE (isbn13);

-- Name: editions editions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.editions
    ADD CONSTRAINT editions_pkey PRIMARY KEY (id);

-- Name: ereader_documents ereader_documents_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.ereader_documents
    ADD CONSTRAINT ereader_documents_pkey PRIMARY KEY (user_id, id);

-- Name: ereader_documents ereader_documents_user_id_hash_key; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.ereader_documents
    ADD CONSTRAINT ereader_documents_user_id_hash_key UNIQUE (user_id, hash);

-- Name: ereader_positions ereader_positions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.ereader_positions
    ADD CONSTRAINT ereader_positions_pkey PRIMARY KEY (user_id, book_id);

-- Name: events events_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (user_id, id);

-- Name: feed_decks feed_decks_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.feed_decks
    ADD CONSTRAINT feed_decks_pkey PRIMARY KEY (user_id, chain, number);

-- Name: feed_state feed_state_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.feed_state
    ADD CONSTRAINT feed_state_pkey PRIMARY KEY (only_row);

-- Name: genre_aliases genre_aliases_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.genre_aliases
    ADD CONSTRAINT genre_aliases_pkey PRIMARY KEY (alias);

-- Name: genres genres_name_key; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.genres
    ADD CONSTRAINT genres_name_key UNIQUE (name);

-- Name: genres genres_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.genres
    ADD CONSTRAINT genres_pkey PRIMARY KEY (id);

-- Name: genres genres_slug_key; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.genres
    ADD CONSTRAINT genres_slug_key UNIQUE (slug);

-- Name: identities identities_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (user_id, id);

-- Name: identity_providers identity_providers_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_pkey PRIMARY KEY (tenant_id, issuer);

-- Name: identity_token_uses identity_token_uses_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.identity_token_uses
    ADD CONSTRAINT identity_token_uses_pkey PRIMARY KEY (token_hash);

-- Name: import_failures import_failures_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.import_failures
    ADD CONSTRAINT import_failures_pkey PRIMARY KEY (user_id, import_id, line, "position");

-- Name: imports imports_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (user_id, id);

-- Name: installation installation_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (is_only);

-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

-- Name: leases leases_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);

-- Name: logs_to_prune logs_to_prune_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.logs_to_prune
    ADD CONSTRAINT logs_to_prune_pkey PRIMARY KEY (user_id);

-- Name: moving_covers moving_covers_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.moving_covers
    ADD CONSTRAINT moving_covers_pkey PRIMARY KEY (user_id, book_id, guest_id);

-- Name: notes notes_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.notes
    ADD CONSTRAINT notes_pkey PRIMARY KEY (user_id, id);

-- Name: oauth_clients oauth_clients_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_pkey PRIMARY KEY (id);

-- Name: oauth_grants oauth_grants_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_grants
    ADD CONSTRAINT oauth_grants_pkey PRIMARY KEY (user_id, id);

-- Name: oauth_requests oauth_requests_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_requests
    ADD CONSTRAINT oauth_requests_pkey PRIMARY KEY (id);

-- Name: object_writes object_writes_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.object_writes
    ADD CONSTRAINT object_writes_pkey PRIMARY KEY (version);

-- Name: persisted_queries persisted_queries_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.persisted_queries
    ADD CONSTRAINT persisted_queries_pkey PRIMARY KEY (sha256);

-- Name: progress_entries progress_entries_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.progress_entries
    ADD CONSTRAINT progress_entries_pkey PRIMARY KEY (user_id, id);

-- Name: rate_buckets rate_buckets_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.rate_buckets
    ADD CONSTRAINT rate_buckets_pkey PRIMARY KEY (kind, key);

-- Name: readers_to_collect readers_to_collect_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.readers_to_collect
    ADD CONSTRAINT readers_to_collect_pkey PRIMARY KEY (user_id);

-- Name: reading_days reading_days_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_days
    ADD CONSTRAINT reading_days_pkey PRIMARY KEY (user_id, day);

-- Name: reading_goals reading_goals_of_year; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_goals
    ADD CONSTRAINT reading_goals_of_year UNIQUE (user_id, year, unit);

-- Name: reading_goals reading_goals_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_goals
    ADD CONSTRAINT reading_goals_pkey PRIMARY KEY (user_id, id);

-- Name: reading_tombstones reading_tombstones_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_tombstones
    ADD CONSTRAINT reading_tombstones_pkey PRIMARY KEY (user_id, id);

-- Name: reads reads_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reads
    ADD CONSTRAINT reads_pkey PRIMARY KEY (user_id, id);

-- Name: removed_covers removed_covers_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.removed_covers
    ADD CONSTRAINT removed_covers_pkey PRIMARY KEY (user_id, book_id, version);

-- Name: removed_editions removed_editions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.removed_editions
    ADD CONSTRAINT removed_editions_pkey PRIMARY KEY (id);

-- Name: reviews reviews_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_pkey PRIMARY KEY (user_id, book_id);

-- Name: reviews reviews_user_id_id_key; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_user_id_id_key UNIQUE (user_id, id);

-- Name: schema_functions schema_functions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.schema_functions
    ADD CONSTRAINT schema_functions_pkey PRIMARY KEY (name);

-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

-- Name: schema_states schema_states_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.schema_states
    ADD CONSTRAINT schema_states_pkey PRIMARY KEY (version, functions);

-- Name: schema_usage schema_usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.schema_usage
    ADD CONSTRAINT schema_usage_pkey PRIMARY KEY (day, client_id, coordinate);

-- Name: search_words search_words_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.search_words
    ADD CONSTRAINT search_words_pkey PRIMARY KEY (word);

-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (user_id, id);

-- Name: shelf_books shelf_books_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelf_books
    ADD CONSTRAINT shelf_books_pkey PRIMARY KEY (user_id, shelf_id, book_id);

-- Name: shelves shelves_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelves
    ADD CONSTRAINT shelves_pkey PRIMARY KEY (user_id, id);

-- Name: source_misses source_misses_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.source_misses
    ADD CONSTRAINT source_misses_pkey PRIMARY KEY (isbn13, source);

-- Name: source_searches source_searches_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.source_searches
    ADD CONSTRAINT source_searches_pkey PRIMARY KEY (query);

-- Name: source_usage source_usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.source_usage
    ADD CONSTRAINT source_usage_pkey PRIMARY KEY (source, day);

-- Name: swipes swipes_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.swipes
    ADD CONSTRAINT swipes_pkey PRIMARY KEY (user_id, edition_id, swiped_at);

-- Name: tenant_storage tenant_storage_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.tenant_storage
    ADD CONSTRAINT tenant_storage_pkey PRIMARY KEY (tenant_id, part);

-- Name: tenants tenants_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);

-- Name: tenants tenants_slug_key; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_slug_key UNIQUE (slug);

-- Name: timelines timelines_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.timelines
    ADD CONSTRAINT timelines_pkey PRIMARY KEY (number);

-- Name: usage_clients usage_clients_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.usage_clients
    ADD CONSTRAINT usage_clients_pkey PRIMARY KEY (id);

-- Name: usage_clients usage_clients_tenant_id_name_version_key; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.usage_clients
    ADD CONSTRAINT usage_clients_tenant_id_name_version_key UNIQUE NULLS NOT DISTINCT (tenant_id, name, version);

-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

-- Name: webhook_deliveries webhook_deliveries_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (user_id, id);

-- Name: webhook_positions webhook_positions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.webhook_positions
    ADD CONSTRAINT webhook_positions_pkey PRIMARY KEY (user_id);

-- Name: webhooks webhooks_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);

-- Name: work_decision_editions work_decision_editions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.work_decision_editions
    ADD CONSTRAINT work_decision_editions_pkey PRIMARY KEY (decision_id, edition_id);

-- Name: work_decisions work_decisions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.work_decisions
    ADD CONSTRAINT work_decisions_pkey PRIMARY KEY (id);

-- Name: work_records work_records_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.work_records
    ADD CONSTRAINT work_records_pkey PRIMARY KEY (edition_id);

-- Name: work_signals work_signals_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.work_signals
    ADD CONSTRAINT work_signals_pkey PRIMARY KEY (number);

-- Name: access_tokens_grant_expires_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX access_tokens_grant_expires_at ON public.access_tokens USING btree (expires_at) WHERE (grant_id IS NOT NULL);

-- Name: access_tokens_grant_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX access_tokens_grant_id ON public.access_tokens USING btree (user_id, grant_id) WHERE (grant_id IS NOT NULL);

-- Name: access_tokens_kosync_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX access_tokens_kosync_hash ON public.access_tokens USING btree (kosync_hash);

-- Name: access_tokens_token_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX access_tokens_token_hash ON public.access_tokens USING btree (token_hash);

-- Name: account_tombstones_session; Type: INDEX; Schema: public; Owner: -

CREATE INDEX account_tombstones_session ON public.account_tombstones USING btree (deleted_at) WHERE (session_hash IS NOT NULL);

-- Name: account_tombstones_user_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX account_tombstones_user_hash ON public.account_tombstones USING btree (user_hash);

-- Name: apple_notifications_expires_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX apple_notifications_expires_at ON public.apple_notifications USING btree (expires_at);

-- Name: audit_events_account_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX audit_events_account_id ON public.audit_events USING btree (account_id, id) WHERE (account_id IS NOT NULL);

-- Name: audit_events_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX audit_events_at ON public.audit_events USING btree (at);

-- Name: audit_events_unchained; Type: INDEX; Schema: public; Owner: -

CREATE INDEX audit_events_unchained ON public.audit_events USING btree (id) WHERE ("position" IS NULL);

-- Name: books_added_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_added_at ON public.books USING btree (user_id, added_at, id);

-- Name: books_cover_requested_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_cover_requested_at ON public.books USING btree (cover_requested_at) WHERE (cover_status = 'FETCHING'::public.cover_status);

-- Name: books_edition_id; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX books_edition_id ON public.books USING btree (user_id, edition_id) INCLUDE (added_at, series_id) WHERE (edition_id IS NOT NULL);

-- Name: books_isbn13; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX books_isbn13 ON public.books USING btree (user_id, isbn13) WHERE (isbn13 IS NOT NULL);

-- Name: books_link_keys; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_link_keys ON public.books USING gin (public.book_link_keys((isbn13)::text, (title)::text, public.author_text((authors)::text[], author_roles))) WITH (fastupdate=off) WHERE (edition_id IS NULL);

-- Name: books_of_edition; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_of_edition ON public.books USING btree (edition_id) WHERE (edition_id IS NOT NULL);

-- Name: books_series_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_series_id ON public.books USING btree (user_id, series_id) INCLUDE (added_at) WHERE (series_id IS NOT NULL);

-- Name: changes_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX changes_at ON public.changes USING brin (at);

-- Name: collected_signals_newest; Type: INDEX; Schema: public; Owner: -

CREATE INDEX collected_signals_newest ON public.collected_signals USING btree (newest_at DESC, user_id) INCLUDE (signal_count);

-- Name: deleted_books_deleted_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX deleted_books_deleted_at ON public.deleted_books USING btree (deleted_at);

-- Name: deleted_books_of_user; Type: INDEX; Schema: public; Owner: -

CREATE INDEX deleted_books_of_user ON public.deleted_books USING btree (user_id, deleted_at, id);

-- Name: documents_sha256; Type: INDEX; Schema: public; Owner: -

CREATE INDEX documents_sha256 ON public.documents USING btree (sha256);

-- Name: documents_synced_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX documents_synced_at ON public.documents USING btree (synced_at);

-- Name: edition_genres_edition_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX edition_genres_edition_id ON public.edition_genres USING btree (edition_id, ordinal) INCLUDE (genre_id, "position");

-- Name: edition_similar_similar_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX edition_similar_similar_id ON public.edition_similar USING btree (similar_id);

-- Name: edition_sources_edition_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX edition_sources_edition_id ON public.edition_sources USING btree (edition_id);

-- Name: edition_work_keys_key; Type: INDEX; Schema: public; Owner: -

CREATE INDEX edition_work_keys_key ON public.edition_work_keys USING btree (source, key);

-- Name: editions_due_for_cover; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_due_for_cover ON public.editions USING btree (cover_due_at, popularity DESC, id) WHERE ((cover_version IS NULL) AND ((isbn13 IS NOT NULL) OR (cover_links <> '{}'::text[])));

-- Name: editions_first_author_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_first_author_hash ON public.editions USING btree (first_author_hash, popularity DESC);

-- Name: editions_late_for_cover; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_late_for_cover ON public.editions USING btree (cover_due_at) WHERE ((cover_version IS NULL) AND (cover_failures > 0));

-- Name: editions_number; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX editions_number ON public.editions USING btree (number);

-- Name: editions_popularity; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_popularity ON public.editions USING btree (popularity DESC, id);

-- Name: editions_search_title; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_search_title ON public.editions USING btree (search_title);

-- Name: editions_search_vector; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_search_vector ON public.editions USING gin (search_vector) WITH (fastupdate=off);

-- Name: editions_series_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_series_hash ON public.editions USING btree (series_hash, popularity DESC) WHERE (series_hash <> 0);

-- Name: editions_series_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_series_id ON public.editions USING btree (series_id) WHERE (series_id IS NOT NULL);

-- Name: editions_series_of_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_series_of_id ON public.editions USING btree (id) INCLUDE (series_id) WHERE (series_id IS NOT NULL);

-- Name: editions_work_key; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_work_key ON public.editions USING btree (public.work_key(title, authors));

-- Name: ereader_documents_of_book; Type: INDEX; Schema: public; Owner: -

CREATE INDEX ereader_documents_of_book ON public.ereader_documents USING btree (user_id, book_id) WHERE (book_id IS NOT NULL);

-- Name: ereader_documents_synced; Type: INDEX; Schema: public; Owner: -

CREATE INDEX ereader_documents_synced ON public.ereader_documents USING btree (user_id, synced_at, id);

-- Name: events_created_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX events_created_at ON public.events USING brin (created_at);

-- Name: events_pending; Type: INDEX; Schema: public; Owner: -

CREATE INDEX events_pending ON public.events USING btree (id) WHERE (delivered_at IS NULL);

-- Name: feed_decks_created_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX feed_decks_created_at ON public.feed_decks USING brin (created_at);

-- Name: feed_decks_start; Type: INDEX; Schema: public; Owner: -

CREATE INDEX feed_decks_start ON public.feed_decks USING btree (user_id, filter, chain DESC) WHERE (number = 0);

-- Name: identities_subject; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX identities_subject ON public.identities USING btree (tenant_id, subject);

-- Name: identity_providers_name; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX identity_providers_name ON public.identity_providers USING btree (tenant_id, name);

-- Name: identity_token_uses_expires_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX identity_token_uses_expires_at ON public.identity_token_uses USING btree (expires_at);

-- Name: imports_unfinished; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX imports_unfinished ON public.imports USING btree (user_id, content_hash, format) WHERE (state = ANY (ARRAY['QUEUED'::public.import_state, 'RUNNING'::public.import_state]));

-- Name: imports_waiting; Type: INDEX; Schema: public; Owner: -

CREATE INDEX imports_waiting ON public.imports USING btree (updated_at) WHERE (content IS NOT NULL);

-- Name: jobs_key; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX jobs_key ON public.jobs USING btree (user_id, kind, key) NULLS NOT DISTINCT WHERE ((key IS NOT NULL) AND (state <> 'DEAD'::public.job_state));

-- Name: jobs_ready; Type: INDEX; Schema: public; Owner: -

CREATE INDEX jobs_ready ON public.jobs USING btree (kind, priority, run_at) WHERE (state = 'READY'::public.job_state);

-- Name: jobs_running; Type: INDEX; Schema: public; Owner: -

CREATE INDEX jobs_running ON public.jobs USING btree (lease_until) WHERE (state = 'RUNNING'::public.job_state);

-- Name: jobs_user_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX jobs_user_id ON public.jobs USING btree (user_id) WHERE (user_id IS NOT NULL);

-- Name: logs_to_prune_oldest_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX logs_to_prune_oldest_at ON public.logs_to_prune USING btree (oldest_at);

-- Name: moving_covers_of_guest; Type: INDEX; Schema: public; Owner: -

CREATE INDEX moving_covers_of_guest ON public.moving_covers USING btree (guest_id);

-- Name: notes_of_book; Type: INDEX; Schema: public; Owner: -

CREATE INDEX notes_of_book ON public.notes USING btree (user_id, book_id);

-- Name: notes_of_user; Type: INDEX; Schema: public; Owner: -

CREATE INDEX notes_of_user ON public.notes USING btree (user_id, created_at, id);

-- Name: notes_search; Type: INDEX; Schema: public; Owner: -

CREATE INDEX notes_search ON public.notes USING gin (public.note_search_keys(user_id, (text)::text, (comment)::text, (chapter)::text)) WITH (fastupdate=off);

-- Name: oauth_clients_tenant_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX oauth_clients_tenant_id ON public.oauth_clients USING btree (tenant_id, created_at);

-- Name: oauth_grants_client_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX oauth_grants_client_id ON public.oauth_grants USING btree (client_id);

-- Name: oauth_grants_expires_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX oauth_grants_expires_at ON public.oauth_grants USING btree (expires_at);

-- Name: oauth_requests_client_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX oauth_requests_client_id ON public.oauth_requests USING btree (client_id);

-- Name: oauth_requests_code_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX oauth_requests_code_hash ON public.oauth_requests USING btree (code_hash);

-- Name: oauth_requests_device_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX oauth_requests_device_hash ON public.oauth_requests USING btree (device_hash);

-- Name: oauth_requests_expires_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX oauth_requests_expires_at ON public.oauth_requests USING btree (expires_at);

-- Name: oauth_requests_user_code; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX oauth_requests_user_code ON public.oauth_requests USING btree (tenant_id, user_code);

-- Name: oauth_requests_user_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX oauth_requests_user_id ON public.oauth_requests USING btree (user_id);

-- Name: progress_entries_of_read; Type: INDEX; Schema: public; Owner: -

CREATE INDEX progress_entries_of_read ON public.progress_entries USING btree (user_id, read_id, at, id);

-- Name: reads_finished; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_finished ON public.reads USING btree (user_id, finished_on) INCLUDE (id, book_id, format, length_seconds, page_count, genre, author_id, author) WHERE (outcome = 'FINISHED'::public.read_outcome);

-- Name: reads_given_up; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_given_up ON public.reads USING btree (user_id, finished_on) WHERE (outcome = 'DID_NOT_FINISH'::public.read_outcome);

-- Name: reads_of_book; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_of_book ON public.reads USING btree (user_id, book_id, sorted_on, created_at, id);

-- Name: reads_of_user; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_of_user ON public.reads USING btree (user_id, sorted_on, created_at, id);

-- Name: reads_open; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX reads_open ON public.reads USING btree (user_id, book_id) WHERE (outcome = 'READING'::public.read_outcome);

-- Name: removed_editions_survivor_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX removed_editions_survivor_id ON public.removed_editions USING btree (survivor_id);

-- Name: reviews_created_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reviews_created_at ON public.reviews USING btree (user_id, created_at, id);

-- Name: reviews_visible; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reviews_visible ON public.reviews USING btree (user_id, half_stars) WHERE is_visible;

-- Name: schema_usage_client_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX schema_usage_client_id ON public.schema_usage USING btree (client_id);

-- Name: search_words_forms; Type: INDEX; Schema: public; Owner: -

CREATE INDEX search_words_forms ON public.search_words USING gin (forms);

-- Name: search_words_word; Type: INDEX; Schema: public; Owner: -

CREATE INDEX search_words_word ON public.search_words USING gin (word public.gin_trgm_ops);

-- Name: shelf_books_added_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX shelf_books_added_at ON public.shelf_books USING btree (user_id, shelf_id, added_at, book_id);

-- Name: shelf_books_of_book; Type: INDEX; Schema: public; Owner: -

CREATE INDEX shelf_books_of_book ON public.shelf_books USING btree (user_id, book_id, shelf_id);

-- Name: shelves_name; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX shelves_name ON public.shelves USING btree (user_id, lower(name));

-- Name: swipes_edition_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_edition_id ON public.swipes USING btree (edition_id);

-- Name: swipes_history_buy; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_history_buy ON public.swipes USING btree (user_id, LEAST(swiped_at, recorded_at), edition_id, swiped_at) WHERE (action = 'BUY'::public.swipe_action);

-- Name: swipes_history_dislike; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_history_dislike ON public.swipes USING btree (user_id, LEAST(swiped_at, recorded_at), edition_id, swiped_at) WHERE (action = 'DISLIKE'::public.swipe_action);

-- Name: swipes_history_like; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_history_like ON public.swipes USING btree (user_id, LEAST(swiped_at, recorded_at), edition_id, swiped_at) WHERE (action = 'LIKE'::public.swipe_action);

-- Name: swipes_history_skip; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_history_skip ON public.swipes USING btree (user_id, LEAST(swiped_at, recorded_at), edition_id, swiped_at) WHERE (action = 'SKIP'::public.swipe_action);

-- Name: swipes_recorded_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_recorded_at ON public.swipes USING brin (recorded_at);

-- Name: swipes_undone_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_undone_at ON public.swipes USING btree (undone_at) WHERE (undone_at IS NOT NULL);

-- Name: users_guest_seen_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX users_guest_seen_at ON public.users USING btree (guest_seen_at) WHERE is_guest;

-- Name: users_guests; Type: INDEX; Schema: public; Owner: -

CREATE INDEX users_guests ON public.users USING btree (tenant_id, created_at) WHERE is_guest;

-- Name: webhook_deliveries_dead; Type: INDEX; Schema: public; Owner: -

CREATE INDEX webhook_deliveries_dead ON public.webhook_deliveries USING btree (webhook_id, user_id) WHERE (state = 'DEAD'::public.webhook_delivery_state);

-- Name: webhook_deliveries_due_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX webhook_deliveries_due_at ON public.webhook_deliveries USING btree (webhook_id, due_at) WHERE (due_at IS NOT NULL);

-- Name: webhook_deliveries_expires_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX webhook_deliveries_expires_at ON public.webhook_deliveries USING btree (expires_at);

-- Name: webhook_deliveries_next; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX webhook_deliveries_next ON public.webhook_deliveries USING btree (webhook_id, user_id) WHERE (due_at IS NOT NULL);

-- Name: webhook_deliveries_waiting; Type: INDEX; Schema: public; Owner: -

CREATE INDEX webhook_deliveries_waiting ON public.webhook_deliveries USING btree (webhook_id, user_id, number) WHERE (state = 'WAITING'::public.webhook_delivery_state);

-- Name: webhook_deliveries_webhook_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX webhook_deliveries_webhook_id ON public.webhook_deliveries USING btree (webhook_id, number);

-- Name: webhooks_tenant_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX webhooks_tenant_id ON public.webhooks USING btree (tenant_id);

-- Name: work_decision_editions_edition_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX work_decision_editions_edition_id ON public.work_decision_editions USING btree (edition_id);

-- Name: work_records_work; Type: INDEX; Schema: public; Owner: -

CREATE INDEX work_records_work ON public.work_records USING btree (founder_id, rank) INCLUDE (edition_id);

-- Name: oauth_grants audit_ended_oauth_grant; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER audit_ended_oauth_grant AFTER DELETE ON public.oauth_grants FOR EACH ROW EXECUTE FUNCTION public.audit_oauth_grant('APP_REVOKED');

-- Name: oauth_grants audit_oauth_grant; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER audit_oauth_grant AFTER INSERT ON public.oauth_grants FOR EACH ROW EXECUTE FUNCTION public.audit_oauth_grant('APP_AUTHORIZED');

-- Name: sessions audit_sign_in; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER audit_sign_in AFTER INSERT ON public.sessions FOR EACH ROW EXECUTE FUNCTION public.audit_credential('SIGNED_IN');

-- Name: access_tokens audit_token_creation; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER audit_token_creation AFTER INSERT ON public.access_tokens FOR EACH ROW EXECUTE FUNCTION public.audit_credential('TOKEN_CREATED');

-- Name: identities audit_unlinked_identity; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER audit_unlinked_identity AFTER DELETE ON public.identities FOR EACH ROW EXECUTE FUNCTION public.audit_unlinked_identity();

-- Name: work_records collect_signals_of_changed_records; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER collect_signals_of_changed_records AFTER UPDATE ON public.work_records REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.collect_signals_of_moved_works();

-- Name: work_records collect_signals_of_deleted_records; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER collect_signals_of_deleted_records AFTER DELETE ON public.work_records REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.collect_signals_of_works();

-- Name: work_records collect_signals_of_new_records; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER collect_signals_of_new_records AFTER INSERT ON public.work_records REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.collect_signals_of_works();

-- Name: reads copy_book_facts; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER copy_book_facts BEFORE INSERT ON public.reads FOR EACH ROW EXECUTE FUNCTION public.copy_book_facts();

-- Name: moving_covers count_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER count_delete AFTER DELETE ON public.moving_covers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_moving_covers();

-- Name: moving_covers count_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER count_insert AFTER INSERT ON public.moving_covers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_moving_covers();

-- Name: users delete_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER delete_changes AFTER DELETE ON public.users FOR EACH ROW EXECUTE FUNCTION public.delete_changes();

-- Name: editions index_changed_editions; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER index_changed_editions AFTER UPDATE ON public.editions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.index_changed_editions();

-- Name: editions index_deleted_editions; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER index_deleted_editions AFTER DELETE ON public.editions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.index_deleted_editions();

-- Name: editions index_new_editions; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER index_new_editions AFTER INSERT ON public.editions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.index_new_editions();

-- Name: books log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER UPDATE ON public.books FOR EACH ROW EXECUTE FUNCTION public.log_book();

-- Name: notes log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER INSERT OR DELETE OR UPDATE ON public.notes FOR EACH ROW EXECUTE FUNCTION public.log_note();

-- Name: reading_goals log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER INSERT OR DELETE OR UPDATE ON public.reading_goals FOR EACH ROW EXECUTE FUNCTION public.log_reading_goal();

-- Name: reads log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER INSERT OR DELETE OR UPDATE ON public.reads FOR EACH ROW EXECUTE FUNCTION public.log_read();

-- Name: reviews log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER INSERT OR DELETE OR UPDATE ON public.reviews FOR EACH ROW EXECUTE FUNCTION public.log_review();

-- Name: shelves log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER INSERT OR DELETE OR UPDATE ON public.shelves FOR EACH ROW EXECUTE FUNCTION public.log_shelf();

-- Name: books log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.books REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_deleted_books();

-- Name: progress_entries log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.progress_entries REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_deleted_progress();

-- Name: shelf_books log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.shelf_books REFERENCING OLD TABLE AS moved_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_shelf_books();

-- Name: books log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.books FOR EACH ROW EXECUTE FUNCTION public.log_created_book();

-- Name: progress_entries log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.progress_entries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_added_progress();

-- Name: shelf_books log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.shelf_books REFERENCING NEW TABLE AS moved_rows FOR EACH STATEMENT WHEN ((current_setting('app.bulk'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION public.log_shelf_books();

-- Name: progress_entries log_update; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_update AFTER UPDATE ON public.progress_entries REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_changed_progress();

-- Name: events mark_cover_event; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER mark_cover_event AFTER INSERT ON public.events FOR EACH ROW WHEN ((new.kind = 'cover_changed'::text)) EXECUTE FUNCTION public.mark_cover_event();

-- Name: sessions notify_session_ended_on_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER notify_session_ended_on_delete AFTER DELETE ON public.sessions FOR EACH ROW EXECUTE FUNCTION public.notify_session_ended();

-- Name: sessions notify_session_ended_on_update; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER notify_session_ended_on_update AFTER UPDATE OF revoked_at ON public.sessions FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION public.audit_credential('SESSION_REVOKED');

-- Name: access_tokens notify_token_ended; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER notify_token_ended AFTER DELETE ON public.access_tokens FOR EACH ROW EXECUTE FUNCTION public.audit_credential('TOKEN_REVOKED');

-- Name: covers record_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER record_delete AFTER DELETE ON public.covers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.record_covers();

-- Name: deleted_books record_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER record_delete AFTER DELETE ON public.deleted_books REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.record_deleted_covers();

-- Name: covers record_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER record_insert AFTER INSERT ON public.covers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.record_covers();

-- Name: deleted_books record_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER record_insert AFTER INSERT ON public.deleted_books REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.record_deleted_covers();

-- Name: covers record_update; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER record_update AFTER UPDATE ON public.covers REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.record_covers();

-- Name: deleted_books record_update; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER record_update AFTER UPDATE ON public.deleted_books REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.record_deleted_covers();

-- Name: users recount_reading_days; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER recount_reading_days AFTER UPDATE OF time_zone ON public.users FOR EACH ROW WHEN ((new.time_zone IS DISTINCT FROM old.time_zone)) EXECUTE FUNCTION public.recount_reading_days();

-- Name: books set_computed_columns; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER set_computed_columns BEFORE INSERT OR UPDATE OF title, authors, written_author, genre, series, series_position, page_count, author, author_ids, series_id, search_text, title_card_version ON public.books FOR EACH ROW EXECUTE FUNCTION public.set_computed_columns();

-- Name: reviews set_visibility; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER set_visibility BEFORE INSERT ON public.reviews FOR EACH ROW EXECUTE FUNCTION public.set_review_visibility();

-- Name: collected_signals subtract_collected_signals; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER subtract_collected_signals AFTER DELETE ON public.collected_signals REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.subtract_collected_signals();

-- Name: access_tokens access_tokens_grant_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_grant_fkey FOREIGN KEY (user_id, grant_id) REFERENCES public.oauth_grants(user_id, id) ON DELETE CASCADE;

-- Name: access_tokens access_tokens_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: apple_grants apple_grants_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.apple_grants
    ADD CONSTRAINT apple_grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: books books_edition_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.books
    ADD CONSTRAINT books_edition_id_fkey FOREIGN KEY (edition_id) REFERENCES public.editions(id) ON DELETE SET NULL;

-- Name: books_to_link books_to_link_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.books_to_link
    ADD CONSTRAINT books_to_link_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: books books_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.books
    ADD CONSTRAINT books_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: collected_signals collected_signals_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.collected_signals
    ADD CONSTRAINT collected_signals_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: covers covers_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.covers
    ADD CONSTRAINT covers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

-- Name: covers covers_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.covers
    ADD CONSTRAINT covers_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: covers covers_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.covers
    ADD CONSTRAINT covers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: deleted_books deleted_books_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.deleted_books
    ADD CONSTRAINT deleted_books_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: edition_genres edition_genres_edition_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_genres
    ADD CONSTRAINT edition_genres_edition_id_fkey FOREIGN KEY (edition_id) REFERENCES public.editions(id) ON DELETE CASCADE;

-- Name: edition_similar edition_similar_edition_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_similar
    ADD CONSTRAINT edition_similar_edition_id_fkey FOREIGN KEY (edition_id) REFERENCES public.editions(id) ON DELETE CASCADE;

-- Name: edition_similar edition_similar_similar_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_similar
    ADD CONSTRAINT edition_similar_similar_id_fkey FOREIGN KEY (similar_id) REFERENCES public.editions(id) ON DELETE CASCADE;

-- Name: edition_sources edition_sources_edition_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_sources
    ADD CONSTRAINT edition_sources_edition_id_fkey FOREIGN KEY (edition_id) REFERENCES public.editions(id) ON DELETE CASCADE;

-- Name: edition_work_keys edition_work_keys_edition_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_work_keys
    ADD CONSTRAINT edition_work_keys_edition_id_fkey FOREIGN KEY (edition_id) REFERENCES public.editions(id) ON DELETE CASCADE;

-- Name: ereader_documents ereader_documents_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.ereader_documents
    ADD CONSTRAINT ereader_documents_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: ereader_positions ereader_positions_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.ereader_positions
    ADD CONSTRAINT ereader_positions_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: events events_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: feed_decks feed_decks_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.feed_decks
    ADD CONSTRAINT feed_decks_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: genre_aliases genre_aliases_genre_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.genre_aliases
    ADD CONSTRAINT genre_aliases_genre_id_fkey FOREIGN KEY (genre_id) REFERENCES public.genres(id) ON DELETE CASCADE;

-- Name: identities identities_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

-- Name: identities identities_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: identity_providers identity_providers_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

-- Name: import_failures import_failures_user_id_import_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.import_failures
    ADD CONSTRAINT import_failures_user_id_import_id_fkey FOREIGN KEY (user_id, import_id) REFERENCES public.imports(user_id, id) ON DELETE CASCADE;

-- Name: imports imports_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: jobs jobs_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: moving_covers moving_covers_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.moving_covers
    ADD CONSTRAINT moving_covers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: notes notes_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.notes
    ADD CONSTRAINT notes_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: oauth_clients oauth_clients_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

-- Name: oauth_grants oauth_grants_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_grants
    ADD CONSTRAINT oauth_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.oauth_clients(id) ON DELETE CASCADE;

-- Name: oauth_grants oauth_grants_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_grants
    ADD CONSTRAINT oauth_grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: oauth_requests oauth_requests_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_requests
    ADD CONSTRAINT oauth_requests_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.oauth_clients(id) ON DELETE CASCADE;

-- Name: oauth_requests oauth_requests_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_requests
    ADD CONSTRAINT oauth_requests_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

-- Name: oauth_requests oauth_requests_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.oauth_requests
    ADD CONSTRAINT oauth_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: progress_entries progress_entries_user_id_read_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.progress_entries
    ADD CONSTRAINT progress_entries_user_id_read_id_fkey FOREIGN KEY (user_id, read_id) REFERENCES public.reads(user_id, id) ON DELETE CASCADE;

-- Name: readers_to_collect readers_to_collect_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.readers_to_collect
    ADD CONSTRAINT readers_to_collect_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reading_days reading_days_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_days
    ADD CONSTRAINT reading_days_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reading_goals reading_goals_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_goals
    ADD CONSTRAINT reading_goals_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reading_tombstones reading_tombstones_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_tombstones
    ADD CONSTRAINT reading_tombstones_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reads reads_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reads
    ADD CONSTRAINT reads_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: removed_covers removed_covers_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.removed_covers
    ADD CONSTRAINT removed_covers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reviews reviews_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: schema_usage schema_usage_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.schema_usage
    ADD CONSTRAINT schema_usage_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.usage_clients(id) ON DELETE CASCADE;

-- Name: sessions sessions_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: shelf_books shelf_books_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelf_books
    ADD CONSTRAINT shelf_books_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: shelf_books shelf_books_user_id_shelf_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelf_books
    ADD CONSTRAINT shelf_books_user_id_shelf_id_fkey FOREIGN KEY (user_id, shelf_id) REFERENCES public.shelves(user_id, id) ON DELETE CASCADE;

-- Name: shelves shelves_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelves
    ADD CONSTRAINT shelves_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: swipes swipes_edition_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.swipes
    ADD CONSTRAINT swipes_edition_id_fkey FOREIGN KEY (edition_id) REFERENCES public.editions(id) ON DELETE CASCADE;

-- Name: swipes swipes_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.swipes
    ADD CONSTRAINT swipes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: tenant_storage tenant_storage_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.tenant_storage
    ADD CONSTRAINT tenant_storage_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

-- Name: usage_clients usage_clients_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.usage_clients
    ADD CONSTRAINT usage_clients_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

-- Name: users users_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);

-- Name: webhook_deliveries webhook_deliveries_webhook_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhooks(id) ON DELETE CASCADE;

-- Name: webhooks webhooks_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

-- Name: work_decision_editions work_decision_editions_decision_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.work_decision_editions
    ADD CONSTRAINT work_decision_editions_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES public.work_decisions(id) ON DELETE CASCADE;

-- Name: work_decision_editions work_decision_editions_edition_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.work_decision_editions
    ADD CONSTRAINT work_decision_editions_edition_id_fkey FOREIGN KEY (edition_id) REFERENCES public.editions(id) ON DELETE CASCADE;

-- Name: access_tokens; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.access_tokens ENABLE ROW LEVEL SECURITY;

-- Name: access_tokens administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.access_tokens TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: apple_grants administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.apple_grants TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: audit_chain administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.audit_chain TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: audit_events administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.audit_events TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: books administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.books TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: books_to_link administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.books_to_link TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: changes administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.changes TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: checkpoints administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.checkpoints TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: collected_signals administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.collected_signals TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: covers administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.covers TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: deleted_books administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.deleted_books TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: ereader_documents administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.ereader_documents TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: ereader_positions administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.ereader_positions TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: events administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.events TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: feed_decks administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.feed_decks TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: identities administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.identities TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: import_failures administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.import_failures TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: imports administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.imports TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: jobs administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.jobs TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: leases administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.leases TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: logs_to_prune administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.logs_to_prune TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: moving_covers administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.moving_covers TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: notes administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.notes TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: oauth_grants administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.oauth_grants TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: oauth_requests administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.oauth_requests TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: object_writes administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.object_writes TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: persisted_queries administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.persisted_queries TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: progress_entries administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.progress_entries TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: rate_buckets administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.rate_buckets TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: readers_to_collect administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.readers_to_collect TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reading_days administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_days TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reading_goals administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_goals TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reading_tombstones administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_tombstones TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reads administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reads TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: removed_covers administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.removed_covers TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reviews administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reviews TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: schema_usage administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.schema_usage TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: sessions administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.sessions TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: shelf_books administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.shelf_books TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: shelves administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.shelves TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: source_usage administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.source_usage TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: swipes administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.swipes TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: timelines administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.timelines TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: usage_clients administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.usage_clients TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: users administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.users TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: webhook_deliveries administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.webhook_deliveries TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: webhook_positions administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.webhook_positions TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: webhooks administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.webhooks TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: apple_grants; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.apple_grants ENABLE ROW LEVEL SECURITY;

-- Name: audit_chain; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.audit_chain ENABLE ROW LEVEL SECURITY;

-- Name: audit_events; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.audit_events ENABLE ROW LEVEL SECURITY;

-- Name: books; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.books ENABLE ROW LEVEL SECURITY;

-- Name: books_to_link; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.books_to_link ENABLE ROW LEVEL SECURITY;

-- Name: changes; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.changes ENABLE ROW LEVEL SECURITY;

-- Name: checkpoints; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.checkpoints ENABLE ROW LEVEL SECURITY;

-- Name: collected_signals; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.collected_signals ENABLE ROW LEVEL SECURITY;

-- Name: covers; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.covers ENABLE ROW LEVEL SECURITY;

-- Name: deleted_books; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.deleted_books ENABLE ROW LEVEL SECURITY;

-- Name: ereader_documents; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.ereader_documents ENABLE ROW LEVEL SECURITY;

-- Name: ereader_positions; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.ereader_positions ENABLE ROW LEVEL SECURITY;

-- Name: events; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

-- Name: feed_decks; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.feed_decks ENABLE ROW LEVEL SECURITY;

-- Name: identities; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.identities ENABLE ROW LEVEL SECURITY;

-- Name: identities identity_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY identity_only ON public.identities FOR SELECT TO bookplate_app USING (((tenant_id = ( SELECT public.app_tenant_id() AS app_tenant_id)) AND (subject = ( SELECT public.app_subject() AS app_subject))));

-- Name: import_failures; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.import_failures ENABLE ROW LEVEL SECURITY;

-- Name: imports; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.imports ENABLE ROW LEVEL SECURITY;

-- Name: jobs; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.jobs ENABLE ROW LEVEL SECURITY;

-- Name: leases; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.leases ENABLE ROW LEVEL SECURITY;

-- Name: logs_to_prune; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.logs_to_prune ENABLE ROW LEVEL SECURITY;

-- Name: moving_covers; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.moving_covers ENABLE ROW LEVEL SECURITY;

-- Name: notes; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.notes ENABLE ROW LEVEL SECURITY;

-- Name: oauth_grants; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.oauth_grants ENABLE ROW LEVEL SECURITY;

-- Name: oauth_requests; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.oauth_requests ENABLE ROW LEVEL SECURITY;

-- Name: object_writes; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.object_writes ENABLE ROW LEVEL SECURITY;

-- Name: access_tokens owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.access_tokens TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: apple_grants owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.apple_grants TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: books owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.books TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: changes owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.changes TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: covers owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.covers TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK (((user_id = public.app_user_id()) AND (tenant_id = public.app_tenant_id())));

-- Name: deleted_books owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.deleted_books TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK (((user_id = public.app_user_id()) AND ((cover IS NULL) OR ((((cover ->> 'tenant_id'::text))::uuid = public.app_tenant_id()) AND (((cover ->> 'user_id'::text))::uuid = user_id) AND (((cover ->> 'book_id'::text))::uuid = id)))));

-- Name: ereader_documents owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.ereader_documents TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: ereader_positions owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.ereader_positions TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: events owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.events TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: feed_decks owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.feed_decks TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: identities owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.identities TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: import_failures owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.import_failures TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: imports owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.imports TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: moving_covers owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.moving_covers TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: notes owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.notes TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: oauth_grants owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.oauth_grants TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: progress_entries owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.progress_entries TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reading_days owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reading_days TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reading_goals owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reading_goals TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reading_tombstones owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reading_tombstones TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reads owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reads TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: removed_covers owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.removed_covers TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reviews owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reviews TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: sessions owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.sessions TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: shelf_books owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.shelf_books TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: shelves owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.shelves TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: swipes owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.swipes TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: users owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.users TO bookplate_app USING (((id = ( SELECT public.app_user_id() AS app_user_id)) AND (tenant_id = ( SELECT public.app_tenant_id() AS app_tenant_id)))) WITH CHECK (((id = ( SELECT public.app_user_id() AS app_user_id)) AND (tenant_id = ( SELECT public.app_tenant_id() AS app_tenant_id))));

-- Name: persisted_queries; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.persisted_queries ENABLE ROW LEVEL SECURITY;

-- Name: progress_entries; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.progress_entries ENABLE ROW LEVEL SECURITY;

-- Name: rate_buckets; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.rate_buckets ENABLE ROW LEVEL SECURITY;

-- Name: readers_to_collect; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.readers_to_collect ENABLE ROW LEVEL SECURITY;

-- Name: reading_days; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_days ENABLE ROW LEVEL SECURITY;

-- Name: reading_goals; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_goals ENABLE ROW LEVEL SECURITY;

-- Name: reading_tombstones; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_tombstones ENABLE ROW LEVEL SECURITY;

-- Name: reads; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reads ENABLE ROW LEVEL SECURITY;

-- Name: removed_covers; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.removed_covers ENABLE ROW LEVEL SECURITY;

-- Name: reviews; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reviews ENABLE ROW LEVEL SECURITY;

-- Name: schema_usage; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.schema_usage ENABLE ROW LEVEL SECURITY;

-- Name: sessions; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.sessions ENABLE ROW LEVEL SECURITY;

-- Name: shelf_books; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.shelf_books ENABLE ROW LEVEL SECURITY;

-- Name: shelves; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.shelves ENABLE ROW LEVEL SECURITY;

-- Name: source_usage; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.source_usage ENABLE ROW LEVEL SECURITY;

-- Name: swipes; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.swipes ENABLE ROW LEVEL SECURITY;

-- Name: timelines; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.timelines ENABLE ROW LEVEL SECURITY;

-- Name: usage_clients; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.usage_clients ENABLE ROW LEVEL SECURITY;

-- Name: users; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.users ENABLE ROW LEVEL SECURITY;

-- Name: webhook_deliveries; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.webhook_deliveries ENABLE ROW LEVEL SECURITY;

-- Name: webhook_positions; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.webhook_positions ENABLE ROW LEVEL SECURITY;

-- Name: webhooks; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.webhooks ENABLE ROW LEVEL SECURITY;

-- Name: SCHEMA public; Type: ACL; Schema: -; Owner: -

GRANT USAGE ON SCHEMA public TO bookplate_app;

-- Name: FUNCTION add_persisted_query(hash text, document text, count_max bigint, bytes_max bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.add_persisted_query(hash text, document text, count_max bigint, bytes_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.add_persisted_query(hash text, document text, count_max bigint, bytes_max bigint) TO bookplate_app;

-- Name: FUNCTION add_work_signals(numbers bigint[], counts integer[], voices bigint[], recents numeric[], changes bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.add_work_signals(numbers bigint[], counts integer[], voices bigint[], recents numeric[], changes bigint[]) FROM PUBLIC;

-- Name: FUNCTION adopt_guest(guest uuid, guest_session uuid, OUT user_id uuid, OUT outcome text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.adopt_guest(guest uuid, guest_session uuid, OUT user_id uuid, OUT outcome text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.adopt_guest(guest uuid, guest_session uuid, OUT user_id uuid, OUT outcome text) TO bookplate_app;

-- Name: FUNCTION append_change(owner uuid, change public.change_kind, typename text, object uuid, old_xmin xid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.append_change(owner uuid, change public.change_kind, typename text, object uuid, old_xmin xid) FROM PUBLIC;

-- Name: FUNCTION append_changes(owner uuid, change public.change_kind, typename text, ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.append_changes(owner uuid, change public.change_kind, typename text, ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION audit_credential(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.audit_credential() FROM PUBLIC;

-- Name: FUNCTION audit_hash(previous bytea, event public.audit_events); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.audit_hash(previous bytea, event public.audit_events) FROM PUBLIC;

-- Name: FUNCTION audit_oauth_grant(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.audit_oauth_grant() FROM PUBLIC;

-- Name: FUNCTION audit_unlinked_identity(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.audit_unlinked_identity() FROM PUBLIC;

-- Name: FUNCTION begin_guest_deletion(guest uuid, days integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.begin_guest_deletion(guest uuid, days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_guest_deletion(guest uuid, days integer) TO bookplate_app;

-- Name: FUNCTION begin_job(id uuid, fence integer, read_only boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.begin_job(id uuid, fence integer, read_only boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_job(id uuid, fence integer, read_only boolean) TO bookplate_app;

-- Name: FUNCTION begin_object_write(version text, seconds integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.begin_object_write(version text, seconds integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_object_write(version text, seconds integer) TO bookplate_app;

-- Name: FUNCTION cancel_oauth_request(request uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.cancel_oauth_request(request uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.cancel_oauth_request(request uuid) TO bookplate_app;

-- Name: FUNCTION chain_audit_events(events_max integer, OUT added integer, OUT last_position bigint, OUT last_hash bytea); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.chain_audit_events(events_max integer, OUT added integer, OUT last_position bigint, OUT last_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.chain_audit_events(events_max integer, OUT added integer, OUT last_position bigint, OUT last_hash bytea) TO bookplate_app;

-- Name: FUNCTION claim_edition_without_cover(isbn13 text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.claim_edition_without_cover(isbn13 text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_edition_without_cover(isbn13 text) TO bookplate_app;

-- Name: FUNCTION claim_editions_without_cover(count integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.claim_editions_without_cover(count integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_editions_without_cover(count integer) TO bookplate_app;

-- Name: FUNCTION claim_jobs(kinds text[], capacities integer[], background_capacities integer[], worker text, lease_ms integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.claim_jobs(kinds text[], capacities integer[], background_capacities integer[], worker text, lease_ms integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_jobs(kinds text[], capacities integer[], background_capacities integer[], worker text, lease_ms integer) TO bookplate_app;

-- Name: FUNCTION clear_tombstone_sessions(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.clear_tombstone_sessions() FROM PUBLIC;
GRANT ALL ON FUNCTION public.clear_tombstone_sessions() TO bookplate_app;

-- Name: FUNCTION collect_signals(readers_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.collect_signals(readers_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.collect_signals(readers_max integer) TO bookplate_app;

-- Name: FUNCTION collect_signals_of_editions(editions uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.collect_signals_of_editions(editions uuid[]) FROM PUBLIC;

-- Name: FUNCTION collect_signals_of_moved_works(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.collect_signals_of_moved_works() FROM PUBLIC;

-- Name: FUNCTION collect_signals_of_works(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.collect_signals_of_works() FROM PUBLIC;

-- Name: FUNCTION collect_user_events(mark public.webhook_positions, entries_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.collect_user_events(mark public.webhook_positions, entries_max integer) FROM PUBLIC;

-- Name: FUNCTION collect_webhook_events(users_max integer, entries_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.collect_webhook_events(users_max integer, entries_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.collect_webhook_events(users_max integer, entries_max integer) TO bookplate_app;

-- Name: TABLE covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.covers TO bookplate_app;

-- Name: FUNCTION count_covers(stored public.covers[], sign integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_covers(stored public.covers[], sign integer) FROM PUBLIC;

-- Name: FUNCTION count_expired_object_writes(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_expired_object_writes() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_expired_object_writes() TO bookplate_app;

-- Name: FUNCTION count_genres(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_genres() FROM PUBLIC;

-- Name: FUNCTION count_guests(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_guests() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_guests() TO bookplate_app;

-- Name: FUNCTION count_jobs(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_jobs() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_jobs() TO bookplate_app;

-- Name: FUNCTION count_moving_covers(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_moving_covers() FROM PUBLIC;

-- Name: FUNCTION count_reading_days(owner uuid, times timestamp with time zone[], is_added boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_reading_days(owner uuid, times timestamp with time zone[], is_added boolean) FROM PUBLIC;

-- Name: FUNCTION count_webhooks(OUT enabled bigint, OUT paused bigint, OUT disabled bigint, OUT waiting bigint, OUT dead bigint, OUT oldest_seconds bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_webhooks(OUT enabled bigint, OUT paused bigint, OUT disabled bigint, OUT waiting bigint, OUT dead bigint, OUT oldest_seconds bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_webhooks(OUT enabled bigint, OUT paused bigint, OUT disabled bigint, OUT waiting bigint, OUT dead bigint, OUT oldest_seconds bigint) TO bookplate_app;

-- Name: FUNCTION create_account(new_user uuid, email text, display_name text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.create_account(new_user uuid, email text, display_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.create_account(new_user uuid, email text, display_name text) TO bookplate_app;

-- Name: FUNCTION decide_oauth_request(request uuid, allowed public.access_scope[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.decide_oauth_request(request uuid, allowed public.access_scope[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.decide_oauth_request(request uuid, allowed public.access_scope[]) TO bookplate_app;

-- Name: FUNCTION decide_works(decided public.work_decision_kind, ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.decide_works(decided public.work_decision_kind, ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION delete_allowed_oauth_requests(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.delete_allowed_oauth_requests() FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_allowed_oauth_requests() TO bookplate_app;

-- Name: FUNCTION delete_changes(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.delete_changes() FROM PUBLIC;

-- Name: FUNCTION delete_expired_object_writes(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.delete_expired_object_writes() FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_expired_object_writes() TO bookplate_app;

-- Name: FUNCTION delete_removed_covers(user_ids uuid[], book_ids uuid[], versions text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.delete_removed_covers(user_ids uuid[], book_ids uuid[], versions text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_removed_covers(user_ids uuid[], book_ids uuid[], versions text[]) TO bookplate_app;

-- Name: FUNCTION delete_sweep_checkpoint(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.delete_sweep_checkpoint() FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_sweep_checkpoint() TO bookplate_app;

-- Name: FUNCTION deleted_account(user_id uuid, session_id uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.deleted_account(user_id uuid, session_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.deleted_account(user_id uuid, session_id uuid) TO bookplate_app;

-- Name: FUNCTION due_webhook_deliveries(webhook uuid, excluded uuid[], rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.due_webhook_deliveries(webhook uuid, excluded uuid[], rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_webhook_deliveries(webhook uuid, excluded uuid[], rows_max integer) TO bookplate_app;

-- Name: FUNCTION end_oauth_grant(client uuid, owner uuid, of_grant uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.end_oauth_grant(client uuid, owner uuid, of_grant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_oauth_grant(client uuid, owner uuid, of_grant uuid) TO bookplate_app;

-- Name: FUNCTION end_object_write(version text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.end_object_write(version text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_object_write(version text) TO bookplate_app;

-- Name: FUNCTION end_overdue_cover_waits(seconds integer, users_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.end_overdue_cover_waits(seconds integer, users_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_overdue_cover_waits(seconds integer, users_max integer) TO bookplate_app;

-- Name: FUNCTION end_webhook_user(tenant uuid, owner uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.end_webhook_user(tenant uuid, owner uuid) FROM PUBLIC;

-- Name: FUNCTION ended_sessions(users uuid[], ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.ended_sessions(users uuid[], ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.ended_sessions(users uuid[], ids uuid[]) TO bookplate_app;

-- Name: FUNCTION enqueue_cover_searches(kind text, priority integer, attempts_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.enqueue_cover_searches(kind text, priority integer, attempts_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.enqueue_cover_searches(kind text, priority integer, attempts_max integer) TO bookplate_app;

-- Name: FUNCTION enqueue_job(user_id uuid, kind text, payload jsonb, key text, delay_ms bigint, priority integer, attempts_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.enqueue_job(user_id uuid, kind text, payload jsonb, key text, delay_ms bigint, priority integer, attempts_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.enqueue_job(user_id uuid, kind text, payload jsonb, key text, delay_ms bigint, priority integer, attempts_max integer) TO bookplate_app;

-- Name: FUNCTION enqueue_link_job(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.enqueue_link_job() FROM PUBLIC;

-- Name: FUNCTION enqueue_links(keys bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.enqueue_links(keys bigint[]) FROM PUBLIC;

-- Name: FUNCTION enqueue_links_of_recent_editions(since timestamp with time zone); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.enqueue_links_of_recent_editions(since timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION enqueue_webhooks(kind text, attempts_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.enqueue_webhooks(kind text, attempts_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.enqueue_webhooks(kind text, attempts_max integer) TO bookplate_app;

-- Name: FUNCTION exchange_oauth_code(client uuid, given_hash bytea, is_device boolean, given_redirect_uri text, challenge text, new_grant uuid, new_refresh_hash bytea, new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, grant_days integer, OUT outcome text, OUT user_id uuid, OUT scopes text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.exchange_oauth_code(client uuid, given_hash bytea, is_device boolean, given_redirect_uri text, challenge text, new_grant uuid, new_refresh_hash bytea, new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, grant_days integer, OUT outcome text, OUT user_id uuid, OUT scopes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.exchange_oauth_code(client uuid, given_hash bytea, is_device boolean, given_redirect_uri text, challenge text, new_grant uuid, new_refresh_hash bytea, new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, grant_days integer, OUT outcome text, OUT user_id uuid, OUT scopes text[]) TO bookplate_app;

-- Name: FUNCTION expired_removed_covers(count integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.expired_removed_covers(count integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.expired_removed_covers(count integer) TO bookplate_app;

-- Name: FUNCTION fail_job(id uuid, fence integer, message text, delay_ms bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.fail_job(id uuid, fence integer, message text, delay_ms bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fail_job(id uuid, fence integer, message text, delay_ms bigint) TO bookplate_app;

-- Name: FUNCTION find_access_token(given_hash bytea); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.find_access_token(given_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_access_token(given_hash bytea) TO bookplate_app;

-- Name: FUNCTION find_readers_to_collect(is_everyone boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.find_readers_to_collect(is_everyone boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_readers_to_collect(is_everyone boolean) TO bookplate_app;

-- Name: FUNCTION finish_job(id uuid, fence integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.finish_job(id uuid, fence integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.finish_job(id uuid, fence integer) TO bookplate_app;

-- Name: FUNCTION finish_learning(learned bigint[], changes bigint[], is_everything boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.finish_learning(learned bigint[], changes bigint[], is_everything boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.finish_learning(learned bigint[], changes bigint[], is_everything boolean) TO bookplate_app;

-- Name: FUNCTION finish_moving_cover(account uuid, account_book uuid, guest uuid, version text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.finish_moving_cover(account uuid, account_book uuid, guest uuid, version text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.finish_moving_cover(account uuid, account_book uuid, guest uuid, version text) TO bookplate_app;

-- Name: FUNCTION import_readers(tenant uuid, given jsonb, OUT readers_created integer, OUT books_created integer, OUT reviews_created integer, OUT reads_created integer, OUT shelves_created integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.import_readers(tenant uuid, given jsonb, OUT readers_created integer, OUT books_created integer, OUT reviews_created integer, OUT reads_created integer, OUT shelves_created integer) FROM PUBLIC;

-- Name: FUNCTION inactive_guests(days integer, users_max integer, OUT examined integer, OUT guests uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.inactive_guests(days integer, users_max integer, OUT examined integer, OUT guests uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inactive_guests(days integer, users_max integer, OUT examined integer, OUT guests uuid[]) TO bookplate_app;

-- Name: FUNCTION index_changed_editions(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.index_changed_editions() FROM PUBLIC;

-- Name: FUNCTION index_deleted_editions(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.index_deleted_editions() FROM PUBLIC;

-- Name: FUNCTION index_new_editions(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.index_new_editions() FROM PUBLIC;

-- Name: FUNCTION is_stored_version(user_id uuid, book_id uuid, version text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.is_stored_version(user_id uuid, book_id uuid, version text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.is_stored_version(user_id uuid, book_id uuid, version text) TO bookplate_app;

-- Name: FUNCTION library_positions(users uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.library_positions(users uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.library_positions(users uuid[]) TO bookplate_app;

-- Name: FUNCTION link_identity(token_hash bytea, token_expires_at timestamp with time zone, identities_max integer, OUT is_upgrade boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.link_identity(token_hash bytea, token_expires_at timestamp with time zone, identities_max integer, OUT is_upgrade boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.link_identity(token_hash bytea, token_expires_at timestamp with time zone, identities_max integer, OUT is_upgrade boolean) TO bookplate_app;

-- Name: FUNCTION link_waiting_books(count integer, OUT looked_at integer, OUT changed_readers uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.link_waiting_books(count integer, OUT looked_at integer, OUT changed_readers uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.link_waiting_books(count integer, OUT looked_at integer, OUT changed_readers uuid[]) TO bookplate_app;

-- Name: FUNCTION list_genres_of_editions(ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.list_genres_of_editions(ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION lock_catalog(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.lock_catalog() FROM PUBLIC;

-- Name: FUNCTION lock_webhook_queue(owner uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.lock_webhook_queue(owner uuid) FROM PUBLIC;

-- Name: FUNCTION log_added_progress(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_added_progress() FROM PUBLIC;

-- Name: FUNCTION log_book(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_book() FROM PUBLIC;

-- Name: FUNCTION log_changed_progress(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_changed_progress() FROM PUBLIC;

-- Name: FUNCTION log_created_book(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_created_book() FROM PUBLIC;

-- Name: FUNCTION log_deleted_books(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_deleted_books() FROM PUBLIC;

-- Name: FUNCTION log_deleted_progress(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_deleted_progress() FROM PUBLIC;

-- Name: FUNCTION log_imported_reviews(books_of_reviews uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_imported_reviews(books_of_reviews uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.log_imported_reviews(books_of_reviews uuid[]) TO bookplate_app;

-- Name: FUNCTION log_note(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_note() FROM PUBLIC;

-- Name: FUNCTION log_read(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_read() FROM PUBLIC;

-- Name: FUNCTION log_reading_goal(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_reading_goal() FROM PUBLIC;

-- Name: FUNCTION log_review(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_review() FROM PUBLIC;

-- Name: FUNCTION log_shelf(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_shelf() FROM PUBLIC;

-- Name: FUNCTION log_shelf_books(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_shelf_books() FROM PUBLIC;

-- Name: FUNCTION mark_cover_event(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.mark_cover_event() FROM PUBLIC;

-- Name: FUNCTION mark_events_delivered(user_ids uuid[], ids bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.mark_events_delivered(user_ids uuid[], ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mark_events_delivered(user_ids uuid[], ids bigint[]) TO bookplate_app;

-- Name: FUNCTION mark_versions_removed(user_id uuid, book_ids uuid[], versions text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.mark_versions_removed(user_id uuid, book_ids uuid[], versions text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mark_versions_removed(user_id uuid, book_ids uuid[], versions text[]) TO bookplate_app;

-- Name: FUNCTION mark_webhook_position(owner uuid, last_event bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.mark_webhook_position(owner uuid, last_event bigint) FROM PUBLIC;

-- Name: FUNCTION match_guest_books(guest uuid, account uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.match_guest_books(guest uuid, account uuid) FROM PUBLIC;

-- Name: FUNCTION match_works(given uuid[], given_keys bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.match_works(given uuid[], given_keys bigint[]) FROM PUBLIC;

-- Name: FUNCTION merge_books(guest uuid, account uuid, matched jsonb); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_books(guest uuid, account uuid, matched jsonb) FROM PUBLIC;

-- Name: FUNCTION merge_covers(guest uuid, account uuid, merged_books jsonb); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_covers(guest uuid, account uuid, merged_books jsonb) FROM PUBLIC;

-- Name: FUNCTION merge_deleted_books(guest uuid, account uuid, merged_shelves jsonb); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_deleted_books(guest uuid, account uuid, merged_shelves jsonb) FROM PUBLIC;

-- Name: FUNCTION merge_ereaders(guest uuid, account uuid, merged_books jsonb); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_ereaders(guest uuid, account uuid, merged_books jsonb) FROM PUBLIC;

-- Name: FUNCTION merge_guest(guest uuid, account uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_guest(guest uuid, account uuid) FROM PUBLIC;

-- Name: FUNCTION merge_jobs(guest uuid, account uuid, merged_books jsonb); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_jobs(guest uuid, account uuid, merged_books jsonb) FROM PUBLIC;

-- Name: FUNCTION merge_reads(guest uuid, account uuid, merged_books jsonb); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_reads(guest uuid, account uuid, merged_books jsonb) FROM PUBLIC;

-- Name: FUNCTION merge_shelves(guest uuid, account uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_shelves(guest uuid, account uuid) FROM PUBLIC;

-- Name: FUNCTION merge_texts(guest uuid, account uuid, merged_books jsonb); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_texts(guest uuid, account uuid, merged_books jsonb) FROM PUBLIC;

-- Name: FUNCTION merge_works(one uuid, other uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.merge_works(one uuid, other uuid) FROM PUBLIC;

-- Name: FUNCTION moving_covers_of(guest uuid, covers_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.moving_covers_of(guest uuid, covers_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.moving_covers_of(guest uuid, covers_max integer) TO bookplate_app;

-- Name: FUNCTION oauth_refresh_state(client uuid, owner uuid, of_grant uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.oauth_refresh_state(client uuid, owner uuid, of_grant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.oauth_refresh_state(client uuid, owner uuid, of_grant uuid) TO bookplate_app;

-- Name: FUNCTION oauth_request_of_browser(request uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.oauth_request_of_browser(request uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.oauth_request_of_browser(request uuid) TO bookplate_app;

-- Name: FUNCTION oauth_request_of_reader(code text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.oauth_request_of_reader(code text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.oauth_request_of_reader(code text) TO bookplate_app;

-- Name: FUNCTION pending_events(rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.pending_events(rows_max integer) FROM PUBLIC;

-- Name: FUNCTION pending_object_writes(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.pending_object_writes() FROM PUBLIC;
GRANT ALL ON FUNCTION public.pending_object_writes() TO bookplate_app;

-- Name: FUNCTION persisted_query(hash text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.persisted_query(hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.persisted_query(hash text) TO bookplate_app;

-- Name: FUNCTION postpone_edition_cover(id uuid, delay_ms bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.postpone_edition_cover(id uuid, delay_ms bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.postpone_edition_cover(id uuid, delay_ms bigint) TO bookplate_app;

-- Name: FUNCTION postpone_job(id uuid, fence integer, message text, delay_ms bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.postpone_job(id uuid, fence integer, message text, delay_ms bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.postpone_job(id uuid, fence integer, message text, delay_ms bigint) TO bookplate_app;

-- Name: FUNCTION prune_audit_events(kept_days integer, rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_audit_events(kept_days integer, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_audit_events(kept_days integer, rows_max integer) TO bookplate_app;

-- Name: FUNCTION prune_changes(older_than_days integer, users_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_changes(older_than_days integer, users_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_changes(older_than_days integer, users_max integer) TO bookplate_app;

-- Name: FUNCTION prune_events(older_than_days integer, rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_events(older_than_days integer, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_events(older_than_days integer, rows_max integer) TO bookplate_app;

-- Name: FUNCTION prune_imports(older_than_days integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_imports(older_than_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_imports(older_than_days integer) TO bookplate_app;

-- Name: FUNCTION prune_oauth(unused_days integer, rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_oauth(unused_days integer, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_oauth(unused_days integer, rows_max integer) TO bookplate_app;

-- Name: FUNCTION prune_rate_buckets(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_rate_buckets() FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_rate_buckets() TO bookplate_app;

-- Name: FUNCTION prune_schema_usage(older_than_days integer, rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_schema_usage(older_than_days integer, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_schema_usage(older_than_days integer, rows_max integer) TO bookplate_app;

-- Name: FUNCTION prune_undone_swipes(older_than_days integer, rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_undone_swipes(older_than_days integer, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_undone_swipes(older_than_days integer, rows_max integer) TO bookplate_app;

-- Name: FUNCTION prune_webhook_deliveries(rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.prune_webhook_deliveries(rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_webhook_deliveries(rows_max integer) TO bookplate_app;

-- Name: FUNCTION public_book_title(user_id uuid, book_id uuid, OUT title text, OUT author text, OUT genre text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.public_book_title(user_id uuid, book_id uuid, OUT title text, OUT author text, OUT genre text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.public_book_title(user_id uuid, book_id uuid, OUT title text, OUT author text, OUT genre text) TO bookplate_app;

-- Name: FUNCTION public_cover_version(user_id uuid, book_id uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.public_cover_version(user_id uuid, book_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.public_cover_version(user_id uuid, book_id uuid) TO bookplate_app;

-- Name: FUNCTION purge_dead_jobs(older_than_days integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.purge_dead_jobs(older_than_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_dead_jobs(older_than_days integer) TO bookplate_app;

-- Name: FUNCTION purge_deleted_books(rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.purge_deleted_books(rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_deleted_books(rows_max integer) TO bookplate_app;

-- Name: FUNCTION reassign_genres(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.reassign_genres() FROM PUBLIC;

-- Name: FUNCTION record_apple_revocation(user_id uuid, session_id uuid, revoked boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_apple_revocation(user_id uuid, session_id uuid, revoked boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_apple_revocation(user_id uuid, session_id uuid, revoked boolean) TO bookplate_app;

-- Name: FUNCTION record_audit_event(event_kind text, tenant_id uuid, account_id uuid, credential_id uuid, detail jsonb); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_audit_event(event_kind text, tenant_id uuid, account_id uuid, credential_id uuid, detail jsonb) FROM PUBLIC;

-- Name: FUNCTION record_covers(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_covers() FROM PUBLIC;

-- Name: FUNCTION record_deleted_covers(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_deleted_covers() FROM PUBLIC;

-- Name: FUNCTION record_missing_edition_cover(id uuid, days integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_missing_edition_cover(id uuid, days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_missing_edition_cover(id uuid, days integer) TO bookplate_app;

-- Name: FUNCTION record_refusals(kinds text[], reasons text[], counts bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_refusals(kinds text[], reasons text[], counts bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_refusals(kinds text[], reasons text[], counts bigint[]) TO bookplate_app;

-- Name: FUNCTION record_removed_covers(lost public.covers[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_removed_covers(lost public.covers[]) FROM PUBLIC;

-- Name: FUNCTION record_schema_usage(client_tenants uuid[], client_names text[], client_versions text[], client_numbers integer[], coordinates text[], uses bigint[], clients_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_schema_usage(client_tenants uuid[], client_names text[], client_versions text[], client_numbers integer[], coordinates text[], uses bigint[], clients_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_schema_usage(client_tenants uuid[], client_names text[], client_versions text[], client_numbers integer[], coordinates text[], uses bigint[], clients_max integer) TO bookplate_app;

-- Name: FUNCTION record_source_misses(sources text[], isbns text[], seconds integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_source_misses(sources text[], isbns text[], seconds integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_source_misses(sources text[], isbns text[], seconds integer) TO bookplate_app;

-- Name: FUNCTION record_source_search(query text, seconds integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_source_search(query text, seconds integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_source_search(query text, seconds integer) TO bookplate_app;

-- Name: FUNCTION record_token_uses(users uuid[], ids uuid[], seconds bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_token_uses(users uuid[], ids uuid[], seconds bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_token_uses(users uuid[], ids uuid[], seconds bigint[]) TO bookplate_app;

-- Name: FUNCTION recount_reading_days(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.recount_reading_days() FROM PUBLIC;

-- Name: FUNCTION refresh_feed(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_feed() FROM PUBLIC;
GRANT ALL ON FUNCTION public.refresh_feed() TO bookplate_app;

-- Name: FUNCTION refresh_genres(is_import boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_genres(is_import boolean) FROM PUBLIC;

-- Name: FUNCTION refresh_oauth_grant(client uuid, owner uuid, of_grant uuid, given_hash bytea, successor_hash bytea, grace_seconds integer, requested public.access_scope[], new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, OUT outcome text, OUT stored_hash bytea, OUT stored_generation integer, OUT scopes text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_oauth_grant(client uuid, owner uuid, of_grant uuid, given_hash bytea, successor_hash bytea, grace_seconds integer, requested public.access_scope[], new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, OUT outcome text, OUT stored_hash bytea, OUT stored_generation integer, OUT scopes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.refresh_oauth_grant(client uuid, owner uuid, of_grant uuid, given_hash bytea, successor_hash bytea, grace_seconds integer, requested public.access_scope[], new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, OUT outcome text, OUT stored_hash bytea, OUT stored_generation integer, OUT scopes text[]) TO bookplate_app;

-- Name: FUNCTION refresh_popularity(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_popularity() FROM PUBLIC;

-- Name: FUNCTION refresh_search_words(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_search_words() FROM PUBLIC;

-- Name: FUNCTION register_oauth_client(new_id uuid, tenant uuid, new_name text, uris text[], allowed public.access_scope[], device boolean, new_secret_hash bytea, clients_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.register_oauth_client(new_id uuid, tenant uuid, new_name text, uris text[], allowed public.access_scope[], device boolean, new_secret_hash bytea, clients_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.register_oauth_client(new_id uuid, tenant uuid, new_name text, uris text[], allowed public.access_scope[], device boolean, new_secret_hash bytea, clients_max integer) TO bookplate_app;

-- Name: FUNCTION release_events(holder uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.release_events(holder uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.release_events(holder uuid) TO bookplate_app;

-- Name: FUNCTION release_jobs(ids uuid[], fences integer[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.release_jobs(ids uuid[], fences integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.release_jobs(ids uuid[], fences integer[]) TO bookplate_app;

-- Name: FUNCTION renew_jobs(ids uuid[], fences integer[], lease_ms integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.renew_jobs(ids uuid[], fences integer[], lease_ms integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.renew_jobs(ids uuid[], fences integer[], lease_ms integer) TO bookplate_app;

-- Name: FUNCTION replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores double precision[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores double precision[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores double precision[]) TO bookplate_app;

-- Name: FUNCTION replayed_position(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.replayed_position() FROM PUBLIC;
GRANT ALL ON FUNCTION public.replayed_position() TO bookplate_app;

-- Name: FUNCTION reserve_source_requests(source text, requested integer, used_max integer, background_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.reserve_source_requests(source text, requested integer, used_max integer, background_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.reserve_source_requests(source text, requested integer, used_max integer, background_max integer) TO bookplate_app;

-- Name: FUNCTION retry_webhook_deliveries(webhook uuid, ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.retry_webhook_deliveries(webhook uuid, ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION revoke_oauth_token(client uuid, given_hash bytea); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.revoke_oauth_token(client uuid, given_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.revoke_oauth_token(client uuid, given_hash bytea) TO bookplate_app;

-- Name: FUNCTION save_author_lookup(id uuid, name text, names text[], keys text[], bios text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.save_author_lookup(id uuid, name text, names text[], keys text[], bios text[]) FROM PUBLIC;

-- Name: FUNCTION save_authors(names text[], keys text[], bios text[], are_records boolean[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.save_authors(names text[], keys text[], bios text[], are_records boolean[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.save_authors(names text[], keys text[], bios text[], are_records boolean[]) TO bookplate_app;

-- Name: FUNCTION save_edition(isbn13 text, title text, subtitle text, authors text[], author_roles text[], publisher text, published_date text, page_count integer, language text, subjects text[], description text, hook text, cover_links text[], sources text[], keys text[], work_sources text[], work_keys text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.save_edition(isbn13 text, title text, subtitle text, authors text[], author_roles text[], publisher text, published_date text, page_count integer, language text, subjects text[], description text, hook text, cover_links text[], sources text[], keys text[], work_sources text[], work_keys text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.save_edition(isbn13 text, title text, subtitle text, authors text[], author_roles text[], publisher text, published_date text, page_count integer, language text, subjects text[], description text, hook text, cover_links text[], sources text[], keys text[], work_sources text[], work_keys text[]) TO bookplate_app;

-- Name: FUNCTION save_sweep_checkpoint("position" text, folders bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.save_sweep_checkpoint("position" text, folders bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.save_sweep_checkpoint("position" text, folders bigint) TO bookplate_app;

-- Name: FUNCTION save_work_keys(ids uuid[], sources text[], keys text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.save_work_keys(ids uuid[], sources text[], keys text[]) FROM PUBLIC;

-- Name: FUNCTION schedule_job(kind text, every_ms bigint, attempts_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.schedule_job(kind text, every_ms bigint, attempts_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.schedule_job(kind text, every_ms bigint, attempts_max integer) TO bookplate_app;

-- Name: FUNCTION schedule_webhook_delivery(webhook uuid, owner uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.schedule_webhook_delivery(webhook uuid, owner uuid) FROM PUBLIC;

-- Name: FUNCTION search_notes(search text, of_color public.note_color); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.search_notes(search text, of_color public.note_color) FROM PUBLIC;
GRANT ALL ON FUNCTION public.search_notes(search text, of_color public.note_color) TO bookplate_app;

-- Name: FUNCTION set_edition_cover(id uuid, version text, width integer, height integer, dominant_color text, blur_hash text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.set_edition_cover(id uuid, version text, width integer, height integer, dominant_color text, blur_hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_edition_cover(id uuid, version text, width integer, height integer, dominant_color text, blur_hash text) TO bookplate_app;

-- Name: FUNCTION set_oauth_code(request uuid, new_hash bytea, lifetime_seconds integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.set_oauth_code(request uuid, new_hash bytea, lifetime_seconds integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_oauth_code(request uuid, new_hash bytea, lifetime_seconds integer) TO bookplate_app;

-- Name: FUNCTION settle_webhook_delivery(webhook uuid, owner uuid, delivery uuid, is_delivered boolean, status integer, message text, retry_after_ms bigint, is_gone boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.settle_webhook_delivery(webhook uuid, owner uuid, delivery uuid, is_delivered boolean, status integer, message text, retry_after_ms bigint, is_gone boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.settle_webhook_delivery(webhook uuid, owner uuid, delivery uuid, is_delivered boolean, status integer, message text, retry_after_ms bigint, is_gone boolean) TO bookplate_app;

-- Name: FUNCTION share_rates(kinds smallint[], keys uuid[], costs bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.share_rates(kinds smallint[], keys uuid[], costs bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.share_rates(kinds smallint[], keys uuid[], costs bigint[]) TO bookplate_app;

-- Name: FUNCTION signals_to_learn(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.signals_to_learn() FROM PUBLIC;
GRANT ALL ON FUNCTION public.signals_to_learn() TO bookplate_app;

-- Name: FUNCTION source_usage_today(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.source_usage_today() FROM PUBLIC;
GRANT ALL ON FUNCTION public.source_usage_today() TO bookplate_app;

-- Name: FUNCTION split_works(cards uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.split_works(cards uuid[]) FROM PUBLIC;

-- Name: FUNCTION start_oauth_request(new_id uuid, tenant uuid, client uuid, new_code text, requested public.access_scope[], lifetime_seconds integer, new_redirect_uri text, new_state text, challenge text, new_browser_hash bytea, new_device_hash bytea); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.start_oauth_request(new_id uuid, tenant uuid, client uuid, new_code text, requested public.access_scope[], lifetime_seconds integer, new_redirect_uri text, new_state text, challenge text, new_browser_hash bytea, new_device_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.start_oauth_request(new_id uuid, tenant uuid, client uuid, new_code text, requested public.access_scope[], lifetime_seconds integer, new_redirect_uri text, new_state text, challenge text, new_browser_hash bytea, new_device_hash bytea) TO bookplate_app;

-- Name: FUNCTION store_cold_start_deck(editions uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.store_cold_start_deck(editions uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.store_cold_start_deck(editions uuid[]) TO bookplate_app;

-- Name: FUNCTION subtract_collected_signals(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.subtract_collected_signals() FROM PUBLIC;

-- Name: FUNCTION sweep_checkpoint(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.sweep_checkpoint() FROM PUBLIC;
GRANT ALL ON FUNCTION public.sweep_checkpoint() TO bookplate_app;

-- Name: FUNCTION take_events(holder uuid, lease_ms integer, rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.take_events(holder uuid, lease_ms integer, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.take_events(holder uuid, lease_ms integer, rows_max integer) TO bookplate_app;

-- Name: FUNCTION undo_work_decision(decision bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.undo_work_decision(decision bigint) FROM PUBLIC;

-- Name: FUNCTION usable_webhook(id uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.usable_webhook(id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.usable_webhook(id uuid) TO bookplate_app;

-- Name: FUNCTION withdraw_jobs(ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.withdraw_jobs(ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.withdraw_jobs(ids uuid[]) TO bookplate_app;

-- Name: FUNCTION works_to_learn(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.works_to_learn() FROM PUBLIC;
GRANT ALL ON FUNCTION public.works_to_learn() TO bookplate_app;

-- Name: FUNCTION written_position(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.written_position() FROM PUBLIC;
GRANT ALL ON FUNCTION public.written_position() TO bookplate_app;

-- Name: TABLE access_tokens; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.access_tokens TO bookplate_app;

-- Name: TABLE account_tombstones; Type: ACL; Schema: public; Owner: -

GRANT INSERT ON TABLE public.account_tombstones TO bookplate_app;

-- Name: TABLE apple_grants; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.apple_grants TO bookplate_app;

-- Name: TABLE apple_notifications; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.apple_notifications TO bookplate_app;

-- Name: TABLE authors; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.authors TO bookplate_app;

-- Name: TABLE books; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.books TO bookplate_app;

-- Name: TABLE changes; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.changes TO bookplate_app;

-- Name: TABLE cold_start_decks; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.cold_start_decks TO bookplate_app;

-- Name: TABLE swipes; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,UPDATE ON TABLE public.swipes TO bookplate_app;

-- Name: TABLE current_swipes; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.current_swipes TO bookplate_app;

-- Name: TABLE deleted_books; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.deleted_books TO bookplate_app;

-- Name: TABLE documents; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.documents TO bookplate_app;

-- Name: TABLE edition_genres; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.edition_genres TO bookplate_app;

-- Name: TABLE edition_similar; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.edition_similar TO bookplate_app;

-- Name: TABLE edition_sources; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.edition_sources TO bookplate_app;

-- Name: TABLE editions; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.editions TO bookplate_app;

-- Name: TABLE ereader_documents; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.ereader_documents TO bookplate_app;

-- Name: TABLE ereader_positions; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.ereader_positions TO bookplate_app;

-- Name: TABLE events; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT ON TABLE public.events TO bookplate_app;

-- Name: SEQUENCE feed_chains; Type: ACL; Schema: public; Owner: -

GRANT USAGE ON SEQUENCE public.feed_chains TO bookplate_app;

-- Name: TABLE feed_decks; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.feed_decks TO bookplate_app;

-- Name: TABLE feed_state; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.feed_state TO bookplate_app;

-- Name: TABLE genre_aliases; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.genre_aliases TO bookplate_app;

-- Name: TABLE genres; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.genres TO bookplate_app;

-- Name: TABLE identities; Type: ACL; Schema: public; Owner: -

GRANT SELECT,DELETE ON TABLE public.identities TO bookplate_app;

-- Name: TABLE identity_providers; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.identity_providers TO bookplate_app;

-- Name: TABLE identity_token_uses; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.identity_token_uses TO bookplate_app;

-- Name: TABLE import_failures; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT ON TABLE public.import_failures TO bookplate_app;

-- Name: TABLE imports; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,UPDATE ON TABLE public.imports TO bookplate_app;

-- Name: TABLE installation; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.installation TO bookplate_app;

-- Name: TABLE moving_covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.moving_covers TO bookplate_app;

-- Name: TABLE notes; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notes TO bookplate_app;

-- Name: TABLE oauth_clients; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.oauth_clients TO bookplate_app;

-- Name: TABLE oauth_grants; Type: ACL; Schema: public; Owner: -

GRANT SELECT,DELETE ON TABLE public.oauth_grants TO bookplate_app;

-- Name: TABLE progress_entries; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.progress_entries TO bookplate_app;

-- Name: TABLE reviews; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reviews TO bookplate_app;

-- Name: TABLE work_records; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.work_records TO bookplate_app;

-- Name: TABLE reader_signals; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.reader_signals TO bookplate_app;

-- Name: TABLE reading_days; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.reading_days TO bookplate_app;

-- Name: TABLE reading_goals; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reading_goals TO bookplate_app;

-- Name: TABLE reading_tombstones; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reading_tombstones TO bookplate_app;

-- Name: TABLE reads; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reads TO bookplate_app;

-- Name: TABLE removed_covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.removed_covers TO bookplate_app;

-- Name: TABLE removed_editions; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.removed_editions TO bookplate_app;

-- Name: TABLE schema_migrations; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.schema_migrations TO bookplate_app;

-- Name: TABLE schema_states; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.schema_states TO bookplate_app;

-- Name: TABLE search_words; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.search_words TO bookplate_app;

-- Name: TABLE series; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.series TO bookplate_app;

-- Name: TABLE sessions; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sessions TO bookplate_app;

-- Name: TABLE shelf_books; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.shelf_books TO bookplate_app;

-- Name: TABLE shelves; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.shelves TO bookplate_app;

-- Name: TABLE source_misses; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.source_misses TO bookplate_app;

-- Name: TABLE source_searches; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.source_searches TO bookplate_app;

-- Name: TABLE stored_covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.stored_covers TO bookplate_app;

-- Name: TABLE tenant_storage; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.tenant_storage TO bookplate_app;

-- Name: TABLE tenants; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.tenants TO bookplate_app;

-- Name: TABLE users; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.users TO bookplate_app;
