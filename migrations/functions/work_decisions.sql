-- requires: works
-- The operator's decisions about works: `bookplate-admin catalog merge-works` and `split-works`. Works are computed from the
-- decisions (`match_works`), so undoing a decision restores them, and neither an import nor a recomputation loses a decision.

-- Adds a decision about editions, and computes their works. Decks that are built from now on contain the change.
CREATE OR REPLACE FUNCTION decide_works(decided work_decision_kind, ids uuid[]) RETURNS bigint
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

-- Returns all records of the work that an edition belongs to.
CREATE OR REPLACE FUNCTION records_of_work(edition uuid) RETURNS SETOF uuid
LANGUAGE sql STABLE ROWS 3
AS $$
    SELECT edition
    UNION
    SELECT o.edition_id
    FROM work_records w
    JOIN work_records o USING (founder_id)
    WHERE w.edition_id = edition
$$;

-- Makes two works one. The ids are those of works or of cards. Returns the decision and the id of the work. The decision is null if
-- they are one work already. No row if one of them does not exist.
CREATE OR REPLACE FUNCTION merge_works(one uuid, other uuid) RETURNS TABLE (decision bigint, work uuid, editions uuid[])
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

-- Makes cards of one work a work of their own. Returns the decision, the id of the new work, and the id of the work that the other
-- records of the old one belong to. No row unless the cards exist, are of one work, and are not all of its records.
CREATE OR REPLACE FUNCTION split_works(cards uuid[]) RETURNS TABLE (decision bigint, work uuid, rest uuid)
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

-- Undoes a decision. Returns the number of its editions, or null if there is no such decision or it was undone already.
CREATE OR REPLACE FUNCTION undo_work_decision(decision bigint) RETURNS bigint
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

REVOKE ALL ON FUNCTION decide_works, merge_works, split_works, undo_work_decision FROM PUBLIC;
