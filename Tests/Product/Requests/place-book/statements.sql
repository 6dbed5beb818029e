-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT place_book($1, $2, $3, $4, $5);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id
  FROM shelves s
  WHERE s.user_id = $1 AND s.id = requested.id
  OFFSET 0
) found;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.title, l.position, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM (
    SELECT l.book_id, l.position
    FROM shelf_books l
    WHERE l.user_id = $1 AND l.shelf_id = k.id
    ORDER BY l.position, l.book_id
    LIMIT $3
  ) l
  ORDER BY l.position, l.book_id
  LIMIT $3
) l
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.id = l.book_id
  OFFSET 0
) b
ORDER BY k.n, l.position, l.book_id;
