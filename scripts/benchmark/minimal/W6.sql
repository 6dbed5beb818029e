\set u random(1, 2000)
\set e random(1, 10000)
\startpipeline
BEGIN;
INSERT INTO books (user_id, id, edition_id, title, authors, author_roles, isbn13, publisher, published_date, page_count,
    genre, description)
SELECT (SELECT md5('user-' || :u)::uuid), gen_random_uuid(), id, title, authors, author_roles, isbn13, publisher,
    published_date, page_count, genres[1], description
FROM editions
WHERE id = (SELECT md5('edition-' || :e)::uuid)
ON CONFLICT DO NOTHING;
UPDATE users SET signals_version = signals_version + 1 WHERE id = (SELECT md5('user-' || :u)::uuid);
INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
VALUES ((SELECT md5('user-' || :u)::uuid), 'feed.deck', '{}', 'deck', now() + interval '5 seconds', 10, 3)
ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE SET run_at = least(j.run_at, excluded.run_at);
COMMIT;
\endpipeline
