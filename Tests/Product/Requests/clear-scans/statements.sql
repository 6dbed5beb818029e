-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH deleted AS (
  DELETE FROM scans
  WHERE user_id = $1
  RETURNING id
)
SELECT count(*)::int
FROM deleted;
