-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE sessions
SET revoked_at = now()
WHERE user_id = $1 AND (id = $2 OR $3) AND revoked_at IS NULL
RETURNING id;
