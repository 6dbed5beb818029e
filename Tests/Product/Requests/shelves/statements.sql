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
  SELECT (s.id)::uuid, (s.name)::text, (s.position)::int8, ((
    SELECT count(*)
    FROM shelf_books c
    WHERE c.user_id = s.user_id AND c.shelf_id = s.id
  ))::int8, 1
  FROM shelves s
  WHERE s.user_id = $1 AND s.user_id = $2
  ORDER BY s.position, s.id
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.title, b.status, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT b.*
  FROM shelf_books sb
  JOIN books b ON b.user_id = sb.user_id AND b.id = sb.book_id
  WHERE sb.user_id = $1 AND sb.shelf_id = k.id
  ORDER BY b.title COLLATE "und-x-icu", b.id
  LIMIT $3
) b;

SELECT (
  SELECT count(*)
  FROM shelf_books sb
  JOIN books b ON b.user_id = sb.user_id AND b.id = sb.book_id
  WHERE sb.user_id = $1 AND sb.shelf_id = k.id
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.book_id, (r.half_stars + 1) / 2
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = requested.id
  OFFSET 0
) found;
