-- round trip 1
SELECT begin_request($1, $2, $3, $4);

DELETE FROM reviews
WHERE user_id = $1 AND book_id = $2;
