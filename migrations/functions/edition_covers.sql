-- Covers of the catalog's editions, which a job fetches from external sources.
--
-- An edition without a cover is due at editions.cover_due_at. Claiming it already records a failure, so a crash counts as
-- one. The number of consecutive failures decides when it is due again.

-- Returns when an edition is due again after a failed request: 15 minutes after the first failure, twice as long after
-- each further one, and 90 days after the eighth. `failures` does not count the current request.
CREATE OR REPLACE FUNCTION next_cover_due(failures int) RETURNS timestamptz
LANGUAGE sql STABLE
AS $$
    SELECT now() + CASE
        WHEN failures >= 7 THEN interval '90 days'
        ELSE interval '15 minutes' * (1 << failures)
    END
$$;

-- Claims up to `count` editions that are due. At most half of them (but at least one) are editions whose last request
-- failed, so that these do not delay the others.
CREATE OR REPLACE FUNCTION claim_editions_without_cover(count int)
RETURNS TABLE (id uuid, isbn13 text, cover_links text[])
LANGUAGE sql
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

-- Claims a new edition, whether it is due or not.
CREATE OR REPLACE FUNCTION claim_edition_without_cover(isbn13 text)
RETURNS TABLE (id uuid, isbn13 text, cover_links text[])
LANGUAGE sql
AS $$
    UPDATE editions e
    SET cover_due_at = next_cover_due(e.cover_failures),
        cover_failures = (e.cover_failures + 1) % 8
    WHERE e.isbn13 = claim_edition_without_cover.isbn13 AND e.cover_version IS NULL
    RETURNING e.id, e.isbn13, e.cover_links
$$;

-- Sets the cover of an edition if it has none, and returns the version that it has then. The files must exist.
CREATE OR REPLACE FUNCTION set_edition_cover(
    id uuid, version text, width int, height int, dominant_color text, blur_hash text
) RETURNS text
LANGUAGE plpgsql
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

-- Records that no source has a cover of the edition; it is due again after the given number of days. Skips an edition
-- that an import is writing: that one is due again soon, as recorded when it was claimed.
CREATE OR REPLACE FUNCTION record_missing_edition_cover(id uuid, days int) RETURNS void
LANGUAGE sql
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

-- Postpones an edition whose sources are paused: it is due after the delay, or after the usual time for a source that
-- failed if that is later. A pause never counts as the eighth failure, after which an edition is due after 90 days.
CREATE OR REPLACE FUNCTION postpone_edition_cover(id uuid, delay_ms bigint) RETURNS void
LANGUAGE sql
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

-- MARK: Policies and grants

-- The server's role can change only the cover of an edition.
GRANT UPDATE (cover_version, cover_width, cover_height, cover_dominant_color, cover_blur_hash, cover_due_at, cover_failures)
    ON editions TO bookplate_app;

REVOKE ALL ON FUNCTION claim_editions_without_cover, claim_edition_without_cover, set_edition_cover,
    record_missing_edition_cover, postpone_edition_cover FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_editions_without_cover, claim_edition_without_cover, set_edition_cover,
    record_missing_edition_cover, postpone_edition_cover TO bookplate_app;
