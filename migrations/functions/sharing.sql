-- requires: accounts, audit
-- Links by which readers share a shelf, a review, a note, or the reading of a year.

-- Makes the owner of a link the caller of this transaction, which can then only read, and returns what the link shares. Returns no row
-- if there is no such link, if it has expired, or if the tenant does not allow sharing. The name is null unless the link shows it.
--
-- Relies on this plan: one row of shared_links by its index of hashes.
-- definer: who follows a link has no session, so row-level security hides the link.
CREATE OR REPLACE FUNCTION open_shared_link(
    given_hash bytea, OUT owner uuid, OUT shelf uuid, OUT review uuid, OUT note uuid, OUT of_year int, OUT app text, OUT reader text
) RETURNS SETOF record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
    tenant uuid;
BEGIN
    SELECT l.user_id, l.shelf_id, l.review_id, l.note_id, l.year, t.name, CASE WHEN l.shows_name THEN u.display_name END, t.id
    INTO owner, shelf, review, note, of_year, app, reader, tenant
    FROM shared_links l
    JOIN users u ON u.id = l.user_id
    JOIN tenants t ON t.id = u.tenant_id
    WHERE l.token_hash = given_hash AND coalesce(l.expires_at > now(), true) AND t.sharing;
    IF FOUND THEN
        PERFORM
            set_config('app.user_id', owner::text, true),
            set_config('app.tenant_id', tenant::text, true),
            set_config('transaction_read_only', 'on', true);
        RETURN NEXT;
    END IF;
END
$$;

-- Creates a link. The outcome is DONE, also if the same request has created the link before; OFF if the tenant does not allow
-- sharing; TAKEN if the id belongs to another link; MISSING if there is no such object; or FULL if the reader has too many links.
-- Expired links make room.
CREATE OR REPLACE FUNCTION create_shared_link(
    owner uuid, new_id uuid, new_hash bytea, new_seed uuid, shelf uuid, review uuid, note uuid, of_year int, shows boolean,
    new_expires_at timestamptz, links_max int
) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    kept shared_links;
BEGIN
    IF NOT EXISTS (SELECT FROM tenants t WHERE t.id = app_tenant_id() AND t.sharing) THEN
        RETURN 'OFF';
    END IF;
    SELECT l.* INTO kept
    FROM shared_links l
    WHERE l.user_id = owner AND l.id = new_id;
    IF FOUND THEN
        RETURN CASE
            WHEN (kept.shelf_id, kept.review_id, kept.note_id, kept.year, kept.shows_name, kept.expires_at)
                IS NOT DISTINCT FROM (shelf, review, note, of_year, shows, new_expires_at) THEN 'DONE'
            ELSE 'TAKEN'
        END;
    END IF;
    IF of_year IS NULL
        AND NOT EXISTS (SELECT FROM shelves s WHERE s.user_id = owner AND s.id = shelf)
        AND NOT EXISTS (SELECT FROM reviews r WHERE r.user_id = owner AND r.id = review)
        AND NOT EXISTS (SELECT FROM notes n WHERE n.user_id = owner AND n.id = note)
    THEN
        RETURN 'MISSING';
    END IF;
    IF (SELECT count(*) FROM shared_links l WHERE l.user_id = owner) >= links_max THEN
        DELETE FROM shared_links l
        WHERE l.user_id = owner AND l.expires_at <= now();
        IF NOT FOUND THEN
            RETURN 'FULL';
        END IF;
    END IF;
    INSERT INTO shared_links (user_id, id, token_hash, seed, shelf_id, review_id, note_id, year, shows_name, expires_at)
    VALUES (owner, new_id, new_hash, new_seed, shelf, review, note, of_year, shows, new_expires_at);
    RETURN 'DONE';
END
$$;

-- A trigger like that of tokens.
CREATE OR REPLACE TRIGGER audit_link_creation
AFTER INSERT ON shared_links
FOR EACH ROW
EXECUTE FUNCTION audit_credential('LINK_CREATED');

-- A trigger, because links also end with their objects, by foreign keys.
CREATE OR REPLACE TRIGGER audit_link_end
AFTER DELETE ON shared_links
FOR EACH ROW
EXECUTE FUNCTION audit_credential('LINK_ENDED');

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON shared_links;
CREATE POLICY owner_only ON shared_links TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON shared_links;
CREATE POLICY administration ON shared_links TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- A link never changes.
GRANT SELECT, INSERT, DELETE ON shared_links TO bookplate_app;

REVOKE ALL ON FUNCTION open_shared_link FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_shared_link TO bookplate_app;
