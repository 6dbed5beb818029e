-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.display_name, u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.id, b.title, b.description, b.added_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT b.*
  FROM books b
  WHERE b.user_id = $1
  ORDER BY b.added_at DESC, b.id DESC
  LIMIT $3
) b;
