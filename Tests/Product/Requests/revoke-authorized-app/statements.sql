-- round trip 1
SELECT begin_request($1, $2, $3, $4);

DELETE FROM oauth_grants
WHERE user_id = $1 AND id = $2;
