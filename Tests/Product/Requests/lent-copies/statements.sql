-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT c.id, c.place, c.book_id, loan_of_copy(c)::text, coalesce(c.due_on, '~'), k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT c.*
  FROM book_copies c
  WHERE c.user_id = $1 AND c.loan_id IS NOT NULL
  ORDER BY coalesce(c.due_on, '~'), c.id
  LIMIT $3
) c;

SELECT (
  SELECT count(*)
  FROM book_copies c
  WHERE c.user_id = $1 AND c.loan_id IS NOT NULL
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.title
FROM books b
WHERE b.user_id = $1 AND b.id = $2;
