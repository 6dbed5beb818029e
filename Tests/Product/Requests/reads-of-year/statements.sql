-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (t.user_id)::uuid, 1
  FROM (
    SELECT u.id AS user_id
    FROM users u
    WHERE u.id = $1
  ) t
  LEFT JOIN library_counts c ON c.user_id = t.user_id
  LEFT JOIN reading_counts s ON s.user_id = $1 AND s.kind = 'READS' AND s.year = 0 AND s.key = ''
  WHERE t.user_id = $2
);

SELECT r.finished_on, r.outcome, r.book_id, r.sorted_on, r.created_at, r.id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT r.*
  FROM reads r
  WHERE r.user_id = $1 AND left(r.finished_on, 4) = $5
  ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
  LIMIT $3
) r;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT y.user_id, y.year, y.books
FROM (
  SELECT k.user_id, k.year, k.number AS books
  FROM reading_counts k
  WHERE k.user_id = $1 AND k.kind = 'READS' AND k.year > 0 AND k.key = '' AND k.number > 0
) y
WHERE y.user_id = $2
ORDER BY y.year DESC;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.title
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;
