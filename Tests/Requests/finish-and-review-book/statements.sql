-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH changed AS MATERIALIZED (
  SELECT b.id, b.status AS old_status, $3::reading_status AS status, NULL::int AS page, (
    SELECT to_char(now() AT TIME ZONE u.time_zone, 'YYYY-MM-DD')
    FROM users u
    WHERE u.id = $1
  ) AS today
  FROM books b
  WHERE b.user_id = $1 AND b.id = $2
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
)
UPDATE books b
SET status = $3::reading_status, started_at = CASE WHEN EXISTS (
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
WHERE b.user_id = $1 AND b.id = $2
RETURNING b.id, b.status;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

WITH given AS (
  SELECT b.id, b.status = 'READ' AS is_read, $4::int IS NULL OR $4 % 2 = 0 OR t.half_stars AS is_allowed, CASE WHEN $6 AND NOT ($8 AND (r.half_stars + 1) / 2 IS NOT DISTINCT FROM $4 / 2) THEN $4::smallint ELSE r.half_stars END AS half_stars, CASE WHEN $7 THEN $5 ELSE r.text END AS text, coalesce($10, r.has_spoilers, false) AS has_spoilers
  FROM books b
  JOIN tenants t ON t.id = $9
  LEFT JOIN reviews r ON r.user_id = b.user_id AND r.book_id = b.id
  WHERE b.user_id = $1 AND b.id = $2
), review AS (
  INSERT INTO reviews AS r (user_id, book_id, id, half_stars, text, has_spoilers)
  SELECT $1, id, $3, half_stars, text, has_spoilers
  FROM given
  WHERE is_read AND is_allowed AND (half_stars IS NOT NULL OR text IS NOT NULL)
  ON CONFLICT (user_id, book_id) DO UPDATE
  SET half_stars = excluded.half_stars, text = excluded.text, has_spoilers = excluded.has_spoilers, updated_at = now()
)
SELECT is_read, is_allowed, half_stars IS NOT NULL OR text IS NOT NULL
FROM given;

UPDATE users
SET signals_version = signals_version + 1
WHERE id = $1;

SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7);

SELECT r.book_id, (r.half_stars + 1) / 2, r.text
FROM reviews r
WHERE r.user_id = $1 AND r.is_visible AND r.book_id = ANY($2);

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;
