-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.title, l.score, l.added_at, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM (
    SELECT l.book_id, l.score, l.added_at
    FROM (
      SELECT l.*, ( similarity(left(split_part(l.search_text, E'\n', 1), 200), (
        SELECT left(search_fold($6), 100)
      )) + word_similarity((
        SELECT left(search_fold($6), 100)
      ), left(split_part(l.search_text, E'\n', 1), 200)) )::float8 AS score
      FROM search_books($6, 250, true, $5) l
      WHERE true
      OFFSET 0
    ) l
    WHERE true
  ) l
  ORDER BY l.score DESC, l.added_at DESC, l.book_id DESC
  LIMIT $3
) l
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.id = l.book_id
  OFFSET 0
) b
ORDER BY k.n, l.score DESC, l.added_at DESC, l.book_id DESC;
