-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT n.text, n.comment, n.book_id, n.created_at, n.id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT n.*
  FROM (
    SELECT *
    FROM search_notes($5, $6::label_color)
    ORDER BY created_at DESC, id DESC
  ) f
  LEFT JOIN notes n ON n.user_id = $1 AND n.id = f.id
  WHERE true
  ORDER BY f.created_at DESC, f.id DESC
  LIMIT $3
) n;

SELECT (
  SELECT count(*)
  FROM (
    SELECT *
    FROM search_notes($5, $6::label_color)
    ORDER BY created_at DESC, id DESC
  ) f
  LEFT JOIN notes n ON n.user_id = $1 AND n.id = f.id
  WHERE true
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.title
FROM books b
WHERE b.user_id = $1 AND b.id = $2;
