-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH changed AS MATERIALIZED (
  SELECT b.id, b.status AS old_status, $3::reading_status AS status, $4::int AS page, (
    SELECT to_char(now() AT TIME ZONE u.time_zone, 'YYYY-MM-DD')
    FROM users u
    WHERE u.id = $1
  ) AS today
  FROM books b
  WHERE b.user_id = $1 AND b.id = $2 AND ($4 <= b.page_count) IS NOT FALSE
), opened AS (
  INSERT INTO reads (user_id, id, book_id, started_on, outcome)
  SELECT $1, gen_random_uuid(), c.id, c.today, 'READING'
  FROM changed c
  WHERE c.status = 'READING' AND NOT EXISTS (
    SELECT
    FROM reads o
    WHERE o.user_id = $1 AND o.book_id = c.id AND o.outcome = 'READING'
  ) AND (
    SELECT count(*)
    FROM reads o
    WHERE o.user_id = $1 AND o.book_id = c.id
  ) < 200
  RETURNING id, book_id
), logged AS (
  INSERT INTO progress_entries (user_id, id, read_id, at, page)
  SELECT $1, gen_random_uuid(), k.id, now(), c.page
  FROM changed c
  CROSS JOIN LATERAL (
    SELECT o.id
    FROM reads o
    WHERE o.user_id = $1 AND o.book_id = c.id AND o.outcome = 'READING'
    UNION ALL
    SELECT o.id
    FROM opened o
    WHERE o.book_id = c.id
  ) k
  WHERE c.page IS NOT NULL AND c.page IS DISTINCT FROM (
    SELECT p.page
    FROM progress_entries p
    WHERE p.user_id = $1 AND p.read_id = k.id
    ORDER BY p.at DESC, p.id DESC
    LIMIT 1
  ) AND (
    SELECT count(*)
    FROM progress_entries p
    WHERE p.user_id = $1 AND p.read_id = k.id
  ) < 10000
)
UPDATE books b
SET status = $3::reading_status, current_page = $4, started_at = CASE WHEN EXISTS (
  SELECT
  FROM opened o
  WHERE o.book_id = b.id
) THEN now() ELSE b.started_at END, finished_at = CASE WHEN EXISTS (
  SELECT
  FROM opened o
  WHERE o.book_id = b.id
) THEN NULL ELSE b.finished_at END, updated_at = now()
WHERE b.user_id = $1 AND b.id = $2 AND ($4 <= b.page_count) IS NOT FALSE
RETURNING b.id, b.status, b.current_page;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;
