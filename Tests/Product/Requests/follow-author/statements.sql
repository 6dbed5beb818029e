-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH followed AS MATERIALIZED (
  SELECT count(*) AS count, coalesce(bool_or(f.person_id = $2), false) AS is_known
  FROM followed_authors f
  WHERE f.user_id = $1
), inserted AS (
  INSERT INTO followed_authors (user_id, person_id, name)
  SELECT $1, $2, n.name
  FROM followed f
  CROSS JOIN (
    SELECT person_name($2) AS name
  ) n
  WHERE NOT f.is_known AND f.count < $3 AND n.name IS NOT NULL
)
SELECT NOT f.is_known AND f.count >= $3
FROM followed f;

INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
VALUES ($1, 1, now() + $2 * interval '1 millisecond')
ON CONFLICT (user_id) DO UPDATE
SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, excluded.deck_due_at);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT p.id, EXISTS (
    SELECT
    FROM followed_authors f
    WHERE f.user_id = $1 AND f.person_id = p.id
  )
  FROM (
    SELECT k.id, person_name(k.id) AS name
    FROM (
      SELECT requested.id
    ) k (id)
  ) p
  WHERE p.name IS NOT NULL AND p.id = requested.id
  OFFSET 0
) found;
