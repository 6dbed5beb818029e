-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT s.id, s.isbn13, s.scanned_at, s.outcome, (
  SELECT e.id
  FROM editions e
  WHERE e.isbn13 = s.isbn13
), (
  SELECT b.id
  FROM books b
  WHERE b.user_id = $1 AND b.isbn13 = s.isbn13
), k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT s.*
  FROM scans s
  WHERE s.user_id = $1
  ORDER BY s.scanned_at DESC, s.id DESC
  LIMIT $3
) s;

SELECT (
  SELECT count(*)
  FROM scans s
  WHERE s.user_id = $1
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT e.id, e.title
FROM editions e
WHERE e.id = $2;
