-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (b.id)::uuid, (NULL)::text, 0
  FROM books b
  WHERE b.user_id = $1 AND b.id = $2
)
UNION ALL (
  SELECT (r.id)::uuid, (r.started_on)::text, 1
  FROM reads r
  WHERE r.user_id = $1 AND r.book_id = $2 AND r.outcome = 'READING'
);

SELECT r.id, r.started_on, r.finished_on, r.outcome, r.note, r.sorted_on, r.created_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT r.*
  FROM reads r
  WHERE r.user_id = $1 AND r.book_id = k.id
  ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
  LIMIT $3
) r;

SELECT (
  SELECT count(*)
  FROM reads r
  WHERE r.user_id = $1 AND r.book_id = k.id
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;
