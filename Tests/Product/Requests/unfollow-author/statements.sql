-- round trip 1
SELECT begin_request($1, $2, $3, $4);

DELETE FROM followed_authors
WHERE user_id = $1 AND person_id = $2;

INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
VALUES ($1, 1, now() + $2 * interval '1 millisecond')
ON CONFLICT (user_id) DO UPDATE
SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, excluded.deck_due_at);
