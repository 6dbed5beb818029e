-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::text, (NULL)::int8, (NULL)::int8, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (s.id)::uuid, (s.name)::text, (s.position)::int8, (coalesce((
    SELECT c.books
    FROM shelf_counts c
    WHERE c.user_id = $1 AND c.shelf_id = s.id
  ), 0))::int8, 1
  FROM shelves s
  WHERE s.user_id = $1 AND s.user_id = $2
  ORDER BY s.position, s.id
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.title, l.sort_title, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM (
    SELECT l.book_id, l.sort_title
    FROM shelf_books l
    WHERE l.user_id = $1 AND l.shelf_id = k.id
    ORDER BY l.sort_title, l.book_id
    LIMIT $3
  ) l
  ORDER BY l.sort_title, l.book_id
  LIMIT $3
) l
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.id = l.book_id
  OFFSET 0
) b
ORDER BY k.n, l.sort_title, l.book_id;

SELECT coalesce((
  SELECT c.books
  FROM shelf_counts c
  WHERE c.user_id = $1 AND c.shelf_id = k.id
), 0)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.book_id, CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = requested.id
  OFFSET 0
) found;
