-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT r.id, CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END, r.text, r.book_id, r.created_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT r.*
  FROM reviews r
  WHERE r.user_id = $1
  ORDER BY r.created_at DESC, r.id DESC
  LIMIT $3
) r;

SELECT (
  SELECT count(*)
  FROM reviews r
  WHERE r.user_id = $1
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.title, b.authors, b.author_roles, b.author_ids
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;
