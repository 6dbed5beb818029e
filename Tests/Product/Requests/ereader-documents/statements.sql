-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT d.id, d.hash, d.title, d.author, 100 * d.fraction, d.device_name, d.synced_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT d.*
  FROM ereader_documents d
  WHERE d.user_id = $1 AND d.book_id IS NULL
  ORDER BY d.synced_at DESC, d.id DESC
  LIMIT $3
) d;
