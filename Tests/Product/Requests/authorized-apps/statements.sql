-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::text, (NULL)::boolean, (NULL)::text[], (NULL)::timestamptz, (NULL)::timestamptz, (NULL)::timestamptz, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (g.id)::uuid, (c.name)::text, (c.is_self_registered)::boolean, (g.scopes)::text[], (g.created_at)::timestamptz, (g.expires_at)::timestamptz, (g.last_used_at)::timestamptz, 1
  FROM oauth_grants g
  JOIN oauth_clients c ON c.id = g.client_id
  WHERE g.user_id = $1 AND g.user_id = $2 AND g.expires_at > now()
  ORDER BY g.created_at DESC, g.id
);
