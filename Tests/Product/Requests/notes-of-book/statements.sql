-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT (
  SELECT count(*)
  FROM notes c
  WHERE c.user_id = b.user_id AND c.book_id = b.id
), b.id
FROM books b
WHERE b.user_id = $1 AND b.id = $2;

SELECT n.id, n.text, n.comment, n.chapter, n.color, coalesce(n.page, (
  SELECT round(progress_fraction(n.page, n.percent, n.seconds, b.page_count, l.seconds) * b.page_count)::int
  FROM books b
  CROSS JOIN LATERAL (
    SELECT audio_length(b.user_id, b.id) AS seconds
  ) l
  WHERE b.user_id = n.user_id AND b.id = n.book_id
)), coalesce(n.percent, (
  SELECT 100 * progress_fraction(n.page, n.percent, n.seconds, b.page_count, l.seconds)
  FROM books b
  CROSS JOIN LATERAL (
    SELECT audio_length(b.user_id, b.id) AS seconds
  ) l
  WHERE b.user_id = n.user_id AND b.id = n.book_id
)), n.position, n.created_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT n.*
  FROM (
    SELECT o.*, note_position(o.page, o.percent, o.seconds, b.page_count, l.seconds) AS position
    FROM books b
    CROSS JOIN LATERAL (
      SELECT audio_length(b.user_id, b.id) AS seconds
    ) l
    JOIN notes o ON o.user_id = b.user_id AND o.book_id = b.id
    WHERE b.user_id = $1 AND b.id = k.id
  ) n
  WHERE true
  ORDER BY n.position, n.created_at, n.id
  LIMIT $3
) n;
