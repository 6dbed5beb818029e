-- round trip 1
SELECT begin_request($1, $2, $3, $4);

DELETE FROM reviews
WHERE user_id = $1 AND book_id = $2;

UPDATE users
SET signals_version = signals_version + 1
WHERE id = $1;

SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7);
