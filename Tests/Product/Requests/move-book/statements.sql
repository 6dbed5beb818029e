-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH input AS MATERIALIZED (
  SELECT i.*, b.added_at, b.sort_title, b.sort_author, b.id IS NOT NULL AS has_book, EXISTS (
    SELECT
    FROM shelves s
    WHERE s.user_id = $1 AND s.id = i.target_id
  ) AS has_target
  FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) WITH ORDINALITY AS i (book_id, target_id, origin_id, n)
  LEFT JOIN LATERAL (
    SELECT b.book_id AS id, b.added_at, b.sort_title, b.sort_author
    FROM listed_books b
    WHERE b.user_id = $1 AND b.book_id = i.book_id
    OFFSET 0
  ) b ON true
), added AS (
  INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author)
  SELECT $1, target_id, book_id, added_at, sort_title, sort_author
  FROM input
  WHERE has_book AND has_target
  ON CONFLICT DO NOTHING
), removed AS (
  DELETE FROM shelf_books sb USING input i
  WHERE sb.user_id = $1 AND sb.book_id = ANY($2) AND sb.book_id = i.book_id AND i.has_target AND sb.shelf_id <> i.target_id AND (i.origin_id IS NULL OR sb.shelf_id = i.origin_id)
  RETURNING sb.book_id, sb.shelf_id
)
SELECT i.has_book, i.has_target, ARRAY(
  SELECT r.shelf_id
  FROM removed r
  WHERE r.book_id = i.book_id
)
FROM input i
ORDER BY i.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT sb.book_id, s.name
FROM shelf_books sb
JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
WHERE sb.user_id = $1 AND sb.book_id = $2
ORDER BY s.position, s.id;
