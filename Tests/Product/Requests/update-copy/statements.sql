-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE book_copies
SET format = CASE WHEN $6 THEN $3 ELSE format END, place = CASE WHEN $7 THEN $4 ELSE place END, note = CASE WHEN $8 THEN $5 ELSE note END, updated_at = now()
WHERE user_id = $1 AND id = $2 AND ( ($6 AND format IS DISTINCT FROM $3) OR ($7 AND place IS DISTINCT FROM $4) OR ($8 AND note IS DISTINCT FROM $5) );

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT c.id, c.place, c.note
  FROM book_copies c
  WHERE c.user_id = $1 AND c.id = requested.id
  OFFSET 0
) found;
