-- requires: accounts, changes, reads
-- The goals of readers.

-- MARK: Progress

-- Returns the total of the finished reads of a year.
CREATE OR REPLACE FUNCTION reading_goal_progress(owner uuid, of_year int, unit goal_unit) RETURNS float8
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(
        sum(
            CASE reading_goal_progress.unit
                WHEN 'BOOKS' THEN k.number::float8
                WHEN 'PAGES' THEN k.pages::float8
                WHEN 'HOURS' THEN k.seconds::float8 / 3600
            END
        ),
        0
    )
    FROM reading_counts k
    WHERE k.user_id = owner AND k.kind = 'READS' AND k.year = of_year AND k.key = ''
$$;

-- Returns the part of a year that has passed before a day, from 0 to 1.
CREATE OR REPLACE FUNCTION elapsed_part(of_year int, today date) RETURNS float8
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

-- MARK: Mutations

-- Sets the goal of a year and a unit. The outcome is DONE, YEAR if the year is too far in the future, FULL if the reader has 100
-- goals, TAKEN if the id belongs to another object, or DELETED if it belonged to a deleted one.
--
-- A goal that exists keeps its id, and `chosen` is ignored.
CREATE OR REPLACE FUNCTION set_reading_goal(
    owner uuid, chosen uuid, of_year int, of_unit goal_unit, new_target int
) RETURNS text
LANGUAGE plpgsql
SET enable_seqscan = off
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

-- Deletes a goal, and records its id, so that a device that repeats its creation does not bring it back. Succeeds if there is no such
-- goal.
CREATE OR REPLACE FUNCTION delete_reading_goal(owner uuid, goal uuid) RETURNS void
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

-- Adds the goals of an exported library. `given` is an array of objects: {"id": "…", "year": 2026, "unit": "BOOKS", "target": 12,
-- "createdAt": "…", "updatedAt": "…"}. A goal that the reader has for the same year and unit stays as it is.
CREATE OR REPLACE FUNCTION import_goals(given jsonb) RETURNS void
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

-- MARK: Change log

-- Logs a created, changed, or deleted goal. Its progress is not logged: it follows from the reads.
-- definer: no request has the privilege to write the log.
CREATE OR REPLACE FUNCTION log_reading_goal() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
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

-- As for books (changes.sql), no statement can forget to log a change.
CREATE OR REPLACE TRIGGER log_changes
AFTER INSERT OR UPDATE OR DELETE ON reading_goals
FOR EACH ROW
EXECUTE FUNCTION log_reading_goal();

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON reading_goals;
CREATE POLICY owner_only ON reading_goals TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON reading_goals;
CREATE POLICY administration ON reading_goals TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON reading_goals TO bookplate_app;

REVOKE ALL ON FUNCTION log_reading_goal FROM PUBLIC;
