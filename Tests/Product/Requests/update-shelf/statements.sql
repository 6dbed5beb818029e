-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE shelves
SET name = coalesce($3, name), description = CASE WHEN $4 THEN $5 ELSE description END, color = CASE WHEN $6 THEN $7::label_color ELSE color END, is_up_next = coalesce($8, is_up_next), updated_at = now()
WHERE user_id = $1 AND id = $2 AND ( name <> coalesce($3, name) OR ($4 AND description IS DISTINCT FROM $5) OR ($6 AND color IS DISTINCT FROM $7::label_color) OR is_up_next <> coalesce($8, is_up_next) );

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
