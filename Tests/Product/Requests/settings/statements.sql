-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.display_name)::text, (CASE WHEN NOT u.email_disabled THEN u.email END)::text, (u.id)::uuid, (NULL)::float8, (NULL)::float8, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (NULL)::text, (NULL)::text, (NULL)::uuid, (s.used)::float8, (s.quota)::float8, 1
  FROM (
    SELECT o.id AS user_id, (
      SELECT coalesce(sum(cover_bytes(c.byte_counts)), 0)
      FROM covers c
      WHERE c.user_id = $1
    )::float8 + (
      SELECT coalesce(sum(cover_bytes((jsonb_populate_record(NULL::covers, m.cover)).byte_counts)), 0)
      FROM moving_covers m
      WHERE m.user_id = $1
    )::float8 AS used, t.user_storage_bytes_max::float8 AS quota
    FROM users o
    JOIN tenants t ON t.id = o.tenant_id
    WHERE o.id = $1
  ) s
  WHERE s.user_id = $2
);

SELECT id, device_name, created_at, rotated_at, expires_at
FROM sessions
WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now()
ORDER BY rotated_at DESC, id
LIMIT 100;
