-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.id, b.title, b.authors, b.author_roles, b.author_ids, b.status, b.user_id, (
  SELECT c.version
  FROM covers c
  WHERE c.user_id = b.user_id AND c.book_id = b.id
), b.author, b.genre, b.edition_id, b.added_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT b.*
  FROM books b
  WHERE b.user_id = $1
  ORDER BY b.added_at DESC, b.id DESC
  LIMIT $3
) b;

SELECT (
  SELECT count(*)
  FROM books b
  WHERE b.user_id = $1
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT sb.book_id, s.id, s.name
FROM shelf_books sb
JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
WHERE sb.user_id = $1 AND sb.book_id = ANY($2)
ORDER BY s.position, s.id;

SELECT r.book_id, r.id, r.rating, r.text
FROM reviews r
WHERE r.user_id = $1 AND r.book_id = ANY($2);

SELECT e.id, e.average_rating
FROM editions e
WHERE e.id = ANY($2);
