-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::text, (NULL)::text[], (NULL)::text, (NULL)::timestamptz, (NULL)::timestamptz, (NULL)::timestamptz, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (t.id)::uuid, (t.name)::text, (t.scopes)::text[], (t.last_characters)::text, (t.created_at)::timestamptz, (t.expires_at)::timestamptz, (t.last_used_at)::timestamptz, 1
  FROM access_tokens t
  WHERE t.user_id = $1 AND t.user_id = $2 AND t.grant_id IS NULL
  ORDER BY t.created_at DESC, t.id
);
