-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH changed AS MATERIALIZED (
  SELECT b.id, b.status AS old_status, $4::reading_status AS status, $5::int AS page, (
    SELECT to_char(now() AT TIME ZONE u.time_zone, 'YYYY-MM-DD')
    FROM users u
    WHERE u.id = $1
  ) AS today
  FROM books b
  WHERE b.user_id = $1 AND b.id = $2 AND ($5 <= b.page_count) IS NOT FALSE
), ended AS (
  UPDATE reads r
  SET outcome = CASE c.status WHEN 'READ' THEN 'FINISHED' ELSE 'DID_NOT_FINISH' END::read_outcome, finished_on = greatest(c.today COLLATE "C", r.started_on), updated_at = now()
  FROM changed c
  WHERE r.user_id = $1 AND r.book_id = c.id AND r.outcome = 'READING' AND c.status IN ('READ', 'DID_NOT_FINISH')
  RETURNING r.book_id
), added AS (
  INSERT INTO reads (user_id, id, book_id, finished_on, outcome)
  SELECT $1, gen_random_uuid(), c.id, c.today, 'FINISHED'
  FROM changed c
  WHERE c.status = 'READ' AND c.old_status <> 'READ' AND NOT EXISTS (
    SELECT
    FROM reads o
    WHERE o.user_id = $1 AND o.book_id = c.id AND (o.outcome = 'READING' OR (o.outcome = 'FINISHED' AND o.finished_on = c.today))
  ) AND (
    SELECT count(*)
    FROM reads o
    WHERE o.user_id = $1 AND o.book_id = c.id
  ) < 200
  RETURNING book_id
), logged AS (
  INSERT INTO progress_entries (user_id, id, read_id, at, page)
  SELECT $1, gen_random_uuid(), k.id, now(), c.page
  FROM changed c
  CROSS JOIN LATERAL (
    SELECT o.id
    FROM reads o
    WHERE o.user_id = $1 AND o.book_id = c.id AND o.outcome = 'READING'
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
SET genre = $3, status = $4::reading_status, current_page = $5, started_at = CASE WHEN EXISTS (
  SELECT
  FROM added a
  WHERE a.book_id = b.id
) THEN NULL ELSE b.started_at END, finished_at = CASE WHEN EXISTS (
  SELECT
  FROM added a
  WHERE a.book_id = b.id
) OR (EXISTS (
  SELECT
  FROM ended e
  WHERE e.book_id = b.id
) AND 'READ' = 'READ') THEN now() ELSE b.finished_at END, updated_at = now()
WHERE b.user_id = $1 AND b.id = $2 AND ($5 <= b.page_count) IS NOT FALSE
RETURNING b.id, b.status;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT r.finished_on, r.sorted_on, r.created_at, r.id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT r.*
  FROM reads r
  WHERE r.user_id = $1 AND r.book_id = k.id
  ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
  LIMIT $3
) r;
