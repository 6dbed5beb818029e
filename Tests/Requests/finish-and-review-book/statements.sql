-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET status = $3::reading_status, finished_at = CASE WHEN status = 'READ' THEN finished_at ELSE now() END, updated_at = now()
WHERE user_id = $1 AND id = $2
RETURNING b.id, b.status, b.finished_at;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

WITH book AS (
  SELECT id, status
  FROM books
  WHERE user_id = $1 AND id = $2
), review AS (
  INSERT INTO reviews AS r (user_id, book_id, id, rating, text)
  SELECT $1, id, $3, $4, $5
  FROM book
  WHERE status = 'READ'
  ON CONFLICT (user_id, book_id) DO UPDATE
  SET rating = excluded.rating, text = CASE WHEN $6 THEN excluded.text ELSE r.text END, updated_at = now()
  RETURNING id
)
SELECT status
FROM book;

UPDATE users
SET signals_version = signals_version + 1
WHERE id = $1;

SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7);

SELECT r.book_id, r.rating, r.text
FROM reviews r
WHERE r.user_id = $1 AND EXISTS (
  SELECT
  FROM books rb
  WHERE rb.user_id = r.user_id AND rb.id = r.book_id AND rb.status = 'READ'
) AND r.book_id = ANY($2);

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;
