-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH deleted AS (
  DELETE FROM scans
  WHERE user_id = $1
  RETURNING id
), recorded AS (
  INSERT INTO reading_tombstones (user_id, id)
  SELECT $1, id
  FROM deleted
  ON CONFLICT (user_id, id) DO UPDATE
  SET deleted_at = excluded.deleted_at
)
SELECT count(*)::int
FROM deleted;
