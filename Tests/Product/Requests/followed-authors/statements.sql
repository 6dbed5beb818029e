-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::text, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (p.id)::uuid, (p.name)::text, 1
  FROM (
    SELECT f.user_id, f.person_id AS id, f.name, f.followed_at
    FROM followed_authors f
    WHERE f.user_id = $1 AND f.user_id = $2
  ) p
  ORDER BY p.followed_at DESC, p.id
);
