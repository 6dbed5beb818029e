-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT create_shared_link($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT l.id, l.seed, encode(l.token_hash, 'hex'), CASE WHEN l.shelf_id IS NOT NULL THEN 'SHELF' WHEN l.review_id IS NOT NULL THEN 'REVIEW' WHEN l.note_id IS NOT NULL THEN 'NOTE' ELSE 'YEAR' END, l.expires_at
  FROM shared_links l
  WHERE l.user_id = $1 AND l.id = requested.id
  OFFSET 0
) found;
