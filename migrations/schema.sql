-- The schema of a migrated database, as pg_dump of PostgreSQL 15 prints it, without functions. Do not edit: change the
-- migrations, and run BOOKPLATE_UPDATE_SNAPSHOTS=1 scripts/test --filter SchemaDumpTests
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

-- Name: book_authors; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_authors AS text[]
	CONSTRAINT books_authors_check CHECK (((cardinality(VALUE) <= 50) AND (array_position(VALUE, NULL::text) IS NULL) AND (array_position(VALUE, ''::text) IS NULL) AND (char_length(array_to_string(VALUE, ''::text)) <= 25000)));

-- Name: book_binding; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_binding AS text
	CONSTRAINT books_binding_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 100)));

-- Name: book_category; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_category AS text
	CONSTRAINT books_category_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 100)));

-- Name: book_content_notes; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_content_notes AS text
	CONSTRAINT books_content_notes_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 2000)));

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

-- Name: book_subtitle; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.book_subtitle AS text
	CONSTRAINT books_subtitle_check CHECK (((VALUE = btrim(VALUE)) AND ((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 500))));

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
    'NO_COVER',
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

-- Name: job_attempts_max; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.job_attempts_max AS integer
	CONSTRAINT jobs_attempts_max_check CHECK ((VALUE > 0));

-- Name: job_interval; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.job_interval AS interval
	CONSTRAINT jobs_every_check CHECK ((VALUE > '00:00:00'::interval));

-- Name: job_key; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.job_key AS text
	CONSTRAINT jobs_key_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 200)));

-- Name: job_kind; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.job_kind AS text
	CONSTRAINT jobs_kind_check CHECK ((VALUE ~ '^[a-z]+(\.[a-z_]+)+$'::text));

-- Name: job_state; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.job_state AS ENUM (
    'READY',
    'RUNNING',
    'DEAD'
);

-- Name: label_color; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.label_color AS ENUM (
    'YELLOW',
    'ORANGE',
    'RED',
    'PINK',
    'PURPLE',
    'BLUE',
    'GREEN',
    'GRAY'
);

-- Name: note_chapter; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.note_chapter AS text
	CONSTRAINT notes_chapter_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 500)));

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

-- Name: review_quarter_stars; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.review_quarter_stars AS smallint
	CONSTRAINT reviews_quarter_stars_check CHECK (((VALUE >= 1) AND (VALUE <= 20)));

-- Name: review_text; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.review_text AS text
	CONSTRAINT reviews_text_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 100000)));

-- Name: scan_outcome; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.scan_outcome AS ENUM (
    'FOUND',
    'UNKNOWN',
    'FAILED'
);

-- Name: swipe_action; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.swipe_action AS ENUM (
    'LIKE',
    'SKIP',
    'DISLIKE',
    'BUY'
);

-- Name: swipe_scope; Type: TYPE; Schema: public; Owner: -

CREATE TYPE public.swipe_scope AS ENUM (
    'BOOK',
    'AUTHOR',
    'SERIES'
);

-- Name: swipe_store; Type: DOMAIN; Schema: public; Owner: -

CREATE DOMAIN public.swipe_store AS text
	CONSTRAINT swipes_store_check CHECK (((char_length(VALUE) >= 1) AND (char_length(VALUE) <= 100)));

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
    moods text[],
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    sorted_on text GENERATED ALWAYS AS (public.read_order(outcome, (started_on)::text, (finished_on)::text)) STORED NOT NULL COLLATE pg_catalog."C",
    finished_year integer GENERATED ALWAYS AS (("left"((finished_on)::text, 4))::integer) STORED,
    CONSTRAINT reads_dates_check CHECK (public.are_dates_in_order((started_on)::text, (finished_on)::text)),
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

COMMENT ON COLUMN public.reads.page_count IS 'A copy of the column of `books`, for statistics, like `genre`, `author_id`, `author`, and `moods`.';

-- Name: COLUMN reads.sorted_on; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reads.sorted_on IS 'The first part of the order of reads: `finished_on` or `started_on`, or `~` for an open read, which is the last one.';

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

-- Name: reviews; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reviews (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    quarter_stars public.review_quarter_stars,
    text public.review_text,
    has_spoilers boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT reviews_content_check CHECK (((quarter_stars IS NOT NULL) OR (text IS NOT NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.reviews ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.reviews FORCE ROW LEVEL SECURITY;

-- Name: TABLE reviews; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reviews IS 'The reviews of books, at most one for each book.';

-- Name: COLUMN reviews.quarter_stars; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reviews.quarter_stars IS 'The rating in quarter stars: 16 is 4 stars. Null for a text without a rating.';

-- Name: COLUMN reviews.has_spoilers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reviews.has_spoilers IS 'Whether the text reveals the plot.';

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

-- Name: book_copies; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.book_copies (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    book_id uuid NOT NULL,
    format text,
    place text,
    note text,
    loan_id uuid,
    borrower text,
    lent_on public.partial_date,
    due_on public.partial_date,
    past_loans jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT book_copies_borrower_check CHECK (((char_length(borrower) >= 1) AND (char_length(borrower) <= 200))),
    CONSTRAINT book_copies_dates_check CHECK (public.are_dates_in_order((lent_on)::text, (due_on)::text)),
    CONSTRAINT book_copies_format_check CHECK (((char_length(format) >= 1) AND (char_length(format) <= 100))),
    CONSTRAINT book_copies_loan_check CHECK (
CASE
    WHEN (loan_id IS NULL) THEN (num_nonnulls(borrower, lent_on, due_on) = 0)
    ELSE (num_nonnulls(borrower, lent_on) = 2)
END),
    CONSTRAINT book_copies_note_check CHECK (((char_length(note) >= 1) AND (char_length(note) <= 1000))),
    CONSTRAINT book_copies_past_loans_check CHECK ((jsonb_array_length(past_loans) <= 20)),
    CONSTRAINT book_copies_place_check CHECK (((char_length(place) >= 1) AND (char_length(place) <= 100)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.book_copies ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.book_copies FORCE ROW LEVEL SECURITY;

-- Name: TABLE book_copies; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.book_copies IS 'The copies of books that readers own. A reader owns a book that has a copy.';

-- Name: COLUMN book_copies.format; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.book_copies.format IS 'The format or the edition in the reader''s words.';

-- Name: COLUMN book_copies.place; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.book_copies.place IS 'Where the copy is, in the reader''s words.';

-- Name: COLUMN book_copies.note; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.book_copies.note IS 'The condition, or anything else that the reader notes about the copy.';

-- Name: COLUMN book_copies.loan_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.book_copies.loan_id IS 'The id of the loan; null if the copy is not lent.';

-- Name: COLUMN book_copies.borrower; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.book_copies.borrower IS 'The person to whom the copy is lent.';

-- Name: COLUMN book_copies.past_loans; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.book_copies.past_loans IS 'The last loans that have ended, at most 20, the latest first.';

-- Name: listed_books; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.listed_books (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    list_rank smallint NOT NULL,
    quarter_stars smallint DEFAULT 0 NOT NULL,
    added_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    sort_title text NOT NULL COLLATE pg_catalog."C",
    sort_author text NOT NULL COLLATE pg_catalog."C",
    search_text text NOT NULL
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.listed_books ALTER COLUMN user_id SET (n_distinct=-0.0001);
ALTER TABLE ONLY public.listed_books ALTER COLUMN search_text SET STATISTICS 0;

ALTER TABLE ONLY public.listed_books FORCE ROW LEVEL SECURITY;

-- Name: TABLE listed_books; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.listed_books IS 'The values of each book by which lists are filtered and sorted. Triggers maintain the table.';

-- Name: COLUMN listed_books.list_rank; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.listed_books.list_rank IS 'The order of the status (`list_rank`).';

-- Name: COLUMN listed_books.quarter_stars; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.listed_books.quarter_stars IS 'The rating in quarter stars, 0 without a rating.';

-- Name: COLUMN listed_books.finished_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.listed_books.finished_at IS 'When the latest read was finished, otherwise -infinity.';

-- Name: COLUMN listed_books.sort_title; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.listed_books.sort_title IS 'The title as `book_sort_title` returns it.';

-- Name: COLUMN listed_books.sort_author; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.listed_books.sort_author IS 'The authors as `book_sort_author` returns them.';

-- Name: COLUMN listed_books.search_text; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.listed_books.search_text IS 'A copy of the column of `books`.';

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
    subtitle public.book_subtitle,
    authors public.book_authors DEFAULT '{}'::text[] NOT NULL,
    author_roles public.author_role[] DEFAULT '{}'::public.author_role[] NOT NULL,
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
    content_notes public.book_content_notes,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    cover_status public.cover_status DEFAULT 'NO_COVER'::public.cover_status NOT NULL,
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

-- Name: COLUMN books.subtitle; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.subtitle IS 'The subtitle, if it is not a part of the title.';

-- Name: COLUMN books.authors; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.authors IS 'The names of all contributors, the main author first.';

-- Name: COLUMN books.author_roles; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.author_roles IS 'The role at the position of each name. Names after the last role are authors.';

-- Name: COLUMN books.author; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.author IS 'The names of the authors in one line, by which lists are sorted. A trigger computes it (`author_text`).';

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

-- Name: COLUMN books.content_notes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.books.content_notes IS 'The reader''s warnings about the content, such as violence.';

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

COMMENT ON COLUMN public.books.search_text IS 'All searched columns in the form of `search_fold`, and after a line break the other words of the edition when it was linked. A trigger computes it.';

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

-- Name: catalog_languages; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.catalog_languages (
    language text NOT NULL,
    editions bigint NOT NULL,
    ratings bigint NOT NULL
);

-- Name: TABLE catalog_languages; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.catalog_languages IS 'The numbers of editions and ratings in each language.';

-- Name: COLUMN catalog_languages.language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.catalog_languages.language IS 'The language (`feed_language`); empty for editions without one.';

-- Name: COLUMN catalog_languages.ratings; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.catalog_languages.ratings IS 'The sum of `editions.ratings_count`.';

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

COMMENT ON TABLE public.changes IS 'The change log of each library, which clients read to update their copies. Only functions of the database write it.';

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
    language text NOT NULL COLLATE pg_catalog."C",
    editions uuid[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: TABLE cold_start_decks; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.cold_start_decks IS 'The first decks of readers without signals who read one language.';

-- Name: COLUMN cold_start_decks.chain; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.cold_start_decks.chain IS 'Negative, so that it differs from the numbers of `feed_chains`.';

-- Name: COLUMN cold_start_decks.language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.cold_start_decks.language IS 'The language of the cards, as in `edition_genres`.';

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
    scope public.swipe_scope DEFAULT 'BOOK'::public.swipe_scope NOT NULL,
    store public.swipe_store,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    undone_at timestamp with time zone,
    saved_book_id uuid
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

-- Name: COLUMN swipes.scope; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.swipes.scope IS 'The subject of a DISLIKE: with AUTHOR or SERIES, the feed hides all books of the first author or of the series of the edition.';

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
    swipes.scope,
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
    shelf_positions text[] DEFAULT '{}'::text[] NOT NULL,
    reads jsonb,
    progress_entries jsonb,
    notes jsonb,
    copies jsonb,
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

-- Name: COLUMN deleted_books.shelf_positions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.deleted_books.shelf_positions IS 'The positions of the book on these shelves.';

-- Name: COLUMN deleted_books.reads; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.deleted_books.reads IS 'An array of rows, as in `progress_entries`, `notes`, and `copies`; null if there are none.';

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

-- Name: edition_changes; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.edition_changes (
    id bigint NOT NULL,
    edition_id uuid NOT NULL,
    editions smallint DEFAULT 0 NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    genres text[] DEFAULT '{}'::text[] NOT NULL,
    ratings integer DEFAULT 0 NOT NULL,
    CONSTRAINT edition_changes_editions_check CHECK (((editions >= '-1'::integer) AND (editions <= 1)))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

-- Name: TABLE edition_changes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.edition_changes IS 'A log of changes of editions since the last refresh of the feed.';

-- Name: COLUMN edition_changes.editions; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_changes.editions IS '1 to add the row to the counts, -1 to subtract it, 0 if only the popularity may change.';

-- Name: COLUMN edition_changes.language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_changes.language IS 'The language (`feed_language`); empty without one.';

-- Name: COLUMN edition_changes.ratings; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_changes.ratings IS 'The number of ratings of the edition.';

-- Name: edition_changes_id_seq; Type: SEQUENCE; Schema: public; Owner: -

ALTER TABLE public.edition_changes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.edition_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: edition_genres; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.edition_genres (
    language text NOT NULL COLLATE pg_catalog."C",
    genre_id smallint NOT NULL,
    "position" bigint NOT NULL,
    edition_id uuid NOT NULL,
    ordinal smallint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

-- Name: TABLE edition_genres; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.edition_genres IS 'The editions of each language and genre, in the order of the feed.';

-- Name: COLUMN edition_genres.language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_genres.language IS 'The language of the edition (`feed_language`). If that is unknown or doubtful, it is the main language of the catalog.';

-- Name: COLUMN edition_genres.genre_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_genres.genre_id IS '0 for editions without a genre.';

-- Name: COLUMN edition_genres."position"; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_genres."position" IS 'The sort key: tier, popularity, and number of the edition (`genre_position`).';

-- Name: COLUMN edition_genres.ordinal; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_genres.ordinal IS 'The position of the genre in the list of the edition, from 1.';

-- Name: edition_similar; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.edition_similar (
    edition_id uuid NOT NULL,
    similar_ids uuid[] NOT NULL,
    scores real[] NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

-- Name: TABLE edition_similar; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.edition_similar IS 'The editions that readers of an edition probably like, as learned by the job `feed.similar`.';

-- Name: COLUMN edition_similar.similar_ids; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_similar.similar_ids IS 'The similar editions, by descending scores.';

-- Name: COLUMN edition_similar.scores; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.edition_similar.scores IS 'The score of each similar edition. Negative if readers of the edition probably dislike the other one.';

-- Name: edition_similar_sources; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.edition_similar_sources (
    edition_id uuid NOT NULL,
    source_ids uuid[] NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

-- Name: TABLE edition_similar_sources; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.edition_similar_sources IS 'The editions whose rows in `edition_similar` may contain an edition.';

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
    search_title text GENERATED ALWAYS AS (public.search_title(title)) STORED,
    search_text text GENERATED ALWAYS AS (public.search_text(title, subtitle, series, series_position, authors)) STORED,
    search_vector tsvector GENERATED ALWAYS AS (public.search_vector(title, subtitle, series, series_position, authors)) STORED,
    author_ids uuid[] GENERATED ALWAYS AS (public.author_ids(authors)) STORED,
    series_id uuid GENERATED ALWAYS AS (public.series_id(NULLIF(btrim(series), ''::text))) STORED,
    first_author_hash integer GENERATED ALWAYS AS (COALESCE(hashtext(lower(authors[1])), 0)) STORED,
    series_key bigint GENERATED ALWAYS AS (public.series_key(public.series_id(NULLIF(btrim(series), ''::text)), authors)) STORED,
    series_number double precision GENERATED ALWAYS AS (public.series_number(series_position)) STORED,
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

COMMENT ON COLUMN public.editions.hook IS 'One sentence for cards, from a catalog file or from the description.';

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

-- Name: COLUMN editions.series_key; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.series_key IS 'A hash of the series and of the first author; null without a series or an author. The feed uses it like `first_author_hash`.';

-- Name: COLUMN editions.series_number; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.editions.series_number IS 'The number that `series_number` computes from `series_position`.';

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
    reasons bigint[] NOT NULL,
    signals_version bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (toast_tuple_target='4096', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

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

-- Name: COLUMN feed_decks.reasons; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_decks.reasons IS 'For each card the kind of the reason times 2^32, plus the number of the liked edition or of the genre; 0 without a reason.';

-- Name: COLUMN feed_decks.signals_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_decks.signals_version IS 'The value of `feed_readers.signals_version` from which the deck was built. An older deck does not start a scroll.';

-- Name: feed_readers; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.feed_readers (
    user_id uuid NOT NULL,
    signals_version bigint NOT NULL,
    deck_due_at timestamp with time zone
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.feed_readers FORCE ROW LEVEL SECURITY;

-- Name: TABLE feed_readers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.feed_readers IS 'The readers whose signals have changed, and when their next decks are due.';

-- Name: COLUMN feed_readers.signals_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_readers.signals_version IS 'The number of changes of swipes, books, reviews, preferred genres, languages, and followed authors from which the feed learns.';

-- Name: COLUMN feed_readers.deck_due_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_readers.deck_due_at IS 'When a job for the next deck is due; null if no deck is due.';

-- Name: feed_state; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.feed_state (
    only_row boolean DEFAULT true NOT NULL,
    main_language text,
    decks_valid_since timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    collected_at timestamp with time zone DEFAULT now() NOT NULL,
    popularity_ratings bigint DEFAULT 0 NOT NULL,
    catalog_version bigint DEFAULT 1 NOT NULL,
    cold_start_version bigint DEFAULT 0 NOT NULL,
    is_replacing_similar boolean DEFAULT false NOT NULL,
    CONSTRAINT feed_state_only_row_check CHECK (only_row)
);

-- Name: TABLE feed_state; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.feed_state IS 'The state of the feed''s background work, in a single row.';

-- Name: COLUMN feed_state.main_language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.main_language IS 'The language of most editions. The feed shows it to readers whose languages are not known, and to others after theirs.';

-- Name: COLUMN feed_state.decks_valid_since; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.decks_valid_since IS 'Decks that were built before this time are not used to start a scroll.';

-- Name: COLUMN feed_state.collected_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.collected_at IS 'When the readers whose signals changed were last searched.';

-- Name: COLUMN feed_state.popularity_ratings; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.popularity_ratings IS 'The number of ratings in the catalog from which the popularity of editions is computed. Updated when it has changed by 1%.';

-- Name: COLUMN feed_state.catalog_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.catalog_version IS 'Increases when the catalog has changed for the feed.';

-- Name: COLUMN feed_state.cold_start_version; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.cold_start_version IS 'The value of `catalog_version` when the cold-start decks were last built.';

-- Name: COLUMN feed_state.is_replacing_similar; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.feed_state.is_replacing_similar IS 'True while the similar editions of all editions are replaced. If that was interrupted, all are learned again.';

-- Name: followed_authors; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.followed_authors (
    user_id uuid NOT NULL,
    person_id uuid NOT NULL,
    name text NOT NULL,
    followed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT followed_authors_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 500)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.followed_authors ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.followed_authors FORCE ROW LEVEL SECURITY;

-- Name: TABLE followed_authors; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.followed_authors IS 'The persons whose new books a reader wants to see.';

-- Name: COLUMN followed_authors.person_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.followed_authors.person_id IS 'The id that `author_id` computes from the name.';

-- Name: COLUMN followed_authors.name; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.followed_authors.name IS 'The name in the catalog when the reader began to follow the person.';

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

COMMENT ON COLUMN public.genres.editions IS 'The number of editions, as of the last `count_catalog`.';

-- Name: COLUMN genres.readers; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.genres.readers IS 'The number of ratings of these editions, as of the last `count_catalog`.';

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
    kind public.job_kind NOT NULL,
    payload jsonb NOT NULL,
    key public.job_key,
    state public.job_state DEFAULT 'READY'::public.job_state NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    run_at timestamp with time zone DEFAULT now() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    attempts_max public.job_attempts_max NOT NULL,
    fence integer DEFAULT 0 NOT NULL,
    worker text,
    lease_until timestamp with time zone,
    again boolean DEFAULT false NOT NULL,
    every public.job_interval,
    last_error text,
    postponed_since timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
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

-- Name: library_counts; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.library_counts (
    user_id uuid NOT NULL,
    books integer[],
    writes integer DEFAULT 1 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.library_counts FORCE ROW LEVEL SECURITY;

-- Name: TABLE library_counts; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.library_counts IS 'The number of books of each reader by status. Triggers maintain the table.';

-- Name: COLUMN library_counts.books; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.library_counts.books IS 'The element i is the number of books with the `list_rank` i. Null if the numbers are not known.';

-- Name: COLUMN library_counts.writes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.library_counts.writes IS 'Writes since the books were counted, or since a transaction first found 100 or more.';

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
    color public.label_color,
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

-- Name: work_records; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.work_records (
    edition_id uuid NOT NULL,
    founder_id uuid NOT NULL,
    rank integer NOT NULL,
    language text NOT NULL
);

-- Name: TABLE work_records; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.work_records IS 'The editions of works that have two or more, as computed by `match_works`.';

-- Name: COLUMN work_records.founder_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_records.founder_id IS 'The oldest edition of the work. The id of the work is computed from it (`work_id`).';

-- Name: COLUMN work_records.rank; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_records.rank IS 'The order of the records, from 1. The feed shows the first one in a language of the reader.';

-- Name: COLUMN work_records.language; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_records.language IS 'The language of the edition, as in `edition_genres`.';

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
                    ((ARRAY[0.1, 0.2, 0.6, (1)::numeric, 1.25])[
                        CASE r.quarter_stars
                            WHEN 1 THEN 1
                            ELSE (((r.quarter_stars)::smallint + 2) / 4)
                        END])::real AS weight,
                    ((ARRAY['-0.3'::numeric, (0)::numeric, 0.6, (1)::numeric, 1.25])[
                        CASE r.quarter_stars
                            WHEN 1 THEN 1
                            ELSE (((r.quarter_stars)::smallint + 2) / 4)
                        END])::real AS voice
                   FROM (public.reviews r
                     JOIN public.books b ON (((b.user_id = r.user_id) AND (b.id = r.book_id))))
                  WHERE ((b.edition_id IS NOT NULL) AND (r.quarter_stars IS NOT NULL) AND ((b.status = 'READ'::public.reading_status) OR (EXISTS ( SELECT
                           FROM public.reads d
                          WHERE ((d.user_id = r.user_id) AND (d.book_id = r.book_id) AND (d.outcome = 'FINISHED'::public.read_outcome))))))
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
                 SELECT b.user_id,
                    b.edition_id,
                    b.added_at,
                        CASE
                            WHEN n.is_abandoned THEN 1
                            ELSE 3
                        END AS "case",
                    (
                        CASE
                            WHEN n.is_abandoned THEN 0.1
                            WHEN (b.status = ANY (ARRAY['READ'::public.reading_status, 'DID_NOT_FINISH'::public.reading_status])) THEN 0.8
                            ELSE 0.7
                        END)::real AS float4,
                    (
                        CASE
                            WHEN n.is_abandoned THEN '-0.3'::numeric
                            WHEN (b.status = ANY (ARRAY['READ'::public.reading_status, 'DID_NOT_FINISH'::public.reading_status])) THEN 0.8
                            ELSE 0.7
                        END)::real AS float4
                   FROM (public.books b
                     CROSS JOIN LATERAL ( SELECT ((b.status = 'DID_NOT_FINISH'::public.reading_status) AND (NOT (EXISTS ( SELECT
                                   FROM public.reads d
                                  WHERE ((d.user_id = b.user_id) AND (d.book_id = b.id) AND (d.outcome = 'FINISHED'::public.read_outcome)))))) AS is_abandoned) n)
                  WHERE (b.edition_id IS NOT NULL)) s
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

-- Name: reading_counts; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reading_counts (
    user_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    year integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    pages bigint DEFAULT 0 NOT NULL,
    seconds bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.reading_counts ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.reading_counts FORCE ROW LEVEL SECURITY;

-- Name: TABLE reading_counts; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reading_counts IS 'The numbers of finished reads and of ratings by year and in total. Triggers maintain the table. A number can be 0.';

-- Name: COLUMN reading_counts.kind; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reading_counts.kind IS 'READS and GIVEN_UP: reads. BOOKS: different finished books. RATING: reviews, by year only those of books that were finished in it.';

-- Name: COLUMN reading_counts.year; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reading_counts.year IS '0 for all years, which also contains reads without a date.';

-- Name: COLUMN reading_counts.key; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reading_counts.key IS 'The month, the format, or the rating in quarter stars (0 without one). Otherwise empty.';

-- Name: reading_days; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reading_days (
    user_id uuid NOT NULL,
    day date NOT NULL,
    entry_count integer NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.reading_days FORCE ROW LEVEL SECURITY;

-- Name: TABLE reading_days; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reading_days IS 'The days with progress or a finished book in the time zone of the reader, for streaks. Triggers maintain it.';

-- Name: COLUMN reading_days.entry_count; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reading_days.entry_count IS 'The number of entries and of finished books of the day, at least 1.';

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

-- Name: reading_recounts; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reading_recounts (
    user_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='5000');

ALTER TABLE ONLY public.reading_recounts FORCE ROW LEVEL SECURITY;

-- Name: TABLE reading_recounts; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reading_recounts IS 'Readers whose numbers of reads and days the current transaction counts again when it ends.';

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

-- Name: reading_top_counts; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.reading_top_counts (
    user_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    year integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.reading_top_counts ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.reading_top_counts FORCE ROW LEVEL SECURITY;

-- Name: TABLE reading_top_counts; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.reading_top_counts IS 'The numbers of finished reads by genre, author, and mood. Triggers maintain the table. A number can be 0.';

-- Name: COLUMN reading_top_counts.year; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reading_top_counts.year IS '0 for all years, which also contains reads without a date.';

-- Name: COLUMN reading_top_counts.key; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.reading_top_counts.key IS 'The genre, the id of the author, or the mood.';

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

-- Name: scans; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.scans (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    isbn13 text NOT NULL,
    scanned_at timestamp with time zone NOT NULL,
    outcome public.scan_outcome NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT scans_isbn13_check CHECK ((isbn13 ~ '^97[89][0-9]{10}$'::text))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.scans ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.scans FORCE ROW LEVEL SECURITY;

-- Name: TABLE scans; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.scans IS 'The ISBNs that readers have scanned. Those that were recorded first are deleted when a reader has more than 1,000.';

-- Name: COLUMN scans.scanned_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.scans.scanned_at IS 'The time of the device, at most that of the server.';

-- Name: COLUMN scans.outcome; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.scans.outcome IS 'FOUND: the catalog or a source knew the ISBN. UNKNOWN: none did. FAILED: no source could be asked.';

-- Name: COLUMN scans.recorded_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.scans.recorded_at IS 'When the server stored the scan; `scanned_at` for a scan of an archive.';

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

-- Name: search_aliases; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.search_aliases (
    alias text NOT NULL,
    meaning text NOT NULL,
    CONSTRAINT search_aliases_alias_check CHECK (((alias ~ '^\S+(?: \S+){0,2}$'::text) AND (char_length(alias) <= 60))),
    CONSTRAINT search_aliases_meaning_check CHECK (((public.search_fold(meaning) <> ''::text) AND (char_length(meaning) <= 100)))
);

-- Name: TABLE search_aliases; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.search_aliases IS 'Short names of books and series that a search also understands, such as lotr.';

-- Name: COLUMN search_aliases.alias; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.search_aliases.alias IS 'One to three words, as `search_query_terms` returns them.';

-- Name: COLUMN search_aliases.meaning; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.search_aliases.meaning IS 'The text that the search searches, too.';

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

-- Name: shared_links; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.shared_links (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    token_hash bytea NOT NULL,
    seed uuid NOT NULL,
    shelf_id uuid,
    review_id uuid,
    note_id uuid,
    year integer,
    shows_name boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT shared_links_item_check CHECK ((num_nonnulls(shelf_id, review_id, note_id, year) = 1)),
    CONSTRAINT shared_links_token_hash_check CHECK ((octet_length(token_hash) = 32))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.shared_links FORCE ROW LEVEL SECURITY;

-- Name: TABLE shared_links; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.shared_links IS 'The links by which readers share something. Deleting a row ends the link.';

-- Name: COLUMN shared_links.token_hash; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shared_links.token_hash IS 'SHA-256 of the token in the address. The token is not stored.';

-- Name: COLUMN shared_links.seed; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shared_links.seed IS 'The server calculates the token from it, the id, and the key of the installation, for the reader''s list of links.';

-- Name: COLUMN shared_links.shelf_id; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shared_links.shelf_id IS 'The shared shelf. Exactly one of this and the next three columns is set.';

-- Name: COLUMN shared_links.shows_name; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shared_links.shows_name IS 'Whether the name of the reader is shown to those who have the link.';

-- Name: shelf_books; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.shelf_books (
    user_id uuid NOT NULL,
    shelf_id uuid NOT NULL,
    book_id uuid NOT NULL,
    added_at timestamp with time zone NOT NULL,
    sort_title text COLLATE pg_catalog."C",
    sort_author text COLLATE pg_catalog."C",
    "position" text DEFAULT public.last_shelf_position() NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT shelf_books_position_check CHECK (("position" ~ '^[0-9]{1,200}$'::text))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.shelf_books ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.shelf_books FORCE ROW LEVEL SECURITY;

-- Name: TABLE shelf_books; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.shelf_books IS 'The books on shelves.';

-- Name: COLUMN shelf_books.added_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelf_books.added_at IS 'A copy of `books.added_at`, for the order of a shelf.';

-- Name: COLUMN shelf_books.sort_title; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelf_books.sort_title IS 'A copy of `listed_books.sort_title`.';

-- Name: COLUMN shelf_books.sort_author; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelf_books.sort_author IS 'A copy of `listed_books.sort_author`.';

-- Name: COLUMN shelf_books."position"; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelf_books."position" IS 'The reader''s order: the digits of a fraction. They are the time at which the book was added, or between those of two other books.';

-- Name: shelf_counts; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.shelf_counts (
    user_id uuid NOT NULL,
    shelf_id uuid NOT NULL,
    books integer NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

ALTER TABLE ONLY public.shelf_counts FORCE ROW LEVEL SECURITY;

-- Name: TABLE shelf_counts; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.shelf_counts IS 'The number of books on each shelf that ever had one. Triggers maintain the table.';

-- Name: COLUMN shelf_counts.books; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelf_counts.books IS 'The number of rows of `shelf_books`.';

-- Name: shelves; Type: TABLE; Schema: public; Owner: -

CREATE TABLE public.shelves (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    "position" integer NOT NULL,
    description text,
    color public.label_color,
    is_up_next boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT shelves_description_check CHECK (((char_length(description) >= 1) AND (char_length(description) <= 1000))),
    CONSTRAINT shelves_name_check CHECK (((name = btrim(name)) AND ((char_length(name) >= 1) AND (char_length(name) <= 100))))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');
ALTER TABLE ONLY public.shelves ALTER COLUMN user_id SET (n_distinct=-0.01);

ALTER TABLE ONLY public.shelves FORCE ROW LEVEL SECURITY;

-- Name: TABLE shelves; Type: COMMENT; Schema: public; Owner: -

COMMENT ON TABLE public.shelves IS 'The shelves of a library.';

-- Name: COLUMN shelves."position"; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelves."position" IS 'The order of the shelves, ascending. After a merge or an import, numbers can be missing.';

-- Name: COLUMN shelves.is_up_next; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.shelves.is_up_next IS 'Whether the shelf is the queue of the books that the reader wants to read next. A book leaves it when the reader starts it.';

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
    rating_step smallint DEFAULT 4 NOT NULL,
    guests boolean DEFAULT false NOT NULL,
    guest_books_max integer DEFAULT 200 NOT NULL,
    oauth boolean DEFAULT false NOT NULL,
    oauth_registration boolean DEFAULT false NOT NULL,
    mcp boolean DEFAULT false NOT NULL,
    sharing boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenants_amazon_tag_check CHECK ((amazon_tag ~ '^[A-Za-z0-9-]{1,64}$'::text)),
    CONSTRAINT tenants_bookshop_id_check CHECK ((bookshop_id ~ '^[0-9]{1,10}$'::text)),
    CONSTRAINT tenants_guest_books_max_check CHECK (((guest_books_max >= 1) AND (guest_books_max <= 1000))),
    CONSTRAINT tenants_name_check CHECK ((name <> ''::text)),
    CONSTRAINT tenants_rating_step_check CHECK ((rating_step = ANY (ARRAY[1, 2, 4]))),
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

-- Name: COLUMN tenants.rating_step; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.rating_step IS 'The step of ratings in quarter stars: 4 for whole stars, 2 for half stars, 1 for quarter stars.';

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

-- Name: COLUMN tenants.sharing; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.tenants.sharing IS 'Whether readers may share by links. If false, no link works.';

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
    languages text[] DEFAULT '{}'::text[] NOT NULL,
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT users_languages_check CHECK ((array_to_string(languages, ' '::text) ~ '^(?:[a-z]{2,3}(?: [a-z]{2,3}){0,9})?$'::text))
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

-- Name: COLUMN users.languages; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.users.languages IS 'The languages in which the user reads, the most preferred first: the first parts of BCP 47 tags. Empty if they are not known.';

-- Name: COLUMN users.time_zone; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.users.time_zone IS 'A name of the IANA time zone database, which decides when the reader''s day begins.';

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
    learned_changes bigint DEFAULT 0 NOT NULL,
    refreshed_changes bigint DEFAULT 0 NOT NULL,
    refresh_at timestamp with time zone
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

-- Name: COLUMN work_signals.refreshed_changes; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_signals.refreshed_changes IS 'The value of `changes` when the popularity of the editions of the work was last computed.';

-- Name: COLUMN work_signals.refresh_at; Type: COMMENT; Schema: public; Owner: -

COMMENT ON COLUMN public.work_signals.refresh_at IS 'When the popularity of one of the editions of the work will have decayed by 5%; null if never.';

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

-- Name: book_copies book_copies_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.book_copies
    ADD CONSTRAINT book_copies_pkey PRIMARY KEY (user_id, id);

-- Name: books books_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.books
    ADD CONSTRAINT books_pkey PRIMARY KEY (user_id, id);

-- Name: books_to_link books_to_link_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.books_to_link
    ADD CONSTRAINT books_to_link_pkey PRIMARY KEY (user_id, book_id);

-- Name: catalog_languages catalog_languages_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.catalog_languages
    ADD CONSTRAINT catalog_languages_pkey PRIMARY KEY (language);

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

-- Name: edition_changes edition_changes_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_changes
    ADD CONSTRAINT edition_changes_pkey PRIMARY KEY (id);

-- Name: edition_genres edition_genres_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_genres
    ADD CONSTRAINT edition_genres_pkey PRIMARY KEY (language, genre_id, "position") INCLUDE (edition_id, ordinal);

-- Name: edition_similar edition_similar_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_similar
    ADD CONSTRAINT edition_similar_pkey PRIMARY KEY (edition_id);

-- Name: edition_similar_sources edition_similar_sources_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.edition_similar_sources
    ADD CONSTRAINT edition_similar_sources_pkey PRIMARY KEY (edition_id);

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

-- Name: feed_readers feed_readers_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.feed_readers
    ADD CONSTRAINT feed_readers_pkey PRIMARY KEY (user_id);

-- Name: feed_state feed_state_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.feed_state
    ADD CONSTRAINT feed_state_pkey PRIMARY KEY (only_row);

-- Name: followed_authors followed_authors_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.followed_authors
    ADD CONSTRAINT followed_authors_pkey PRIMARY KEY (user_id, person_id);

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

-- Name: library_counts library_counts_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.library_counts
    ADD CONSTRAINT library_counts_pkey PRIMARY KEY (user_id);

-- Name: listed_books listed_books_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.listed_books
    ADD CONSTRAINT listed_books_pkey PRIMARY KEY (user_id, book_id);

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

-- Name: reading_counts reading_counts_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_counts
    ADD CONSTRAINT reading_counts_pkey PRIMARY KEY (user_id, kind, year, key);

-- Name: reading_days reading_days_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_days
    ADD CONSTRAINT reading_days_pkey PRIMARY KEY (user_id, day);

-- Name: reading_goals reading_goals_of_year; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_goals
    ADD CONSTRAINT reading_goals_of_year UNIQUE (user_id, year, unit);

-- Name: reading_goals reading_goals_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_goals
    ADD CONSTRAINT reading_goals_pkey PRIMARY KEY (user_id, id);

-- Name: reading_recounts reading_recounts_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_recounts
    ADD CONSTRAINT reading_recounts_pkey PRIMARY KEY (user_id);

-- Name: reading_tombstones reading_tombstones_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_tombstones
    ADD CONSTRAINT reading_tombstones_pkey PRIMARY KEY (user_id, id);

-- Name: reading_top_counts reading_top_counts_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_top_counts
    ADD CONSTRAINT reading_top_counts_pkey PRIMARY KEY (user_id, kind, year, key);

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

-- Name: scans scans_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.scans
    ADD CONSTRAINT scans_pkey PRIMARY KEY (user_id, id);

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

-- Name: search_aliases search_aliases_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.search_aliases
    ADD CONSTRAINT search_aliases_pkey PRIMARY KEY (alias);

-- Name: search_words search_words_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.search_words
    ADD CONSTRAINT search_words_pkey PRIMARY KEY (word);

-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (user_id, id);

-- Name: shared_links shared_links_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shared_links
    ADD CONSTRAINT shared_links_pkey PRIMARY KEY (user_id, id);

-- Name: shelf_books shelf_books_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelf_books
    ADD CONSTRAINT shelf_books_pkey PRIMARY KEY (user_id, shelf_id, book_id);

-- Name: shelf_counts shelf_counts_pkey; Type: CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelf_counts
    ADD CONSTRAINT shelf_counts_pkey PRIMARY KEY (user_id, shelf_id);

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

-- Name: book_copies_lent; Type: INDEX; Schema: public; Owner: -

CREATE INDEX book_copies_lent ON public.book_copies USING btree (user_id, COALESCE((due_on)::text, '~'::text), id) INCLUDE (book_id) WHERE (loan_id IS NOT NULL);

-- Name: book_copies_of_book; Type: INDEX; Schema: public; Owner: -

CREATE INDEX book_copies_of_book ON public.book_copies USING btree (user_id, book_id);

-- Name: books_added_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_added_at ON public.books USING btree (user_id, added_at, id);

-- Name: books_cover_requested_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_cover_requested_at ON public.books USING btree (cover_requested_at) WHERE (cover_status = 'FETCHING'::public.cover_status);

-- Name: books_edition_id; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX books_edition_id ON public.books USING btree (user_id, edition_id) INCLUDE (added_at, series_id) WHERE (edition_id IS NOT NULL);

-- Name: books_isbn13; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX books_isbn13 ON public.books USING btree (user_id, isbn13) WHERE (isbn13 IS NOT NULL);

-- Name: books_language; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_language ON public.books USING btree (user_id, language COLLATE "C") INCLUDE (id) WHERE (language IS NOT NULL);

-- Name: books_link_keys; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_link_keys ON public.books USING gin (public.book_link_keys((isbn13)::text, (title)::text, public.author_text((authors)::text[], author_roles))) WITH (fastupdate=off) WHERE (edition_id IS NULL);

-- Name: books_of_edition; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_of_edition ON public.books USING btree (edition_id) WHERE (edition_id IS NOT NULL);

-- Name: books_search; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_search ON public.books USING gin (public.book_search_keys(user_id, (title)::text, search_text)) WITH (fastupdate='on', gin_pending_list_limit='64');

-- Name: books_series_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX books_series_id ON public.books USING btree (user_id, series_id) INCLUDE (added_at) WHERE (series_id IS NOT NULL);

-- Name: changes_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX changes_at ON public.changes USING brin (at);

-- Name: cold_start_decks_language; Type: INDEX; Schema: public; Owner: -

CREATE INDEX cold_start_decks_language ON public.cold_start_decks USING btree (language, chain);

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

CREATE INDEX edition_genres_edition_id ON public.edition_genres USING btree (edition_id, ordinal) INCLUDE (language, genre_id, "position");

-- Name: edition_sources_edition_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX edition_sources_edition_id ON public.edition_sources USING btree (edition_id);

-- Name: edition_work_keys_key; Type: INDEX; Schema: public; Owner: -

CREATE INDEX edition_work_keys_key ON public.edition_work_keys USING btree (source, key);

-- Name: editions_author_ids; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_author_ids ON public.editions USING gin (author_ids) WITH (fastupdate=off);

-- Name: editions_due_for_cover; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_due_for_cover ON public.editions USING btree (cover_due_at, popularity DESC, id) WHERE ((cover_version IS NULL) AND ((isbn13 IS NOT NULL) OR (cover_links <> '{}'::text[])));

-- Name: editions_first_author_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_first_author_hash ON public.editions USING btree (first_author_hash, popularity DESC);

-- Name: editions_late_for_cover; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_late_for_cover ON public.editions USING btree (cover_due_at) WHERE ((cover_version IS NULL) AND (cover_failures > 0));

-- Name: editions_number; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX editions_number ON public.editions USING btree (number) INCLUDE (id);

-- Name: editions_popularity; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_popularity ON public.editions USING btree (popularity DESC, id);

-- Name: editions_search_title; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_search_title ON public.editions USING btree (replace(search_title, ' '::text, ''::text));
ALTER INDEX public.editions_search_title ALTER COLUMN 1 SET STATISTICS 0;

-- Name: editions_search_vector; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_search_vector ON public.editions USING gin (search_vector) WITH (fastupdate=off);

-- Name: editions_series_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_series_id ON public.editions USING btree (series_id) WHERE (series_id IS NOT NULL);

-- Name: editions_series_key; Type: INDEX; Schema: public; Owner: -

CREATE INDEX editions_series_key ON public.editions USING btree (series_key, popularity DESC) INCLUDE (id, series_number) WHERE (series_key IS NOT NULL);

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

CREATE INDEX feed_decks_created_at ON public.feed_decks USING btree (created_at);

-- Name: feed_decks_start; Type: INDEX; Schema: public; Owner: -

CREATE INDEX feed_decks_start ON public.feed_decks USING btree (user_id, filter, chain DESC) WHERE (number = 0);

-- Name: feed_readers_due; Type: INDEX; Schema: public; Owner: -

CREATE INDEX feed_readers_due ON public.feed_readers USING btree (deck_due_at) WHERE (deck_due_at IS NOT NULL);

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

-- Name: jobs_ready_of_readers; Type: INDEX; Schema: public; Owner: -

CREATE INDEX jobs_ready_of_readers ON public.jobs USING btree (kind, user_id, priority, run_at) WHERE ((state = 'READY'::public.job_state) AND (user_id IS NOT NULL));

-- Name: jobs_running; Type: INDEX; Schema: public; Owner: -

CREATE INDEX jobs_running ON public.jobs USING btree (lease_until) WHERE (state = 'RUNNING'::public.job_state);

-- Name: jobs_user_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX jobs_user_id ON public.jobs USING btree (user_id) WHERE (user_id IS NOT NULL);

-- Name: listed_books_added_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX listed_books_added_at ON public.listed_books USING btree (user_id, list_rank, added_at, book_id);

-- Name: listed_books_author; Type: INDEX; Schema: public; Owner: -

CREATE INDEX listed_books_author ON public.listed_books USING btree (user_id, list_rank, sort_author, sort_title, book_id);

-- Name: listed_books_finished_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX listed_books_finished_at ON public.listed_books USING btree (user_id, list_rank, finished_at, added_at, book_id);

-- Name: listed_books_quarter_stars; Type: INDEX; Schema: public; Owner: -

CREATE INDEX listed_books_quarter_stars ON public.listed_books USING btree (user_id, list_rank, quarter_stars, added_at, book_id);

-- Name: listed_books_title; Type: INDEX; Schema: public; Owner: -

CREATE INDEX listed_books_title ON public.listed_books USING btree (user_id, list_rank, sort_title, book_id);

-- Name: listed_books_updated_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX listed_books_updated_at ON public.listed_books USING btree (user_id, list_rank, updated_at, book_id);

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

-- Name: reading_top_counts_order; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reading_top_counts_order ON public.reading_top_counts USING btree (user_id, kind, year, number DESC, key);

-- Name: reads_authors; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_authors ON public.reads USING btree (user_id, author_id, author COLLATE "C") WHERE ((outcome = 'FINISHED'::public.read_outcome) AND (author_id IS NOT NULL));

-- Name: reads_finished; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_finished ON public.reads USING btree (user_id, finished_on, id) WHERE (outcome = 'FINISHED'::public.read_outcome);

-- Name: reads_lengths; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_lengths ON public.reads USING btree (user_id, page_count, book_id) WHERE ((outcome = 'FINISHED'::public.read_outcome) AND (page_count IS NOT NULL));

-- Name: reads_lengths_of_year; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_lengths_of_year ON public.reads USING btree (user_id, finished_year, page_count, book_id) WHERE ((outcome = 'FINISHED'::public.read_outcome) AND (page_count IS NOT NULL));

-- Name: reads_of_book; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_of_book ON public.reads USING btree (user_id, book_id, sorted_on, created_at, id);

-- Name: reads_of_user; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_of_user ON public.reads USING btree (user_id, sorted_on, created_at, id);

-- Name: reads_open; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX reads_open ON public.reads USING btree (user_id, book_id) WHERE (outcome = 'READING'::public.read_outcome);

-- Name: reads_with_format; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reads_with_format ON public.reads USING btree (user_id, book_id) INCLUDE (format) WHERE (format IS NOT NULL);

-- Name: removed_editions_survivor_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX removed_editions_survivor_id ON public.removed_editions USING btree (survivor_id);

-- Name: reviews_created_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reviews_created_at ON public.reviews USING btree (user_id, created_at, id);

-- Name: reviews_quarter_stars; Type: INDEX; Schema: public; Owner: -

CREATE INDEX reviews_quarter_stars ON public.reviews USING btree (user_id, quarter_stars);

-- Name: scans_history; Type: INDEX; Schema: public; Owner: -

CREATE INDEX scans_history ON public.scans USING btree (user_id, scanned_at, id);

-- Name: schema_usage_client_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX schema_usage_client_id ON public.schema_usage USING btree (client_id);

-- Name: search_words_forms; Type: INDEX; Schema: public; Owner: -

CREATE INDEX search_words_forms ON public.search_words USING gin (forms);

-- Name: search_words_word; Type: INDEX; Schema: public; Owner: -

CREATE INDEX search_words_word ON public.search_words USING gin (word public.gin_trgm_ops);

-- Name: shared_links_token_hash; Type: INDEX; Schema: public; Owner: -

CREATE INDEX shared_links_token_hash ON public.shared_links USING btree (token_hash);

-- Name: shelf_books_added_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX shelf_books_added_at ON public.shelf_books USING btree (user_id, shelf_id, added_at, book_id);

-- Name: shelf_books_author; Type: INDEX; Schema: public; Owner: -

CREATE INDEX shelf_books_author ON public.shelf_books USING btree (user_id, shelf_id, sort_author, sort_title, book_id);

-- Name: shelf_books_of_book; Type: INDEX; Schema: public; Owner: -

CREATE INDEX shelf_books_of_book ON public.shelf_books USING btree (user_id, book_id, shelf_id);

-- Name: shelf_books_position; Type: INDEX; Schema: public; Owner: -

CREATE INDEX shelf_books_position ON public.shelf_books USING btree (user_id, shelf_id, "position", book_id);

-- Name: shelf_books_title; Type: INDEX; Schema: public; Owner: -

CREATE INDEX shelf_books_title ON public.shelf_books USING btree (user_id, shelf_id, sort_title, book_id);

-- Name: shelves_name; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX shelves_name ON public.shelves USING btree (user_id, lower(name));

-- Name: shelves_up_next; Type: INDEX; Schema: public; Owner: -

CREATE UNIQUE INDEX shelves_up_next ON public.shelves USING btree (user_id) WHERE is_up_next;

-- Name: swipes_edition_id; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_edition_id ON public.swipes USING btree (edition_id);

-- Name: swipes_hiding; Type: INDEX; Schema: public; Owner: -

CREATE INDEX swipes_hiding ON public.swipes USING btree (user_id, LEAST(swiped_at, recorded_at), edition_id, swiped_at) WHERE (scope <> 'BOOK'::public.swipe_scope);

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

CREATE INDEX work_records_work ON public.work_records USING btree (founder_id, rank) INCLUDE (edition_id, language);

-- Name: work_signals_refresh_at; Type: INDEX; Schema: public; Owner: -

CREATE INDEX work_signals_refresh_at ON public.work_signals USING btree (refresh_at) WHERE (refresh_at IS NOT NULL);

-- Name: work_signals_to_learn; Type: INDEX; Schema: public; Owner: -

CREATE INDEX work_signals_to_learn ON public.work_signals USING btree (number) INCLUDE (changes, signals) WHERE ((changes > learned_changes) AND (((changes - learned_changes) * 20) >= LEAST(signals, 2000)));

-- Name: work_signals_to_refresh; Type: INDEX; Schema: public; Owner: -

CREATE INDEX work_signals_to_refresh ON public.work_signals USING btree (number) WHERE (changes <> refreshed_changes);

-- Name: oauth_grants audit_ended_oauth_grant; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER audit_ended_oauth_grant AFTER DELETE ON public.oauth_grants FOR EACH ROW EXECUTE FUNCTION public.audit_oauth_grant('APP_REVOKED');

-- Name: shared_links audit_link_creation; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER audit_link_creation AFTER INSERT ON public.shared_links FOR EACH ROW EXECUTE FUNCTION public.audit_credential('LINK_CREATED');

-- Name: shared_links audit_link_end; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER audit_link_end AFTER DELETE ON public.shared_links FOR EACH ROW EXECUTE FUNCTION public.audit_credential('LINK_ENDED');

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

-- Name: moving_covers count_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER count_delete AFTER DELETE ON public.moving_covers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_moving_covers();

-- Name: moving_covers count_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER count_insert AFTER INSERT ON public.moving_covers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_moving_covers();

-- Name: users delete_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER delete_changes AFTER DELETE ON public.users FOR EACH ROW EXECUTE FUNCTION public.delete_changes();

-- Name: books delete_review_of_book; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER delete_review_of_book BEFORE DELETE ON public.books FOR EACH ROW EXECUTE FUNCTION public.delete_review_of_book();

-- Name: editions index_changed_editions; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER index_changed_editions AFTER UPDATE ON public.editions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.index_changed_editions();

-- Name: editions index_deleted_editions; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER index_deleted_editions AFTER DELETE ON public.editions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.index_deleted_editions();

-- Name: editions index_new_editions; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER index_new_editions AFTER INSERT ON public.editions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.index_new_editions();

-- Name: books log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER UPDATE ON public.books FOR EACH ROW WHEN (((old.ctid)::text IS DISTINCT FROM current_setting('app.logged_book'::text, true))) EXECUTE FUNCTION public.log_book();

-- Name: notes log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER UPDATE ON public.notes FOR EACH ROW EXECUTE FUNCTION public.log_note();

-- Name: reading_goals log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER INSERT OR DELETE OR UPDATE ON public.reading_goals FOR EACH ROW EXECUTE FUNCTION public.log_reading_goal();

-- Name: shelves log_changes; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_changes AFTER INSERT OR DELETE OR UPDATE ON public.shelves FOR EACH ROW EXECUTE FUNCTION public.log_shelf();

-- Name: book_copies log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.book_copies REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_copies();

-- Name: books log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.books REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_deleted_books();

-- Name: followed_authors log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.followed_authors REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_follows();

-- Name: notes log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.notes REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_note_counts();

-- Name: progress_entries log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.progress_entries REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_deleted_progress();

-- Name: reads log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.reads REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_reads();

-- Name: reviews log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.reviews REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_reviews();

-- Name: shelf_books log_delete; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_delete AFTER DELETE ON public.shelf_books REFERENCING OLD TABLE AS moved_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_shelf_books();

-- Name: book_copies log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.book_copies REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_copies();

-- Name: books log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.books FOR EACH ROW EXECUTE FUNCTION public.log_created_book();

-- Name: followed_authors log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.followed_authors REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_follows();

-- Name: notes log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.notes REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_note_counts();

-- Name: progress_entries log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.progress_entries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_added_progress();

-- Name: reads log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.reads REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_reads();

-- Name: reviews log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.reviews REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_reviews();

-- Name: shelf_books log_insert; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_insert AFTER INSERT ON public.shelf_books REFERENCING NEW TABLE AS moved_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_shelf_books();

-- Name: book_copies log_update; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_update AFTER UPDATE ON public.book_copies REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_copies();

-- Name: progress_entries log_update; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_update AFTER UPDATE ON public.progress_entries REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_changed_progress();

-- Name: reads log_update; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_update AFTER UPDATE ON public.reads REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_reads();

-- Name: reviews log_update; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER log_update AFTER UPDATE ON public.reviews REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.log_reviews();

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

-- Name: reading_recounts recount_reading; Type: TRIGGER; Schema: public; Owner: -

CREATE CONSTRAINT TRIGGER recount_reading AFTER INSERT ON public.reading_recounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.recount_reading();

-- Name: users recount_reading_days; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER recount_reading_days AFTER UPDATE OF time_zone ON public.users FOR EACH ROW WHEN ((new.time_zone IS DISTINCT FROM old.time_zone)) EXECUTE FUNCTION public.recount_days_of_zone();

-- Name: books set_computed_columns; Type: TRIGGER; Schema: public; Owner: -

CREATE TRIGGER set_computed_columns BEFORE INSERT OR UPDATE OF title, subtitle, authors, author_roles, genre, series, series_position, page_count, language, added_at, edition_id, moods, author, author_ids, series_id, search_text, title_card_version ON public.books FOR EACH ROW EXECUTE FUNCTION public.set_computed_columns();

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

-- Name: book_copies book_copies_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.book_copies
    ADD CONSTRAINT book_copies_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

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

-- Name: feed_readers feed_readers_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.feed_readers
    ADD CONSTRAINT feed_readers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: followed_authors followed_authors_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.followed_authors
    ADD CONSTRAINT followed_authors_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

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

-- Name: library_counts library_counts_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.library_counts
    ADD CONSTRAINT library_counts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

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

-- Name: reading_counts reading_counts_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_counts
    ADD CONSTRAINT reading_counts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reading_days reading_days_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_days
    ADD CONSTRAINT reading_days_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reading_goals reading_goals_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_goals
    ADD CONSTRAINT reading_goals_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reading_recounts reading_recounts_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_recounts
    ADD CONSTRAINT reading_recounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reading_tombstones reading_tombstones_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_tombstones
    ADD CONSTRAINT reading_tombstones_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reading_top_counts reading_top_counts_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reading_top_counts
    ADD CONSTRAINT reading_top_counts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reads reads_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reads
    ADD CONSTRAINT reads_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: removed_covers removed_covers_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.removed_covers
    ADD CONSTRAINT removed_covers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: reviews reviews_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: scans scans_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.scans
    ADD CONSTRAINT scans_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: schema_usage schema_usage_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.schema_usage
    ADD CONSTRAINT schema_usage_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.usage_clients(id) ON DELETE CASCADE;

-- Name: sessions sessions_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: shared_links shared_links_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shared_links
    ADD CONSTRAINT shared_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

-- Name: shared_links shared_links_user_id_note_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shared_links
    ADD CONSTRAINT shared_links_user_id_note_id_fkey FOREIGN KEY (user_id, note_id) REFERENCES public.notes(user_id, id) ON DELETE CASCADE;

-- Name: shared_links shared_links_user_id_review_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shared_links
    ADD CONSTRAINT shared_links_user_id_review_id_fkey FOREIGN KEY (user_id, review_id) REFERENCES public.reviews(user_id, id) ON DELETE CASCADE;

-- Name: shared_links shared_links_user_id_shelf_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shared_links
    ADD CONSTRAINT shared_links_user_id_shelf_id_fkey FOREIGN KEY (user_id, shelf_id) REFERENCES public.shelves(user_id, id) ON DELETE CASCADE;

-- Name: shelf_books shelf_books_user_id_book_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelf_books
    ADD CONSTRAINT shelf_books_user_id_book_id_fkey FOREIGN KEY (user_id, book_id) REFERENCES public.books(user_id, id) ON DELETE CASCADE;

-- Name: shelf_books shelf_books_user_id_shelf_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelf_books
    ADD CONSTRAINT shelf_books_user_id_shelf_id_fkey FOREIGN KEY (user_id, shelf_id) REFERENCES public.shelves(user_id, id) ON DELETE CASCADE;

-- Name: shelf_counts shelf_counts_user_id_shelf_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -

ALTER TABLE ONLY public.shelf_counts
    ADD CONSTRAINT shelf_counts_user_id_shelf_id_fkey FOREIGN KEY (user_id, shelf_id) REFERENCES public.shelves(user_id, id) ON DELETE CASCADE;

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

-- Name: book_copies administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.book_copies TO bookplate_owner USING (true) WITH CHECK (true);

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

-- Name: feed_readers administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.feed_readers TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: followed_authors administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.followed_authors TO bookplate_owner USING (true) WITH CHECK (true);

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

-- Name: library_counts administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.library_counts TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: listed_books administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.listed_books TO bookplate_owner USING (true) WITH CHECK (true);

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

-- Name: reading_counts administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_counts TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reading_days administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_days TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reading_goals administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_goals TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reading_recounts administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_recounts TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reading_tombstones administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_tombstones TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reading_top_counts administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reading_top_counts TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reads administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reads TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: removed_covers administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.removed_covers TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: reviews administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.reviews TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: scans administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.scans TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: schema_usage administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.schema_usage TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: sessions administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.sessions TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: shared_links administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.shared_links TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: shelf_books administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.shelf_books TO bookplate_owner USING (true) WITH CHECK (true);

-- Name: shelf_counts administration; Type: POLICY; Schema: public; Owner: -

CREATE POLICY administration ON public.shelf_counts TO bookplate_owner USING (true) WITH CHECK (true);

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

-- Name: book_copies; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.book_copies ENABLE ROW LEVEL SECURITY;

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

-- Name: oauth_requests deciding; Type: POLICY; Schema: public; Owner: -

CREATE POLICY deciding ON public.oauth_requests FOR UPDATE TO bookplate_app USING (((tenant_id = public.app_tenant_id()) AND ((user_id = public.app_user_id()) OR (user_id IS NULL)))) WITH CHECK (((tenant_id = public.app_tenant_id()) AND (user_id = public.app_user_id())));

-- Name: deleted_books; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.deleted_books ENABLE ROW LEVEL SECURITY;

-- Name: jobs enqueuing; Type: POLICY; Schema: public; Owner: -

CREATE POLICY enqueuing ON public.jobs TO bookplate_app USING (((user_id = public.app_user_id()) OR (user_id IS NULL))) WITH CHECK (((user_id = public.app_user_id()) OR (user_id IS NULL)));

-- Name: ereader_documents; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.ereader_documents ENABLE ROW LEVEL SECURITY;

-- Name: ereader_positions; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.ereader_positions ENABLE ROW LEVEL SECURITY;

-- Name: events; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

-- Name: feed_decks; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.feed_decks ENABLE ROW LEVEL SECURITY;

-- Name: feed_readers; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.feed_readers ENABLE ROW LEVEL SECURITY;

-- Name: oauth_requests finding; Type: POLICY; Schema: public; Owner: -

CREATE POLICY finding ON public.oauth_requests FOR SELECT TO bookplate_app USING (((tenant_id = public.app_tenant_id()) AND ((user_id = public.app_user_id()) OR (user_id IS NULL))));

-- Name: followed_authors; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.followed_authors ENABLE ROW LEVEL SECURITY;

-- Name: oauth_requests forgetting; Type: POLICY; Schema: public; Owner: -

CREATE POLICY forgetting ON public.oauth_requests FOR DELETE TO bookplate_app USING ((user_id = public.app_user_id()));

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

-- Name: library_counts; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.library_counts ENABLE ROW LEVEL SECURITY;

-- Name: listed_books; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.listed_books ENABLE ROW LEVEL SECURITY;

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

-- Name: book_copies owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.book_copies TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

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

-- Name: feed_readers owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.feed_readers TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: followed_authors owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.followed_authors TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: identities owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.identities TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: import_failures owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.import_failures TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: imports owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.imports TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: library_counts owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.library_counts TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: listed_books owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.listed_books TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: moving_covers owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.moving_covers TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: notes owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.notes TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: oauth_grants owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.oauth_grants TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: progress_entries owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.progress_entries TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reading_counts owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reading_counts TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reading_days owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reading_days TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reading_goals owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reading_goals TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reading_tombstones owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reading_tombstones TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reading_top_counts owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reading_top_counts TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reads owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reads TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: removed_covers owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.removed_covers TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: reviews owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.reviews TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: scans owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.scans TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: sessions owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.sessions TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: shared_links owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.shared_links TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: shelf_books owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.shelf_books TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: shelf_counts owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.shelf_counts TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: shelves owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.shelves TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: swipes owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.swipes TO bookplate_app USING ((user_id = public.app_user_id())) WITH CHECK ((user_id = public.app_user_id()));

-- Name: users owner_only; Type: POLICY; Schema: public; Owner: -

CREATE POLICY owner_only ON public.users TO bookplate_app USING (((id = public.app_user_id()) AND (tenant_id = public.app_tenant_id()))) WITH CHECK (((id = public.app_user_id()) AND (tenant_id = public.app_tenant_id())));

-- Name: persisted_queries; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.persisted_queries ENABLE ROW LEVEL SECURITY;

-- Name: progress_entries; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.progress_entries ENABLE ROW LEVEL SECURITY;

-- Name: rate_buckets; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.rate_buckets ENABLE ROW LEVEL SECURITY;

-- Name: readers_to_collect; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.readers_to_collect ENABLE ROW LEVEL SECURITY;

-- Name: reading_counts; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_counts ENABLE ROW LEVEL SECURITY;

-- Name: reading_days; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_days ENABLE ROW LEVEL SECURITY;

-- Name: reading_goals; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_goals ENABLE ROW LEVEL SECURITY;

-- Name: reading_recounts; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_recounts ENABLE ROW LEVEL SECURITY;

-- Name: reading_tombstones; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_tombstones ENABLE ROW LEVEL SECURITY;

-- Name: reading_top_counts; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reading_top_counts ENABLE ROW LEVEL SECURITY;

-- Name: reads; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reads ENABLE ROW LEVEL SECURITY;

-- Name: removed_covers; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.removed_covers ENABLE ROW LEVEL SECURITY;

-- Name: jobs repeating; Type: POLICY; Schema: public; Owner: -

CREATE POLICY repeating ON public.jobs AS RESTRICTIVE FOR UPDATE TO bookplate_app USING (((key IS NOT NULL) AND (state <> 'DEAD'::public.job_state)));

-- Name: reviews; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.reviews ENABLE ROW LEVEL SECURITY;

-- Name: scans; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.scans ENABLE ROW LEVEL SECURITY;

-- Name: schema_usage; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.schema_usage ENABLE ROW LEVEL SECURITY;

-- Name: checkpoints server; Type: POLICY; Schema: public; Owner: -

CREATE POLICY server ON public.checkpoints TO bookplate_app USING ((task = 'storage.sweep'::text)) WITH CHECK ((task = 'storage.sweep'::text));

-- Name: object_writes server; Type: POLICY; Schema: public; Owner: -

CREATE POLICY server ON public.object_writes TO bookplate_app USING (true) WITH CHECK (true);

-- Name: timelines server; Type: POLICY; Schema: public; Owner: -

CREATE POLICY server ON public.timelines TO bookplate_app USING (true) WITH CHECK (true);

-- Name: sessions; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.sessions ENABLE ROW LEVEL SECURITY;

-- Name: shared_links; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.shared_links ENABLE ROW LEVEL SECURITY;

-- Name: shelf_books; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.shelf_books ENABLE ROW LEVEL SECURITY;

-- Name: shelf_counts; Type: ROW SECURITY; Schema: public; Owner: -

ALTER TABLE public.shelf_counts ENABLE ROW LEVEL SECURITY;

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

-- Name: TABLE reads; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reads TO bookplate_app;

-- Name: FUNCTION add_read_count(owner uuid, sign integer, changed public.reads); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.add_read_count(owner uuid, sign integer, changed public.reads) FROM PUBLIC;

-- Name: FUNCTION add_read_counts(owner uuid, old_reads public.reads[], new_reads public.reads[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.add_read_counts(owner uuid, old_reads public.reads[], new_reads public.reads[]) FROM PUBLIC;

-- Name: FUNCTION add_reading_days(owner uuid, days date[], differences integer[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.add_reading_days(owner uuid, days date[], differences integer[]) FROM PUBLIC;

-- Name: FUNCTION add_work_signals(numbers bigint[], counts integer[], voices bigint[], recents numeric[], changes bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.add_work_signals(numbers bigint[], counts integer[], voices bigint[], recents numeric[], changes bigint[]) FROM PUBLIC;

-- Name: FUNCTION adopt_guest(guest uuid, guest_session uuid, OUT user_id uuid, OUT outcome text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.adopt_guest(guest uuid, guest_session uuid, OUT user_id uuid, OUT outcome text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.adopt_guest(guest uuid, guest_session uuid, OUT user_id uuid, OUT outcome text) TO bookplate_app;

-- Name: FUNCTION analyze_libraries(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.analyze_libraries() FROM PUBLIC;
GRANT ALL ON FUNCTION public.analyze_libraries() TO bookplate_app;

-- Name: FUNCTION append_change(owner uuid, change public.change_kind, typename text, object uuid, old_xmin xid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.append_change(owner uuid, change public.change_kind, typename text, object uuid, old_xmin xid) FROM PUBLIC;

-- Name: FUNCTION append_changes(owner uuid, change public.change_kind, typename text, ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.append_changes(owner uuid, change public.change_kind, typename text, ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION append_first_changes(owner uuid, change public.change_kind, typename text, object uuid, book uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.append_first_changes(owner uuid, change public.change_kind, typename text, object uuid, book uuid) FROM PUBLIC;

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

-- Name: FUNCTION books_of_person(person uuid, name text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.books_of_person(person uuid, name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.books_of_person(person uuid, name text) TO bookplate_app;

-- Name: FUNCTION books_with_keys(owner uuid, query tsquery, rows_max integer, ranks integer[], patterns text[], signs text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.books_with_keys(owner uuid, query tsquery, rows_max integer, ranks integer[], patterns text[], signs text) FROM PUBLIC;

-- Name: FUNCTION books_with_most_words(owner uuid, words text[], rows_max integer, ranks integer[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.books_with_most_words(owner uuid, words text[], rows_max integer, ranks integer[]) FROM PUBLIC;

-- Name: FUNCTION books_with_similar_words(owner uuid, words text[], terms text[], rows_max integer, ranks integer[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.books_with_similar_words(owner uuid, words text[], terms text[], rows_max integer, ranks integer[]) FROM PUBLIC;

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

-- Name: FUNCTION claim_jobs(kinds text[], capacities integer[], background_capacities integer[], reader_capacities integer[], worker text, lease_ms integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.claim_jobs(kinds text[], capacities integer[], background_capacities integer[], reader_capacities integer[], worker text, lease_ms integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_jobs(kinds text[], capacities integer[], background_capacities integer[], reader_capacities integer[], worker text, lease_ms integer) TO bookplate_app;

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

-- Name: FUNCTION count_catalog(is_everything boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_catalog(is_everything boolean) FROM PUBLIC;

-- Name: TABLE covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.covers TO bookplate_app;

-- Name: FUNCTION count_covers(stored public.covers[], sign integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_covers(stored public.covers[], sign integer) FROM PUBLIC;

-- Name: FUNCTION count_guests(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_guests() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_guests() TO bookplate_app;

-- Name: FUNCTION count_jobs(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_jobs() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_jobs() TO bookplate_app;

-- Name: FUNCTION count_listed_book(owner uuid, old_rank smallint, new_rank smallint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_listed_book(owner uuid, old_rank smallint, new_rank smallint) FROM PUBLIC;

-- Name: FUNCTION count_moving_covers(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_moving_covers() FROM PUBLIC;

-- Name: TABLE reviews; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reviews TO bookplate_app;

-- Name: FUNCTION count_ratings(owner uuid, old_reviews public.reviews[], new_reviews public.reviews[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_ratings(owner uuid, old_reviews public.reviews[], new_reviews public.reviews[]) FROM PUBLIC;

-- Name: FUNCTION count_reading_days(owner uuid, old_times timestamp with time zone[], new_times timestamp with time zone[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_reading_days(owner uuid, old_times timestamp with time zone[], new_times timestamp with time zone[]) FROM PUBLIC;

-- Name: FUNCTION count_reads(owner uuid, old_reads public.reads[], new_reads public.reads[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_reads(owner uuid, old_reads public.reads[], new_reads public.reads[]) FROM PUBLIC;

-- Name: FUNCTION count_webhooks(OUT enabled bigint, OUT paused bigint, OUT disabled bigint, OUT waiting bigint, OUT dead bigint, OUT oldest_seconds bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.count_webhooks(OUT enabled bigint, OUT paused bigint, OUT disabled bigint, OUT waiting bigint, OUT dead bigint, OUT oldest_seconds bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_webhooks(OUT enabled bigint, OUT paused bigint, OUT disabled bigint, OUT waiting bigint, OUT dead bigint, OUT oldest_seconds bigint) TO bookplate_app;

-- Name: FUNCTION create_account(new_user uuid, email text, display_name text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.create_account(new_user uuid, email text, display_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.create_account(new_user uuid, email text, display_name text) TO bookplate_app;

-- Name: TABLE oauth_requests; Type: ACL; Schema: public; Owner: -

GRANT DELETE ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.id; Type: ACL; Schema: public; Owner: -

GRANT SELECT(id) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.tenant_id; Type: ACL; Schema: public; Owner: -

GRANT SELECT(tenant_id) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.client_id; Type: ACL; Schema: public; Owner: -

GRANT SELECT(client_id) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.user_code; Type: ACL; Schema: public; Owner: -

GRANT SELECT(user_code) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.scopes; Type: ACL; Schema: public; Owner: -

GRANT SELECT(scopes),UPDATE(scopes) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.redirect_uri; Type: ACL; Schema: public; Owner: -

GRANT SELECT(redirect_uri) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.created_at; Type: ACL; Schema: public; Owner: -

GRANT SELECT(created_at) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.expires_at; Type: ACL; Schema: public; Owner: -

GRANT SELECT(expires_at) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.user_id; Type: ACL; Schema: public; Owner: -

GRANT SELECT(user_id),UPDATE(user_id) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.is_allowed; Type: ACL; Schema: public; Owner: -

GRANT SELECT(is_allowed),UPDATE(is_allowed) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.code_hash; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(code_hash) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: COLUMN oauth_requests.grant_id; Type: ACL; Schema: public; Owner: -

GRANT SELECT(grant_id) ON TABLE public.oauth_requests TO bookplate_app;

-- Name: FUNCTION decide_works(decided public.work_decision_kind, ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.decide_works(decided public.work_decision_kind, ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION delete_changes(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.delete_changes() FROM PUBLIC;

-- Name: FUNCTION delete_removed_covers(user_ids uuid[], book_ids uuid[], versions text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.delete_removed_covers(user_ids uuid[], book_ids uuid[], versions text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_removed_covers(user_ids uuid[], book_ids uuid[], versions text[]) TO bookplate_app;

-- Name: FUNCTION due_webhook_deliveries(webhook uuid, excluded uuid[], rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.due_webhook_deliveries(webhook uuid, excluded uuid[], rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.due_webhook_deliveries(webhook uuid, excluded uuid[], rows_max integer) TO bookplate_app;

-- Name: FUNCTION end_oauth_grant(client uuid, owner uuid, of_grant uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.end_oauth_grant(client uuid, owner uuid, of_grant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_oauth_grant(client uuid, owner uuid, of_grant uuid) TO bookplate_app;

-- Name: FUNCTION end_overdue_cover_waits(seconds integer, users_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.end_overdue_cover_waits(seconds integer, users_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_overdue_cover_waits(seconds integer, users_max integer) TO bookplate_app;

-- Name: FUNCTION end_webhook_user(tenant uuid, owner uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.end_webhook_user(tenant uuid, owner uuid) FROM PUBLIC;

-- Name: FUNCTION ended_sessions(users uuid[], ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.ended_sessions(users uuid[], ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.ended_sessions(users uuid[], ids uuid[]) TO bookplate_app;

-- Name: FUNCTION enqueue_due_decks(readers_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.enqueue_due_decks(readers_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.enqueue_due_decks(readers_max integer) TO bookplate_app;

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

-- Name: FUNCTION first_jobs_of_readers(kind text, readers_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.first_jobs_of_readers(kind text, readers_max integer) FROM PUBLIC;

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

-- Name: FUNCTION is_counted_later(owner uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.is_counted_later(owner uuid) FROM PUBLIC;

-- Name: FUNCTION is_stored_version(user_id uuid, book_id uuid, version text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.is_stored_version(user_id uuid, book_id uuid, version text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.is_stored_version(user_id uuid, book_id uuid, version text) TO bookplate_app;

-- Name: FUNCTION keep_cold_start_decks(languages text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.keep_cold_start_decks(languages text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_cold_start_decks(languages text[]) TO bookplate_app;

-- Name: FUNCTION leave_up_next(owner uuid, book uuid, new_status public.reading_status); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.leave_up_next(owner uuid, book uuid, new_status public.reading_status) FROM PUBLIC;

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

-- Name: FUNCTION list_imported_books(ids uuid[], ratings smallint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.list_imported_books(ids uuid[], ratings smallint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.list_imported_books(ids uuid[], ratings smallint[]) TO bookplate_app;

-- Name: TABLE book_copies; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.book_copies TO bookplate_app;

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

-- Name: FUNCTION log_copies(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_copies() FROM PUBLIC;

-- Name: FUNCTION log_created_book(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_created_book() FROM PUBLIC;

-- Name: FUNCTION log_deleted_books(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_deleted_books() FROM PUBLIC;

-- Name: FUNCTION log_deleted_progress(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_deleted_progress() FROM PUBLIC;

-- Name: FUNCTION log_follows(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_follows() FROM PUBLIC;

-- Name: FUNCTION log_note(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_note() FROM PUBLIC;

-- Name: FUNCTION log_note_counts(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_note_counts() FROM PUBLIC;

-- Name: FUNCTION log_positions(owner uuid, books uuid[], reads uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_positions(owner uuid, books uuid[], reads uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.log_positions(owner uuid, books uuid[], reads uuid[]) TO bookplate_app;

-- Name: FUNCTION log_read_of_book(change public.change_kind, read uuid, book uuid, version tid, old_status public.reading_status, new_status public.reading_status, finished timestamp with time zone); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_read_of_book(change public.change_kind, read uuid, book uuid, version tid, old_status public.reading_status, new_status public.reading_status, finished timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.log_read_of_book(change public.change_kind, read uuid, book uuid, version tid, old_status public.reading_status, new_status public.reading_status, finished timestamp with time zone) TO bookplate_app;

-- Name: FUNCTION log_reading_goal(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_reading_goal() FROM PUBLIC;

-- Name: FUNCTION log_reads(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_reads() FROM PUBLIC;

-- Name: FUNCTION log_reviews(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.log_reviews() FROM PUBLIC;

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

-- Name: FUNCTION open_shared_link(given_hash bytea, OUT owner uuid, OUT shelf uuid, OUT review uuid, OUT note uuid, OUT of_year integer, OUT app text, OUT reader text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.open_shared_link(given_hash bytea, OUT owner uuid, OUT shelf uuid, OUT review uuid, OUT note uuid, OUT of_year integer, OUT app text, OUT reader text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.open_shared_link(given_hash bytea, OUT owner uuid, OUT shelf uuid, OUT review uuid, OUT note uuid, OUT of_year integer, OUT app text, OUT reader text) TO bookplate_app;

-- Name: FUNCTION pending_events(rows_max integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.pending_events(rows_max integer) FROM PUBLIC;

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

-- Name: FUNCTION record_token_uses(users uuid[], ids uuid[], seconds bigint[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.record_token_uses(users uuid[], ids uuid[], seconds bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_token_uses(users uuid[], ids uuid[], seconds bigint[]) TO bookplate_app;

-- Name: FUNCTION recount_days_of_zone(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.recount_days_of_zone() FROM PUBLIC;

-- Name: FUNCTION recount_library(owner uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.recount_library(owner uuid) FROM PUBLIC;

-- Name: FUNCTION recount_reading(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.recount_reading() FROM PUBLIC;

-- Name: FUNCTION recount_reading_days(owner uuid, zone text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.recount_reading_days(owner uuid, zone text) FROM PUBLIC;

-- Name: FUNCTION refresh_feed(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_feed() FROM PUBLIC;
GRANT ALL ON FUNCTION public.refresh_feed() TO bookplate_app;

-- Name: FUNCTION refresh_genres(is_import boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_genres(is_import boolean) FROM PUBLIC;

-- Name: FUNCTION refresh_oauth_grant(client uuid, owner uuid, of_grant uuid, given_hash bytea, successor_hash bytea, grace_seconds integer, requested public.access_scope[], new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, OUT outcome text, OUT stored_hash bytea, OUT stored_generation integer, OUT scopes text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_oauth_grant(client uuid, owner uuid, of_grant uuid, given_hash bytea, successor_hash bytea, grace_seconds integer, requested public.access_scope[], new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, OUT outcome text, OUT stored_hash bytea, OUT stored_generation integer, OUT scopes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.refresh_oauth_grant(client uuid, owner uuid, of_grant uuid, given_hash bytea, successor_hash bytea, grace_seconds integer, requested public.access_scope[], new_token uuid, new_hash bytea, new_last_characters text, token_seconds integer, OUT outcome text, OUT stored_hash bytea, OUT stored_generation integer, OUT scopes text[]) TO bookplate_app;

-- Name: FUNCTION refresh_popularity(changed uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.refresh_popularity(changed uuid[]) FROM PUBLIC;

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

-- Name: FUNCTION relist_texts(owner uuid, book uuid, added timestamp with time zone, title text, author text, language text, searched text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.relist_texts(owner uuid, book uuid, added timestamp with time zone, title text, author text, language text, searched text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.relist_texts(owner uuid, book uuid, added timestamp with time zone, title text, author text, language text, searched text) TO bookplate_app;

-- Name: FUNCTION remove_similar(ids uuid[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.remove_similar(ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION renew_jobs(ids uuid[], fences integer[], lease_ms integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.renew_jobs(ids uuid[], fences integer[], lease_ms integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.renew_jobs(ids uuid[], fences integer[], lease_ms integer) TO bookplate_app;

-- Name: FUNCTION replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores double precision[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores double precision[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.replace_similar(sources bigint[], learned bigint[], froms bigint[], tos bigint[], scores double precision[]) TO bookplate_app;

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

-- Name: FUNCTION save_edition(isbn13 text, title text, subtitle text, authors text[], author_roles text[], publisher text, published_date text, page_count integer, language text, subjects text[], description text, hook text, cover_links text[], sources text[], keys text[], work_sources text[], work_keys text[], series text, series_position text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.save_edition(isbn13 text, title text, subtitle text, authors text[], author_roles text[], publisher text, published_date text, page_count integer, language text, subjects text[], description text, hook text, cover_links text[], sources text[], keys text[], work_sources text[], work_keys text[], series text, series_position text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.save_edition(isbn13 text, title text, subtitle text, authors text[], author_roles text[], publisher text, published_date text, page_count integer, language text, subjects text[], description text, hook text, cover_links text[], sources text[], keys text[], work_sources text[], work_keys text[], series text, series_position text) TO bookplate_app;

-- Name: FUNCTION save_work_keys(ids uuid[], sources text[], keys text[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.save_work_keys(ids uuid[], sources text[], keys text[]) FROM PUBLIC;

-- Name: FUNCTION schedule_webhook_delivery(webhook uuid, owner uuid); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.schedule_webhook_delivery(webhook uuid, owner uuid) FROM PUBLIC;

-- Name: TABLE listed_books; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.listed_books TO bookplate_app;

-- Name: FUNCTION search_books(search text, rows_max integer, has_ratings boolean, ranks integer[]); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.search_books(search text, rows_max integer, has_ratings boolean, ranks integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.search_books(search text, rows_max integer, has_ratings boolean, ranks integer[]) TO bookplate_app;

-- Name: FUNCTION search_notes(search text, of_color public.label_color); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.search_notes(search text, of_color public.label_color) FROM PUBLIC;
GRANT ALL ON FUNCTION public.search_notes(search text, of_color public.label_color) TO bookplate_app;

-- Name: FUNCTION set_edition_cover(id uuid, version text, width integer, height integer, dominant_color text, blur_hash text); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.set_edition_cover(id uuid, version text, width integer, height integer, dominant_color text, blur_hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_edition_cover(id uuid, version text, width integer, height integer, dominant_color text, blur_hash text) TO bookplate_app;

-- Name: FUNCTION set_oauth_code(request uuid, new_hash bytea, lifetime_seconds integer); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.set_oauth_code(request uuid, new_hash bytea, lifetime_seconds integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_oauth_code(request uuid, new_hash bytea, lifetime_seconds integer) TO bookplate_app;

-- Name: FUNCTION settle_webhook_delivery(webhook uuid, owner uuid, delivery uuid, is_delivered boolean, status integer, message text, retry_after_ms bigint, is_gone boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.settle_webhook_delivery(webhook uuid, owner uuid, delivery uuid, is_delivered boolean, status integer, message text, retry_after_ms bigint, is_gone boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.settle_webhook_delivery(webhook uuid, owner uuid, delivery uuid, is_delivered boolean, status integer, message text, retry_after_ms bigint, is_gone boolean) TO bookplate_app;

-- Name: FUNCTION share_rates(kinds smallint[], keys uuid[], costs bigint[], at timestamp with time zone); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.share_rates(kinds smallint[], keys uuid[], costs bigint[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.share_rates(kinds smallint[], keys uuid[], costs bigint[], at timestamp with time zone) TO bookplate_app;

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

-- Name: FUNCTION store_cold_start_deck(language text, editions uuid[], version bigint); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.store_cold_start_deck(language text, editions uuid[], version bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.store_cold_start_deck(language text, editions uuid[], version bigint) TO bookplate_app;

-- Name: FUNCTION subtract_collected_signals(); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.subtract_collected_signals() FROM PUBLIC;

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

-- Name: FUNCTION works_to_learn(only_due boolean); Type: ACL; Schema: public; Owner: -

REVOKE ALL ON FUNCTION public.works_to_learn(only_due boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.works_to_learn(only_due boolean) TO bookplate_app;

-- Name: TABLE access_tokens; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.access_tokens TO bookplate_app;

-- Name: TABLE account_tombstones; Type: ACL; Schema: public; Owner: -

GRANT INSERT ON TABLE public.account_tombstones TO bookplate_app;

-- Name: COLUMN account_tombstones.user_hash; Type: ACL; Schema: public; Owner: -

GRANT SELECT(user_hash) ON TABLE public.account_tombstones TO bookplate_app;

-- Name: COLUMN account_tombstones.session_hash; Type: ACL; Schema: public; Owner: -

GRANT SELECT(session_hash),UPDATE(session_hash) ON TABLE public.account_tombstones TO bookplate_app;

-- Name: COLUMN account_tombstones.deleted_at; Type: ACL; Schema: public; Owner: -

GRANT SELECT(deleted_at) ON TABLE public.account_tombstones TO bookplate_app;

-- Name: COLUMN account_tombstones.books; Type: ACL; Schema: public; Owner: -

GRANT SELECT(books) ON TABLE public.account_tombstones TO bookplate_app;

-- Name: COLUMN account_tombstones.reviews; Type: ACL; Schema: public; Owner: -

GRANT SELECT(reviews) ON TABLE public.account_tombstones TO bookplate_app;

-- Name: COLUMN account_tombstones.covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT(covers) ON TABLE public.account_tombstones TO bookplate_app;

-- Name: COLUMN account_tombstones.apple_token_revoked; Type: ACL; Schema: public; Owner: -

GRANT SELECT(apple_token_revoked),UPDATE(apple_token_revoked) ON TABLE public.account_tombstones TO bookplate_app;

-- Name: TABLE apple_grants; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.apple_grants TO bookplate_app;

-- Name: TABLE apple_notifications; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.apple_notifications TO bookplate_app;

-- Name: TABLE authors; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.authors TO bookplate_app;

-- Name: TABLE books; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.books TO bookplate_app;

-- Name: TABLE catalog_languages; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.catalog_languages TO bookplate_app;

-- Name: TABLE changes; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.changes TO bookplate_app;

-- Name: TABLE checkpoints; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.checkpoints TO bookplate_app;

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

-- Name: COLUMN editions.cover_version; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(cover_version) ON TABLE public.editions TO bookplate_app;

-- Name: COLUMN editions.cover_width; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(cover_width) ON TABLE public.editions TO bookplate_app;

-- Name: COLUMN editions.cover_height; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(cover_height) ON TABLE public.editions TO bookplate_app;

-- Name: COLUMN editions.cover_dominant_color; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(cover_dominant_color) ON TABLE public.editions TO bookplate_app;

-- Name: COLUMN editions.cover_blur_hash; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(cover_blur_hash) ON TABLE public.editions TO bookplate_app;

-- Name: COLUMN editions.cover_due_at; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(cover_due_at) ON TABLE public.editions TO bookplate_app;

-- Name: COLUMN editions.cover_failures; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(cover_failures) ON TABLE public.editions TO bookplate_app;

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

-- Name: TABLE feed_readers; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,UPDATE ON TABLE public.feed_readers TO bookplate_app;

-- Name: TABLE feed_state; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.feed_state TO bookplate_app;

-- Name: TABLE followed_authors; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.followed_authors TO bookplate_app;

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

-- Name: COLUMN jobs.id; Type: ACL; Schema: public; Owner: -

GRANT SELECT(id) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.user_id; Type: ACL; Schema: public; Owner: -

GRANT SELECT(user_id),INSERT(user_id) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.kind; Type: ACL; Schema: public; Owner: -

GRANT SELECT(kind),INSERT(kind) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.payload; Type: ACL; Schema: public; Owner: -

GRANT INSERT(payload),UPDATE(payload) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.key; Type: ACL; Schema: public; Owner: -

GRANT SELECT(key),INSERT(key) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.state; Type: ACL; Schema: public; Owner: -

GRANT SELECT(state) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.priority; Type: ACL; Schema: public; Owner: -

GRANT SELECT(priority),INSERT(priority),UPDATE(priority) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.run_at; Type: ACL; Schema: public; Owner: -

GRANT SELECT(run_at),INSERT(run_at),UPDATE(run_at) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.attempts; Type: ACL; Schema: public; Owner: -

GRANT SELECT(attempts),UPDATE(attempts) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.attempts_max; Type: ACL; Schema: public; Owner: -

GRANT SELECT(attempts_max),INSERT(attempts_max),UPDATE(attempts_max) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.again; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(again) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.every; Type: ACL; Schema: public; Owner: -

GRANT SELECT(every),INSERT(every),UPDATE(every) ON TABLE public.jobs TO bookplate_app;

-- Name: COLUMN jobs.updated_at; Type: ACL; Schema: public; Owner: -

GRANT SELECT(updated_at),UPDATE(updated_at) ON TABLE public.jobs TO bookplate_app;

-- Name: TABLE library_counts; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.library_counts TO bookplate_app;

-- Name: TABLE moving_covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.moving_covers TO bookplate_app;

-- Name: TABLE notes; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notes TO bookplate_app;

-- Name: TABLE oauth_clients; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.oauth_clients TO bookplate_app;

-- Name: TABLE oauth_grants; Type: ACL; Schema: public; Owner: -

GRANT SELECT,DELETE ON TABLE public.oauth_grants TO bookplate_app;

-- Name: TABLE object_writes; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.object_writes TO bookplate_app;

-- Name: TABLE progress_entries; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.progress_entries TO bookplate_app;

-- Name: TABLE work_records; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.work_records TO bookplate_app;

-- Name: TABLE reader_signals; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.reader_signals TO bookplate_app;

-- Name: TABLE reading_counts; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.reading_counts TO bookplate_app;

-- Name: TABLE reading_days; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.reading_days TO bookplate_app;

-- Name: TABLE reading_goals; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reading_goals TO bookplate_app;

-- Name: TABLE reading_tombstones; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reading_tombstones TO bookplate_app;

-- Name: TABLE reading_top_counts; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.reading_top_counts TO bookplate_app;

-- Name: TABLE removed_covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.removed_covers TO bookplate_app;

-- Name: TABLE removed_editions; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.removed_editions TO bookplate_app;

-- Name: TABLE scans; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.scans TO bookplate_app;

-- Name: TABLE schema_migrations; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.schema_migrations TO bookplate_app;

-- Name: TABLE schema_states; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.schema_states TO bookplate_app;

-- Name: TABLE search_aliases; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.search_aliases TO bookplate_app;

-- Name: TABLE search_words; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.search_words TO bookplate_app;

-- Name: TABLE series; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.series TO bookplate_app;

-- Name: TABLE sessions; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sessions TO bookplate_app;

-- Name: TABLE shared_links; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.shared_links TO bookplate_app;

-- Name: TABLE shelf_books; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE ON TABLE public.shelf_books TO bookplate_app;

-- Name: COLUMN shelf_books."position"; Type: ACL; Schema: public; Owner: -

GRANT UPDATE("position") ON TABLE public.shelf_books TO bookplate_app;

-- Name: TABLE shelf_counts; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.shelf_counts TO bookplate_app;

-- Name: TABLE shelves; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.shelves TO bookplate_app;

-- Name: TABLE source_misses; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT ON TABLE public.source_misses TO bookplate_app;

-- Name: COLUMN source_misses.expires_at; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(expires_at) ON TABLE public.source_misses TO bookplate_app;

-- Name: TABLE source_searches; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT ON TABLE public.source_searches TO bookplate_app;

-- Name: COLUMN source_searches.expires_at; Type: ACL; Schema: public; Owner: -

GRANT UPDATE(expires_at) ON TABLE public.source_searches TO bookplate_app;

-- Name: TABLE stored_covers; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.stored_covers TO bookplate_app;

-- Name: TABLE tenant_storage; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.tenant_storage TO bookplate_app;

-- Name: TABLE tenants; Type: ACL; Schema: public; Owner: -

GRANT SELECT ON TABLE public.tenants TO bookplate_app;

-- Name: TABLE timelines; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT ON TABLE public.timelines TO bookplate_app;

-- Name: TABLE users; Type: ACL; Schema: public; Owner: -

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.users TO bookplate_app;
