-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET status = $3::reading_status, current_page = $4, (started_at, finished_at) = (
  SELECT r.started_at, r.finished_at
  FROM change_reads( b.user_id, b.id, b.status, $3::reading_status, $4::int, b.started_at, b.finished_at, b.current_page ) r
), updated_at = now()
WHERE b.user_id = $1 AND b.id = $2 AND ($4 <= b.page_count) IS NOT FALSE
RETURNING b.id, b.status, b.current_page;
