-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE shelves
SET name = $3, updated_at = now()
WHERE user_id = $1 AND id = $2 AND name <> $3;

UPDATE shelves s
SET position = moved.position, updated_at = now()
FROM (
  SELECT id, CASE WHEN id = $2 THEN least($3, others) ELSE rank + (rank >= $3)::int END AS position
  FROM (
    SELECT id, (row_number() OVER (ORDER BY id = $2, position, id) - 1)::int AS rank, (count(*) OVER () - 1)::int AS others
    FROM shelves
    WHERE user_id = $1
  ) ranked
) moved
WHERE s.user_id = $1 AND s.id = moved.id AND s.position <> moved.position AND EXISTS (
  SELECT
  FROM shelves t
  WHERE t.user_id = $1 AND t.id = $2
);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id, s.name, s.position
  FROM shelves s
  WHERE s.user_id = $1 AND s.id = requested.id
  OFFSET 0
) found;
