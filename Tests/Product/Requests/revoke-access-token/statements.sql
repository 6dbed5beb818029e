-- round trip 1
SELECT begin_request($1, $2, $3, $4);

DELETE FROM access_tokens
WHERE user_id = $1 AND id = $2 AND grant_id IS NULL;
