-- requires: accounts, audit, covers, deleted_books, imports, reads, works
-- Guests: users without an identity. Their limits, their upgrade to accounts, their deletion, and the move of their covers. The
-- merge of their libraries is in merges.sql.

-- MARK: Limits

-- Refuses a book that a guest's library has no room for. The repeated creation of a book is not refused.
CREATE OR REPLACE FUNCTION limit_guest_books(owner uuid, new_book uuid) RETURNS void
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
        RAISE EXCEPTION 'GUEST_BOOKS' USING ERRCODE = 'BP413', DETAIL = books_max;
    END IF;
END
$$;

-- Returns the words of a book for a search, and after a line break those words of its edition that are not among them.
CREATE OR REPLACE FUNCTION with_words_of_edition(text_of_book text, text_of_edition text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    words text := (
        SELECT string_agg(w.word, ' ' ORDER BY w.position)
        FROM (
            SELECT word, min(position) AS position
            FROM string_to_table(left(text_of_edition, 2000), ' ') WITH ORDINALITY AS e (word, position)
            WHERE word <> ALL(string_to_array(text_of_book, ' '))
            GROUP BY word
        ) w
    );
BEGIN
    RETURN concat_ws(E' \n ', text_of_book, words);
END
$$;

-- Computes the columns of a book that follow from others, copies changed facts to its reads, and limits the books of guests. The page
-- of the reader follows from the newest progress, so it is another one if that is a part of a book with another number of pages.
--
-- A book from a card usually has the facts of its edition, whose columns were computed by the same functions. Copying them saves a tenth
-- of the instructions of a new book. PL/pgSQL prepares all operators of an expression that it reaches, so conditions for updates are last.
CREATE OR REPLACE FUNCTION set_computed_columns() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
    text_of_edition text;
    authors_of_edition uuid[];
    card_of_edition text;
    has_facts_of_edition boolean;
    page_of_progress int;
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- Few users are guests, and the function takes four times as long as this query.
        PERFORM
        FROM public.users u
        WHERE u.id = NEW.user_id AND u.is_guest;
        IF FOUND THEN
            ignored := public.limit_guest_books(NEW.user_id, NEW.id);
        END IF;
    END IF;
    IF NEW.edition_id IS NOT NULL THEN
        SELECT
            e.search_text,
            e.author_ids,
            e.title_card_version,
            e.title = NEW.title
                AND e.authors = NEW.authors
                AND e.subtitle IS NOT DISTINCT FROM NEW.subtitle
                AND e.genres[1] IS NOT DISTINCT FROM NEW.genre
                AND num_nonnulls(e.authors[2], e.series, e.series_position, NEW.series, NEW.series_position) = 0
        INTO text_of_edition, authors_of_edition, card_of_edition, has_facts_of_edition
        FROM public.editions e
        WHERE e.id = NEW.edition_id;
    END IF;
    IF has_facts_of_edition THEN
        NEW.author := NEW.authors[1];
        NEW.author_ids := authors_of_edition;
        NEW.series_id := NULL;
        NEW.search_text := text_of_edition;
        NEW.title_card_version := card_of_edition;
    ELSE
        NEW.author := public.author_text(NEW.authors, NEW.author_roles);
        NEW.author_ids := public.author_ids(NEW.authors);
        NEW.series_id := public.series_id(NEW.series);
        NEW.search_text := public.search_text(NEW.title, NEW.subtitle, NEW.series, NEW.series_position, NEW.authors);
        IF text_of_edition <> NEW.search_text THEN
            NEW.search_text := public.with_words_of_edition(NEW.search_text, text_of_edition);
        END IF;
        NEW.title_card_version := public.title_card_version(NEW.title, NEW.author, NEW.genre);
    END IF;
    IF TG_OP = 'INSERT' THEN
        RETURN NEW;
    END IF;
    IF NEW.search_text <> OLD.search_text
        OR NEW.title <> OLD.title
        OR NEW.author IS DISTINCT FROM OLD.author
        OR NEW.language IS DISTINCT FROM OLD.language
        OR NEW.added_at <> OLD.added_at
    THEN
        ignored := public.relist_texts(
            NEW.user_id, NEW.id, NEW.added_at, NEW.title, NEW.author, NEW.language, NEW.search_text
        );
    END IF;
    IF NEW.page_count IS DISTINCT FROM OLD.page_count
        OR NEW.genre IS DISTINCT FROM OLD.genre
        OR NEW.authors[1] IS DISTINCT FROM OLD.authors[1]
        OR NEW.moods <> OLD.moods
    THEN
        UPDATE public.reads r
        SET page_count = NEW.page_count,
            genre = NEW.genre,
            author_id = NEW.author_ids[1],
            author = left(NEW.authors[1], 200),
            moods = nullif(NEW.moods, '{}')
        WHERE r.user_id = NEW.user_id AND r.book_id = NEW.id;
        IF NEW.page_count IS DISTINCT FROM OLD.page_count THEN
            SELECT public.progress_page_of(p.page, p.percent, p.seconds, NEW.page_count, p.length_seconds) INTO page_of_progress
            FROM public.newest_progress(NEW.user_id, NEW.id) p;
            IF FOUND THEN
                NEW.current_page := page_of_progress;
            END IF;
            ignored := public.log_positions(NEW.user_id, ARRAY[NEW.id], NULL);
        END IF;
    END IF;
    RETURN NEW;
END
$$;

-- A trigger instead of generated columns, whose expressions PostgreSQL parses again for each update. The second line ends with the
-- computed columns, so that a statement cannot assign other values to them.
CREATE OR REPLACE TRIGGER set_computed_columns
BEFORE INSERT OR UPDATE OF
    title, subtitle, authors, author_roles, genre, series, series_position, page_count, language, added_at, edition_id,
    moods, author, author_ids, series_id, search_text, title_card_version
ON books
FOR EACH ROW
EXECUTE FUNCTION set_computed_columns();

-- MARK: Sign-in of guests

-- Gives the identity in app.subject to a guest, or merges the guest into the account of the identity. Returns the user of the
-- identity, or null if it has none and `guest` is not a guest: then the session is that of an account, or of a guest that an
-- earlier, identical request has merged. `outcome` is UPGRADED or MERGED, or null if nothing was changed.
--
-- The caller has called lock_identity, so only deletions can change the user of the identity while this waits for the locks.
-- definer: a merge works on two users, the guest and the account.
CREATE OR REPLACE FUNCTION adopt_guest(guest uuid, guest_session uuid, OUT user_id uuid, OUT outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
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

-- MARK: Inactive guests

-- Returns when a guest last refreshed a session or used an access token. Null if the user is not a guest.
CREATE OR REPLACE FUNCTION guest_last_active(guest uuid) RETURNS timestamptz
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

-- Examines at most `users_max` guests who were last known to be active before the given number of days, at least one. Returns how many it
-- has examined, and those of them that were not active since. Of the others, `users.guest_seen_at` is set, so that they are
-- examined again when they may be inactive.
-- definer: a job for all guests.
CREATE OR REPLACE FUNCTION inactive_guests(days int, users_max int, OUT examined int, OUT guests uuid[])
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
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

-- Sets app.user_id to a guest that is still inactive, and otherwise to no user.
-- definer: a job for all guests.
CREATE OR REPLACE FUNCTION begin_guest_deletion(guest uuid, days int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
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

-- Returns the number of guests of all tenants, for metrics.
-- definer: a metric of all guests.
CREATE OR REPLACE FUNCTION count_guests() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT count(*)
    FROM users u
    WHERE u.is_guest
$$;

-- MARK: Covers of merged guests

-- Returns covers of a merged guest whose files must be copied.
-- definer: a job of a guest that does not exist any more.
CREATE OR REPLACE FUNCTION moving_covers_of(guest uuid, covers_max int)
RETURNS TABLE (user_id uuid, book_id uuid, guest_book_id uuid, version text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT m.user_id, m.book_id, m.guest_book_id, m.cover ->> 'version'
    FROM moving_covers m
    WHERE m.guest_id = guest
    ORDER BY m.user_id, m.book_id
    LIMIT covers_max
$$;

-- Gives a copied cover to its book, or to the deleted book. Returns whether the copy is used: the book may have another cover by
-- now, or not exist any more, or the account or the tenant may have no room for it. A cover that the guest has chosen replaces one that a
-- search found. `version` is that of the copy, or null if there are no files.
-- definer: the job of a deleted guest writes the library of the account.
CREATE OR REPLACE FUNCTION finish_moving_cover(account uuid, account_book uuid, guest uuid, version text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
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
        SET cover_status = 'NO_COVER', cover_requested_at = NULL
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

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON moving_covers;
CREATE POLICY owner_only ON moving_covers TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON moving_covers;
CREATE POLICY administration ON moving_covers TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- The view `stored_covers` reads the table. Only functions write it.
GRANT SELECT ON moving_covers TO bookplate_app;

REVOKE ALL ON FUNCTION adopt_guest, inactive_guests, begin_guest_deletion, count_guests, moving_covers_of, finish_moving_cover
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION adopt_guest, inactive_guests, begin_guest_deletion, count_guests, moving_covers_of, finish_moving_cover
    TO bookplate_app;
