\set u random(1, 2000)
\set e0 random(1, 10000)
\set e1 random(1, 10000)
\set e2 random(1, 10000)
\set e3 random(1, 10000)
\set e4 random(1, 10000)
\set e5 random(1, 10000)
\set e6 random(1, 10000)
\set e7 random(1, 10000)
\set e8 random(1, 10000)
\set e9 random(1, 10000)
\startpipeline
BEGIN;
INSERT INTO swipes (user_id, edition_id, action, swiped_at)
SELECT (SELECT md5('user-' || :u)::uuid), c.id, 'SKIP', now()
FROM (VALUES
    (md5('edition-' || :e0)::uuid),
    (md5('edition-' || :e1)::uuid),
    (md5('edition-' || :e2)::uuid),
    (md5('edition-' || :e3)::uuid),
    (md5('edition-' || :e4)::uuid),
    (md5('edition-' || :e5)::uuid),
    (md5('edition-' || :e6)::uuid),
    (md5('edition-' || :e7)::uuid),
    (md5('edition-' || :e8)::uuid),
    (md5('edition-' || :e9)::uuid)
) AS c (id)
ON CONFLICT DO NOTHING;
UPDATE users SET signals_version = signals_version + 1 WHERE id = (SELECT md5('user-' || :u)::uuid);
INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
VALUES ((SELECT md5('user-' || :u)::uuid), 'feed.deck', '{}', 'deck', now() + interval '5 seconds', 10, 3)
ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE SET run_at = least(j.run_at, excluded.run_at);
COMMIT;
\endpipeline
