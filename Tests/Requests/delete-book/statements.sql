-- round trip 1
SELECT begin_request($1, $2, $3, $4);

DELETE FROM books
WHERE user_id = $1 AND id = $2
RETURNING id, title, author, genre;

UPDATE users
SET signals_version = signals_version + 1
WHERE id = $1;

SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7);

SELECT book_id, version
FROM removed_covers
WHERE user_id = $1 AND kept_until IS NULL
LIMIT 200;
