-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::int8, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (s.id)::uuid, (coalesce((
    SELECT c.books
    FROM shelf_counts c
    WHERE c.user_id = $1 AND c.shelf_id = s.id
  ), 0))::int8, 1
  FROM shelves s
  WHERE s.user_id = $1 AND s.user_id = $2 AND s.is_up_next
);
