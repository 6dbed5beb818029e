-- requires: accounts, changes, reads
-- The copies of books that readers own, and their loans.

-- Deletes a copy, and returns its book; null if there is no such copy.
CREATE OR REPLACE FUNCTION delete_copy(owner uuid, copy uuid) RETURNS uuid
LANGUAGE plpgsql
AS $$
DECLARE
    book uuid;
BEGIN
    DELETE FROM book_copies c
    WHERE c.user_id = owner AND c.id = copy
    RETURNING c.book_id INTO book;
    IF FOUND THEN
        PERFORM record_deleted_id(owner, copy);
    END IF;
    RETURN book;
END
$$;

-- Returns the loan of a copy as JSON, as in `book_copies.past_loans`; null if it is not lent.
CREATE OR REPLACE FUNCTION loan_of_copy(copy book_copies) RETURNS jsonb
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE
        WHEN copy.loan_id IS NOT NULL THEN jsonb_build_object(
            'id', copy.loan_id, 'borrower', copy.borrower, 'lentOn', copy.lent_on, 'dueOn', copy.due_on, 'returnedOn', NULL
        )
    END
$$;

-- Adds the copies of records to books of the caller's library, and returns the ids of the books that got one. `ids` has the books of the
-- records, and `lines` their lines. A copy may have the members `id`, `format`, `place`, `note`, `loan`, `pastLoans`, `createdAt`, and
-- `updatedAt`. Copies that exist stay as they are. A copy without an id is from a file that only has the number of copies: it is left out
-- if the book has a copy already. A book has at most 20 copies; records with more get a failure.
CREATE OR REPLACE FUNCTION import_copies(import uuid, lines int[], records jsonb[], ids uuid[]) RETURNS uuid[]
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    owner CONSTANT uuid := app_user_id();
    changed uuid[];
BEGIN
    IF NOT EXISTS (SELECT FROM unnest(records) AS r (record) WHERE r.record -> 'book' ? 'copies') THEN
        RETURN '{}';
    END IF;
    WITH new_copies AS MATERIALIZED (
        SELECT
            -- report_lost_values and import_reviews use the positions up to 20.
            g.line, coalesce(jsonb_array_length(g.record -> 'problems'), 0) + 21 AS problem_position, g.id AS book_id, i.*,
            row_number() OVER (PARTITION BY g.id ORDER BY i.position) + k.copies > 20 AS is_left_out
        FROM unnest(lines, records, ids) AS g (line, record, id)
        CROSS JOIN LATERAL (SELECT count(*) AS copies FROM book_copies k WHERE k.user_id = owner AND k.book_id = g.id) k
        CROSS JOIN LATERAL ROWS FROM (
            jsonb_to_recordset(g.record -> 'book' -> 'copies') AS (
                id uuid, format text, place text, note text, loan jsonb, "pastLoans" jsonb, "createdAt" timestamptz,
                "updatedAt" timestamptz
            )
        ) WITH ORDINALITY AS i (id, format, place, note, loan, past_loans, created_at, updated_at, position)
        WHERE (i.id IS NOT NULL OR k.copies = 0)
            AND NOT EXISTS (SELECT FROM book_copies k WHERE k.user_id = owner AND k.id = i.id OFFSET 0)
    ), stored AS (
        INSERT INTO book_copies (
            user_id, id, book_id, format, place, note, loan_id, borrower, lent_on, due_on, past_loans, created_at, updated_at
        )
        SELECT
            owner, coalesce(n.id, gen_random_uuid()), n.book_id, n.format, n.place, n.note, (n.loan ->> 'id')::uuid,
            n.loan ->> 'borrower', n.loan ->> 'lentOn', n.loan ->> 'dueOn', coalesce(n.past_loans, '[]'),
            coalesce(n.created_at, now()), coalesce(n.updated_at, n.created_at, now())
        FROM new_copies n
        WHERE NOT n.is_left_out
        ON CONFLICT DO NOTHING
        RETURNING book_id
    ), reported AS (
        INSERT INTO import_failures (user_id, import_id, line, position, field, message)
        SELECT
            owner, import, n.line, n.problem_position, 'copies',
            format('A book has at most 20 copies. The number of copies that were left out: %s.', count(*))
        FROM new_copies n
        WHERE n.is_left_out
        GROUP BY n.line, n.problem_position
        ON CONFLICT DO NOTHING
    )
    SELECT coalesce(array_agg(DISTINCT s.book_id), '{}') INTO changed
    FROM stored s;
    RETURN changed;
END
$$;

-- MARK: Change log

-- Logs the books of created, changed, and deleted copies. The copies of a deleted book are not logged: they are deleted with it. Runs
-- once per statement, because an import and the merge of a guest add many copies.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_copies() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
-- The planner has no statistics of transition tables.
SET enable_seqscan = off
AS $$
DECLARE
    ignored text;
    owner uuid;
    books uuid[];
BEGIN
    -- The import of readers logs the books.
    IF TG_OP = 'INSERT' AND current_setting('app.bulk', true) = 'on' THEN
        RETURN NULL;
    END IF;
    FOR owner, books IN
        SELECT c.user_id, array_agg(DISTINCT c.book_id)
        FROM changed_rows c
        CROSS JOIN LATERAL (SELECT FROM books b WHERE b.user_id = c.user_id AND b.id = c.book_id OFFSET 0) b
        GROUP BY c.user_id
        ORDER BY c.user_id
    LOOP
        ignored := set_config('app.logs_unwritten_books', 'on', true);
        ignored := append_changes(owner, 'UPDATED', 'Book', books);
    END LOOP;
    RETURN NULL;
END
$$;

-- As for books (changes.sql), no statement can forget to log a change. PostgreSQL has no triggers with transition tables for several
-- events.
CREATE OR REPLACE TRIGGER log_insert
AFTER INSERT ON book_copies
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_copies();

-- As above.
CREATE OR REPLACE TRIGGER log_update
AFTER UPDATE ON book_copies
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_copies();

-- As above; foreign keys delete the copies of deleted books.
CREATE OR REPLACE TRIGGER log_delete
AFTER DELETE ON book_copies
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_copies();

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON book_copies;
CREATE POLICY owner_only ON book_copies TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON book_copies;
CREATE POLICY administration ON book_copies TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON book_copies TO bookplate_app;

REVOKE ALL ON FUNCTION log_copies FROM PUBLIC;
