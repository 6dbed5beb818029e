-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT count(*)::int
FROM (
  SELECT m.id
  FROM books m
  WHERE m.user_id = $1 AND (m.cover_requested_at IS NULL OR m.cover_requested_at < now() - interval '1 hour') AND ( m.cover_status <> 'NOT_FOUND' OR coalesce(m.cover_not_found_at, '-infinity') < greatest(m.updated_at, now() - interval '1 day') ) AND NOT EXISTS (
    SELECT
    FROM covers c
    WHERE c.user_id = $1 AND c.book_id = m.id
  ) AND NOT m.is_cover_removed
  ORDER BY m.added_at DESC, m.id DESC
  LIMIT $2
) m;
