\set u random(1, 2000)
\set k random(0, 1000)
\set r random(1, 5)
\startpipeline
BEGIN;
INSERT INTO reviews AS v (user_id, book_id, id, quarter_stars, text)
SELECT user_id, id, gen_random_uuid(), 4 * :r, 'A review of a few words.'
FROM books
WHERE user_id = (SELECT md5('user-' || :u)::uuid)
    AND id = (SELECT books_read[1 + :k % cardinality(books_read)] FROM bench_lists WHERE u = :u)
    AND status = 'READ'
ON CONFLICT (user_id, book_id) DO UPDATE SET quarter_stars = excluded.quarter_stars, text = excluded.text, updated_at = now();
UPDATE users SET signals_version = signals_version + 1 WHERE id = (SELECT md5('user-' || :u)::uuid);
INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
VALUES ((SELECT md5('user-' || :u)::uuid), 'feed.deck', '{}', 'deck', now() + interval '5 seconds', 10, 3)
ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE SET run_at = least(j.run_at, excluded.run_at);
COMMIT;
\endpipeline
