-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH deleted AS (
  DELETE FROM scans
  WHERE user_id = $1 AND id = $2
  RETURNING id
)
SELECT record_deleted_id($1, id)
FROM deleted;
