-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.display_name)::text, (u.id)::uuid, (NULL)::uuid, (NULL)::text, (NULL)::int8, (NULL)::boolean, (NULL)::timestamptz, (NULL)::timestamptz, (NULL)::uuid, (NULL)::uuid, (NULL)::uuid, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (encode(l.token_hash, 'hex'))::text, (l.id)::uuid, (l.seed)::uuid, (CASE WHEN l.shelf_id IS NOT NULL THEN 'SHELF' WHEN l.review_id IS NOT NULL THEN 'REVIEW' WHEN l.note_id IS NOT NULL THEN 'NOTE' ELSE 'YEAR' END)::text, (l.year)::int8, (l.shows_name)::boolean, (l.created_at)::timestamptz, (l.expires_at)::timestamptz, (l.shelf_id)::uuid, (l.review_id)::uuid, (l.note_id)::uuid, 1
  FROM shared_links l
  WHERE l.user_id = $1 AND l.user_id = $2 AND coalesce(l.expires_at > now(), true)
  ORDER BY l.created_at DESC, l.id
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT s.id, s.name
FROM shelves s
WHERE s.user_id = $1 AND s.id = $2;
