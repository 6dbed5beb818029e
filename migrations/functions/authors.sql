-- requires: accounts, changes, search
-- Persons who have made books of the catalog, and followed persons.

-- Returns the works of a person in the catalog, each with the first of its records that names the person. At most 10,000 records are read.
--
-- Relies on this plan: all records of the person by editions_author_ids.
CREATE OR REPLACE FUNCTION works_of_person(person uuid) RETURNS TABLE (edition_id uuid, founder_id uuid)
LANGUAGE sql STABLE ROWS 20
AS $$
    SELECT DISTINCT ON (coalesce(w.founder_id, e.id)) e.id, coalesce(w.founder_id, e.id)
    FROM (SELECT i.id FROM editions i WHERE i.author_ids @> ARRAY[person] LIMIT 10000) e
    LEFT JOIN LATERAL (SELECT * FROM work_records w WHERE w.edition_id = e.id OFFSET 0) w ON true
    ORDER BY coalesce(w.founder_id, e.id), w.rank NULLS FIRST
$$;

-- Returns the name of a person, as on the most popular record. Null if the catalog has no book of the person.
CREATE OR REPLACE FUNCTION person_name(person uuid) RETURNS text
LANGUAGE sql STABLE
AS $$
    -- An aggregate, and not ORDER BY with LIMIT, for which the planner would read all editions by their popularity.
    SELECT left(
        (array_agg(e.authors[array_position(e.author_ids, person)] ORDER BY e.popularity DESC, e.number))[1], 500
    )
    FROM (
        SELECT i.authors, i.author_ids, i.popularity, i.number
        FROM editions i
        WHERE i.author_ids @> ARRAY[person]
        LIMIT 10000
    ) e
$$;

-- Returns the books of the caller's library that a person has made, at most 1,000. The name is that of the person, in any spelling with
-- the same id.
--
-- Relies on this plan: the books with all words of the name, by books_search.
-- definer: a policy would keep the index of words from being used; it compares the user itself.
CREATE OR REPLACE FUNCTION books_of_person(person uuid, name text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
ROWS 10
AS $$
DECLARE
    owner uuid := app_user_id();
    query tsquery := (
        SELECT string_agg(format('%L', book_key_prefix(owner) || word), ' & ')
        FROM string_to_table(array_to_string(library_search_words(name), ' '), ' ') word
        WHERE word <> ''
    )::tsquery;
BEGIN
    IF owner IS NULL OR query IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT b.id
    FROM books b
    WHERE b.user_id = owner
        AND b.ctid = ANY(books_with_keys(owner, query, 1000, NULL, NULL, NULL))
        AND b.author_ids @> ARRAY[person];
END
$$;

-- Follows the authors of an exported library, the latest first, up to the limit of 200. `given` is an array of objects:
-- {"name": "…", "followedAt": "…"}.
CREATE OR REPLACE FUNCTION import_followed_authors(given jsonb) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO followed_authors (user_id, person_id, name, followed_at)
    SELECT app_user_id(), n.id, n.name, n.at
    FROM (
        SELECT DISTINCT ON (author_id(g.name))
            author_id(g.name) AS id,
            g.name,
            coalesce(least(g."followedAt", now()), now()) AS at
        FROM jsonb_to_recordset(given) AS g (name text, "followedAt" timestamptz)
        ORDER BY author_id(g.name), g."followedAt" DESC NULLS LAST
    ) n
    WHERE NOT EXISTS (SELECT FROM followed_authors o WHERE o.user_id = app_user_id() AND o.person_id = n.id)
    ORDER BY n.at DESC
    LIMIT (
        SELECT greatest(200 - count(*), 0)
        FROM followed_authors f
        WHERE f.user_id = app_user_id()
    )
    ON CONFLICT DO NOTHING
$$;

-- MARK: Change log

-- Logs the persons of added and removed follows. Runs once per statement, because an import and the merge of a guest add many.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_follows() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    ignored text;
    owner uuid;
    persons uuid[];
BEGIN
    FOR owner, persons IN
        SELECT c.user_id, array_agg(c.person_id ORDER BY c.followed_at, c.person_id)
        FROM changed_rows c
        -- The log of a deleted account is deleted, too.
        JOIN users u ON u.id = c.user_id
        GROUP BY c.user_id
        ORDER BY c.user_id
    LOOP
        ignored := append_changes(owner, 'UPDATED', 'Person', persons);
    END LOOP;
    RETURN NULL;
END
$$;

-- As for books (changes.sql), no statement can forget to log a change. PostgreSQL has no triggers with transition tables for several
-- events.
CREATE OR REPLACE TRIGGER log_insert
AFTER INSERT ON followed_authors
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_follows();

-- As above.
CREATE OR REPLACE TRIGGER log_delete
AFTER DELETE ON followed_authors
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT
EXECUTE FUNCTION log_follows();

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON followed_authors;
CREATE POLICY owner_only ON followed_authors TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON followed_authors;
CREATE POLICY administration ON followed_authors TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, DELETE ON followed_authors TO bookplate_app;

REVOKE ALL ON FUNCTION books_of_person, log_follows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION books_of_person TO bookplate_app;
