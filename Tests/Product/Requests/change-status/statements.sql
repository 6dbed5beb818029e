-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET status = $3::reading_status, started_at = r.started_at, finished_at = r.finished_at, current_page = r.current_page, updated_at = now()
FROM change_reads( $1, $2, $3::reading_status, NULL::int, NULL::int ) r
WHERE b.user_id = $1 AND b.id = $2
RETURNING b.id, b.status;

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET status = $3::reading_status, updated_at = now()
WHERE b.user_id = $1 AND b.id = $2
RETURNING b.id, b.status;
