-- round trip 1
SELECT begin_request($1, $2, $3, $4);

DELETE FROM shared_links
WHERE user_id = $1 AND id = $2;
