-- Moves of accounts between databases, for `bookplate-admin account move`. docs/decisions/account-moves.md explains them.
--
-- 1. In the database that the account leaves, `close_account` puts its sessions, tokens, and grants into a parcel: JSON in
--    `account_parcels`. New requests are refused. Running ones can still read, until the program has waited for their end.
-- 2. `pack_account` also puts all other rows into the parcel. From that commit on, no table has a row of the account, so no
--    request, job, or sweep can use it.
-- 3. The program copies the parcel to the other database, where `receive_account` turns it into rows, in one transaction.
-- 4. `finish_leaving` deletes the parcel.
--
-- Before step 3 has been committed, `return_account` undoes the steps before it.

-- MARK: Refusals

-- Whether the current transaction packs or unpacks an account. Triggers then record nothing, because for its owner nothing happens.
CREATE OR REPLACE FUNCTION is_moving_account() RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN coalesce(current_setting('app.moving', true) = 'on', false);
END
$$;

-- Fails if the account is leaving this database. Called only if a session or a token was not found.
CREATE OR REPLACE FUNCTION refuse_leaving_user(owner uuid) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM account_moves m WHERE m.user_id = owner AND m.state IN ('CLOSING', 'LEAVING')) THEN
        RAISE EXCEPTION 'the account is being moved to another database' USING ERRCODE = 'BP503';
    END IF;
END
$$;

-- Does the same for the account of an access token.
CREATE OR REPLACE FUNCTION refuse_leaving_token(given_hash bytea) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM account_moves m
        JOIN account_parcels p ON p.user_id = m.user_id AND p.table_name = 'access_tokens'
        WHERE m.state IN ('CLOSING', 'LEAVING')
            AND given_hash IN ((p.row ->> 'token_hash')::bytea, (p.row ->> 'kosync_hash')::bytea)
    ) THEN
        RAISE EXCEPTION 'the account is being moved to another database' USING ERRCODE = 'BP503';
    END IF;
END
$$;

-- Fails if the account of an identity has left this database, or is leaving it: a sign-in must not create a second account.
CREATE OR REPLACE FUNCTION refuse_moved_identity(tenant uuid, subject text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    found_state account_move_state;
BEGIN
    SELECT m.state INTO found_state
    FROM account_moves m
    WHERE m.identity_hashes @> ARRAY[sha256(convert_to(subject, 'UTF8'))]
        AND m.tenant_id = tenant
        AND m.state <> 'ARRIVED'
    LIMIT 1;
    IF found_state IN ('CLOSING', 'LEAVING') THEN
        RAISE EXCEPTION 'the account is being moved to another database' USING ERRCODE = 'BP503';
    ELSIF FOUND THEN
        RAISE EXCEPTION 'This account was moved to another server. Sign in there.' USING ERRCODE = 'BP409';
    END IF;
END
$$;

-- MARK: Tables

-- The tables with rows of users, in an order in which rows can be inserted: after the rows to which they refer, and after the rows
-- whose triggers would add some. `written_columns` are those that a trigger computes from the others, so they are neither copied nor
-- compared; generated columns are left out, too.
--
-- A new table with a column `user_id` belongs here, or into `rebuilt_tables`: AccountMoveTests checks it.
CREATE OR REPLACE FUNCTION moved_tables() RETURNS TABLE (number bigint, name text, key text, written_columns text[])
LANGUAGE sql STABLE
AS $$
    SELECT t.number, t.name, CASE t.name WHEN 'users' THEN 'id' ELSE 'user_id' END, t.written_columns::text[] || ARRAY(
        SELECT a.attname::text
        FROM pg_attribute a
        WHERE a.attrelid = t.name::regclass AND a.attgenerated <> ''
    )
    FROM ROWS FROM (
        unnest(
            ARRAY[
                'users', 'identities', 'sessions', 'apple_grants', 'oauth_grants', 'access_tokens', 'oauth_requests', 'shelves',
                'books', 'covers', 'shelf_books', 'reviews', 'reads', 'progress_entries', 'reading_days', 'reading_goals',
                'reading_tombstones', 'notes', 'deleted_books', 'ereader_documents', 'ereader_positions', 'swipes', 'imports',
                'import_failures', 'removed_covers', 'jobs', 'books_to_link', 'changes', 'events', 'webhook_positions',
                'webhook_deliveries'
            ],
            ARRAY[
                '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
                '{author,author_ids,series_id,search_text,title_card_version}'
            ]
        )
    ) WITH ORDINALITY AS t (name, written_columns, number)
$$;

-- The tables whose rows belong to one database, and which it writes again: decks of the feed, and the signals of readers by the
-- numbers of works. `moving_covers` must be empty.
CREATE OR REPLACE FUNCTION rebuilt_tables() RETURNS SETOF text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT unnest(ARRAY['collected_signals', 'feed_decks', 'moving_covers', 'readers_to_collect'])
$$;

-- MARK: Packing

-- Adds rows to a parcel. `condition` is SQL, in which `t` is the row and `$1` the user.
CREATE OR REPLACE FUNCTION pack_rows(owner uuid, source text, without text[], condition text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO account_parcels (user_id, table_name, number, row)
        SELECT $1, %1$L, f.last + row_number() OVER (), to_jsonb(t) - $2
        FROM %1$I t
        CROSS JOIN (
            SELECT coalesce(max(p.number), 0) AS last FROM account_parcels p WHERE p.user_id = $1 AND p.table_name = %1$L
        ) f
        WHERE %2$s',
        source, condition
    )
    USING owner, without;
END
$$;

-- Fails if covers of a merged guest are being copied to the account. Their files are in the guest's folder until then.
CREATE OR REPLACE FUNCTION refuse_moving_covers(owner uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM moving_covers c WHERE c.user_id = owner) THEN
        RAISE EXCEPTION 'the covers of a merged guest are being copied: try again in a minute' USING ERRCODE = 'BP409';
    END IF;
END
$$;

-- The tables whose rows let a request use an account, in the order of `moved_tables`.
CREATE OR REPLACE FUNCTION credential_tables() RETURNS SETOF text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT unnest(ARRAY['sessions', 'oauth_grants', 'access_tokens'])
$$;

-- Puts the sessions, tokens, and grants of an account into a parcel, so that new requests are refused.
CREATE OR REPLACE FUNCTION close_account(owner uuid, move uuid, destination uuid) RETURNS void
LANGUAGE plpgsql
-- The JSON of a value must not depend on the settings of a connection.
SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS $$
DECLARE
    tenant uuid;
BEGIN
    PERFORM lock_user(owner);
    SELECT u.tenant_id INTO tenant
    FROM users u
    WHERE u.id = owner
    FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no account %', owner USING ERRCODE = 'BP404';
    END IF;
    PERFORM refuse_moving_covers(owner);
    INSERT INTO account_moves AS m (user_id, move_id, tenant_id, state, other_installation, identity_hashes)
    VALUES (
        owner, move, tenant, 'CLOSING', destination,
        ARRAY(SELECT sha256(convert_to(i.subject, 'UTF8')) FROM identities i WHERE i.user_id = owner)
    )
    ON CONFLICT (user_id) DO UPDATE
    SET move_id = excluded.move_id,
        tenant_id = excluded.tenant_id,
        state = excluded.state,
        other_installation = excluded.other_installation,
        identity_hashes = excluded.identity_hashes,
        started_at = now(),
        ended_at = NULL;
    PERFORM pack_rows(owner, c.name, '{}', 't.user_id = $1') FROM credential_tables() AS c (name);
    PERFORM set_config('app.moving', 'on', true);
    DELETE FROM access_tokens t
    WHERE t.user_id = owner;
    DELETE FROM oauth_grants g
    WHERE g.user_id = owner;
    DELETE FROM sessions s
    WHERE s.user_id = owner;
    PERFORM set_config('app.moving', '', true);
END
$$;

-- Replaces all other rows of a closed account with the parcel, and returns the number of rows in it. Waits for the running
-- transactions of the user.
CREATE OR REPLACE FUNCTION pack_account(owner uuid, move uuid) RETURNS bigint
LANGUAGE plpgsql
SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS $$
DECLARE
    tenant uuid;
    moved record;
    has_rows boolean;
    row_count bigint;
BEGIN
    PERFORM lock_user(owner);
    PERFORM lock_webhook_queue(owner);
    UPDATE account_moves m
    SET state = 'LEAVING',
        identity_hashes = ARRAY(
            SELECT sha256(convert_to(i.subject, 'UTF8')) FROM identities i WHERE i.user_id = owner
        )
    FROM users u
    WHERE m.user_id = owner AND m.move_id = move AND m.state = 'CLOSING' AND u.id = owner
    RETURNING m.tenant_id INTO tenant;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is not closed', owner;
    END IF;
    PERFORM
    FROM users u
    WHERE u.id = owner
    FOR UPDATE;
    -- A guest may have been merged since the account was closed.
    PERFORM refuse_moving_covers(owner);

    -- A worker that runs a job of the account loses it, as if it were shutting down.
    UPDATE jobs j
    SET state = 'READY',
        attempts = greatest(0, j.attempts - 1),
        run_at = now(),
        worker = NULL,
        lease_until = NULL
    WHERE j.user_id = owner AND j.state = 'RUNNING';

    FOR moved IN SELECT * FROM moved_tables() t ORDER BY t.number LOOP
        PERFORM pack_rows(owner, moved.name, moved.written_columns, format('t.%I = $1', moved.key));
    END LOOP;
    SELECT count(*) INTO row_count
    FROM account_parcels p
    WHERE p.user_id = owner;

    PERFORM pack_rows(owner, 'tenants', '{}', format('t.id = %L', tenant));
    PERFORM pack_rows(owner, 'identity_providers', '{}', format('t.tenant_id = %L', tenant));
    PERFORM pack_rows(
        owner, 'oauth_clients', '{}',
        't.id IN (
            SELECT (p.row ->> ''client_id'')::uuid
            FROM account_parcels p
            WHERE p.user_id = $1 AND p.table_name IN (''oauth_grants'', ''oauth_requests'')
        )'
    );
    PERFORM pack_rows(
        owner, 'webhooks', '{}',
        't.id IN (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.user_id = $1)'
    );
    PERFORM pack_rows(
        owner, 'editions', uncopied_edition_columns(),
        't.id IN (
            SELECT b.edition_id FROM books b WHERE b.user_id = $1
            UNION
            SELECT s.edition_id FROM swipes s WHERE s.user_id = $1
        )'
    );
    PERFORM pack_rows(
        owner, names.name, '{}',
        't.edition_id IN (
            SELECT (p.row ->> ''id'')::uuid FROM account_parcels p WHERE p.user_id = $1 AND p.table_name = ''editions''
        )'
    )
    FROM unnest(ARRAY['edition_sources', 'edition_work_keys']) AS names (name);

    PERFORM set_config('app.moving', 'on', true);
    DELETE FROM users u
    WHERE u.id = owner;
    PERFORM set_config('app.moving', '', true);
    FOR moved IN
        SELECT t.name, t.key FROM moved_tables() t
        UNION ALL
        SELECT r.name, 'user_id' FROM rebuilt_tables() AS r (name)
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I t WHERE t.%I = $1)', moved.name, moved.key) INTO has_rows USING owner;
        IF has_rows THEN
            RAISE EXCEPTION 'rows of the account are left in the table %', moved.name;
        END IF;
    END LOOP;
    PERFORM record_audit_event(
        'ACCOUNT_LEFT', tenant, owner, NULL,
        (
            SELECT jsonb_build_object('move', move, 'installation', m.other_installation)
            FROM account_moves m
            WHERE m.user_id = owner
        )
    );
    RETURN row_count;
END
$$;

-- MARK: The catalog

-- The columns of an edition that belong to one database: its number, and its cover, which the other database downloads again.
CREATE OR REPLACE FUNCTION uncopied_edition_columns() RETURNS text[]
LANGUAGE sql STABLE
AS $$
    SELECT ARRAY[
            'number', 'cover_version', 'cover_width', 'cover_height', 'cover_dominant_color', 'cover_blur_hash', 'cover_due_at',
            'cover_failures'
        ] || ARRAY(
            SELECT a.attname::text
            FROM pg_attribute a
            WHERE a.attrelid = 'editions'::regclass AND a.attgenerated <> ''
        )
$$;

-- Inserts rows of a parcel and leaves out those whose key is in use. `condition` is SQL, in which `t` is the row, `p.row` its JSON,
-- and `$1` the user.
CREATE OR REPLACE FUNCTION unpack_rows(owner uuid, target text, without text[], condition text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    columns text;
    values text;
BEGIN
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), string_agg('t.' || quote_ident(a.attname), ', ' ORDER BY a.attnum)
    INTO columns, values
    FROM pg_attribute a
    WHERE a.attrelid = target::regclass
        AND a.attnum > 0
        AND NOT a.attisdropped
        AND NOT a.attname = ANY(without);
    EXECUTE format(
        'INSERT INTO %1$I (%2$s)
        OVERRIDING SYSTEM VALUE
        SELECT %3$s
        FROM account_parcels p
        CROSS JOIN LATERAL jsonb_populate_record(NULL::%1$I, p.row) t
        WHERE p.user_id = $1 AND p.table_name = %1$L AND (%4$s)
        ORDER BY p.number
        ON CONFLICT DO NOTHING',
        target, columns, values, condition
    )
    USING owner;
END
$$;

-- Finds the editions of a parcel in this catalog, and adds those that it lacks. Books and swipes of the parcel get the editions of
-- this catalog. Returns the books whose edition is another one, or none.
--
-- An edition is found by its id, or that of the record that has replaced it, then by its ISBN, and then by its id in another
-- catalog unless both have an ISBN, as in imports.
CREATE OR REPLACE FUNCTION unpack_editions(owner uuid) RETURNS uuid[]
LANGUAGE plpgsql
AS $$
DECLARE
    is_of_new_edition CONSTANT text := 'EXISTS (
        SELECT
        FROM account_parcels e
        WHERE e.user_id = $1
            AND e.table_name = ''editions''
            AND e.row ->> ''id'' = t.edition_id::text
            AND e.row ->> ''found_id'' IS NULL
    )';
    changed uuid[];
BEGIN
    WITH given AS MATERIALIZED (
        SELECT p.number, (p.row ->> 'id')::uuid AS id, p.row ->> 'isbn13' AS isbn13
        FROM account_parcels p
        WHERE p.user_id = owner AND p.table_name = 'editions'
    ), found_by_source AS MATERIALIZED (
        SELECT DISTINCT ON (g.id) g.id, e.id AS found_id
        FROM given g
        JOIN account_parcels s ON s.user_id = owner AND s.table_name = 'edition_sources' AND s.row ->> 'edition_id' = g.id::text
        JOIN edition_sources k ON k.source = s.row ->> 'source' AND k.key = s.row ->> 'key'
        JOIN editions e ON e.id = k.edition_id
        WHERE e.isbn13 IS NULL OR g.isbn13 IS NULL
        ORDER BY g.id, k.source
    )
    UPDATE account_parcels p
    SET row = p.row || jsonb_build_object(
        'found_id',
        coalesce(
            (SELECT e.id FROM editions e WHERE e.id = g.id),
            (SELECT r.survivor_id FROM removed_editions r JOIN editions e ON e.id = r.survivor_id WHERE r.id = g.id),
            (SELECT e.id FROM editions e WHERE e.isbn13 = g.isbn13),
            f.found_id
        )
    )
    FROM given g
    LEFT JOIN found_by_source f ON f.id = g.id
    WHERE p.user_id = owner AND p.table_name = 'editions' AND p.number = g.number;
    PERFORM unpack_rows(
        owner, 'editions', uncopied_edition_columns(), 'p.row ->> ''found_id'' IS NULL'
    );
    PERFORM unpack_rows(owner, 'edition_sources', '{}', is_of_new_edition);
    PERFORM save_work_keys(
        array_agg((p.row ->> 'edition_id')::uuid), array_agg(p.row ->> 'source'), array_agg(p.row ->> 'key')
    )
    FROM account_parcels p
    JOIN account_parcels e ON e.user_id = owner
        AND e.table_name = 'editions'
        AND e.row ->> 'id' = p.row ->> 'edition_id'
        AND e.row ->> 'found_id' IS NULL
    WHERE p.user_id = owner AND p.table_name = 'edition_work_keys'
    HAVING count(*) > 0;

    WITH found AS MATERIALIZED (
        SELECT p.row ->> 'id' AS id, p.row ->> 'found_id' AS found_id
        FROM account_parcels p
        WHERE p.user_id = owner AND p.table_name = 'editions'
    )
    UPDATE account_parcels p
    SET row = p.row || jsonb_build_object('edition_id', f.found_id)
    FROM found f
    WHERE p.user_id = owner
        AND p.table_name = 'swipes'
        AND f.id = p.row ->> 'edition_id'
        AND f.found_id <> f.id;
    WITH found AS MATERIALIZED (
        SELECT p.row ->> 'id' AS id, coalesce(p.row ->> 'found_id', p.row ->> 'id') AS found_id
        FROM account_parcels p
        WHERE p.user_id = owner AND p.table_name = 'editions'
    ), mapped AS (
        SELECT
            p.number,
            -- Two editions can be one in this catalog, but a library has it once.
            CASE
                WHEN row_number() OVER (
                    PARTITION BY f.found_id ORDER BY f.found_id <> f.id, p.row ->> 'added_at', p.number
                ) = 1 THEN f.found_id
            END AS edition_id
        FROM account_parcels p
        JOIN found f ON f.id = p.row ->> 'edition_id'
        WHERE p.user_id = owner AND p.table_name = 'books'
    ), updated AS (
        UPDATE account_parcels p
        SET row = p.row || jsonb_build_object('edition_id', m.edition_id)
        FROM mapped m
        WHERE p.user_id = owner
            AND p.table_name = 'books'
            AND p.number = m.number
            AND p.row ->> 'edition_id' IS DISTINCT FROM m.edition_id
        RETURNING (p.row ->> 'id')::uuid AS id
    )
    SELECT coalesce(array_agg(u.id), '{}') INTO changed
    FROM updated u;
    RETURN changed;
END
$$;

-- MARK: Unpacking

-- Inserts the rows of a parcel, and compares them with it. Fails if they differ. Returns the number of rows.
CREATE OR REPLACE FUNCTION unpack_account(owner uuid) RETURNS bigint
LANGUAGE plpgsql
SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS $$
DECLARE
    moved record;
    relinked uuid[];
    difference jsonb;
    row_count bigint;
BEGIN
    PERFORM lock_user(owner);
    PERFORM lock_webhook_queue(owner);
    IF EXISTS (SELECT FROM users u WHERE u.id = owner) THEN
        RAISE EXCEPTION 'the database already has the account %', owner USING ERRCODE = 'BP409';
    END IF;
    IF EXISTS (
        SELECT
        FROM account_parcels p
        JOIN tenants t ON t.slug = p.row ->> 'slug' AND t.id <> (p.row ->> 'id')::uuid
        WHERE p.user_id = owner AND p.table_name = 'tenants'
    ) THEN
        RAISE EXCEPTION 'the other database has another tenant with the same slug' USING ERRCODE = 'BP409';
    END IF;
    IF EXISTS (
        SELECT
        FROM account_parcels p
        JOIN identities i ON i.tenant_id = (p.row ->> 'tenant_id')::uuid AND i.subject = p.row ->> 'subject'
        WHERE p.user_id = owner AND p.table_name = 'identities'
    ) THEN
        RAISE EXCEPTION 'the other database has another account with the same identity' USING ERRCODE = 'BP409';
    END IF;
    PERFORM unpack_rows(owner, 'tenants', '{}', 'true');
    PERFORM unpack_rows(owner, 'identity_providers', '{}', 'true');
    PERFORM unpack_rows(owner, 'oauth_clients', '{}', 'true');
    PERFORM unpack_rows(owner, 'webhooks', '{}', 'true');
    relinked := unpack_editions(owner);

    PERFORM set_config('app.moving', 'on', true), set_config('app.bulk', 'on', true);
    FOR moved IN SELECT * FROM moved_tables() t ORDER BY t.number LOOP
        -- Triggers of earlier tables have added rows.
        EXECUTE format('DELETE FROM %I t WHERE t.%I = $1', moved.name, moved.key) USING owner;
        PERFORM unpack_rows(owner, moved.name, moved.written_columns, 'true');
    END LOOP;
    FOR moved IN SELECT * FROM moved_tables() t ORDER BY t.number LOOP
        EXECUTE format(
            'WITH stored AS MATERIALIZED (
                SELECT to_jsonb(t) - $2 AS row FROM %1$I t WHERE t.%2$I = $1
            ), packed AS MATERIALIZED (
                SELECT p.row FROM account_parcels p WHERE p.user_id = $1 AND p.table_name = %1$L
            )
            (SELECT s.row FROM stored s EXCEPT ALL SELECT p.row FROM packed p)
            UNION ALL
            (SELECT p.row FROM packed p EXCEPT ALL SELECT s.row FROM stored s)
            LIMIT 1',
            moved.name, moved.key
        )
        INTO difference
        USING owner, moved.written_columns;
        IF difference IS NOT NULL THEN
            RAISE EXCEPTION 'a row of the table % cannot be copied without a change', moved.name
                USING DETAIL = (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(difference) AS k);
        END IF;
    END LOOP;
    PERFORM set_config('app.moving', '', true), set_config('app.bulk', '', true);

    IF relinked <> '{}' THEN
        PERFORM append_changes(owner, 'UPDATED', 'Book', relinked);
    END IF;
    INSERT INTO readers_to_collect (user_id)
    VALUES (owner)
    ON CONFLICT DO NOTHING;
    SELECT count(*) INTO row_count
    FROM account_parcels p
    WHERE p.user_id = owner AND p.table_name IN (SELECT t.name FROM moved_tables() t);
    DELETE FROM account_parcels p
    WHERE p.user_id = owner;
    RETURN row_count;
END
$$;

-- Makes the next numbers of this database greater than those of a parcel, so that new rows of the account follow its old ones. The
-- numbers of a sequence are not part of a transaction. The distance is much larger than the number of values that other
-- transactions can take at the same time, so the sequence never goes back.
CREATE OR REPLACE FUNCTION advance_sequences(owner uuid) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    identity record;
    newest bigint;
    last bigint;
BEGIN
    FOR identity IN
        SELECT t.name, a.attname, pg_get_serial_sequence(t.name, a.attname) AS sequence
        FROM moved_tables() t
        JOIN pg_attribute a ON a.attrelid = t.name::regclass AND a.attidentity <> ''
    LOOP
        SELECT max((p.row ->> identity.attname)::bigint) INTO newest
        FROM account_parcels p
        WHERE p.user_id = owner AND p.table_name = identity.name;
        EXECUTE format('SELECT s.last_value FROM %s s', identity.sequence) INTO last;
        IF last <= newest THEN
            PERFORM setval(identity.sequence, newest + 1000000);
        END IF;
    END LOOP;
END
$$;

-- Turns a parcel that was copied to this database into the account, and returns the number of its rows.
CREATE OR REPLACE FUNCTION receive_account(owner uuid, move uuid, origin uuid) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    row_count bigint;
    tenant uuid;
BEGIN
    row_count := unpack_account(owner);
    SELECT u.tenant_id INTO tenant
    FROM users u
    WHERE u.id = owner;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the parcel contains no account';
    END IF;
    INSERT INTO account_moves AS m (user_id, move_id, tenant_id, state, other_installation, ended_at)
    VALUES (owner, move, tenant, 'ARRIVED', origin, now())
    ON CONFLICT (user_id) DO UPDATE
    SET move_id = excluded.move_id,
        tenant_id = excluded.tenant_id,
        state = excluded.state,
        other_installation = excluded.other_installation,
        identity_hashes = '{}',
        started_at = now(),
        ended_at = now();
    PERFORM record_audit_event(
        'ACCOUNT_ARRIVED', tenant, owner, NULL, jsonb_build_object('move', move, 'installation', origin)
    );
    RETURN row_count;
END
$$;

-- Undoes `close_account` and `pack_account`.
CREATE OR REPLACE FUNCTION return_account(owner uuid, move uuid) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    state_before account_move_state;
BEGIN
    DELETE FROM account_moves m
    WHERE m.user_id = owner AND m.move_id = move AND m.state IN ('CLOSING', 'LEAVING')
    RETURNING m.state INTO state_before;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is not leaving', owner;
    ELSIF state_before = 'LEAVING' THEN
        PERFORM unpack_account(owner);
        PERFORM record_audit_event('ACCOUNT_RETURNED', u.tenant_id, owner, NULL, jsonb_build_object('move', move))
        FROM users u
        WHERE u.id = owner;
    ELSE
        PERFORM set_config('app.moving', 'on', true);
        PERFORM unpack_rows(owner, c.name, '{}', 'true') FROM credential_tables() AS c (name);
        PERFORM set_config('app.moving', '', true);
        DELETE FROM account_parcels p
        WHERE p.user_id = owner;
    END IF;
END
$$;

-- Ends the move in the database that the account has left.
CREATE OR REPLACE FUNCTION finish_leaving(owner uuid, move uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE account_moves m
    SET state = 'LEFT', ended_at = now()
    WHERE m.user_id = owner AND m.move_id = move AND m.state = 'LEAVING';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is not leaving', owner;
    END IF;
    DELETE FROM account_parcels p
    WHERE p.user_id = owner;
END
$$;

-- MARK: Policies and grants

-- The tables are closed to the server's role.
DROP POLICY IF EXISTS administration ON account_moves;
CREATE POLICY administration ON account_moves TO CURRENT_USER
    USING (true)
    WITH CHECK (true);
DROP POLICY IF EXISTS administration ON account_parcels;
CREATE POLICY administration ON account_parcels TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

REVOKE ALL ON FUNCTION
    refuse_leaving_user, refuse_leaving_token, refuse_moved_identity, moved_tables, rebuilt_tables, credential_tables, pack_rows,
    refuse_moving_covers, close_account, pack_account,
    uncopied_edition_columns, unpack_rows, unpack_editions, unpack_account, advance_sequences, receive_account, return_account,
    finish_leaving
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION refuse_leaving_user, refuse_leaving_token, refuse_moved_identity TO bookplate_app;
