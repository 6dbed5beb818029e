-- round trip 1
SELECT begin_request($1, $2, $3, $4);

DELETE FROM reviews
WHERE user_id = $1 AND book_id = $2;

UPDATE feed_decks
SET is_outdated = true
WHERE user_id = $1 AND previous IS NULL AND NOT is_outdated;

SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7);
