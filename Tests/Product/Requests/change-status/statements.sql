-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET status = $3::reading_status, (started_at, finished_at, current_page) = (
  SELECT r.started_at, r.finished_at, r.current_page
  FROM change_reads( b.user_id, b.id, b.status, $3::reading_status, NULL::int, b.started_at, b.finished_at, b.current_page ) r
), updated_at = now()
WHERE b.user_id = $1 AND b.id = $2
RETURNING b.id, b.status;

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET status = $3::reading_status, updated_at = now()
WHERE b.user_id = $1 AND b.id = $2
RETURNING b.id, b.status;
