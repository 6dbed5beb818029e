-- requires: accounts
-- Moves of accounts between databases, for `bookplate-admin account move`. docs/decisions/account-moves.md explains them.
--
-- Both databases have a row for each move in `account_moves`, which is never deleted. Its state only goes forward:
--
--     source:  CLOSING  -> LEAVING -> LEFT       target:  ARRIVING -> ARRIVED
--     CLOSING, LEAVING, or LEFT -> CANCELLED     ARRIVING -> CANCELLED
--
-- If no database has the account any more, `forget_lost_account` changes LEFT and ARRIVED to CANCELLED.
--
-- 1. `expect_account` registers the move in the target.
-- 2. `close_account` puts the account's sessions, tokens, and grants into a parcel: JSON in `account_parcels` of the source. New
--    requests are refused. Running ones can still read, until the program has waited for their end.
-- 3. `pack_account` also puts all other rows into the parcel. From that commit on, no table of the source has a row of the account,
--    so no request, job, or sweep can use it.
-- 4. The program copies the parcel to the target, where `receive_account` turns it into rows, in one transaction.
-- 5. `finish_leaving` ends the move in the source, whose requests then get the error ACCOUNT_MOVED. A day later,
--    `prune_account_parcels` deletes the parcel.
--
-- As long as the target has not committed step 4, or has lost it, the move can be undone: `cancel_arrival` in the target, and then
-- `return_account` in the source. `cancel_arrival` and `receive_account` change the same row, so only one of them succeeds, however
-- late the other one comes.
--
-- A move has a number in the account's history. It decides which of several moves is the newest, and which of two copies of an
-- account is the older one, after a database was restored from a backup.

-- MARK: States

-- Whether the current transaction packs or unpacks an account. Triggers then record nothing, because for its owner nothing happens.
-- The server's role cannot claim it.
CREATE OR REPLACE FUNCTION is_moving_account() RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN session_user <> 'bookplate_app' AND coalesce(current_setting('app.moving', true) = 'on', false);
END
$$;

-- Whether the account is leaving this database.
CREATE OR REPLACE FUNCTION is_leaving_account(owner uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM account_moves m WHERE m.user_id = owner AND m.state IN ('CLOSING', 'LEAVING'))
$$;

-- Whether files of covers must stay in the store although no row names them: the account is leaving or arriving, or it has left and
-- its parcel still exists.
CREATE OR REPLACE FUNCTION are_moved_covers_kept(owner uuid) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT
        FROM account_moves m
        WHERE m.user_id = owner
            AND (
                m.state IN ('CLOSING', 'LEAVING', 'ARRIVING')
                OR (m.state = 'LEFT' AND EXISTS (SELECT FROM account_parcels p WHERE p.move_id = m.move_id))
            )
    )
$$;

-- MARK: Refusals

-- Fails if the account of the move is leaving, has left, or is arriving.
CREATE OR REPLACE FUNCTION refuse_move(move account_moves) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    IF move.state IN ('CLOSING', 'LEAVING') THEN
        RAISE EXCEPTION 'the account is being moved to another database' USING ERRCODE = 'BP503';
    ELSIF move.state = 'ARRIVING' THEN
        RAISE EXCEPTION 'the account is being moved to this database' USING ERRCODE = 'BP503';
    ELSIF move.state = 'LEFT' THEN
        RAISE EXCEPTION 'the account was moved to another database'
            USING ERRCODE = 'BP421', DETAIL = concat_ws(' ', move.move_id, move.new_url);
    END IF;
END
$$;

-- Fails if the account is leaving this database, or has left it and has not come back. Requests call it when they do not find a
-- session, a token, or a grant, so requests that find theirs take no time for it. Functions that revoke credentials call it after
-- their statement, which has waited for a transaction that packs the credentials: they would come back with the parcel.
CREATE OR REPLACE FUNCTION refuse_moved_user(owner uuid) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    newest account_moves;
BEGIN
    SELECT m.* INTO newest
    FROM account_moves m
    WHERE m.user_id = owner AND m.state IN ('CLOSING', 'LEAVING', 'LEFT', 'ARRIVED')
    ORDER BY m.number DESC
    LIMIT 1;
    PERFORM refuse_move(newest);
END
$$;

-- Does the same for the account whose identity, access token, authorization code, or device code has the hash. Several accounts can
-- have had an identity, one after the other. An unfinished move decides first, because the account may be in use here after it, and
-- then the account that has left last. The numbers of moves of different accounts are not comparable.
CREATE OR REPLACE FUNCTION refuse_moved_hash(given_hash bytea) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    newest account_moves;
BEGIN
    SELECT m.* INTO newest
    FROM account_moves m
    WHERE m.known_hashes @> ARRAY[given_hash]
    ORDER BY m.state = 'LEFT', m.ended_at DESC
    LIMIT 1;
    PERFORM refuse_move(newest);
END
$$;

-- Does the same for the accounts of access tokens that are in parcels.
CREATE OR REPLACE FUNCTION refuse_moved_tokens(ids uuid[]) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    PERFORM refuse_moved_user(m.user_id)
    FROM account_moves m
    JOIN account_parcels p ON p.move_id = m.move_id AND p.table_name = 'access_tokens'
    WHERE (p.row ->> 'id')::uuid = ANY(ids);
END
$$;

-- Whether the account of a move has arrived in this database, even if it was deleted or has left since then.
CREATE OR REPLACE FUNCTION has_arrived(move uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM account_moves m WHERE m.move_id = move AND m.state = 'ARRIVED')
$$;

-- The hash of an identity in `account_moves`.
CREATE OR REPLACE FUNCTION identity_hash(tenant uuid, subject text) RETURNS bytea
LANGUAGE sql IMMUTABLE
AS $$
    SELECT sha256(convert_to(tenant || ' ' || subject, 'UTF8'))
$$;

-- Forgets the identity in app.subject, if its accounts have moved to one of the given databases. A server that serves all of them calls
-- it after it has found the identity in none, and the accounts have arrived: they were deleted, or have lost the identity. While a parcel
-- exists, the other database may be restored from a backup, so that the account will return. Locks the identity like a sign-in, before
-- rows.
CREATE OR REPLACE FUNCTION release_moved_identity(installations uuid[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT lock_identity();
    UPDATE account_moves m
    SET known_hashes = array_remove(m.known_hashes, identity_hash(app_tenant_id(), app_subject()))
    WHERE m.state = 'LEFT'
        AND m.other_installation = ANY(installations)
        AND NOT EXISTS (SELECT FROM account_parcels p WHERE p.move_id = m.move_id)
        AND m.known_hashes @> ARRAY[identity_hash(app_tenant_id(), app_subject())]
$$;

-- A sign-in or an import must not create a second account.
CREATE OR REPLACE FUNCTION refuse_moved_identity() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF NOT is_moving_account() THEN
        PERFORM refuse_moved_hash(identity_hash(NEW.tenant_id, NEW.subject));
    END IF;
    RETURN NEW;
END
$$;

-- A trigger, because sign-ins, links of identities, and imports add identities.
CREATE OR REPLACE TRIGGER refuse_moved_identity
BEFORE INSERT ON identities
FOR EACH ROW
EXECUTE FUNCTION refuse_moved_identity();

CREATE OR REPLACE FUNCTION refuse_moved_account() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF NOT is_moving_account() THEN
        PERFORM refuse_moved_user(NEW.id);
    END IF;
    RETURN NEW;
END
$$;

-- A trigger, because sign-ins, guests, development, and imports add accounts.
CREATE OR REPLACE TRIGGER refuse_moved_account
BEFORE INSERT ON users
FOR EACH ROW
EXECUTE FUNCTION refuse_moved_account();

-- A closed account gets no further sessions, grants, and tokens, whatever adds them.
CREATE OR REPLACE FUNCTION refuse_credential() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF is_moving_account() THEN
        RETURN NEW;
    END IF;
    -- Waits for a transaction that closes the account. The foreign key locks the same row.
    PERFORM
    FROM users u
    WHERE u.id = NEW.user_id
    FOR KEY SHARE;
    PERFORM refuse_moved_user(NEW.user_id);
    RETURN NEW;
END
$$;

-- A trigger, because many functions add credentials, and a credential of a closed account would be lost.
CREATE OR REPLACE TRIGGER refuse_credential
BEFORE INSERT ON sessions
FOR EACH ROW
EXECUTE FUNCTION refuse_credential();

-- A trigger, because many functions add credentials, and a credential of a closed account would be lost.
CREATE OR REPLACE TRIGGER refuse_credential
BEFORE INSERT ON oauth_grants
FOR EACH ROW
EXECUTE FUNCTION refuse_credential();

-- A trigger, because many functions add credentials, and a credential of a closed account would be lost.
CREATE OR REPLACE TRIGGER refuse_credential
BEFORE INSERT ON access_tokens
FOR EACH ROW
EXECUTE FUNCTION refuse_credential();

-- Whether a parcel has grants or requests of an OAuth client. `counts_left` includes accounts that have left this database, and could
-- return.
CREATE OR REPLACE FUNCTION is_client_in_parcel(client uuid, counts_left boolean) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT
        FROM account_moves m
        JOIN account_parcels p ON p.move_id = m.move_id AND p.table_name IN ('oauth_grants', 'oauth_requests')
        WHERE (m.state IN ('CLOSING', 'LEAVING', 'ARRIVING') OR (counts_left AND m.state = 'LEFT'))
            AND (p.row ->> 'client_id')::uuid = client
    )
$$;

-- A removed client would come back with the parcel.
CREATE OR REPLACE FUNCTION keep_client_in_parcel() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    IF is_client_in_parcel(OLD.id, false) THEN
        RAISE EXCEPTION 'the app has access to an account that is being moved: finish or undo the move first'
            USING ERRCODE = 'BP409';
    END IF;
    RETURN OLD;
END
$$;

-- A trigger, because clients are deleted by commands, by their tenant, and by a job.
CREATE OR REPLACE TRIGGER keep_client_in_parcel
BEFORE DELETE ON oauth_clients
FOR EACH ROW
EXECUTE FUNCTION keep_client_in_parcel();

-- Deletes the parcels and the hashes of an account's moves, after it was deleted in one of the databases.
CREATE OR REPLACE FUNCTION forget_moves(owner uuid) RETURNS void
LANGUAGE sql
AS $$
    DELETE FROM account_parcels p
    USING account_moves m
    WHERE m.user_id = owner AND p.move_id = m.move_id;
    UPDATE account_moves m
    SET known_hashes = '{}'
    WHERE m.user_id = owner AND m.known_hashes <> '{}'
$$;

-- Deletes the parcel of a move, and the hashes of all moves of the account, which is in this database now. Parcels of earlier moves
-- stay for their day: if a database was restored from a backup, one of them may be the last copy of the account.
CREATE OR REPLACE FUNCTION delete_used_parcel(owner uuid, move uuid) RETURNS void
LANGUAGE sql
AS $$
    DELETE FROM account_parcels p
    WHERE p.move_id = move;
    UPDATE account_moves m
    SET known_hashes = '{}'
    WHERE m.user_id = owner AND m.known_hashes <> '{}'
$$;

-- Fails if an account of the tenant is leaving or arriving.
CREATE OR REPLACE FUNCTION refuse_tenant_of_move(tenant uuid) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    IF EXISTS (
        SELECT FROM account_moves m WHERE m.tenant_id = tenant AND m.state IN ('CLOSING', 'LEAVING', 'ARRIVING')
    ) THEN
        RAISE EXCEPTION 'an account of the tenant is being moved: finish or undo the move first' USING ERRCODE = 'BP409';
    END IF;
END
$$;

-- Deletes what is left of accounts that have left this database, if their tenant is deleted.
CREATE OR REPLACE FUNCTION delete_moves_of_tenant() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    PERFORM refuse_tenant_of_move(OLD.id);
    PERFORM forget_moves(m.user_id)
    FROM account_moves m
    WHERE m.tenant_id = OLD.id;
    RETURN OLD;
END
$$;

-- A trigger, so that no way to delete a tenant forgets it.
CREATE OR REPLACE TRIGGER delete_moves_of_tenant
BEFORE DELETE ON tenants
FOR EACH ROW
EXECUTE FUNCTION delete_moves_of_tenant();

-- Ends the move of an account that is deleted after it was closed.
CREATE OR REPLACE FUNCTION end_move_of_deleted_user(owner uuid) RETURNS void
LANGUAGE sql
AS $$
    SELECT forget_moves(owner);
    UPDATE account_moves m
    SET state = 'CANCELLED', ended_at = now()
    WHERE m.user_id = owner AND m.state IN ('CLOSING', 'LEAVING')
$$;

-- MARK: Tables

-- The tables with rows of users, in an order in which rows can be inserted: after the rows to which they refer, and after the rows
-- whose triggers would add some. `written_columns` get other values in the other database, because a trigger or a sequence computes
-- them, so they are neither copied nor compared; generated columns are left out, too. The rows of `changes` come back only if the
-- move is undone: see `start_change_log`.
--
-- A new table with a column `user_id` belongs here, into `rebuilt_tables`, or into `remaining_tables`: AccountMoveTests checks it.
CREATE OR REPLACE FUNCTION moved_tables() RETURNS TABLE (number bigint, name text, key text, written_columns text[])
LANGUAGE sql STABLE
AS $$
    SELECT
        t.number,
        t.name,
        CASE t.name WHEN 'users' THEN 'id' ELSE 'user_id' END,
        CASE t.name
            WHEN 'books' THEN ARRAY['author', 'author_ids', 'series_id', 'search_text', 'title_card_version']
            WHEN 'events' THEN ARRAY['id']
            ELSE '{}'
        END || ARRAY(
            SELECT a.attname::text
            FROM pg_attribute a
            WHERE a.attrelid = t.name::regclass AND a.attgenerated <> ''
        )
    FROM unnest(
        ARRAY[
            'users', 'identities', 'sessions', 'apple_grants', 'oauth_grants', 'access_tokens', 'oauth_requests', 'shelves',
            'books', 'covers', 'shelf_books', 'reviews', 'reads', 'progress_entries', 'reading_days', 'reading_goals',
            'reading_tombstones', 'notes', 'deleted_books', 'ereader_documents', 'ereader_positions', 'swipes', 'imports',
            'import_failures', 'removed_covers', 'jobs', 'changes', 'events'
        ]
    ) WITH ORDINALITY AS t (name, number)
$$;

-- The tables whose rows belong to one database, and which it writes again: decks of the feed, the signals of readers by the numbers
-- of works, and the books to link with its catalog. `moving_covers` and `webhook_positions` must be empty.
CREATE OR REPLACE FUNCTION rebuilt_tables() RETURNS SETOF text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT unnest(
        ARRAY[
            'books_to_link', 'collected_signals', 'feed_decks', 'moving_covers', 'readers_to_collect', 'webhook_positions'
        ]
    )
$$;

-- The tables whose rows stay. The servers of this database send the events that wait for its webhooks, as they do after an account
-- was deleted.
CREATE OR REPLACE FUNCTION remaining_tables() RETURNS SETOF text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT unnest(ARRAY['account_moves', 'webhook_deliveries'])
$$;

-- The tables whose rows let a request use an account, in the order of `moved_tables`.
CREATE OR REPLACE FUNCTION credential_tables() RETURNS SETOF text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT unnest(ARRAY['sessions', 'oauth_grants', 'access_tokens'])
$$;

-- Returns the number of rows that `pack_account` would count.
CREATE OR REPLACE FUNCTION count_account(owner uuid) RETURNS bigint
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    moved record;
    counted bigint;
    total bigint := 0;
BEGIN
    FOR moved IN SELECT t.name, t.key FROM moved_tables() t WHERE t.name <> 'changes' LOOP
        EXECUTE format('SELECT count(*) FROM %I t WHERE t.%I = $1', moved.name, moved.key) INTO counted USING owner;
        total := total + counted;
    END LOOP;
    RETURN total;
END
$$;

-- MARK: Packing

-- Adds rows to a parcel, in the given order. `condition` is SQL, in which `t` is the row, `$1` the move, and `$2` the user. Rows of
-- the account are locked, so the parcel has their last values, and no other transaction can change them before they are deleted.
-- Rows that several accounts use are not.
CREATE OR REPLACE FUNCTION pack_rows(
    move uuid, owner uuid, source text, without text[], condition text, ordering text DEFAULT 'NULL', locks boolean DEFAULT false
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO account_parcels (move_id, table_name, number, row)
        SELECT $1, %1$L, f.last + row_number() OVER (ORDER BY %3$s), to_jsonb(t) - $3
        FROM (SELECT t.* FROM %1$I t WHERE %2$s %4$s) t
        CROSS JOIN (
            SELECT coalesce(max(p.number), 0) AS last FROM account_parcels p WHERE p.move_id = $1 AND p.table_name = %1$L
        ) f',
        source, condition, ordering, CASE WHEN locks THEN 'FOR UPDATE' END
    )
    USING move, owner, without;
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

-- Returns the hashes by which requests without the id of the account name it: those of its identities, its access tokens, and the
-- codes of apps that it has allowed.
CREATE OR REPLACE FUNCTION account_hashes(owner uuid) RETURNS bytea[]
LANGUAGE sql STABLE
AS $$
    SELECT ARRAY(
        SELECT identity_hash(i.tenant_id, i.subject) FROM identities i WHERE i.user_id = owner
        UNION
        SELECT unnest(ARRAY[t.token_hash, t.kosync_hash]) FROM access_tokens t WHERE t.user_id = owner
        UNION
        SELECT unnest(ARRAY[r.code_hash, r.device_hash]) FROM oauth_requests r WHERE r.user_id = owner
        EXCEPT
        SELECT NULL
    )
$$;

-- Puts the sessions, tokens, and grants of an account into a parcel, so that new requests are refused.
CREATE OR REPLACE FUNCTION close_account(owner uuid, move uuid, destination uuid, move_number int) RETURNS void
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
    IF EXISTS (
        SELECT
        FROM account_moves m
        WHERE m.user_id = owner AND (m.state IN ('CLOSING', 'LEAVING', 'ARRIVING') OR m.move_id = move)
    ) THEN
        RAISE EXCEPTION 'another move of the account is in progress: finish or undo it first' USING ERRCODE = 'BP409';
    END IF;
    PERFORM refuse_moving_covers(owner);
    INSERT INTO account_moves (move_id, user_id, tenant_id, state, number, other_installation, known_hashes)
    VALUES (move, owner, tenant, 'CLOSING', move_number, destination, account_hashes(owner));
    PERFORM pack_rows(move, owner, c.name, '{}', 't.user_id = $2', locks => true) FROM credential_tables() AS c (name);
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
    mark webhook_positions;
    has_rows boolean;
    row_count bigint;
BEGIN
    PERFORM lock_user(owner);
    PERFORM lock_webhook_queue(owner);
    PERFORM
    FROM users u
    WHERE u.id = owner
    FOR UPDATE;
    UPDATE account_moves m
    SET state = 'LEAVING', known_hashes = m.known_hashes || account_hashes(owner)
    FROM users u
    WHERE m.user_id = owner AND m.move_id = move AND m.state = 'CLOSING' AND u.id = owner
    RETURNING m.tenant_id INTO tenant;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is not closed', owner;
    END IF;
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
    -- The log does not move, so its entries become events for webhooks now.
    LOOP
        SELECT p.* INTO mark
        FROM webhook_positions p
        WHERE p.user_id = owner
        FOR UPDATE;
        EXIT WHEN NOT FOUND;
        PERFORM collect_user_events(mark, 1000);
    END LOOP;

    FOR moved IN SELECT * FROM moved_tables() t ORDER BY t.number LOOP
        PERFORM pack_rows(
            move, owner, moved.name, moved.written_columns, format('t.%I = $2', moved.key),
            CASE moved.name WHEN 'events' THEN 't.id' ELSE 'NULL' END, locks => true
        );
    END LOOP;
    SELECT count(*) INTO row_count
    FROM account_parcels p
    WHERE p.move_id = move AND p.table_name <> 'changes';
    INSERT INTO account_parcels (move_id, table_name, number, row)
    SELECT move, 'last_change', 1, to_jsonb(c)
    FROM changes c
    WHERE c.user_id = owner
    ORDER BY c.seq DESC
    LIMIT 1;

    PERFORM pack_rows(move, owner, 'tenants', '{}', format('t.id = %L', tenant));
    PERFORM pack_rows(move, owner, 'identity_providers', '{}', format('t.tenant_id = %L', tenant));
    PERFORM pack_rows(
        move, owner, 'oauth_clients', '{}',
        't.id IN (
            SELECT (p.row ->> ''client_id'')::uuid
            FROM account_parcels p
            WHERE p.move_id = $1 AND p.table_name IN (''oauth_grants'', ''oauth_requests'')
        )'
    );
    PERFORM pack_rows(
        move, owner, 'editions', uncopied_edition_columns(),
        't.id IN (
            SELECT b.edition_id FROM books b WHERE b.user_id = $2
            UNION
            SELECT s.edition_id FROM swipes s WHERE s.user_id = $2
            UNION
            SELECT (d.book ->> ''edition_id'')::uuid FROM deleted_books d WHERE d.user_id = $2
        )'
    );
    PERFORM pack_rows(
        move, owner, names.name, '{}',
        't.edition_id IN (
            SELECT (p.row ->> ''id'')::uuid FROM account_parcels p WHERE p.move_id = $1 AND p.table_name = ''editions''
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
            WHERE m.user_id = owner AND m.move_id = move
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
-- and `$1` the move. A column that the parcel does not have, because a later migration has added it, gets its default.
CREATE OR REPLACE FUNCTION unpack_rows(move uuid, target text, without text[], condition text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    columns text;
    values text;
BEGIN
    SELECT string_agg(quote_ident(c.name), ', '), string_agg('t.' || quote_ident(c.name), ', ')
    INTO columns, values
    FROM unnest(parcel_columns(move, target, without)) AS c (name);
    IF columns IS NULL THEN
        RETURN;
    END IF;
    EXECUTE format(
        'INSERT INTO %1$I (%2$s)
        OVERRIDING SYSTEM VALUE
        SELECT %3$s
        FROM account_parcels p
        CROSS JOIN LATERAL jsonb_populate_record(NULL::%1$I, p.row) t
        WHERE p.move_id = $1 AND p.table_name = %1$L AND (%4$s)
        ORDER BY p.number
        ON CONFLICT DO NOTHING',
        target, columns, values, condition
    )
    USING move;
END
$$;

-- Returns the columns that both the table and its rows in the parcel have. Empty if the parcel has no rows of the table.
CREATE OR REPLACE FUNCTION parcel_columns(move uuid, of_table text, without text[]) RETURNS text[]
LANGUAGE sql STABLE
AS $$
    SELECT ARRAY(
        SELECT a.attname::text
        FROM pg_attribute a
        JOIN (SELECT p.row FROM account_parcels p WHERE p.move_id = move AND p.table_name = of_table LIMIT 1) f
            ON f.row ? a.attname::text
        WHERE a.attrelid = of_table::regclass
            AND a.attnum > 0
            AND NOT a.attisdropped
            AND NOT a.attname = ANY(without)
        ORDER BY a.attnum
    )
$$;

-- Finds the editions of a parcel in this catalog. Books and swipes of the parcel get the editions of this catalog. If `adds`, those
-- that the catalog lacks are added; otherwise books lose their edition, and swipes are removed, as if the catalog had deleted it.
--
-- An edition is found by its id, or that of the record that has replaced it, then by its ISBN, and then by its id in another
-- catalog unless both have an ISBN, as in imports.
--
-- The program analyzes `account_parcels` before, and no statement joins the JSON of two tables, so the time is linear in the number
-- of editions.
CREATE OR REPLACE FUNCTION unpack_editions(move uuid, adds boolean) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    WITH given AS MATERIALIZED (
        SELECT p.number, (p.row ->> 'id')::uuid AS id, p.row ->> 'isbn13' AS isbn13
        FROM account_parcels p
        WHERE p.move_id = move AND p.table_name = 'editions'
    ), given_sources AS MATERIALIZED (
        SELECT (p.row ->> 'edition_id')::uuid AS edition_id, p.row ->> 'source' AS source, p.row ->> 'key' AS key
        FROM account_parcels p
        WHERE p.move_id = move AND p.table_name = 'edition_sources'
    ), found_by_source AS MATERIALIZED (
        SELECT DISTINCT ON (g.id) g.id, e.id AS found_id
        FROM given g
        JOIN given_sources s ON s.edition_id = g.id
        JOIN edition_sources k ON k.source = s.source AND k.key = s.key
        JOIN editions e ON e.id = k.edition_id
        WHERE e.isbn13 IS NULL OR g.isbn13 IS NULL
        ORDER BY g.id, k.source
    ), found AS MATERIALIZED (
        SELECT
            g.number,
            coalesce(
                (SELECT e.id FROM editions e WHERE e.id = g.id),
                (SELECT r.survivor_id FROM removed_editions r JOIN editions e ON e.id = r.survivor_id WHERE r.id = g.id),
                (SELECT e.id FROM editions e WHERE e.isbn13 = g.isbn13),
                f.found_id
            ) AS found_id
        FROM given g
        LEFT JOIN found_by_source f ON f.id = g.id
    )
    UPDATE account_parcels p
    SET row = p.row || jsonb_build_object('found_id', coalesce(f.found_id, CASE WHEN adds THEN (p.row ->> 'id')::uuid END))
    FROM found f
    WHERE p.move_id = move AND p.table_name = 'editions' AND p.number = f.number;

    IF adds THEN
        WITH found AS MATERIALIZED (
            SELECT p.row ->> 'id' AS id
            FROM account_parcels p
            JOIN editions e ON e.id = (p.row ->> 'found_id')::uuid
            WHERE p.move_id = move AND p.table_name = 'editions'
        )
        DELETE FROM account_parcels p
        USING found f
        WHERE p.move_id = move
            AND p.table_name IN ('edition_sources', 'edition_work_keys')
            AND p.row ->> 'edition_id' = f.id;
        PERFORM unpack_rows(
            move, 'editions', uncopied_edition_columns(),
            'p.row ->> ''found_id'' = p.row ->> ''id'' AND NOT EXISTS (SELECT FROM editions e WHERE e.id = t.id)'
        );
        PERFORM unpack_rows(move, 'edition_sources', '{}', 'true');
        PERFORM save_work_keys(
            array_agg((p.row ->> 'edition_id')::uuid), array_agg(p.row ->> 'source'), array_agg(p.row ->> 'key')
        )
        FROM account_parcels p
        WHERE p.move_id = move AND p.table_name = 'edition_work_keys'
        HAVING count(*) > 0;
    END IF;

    -- Two editions can be one in this catalog, but a library has it once, and the feed one swipe: the latest.
    WITH mapped AS MATERIALIZED (
        SELECT
            p.number,
            f.found_id,
            row_number() OVER (
                PARTITION BY f.found_id
                ORDER BY (p.row ->> 'undone_at') IS NOT NULL, (p.row ->> 'swiped_at')::timestamptz DESC, p.number
            ) AS index
        FROM account_parcels p
        JOIN found_editions(move) f ON f.id = p.row ->> 'edition_id'
        WHERE p.move_id = move AND p.table_name = 'swipes'
    ), removed AS (
        DELETE FROM account_parcels p
        USING mapped m
        WHERE p.move_id = move AND p.table_name = 'swipes' AND p.number = m.number AND (m.found_id IS NULL OR m.index > 1)
    )
    UPDATE account_parcels p
    SET row = p.row || jsonb_build_object('edition_id', m.found_id)
    FROM mapped m
    WHERE p.move_id = move
        AND p.table_name = 'swipes'
        AND p.number = m.number
        AND m.index = 1
        AND p.row ->> 'edition_id' <> m.found_id;
    WITH mapped AS MATERIALIZED (
        SELECT
            p.number,
            CASE
                WHEN row_number() OVER (
                    PARTITION BY f.found_id ORDER BY f.found_id <> f.id, p.row ->> 'added_at', p.number
                ) = 1 THEN f.found_id
            END AS edition_id
        FROM account_parcels p
        JOIN found_editions(move) f ON f.id = p.row ->> 'edition_id'
        WHERE p.move_id = move AND p.table_name = 'books'
    )
    UPDATE account_parcels p
    SET row = p.row || jsonb_build_object('edition_id', m.edition_id)
    FROM mapped m
    WHERE p.move_id = move
        AND p.table_name = 'books'
        AND p.number = m.number
        AND p.row ->> 'edition_id' IS DISTINCT FROM m.edition_id;
    -- `restore_book` accepts an edition that does not exist any more.
    UPDATE account_parcels p
    SET row = jsonb_set(p.row, '{book,edition_id}', to_jsonb(f.found_id))
    FROM found_editions(move) f
    WHERE p.move_id = move
        AND p.table_name = 'deleted_books'
        AND p.row #>> '{book,edition_id}' = f.id
        AND f.found_id <> f.id;
END
$$;

-- Returns the editions of a parcel for which `unpack_editions` has looked, with the ids of those that it has found.
CREATE OR REPLACE FUNCTION found_editions(move uuid) RETURNS TABLE (id text, found_id text)
LANGUAGE sql STABLE ROWS 10000
AS $$
    SELECT p.row ->> 'id', p.row ->> 'found_id'
    FROM account_parcels p
    WHERE p.move_id = move AND p.table_name = 'editions'
$$;

-- MARK: Unpacking

-- Removes grants and requests of a parcel whose OAuth client this database does not have, and the tokens of these grants.
CREATE OR REPLACE FUNCTION drop_grants_without_client(move uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM account_parcels p
    WHERE p.move_id = move
        AND p.table_name IN ('oauth_grants', 'oauth_requests')
        AND NOT EXISTS (SELECT FROM oauth_clients c WHERE c.id = (p.row ->> 'client_id')::uuid);
    WITH grants AS MATERIALIZED (
        SELECT p.row ->> 'id' AS id
        FROM account_parcels p
        WHERE p.move_id = move AND p.table_name = 'oauth_grants'
    )
    DELETE FROM account_parcels p
    WHERE p.move_id = move
        AND p.table_name = 'access_tokens'
        AND p.row ->> 'grant_id' IS NOT NULL
        AND p.row ->> 'grant_id' NOT IN (SELECT g.id FROM grants g);
END
$$;

-- Inserts the rows of a parcel, and compares them with it. Fails if they differ, or if a table lacks a column of the parcel, because a
-- migration has removed it. Returns the number of rows.
CREATE OR REPLACE FUNCTION unpack_account(owner uuid, move uuid) RETURNS bigint
LANGUAGE plpgsql
SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS $$
DECLARE
    moved record;
    columns text[];
    uncompared text[];
    removed_column text;
    difference jsonb;
    row_count bigint;
BEGIN
    PERFORM drop_grants_without_client(move);
    PERFORM set_config('app.moving', 'on', true), set_config('app.bulk', 'on', true);
    FOR moved IN SELECT * FROM moved_tables() t ORDER BY t.number LOOP
        -- Triggers of earlier tables have added rows.
        EXECUTE format('DELETE FROM %I t WHERE t.%I = $1', moved.name, moved.key) USING owner;
        PERFORM unpack_rows(move, moved.name, moved.written_columns, 'true');
    END LOOP;
    -- Triggers have added it, but the source has collected all events.
    DELETE FROM webhook_positions p
    WHERE p.user_id = owner;
    FOR moved IN SELECT * FROM moved_tables() t ORDER BY t.number LOOP
        columns := parcel_columns(move, moved.name, moved.written_columns);
        uncompared := ARRAY(
            SELECT a.attname::text
            FROM pg_attribute a
            WHERE a.attrelid = moved.name::regclass AND a.attnum > 0 AND NOT a.attname = ANY(columns)
        );
        SELECT k.name INTO removed_column
        FROM (SELECT p.row FROM account_parcels p WHERE p.move_id = move AND p.table_name = moved.name LIMIT 1) f
        CROSS JOIN jsonb_object_keys(f.row) AS k (name)
        WHERE NOT k.name = ANY(columns || moved.written_columns)
        LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'the table % lacks the column % of the parcel: restore the schema that it had', moved.name, removed_column;
        END IF;
        EXECUTE format(
            'WITH stored AS MATERIALIZED (
                SELECT to_jsonb(t) - $3 AS row FROM %1$I t WHERE t.%2$I = $1
            ), packed AS MATERIALIZED (
                SELECT p.row - $3 AS row FROM account_parcels p WHERE p.move_id = $2 AND p.table_name = %1$L
            )
            (SELECT s.row FROM stored s EXCEPT ALL SELECT p.row FROM packed p)
            UNION ALL
            (SELECT p.row FROM packed p EXCEPT ALL SELECT s.row FROM stored s)
            LIMIT 1',
            moved.name, moved.key
        )
        INTO difference
        USING owner, move, uncompared;
        IF difference IS NOT NULL THEN
            RAISE EXCEPTION 'a row of the table % cannot be copied without a change', moved.name
                USING DETAIL = (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(difference) AS k);
        END IF;
    END LOOP;
    PERFORM set_config('app.moving', '', true), set_config('app.bulk', '', true);
    IF NOT EXISTS (SELECT FROM users u WHERE u.id = owner) THEN
        RAISE EXCEPTION 'the parcel contains no account';
    END IF;
    INSERT INTO readers_to_collect (user_id)
    VALUES (owner)
    ON CONFLICT DO NOTHING;
    INSERT INTO books_to_link (user_id, book_id)
    SELECT b.user_id, b.id
    FROM books b
    WHERE b.user_id = owner AND b.edition_id IS NULL
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM enqueue_link_job();
    END IF;
    SELECT count(*) INTO row_count
    FROM account_parcels p
    WHERE p.move_id = move AND p.table_name IN (SELECT t.name FROM moved_tables() t WHERE t.name <> 'changes');
    RETURN row_count;
END
$$;

-- MARK: Arrival

-- Fails if the account cannot arrive in this database. `subjects` are those of its identities. Changes and locks nothing.
CREATE OR REPLACE FUNCTION check_arrival(
    owner uuid, move uuid, move_number int, tenant uuid, tenant_slug text, subjects text[]
) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    IF EXISTS (SELECT FROM users u WHERE u.id = owner) THEN
        RAISE EXCEPTION 'the other database already has the account %', owner USING ERRCODE = 'BP409';
    ELSIF EXISTS (
        SELECT
        FROM account_moves m
        WHERE m.user_id = owner AND m.state IN ('CLOSING', 'LEAVING', 'ARRIVING') AND m.move_id <> move
    ) THEN
        RAISE EXCEPTION 'the other database has another move of the account that is in progress: finish or undo it first'
            USING ERRCODE = 'BP409';
    ELSIF EXISTS (
        SELECT FROM account_moves m WHERE m.user_id = owner AND m.state IN ('LEFT', 'ARRIVED') AND m.number >= move_number
    ) THEN
        RAISE EXCEPTION 'the other database knows a later move of the account %, so this is an older copy of it', owner
            USING ERRCODE = 'BP409';
    ELSIF EXISTS (SELECT FROM account_tombstones t WHERE t.user_hash = sha256(uuid_send(owner))) THEN
        RAISE EXCEPTION 'the account was deleted in the other database: it cannot be moved there' USING ERRCODE = 'BP409';
    ELSIF EXISTS (SELECT FROM tenants t WHERE t.slug = tenant_slug AND t.id <> tenant) THEN
        RAISE EXCEPTION 'the other database has another tenant with the slug %: rename one of the tenants', tenant_slug
            USING ERRCODE = 'BP409';
    ELSIF EXISTS (SELECT FROM identities i WHERE i.tenant_id = tenant AND i.subject = ANY(subjects)) THEN
        RAISE EXCEPTION
            'the other database has another account with the same identity: its owner must delete it there, or unlink the identity'
            USING ERRCODE = 'BP409';
    END IF;
END
$$;

-- Registers the move of an account to this database, which then refuses sign-ins with its identities. A repeated call updates the
-- number and the identities.
CREATE OR REPLACE FUNCTION expect_account(
    owner uuid, move uuid, origin uuid, move_number int, tenant uuid, tenant_slug text, subjects text[]
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- A sweep of the store sees either the row, or its removals are committed before it.
    PERFORM lock_user(owner);
    PERFORM check_arrival(owner, move, move_number, tenant, tenant_slug, subjects);
    INSERT INTO account_moves AS m (move_id, user_id, tenant_id, state, number, other_installation, known_hashes)
    VALUES (
        move, owner, tenant, 'ARRIVING', move_number, origin,
        ARRAY(SELECT identity_hash(tenant, s.subject) FROM unnest(subjects) AS s (subject))
    )
    ON CONFLICT (move_id) DO UPDATE
    SET number = excluded.number, known_hashes = excluded.known_hashes
    WHERE m.state = 'ARRIVING';
    PERFORM check_arriving(owner, move, origin);
    -- The account is in use in the source, so a copy of it is outdated.
    DELETE FROM account_parcels p
    WHERE p.move_id = move;
END
$$;

-- Fails unless the move can be completed in this database. Locks its row.
CREATE OR REPLACE FUNCTION check_arriving(owner uuid, move uuid, origin uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM
    FROM account_moves m
    WHERE m.user_id = owner AND m.move_id = move AND m.state = 'ARRIVING' AND m.other_installation = origin
    FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the other database does not expect the move %: it was undone, or has ended', move
            USING ERRCODE = 'BP409';
    END IF;
END
$$;

-- Prepares a copy of the parcel in this database, and removes an incomplete one. The copy is part of the same transaction.
CREATE OR REPLACE FUNCTION begin_parcel_copy(owner uuid, move uuid, origin uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM check_arriving(owner, move, origin);
    DELETE FROM account_parcels p
    WHERE p.move_id = move;
END
$$;

-- Makes the cursors of all devices invalid: they get RESET_REQUIRED and fetch the library again. The log starts with an entry at the
-- time of this database, 1000 numbers after the newest one of the other database. The numbers of later entries are greater than those
-- that receivers of webhooks know, and no entry has a time of the other database's clock.
CREATE OR REPLACE FUNCTION start_change_log(owner uuid, move uuid) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO changes (user_id, seq, kind, typename, id, at)
    SELECT owner, c.seq + 1000, c.kind, c.typename, c.id, clock_timestamp()
    FROM account_parcels p
    CROSS JOIN LATERAL jsonb_populate_record(NULL::changes, p.row) c
    WHERE p.move_id = move AND p.table_name = 'last_change'
$$;

-- Turns a parcel that was copied to this database into the account, and returns the number of its rows. `packed_rows` is the number
-- of rows of the parcel in the other database, without the change log.
CREATE OR REPLACE FUNCTION receive_account(owner uuid, move uuid, origin uuid, packed_rows bigint) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    row_count bigint;
    tenant tenants;
    is_new_tenant boolean;
BEGIN
    PERFORM lock_user(owner);
    PERFORM check_arriving(owner, move, origin);
    SELECT count(*) INTO row_count
    FROM account_parcels p
    WHERE p.move_id = move;
    IF row_count <> packed_rows THEN
        RAISE EXCEPTION 'the parcel has % rows, but its copy has %', packed_rows, row_count USING ERRCODE = 'BP409';
    END IF;
    SELECT t.* INTO tenant
    FROM account_parcels p
    CROSS JOIN LATERAL jsonb_populate_record(NULL::tenants, p.row) t
    WHERE p.move_id = move AND p.table_name = 'tenants';
    PERFORM check_arrival(
        owner, move, (SELECT m.number FROM account_moves m WHERE m.user_id = owner AND m.move_id = move), tenant.id, tenant.slug,
        ARRAY(SELECT p.row ->> 'subject' FROM account_parcels p WHERE p.move_id = move AND p.table_name = 'identities')
    );
    is_new_tenant := NOT EXISTS (SELECT FROM tenants t WHERE t.id = tenant.id);
    IF is_new_tenant THEN
        PERFORM unpack_rows(move, 'tenants', '{}', 'true');
        PERFORM unpack_rows(move, 'identity_providers', '{}', 'true');
    END IF;
    PERFORM unpack_rows(move, 'oauth_clients', '{}', 'true');
    -- Requests of apps that the account has decided in the other database, but that were not deleted here: see `release_oauth_request`.
    DELETE FROM oauth_requests r
    USING account_parcels p
    WHERE p.move_id = move
        AND p.table_name = 'oauth_requests'
        AND r.id = (p.row ->> 'id')::uuid
        AND r.user_id IS NULL
        AND r.claimed_by = owner;
    PERFORM unpack_editions(move, true);
    row_count := unpack_account(owner, move);
    PERFORM start_change_log(owner, move);
    UPDATE account_moves m
    SET state = 'ARRIVED', ended_at = now()
    WHERE m.user_id = owner AND m.move_id = move;
    PERFORM delete_used_parcel(owner, move);
    PERFORM record_audit_event(
        'ACCOUNT_ARRIVED', tenant.id, owner, NULL, jsonb_build_object('move', move, 'installation', origin)
    );
    RETURN row_count;
END
$$;

-- Ends a move to this database for good. Fails if the account has arrived. A repeated call changes nothing.
CREATE OR REPLACE FUNCTION cancel_arrival(owner uuid, move uuid, origin uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- The row is missing if a backup from before the move was restored.
    INSERT INTO account_moves AS m (move_id, user_id, state, number, other_installation, ended_at)
    VALUES (move, owner, 'CANCELLED', 0, origin, now())
    ON CONFLICT (move_id) DO UPDATE
    SET state = 'CANCELLED', known_hashes = '{}', ended_at = coalesce(m.ended_at, now())
    WHERE m.state IN ('ARRIVING', 'CANCELLED');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account has arrived: continue the move, and then move the account back' USING ERRCODE = 'BP409';
    END IF;
    DELETE FROM account_parcels p
    WHERE p.move_id = move;
END
$$;

-- MARK: The end in the source

-- Undoes `close_account`, `pack_account`, and `finish_leaving`. Rows that other accounts use, too, such as tenants, clients, and
-- editions, stay as they are now.
CREATE OR REPLACE FUNCTION return_account(owner uuid, move uuid) RETURNS void
LANGUAGE plpgsql
SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS $$
DECLARE
    kept account_moves;
BEGIN
    PERFORM lock_user(owner);
    SELECT m.* INTO kept
    FROM account_moves m
    WHERE m.user_id = owner AND m.move_id = move AND m.state IN ('CLOSING', 'LEAVING', 'LEFT')
    FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is not leaving', owner USING ERRCODE = 'BP409';
    ELSIF kept.state = 'LEFT' AND kept.ended_at < now() - interval '1 day' THEN
        RAISE EXCEPTION
            'the account % has left more than a day ago, so its rows were deleted: if no database has it, run the command with --forget', owner
            USING ERRCODE = 'BP409';
    ELSIF EXISTS (
        SELECT FROM account_moves m WHERE m.user_id = owner AND m.state IN ('LEFT', 'ARRIVED') AND m.number > kept.number
    ) THEN
        RAISE EXCEPTION 'the account % has come back since the move', owner USING ERRCODE = 'BP409';
    END IF;
    UPDATE account_moves m
    SET state = 'CANCELLED', ended_at = now()
    WHERE m.user_id = owner AND m.move_id = move;
    IF kept.state <> 'CLOSING' THEN
        PERFORM unpack_editions(move, false);
        PERFORM unpack_account(owner, move);
        PERFORM record_audit_event('ACCOUNT_RETURNED', u.tenant_id, owner, NULL, jsonb_build_object('move', move))
        FROM users u
        WHERE u.id = owner;
    ELSE
        PERFORM drop_grants_without_client(move);
        PERFORM set_config('app.moving', 'on', true);
        PERFORM unpack_rows(move, c.name, '{}', 'true') FROM credential_tables() AS c (name);
        PERFORM set_config('app.moving', '', true);
    END IF;
    PERFORM delete_used_parcel(owner, move);
END
$$;

-- Ends the move in the database that the account has left, and records the address of the new server, if it is given. Call it only
-- after the account has arrived. It can be called again to change the address.
CREATE OR REPLACE FUNCTION finish_leaving(owner uuid, move uuid, given_url text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE account_moves m
    SET state = 'LEFT', ended_at = coalesce(m.ended_at, now()), new_url = coalesce(given_url, m.new_url)
    WHERE m.user_id = owner AND m.move_id = move AND m.state IN ('LEAVING', 'LEFT');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is not leaving', owner USING ERRCODE = 'BP409';
    END IF;
END
$$;

-- Forgets an account that no database has any more, because one of them was restored from a backup or is lost: its identities can be
-- used again, and requests with its tokens do not get ACCOUNT_MOVED any more. Call it only for an account without an unfinished move,
-- after every move can no longer be undone. A repeated call changes nothing.
CREATE OR REPLACE FUNCTION forget_lost_account(owner uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- A sweep of the store sees the files without a move only after the commit.
    PERFORM lock_user(owner);
    PERFORM forget_moves(owner);
    PERFORM record_audit_event(
        'ACCOUNT_FORGOTTEN', newest.tenant_id, owner, NULL,
        jsonb_build_object('move', newest.move_id, 'installation', newest.other_installation)
    )
    FROM (
        SELECT m.*
        FROM account_moves m
        WHERE m.user_id = owner AND m.state IN ('LEFT', 'ARRIVED')
        ORDER BY m.number DESC
        LIMIT 1
    ) newest;
    UPDATE account_moves m
    SET state = 'CANCELLED'
    WHERE m.user_id = owner AND m.state IN ('LEFT', 'ARRIVED');
END
$$;

-- Deletes up to `rows_max` rows of parcels of accounts that have left the given number of days ago, and returns how many were deleted.
-- After the last one, the sweep of the store removes the files of the account's covers.
CREATE OR REPLACE FUNCTION prune_account_parcels(days int, rows_max int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    WITH deleted AS (
        DELETE FROM account_parcels p
        WHERE (p.move_id, p.table_name, p.number) IN (
            SELECT o.move_id, o.table_name, o.number
            FROM account_moves m
            JOIN account_parcels o ON o.move_id = m.move_id
            -- An hour later than `return_account` needs them.
            WHERE m.state = 'LEFT' AND m.ended_at < now() - days * interval '1 day' - interval '1 hour'
            LIMIT rows_max
        )
        RETURNING 1
    )
    SELECT count(*) FROM deleted
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
    refuse_move, is_leaving_account, are_moved_covers_kept, refuse_moved_user, refuse_moved_hash,
    release_moved_identity, has_arrived, refuse_moved_tokens, refuse_moved_identity, refuse_moved_account, refuse_credential,
    is_client_in_parcel, keep_client_in_parcel, refuse_tenant_of_move, delete_moves_of_tenant, end_move_of_deleted_user,
    forget_moves, delete_used_parcel, moved_tables, rebuilt_tables, remaining_tables, credential_tables, count_account, pack_rows,
    refuse_moving_covers, account_hashes, close_account, pack_account, uncopied_edition_columns, unpack_rows, parcel_columns,
    unpack_editions, found_editions, drop_grants_without_client, unpack_account, check_arrival, expect_account, check_arriving,
    begin_parcel_copy, start_change_log, receive_account, cancel_arrival, return_account, finish_leaving, forget_lost_account,
    prune_account_parcels
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION refuse_moved_user, refuse_moved_hash, release_moved_identity, has_arrived,
    prune_account_parcels
    TO bookplate_app;
