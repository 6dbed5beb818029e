-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT outcome, other_id
FROM change_read($1, $2, $3);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.id, r.started_on, r.format, r.length_seconds
  FROM reads r
  WHERE r.user_id = $1 AND r.id = requested.id
  OFFSET 0
) found;
