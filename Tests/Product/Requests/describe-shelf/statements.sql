-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE shelves
SET name = coalesce($3, name), description = CASE WHEN $4 THEN $5 ELSE description END, color = CASE WHEN $6 THEN $7::label_color ELSE color END, is_up_next = coalesce($8, is_up_next), updated_at = now()
WHERE user_id = $1 AND id = $2 AND ( name <> coalesce($3, name) OR ($4 AND description IS DISTINCT FROM $5) OR ($6 AND color IS DISTINCT FROM $7::label_color) OR is_up_next <> coalesce($8, is_up_next) );

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id, s.name, s.description, s.color
  FROM shelves s
  WHERE s.user_id = $1 AND s.id = requested.id
  OFFSET 0
) found;
