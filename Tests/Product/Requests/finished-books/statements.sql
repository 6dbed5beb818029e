-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.title, b.authors, b.author_roles, b.author_ids, b.id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT b.*
  FROM books b
  WHERE b.user_id = $1 AND b.status = $5::reading_status
  ORDER BY b.title COLLATE "und-x-icu", b.id
  LIMIT $3
) b;

SELECT (
  SELECT count(*)
  FROM books b
  WHERE b.user_id = $1 AND b.status = $5::reading_status
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;
