-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (b.user_id)::uuid, (b.id)::uuid, ((
    SELECT c.version
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ))::text, (b.title)::text, (b.author)::text, (b.genre)::text, (CASE WHEN b.cover_status = 'FETCHING' AND b.cover_requested_at < now() - interval '55 seconds' THEN CASE WHEN EXISTS (
    SELECT
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) THEN 'READY' ELSE 'NOT_FOUND' END::cover_status ELSE b.cover_status END)::text, (NULL)::int8, (NULL)::int8, 0
  FROM books b
  WHERE b.user_id = $1 AND b.id = $2
)
UNION ALL (
  SELECT (c.user_id)::uuid, (c.book_id)::uuid, (c.version)::text, (c.dominant_color)::text, (c.blur_hash)::text, (c.source)::text, (NULL)::text, (c.width)::int8, (c.height)::int8, 1
  FROM covers c
  WHERE c.user_id = $1 AND c.book_id = $2
);
